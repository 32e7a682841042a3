"""scipy.optimize and scipy.integrate with functions of the user's, in every mode."""

import numpy as np
import pytest

from rules.properties import case, check_all, module, number, positive, real, some_slow, unit
from s2s_ad import grad, hessian, jacfwd, jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import S2SError

LIKE = {"general": False, "empty": False}
TIGHT = "rtol=1e-12, atol=1e-12"

ROOTS = [
    case("scipy.optimize.brentq(lambda q: q**3 - s, 0.0, 2.0)", s=number(), **LIKE),
    case(
        "scipy.optimize.bisect(lambda q, c: q**3 - np.sum(c), 0.0, 3.0, (c,))",
        c=positive(2),
        **LIKE,
    ),
    case("scipy.optimize.ridder(lambda q: np.cos(q) - s * q, 0.0, 2.0)", s=number(), **LIKE),
    case("scipy.optimize.newton(lambda q: np.cos(q) - s * q, 0.7, tol=1e-14)", s=number(), **LIKE),
    case(
        "scipy.optimize.newton(lambda q, c: q**3 - c, 0.9, lambda q, c: 3 * q**2, (s,))",
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.optimize.newton(lambda q: q**3 - s, 0.9, fprime=lambda q: 3 * q**2, "
        "fprime2=lambda q: 6 * q, tol=1e-14)",
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.optimize.root_scalar(lambda q, c: q**3 - c, args=(s,), x0=0.9, "
        "fprime=lambda q, c: 3 * q**2, method='newton').root",
        s=number(),
        **LIKE,
    ),
    case(
        "(lambda found: found[0] * found[1].root * found[1].converged)"
        "(scipy.optimize.brentq(lambda q: q**3 - s, 0.0, 2.0, full_output=True))",
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.optimize.root_scalar(lambda q: q**3 - s, bracket=(0.0, 2.0), xtol=1e-14).root",
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.optimize.root_scalar(lambda q: q**3 - s, x0=0.9, x1=1.1, xtol=1e-14).root",
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.optimize.fsolve(lambda q: q**3 + np.sum(q) - b, np.ones(3), xtol=1e-12)",
        b=positive(3),
        **LIKE,
    ),
    case(
        "scipy.optimize.root(lambda q, A: A @ q + 0.1 * q**3 - b, b, args=(A,), tol=1e-12).x",
        A=unit(2, 2),
        b=real(2),
        **LIKE,
    ),
    case(
        "scipy.optimize.fixed_point(lambda q: 0.5 * np.cos(a * q), np.ones(2), xtol=1e-14)",
        a=unit(2),
        **LIKE,
    ),
]
INTEGRALS = [
    case("scipy.integrate.quad(lambda q: q**2 * s, 0.0, t)[0]", s=number(), t=number(), **LIKE),
    case(
        "scipy.integrate.quad(lambda q: np.exp(-q * s), t, np.inf)[0]",
        s=number(),
        t=number(),
        **LIKE,
    ),
    case(
        "scipy.integrate.quad(lambda q, a: np.sum(np.sin(a * q)), 0.0, 1.0, (a,))[0]",
        a=real(2),
        **LIKE,
    ),
]
EQUATIONS = [
    case(
        f"scipy.integrate.odeint(lambda y, t: A @ y - y**2, b, np.linspace(0.0, 0.5, 3), {TIGHT})",
        A=unit(2, 2),
        b=unit(2),
        **LIKE,
    ),
    case(
        f"scipy.integrate.solve_ivp(lambda t, y: k * np.cos(t) * y, (0.0, s), b, {TIGHT}).y[:, -1]",
        b=unit(2),
        k=number(),
        s=number(),
        **LIKE,
    ),
    case(
        "scipy.integrate.solve_ivp(lambda t, y: k * y, (0.0, 1.0), b, "
        f"t_eval=np.array([0.0, 0.3]), {TIGHT}).y",
        b=unit(2),
        k=number(),
        **LIKE,
    ),
]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("each", some_slow([*ROOTS, *INTEGRALS, *EQUATIONS], 4))
def test_properties(each):
    check_all(each)


# ---- what is known in closed form ----------------------------------------------------------------


def test_an_integral_of_arrays():
    """The integral of sin(a q) from 0 to t is (1 - cos(a t)) / a."""
    text = "scipy.integrate.quad_vec(lambda q: np.sin(a * q), 0.0, t)[0]"
    f = module(f"def f(a, t):\n    return np.sum({text})\n").f
    a, t = np.array([0.7, 1.3]), 0.9
    slope = (a * t * np.sin(a * t) - 1 + np.cos(a * t)) / a**2
    curve = np.diag(t**2 * np.cos(a * t) / a - 2 * slope / a)
    a_bar, t_bar = grad(f, (0, 1))(a, t)
    np.testing.assert_allclose(a_bar, slope, rtol=1e-8)
    np.testing.assert_allclose(t_bar, np.sum(np.sin(a * t)), rtol=1e-8)
    np.testing.assert_allclose(hessian(f)(a, t), curve, rtol=1e-7, atol=1e-12)


MINIMA = """
def ridge(q, b, penalty):
    return np.sum((A @ q - b) ** 2) + penalty * np.sum(q**2)

def bfgs(b, penalty):
    return scipy.optimize.minimize(ridge, np.zeros(2), args=(b, penalty), tol=1e-6)

def solution(b, penalty):
    return bfgs(b, penalty).x

def least(b, penalty):
    return bfgs(b, penalty).fun

def squares(b, penalty):
    def residuals(q):
        return np.concatenate([A @ q - b, np.sqrt(penalty) * q])
    return scipy.optimize.least_squares(residuals, np.zeros(2), xtol=1e-14, gtol=1e-14).x
"""
A = np.array([[1.0, 0.5], [0.2, 1.5], [-0.7, 0.3]])


def ridge(b, penalty):
    """The solution of the normal equations, and its derivatives with respect to b and penalty."""
    normal = A.T @ A + penalty * np.eye(2)
    x = np.linalg.solve(normal, A.T @ b)
    return x, np.linalg.solve(normal, A.T), -np.linalg.solve(normal, x)


@pytest.mark.parametrize("name, tolerance", [("solution", 1e-5), ("squares", 1e-8)])
def test_minima_of_squares(name, tolerance):
    functions = module(MINIMA)
    functions.A = A
    f, b, penalty = getattr(functions, name), np.array([0.3, -0.4, 0.9]), 0.7
    x, by_b, by_penalty = ridge(b, penalty)
    np.testing.assert_allclose(f(b, penalty), x, atol=1e-6)
    jacobians = jacfwd(f, (0, 1))(b, penalty)
    np.testing.assert_allclose(jacobians[0], by_b, atol=tolerance)
    np.testing.assert_allclose(jacobians[1], by_penalty, atol=tolerance)
    batch = np.stack([b, 2 * b])
    both = vmap(jacfwd(f), (0, None))(batch, penalty)
    np.testing.assert_allclose(both, np.stack([by_b, by_b]), atol=tolerance)


def test_the_least_value():
    """Its derivative is that of the function at the minimum: the envelope theorem."""
    functions = module(MINIMA)
    functions.A = A
    b, penalty = np.array([0.3, -0.4, 0.9]), 0.7
    x, by_b, _ = ridge(b, penalty)
    b_bar, penalty_bar = grad(functions.least, (0, 1))(b, penalty)
    np.testing.assert_allclose(b_bar, 2 * (b - A @ x), atol=1e-6)
    np.testing.assert_allclose(penalty_bar, np.sum(x**2), atol=1e-6)
    curve = hessian(functions.least)(b, penalty)
    np.testing.assert_allclose(curve, 2 * (np.eye(3) - A @ by_b), atol=1e-6)


def test_a_minimum_of_one_unknown():
    """q with 2 (q - s) + 4 q**3 = 0."""
    call = "scipy.optimize.minimize_scalar(lambda q: (q - s) ** 2 + q**4).x"
    f = module(f"def f(s):\n    return {call}\n").f
    q = f(0.7)
    np.testing.assert_allclose(grad(f)(0.7), 2 / (2 + 12 * q**2), rtol=1e-7)


# ---- no solution, no derivative ------------------------------------------------------------------


def slope_of(call, s):
    """The gradient of a call that reads the number s."""
    return grad(module(f"def f(s):\n    return np.sum({call})\n").f)(s)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call",
    [
        "scipy.optimize.fsolve(lambda q: np.cosh(q - 0.3) + s, 1.0)",
        "scipy.optimize.root(lambda q: np.exp(q) + s, 1.0).x",
        "scipy.optimize.root_scalar(lambda q: q**2 + s, x0=1.0, x1=2.0).root",
        "scipy.optimize.minimize(lambda q: np.sum((q - s) ** 4), 3.0, options={'maxiter': 1}).x",
        "scipy.integrate.solve_ivp(lambda t, y: s * y**2, (0.0, 2.0), np.ones(1)).y[:, -1]",
    ],
)
def test_without_a_solution_the_derivative_is_nan(call):
    assert np.isnan(slope_of(call, 1.0))


#: solutions where what is solved jumps: their derivative is another one, or there is none
AT_JUMPS = [
    "scipy.optimize.brentq(lambda q: np.where(q < s, -1.0 - q * s, 2.0 + q), 0.0, 3.0)",
    "scipy.optimize.brentq(lambda q: -1.0 - q * s if q < s else 2.0 + q, 0.0, 3.0)",
    "scipy.optimize.bisect(lambda q: np.sign(q - s) + 0.1 * q, 0.0, 3.0, xtol=1e-3)",
    "scipy.optimize.root_scalar(lambda q: (q > s) - 0.5 + 0.1 * q, bracket=(-1.0, 2.0)).root",
    "scipy.optimize.minimize_scalar(lambda q: np.abs(q - s) + 0.1 * q**2).x",
    "scipy.optimize.minimize(lambda q: np.sum((q - 0.1 * s) ** 2 + np.abs(q)), np.full(2, 0.3), "
    "method='Nelder-Mead').x",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", AT_JUMPS)
def test_at_a_jump_of_what_is_solved_the_derivative_is_nan(call):
    f = module(f"def f(s):\n    return np.sum({call})\n").f
    assert np.isfinite(f(0.8))
    found = [grad(f)(0.8), jvp(f, (0.8,), (1.0,))[1], grad(grad(f))(0.8)]
    assert np.isnan([*found, *vmap(grad(f))(np.array([0.8, 0.9]))]).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call, slope",
    [
        ("scipy.optimize.brentq(lambda q: s * q - 8 if q < 1 else s * q**2 - 8, 0, 5)", -0.5),
        ("scipy.optimize.bisect(lambda q: abs(q) * q - s, 0.0, 3.0, xtol=1e-3)", 0.3535),
        ("scipy.optimize.newton(lambda q: max(q, 0.1) ** 2 - s, 1.0)", 0.3535),
        ("scipy.optimize.fsolve(lambda q: np.where(q > 0, 2 * q, q) - s, np.ones(2))", 1.0),
        ("scipy.optimize.minimize_scalar(lambda q: np.where(q > 0, 2, 1) * q**2 - s * q).x", 0.25),
        ("scipy.optimize.minimize(lambda q: (np.abs(q) * q - s) ** 2, 1.0).x", 0.3535),
        (
            "scipy.optimize.minimize(lambda q: np.sum((q - s) ** 2 + np.abs(q)), np.ones(1), "
            "method='Nelder-Mead').x",
            1.0,
        ),
    ],
)
def test_a_solution_away_from_kinks_has_its_derivative(call, slope):
    """By hand: of s q**2 = 8, q**2 = s, 2 q = s, 4 q = s and 2 (q - s) = -1, at s = 2."""
    assert slope_of(call, 2.0) == pytest.approx(slope, rel=2e-3)


@pytest.mark.parametrize(
    "call, error",
    [
        ("scipy.optimize.brentq(lambda q: q**2 + s, 0.0, 1.0)", ValueError),
        ("scipy.optimize.newton(lambda q: q**2 + s, 1.0)", RuntimeError),
        ("scipy.optimize.newton(lambda q: q**2 + s, 1.0, lambda q: 2 * q)", RuntimeError),
        (
            "scipy.optimize.fixed_point(lambda q: s / q, 1.3, method='iteration')",
            RuntimeError,
        ),
        ("scipy.optimize.fsolve(lambda q: (q - s) ** 2, s)", np.linalg.LinAlgError),
    ],
)
def test_what_the_library_raises_is_raised(call, error):
    with pytest.raises(error):
        slope_of(call, 1.0)


BOX = "bounds=[(0.0, 1.0), (None, 0.5), (-2.0, None)], method='L-BFGS-B', tol=1e-14"


def test_a_minimum_within_bounds():
    """Of a quadratic: what a bound holds does not move, the others solve the rest of the system."""
    text = f"scipy.optimize.minimize(lambda q: q @ A @ q / 2 - b @ q, np.zeros(3), {BOX}).x"
    f = module(f"def f(b, A):\n    return {text}\n").f
    A = np.array([[3.0, 0.5, 0.2], [0.5, 2.0, -0.3], [0.2, -0.3, 1.5]])
    b = np.array([-1.0, 4.0, 0.7])
    x = jit(f)(b, A)
    np.testing.assert_allclose(x[:2], [0.0, 0.5])  # both are held
    wanted = np.zeros((3, 3))
    wanted[2, 2] = 1 / A[2, 2]
    np.testing.assert_allclose(jacfwd(f)(b, A), wanted, atol=1e-12)
    np.testing.assert_allclose(grad(lambda b, A: np.sum(f(b, A)))(b, A), wanted.sum(axis=0))


@pytest.mark.parametrize("s, slope", [(0.4, 1.0), (1.5, 0.0), (-1.0, 0.0)])
def test_a_minimum_of_one_variable_within_bounds(s, slope):
    call = "minimize_scalar(lambda q: (q - s) ** 2, bounds=(0.0, 1.0), method='bounded').x"
    assert slope_of(f"scipy.optimize.{call}", s) == pytest.approx(slope)


def test_where_the_library_starts_makes_no_difference():
    assert slope_of("scipy.optimize.newton(lambda q: q**3 - 0.5, s)", 0.9) == 0.0
    assert slope_of("scipy.optimize.fsolve(lambda q: q**3 - 0.5, s)", 0.9) == 0.0


@pytest.mark.parametrize(
    "call, said",
    [
        ("scipy.optimize.newton(lambda q: q**3 - s, 0.9, disp=False)", "disp=False"),
        ("scipy.optimize.brentq(lambda q: q**3 - s, 0.0, 2.0, disp=False)", "disp=False"),
        ("scipy.optimize.root_scalar(lambda q: (q - s, 1.0), x0=0.9, fprime=True).root", "slope"),
        ("scipy.optimize.newton(lambda q: q**3 - s, np.ones(2))", "newton of an array"),
        ("np.real(scipy.optimize.newton(lambda q: q**3 - s * 1j, 0.9))", "complex numbers"),
        (
            "scipy.optimize.minimize(lambda q: s * q[0], 0.0, method='BFGS', bounds=[(0, 1)]).x",
            "BFGS with bounds=",
        ),
        ("scipy.optimize.minimize(lambda q: s * q[0], 0.0, (), None, None).x", "jac in its place"),
        ("scipy.optimize.root(lambda q: q - s, 1.0).nfev * s", r"result's \.nfev"),
        (
            "scipy.optimize.curve_fit(lambda x, a: a * x, np.ones(3), np.ones(3) * s)[0]",
            "curve_fit",
        ),
        ("scipy.optimize.brentq(lambda q: q * np.array([s, s]), -1.0, 1.0)", "return a number"),
        ("scipy.integrate.quad(lambda q: q * s, 0.0, 1.0)[1]", "error that quad estimates"),
        ("scipy.integrate.quad(lambda q: q * s, 0.0, 1.0, weight='cos')[0]", "weight="),
        ("scipy.integrate.dblquad(lambda x, y: x * y * s, 0.0, 1.0, 0.0, 1.0)[0]", "dblquad"),
        ("scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [s]).t", "times that solve_ivp"),
        ("scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [s], dense_output=True)", "dense_out"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(S2SError, match=said):
        slope_of(call, 0.7)


def test_the_tangent_of_an_estimated_error_is_nan():
    f = module("def f(s):\n    return scipy.integrate.quad(lambda q: q * s, 0.0, 1.0)[1]\n").f
    assert np.isnan(jvp(f, (0.7,), (1.0,))[1])


def test_a_function_that_changes_what_is_around_it_is_refused():
    text = """
def f(s):
    calls = np.zeros(1)
    def equation(q):
        calls[0] += 1.0
        return q - s
    return scipy.optimize.brentq(equation, 0.0, 1.0) + calls[0]
"""
    with pytest.raises(S2SError, match="changes its surroundings"):
        grad(module(text).f)(0.7)


# ---- functions as users write them ---------------------------------------------------------------

USED = """
C = np.array([1.0, 2.0])

def equation(q, s):
    y = q
    for _ in range(4):
        y = y + 0.1 * np.sin(y) * s
    if s > 0.5:
        y = 2 * y
    return y - 1.0

def loops_and_branches(s):
    return scipy.optimize.brentq(equation, -2.0, 2.0, args=s)

def in_a_loop(s):
    total = 0.0
    for i in range(3):
        total += scipy.optimize.brentq(lambda q: q**3 - s - i, 0.0, 2.0)
    return total

def on_a_branch(s):
    if s > 0:
        return scipy.optimize.brentq(lambda q: q**3 - s, 0.0, 2.0)
    return scipy.optimize.newton(lambda q: q**3 - s, 0.9, tol=1e-12)

def captured(s):
    def system(q):
        t = q * C
        return [t[0] ** 3 - s * C[0], t[1] ** 3 - s * C[1]]
    return np.sum(scipy.optimize.root(system, C, tol=1e-10).x)

def changed_after(s):
    x = scipy.optimize.fsolve(lambda q: q**3 - s, np.ones(2))
    x[0] = 2 * x[0]
    x *= s
    return np.sum(x)

def where_it_succeeds(s):
    found = scipy.optimize.root(lambda q: q**3 - s, 1.0)
    return found.x[0] if found.success else 0.0

def in_one_another(s):
    def inner(x):
        return scipy.integrate.quad(lambda y: np.exp(-x * y * s), 0.0, x)[0]
    return scipy.integrate.quad(inner, 0.0, 1.3)[0]

def oscillator(s):
    def right(t, y):
        place, speed = y
        return [speed, -s * np.sin(place) - 0.1 * speed]
    times = np.linspace(0.0, 1.0, 4)
    tight = {"rtol": 1e-11, "atol": 1e-11}
    found = scipy.integrate.solve_ivp(right, (-0.5, 1.0), [0.3, 0.5], t_eval=times, **tight)
    return np.sum(found.y[0] ** 2 * found.t)

def until(s):
    times = np.linspace(0.1, s, 5)
    return np.sum(scipy.integrate.odeint(lambda y, t: y * t, 0.7, times, rtol=1e-11, atol=1e-11))
"""
NAMES = [line[4:].partition("(")[0] for line in USED.splitlines() if line.startswith("def ")][1:]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", NAMES)
def test_functions_as_users_write_them(name):
    """Value, slope and curvature against central differences."""
    f = getattr(module(USED), name)

    def central(g, s, step=1e-4):
        near, far = g(s + step) - g(s - step), g(s + 2 * step) - g(s - 2 * step)
        return (8 * near - far) / (12 * step)

    for s in (0.7, -0.7) if name == "on_a_branch" else (0.7,):
        value, slope = value_and_grad(f)(s)
        assert value == f(s) == jit(f)(s)
        np.testing.assert_allclose(slope, central(f, s), rtol=1e-6)
        np.testing.assert_allclose(grad(grad(f))(s), central(grad(f), s), rtol=1e-6)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            "scipy.optimize.brentq(lambda q: q**3 - s, 0.0, 2.0)",
            """
    slope = 3.0 * scipy.optimize.brentq(f, 0.0, 2.0, args=(s,)) ** 2  # line LINE
    return 1.0 / slope


def f(q, s):
    DOCf (FILE).DOC
    return q**3 - s
""",
        ),
        (
            "scipy.integrate.quad(lambda q: q * q * s, 0.0, 2.0)[0]",
            """
    integral, _ = scipy.integrate.quad(f_grad, 0.0, 2.0, args=(s,))  # line LINE
    return integral


def f_grad(q, s):
    DOCGradient of f with respect to s (FILE).DOC
    s_bar = q * q
    return s_bar
""",
        ),
    ],
)
def test_the_text(call, text):
    f = module(f"def g(s):\n    return {call}\n").g
    line = str(f.__code__.co_firstlineno + 1)
    place = f"{f.__code__.co_filename.rpartition('/')[2]}:{line}"
    wanted = text.replace("FILE", place).replace("LINE", line).replace("DOC", 3 * chr(34))
    assert grad(f).source(0.7).endswith(wanted), grad(f).source(0.7)


def test_the_text_stands_alone():
    f = module("def f(s):\n    return np.sum(scipy.optimize.fsolve(lambda q: q**3 - s, 1.0))\n").f
    space = {}
    exec(grad(f).source(0.7, standalone=True), space)
    np.testing.assert_allclose(space["f_grad"](0.7), 0.7 ** (-2 / 3) / 3, rtol=1e-7)
