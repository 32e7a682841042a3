"""Every kind of node that Python's parser makes is accepted, or refused by name and place."""

import ast
import inspect
import textwrap

import gast
import numpy as np
import pytest

from frontend.loading import load
from s2s_ad import S2SError, grad, jit
from s2s_ad.frontend.lower.core import EXPRESSIONS, STATEMENTS
from s2s_ad.frontend.lower.refused import REFUSED

X = np.array([0.3, -0.7, 1.1])

# What the parser never makes: kept for old code, or made for other modes of compile().
NEVER_PARSED = {"AugLoad", "AugStore", "Bytes", "Ellipsis", "ExtSlice", "Index", "NameConstant"}
NEVER_PARSED |= {"Num", "Param", "Str", "Suite"}
NOT_IN_FUNCTIONS = {"Expression", "FunctionType", "Interactive", "Module", "TypeIgnore"}

# The body of a function of x for each node that is accepted.
ACCEPTED = {
    "Add": "return x + x",
    "And": "return x * (x.ndim == 1 and x[0] > 0)",
    "AnnAssign": "y: float = x\nreturn y * y",
    "Assert": "assert x.size == 3, 'no'\nreturn x * x",
    "Assign": "y = z = x\nreturn y * z",
    "Attribute": "return x.T * x.size",
    "AugAssign": "y = x * 1.0\ny += x\nreturn y",
    "BinOp": "return x * x",
    "BitAnd": "return x * (x.size & 1)",
    "BitOr": "return x * (x.size | 4)",
    "BitXor": "return x * (x.size ^ 1)",
    "BoolOp": "return x * (x.ndim == 1 or x.ndim == 2)",
    "Break": "for i in range(3):\n    if x[i] < 0:\n        break\n    x = x * x\nreturn x",
    "Call": "return np.sin(x)",
    "ClassDef": "class C:\n    def f(self, v):\n        return v * v\nreturn C().f(x)",
    "Compare": "return x * (x > 0)",
    "Constant": "return x * 2.0",
    "Continue": "for v in x:\n    if v < 0:\n        continue\n    x = x * v\nreturn x",
    "Del": "y = x\ndel y\nreturn x * x",
    "Delete": "d = {'a': x, 'b': 1}\ndel d['b']\nreturn x * len(d)",
    "Dict": "return {'a': x}['a'] * 2.0",
    "DictComp": "return {k: x * x for k in 'ab'}['a']",
    "Div": "return x / 2.0",
    "Eq": "return x * (x == 0.5)",
    "ExceptHandler": "try:\n    y = x * x\nexcept ValueError:\n    y = x\nreturn y",
    "Expr": "'text'\nreturn x * x",
    "FloorDiv": "return x * (x.size // 2)",
    "For": "for i in range(3):\n    x = x * x\nreturn x",
    "FormattedValue": "print(f'{x!r:>30}')\nreturn x * x",
    "FunctionDef": "def f(v):\n    return v * v\nreturn f(x)",
    "GeneratorExp": "return sum(v * v for v in x)",
    "Gt": "return x * (x > 0)",
    "GtE": "return x * (x >= 0)",
    "If": "if x[0] > 0:\n    return x * x\nelse:\n    return x",
    "IfExp": "return x * x if x[0] > 0 else x",
    "Import": "import math as m\nreturn x * m.pi",
    "ImportFrom": "from math import pi\nreturn x * pi",
    "alias": "import math as m\nreturn x * m.pi",
    "In": "return x * ('a' in ('a', 'b'))",
    "Invert": "return x * ~(x > 0)",
    "Is": "return x * (x is None)",
    "IsNot": "return x * (x is not None)",
    "JoinedStr": "print(f'{x} {x.sum():.2f}')\nreturn x * x",
    "LShift": "return x * (x.size << 1)",
    "Lambda": "return (lambda v: v * v)(x)",
    "List": "return [x, x][1] * x",
    "ListComp": "return [v * v for v in x][0]",
    "Load": "return x * x",
    "Lt": "return x * (x < 0)",
    "LtE": "return x * (x <= 0)",
    "MatMult": "return x @ x",
    "Match": "match x.size:\n    case 3:\n        return x * x\nreturn x",
    "MatchAs": "match x.size:\n    case n:\n        return x * n",
    "MatchClass": "match x.ndim:\n    case int():\n        return x * x\nreturn x",
    "MatchMapping": "match {'a': x}:\n    case {'a': y}:\n        return y * y",
    "MatchOr": "match x.size:\n    case 2 | 3:\n        return x * x\nreturn x",
    "MatchSequence": "match (x, x):\n    case [y, z]:\n        return y * z",
    "MatchSingleton": "match x:\n    case None:\n        return x\nreturn x * x",
    "MatchStar": "match [x, x]:\n    case [y, *z]:\n        return y * z[0]",
    "MatchValue": "match x.size:\n    case 3:\n        return x * x\nreturn x",
    "Mod": "return x * (x.size % 2)",
    "Mult": "return x * x",
    "Name": "return x * x",
    "NamedExpr": "return (y := x * 2.0) * y",
    "Nonlocal": "y = x\ndef f():\n    nonlocal y\n    y = y * y\n    return x\nreturn f() * y",
    "Not": "return x * (not x.ndim == 2)",
    "NotEq": "return x * (x != 0.5)",
    "NotIn": "return x * ('c' not in ('a', 'b'))",
    "Or": "return x * (x.ndim == 2 or x[0] > 0)",
    "ParamSpec": "def f[**P](v):\n    return v * v\nreturn f(x)",
    "Pass": "pass\nreturn x * x",
    "Pow": "return x ** 2",
    "RShift": "return x * (x.size >> 1)",
    "Raise": "if x[0] > 9:\n    raise ValueError(f'{x}') from None\nreturn x * x",
    "Return": "return x * x",
    "Global": "global counter\ncounter = 1\nreturn x * counter",
    "Set": "return x * len({1, 2})",
    "SetComp": "return x * len({k for k in 'ab'})",
    "Slice": "return x[1:] * x[:-1]",
    "Starred": "first, *rest = [x, x * 2.0]\nreturn rest[0] * first",
    "Store": "y = x\nreturn y * y",
    "Sub": "return x - 2.0 * x",
    "Subscript": "return x[0] * x[None, ..., -1]",
    "Try": "try:\n    return x * x\nfinally:\n    pass",
    "Tuple": "return (x, x)[0] * x",
    "TypeVar": "def f[T](v: T) -> T:\n    return v * v\nreturn f(x)",
    "TypeVarTuple": "def f[*T](v):\n    return v * v\nreturn f(x)",
    "UAdd": "return +x",
    "USub": "return -x",
    "UnaryOp": "return -x",
    "While": "k = 0\nwhile k < 2:\n    x = x * x\n    k += 1\nreturn x",
    "With": "with np.errstate(all='ignore'):\n    return x * x",
    "arg": "def f(v, /, *, w=2.0):\n    return v * w\nreturn f(x)",
    "arguments": "def f(*v, **w):\n    return v[0] * w['w']\nreturn f(x, w=x)",
    "comprehension": "return [v * v for v in x if v > 0][0]",
    "keyword": "return x.sum(axis=0) * np.sum(x, keepdims=True)",
    "match_case": "match x.size:\n    case n if n > 2:\n        return x * n\nreturn x",
    "withitem": "with np.errstate(all='ignore') as e:\n    return x * x",
}

# The body for each node that is refused, and as what: where it is only met inside of another node,
# that node is refused.
IN_ASYNC = "async def f():\n    {}\nreturn x"
REFUSALS = {
    "AsyncFor": (IN_ASYNC.format("async for i in x: pass"), "AsyncFunctionDef"),
    "AsyncFunctionDef": (IN_ASYNC.format("pass"), "AsyncFunctionDef"),
    "AsyncWith": (IN_ASYNC.format("async with x: pass"), "AsyncFunctionDef"),
    "Await": (IN_ASYNC.format("await x"), "AsyncFunctionDef"),
    "Interpolation": ("y = t'{x}'\nreturn x", "TemplateStr"),
    "TemplateStr": ("y = t'{x}'\nreturn x", "TemplateStr"),
    "TryStar": ("try:\n    pass\nexcept* ValueError:\n    pass\nreturn x", "TryStar"),
    "TypeAlias": ("type T = int\nreturn x", "TypeAlias"),
    "Yield": ("def f():\n    sent = (yield x) + 1\nreturn sum(f())", "Yield"),
    "YieldFrom": ("def f():\n    sent = yield from x\nreturn sum(f())", "YieldFrom"),
}


def node_classes():
    """The leaves of the hierarchy of `ast`."""
    waiting, found = [ast.AST], set()
    while waiting:
        each = waiting.pop()
        below = [kind for kind in each.__subclasses__() if kind.__module__ in ("ast", "_ast")]
        waiting += below
        if not below or each is ast.Constant:
            found.add(each.__name__)
    return found - NEVER_PARSED - NOT_IN_FUNCTIONS


NODES = sorted(node_classes())


def function_of(folder, body):
    text = "import numpy as np\n\n\ndef function(x):\n" + textwrap.indent(body, "    ")
    return load(folder, text + "\n").function, ast.parse(text).body[1]


def first(tree, kind):
    places = [n for n in ast.walk(tree) if type(n).__name__ == kind and hasattr(n, "lineno")]
    return min(places, key=lambda node: (node.lineno, node.col_offset), default=None)


def contains(tree, kind):
    return any(type(node).__name__ == kind for node in ast.walk(tree))


def test_every_node_has_a_snippet_and_one_only():
    assert set(NODES) <= ACCEPTED.keys() | REFUSALS.keys()
    assert not ACCEPTED.keys() & REFUSALS.keys()


def test_the_frontend_has_an_answer_for_every_statement_and_expression_of_gast():
    """The frontend is given gast's nodes, some of which ast calls otherwise."""
    inside = {"FormattedValue", "Interpolation", "Starred", "Exec", "Print", "Repr"}
    kinds = [
        each
        for each in vars(gast).values()
        if inspect.isclass(each) and issubclass(each, gast.stmt | gast.expr | gast.slice)
    ]
    names = {each.__name__ for each in kinds} - inside - {"stmt", "expr", "slice"}
    accepted = {each.__name__ for each in [*EXPRESSIONS, *STATEMENTS]}
    assert names == accepted | REFUSED.keys()
    assert not accepted & REFUSED.keys()


@pytest.mark.parametrize("kind", [each for each in NODES if each in ACCEPTED])
def test_accepted_node(kind, tmp_path):
    function, tree = function_of(tmp_path, ACCEPTED[kind])
    assert contains(tree, kind)
    expected = function(X)
    np.testing.assert_allclose(jit(function)(X), expected)
    step = 1e-6
    ends = [(function(X + h), function(X - h)) for h in step * np.eye(3)]
    numeric = [(np.sum(up) - np.sum(down)) / (2 * step) for up, down in ends]
    np.testing.assert_allclose(grad(function)(X), numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [each for each in NODES if each in REFUSALS])
def test_refused_node(kind, tmp_path):
    body, culprit = REFUSALS[kind]
    function, tree = function_of(tmp_path, body)
    assert contains(tree, kind)
    with pytest.raises(S2SError) as caught:
        grad(function)(X)
    error, node = caught.value, first(tree, culprit)
    assert error.code == "S2S201"
    assert error.what.startswith(REFUSED[culprit][0])
    assert error.help == REFUSED[culprit][1]
    assert (error.origin.line, error.origin.column) == (node.lineno, node.col_offset)
    assert error.origin.file.startswith(str(tmp_path))


# The caret stands under the construct, in characters, whatever stands before it.
CARETS = [
    (
        "y = [v * v for v in unknown]",
        "    y = [v * v for v in unknown]",
        "                        ^^^^^^^",
    ),
    (
        "return x + (y := x.nothing)",
        "    return x + (y := x.nothing)",
        "                     ^^^^^^^^^",
    ),
    ("return x * x.nothing", "    return x * x.nothing", "               ^^^^^^^^^"),
    ("return np.sin(unknown)", "    return np.sin(unknown)", "                  ^^^^^^^"),
    ("return np.unknown(x)", "    return np.unknown(x)", "           ^^^^^^^^^^"),
    ("x.size = 1.0", "    x.size = 1.0", "    ^^^^^^"),
    ("return x[1.5]", "    return x[1.5]", "           ^^^^^^"),
    ("return x[:0.5]", "    return x[:0.5]", "              ^^^"),
    ("return {x: 1}", "    return {x: 1}", "            ^"),
    ("return x + 'é' + {1}", "    return x + 'é' + {1}", "           ^^^^^^^"),
    ("é = x.nothing", "    é = x.nothing", "        ^^^^^^^^^"),
    ("return open(x)", "    return open(x)", "           ^^^^^^^"),
    ("for v in x[0]:\n        x = x * v", "    for v in x[0]:", "    ^^^^^^^^^^^^^^"),
    ("y = np.where(x,\n        x.nothing,\n        x)", "        x.nothing,", "        ^^^^^^^^^"),
    ("\ty = x.nothing".lstrip(), "    y = x.nothing", "        ^^^^^^^^^"),
]


@pytest.mark.parametrize("body, line, caret", CARETS)
def test_the_caret_points_at_the_construct(body, line, caret, tmp_path):
    text = f"import numpy as np\n\n\ndef function(x):\n    {body}\n    return x\n"
    function = load(tmp_path, text).function
    with pytest.raises(S2SError) as caught:
        grad(function)(X)
    shown = str(caught.value).splitlines()
    at = next(i for i, each in enumerate(shown) if each.endswith(f"| {line}"))
    gutter = shown[at].index("|")
    assert shown[at + 1][gutter + 2 :].rstrip() == caret


def test_a_tab_before_the_caret_stays_a_tab(tmp_path):
    function = load(tmp_path, "def function(x):\n\tif x.ndim:\n\t\ty = x.no\n\treturn x\n").function
    with pytest.raises(S2SError) as caught:
        grad(function)(X)
    assert "3 | \t\ty = x.no\n" in str(caught.value)
    assert str(caught.value).splitlines()[4] == "  | \t\t    ^^^^"
