"""From a Program to the text of a Python module."""
