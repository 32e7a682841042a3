"""sparse_jacobian and sparse_hessian: few directional derivatives, and where each belongs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.arguments import exact
from s2s_ad.api.function import Transformed
from s2s_ad.api.make import grad
from s2s_ad.api.transform import Jit
from s2s_ad.core import tree, values
from s2s_ad.core.dependence import LARGEST, Pattern, TooDense
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, UnsupportedError
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.sparse.colouring import Colouring, of_columns, of_symmetric
from s2s_ad.sparse.directions import Directions
from s2s_ad.sparse.elements import same
from s2s_ad.sparse.found import found_pattern
from s2s_ad.tensors import plain

WAYS = ("auto", "columns", "rows")
#: how much dearer an adjoint may be than a tangent
ADJOINT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The elements of a sparse matrix that may differ from zero, row by row."""

    rows: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def of(cls, pattern: Pattern) -> Entries:
        rows = np.repeat(np.arange(pattern.rows), np.diff(pattern.starts))
        return cls(rows, pattern.columns, pattern.starts, (pattern.rows, pattern.width))

    @classmethod
    def of_pairs(cls, rows: Any, columns: Any, shape: tuple[int, int]) -> Entries:
        keys = np.unique(np.asarray(rows, np.int64) * shape[1] + columns)
        starts = np.searchsorted(keys, np.arange(shape[0] + 1) * shape[1])
        return cls(*divmod(keys, max(shape[1], 1)), starts, shape)

    def symmetric(self) -> Entries:
        """With the mirror image of each element."""
        rows = np.concatenate([self.rows, self.columns])
        return Entries.of_pairs(rows, np.concatenate([self.columns, self.rows]), self.shape)

    def matrix(self, data: np.ndarray) -> Any:
        from s2s_ad.sparse.scipy_matrices import by_rows

        return by_rows(data, self.columns, self.starts, self.shape)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the matrix is computed for arguments of one kind.

    Attributes:
        compressed: gives a row of numbers for each of the `seeds`.
        places: where in these numbers each element of the matrix stands.
        grounds: what the pattern rests on besides: (how it is read, what it was).
        text: of the code for which the plan was made.
    """

    compressed: Transformed
    seeds: np.ndarray
    places: np.ndarray
    entries: Entries
    grounds: tuple[tuple[Callable, Any], ...]
    text: Any

    def holds(self, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Whether what the pattern rests on is what it was."""
        if self.grounds:
            named = self.compressed.bind((self.seeds, *args), kwargs).arguments
            if not all(same(read(named), before) for read, before in self.grounds):
                return False
        return self.compressed.specialised((self.seeds, *args), kwargs).text is self.text

    def result(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        numbers = self.compressed(self.seeds, *args, **kwargs)
        return self.entries.matrix(numbers.reshape(-1)[self.places])


class SparseJacobian:
    """What `sparse_jacobian` and `sparse_hessian` return. Call it as the function.

    Methods:
        pattern(*args): the elements that may differ from zero, as a sparse matrix of bools.
        directions(*args): how many directional derivatives a call computes.
        source(*args): the generated text that computes them.
    """

    def __init__(
        self, fn: Callable, label: str, subject: Callable, position: int, pattern: Any, by: str
    ):
        functools.update_wrapper(self, fn, updated=())
        self.fn, self.label, self._by, self._position = fn, label, by, position
        self._given = None if pattern is None else _given_entries(label, pattern)
        self._is_symmetric = label == "sparse_hessian"
        self._subject = Transformed(subject, Jit(), label)
        self._forward = Transformed(subject, Directions((position,)), label)
        self._backward = Transformed(subject, Directions((position,), reverse=True), label)
        self._plans: dict[Any, Plan] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._plan(args, kwargs).result(args, kwargs)

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        """The elements that may differ from zero: a `scipy.sparse.csr_array` of bools."""
        entries = self._plan(args, kwargs).entries
        return entries.matrix(np.ones(len(entries.rows), bool))

    def directions(self, *args: Any, **kwargs: Any) -> int:
        """The number of directional derivatives that a call computes."""
        return len(self._plan(args, kwargs).seeds)

    def source(self, *args: Any, standalone: bool = False, **kwargs: Any) -> str:
        """The generated text of the directional derivatives for arguments of this kind."""
        plan = self._plan(args, kwargs)
        return plan.compressed.source(plan.seeds, *args, standalone=standalone, **kwargs)

    def __repr__(self) -> str:
        return f"{self.label}({check.name_of(self.fn)})"

    # ---- plans

    def _plan(self, args: tuple, kwargs: dict[str, Any]) -> Plan:
        key = (*map(_kind, args), *((name, _kind(each)) for name, each in kwargs.items()))
        plan = self._plans.get(key)
        if plan is None or not plan.holds(args, kwargs):
            plan = self._plans[key] = self._made(args, kwargs)
        return plan

    def _made(self, args: tuple, kwargs: dict[str, Any]) -> Plan:
        bound = self._forward.bind((np.zeros((1, 1)), *args), kwargs)
        self._forward._check(exact(self._forward.__signature__, bound.arguments))
        x = self._input(bound)
        stages = list(self._subject.lower(*args, **kwargs).values())
        if self._is_symmetric:
            _check_number(self, stages[-3])
        grounds: tuple = ()
        if self._given is None:
            pattern, grounds = self._found(remove_dead(stages[-2]), bound)
            entries = Entries.of(pattern)
        else:
            entries = self._given
            self._check_width(entries, x)
        entries = entries.symmetric() if self._is_symmetric else entries
        reverse, colouring = self._colouring(entries)
        compressed = self._backward if reverse else self._forward
        length = entries.shape[0 if reverse else 1]
        seeds = np.zeros((colouring.count, length), x.dtype)
        seeds[colouring.colours, np.arange(length)] = 1
        text = compressed.specialised((seeds, *args), kwargs).text
        places = colouring.colour_read * entries.shape[1 if reverse else 0] + colouring.row_read
        plan = Plan(compressed, seeds, places, entries, grounds, text)
        if self._given is not None:
            self._check_given(plan, reverse, args, kwargs)
        return plan

    def _input(self, bound: inspect.BoundArguments) -> np.ndarray:
        """The argument that the derivative is by."""
        names = list(bound.arguments)
        x = plain(bound.arguments[names[1 + self._position]])
        return np.asarray(x)

    def _found(self, program: Program, bound: inspect.BoundArguments) -> tuple:
        """The pattern by the program, and what it rests on."""
        name = list(bound.arguments)[1 + self._position]
        (leaf,) = [each.tree for each in program.inputs if each.name == name]
        try:
            return found_pattern(program, bound.arguments, leaf)
        except TooDense:
            raise UnsupportedError(
                "S2S302",
                f"{self!r} would have more than {LARGEST:,} elements",
                help="use jvp and vjp, which multiply with it without making it",
            ) from None

    def _check_width(self, entries: Entries, x: np.ndarray) -> None:
        if entries.shape[1] != x.size or (self._is_symmetric and entries.shape[0] != x.size):
            raise ArgumentValueError(
                "S2S502",
                f"{self.label}: a pattern of shape {entries.shape}, an input of {x.size} elements",
                help="it has a row for each element of the output, a column for each of the input",
            )

    def _check_given(self, plan: Plan, reverse: bool, args: tuple, kwargs: dict[str, Any]) -> None:
        """Compare the matrix with the derivative along a direction of random numbers.

        An element that the pattern lacks is taken for another one.
        """
        rng = np.random.default_rng(0)
        along = rng.uniform(0.5, 1.5, (1, plan.seeds.shape[1])).astype(plan.seeds.dtype)
        expected = plan.compressed(along, *args, **kwargs)[0]
        matrix = plan.result(args, kwargs)
        matrix = matrix.T if reverse else matrix
        if len(expected) != matrix.shape[0]:
            rows = f"an output of {len(expected)} elements"
            raise ArgumentValueError(
                "S2S502", f"{self.label}: a pattern of shape {plan.entries.shape} for {rows}"
            )
        scale = np.maximum(abs(matrix) @ along[0], np.abs(expected))
        most = np.sqrt(np.finfo(along.dtype).eps) * scale
        wrong = np.abs(matrix @ along[0] - expected) > most
        if np.any(wrong):
            raise ArgumentValueError(
                "S2S502",
                f"{self.label}: the pattern lacks elements that are not zero, "
                f"in {'column' if reverse else 'row'} {int(np.argmax(wrong))} among others",
                help="add them, or leave pattern= out",
            )

    def _colouring(self, entries: Entries) -> tuple[bool, Colouring]:
        """(whether adjoints are computed, which columns or rows are computed together)"""
        rows, columns, shape = entries.rows, entries.columns, entries.shape
        if self._is_symmetric:
            return False, of_symmetric(rows, columns, shape[0])
        by_columns = by_rows = None
        if self._by != "rows":
            by_columns = of_columns(rows, columns, shape)
        if self._by == "rows" or (self._by == "auto" and by_columns.count > ADJOINT):
            by_rows = of_columns(columns, rows, shape[::-1])
        if by_columns is None:
            return True, by_rows
        if by_rows is not None and ADJOINT * by_rows.count < by_columns.count:
            return True, by_rows
        return False, by_columns


def _kind(value: Any) -> Any:
    """What an argument's pattern is looked up by: the shape of an array, else the value."""
    if isinstance(value, np.ndarray | np.generic):
        return value.shape, value.dtype
    if isinstance(value, tuple | list):
        return (type(value), *map(_kind, value))
    if isinstance(value, dict):
        return (dict, *((key, _kind(each)) for key, each in value.items()))
    if type(value) in (float, complex):
        return type(value)
    return (type(value), value) if type(value) in (bool, int, str) else (type(value), id(value))


def _given_entries(label: str, pattern: Any) -> Entries:
    """The elements that a pattern of the user's has."""
    from s2s_ad.sparse.scipy_matrices import coordinates, is_sparse

    if is_sparse(pattern):
        rows, columns = coordinates(pattern)
    else:
        pattern = np.asarray(pattern)
        if pattern.ndim != 2:
            raise ArgumentTypeError(
                "S2S501",
                f"{label}: argument 'pattern' must be a matrix, got one of rank {pattern.ndim}",
                help="give a sparse matrix, or an array of bools, of shape (outputs, inputs)",
            )
        rows, columns = np.nonzero(pattern)
    return Entries.of_pairs(rows, columns, pattern.shape)


def _check_number(made: SparseJacobian, program: Program) -> None:
    """A Hessian is of a number."""
    shapes = [values.shape_of(program.fact(each)) for each in tree.leaves(program.result)]
    if shapes != [()]:
        raise ArgumentTypeError(
            "S2S304",
            f"{made.label}: {check.name_of(made.fn)} returns other than a number",
            help="take the Jacobian of its gradient, or sum what it returns",
        )


# ---- the public functions ------------------------------------------------------------------------


def sparse_jacobian(
    fn: Callable, grad_position: int = 0, *, pattern: Any = None, by: str = "auto"
) -> SparseJacobian:
    """The Jacobian of `fn` as a sparse matrix, by few directional derivatives.

    Which elements may differ from zero follows from the program: for arguments of one kind the
    pattern is found once, and columns (or rows) that have no row in common are computed together.

    Args:
        fn: a function of an array, which returns an array (or several: their elements one after
            the other). Other arguments may be anything.
        grad_position: which argument.
        pattern: the elements that may differ from zero, a sparse matrix or an array of bools of
            shape (outputs, inputs), where they are known better. It is checked along one direction.
        by: "columns" (`jvp`), "rows" (`vjp`), or what takes fewer of them.

    Returns:
        A function of the same arguments that gives a `scipy.sparse.csr_array` of shape
        `(y.size, x.size)`: elements count as `ravel` has them. Its `pattern`, `directions` and
        `source` take the same arguments.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is not as said, or the pattern lacks
            elements.
        UnsupportedError: the elements of x decide the shape of something; give `pattern=`.

    Example:
        >>> import numpy as np
        >>> second = sparse_jacobian(lambda x: np.diff(x) ** 2)
        >>> second(np.array([1.0, 2.0, 4.0])).toarray()
        array([[-2.,  2.,  0.],
               [ 0., -4.,  4.]])
        >>> second.directions(np.ones(2000))
        2
    """
    position = _checked("sparse_jacobian", fn, grad_position)
    check.check_option("sparse_jacobian", "by", by, WAYS)
    return SparseJacobian(fn, "sparse_jacobian", fn, position, pattern, by)


def sparse_hessian(fn: Callable, grad_position: int = 0, *, pattern: Any = None) -> SparseJacobian:
    """The Hessian of a scalar `fn` as a sparse matrix, by few Hessian-vector products.

    As the matrix is symmetric, an element may be read where its mirror image is computed.

    Args:
        fn: a function of an array, which returns a number. Other arguments may be anything.
        grad_position: which argument.
        pattern: the elements that may differ from zero, a sparse matrix or an array of bools of
            shape (x.size, x.size); mirror images are added.

    Returns:
        A function of the same arguments that gives a `scipy.sparse.csr_array` of shape
        `(x.size, x.size)`: elements count as `ravel` has them. Its `pattern`, `directions` and
        `source` take the same arguments.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is not as said, or the pattern lacks
            elements.
        UnsupportedError: the elements of x decide the shape of something; give `pattern=`.

    Example:
        >>> import numpy as np
        >>> curvature = sparse_hessian(lambda x: np.sum(np.diff(x) ** 3))
        >>> curvature(np.array([1.0, 2.0, 4.0])).toarray()
        array([[  6.,  -6.,   0.],
               [ -6.,  18., -12.],
               [  0., -12.,  12.]])
    """
    position = _checked("sparse_hessian", fn, grad_position)
    return SparseJacobian(fn, "sparse_hessian", grad(fn, position), position, pattern, "columns")


def _checked(label: str, fn: Any, grad_position: Any) -> int:
    check.check_callable(label, fn)
    if isinstance(grad_position, bool) or not isinstance(grad_position, int):
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: argument 'grad_position' must be an int, got {check.shown(grad_position)}",
            help="a sparse Jacobian is by one array",
        )
    (position,) = check.check_positions(label, grad_position)
    check.check_range(label, grad_position, fn)
    return position
