"""Random programs that are built from values upwards, and compared with Python in all modes.

    python -m random_programs 0:1000 --state results.jsonl --shard 1/4     (in tests/)

A program is written statement by statement. Before each statement the program so far is run up to
there, so that the generator knows every value that the next statement may use; what it writes is
finite, and no kink is near. `values` says what a value is, `program` holds a program with a hole
and runs it up to the hole, `expressions` and `statements` fill the hole, `oracle` compares all
modes with plain Python, `paths` tells which dtypes other paths have, `reduce` makes a failing
program small, and `run` does all this for a range of seeds.
"""
