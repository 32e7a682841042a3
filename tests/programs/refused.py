"""Programs of the corpus that the compiler refuses, with the code of the refusal."""

REFUSED = {
    "containers.shortest_path": "S2S201",  # a set of other texts on each path
}

# second order is refused, or takes too long
FIRST_ORDER_ONLY: tuple[str, ...] = ()
