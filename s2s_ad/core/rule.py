"""What a rule is: everything the compiler knows about one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import gast

from s2s_ad.core.dependence import EVERYTHING, Dependence, Use
from s2s_ad.core.sizes import Size
from s2s_ad.core.values import AbstractValue, Scalar, Static


class Emitter(Protocol):
    """What writes operations, as a rule sees it: the Builder (core/builder.py), which knows rules.

    Values are Symbols, or Python objects that are known while code is generated.
    """

    def call(self, function: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write what a call of the function stands for."""

    def emit(self, rule: Rule, operands: list, params: dict[str, Any]) -> Any:
        """Write one operation."""

    def fact(self, value: Any) -> AbstractValue:
        """The abstract value of a value."""
        ...

    def fact_with_size(self, value: Any) -> AbstractValue:
        """The abstract value, which says of a whole number which one it is."""
        ...

    def definition(self, value: Any) -> tuple[Rule | None, list, dict]:
        """How a value was computed: rule, operands, parameters; the rule of an input is None."""
        ...


class CannotBatch(Exception):
    """The facts do not suffice for a batched form; the samples have to be taken one by one."""


class Ragged(CannotBatch):
    """The results of the samples differ in shape: nothing less than all that is done with them
    can be taken sample by sample.

    Attributes:
        statement, fact: the operation, and the abstract value of a sample's result.
    """

    statement: Any = None
    fact: Any = None


class Apart(Ragged):
    """A generator draws more often for some samples than for others: each of them needs one of its
    own, so all since it was made is done sample by sample."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as a rule sees it: operands and parameters are Symbols or Python objects."""

    rule: Rule
    operands: list
    params: dict[str, Any]
    result: Any = None
    active: tuple[bool, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self.params[key]


#: what arithmetic raises, and what is done with arrays, lists, dicts and numbers
ORDINARY = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
#: the same where types decide nothing more, because they are known
BY_VALUES = (ArithmeticError, LookupError, MemoryError, ValueError)


class Rule:
    """Everything the compiler knows about one function. The kinds in `rules` subclass this."""

    #: of which classes exceptions are that it raises; solvers have others
    raises: tuple[type[BaseException], ...] = ORDINARY
    #: raises TypeError by the types of its operands alone, so that none is left for the run
    typed = False

    #: puts elements of the first operand where its adjoint takes them back from: nothing is added
    moves = False
    #: where it puts none there are zeros
    leaves_zeros = False
    #: the result is the first part of the first operand, along its last axes
    leading = False
    #: there to say why the function is not supported
    refused = False
    #: the value depends on floating-point inputs in steps only: no derivative passes through
    flat = False
    #: its derivatives hold for complex numbers too; where not, they are refused
    of_complex = False
    #: the result is complex, whatever is known of the operands
    gives_complex = False
    #: has no derivative for real numbers, and one for complex ones: the imaginary part
    takes_apart = False
    #: gives, of a complex number, something else than what its text for real numbers would
    tells_complex = False
    #: asks whether its operand is finite: then it need not be
    asks_finite = False
    #: compares two numbers: with infinity, or with itself, that asks it, too
    compares = False
    #: the result is the absolute value of the operand
    is_size = False
    #: the comparison with one operand that is as true of the result as of the other operand
    passes: Callable | None = None
    #: of real numbers of Python's the result may be complex
    turns_complex = False
    #: of real numbers the result is never below zero
    never_negative = False
    #: no element of the result is below the least of the first operand
    within = False
    #: the operands whose conjugates give the conjugate of the result, the others being real
    conjugates: tuple[int, ...] = ()
    #: the result is the complex conjugate of its operand
    is_conjugate = False
    #: the result is the inverse of a matrix, which is its operand
    is_inverse = False
    #: the result may share memory with the first operand
    view = False
    #: elements of the result may be one element in memory: it cannot be written to
    overlapping = False
    #: a parameter (an index) may differ from sample to sample: `batch` serves that too
    varied_parameters = False
    #: does more than to compute a value: never dropped, never merged
    effects = False
    #: whether it sets the state that draws of random numbers come from
    seeds = False
    #: the result is the same for every sample of a batch
    uniform = False
    #: the result is an array of zeros
    zeros = False
    #: takes axes away that `axis` names, and keeps them at length one with `keepdims`
    reduction = False
    #: the sum of the elements along `axis`
    sums = False
    #: by an operand's position, the number with which the result is the other operand
    identity: Mapping[int, float] = MappingProxyType({})
    #: with its first argument alone it is an identity matrix
    gives_identity = False
    #: with its first argument alone it counts: 0, 1, 2 and so on, below that
    counts_up = False
    #: the result is the position of an element of the first operand, along `axis`
    locates = False
    #: the elements of the result are positions along an axis of the first operand
    positions = False
    #: of a vector they are all positions, each once
    permutes = False
    #: the result is what is left when the first operand is divided by the second
    remainder = False
    #: inserts axes of length one where `axis` says
    inserts_axes = False
    #: takes away axes of length one, where `axis` says
    removes_axes = False
    #: how the result compares with a number where it is the other operand: > of np.maximum
    passes: Callable | None = None
    #: true of an array where it is true of any part of it
    disjunction = False
    #: the truth that the result has only where each operand has it: True of `and`, False of `or`
    shared_truth: bool | None = None
    #: true where the operand is not
    negates = False
    #: the result is a list of the operands, or has in it what they hold, just as they are
    hands_on = False
    #: where the adjoint of a list is one number for all that is in it, so are those of operands
    of_one_number = False
    #: the result is the operands put side by side
    gathers = False
    #: gives the eigenvalues and orthonormal eigenvectors of its operand, as a pair
    gives_eigenvectors = False
    #: the result is the operand in memory of its own
    copy = False
    #: the result is the operand in another dtype
    converts = False
    #: an array of items: where there is none it is one of float64, whatever they would be
    double_if_empty = False
    #: an expression of texts, `shown` of its operands, that can stand wherever the result is read
    shows = False
    #: a result without axes is an array, whose memory may change, and no number of NumPy's
    keeps_array = False
    #: a call gives new memory, even where a simpler value stands for its result
    allocates = False
    #: a result without axes is an array, where another function would give a number
    gives_array = False
    #: an object whose class says what array it is, is asked for a copy of that
    asks_for_a_copy = False
    #: the elements of a new array stand in memory in the order of C: "always", where all
    #: "operands" do, where the "first" operand does or is no array, or where the "indices" do that
    #: take elements of an array with one axis; "" where nobody knows
    in_c_order = ""
    #: how a view of the first operand is written back to it: it is the "operand" itself, a "part"
    #: of complex numbers, a "permutation" of axes, an "insertion" of some, a "reshape", or undone
    #: by the function once more ("involution"); "" where that is not known
    written_back = ""
    #: raises nothing, whatever its operands are
    quiet = False
    #: what it raises tells that arguments do not fit: it runs though nobody reads its result
    checks = False
    #: reads lengths: of the axis that `axis` names, or the number of all elements
    length = False
    #: the position of the operand that is there for its shape and dtype alone
    like_position: int | None = None
    #: the same where shapes that do not fit have to be found when that operand is computed
    shape_position: int | None = None
    #: number -> the function that makes, of the same parameters, an array full of that number
    fillings: Mapping[float, Callable] = {}
    #: a tangent of which nothing decides what it is: nan, and an error where an output has it
    undetermined = False
    #: so cheap that computing it again reads better than keeping it
    cheap = False
    #: what one element of the result costs to compute again, in additions; None: too much
    cost: int | None = None

    #: the result is the first operand with some of its elements changed
    updates = False
    #: applied to each element of its broadcast operands
    elementwise = False
    #: an array given as `out=` holds the result afterwards
    fills_out = True
    #: what that parameter is called
    out = "out"
    #: value and derivatives are finite wherever the operands are, and nothing is raised
    total = False
    #: of numbers it costs little and raises nothing: a condition may compute it without being asked
    unasked = False

    #: infinite, or nan, for some operands: of elementwise functions `is_finite` says it
    has_poles = False
    #: infinite for large operands, like an exponential
    overflows = False
    #: the sum or difference of its operands: such a sum may have many terms
    adds = False
    #: operand position -> a condition on it without which the value is 0, or nan: a function and
    #: what it is given besides
    vanishes: Mapping[int, tuple] = {}
    #: puts its second operand at the end of a list
    appends = False
    #: puts an item at the end of a list, or takes the last one off
    at_end = False
    #: a view that is written without a call: by an index, or as an attribute
    written_short = False
    #: the operands that it is linear in, one by one: where such a one is zero, so is the result
    linear: tuple[int, ...] = ()
    #: stands for its first operand, and is there for derivatives alone: the text leaves it out
    marker = False
    #: each result is an object of its own, however alike the operands are: never merged
    distinct = False
    #: takes lists whose length is not known; other functions are given an array of the items
    lists = False
    #: the same operation for where another one checks the arguments
    unchecked: Rule | None = None
    #: how it takes parts of the elements of its first operand in two steps: a function of the
    #: others, which says in a byte how much of each, and one of the first and of that
    steps: tuple[Callable, Callable] | None = None
    #: the function of which it is the first of those steps
    step_of: Callable | None = None
    #: the result follows from the shapes and dtypes of the operands
    of_shape = False
    #: the number of results where they are a tuple, which ITEM takes apart; None where it is one
    count: int | None = None

    def cost_of(self, operands: Sequence[Any]) -> int | None:
        """What one element of the result costs, of these operands: atoms of Core."""
        return self.cost

    def __init__(self, function: Any, name: str):
        self.function, self.name = function, name

    def bind(self, builder: Emitter, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Emit the operation(s) that a call with these arguments stands for."""
        raise NotImplementedError

    def infer(self, operands: list[AbstractValue], params: dict[str, Any]) -> AbstractValue:
        raise NotImplementedError

    def inferred(self, builder: Emitter, operands: list, params: dict[str, Any]) -> AbstractValue:
        """What `infer` says of operands, or more where it is known how they were made."""
        return self.infer([builder.fact_with_size(each) for each in operands], params)

    @property
    def keeps_real(self) -> bool:
        """Whether the result is real wherever all operands are."""
        known = self.elementwise or self.reduction or self.view or self.updates or self.copy
        return known and not self.gives_complex

    def may_repeat(self, index: Any, builder: Emitter) -> bool:
        """Whether an index of an update may name an element more than once."""
        return True

    def may_raise(self, operands: list[AbstractValue], result: AbstractValue) -> bool:
        """Whether the operation may raise an exception for such operands, where it can be run."""
        return not (self.quiet or self.marker or self.copy)

    def computes(self, result: AbstractValue) -> bool:
        """Whether NumPy computes numbers, which may overflow, and does not only move them."""
        moved = self.quiet or self.marker or self.copy or self.moves or self.view or self.length
        return not moved and not isinstance(result, Scalar | Static)

    def required(self, builder: Emitter, operands: list, params: dict[str, Any]) -> list[Size]:
        """Sizes none of which may be below 0, or it raises; see `form.Op`."""
        return []

    def filled_with(self, operands: list) -> Any:
        """The number that all elements of the result are; None where that is not known."""
        return 0.0 if self.zeros else None

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        """Whether it raises nothing, lengths being what the call has that is compiled."""
        return not self.may_raise(operands, result)

    def size(self, builder: Emitter, operands: list, params: dict[str, Any]) -> Size | None:
        """Which whole number the result is, where it is one and that is known."""
        return None

    def item_count(
        self, operands: list, params: dict[str, Any], of: Callable[[Any], Size | None]
    ) -> Size | None:
        """How many items the list has that the result is; `of` says that of other lists."""
        return None

    def shortcut(self, builder: Emitter, operands: list, params: dict[str, Any]) -> Any:
        """A simpler value for the operation where facts allow one, else None."""
        return None

    def axes_from(self, rank: int, params: Mapping[str, Any]) -> Sequence[int | None] | None:
        """For each axis of the result which one of the operand's, of so many, it is, and None where
        it has length one; None for all where the result is more than the operand laid out so."""
        return None

    def factors(self, operands: Sequence[Any]) -> tuple[int, int] | None:
        """The places of two operands, atoms of Core, whose product the result is, element by
        element; one place twice where it is a square."""
        return None

    def product_axes(self, params: Mapping[str, Any]) -> tuple[str, ...] | None:
        """A letter for each axis of the operands and of the result, where that is the sum of the
        products along the axes that it lacks; else None."""
        return None

    def is_diagonal(self, params: Mapping[str, Any]) -> bool:
        """Whether the result is a matrix with the operand on its diagonal, and zeros beside it."""
        return False

    def symmetric_with(
        self, builder: Emitter, operands: list, params: dict[str, Any]
    ) -> Sequence[Any] | None:
        """Matrices with which the result is its own transpose, as soon as these are; None where
        that is not known."""
        return None

    def is_total(self, operands: list) -> bool:
        """Whether the operation is harmless where nobody asked for it: see `total`."""
        return self.total

    def grows_with(self, operands: list) -> tuple[int, ...]:
        """The operands that the result is infinite with."""
        return (0,) if self.moves else self.linear

    def vanishes_with(self) -> tuple[int, ...]:
        """The operands that the result is zero with, each where it is zero everywhere."""
        return (0,) if self.moves else self.linear

    def odd_in(self) -> tuple[int, ...]:
        """The operands, one by one, the negative of which gives the negative of the result."""
        return (0,) if self.moves or self.sums else self.linear

    def is_finite(self, builder: Emitter, operands: list) -> bool:
        """Whether the result is finite wherever the operands are."""
        return self.is_total(operands)

    def draws(self, operands: Sequence) -> bool:
        """Whether it draws random numbers from a state that was there before, and changes that."""
        return False

    def is_bounded(self, operands: list) -> bool:
        """Whether the result is finite whatever the operands are, but for nan."""
        return False

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        """A number that no element of the result is below, `of` saying it of operands; or None."""
        low = of(operands[0]) if self.within or self.view or self.copy else None
        return 0.0 if low is None and self.never_negative else low

    def inside_mask(
        self,
        builder: Emitter,
        operands: list,
        params: dict[str, Any],
        write: Callable[..., Any],
        others: tuple,
    ) -> Any:
        """write(result, *others), which is linear in the result, inside of the selection that the
        operation makes (see rules/masks.py); None where it makes none."""
        return None

    def is_flat(self, operands: list[AbstractValue]) -> bool:
        """Whether no derivative passes through, the operands being such: see `flat`."""
        return self.flat

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        """For each operand its adjoint contribution; None for the inactive ones.

        Where there are several results, `y_bar` holds the adjoints of those that have one.
        With J the Jacobian it is the conjugate transpose of J, applied to y_bar.
        """
        raise NotImplementedError

    def forward(self, operation: Operation, tangents: list) -> Any:
        """The tangent of the result, or a list of those of each; a tangent of None is zero."""
        raise NotImplementedError

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """The result for a batch; batched operands have the batch axis first."""
        raise NotImplementedError

    # ---- which elements depend on which (see core/dependence.py)

    def picks(self, known: list[bool]) -> bool:
        """Whether each element of the result is one of an operand's, or a constant, where it is
        `known` of the operands that no element of the input decides them."""
        return False

    def turned(self, rank: int, params: Mapping[str, Any]) -> tuple[int, ...]:
        """The axes that it takes from their end, of an operand of so many axes, and nothing else:
        then it undoes itself."""
        return ()

    def dependence(self, use: Use, position: int) -> Dependence:
        """Which elements of an operand an element of the result has a derivative by."""
        return None if position == self.like_position else EVERYTHING

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        """The result where an operand is a list of anything, whose items are not looked at; `add`
        gives the sum of two. NotImplemented where they are."""
        return NotImplemented

    def of_some(self, operation: Operation, batched: list[bool], places: Any, batch: Any) -> Any:
        """The result for the samples at these places, without a copy of all that they have.

        The first operand is an array of all samples, the others are of those at the places. The
        result is of these samples, or, of an update, the array of all. None: there is no such form.
        """
        return None

    def is_view(
        self, operands: Sequence[gast.AST], fact: Callable[[gast.AST], AbstractValue]
    ) -> bool:
        """Whether the result may share memory with the first operand."""
        return self.view

    def surface(self, call: gast.Call, facts: Callable[[gast.AST], AbstractValue]) -> gast.AST:
        """The expression that a reader expects for the operation."""
        return call


class Unknown(Rule):
    """What Python does where no rule says what that is."""

    effects = True


EFFECT = Unknown(None, "effect")


class Item(Rule):
    """One output of an operation with several."""

    of_complex = quiet = True

    def __init__(self) -> None:
        super().__init__(self, "item")

    def infer(self, operands: list, params: dict[str, Any]) -> AbstractValue:
        return operands[0].items[params["index"]]

    def grows_with(self, operands: list) -> tuple[int, ...]:
        return (0,)


ITEM = Item()


class Field(Rule):
    """An output that is an attribute of the result: in the text alone."""

    cheap = quiet = True

    def __init__(self, name: str):
        super().__init__(self, name)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Attribute(call.args[0], self.name, gast.Load())
