"""Which passes run when."""

from s2s_ad.core import form
from s2s_ad.core.callee import Callee, callee_of
from s2s_ad.core.passes import Pass, run
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.finish import DIVIDE, ERASE, KEEP_DIMENSIONS, NEAREST, OWN, OWN_ITEMS
from s2s_ad.simplify.merging import MERGE
from s2s_ad.simplify.order import READERS_FIRST
from s2s_ad.simplify.sinking import SINK
from s2s_ad.simplify.sums import SET_SUMS
from s2s_ad.simplify.undefined import BIND

AFTER = (DEAD, SINK, DEAD)  # after each transform
FINAL = (  # before the text is written
    *(ERASE, NEAREST, DEAD, MERGE, DIVIDE, KEEP_DIMENSIONS, DEAD, SET_SUMS, READERS_FIRST, BIND),
)
FINAL_CALLED = (*FINAL, OWN)
FINAL_DERIVED = (*FINAL, OWN_ITEMS)


def finish(program: Program, *, derived: bool) -> Program:
    """The program and the functions that it calls, ready to be written.

    What a `derived` program and the functions return shares no memory with what they are given;
    but the items of a list that a function returns may.
    """
    return _finish(program, FINAL_DERIVED if derived else FINAL, {})


def _finish(program: Program, pipeline: tuple[Pass, ...], made: dict[int, Callee]) -> Program:
    return everywhere(lambda block: _with_calls(block, made))(run(program, pipeline))


def _with_calls(program: Program, made: dict[int, Callee]) -> Program:
    """A block with the functions that it calls finished; one that calls itself is met again."""
    body = []
    for statement in program.body:
        call = callee_of(statement)
        if call is not None:
            if id(call) not in made:
                made[id(call)] = Callee(call.program)
                made[id(call)].define(_finish(call.program, FINAL_CALLED, made))
            value = form.operation(made[id(call)], statement.value.args, {})
            name = form.target(statement)
            statement = form.assign(name, value, statement.origin, statement.phase)
        body.append(statement)
    return program.with_(body=tuple(body))
