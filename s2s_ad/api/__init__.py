"""What the user holds: transformed functions, and the functions that make them."""
