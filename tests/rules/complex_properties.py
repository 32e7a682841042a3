"""What holds of every rule for complex numbers: the cases of the tables, with complex inputs.

The expected values are central differences along complex directions. With the adjoint x_bar of a
real loss, the loss changes along d by the real part of <x_bar, d>: steepest ascent is along x_bar.
"""

import numpy as np

from rules.properties import STEP, Case, close, module
from s2s_ad import grad, jit, jvp, vmap


def complex_functions_of(case: Case) -> str:
    """The case as a function, a real loss of it, and the gradient of that."""
    names, varying = ", ".join(case.names), ", ".join(case.varying)
    positions = tuple(1 + case.names.index(name) for name in case.varying)
    lines = [f"def f({names}):", f"    return {case.text}"]
    lines += [f"def loss(w, {names}):", f"    return np.sum(np.real(np.conj(w) * f({names})))"]
    lines += [f"def value({varying}):", f"    return f({names})"]
    lines += [f"def gradient({varying}):", f"    return grad(loss, {positions})(w, {names})"]
    return "\n".join(lines) + "\n"


class ComplexSubject:
    """A case of which some inputs are complex, with one draw of them."""

    def __init__(self, case: Case, complex_inputs: tuple, seed: int = 0):
        self.case, self.rng = case, np.random.default_rng(seed)
        self.module = module(complex_functions_of(case))
        self.args = [
            self.drawn(name, draw, name in complex_inputs) for name, draw in case.inputs.items()
        ]
        self.y = self.module.f(*self.args)
        self.w = self.like(self.y)
        self.directions = [self.like(self.args[case.names.index(name)]) for name in case.varying]
        self.positions = tuple(1 + case.names.index(name) for name in case.varying)
        vars(self.module).update(zip(case.names, self.args, strict=True))
        self.module.w = self.w
        made = grad(self.module.loss, self.positions)
        self.gradient = made if len(self.positions) > 1 else lambda *args: (made(*args),)

    def drawn(self, name, draw, is_complex):
        value = draw(self.rng)
        if not is_complex:
            return value
        made = value + 1j * (0.4 * draw(self.rng) + 0.1)
        return made if draw.shape is None else np.asarray(made)

    def like(self, value):
        """Random numbers, complex where the value is."""
        shape = np.shape(value)
        made = self.rng.normal(size=shape)
        if np.iscomplexobj(value):
            made = made + 1j * self.rng.normal(size=shape)
        return made.item() if type(value) in (float, complex) else np.asarray(made)

    def moved(self, step):
        moves = dict(zip(self.case.varying, self.directions, strict=True))
        return [
            along(value, step * moves[name]) if name in moves else value
            for name, value in zip(self.case.names, self.args, strict=True)
        ]

    def central(self, function):
        near = np.subtract(function(*self.moved(STEP)), function(*self.moved(-STEP)))
        far = np.subtract(function(*self.moved(2 * STEP)), function(*self.moved(-2 * STEP)))
        return (8 * near - far) / (12 * STEP)

    def primals(self):
        return [self.args[self.case.names.index(name)] for name in self.case.varying]


def along(value, change):
    """The sum, a number where the value is one."""
    return value + change if type(value) in (float, complex) else np.asarray(value + change)


def check_complex(case: Case, complex_inputs: tuple, batches: bool = True) -> None:
    subject = ComplexSubject(case, complex_inputs)
    actual = jit(subject.module.f)(*subject.args)
    close(actual, subject.y, "value", 1e-12)
    assert np.asarray(actual).dtype == np.asarray(subject.y).dtype
    _check_forward(subject)
    bars = subject.gradient(subject.w, *subject.args)
    _check_reverse(subject, bars)
    _check_second_order(subject)
    if batches and case.batches:
        _check_batches(subject)


def _check_forward(subject: ComplexSubject) -> None:
    y, y_dot = jvp(subject.module.value, subject.primals(), subject.directions)
    close(y, subject.y, "value beside the tangent", 1e-12)
    close(y_dot, subject.central(subject.module.f), "tangent")
    assert np.iscomplexobj(y_dot) == np.iscomplexobj(subject.y), "the type of the tangent"


def _check_reverse(subject: ComplexSubject, bars) -> None:
    for bar, x in zip(bars, subject.primals(), strict=True):
        assert np.shape(bar) == np.shape(x)
        assert np.asarray(bar).dtype == np.asarray(x).dtype, f"{np.asarray(bar).dtype}"
    pairs = zip(bars, subject.directions, strict=True)
    backward = sum(np.real(np.sum(np.conj(bar) * dot)) for bar, dot in pairs)
    forward = subject.central(lambda *args: subject.module.loss(subject.w, *args))
    close(backward, forward, "adjoint against central differences")


def _check_second_order(subject: ComplexSubject) -> None:
    def flat(bars):
        return np.concatenate([np.ravel(each) for each in bars])

    expected = subject.central(lambda *args: flat(subject.gradient(subject.w, *args)))
    _, dots = jvp(subject.module.gradient, subject.primals(), subject.directions)
    dots = dots if len(subject.positions) > 1 else (dots,)
    close(flat(dots), expected, "forward over reverse", 1e-6)


def _check_batches(subject: ComplexSubject) -> None:
    able = [isinstance(arg, np.ndarray) for arg in subject.args]
    if not any(able):
        return
    scales = (1.0, 1.02, 0.97)
    batch = [
        np.stack([scale * arg if arg.dtype.kind in "fc" else arg for scale in scales])
        if flag
        else arg
        for arg, flag in zip(subject.args, able, strict=True)
    ]
    samples = [
        [each[i] if flag else each for each, flag in zip(batch, able, strict=True)]
        for i in range(len(scales))
    ]
    axes = tuple(0 if flag else None for flag in able)
    expected = np.stack([subject.module.f(*sample) for sample in samples])
    close(vmap(subject.module.f, axes)(*batch), expected, "vmap", 1e-10)
    grads = vmap(grad(subject.module.loss, subject.positions), (None, *axes))(subject.w, *batch)
    grads = grads if len(subject.positions) > 1 else (grads,)
    for place, found in enumerate(grads):
        wanted = [subject.gradient(subject.w, *sample)[place] for sample in samples]
        close(found, np.stack(wanted), "vmap of the gradient", 1e-10)


__all__ = ["ComplexSubject", "check_complex"]
