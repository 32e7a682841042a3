"""Program to Program: reverse, forward and batch, in any number and any order."""
