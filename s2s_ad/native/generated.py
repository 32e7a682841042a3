"""The module that functions of native code say they are of; it is empty.

Code that Numba has compiled in another process is loaded with the module that it names.
"""
