"""What the derivative and the batch of every function cost: `python benchmarks/rule_costs.py`.

The gradient of a function (the adjoint of each argument, for a given adjoint of the result) may
cost four times the function; what it costs together with the value is shown beside it. A batch of
a thousand small samples has to be twenty times as fast as a loop over them. The programs are those
of the coverage table, with large inputs.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import datetime
import functools
import gc
import importlib.metadata
import math
import os
import pathlib
import platform
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from timing import shown

from s2s_ad import grad, vmap

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests"))
from rules import probes

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "rule_costs.md"
MOST = 4.0  # times the function
LEAST = 20.0  # times as fast as the loop
SAMPLES = 1000
NEAR = 1.2  # times the function itself: as fast as that
ENOUGH = 0.2  # seconds for the rounds of one program, where it is fast
LONG = 5.0  # seconds after which even few rounds have to do
LIMIT = 60  # seconds for one program
SLOW = 0.3  # seconds for one call: its program is measured at a tenth of the size, or less

#: numbers that programs have for the sizes of their inputs: what stands for them here
SCALED = {
    "np.eye(3)": "np.eye(side)",
    "np.identity(3)": "np.identity(side)",
    "np.tri(3)": "np.tri(side)",
    "np.arange(3.0)": "np.arange(1.0 * side)",
    "np.arange(4.0)": "np.arange(1.0 * many)",
    "np.arange(5)": "np.arange(many)",
    "(3, 4)": "(side, side)",
    "(2, 6)": "(side // 2, 2 * side)",
    "_indices(3": "_indices(side",
    "0:3, 0:4": "0:side, 0:side",
    "bartlett(5)": "bartlett(many)",
    "blackman(5)": "blackman(many)",
    "hamming(5)": "hamming(many)",
    "hanning(5)": "hanning(many)",
    "[5, 1.0]": "[many, 1.0]",
    "else [5]": "else [many]",
    "'hann', 5": "'hann', many",
    "np.array([4.0, 0, 0, 0, 0])": "4.0 * (np.arange(many) == 0)",
}
#: programs that are others at these sizes
LARGE = {
    "ndarray-method.ufunc(out=)": "a = np.zeros((side, side));; np.multiply(x, y, out=a);; a + x",
    "numpy.broadcast_to": "np.broadcast_to(u, (2, many))",
    "numpy.cross": "np.cross(A[:, :3], B[:, :3])",
    "numpy.diagflat": "np.diagflat(v[:1000], 1)",
    "numpy.histogram2d": "np.histogram2d(np.arange(many), np.arange(many), 2, weights=u)[0]",
    "numpy.histogramdd": "np.histogramdd(np.arange(2 * many).reshape(many, 2), 2, weights=u)[0]",
    "numpy.interp": "np.interp(v * 3, np.arange(4.0), u[:4])",
    "numpy.kron": "np.kron(A[:20, :20], B[:20, :20])",
    "numpy.linalg.cross": "np.linalg.cross(A[:, :3], B[:, :3])",
    "numpy.poly1d": "np.poly1d(u[:4])(v)",
    "numpy.polydiv": "np.polydiv(u[:2000], b)[0]",
    "numpy.polyfit": "np.polyfit(np.arange(1.0 * many), v, 2)",
    "numpy.polynomial.chebyshev.chebval": "np.polynomial.chebyshev.chebval(v, u[:4])",
    "numpy.polynomial.hermite.hermval": "np.polynomial.hermite.hermval(v, u[:4])",
    "numpy.polynomial.legendre.legval": "np.polynomial.legendre.legval(v, u[:4])",
    "numpy.polynomial.polynomial.polyval": "np.polynomial.polynomial.polyval(v, u[:4])",
    "numpy.polyval": "np.polyval(u[:4], v)",
    "numpy.put_along_axis": (
        "a = x * 1.0;; np.put_along_axis(a, np.arange(side)[:, None], b[:, None], axis=1);; a"
    ),
    "numpy.roots": "np.sort(np.abs(np.roots(u[:100])))",
    **dict.fromkeys(
        (f"python-builtin.{each}" for each in ("dict", "list", "set", "tuple")),
        "a = dict(q=list(v[:9]), r=tuple(w[:9]));; a['q'][0] * a['r'][1] * len(set([1, 2]))",
    ),
    "python-operator.setitem(slice)": "a = np.array(x);; a[1:, ::2] = y[1:, ::2];; a",
    "scipy.linalg.khatri_rao": "sp.linalg.khatri_rao(A[:40], B[:40])",
    "scipy.linalg.solve_toeplitz": (
        "sp.linalg.solve_toeplitz(v[:400] + 90.0 * (np.arange(400) == 0), w[:400])"
    ),
    "scipy.ndimage.convolve": "sp.ndimage.convolve(x, A[:3, :3])",
    "scipy.ndimage.correlate": "sp.ndimage.correlate(x, A[:3, :3])",
    "scipy.signal.convolve2d": "sp.signal.convolve2d(x, A[:3, :3], mode='same')",
    "scipy.signal.correlate2d": "sp.signal.correlate2d(x, A[:3, :3], mode='same')",
    "scipy.stats.multinomial.logpmf": (
        "sp.stats.multinomial.logpmf(np.ones(many, int), many, v / np.sum(v))"
    ),
    "scipy.stats.multinomial.pmf": (
        "sp.stats.multinomial.pmf(np.ones(many, int), many, v / np.sum(v))"
    ),
}
VIEW = "a view: its adjoint is a copy of another order in memory"
BLAS = "each adjoint is a product of matrices or two, of the same size"
CHOICE = "one pass over three arrays; each adjoint compares, looks for ties and selects: 1.6 of it"
EXTREME = "reads one array (0.2 ms); its adjoint compares, counts ties and writes one (1.2 ms)"
FRECHET = "its derivative is the function of a matrix twice as large: eight times the work"
INVERSE = "LU takes 2/3 n**3; its adjoint is the inverse, which in NumPy takes 8/3 n**3"
ORDER = "linear time, and its adjoint needs the order that NumPy does not give: sorted"
PIVOTS = "LU takes 2/3 n**3; its adjoint two products and two systems: 6 n**3"
PLACES = "the place of each element is found by np.insert of all places: three passes"
PYTHON = "a loop of Python's over elements"
RECURRENCE = "a recurrence without division, so that zeros are as good as other numbers: 3.3 of it"
SERIES = "the slope in a parameter is a series, term by term"
SPECIAL = "the slope is another function of SciPy's, slower than this one"
STEPS = "the adjoint equation is solved back from point to point"
TWO = "two adjoints, each of which takes as long as the function, of padded arrays"
#: why a gradient costs more than it should, where it cannot be had for less, or is not yet
NOTES = {
    **dict.fromkeys(("clip", "fmax", "fmin", "maximum", "minimum"), CHOICE),
    **dict.fromkeys(("amax", "amin", "max", "maximum.reduce", "min", "minimum.reduce"), EXTREME),
    **dict.fromkeys(("nanmax", "nanmin", "ptp"), EXTREME),
    **dict.fromkeys(("broadcast_to", "dsplit", "matrix_transpose", "moveaxis", "mT"), VIEW),
    **dict.fromkeys(("permute_dims", "ravel", "reshape", "rollaxis", "rot90", "squeeze"), VIEW),
    **dict.fromkeys(("swapaxes", "T", "transpose", "unstack", "vsplit"), VIEW),
    **dict.fromkeys(("det", "slogdet"), INVERSE),
    **dict.fromkeys(("argpartition", "partition"), ORDER),
    **dict.fromkeys(("flat", "fromiter", "ndenumerate", "ndindex", "tolist"), PYTHON),
    **dict.fromkeys(("python-builtin.max", "python-builtin.min"), PYTHON),
    **dict.fromkeys(("agm", "boxcox", "boxcox1p", "ellipj", "exprel", "i1", "i1e"), SPECIAL),
    **dict.fromkeys(("inv_boxcox", "inv_boxcox1p", "itstruve0", "j1"), SPECIAL),
    **dict.fromkeys(("ellipe", "ellipk", "ellipkm1", "ellipeinc", "ellipkinc"), SPECIAL),
    **dict.fromkeys((f"scipy.stats.t.{each}" for each in ("cdf", "logcdf", "sf")), SERIES),
    **dict.fromkeys(("betainc", "betaincc", "betaincinv", "betainccinv", "zetac"), SERIES),
    **dict.fromkeys(("gammainc", "gammaincc", "gammaincinv", "gammainccinv"), SERIES),
    **dict.fromkeys(("cumprod", "cumulative_prod", "multiply.accumulate"), RECURRENCE),
    **dict.fromkeys(("nancumprod",), RECURRENCE),
    **dict.fromkeys(("convolve", "correlate"), TWO),
    **dict.fromkeys(("cho_solve", "cholesky", "corrcoef", "cov", "polar"), BLAS),
    **dict.fromkeys(("fractional_matrix_power", "solve_triangular"), BLAS),
    **dict.fromkeys(("expm_frechet", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm"), FRECHET),
    **dict.fromkeys(("lu", "lu_factor"), PIVOTS),
    **dict.fromkeys(("odeint", "solve_ivp"), STEPS),
    "histogram": "equal bins: NumPy computes them, the adjoint searches for them",
    "ediff1d": "reads one array; its adjoint makes zeros and writes twice",
    "insert": PLACES,
    "kron": "each adjoint takes as long as the function",
    "multiply.at": PYTHON,
    "lfilter": "the filter once more for each operand, and its coefficients",
    "matvec": "reads a matrix; the adjoint writes one and reads one",
    "array": "a copy and a product, and each again in the adjoint",
    "cdist": "a loop of SciPy's in C; each adjoint passes over all differences",
    "convolution_matrix": "a view of a vector, copied; its adjoint adds up diagonals",
    "cosine": "one pass over two vectors; each adjoint takes two",
    "cross": "copies of three columns, from and into matrices",
    "medfilt": "windows are put in order in SciPy's C, and found again by their place",
    "poly": "the polynomials without each of the roots",
    "pdist": "a loop of SciPy's in C; the adjoint passes over all differences",
    "solve_toeplitz": "n**2 operations in SciPy; the adjoint takes a dense matrix",
    "vecmat": "reads a matrix; the adjoint writes one and reads one",
}
BY_ITSELF = "SciPy takes one sample after the other; the signs of the vectors are LAPACK's"
ITSELF = "the function takes no less for all samples at once"
LAPACK = "one call of LAPACK for each matrix: the loop spends most of its time there, too"
PADE = "some sixty calls of NumPy for all matrices, of 3 x 3 numbers each"
SHORT = "a call of the function takes 2 µs, of which most is the work on these few numbers"
OWN = "each sample has coefficients of its own: one after the other"
PASSES = "which items are taken differs from sample to sample: one after the other"
PYTHON_NUMBERS = "Python's function has no form for arrays: one number after the other"
SOLVER = "the solver is called for one sample after the other"
#: why a batch is not as much faster than a loop as it should be, where the function itself is
BATCHED = {
    **dict.fromkeys(("lstsq", "matrix_rank", "polar", "svd", "svdvals"), LAPACK),
    **dict.fromkeys(("pinv", "eig", "eigvals", "solve", "inv", "roots"), LAPACK),
    **dict.fromkeys(("convolve", "correlate", "interp", "ptp"), SHORT),
    **dict.fromkeys(("convolve2d", "correlate2d"), SHORT),
    "polymul": "leading zeros are dropped: the samples differ in shape",
    "lfilter": OWN,
    "math": PYTHON_NUMBERS,
    **dict.fromkeys(("all", "any", "filter", "iter", "map", "next"), PASSES),
    "scipy.integrate": SOLVER,
    "scipy.sparse": SOLVER,
    **dict.fromkeys(("eigh_tridiagonal", "scipy.linalg.eigh", "schur"), BY_ITSELF),
    **dict.fromkeys(("cosm", "expm", "sinm"), PADE),
    "scipy.optimize": SOLVER,
}
#: what text calls a function that a program calls otherwise
SHORTER = {"np.max": "np.maximum.reduce", "np.min": "np.minimum.reduce"}
VIEWS = ("broadcast_to", "expand_dims", "reshape", "swapaxes", "transpose")
#: matrices that are made of vectors: of some hundred numbers
OF_VECTORS = ("toeplitz", "circulant", "companion", "hankel", "leslie", "fiedler")


@dataclass(frozen=True)
class Cost:
    """Seconds for one call, and for one of what is derived from it; `why` there is none.

    `beside`: of a gradient that which gives the value, too; of a batch the function itself, called
    with all samples, where it gives the same. `as_copy`: it takes less time than a copy of its
    arguments, and is compared with that.
    """

    row: probes.Row
    plain: float = math.nan
    derived: float = math.nan
    beside: float = math.nan
    as_copy: bool = False
    why: str = ""

    @property
    def ratio(self) -> float:
        return self.derived / self.plain

    @property
    def is_bound(self) -> bool:
        """Whether a batch is as fast as the function itself, called once with all samples."""
        return self.beside / NEAR <= self.plain <= NEAR * self.beside


# ---- programs ------------------------------------------------------------------------------------


def sizes(row: probes.Row, part: int) -> dict[str, int]:
    """The lengths of the inputs: a million numbers in all, or matrices of some hundred rows."""
    names = set(row.names)
    matrices = names & {"A", "B", "T"} or row.name in OF_VECTORS
    side = 400 if matrices else 1000
    vectors = names <= {"v", "w", "s", "t", "b", "u"} and row.name not in OF_VECTORS
    side, many = round(side / part**0.5), (1_000_000 if vectors else side) // part
    return {"side": side, "many": many, "few": 3 if vectors else side}


def inputs(row: probes.Row, size: dict[str, int]) -> dict[str, Any]:
    """What `probes.inputs` draws, at these sizes; the matrices are as far from singular."""
    rng = np.random.default_rng(11)
    side, many = size["side"], size["many"]
    shapes = {name: (side, side) for name in "xyzAB"} | {"T": (2, side, side)}
    shapes |= dict.fromkeys("vwu", (many,)) | {"b": (size["few"],)}
    found: dict[str, Any] = {}
    for name in row.names:
        if name in "st":
            found[name] = probes.INPUTS[name]
            continue
        found[name] = rng.uniform(-0.9 if name == "z" else 0.2, 0.9, shapes[name])
        if name in "AB":
            found[name] = found[name] / side + np.eye(side)
    return found


def large_program(row: probes.Row, part: int = 1) -> tuple[ModuleType, list]:
    """A row's program as `f` and, with a weighted sum of its result, as `loss`; large arguments,
    or arguments that large in parts."""
    text = LARGE.get(str(row), row.probe)
    for old, new in SCALED.items():
        text = text if str(row) in LARGE else text.replace(old, new)
    size = sizes(row, part)
    arguments = inputs(row, size)
    lines = ast.parse("\n".join(each.strip() for each in text.split(";;"))).body
    made = module_of(lines, arguments)
    rng = np.random.default_rng(7)
    mask = rng.uniform(size=(size["side"],) * 2) < 0.5
    numbers = rng.integers(0, 3, size["many"] if "u" in arguments else size["side"])
    vars(made).update(size | {"M": mask, "I": numbers, "n": size["side"]})
    return made, list(arguments.values())


def module_of(statements: list[ast.stmt], names: Iterable[str]) -> ModuleType:
    """The statements as functions of these arguments."""
    *before, last = (ast.unparse(each) for each in statements)
    text = probes.function("f", list(names), [*before, f"return {last}"])
    for name, total in (("loss", "result * W"), ("complex_loss", "np.real(result * W)")):
        end = [f"result = {last}", f"return np.sum({total}), result"]
        text += probes.function(name, list(names), [*before, *end])
        end[-1] = f"return np.sum({total})"
        text += probes.function(name.replace("loss", "total"), list(names), [*before, *end])
    return probes.load(text)


# ---- times ---------------------------------------------------------------------------------------


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The least processor time of each call, in turn: what else the machine does counts little."""
    counts = [max(1, round(1e-3 / max(each, 1e-7))) for each in (_once(call) for call in calls)]
    times = [math.inf] * len(calls)
    gc.collect()
    gc.disable()
    try:
        begin = process_time()
        for done in range(rounds):
            for place, (call, count) in enumerate(zip(calls, counts, strict=True)):
                start = process_time()
                for _ in range(count):
                    call()
                times[place] = min(times[place], (process_time() - start) / count)
            if process_time() - begin > (ENOUGH if done >= 4 else LONG):
                break
    finally:
        gc.enable()
    return times


def _once(call: Callable[[], Any]) -> float:
    """The time of a call, past those that compile and settle, unless it takes seconds."""
    start = process_time()
    call()
    if process_time() - start > 2:
        return process_time() - start
    call()
    start = process_time()
    call()
    return process_time() - start


def gradient_cost(row: probes.Row, rounds: int) -> Cost:
    """The function, its adjoints for a given adjoint of the value, and both."""
    for part in (1, 10, 100):
        made, arguments = large_program(row, part)
        start = process_time()
        y = np.asarray(made.f(*arguments))
        if process_time() - start < SLOW:
            break
    made.W = np.random.default_rng(5).uniform(0.5, 1.5, y.shape).astype(y.dtype)[()]
    loss = made.complex_loss if np.iscomplexobj(y) else made.loss
    inexact = [i for i, each in enumerate(arguments) if np.asarray(each).dtype.kind in "fc"]
    both = grad(loss, tuple(inexact), has_aux=True)
    gradient = grad(made.complex_total if np.iscomplexobj(y) else made.total, tuple(inexact))

    def copies() -> list:
        return [np.array(each) for each in arguments]

    calls = [made.f, gradient, both, lambda *_: copies()]
    found = least([functools.partial(each, *arguments) for each in calls], rounds)
    plain, derived, with_value, copied = found
    return Cost(row, max(plain, copied), derived, with_value, as_copy=copied > plain)


def batch_cost(row: probes.Row, rounds: int) -> Cost:
    """A loop over the samples, and the batch of all.

    A sample of an elementwise function is one number: what a batch saves there is calls. Where the
    batch is the same calls with all samples it is the function itself.
    """
    arguments = [probes.INPUTS[name] for name in row.names]
    f = module_of(row.statements, row.names).f
    if row.kind.startswith(("elementwise", "special")) and set(row.names) <= set("xyzst"):
        with contextlib.suppress(Exception):  # a function that needs an axis
            numbers = [each if isinstance(each, float) else each[0, 0] for each in arguments]
            if np.ndim(f(*numbers)) == 0 and np.ndim(vmap(f)(*([each] for each in numbers))) == 1:
                arguments = numbers
    rng = np.random.default_rng(3)
    scales = rng.uniform(0.9, 1.0, SAMPLES)
    samples = [[np.asarray(each * scale)[()] for each in arguments] for scale in scales]
    stacked = [np.stack(column) for column in zip(*samples, strict=True)]
    batched = vmap(f)

    def loop() -> Any:
        return np.stack([f(*each) for each in samples])

    batch, each_by_itself = least([lambda: batched(*stacked), loop], rounds)
    if _calls(batched.source(*stacked)) <= _calls("\n".join(map(ast.unparse, row.statements))):
        return Cost(row, batch, each_by_itself, batch)
    with contextlib.suppress(Exception):  # it takes no stacks
        if np.allclose(f(*stacked), batched(*stacked), equal_nan=True):
            batch, itself = least([lambda: batched(*stacked), lambda: f(*stacked)], rounds)
            return Cost(row, batch, each_by_itself, itself)
    return Cost(row, batch, each_by_itself)


def _calls(text: str) -> Counter[str]:
    """How often a text calls functions, but for views, and how many loops it has."""
    for short, plain in SHORTER.items():
        text = text.replace(plain, short)
    nodes = list(ast.walk(ast.parse(text)))
    found = Counter(ast.unparse(e.func).split(".")[-1] for e in nodes if isinstance(e, ast.Call))
    for each in VIEWS:
        del found[each]
    found["loop"] = sum(isinstance(e, ast.For | ast.While | ast.comprehension) for e in nodes)
    return found


# ---- tables --------------------------------------------------------------------------------------


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raise TimeoutError where a program takes too long (not where there are no alarms)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def too_long(*_: Any) -> None:
        raise TimeoutError(f"took longer than {LIMIT} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measured(
    rows: Iterable[probes.Row], measure: Callable[[probes.Row, int], Cost], rounds: int
) -> Iterator[Cost]:
    """The costs of the programs, one by one; what cannot be measured says why."""
    for row in rows:
        try:
            with time_limit():
                found = measure(row, rounds)
        except Exception as error:  # of NumPy, or a refusal of ours
            found = Cost(row, why=f"{type(error).__name__}: {error}".partition("\n")[0])
        print(f"{row}: {found.why or format(found.ratio, '.2f')}", file=sys.stderr, flush=True)
        yield found


def differentiable() -> list[probes.Row]:
    """The rows with a derivative of arrays: what has none costs nothing."""
    recorded = probes.recorded()
    return [
        row
        for row in probes.rows()
        if set(row.names) - {"s", "t"}
        and not (row.kind.startswith("nondiff") or row.random or row.module in ("math", "cmath"))
        and recorded[row.module, row.name]["reverse"] == "yes"
    ]


def batchable() -> list[probes.Row]:
    """The rows with a batched form that gives the same numbers each time."""
    recorded = probes.recorded()
    return [
        row
        for row in probes.rows()
        if row.names and not row.random and recorded[row.module, row.name]["batch"] == "yes"
    ]


def reason(cost: Cost, of_gradients: bool) -> str:
    """Why the target is missed, where it is known."""
    table = NOTES if of_gradients else BATCHED
    part = ".".join(cost.row.module.split(".")[:2])
    known = table.get(str(cost.row), table.get(cost.row.name, ""))
    return known or (ITSELF if not of_gradients and cost.is_bound else table.get(part, ""))


def report(title: str, costs: list[Cost], names: tuple[str, str], is_bad: Callable) -> None:
    """The worst ten, all that miss the target, and what was not measured."""
    found = [each for each in costs if not each.why]
    worst = sorted(found, key=lambda each: each.ratio, reverse=names[0] == "function")
    bad = [each for each in worst if is_bad(each.ratio)]
    print(f"\n## {title}: {len(found)} functions, {len(bad)} beyond the target\n")
    of_gradients = names[0] == "function"
    if not of_gradients:
        bound = sum(each.is_bound for each in bad)
        print(f"{bound} of these take as long as the function itself, called once with all samples")
        print(f"(at most {NEAR} times); {len(bad) - bound} miss it otherwise.\n")
    head = [*names, "with the value" if of_gradients else "the function itself", "ratio", "why"]
    print(f"| function | {' | '.join(head)} |\n{'| --- ' * (len(head) + 1)}|")
    for each in worst[: max(10, len(bad))]:
        cells = [f"{shown(each.plain)}{' (a copy)' * each.as_copy}", shown(each.derived)]
        cells.append("" if math.isnan(each.beside) else shown(each.beside))
        if of_gradients:
            cells[-1] += f" ({each.beside / each.plain:.1f})"
        cells += [f"{each.ratio:.1f}", reason(each, of_gradients) if is_bad(each.ratio) else ""]
        print(f"| {' | '.join([str(each.row), *cells])} |")
    for each in costs:
        if each.why:
            print(f"\n{each.row}: not measured: {each.why}")


HEAD = """\
# What gradients and batches cost

<!-- Written by benchmarks/rule_costs.py --write. -->

Measured {date} with Python {python}, NumPy {numpy} and SciPy {scipy} on 2 cores, x86-64: processor
time, the least of some calls. A gradient may cost four times its function at a million numbers, a
batch of a thousand samples has to be twenty times as fast as a loop; all functions that miss that
are listed, with the reason where it is known, and the worst ten in any case.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=25, help="at most so many calls of each (25)")
    parser.add_argument("--part", choices=("gradient", "batch"), help="one of the two tables")
    parser.add_argument("--only", nargs="*", default=[""], help="functions with this in their name")
    parser.add_argument("--write", action="store_true", help="into docs/rule_costs.md")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def costs(rows: list[probes.Row], measure: Callable) -> list[Cost]:
        chosen = [row for row in rows if any(each in str(row) for each in given.only)]
        return list(measured(chosen, measure, given.rounds))

    found: dict[str, list[Cost]] = {}
    if given.part != "batch":
        found["gradient"] = costs(differentiable(), gradient_cost)
    if given.part != "gradient":
        found["batch"] = costs(batchable(), batch_cost)
    if not given.write:
        tables(**found)
        return
    with PAGE.open("w", encoding="utf-8") as page, contextlib.redirect_stdout(page):
        print(head(), end="")
        tables(**found)


def tables(gradient: list[Cost] = (), batch: list[Cost] = ()) -> None:
    if gradient:
        report("Gradients", gradient, ("function", "gradient"), lambda ratio: ratio > MOST)
    if batch:
        report(f"Batches of {SAMPLES}", batch, ("batch", "loop"), lambda ratio: ratio < LEAST)


def head() -> str:
    """What stands above the tables."""
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy")}
    today = datetime.date.today().isoformat()
    return HEAD.format(date=today, python=platform.python_version(), **versions)


if __name__ == "__main__":
    # Memory that is given back stays with the process: a call that asks the system for pages takes
    # as long for these as for its work.
    kept = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**34)}
    kept["OPENBLAS_NUM_THREADS"] = "1"  # a thread that waits for another one takes time, too
    if os.environ.keys() >= kept.keys() or not hasattr(os, "execve"):
        main()
    else:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | kept)
