"""Random straight-line NumPy programs: text that a user could have written, with its inputs."""

from __future__ import annotations

import numpy as np

HELPERS = """import numpy as np


def squash(x):
    y = np.tanh(x)
    return y * y + 0.5 * x


def parts(x, y):
    d = x - y
    e = squash(d)
    return d * 0.5, np.sum(e) * 0.1


def nested(x, options):
    y, (z, scale) = options["pair"], options["more"]
    first, total = parts(x, y)
    later = squash(z) * scale
    return {"first": first + total, "same": x, "later": [later, total]}


def reused(x, k=2, *rest):
    y = x * k
    z = y - 0.3 * y.T
    return (z.T, y) if k > 1 else (y, z)


def f(a, b, s, w, c):
"""

INPUTS = {"a": (3,), "b": (4, 3), "s": (), "w": (3, 3), "c": (4, 1)}

UNARY = (
    "np.tanh({x})",
    "np.sin({x})",
    "np.exp(-{x} ** 2)",
    "np.sqrt({x} ** 2 + 1.0)",
    "np.log({x} ** 2 + 1.5)",
    "0.5 * {x}",
    "-{x}",
    "{x} / (1.0 + {x} ** 2)",
    "np.abs({x}) * 0.3",
    "np.where({x} > 0.1, {x}, 0.2 * {x})",
    "np.maximum({x}, 0.05)",
    "np.clip({x}, -0.7, 0.9)",
    "1 - {x} * {x}",
    "squash({x})",
    "nested({x}, {{'pair': {x}, 'more': ({x}, 0.5)}})['later'][0]",
    "nested({x}, {{'pair': 0.1, 'more': [{x}, 2]}})['first']",
)
BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} / (2.0 + np.cos({y}))",
    "np.arctan2({x}, 1.5 + {y} ** 2)",
    "np.hypot({x}, {y} + 2.0)",
    "np.minimum({x}, {y})",
    "parts({x}, {y})[0]",
    "parts({x}, {y})[1]",
    "nested({x}, {{'pair': {y}, 'more': ({x}, 0.5)}})['first']",
    "nested({x}, {{'pair': {x}, 'more': [{y}, {y}]}})['later'][0] * {x}",
    "nested({y}, {{'pair': {x}, 'more': ({x}, 1)}})['same'] - {x}",
)
VECTOR = (
    "{x}[1:]",
    "{x}[:-1]",
    "{x}[::-1]",
    "{x}[[0, 1, 1]]",
    "{x}[0]",
    "np.sum({x})",
    "np.mean({x})",
    "np.cumsum({x})",
    "{x} @ {x}",
    "np.max({x})",
    "{x}[:, None]",
    "np.outer({x}, {x})",
    "np.concatenate([{x}, {x} * 2])",
    "np.var({x})",
)
MATRIX = (
    "{x}.T",
    "np.sum({x}, axis=0)",
    "np.mean({x}, axis=1)",
    "np.sum({x}, axis=1, keepdims=True)",
    "{x}[0]",
    "{x}[:, 1:]",
    "{x}[..., 0]",
    "{x}[1:, ::-1]",
    "{x}.ravel()",
    "{x}.reshape(-1)",
    "{x} @ {x}.T",
    "np.max({x}, axis=0)",
    "np.stack([{x}, -{x}])[0]",
    "{x} - np.mean({x}, axis=-1, keepdims=True)",
    "np.einsum('ij,kj->ik', {x}, {x})",
    "{x}[[0, 0, 1]]",
)
SQUARE = (
    "{x} + 0.5 * {x}.T",
    "{x}.T * {x}[0]",
    "reused({x})[0]",
    "reused({x}, 1)[0] + reused({x})[1]",
    "reused({x}, k=0.5)[1]",
)
PAIRS = (((3,), "w", "w @ {x}"), ((3,), "b", "b @ {x}"), ((4, 3), "w", "{x} @ w"))
PAIRS += (((3, 3), "w", "w.T + 2 * {x}"),)


def random_inputs(rng: np.random.Generator) -> dict[str, np.ndarray | float]:
    made = {
        name: rng.uniform(0.2, 1.2, shape) * rng.choice([-1, 1], shape)
        for name, shape in INPUTS.items()
    }
    return made | {"s": float(made["s"])}


def random_program(seed: int) -> tuple[str, dict]:
    """(source of a function `f(a, b, s, w, c)`, arguments)."""
    rng = np.random.default_rng(seed)
    inputs = random_inputs(rng)
    space = {"np": np, **inputs}
    exec(HELPERS + "    pass", space)
    names = list(INPUTS)
    lines = []
    for step in range(int(rng.integers(4, 14))):
        expression = _expression(rng, space, names)
        with np.errstate(all="ignore"):
            value = eval(expression, space)
        if np.size(value) > 60 or np.ndim(value) > 2 or not np.all(np.abs(value) < 50):
            continue
        reuse = rng.random() < 0.2 and names[-1] not in INPUTS
        name = names[-1] if reuse else f"v{step}"
        if not reuse:
            names.append(name)
        space[name] = value
        lines.append(f"    {name} = {expression}")
    used = [names[-1], *rng.choice(names, 2)]
    total = " + ".join(f"np.sum({name} * {1.0 + i / 2})" for i, name in enumerate(used))
    text = HELPERS + "\n".join(lines)
    return f"{text}\n    return {total}\n", inputs


def _expression(rng: np.random.Generator, space: dict, names: list[str]) -> str:
    x = names[-1] if rng.random() < 0.5 else str(rng.choice(names))
    shape = np.shape(space[x])
    kind = rng.random()
    if kind < 0.3:
        return str(rng.choice(UNARY)).format(x=x)
    if kind < 0.6:
        return _binary(rng, space, names, x)
    fitting = [text for want, _, text in PAIRS if want == shape]
    if fitting and kind < 0.7:
        return str(rng.choice(fitting)).format(x=x)
    if len(shape) == 1 and shape[0] >= 2:
        return str(rng.choice(VECTOR)).format(x=x)
    if len(shape) == 2 and shape[0] == shape[1] and kind < 0.85:
        return str(rng.choice(SQUARE)).format(x=x)
    if len(shape) == 2 and min(shape) >= 2:
        return str(rng.choice(MATRIX)).format(x=x)
    return str(rng.choice(UNARY)).format(x=x)


def _binary(rng: np.random.Generator, space: dict, names: list[str], x: str) -> str:
    for y in rng.permutation(names):
        try:
            np.broadcast_shapes(np.shape(space[x]), np.shape(space[y]))
        except ValueError:
            continue
        pair = (x, y) if rng.random() < 0.5 else (y, x)
        return str(rng.choice(BINARY)).format(x=pair[0], y=pair[1])
    return f"np.tanh({x})"
