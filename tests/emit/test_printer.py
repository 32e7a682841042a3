"""What the printer writes is the program it was given, in the form that `ruff format` gives it."""

import ast
import io
import keyword
import math
import random
import subprocess
import sys
import tokenize

import gast
import pytest

from s2s_ad.emit.printer import print_expression, print_statements

# One statement a line, each in the one form that ruff leaves alone.
LINES = r'''
a - b - c
a - (b - c)
a - (b + c) - d
a / b * c
a / (b * c)
a @ (b @ c)
(a + b) * c
a + b * c
a % b // c
a << b | c & d ^ e
(a | b) & (c ^ d)
-a * b
-(a * b)
-a - -b
--a
-+~a
not not a
not a + b
not (a and b)
not a and b
(-a).T
(a + b).T
(not a) + b
a and b or c
a and (b or c)
(a and b) and c
a or (b or c)
a < b <= c != d
(a < b) < c
a < (b < c)
a in b and c not in d
a is not None
a | b < c
(a < b) | c
not a in b
a if b else c
a if b else c if d else e
(a if b else c) if d else e
a if (b if c else d) else e
(a if b else c) + d
a or b if c or d else e or f
(lambda: 0)()
lambda: (yield)
lambda x, /, y=1, *z, k, **w: x + y
lambda *, k=None: k
lambda x: lambda y: a if x else b
(lambda x: x) if a else lambda: 1
a**b
a**-b
(-a) ** b
-(a**b)
~(a ** (b + c))
a**b**c
(a**b) ** c
a ** (b + c) ** d
x[0] ** 2
2 ** f(x)
x.y**z.w
x.y[0] ** 2
2**-x.y
(-2) ** x
-2 * x
1.5**2j
2**x * 3
x ** (not y)
"a" ** 2
x ** f()[0] ** y.z**2
(1).real
(1.5).real**2
1j.real
True.real
"a".join(b)
f(a)(b)[c].d
f(a, *b, c=d, **e)
f(*a or b, **c or d)
f(i for i in x)
f((i for i in x), y)
f(y, (yield))
f(x := 1)
f((a, b), (c,), ())
f(lambda x: x + 1, a if b else c)
f(x=(y := 1))
(yield).a
x[a, b]
x[()]
x[a,]
x[*a]
x[(a, b), *c]
x[y := 1]
(a, b)[0]
x[1:]
x[:-1]
x[a:b:c]
x[::2]
x[:, None, ...]
x[i + 1 :]
x[: i + 1]
x[a.b : c]
x[i + 1 :: 2]
x[:: f(x)]
x[a + 1 : b : c]
x[not a :]
x[-a : b[0], 1:2]
[]
(a,)
[a, *b | c]
{*a, b}
{a: b if c else d, **e}
[x for x, y in z if x if y or z]
[x for (x,) in (a if b else c)]
{(x, y) for x in a for y in b if (lambda: x)}
{x: y for x, y in z}
(x for x in y)
[y := 1, y**2]
x = "it's"
x = 'say "hi"'
x = "both ' and \""
x = "\\ \n \t \x00 é"
x = b"it's"
x = b'\x00"'
x = f"{x!r:>{width}} {{}} {y:.3f}"
x = f"{x['a']}"
x = f'"{x}"'
x = f"it's {x}"
x = f"{ {1: 2}[x] }"
x = f"{a if b else c} {(lambda: 0)} {(a, b)} {(yield)}"
x = f"{x!s} {'a' + f(y)}"
x = f"""{f("it's")} {g('"')}"""
x = 1e-10 + 1e16 - 0.5
x = y = z
x, y = y, x
(x,) = y
[x, y] = z
(x, y), z = w
x, *y = *z, w
x[0], y.z = 1, 2
x = yield
x = yield y, z
x = yield from y
x = (y := 1)
x @= y
x **= 2
x += 1, 2
x: int
(x): int = 1
x.y: list[int] = []
del x
del x, y[0]
del (x, y)
(x := 1)
assert (x, y), (z := 1)
raise ValueError(x) from None
import a.b as c, d
from a.b import c as d, e
from . import x
from ..a import *
global x, y
'''.strip().splitlines()

BLOCKS = '''
if x:
    pass
elif y:
    pass
else:
    pass
---
if x:
    pass
else:
    if y:
        pass
    z = 1
---
if (x := f()) > 1:
    pass
---
while x := f():
    break
else:
    x = 1
---
for x, y in (1, 2):
    continue
---
for (x,) in y:
    pass
else:
    pass
---
with x:
    pass
---
with x as y, z as (a, b):
    pass
---
with (yield):
    pass
---
try:
    pass
except A:
    pass
except (B, C) as e:
    pass
else:
    pass
finally:
    pass
---
def f(a, /, b: int = 1, *args: int, c, d: str = "x", **kw) -> int:
    return
---
def f(a=1, /, *, b):
    return *a, b
---
def f():
    return (yield)
---
def f():
    nonlocal x
    return a, {b: c}
---
@a.b(c)
@d
def f(): ...
---
"""Module."""

import a
from b import c

x = 1


def f():
    """Function."""
    x = 1

    def g():
        """Lines with "quotes", a backslash \\\\ and
        an indent.
        """
        import d

        return d

    for x in y:

        def f(self): ...

    return g


if x:

    def f():
        pass
else:
    y = 1
    while y:
        pass

        def g():
            pass


x = 2
'''.strip("\n").split("\n---\n")

SNIPPETS = LINES + BLOCKS

# Programs whose lines are too long.
WRAPPED = """
loss, W_bar = cell_backward(hidden, hidden_previous, inputs, U, hidden_bar, W_bar, U_bar, 1)
W1, b1, W2, b2 = params["W1"], params["b1"], params["W2"], params["b2"], params["weights"]
x_bar[1:-1] += learning_rate * (curvature_bar[2:] - 2 * curvature_bar[1:-1] + curvature_bar[:-2])
x_bar[batch, np.argmax(logits, axis=1), some_other_index] += np.sum(z_bar, axis=1, keepdims=True)
x_bar[batch, np.argmax(logits, axis=1), some_other_index, and_yet_another_one] = logits_bar_name
logits_bar[batch, np.argmax(logits, axis=1), some_other_index, and_another_index_array] += 1.0
predictions = np.asarray(samples_of_the_batch, dtype=np.float64).reshape(batch, -1).T.copy()
predictions = softmax(logits_of_the_last_layer)[:, np.newaxis] * targets_of_the_batch[np.newaxis]
predictions = -np.where(is_larger_than_the_threshold, weights_of_the_batch, other_weights_of_it)
predictions = (weights_of_the_batch + biases_of_the_batch) @ (inputs_of_the_batch - mean_of_it)
predictions = weights_of_the_batch if is_larger_than_the_threshold else other_weights_of_the_batch
predictions = lambda weights, biases, inputs: np.tanh(weights @ inputs + biases) + inputs.mean() + 1
predictions = [np.tanh(weights @ sample) for sample in samples_of_the_batch if sample is not None]
predictions = {"weights": weights_bar, "biases": biases_bar if biases_bar is not None else zeros_of}
a_name_that_is_so_long_that_hardly_anything_fits_behind_it = another_name_that_is_equally_long
first_name_of_the_value = second_name_of_the_value = some_function(an_argument, another_argument, 1)
del first_name_of_the_value, second_name_of_the_value, third_name_of_the_value, fourth_name_of_it
assert np.allclose(first_name_of_the_value, second_name_of_the_value, atol=1e-10), "they differ"
raise ValueError("a message that is so long that it does not fit on the line of a raise statement")
first_name_of_the_value + second_name_of_the_value - third_name_of_the_value * fourth_name_of_it
from some.package import first_name_of_the_value, second_name_of_the_value, third_name_of_the_value
wide = {"数据数据数据数据数据": "数据数据数据数据数据数据数据", "数据": first_name_of_the_value}
---
def cell_backward(hidden, hidden_previous, inputs, U, hidden_bar, W_bar, U_bar, learning_rate=1):
    return hidden_bar * (1 - hidden**2) @ U, np.outer(hidden_bar, inputs), np.outer(hidden_bar, U)
---
def loss(parameters_of_the_first_layer=None, *, parameters_of_the_second_layer=None, learning_rate):
    return value_of_the_loss, {"W1": W1_bar, "b1": b1_bar, "W2": W2_bar, "b2": b2_bar, "W3": W3_b}
---
def a_function_with_a_name_that_leaves_little_space_for_its_parameters(parameters_of_the_layer_):
    yield first_name_of_the_value + second_name_of_the_value + third_name_of_the_value + fourth_one
---
if first_name_of_the_value > second_name_of_the_value and third_name_of_the_value < fourth_name:
    pass
elif np.linalg.norm(first_name_of_the_value - second_name_of_the_value, axis=-1, keepdims=True):
    pass
---
while abs(first_name_of_the_value * first_name_of_the_value - second_name_of_the_value) > 1e-10:
    pass
---
for first_name_of_the_value, second_name_of_the_value in zip(first_of_the_sequences, the_other_one):
    pass
---
with np.errstate(divide="ignore"), warnings.catch_warnings(record=True) as caught_warnings_of_it:
    pass
""".strip("\n").split("\n---\n")

# Generated code of the kind that the compiler is to write, with its comments.
GOLDEN = '''
import numpy as np


def huber_grad(x, delta):
    """Gradient of huber with respect to x."""
    r = abs(x)
    if r <= delta:
        x_bar = x
    else:
        x_bar = delta * np.sign(x)
    return x_bar


def safe_log_vmap_grad(x):
    """Gradient of the sum of safe_log over a batch, with respect to x."""
    taken = x > 0
    x_bar = np.zeros_like(x)
    x_bar[taken] = 1 / x[taken]
    return x_bar


def rnn_loss_grad(W, U, xs, target):
    """Gradient of rnn_loss with respect to (W, U)."""
    # forward
    h = np.zeros(U.shape[0])
    h_saved = []
    for x in xs:
        h_saved.append(h)
        h = cell(h, x, W, U)
    err = h - target
    # backward
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    h_bar = 2 * err
    for x in reversed(xs):
        h_prev = h_saved.pop()
        h_bar = cell_backward(h, h_prev, x, U, h_bar, W_bar, U_bar)
        h = h_prev
    return W_bar, U_bar


def rosenbrock_grad_jvp(x, x_dot):
    """Gradient of rosenbrock and its directional derivative along x_dot."""
    x_bar = np.zeros_like(x)
    x_bar_dot = np.zeros_like(x)
    valley = x[1:] - x[:-1] ** 2
    valley_dot = x_dot[1:] - 2 * x[:-1] * x_dot[:-1]
    valley_bar = 200.0 * valley
    x_bar[1:] += valley_bar
    x_bar_dot[:-1] -= 2 * (x_dot[:-1] * valley_bar + x[:-1] * valley_bar_dot)
    return x_bar, x_bar_dot


def newton_sqrt_vmap(a):
    """newton_sqrt for each of a batch of a."""
    x = a.copy()
    running = np.flatnonzero(abs(x * x - a) > 1e-10)
    while running.size:
        x_i, a_i = x[running], a[running]
        x_i = 0.5 * (x_i + a_i / x_i)
        x[running] = x_i
        running = running[abs(x_i * x_i - a_i) > 1e-10]
    return x


def mlp_loss_value_and_grad_vmap(params, x, label):
    """mlp_loss and its gradient with respect to params, for each of a batch."""
    W1, b1, W2, b2 = params["W1"], params["b1"], params["W2"], params["b2"]
    batch = np.arange(len(x))
    # forward
    h = np.tanh(x @ W1 + b1)
    logits = h @ W2 + b2
    z = logits - np.max(logits, axis=1, keepdims=True)
    exp_z = np.exp(z)
    loss = np.log(sum_exp_z) - z[batch, label]
    # backward
    z_bar = exp_z / sum_exp_z[:, None]
    z_bar[batch, label] -= 1.0
    logits_bar[batch, np.argmax(logits, axis=1)] -= np.sum(z_bar, axis=1)
    W2_bar = np.einsum("bi,bj->bij", h, logits_bar)
    pre_bar = h_bar * (1 - h**2)
    return loss, {"W1": W1_bar, "b1": pre_bar, "W2": W2_bar, "b2": logits_bar}


def td_loss_grad(theta, s_tm1, r_t, s_t):
    """Gradient of td_loss with respect to theta."""
    v_t = theta @ s_t
    target = r_tp1 + theta @ s_tp1
    v_t_bar = -2 * (target - v_t)
    theta_bar = v_t_bar * s_t
    return theta_bar
'''.lstrip("\n")


@pytest.fixture(scope="module")
def ruff_format(tmp_path_factory):
    """A function that formats a list of sources in one process."""

    def format_all(sources, width=88):
        folder = tmp_path_factory.mktemp("ruff")
        for number, source in enumerate(sources):
            (folder / f"{number}.py").write_text(source, encoding="utf-8")
        options = ["--isolated", "--no-cache", "--quiet", f"--line-length={width}"]
        subprocess.run([sys.executable, "-m", "ruff", "format", *options, folder], check=True)
        return [
            (folder / f"{number}.py").read_text(encoding="utf-8") for number in range(len(sources))
        ]

    return format_all


def parse(source):
    return gast.parse(source).body


def meaning(source):
    """The tree of a program, with `del (x, y)` as `del x, y`, which is the same program."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Delete) and isinstance(node.targets[0], ast.Tuple):
            node.targets = node.targets[0].elts
    return ast.dump(tree)


@pytest.mark.parametrize("source", SNIPPETS)
def test_prints_what_it_read(source):
    assert print_statements(parse(source)) == source + "\n"


def test_snippets_are_as_ruff_has_them(ruff_format):
    assert ruff_format(SNIPPETS) == [source + "\n" for source in SNIPPETS]


@pytest.mark.parametrize("width", [60, 88])
def test_breaks_lines_where_ruff_does(ruff_format, width):
    sources = [line for source in WRAPPED[:1] for line in source.splitlines()] + WRAPPED[1:]
    printed = [print_statements(parse(source), width) for source in sources]
    assert printed == ruff_format(sources, width)
    assert list(map(meaning, printed)) == list(map(meaning, sources))


def test_keeps_comments_of_golden_code():
    tree = parse(GOLDEN)
    lines = GOLDEN.splitlines()
    for statement in [node for function in tree[1:] for node in function.body]:
        above = lines[statement.lineno - 2].strip()
        if above.startswith("#"):
            statement.comments_before = [above.removeprefix("# ")]
    assert print_statements(tree) == GOLDEN


COMMENTED = """
import a

# before an import
from b import c  # after an import

# two lines
#
# and an empty one between
x = 1  # after a statement

x = f(
    first_name_of_the_value, second_name_of_the_value, third_name_of_the_value, fourth
)  # after a broken one
# too long to stand behind a statement that is not short itself
x = first_name_of_the_value + second_name_of_the_value + third_name_of_the_value
# behind a name it would have to be inside the parentheses
a_name_that_is_so_long_that_hardly_anything_fits_behind_it = (
    a_name_that_is_as_long_as_that
)
if x:  # after if
    # before a statement
    pass
# before elif
elif y:  # after elif
    # before a definition
    def f(): ...
else:
    pass


# before a decorator
@g
def f(x):  # after a header
    \"\"\"Function.\"\"\"  # after a docstring
    # before a statement
    x = 1

    y = 2
    for x in y:  # after for
        pass  # after pass
    return x


while (
    first_name_of_the_value > second_name_of_the_value
    and third_name_of_the_value < fourth_name_of_it
):  # after while
    pass
""".lstrip()


def commented():
    """The statements of COMMENTED, with attributes in place of its comments and blank lines."""
    tree = parse(COMMENTED)
    _, imports, two, broken, behind_sum, behind_name, branch, function, loop = tree
    alternative = branch.orelse[0]
    imports.comments_before = ["before an import"]
    imports.comment_after = "after an import"
    two.comments_before = ["two lines", "", "and an empty one between"]
    two.comment_after = "after a statement"
    broken.blank_before = True
    broken.comment_after = "after a broken one"
    behind_sum.comment_after = "too long to stand behind a statement that is not short itself"
    behind_name.comment_after = "behind a name it would have to be inside the parentheses"
    branch.comment_after = "after if"
    branch.body[0].comments_before = ["before a statement"]
    alternative.comments_before = ["before elif"]
    alternative.comment_after = "after elif"
    alternative.body[0].comments_before = ["before a definition"]
    function.comments_before = ["before a decorator"]
    function.comment_after = "after a header"
    docstring, first, second, inner_loop, _ = function.body
    docstring.comment_after = "after a docstring"
    first.comments_before = ["before a statement"]
    second.blank_before = True
    inner_loop.comment_after = "after for"
    inner_loop.body[0].comment_after = "after pass"
    loop.comment_after = "after while"
    return tree


def test_puts_comments_and_blank_lines_where_they_belong():
    assert print_statements(commented()) == COMMENTED


@pytest.mark.parametrize("source", [GOLDEN, COMMENTED])
def test_commented_code_is_as_ruff_has_it(ruff_format, source):
    assert ruff_format([source]) == [source]


def test_no_statements_are_no_text():
    assert print_statements([]) == ""


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "None"),
        (True, "True"),
        (..., "..."),
        (1, "1"),
        (-3, "-3"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e300, "1e300"),
        (1e9, "1e9"),
        (-1e6, "-1e6"),
        (100000.0, "100000.0"),
        (25000000.0, "25000000.0"),
        (1e-5, "1e-5"),
        (1.5e-12, "1.5e-12"),
        (math.inf, 'float("inf")'),
        (-math.inf, '-float("inf")'),
        (math.nan, 'float("nan")'),
        (2j, "2j"),
        (0.5j, "0.5j"),
        (-2j, "complex(-0.0, -2.0)"),
        (1 + 2j, "complex(1.0, 2.0)"),
        (complex(math.nan, math.inf), 'complex(float("nan"), float("inf"))'),
        ("", '""'),
        ("a\tb", r'"a\tb"'),
        (b"\xff", r'b"\xff"'),
        ((1, "a"), '(1, "a")'),
        (((),), "((),)"),
    ],
)
def test_constants_are_code_that_makes_them(value, text):
    assert print_expression(gast.Constant(value, None)) == text
    made = eval(text)
    assert (type(made), repr(made)) == (type(value), repr(value))


def name(identifier, context=gast.Load):
    return gast.Name(identifier, context(), None, None)


def constant(value):
    return gast.Constant(value, None)


def f_string(*values):
    parts = [
        constant(value) if isinstance(value, str) else gast.FormattedValue(value, -1, None)
        for value in values
    ]
    return gast.JoinedStr(parts)


@pytest.mark.parametrize(
    "tree, text",
    [
        (gast.BinOp(constant(-2), gast.Pow(), name("x")), "(-2) ** x"),
        (gast.BinOp(name("x"), gast.Pow(), constant(-2)), "x**-2"),
        (gast.BinOp(constant(-2), gast.Mult(), name("x")), "-2 * x"),
        (gast.BinOp(constant(math.inf), gast.Pow(), name("x")), 'float("inf") ** x'),
        (gast.Attribute(constant(-2), "real", gast.Load()), "(-2).real"),
        (gast.Slice(constant(-2), None, None), "-2:"),
        # Quotes or backslashes inside of the quotes: an f-string of Python 3.12 and later.
        (f_string(f_string("\"\"\" '''")), '"{}".format(f"\\"\\"\\" \'\'\'")'),
        (f_string(gast.Call(name("g"), [constant("\n")], [])), '"{}".format(g("\\n"))'),
    ],
)
def test_prints_trees_that_no_parser_or_not_every_parser_makes(tree, text):
    assert print_expression(tree) == text


def function(body):
    arguments = gast.arguments([], [], None, [], [], None, [])
    return gast.FunctionDef("f", arguments, [body], [], None, None, [])


class RandomExpressions:
    """Expressions of every kind that generated code has, and some that it should not have."""

    NAMES = ("x", "np", "h_bar", "logits", "x_bar_saved", "a_name_that_is_rather_long")
    CONSTANTS = (1, 0.5, 2j, "axis", None, True)
    BINARY = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.MatMult, gast.Pow, gast.Mod)
    BINARY += (gast.BitOr, gast.BitAnd, gast.LShift, gast.FloorDiv)
    UNARY = (gast.USub, gast.Not, gast.Invert, gast.UAdd)
    COMPARISONS = (gast.Lt, gast.Eq, gast.In, gast.NotIn, gast.Is, gast.IsNot)

    def __init__(self, seed):
        self.random = random.Random(seed)
        makers = [maker for maker in dir(self) if maker.startswith("make_")]
        self.makers = [getattr(self, maker) for maker in makers]
        self.makers += 3 * [self.make_binary] + 2 * [self.make_call]

    def expressions(self, count, depth):
        return [self.expression(depth) for _ in range(count)]

    def expression(self, depth):
        if depth > 0:
            below = depth - self.random.choice((1, 1, 2))
            return self.random.choice(self.makers)(lambda: self.expression(below))
        if self.random.random() < 0.3:
            return constant(self.random.choice(self.CONSTANTS))
        return name(self.random.choice(self.NAMES))

    def some(self, make, least=0, most=3):
        return [make() for _ in range(self.random.randint(least, most))]

    def make_binary(self, make):
        return gast.BinOp(make(), self.random.choice(self.BINARY)(), make())

    def make_power(self, make):
        return gast.BinOp(make(), gast.Pow(), make())

    def make_unary(self, make):
        return gast.UnaryOp(self.random.choice(self.UNARY)(), make())

    def make_comparison(self, make):
        operands = self.some(make, least=1, most=2)
        operators = [self.random.choice(self.COMPARISONS)() for _ in operands]
        return gast.Compare(make(), operators, operands)

    def make_boolean(self, make):
        operator = self.random.choice((gast.And, gast.Or))()
        return gast.BoolOp(operator, self.some(make, least=2))

    def make_conditional(self, make):
        return gast.IfExp(make(), make(), make())

    def make_call(self, make):
        keywords = [gast.keyword("axis", keyword) for keyword in self.some(make, most=1)]
        called = self.random.choice((name("unbroadcast"), make()))
        return gast.Call(called, self.some(make), keywords)

    def make_method_call(self, make):
        method = gast.Attribute(make(), "reshape", gast.Load())
        return gast.Call(method, self.some(make), [])

    def make_attribute(self, make):
        return gast.Attribute(make(), "T", gast.Load())

    def make_subscript(self, make):
        def index():
            bounds = [self.random.choice((None, make())) for _ in range(3)]
            return self.random.choice((make(), gast.Slice(*bounds)))

        indices = self.some(index, least=1)
        index = indices[0] if len(indices) == 1 else gast.Tuple(indices, gast.Load())
        return gast.Subscript(make(), index, gast.Load())

    def make_sequence(self, make):
        kind = self.random.choice((gast.Tuple, gast.List))
        return kind(self.some(make), gast.Load())

    def make_dict(self, make):
        values = self.some(make)
        return gast.Dict([make() for _ in values], values)

    def make_comprehension(self, make):
        generator = gast.comprehension(name("i", gast.Store), make(), self.some(make, most=1), 0)
        kind = self.random.choice((gast.ListComp, gast.GeneratorExp, gast.SetComp))
        return kind(make(), [generator])

    def make_lambda(self, make):
        arguments = gast.arguments([name("y", gast.Param)], [], None, [], [], None, [])
        return gast.Lambda(arguments, make())


def test_random_expressions_are_what_they_were():
    for tree in RandomExpressions(seed=1).expressions(count=1000, depth=4):
        source = print_expression(tree)
        printed = gast.parse(f"({source})", mode="eval").body
        assert gast.dump(printed) == gast.dump(tree), source


def grouping_parentheses(source):
    """Where the parentheses open and close that are not those of a call."""
    opened, previous = [], ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.string == "(":
            is_word = previous[:1].isalnum() and not keyword.iskeyword(previous)
            is_operand = is_word or previous[:1] in (*")]}", '"') or previous in ("None", "True")
            opened.append((token.start[1], bool(previous) and is_operand))
        elif token.string == ")":
            start, is_call = opened.pop()
            if not is_call:
                yield start, token.start[1]
        previous = token.string


def are_style(source, start, end):
    """Whether Python might do without the parentheses, but ruff does not."""
    inside = ast.parse(source[start : end + 1], mode="eval").body
    is_power = isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Pow)
    follows_sign = source[:start].endswith(("-", "+", "~", "not "))
    is_number_before_dot = isinstance(inside, ast.Constant) and source[end + 1 :].startswith(".")
    return isinstance(inside, ast.Tuple) or (is_power and follows_sign) or is_number_before_dot


def test_random_expressions_have_no_parentheses_to_spare():
    for tree in RandomExpressions(seed=2).expressions(count=400, depth=3):
        source = print_expression(tree)
        meant = ast.dump(ast.parse(source, mode="eval"))
        for start, end in grouping_parentheses(source):
            without = f"{source[:start]} {source[start + 1 : end]} {source[end + 1 :]}".strip()
            if not are_style(source, start, end):
                assert tree_or_none(without) != meant, source


def tree_or_none(source):
    try:
        return ast.dump(ast.parse(source, mode="eval"))
    except SyntaxError:
        return None


@pytest.mark.parametrize("width", [60, 88])
def test_random_lines_are_broken_where_ruff_breaks_them(ruff_format, width):
    functions = []
    for tree in RandomExpressions(seed=width).expressions(count=150, depth=4):
        element = gast.Subscript(name("x_bar"), name("i"), gast.Store())
        functions.append(function(gast.Assign([name("x", gast.Store)], tree, None)))
        functions.append(function(gast.AugAssign(element, gast.Add(), tree)))
        functions.append(function(gast.Return(tree)))
    unbroken = [print_statements([definition], width=10**6) for definition in functions]
    printed = [print_statements([definition], width) for definition in functions]
    assert printed == ruff_format(unbroken, width)
