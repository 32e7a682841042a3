"""autograd's own tests, run through this library: how many of those that ask for derivatives pass.

    python benchmarks/autograd_suite.py autograd-1.8.0 [options of pytest]

The first argument is an unpacked source distribution of autograd, of which only `tests/` is used.
`autograd.numpy` is NumPy itself; `grad`, `check_grads` and their kin are written below with what
this library has. A derivative that a test checks is compared with central differences, in forward
and reverse mode, and so are the derivatives of it, as deep as the test asks.
"""

from __future__ import annotations

import itertools
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import s2s_ad

STEP = 1e-6
TOLERANCE = 1e-6

#: tests of what no other library has, with the reason; they are not counted
NOT_COUNTED = {
    "test_vspaces.py": "autograd's vector spaces",
    "test_tests.py": "autograd's definition of primitives",
    "test_logic.py::test_no_vjp_def": "autograd's definition of primitives",
    "test_logic.py::test_no_jvp_def": "autograd's definition of primitives",
    "test_logic.py::test_unimplemented_falseyness": "autograd's definition of primitives",
    "test_wrappers.py::test_deprecated": "autograd's definition of primitives",
    "test_wrappers.py::test_wrapped_name_and_docs": "autograd's names of wrappers",
    "test_wrappers.py::test_partial": "derives nothing",
    "test_misc.py::test_const_graph": "autograd's graphs",
    "test_misc.py::test_flatten": "derives nothing",
    "test_numpy.py::test_numpy_version": "derives nothing",
    "test_numpy.py::test_make_diagonal": "np.make_diagonal is autograd's",
    "test_numpy.py::test_diagonal": "np.make_diagonal is autograd's",
    "test_systematic.py::test_make_diagonal": "np.make_diagonal is autograd's",
    "test_scipy.py::test_convolve_": "axes= of convolve is autograd's",
    "test_linalg.py::test_pinv": "np.linalg._dot is autograd's",
    "test_fft.py::test_rfftn_odd_not_implemented": "it is implemented here",
    "test_graphs.py::test_assignment_raises_error": "assignment is allowed here",
}


# ---- vectors: numbers, arrays, and containers of them --------------------------------------------


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def mapped(function: Callable, value: Any, *others: Any) -> Any:
    if isinstance(value, dict):
        return {key: mapped(function, value[key], *(o[key] for o in others)) for key in value}
    if isinstance(value, list | tuple):
        items = zip(value, *others, strict=True)
        return type(value)([mapped(function, *item) for item in items])
    return function(value, *others)


def random_like(value: Any) -> Any:
    return mapped(_random_leaf, value)


def _random_leaf(leaf: Any) -> Any:
    drawn: Any = np.random.randn(*np.shape(leaf))
    if np.iscomplexobj(leaf):
        drawn = drawn + 1j * np.random.randn(*np.shape(leaf))
    if isinstance(leaf, np.ndarray | np.generic):
        return np.asarray(drawn, leaf.dtype if leaf.dtype.kind in "fc" else float)[()]
    return drawn


def inner(a: Any, b: Any) -> float:
    """The inner product of real and imaginary parts."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return sum(float(np.real(np.sum(np.conj(x) * y))) for x, y in pairs)


def scalar_close(a: float, b: float) -> bool:
    return abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE


def check_equivalent(a: Any, b: Any) -> None:
    kinds = [[(np.shape(leaf), np.iscomplexobj(leaf)) for leaf in leaves(v)] for v in (a, b)]
    assert kinds[0] == kinds[1], f"kinds differ: {kinds}"
    v = random_like(a)
    assert scalar_close(inner(a, v), inner(b, v)), f"values differ:\n{a}\n{b}"


# ---- autograd's operators, as anyone would write them with this library --------------------------


def _positions(argnum: Any) -> Any:
    return argnum if isinstance(argnum, int) else tuple(argnum)


def _one_of(derived: Callable, argnum: Any) -> Callable:
    """autograd gives a tuple of one where it is asked for a list of one."""
    if isinstance(argnum, int) or len(argnum) > 1:
        return derived
    return lambda *args, **kwargs: (derived(*args, **kwargs),)


def grad(fun: Callable, argnum: Any = 0) -> Callable:
    return _one_of(s2s_ad.grad(fun, _positions(argnum)), argnum)


def value_and_grad(fun: Callable, argnum: Any = 0) -> Callable:
    return s2s_ad.value_and_grad(fun, _positions(argnum))


def grad_and_aux(fun: Callable, argnum: Any = 0) -> Callable:
    def of_both(*args: Any) -> Any:
        gradient, (aux,) = s2s_ad.grad(fun, argnum, has_aux=True)(*args)
        return gradient, aux

    return of_both


def jacobian(fun: Callable, argnum: Any = 0) -> Callable:
    return s2s_ad.jacrev(fun, argnum)


def hessian(fun: Callable, argnum: Any = 0) -> Callable:
    return s2s_ad.hessian(fun, argnum)


def deriv(fun: Callable) -> Callable:
    return lambda x: s2s_ad.jvp(fun, x, np.ones_like(x)[()])[1]


def holomorphic_grad(fun: Callable) -> Callable:
    return lambda x: np.conj(s2s_ad.grad(lambda z: np.real(fun(z)))(x))


def make_vjp(fun: Callable, argnum: Any = 0) -> Callable:
    def at(x: Any) -> Any:
        value, pullback = s2s_ad.vjp(fun, x)
        return lambda v: pullback(v)[0], value

    return at


def make_jvp(fun: Callable, argnum: Any = 0) -> Callable:
    return lambda x: lambda v: s2s_ad.jvp(fun, x, v)


def make_hvp(fun: Callable) -> Callable:
    return lambda x: make_vjp(s2s_ad.grad(fun))(x)


def hessian_tensor_product(fun: Callable) -> Callable:
    return lambda x, v: s2s_ad.jvp(s2s_ad.grad(fun), x, v)[1]


def tensor_jacobian_product(fun: Callable) -> Callable:
    def product(x: Any, v: Any) -> Any:
        return s2s_ad.jacrev(lambda a: np.tensordot(v, fun(a), axes=np.ndim(v)))(x)

    return product


def _half_square(x: Any) -> Any:
    return 1.0 / 2 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Callable, g: Callable = _half_square) -> Callable:
    def at(x: Any) -> Callable:
        def product(v: Any) -> Any:
            value, tangent = s2s_ad.jvp(f, x, v)
            return s2s_ad.vjp(f, x)[1](s2s_ad.jvp(s2s_ad.grad(g), value, tangent)[1])[0]

        return product

    return at


# ---- what checks derivatives ---------------------------------------------------------------------


def check_grads(
    fun: Callable, argnum: Any = 0, modes: tuple = ("fwd", "rev"), order: int = 2
) -> Callable:
    numbers = (argnum,) if isinstance(argnum, int) else tuple(argnum)

    def checked(*args: Any, **kwargs: Any) -> None:
        def of_chosen(*values: Any) -> Any:
            given = list(args)
            for number, value in zip(numbers, values, strict=True):
                given[number] = value
            return fun(*given, **kwargs)

        check_derivatives(of_chosen, tuple(args[n] for n in numbers), modes, order)

    return checked


def check_derivatives(fun: Callable, inputs: tuple, modes: tuple, order: int) -> None:
    n = len(inputs)
    if "fwd" in modes:
        v = random_like(inputs)
        value, tangent = s2s_ad.jvp(fun, inputs, v)
        check_equivalent(value, fun(*inputs))
        check_equivalent(tangent, differences(fun, inputs, v))
        if order > 1:
            of_jvp = lambda *given: s2s_ad.jvp(fun, given[:n], given[n:])[1]
            check_derivatives(of_jvp, (*inputs, *v), modes, order - 1)
    if "rev" in modes:
        value, pullback = s2s_ad.vjp(fun, *inputs)
        check_equivalent(value, fun(*inputs))
        u, v = random_like(value), random_like(inputs)
        adjoint = pullback(u)
        kinds = [[(np.shape(x), np.iscomplexobj(x)) for x in leaves(t)] for t in (inputs, adjoint)]
        assert kinds[0] == kinds[1], f"kinds differ: {kinds}"
        by_differences = inner(u, differences(fun, inputs, v))
        assert scalar_close(inner(adjoint, v), by_differences), (
            f"reverse mode {inner(adjoint, v)}, differences {by_differences}, at {inputs}"
        )
        if order > 1:
            of_vjp = lambda *given: s2s_ad.vjp(fun, *given[:n])[1](given[n])
            check_derivatives(of_vjp, (*inputs, u), modes, order - 1)


def differences(fun: Callable, inputs: tuple, v: tuple) -> Any:
    above = fun(*mapped(lambda x, t: x + t * (STEP / 2), inputs, v))
    below = fun(*mapped(lambda x, t: x - t * (STEP / 2), inputs, v))
    return mapped(lambda a, b: (a - b) / STEP, above, below)


def combo_check(fun: Callable, *options: Any, **named: Any) -> Callable:
    """`check_grads` at all combinations of the arguments given."""

    def checked(*args: Any, **kwargs: Any) -> None:
        for values in itertools.product(*args):
            for words in itertools.product(*kwargs.values()):
                keywords = dict(zip(kwargs, words, strict=True))
                check_grads(fun, *options, **named)(*values, **keywords)

    return checked


# ---- flat vectors --------------------------------------------------------------------------------


def flatten(value: Any) -> tuple[Any, Callable]:
    def flat(tree: Any) -> Any:
        if isinstance(tree, dict):
            tree = [tree[key] for key in sorted(tree)]
        if isinstance(tree, list | tuple):
            return np.concatenate([flat(item) for item in tree] or [np.zeros(0)])
        return np.ravel(tree)

    def unflatten(vector: Any) -> Any:
        def taken(tree: Any, start: int) -> Any:
            if isinstance(tree, dict):
                entries = {}
                for key in sorted(tree):
                    entries[key], start = taken(tree[key], start)
                return {key: entries[key] for key in tree}, start
            if isinstance(tree, list | tuple):
                items = []
                for item in tree:
                    part, start = taken(item, start)
                    items.append(part)
                return type(tree)(items), start
            end = start + np.size(tree)
            return np.reshape(vector[start:end], np.shape(tree))[()], end

        return taken(value, 0)[0]

    return flat(value), unflatten


# ---- the names under which the tests import them -------------------------------------------------


def modules() -> dict[str, types.ModuleType]:
    def module(name: str, **contents: Any) -> types.ModuleType:
        made = types.ModuleType(name)
        vars(made).update(contents)
        return made

    def core_vjp(fun: Callable, x: Any) -> Any:
        return make_vjp(fun)(x)

    def unary_to_nary(unary: Callable) -> Callable:
        def nary(fun: Callable, argnum: int = 0) -> Callable:
            def called(*args: Any) -> Any:
                def of_one(x: Any) -> Any:
                    given = list(args)
                    given[argnum] = x
                    return fun(*given)

                return unary(of_one, args[argnum])

            return called

        return nary

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("part of autograd's machinery")

    kinds = {"tuple": tuple, "list": list, "dict": dict, "isinstance": isinstance, "type": type}
    operators = {
        f.__name__: f
        for f in (
            grad,
            value_and_grad,
            grad_and_aux,
            jacobian,
            hessian,
            deriv,
            holomorphic_grad,
            make_vjp,
            make_jvp,
            make_hvp,
            hessian_tensor_product,
            tensor_jacobian_product,
            make_ggnvp,
        )
    }
    top = {
        **kinds,
        **operators,
        "elementwise_grad": grad,
        "hessian_vector_product": hessian_tensor_product,
        "checkpoint": s2s_ad.checkpoint,
    }
    checks = {
        "check_grads": check_grads,
        "check_equivalent": check_equivalent,
        "combo_check": combo_check,
        "scalar_close": scalar_close,
    }
    machinery = dict.fromkeys(("primitive", "defvjp", "vspace", "primitive_vjps"), missing)
    return {
        "autograd": module("autograd", **top, __path__=[]),
        "autograd.numpy": np,
        "autograd.numpy.random": np.random,
        "autograd.numpy.linalg": np.linalg,
        "autograd.numpy.fft": np.fft,
        "autograd.scipy": scipy,
        "autograd.scipy.integrate": scipy.integrate,
        "autograd.scipy.linalg": scipy.linalg,
        "autograd.scipy.signal": scipy.signal,
        "autograd.scipy.special": scipy.special,
        "autograd.scipy.stats": scipy.stats,
        "autograd.scipy.stats.multivariate_normal": scipy.stats.multivariate_normal,
        "autograd.builtins": module("autograd.builtins", **kinds),
        "autograd.core": module("autograd.core", **{**machinery, "make_vjp": core_vjp}),
        "autograd.extend": module("autograd.extend", **machinery),
        "autograd.tracer": module("autograd.tracer", isbox=lambda x: False, **machinery),
        "autograd.wrap_util": module("autograd.wrap_util", unary_to_nary=unary_to_nary),
        "autograd.misc": module("autograd.misc", flatten=flatten, const_graph=missing),
        "autograd.test_util": module("autograd.test_util", **checks),
    }


def install() -> None:
    made = modules()
    sys.modules.update(made)
    for name, module in made.items():
        parent, _, last = name.rpartition(".")
        if parent and not hasattr(made[parent], last):
            setattr(made[parent], last, module)


class Count:
    """The plugin of pytest that leaves out what is not counted, and counts the rest."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        names = tuple(NOT_COUNTED)
        items[:] = [item for item in items if not item.nodeid.split("/")[-1].startswith(names)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            self.passed += report.passed
            self.failed += report.failed


def main(distribution: str, *options: str) -> int:
    install()
    count = Count()
    tests = str(Path(distribution) / "tests")
    given = any(option.startswith(tests) for option in options)
    pytest.main(["-c", os.devnull, *([] if given else [tests]), "-q", *options], [count])
    total = count.passed + count.failed
    print(f"{count.passed} of {total} tests pass ({count.passed / max(total, 1):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
