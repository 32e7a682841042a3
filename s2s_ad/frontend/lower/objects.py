"""Objects of the user's classes: made inside the function, their attributes set, their operators.

An object is a Box whose content has its attributes. Its `__init__`, and what the class says of
operators, is the user's own code, lowered like any other.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.attributes import (
    NAMESPACES,
    SETTERS,
    Method,
    kept_by,
    no_attribute,
    of_descriptor,
    read_attribute,
)
from s2s_ad.frontend.lower.calls import (
    HANDLER_FINDERS,
    HANDLERS,
    apply,
    arguments_of,
    bind,
    known_object,
)
from s2s_ad.frontend.lower.caught import Error
from s2s_ad.frontend.lower.classes import is_generated, is_local, is_written, method_of
from s2s_ad.frontend.lower.containers import (
    all_items,
    entries_given,
    known_key,
    new_dict,
    new_list,
    of_key,
)
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.derived import (
    HELD,
    MADE_BY_NEW,
    OF_C,
    SET_ARRAY_ATTRIBUTE,
    base_of,
    is_array_object,
    is_read_as_dict,
    with_written_methods,
)
from s2s_ad.frontend.lower.entries import drop_entry, put_entry
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.iteration import Iterator
from s2s_ad.frontend.lower.kinds import name_of, with_article
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.picked import EACH, Picked, is_picked, one_of_several
from s2s_ad.frontend.lower.references import Box, is_rows, settled
from s2s_ad.frontend.lower.stores import set_item
from s2s_ad.frontend.lower.string_unions import Word
from s2s_ad.frontend.lower.views import as_array_of_no_axes
from s2s_ad.frontend.resolve import LITERALS, Captured, Place, unwrap
from s2s_ad.frontend.signatures import signature_of
from s2s_ad.tensors import Parameter

#: what a class may not say itself: how all attributes are read, and how they are deleted; those of
#: a dataclass, which its own __init__ sets, not how they are set
REFUSED = ("__delattr__", "__getattribute__")


def construct(lowering: Lowering, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
    """The object that a call of a class makes."""
    if is_plain_namedtuple(kind):
        return Tree(kind, kind._fields, tuple(_fields(lowering, kind, args, kwargs).values()))
    refuse_special(lowering, kind)
    if _says_how_made(kind) or base_of(kind) is np.ndarray:
        made = apply(lowering, kind.__new__, [kind, *args], kwargs)
        if not _is_object_of(lowering, made, kind):
            return made
        if method_of(made.kind, "__init__") is object.__init__:
            return made  # what it is given __new__ has read
    else:
        made = _without_attributes(lowering, kind)
    _initialise(lowering, made, args, kwargs)
    return made


def _initialise(lowering: Lowering, made: Box, args: list, kwargs: dict[str, Any]) -> None:
    """What the `__init__` of its class does with a new object."""
    kind = made.kind
    init = method_of(kind, "__init__")
    if dataclasses.is_dataclass(kind) and is_generated(init):
        _fill(lowering, made, args, kwargs)
    elif init is not object.__init__:
        apply(lowering, read_attribute(lowering, made, "__init__"), args, kwargs)
    elif args or kwargs:
        raise TypeError(f"{kind.__name__}() takes no arguments")


def _says_how_made(kind: type) -> bool:
    """Whether the class has a `__new__` that is written in Python."""
    return isinstance(kind.__new__, types.FunctionType)


def _is_object_of(lowering: Lowering, made: Any, kind: type) -> bool:
    """Whether what `__new__` of a class gave is of that class, so that its `__init__` runs."""
    if isinstance(made, Box):
        return issubclass(made.kind, kind)
    if isinstance(made, Symbol | types.NoneType) or type(made) in values.PYTHON_NUMBERS:
        return False
    raise UnsupportedError(
        "S2S201",
        f"an object of class {kind.__name__} made inside the function",
        origin=lowering.builder.origin,
        why="what its __new__ gives is no object that it has made",
        help=PLAIN_CLASS,
    )


def _without_attributes(lowering: Lowering, kind: type) -> Box:
    """A new object; of a class that derives from list or dict it holds an empty one."""
    made = lowering.memory.box(Tree(with_written_methods(kind), (), ()))
    base = base_of(kind)
    if base is not None:
        empty = new_list(lowering, []) if issubclass(base, list) else new_dict(lowering, {})
        put_entry(lowering, made, HELD, empty)
    return made


def _makes_plainly(metaclass: type) -> bool:
    """Whether classes of this class are called, and asked for what they hold, as all are."""
    said = (metaclass.__call__, metaclass.__getattribute__, metaclass.__setattr__)
    usual = (type.__call__, type.__getattribute__, type.__setattr__)
    return said == usual and not hasattr(metaclass, "__getattr__")


def refuse_special(lowering: Lowering, kind: type) -> None:
    """Only classes whose objects are made and changed in the way of all objects are taken."""
    base = base_of(kind) or object
    made = kind.__new__ is base.__new__ or (base in MADE_BY_NEW and _says_how_made(kind))
    plain = _makes_plainly(type(kind)) and made
    foreign = next((x for x in kind.__mro__ if _is_of_c(x) and x not in base.__mro__), object)
    names = (*REFUSED, "__setattr__") if dataclasses.is_dataclass(kind) else REFUSED
    if _is_frozen(kind):
        names = ("__getattribute__",)
    special = [each for each in names if is_written(kind, each)]
    abstract = bool(getattr(kind, "__abstractmethods__", None))
    if plain and foreign is object and not special and not abstract:
        return
    why, help = "it says itself how its objects are made", PLAIN_CLASS
    if foreign is not object:
        why = f"its objects are kept in C, as those of {name_of(foreign)}"
        help = "use a list or an array of NumPy's" if foreign is kind else HOLD_ONE
    elif special:
        why = f"it has {special[0]}"
    raise UnsupportedError(
        "S2S201",
        f"an object of class {kind.__name__} made inside the function",
        origin=lowering.builder.origin,
        why=why,
        help=help,
    )


#: what to use instead of a class that is not taken
PLAIN_CLASS = "use a plain class, a dataclass, a namedtuple or a dict"
HOLD_ONE = "let a plain class hold one in an attribute, and give it the methods that are used"


def _is_of_c(kind: type) -> bool:
    """Whether a class is not written in Python, but for object itself."""
    return kind is not object and kind.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) != HEAP_TYPE


#: the flags of classes that are made when code runs, and of those that nobody may change
HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8


def _without_init(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`object.__new__(kind)`: an object whose `__init__` does not run."""
    kind = known_object(args[0])
    refuse_special(lowering, kind)
    if len(args) > 1 or kwargs:
        raise TypeError("object.__new__() takes exactly one argument (the type to instantiate)")
    return _without_attributes(lowering, kind)


@functools.cache
def _made_namedtuple(name: str, fields: Any, module: str) -> type:
    """The one class of such a namedtuple: objects of two calls are of one class."""
    return collections.namedtuple(name, fields, module=module)


def _namedtuple(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> type:
    """collections.namedtuple(name, fields), called inside the function."""
    named = dict(zip(("typename", "field_names"), map(known_object, args), strict=False))
    named |= {key: known_object(value) for key, value in kwargs.items()}
    if named.keys() != {"typename", "field_names"}:
        raise UnsupportedError(
            "S2S201", "a namedtuple with defaults made inside", help="define it at module level"
        )
    fields = named["field_names"]
    fields = fields if isinstance(fields, str) else tuple(fields)
    return _made_namedtuple(named["typename"], fields, lowering.frame.globals["__name__"])


HANDLERS[collections.namedtuple] = _namedtuple
HANDLERS[object.__new__] = _without_init


def is_plain_namedtuple(kind: type) -> bool:
    """Whether the class is made by namedtuple, and adds nothing to making an object."""
    if not tree.is_namedtuple(kind) or kind.__init__ is not object.__init__:
        return False
    return str(kind.__new__.__module__).startswith("namedtuple_")


def _is_frozen(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen


# ---- dataclasses ---------------------------------------------------------------------------------


def _of_generated(function: Any) -> Callable | None:
    """What `super().__init__(...)` does where a class that is derived from a dataclass says it."""
    if not is_generated(function):
        return None

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        made = args[0] if args else None
        order = made.kind.__mro__ if isinstance(made, Box) else ()
        kind = next((each for each in order if vars(each).get("__init__") is function), None)
        if kind is None:
            return lowering.enter(function, arguments_of(lowering, function, args, kwargs))
        return _fill(lowering, made, args[1:], kwargs, kind)

    return handler


HANDLER_FINDERS.append(_of_generated)


def _fill(
    lowering: Lowering, made: Box, args: list, kwargs: dict[str, Any], kind: type | None = None
) -> None:
    """What the __init__ of a dataclass does; `kind` is that of which an object is derived."""
    kind = made.kind if kind is None else kind
    given = _fields(lowering, kind, args, kwargs)
    attributes = {}
    for field in dataclasses.fields(kind):
        if field.name in given:
            attributes[field.name] = given.pop(field.name)
        elif field.default_factory is not dataclasses.MISSING:
            attributes[field.name] = apply(lowering, field.default_factory, [], {})
        elif field.default is not dataclasses.MISSING:
            attributes[field.name] = _default(lowering, kind, field.name, field.default)
    for name, value in attributes.items():
        put_entry(lowering, made, name, value)
    if hasattr(kind, "__post_init__"):
        after = read_attribute(lowering, made, "__post_init__")
        apply(lowering, after, list(given.values()), {})  # what is left are InitVars


def _fields(lowering: Lowering, kind: type, args: list, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by parameter name; of a field with a factory only where it is given."""
    signature = signature_of(kind)
    arguments = bind(lowering, signature, kind.__name__, args, kwargs)
    given = signature.bind(*args, **kwargs).arguments
    factories = {
        field.name
        for field in (dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ())
        if field.default_factory is not dataclasses.MISSING
    }
    return {
        name: value if name in given else _default(lowering, kind, name, value)
        for name, value in arguments.items()
        if name in given or name not in factories
    }


def _default(lowering: Lowering, kind: type, name: str, value: Any) -> Any:
    """A default that is an array or a container is captured."""
    if type(value) in LITERALS:
        return value
    return lowering.captures.of(value, Place.of_object(value, f"{kind.__name__}.{name}"))


# ---- attributes ----------------------------------------------------------------------------------


def set_attribute(lowering: Lowering, holder: Any, name: str, value: Any) -> None:
    """`holder.name = value`"""
    if is_picked(holder):
        HANDLERS[EACH](
            lowering, [holder, lambda each: set_attribute(lowering, each, name, value)], {}
        )
        return
    if isinstance(holder, Symbol):
        _set_on_array(lowering, holder, name, value)
        return
    if isinstance(holder, Closure):
        put_entry(lowering, holder.attributes, name, value)
        return
    if isinstance(holder, Tree) and (holder.kind in (list, dict, set) or _is_tuple(holder)):
        raise AttributeError(f"{name_of(holder.kind)!r} object has no attribute {name!r} to be set")
    kind = holder.kind if isinstance(holder, Tree) else type(unwrap(holder))
    given = (lowering, kind, holder, name, value)
    if not isinstance(holder, type) and (_set_by_method(*given) or _set_by_class(*given)):
        return
    if isinstance(holder, Captured) and _is_parameter(holder.value, name):
        held = read_attribute(lowering, holder, name)
        if value is not held:  # `self.steps += 1` has changed it already
            set_item(lowering, held, Ellipsis, value)
        return
    if not isinstance(holder, Box) or name in NAMESPACES:
        raise _not_its_own(holder, name)
    if _is_frozen(kind):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    _put_attribute(lowering, holder, name, value)


def _put_attribute(lowering: Lowering, holder: Box, name: str, value: Any) -> None:
    """An object of a class with `__slots__` takes no attributes but these."""
    kind = holder.kind
    if not kind.__dictoffset__ and not _is_slot(method_of(kind, name)):
        raise no_attribute(lowering, getattr(kind, "__s2s_stands_for__", kind), name)
    value = lowering.builder.named(kept_by(holder, value), Hint(name, "temporary"))
    put_entry(lowering, holder, name, value)


def _is_slot(found: Any) -> bool:
    return isinstance(found, types.MemberDescriptorType)


def _set_by_method(lowering: Lowering, kind: type, holder: Any, name: str, value: Any) -> bool:
    """Let `__setattr__` of the class set the attribute; False where it has none."""
    own = isinstance(holder, Box) and _is_users(kind, "__setattr__")
    if own:
        apply(lowering, read_attribute(lowering, holder, "__setattr__"), [name, value], {})
    return own


def _set_by_class(lowering: Lowering, kind: type, holder: Any, name: str, value: Any) -> bool:
    """Let a property, a descriptor or ndarray set the attribute; False where the class has none."""
    found = method_of(kind, name)
    if isinstance(found, property):
        if found.fset is None:
            raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no setter")
        apply(lowering, Method(found.fset, holder), [value], {})
        return True
    if is_written(type(found), "__set__"):
        base = next(each for each in kind.__mro__ if name in vars(each))
        of_descriptor(lowering, base, name, "__set__", [holder, value])
        return True
    if isinstance(found, types.GetSetDescriptorType) and is_array_object(holder):
        HANDLERS[SET_ARRAY_ATTRIBUTE](lowering, [holder, name, value], {})
        return True
    return False


def _set_on_array(lowering: Lowering, holder: Symbol, name: str, value: Any) -> None:
    """`x.flat = values`, `x.real = value`, `x.imag = value`, `x.shape = shape`"""
    if name in SETTERS:
        SETTERS[name](lowering, holder, value)
        return
    if not hasattr(np.ndarray, name):
        error = AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        raise lowering.python_raises(error)
    if name not in ("imag", "real"):
        raise UnsupportedError(
            "S2S204",
            f"an assignment to the attribute {name!r} of an array",
            help="make a new array: np.reshape, astype, ...",
        )
    if name == "imag" and not values.is_complex(holder.fact):
        raise TypeError("an array that is not complex has no imaginary part to set")
    set_item(lowering, read_attribute(lowering, holder, name), Ellipsis, value)


def _is_parameter(holder: Any, name: str) -> bool:
    """Whether the attribute is a Parameter of a Cell: assigning to it changes its value."""
    is_cell = getattr(type(holder), "__s2s_static__", False)
    return is_cell and isinstance(getattr(holder, name, None), Parameter)


def delete_attribute(lowering: Lowering, holder: Any, name: str) -> None:
    """`del holder.name`"""
    if is_picked(holder):
        HANDLERS[EACH](lowering, [holder, lambda each: delete_attribute(lowering, each, name)], {})
        return
    if not isinstance(holder, Box):
        raise _not_its_own(holder, name)
    error = AttributeError(f"{name_of(holder.kind)!r} object has no attribute {name!r}")
    if _is_frozen(holder.kind):
        raise error
    drop_entry(lowering, holder, name, error)


def _is_tuple(holder: Tree) -> bool:
    return issubclass(holder.kind, tuple)


def _not_its_own(holder: Any, name: str) -> UnsupportedError:
    if isinstance(holder, Box):
        what = f"the attribute {name!r}, which holds all others, is set"
        return UnsupportedError("S2S201", what, help="set the attributes one by one")
    if isinstance(unwrap(holder), type) and is_local(unwrap(holder)):
        what = f"the attribute {name!r} of class {unwrap(holder).__name__} is set"
        why = "a class that is defined inside a function stays what its body says"
        return UnsupportedError("S2S201", what, why=why, help="set it in the objects of the class")
    if isinstance(holder, Tree):
        what = f"object of class {name_of(holder.kind)}"
    elif isinstance(unwrap(holder), type | types.ModuleType):
        sort = "class" if isinstance(unwrap(holder), type) else "module"
        what = f"{sort} {unwrap(holder).__name__}"
    else:
        what = f"object of class {name_of(type(unwrap(holder)))}"
    return SharedMemoryError(
        "S2S207",
        f"the attribute {name!r} of {with_article(what)} that is not the function's own is set",
        why="it stands outside the function, and who calls the function would see the change",
        help="return the new value beside the result, and say grad(f, has_aux=True)",
    )


def _object_setattr(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """object.__setattr__(self, name, value): how frozen objects are filled."""
    holder, name, value = args
    if not isinstance(holder, Box) or holder.kind in (list, dict, set):
        raise _not_its_own(holder, name)
    if not _set_by_class(lowering, holder.kind, holder, name, value):
        _put_attribute(lowering, holder, name, value)


def _object_getattribute(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`self.__getattribute__(name)`, which asks no `__getattr__` of the class."""
    holder, name = args
    kind = holder.kind if isinstance(holder, Tree) else type(unwrap(holder))
    if method_of(kind, "__getattr__") is not None:
        raise UnsupportedError(
            "S2S201", f"object.__getattribute__ of a {kind.__name__}", help="use getattr"
        )
    return read_attribute(lowering, holder, known_object(name))


def _object_init(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """object.__init__(self), where a chain of `super().__init__()` ends: it takes nothing else."""
    if args[1:] or kwargs:
        name = args[0].kind.__name__ if isinstance(args[0], Tree) else "object"
        raise TypeError(
            f"{name}.__init__() takes exactly one argument (the instance to initialize)"
        )


def _setattr(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    holder, name, value = args
    set_attribute(lowering, holder, unwrap(name), value)


HANDLERS[type.__call__] = lambda lowering, args, kwargs: construct(
    lowering, args[0], args[1:], kwargs
)


HANDLERS[object.__getattribute__] = _object_getattribute
HANDLERS[object.__init__] = _object_init
HANDLERS[object.__setattr__] = _object_setattr
HANDLERS[setattr] = _setattr

# ---- results ----


def returned(value: Any) -> Any:
    """A value as it is returned to the caller, who makes the containers in it anew."""
    if isinstance(value, Box) and value.is_dynamic:
        texts = rows.texts_of(value.content)
        if texts is not None:
            return texts
        if is_rows(value.content):
            error = UnsupportedError(
                "S2S304",
                "a list of containers whose length is not known is returned",
                help="return a list for each of their parts",
            )
            raise items_needed(value, error)
        return settled(value)
    if is_array_object(value):
        return returned(value.known().get(HELD))
    if is_picked(value):
        raise one_of_several(value, "that is returned")
    if not isinstance(value, Tree):
        return settled(as_array_of_no_axes(value))
    kind = list if value.kind in tree.VIEWS else value.kind
    content = dict(zip(value.keys, value.items, strict=True))
    if dataclasses.is_dataclass(kind):
        if not is_made_by_its_content(value):
            raise _not_remade(kind)
        content = {field.name: content[field.name] for field in dataclasses.fields(kind)}
    elif not _is_made_of_its_items(kind):
        raise _not_remade(kind)
    return Tree(kind, tuple(content), tuple(map(returned, content.values())))


def _is_made_of_its_items(kind: type) -> bool:
    """Whether the caller can make an object of a class that is no dataclass."""
    if kind in (dict, list, tuple) or tree.is_namedtuple(kind):
        return True
    return tree.has_plain_attributes(kind) and not is_local(kind)


def is_made_by_its_content(value: Tree) -> bool:
    """Whether a call of its class with its attributes gives the same object again."""
    kind = getattr(value.kind, "__s2s_stands_for__", value.kind)
    if kind is types.SimpleNamespace:
        return True
    if not _is_remade(kind):
        return False
    return {field.name for field in dataclasses.fields(kind)} == set(value.keys)


def _is_remade(kind: type) -> bool:
    """Whether a call with the fields of a dataclass gives the same object again."""
    generated = dataclasses.is_dataclass(kind) and is_generated(method_of(kind, "__init__"))
    generated = generated and not is_local(kind)
    own = generated and not hasattr(kind, "__post_init__")
    return own and all(field.init for field in dataclasses.fields(kind))


def _not_remade(kind: type) -> UnsupportedError:
    return UnsupportedError(
        "S2S304",
        f"an object of class {name_of(kind)} is returned",
        why="it cannot be made again from what it holds",
        help="return its values in a tuple, a dict or a plain dataclass",
    )


# ---- operators -----------------------------------------------------------------------------------

BINARY = {
    operator.add: "add",
    operator.and_: "and",
    operator.floordiv: "floordiv",
    operator.lshift: "lshift",
    operator.matmul: "matmul",
    operator.mod: "mod",
    operator.mul: "mul",
    operator.or_: "or",
    operator.pow: "pow",
    operator.rshift: "rshift",
    operator.sub: "sub",
    operator.truediv: "truediv",
    operator.xor: "xor",
}
COMPARISONS = {
    operator.eq: ("__eq__", "__eq__"),
    operator.ge: ("__ge__", "__le__"),
    operator.gt: ("__gt__", "__lt__"),
    operator.le: ("__le__", "__ge__"),
    operator.lt: ("__lt__", "__gt__"),
    operator.ne: ("__ne__", "__ne__"),
}
UNARY = {
    abs: "__abs__",
    operator.invert: "__invert__",
    operator.neg: "__neg__",
    operator.pos: "__pos__",
}

#: the kinds of what is no object of the user's
NO_OBJECTS = (dict, list, set, tuple, *tree.VIEWS, Error, Iterator, Picked, Word)

#: there is no such method, or it gives NotImplemented
NOTHING = object()


def class_of(value: Any) -> type | None:
    """The class of an object of the user's; None of numbers, arrays and Python's own."""
    if isinstance(value, Tree):
        return None if value.kind in NO_OBJECTS else value.kind
    if isinstance(value, Captured) and not isinstance(value.value, type | types.ModuleType):
        return type(value.value)
    return None


def call_method(lowering: Lowering, value: Any, name: str, args: list) -> Any:
    """What a special method of the user's gives; NOTHING where there is none."""
    if not _says(class_of(value), name):
        return NOTHING
    result = apply(lowering, read_attribute(lowering, value, name), args, {})
    return NOTHING if unwrap(result) is NotImplemented else result


def _says(kind: type | None, name: str) -> bool:
    """Whether a class says what a special method does: in Python, or by an object that is called,
    as decorators make one."""
    found = None if kind is None else method_of(kind, name)
    return found is not None and not isinstance(found, OF_C | np.ufunc)


def _entries(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> dict[Any, Any]:
    """The entries of an object that has keys: those for which its class has no `__iter__`, too."""
    (value,) = args
    if isinstance(value, Tree) and is_read_as_dict(value.kind):
        held = value.known() if isinstance(value, Box) else value
        return entries_given(lowering, held.get(HELD)) or {}
    keys = all_items(lowering, call_method(lowering, value, "keys", []))
    if keys is None:
        raise UnsupportedError("S2S205", "the entries of an object whose keys are not known")
    known = [known_key(lowering, each) for each in keys]
    return {each: call_method(lowering, value, "__getitem__", [of_key(each)]) for each in known}


HANDLERS[Mapping] = _entries


def of_objects(lowering: Lowering, function: Callable, left: Any, right: Any) -> Any:
    """`left op right` where one of them is an object; NOTHING where no class says what it is."""
    compares = function in COMPARISONS
    if compares:
        first, second = COMPARISONS[function]
    else:
        first, second = f"__{BINARY[function]}__", f"__r{BINARY[function]}__"
    calls = [(left, first, right), (right, second, left)]
    kinds = class_of(left), class_of(right)
    if None not in kinds and kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0]):
        if compares or method_of(kinds[0], second) is not method_of(kinds[1], second):
            calls.reverse()
    elif kinds[0] is kinds[1] and not compares:
        del calls[1]
    for value, name, other in calls:
        if _is_users(class_of(value), name):
            result = call_method(lowering, value, name, [other])
            if result is not NOTHING:
                return result
    return NOTHING


def _is_users(kind: type | None, name: str) -> bool:
    """Whether the user has written the method: those of dataclasses compare all fields."""
    return _says(kind, name) and not is_generated(method_of(kind, name))


def compared_fields(left: type | None, right: type | None, name: str) -> list[str] | None:
    """The fields that `dataclass` compares with this operator; None where it does not."""
    found = None if left is not right or left is None else method_of(left, f"__{name}__")
    if not is_generated(found):
        return None
    owner = next(each for each in left.__mro__ if vars(each).get(f"__{name}__") is found)
    if not dataclasses.is_dataclass(owner):
        return None
    return [field.name for field in dataclasses.fields(owner) if field.compare]


def in_place_object(lowering: Lowering, function: Callable, old: Any, value: Any) -> Any:
    """What `old op= value` gives where the class of old says so; else NOTHING."""
    return call_method(lowering, old, f"__i{BINARY[function]}__", [value])
