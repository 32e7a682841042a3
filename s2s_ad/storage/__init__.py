"""How each value that the backward pass needs is kept, and why."""
