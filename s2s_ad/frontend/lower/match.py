"""match: a chain of branches, each decided now as far as structure and kinds tell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import gast

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, known_object
from s2s_ad.frontend.lower.comprehensions import private
from s2s_ad.frontend.lower.containers import is_sequence, mapping, sequence
from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.exits import CONTINUE, Exits, rearranged
from s2s_ad.frontend.lower.meeting import branch_for_each
from s2s_ad.frontend.lower.picked import is_picked, one_of_several, options
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.versions import ARRAYS_ARE_SEQUENCES

#: classes whose one positional pattern is the object itself
THEMSELVES = (bool, bytes, dict, float, int, list, str, tuple)


@statement(gast.Match)
def match(lowering: Lowering, node: gast.Match) -> Exits:
    """`match value:` Literals, captures, sequences, mappings, classes, alternatives, guards."""
    subject = lowering.certain(lowering.evaluate_any(node.subject), "a match on")
    each = functools.partial(_matched, lowering, node)
    return branch_for_each(lowering, options(subject), each)


def _matched(lowering: Lowering, node: gast.Match, subject: Any) -> Exits:
    chain: list[gast.stmt] = []
    held: list[str] = []
    for case in reversed(node.cases):
        fit = Fit(lowering, held)
        if fit.pattern(case.pattern, subject):
            chain = [_branch(case, fit, chain)]
    left = lowering.run(rearranged(chain)) if chain else CONTINUE
    for name in held:
        lowering.frame.locals.pop(name, None)
    return left


def _branch(case: gast.match_case, fit: Fit, otherwise: list[gast.stmt]) -> gast.stmt:
    """`if tests and (names bound) and guard: body, else: otherwise`"""
    parts = [*fit.tests]
    if fit.bound:
        bound = [gast.NamedExpr(target, value) for target, value in fit.bound]
        parts.append(gast.Tuple(bound, gast.Load()))
    if case.guard is not None:
        parts.append(case.guard)
    test = _all_of(parts)
    return _placed(gast.If(_placed(test, case.pattern), case.body, otherwise), case.pattern)


def _all_of(parts: list[gast.expr]) -> gast.expr:
    if not parts:
        return gast.Constant(value=True, kind=None)
    return parts[0] if len(parts) == 1 else gast.BoolOp(gast.And(), parts)


def _placed(made: Any, node: gast.AST) -> Any:
    """A node that we wrote, where the user's node stands."""
    for each in gast.walk(made):
        if not hasattr(each, "lineno"):
            gast.copy_location(each, node)
    return made


class Fit:
    """How a value fits a pattern: what is left to test at run time, and the names bound then.

    `held` are the locals in which the parts of the value stand meanwhile.
    """

    def __init__(self, lowering: Lowering, held: list[str]):
        self.lowering, self.held = lowering, held
        self.tests: list[gast.expr] = []
        self.bound: list[tuple[gast.Name, gast.Name]] = []

    def pattern(self, node: gast.AST, value: Any) -> bool:
        """Whether the value may match."""
        if is_picked(value):
            raise one_of_several(value, "inside of what is matched")
        return self.KINDS[type(node)](self, node, value)

    def patterns(self, nodes: Sequence[gast.AST], values: Sequence[Any]) -> bool:
        return all(map(self.pattern, nodes, values))

    def _hold(self, node: gast.AST, value: Any) -> gast.Name:
        self.held.append(private("matched"))
        self.lowering.frame.locals[self.held[-1]] = value
        return _placed(gast.Name(self.held[-1], gast.Load(), None, None), node)

    def _test(self, node: gast.AST, value: Any, compare: gast.cmpop, known: gast.expr) -> bool:
        test = gast.Compare(self._hold(node, value), [compare], [known])
        self.tests.append(_placed(test, node))
        return True

    def _bind(self, node: gast.AST, name: Any, value: Any) -> bool:
        if name is not None:
            identifier = name if isinstance(name, str) else name.id
            target = _placed(gast.Name(identifier, gast.Store(), None, None), node)
            self.bound.append((target, self._hold(node, value)))
        return True

    def _value(self, node: gast.MatchValue, value: Any) -> bool:
        return self._test(node, value, gast.Eq(), node.value)

    def _singleton(self, node: gast.MatchSingleton, value: Any) -> bool:
        return self._test(node, value, gast.Is(), gast.Constant(value=node.value, kind=None))

    def _as(self, node: gast.MatchAs, value: Any) -> bool:
        if node.pattern is not None and not self.pattern(node.pattern, value):
            return False
        return self._bind(node, node.name, value)

    def _star(self, node: gast.MatchStar, value: Any) -> bool:
        return self._bind(node, node.name, value)

    def _or(self, node: gast.MatchOr, value: Any) -> bool:
        """The alternatives that may match; the first that is certain ends them."""
        tests: list[gast.expr] = []
        for each in node.patterns:
            one = Fit(self.lowering, self.held)
            if not one.pattern(each, value):
                continue
            if not one.tests and not tests:
                self.bound += one.bound
                return True
            if one.bound:
                what = "names in alternatives that are not decided now"
                raise self.lowering.refuse(each, what, "write a case for each")
            tests.append(_placed(_all_of(one.tests), each))
        if tests:
            test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)
            self.tests.append(_placed(test, node))
        return bool(tests)

    def _sequence(self, node: gast.MatchSequence, value: Any) -> bool:
        if ARRAYS_ARE_SEQUENCES and is_array(value):
            what = "a pattern of a sequence for an array"
            raise self.lowering.refuse(node, what, "match its shape, or list(x) of a known length")
        if not is_sequence(value):
            return False
        stars = [i for i, each in enumerate(node.patterns) if isinstance(each, gast.MatchStar)]
        items, wanted = [*value.items], len(node.patterns)
        if len(items) < wanted - len(stars) or (not stars and len(items) != wanted):
            return False
        if stars:
            start, stop = stars[0], len(items) - (wanted - stars[0] - 1)
            items[start:stop] = [sequence(list, items[start:stop])]
        return self.patterns(node.patterns, items)

    def _mapping(self, node: gast.MatchMapping, value: Any) -> bool:
        if not isinstance(value, Tree) or value.kind is not dict:
            return False
        keys = [known_object(self.lowering.evaluate(each)) for each in node.keys]
        if not set(keys) <= set(value.keys):
            return False
        pairs = zip(value.keys, value.items, strict=True)
        rest = mapping({key: item for key, item in pairs if key not in keys})
        self._bind(node, node.rest, rest)
        return self.patterns(node.patterns, [value.get(key) for key in keys])

    def _class(self, node: gast.MatchClass, value: Any) -> bool:
        kind = self.lowering.evaluate(node.cls)
        known = unwrap(kind)
        if not isinstance(known, type):
            raise UnsupportedError("S2S203", "a class pattern of something that is not a class")
        if not HANDLERS[isinstance](self.lowering, [value, kind], {}):
            return False
        if node.patterns and known in THEMSELVES:
            items = [value]
        else:
            fields = getattr(known, "__match_args__", ())[: len(node.patterns)]
            items = [read_attribute(self.lowering, value, name) for name in fields]
        if len(items) != len(node.patterns):
            raise TypeError(f"{known.__name__} accepts {len(items)} positional sub-patterns")
        items += [read_attribute(self.lowering, value, name) for name in node.kwd_attrs]
        return self.patterns([*node.patterns, *node.kwd_patterns], items)

    KINDS: ClassVar[dict[type, Callable]] = {
        gast.MatchAs: _as,
        gast.MatchClass: _class,
        gast.MatchMapping: _mapping,
        gast.MatchOr: _or,
        gast.MatchSequence: _sequence,
        gast.MatchSingleton: _singleton,
        gast.MatchStar: _star,
        gast.MatchValue: _value,
    }


def is_array(value: Any) -> bool:
    """Whether it may be an array with axes."""
    return isinstance(value, Symbol) and value.shape != ()
