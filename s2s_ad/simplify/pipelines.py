"""Which passes run when."""

from s2s_ad.core import form
from s2s_ad.core.callee import Callee, callee_of
from s2s_ad.core.passes import Pass, run
from s2s_ad.core.program import Program
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.finish import DIVIDE, ERASE, KEEP_DIMENSIONS, NEAREST, OWN

AFTER = (DEAD,)  # after each transform
FINAL = (ERASE, NEAREST, DEAD, DIVIDE, KEEP_DIMENSIONS, DEAD)  # before the text is written
FINAL_DERIVED = (*FINAL, OWN)


def finish(program: Program, *, derived: bool) -> Program:
    """The program and the functions that it calls, ready to be written.

    What a `derived` program and the functions return shares no memory with what they are given.
    """
    return _finish(program, FINAL_DERIVED if derived else FINAL, {})


def _finish(program: Program, pipeline: tuple[Pass, ...], made: dict[int, Callee]) -> Program:
    program = run(program, pipeline)
    body = []
    for statement in program.body:
        call = callee_of(statement)
        if call is not None:
            if id(call) not in made:
                made[id(call)] = Callee(_finish(call.program, FINAL_DERIVED, made))
            value = form.operation(made[id(call)], statement.value.args, {})
            name = form.target(statement)
            statement = form.assign(name, value, statement.origin, statement.phase)
        body.append(statement)
    return program.with_(body=tuple(body))
