"""Abstract values: what is known of a name when code is generated, and the algebra of shapes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2s_ad.core import sizes
from s2s_ad.core import tree as trees
from s2s_ad.core.sizes import Atom, Size
from s2s_ad.diagnostics import ArgumentTypeError, LengthError
from s2s_ad.tensors import Parameter, Tensor, plain

ARRAY_TYPES: set[type] = {np.ndarray, np.memmap, Parameter, Tensor}

_fresh = itertools.count()


@dataclass(frozen=True, slots=True)
class Dim:
    """The length of an axis where it is no number: a size, or 0 where that is below 0.

    Two Dims of one form are the same length. `maybe_one` is False where the form tells that it is
    not 1, which is all that broadcasting has to know.
    """

    size: Size

    @property
    def maybe_one(self) -> bool:
        return not sizes.is_never(self.size, 1)

    def less(self, count: int) -> int | Dim:
        return dim_of_size(self.size - count)


def fresh_dim(maybe_one: bool = True) -> Dim:
    return Dim(sizes.of(sizes.fresh(not_one=not maybe_one)))


def dim_of_size(size: Size) -> int | Dim:
    """The length of an axis that a size is, which is 0 where the size is below 0."""
    if size.known is not None:
        return max(size.known, 0)
    ((factor, coefficient), *others) = size.terms
    if isinstance(factor, sizes.Clamped) and coefficient == 1 and not others and size.constant <= 0:
        return dim_of_size(factor.size + size.constant)
    return 1 if sizes.is_assumed(size, 1) else Dim(size)


def size_of_dim(dim: int | Dim) -> Size:
    """The length of an axis as a whole number."""
    return sizes.of(dim) if isinstance(dim, int) else sizes.clamped(dim.size)


Shape = tuple[int | Dim, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array or NumPy scalar; dtype or shape is None where it is not known.

    `selects`: it is an array of indices of which none is another, and none counts from the end.
    `tensor`: in the user's code it is a Tensor, whose operators have rules of their own for dtypes.
    That matters while that code is lowered; it is no difference between two values.
    `absent`: on some path there is no such array, and nobody reads it there.
    `number`: an argument without axes is a number, which nothing changes in place, or (False) an
    array; that matters to the user's code alone, too.
    `weak`: on some path it is a Python number, whose dtype is weak, and which has no attributes.
    `real`: its dtype is not known, but that of real numbers: that of one path or of another.
    """

    dtype: np.dtype | None
    shape: Shape | None
    selects: bool = False
    tensor: bool = field(default=False, compare=False)
    absent: bool = False
    number: bool | None = field(default=None, compare=False)
    weak: bool = False
    real: bool = False

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array) or (self.dtype is None) != (other.dtype is None):
            return False  # NumPy's float64 dtype claims to equal None
        same = self.dtype == other.dtype and self.shape == other.shape
        mine, its = ((e.selects, e.absent, e.weak, e.real) for e in (self, other))
        return same and mine == its


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python number: bool, int, float or complex. Its dtype is weak, as in NumPy 2.

    `size` says which whole number it is, where that is known of this very name; it is no part of
    the kind that the number is of.
    """

    kind: type
    size: Size | None = field(default=None, compare=False, repr=False)
    shape = ()
    rank = 0


@dataclass(frozen=True, slots=True)
class Static:
    """An object that is part of the signature: a string, None, a dtype, a function."""

    value: Any


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all; `inexact` where it holds floating-point numbers.

    Values of the same `form` have the same shape, whatever it turns out to be.
    """

    inexact: bool = False
    form: int | None = None
    absent: bool = False


@dataclass(frozen=True, slots=True)
class List:
    """A list whose length is not known now; `item` holds for each of its items.

    `count` is how many items an input has; of a list that is made their rules say it.
    """

    item: Any
    count: Dim | None = field(default=None, compare=False, repr=False)
    shape = None
    rank = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What a forward pass saves, as one value; see `core/saved.py`."""

    shape = None
    rank = None


@dataclass(frozen=True, slots=True)
class Generator(Saved):
    """A generator of random numbers that the function makes: what it draws changes it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple of Python's numbers of these kinds, an item of a list that is an input.

    Nothing is differentiated by such numbers.
    """

    kinds: tuple[type, ...]
    shape = None
    rank = None


@dataclass(frozen=True, slots=True)
class Word:
    """One of several texts, or any text; a text that is known is a Static."""

    options: frozenset[str] | None
    shape = ()
    rank = 0


#: a text that is made when the code runs
ANY_TEXT = Word(None)


@dataclass(frozen=True, slots=True)
class Error:
    """An exception that was caught, of one of these classes."""

    kinds: frozenset[type]
    shape = ()
    rank = 0


class Undefined:
    """The value of a name on a path that does not assign it; nothing reads it there."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = Undefined()

AbstractValue = Array | Scalar | Static | Unknown | List | Saved | Row | Word | Error

PYTHON_NUMBERS = (bool, int, float, complex)
LISTED = (float, int)  #: kinds of numbers of which a long list may be one input
IN_ROWS = (*LISTED, bool)  #: kinds of numbers that may stand in tuples of such a list
MOST_APART = 4  # numbers of a list, each of which is an input of its own: a point, a quaternion
COMPLEX = (complex, np.complex64, np.complex128)


def of_object(value: Any, name: str = "value") -> Any:
    """The abstract value of an object; containers give a Tree of abstract values.

    Example:
        >>> of_object(2.0), of_object(True)
        (Scalar(kind=<class 'float'>), Static(value=True))
    """
    return trees.from_object(value, lambda leaf, path: of_leaf(leaf, trees.path_text(name, path)))


def kind_of_items(items: Sequence) -> Any:
    """The one kind of numbers, or of tuples of numbers, that a list holds; None for all others."""
    kind = _kind(items)
    if kind is not tuple:
        return kind if kind in LISTED else None
    if len(set(map(len, items))) > 1:
        return None
    columns = tuple(_kind(each) for each in zip(*items, strict=True))
    return columns if columns and all(each in IN_ROWS for each in columns) else None


def _kind(items: Sequence) -> type | None:
    """The one type that all items have."""
    kinds = set(map(type, items))
    return kinds.pop() if len(kinds) == 1 else None


def is_long(items: Sequence, kind: Any) -> bool:
    """Whether a list is one value: a loop goes over tuples, few numbers may be a point."""
    return len(items) > (1 if isinstance(kind, tuple | Row) else MOST_APART)


def of_long_list(value: Any) -> List | None:
    """The abstract value of a long list of numbers, or of tuples of them, as one value."""
    kind = kind_of_items(value) if type(value) is list else None
    if kind is None:
        return None
    if not is_long(value, kind):
        return None
    return List(Row(kind) if isinstance(kind, tuple) else Scalar(kind))


def of_leaf(value: Any, name: str = "value") -> AbstractValue:
    kind = type(value)
    if kind in ARRAY_TYPES or isinstance(value, np.generic):
        if value.dtype.kind not in "biufc":
            raise ArgumentTypeError(
                "S2S501",
                f"argument {name} has dtype {value.dtype}",
                why="only boolean, integer, floating-point and complex arrays can be compiled",
                help="make one of numbers of it: x.astype(float)",
            )
        shape = tuple(1 if n == 1 else fresh_dim(False) for n in value.shape)
        number = isinstance(value, np.generic) if not shape else None
        return Array(plain(value).dtype, shape, tensor=isinstance(value, Tensor), number=number)
    if kind in (int, float, complex):
        return Scalar(kind)
    if isinstance(value, np.ndarray):
        raise ArgumentTypeError(
            "S2S501",
            f"argument {name} is a {kind.__module__}.{kind.__qualname__}",
            why="subclasses of ndarray may give operations another meaning",
            help="pass np.asarray(...) of it",
        )
    return Static(value)


def of_constant(value: Any) -> AbstractValue:
    """The abstract value of an object that stands in the code itself."""
    if type(value) in PYTHON_NUMBERS:
        return Scalar(type(value))
    return of_leaf(value) if isinstance(value, np.generic) else Static(value)


def unknown(inexact: bool = False) -> Unknown:
    """An Unknown of a form of its own."""
    return Unknown(inexact, next(_fresh))


def same_form(a: Any, b: Any) -> bool:
    """Whether two values of unknown shape are certain to have the same."""
    both = isinstance(a, Unknown) and isinstance(b, Unknown)
    return both and a.form is not None and a.form == b.form


def unsized(value: Any) -> Any:
    """The abstract value of any number of this kind."""
    return Scalar(value.kind) if isinstance(value, Scalar) and value.size is not None else value


def told_apart(value: Any) -> Any:
    """The abstract value of a new name: a whole number that is told apart from all others."""
    if isinstance(value, Scalar) and value.kind is int:
        return Scalar(int, sizes.of(sizes.fresh(is_length=False)))
    return value


def shape_of(value: Any) -> Shape | None:
    return getattr(value, "shape", None)


def rank_of(value: Any) -> int | None:
    shape = shape_of(value)
    return None if shape is None else len(shape)


def is_inexact(value: Any) -> bool | None:
    """Whether the value holds floating-point or complex numbers; None where it is not known."""
    if isinstance(value, Scalar):
        return value.kind in (float, complex)
    if isinstance(value, Array) and value.dtype is not None:
        return value.dtype.kind in "fc"
    if isinstance(value, Static | Saved | Row | Word | Error):
        return False
    if isinstance(value, List):
        return is_inexact(value.item)
    return True if isinstance(value, Unknown) and value.inexact else None


def may_wrap(value: Any) -> bool:
    """Whether the value holds whole numbers of few bits or without a sign: what is computed with
    such begins anew where it is out of their range, -1 is 255, so that no algebra holds."""
    dtype = value.dtype if isinstance(value, Array) else None
    return dtype is not None and (dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 8))


def is_truth(value: Any) -> bool:
    """Whether the value is one True or False, be it Python's or NumPy's."""
    return rank_of(value) == 0 and is_dtype(strong_dtype(value), bool)


def is_complex(value: Any) -> bool:
    """Whether the value is known to hold complex numbers."""
    if isinstance(value, Scalar):
        return value.kind is complex
    if isinstance(value, List):
        return is_complex(value.item)
    dtype = strong_dtype(value)
    return dtype is not None and dtype.kind == "c"


def keeps(value: Any, number: float) -> bool:
    """Whether a number other than 0 is neither infinite nor lost in the dtype of a value.

    Where no dtype is known it may be that of single precision.
    """
    known = strong_dtype(value)
    python = isinstance(value, Scalar)
    inexact = known is not None and known.kind in "fc"
    limits = np.finfo(known if inexact else np.float64 if python else np.float32)
    return float(limits.tiny) <= abs(number) <= float(limits.max)


def names_complex(value: Any) -> bool:
    """Whether an operand is a complex number, or a type of these."""
    return type(value) is complex or any(value is each for each in COMPLEX)


def is_real(value: Any) -> bool:
    """Whether the value is known to hold real numbers."""
    if isinstance(value, List):
        return is_real(value.item)
    dtype = strong_dtype(value)
    return getattr(value, "real", False) if dtype is None else dtype.kind in "biuf"


def dtype_argument(value: Any) -> Any:
    """What NumPy's promotion takes for the value: a dtype, or a Python type (weak)."""
    if isinstance(value, Scalar):
        return np.dtype(bool) if value.kind is bool else value.kind
    return getattr(value, "dtype", None)


def strong_dtype(value: Any) -> np.dtype | None:
    """The dtype that np.asarray gives the value."""
    if isinstance(value, Scalar):
        return np.dtype(value.kind)
    return getattr(value, "dtype", None)


def missing(items: Iterable[Any]) -> bool:
    """Whether one of the items is None (NumPy's float64 dtype claims to equal None)."""
    return any(each is None for each in items)


def is_dtype(dtype: np.dtype | None, other: Any) -> bool:
    """Whether a dtype is known to be `other`."""
    return dtype is not None and dtype == np.dtype(other)


# ---- shapes ------------------------------------------------------------------------------------


def known_not_one(dim: int | Dim) -> bool:
    """Whether a length is certain not to be 1, or may be assumed not to be."""
    return dim != 1 if isinstance(dim, int) else sizes.differs(dim.size, 1)


def broadcast_dims(a: int | Dim, b: int | Dim) -> int | Dim:
    """The length that two lengths are broadcast to.

    Raises:
        LengthError: NumPy raises.
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if known_not_one(a) and known_not_one(b):
        check_fit(a, b)
        return dim_of_size(sizes.simpler(size_of_dim(a), size_of_dim(b)))
    sizes.ask_the_run(size_of_dim(a), size_of_dim(b))
    if known_not_one(a):
        return a
    return b if known_not_one(b) else a if same_dim(a, b) else fresh_dim()


def check_fit(
    a: int | Dim,
    b: int | Dim,
    what: str = "lengths that do not fit together",
    raises: type[Exception] = ValueError,
) -> None:
    """Refuse two lengths that have to be equal and are not, in the call that is compiled for.

    Raises:
        LengthError: they are certain to differ; Python `raises` such an exception.
    """
    check_sizes(size_of_dim(a), size_of_dim(b), what, raises)


def check_sizes(
    one: Size,
    other: Size,
    what: str,
    raises: type[Exception] = ValueError,
    help: str = "pass arrays whose lengths agree",
) -> None:
    """Refuse two sizes that have to be equal, as `check_fit` does."""
    if sizes.fit(one, other) is False:
        numbers = [sizes.number_of(each) for each in (one, other)]
        shown = "" if missing(numbers) else f": {numbers[0]} and {numbers[1]}"
        why = f"Python raises a {raises.__name__} here"
        error = LengthError("S2S502", f"{what}{shown}", why=why, help=help)
        error.raises = raises
        raise error


def check_joined(shapes: Iterable[Shape | None], what: str) -> None:
    """Refuse arrays that are joined and differ in a length: none is stretched.

    Raises:
        LengthError: NumPy raises.
    """
    first, *others = shapes
    for other in others:
        if first is None or other is None:
            continue
        check_sizes(sizes.of(len(first)), sizes.of(len(other)), f"{what}: numbers of axes")
        for pair in zip(first, other, strict=False):
            if pair[0] != pair[1]:
                check_fit(*pair, what)


def check_stored(whole: Shape | None, part: Shape | None) -> None:
    """Refuse an array that does not broadcast to the shape that it is to be stored in.

    Raises:
        LengthError: NumPy raises.
    """
    for wide, narrow in zip(reversed(whole or ()), reversed(part or ()), strict=False):
        if wide != narrow and known_not_one(narrow):
            check_fit(wide, narrow)
        elif wide != narrow and narrow != 1:
            sizes.ask_the_run(size_of_dim(wide), size_of_dim(narrow), told=True)


def broadcast(shapes: Iterable[Shape | None]) -> Shape | None:
    """The shape that NumPy broadcasts the shapes to; None where one of them is not known."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        rank = max(len(result), len(shape))
        left, right = (1,) * (rank - len(result)) + result, (1,) * (rank - len(shape)) + shape
        result = tuple(map(broadcast_dims, left, right))
    return result


def broadcasts(shapes: Iterable[Shape | None]) -> bool:
    """Whether arrays of these shapes are certain to broadcast together."""
    every = list(shapes)
    known = [shape for shape in every if shape is not None]
    if len(known) < len(every):
        return False
    columns = itertools.zip_longest(*(reversed(shape) for shape in known), fillvalue=1)
    return all(len({each for each in column if each != 1}) <= 1 for column in columns)


def same_dim(a: int | Dim, b: int | Dim) -> bool:
    """Whether the two lengths are certain to be equal, given that they broadcast together.

    Of lengths that need not broadcast (the two axes of a matrix, say) it says nothing: use ==.
    """
    if a == b:
        return True
    if not sizes.may_equal(size_of_dim(a), size_of_dim(b)):
        return False
    return (known_not_one(a) and known_not_one(b)) or _are_equal(a, b)


def _are_equal(a: int | Dim, b: int | Dim) -> bool:
    """Whether two lengths are equal, by their forms or by assumption: what is below 0 is 0."""
    return sizes.equals(
        *(each.size if isinstance(each, Dim) else sizes.of(each) for each in (a, b))
    )


def stored_whole(a: int | Dim, b: int | Dim) -> bool:
    """Whether what has the one length can be stored where the other is without being stretched.

    They are equal, or lengths of inputs that no call was looked at for, and NumPy refuses it.
    """
    if a == b or _are_equal(a, b):
        return True
    return same_dim(a, b) and not sizes.is_found_by_running(size_of_dim(a) - size_of_dim(b))


def same_shape(a: Shape | None, b: Shape | None) -> bool:
    """Whether the shapes are certain to be equal, given that they broadcast together."""
    return a is not None and b is not None and len(a) == len(b) and all(map(same_dim, a, b))


def are_equal(a: Shape | None, b: Shape | None) -> bool:
    """Whether the shapes are certain to be equal, by their forms or by assumption."""
    return a is not None and b is not None and len(a) == len(b) and all(map(_are_equal, a, b))


def are_taken_for_equal(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal, by their forms or by what was assumed already."""
    return len(a) == len(b) and all(
        one == other or sizes.are_taken_for_equal(size_of_dim(one), size_of_dim(other))
        for one, other in zip(a, b, strict=True)
    )


def with_shape(value: Any, shape: Shape | None) -> Array:
    return Array(strong_dtype(value), shape, tensor=is_tensor(value))


def is_tensor(value: Any) -> bool:
    """Whether the value is a Tensor in the user's code."""
    return isinstance(value, Array) and value.tensor


def as_tensor(value: Any) -> Any:
    """The abstract value of what an operation on Tensors gives."""
    if isinstance(value, trees.Tree):
        return trees.tree_map(as_tensor, value)
    if isinstance(value, List):
        return List(as_tensor(value.item))
    return replace(value, tensor=True) if isinstance(value, Array) else value


def add_axis(value: Any, axis: int, dim: int | Dim) -> Any:
    """The abstract value of a batch of `value`: one more dimension, before `axis`."""
    if isinstance(value, Unknown):
        return value
    shape = shape_of(value)
    if shape is None:
        return with_shape(value, None)
    return with_shape(value, (*shape[:axis], dim, *shape[axis:]))


def as_inexact(value: Any) -> Any:
    return replace(value, inexact=True) if isinstance(value, Unknown) else value


# ---- values that come from several paths ---------------------------------------------------------


def join(a: Any, b: Any) -> Any:
    """What holds for a value that is known to be one of the two.

    Python numbers of several kinds are the widest of them. A Python number or a NumPy number is a
    NumPy number that may be `weak`: nobody wants general code for the 0 that a sum begins with.

    Example:
        >>> join(Scalar(int), Scalar(float))
        Scalar(kind=<class 'float'>)
    """
    for one, other in ((a, b), (b, a)):
        if one == other:
            return unsized(other)
        if one == Static(UNDEFINED):
            return as_absent(unsized(other))
    if isinstance(a, Scalar) and isinstance(b, Scalar):  # of either size
        return Scalar(max(a.kind, b.kind, key=PYTHON_NUMBERS.index))
    if isinstance(a, List) and isinstance(b, List):
        return List(join_items((a.item, b.item)))
    if isinstance(a, Error) and isinstance(b, Error):
        return Error(a.kinds | b.kinds)
    texts = options_of(a), options_of(b)
    if all(texts):
        return Word(texts[0] | texts[1])
    if all(each == ANY_TEXT or options for each, options in zip((a, b), texts, strict=True)):
        return ANY_TEXT
    absent = may_be_absent(a) or may_be_absent(b)
    if isinstance(a, Array | Scalar) and isinstance(b, Array | Scalar):
        selects = getattr(a, "selects", False) and getattr(b, "selects", False)
        tensor, weak = is_tensor(a) or is_tensor(b), may_be_python(a) or may_be_python(b)
        dtype, shape = _joined_dtype(a, b), _joined_shape(a.shape, b.shape)
        real = dtype is None and is_real(a) and is_real(b)
        return Array(dtype, shape, selects, tensor, absent, weak=weak, real=real)
    return Unknown(bool(is_inexact(a) or is_inexact(b)), absent=absent)


def options_of(value: Any) -> frozenset[str]:
    """The texts that a value may be; none where it is no text, or any."""
    if isinstance(value, Word):
        return value.options or frozenset()
    is_text = isinstance(value, Static) and type(value.value) is str
    return frozenset([value.value]) if is_text else frozenset()


def join_items(items: Iterable[Any]) -> AbstractValue:
    """What holds for each item of lists; one without items says UNDEFINED of them.

    Lengths that are not those of all items may be others for each item.
    """
    found = [each for each in items if each != Static(UNDEFINED)]
    joined = unsized(join_all(found))
    common = set.intersection(*map(dims_of, found)) if found else set()
    return _with_dims(joined, lambda dim: dim if dim in common else _varying(dim))


def _varying(dim: Dim) -> Dim:
    not_one = not dim.maybe_one
    return Dim(sizes.of(replace(sizes.fresh(not_one=not_one), varies=True)))


def one_item(item: Any) -> Any:
    """What holds for one item of a list, given what holds for each."""

    def own(dim: Dim) -> Dim:
        varies = any(atom.varies for atom in sizes.atoms_of(dim.size))
        return fresh_dim(dim.maybe_one) if varies else dim

    return _with_dims(item, own)


def of_any_pass(value: Any, start: Atom) -> Any:
    """What holds for a value after any pass of a loop, given what holds after one of them.

    Lengths that come of what is newer than the `start` of the loop, its index among it, are others
    in each pass.
    """

    def own(dim: Dim) -> Dim:
        newer = any(atom.serial > start.serial for atom in sizes.atoms_of(dim.size))
        return fresh_dim(dim.maybe_one) if newer else dim

    return _with_dims(value, own)


def of_last_pass(after: Iterable[Any], before: Iterable[Any]) -> list[Any]:
    """What holds behind a loop, given what holds after any pass, and what is known before it.

    Lengths that are others in each pass are told apart from those of the last one.
    """
    outside: set[Atom] = set()
    for each in before:
        if isinstance(each, Scalar) and each.size is not None:
            outside |= sizes.atoms_of(each.size)
        elif isinstance(each, Array):
            outside |= atoms_of(each)
    last: dict[Dim, Dim] = {}

    def own(dim: Dim) -> Dim:
        if sizes.atoms_of(dim.size) <= outside:
            return dim
        return last.setdefault(dim, fresh_dim(dim.maybe_one))

    return [_with_dims(each, own) for each in after]


def _with_dims(value: Any, change: Callable[[Dim], Dim]) -> Any:
    if not isinstance(value, Array) or value.shape is None or not dims_of(value):
        return value
    shape = tuple(dim if isinstance(dim, int) else change(dim) for dim in value.shape)
    return value if shape == value.shape else replace(value, shape=shape)


def as_absent(value: Any) -> Any:
    """The abstract value of what some path does not have; numbers need no shape there."""
    if isinstance(value, Unknown) or (isinstance(value, Array) and value.shape != ()):
        return replace(value, absent=True)
    return value


def may_be_absent(value: Any) -> bool:
    """Whether some path may not have the value."""
    return getattr(value, "absent", False)


def may_be_python(value: Any) -> bool:
    """Whether the value is a Python number, or is one on some path."""
    return isinstance(value, Scalar) or getattr(value, "weak", False)


def holds_rows(value: Any) -> bool:
    """Whether the value is a list of tuples that is one input."""
    return isinstance(value, List) and isinstance(value.item, Row)


def is_of_two_kinds(value: Any) -> bool:
    """Whether the value is a number of Python's on some paths, and one of NumPy's on others."""
    return isinstance(value, Array) and value.weak


def is_single(value: Any) -> bool:
    """Whether the value is of NumPy's single precision: a number of Python's is wider."""
    return single(value) is not None


def single(value: Any) -> np.dtype | None:
    """The dtype of a value that is of single precision; None for others."""
    dtype = getattr(value, "dtype", None)
    return dtype if is_dtype(dtype, np.float32) or is_dtype(dtype, np.complex64) else None


def may_be_wider(value: Any) -> bool:
    """Whether the value is wider than its dtype where it is a number of Python's."""
    return is_of_two_kinds(value) and is_single(value)


def kind_of_number(value: Any) -> Any:
    """What holds for any number of this kind; None where the value is no single number."""
    return unsized(value) if isinstance(value, Array | Scalar) and value.shape == () else None


def join_all(items: Iterable[Any]) -> AbstractValue:
    found = list(items)
    return functools.reduce(join, found) if found else Static(UNDEFINED)


def _joined_dtype(a: Array | Scalar, b: Array | Scalar) -> np.dtype | None:
    if isinstance(a, Array) and isinstance(b, Array):
        return None if missing((a.dtype, b.dtype)) or a.dtype != b.dtype else a.dtype
    array, number = (a, b) if isinstance(a, Array) else (b, a)
    if not isinstance(array, Array) or not isinstance(number, Scalar) or array.dtype is None:
        return None
    return np.result_type(array.dtype, number.kind(0))  # a number is weak, its type would not be


def _joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else _either(x, y) for x, y in zip(a, b, strict=True))


def _either(a: int | Dim, b: int | Dim) -> Dim:
    return fresh_dim(not (known_not_one(a) and known_not_one(b)))


def _stands_for(a: int | Dim, b: int | Dim, free: Iterable[Dim]) -> bool:
    """Whether a length that is free may be this other one."""
    return isinstance(a, Dim) and a in free and (a.maybe_one or known_not_one(b))


def accepts(general: Any, special: Any, free: Iterable[Dim] = ()) -> bool:
    """Whether each value of `special` is one of `general`; `free` dims stand for any length."""
    if isinstance(general, Array) and isinstance(special, Array | Scalar):
        joined = join(general, special)
        if general.dtype is not None and not is_dtype(joined.dtype, general.dtype):
            return False
        if (general.selects and not joined.selects) or (joined.absent and not general.absent):
            return False
        if (is_tensor(special) and not general.tensor) or (joined.weak and not general.weak):
            return False
        if general.real and not joined.real:
            return False
        shape, other = general.shape, special.shape
        if shape is None or other is None or len(shape) != len(other):
            return shape is None
        pairs = zip(shape, other, strict=True)
        return all(x == y or _stands_for(x, y, free) for x, y in pairs)
    if isinstance(general, List) and isinstance(special, List):
        return accepts(general.item, special.item, free)
    return join(general, special) == general


def dims_of(value: Any) -> set[Dim]:
    """The symbols among the lengths of a value."""
    if isinstance(value, List):
        return dims_of(value.item)
    return {each for each in shape_of(value) or () if isinstance(each, Dim)}


def atoms_in(dims: Iterable[Dim]) -> set[Atom]:
    return set().union(*(sizes.atoms_of(each.size) for each in dims))


def atoms_of(value: Any) -> set[Atom]:
    """What the lengths of a value are computed from."""
    return atoms_in(dims_of(value))


# ---- lengths of one program in the terms of another ----------------------------------------------


class Lengths:
    """The lengths of a program's inputs in terms of the values that it is called with."""

    def __init__(self, inside: Iterable[Any], outside: Iterable[Any]):
        self._sizes: dict[Atom, Size] = {}
        self._dims: dict[Size, int | Dim] = {}
        for own, given in zip(inside, outside, strict=True):
            pairs = zip(shape_of(own) or (), shape_of(given) or (), strict=False)
            for dim, length in pairs:
                if isinstance(dim, Dim):
                    self._dims.setdefault(dim.size, length)
                    atom = _only_atom(dim.size)
                    if atom is not None:
                        self._sizes.setdefault(atom, size_of_dim(length))

    def translated(self, value: Any) -> Any:
        """An abstract value from inside, as it is known outside."""
        if isinstance(value, trees.Tree):
            return trees.tree_map(self.translated, value)
        if isinstance(value, List):
            return List(self.translated(value.item))
        if not isinstance(value, Array) or value.shape is None:
            return unsized(value)
        return replace(value, shape=tuple(map(self._length, value.shape)))

    def _length(self, dim: int | Dim) -> int | Dim:
        if not isinstance(dim, Dim):
            return dim
        if dim.size not in self._dims:
            self._dims[dim.size] = self._translated(dim)
        return self._dims[dim.size]

    def _translated(self, dim: Dim) -> int | Dim:
        if all(atom in self._sizes for atom in sizes.atoms_of(dim.size)):
            return dim_of_size(sizes.substituted(dim.size, self._sizes))
        for known, length in self._dims.items():
            more = (known - dim.size).known  # an input that is known to be longer by a number
            if more is not None and more > 0:
                return dim_of_size(size_of_dim(length) - more)
        return fresh_dim(dim.maybe_one)


def _only_atom(size: Size) -> Atom | None:
    """The length of an axis that a size is."""
    atom = sizes.atom_of(size)
    return atom if atom is not None and atom.is_length else None


def lengths_of(fact: Any, shape: tuple[int, ...]) -> dict[Atom, int]:
    """What the lengths of an input are in a call where it has this shape."""
    atoms = [
        (_only_atom(dim.size), length)
        for dim, length in zip(shape_of(fact) or (), shape, strict=False)
        if isinstance(dim, Dim)
    ]
    return {atom: length for atom, length in atoms if atom is not None}


def lengths_of_inputs(facts: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[Atom, int]:
    """What the lengths of all inputs are, given the abstract values and the arguments by name.

    Of the length of a batch, which may be 1 in the same code, nothing is to be assumed. Whole
    numbers among the inputs are counts, of which slices and loops may be made.
    """
    found: dict[Atom, int] = {}
    counts: dict[Atom, int] = {}
    for name, fact in facts.items():
        for path, leaf in zip(trees.paths(fact), trees.leaves(fact), strict=True):
            if isinstance(leaf, Array) and leaf.shape:
                found |= lengths_of(leaf, np.shape(trees.follow(arguments[name], path)))
            elif isinstance(leaf, List) and leaf.count:
                atom = _only_atom(leaf.count.size)
                if atom is not None:
                    found[atom] = len(trees.follow(arguments[name], path))
            elif (atom := atom_of_count(leaf)) is not None:
                counts[atom] = trees.follow(arguments[name], path)
    return {atom: length for atom, length in found.items() if atom.not_one} | counts


def atom_of_count(fact: Any) -> Atom | None:
    """What stands for a whole number of Python's that is an input."""
    size = fact.size if isinstance(fact, Scalar) else None
    return None if size is None else sizes.atom_of(size)


def with_lengths(value: Any, known: Mapping[Atom, int | Atom]) -> Any:
    """The abstract value of an input, of which some lengths are known to be these."""
    if not isinstance(value, Array) or not value.shape:
        return value
    dims = []
    for dim in value.shape:
        atom = _only_atom(dim.size) if isinstance(dim, Dim) else None
        length = dim if atom is None else known.get(atom, dim)
        dims.append(Dim(sizes.of(length)) if isinstance(length, Atom) else length)
    return replace(value, shape=tuple(dims))


def names_of_inputs(facts: Mapping[str, Any], length: str = "len") -> dict[Atom, str]:
    """How the lengths of inputs are written: len(x), x.shape[1], params["W"].shape[1].

    Whole numbers are written as what they are: n, options["width"].
    """
    names: dict[Atom, str] = {}
    for name, fact in facts.items():
        for path, leaf in zip(trees.paths(fact), trees.leaves(fact), strict=True):
            text = trees.path_text(name, path)
            lengths = (leaf.count,) if isinstance(leaf, List) else shape_of(leaf) or ()
            for axis, dim in enumerate(lengths):
                atom = _only_atom(dim.size) if isinstance(dim, Dim) else None
                if atom is not None:
                    names[atom] = f"{text}.shape[{axis}]" if axis else f"{length}({text})"
            if (atom := atom_of_count(leaf)) is not None:
                names[atom] = text
    return names


def canonical(facts: Iterable[Any], order: dict[Atom, int] | None = None) -> tuple:
    """The facts with their lengths numbered in order: equal for calls of one kind.

    Args:
        order: the numbers, which are entered.
    """
    numbers: dict[Atom, int] = {} if order is None else order
    forms: dict[int | None, int] = {}

    def numbered(value: Any) -> Any:
        if isinstance(value, List):
            return (List, numbered(value.item))
        if isinstance(value, Unknown):
            return (Unknown, value.inexact, forms.setdefault(value.form, len(forms)), value.absent)
        if not isinstance(value, Array):
            return value
        dtype = None if value.dtype is None else value.dtype.str
        shape = value.shape
        dims = None if shape is None else tuple(_numbered_dim(dim, numbers) for dim in shape)
        flags = value.selects, value.tensor, value.absent, value.weak, value.real
        return (Array, dtype, dims, *flags)

    return tuple(map(numbered, facts))


def _numbered_dim(dim: int | Dim, numbers: dict[Atom, int]) -> Any:
    return dim if isinstance(dim, int) else _numbered(dim.size, numbers)


def _numbered(size: Size | None, numbers: dict[Atom, int]) -> Any:
    if size is None:
        return None
    terms = sorted(size.terms, key=lambda term: sizes.order(sizes.of(term[0])))
    return (size.constant, *((_numbered_factor(f, numbers), count) for f, count in terms))


def _numbered_factor(factor: sizes.Factor, numbers: dict[Atom, int]) -> Any:
    if isinstance(factor, Atom):
        if factor in numbers:
            return numbers[factor]
        numbers[factor] = len(numbers)
        bounds = [_numbered(each, numbers) for each in (factor.low, factor.high)]
        return (numbers[factor], factor.is_length, factor.not_one, *bounds)
    inside = [_numbered(each, numbers) for each in sizes.sizes_inside(factor)]
    return (type(factor), getattr(factor, "divisor", None), *inside)


def in_another_call(facts: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether code for the facts may serve the others, which are of one kind with them."""
    here: dict[Atom, int] = {}
    there: dict[Atom, int] = {}
    for those, numbers in ((facts, here), (others, there)):
        canonical(those, numbers)
    pairs = zip(here, there, strict=True)  # both in the order of their numbers
    lengths = {own: sizes.of(other) for own, other in pairs}
    numbers = numbers_given(facts, others)
    return sizes.shared(lengths | {own: numbers[own] for own in numbers if sizes.is_given(own)})


def numbers_given(inside: Iterable[Any], outside: Iterable[Any]) -> dict[Atom, Size]:
    """The whole numbers inside of a function, and for which a call lets them stand.

    Args:
        inside: the facts of its parameters, where such numbers are told apart.
        outside: the facts of the arguments.
    """
    pairs = [(own, size_of_number(other)) for own, other in zip(inside, outside, strict=True)]
    found = ((sizes.atom_of(own.size), size) for own, size in pairs if size_of_number(own))
    return {atom: size or sizes.of(sizes.newest()) for atom, size in found if atom is not None}


def size_of_number(value: Any) -> Size | None:
    """Which whole number of Python's a value is, where that is known."""
    return value.size if isinstance(value, Scalar) and value.kind is int else None
