"""Passes that make a program shorter and keep its meaning."""
