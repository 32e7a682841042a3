"""Cells, layers, losses and optimizers, all plain NumPy code."""
