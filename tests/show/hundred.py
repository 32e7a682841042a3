"""A function whose gradient has a hundred statements."""

from __future__ import annotations

FUNCTIONS = ("np.sin", "np.tanh", "np.exp", "np.cos", "np.arctan")


def hundred(statements: int = 25) -> str:
    """The text of a module with a function of so many statements."""
    lines = ["import numpy as np", "", "", "def layers(x, w):"]
    for number in range(statements):
        before = f"y{number - 1}" if number else "x"
        function = FUNCTIONS[number % len(FUNCTIONS)]
        lines.append(f"    y{number} = {function}({before} * w[{number}]) + 0.5 * {before}")
    return "\n".join([*lines, f"    return np.sum(y{statements - 1} ** 2)", ""])
