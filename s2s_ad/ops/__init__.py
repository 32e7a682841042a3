"""Functions over NumPy under MindSpore's names; the compiler sees through them."""
