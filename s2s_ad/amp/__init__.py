"""Loss scaling and mixed precision."""
