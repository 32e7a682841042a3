"""Functions without native form as a whole: parts of them are native, and NumPy is between."""

import os
import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from native_code.interpreted import interpreted
from native_code.programs import PROGRAMS
from native_code.test_native import leaves, moving
from s2s_ad import grad, jit, value_and_grad, vmap
from s2s_ad.api import function as api
from s2s_ad.check import central_differences
from s2s_ad.load import native as loading
from s2s_ad.native import cutting

pytest.importorskip("numba")
pytestmark = [pytest.mark.filterwarnings("ignore::RuntimeWarning"), pytest.mark.thinned(2)]


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def by_spectrum(u, k, dt):
    for _ in range(3):
        v = np.fft.fft(u) * np.exp(-dt * k**2)
        u = np.real(np.fft.ifft(v))
        u = u + dt * u * (1 - u) * np.tanh(u) / (1 + u**2)
    return np.sum(u**2)


def by_eigenvalues(x, A):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * (i + 1)
    w, V = np.linalg.eigh(A + A.T + np.diag(y))
    z = np.tanh(V.T @ y) * w
    s = 0.0
    for i in range(len(z)):
        s = s + z[i] ** 2 / (1 + s)
    return s


def by_a_helper(x):
    def smooth(y):
        return np.real(np.fft.ifft(np.fft.fft(y) * 0.5)) * y

    a = smooth(x) + np.cos(x) * x**2 - np.exp(-x)
    return np.sum(a * np.sqrt(1 + a**2) / (2 + np.cos(a)))


def with_a_print(x):
    y = np.exp(x) * np.sin(x) + x**3 / (1 + x**2)
    print("between")
    z = y * np.cos(y) + np.sqrt(1 + y**2) * x
    return np.sum(z * y)


POINTS = np.linspace(0.1, 1.0, 6)
MATRIX = np.random.default_rng(3).normal(size=(6, 6))
CUT = {
    "fft": (by_spectrum, (POINTS, np.arange(6.0), 0.01)),
    "eigh": (by_eigenvalues, (POINTS, MATRIX)),
    "helper": (by_a_helper, (POINTS,)),
    "print": (with_a_print, (POINTS,)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(e, marks=() if e == "fft" else pytest.mark.slow) for e in CUT]
)
def test_value_and_gradient(name):
    function, args = CUT[name]
    compiled = jit(value_and_grad(function))
    text = compiled.text(*args)
    assert text.cut is not None
    assert text.refused
    value, slope = compiled(*args)
    np.testing.assert_allclose(value, function(*args), rtol=1e-12)
    (expected,) = central_differences(lambda x: function(x, *args[1:]), args[:1])
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["fft", pytest.param("eigh", marks=pytest.mark.slow)])
def test_batch_is_a_loop_over_samples(name):
    function, (x, *others) = CUT[name]
    rows = np.stack([x, x * 1.1])
    axes = (0, *[None] * len(others))
    found = jit(vmap(grad(function), in_axes=axes))(rows, *others)
    expected = [grad(function)(row, *others) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.slow
def test_source_stands_alone(tmp_path):
    function, args = CUT["eigh"]
    compiled = jit(value_and_grad(function))
    source = compiled.source(*args, native=True)
    file = tmp_path / "alone.py"
    calls = (
        "import sys; assert 's2s_ad' not in sys.modules\n"
        f"x, A = np.array({args[0].tolist()}), np.array({args[1].tolist()})\n"
        "value, slope = by_eigenvalues_value_and_grad(x, A)\n"
        "print(repr(float(value)), *map(repr, map(float, slope)))\n"
    )
    file.write_text(source + "\n\n" + calls)
    ran = subprocess.run(
        [sys.executable, file],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    value, slope = value_and_grad(function)(*args)
    np.testing.assert_allclose([float(e) for e in ran.stdout.split()], [value, *slope], rtol=1e-10)


def test_each_line_is_told():
    function, args = CUT["eigh"]
    told = jit(function).explain(*args, native=True)
    first = function.__code__.co_firstlineno
    rows = {line.split()[0]: line for line in told.splitlines() if line[:1].isdigit()}
    assert "by_eigenvalues_part_1" in rows[str(first + 3)]
    assert "eigh has no native form" in rows[str(first + 4)]
    assert "by_eigenvalues_part_2" in rows[str(first + 8)]
    whole = jit(lambda x: np.sum(x**2)).explain(POINTS, native=True)
    assert "has no native form" not in whole


def test_errors_are_those_of_numpy_and_effects_happen_once(capsys):
    def f(x, i):
        y = np.exp(x) * np.sin(x) + x**3
        print("once")
        z = np.cos(y) * y + x[i] * y**2
        return np.sum(z * np.sqrt(1 + z**2))

    compiled = jit(f)
    assert compiled.text(POINTS, 2).cut is not None
    np.testing.assert_allclose(compiled(POINTS, 2), f(POINTS, 2), rtol=1e-12)
    capsys.readouterr()
    with pytest.raises(IndexError):
        compiled(POINTS, 9)
    assert capsys.readouterr().out == "once\n"


def brackets(income, rates):
    tax, below = 0.0, 0.0
    for k, upper in enumerate((1.0, 3.0, np.inf)):
        if income <= upper:
            tax = tax + rates[k] * (income - below)
            break
        tax = tax + rates[k] * (upper - below)
        below = upper
    return tax * np.sum(rates**2)


def sorts(x):
    y = x.copy()
    for i in range(len(y)):
        k = i + np.argmin(y[i:])
        if k != i:
            y[i], y[k] = y[k], y[i]
    return np.sum(y * np.arange(1.0, len(y) + 1))


MORE = {
    "a value that paths lack": (brackets, (2.0, np.array([0.1, 0.2, 0.4]))),
    "rows that change places": (sorts, (POINTS[[2, 0, 1, 5, 4, 3]],)),
}
ALL = PROGRAMS | MORE


@pytest.fixture
def anywhere(monkeypatch):
    """Nothing is native as a whole, some statements are not at all; Python runs the loops."""

    certain = cutting.why_not

    def cut_at(seed):
        rng, known = random.Random(seed), {}

        def why_not(statement, program):
            reason = certain(statement, program)
            if reason or cutting.item_of(statement) or not statement.target:
                return reason
            known.setdefault(id(statement), (statement, rng.random() < 0.15))
            return "kept out" if known[id(statement)][1] else ""

        monkeypatch.setattr(cutting, "why_not", why_not)

    def kernel(self):
        loops = interpreted(self.text, self.name)

        def checked(*args):
            before = [np.copy(each) for each in args]
            found = loops(*args)
            for each, old in zip(args, before, strict=True):
                assert np.array_equal(each, old, equal_nan=np.asarray(old).dtype.kind in "fc")
            return found

        return checked

    def refused(program, text):
        return replace(text, refused="cut")

    monkeypatch.setattr(api, "with_loops", refused)
    monkeypatch.setattr(api, "with_rows", lambda text, *_: text)
    monkeypatch.setattr(cutting, "FEWEST", 0.0)
    monkeypatch.setattr(cutting, "PER_VALUE", 0.0)
    monkeypatch.setattr(loading.Native, "kernel", kernel)
    return cut_at


QUICK = [*ALL][:: len(ALL) // 6]


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "name", [pytest.param(e, marks=() if e in (*QUICK, *MORE) else pytest.mark.slow) for e in ALL]
)
def test_cut_anywhere(name, anywhere):
    function, args = ALL[name]
    for seed in range(4):
        anywhere(f"{seed} {name}")
        for plain in (function, value_and_grad(function, moving(args))):
            compiled = jit(plain)
            found, expected = compiled(*args), jit(plain, native=False)(*args)
            for mine, its in zip(leaves(found), leaves(expected), strict=True):
                single = np.asarray(its).dtype in (np.float32, np.complex64)
                np.testing.assert_allclose(mine, its, rtol=1e-5 if single else 1e-9, atol=1e-11)
                assert np.shape(mine) == np.shape(its)
                assert np.asarray(mine).dtype == np.asarray(its).dtype
