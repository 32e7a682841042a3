"""Errors that say what happened, where, why and what to do, under one catalogue of stable codes."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from os.path import basename

CATALOGUE = {
    "S2S101": "the source of the function cannot be read",
    "S2S102": "the source on disk is not the code that runs",
    "S2S103": "the object is not a Python function",
    "S2S201": "the construct is not supported",
    "S2S202": "the name is not defined",
    "S2S203": "the call does not fit the function's signature",
    "S2S204": "the attribute or method is not supported",
    "S2S205": "the value must be known when the code is generated",
    "S2S206": "the function calls itself",
    "S2S207": "the function may change memory that is shared",
    "S2S301": "the function has no derivative rule",
    "S2S302": "the derivative cannot be proved right",
    "S2S303": "the input cannot be differentiated",
    "S2S304": "the output cannot be differentiated",
    "S2S305": "the derivative that was given does not fit",
    "S2S401": "the function has no batching rule",
    "S2S402": "the batched form cannot be proved right",
    "S2S501": "an argument has the wrong type",
    "S2S502": "an argument has the wrong value",
    "S2S503": "a library that is needed is not installed",
    "S2S601": "the Cell is not complete",
    "S2S701": "the workers cannot go on",
    "S2S702": "the checkpoint is not one of this training",
    "S2S901": "the compiler broke one of its own contracts",
}

# What may be no fault once dtypes and ranks of the arguments are known.
ASKS_WHAT_VALUES_ARE = {"S2S203", "S2S204", "S2S207"}


#: the kinds of errors that np.errstate tells apart
KINDS = ("divide", "over", "under", "invalid")


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's code: 1-based line, 0-based column, as Python counts them.

    `root` is the line of the differentiated function that led here: the call of a helper;
    `settings` those of `np.errstate` under which the code there runs, and the classes of warnings
    that are raised; "calm" is what does not raise though the user's statements around it do.
    """

    file: str
    line: int
    column: int
    end_column: int
    text: str
    function: str
    root: int = 0
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def raises(self) -> bool:
        """Whether NumPy raises FloatingPointError there, by `np.errstate(...="raise")`."""
        return any(value == "raise" for _, value in self.settings)

    @property
    def calm(self) -> Origin:
        """The origin of what derivatives compute there: an adjoint may be infinite where the
        function is not, so what raises in the user's statements does not in theirs."""
        settings = ((name, "calm" if each == "raise" else each) for name, each in self.settings)
        return dataclasses.replace(self, settings=tuple(settings)) if self.raises else self

    @property
    def place(self) -> str:
        """File and line in few words; a cell of a notebook by the number that the reader sees."""
        cell = _cell(self.file)
        return f"{cell}, line {self.line}" if cell else f"{basename(self.file)}:{self.line}"

    def pointer(self) -> str:
        """The source line with a caret under the place."""
        number = str(self.line)
        gutter = " " * len(number)
        text = self.text.rstrip("\n")
        lead = "".join("\t" if c == "\t" else " " for c in text[: self.column])
        carets = "^" * max(1, min(self.end_column, len(text)) - self.column)
        file = _cell(self.file) or self.file
        place = f"{gutter}--> {file}:{self.line}:{self.column + 1} in {self.function}"
        return f"{place}\n{gutter} |\n{number} | {text}\n{gutter} | {lead}{carets}"


def _cell(file: str) -> str:
    """The cell of a notebook whose code has this file name, as "cell 3"; empty for other files."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    label, name = (named and named(file)) or ("", "")  # Cell, In[3]
    return f"{label.lower()} {name.removeprefix('In[').removesuffix(']')}".strip()


class S2SError(Exception):
    """Base class of every error this library raises on purpose.

    Attributes:
        code: stable code, a key of `CATALOGUE`.
        origin: the place in the user's code, or None where there is none.
        why: the cause; help: what to do instead.
    """

    def __init__(
        self, code: str, what: str, *, origin: Origin | None = None, why: str = "", help: str = ""
    ):
        self.code, self.what, self.origin, self.why, self.help = code, what, origin, why, help
        super().__init__(self._text())

    def at(self, origin: Origin | None) -> S2SError:
        """This error, which notes the place where it has none.

        It stays one object: beside another one, the frames that handle the two hold each other.
        """
        if self.origin is None and origin is not None:
            self.origin = origin
            self.args = (self._text(),)
        return self

    def out_of(self, file: str) -> S2SError:
        """This error, without a place where that is in the file."""
        if self.origin is not None and self.origin.file == file:
            self.origin = None
            self.args = (self._text(),)
        return self

    def _text(self) -> str:
        lines = [f"{self.code}: {self.what}"]
        if self.origin is not None:
            lines.append(self.origin.pointer())
        if self.why:
            lines.append(f"  why:  {self.why}")
        if self.help:
            lines.append(f"  help: {self.help}")
        lines.append(f"  more: s2s-ad help {self.code}")
        return "\n".join(lines)

    def labelled(self, label: str) -> S2SError:
        """The error, whose first line begins with what the user called."""
        known = self.what.startswith(f"{label}: ")
        what = self.what if known else f"{label}: {self.what}"
        return type(self)(self.code, what, origin=self.origin, why=self.why, help=self.help)

    def of_unknown_arguments(self) -> S2SError:
        """The error where nothing is known of the arguments: what they are may decide it."""
        if self.code not in ASKS_WHAT_VALUES_ARE:
            return self
        ask = "give example arguments (`--like` of a command): what they are may decide it"
        help = f"{ask}; else {self.help}" if self.help else ask
        return type(self)(self.code, self.what, origin=self.origin, why=self.why, help=help)

    def __reduce__(self):
        rebuild = (type(self), self.code, self.what, self.origin, self.why, self.help)
        return _rebuild, rebuild


def _rebuild(kind: type[S2SError], code, what, origin, why, help) -> S2SError:
    return kind(code, what, origin=origin, why=why, help=help)


class SourceError(S2SError):
    """The function's source cannot be had, or is not what runs."""


class UnsupportedError(S2SError):
    """A construct of Python that the frontend refuses."""


class SharedMemoryError(UnsupportedError):
    """What is changed may be memory that is shared: nobody knows on which paths, or in which pass.

    Lowered path by path, or pass by pass, the same function may be fine.

    Attributes:
        items: the name of a list whose items would be told apart if its length was known.
    """

    items = ""

    def at(self, origin: Origin | None) -> S2SError:
        made = super().at(origin)
        made.items = self.items
        return made


class StepwiseError(UnsupportedError):
    """What was run to its end where it was called, and it would be seen that it was.

    Attributes:
        generator: the definition of the generator function, which may do if it runs step by step.
    """

    generator: object = None

    def at(self, origin: Origin | None) -> S2SError:
        made = super().at(origin)
        made.generator = self.generator
        return made


class NestingError(UnsupportedError):
    """Calls or expressions stand in each other more deeply than Python's stack allows."""


class EndlessError(UnsupportedError):
    """A function calls itself with arguments of another structure each time, without an end.

    Where the lengths of arrays decide how often it does, it may have one if these are known.
    """


class DerivativeError(S2SError):
    """No derivative exists, or none can be proved right."""


class NoDerivative(DerivativeError):
    """A function on the active path has no derivative rule."""


class NoForwardMode(DerivativeError):
    """A function whose derivatives its user gave has code for reverse mode alone."""


class BatchError(S2SError):
    """No batched form exists, or none can be proved right."""


class SamplesDiffer(BatchError, ValueError):
    """The results of the samples of a batch do not fit into one array."""


class ArgumentTypeError(S2SError, TypeError):
    """An argument of the wrong kind, or arguments that do not fit a signature."""


class ArgumentValueError(S2SError, ValueError):
    """An argument of the right kind and a wrong value."""


class LengthError(ArgumentValueError):
    """Lengths of arrays that do not fit together, where Python `raises` an exception."""

    raises: type[Exception] = ValueError


class CellError(S2SError, AttributeError):
    """A Cell that is not complete: it lacks a method, or its parent's `__init__`."""


class ParallelError(S2SError, RuntimeError):
    """A computation on several workers that cannot go on, or not from where it stopped."""


class SampleLoopWarning(UserWarning):
    """A function without a batched form: `vmap` takes one sample after the other."""


class InternalError(S2SError):
    """The compiler broke its own contract: a bug of ours, never the user's."""
