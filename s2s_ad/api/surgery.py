"""insert_grad_of, custom_rule, checkpoint: derivatives, and their cost, as the user decides."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.pickling import reduced_wrapper
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import as_name
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.frontend.lower.attributes import Method
from s2s_ad.frontend.lower.calls import HANDLERS, Partial, is_foreign, make_partial
from s2s_ad.frontend.lower.contexts import CONTEXTS
from s2s_ad.frontend.lower.custom import checkpoint_call, custom_call
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.segments import Segmented
from s2s_ad.frontend.lower.surgery import insert_grad
from s2s_ad.frontend.resolve import unwrap


class insert_grad_of:
    """Code that runs in the backward pass, where the adjoint of a value comes by.

    `with insert_grad_of(x) as x_bar:` its body sees the adjoint of all that the function does with
    `x` afterwards, and may assign a new one to the name `x_bar`, and print. It is compiled, batched
    and differentiated like any other code. Where the function is called as it stands, `x_bar` is
    zero and what becomes of it is dropped.

    Raises:
        UnsupportedError: the body changes anything else, or `x` is not a name.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> def clipped(x):
        ...     y = x * x
        ...     with insert_grad_of(y) as y_bar:
        ...         y_bar = np.clip(y_bar, -1.0, 1.0)
        ...     return 10.0 * y
        >>> float(grad(clipped)(3.0))
        6.0
    """

    def __init__(self, x: Any):
        self.x = x

    def __enter__(self) -> Any:
        return np.zeros_like(self.x)[()]

    def __exit__(self, *_: object) -> None:
        return None


CONTEXTS[insert_grad_of] = insert_grad


class CustomRule:
    """A function with derivative code of its own. Called, it is the function."""

    def __init__(
        self,
        function: Callable,
        reverse: Callable | None,
        forward: Callable | None,
        results: int | None,
    ):
        functools.update_wrapper(self, function)
        self.function, self.reverse, self.forward = function, reverse, forward
        self.results = results

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> str | tuple:
        return reduced_wrapper(self, self.function, self.reverse, self.forward, self.results)

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        name = as_name(getattr(self.function, "__name__", type(self.function).__name__))
        parts = (self.function, self.reverse, self.forward, self.results)
        return custom_call(lowering, *parts, name, args, kwargs)


def custom_rule(
    function: Callable | None = None,
    *,
    reverse: Callable | None = None,
    forward: Callable | None = None,
    results: int | None = None,
) -> Any:
    """`function` with derivatives of your own; a decorator where `function` is left out.

    Args:
        function: a function of numbers, arrays and containers of these, which changes nothing.
        reverse: `reverse(y_bar, y, *args)` gives the adjoint of each argument (a tuple; bare for
            one argument; None where it has none), from the adjoint of the result, the result and
            the arguments.
        forward: `forward(dots, y, *args)` gives the tangent of the result from the tuple of the
            arguments' tangents. It is linear in these, so reverse mode follows from it where
            `reverse` is missing.
        results: how many results a function of a library gives as a tuple.

    Both codes are ordinary: they are compiled, batched and differentiated again like any other. The
    function may be a library's, or compiled: where it has no rule it is called as it stands, for a
    batch once a sample.

    Raises:
        ArgumentTypeError: neither code is given, or one is not a function.
        ArgumentValueError: `results` is no positive number.
        DerivativeError: forward mode is asked for, and only `reverse` is given.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> @custom_rule(reverse=lambda y_bar, y, x: y_bar * np.exp(-x) * y * y)
        ... def logistic(x):
        ...     return 1 / (1 + np.exp(-x))
        >>> float(grad(lambda x: logistic(x))(0.0))
        0.25
    """
    if function is None:
        return functools.partial(custom_rule, reverse=reverse, forward=forward, results=results)
    if not is_foreign(function):
        check.check_callable("custom_rule", function, "function")
    for name, code in (("reverse", reverse), ("forward", forward)):
        if code is not None:
            check.check_callable("custom_rule", code, name)
    if reverse is None and forward is None:
        raise ArgumentTypeError(
            "S2S501",
            "custom_rule: neither 'reverse' nor 'forward' is given",
            help="without code of your own the function needs no custom_rule",
        )
    if results is not None and (type(results) is not int or results < 1):
        raise ArgumentValueError(
            "S2S502",
            f"custom_rule: argument 'results' must be a positive int, got {check.shown(results)}",
        )
    return CustomRule(function, reverse, forward, results)


class InsertGradientOf:
    """A function that hands its argument on, whose gradient goes through `f`.

    Args:
        f: what becomes of the gradient; ordinary code, that is compiled with the rest.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> clip = InsertGradientOf(lambda x_bar: np.clip(x_bar, -1.0, 1.0))
        >>> float(grad(lambda x: 10.0 * clip(x))(3.0))
        1.0
    """

    def __init__(self, f: Callable):
        check.check_callable("InsertGradientOf", f, "f")
        self.f = f

    def __call__(self, x: Any) -> Any:
        return _handed_on(self.f, x)


def _through(x_bar: Any, y: Any, f: Callable, x: Any) -> tuple:
    return None, f(x_bar)


@custom_rule(reverse=_through, forward=lambda dots, y, f, x: dots[1])
def _handed_on(f: Callable, x: Any) -> Any:
    return x


def _inserted(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """InsertGradientOf(f) in a function that is compiled."""
    return make_partial(lowering, [_handed_on, *args, *kwargs.values()], {})


HANDLERS[InsertGradientOf] = _inserted


class Checkpoint:
    """A function whose backward pass computes values again. Called, it is the function."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> str | tuple:
        return reduced_wrapper(self, self.function)

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        name = as_name(check.name_of(self.function))
        return checkpoint_call(lowering, self.function, name, args, kwargs)


def checkpoint(function: Any, *, every: int | None = None, memory: int | None = None) -> Any:
    """`function`, of which nothing is kept for the backward pass but its arguments.

    What the backward pass needs it computes again: less memory for one more evaluation. Around
    what a loop runs over, `for i in checkpoint(range(n), every=k)`, what the loop carries is kept
    every k passes alone, and the passes between run again. With `memory=m` at most m such states
    are there at any time, beside the one at work; which passes run again, and how often, is then
    the binomial schedule, of which no pass runs more often than it has to.

    Args:
        function: a function; or a range, array or list that a loop runs over.
        every: the number of passes from one kept state to the next, a positive int.
        memory: the number of states that may be kept, a positive int.

    Raises:
        ArgumentTypeError, ArgumentValueError: none of these, or both `every` and `memory`.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> @checkpoint
        ... def block(x):
        ...     return np.sin(np.exp(x))
        >>> slope = grad(lambda x: block(x) ** 2)(0.0)
        >>> bool(np.isclose(slope, 2 * np.sin(1.0) * np.cos(1.0)))
        True
    """
    if every is None and memory is None:
        check.check_callable("checkpoint", function, "function")
        return Checkpoint(function)
    check_schedule(every, memory)
    return function


def recompute(block: Callable, *args: Any, **kwargs: Any) -> Any:
    """`block(*args, **kwargs)`, of which the backward pass keeps the arguments alone.

    `checkpoint(block)` makes the function that does so.

    Args:
        block: a Cell or a function.
        use_reentrant, output_recompute: accepted for MindSpore's sake.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> slope = grad(lambda x: recompute(np.sin, x) ** 2)(0.5)
        >>> bool(np.isclose(slope, np.sin(1.0)))
        True
    """
    given = {key: value for key, value in kwargs.items() if key not in OF_RECOMPUTE}
    check.check_callable("recompute", block, "block")
    return block(*args, **given)


#: options of MindSpore's recompute, which say how it is done there
OF_RECOMPUTE = ("use_reentrant", "output_recompute")


def _recomputed(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """recompute(block, ...) in a function that is compiled."""
    block, *rest = args
    given = {key: value for key, value in kwargs.items() if key not in OF_RECOMPUTE}
    name = as_name(check.name_of(unwrap(block)))
    return checkpoint_call(lowering, block, name, rest, given)


HANDLERS[recompute] = _recomputed


def check_schedule(every: Any, memory: Any) -> None:
    if every is not None and memory is not None:
        raise ArgumentValueError(
            "S2S502",
            "checkpoint: both 'every' and 'memory' are given",
            help="every=k keeps a state every k passes, memory=m keeps m states in all",
        )
    for name, value in (("every", every), ("memory", memory)):
        is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
        known = value is not None and not isinstance(value, Symbol)
        if known and (not is_int or value < 1):
            raise ArgumentValueError(
                "S2S502",
                f"checkpoint: argument '{name}' must be a positive int, got {check.shown(value)}",
            )


def _again(block: Callable, *args: Any, **kwargs: Any) -> Any:
    """A call of what is a checkpoint: a function that was defined inside of one."""
    return block(*args, **kwargs)


def _called_again(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    block, *rest = args
    inner = block
    while isinstance(inner, Partial | Method):
        inner = inner.function
    name = getattr(inner, "name", None) or check.name_of(unwrap(inner))
    return checkpoint_call(lowering, block, as_name(name), rest, kwargs)


HANDLERS[_again] = _called_again


def _inside(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """checkpoint(...) in a function that is compiled."""
    (subject,), every, memory = args, unwrap(kwargs.get("every")), unwrap(kwargs.get("memory"))
    if every is not None or memory is not None:
        check_schedule(every, memory)
        return Segmented(subject, every, memory)
    if isinstance(subject, Closure | Partial | Method):
        return make_partial(lowering, [_again, subject], {})
    return checkpoint(unwrap(subject))


HANDLERS[checkpoint] = _inside


__all__ = ["InsertGradientOf", "checkpoint", "custom_rule", "insert_grad_of", "recompute"]
