"""grad, value_and_grad, vjp, jvp, jacfwd, jacrev, hessian, vmap, jit, stop_gradient."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from s2s_ad.api import check_arguments as check
from s2s_ad.api.function import Transformed
from s2s_ad.api.transform import Grad, Jacobian, Jit, Jvp, Transform, VjpForward, Vmap
from s2s_ad.core import tree, values
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, S2SError
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.runtime import stop_gradient


def _not_yet(api: str, weights: Any) -> None:
    if weights is not None:
        raise S2SError(
            "S2S503",
            f"{api}: weights= comes with Parameter, in a later version",
            help="pass the parameters as an argument, and name it in grad_position",
        )


def _grad(
    api: str,
    fn: Callable | None,
    grad_position: Any,
    weights: Any,
    has_aux: bool,
    return_ids: bool,
    argnums: Any,
    with_value: bool,
) -> Any:
    if argnums is not None:
        grad_position = argnums
    if fn is None:  # @grad(grad_position=1)
        return functools.partial(
            _grad,
            api,
            grad_position=grad_position,
            weights=weights,
            has_aux=has_aux,
            return_ids=return_ids,
            argnums=None,
            with_value=with_value,
        )
    check.check_callable(api, fn)
    check.check_flag(api, "has_aux", has_aux)
    check.check_flag(api, "return_ids", return_ids)
    signature = check.signature_of(api, fn)
    positions = check.check_positions(api, grad_position, weights, signature)
    _not_yet(api, weights)
    transform = Grad(positions, has_aux, with_value=with_value, return_ids=return_ids)
    return Transformed(fn, transform, api)


def grad(
    fn: Callable | None = None,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """The gradient function of `fn`: of the sum of all its floating-point outputs.

    Args:
        fn: a Python function of numbers, NumPy arrays and containers of these.
        grad_position: which inputs to differentiate. An int (or a tuple of one) gives that
            gradient itself, a longer tuple a tuple of gradients. A container gives a container
            of the same structure.
        weights: kept for `Parameter`, which a later version brings.
        has_aux: `fn` returns (value, aux...); the result is (gradient, (aux...)).
        return_ids: each gradient becomes (position, gradient).
        argnums: another name for `grad_position`.

    Returns:
        A function of the same arguments; `.source(*args)` is its text.

    Raises:
        ArgumentTypeError, ArgumentValueError: a wrong argument, here or at the call.
        S2SError: at the first call, for what cannot be differentiated.

    Example:
        >>> import numpy as np, s2s_ad
        >>> from s2s_ad.examples_for_docs import squared_error
        >>> s2s_ad.grad(squared_error)(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
        array([2., 4.])
    """
    return _grad("grad", fn, grad_position, weights, has_aux, return_ids, argnums, False)


def value_and_grad(
    fn: Callable | None = None,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """Like `grad`, and the value: (output of `fn`, gradients).

    With `has_aux` the value is still the whole output.
    """
    return _grad("value_and_grad", fn, grad_position, weights, has_aux, return_ids, argnums, True)


def vmap(fn: Callable | None = None, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """`fn` for each of a batch.

    Args:
        fn: a function of one sample.
        in_axes: where each input has its batch axis: an int for all, or a tuple with one entry
            for each input (an int, None for inputs that all samples share, or the nesting of the
            input), or a dict by argument name. Negative ints count from the end of the batched
            input's shape.
        out_axes: where each output gets it.

    Returns:
        A function of the batched arguments.
    """
    if fn is None:
        return functools.partial(vmap, in_axes=in_axes, out_axes=out_axes)
    check.check_callable("vmap", fn)
    check.check_axes("vmap", "in_axes", in_axes)
    check.check_axes("vmap", "out_axes", out_axes)
    return Transformed(fn, Vmap(in_axes, out_axes), "vmap")


def jit(
    function: Callable | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """`function`, simplified and compiled; the same results. A decorator with or without options.

    The options are accepted for those who come from MindSpore; they change nothing.
    """
    if jit_level not in ("O0", "O1"):
        raise ArgumentValueError(
            "S2S502", f"jit: argument 'jit_level' must be 'O0' or 'O1', got {jit_level!r}"
        )
    if function is None:
        return jit
    check.check_callable("jit", function)
    return Transformed(function, Jit(), "jit")


def _jacobian(api: str, fn: Any, position: Any, has_aux: bool, argnums: Any, reverse: bool) -> Any:
    position = position if argnums is None else argnums
    if fn is None:
        return functools.partial(
            _jacobian, api, position=position, has_aux=has_aux, argnums=None, reverse=reverse
        )
    check.check_callable(api, fn)
    check.check_flag(api, "has_aux", has_aux)
    positions = check.check_positions(api, position, None, check.signature_of(api, fn))
    return Transformed(fn, Jacobian(positions, has_aux, reverse=reverse), api)


def jacrev(
    fn: Callable | None = None,
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """The Jacobian of `fn` by reverse mode, one row after the other in a batch.

    Each Jacobian has the shape of the output followed by the shape of the input; it is bare for
    one position, in a tuple for several. With `has_aux` one further output comes bare, several
    in a tuple.
    """
    return _jacobian("jacrev", fn, grad_position, has_aux, argnums, True)


def jacfwd(
    fn: Callable | None = None,
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """Like `jacrev`, by forward mode: one column after the other in a batch."""
    return _jacobian("jacfwd", fn, grad_position, has_aux, argnums, False)


def hessian(
    fn: Callable | None = None,
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """The Hessian of `fn`: forward mode over reverse mode."""
    position = grad_position if argnums is None else argnums
    if fn is None:
        return functools.partial(hessian, grad_position=position, has_aux=has_aux)
    return jacfwd(jacrev(fn, position, has_aux), position, has_aux)


# ---- at once -------------------------------------------------------------------------------------

_made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _made_once(fn: Callable, transform: Transform, label: str) -> Transformed:
    """The transformed function, compiled once for as long as `fn` lives."""
    try:
        known = _made.setdefault(fn, {})
    except TypeError:  # not hashable, or no weak references
        return Transformed(fn, transform, label)
    if transform not in known:
        known[transform] = Transformed(fn, transform, label)
    return known[transform]


def jvp(fn: Callable, inputs: Any, v: Any, has_aux: bool = False) -> tuple:
    """The value of `fn` and its directional derivative.

    Args:
        inputs: the argument, or a tuple or list of arguments.
        v: the direction for each of them, in the same structure, shape and dtype.
        has_aux: `fn` returns (value, aux...).

    Returns:
        (output, tangent), each with the nesting of `fn`; with `has_aux` (output, tangent, aux),
        where one aux output comes bare.
    """
    check.check_callable("jvp", fn)
    check.check_flag("jvp", "has_aux", has_aux)
    primals, tangents = _listed(inputs), _listed(v)
    if len(primals) != len(tangents):
        raise ArgumentValueError(
            "S2S502", f"jvp: {len(primals)} inputs and {len(tangents)} directions in 'v'"
        )
    names = list(check.signature_of("jvp", fn).parameters)
    for i, (x, x_dot) in enumerate(zip(primals, tangents, strict=True)):
        name = names[i] if i < len(names) else f"input {i}"
        check.check_differentiable("jvp", name, values.of_object(x, name))
        _check_like("jvp", f"v[{i}]", x_dot, x, name)
    positions = tuple(range(len(primals)))
    out, dot = _made_once(fn, Jvp(positions), "jvp")(*primals, *tangents)
    return _with_aux("jvp", fn, out, dot) if has_aux else (out, dot)


def _listed(value: Any) -> list:
    return list(value) if type(value) in (tuple, list) else [value]


def _check_like(api: str, label: str, value: Any, like: Any, name: str) -> None:
    """A tangent or cotangent has the structure and the shapes of what it belongs to."""
    one, other = values.of_object(value, label), values.of_object(like, name)
    if tree.paths(one) != tree.paths(other):
        raise ArgumentTypeError("S2S501", f"{api}: {label} does not have the structure of {name}")
    for path in tree.paths(one):
        a, b = tree.follow(value, path), tree.follow(like, path)
        a_shape, b_shape = getattr(a, "shape", ()), getattr(b, "shape", ())
        if a_shape != b_shape:
            raise ArgumentValueError(
                "S2S502",
                f"{api}: {label} has shape {a_shape}, {tree.path_text(name, path)} has {b_shape}",
            )


def _with_aux(api: str, fn: Callable, out: Any, derivative: Any) -> tuple:
    if not isinstance(out, tuple) or len(out) < 2:
        raise ArgumentValueError(
            "S2S502", f"{api}: has_aux=True, and the function does not return a tuple of two"
        )
    rest = out[1:]
    return out[0], derivative[0], rest[0] if len(rest) == 1 else rest


def vjp(fn: Callable, *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple:
    """The value of `fn`, and a function from the adjoint of the output to those of the inputs.

    Returns:
        (output, vjp_fn), with `has_aux` (output, vjp_fn, aux). `vjp_fn(y_bar)` gives a tuple with
        the adjoint of each input; for several outputs it takes as many arguments, or their tuple.
    """
    check.check_callable("vjp", fn)
    check.check_flag("vjp", "has_aux", has_aux)
    _not_yet("vjp", weights)
    transform = VjpForward(tuple(range(len(inputs))), has_aux)
    transformed = _made_once(fn, transform, "vjp")
    found, bound = transformed._specialised(inputs, {})
    out, residuals = found.loaded.function(*bound.args, **bound.kwargs)
    backward = found.loaded.companions[0].function
    aux: tuple = ()
    if has_aux:
        out, *rest = out
        aux = (rest[0] if len(rest) == 1 else tuple(rest),)
    return out, _vjp_function(backward, residuals, out), *aux


def _vjp_function(backward: Callable, residuals: tuple, out: Any) -> Callable:
    structure = values.of_object(out, "output")
    wanted = [
        tree.follow(out, path)
        for path, fact in zip(tree.paths(structure), tree.leaves(structure), strict=True)
        if values.is_inexact(fact) is not False
    ]

    def vjp_fn(*cotangents: Any) -> tuple:
        """The adjoints of the inputs, for the adjoint of each output."""
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        leaves = tree.leaves(tree.from_object(given, lambda leaf, _: leaf))
        if len(leaves) != len(wanted):
            raise ArgumentTypeError(
                "S2S501", f"vjp_fn: {len(leaves)} adjoints given, the output has {len(wanted)}"
            )
        for i, (y_bar, y) in enumerate(zip(leaves, wanted, strict=True)):
            _check_like("vjp_fn", f"adjoint {i}", y_bar, y, "the output")
        return backward(residuals, *leaves)

    return vjp_fn


# ---- inside functions that are differentiated -------------------------------------------------------


def _while_lowering(maker: Callable) -> Callable:
    """grad(f), vmap(f) ... inside a function: made while it is compiled."""

    def handler(lowering: Any, args: Sequence, kwargs: dict[str, Any]) -> Any:
        from s2s_ad.frontend.resolve import unwrap

        plain = [unwrap(tree.to_object(each)) for each in args]
        named = {key: unwrap(tree.to_object(value)) for key, value in kwargs.items()}
        return maker(*plain, **named)

    return handler


def _jvp_while_lowering(lowering: Any, args: Sequence, kwargs: dict[str, Any]) -> Any:
    """jvp(f, x, v) inside a function."""
    from s2s_ad.core.tree import Tree
    from s2s_ad.frontend.lower.calls import apply
    from s2s_ad.frontend.resolve import unwrap

    def listed(value: Any) -> list:
        plain = isinstance(value, Tree) and value.kind in (tuple, list)
        return list(value.items) if plain else [value]

    fn, inputs, v = unwrap(args[0]), listed(args[1]), listed(args[2])
    transformed = _made_once(fn, Jvp(tuple(range(len(inputs)))), "jvp")
    return apply(lowering, transformed, [*inputs, *v], {})


for _each in (grad, value_and_grad, vmap, jit, jacrev, jacfwd, hessian):
    HANDLERS[_each] = _while_lowering(_each)
HANDLERS[jvp] = _jvp_while_lowering

__all__ = [
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
