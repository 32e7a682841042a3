"""Programs of the corpus that the compiler refuses, with the code of the refusal."""

REFUSED = {
    "containers.shortest_path": "S2S201",  # a set of other texts on each path
    "objects.total_mass": "S2S201",  # a value that is a list of 1 on one path and a list of 0 on an
}

# second order is refused, or takes too long
FIRST_ORDER_ONLY: tuple[str, ...] = ()
