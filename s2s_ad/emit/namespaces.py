"""A module of NumPy text as one of another array namespace: JAX, PyTorch, CuPy, the standard.

The text keeps its layout and its comments: what is changed is changed in place. Each namespace is a
`Dialect`; what a dialect has no form for is refused, by name and line of the text.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError, UnsupportedError
from s2s_ad.emit.namespace_kinds import (
    CONSTANTS,
    KINDS,
    NOTHING,
    Expressions,
    Known,
    has_float,
    is_slice,
    items_of,
    makes_floats,
    name_for_numbers,
    path_of,
)

#: functions of the array API standard that NumPy has under the same name, called alike
NAMES = """
abs acos acosh all any argmax argmin argsort asin asinh atan atan2 atanh bitwise_and
bitwise_or bitwise_xor broadcast_to ceil clip conj copysign cos cosh count_nonzero diff
divide equal exp expm1 flip floor floor_divide greater greater_equal hypot imag isfinite
isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
logical_or logical_xor matmul matrix_transpose max maximum mean min minimum moveaxis
multiply negative nextafter not_equal ones_like positive prod real reciprocal remainder
reshape roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack
subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc where zeros_like
empty_like full_like
"""
STANDARD = set(NAMES.split())
#: functions that make arrays, of double precision where no dtype is said
MAKERS = {"arange": 0, "empty": 1, "eye": 0, "full": 2, "linspace": 0, "ones": 1, "zeros": 1}
RENAMED = {
    "absolute": "abs", "add": "add", "amax": "max", "amin": "min", "arccos": "acos",
    "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "concatenate": "concat", "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum", "identity": "eye", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "outer": "linalg.outer", "power": "pow",
    "right_shift": "bitwise_right_shift", "swapaxes": "", "true_divide": "divide",
    "cross": "linalg.cross", "diagonal": "linalg.diagonal", "trace": "linalg.trace",
}  # fmt: skip
LINALG = {"cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_rank", "pinv", "qr", "slogdet"}
LINALG |= {"cross", "solve", "svd"}
FFT = {"fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "fftfreq", "rfftfreq", "fftshift"}
DTYPES = {"bool", "complex64", "complex128", "float32", "float64", "int8", "int16", "int32"}
DTYPES |= {"int64", "uint8", "uint16", "uint32", "uint64"}
PYTHON_DTYPES = {"bool": "bool", "complex": "complex128", "float": "float64", "int": "int64"}
NUMBERS = {"e", "inf", "nan", "newaxis", "pi"}
#: what is said of lists, dicts and texts
OF_CONTAINERS = {"append", "copy", "extend", "get", "insert", "items", "keys", "pop", "values"}
#: attributes that all arrays have
ATTRIBUTES = {"T", "dtype", "ndim", "shape"}
#: NumPy's functions that JAX has no form for
NOT_IN_JAX = {"add.at", "asanyarray", "broadcast", "copyto", "errstate", "fix", "ndarray", "nditer"}
NOT_IN_JAX |= {"may_share_memory", "ndenumerate", "ndindex", "poly1d", "putmask", "row_stack"}
NOT_IN_JAX |= {"lib", "ma", "random", "shares_memory", "testing"}
NOT_IN_CUPY = {"errstate", "ma", "ndarray", "nditer", "poly1d", "random", "testing", "vectorize"}
UPDATES = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Sub: "add"}

NAMESPACE_OF = '''

def array_namespace(*values):
    """The namespace of the first array among the values, or among what these hold."""
    held = []
    for value in values:
        if hasattr(value, "__array_namespace__"):
            return value.__array_namespace__()
        value = getattr(value, "__dict__", value)
        if isinstance(value, dict):
            held += value.values()
        elif isinstance(value, (tuple, list)):
            held += value
    if not held:
        raise TypeError("no argument is an array")
    return array_namespace(*held)
'''

#: helpers of ours in the words that all namespaces have
HELPERS = {
    "unbroadcast": '''def unbroadcast(value, array):
    """Sum `value` over the axes along which `array` was broadcast."""
    rank, more = getattr(array, "ndim", 0), getattr(value, "ndim", 0)
    if more > rank:
        value = np.sum(value, axis=tuple(range(more - rank)))
    ones = tuple(i for i in range(rank) if array.shape[i] == 1 and value.shape[i] != 1)
    return np.sum(value, axis=ones, keepdims=True) if ones else value
'''
}

ARITHMETIC = ast.Mult | ast.Div | ast.Add | ast.Sub | ast.Pow

Located = ast.expr | ast.stmt  # what has a place in the text


@dataclass(frozen=True)
class Dialect:
    """An array namespace.

    Attributes:
        alias: what the text calls it; module: what it imports; None: that of the arguments.
        standard: whether functions have the names and arguments of the array API standard.
        stores: whether elements of arrays can be stored; else `x = x.at[i].set(v)` is written.
        scatters: whether elements at arrays of indices can be stored.
        adds_at: what `np.add.at(x, i, v)` is written with: x, this, i, this, v, this; nothing where
            it stays; None where it has no form.
        reverses: whether a slice may go down.
        iterates: whether an array is iterated over, and unpacked.
        views: whether a part of an array is certain to share its memory, as in NumPy.
        like_numpy: whether its class of arrays and its keywords are those of NumPy.
        missing: NumPy's names that it lacks, where it is not of the standard.
        more: names that it has besides those of the standard.
    """

    alias: str
    module: str | None
    standard: bool = False
    stores: bool = True
    scatters: bool = True
    adds_at: tuple[str, str, str] | tuple[()] | None = ()
    reverses: bool = True
    iterates: bool = True
    views: bool = True
    like_numpy: bool = False
    missing: frozenset[str] = frozenset()
    more: frozenset[str] = frozenset()


DIALECTS = {
    "array_api": Dialect(
        "xp", None, standard=True, scatters=False, adds_at=None, iterates=False, views=False
    ),
    "cupy": Dialect("cp", "cupy", like_numpy=True, missing=frozenset(NOT_IN_CUPY)),
    "jax.numpy": Dialect(
        "jnp",
        "jax.numpy",
        stores=False,
        adds_at=(".at[", "].add(", ")"),
        views=False,
        missing=frozenset(NOT_IN_JAX),
    ),
    "torch": Dialect(
        "xp",
        "array_api_compat.torch",
        standard=True,
        adds_at=(".index_put((", ",), ", ", accumulate=True)"),
        reverses=False,
        more=frozenset({"einsum", "vdot"}),
    ),
}


def in_namespace(source: str, name: str, known: Mapping[str, Known]) -> str:
    """The module for another namespace.

    Args:
        source: a module that needs NumPy alone; where the dialect has no `views` it stores what is
            a part of an array into the array.
        name: of the namespace, one of `DIALECTS`.
        known: what is known in each function of the module, by its name.

    Raises:
        UnsupportedError: the text does something that the namespace has no form for.
    """
    is_complex = any("c" in each.kinds.values() for each in known.values())
    if not DIALECTS[name].like_numpy and not is_complex:
        source = _with_helpers(source, HELPERS.keys() - known.keys())
    return _Rewriting(source, name, known).result()


def _with_helpers(source: str, names: Collection[str]) -> str:
    """The module with these helpers in the words that all namespaces have."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            lines[node.lineno - 1 : node.end_lineno] = [HELPERS[node.name]]
    return "".join(lines)


def dialect(name: str) -> Dialect:
    """The namespace of this name.

    Raises:
        ArgumentValueError: there is no such namespace.
    """
    if name not in DIALECTS:
        raise ArgumentValueError(
            "S2S502", f"no namespace {name!r}", help=f"one of {', '.join(DIALECTS)}"
        )
    return DIALECTS[name]


class _Rewriting(ast.NodeVisitor):
    """Walks the text and collects what is to be changed."""

    def __init__(self, source: str, name: str, functions: Mapping[str, Known]):
        self.source, self.name, self.dialect = source, name, DIALECTS[name]
        self.functions, self.expressions = functions, Expressions(NOTHING)
        self.bytes = source.encode("utf-8")
        lengths = [len(line) for line in self.bytes.splitlines(keepends=True)]
        self.starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self.edits: list[tuple[tuple[int, int, int], int, str]] = []
        self.inside = 0  # functions around what is looked at
        self.imported = False
        self.lists: set[str] = set()
        self.imports: set[str] = set()
        self.uses = False
        self.stored: set[str] = set()

    def result(self) -> str:
        module = ast.parse(self.source)
        self.lists = _lists_in(module)
        self.visit(module)
        parts, at = [], 0
        for (start, _, _), end, new in sorted(self.edits):
            parts += [self.bytes[at:start], new.encode("utf-8")]
            at = max(at, end)
        found = b"".join([*parts, self.bytes[at:]]).decode("utf-8")
        if self.dialect.module is None:
            found = found.rstrip("\n") + "\n" + NAMESPACE_OF
        if self.dialect.module and not self.imported:
            self.imports.add(f"{self.dialect.module} as {self.dialect.alias}")
        head = "".join(f"import {each}\n" for each in sorted(self.imports))
        if not head or f"\n{head}" in f"\n{found}":
            return found
        found = found.lstrip("\n")
        between = "\n\n" if found.startswith(("def ", "class ", "@")) else "\n"
        return head + ("" if found.startswith(("import", "from")) else between) + found

    # ---- places in the text

    @property
    def known(self) -> Known:
        """What is known of the names in the function that is looked at."""
        return self.expressions.known

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def start(self, node: Located) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: Located) -> int:
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def replace(self, start: int, end: int, new: str) -> None:
        self.edits.append(((start, 2, 0), end, new))

    def around(self, node: Located, before: str, after: str, *, outermost: bool = False) -> None:
        """Write something around a node; what is around a larger one is further out."""
        start, end = self.start(node), self.end(node)
        size = end - start + outermost
        self.edits.append(((start, 1, -size), start, before))
        self.edits.append(((end, 0, size), end, after))

    def in_place_of(self, node: ast.Attribute, end: int, new: str) -> None:
        """Replace the attribute, and what follows up to `end`."""
        self.replace(self.end(node) - len(node.attr) - 1, end, new)

    def use(self, node: Located) -> str:
        """The namespace, which the text then has a name for."""
        if self.dialect.module is None and not self.inside:
            raise self.refuse("a captured array, which is no argument,", node)
        self.uses = True
        return self.dialect.alias

    def refuse(self, what: str, node: Located) -> UnsupportedError:
        return UnsupportedError(
            "S2S201",
            f"{what} has no form in {self.name}, in line {node.lineno} of the text: "
            f"{self.source.splitlines()[node.lineno - 1].strip()}",
            help="use the text for NumPy, or another function",
        )

    # ---- modules and functions

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            if each.name == "numpy":
                self._import(node)
            elif each.name.partition(".")[0] == "scipy":
                raise self.refuse("SciPy", node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if (node.module or "").partition(".")[0] in ("scipy", "numpy"):
            raise self.refuse(node.module or "", node)

    def _import(self, node: ast.Import) -> None:
        module, alias = self.dialect.module, self.dialect.alias
        new = f"import {module} as {alias}" if module else ""
        self.imported = True
        self.replace(self.start(node), self.end(node), new)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.uses, self.stored, self.expressions
        self.uses, self.stored = False, _stored_in(node)
        if node.name in self.functions:
            known = self.functions[node.name]
            self.expressions = Expressions(known, node, is_helper=not self._is_main(node))
        self.inside += 1
        for each in node.body:
            self.visit(each)
        self.inside -= 1
        if self.uses and self.dialect.module is None:
            if self._is_main(node) and self.known.no_array_given:
                raise self.refuse("a call without an array, which would tell the library,", node)
            names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            first = next(e for e in node.body if not _is_docstring(e))
            place = self.at(first.lineno, 0)
            given = ", ".join(each.arg for each in names)
            indent = " " * first.col_offset
            line = f"{indent}{self.dialect.alias} = array_namespace({given})\n"
            comment = self.bytes[: place - 1].rsplit(b"\n", 1)[-1].strip().startswith(b"#")
            place = place if not comment else self.at(first.lineno - 1, 0)
            self.replace(place, place, line)
        self.uses, self.stored, self.expressions = outer

    def _is_main(self, node: ast.FunctionDef) -> bool:
        """Whether it is what the user calls, and none of the functions that this calls."""
        return node.name == next(iter(self.functions), "")

    def visit_Try(self, node: ast.Try) -> None:
        """Elsewhere a matrix without a factor gives nan, and an index out of range the last one."""
        raise self.refuse("try, which rests on what NumPy raises,", node)

    # ---- stores

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self._store(node, target, "set")
                self.visit(node.value)
                return
            self._visit_target(target)
        if any(isinstance(each, ast.Tuple) for each in node.targets):
            self._taken_apart(node.value)
        self.visit(node.value)

    def _visit_target(self, target: ast.expr) -> None:
        if not isinstance(target, ast.Name | ast.Tuple | ast.Starred):
            raise self.refuse("this assignment", target)

    def visit_For(self, node: ast.For) -> None:
        self._iterated(node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._iterated(node.iter)
        self.generic_visit(node)

    def _iterated(self, node: ast.expr) -> None:
        """What a loop goes through: an array, or several beside each other."""
        inner: list[ast.expr] = []
        if isinstance(node, ast.Call) and not path_of(node.func).startswith("np."):
            inner = node.args
        for each in inner or [node]:
            self._taken_apart(each)

    def _taken_apart(self, node: ast.expr) -> None:
        """What is iterated over or unpacked: the tuple of its parts, where it is an array."""
        if not self.dialect.iterates and self._has_axes(node):
            self.around(node, f"{self.use(node)}.unstack(", ")", outermost=True)

    def _has_axes(self, node: ast.expr) -> bool:
        """Whether a value is an array, and no number or tuple."""
        if not isinstance(node, ast.Call):
            return self.expressions.has_axes(node) and not self._is_container(node)
        if self.expressions.is_number(node):
            return False
        method = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        head, _, name = path_of(node.func).partition(".")
        return method or (head == "np" and name in STANDARD | MAKERS.keys())

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self._store(node, node.target, UPDATES.get(type(node.op)), type(node.op) is ast.Sub)
        elif isinstance(node.target, ast.Name):
            self._changed(node, node.target.id)
        else:
            raise self.refuse("this assignment", node)
        self.visit(node.value)

    def _changed(self, node: ast.AugAssign, name: str) -> None:
        """x += v, which binds an array without axes anew in NumPy's text: it is a number there."""
        is_number = name in self.expressions.numbers
        if self.dialect.standard and not self.known.ranks.get(name) and not is_number:
            self._bound_anew(node, name)

    def _bound_anew(self, node: ast.AugAssign, name: str) -> None:
        """x += v as x = x + (v)."""
        equals = self.end(node.target) + self.bytes[self.end(node.target) :].index(b"=")
        operator_ = self.bytes[self.end(node.target) : equals].strip().decode()
        self.replace(self.end(node.target), equals + 1, f" = {name} {operator_}")
        simple = isinstance(node.value, ast.Name | ast.Call | ast.Constant | ast.Subscript)
        after = self.bytes[equals + 1 : self.start(node.value)].strip()
        if not simple and not after:
            self.around(node.value, "(", ")")

    def _store(
        self,
        node: ast.Assign | ast.AugAssign,
        target: ast.Subscript,
        method: str | None,
        negative: bool = False,
    ) -> None:
        """x[i] = v, or x[i] += v."""
        base = target.value
        of_array = isinstance(node, ast.AugAssign) and any(map(is_slice, items_of(target)))
        if self.dialect.stores or (self._is_container(base) and not of_array):
            self._check_index(target, node)
            if self.dialect.standard and _is_part_of(node.value, base):
                self.around(node.value, f"{self.use(node)}.asarray(", ", copy=True)")
            self.visit(target)
            return
        if method is None:
            raise self.refuse("this store", node)
        self.visit(target.slice)
        self.replace(self.start(node), self.start(node), f"{ast.unparse(base)} = ")
        self.replace(self.end(base), self.end(base), ".at")
        operator_ = self.bytes[self.end(target) : self.start(node.value)]
        stop = self.end(target) + operator_.index(b"=") + 1
        while self.bytes[stop : stop + 1] == b" ":
            stop += 1
        self.replace(self.end(target), stop, f".{method}(" + "-(" * negative)
        self.replace(self.end(node), self.end(node), ")" + ")" * negative)

    def _check_index(self, target: ast.Subscript, node: ast.stmt) -> None:
        """Refuse arrays of indices where the standard takes none: it takes a mask, alone."""
        items = items_of(target)
        arrays = [] if self.dialect.scatters else [*filter(self._has_axes, items)]
        if arrays and (len(items) > 1 or self.expressions.kind(arrays[0]) != "b"):
            raise self.refuse("a store of elements at an array of indices", node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and path_of(call.func) == "np.add.at":
            self._add_at(node, call)
        else:
            self.generic_visit(node)

    def _add_at(self, node: ast.Expr, call: ast.Call) -> None:
        """np.add.at(x, i, v)"""
        array, index, value = call.args
        forms = self.dialect.adds_at
        if forms == ():
            self.visit(call)
            return
        plain = isinstance(index, ast.Name) or not self.dialect.standard
        if not forms or not isinstance(array, ast.Name) or not plain:
            raise self.refuse("np.add.at", node)
        self.visit(index)
        self.visit(value)
        before, between, after = forms
        self.replace(self.start(node), self.start(index), f"{array.id} = {array.id}{before}")
        self.replace(self.end(index), self.start(value), between)
        self.replace(self.end(value), self.end(node), after)

    # ---- expressions

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        if not self.dialect.reverses and any(map(_goes_down, items_of(node))):
            raise self.refuse("a slice that goes down", node)
        if not self.dialect.standard or self._is_container(node.value):
            return
        items = items_of(node)
        if any(
            isinstance(e, ast.Constant) and (e.value is ... or isinstance(e.value, str))
            for e in items
        ):
            return
        if len(items) == 1 and self._has_axes(items[0]) and self.expressions.kind(items[0]) == "b":
            return  # a mask stands alone
        taken = sum(not (isinstance(e, ast.Constant) and e.value is None) for e in items)
        name = getattr(node.value, "id", "")
        rank = self.known.ranks.get(name)
        if rank is None and not any(map(is_slice, items)):
            raise self.refuse("an index of an array whose rank the text does not tell", node)
        is_stored = isinstance(node.ctx, ast.Store) and not self.dialect.scatters
        if is_stored or rank != taken or any(map(is_slice, items)):
            for each in filter(self.expressions.element_of_whole, items):
                self.around(each, "int(", ")")
        if rank != taken:  # the standard asks for an index of each axis
            ends = self.bytes[: self.end(node) - 1].rstrip().endswith(b",")
            self.replace(self.end(node) - 1, self.end(node) - 1, " ..." if ends else ", ...")
        elif name in self.stored and not any(map(is_slice, items)):
            self._number_of(node)

    def _number_of(self, node: ast.Subscript) -> None:
        """An element of an array that is changed: a number in NumPy, a part of the array here."""
        if isinstance(node.ctx, ast.Load):
            self.around(node, f"{self.use(node)}.asarray(", ", copy=True)")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Arithmetic with masks and whole numbers, which the standard does not mix with floats."""
        self.generic_visit(node)
        if not self.dialect.standard or not isinstance(node.op, ARITHMETIC):
            return
        both = node.left, node.right
        kinds = [self.expressions.kind(each) for each in both]
        wanted = max(kinds, key=KINDS.index)
        whole = isinstance(node.op, ast.Pow) and wanted == "i"
        if (
            isinstance(node.op, ast.Div)
            or "" in kinds
            or (isinstance(node.op, ast.Pow) and not whole)
        ):
            wanted = max(wanted, "f", key=KINDS.index)
        for each, kind in zip(both, kinds, strict=True):
            whole = kind == "b" or (kind == "i" and wanted != "i")
            if whole and not self.expressions.is_number(each) and self._is_array(each):
                self.around(each, f"{self.use(node)}.astype(", f", {self._dtype(wanted, node)})")

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a value is none of the numbers that elements of NumPy's are."""
        return not self.expressions.may_be_number(node)

    def _dtype(self, kind: str, node: ast.expr) -> str:
        """The dtype for an operand of an expression; that of an array in it where there is one."""
        alias = self.use(node)
        if kind in ("b", "i"):
            return f"{alias}.int64"
        like = self.expressions.float_in(node)
        return f"{like}.dtype" if like else f"{alias}.float64"

    def _is_container(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if isinstance(node, ast.Name):
            return node.id in self.lists or node.id in {
                *self.expressions.numbers,
                *self.known.containers,
            }
        if isinstance(node, ast.Subscript):
            return any(map(is_slice, items_of(node))) and self._is_container(node.value)
        return isinstance(node, ast.List | ast.Dict | ast.Tuple)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path.startswith("np."):
            self._named(node, path.removeprefix("np."))
            return
        self.generic_visit(node)
        if path.partition(".")[0] in ("math", "operator", "functools"):
            return
        if not self.dialect.standard:
            return
        if node.attr == "size":
            self.imports.add("math")
            self.around(node, "math.prod(", "")
            self.in_place_of(node, self.end(node), ".shape)")
        elif node.attr in ATTRIBUTES | OF_CONTAINERS or self._is_of_object(node):
            return
        elif isinstance(node.ctx, ast.Load):
            raise self.refuse(f".{node.attr}", node)

    def _is_of_object(self, node: ast.Attribute) -> bool:
        """Whether an attribute is that of an object of the user's."""
        inner = node.value
        if isinstance(inner, ast.Attribute):
            return self._is_of_object(inner)
        return isinstance(inner, ast.Name) and inner.id in self.known.containers

    def visit_Call(self, node: ast.Call) -> None:
        path, function = path_of(node.func), node.func
        if path.startswith("np.") and not self.dialect.like_numpy:
            self._sorted_as_asked(node)
        if (
            path == "isinstance"
            and path_of(node.args[1]) == "np.ndarray"
            and not self.dialect.like_numpy
        ):
            self.visit(node.args[0])
            self.replace(self.start(node.func), self.end(node.func), "hasattr")
            self.replace(self.start(node.args[1]), self.end(node.args[1]), '"ndim"')
        elif not self.dialect.standard:
            self.generic_visit(node)
            if path.startswith("np.") and not self.dialect.like_numpy:
                self._of_floats(node, path.removeprefix("np."))
        elif path.startswith("np."):
            FUNCTIONS.get(path.removeprefix("np."), _Rewriting._called)(self, node)
        elif path == "list" and node.args and not self.dialect.iterates:
            self._as_list(node)
        elif path == "len" and not self._is_container(node.args[0]):
            self.visit(node.args[0])
            if isinstance(node.args[0], ast.Name):
                self.replace(self.start(node), self.start(node.args[0]), "")
                self.replace(self.end(node.args[0]), self.end(node), ".shape[0]")
            else:
                self.replace(self.start(node), self.start(node) + len("len"), "")
                self.around(node, "", ".shape[0]")
        elif (
            isinstance(function, ast.Attribute)
            and function.attr in METHODS
            and not self._is_container(function.value)
        ):
            METHODS[function.attr](self, node, function)
        else:
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        (self._said_dtype if node.arg == "dtype" else self.visit)(node.value)

    def _said_dtype(self, node: ast.expr) -> None:
        """Python's types are dtypes for NumPy, not for the standard."""
        name = PYTHON_DTYPES.get(getattr(node, "id", ""))
        if name is None or not self.dialect.standard:
            self.visit(node)
        else:
            self.replace(self.start(node), self.end(node), f"{self.use(node)}.{name}")

    def _as_list(self, node: ast.Call) -> None:
        """list(x), of the parts of an array."""
        (value,) = node.args
        made_here = isinstance(value, ast.Call) and path_of(value.func) in HELPERS
        if made_here or self._has_axes(value):
            self.around(value, f"{self.use(node)}.unstack(", ")", outermost=True)
        self.visit(value)

    def _sorted_as_asked(self, node: ast.Call) -> None:
        """NumPy's kind="stable" is `stable=True` elsewhere."""
        for each in node.keywords:
            if each.arg == "kind":
                start = self.at(each.lineno, each.col_offset)
                self.replace(start, self.end(each.value), "stable=True")

    def _called(self, node: ast.Call) -> None:
        """A function of NumPy."""
        name = path_of(node.func).removeprefix("np.")
        of_numbers = all(map(self.expressions.is_number, node.args)) and not node.keywords
        if self.known.only_numbers or (of_numbers and node.args and name not in MAKERS):
            self._of_number(node, name)
            return
        if name == "full" and self._is_filled_with_array(node):
            self._broadcast(node)
            return
        self.generic_visit(node)
        if name in ("full", "full_like"):
            self._filled(node)
        self._with_arrays(node, name)
        dtypes = MAKERS.get({"identity": "eye"}.get(name, name))
        said = any(each.arg == "dtype" for each in node.keywords)
        whole = name == "arange" and not any(map(has_float, node.args))
        if dtypes is not None and not said and not whole:
            last = self.end(node) - 1
            comma = self.bytes[: self.end(node) - 1].rstrip().endswith(b",")
            alias = self.dialect.alias
            self.replace(last, last, f"{' ' if comma else ', '}dtype={alias}.float64")

    def _filled(self, node: ast.Call) -> None:
        """np.full(n, v): elsewhere v is a number of Python's."""
        for each in node.args[1:2]:
            number = {"f": "float", "i": "int", "b": "bool"}.get(self.expressions.kind(each))
            if number and not self.expressions.is_number(each) and not self._has_axes(each):
                self.around(each, f"{number}(", ")", outermost=True)

    def _is_filled_with_array(self, node: ast.Call) -> bool:
        """Whether it is np.full(x.shape, v) of what has axes, or is an array without any."""
        shape, value = node.args[:2]
        return isinstance(shape, ast.Attribute) and not self.expressions.may_be_number(value)

    def _broadcast(self, node: ast.Call) -> None:
        """np.full(x.shape, v) as a copy of broadcast_to(v, x.shape)."""
        shape, value = node.args
        self.visit(value)
        alias = self.use(node)
        self.around(node, f"{alias}.asarray(", ", copy=True)")
        self.replace(self.start(node), self.start(value), f"{alias}.broadcast_to(")
        self.replace(self.end(value), self.end(value), f", {ast.unparse(shape)}")

    def _with_arrays(self, node: ast.Call, name: str) -> None:
        """Operands as arrays of floats, where a function of these is given numbers or others."""
        function = getattr(np, name, None)
        operands = node.args[1:] if function is np.where else node.args
        if isinstance(function, np.ufunc) or function is np.where:
            numbers = [each for each in operands if self.expressions.may_be_number(each)]
            if operands and len(numbers) == len(operands):
                self._as_array(operands[0])
        if function is np.where and self.expressions.is_number(node.args[0]):
            self.around(
                node.args[0], f"{self.use(node)}.asarray(", f", dtype={self.use(node)}.bool)"
            )
        self._of_floats(node, name)

    def _of_floats(self, node: ast.Call, name: str) -> None:
        """Whole numbers and masks as doubles, where NumPy computes in these."""
        for each in node.args[:1]:
            kind = self.expressions.kind(each)
            whole = kind in ("b", "i") and self._is_array(each)
            if whole and makes_floats(name):
                self.around(each, f"{self.use(node)}.astype(", f", {self.use(node)}.float64)")

    def _as_array(self, node: ast.expr) -> None:
        """A number that may be one of Python's, as an array."""
        dtype = {"i": "int64", "b": "bool"}.get(self.expressions.kind(node), "float64")
        alias = self.use(node)
        self.around(node, f"{alias}.asarray(", f", dtype={alias}.{dtype})", outermost=True)

    def _of_number(self, node: ast.Call, name: str) -> None:
        short = name_for_numbers(name)
        if name in DTYPES:
            self.visit(node.args[0])
            self._converted(node, name)
        elif name in MAKERS:
            self.visit(node.func)
            alias = self.dialect.alias
            self.replace(self.end(node) - 1, self.end(node) - 1, f", dtype={alias}.float64")
        elif short:
            self.imports |= {"math"} & {short.partition(".")[0]}
            for each in node.args:
                self.visit(each)
            self.replace(self.start(node.func), self.end(node.func), short)
        else:
            raise self.refuse(f"np.{name} of a number", node)

    def _named(self, node: ast.Attribute, name: str) -> None:
        """A name of NumPy's."""
        if self.dialect.module is None and f"np.{name}" in CONSTANTS and hasattr(math, name):
            self.imports.add("math")
            self.replace(self.start(node), self.end(node), f"math.{name}")
            return
        found = self._other(name)
        if not found:
            raise self.refuse(f"np.{name}", node)
        self.replace(self.start(node), self.end(node), f"{self.use(node)}.{found}")

    def _other(self, name: str) -> str:
        """What the namespace calls a name of NumPy's; nothing where it has none."""
        head, _, tail = name.partition(".")
        if not self.dialect.standard:
            return "" if {name, head} & self.dialect.missing else name
        if head in ("linalg", "fft"):
            return name if tail in (LINALG if head == "linalg" else FFT) else ""
        if name in STANDARD | set(MAKERS) | DTYPES | NUMBERS | self.dialect.more:
            return name
        return RENAMED.get(name, "")

    # ---- what the standard writes in another way

    def _converted(self, node: ast.Call, dtype: str) -> None:
        """np.float64(x)"""
        alias = self.use(node)
        self.replace(self.start(node.func), self.end(node.func), f"{alias}.asarray")
        self.replace(self.end(node) - 1, self.end(node) - 1, f", dtype={alias}.{dtype}")

    def _of_dtype(self, node: ast.Call) -> None:
        self.visit(node.args[0])
        self._converted(node, path_of(node.func).removeprefix("np."))

    def _array(self, node: ast.Call) -> None:
        """np.array of constants, or of arrays that are stacked."""
        value, *more = node.args
        constant = all(
            not isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(value)
        )
        if more or (not constant and node.keywords):
            raise self.refuse("np.array with these arguments", node)
        self.visit(value)
        for each in node.keywords:
            self.visit(each)
        if not constant:
            self._stacked(value)
        alias = self.use(node)
        self.replace(
            self.start(node.func),
            self.end(node.func),
            f"{alias}.{'asarray' if constant else 'stack'}",
        )
        if constant and not node.keywords:
            kinds = {type(e.value) for e in ast.walk(value) if isinstance(e, ast.Constant)}
            dtype = next((k for k in (float, int, bool) if k in kinds), float)
            name = PYTHON_DTYPES[dtype.__name__]
            self.replace(self.end(node) - 1, self.end(node) - 1, f", dtype={alias}.{name}")

    def _stacked(self, value: ast.expr) -> None:
        """The items of a list that is stacked as arrays, the lists in it too."""
        for each in getattr(value, "elts", []):
            if isinstance(each, ast.List | ast.Tuple):
                self._stacked(each)
                self.around(each, f"{self.use(each)}.stack(", ")", outermost=True)
            elif self.expressions.may_be_number(each):
                self._as_array(each)

    def _sum(self, node: ast.Call) -> None:
        """np.sum, of what is true too."""
        if self.expressions.kind(node.args[0]) == "b":
            self.around(node.args[0], f"{self.use(node)}.astype(", f", {self.use(node)}.int64)")
        self._called(node)

    def _contracted(self, node: ast.Call) -> None:
        """np.tensordot, with axes in tuples."""
        self._called(node)
        for axes in [*node.args[2:], *(e.value for e in node.keywords if e.arg == "axes")]:
            for each in axes.elts if isinstance(axes, ast.Tuple | ast.List) else []:
                if not isinstance(each, ast.Tuple | ast.List):
                    self.around(each, "(", ",)")

    def _transposed(self, node: ast.Call) -> None:
        """np.transpose(x, axes)"""
        if len(node.args) != 2:
            raise self.refuse("np.transpose without axes", node)
        for each in node.args:
            self.visit(each)
        self.replace(self.start(node.func), self.end(node.func), f"{self.use(node)}.permute_dims")

    def _product(self, node: ast.Call) -> None:
        """np.vdot(x, y), of real arrays: where it stays vdot it takes vectors."""
        left, right = node.args
        self.visit(left)
        self.visit(right)
        start = f"{self.use(node)}.sum(("
        self.replace(self.start(node), self.start(left), start)
        self.replace(self.end(left), self.start(right), ") * (")
        self.replace(self.end(right), self.end(node), "))")

    def _wrapped(self, node: ast.Call, method: ast.Attribute, function: str, rest: str) -> None:
        """x.method(...) as function(x, rest)."""
        self.visit(method.value)
        self.around(node, f"{self.use(node)}.{function}(", "")
        self.in_place_of(method, self.end(node), f", {rest})")

    def _reshaped(self, node: ast.Call, method: ast.Attribute) -> None:
        """x.reshape(a, b)"""
        args = node.args
        if node.keywords or not args:
            raise self.refuse(".reshape with such arguments", node)
        self.visit(method.value)
        for each in args:
            self.visit(each)
        whole = len(args) == 1 and isinstance(args[0], ast.Tuple | ast.Attribute | ast.Name)
        self.around(node, f"{self.use(node)}.reshape(", "")
        self.in_place_of(method, self.end(method) + 1, ", " if whole else ", (")
        if not whole:
            self.replace(self.end(node) - 1, self.end(node), ",))" if len(args) == 1 else "))")

    def _astype(self, node: ast.Call, method: ast.Attribute) -> None:
        self.visit(method.value)
        self._said_dtype(node.args[0])
        self.around(node, f"{self.use(node)}.astype(", "")
        self.in_place_of(method, self.end(method) + 1, ", ")


METHODS: dict[str, Callable] = {
    "astype": _Rewriting._astype,
    "copy": lambda self, *nodes: self._wrapped(*nodes, "asarray", "copy=True"),
    "ravel": lambda self, *nodes: self._wrapped(*nodes, "reshape", "(-1,)"),
    "reshape": _Rewriting._reshaped,
}
FUNCTIONS: dict[str, Callable] = dict.fromkeys(DTYPES, _Rewriting._of_dtype)
FUNCTIONS |= {"array": _Rewriting._array, "transpose": _Rewriting._transposed}
FUNCTIONS |= {"sum": _Rewriting._sum, "tensordot": _Rewriting._contracted}
FUNCTIONS |= {"vdot": _Rewriting._product}


def _stored_in(function: ast.FunctionDef) -> set[str]:
    """The names of arrays of which elements are stored."""
    return {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    }


def _is_part_of(node: ast.expr, base: ast.expr) -> bool:
    """Whether a value is a part of an array, which NumPy alone may store into another one of it."""
    inner = node.value if isinstance(node, ast.Subscript) else None
    return isinstance(inner, ast.Name) and isinstance(base, ast.Name) and inner.id == base.id


def _goes_down(item: ast.expr) -> bool:
    step = item.step if isinstance(item, ast.Slice) else None
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lists_in(module: ast.AST) -> set[str]:
    """Names of lists and dicts: those that are made as such, appended to, or popped from."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(
            node.value, ast.List | ast.Dict | ast.ListComp
        ):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.value.id} if node.attr in ("append", "pop", "keys", "items") else set()
    return found
