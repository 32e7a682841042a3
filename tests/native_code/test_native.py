"""jit makes native code: the same results, errors and kinds of results as without."""

import subprocess
import sys

import numpy as np
import pytest

from native_code.programs import PROGRAMS
from s2s_ad import grad, jit, value_and_grad, vmap
from s2s_ad.check import central_differences
from s2s_ad.core import tree
from s2s_ad.diagnostics import ArgumentValueError

pytest.importorskip("numba")
pytestmark = [pytest.mark.filterwarnings("ignore::RuntimeWarning"), pytest.mark.thinned(3)]
QUICK = {
    "whole numbers first",
    "stencil",
    "views",
    "a loop that breaks",
    "masks",
    "numbers of Python",
    "rows that are kept",
}


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def loops_alone(function, *args):
    """What the loops give, which the text for NumPy must not stand in for."""
    loaded = function.specialised(args, {})
    assert loaded.text.native, loaded.text.refused
    space = dict(loaded.namespace)
    del loaded.namespace[loaded.text.name]
    try:
        return loaded.function(*args)
    finally:
        loaded.namespace.update(space)


def leaves(value):
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def moving(args):
    """The positions of arguments that hold floats alone."""
    return tuple(
        i for i, each in enumerate(args)
        if all(np.asarray(leaf).dtype.kind == "f" for leaf in leaves(each))
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(e, marks=() if e in QUICK else pytest.mark.slow) for e in PROGRAMS],
)
def test_value_and_gradient(name):
    function, args = PROGRAMS[name]
    places = moving(args)
    value, slopes = loops_alone(jit(value_and_grad(function, places)), *args)
    slopes = slopes if len(places) > 1 else (slopes,)
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in leaves(args))
    rtol = 1e-3 if single else 1e-6
    np.testing.assert_allclose(value, function(*args), rtol=rtol if single else 1e-12)
    assert type(value) is type(value_and_grad(function, places)(*args)[0])

    def moved(*given):
        at = dict(zip(places, given, strict=True))
        return function(*(at.get(i, each) for i, each in enumerate(args)))

    inputs = tuple(args[i] for i in places)
    double = tuple(each.astype(float) for each in inputs) if single else inputs
    expected = central_differences(moved, double)
    for found, other, arg in zip(slopes, expected, (args[i] for i in places), strict=True):
        for mine, its, own in zip(leaves(found), leaves(other), leaves(arg), strict=True):
            np.testing.assert_allclose(mine, its, rtol=rtol, atol=1e-7)
            assert np.shape(mine) == np.shape(own)
            assert np.asarray(mine).dtype == np.asarray(own).dtype


def shift_and_scale(x, y):
    z = x.copy()
    for i in range(len(x) - 1):
        z[i + 1] += z[i] * y[i]
    return np.sum(z**2)


def test_arrays_of_any_layout():
    f, plain = jit(grad(shift_and_scale, (0, 1))), grad(shift_and_scale, (0, 1))
    x, y = np.linspace(0.1, 1, 12), np.linspace(2, 3, 12)
    fixed = x.copy()
    fixed.flags.writeable = False
    rows = np.arange(24.0).reshape(12, 2)
    for args in (
        (x, y),
        (x[::2], y[::2]),
        (x[::-1], y),
        (fixed, y),
        (x, x),
        (rows[:, 0], rows[:, 1]),
    ):
        for mine, its in zip(f(*args), plain(*args), strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-13)
    f(fixed, y)
    assert np.array_equal(fixed, x)


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


ERRORS = {
    "an index": (lambda x, i: x[i] ** 2, (np.ones(3), 3), IndexError),
    "an index below": (lambda x, i: x[i] ** 2, (np.ones(3), -4), IndexError),
    "a quotient": (lambda x, i: x / i, (1.0, 0), ZeroDivisionError),
    "a shape of no elements": (lambda x, i: x.reshape(len(x), i, -1), (np.ones(0), 1), ValueError),
    "of the user's": (lambda x, i: refuse(x, i), (1.0, 0), KeyError),
}


def refuse(x, i):
    if x < 2:
        raise KeyError(i)
    return x


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_python(name):
    function, args, kind = ERRORS[name]
    compiled = jit(function)
    with pytest.raises(kind) as found:
        compiled(*args)
    with pytest.raises(kind) as expected:
        function(*args)
    assert str(found.value) == str(expected.value)


def test_whole_numbers_have_no_bounds():
    assert jit(fibonacci)(100) == 354224848179261915075
    assert type(jit(fibonacci)(10)) is int


def test_a_batch_is_a_loop_over_samples():
    function, (a, b) = PROGRAMS["a loop that breaks"]
    many = np.linspace(1.0, 3.0, 9)
    found = loops_alone(jit(vmap(value_and_grad(function, (0, 1)), in_axes=(0, None))), many, b)
    each = [value_and_grad(function, (0, 1))(one, b) for one in many]
    for mine, its in zip(leaves(found), zip(*map(leaves, each), strict=True), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12)
    assert "_of_one(" in jit(vmap(function, in_axes=(0, None))).source(many, a, native=True)


def test_names_of_results_are_none_of_parameters():
    y0, y0_rows = np.arange(1.0, 4.0), np.arange(2.0, 5.0)
    found = loops_alone(jit(vmap(lambda y0, y0_rows: (y0 * 2, y0 * y0_rows))), y0, y0_rows)
    np.testing.assert_array_equal(found, (2 * y0, y0 * y0_rows))


def test_what_is_made_of_a_batch_is_no_batch():
    x = np.linspace(0.1, 0.9, 6).reshape(3, 2)
    f = grad(vmap(jit(lambda x: np.sum(np.sin(x) ** 2))))
    np.testing.assert_allclose(loops_alone(f, x), np.sin(2 * x), rtol=1e-12)


def test_threads_share_a_batch_and_its_errors():
    one = lambda x, i: x[i] ** 2
    f = jit(vmap(one), parallel=True)
    x, places = np.arange(30.0).reshape(10, 3), np.arange(10) % 3
    np.testing.assert_allclose(f(x, places), x[np.arange(10), places] ** 2)
    with pytest.raises(IndexError):
        f(x, np.where(np.arange(10) == 9, 3, places))


def test_nobody_has_to_wait():
    f = jit(lambda x: np.sum(x**2), wait=False)
    assert f(np.arange(3.0)) == 5.0
    kernel = f.specialised((np.arange(3.0),), {}).namespace["_s2s_kernel"]
    kernel.thread.join()
    assert kernel(np.arange(3.0)) == 5.0
    assert f(np.arange(3.0)) == 5.0


def test_loops_over_one_space_are_one_loop():
    text = jit(lambda x, y: np.sum(np.exp(x) * y) + np.max(x * y)).source(
        np.ones(3), np.ones(3), native=True
    )
    assert text.count("for ") == 1
    assert "np.empty" not in text


def test_what_has_no_native_form_says_why():
    f = jit(lambda x: np.sum(np.linalg.eigvalsh(x)))
    x = np.diag([1.0, 2.0])
    assert f(x) == pytest.approx(3.0)
    assert "no native code: eigvalsh" in f.explain(x)
    with pytest.raises(ArgumentValueError, match="eigvalsh has no native form"):
        f.source(x, native=True)
    plain = jit(lambda x: np.sum(x), native=False)
    assert not plain.specialised((x,), {}).text.native


@pytest.mark.parametrize("nothing", [{}, (), []])
def test_a_function_without_a_number_to_return_is_called_as_it_is(nothing):
    same = jit(lambda x: x)
    assert same(nothing) == nothing
    assert same.text(nothing).refused == "a function that returns no number"


def test_a_result_that_is_an_argument_stays_the_argument():
    x = np.arange(3.0)
    assert jit(lambda x: x)(x) is x
    assert jit(lambda x: x[1:])(x).base is x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: np.squeeze(x * np.ones(1) - x),
        lambda x: (x * np.ones(1)).reshape(()),
        lambda x: x * 2.0,
        lambda x: np.squeeze(x * np.ones(1)) + 1,
    ],
)
@pytest.mark.parametrize("x", [np.array(1.5), np.float64(1.5)], ids=["array", "number"])
def test_a_result_without_axes_is_an_array_where_numpy_gives_one(function, x):
    found, expected = jit(function)(x), function(x)
    assert (type(found), found) == (type(expected), expected)


def test_a_captured_array_may_be_replaced():
    space = {"w": np.ones(3)}
    f = jit(grad(lambda x: np.sum(space["w"] * x**2)))
    np.testing.assert_allclose(f(np.ones(3)), 2.0)
    space["w"] = np.full(3, 5.0)
    np.testing.assert_allclose(f(np.ones(3)), 10.0)


PLACES = np.array([0.0, -0.0, 1.0, -2.5, 1e300, 1e-300, np.inf, -np.inf, np.nan])


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [np.abs, np.sign, np.exp, lambda z: (2 + 1j) / z, lambda z: z / 3j]
)
def test_complex_numbers_at_the_edges(function):
    """Zeros of both signs, infinities, nan and sizes whose squares overflow: as NumPy has them."""
    z = np.empty((9, 9), complex)
    z.real, z.imag = PLACES[:, None], PLACES
    with np.errstate(all="ignore"):
        expected = function(z.ravel())
        found = loops_alone(jit(lambda z: function(z)), z.ravel())
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(found), part(expected), rtol=1e-13)


@pytest.mark.slow
def test_powers_of_roots_at_the_edges():
    def powers(x):
        return x**0.5, x**-0.5, x**1.5, x**-1.5, x**2.5

    with np.errstate(all="ignore"):
        expected, found = powers(PLACES), loops_alone(jit(powers), PLACES)
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-13)


@pytest.mark.slow
def test_edges_are_repeated():
    A = np.arange(12.0).reshape(3, 4)
    found = loops_alone(jit(lambda A: np.pad(A, ((1, 2), (0, 1)), mode="edge") * 1.0), A)
    assert np.array_equal(found, np.pad(A, ((1, 2), (0, 1)), mode="edge"))


def test_what_is_kept_has_room_from_the_start():
    """A loop of known length keeps its rows in one array; a while loop's grows."""
    text = jit(grad(PROGRAMS["rows that are kept"][0])).source(np.ones(5), 3, native=True)
    assert "saved = np.empty((max(steps, 0), len(x)))" in text
    assert ".append(" not in text
    assert "grown(" not in text


def test_text_runs_by_itself(tmp_path):
    function, args = PROGRAMS["stencil"]
    text = jit(grad(function)).source(*args, native=True)
    assert "s2s_ad" not in text.replace("programs.py", "")
    file = tmp_path / "loops.py"
    file.write_text(text + "\n\nprint(heat_grad(np.arange(9.0), 0.5).sum())\n")
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    expected = grad(function)(np.arange(9.0), 0.5).sum()
    assert float(done.stdout) == pytest.approx(expected, rel=1e-12)


def small_enough(x):
    n, y, s = 0, x, 0.0
    while True:
        y = y * 0.7
        n += 1
        if np.abs(y).max() < 0.2:
            break
        if n % 2:
            continue
        s = s + y.sum() * n
    return s + y @ y


def test_no_loop_is_endless_by_its_head():
    """Numba 0.68 never leaves `while True` where the way to a break assigns what is carried."""
    x = np.array([1.0, 2.0, 0.3])
    assert "while True" not in jit(small_enough).source(x, native=True)


@pytest.mark.slow
def test_an_endless_loop_is_left_by_its_break():
    x = np.array([1.0, 2.0, 0.3])
    np.testing.assert_allclose(loops_alone(jit(small_enough), x), small_enough(x), rtol=1e-12)
