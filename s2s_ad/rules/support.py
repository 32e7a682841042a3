"""What rules share: reading calls, axes and sizes, shapes of results, aligning batches."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import parts, values
from s2s_ad.core.builder import Builder, NeedKind, Symbol, describe, static
from s2s_ad.core.measure import length, lengths, rank, sample_rank, shape  # noqa: F401
from s2s_ad.core.rule import CannotBatch, Operation, Rule  # noqa: F401
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, UnsupportedError


@functools.cache
def signature(text: str) -> inspect.Signature:
    """The signature that a row's text gives: "x, axis=None, keepdims=False"."""
    return inspect.signature(eval(f"lambda {text}: None", {"np": np}))


@functools.cache
def _binder(text: str) -> Callable:
    """The function that Python binds such arguments for: ten times as fast as a signature does."""
    return eval(f"lambda {text}: locals()", {"np": np})


@functools.cache
def first_name(function: Callable) -> str:
    """What NumPy itself calls the first parameter of a function: `a` of np.sum."""
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):  # a function without a signature
        return ""


@functools.cache
def _defaults(function: Callable) -> dict[str, Any]:
    """What NumPy or SciPy itself takes where a keyword is not given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function without a signature
        return {}
    return {each.name: each.default for each in parameters if each.default is not each.empty}


class HandedOn(Rule):
    """A function whose value is that of its operand, looked at or told to be something else."""

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return operands[0]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]


def _with_own_name(function: Callable, expected: inspect.Signature, kwargs: dict) -> dict:
    """np.sum(a=x): the first argument by NumPy's name for it."""
    name, ours = first_name(function), next(iter(expected.parameters), "")
    if name not in kwargs or name in expected.parameters:
        return kwargs
    return {ours: kwargs[name], **{key: v for key, v in kwargs.items() if key != name}}


def bind_call(builder: Builder, rule: Rule, text: str, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Arguments by parameter name; a keyword that the rule does not know is refused by name."""
    expected = signature(text)
    kwargs = _with_own_name(rule.function, expected, kwargs)
    unknown = [key for key in kwargs if key not in expected.parameters]
    if unknown:
        by_default = _defaults(rule.function)
        said = [key for key in unknown if key in by_default and same(kwargs[key], by_default[key])]
        kwargs = {key: value for key, value in kwargs.items() if key not in said}
        unknown = [key for key in unknown if key not in said]
    if unknown:
        close = difflib.get_close_matches(unknown[0], expected.parameters, 1)
        meant = f"did you mean {close[0]}=? " if close else ""
        raise UnsupportedError(
            "S2S203",
            f"{describe(rule.function)} with {unknown[0]}= is not supported",
            origin=builder.origin,
            help=f"{meant}the supported form is {rule.name}({text})",
        )
    with contextlib.suppress(TypeError):  # the signature has better words for what does not fit
        if "*" not in text:
            return _binder(text)(*args, **kwargs)
    try:
        bound = expected.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(
            "S2S203", f"{describe(rule.function)}: {error}", origin=builder.origin
        ) from None
    bound.apply_defaults()
    return bound.arguments


def given(params: dict[str, Any], text: str) -> dict[str, Any]:
    """The parameters that differ from their defaults: what the text of a call has to say."""
    defaults = signature(text).parameters
    return {key: v for key, v in params.items() if not same(v, defaults[key].default)}


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and not isinstance(a, Symbol | tuple | list) and bool(a == b)


def as_operand(builder: Builder, value: Any) -> Any:
    """Lists and tuples of numbers become arrays, as NumPy makes of them."""
    return builder.call(np.array, (value,), {}) if isinstance(value, list | tuple) else value


def normal_axis(axis: Any, ndim: int) -> int:
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes, counted from the front; None means all."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(normal_axis(each, ndim) for each in as_tuple(axis))


def as_tuple(axis: int | tuple[int, ...]) -> tuple[int, ...]:
    return axis if isinstance(axis, tuple) else (axis,)


def axis_of(axes: Sequence[int]) -> int | tuple[int, ...]:
    """The axes as a reader expects them: one axis comes bare."""
    return axes[0] if len(axes) == 1 else tuple(axes)


def at(axis: int, item: Any) -> Any:
    """The index that takes `item` of one axis; an axis from the end needs no rank to be known."""
    if axis >= 0:
        return (*(slice(None),) * axis, item) if axis else item
    return (Ellipsis, item, *(slice(None),) * (-1 - axis))


def without_axis(call: gast.Call, facts: Callable) -> gast.Call:
    """The call without the axis of a vector, of a function for which none stands for all axes."""
    if len(values.shape_of(facts(call.args[0])) or ()) != 1:
        return call
    return gast.Call(call.func, call.args, [k for k in call.keywords if k.arg != "axis"])


def turned_back(builder: Builder, x: Symbol, axes: tuple[int, ...]) -> Symbol | None:
    """The array whose elements, turned along these axes, are x: turned again they are as before."""
    rule, operands, params = builder.definition(x)
    if not axes or rule is None or x.ndim is None:
        return None
    return operands[0] if rule.turned(x.ndim, params) == axes else None


def conj(x: Any) -> Any:
    """The complex conjugate: of real values these themselves."""
    if isinstance(x, Symbol):
        return np.conj(x)
    if not isinstance(x, complex | np.complexfloating):
        return x
    return x.conjugate() if x.real else -x  # -2j reads better than 0 - 2j


def may_equal(a: values.Shape, b: values.Shape) -> bool:
    """Whether arrays of these shapes may have the same shape, as far as facts tell.

    Of lengths that are known to be 1, or not to be 1, code can be refused that NumPy refuses where
    the text, which broadcasts, would not.
    """
    if len(a) != len(b):
        return False
    both_known = (pair for pair in zip(a, b, strict=True) if all(isinstance(n, int) for n in pair))
    if any(first != second for first, second in both_known):
        return False
    pairs = zip(a, b, strict=True)
    return not any(1 in pair and any(map(values.known_not_one, pair)) for pair in pairs)


def converted(x: Any, dtype: Any) -> Any:
    """What `dtype=` asks for: x in that type; None asks for nothing."""
    if dtype is None:
        return x
    return x.astype(dtype) if isinstance(x, Symbol) else np.dtype(dtype).type(x)


def as_dtype(builder: Builder, x: Any, dtype: np.dtype) -> Any:
    """An operand in another dtype, of NumPy's types."""
    if not isinstance(x, Symbol):
        return dtype.type(x)
    found = strong(builder, x)
    return found if values.is_dtype(found.dtype, dtype) else found.astype(dtype.type)


def in_dtype(builder: Builder, operands: list, dtype: Any, casting: Any) -> list:
    """The operands in the dtype that `dtype=` asks for, which `casting=` has to allow.

    None asks for the dtype that NumPy finds.

    Raises:
        TypeError: as NumPy says it.
    """
    dtype, casting = static((dtype, casting), "dtype= and casting=")
    kinds = [values.strong_dtype(builder.fact(each)) for each in operands]
    if dtype is None and values.missing(kinds):
        return operands
    wanted = np.result_type(*kinds) if dtype is None else np.dtype(dtype)
    for kind in kinds:
        if kind is not None and not np.can_cast(kind, wanted, casting):
            raise TypeError(
                f"Cannot cast array data from {kind!r} to {wanted!r} "
                f"according to the rule {casting!r}"
            )
    return operands if dtype is None else [as_dtype(builder, x, wanted) for x in operands]


def known_rank(x: Any, name: str) -> int:
    """The rank of an array, which the function called `name` cannot do without."""
    found = rank(x)
    if found is None:
        error = ArgumentValueError(
            "S2S205",
            f"{name} of an array whose rank is not known",
            origin=x.builder.origin,
            help="give example arguments, or --like on the command line",
        )
        raise error if x.builder.derived else NeedKind(x.name, "the rank", error)
    return found


def flatten_samples(x: Symbol) -> Symbol:
    """A batch whose samples are vectors."""
    sizes = lengths(x, range(x.ndim))
    return np.reshape(x, (sizes[0], product(sizes[1:])))


def degrees_of_freedom(count: Any, ddof: Any) -> Any:
    """How many of `count` samples are left: NumPy has none rather than less than none."""
    if not isinstance(ddof, Symbol) and ddof == 0:
        return count
    left = count - ddof
    if isinstance(left, Symbol):
        whole = isinstance(left.fact, values.Scalar)
        return left.builder.call(max if whole else np.maximum, (left, 0), {})
    return left if left > 0 else np.float64(0.0)  # a quotient by it is nan or inf, no error


def product(factors: list) -> Any:
    return functools.reduce(operator.mul, factors) if factors else 1


@functools.lru_cache(maxsize=4096)
def sample_dtypes(
    function: Callable, dtypes: tuple, ranks: tuple, options: tuple, several: bool
) -> tuple[np.dtype, ...]:
    """The dtypes that NumPy gives the results: asked of NumPy, on arrays of one element.

    Those without axes are numbers: some functions refuse arrays without axes.
    """
    pairs = zip(dtypes, ranks, strict=True)
    samples = [np.ones((1,) * rank, dtype)[()] for dtype, rank in pairs]
    with np.errstate(all="ignore"):
        result = function(*samples, **dict(options))
    return tuple(np.asarray(each).dtype for each in (result if several else (result,)))


def result_dtypes(
    function: Callable, operands: list, count: int | None = None, **options: Any
) -> tuple[np.dtype | None, ...]:
    """`sample_dtypes` for abstract operands, of a function with `count` results where it has
    several; None where a dtype or rank is not known."""
    dtypes = tuple(values.strong_dtype(each) for each in operands)
    ranks = tuple(values.rank_of(each) for each in operands)
    if values.missing(dtypes) or values.missing(ranks):
        return (None,) * (count or 1)
    return sample_dtypes(function, dtypes, ranks, tuple(options.items()), count is not None)


def result_dtype(function: Callable, operands: list, **options: Any) -> np.dtype | None:
    """The dtype of the one result of a function of abstract operands."""
    return result_dtypes(function, operands, **options)[0]


def unknown(*operands: values.AbstractValue) -> values.Unknown:
    return values.unknown(any(values.is_inexact(each) for each in operands))


def any_unknown(*operands: values.AbstractValue) -> bool:
    return any(
        isinstance(each, values.Unknown) or values.shape_of(each) is None for each in operands
    )


def align(value: Any, batched: bool, sample: int) -> Any:
    """A batched value with axes inserted so that its samples broadcast as rank `sample`."""
    missing = sample - sample_rank(value, batched)
    if not batched or missing <= 0:
        return value
    return np.expand_dims(value, 1 if missing == 1 else tuple(range(1, missing + 1)))


def align_all(operands: list, batched: list[bool]) -> list:
    """The operands of an elementwise function of a batch, so that their samples broadcast."""
    pairs = list(zip(operands, batched, strict=True))
    if any(rank(value) is None for value, _ in pairs):
        return [_padded(i, pairs) if flag else value for i, (value, flag) in enumerate(pairs)]
    sample = max(sample_rank(*pair) for pair in pairs)
    return [align(*pair, sample) for pair in pairs]


def _padded(index: int, pairs: list) -> Any:
    """A batched operand with as many axes as each of the others asks for, found out at run time."""
    value = pairs[index][0]
    for i, (other, flag) in enumerate(pairs):
        scalar = not isinstance(other, Symbol) or (other.ndim == 0 and not flag)
        same = not scalar and (
            other.name == pairs[index][0].name
            or (flag and values.same_form(other.fact, pairs[index][0].fact))
        )
        if i != index and not scalar and not same:
            wanted = np.ndim(other) if flag else np.ndim(other) + 1
            value = value.builder.call(runtime.pad_samples, (value, wanted), {})
    return value


def strong(builder: Builder, value: Any) -> Any:
    """A Python number as np.asarray has it: of NumPy's type, which is not weak."""
    fact = builder.fact(value)
    if not isinstance(fact, values.Scalar):
        return value
    kind = np.dtype(fact.kind).type
    return builder.call(kind, (value,), {}) if isinstance(value, Symbol) else kind(value)


def abs_square(x: Any, like: Any = None) -> Any:
    """x**2 of real numbers; the square of the absolute value where `like`, or x, is complex."""
    like = x if like is None else like
    if isinstance(like, Symbol) and like.builder.may_be_complex(like):
        return np.real(x * np.conj(x))
    return x**2


def cast(builder: Builder, value: Any, like: Any) -> Any:
    """`value` in the dtype of `like`, where both are known floating-point dtypes that differ.

    A real value stays real: it is made complex where an array of it has to be.
    """
    if not isinstance(value, Symbol) or not isinstance(like, Symbol):
        return value
    facts = value.fact, like.fact
    if any(isinstance(fact, values.Scalar) for fact in facts) or not values.is_inexact(facts[1]):
        return value
    if values.missing((value.dtype, like.dtype)) or values.is_dtype(value.dtype, like.dtype):
        return value
    if values.is_complex(like.fact) and not values.is_complex(value.fact):
        return value
    return parts.as_dtype(value, like.dtype)


def refuse_given(builder: Builder, function: Callable, **arguments: Any) -> None:
    """Refuse arguments that nothing but None or False is taken for."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise UnsupportedError(
                "S2S203",
                f"{describe(function)} with {name}=",
                origin=builder.origin,
                help="leave it out",
            )


def dtype_given(value: Any, purpose: str) -> Any:
    """What says a dtype that is given: its type, which has to say all of it."""
    dtype = np.dtype(static(value, purpose))
    if dtype.newbyteorder("=") != np.dtype(dtype.type):  # a unit of time, a length of texts
        raise UnsupportedError(
            "S2S203",
            f"an array of dtype {dtype}",
            help="compute it outside, and pass numbers: dates.astype(float)",
        )
    return dtype.type


def static_params(params: dict[str, Any], rule: Rule) -> dict[str, Any]:
    return {key: static(v, f"{key} of {describe(rule.function)}") for key, v in params.items()}
