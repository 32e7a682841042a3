"""Functions and classes of SciPy and NumPy as the plain NumPy that they stand for.

They are lowered where the user's code calls the library's, like code of his own: what depends on
lengths is a branch of the text, and derivatives and batches follow. A parameter that is missing
here is refused by name.
"""
