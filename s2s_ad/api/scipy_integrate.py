"""scipy.integrate: integrals of functions of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from s2s_ad.api.callers import (
    REAL,
    SOLUTION,
    Result,
    arguments_of,
    as_vector,
    check_number,
    operand,
    operands_of,
    options_of,
    real_operand,
    refused,
    users_function,
)
from s2s_ad.api.written import write
from s2s_ad.core import values
from s2s_ad.core.callers import Library
from s2s_ad.core.program import Hint
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.transforms.flows import Odeint, SolveIvp, in_span
from s2s_ad.transforms.integrals import Integral
from s2s_ad.written import scipy_integrate

QUAD = "func, a, b, args=(), epsabs=1.49e-08, epsrel=1.49e-08, limit=50, points=None"
QUAD_VEC = "f, a, b, epsabs=1e-200, epsrel=1e-08, norm='2', limit=10000, quadrature=None, "
QUAD_VEC += "points=None, args=()"


def _quad(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.integrate.quad
    if len(args) > 4:
        raise refused(library, "with full_output in its place", "name the arguments")
    found = arguments_of(lowering, library, QUAD, args, kwargs)
    limits, users = _limits_and_function(lowering, library, found, "func")
    check_number(library, users.program)
    options = options_of(library, found, QUAD)
    tolerances = {key: found[key] for key in ("epsabs", "epsrel")}
    numbers = Library(library, options, lambda _: [values.Scalar(float)])
    points = {"points": options["points"]} if "points" in options else {}
    known = options_of(library, tolerances, QUAD) | {"epsabs": 1.49e-8, "epsrel": 1.49e-8}
    known |= {key: options[key] for key in tolerances if key in options}
    arrays = Library(scipy.integrate.quad_vec, known | points, _of_float)
    return _integrated(lowering, Integral(numbers, arrays, users.program), [*limits, *users.fixed])


def _quad_vec(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.integrate.quad_vec
    found = arguments_of(lowering, library, QUAD_VEC, args, kwargs)
    limits, users = _limits_and_function(lowering, library, found, "f")
    if values.shape_of(users.program.fact(users.program.outputs()[0])) is None:
        raise refused(
            library, "with a function of values of unknown rank", "give example arguments"
        )
    called = Library(library, options_of(library, found, QUAD_VEC), _of_float)
    caller = Integral(called, called, users.program)
    return _integrated(lowering, caller, [*limits, *users.fixed])


def _of_float(_: list) -> list:
    return [values.Array(np.dtype(float), ())]


def _limits_and_function(lowering: Any, library: Any, found: dict[str, Any], name: str) -> tuple:
    limits = [real_operand(lowering, library, found.pop(each)) for each in "ab"]
    number = values.Scalar(float)
    users = users_function(lowering, library, found.pop(name), [number], found.pop("args"), operand)
    return limits, users


def _integrated(lowering: Any, caller: Integral, operands: list) -> Any:
    builder = lowering.builder
    value, error = caller.items(builder, builder.emit(caller, operands, {}))
    builder.named(value, Hint("integral", "derived"))
    builder.named(error, Hint("error", "derived"))
    return sequence(tuple, [lowering.memory.returned(each) for each in (value, error)])


# ---- differential equations ----------------------------------------------------------------------

ODEINT = "func, y0, t, args=(), rtol=None, atol=None, hmax=0.0, mxstep=0, tfirst=False"


def _odeint(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.integrate.odeint
    if len(args) > 4:
        raise refused(library, "with Dfun in its place", "leave it out, or name the arguments")
    found = arguments_of(lowering, library, ODEINT, args, kwargs)
    y0 = as_vector(lowering, found.pop("y0"))
    t = real_operand(lowering, library, found.pop("t"))
    state = _state(lowering, library, y0)
    if values.rank_of(lowering.builder.fact(t)) != 1:
        raise refused(library, "of times that are not known to be a vector", "give an array")
    function, more = found.pop("func"), found.pop("args")
    options = options_of(library, found, ODEINT)
    time = 0 if options.get("tfirst") else 1
    facts = [state, state]
    facts[time] = values.Scalar(float)
    users = users_function(lowering, library, function, facts, more, as_vector)
    _check_state(library, users.program)

    def result(operands: list) -> list:
        shape = (operands[1].shape[0], operands[0].shape[0])
        return [values.Array(np.dtype(float), shape)]

    caller = Odeint(Library(library, options, result), users.program, time)
    made = lowering.builder.emit(caller, [y0, t, *users.fixed], {})
    return lowering.memory.returned(made)


SOLVE_IVP = "fun, t_span, y0, method='RK45', t_eval=None, dense_output=False, events=None, "
SOLVE_IVP += "vectorized=False, args=None, rtol=1e-3, atol=1e-6, max_step=np.inf, first_step=None"
IVP_FIELDS = ("y", "t", "success")


def _solve_ivp(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library, builder = scipy.integrate.solve_ivp, lowering.builder
    found = arguments_of(lowering, library, SOLVE_IVP, args, kwargs)
    for name in ("dense_output", "events", "vectorized"):
        if unwrap(found.pop(name)):
            raise refused(library, f"with {name}=", "read .y, at the times of t_eval=")
    span = operands_of(lowering, library, found.pop("t_span"))
    y0 = real_operand(lowering, library, found.pop("y0"))
    state = _state(lowering, library, y0)
    times = unwrap(found.pop("t_eval"))
    given = [*span, y0, *([] if times is None else [real_operand(lowering, library, times)])]
    function, more = found.pop("fun"), found.pop("args")
    options = options_of(library, found, SOLVE_IVP)
    facts = [values.Scalar(float), state]
    more = () if unwrap(more) is None else more
    users = users_function(lowering, library, function, facts, more, as_vector)
    _check_state(library, users.program)
    called = Library(library, options, fields=IVP_FIELDS, spelling=in_span)
    caller = SolveIvp(called, users.program, len(given))
    result = builder.named(builder.emit(caller, [*given, *users.fixed], {}), SOLUTION)
    y, t, success = (lowering.memory.returned(e) for e in caller.items(builder, result))
    t = t if times is None else times
    return Result(library, {"y": y, "t": t, "success": success})


def _state(lowering: Any, library: Any, y0: Any) -> values.Array:
    """The abstract value of the state."""
    fact = lowering.builder.fact(y0)
    shape = values.shape_of(fact)
    if values.is_complex(fact):
        raise refused(library, "of complex numbers", REAL)
    if shape is None or len(shape) != 1:
        rank = "unknown rank" if shape is None else f"rank {len(shape)}"
        raise refused(library, f"from a state of {rank}", "give a vector: np.ravel(y0)")
    return values.Array(np.dtype(float), shape)


def _check_state(library: Any, program: Any) -> None:
    if values.rank_of(program.fact(program.outputs()[0])) != 1:
        raise refused(
            library,
            "with a function that is not known to return a vector",
            "return one number for each of the state",
        )


HANDLERS.update(
    {
        scipy.integrate.odeint: _odeint,
        scipy.integrate.quad: _quad,
        scipy.integrate.quad_vec: _quad_vec,
        scipy.integrate.solve_ivp: _solve_ivp,
    }
)
write(scipy.integrate.fixed_quad, scipy_integrate.fixed_quad)
write(scipy.integrate.romb, scipy_integrate.romb)
write(scipy.integrate.simpson, scipy_integrate.simpson)
