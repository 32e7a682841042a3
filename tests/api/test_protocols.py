"""A transformed function as a Python object: decorators, methods, metadata, pickles, copies."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from api import decorated
from api.decorated import Child, Model
from s2s_ad import checkpoint, custom_rule, grad, hessian, jacfwd, jacrev, jit, value_and_grad, vmap

X = np.array([1.0, 2.0, 3.0])
TESTS = Path(__file__).resolve().parents[1]


def parabola(x):
    """A parabola."""
    return np.sum(x * x)


def product(x, y=2.0, *, scale=1.0):
    return np.sum(x * y * scale)


# ---- decorators ----------------------------------------------------------------------------------

MAKERS = [grad, value_and_grad, jacfwd, jacrev, hessian, jit]


@pytest.mark.parametrize("maker", [*MAKERS, vmap])
def test_with_and_without_arguments_a_maker_is_a_decorator(maker):
    options = {"out_axes": 0} if maker is vmap else {"jit_level": "O1"} if maker is jit else {}
    if maker not in (vmap, jit):
        options = {"grad_position": 0}
    x = np.ones((2, 3)) if maker is vmap else X
    expected = maker(parabola)(x)
    for made in (maker()(parabola), maker(**options)(parabola)):
        for one, other in zip(made(x), expected, strict=True) if maker is not jit else ():
            np.testing.assert_array_equal(one, other)
    assert repr(maker()(parabola)) == repr(maker(parabola))


def test_methods_bind_their_object():
    model, other = Model(3.0), Model(np.array([1.0, 2.0, 3.0]))
    for _ in range(12):
        np.testing.assert_allclose(model.loss(X), 6 * X)
        np.testing.assert_allclose(other.loss(X), 2 * X * X)
        np.testing.assert_allclose(model.second(X, X), 3 * X)
    model.w = 4.0
    np.testing.assert_allclose(model.loss(X), 8 * X)
    assert model.loss is model.loss
    assert Model.loss is vars(Model)["loss"]


def test_static_and_class_methods():
    for owner in (Model, Model(1.0)):
        np.testing.assert_allclose(owner.inner_static(X), 2 * X)
        np.testing.assert_allclose(owner.outer_static(X), 2 * X)
        np.testing.assert_allclose(owner.of_class(X), 4 * X)
    np.testing.assert_allclose(Child.of_class(X), 10 * X)
    np.testing.assert_allclose(Child(1.0).of_class(X), 10 * X)


def test_objects_of_all_sorts_are_functions():
    model = Model(2.0)
    np.testing.assert_allclose(grad(model.plain)(X), 2 * np.ones(3))
    np.testing.assert_allclose(grad(model)(X), 6 * X * X)
    np.testing.assert_allclose(grad(functools.partial(product, scale=3.0))(X), 6 * np.ones(3))
    np.testing.assert_allclose(grad(functools.partial(product, X), 0)(2.0), 6.0)
    np.testing.assert_allclose(grad(lambda x: x**3)(2.0), 12.0)


def test_a_function_wrapped_by_another_decorator_is_followed():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return 2 * function(*args, **kwargs)

        return wrapper

    np.testing.assert_allclose(grad(doubled(product))(X), 4 * np.ones(3))
    np.testing.assert_allclose(grad(doubled(product), 1)(X, 2.0), 12.0)


# ---- metadata ------------------------------------------------------------------------------------


def test_the_function_s_name_text_and_signature_are_kept():
    made = vmap(grad(product))
    assert (made.__name__, made.__qualname__, made.__module__) == ("product", "product", __name__)
    assert grad(parabola).__doc__ == "A parabola."
    assert "source(*args)" in grad(product).__doc__  # it has none of its own
    assert made.__wrapped__.__wrapped__ is product
    assert inspect.signature(made) == inspect.signature(product)
    assert callable(made)


@pytest.mark.parametrize(
    "made, text",
    [
        (grad(parabola), "grad(parabola)"),
        (grad(product, 1), "grad(product, grad_position=1)"),
        (grad(product, (0, 1)), "grad(product, grad_position=(0, 1))"),
        (value_and_grad(parabola, has_aux=True), "value_and_grad(parabola, has_aux=True)"),
        (vmap(grad(product), (None, 0)), "vmap(grad(product), in_axes=(None, 0))"),
        (vmap(parabola, out_axes=1), "vmap(parabola, out_axes=1)"),
        (hessian(parabola), "jacfwd(jacrev(parabola))"),
        (jit(jacrev(parabola)), "jit(jacrev(parabola))"),
    ],
)
def test_repr(made, text):
    assert repr(made) == text


def test_a_notebook_shows_what_was_compiled_last():
    derivative = grad(lambda x: x * (x < 2.0))
    assert "not compiled yet" in derivative._repr_markdown_()
    derivative(1.0)
    assert derivative.source(1.0) in derivative._repr_markdown_()
    assert "```python\n" in derivative._repr_markdown_()
    assert "grad(&lt;lambda&gt;)" in derivative._repr_html_()
    assert "<b>x</b> &lt; " in derivative._repr_html_()


def test_the_stages_of_lowering_have_names():
    assert list(vmap(grad(parabola)).lower(np.ones((2, 3)))) == ["core", "grad", "vmap"]
    assert list(grad(grad(lambda x: x**3)).lower(2.0)) == ["core", "grad", "grad 2"]


def test_the_generated_text_runs_by_itself():
    namespace = {}
    exec(grad(parabola).source(X), namespace)
    np.testing.assert_allclose(namespace["parabola_grad"](X), 2 * X)


# ---- copies and pickles --------------------------------------------------------------------------


def test_weak_references_and_copies():
    made = grad(product, 1)
    assert weakref.ref(made)() is made
    for twin in (copy.copy(made), copy.deepcopy(made)):
        assert twin is not made
        assert repr(twin) == repr(made)
        np.testing.assert_allclose(twin(X, 2.0), 6.0)
    assert copy.copy(decorated.slope) is decorated.slope


PICKLED = [
    ("decorated", decorated.slope, (X,)),
    ("decorated twice", decorated.each_slope, (np.ones((2, 3)), np.ones((2, 3)))),
    ("inside a decorated one", decorated.each_slope.fn, (X, X)),
    ("of a decorated one", vmap(decorated.slope), (np.ones((2, 3)),)),
    ("under a name of its own", decorated.jitted, (X,)),
    ("made of a function", grad(decorated.plain, (0, 1)), (X, X)),
    ("under another name", decorated.grad_of_plain, (X, X)),
    ("chain", jit(vmap(value_and_grad(decorated.plain), in_axes=(0, None))), (np.ones((2, 3)), X)),
    ("axes", vmap(decorated.plain, in_axes={"x": 1, "y": 0}), (np.ones((3, 2)), np.ones((2, 3)))),
    ("method", Model(3.0).loss, (X,)),
    ("method with options", Model(X).second, (X, X)),
    ("of a method", grad(Model(3.0).plain), (X,)),
    ("static method", Model.inner_static, (X,)),
    ("class method", Child.of_class, (X,)),
    ("object", grad(Model(3.0)), (X,)),
    ("a rule of its own", grad(decorated.with_own_rule), (X,)),
    ("made a rule", grad(custom_rule(decorated.cubes, reverse=decorated.double_adjoint)), (X,)),
    ("decorated by checkpoint", grad(decorated.again), (X,)),
    ("decorated above checkpoint", decorated.slope_again, (X,)),
    ("of a checkpoint", vmap(grad(checkpoint(decorated.cubes))), (np.ones((2, 3)),)),
    ("partial", grad(functools.partial(decorated.plain, y=X)), (X,)),
]


@pytest.mark.parametrize("made, args", [pytest.param(*each, id=name) for name, *each in PICKLED])
@pytest.mark.parametrize("protocol", [4, pickle.HIGHEST_PROTOCOL])
def test_pickles(made, args, protocol):
    again = pickle.loads(pickle.dumps(made, protocol))
    assert repr(again) == repr(made)
    for one, other in zip(again(*args), made(*args), strict=True):
        np.testing.assert_array_equal(one, other)


def test_pickles_are_read_in_another_process(tmp_path):
    calls = [(made, args) for _, made, args in PICKLED]
    (tmp_path / "calls").write_bytes(pickle.dumps(calls))
    program = (
        "import pickle, sys\n"
        "calls = pickle.load(open(sys.argv[1], 'rb'))\n"
        "pickle.dump([made(*args) for made, args in calls], open(sys.argv[2], 'wb'))\n"
    )
    paths = [tmp_path / "calls", tmp_path / "results"]
    path = ":".join([str(TESTS.parent), str(TESTS)])
    subprocess.run([sys.executable, "-c", program, *paths], check=True, env={"PYTHONPATH": path})
    results = pickle.loads(paths[1].read_bytes())
    for (made, args), result in zip(calls, results, strict=True):
        for one, other in zip(result, made(*args), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_lambda_cannot_be_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(grad(lambda x: x * x))
