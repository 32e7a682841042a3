"""Native code: a program in Core as loops over elements, in the subset of Python for Numba.

`function` walks one function of the program, `operations` says what each operation is for one
element, `nodes` puts these together, `module` writes and loads what comes out.
"""
