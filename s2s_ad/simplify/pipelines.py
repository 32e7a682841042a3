"""Which passes run when."""

from s2s_ad.analysis.handed_over import HandedOver, handed_over
from s2s_ad.core.callee import Callee, callee_of
from s2s_ad.core.callers import Caller
from s2s_ad.core.passes import Pass, run
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import everywhere
from s2s_ad.simplify.bounds import ASK_OPERANDS
from s2s_ad.simplify.casts import UNCAST
from s2s_ad.simplify.common import SHARE_AGAIN
from s2s_ad.simplify.common_factors import TAKE_OUT_FACTORS
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.extremes import EXTREMES
from s2s_ad.simplify.factors import COLLECT
from s2s_ad.simplify.finish import DIVIDE, ERASE, KEEP_DIMENSIONS, NEAREST, OWN, OWN_ITEMS
from s2s_ad.simplify.first_sums import SET_FIRST_SUMS
from s2s_ad.simplify.flag_folding import DECIDE
from s2s_ad.simplify.guards import UNGUARD
from s2s_ad.simplify.hoisting import HOIST, HOIST_CALLED
from s2s_ad.simplify.inlining import INLINE
from s2s_ad.simplify.invariants import PASS_BY, TELL
from s2s_ad.simplify.joined_loops import JOIN_LOOPS
from s2s_ad.simplify.kept_axes import DROP_KEPT_AXES
from s2s_ad.simplify.late_factors import LATE_FACTORS, LATE_FACTORS_CALLED
from s2s_ad.simplify.leading_axes import DROP_LEADING_AXES
from s2s_ad.simplify.merging import MERGE
from s2s_ad.simplify.nesting import PARTS
from s2s_ad.simplify.one_stack import ONE_STACK
from s2s_ad.simplify.own_zeros import OWN_ZEROS
from s2s_ad.simplify.popped import READ_POPPED
from s2s_ad.simplify.products import CONTRACT, OWN_NEGATIVES, SCALE_LAST, SHARE
from s2s_ad.simplify.read_scheduling import READERS_FIRST
from s2s_ad.simplify.shared_factors import JOIN_PRODUCTS
from s2s_ad.simplify.signs import TURN_SIGNS
from s2s_ad.simplify.sinking import SINK
from s2s_ad.simplify.sums import JOIN_SUMS, SET_SUMS, SUMS_FIRST
from s2s_ad.simplify.undefined import BIND
from s2s_ad.simplify.unread import KEEP_UNREAD
from s2s_ad.simplify.vector_factors import VECTORS_APART

AFTER = (DEAD, SINK, DEAD)  # after each transform


def _before_text(hoist: Pass, late: Pass, *last: Pass) -> tuple[Pass, ...]:
    """The passes before the text is written."""
    return (
        *(
            JOIN_LOOPS,
            READ_POPPED,
            ERASE,
            PASS_BY,
            DECIDE,
            ASK_OPERANDS,
            DEAD,
            SINK,
            DEAD,
            UNCAST,
            PASS_BY,
            TELL,
            NEAREST,
            DEAD,
        ),
        *(
            MERGE,
            DIVIDE,
            DROP_KEPT_AXES,
            CONTRACT,
            JOIN_PRODUCTS,
            SCALE_LAST,
            VECTORS_APART,
            UNGUARD,
            COLLECT,
            SHARE,
            TURN_SIGNS,
            OWN_NEGATIVES,
            TAKE_OUT_FACTORS,
            DROP_LEADING_AXES,
            KEEP_DIMENSIONS,
        ),
        *(
            hoist,
            SHARE_AGAIN,
            late,
            EXTREMES,
            DEAD,
            ONE_STACK,
            OWN_ZEROS,
            KEEP_UNREAD,
            JOIN_SUMS,
        ),
        *(SUMS_FIRST, SET_SUMS, SET_FIRST_SUMS, READERS_FIRST, *last),
    )


FINAL = _before_text(HOIST, LATE_FACTORS)
FINAL_CALLED = _before_text(HOIST_CALLED, LATE_FACTORS_CALLED, OWN)
FINAL_DERIVED = _before_text(HOIST, LATE_FACTORS, OWN_ITEMS)


def finish(program: Program, *, derived: bool) -> Program:
    """The program and the functions that it calls, ready to be written.

    What a `derived` program and the functions return shares no memory with what they are given;
    but the items of a list that a function returns may.
    """
    program = run(program, (INLINE,))
    return _finish(program, FINAL_DERIVED if derived else FINAL, Finished(handed_over(program)))


class Finished(dict):
    """By the id of a function: (the same finished, the operands that it reads).

    Attributes:
        own: by the id of a function, the lists that it is given for good.
    """

    def __init__(self, own: HandedOver):
        super().__init__()
        self.own = own


def _finish(program: Program, pipeline: tuple[Pass, ...], made: Finished) -> Program:
    program = run(program, (INLINE, *pipeline, PARTS, BIND))
    return everywhere(lambda block: _with_calls(block, made))(program)


def _with_calls(program: Program, made: Finished) -> Program:
    """A block with the functions that it calls finished; one that calls itself is met again."""
    if not program.compounds:
        return program
    body = []
    for statement in program.body:
        call = callee_of(statement)
        caller = statement.rule
        if isinstance(caller, Caller):
            made_caller = caller.with_program(_finish(caller.program, FINAL_CALLED, made))
            statement = statement.with_call(made_caller, statement.operands)
        if call is not None:
            if id(call) not in made:
                stub = Callee(call.program, stub=True)
                indices = list(range(len(call.program.leaves())))
                made[id(call)] = stub, indices  # for calls of itself
                made[id(call)] = _finished_call(call, stub, indices, made)
            callee, indices = made[id(call)]
            statement = statement.with_call(callee, [statement.operands[i] for i in indices])
        body.append(statement)
    return program.with_body(body)


def _finished_call(
    call: Callee, callee: Callee, indices: list[int], made: Finished
) -> tuple[Callee, list[int]]:
    """A function without the parameters that nobody named and it does not read."""
    own = made.own.get(id(call), frozenset())
    program = _finish(call.program.with_(own=own), FINAL_CALLED, made)
    if not call.is_recursive:
        read = {name for each in program.body for name in each.reads}
        read |= {getattr(atom, "id", None) for atom in program.outputs()}
        hints = [program.hints.get(name, TEMPORARY) for name in program.leaves()]
        pairs = list(zip(program.leaves(), hints, strict=True))
        indices = [i for i, (name, hint) in enumerate(pairs) if name in read or hint.kind == "user"]
        program = program.with_(inputs=tuple(program.inputs[i] for i in indices))
    return callee.define(program), indices
