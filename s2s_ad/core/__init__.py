"""The language between the passes: programs, abstract values, and how both are built."""
