"""scipy.optimize: roots, fixed points, minima and least squares, as conditions that are solved."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import scipy.optimize

from s2s_ad.api.callers import (
    SOLUTION,
    Later,
    Result,
    Users,
    arguments_of,
    as_number,
    as_vector,
    check_number,
    operand,
    operands_of,
    options_of,
    real_operand,
    refused,
    users_function,
)
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.callee import Callee
from s2s_ad.core.callers import Library, in_order
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.heap import settled
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.transforms.callers import targets
from s2s_ad.transforms.calls import derived_callee, without_effects
from s2s_ad.transforms.gradients import gradient
from s2s_ad.transforms.implicit import AT_MINIMUM, AT_ROOT, Implicit, Near

FLOAT = values.Array(np.dtype(float), ())


def _solved(lowering: Any, caller: Implicit, operands: list) -> list:
    """The results of a call; those of one object are attributes of it."""
    builder = lowering.builder
    result = builder.emit(caller, operands, {})
    if caller.count is None:
        return [lowering.memory.returned(result)]
    builder.named(result, SOLUTION)
    return [lowering.memory.returned(each) for each in caller.items(builder, result)]


def _unknowns(lowering: Any, library: Callable, x0: Any, *, flat: bool) -> tuple[Any, Any]:
    """What the solver starts from, and the abstract value of the unknowns.

    `flat` says that the library makes a vector of a number.
    """
    start = real_operand(lowering, library, x0)
    shape = values.shape_of(lowering.builder.fact(start))
    if shape is None or len(shape) > 1:
        rank = "unknown rank" if shape is None else f"rank {len(shape)}"
        raise refused(library, f"of an array of {rank}", "start from a vector: np.ravel(x0)")
    shape = (1,) if flat and not shape else shape
    return start, values.Array(np.dtype(float), shape)


def _like_start(operands: list) -> values.Array:
    """The abstract value of a vector that is as long as the first operand."""
    return values.Array(np.dtype(float), values.shape_of(operands[0]) or (1,))


# ---- conditions ----------------------------------------------------------------------------------


def _changed(program: Program, name: str, change: Callable[[Builder, list, Any], Any]) -> Program:
    """A function of the same arguments: what becomes of them and of what the program computes."""
    program, builder = without_effects(program), Builder()
    leaves = [builder.import_name(program, leaf) for leaf in program.leaves()]
    with builder.at(program.origin, "backward"):
        output = builder.splice(program, dict(zip(program.leaves(), leaves, strict=True)))
        output = change(builder, leaves, output)
    made = builder.as_body_of(program)
    return derived_callee(made, [output], name=name, doc=name).program


def _near(options: dict[str, Any], usual: Near = AT_ROOT) -> Near:
    """How near a solution has to be (see Implicit), where less may be asked of the library."""
    asked = [options.get(key) or 0.0 for key in ("rtol", "xtol", "tol")]
    part, least = usual
    return max(part, 10 * asked[0]), max(least, 10 * max(asked[1:]))


def _slope(program: Program) -> Program:
    """The gradient with respect to the unknowns, which is zero at an optimum."""
    made = gradient(without_effects(program), targets(program, [0])[0])
    return made.with_(name=f"{program.name}_grad")


def _check_vector(library: Callable, program: Program, like: values.Array) -> None:
    """There are as many equations as unknowns."""
    shape = values.shape_of(program.fact(program.outputs()[0]))
    if shape is None or len(shape) != len(like.shape):
        known = shape is not None
        rank = f"rank {len(shape)}" if known else "unknown rank"
        help = "return one number for each unknown" if known else "give example arguments"
        raise refused(library, f"with a function that returns an array of {rank}", help)


# ---- equations of one unknown --------------------------------------------------------------------

BRACKET = "f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100, "
BRACKET += "full_output=False, disp=True"


def _bracketed(library: Callable, text: str) -> Callable:
    """The handler of a function that narrows a bracket: it raises where it does not converge."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        found = arguments_of(lowering, library, text, args, kwargs)
        function, more = found.pop("f"), found.pop("args")
        full = _tells_more(library, found)
        ends = [real_operand(lowering, library, found.pop(each)) for each in "ab"]
        users = users_function(lowering, library, function, [values.Scalar(float)], more)
        check_number(library, users.program)
        options = options_of(library, found, text)
        called = Library(library, options, lambda _: [values.Scalar(float)])
        caller = Implicit(called, users.program, 2, users.program, _near(options))
        root = _solved(lowering, caller, [*ends, *users.fixed])[0]
        return _with_results(library, root, full)

    return handler


def _tells_more(library: Callable, found: dict[str, Any]) -> bool:
    """Whether the call returns an object with the root, too; that it raises is part of the code."""
    full, raises = (unwrap(found.pop(each)) for each in ("full_output", "disp"))
    if raises is not True:
        raise refused(library, "with disp=False", "use root_scalar, and read .converged")
    return bool(full)


def _with_results(library: Callable, root: Any, full: bool) -> Any:
    return sequence(tuple, [root, Result(library, _converged(root))]) if full else root


def _converged(root: Any) -> dict[str, Any]:
    return {"root": root, "converged": True}


NEWTON = "func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, rtol=0.0, "
NEWTON += "full_output=False, disp=True"
#: what root_scalar calls the options of newton
OF_NEWTON = {"tol": "xtol", "maxiter": "maxiter", "rtol": "rtol"}


def _newton(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.newton
    found = arguments_of(lowering, library, NEWTON, args, kwargs)
    function, more, full = found.pop("func"), found.pop("args"), _tells_more(library, found)
    if isinstance(more, Tree) and more.kind is list:  # newton alone takes a list, too
        more = sequence(tuple, [*more.items])
    start = real_operand(lowering, library, found.pop("x0"))
    if values.shape_of(lowering.builder.fact(start)) != ():
        raise refused(library, "of an array", "use root, which solves for all unknowns at once")
    slopes = [found.pop(each) for each in ("fprime", "fprime2")]
    options = options_of(library, found, NEWTON)
    if unwrap(slopes[0]) is not None:
        known = {OF_NEWTON[key]: each for key, each in options.items()}
        own = {"xtol": 1.48e-08} | known
        root, converged = _by_slopes(lowering, function, start, slopes, more, own)
        failed = lowering.call(operator.not_, converged)
        lowering.raise_where(failed, RuntimeError("Failed to converge"))
        return _with_results(library, root, full)
    users = users_function(lowering, library, function, [FLOAT], more)
    check_number(library, users.program)
    called = Library(library, options, lambda _: [FLOAT])
    caller = Implicit(called, users.program, 1, users.program, _near(options))
    return _with_results(library, _solved(lowering, caller, [start, *users.fixed])[0], full)


def _by_slopes(
    lowering: Any, function: Any, start: Any, slopes: list, more: Any, options: dict[str, Any]
) -> list:
    """The root that Newton's or Halley's method finds, and whether it does: the function that is
    called returns its value and its derivatives."""
    library = scipy.optimize.root_scalar
    own = [each for each in slopes if unwrap(each) is not None]
    if unwrap(own[0]) is True:
        raise refused(library, "with a function that returns its slope", "pass it as fprime=")
    users = users_function(lowering, library, function, [FLOAT], more, slopes=own)
    check_number(library, users.program)
    condition = _changed(
        users.program, f"{users.program.name}_residual", lambda builder, _, found: found.items[0]
    )
    named = dict(zip(("fprime", "fprime2"), (True for _ in own), strict=False))
    options = {"method": ("newton", "halley")[len(own) - 1], **named, **options}
    facts = [FLOAT, values.Scalar(bool)]

    def spelled(nodes: list[gast.AST]) -> tuple[list, dict]:
        return [], {"x0": nodes[0]}

    called = Library(library, options, lambda _: facts, ("root", "converged"), spelled)
    caller = Implicit(called, users.program, 1, condition, _near(options), 2)
    return _solved(lowering, caller, [start, *users.fixed])


SCALAR = "f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, "
SCALAR += "xtol=None, rtol=None, maxiter=None"


def _root_scalar(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.root_scalar
    found = arguments_of(lowering, library, SCALAR, args, kwargs)
    function, more = found.pop("f"), found.pop("args")
    slopes = [found.pop(each) for each in ("fprime", "fprime2")]
    if unwrap(slopes[0]) is not None and unwrap(found["method"]) in (None, "newton", "halley"):
        start = real_operand(lowering, library, found.pop("x0"))
        del found["method"]
        options = options_of(library, found, SCALAR)
        root, converged = _by_slopes(lowering, function, start, slopes, more, options)
        return Result(library, {"root": root, "converged": converged})
    bracket = operands_of(lowering, library, found.pop("bracket"))
    starts = {key: found.pop(key) for key in ("x0", "x1")}
    starts = {key: each for key, each in starts.items() if unwrap(each) is not None}
    given = [*bracket, *(real_operand(lowering, library, each) for each in starts.values())]
    number = values.Scalar(float) if bracket else FLOAT
    users = users_function(lowering, library, function, [number], more)
    check_number(library, users.program)

    def spelled(nodes: list[gast.AST]) -> tuple[list, dict]:
        named = {"bracket": gast.Tuple(nodes[: len(bracket)], gast.Load())} if bracket else {}
        return [], named | dict(zip(starts, nodes[len(bracket) :], strict=True))

    options = options_of(library, found, SCALAR)
    facts = [number, values.Scalar(bool)]
    called = Library(library, options, lambda _: facts, ("root", "converged"), spelled)
    caller = Implicit(called, users.program, len(given), users.program, _near(options), 2)
    root, converged = _solved(lowering, caller, [*given, *users.fixed])
    return Result(library, {"root": root, "converged": converged})


# ---- systems of equations ------------------------------------------------------------------------

ROOT = "fun, x0, args=(), method='hybr', tol=None, options=None"
ROOT_FIELDS = ("x", "success")


def _root(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.root
    found = arguments_of(lowering, library, ROOT, args, kwargs)
    x, success, users = _system(lowering, library, found, options_of_rest(library, found, ROOT))
    return Result(library, {"x": x, "success": success} | _value(lowering, users, x))


def options_of_rest(library: Callable, found: dict[str, Any], text: str) -> dict[str, Any]:
    names = ("fun", "func", "x0", "args")
    return options_of(library, {k: v for k, v in found.items() if k not in names}, text)


FSOLVE = "func, x0, args=(), xtol=1.49012e-08, maxfev=0, factor=100"


def _fsolve(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """fsolve is root of one method; it says by a warning that it found nothing."""
    library = scipy.optimize.fsolve
    if len(args) > 3:
        raise refused(library, "with fprime in its place", "leave it out")
    found = arguments_of(lowering, library, FSOLVE, args, kwargs)
    own = options_of_rest(library, found, FSOLVE)
    alone = Library(library, own, lambda operands: [_like_start(operands)])
    options = {"options": own} if own else {}
    return _system(lowering, scipy.optimize.root, found, options, alone)[0]


def _system(
    lowering: Any,
    library: Callable,
    found: dict[str, Any],
    options: dict[str, Any],
    alone: Library | None = None,
) -> tuple[Any, Any, Users]:
    """The unknowns of a system, and whether they were found."""
    start, fact = _unknowns(lowering, library, found["x0"], flat=True)
    function = found.get("fun", found.get("func"))
    users = users_function(lowering, library, function, [fact], found["args"], as_vector)
    _check_vector(library, users.program, fact)
    called = Library(
        library,
        options,
        lambda operands: [_like_start(operands), values.Scalar(bool)],
        ROOT_FIELDS,
        in_order,
        alone,
    )
    caller = Implicit(called, users.program, 1, users.program, _near(options), 2)
    x, success = _solved(lowering, caller, [start, *users.fixed])
    return x, success, users


def _value(lowering: Any, users: Users, x: Any) -> dict[str, Any]:
    """What the user's function is at the solution: `fun` of a result."""
    call, operands = Callee(without_effects(users.program)), [settled(x), *users.fixed]
    return {"fun": Later(lambda: lowering.memory.returned(*call.call(lowering.builder, operands)))}


FIXED_POINT = "func, x0, args=(), xtol=1e-08, maxiter=500, method='del2'"


def _fixed_point(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.fixed_point
    found = arguments_of(lowering, library, FIXED_POINT, args, kwargs)
    start, fact = _unknowns(lowering, library, found["x0"], flat=False)
    users = users_function(lowering, library, found["func"], [fact], found["args"], as_operand)
    _check_vector(library, users.program, fact)
    condition = _changed(
        users.program, f"{users.program.name}_residual", lambda _, own, y: y - own[0]
    )
    options = options_of_rest(library, found, FIXED_POINT)
    called = Library(library, options, lambda operands: [_of_float(operands[0])])
    caller = Implicit(called, users.program, 1, condition, _near(options))
    return _solved(lowering, caller, [start, *users.fixed])[0]


def as_operand(lowering: Any, value: Any) -> Any:
    return operand(lowering, value)


def _of_float(fact: Any) -> values.Array:
    return values.Array(np.dtype(float), values.shape_of(fact))


# ---- minima --------------------------------------------------------------------------------------

MINIMIZE = "fun, x0, args=(), method=None, bounds=None, tol=None, options=None"
#: the methods that keep to bounds; others ignore them, with a warning
WITH_BOUNDS = (None, "Nelder-Mead", "L-BFGS-B", "TNC", "SLSQP", "Powell", "trust-constr", "COBYQA")


def _within(condition: Program, bounds: list) -> Program:
    """The condition of a minimum within bounds: x is where a step down, cut at the bounds, leads.

    Where a bound holds x back, x does not move with what it depends on.
    """
    infinite = (-np.inf, np.inf)
    low, high = (
        [e if v is None else v for v in each] for e, each in zip(infinite, bounds, strict=True)
    )

    def stays(builder: Builder, own: list, slope: Any) -> Any:
        limits = [
            builder.call(np.array, (each,), {}) if len(each) > 1 else each[0]
            for each in (low, high)
        ]
        return own[0] - np.clip(own[0] - slope, *limits)

    return _changed(condition, f"{condition.name}_within", stays)


def _minimize(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.minimize
    if len(args) > 4:
        raise refused(library, "with jac in its place", "leave it out, or name the arguments")
    found = arguments_of(lowering, library, MINIMIZE, args, kwargs)
    start, fact = _unknowns(lowering, library, found["x0"], flat=True)
    users = users_function(lowering, library, found["fun"], [fact], found["args"], as_number)
    check_number(library, users.program)
    options = options_of_rest(library, found, MINIMIZE)
    called = Library(
        library,
        options,
        lambda operands: [_like_start(operands), values.Scalar(bool)],
        ROOT_FIELDS,
    )
    condition = _slope(users.program)
    if "bounds" in options:
        if options.get("method") not in WITH_BOUNDS:
            raise refused(library, f"by {options['method']} with bounds=", "use L-BFGS-B")
        condition = _within(condition, list(zip(*map(tuple, options["bounds"]), strict=True)))
    caller = Implicit(called, users.program, 1, condition, _near(options, AT_MINIMUM), 2)
    x, success = _solved(lowering, caller, [start, *users.fixed])
    return Result(library, {"x": x, "success": success} | _value(lowering, users, x))


MINIMIZE_SCALAR = "fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None"


def _minimize_scalar(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.minimize_scalar
    if len(args) > 2:
        raise refused(library, "with bounds in their place", "name the arguments")
    found = arguments_of(lowering, library, MINIMIZE_SCALAR, args, kwargs)
    users = users_function(lowering, library, found.pop("fun"), [FLOAT], found.pop("args"))
    check_number(library, users.program)
    options = options_of(library, found, MINIMIZE_SCALAR)
    facts = [FLOAT, values.Scalar(bool)]
    called = Library(library, options, lambda _: facts, ROOT_FIELDS)
    condition = _slope(users.program)
    if "bounds" in options:
        condition = _within(condition, [(each,) for each in options["bounds"]])
    caller = Implicit(called, users.program, 0, condition, _near(options, AT_MINIMUM), 2)
    x, success = _solved(lowering, caller, users.fixed)
    return Result(library, {"x": x, "success": success} | _value(lowering, users, x))


LEAST_SQUARES = "fun, x0, method='trf', ftol=1e-08, xtol=1e-08, gtol=1e-08, x_scale=1.0, "
LEAST_SQUARES += "max_nfev=None, args=()"


def _least_squares(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.optimize.least_squares
    if len(args) > 2:
        raise refused(library, "with jac in its place", "leave it out, or name the arguments")
    found = arguments_of(lowering, library, LEAST_SQUARES, args, kwargs)
    start, fact = _unknowns(lowering, library, found["x0"], flat=True)
    users = users_function(lowering, library, found["fun"], [fact], found["args"], as_vector)
    half = _changed(
        users.program,
        f"{users.program.name}_cost",
        lambda builder, own, r: 0.5 * np.sum(r**2),
    )
    options = options_of_rest(library, found, LEAST_SQUARES)
    called = Library(
        library,
        options,
        lambda operands: [_like_start(operands), values.Scalar(bool)],
        ROOT_FIELDS,
    )
    caller = Implicit(called, users.program, 1, _slope(half), _near(options, AT_MINIMUM), 2)
    x, success = _solved(lowering, caller, [start, *users.fixed])
    return Result(library, {"x": x, "success": success} | _value(lowering, users, x))


for _function, _text in (
    (scipy.optimize.bisect, BRACKET),
    (scipy.optimize.brenth, BRACKET),
    (scipy.optimize.brentq, BRACKET),
    (scipy.optimize.ridder, BRACKET),
):
    HANDLERS[_function] = _bracketed(_function, _text)
HANDLERS.update(
    {
        scipy.optimize.fixed_point: _fixed_point,
        scipy.optimize.fsolve: _fsolve,
        scipy.optimize.least_squares: _least_squares,
        scipy.optimize.minimize: _minimize,
        scipy.optimize.minimize_scalar: _minimize_scalar,
        scipy.optimize.newton: _newton,
        scipy.optimize.root: _root,
        scipy.optimize.root_scalar: _root_scalar,
    }
)
