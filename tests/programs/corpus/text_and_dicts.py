"""Text that is known and numbers that are not: parsers, tokens, rules, tables of functions."""

import logging
import math
import re
from itertools import pairwise

import numpy as np

from programs.case import Case

log = logging.getLogger(__name__)

ACTIVATIONS = {
    "tanh": np.tanh,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "square": np.square,
}


def reverse_polish(env, text):
    operators = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    stack = []
    for token in text.split():
        if token in operators:
            b, a = stack.pop(), stack.pop()
            stack.append(operators[token](a, b))
        elif token in env:
            stack.append(env[token])
        else:
            stack.append(float(token))
    assert len(stack) == 1, f"{len(stack)} values are left"
    return stack[0]


def parse_expression(tokens, env):
    value = parse_term(tokens, env)
    while tokens and tokens[0] in "+-":
        if tokens.pop(0) == "+":
            value = value + parse_term(tokens, env)
        else:
            value = value - parse_term(tokens, env)
    return value


def parse_term(tokens, env):
    value = parse_factor(tokens, env)
    while tokens and tokens[0] in "*/":
        if tokens.pop(0) == "*":
            value = value * parse_factor(tokens, env)
        else:
            value = value / parse_factor(tokens, env)
    return value


def parse_factor(tokens, env):
    token = tokens.pop(0)
    if token == "(":
        value = parse_expression(tokens, env)
        tokens.pop(0)
        return value
    if token == "-":
        return -parse_factor(tokens, env)
    if token.isalpha():
        return env[token]
    return float(token)


def recursive_descent(a, b, text):
    """A grammar with precedence by three functions that call each other."""
    tokens = re.findall(r"[a-z]+|[0-9.]+|[-+*/()]", text)
    return parse_expression(tokens, {"a": a, "b": b}) ** 2


def bag_of_words(weights, bias, sentences, labels):
    """Logistic loss on counts of words; unknown words weigh nothing."""
    loss = 0.0
    for sentence, label in zip(sentences, labels):
        counts = {}
        for word in sentence.lower().split():
            word = word.strip(".,!")
            counts[word] = counts.get(word, 0) + 1
        score = bias
        for word, count in counts.items():
            if word in weights:
                score = score + count * weights[word]
        loss += math.log(1 + math.exp(-score if label else score))
    return loss / len(sentences)


def regression_formula(beta, data, formula):
    """y ~ 1 + a + b + a:b, as statisticians write it."""
    response, terms = (side.strip() for side in formula.split("~"))
    columns = []
    for term in terms.split(" + "):
        if term == "1":
            columns.append(np.ones_like(data[response]))
        elif ":" in term:
            left, right = term.split(":")
            columns.append(data[left] * data[right])
        else:
            columns.append(data[term])
    X = np.stack(columns, axis=1)
    return np.sum((data[response] - X @ beta) ** 2)


def configured_network(params, x, config):
    """A network that a nested configuration describes by name."""
    h = x
    for i, layer in enumerate(config["layers"]):
        kind = layer["kind"]
        if kind == "dense":
            W, b = params[f"dense_{i}"]
            h = ACTIVATIONS[layer.get("activation", "tanh")](W @ h + b)
        elif kind == "norm":
            h = (h - h.mean()) / np.sqrt(h.var() + layer["eps"])
        elif kind == "skip":
            h = h + x
        else:
            raise KeyError(f"no layer of kind {kind!r}")
    return h @ h


def bigram_loss(logits, text):
    """The log-likelihood of a text under pairs of letters; letters index a matrix."""
    alphabet = sorted(set(text))
    index = {letter: i for i, letter in enumerate(alphabet)}
    probabilities = np.exp(logits)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    loss = 0.0
    for a, b in pairwise(text):
        loss -= np.log(probabilities[index[a], index[b]])
    return loss


def logged_descent(x, rate):
    """Progress is printed and logged along the way, as everyone does."""
    for step in range(4):
        loss = np.sum((x**2 - 1) ** 2)
        gradient = 4 * x * (x**2 - 1)
        if step % 2 == 0:
            print(f"step {step:3d}: loss {loss:.4f}")
        log.info("step %d, gradient %s", step, gradient)
        x = x - rate * gradient
        if np.max(np.abs(gradient)) > 1e3:
            log.warning("diverging")
    return np.sum(x**4) + loss


def mass_action(rates, amounts, reactions, dt=0.05, steps=4):
    """Reactions such as 'A + B -> C', parsed once and stepped by Euler's method."""
    parsed = []
    for text in reactions:
        left, right = text.split("->")
        parsed.append(
            (
                [s.strip() for s in left.split("+")],
                [s.strip() for s in right.split("+")],
            )
        )
    amounts = dict(amounts)
    for _ in range(steps):
        change = dict.fromkeys(amounts, 0.0)
        for (consumed, produced), rate in zip(parsed, rates):
            speed = rate
            for species in consumed:
                speed = speed * amounts[species]
            for species in consumed:
                change[species] -= speed
            for species in produced:
                change[species] += speed
        for species, delta in change.items():
            amounts[species] += dt * delta
    return amounts["C"] + 0.5 * amounts["D"] ** 2


NETLIST = """\
V1 1 0
R1 1 2
R2 2 0
R3 2 3
R4 3 0
R5 1 3
"""


def circuit(resistances, volts):
    """Nodal analysis of a netlist: each line stamps its conductance into the matrix."""
    n = 3
    G = np.zeros((n + 1, n + 1))
    source = np.zeros(n + 1)
    k = 0
    for line in NETLIST.splitlines():
        name, *nodes = line.split()
        a, b = (int(node) - 1 for node in nodes)
        if name.startswith("R"):
            g = 1 / resistances[k]
            k += 1
            for node in (a, b):
                if node >= 0:
                    G[node, node] += g
            if a >= 0 and b >= 0:
                G[a, b] -= g
                G[b, a] -= g
        else:
            G[n, a] = G[a, n] = 1.0
            source[n] = volts
    solution = np.linalg.solve(G, source)
    return -solution[n] * volts


def turtle(step, angle, commands):
    """An L-system drawn by a turtle with a stack of poses."""
    for _ in range(2):
        commands = commands.replace("F", "F[+F]-F")
    x, y, heading = 0.0, 0.0, 0.3
    saved = []
    farthest = 0.0
    for c in commands:
        match c:
            case "F":
                x += step * math.cos(heading)
                y += step * math.sin(heading)
                farthest = max(farthest, x * x + y * y)
            case "+" | "-" as sign:
                heading += angle if sign == "+" else -angle
            case "[":
                saved.append((x, y, heading))
            case "]":
                x, y, heading = saved.pop()
    return farthest + x * y


def assembler(a, b, program):
    """A machine with registers, jumps and a counter; its program is data."""
    registers = {"r0": a, "r1": b, "n": 3}
    pc = 0
    while pc < len(program):
        match program[pc]:
            case ("add", target, source):
                registers[target] += registers[source]
            case ("mul", target, source):
                registers[target] *= registers[source]
            case ("scale", target, float(factor)):
                registers[target] *= factor
            case ("loop", counter, to):
                registers[counter] -= 1
                if registers[counter] > 0:
                    pc = to
                    continue
            case ("halt",):
                break
            case other:
                raise ValueError(f"unknown instruction {other}")
        pc += 1
    return registers["r0"] + registers["r1"] ** 2


CASES = [
    Case(reverse_polish, ({"x": 0.7, "y": 1.9}, "x y + x 2.5 * y 3 - / *"), complex_step=True),
    Case(
        recursive_descent,
        (0.8, 1.4, "a * (b - 2 * a) / 3.5 + -b * b"),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        bag_of_words,
        (
            {"good": 0.8, "bad": -1.1, "not": -0.3},
            0.2,
            ["Good film, good cast.", "A bad plot!", "Not bad, not good."],
            [1, 0, 0],
        ),
        wrt=(0, 1),
    ),
    Case(
        regression_formula,
        (
            np.array([0.1, 0.6, 0.5, -0.4]),
            {
                "a": np.array([0.2, 0.9, -0.5, 1.1]),
                "b": np.array([1.0, -0.3, 0.4, 0.6]),
                "y": np.array([0.8, 0.1, -0.2, 1.7]),
            },
            "y ~ 1 + a + b + a:b",
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        configured_network,
        (
            {
                f"dense_{i}": (np.sin(np.arange(4.0) + i).reshape(2, 2), np.array([0.1 * i, -0.2]))
                for i in (0, 2, 4)
            },
            np.array([0.6, -0.9]),
            {
                "layers": [
                    {"kind": "dense"},
                    {"kind": "norm", "eps": 1e-2},
                    {"kind": "dense", "activation": "swish"},
                    {"kind": "skip"},
                    {"kind": "dense", "activation": "softplus"},
                ]
            },
        ),
        wrt=(0, 1),
    ),
    Case(bigram_loss, (np.cos(np.arange(9.0)).reshape(3, 3), "banana"), complex_step=True),
    Case(logged_descent, (np.array([0.4, 1.3, -0.8]), 0.05), wrt=(0, 1), complex_step=True),
    Case(
        mass_action,
        (
            np.array([1.2, 0.3, 0.7]),
            {"A": 1.0, "B": 0.8, "C": 0.1, "D": 0.05},
            ["A + B -> C", "C -> A + B", "C + A -> D"],
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(circuit, (np.array([1.0, 2.2, 0.7, 1.5, 3.1]), 5.0), wrt=(0, 1)),
    Case(turtle, (0.6, 0.4, "F"), wrt=(0, 1)),
    Case(
        assembler,
        (
            0.6,
            0.9,
            [("mul", "r1", "r0"), ("add", "r0", "r1"), ("loop", "n", 0), ("scale", "r1", 0.5)],
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
]
