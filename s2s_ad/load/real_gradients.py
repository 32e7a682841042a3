"""Gradients by Python's numbers are real, also where a power is complex that nobody reads.

Code takes for granted that powers are real (`rules/real_powers.py`). (-0.8)**1.5 is not, and where
it is on a path that is not taken, zero times it is a complex zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import reached
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.load.module import Loaded
from s2s_ad.load.tensor_entry import around, compiled


def with_real_gradients(loaded: Loaded) -> Callable:
    """The compiled function, or one around it that looks at the gradients that it returns."""
    program = loaded.program
    known = program.__dict__  # what is found out is found once: captured numbers may change often
    if "gradients" not in known:
        kept = {id(atom) for atom in program.kept_atoms()}  # for a backward pass, as they are
        known["gradients"] = tree.tree_map(
            lambda atom: id(atom) not in kept and _is_gradient(program, atom), program.output
        )
    is_gradient = known["gradients"]
    if not any(tree.leaves(is_gradient)):
        return loaded.function
    head, passed = around(program, lambda name, leaf, starred: name)
    text = (
        f"def call({head}):\n"
        f"    _s2s_y = _s2s_f({passed})\n"
        "    return _s2s_y if type(_s2s_y) is float else _s2s_real(_s2s_y)\n"
    )
    names: dict[str, Any] = {
        "_s2s_f": loaded.function,
        "_s2s_real": lambda result: _made_real(result, is_gradient, program),
    }
    exec(compiled(text), names)
    return names["call"]


def _is_gradient(program: Program, atom: gast.AST) -> bool:
    """Whether an output is an adjoint that may be a real number of Python's, or a list of these."""
    if not isinstance(atom, gast.Name):
        return False
    fact = program.facts[atom.id]
    kind = fact.item if isinstance(fact, values.List) else fact
    if not values.may_be_python(kind) or not values.is_real(kind):
        return False
    return any(each.target == atom.id and each.phase == "backward" for each in program.body)


def have_powers(programs: Sequence[Program]) -> bool:
    """Whether a power of Python's numbers in them may turn complex."""
    return any(map(_has_powers, programs))


def _has_powers(program: Program) -> bool:
    """The answer for one program."""
    known = program.__dict__
    if "has_powers" not in known:
        blocks = [block for inner in reached([program]) for block in inner.blocks]
        known["has_powers"] = any(
            isinstance(each, form.Op) and _may_turn_complex(part, each)
            for part in (program, *blocks)
            for each in part.body
        )
    return known["has_powers"]


def _may_turn_complex(program: Program, statement: form.Op) -> bool:
    if not statement.rule.turns_complex:
        return False
    facts = [program.fact(atom) for atom in statement.operands[:2]]
    exponent = getattr(statement.operands[1], "value", None)
    if values.is_inexact(facts[1]) is False:
        return False
    real = all(values.may_be_python(each) and values.is_real(each) for each in facts)
    return real and not (exponent is not None and exponent % 1 == 0)


def _made_real(result: Any, is_gradient: Any, program: Program) -> Any:
    """The result with each gradient as the real number that it is."""
    if is_gradient is True and isinstance(result, list):
        return [_made_real(each, True, program) for each in result]
    if is_gradient is True:
        return _real(result, program) if isinstance(result, complex) else result
    if not isinstance(is_gradient, tree.Tree) or not any(tree.leaves(is_gradient)):
        return result
    found = tree.one_level(result)
    items = [
        _made_real(each, part, program)
        for each, part in zip(found.items, is_gradient.items, strict=True)
    ]
    if all(a is b for a, b in zip(items, found.items, strict=True)):
        return result
    return tree.to_object(tree.Tree(found.kind, found.keys, tuple(items)))


def _real(value: complex, program: Program) -> float:
    if value.imag:
        raise ArgumentTypeError(
            "S2S304",
            "the gradient is complex: a power of a negative number of Python's is",
            origin=program.origin,
            why="a gradient is the direction in which a real number grows fastest",
            help="pass np.float64(...) for nan, or return the real part of a complex number",
        )
    return value.real
