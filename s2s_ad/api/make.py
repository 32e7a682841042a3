"""grad, value_and_grad, vjp, jvp, jacfwd, jacrev, hessian, vmap, jit, stop_gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import EllipsisType
from typing import Any

from s2s_ad.api import check_arguments as check
from s2s_ad.api.batching import Vmap
from s2s_ad.api.class_method import ClassMethod
from s2s_ad.api.families import FAMILIES, is_hashable, is_plain
from s2s_ad.api.function import Transformed
from s2s_ad.api.gradients import Grad
from s2s_ad.api.inside import check_count, handle_jvp, handle_maker, handle_vjp, listed
from s2s_ad.api.numpy_objects import handle_objects
from s2s_ad.api.optional import handle_optional
from s2s_ad.api.over_elements import handle_callers
from s2s_ad.api.pullback import pullback, pushforward, seeds_of
from s2s_ad.api.python_objects import handle_iterators, handle_python_objects
from s2s_ad.api.recent import parts_of
from s2s_ad.api.transform import Jacobian, Jit, Jvp, Linearization, Transform, Vjp
from s2s_ad.api.weights import check_weights
from s2s_ad.core import tree
from s2s_ad.load.native import is_available
from s2s_ad.runtime import stop_gradient

Positions = int | tuple[int, ...] | EllipsisType


class _Decorated:
    """Stands for the function where a maker is called with options only, as in @grad(...)."""

    def __repr__(self) -> str:
        return "<the decorated function>"


DECORATED: Any = _Decorated()


def _transformed(
    api: str, fn: Any, transform: Transform, fits: Callable[[Callable], None] | None = None
) -> Any:
    """The function that is made of `fn`; `fits` checks the options against it."""
    if fn is DECORATED:
        return functools.partial(_transformed, api, transform=transform, fits=fits)
    if isinstance(fn, staticmethod):
        return staticmethod(_transformed(api, fn.__func__, transform, fits))
    if isinstance(fn, classmethod):
        return ClassMethod(fn, lambda bound: _transformed(api, bound, transform, fits))

    def checked(fn: Callable) -> None:
        check.check_callable(api, fn, "function" if api == "jit" else "fn")
        if fits is not None:
            fits(fn)

    return transformed(api, fn, transform, checked)


def transformed(
    api: str, fn: Any, transform: Transform, checked: Callable[[Callable], None]
) -> Transformed:
    """A transformed function, which others with the code of `fn` share what is compiled with.

    Of an object that can be called, a bound method and the like it is the same one again.
    """
    root = fn.root if isinstance(fn, Transformed) else fn
    of_lowering = hasattr(root, "__s2s_lower__")  # it lives as long as code is generated
    if is_plain(root) or of_lowering or not callable(root):
        return Transformed(fn, transform, api, checked)
    chain = (*(fn.chain if isinstance(fn, Transformed) else ()), (api, transform))
    make = functools.partial(Transformed, fn, transform, api, checked)
    return FAMILIES.get(parts_of(root), make, chain) if is_hashable(chain) else make()


# ---- derivatives ---------------------------------------------------------------------------------


def gradient_function(
    api: str,
    fn: Any,
    grad_position: Any,
    argnums: Any = None,
    *,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
    with_value: bool = False,
) -> Any:
    """What grad and its kin return, once their arguments are checked."""
    plain = weights is None and {type(grad_position), type(argnums)} <= PLAIN_POSITIONS
    checked = _known_gradient if plain else _gradient
    options = has_aux, return_ids, sens_param, with_value
    return _transformed(api, fn, *checked(api, grad_position, argnums, weights, *options))


def _gradient(
    api: str,
    grad_position: Any,
    argnums: Any,
    weights: Any,
    has_aux: Any,
    return_ids: Any,
    sens_param: Any,
    with_value: bool,
) -> tuple[Grad, Callable[[Callable], None]]:
    """The transform, and what checks it against a function."""
    flags = {"has_aux": has_aux, "return_ids": return_ids, "sens_param": sens_param}
    for name, value in flags.items():
        check.check_flag(api, name, value)
    given = check.either(api, grad_position, argnums)
    positions = check.check_positions(api, given, weights)
    parameters = check_weights(api, weights)
    if return_ids and parameters is not None:
        parameters.check_names(api)
    transform = Grad(positions, weights=parameters, with_value=with_value, **flags)
    return transform, functools.partial(check.check_range, api, given)


#: the same, looked up: `grad(f)` is written in loops
_known_gradient = functools.lru_cache(maxsize=256, typed=True)(_gradient)
PLAIN_POSITIONS = {int, EllipsisType, type(None)}


def grad(
    fn: Callable = DECORATED,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any:
    """The gradient function of `fn`: of the sum of all its floating-point outputs.

    With respect to a complex input z = a + ib it is a_bar + i b_bar, the direction of steepest
    ascent (as in PyTorch; JAX gives the conjugate). The outputs have to be real.

    Args:
        fn: a Python function of numbers, NumPy arrays and containers of these.
        grad_position: which inputs to differentiate. An int (or a tuple of one) gives that
            gradient itself, a longer tuple a tuple of gradients, `...` (all inputs of the call) a
            tuple too. A container gives a container of the same structure; texts, integers and None
            beside the floats have the gradient None.
        weights: the Parameters to differentiate, wherever `fn` reads them: names around it,
            attributes of a Cell, items of a list. A Parameter gives its gradient itself, a list, a
            tuple or any other iterable of them a tuple. With `grad_position=None` these are the
            result, else (gradients of inputs, gradients of weights). A Parameter that `fn` does not
            read has zeros. Its value is read at each call.
        has_aux: `fn` returns (value, aux...); the result is (gradient, (aux...)).
        return_ids: each gradient becomes (id, gradient), where the id is the position of an input
            or the name of a Parameter; `get_grad` finds one by its id.
        sens_param: the call takes one argument more, the last one: the gradient of the output, in
            the structure, shape and dtype of the output. Without it each output counts once.
        argnums: another name for `grad_position`.

    Returns:
        A function of the same arguments; `.source(*args)` is its text. Without `fn`, a decorator.

    Raises:
        ArgumentTypeError, ArgumentValueError: a wrong argument, here or at the call.
        S2SError: at the first call, for what cannot be differentiated.

    Example:
        >>> import numpy as np
        >>> def squared_error(w, y):
        ...     return np.sum((w - y) ** 2)
        >>> grad(squared_error)(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
        array([2., 4.])

        With respect to a Parameter:

        >>> from s2s_ad import Parameter, Tensor
        >>> w = Parameter(Tensor([3.0, -1.0]), name="w")
        >>> def output(x):
        ...     return w * x**2
        >>> of_x, of_w = grad(output, 0, w)(Tensor([1.0, 2.0]))
        >>> print(of_x, of_w)
        [ 6. -4.] [1. 4.]

        For another gradient of the output than ones:

        >>> print(grad(output, sens_param=True)(Tensor([1.0, 2.0]), Tensor([10.0, 0.0])))
        [60. -0.]
    """
    return gradient_function(
        "grad",
        fn,
        grad_position,
        argnums,
        weights=weights,
        has_aux=has_aux,
        return_ids=return_ids,
        sens_param=sens_param,
    )


def value_and_grad(
    fn: Callable = DECORATED,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any:
    """Like `grad`, and the value: (output of `fn`, gradients).

    With `has_aux` the value is still the whole output.

    Example:
        >>> value, slope = value_and_grad(lambda x: x**3)(2.0)
        >>> value, slope
        (8.0, 12.0)

        >>> from s2s_ad import Parameter, Tensor
        >>> w = Parameter(Tensor([3.0, -1.0]), name="w")
        >>> value, (of_w,) = value_and_grad(lambda x: (w * x).sum(), None, [w])(Tensor([1.0, 2.0]))
        >>> print(value, of_w)
        1.0 [1. 2.]
    """
    return gradient_function(
        "value_and_grad",
        fn,
        grad_position,
        argnums,
        weights=weights,
        has_aux=has_aux,
        return_ids=return_ids,
        sens_param=sens_param,
        with_value=True,
    )


def _jacobian(
    api: str, fn: Any, grad_position: Any, argnums: Any, has_aux: bool, reverse: bool
) -> Any:
    check.check_flag(api, "has_aux", has_aux)
    given = check.either(api, grad_position, argnums)
    positions = check.check_positions(api, given)

    transform = Jacobian(positions, has_aux, reverse=reverse)
    return _transformed(api, fn, transform, functools.partial(check.check_range, api, given))


def jacrev(
    fn: Callable = DECORATED,
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any:
    """The Jacobian of `fn` by reverse mode, one row after the other in a batch.

    Outputs may be complex, inputs are real.

    Each Jacobian has the shape of the output followed by the shape of the input; it is bare for
    one position, in a tuple for several. With `has_aux` one further output comes bare, several
    in a tuple.
    """
    return _jacobian("jacrev", fn, grad_position, argnums, has_aux, True)


def jacfwd(
    fn: Callable = DECORATED,
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any:
    """Like `jacrev`, by forward mode: one column after the other in a batch."""
    return _jacobian("jacfwd", fn, grad_position, argnums, has_aux, False)


def hessian(
    fn: Callable = DECORATED,
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any:
    """The Hessian of `fn`: forward mode over reverse mode, `jacfwd(jacrev(fn))`.

    For several positions it is a tuple of rows, each a tuple of blocks.
    """
    _jacobian("hessian", fn, grad_position, argnums, has_aux, True)  # refuses in this name
    position = check.either("hessian", grad_position, argnums)
    if fn is DECORATED:
        return functools.partial(hessian, grad_position=position, has_aux=has_aux)
    return jacfwd(jacrev(fn, position, has_aux), position, has_aux)


# ---- batches -------------------------------------------------------------------------------------


def vmap(fn: Callable = DECORATED, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """`fn` for each of a batch.

    Args:
        fn: a function of one sample.
        in_axes: where each input has its batch axis: an int for all, or a tuple with one entry
            for each input (an int, None for inputs that all samples share, or the nesting of the
            input), or a dict by argument name, in which inputs that it does not name are shared.
            Negative ints count from the end of the batched input's shape. Parameters that keep
            their default have no batch axis.
        out_axes: where each output gets it; None for outputs that are the same for all samples.

    Returns:
        A function of the batched arguments. Without `fn`, a decorator. Of an `nn.CellList` it
        is the function that calls each of its Cells, with what is whole where the axis is None.

    Random numbers are drawn once for all samples, as in MindSpore; draw an array with a row for
    each sample, and pass that, for numbers that differ.

    Example:
        >>> import numpy as np
        >>> vmap(lambda w, x: w @ x, in_axes=(None, 0))(np.ones(2), np.arange(6.0).reshape(3, 2))
        array([1., 5., 9.])
    """
    check.check_axes("vmap", "in_axes", in_axes)
    check.check_axes("vmap", "out_axes", out_axes)
    check.check_axis_names("vmap", in_axes)
    if hasattr(type(fn), "__s2s_vmap__"):  # it says itself what a batch of it is
        return _transformed("vmap", fn.__s2s_vmap__(in_axes, out_axes), Jit())
    transform = Vmap(
        *(tree.from_object(axes, lambda leaf, _: leaf) for axes in (in_axes, out_axes))
    )
    transform.check_mapped("vmap")

    def fits(fn: Callable) -> None:
        transform.check_signature("vmap", check.signature_of("vmap", fn))

    return _transformed("vmap", fn, transform, fits)


# ---- compilation ---------------------------------------------------------------------------------


def jit(
    function: Callable = DECORATED,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    native: bool = True,
    parallel: bool = False,
    wait: bool = True,
    cache: bool = True,
    **options: Any,
) -> Any:
    """`function`, simplified and compiled; the same results. A decorator with or without options.

    Where Numba is installed it becomes native code: the program as loops over elements
    (`.source(*args, native=True)`), wherever `jit` stands in a chain of transforms. A function with
    operations that have no native form is cut: NumPy runs these, between native parts. What the
    loops do not serve, and what they raise, the code for NumPy answers;
    `.explain(*args, native=True)` says which line is in which native code, or why in none. Sums
    are added in another order than by NumPy, and a number that is one of Python's on one path and
    one of NumPy's on another is the latter on both. The environment variable S2S_AD_NATIVE=0
    switches native code off.

    Args:
        native: False: no native code.
        parallel: the samples of an outermost `vmap` are shared out among threads, as many as there
            are processors; the results are the same.
        wait: False: the code for NumPy answers until the native code is ready.
        cache: False: native code is compiled in each process, and not kept on disk for the next one
            (`s2s-ad cache` lists what is; S2S_AD_CACHE=0 switches it off, S2S_AD_CACHE_DIR says
            where).
        capture_mode, jit_level, dynamic, fullgraph, backend, options: accepted for those who come
            from MindSpore; they change nothing.

    Raises:
        ArgumentTypeError, ArgumentValueError: an option that is none of these.

    Example:
        >>> import numpy as np
        >>> @jit
        ... @grad
        ... def energy(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> energy(np.array([0.0, np.pi / 4]))
        array([0., 1.])
    """
    check.check_option("jit", "jit_level", jit_level, ("O0", "O1"))
    check.check_option("jit", "capture_mode", capture_mode, ("ast", "bytecode", "trace"))
    check.check_option("jit", "backend", backend, ("", "ms_backend", "GE"))
    check.check_option("jit", "dynamic", dynamic, (0, 1))
    check.check_flag("jit", "fullgraph", fullgraph)
    flags = {"native": native, "parallel": parallel, "wait": wait, "cache": cache}
    for name, value in flags.items():
        check.check_flag("jit", name, value)
    return _transformed("jit", function, Jit(native and is_available(), parallel, wait, cache))


# ---- at once -------------------------------------------------------------------------------------


def _made_once(api: str, fn: Callable, transform: Transform, inputs: tuple) -> Transformed:
    """The transformed function, once it is certain that it takes so many inputs."""

    def checked(fn: Callable) -> None:
        check.check_callable(api, fn)
        check.check_call(api, fn, inputs)

    return transformed(api, fn, transform, checked)


def compiled_once(api: str, body: Callable, fn: Callable, number: int, *args: Any) -> Any:
    """body(fn, number, *args), compiled once for functions that are made of the same parts."""
    check.check_callable(api, fn)
    return transformed(api, functools.partial(body, fn, number), Jit(), lambda _: None)(*args)


def linearized(fn: Callable, inputs: list) -> tuple:
    """(output, the derivative of `fn` as a linear function)."""
    transform = Linearization(tuple(range(len(inputs))))
    made = _made_once("linearize", fn, transform, tuple(inputs))
    output, needed, second = made(*inputs)
    return output, pushforward(second, needed, inputs)


def jvp(fn: Callable, inputs: Any, v: Any, has_aux: bool = False) -> tuple:
    """The value of `fn` and its directional derivative.

    Of complex inputs too: f'(z) * v where `fn` is holomorphic, as in JAX and PyTorch.

    Args:
        inputs: the argument, or a tuple or list of arguments.
        v: the direction for each of them, in the same structure, shape and dtype.
        has_aux: `fn` returns (value, aux...).

    Returns:
        (output, tangent), each with the nesting of `fn`; with `has_aux` (output, tangent, aux),
        where one aux output comes bare.

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
        (6.0, 3.0)
    """
    check.check_flag("jvp", "has_aux", has_aux)
    primals, tangents = listed(inputs), listed(v)
    check_count(primals, tangents)
    made = _made_once("jvp", fn, Jvp(len(primals), has_aux), tuple(primals))
    return made(*primals, *tangents)


def vjp(fn: Callable, *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple:
    """The value of `fn`, and a function from the adjoint of the output to those of the inputs.

    Of complex numbers it is the conjugate transpose of the Jacobian that is applied, as in
    PyTorch: conj(f'(z)) * y_bar where `fn` is holomorphic. (JAX applies the transpose.)

    Returns:
        (output, vjp_fn), with `has_aux` (output, vjp_fn, aux), where one aux output comes bare.
        `vjp_fn(y_bar)` gives a tuple with the adjoint of each input; with `weights` a pair of
        such a tuple and the adjoints of the Parameters, nested as in `grad`. For several outputs it
        takes as many arguments, or their tuple.

    Example:
        >>> value, vjp_fn = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, vjp_fn(1.0)
        (6.0, (3.0, 2.0))
    """
    check.check_flag("vjp", "has_aux", has_aux)
    transform = Vjp(tuple(range(len(inputs))), has_aux, check_weights("vjp", weights))
    made = _made_once("vjp", fn, transform, inputs)
    output, needed, backward = made(*inputs)
    output, *aux = output if has_aux else (output,)

    def seeds() -> list[tuple[tree.Path, bool]]:
        program = made.specialised(inputs, {}).program
        found = program.result.items[0]
        return seeds_of(program, found.items[0] if has_aux else found)

    return output, pullback(backward, needed, output, seeds), *aux


for _maker in (grad, value_and_grad, vmap, jit, jacrev, jacfwd, hessian):
    handle_maker(_maker)
handle_jvp(jvp)
handle_vjp(vjp)
handle_callers()
handle_objects()
handle_iterators()
handle_python_objects()
handle_optional()

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
