"""A generated function as it travels: its text, with a hash, compiled once in each process."""

from __future__ import annotations

import hashlib
import threading
import types
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from s2s_ad.core import tree
from s2s_ad.diagnostics import InternalError, ParallelError, UnsupportedError
from s2s_ad.load.module import Loaded, executed, rebound
from s2s_ad.load.native import Native
from s2s_ad.load.noted import known_as
from s2s_ad.load.runtime_diagnosis import located

MOST_MODULES = 256  # texts that a process keeps compiled


class Batched(NamedTuple):
    """Stands in the arguments of a call for what differs from chunk to chunk."""

    index: int


class Shared(NamedTuple):
    """Stands in the arguments of a call for what is the same for all chunks."""

    index: int


@dataclass(frozen=True, slots=True)
class Packed:
    """All that a process needs to run a generated function, and the SHA-256 of it.

    `payload` is the pickle of a `Module`; `name` is the function's, for the keys of tasks.
    """

    name: str
    digest: str
    payload: bytes

    @property
    def key(self) -> str:
        """The key of the task that holds it."""
        return f"s2s-text-{self.name}-{self.digest}"


@dataclass(frozen=True, slots=True)
class Module:
    """The text of a generated function, and what has to stand in its module.

    `captured` are the names of captured numbers and arrays, whose values travel with each call;
    `call` is a Tree of the arguments, (positional, by name), with Batched and Shared as leaves;
    `native` is there where `jit` has made native code of it.
    """

    name: str
    source: str
    modules: tuple[str, ...]
    helpers: tuple[str, ...]
    objects: dict[str, Any]
    captured: tuple[str, ...]
    call: tree.Tree
    native: Native | None


def packed(loaded: Loaded, call: tree.Tree, label: str) -> Packed:
    """The function as it travels, made once for one form of call.

    Raises:
        UnsupportedError: something that its text refers to cannot be pickled.
    """
    text = loaded.text
    code = loaded.function.__code__
    known = _made.get(code)
    if known is not None and known[0] is text and known[1] == call:
        return known[2]
    module = Module(
        text.name,
        text.module,
        text.modules,
        text.helpers,
        text.objects,
        tuple(text.captured),
        call,
        loaded.native,
    )
    try:
        payload = cloudpickle.dumps(module)
    except Exception as error:
        raise UnsupportedError(
            "S2S205",
            f"{label}: {text.name} cannot travel to other processes",
            origin=loaded.program.origin,
            why=f"its text refers to {', '.join(text.objects)}: {error}",
            help="make it where it is used, inside the function, or pass it as an argument",
        ) from None
    made = Packed(text.name, hashlib.sha256(payload).hexdigest(), payload)
    known_as(file_of(made), text.module_rows, module.source, code)
    _made[code] = text, call, made
    return made


#: what was packed last of a code, as long as there is the code
_made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def file_of(text: Packed) -> str:
    """What tracebacks call the text, in whichever process it runs."""
    return f"<s2s_ad {text.name} {text.digest[:12]}>"


# ---- where it arrives ----------------------------------------------------------------------------

_functions: dict[str, tuple[Any, dict[str, Any], Module]] = {}
_lock = threading.Lock()


def _unpacked(text: Packed) -> tuple[Any, dict[str, Any], Module]:
    """The function, its namespace and its Module; compiled when a process first meets it."""
    known = _functions.get(text.digest)
    if known is not None:
        return known
    with _lock:
        if text.digest not in _functions:
            if len(_functions) >= MOST_MODULES:
                del _functions[next(iter(_functions))]
            _functions[text.digest] = _compiled(text)
        return _functions[text.digest]


def _compiled(text: Packed) -> tuple[Any, dict[str, Any], Module]:
    if hashlib.sha256(text.payload).hexdigest() != text.digest:
        raise InternalError(
            "S2S901",
            f"the text of {text.name} has arrived changed",
            why=f"its hash is not {text.digest[:12]}",
        )
    module: Module = cloudpickle.loads(text.payload)
    helpers = {name: located(name, None, ()) for name in module.helpers}
    bound = {**helpers, **module.objects}
    file = file_of(text)
    function, namespace = executed(module.name, module.source, file, module.modules, bound)
    if module.native is not None:
        function = module.native.put_into(namespace, function, _kernel(module.native))
    return function, namespace, module


def _kernel(native: Native) -> Any:
    """Its machine code; where there is none, other workers would round otherwise.

    Raises:
        ParallelError: Numba is not here, or another release of it than where the call was made.
    """
    try:
        return native.kernel()
    except Exception as error:  # of Numba's, of which not all are NumbaErrors
        raise ParallelError(
            "S2S701",
            f"this worker has no native code of {native.name}",
            why=f"{type(error).__name__}: {error}",
            help="install the same release of Numba on all workers, or give jit(..., native=False)",
        ) from None


def called(
    text: Packed,
    captured: list,
    shared: list,
    batched: list,
    seed: tuple[int, ...] | None = None,
) -> list:
    """The leaves of what the function returns; behind them the new values of Parameters.

    Args:
        captured: the values of the names that the text captured, in their order.
        shared, batched: the arguments that are the same for all chunks, and those of this one.
        seed: where what it draws from NumPy's state begins, whatever that state is here.
    """
    function, namespace, module = _unpacked(text)
    if module.native is not None:
        captured, shared, batched = (_writable(each) for each in (captured, shared, batched))
    values = dict(zip(module.captured, captured, strict=True))
    if seed is not None:
        values["np"] = _seeded(namespace["np"], seed)
    if values:
        function, _ = rebound(function, namespace, values)

    def given(leaf: Batched | Shared) -> Any:
        return (batched if isinstance(leaf, Batched) else shared)[leaf.index]

    args, kwargs = tree.to_object(tree.tree_map(given, module.call))
    result = function(*args, **kwargs)
    return tree.leaves(tree.from_object(result, lambda leaf, _: leaf))


def _writable(values: list) -> list:
    """Arrays of one kind: of those that may not be changed Numba makes other code."""
    return [
        each.copy(order="A") if isinstance(each, np.ndarray) and not each.flags.writeable else each
        for each in values
    ]


def _seeded(numpy: types.ModuleType, seed: tuple[int, ...]) -> types.ModuleType:
    """NumPy with random numbers of its own, which no other thread draws from."""
    made = types.ModuleType(numpy.__name__)
    vars(made).update(vars(numpy))
    made.random = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))
    return made
