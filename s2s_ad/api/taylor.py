"""derivative, jet and linearize: forward mode of any order, and forward mode of which half is done.

What they compute is Python of the compiler's own subset, so they may be called inside functions
that are compiled too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.inside import handle_body, handle_linearize
from s2s_ad.api.make import compiled_once, jvp, linearized
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


def derivative(fn: Callable, primals: Any, order: int) -> tuple:
    """The value of `fn` and its derivative of an order, along 1 in each element of the inputs.

    For a function that acts on each element by itself this is the derivative of each element.

    Args:
        primals: the argument, or a tuple or list of arguments.
        order: a positive int.

    Returns:
        (output, derivative), each with the nesting of `fn`.

    Raises:
        ArgumentTypeError, ArgumentValueError: `order` is no positive int.

    Example:
        >>> from s2s_ad import Tensor
        >>> value, second = derivative(lambda x: x**3, Tensor([1.0, 2.0]), 2)
        >>> print(value, second)
        [1. 8.] [ 6. 12.]
    """
    _check_order(order)
    return compiled_once("derivative", _derivative, fn, order, _listed(primals))


def jet(fn: Callable, primals: Any, series: Any) -> tuple:
    """The derivatives of `fn` along a curve of which all derivatives are given.

    Args:
        primals: where the curve starts: the argument, or a tuple or list of arguments.
        series: the derivatives of the curve, one after the other along a new first axis, of order
            1, 2, ...: for each argument an array of the shape `(orders, *argument.shape)`.

    Returns:
        (output, derivatives of the output of the same orders), each with the nesting of `fn`, the
        derivatives along a new first axis.

    Raises:
        ArgumentTypeError, ArgumentValueError: `series` does not fit `primals`.

    Example:
        >>> import numpy as np
        >>> value, orders = jet(lambda x: x**3, 2.0, np.array([1.0, 0.0, 0.0]))  # along 2 + t
        >>> float(value), orders
        (8.0, array([12., 12.,  6.]))
    """
    inputs, curves = _listed(primals), _listed(series)
    if len(inputs) != len(curves):
        raise ArgumentValueError(
            "S2S502",
            f"jet: {len(inputs)} inputs and {len(curves)} in 'series'",
            help="give the derivatives of each argument",
        )
    orders = [_orders(i, *each) for i, each in enumerate(zip(inputs, curves, strict=True))]
    if len(set(orders)) > 1:
        raise ArgumentValueError("S2S502", f"jet: 'series' has {orders} orders for the inputs")
    return compiled_once("jet", _jet, fn, orders[0], inputs, [list(each) for each in curves])


def linearize(fn: Callable, inputs: Any) -> tuple:
    """The value of `fn`, and its derivative at the inputs as a linear function.

    What does not depend on the direction is computed once, here.

    Args:
        inputs: the argument, or a tuple or list of arguments.

    Returns:
        (output, linear): `linear(v)` gives the tangent of the output along `v`, which has the
        structure of `inputs`; several directions may come one by one.

    Example:
        >>> value, linear = linearize(lambda x, y: x * y, (2.0, 3.0))
        >>> value, linear((1.0, 0.0)), linear((0.0, 1.0))
        (6.0, 3.0, 2.0)
    """
    return linearized(fn, _listed(inputs))


def _check_order(order: Any) -> None:
    if isinstance(order, bool) or not isinstance(order, int):
        raise ArgumentTypeError(
            "S2S501", f"derivative: argument 'order' must be an int, got {check.shown(order)}"
        )
    if order < 1:
        raise ArgumentValueError(
            "S2S502", f"derivative: argument 'order' must be >= 1, got {order}"
        )


def _listed(value: Any) -> list:
    return list(value) if type(value) in (tuple, list) else [value]


def _orders(i: int, x: Any, series: Any) -> int:
    """How many derivatives of an argument are given."""
    shape, wanted = np.shape(series), np.shape(x)
    if len(shape) != len(wanted) + 1 or shape[1:] != wanted or not shape[0]:
        raise ArgumentValueError(
            "S2S502",
            f"jet: series[{i}] has shape {shape}, and input {i} has shape {wanted}",
            help="give one derivative after the other along a first axis",
        )
    return shape[0]


# ---- what is compiled ----------------------------------------------------------------------------


def _derivative(fn: Callable, order: int, inputs: Any) -> tuple:
    slope = fn
    for _ in range(order):
        slope = _slope_of(slope)
    return fn(*inputs), slope(*inputs)


def _slope_of(fn: Callable) -> Callable:
    def slope(*inputs: Any) -> Any:
        return jvp(fn, inputs, tuple([np.ones_like(x) for x in inputs]))[1]

    return slope


def _jet(fn: Callable, orders: int, primals: Any, series: Any) -> tuple:
    def along(t: Any) -> Any:
        return fn(*[_point(*each, t) for each in zip(primals, series, strict=True)])

    slope, found = along, []
    for _ in range(orders):
        slope = _speed_of(slope)
        found.append(slope(0.0))
    return along(0.0), _stacked(found)


def _point(x: Any, series: list, t: Any) -> Any:
    """x + series[0] t + series[1] t**2 / 2! + ..."""
    rest, order = 0.0, len(series)
    for each in reversed(series):
        rest = (each + rest) * t / order
        order -= 1
    return x + rest


def _speed_of(fn: Callable) -> Callable:
    def speed(t: Any) -> Any:
        return jvp(fn, t, 1.0)[1]

    return speed


def _stacked(outputs: list) -> Any:
    """Outputs of the same structure, stacked leaf by leaf."""
    first = outputs[0]
    if isinstance(first, tuple | list):
        return type(first)([_stacked([each[i] for each in outputs]) for i in range(len(first))])
    if isinstance(first, dict):
        return {key: _stacked([each[key] for each in outputs]) for key in first}
    return np.stack(outputs)


# ---- inside functions that are compiled ----------------------------------------------------------


def _derivative_inside(fn: Callable, primals: Any, order: int) -> tuple:
    return _derivative(fn, order, primals if isinstance(primals, tuple | list) else (primals,))


def _jet_inside(fn: Callable, primals: Any, series: Any) -> tuple:
    several = isinstance(primals, tuple | list)
    curves = [[each[i] for i in range(len(each))] for each in (series if several else (series,))]
    return _jet(fn, len(curves[0]), primals if several else (primals,), curves)


handle_body(derivative, _derivative_inside)
handle_body(jet, _jet_inside)
handle_linearize(linearize)
