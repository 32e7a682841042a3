"""GradOperation and get_grad: gradients as older code of MindSpore's asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.api import check_arguments as check
from s2s_ad.api.inside import handle_maker, handle_value, made_inside
from s2s_ad.api.make import gradient_function
from s2s_ad.api.weights import check_weights
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors import Parameter


class GradOperation:
    """Makes gradient functions: `GradOperation(...)(fn)` or `GradOperation(...)(fn, weights)`.

    `grad` says the same with fewer words.

    Args:
        get_all: the gradients of all inputs of the call, always as a tuple; without it that of the
            first.
        get_by_list: the gradients of `weights`, always as a tuple: alone, or with `get_all` as
            (gradients of inputs, gradients of weights).
        sens_param: the last argument of the call is the gradient of the output.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `grad`; where weights are asked for and not
            given, or the other way round.

    Example:
        >>> from s2s_ad import Tensor
        >>> def f(x, y):
        ...     return x * x * y
        >>> of_x, of_y = GradOperation(get_all=True)(f)(Tensor([3.0]), Tensor([5.0]))
        >>> print(of_x, of_y)
        [30.] [9.]
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False):
        flags = {"get_all": get_all, "get_by_list": get_by_list, "sens_param": sens_param}
        for name, value in flags.items():
            check.check_flag("GradOperation", name, value)
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable, weights: Any = None) -> Any:
        """The gradient function of `fn`."""
        return self._of(fn, self._parameters(weights))

    def _parameters(self, weights: Any) -> tuple[Parameter, ...] | None:
        if self.get_by_list and weights is None:
            raise ArgumentValueError(
                "S2S502",
                "GradOperation(get_by_list=True): argument 'weights' is missing",
                help="pass the parameters: grad_op(fn, net.trainable_params())",
            )
        if not self.get_by_list and weights is not None:
            raise ArgumentValueError(
                "S2S502",
                "GradOperation: weights are given, and get_by_list is False",
                help="write GradOperation(get_by_list=True)",
            )
        found = check_weights("GradOperation", weights)
        return None if found is None else found.parameters

    def _of(self, fn: Callable, parameters: tuple[Parameter, ...] | None) -> Any:
        position = ... if self.get_all else None if self.get_by_list else 0
        return gradient_function(
            "GradOperation", fn, position, weights=parameters, sens_param=self.sens_param
        )

    def __reduce__(self) -> tuple:
        return type(self), (self.get_all, self.get_by_list, self.sens_param)

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return made_inside(lowering, self._inside, args, kwargs)

    def _inside(self, fn: Callable, weights: Any = None) -> Any:
        return self._of(fn, self._parameters(weights))


def get_grad(gradients: Any, identifier: int | Parameter) -> Any:
    """One of the gradients that `grad(..., return_ids=True)` gave.

    Args:
        gradients: what that call returned.
        identifier: the position of an input, or a Parameter.

    Raises:
        ArgumentTypeError: `identifier` is neither of these.
        ArgumentValueError: the gradients come without ids, or there is none with this one.

    Example:
        >>> from s2s_ad import Tensor, grad
        >>> gradients = grad(lambda x, y: x * y, (0, 1), return_ids=True)(Tensor(3.0), Tensor(5.0))
        >>> print(get_grad(gradients, 1))
        3.0
    """
    if isinstance(identifier, bool) or not isinstance(identifier, int | Parameter):
        raise ArgumentTypeError(
            "S2S501",
            "get_grad: argument 'identifier' must be an int (the position of an input) or a "
            f"Parameter, got {check.shown(identifier)}",
            help="pass the Parameter itself" if isinstance(identifier, str) else "",
        )
    pairs = _pairs(gradients)
    if pairs is None:
        raise ArgumentValueError(
            "S2S502",
            "get_grad: the gradients carry no ids",
            help="make them by grad(..., return_ids=True)",
        )
    wanted = identifier.name if isinstance(identifier, Parameter) else identifier
    for identity, gradient in pairs:
        if identity == wanted:
            return gradient
    inputs = tuple(each for each, _ in pairs if isinstance(each, int))
    names = tuple(each for each, _ in pairs if isinstance(each, str))
    what = f"Parameter {wanted!r}" if isinstance(wanted, str) else f"input {wanted}"
    raise ArgumentValueError(
        "S2S502",
        f"get_grad: no gradient for {what}; there are inputs {inputs} and Parameters {names}",
    )


def _pairs(gradients: Any) -> list[tuple[int | str, Any]] | None:
    """The (id, gradient) of a result, in its order; None where it is none that has ids."""
    if _is_pair(gradients):
        return [gradients]
    if not isinstance(gradients, tuple):
        return None
    parts = [_pairs(each) for each in gradients]
    return None if None in parts else [each for part in parts for each in part]


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and type(value[0]) in (int, str)


handle_maker(GradOperation)
handle_value(get_grad)
