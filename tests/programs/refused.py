"""Programs of the corpus that the compiler refuses, with the code of the refusal."""

REFUSED = {
    "containers.list_surgery": "S2S205",  # a search in a list whose length is not known
    "containers.shortest_path": "S2S201",  # a value that is a str on one path and a str on another
    "containers.breadth_first_flow": "S2S201",  # 'in' on values that are not known
    "control.thermostat": "S2S201",  # a value that is a str on one path and a str on another
    "dynamic_programming.optimal_search_tree": "S2S206",  # cost calls itself with a number that a n
    "dynamic_programming.travelling_salesman": "S2S205",  # itertools over items whose number is not
    "graphics.rotate_by_all": "S2S201",  # a value whose number of items is not known
    "machine_learning.beam_of_two": "S2S201",  # a list of containers of several structures
    "objects.total_mass": "S2S201",  # a value that is a list of 1 on one path and a list of 0 on an
    "objects.linked_list": "S2S201",  # None before the loop and a Node that holds others
    "python_features.closures_called": "S2S201",  # 'nonlocal' is not supported
    "python_features.comprehensions": "S2S205",  # a number must be known when the code is generated
    "sequences.running_median": "S2S205",  # a search among values that are not known
    "sequences.ranked_sum": "S2S207",  # an array that may share memory with another is changed
    "signals.biquad_cascade": "S2S207",  # a Biquad in a list whose length is not known is changed
    "text_and_dicts.recursive_descent": "S2S201 or S2S301",  # the code of re, whose cache is met
    "text_and_dicts.assembler": "S2S205",  # a number must be known when the code is generated
}

# second order is refused, or takes too long
FIRST_ORDER_ONLY: tuple[str, ...] = ()
