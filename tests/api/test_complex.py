"""Complex numbers: what each transform promises of them, against formulas and differences.

The convention is PyTorch's: the gradient of a real function of z is the direction of steepest
ascent, x_bar = A^H y_bar of a linear function y = A x, conj(f'(z)) y_bar of a holomorphic f.
JAX gives the conjugate of the gradient, and transposes instead of adjoints from vjp.
"""

import numpy as np
import pytest

from s2s_ad import grad, hessian, jacfwd, jacrev, jit, jvp, value_and_grad, vjp, vmap
from s2s_ad.diagnostics import ArgumentTypeError, DerivativeError, S2SError, UnsupportedError

RNG = np.random.default_rng(3)
X = np.array([0.3, -0.4, 0.5])
Z = X + 1j * np.array([0.1, 0.2, -0.7])
A = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))


def energy(z):
    return np.sum(np.abs(z) ** 2)


def linear(z):
    return A @ z


def cube(z):
    return z**3


def wave(x):
    return np.exp(1j * x)


def norms(x):
    return np.abs(A @ (x + 1j * x**2))


def steepest(function, z, step=1e-6):
    """The direction of steepest ascent, part by part, by central differences."""
    z = np.asarray(z)
    found = np.zeros(z.shape, complex if np.iscomplexobj(z) else float)
    units = (1, 1j) if np.iscomplexobj(z) else (1,)
    for place in np.ndindex(*z.shape):
        for unit in units:
            move = np.zeros(z.shape, found.dtype)
            move[place] = unit * step
            ahead, back = (z + move, z - move) if z.shape else ((z + move)[()], (z - move)[()])
            found[place] += unit * (function(ahead) - function(back)) / (2 * step)
    return found


def test_gradient_is_steepest_ascent():
    np.testing.assert_allclose(grad(energy)(Z), 2 * Z)


def test_gradient_of_a_python_number():
    slope = grad(lambda z: abs(z * z))(0.3 + 0.4j)
    np.testing.assert_allclose(slope, 2 * (0.3 + 0.4j), rtol=1e-14)


def test_value_and_grad_keep_the_dtype():
    value, slope = value_and_grad(energy)(Z.astype(np.complex64))
    assert value.dtype == np.float32
    assert slope.dtype == np.complex64


def test_adjoint_of_a_linear_function():
    y, pull = vjp(linear, Z)
    y_bar = np.array([1.0 - 2j, 0.5j])
    np.testing.assert_allclose(y, A @ Z)
    np.testing.assert_allclose(pull(y_bar)[0], A.conj().T @ y_bar)


def test_adjoint_of_a_holomorphic_function():
    y_bar = np.array([1.0 - 2j, 0.5j, 2.0 + 0j])
    np.testing.assert_allclose(vjp(cube, Z)[1](y_bar)[0], y_bar * np.conj(3 * Z**2))


def test_tangent_is_complex_linear_for_a_holomorphic_function():
    _, y_dot = jvp(cube, Z, 1j * np.ones(3))
    np.testing.assert_allclose(y_dot, 3j * Z**2)


def test_adjoint_of_a_real_input_is_real():
    y_bar = np.array([1.0 - 2j, 0.5j, 2.0 + 0j])
    x_bar = vjp(wave, X)[1](y_bar)[0]
    assert x_bar.dtype == float
    np.testing.assert_allclose(x_bar, np.real(np.conj(1j * np.exp(1j * X)) * y_bar))


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobian_of_complex_outputs(jacobian):
    np.testing.assert_allclose(jacobian(wave)(X), np.diag(1j * np.exp(1j * X)), atol=1e-15)
    np.testing.assert_allclose(jacobian(wave)(0.3), 1j * np.exp(0.3j), atol=1e-15)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobian_through_complex_intermediates(jacobian):
    rows = np.stack([steepest(lambda x, i=i: norms(x)[i], X) for i in range(2)])
    np.testing.assert_allclose(jacobian(norms)(X), rows, rtol=1e-6)


def test_hessian_through_complex_intermediates():
    def loss(x):
        return np.sum(np.abs(A @ np.exp(1j * x)) ** 2)

    rows = np.stack([steepest(lambda x, i=i: grad(loss)(x)[i], X) for i in range(3)])
    np.testing.assert_allclose(hessian(loss)(X), rows, rtol=1e-6, atol=1e-8)


def test_batches():
    batch = np.stack([Z, 2 * Z, Z - 1j])
    np.testing.assert_allclose(vmap(grad(energy))(batch), 2 * batch)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev, hessian])
def test_jacobian_of_complex_inputs_is_refused(jacobian):
    with pytest.raises(ArgumentTypeError, match=r"complex128.*real numbers"):
        jacobian(energy)(Z)


def test_gradient_of_a_complex_value_is_refused():
    with pytest.raises(ArgumentTypeError, match="returned an array of complex128"):
        grad(cube)(Z)


def test_tangent_of_a_real_input_is_real():
    with pytest.raises(ArgumentTypeError, match=r"v\[0\]"):
        jvp(wave, X, 1j * X)


# ---- language constructs -------------------------------------------------------------------------


def accumulated(z):
    total = 0.0
    for i in range(len(z)):
        total = total + z[i] ** 2
    return abs(total)


def halves_set(x):
    a = x + 0j
    a.real = np.sin(x.real)
    a.imag += x.real**2
    return np.sum(np.abs(a) ** 2 * a.real)


def through_views(x):
    a = x * (1 + 2j)
    part = a.imag
    part[1:] = np.cos(x.real[1:])
    part *= 2.0
    return np.sum(np.abs(a) ** 3)


def branches(z):
    if np.real(z[0]) > 0:
        w = z * 2j
    else:
        w = np.conj(z) + 1.0
    return np.sum(w.imag * w.real)


def lists(z):
    items = []
    for i in range(len(z)):
        items.append(np.exp(1j * z[i]))
    return np.abs(sum(items))


def elements(z):
    w = np.zeros(3, dtype=complex)
    for i in range(3):
        w[i] = z[i].real
        w[i] += 1j * z[i] ** 2
    return np.sum((w * w).real)


def from_parts(z):
    c = complex(z[0].real, z[1].imag)
    return abs(c * c + complex(z[2].real)) + c.imag


def cast(z):
    w = z.real.astype(complex) * (2 + 1j) + np.conj(z)
    return np.sum(np.angle(w)) + np.sum(w.conj().real * w.conjugate().imag)


def scaled(z, factor):
    return np.sqrt(z) * factor


def called(z):
    return np.sum(scaled(z, 2j).real + scaled(z, z).imag)


PROGRAMS = [accumulated, branches, called, cast, elements, from_parts, halves_set, lists]
PROGRAMS += [through_views]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("point", [Z, -Z, X + 0.1], ids=["Z", "-Z", "real"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_program(program, point):
    if program in (branches, called) and not np.iscomplexobj(point):
        point = point + 0.1j
    expected = steepest(program, point)
    np.testing.assert_allclose(grad(program)(point), expected, rtol=1e-6, atol=1e-7)
    d = np.conj(Z) if np.iscomplexobj(point) else X
    _, dot = jvp(program, point, d)
    np.testing.assert_allclose(dot, np.real(np.sum(np.conj(expected) * d)), rtol=1e-6, atol=1e-7)


def either(x, flag):
    if flag > 0:
        x = x * 1j
    return np.sum(np.abs(x))


def test_what_may_be_real_or_complex_is_refused():
    with pytest.raises(DerivativeError, match="may be real or complex"):
        grad(either)(X, 1.0)


def single_or_double(x, z):
    """Which dtype `y` has is the path's, but it is real."""
    y = x
    if x[0] > 0:
        y = np.tanh(x.astype(np.float32))
    return np.sum(y * y) * np.real(z * (2.0 - 1.0j))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_real_on_each_path_is_real(sign):
    x, z = sign * np.array([0.5, 0.25]), 0.5 + 0.25j
    found = grad(single_or_double, argnums=(0, 1))(x, z)
    slope = 2 * np.tanh(x) / np.cosh(x) ** 2 if sign > 0 else 2 * x
    y = np.tanh(x) if sign > 0 else x
    np.testing.assert_allclose(found[0], slope * (2 * 0.5 + 0.25), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.sum(y * y) * (2.0 + 1.0j), rtol=1e-6)


def root_of_either(x, exponent):
    """A power of a number of Python's may be complex, whichever path it comes from."""
    y = x
    if exponent > 1:
        y = np.float32(x)
    return np.abs(y**exponent)


def test_a_power_of_what_may_be_a_number_of_python_is_not_real():
    with pytest.raises(S2SError, match="complex"):
        grad(root_of_either)(-0.5, 0.5)


def phase_of_determinant(a):
    return np.real(np.linalg.slogdet(a)[0])


def test_a_rule_that_holds_for_real_numbers_only_is_refused_by_name():
    assert np.all(grad(phase_of_determinant)(np.eye(3)) == 0)
    with pytest.raises(DerivativeError, match="sign_of_det for complex numbers"):
        grad(phase_of_determinant)(np.eye(3) * 1j)


def length_of_power(p):
    y = p
    for _ in range(2):
        y = y + p**1.5
    return np.imag(y) + abs(y)


def test_a_power_of_a_number_that_turns_complex_is_refused():
    """Python's (-0.2)**1.5 is complex, NumPy's is nan; code is for real numbers or complex ones."""
    for mode in (jit, grad, lambda f: grad(grad(f))):
        with pytest.raises(UnsupportedError, match=r"\(-0\.2\)\*\*1\.5 is complex"):
            mode(length_of_power)(-0.2)
    assert grad(length_of_power)(0.2) == pytest.approx(1 + 3 * 0.2**0.5)
    with np.errstate(invalid="ignore"):
        assert np.isnan(vmap(length_of_power)(np.array([-0.2, 0.2]))).tolist() == [True, False]


def unless_negative(x):
    y, z = x**1.5, 2 * x
    for _ in range(2):
        z = z if x < 0 else z * y
    return z


def of_two(items):
    return unless_negative(items[0]) + items[1]


def first_of_many(items):
    return unless_negative(items[0]) + sum(items)


@pytest.mark.parametrize(
    "function, x, expected",
    [
        (unless_negative, -0.8, 2.0),
        (of_two, [-0.8, 1.5], [2.0, 1.0]),
        (first_of_many, [-0.8] * 40, [3.0] + [1.0] * 39),
    ],
)
def test_a_gradient_by_numbers_is_real_where_a_path_not_taken_is_complex(function, x, expected):
    for found in (
        grad(function)(x),
        value_and_grad(function)(x)[1],
        vjp(function, x)[1](1.0)[0],
        jit(grad(function))(x),
    ):
        numbers = found if isinstance(found, list) else [found]
        assert {type(each) for each in numbers} == {float}
        assert found == expected


def with_parameters_of_all_kinds(x, /, y, *rest, scale=2.0, **more):
    return unless_negative(x) * y + sum(rest) + scale + more["shift"] * x


def test_a_gradient_is_real_whatever_the_parameters_are():
    function = with_parameters_of_all_kinds
    for given, named in (((-1.0, 3.0), {"shift": 1.0}), ((-1.0,), {"y": 3.0, "shift": 1.0})):
        assert grad(function)(*given, **named) == 7.0
    value, slopes = value_and_grad(function, (0, 1))(-1.0, 3.0, 4.0, scale=5.0, shift=6.0)
    assert (value, slopes) == (-6.0 + 4.0 + 5.0 - 6.0, (12.0, -2.0))
    assert {type(each) for each in slopes} == {float}


@pytest.mark.parametrize("power", [lambda x: x**1.5, lambda x: [x**1.5, x][0] * 2])
def test_a_gradient_of_a_power_that_turns_complex_is_refused(power):
    for mode in (grad, value_and_grad, lambda f: lambda x: vjp(f, x)[1](1.0)):
        with pytest.raises(S2SError, match=r"S2S304.*gradient is complex"):
            mode(power)(-0.8)
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(power)(np.float64(-0.8)))


def test_the_slope_of_a_power_of_numpy_is_one_of_numpy():
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(lambda x: np.power(x, 1.5))(-0.8))
        assert np.isnan(jvp(lambda x: np.power(x, 1.5), (-0.8,), (1.0,))[1])
    assert grad(lambda x: np.power(x, 1.5))(0.64) == pytest.approx(1.2)


@pytest.mark.parametrize(
    "f",
    [lambda x: 2 * x**1.5, lambda x: (x * x + 1.0) ** 1.5 + abs(x), lambda x: abs(x) ** 0.5],
    ids=["holomorphic", "of squares", "of sizes"],
)
def test_a_power_is_written_as_it_stands_where_that_is_right(f):
    assert "real_power" not in grad(f).source(0.3)
