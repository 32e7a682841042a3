"""Random programs: every mode against central differences, forward mode and loops."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from programs.interpreter import interpret
from programs.random_programs import INPUTS, random_program
from rules.properties import some_slow
from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

POSITIONS = tuple(range(len(INPUTS)))


def load(text, folder, seed):
    path = folder / f"random_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def directional(f, arguments, direction, step=1e-6):
    up = [x + step * d for x, d in zip(arguments, direction, strict=True)]
    down = [x - step * d for x, d in zip(arguments, direction, strict=True)]
    return (f(*up) - f(*down)) / (2 * step)


def inner(left, right):
    return sum(np.sum(np.asarray(x) * y) for x, y in zip(left, right, strict=True))


def check_general_text(f, arguments, gradient, text):
    """The text written without example arguments is right for these, or refused."""
    try:
        source = grad(f, POSITIONS).source()
    except S2SError:
        return
    space = {}
    exec(source, space)
    for part, expected in zip(space["f_grad"](*arguments), gradient, strict=True):
        assert np.allclose(part, expected, rtol=1e-9, atol=1e-9), text + source


def check_text_means_core(derived, arguments, text):
    """The text, with its stores in place and its folding, computes what Core says."""
    program = derived.lower(*arguments)[derived.label].verify()
    results = derived(*arguments)
    for ours, expected in zip(results, interpret(program, arguments), strict=True):
        assert np.allclose(ours, expected, rtol=1e-10, atol=1e-12), text


def check(seed, folder):
    text, inputs = random_program(seed)
    f, arguments = load(text, folder, seed), list(inputs.values())
    before = [np.copy(x) for x in arguments]
    rng = np.random.default_rng(seed + 10_000)
    direction = [rng.normal(size=np.shape(x)) for x in arguments]
    direction[2] = float(direction[2])

    value, gradient = value_and_grad(f, POSITIONS)(*arguments)
    assert np.isclose(value, f(*arguments)), text
    assert np.isclose(jit(f)(*arguments), f(*arguments)), text
    slope = directional(f, arguments, direction)
    assert np.isclose(inner(gradient, direction), slope, rtol=1e-4, atol=1e-6), text
    for part, x in zip(gradient, arguments, strict=True):
        assert np.shape(part) == np.shape(x), text
    _, tangent = jvp(f, tuple(arguments), tuple(direction))
    assert np.isclose(inner(gradient, direction), tangent, rtol=1e-9, atol=1e-9), text

    whole = grad(f, POSITIONS)
    second = jvp(whole, tuple(arguments), tuple(direction))[1]
    other = [rng.normal(size=np.shape(x)) for x in arguments]
    numeric = directional(lambda *xs: inner(whole(*xs), other), arguments, direction, 1e-5)
    assert np.isclose(inner(second, other), numeric, rtol=1e-3, atol=1e-4), text

    for size in (1, 3):
        batch = [np.stack([x * (1 + 0.1 * i) for i in range(size)]) for x in arguments]
        axes = tuple(None if rng.random() < 0.3 else 0 for _ in arguments)
        axes = (0, *axes[1:])
        mixed = [x if ax is None else b for x, b, ax in zip(arguments, batch, axes, strict=True)]
        got = vmap(whole, in_axes=axes)(*mixed)
        for i in range(size):
            sample = [m if ax is None else m[i] for m, ax in zip(mixed, axes, strict=True)]
            for part, expected in zip(got, whole(*sample), strict=True):
                assert np.allclose(part[i], expected, rtol=1e-8, atol=1e-10), text
        total = grad(vmap(f, in_axes=axes), 0)(*mixed)
        assert np.allclose(total, got[0], rtol=1e-8, atol=1e-10), text

    check_text_means_core(whole, arguments, text)
    check_general_text(f, arguments, gradient, text)
    single = [np.asarray(x, np.float32) for x in arguments]
    assert all(part.dtype == np.float32 for part in whole(*single)), text
    assert all(np.array_equal(x, y) for x, y in zip(before, arguments, strict=True)), text
    assert value_and_grad(f, POSITIONS).source(*arguments) == value_and_grad(f, POSITIONS).source(
        *arguments
    )


@pytest.mark.parametrize("start", some_slow(range(0, 60, 5), 12))
def test_random_programs(start, tmp_path):
    for seed in range(start, start + 5):
        check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 3000, 50))
def test_many_random_programs(start, tmp_path):
    for seed in range(start, start + 50):
        check(seed, tmp_path)
