"""From a Python function to Core: source text, names bound to objects, lowering."""
