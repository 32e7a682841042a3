"""Functions and derivatives in the forms that SciPy's optimisers ask for."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.make import grad, jacfwd, jit, jvp, value_and_grad
from s2s_ad.core import tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


def fun_and_jac(fn: Callable, like: Any = None) -> Callable:
    """The value and the gradient of `fn` for `scipy.optimize.minimize(..., jac=True)`.

    Args:
        fn: a function of an array, or of a container of arrays and floats, that returns a number.
        like: such an argument: SciPy's vector is given its shapes, and its gradient is a vector
            again (`vector(like)` is the start). Without it `fn` takes the vector itself.

    Returns:
        A function `(x, *args) -> (value, gradient)`: a float and a float64 vector of the length of
        `x`.

    Raises:
        ArgumentTypeError: `fn` is no function, or `like` holds something that is no float.
        S2SError: where it is called: what cannot be compiled or differentiated.

    Example:
        >>> import numpy as np
        >>> from scipy.optimize import minimize
        >>> fit = minimize(fun_and_jac(lambda x: np.sum((x - 3.0) ** 4)), np.zeros(2), jac=True)
        >>> np.round(fit.x, 1)
        array([3., 3.])
    """
    check.check_callable("fun_and_jac", fn)
    _check_like("fun_and_jac", like)
    made = value_and_grad(fn)

    @functools.wraps(fn)
    def both(x: np.ndarray, *args: Any) -> tuple[float, np.ndarray]:
        value, slope = made(_shaped(x, like), *args)
        return float(value), vector(slope)

    return both


def jac(fn: Callable) -> Callable:
    """The Jacobian of a model by its parameters, as `scipy.optimize.curve_fit(..., jac=)` asks for.

    Args:
        fn: the model, `fn(xdata, *parameters)`, which returns an array of the length of the data;
            each parameter is a number.

    Returns:
        A function of the same arguments that gives an array of shape (data, parameters).

    Raises:
        ArgumentTypeError: `fn` is no function.
        S2SError: where it is called: what cannot be compiled or differentiated.

    Example:
        >>> import numpy as np
        >>> from scipy.optimize import curve_fit
        >>> def decay(t, size, rate):
        ...     return size * np.exp(-rate * t)
        >>> t = np.linspace(0.0, 2.0, 9)
        >>> found, _ = curve_fit(decay, t, decay(t, 3.0, 0.5), p0=(1.0, 1.0), jac=jac(decay))
        >>> np.round(found, 6)
        array([3. , 0.5])
    """
    check.check_callable("jac", fn)

    @functools.wraps(fn)
    def by_parameters(xdata: Any, *parameters: Any) -> np.ndarray:
        positions = tuple(range(1, 1 + len(parameters)))
        columns = jacfwd(fn, positions)(xdata, *map(float, parameters))
        return np.stack([np.ravel(each) for each in columns], axis=1)

    return by_parameters


def hessp(fn: Callable, like: Any = None) -> Callable:
    """The product of the Hessian of `fn` and a vector, for `scipy.optimize.minimize(hessp=)`.

    Args:
        fn, like: as for `fun_and_jac`.

    Returns:
        A function `(x, p, *args)` that gives a float64 vector of the length of `x`; no Hessian is
        made.

    Raises:
        ArgumentTypeError: `fn` is no function, or `like` holds something that is no float.
        S2SError: where it is called: what cannot be compiled or differentiated.

    Example:
        >>> import numpy as np
        >>> hessp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
        array([  6., 120.])
    """
    check.check_callable("hessp", fn)
    _check_like("hessp", like)
    slope = grad(fn)

    def product(x: Any, direction: Any, *args: Any) -> Any:
        return jvp(lambda x: slope(x, *args), x, direction)[1]

    made = jit(product)

    @functools.wraps(fn)
    def flat(x: np.ndarray, p: np.ndarray, *args: Any) -> np.ndarray:
        return vector(made(_shaped(x, like), _shaped(p, like), *args))

    return flat


def vector(value: Any) -> np.ndarray:
    """The numbers of an array, or of a container of arrays and floats, as SciPy takes them."""
    leaves = tree.leaves(tree.from_object(value, lambda leaf, _: leaf))
    return np.concatenate([np.ravel(np.asarray(each, float)) for each in leaves])


def _shaped(x: np.ndarray, like: Any) -> Any:
    """The numbers of a vector in the form of something."""
    if like is None:
        return x
    ends = 0

    def taken(leaf: Any, _: tree.Path) -> Any:
        nonlocal ends
        start, ends = ends, ends + math.prod(np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            part = np.resize(x[start:ends], leaf.shape)
            return part.astype(leaf.dtype, copy=False)
        return float(x[start]) if start < len(x) else math.nan

    made = tree.to_object(tree.from_object(like, taken))
    if ends != len(x):
        raise ArgumentValueError(
            "S2S502", f"a vector of {len(x)} numbers, where 'like' has {ends} of them"
        )
    return made


def _check_like(label: str, like: Any) -> None:
    if like is None:
        return
    for leaf in tree.leaves(tree.from_object(like, lambda leaf, _: leaf)):
        kind = leaf.dtype.kind if isinstance(leaf, np.ndarray) else ""
        if kind != "f" and type(leaf) is not float:
            raise ArgumentTypeError(
                "S2S501",
                f"{label}: 'like' holds {check.shown(leaf)}",
                help="give arrays of floats, floats, and containers of these",
            )
