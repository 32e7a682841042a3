"""What a wrong use says, and when: the misuse of MindSpore's interface, row by row.

Each row has the moment at which the error is due ("made", "called" or "pulled back"), its type and
what its text has to hold: the name of the argument and its value.
"""

import functools
import importlib

import numpy as np
import pytest

from s2s_ad import (
    GradOperation,
    InsertGradientOf,
    Parameter,
    S2SError,
    Tensor,
    derivative,
    get_grad,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jet,
    jit,
    jvp,
    linearize,
    recompute,
    set_context,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.api import depth
from s2s_ad.diagnostics import ArgumentTypeError

X, Y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
A, B, B3, C = np.ones((2, 3)), np.ones((2, 3)), np.ones((3, 3)), np.ones(3)
INTS = np.array([1, 2])
P, COUNT = Parameter(Tensor([2.0, 1.0]), name="p"), Parameter(np.array([1, 2]), name="count")


class Net:
    """A stand-in for a Cell: what has parameters."""

    def trainable_params(self):
        return [P]


NET = Net()


def f(x, y):
    return np.sum(x * y)


def square(x):
    return x * x


def loss(x):
    return np.sum(x * x)


def add(x, y):
    return x + y


def scaled(x, n):
    return x * n


def first_of(t):
    return t[0] * t[1]


def nothing():
    return 1.0


def tail(*xs):
    return np.sum(xs[0])


def returns_none(x):
    x * x


def returns_int(x):
    return np.argmax(x)


def returns_number(x):
    return 3


def returns_text(x):
    return "a"


def one_in_a_tuple(x):
    return (x * x,)


def two_in_a_list(x):
    return [x * x, x]


def two_in_a_dict(x):
    return {"a": x * x, "b": x}


def two(x):
    return x * x, x


def three(x, y):
    return x, y, x


def with_text(x):
    return x * 2, "tag"


def yields(x):
    yield x


def item_inside(x):
    return x * x[0].item()


def float_inside(x):
    return x * float(x[0])


def generator_error(x):
    raise KeyError("mine")


def unknown_name(x):
    return undefined_name(x)  # noqa: F821


def matrix_product(x, y):
    return np.matmul(x, y)


def branches(x):
    if x.sum() > 7:
        return x
    return -x


def masked(x):
    return x[x > 2]


def tries(x):
    try:
        return x * 2
    except ValueError:
        return x


def tries_a_group(x):
    try:
        return x * 2
    except* ValueError:
        x = x * 3
    return x


TYPE, VALUE = TypeError, ValueError
MADE, CALLED, PULLED = "made", "called", "pulled back"


def row(name, when, make, call, kind, *texts):
    return pytest.param(when, make, call, kind, texts, id=name)


def on(*args, **kwargs):
    return lambda made: made(*args, **kwargs)


def derivative_rows(maker):
    """What grad, value_and_grad and the Jacobians have in common."""
    api = maker.__name__

    def each(name, when, fn, options, call, kind, *texts):
        made = functools.partial(maker, fn, **options)
        return row(f"{api}: {name}", when, made, call, kind, f"{api}: ", *texts)

    inner = api if maker is not hessian else "jac"
    rows = [
        each("none_none", MADE, f, {"grad_position": None}, None, VALUE, "can not be None"),
        each("range", MADE, f, {"grad_position": 2}, None, VALUE, "= 2", "f(x, y)", "0..1"),
        each("range in a tuple", MADE, f, {"grad_position": (0, 5)}, None, VALUE, "[1] = 5"),
        each("negative", MADE, f, {"grad_position": -1}, None, VALUE, ">= 0", "-1"),
        each("twice", MADE, f, {"grad_position": (0, 0)}, None, VALUE, "(0, 0)", "input 0 twice"),
        each("float", MADE, f, {"grad_position": 0.0}, None, TYPE, "grad_position", "float 0.0"),
        each("bool", MADE, f, {"grad_position": True}, None, TYPE, "bool True", "has_aux=True?"),
        each("str", MADE, f, {"grad_position": "x"}, None, TYPE, "grad_position", "str 'x'"),
        each("empty", MADE, f, {"grad_position": ()}, None, VALUE, "grad_position", "empty"),
        each("float in a tuple", MADE, f, {"grad_position": (0, 1.0)}, None, TYPE, "[1]", "1.0"),
        each("no inputs", MADE, nothing, {}, None, VALUE, "nothing()", "takes none"),
        each("not callable", MADE, 3, {}, None, TYPE, "'fn'", "int 3"),
        each("None", MADE, None, {}, None, TYPE, "'fn'", "None"),
        each("class", MADE, int, {}, None, TYPE, "'fn'", "int", "make an object of it"),
        each(
            "ufunc", MADE, np.frompyfunc(abs, 1, 1), {}, None, TYPE, "'abs (vectorized)'", "no rule"
        ),
        each("generator", MADE, yields, {}, None, TYPE, "generator", "yields"),
        each("has_aux str", MADE, f, {"has_aux": "yes"}, None, TYPE, "'has_aux'", "str 'yes'"),
        each("has_aux int", MADE, f, {"has_aux": 1}, None, TYPE, "'has_aux'", "int 1"),
        each(
            "two names",
            MADE,
            f,
            {"grad_position": 1, "argnums": (0, 1)},
            None,
            VALUE,
            "grad_position 1",
            "argnums (0, 1)",
        ),
    ]
    return [*rows, *call_rows(maker, inner)]


def call_rows(maker, inner):
    """Wrong arguments of the call."""

    def each(name, fn, options, call, kind, *texts):
        made = functools.partial(maker, fn, **options)
        return row(f"{maker.__name__}: {name}", CALLED, made, call, kind, *texts)

    def refused(name, fn, options, args, *texts):
        return each(name, fn, options, on(*args), TYPE, f"{inner}", *texts)

    return [
        each("too few", f, {}, on(X), TYPE, "f() missing 1 required", "'y'"),
        each("too many", f, {}, on(X, Y, X), TYPE, "f() takes 2 positional", "3 were"),
        each("wrong keyword", f, {}, on(X, z=Y), TYPE, "f()", "unexpected", "'z'"),
        each(
            "range of *args", tail, {"grad_position": 2}, on(X, Y), VALUE, "position 2", "2 inputs"
        ),
        refused("int at position", scaled, {"grad_position": 1}, (X, 3), "1 (n)", "Python int"),
        refused("one of two", scaled, {"grad_position": (0, 1)}, (X, 3), "1 (n)", "Python int"),
        refused("list of ints", first_of, {}, ([1.0, 2],), "0 (t[1])", "Python int"),
        refused("None at position", scaled, {}, (None, X), "0 (x)", "None"),
        refused("str at position", scaled, {}, ("s", X), "0 (x)", "str 's'"),
        refused("int array", square, {}, (INTS,), "0 (x)", "dtype int64", "floating-point"),
        refused("bool array", square, {}, (X > 0,), "0 (x)", "dtype bool", "floating-point"),
        refused("bool", square, {}, (True,), "0 (x)", "bool True"),
        each("objects", square, {}, on(np.array([None])), TYPE, "argument x", "dtype object"),
        each("int output", returns_int, {}, on(X), TYPE, "returned", "int64"),
        each("whole number output", returns_number, {}, on(X), TYPE, "returned int 3"),
        each("None output", returns_none, {}, on(X), TYPE, "returned None", "return statement"),
        each("named", returns_none, {}, on(X), TYPE, f"{inner}", ": returns_none returned"),
        each("str output", returns_text, {}, on(X), TYPE, "returned str 'a'"),
        each("aux: one", loss, {"has_aux": True}, on(X), VALUE, "has_aux=True", "two or more"),
        each(
            "aux: a tuple of one", one_in_a_tuple, {"has_aux": True}, on(X), VALUE, "a tuple of 1"
        ),
        each("aux: list", two_in_a_list, {"has_aux": True}, on(X), VALUE, "returned a list of 2"),
        each("aux: dict", two_in_a_dict, {"has_aux": True}, on(X), VALUE, "returned a dict of 2"),
        each("an undefined name", unknown_name, {}, on(X), S2SError, "'undefined_name'"),
        each("the function raises", generator_error, {}, on(X), KeyError, "mine"),
        each("except*", tries_a_group, {}, on(X), S2SError, "except*"),
        each("shapes", matrix_product, {}, on(A, B), (VALUE, S2SError), "matmul"),
    ]


GRAD_ONLY = [
    row("ids str", MADE, lambda: grad(f, return_ids="yes"), None, TYPE, "'return_ids'", "'yes'"),
    row("array", MADE, lambda: grad(f, 0, X), None, TYPE, "grad: argument 'weights'", "ndarray of"),
    row(
        "item",
        MADE,
        lambda: value_and_grad(f, None, [P, X]),
        None,
        TYPE,
        "value_and_grad: weights[1] must be a Parameter",
        "ndarray of shape (2,)",
    ),
    row("Tensor", MADE, lambda: grad(f, 0, Tensor(X)), None, TYPE, "'weights'", "Tensor of shape"),
    row("text", MADE, lambda: grad(f, 0, "p"), None, TYPE, "'weights'", "str 'p'"),
    row("texts", MADE, lambda: grad(f, 0, ["p"]), None, TYPE, "weights[0]", "str 'p'"),
    row("dict", MADE, lambda: grad(f, 0, {"p": P}), None, TYPE, "dict", "a list of its values"),
    row("set", MADE, lambda: grad(f, 0, {P}), None, TYPE, "sets have no order"),
    row("nested", MADE, lambda: grad(f, 0, [[P]]), None, TYPE, "weights[0]", "list"),
    row("Cell", MADE, lambda: grad(f, 0, NET), None, TYPE, "Net", "net.trainable_params()"),
    row("whole", MADE, lambda: grad(f, 0, [COUNT]), None, TYPE, "weights[0] (count)", "int64"),
    row("sens flag", MADE, lambda: grad(f, sens_param=1), None, TYPE, "'sens_param'", "int 1"),
    row("no sens", CALLED, lambda: grad(square, sens_param=True), on(X), TYPE, "last argument"),
    row("no sens", CALLED, lambda: grad(tail, sens_param=True), on(), TYPE, "last argument"),
    row(
        "sens shape",
        CALLED,
        lambda: grad(square, sens_param=True),
        on(X, C),
        VALUE,
        "sens has shape (3,)",
        "output of square has shape (2,)",
    ),
    row(
        "sens rank",
        CALLED,
        lambda: grad(square, sens_param=True),
        on(X, A),
        VALUE,
        "grad: sens has shape",
        "output of square",
    ),
    row(
        "sens dtype",
        CALLED,
        lambda: value_and_grad(square, sens_param=True),
        on(X, INTS),
        TYPE,
        "value_and_grad: sens",
        "int64",
    ),
    row(
        "sens nesting",
        CALLED,
        lambda: grad(two, sens_param=True),
        on(X, X),
        TYPE,
        "grad: sens is an array",
        "a tuple of 2",
    ),
    row("keyword", MADE, lambda: grad(f, position=0), None, TYPE, "position"),
    row("decorator", MADE, lambda: grad(grad_position=-1), None, VALUE, ">= 0, got -1"),
]


IDS = (0, X), (("p", P),)


def of_gradients(name, *args, kind=VALUE):
    *given, text = args
    return row(f"get_grad: {name}", CALLED, lambda: get_grad, on(*given), kind, "get_grad: ", text)


def operation(name, when, call, kind, *texts, fn=loss, weights=None, **options):
    made = functools.partial(_operation, options, fn, weights)
    return row(f"GradOperation: {name}", when, made, call, kind, *texts)


def _operation(options, fn, weights):
    return GradOperation(**options)(fn, weights)


OTHERS = [
    of_gradients("no ids", (X, X), 0, "no ids"),
    of_gradients("an array", X, 0, "return_ids=True"),
    of_gradients("not there", IDS, 1, "for input 1; there are inputs (0,) and Parameters ('p',)"),
    of_gradients("other", IDS, COUNT, "for Parameter 'count'"),
    of_gradients("name", IDS, "p", "pass the Parameter itself", kind=TYPE),
    of_gradients("flag", IDS, True, "bool True", kind=TYPE),
    operation("flag", MADE, None, TYPE, "GradOperation: argument 'get_all'", "int 1", get_all=1),
    operation("fn", MADE, None, TYPE, "GradOperation: argument 'fn'", "int 3", fn=3),
    operation("no weights", MADE, None, VALUE, "get_by_list=True", "weights", get_by_list=True),
    operation("weights", MADE, None, VALUE, "get_by_list is False", weights=[P]),
    operation("weight", MADE, None, TYPE, "weights[0]", get_by_list=True, weights=[X]),
    operation("no sens", CALLED, on(X), TYPE, "last argument", sens_param=True),
    operation("sens", CALLED, on(X, C), VALUE, "sens has shape (3,)", fn=square, sens_param=True),
    operation("ints", CALLED, on(X, INTS), TYPE, "input 1 (y)", "int64", fn=f, get_all=True),
    row(
        "names",
        MADE,
        lambda: grad(f, None, [P, Parameter(X, name="p")], return_ids=True),
        None,
        VALUE,
        "weights[0]",
        "'p'",
    ),
    row("order", CALLED, lambda: derivative, on(square, X, 0), VALUE, "'order'", ">= 1, got 0"),
    row("order", CALLED, lambda: derivative, on(square, X, 1.0), TYPE, "'order'", "float 1.0"),
    row("derivative fn", CALLED, lambda: derivative, on(3, X, 1), TYPE, "'fn'", "int 3"),
    row("jet shape", CALLED, lambda: jet, on(square, X, X), VALUE, "series[0]", "(2,)"),
    row("jet count", CALLED, lambda: jet, on(f, (X, Y), (A,)), VALUE, "2 inputs and 1 in"),
    row("jet orders", CALLED, lambda: jet, on(f, (C, C), (A, B3)), VALUE, "[2, 3] orders"),
    row("linear", PULLED, lambda: linearize(f, (X, Y))[1], on(X), VALUE, "2 inputs and 1 tangent"),
    row("linear", PULLED, lambda: linearize(square, X)[1], on(C), VALUE, "(3,)", "(2,)"),
    row("linear fn", CALLED, lambda: linearize, on(3, X), TYPE, "linearize: argument 'fn'"),
    row("insert", MADE, lambda: InsertGradientOf(3), None, TYPE, "InsertGradientOf: argument 'f'"),
    row("recompute", CALLED, lambda: recompute, on(3, X), TYPE, "recompute: argument 'block'"),
    row("mode", MADE, lambda: set_context(mode=7), None, VALUE, "'mode'", "int 7"),
]


def axes_row(name, when, fn, options, args, kind, *texts):
    made = functools.partial(vmap, fn, **options)
    return row(f"vmap: {name}", when, made, on(*args), kind, "vmap: ", *texts)


VMAP = [
    axes_row(
        "short", MADE, add, {"in_axes": (0,)}, (), VALUE, "(0,)", "1 entry", "2 inputs (x, y)"
    ),
    axes_row("long", MADE, add, {"in_axes": (0, 0, 0)}, (), VALUE, "3 entries", "2 inputs"),
    axes_row("empty", MADE, add, {"in_axes": ()}, (), VALUE, "in_axes = ()"),
    axes_row("*args", CALLED, tail, {"in_axes": (0,)}, (A, B), VALUE, "1 entry", "2 inputs"),
    axes_row(
        "range",
        CALLED,
        add,
        {"in_axes": (2, 0)},
        (A, B),
        VALUE,
        "in_axes[0] = 2",
        "0 (x)",
        "(2, 3)",
    ),
    axes_row("-range", CALLED, add, {"in_axes": (-3, 0)}, (A, B), VALUE, "-3", "0 (x)", "-2..1"),
    axes_row("int range", CALLED, add, {"in_axes": 2}, (A, B), VALUE, "2", "0 (x)", "(2, 3)"),
    axes_row("scalar", CALLED, add, {}, (A, np.array(1.0)), VALUE, "1 (y)", "shape ()", "axis 0"),
    axes_row("all None", MADE, add, {"in_axes": (None, None)}, (), VALUE, "(None, None)"),
    axes_row("None", MADE, add, {"in_axes": None}, (), VALUE, "in_axes = None"),
    axes_row("float", MADE, add, {"in_axes": 1.0}, (), TYPE, "in_axes", "float 1.0"),
    axes_row("str", MADE, add, {"in_axes": "0"}, (), TYPE, "in_axes", "str '0'"),
    axes_row("bool", MADE, add, {"in_axes": True}, (), TYPE, "in_axes", "bool True"),
    axes_row("float in", MADE, add, {"in_axes": (0, 1.5)}, (), TYPE, "in_axes[1]", "float 1.5"),
    axes_row("int keys", MADE, add, {"in_axes": {0: 0}}, (), TYPE, "in_axes", "int 0"),
    axes_row("wrong name", MADE, add, {"in_axes": {"z": 0}}, (), VALUE, "'z'", "(x, y)"),
    axes_row(
        "nesting",
        CALLED,
        add,
        {"in_axes": ((0,), 0)},
        ((A, B), A),
        VALUE,
        "in_axes[0]",
        "1 entry",
        "input 0 (x)",
        "2 entries",
    ),
    axes_row(
        "nesting on an array",
        CALLED,
        add,
        {"in_axes": ((0, 0), 0)},
        (A, B),
        VALUE,
        "in_axes[0] = (0, 0)",
        "input 0 (x) is a single value",
    ),
    axes_row(
        "keys",
        CALLED,
        first_of,
        {"in_axes": ({"a": 0},)},
        ({"b": A},),
        VALUE,
        "in_axes[0]",
        "'a'",
        "'b'",
    ),
    axes_row(
        "sizes",
        CALLED,
        add,
        {},
        (A, B3),
        VALUE,
        "input 0 (x) axis 0 has 2",
        "input 1 (y) axis 0 has 3",
    ),
    axes_row("1 and 3", CALLED, add, {}, (A[:1], B3), VALUE, "0 (x) axis 0 has 1", "has 3"),
    axes_row("nested sizes", CALLED, first_of, {}, ((A, B3),), VALUE, "0 (t[1]) axis 0 has 3"),
    axes_row("out range", CALLED, add, {"out_axes": 2}, (A, B), VALUE, "out_axes 2", "2 axes"),
    axes_row("out -range", CALLED, add, {"out_axes": -3}, (A, B), VALUE, "out_axes -3", "-2..1"),
    axes_row("out long", CALLED, add, {"out_axes": (0, 0)}, (A, B), VALUE, "out_axes", "2 entries"),
    axes_row("out short", CALLED, three, {"out_axes": (0, 0)}, (A, B), VALUE, "2 e", "3 entries"),
    axes_row("out None", CALLED, add, {"out_axes": None}, (A, B), VALUE, "out_axes is None"),
    axes_row("out None", CALLED, two, {"out_axes": (0, None)}, (A,), VALUE, "two[1]", "None"),
    axes_row("out float", MADE, add, {"out_axes": 1.0}, (), TYPE, "out_axes", "float 1.0"),
    axes_row("out str", MADE, add, {"out_axes": "0"}, (), TYPE, "out_axes", "str '0'"),
    axes_row("not callable", MADE, 3, {}, (), TYPE, "'fn'", "int 3"),
    axes_row("None fn", MADE, None, {}, (), TYPE, "'fn'", "None"),
    axes_row("no inputs", MADE, nothing, {}, (), VALUE, "no inputs to map"),
    row("vmap: too few", CALLED, lambda: vmap(add), on(A), TYPE, "add()", "'y'"),
    row(
        "vmap: too many",
        CALLED,
        lambda: vmap(add),
        on(A, B, A),
        TYPE,
        "add()",
        "2 positional",
        "3 were",
    ),
    axes_row("list of floats", CALLED, square, {}, ([1.0, 2.0],), TYPE, "0 (x[0])", "float"),
    axes_row("float", CALLED, square, {}, (3.0,), TYPE, "0 (x)", "Python float", "axis 0"),
    axes_row("None", CALLED, scaled, {}, (A, None), TYPE, "1 (n)", "None", "axis 0"),
    axes_row("text out", CALLED, with_text, {}, (A,), TYPE, "[1]", "str 'tag'", "stacked"),
    row("vmap: mask", CALLED, lambda: vmap(masked), on(A), S2SError, "x[x > 2]"),
    row("vmap: except*", CALLED, lambda: vmap(tries_a_group), on(A), S2SError, "except*"),
]

AT_ONCE = [
    row("v None", CALLED, lambda: jvp, on(loss, X, None), TYPE, "jvp: v[0]", "None"),
    row("v short", CALLED, lambda: jvp, on(f, (X, Y), (X,)), VALUE, "jvp: 2 inputs", "1 tangent"),
    row("v shape", CALLED, lambda: jvp, on(loss, X, C), VALUE, "v[0]", "(3,)", "0 (x)", "(2,)"),
    row("v dtype", CALLED, lambda: jvp, on(loss, X, INTS), TYPE, "v[0]", "int64", "float64"),
    row(
        "v width",
        CALLED,
        lambda: jvp,
        on(loss, X, X.astype(np.float32)),
        TYPE,
        "v[0] has dtype float32",
        "0 (x) has dtype float64",
    ),
    row("v structure", CALLED, lambda: jvp, on(loss, X, ({"a": X},)), TYPE, "v[0]", "'a'"),
    row("int input", CALLED, lambda: jvp, on(loss, INTS, INTS), TYPE, "jvp: input 0 (x)", "int64"),
    row("jvp aux", CALLED, lambda: jvp, on(loss, X, X, has_aux=True), VALUE, "has_aux"),
    row("jvp too few", CALLED, lambda: jvp, on(f, (X,), (X,)), TYPE, "f()", "'y'"),
    row("jvp fn", CALLED, lambda: jvp, on(3, X, X), TYPE, "jvp: argument 'fn'", "int 3"),
    row("vjp fn", CALLED, lambda: vjp, on(3, X), TYPE, "vjp: argument 'fn'", "int 3"),
    row("vjp no inputs", CALLED, lambda: vjp, on(loss), TYPE, "loss()", "'x'"),
    row("vjp aux", CALLED, lambda: vjp, on(loss, X, has_aux=True), VALUE, "has_aux"),
    row("vjp int", CALLED, lambda: vjp, on(loss, INTS), TYPE, "vjp: input 0 (x)", "int64"),
    row("vjp weights", CALLED, lambda: vjp, on(loss, X, weights=[X]), TYPE, "vjp: weights[0]"),
    row("ct shape", PULLED, lambda: vjp(square, X)[1], on(C), VALUE, "(3,)", "(2,)"),
    row("ct missing", PULLED, lambda: vjp(square, X)[1], on(), TYPE, "vjp_fn", "0 given"),
    row("ct many", PULLED, lambda: vjp(square, X)[1], on(X, X), TYPE, "2 adjoints", "1 adjoint"),
    row("ct dtype", PULLED, lambda: vjp(square, X)[1], on(INTS), TYPE, "int64", "float64"),
    row("ct int", PULLED, lambda: vjp(loss, X)[1], on(1), TYPE, "Python int", "float64"),
    row("ct keys", PULLED, lambda: vjp(two_in_a_dict, X)[1], on({"a": X}), TYPE, "'a', 'b'"),
    row("jit", MADE, lambda: jit(3), None, TYPE, "jit: argument 'function'", "int 3"),
    row("jit level", MADE, lambda: jit(f, jit_level="O9"), None, VALUE, "'jit_level'", "'O9'"),
    row("jit mode", MADE, lambda: jit(f, capture_mode="a"), None, VALUE, "'capture_mode'", "'a'"),
    row("jit backend", MADE, lambda: jit(f, backend=3), None, VALUE, "'backend'", "int 3"),
    row("jit dynamic", MADE, lambda: jit(f, dynamic=True), None, VALUE, "'dynamic'", "True"),
    row("jit flag", MADE, lambda: jit(f, fullgraph=1), None, TYPE, "'fullgraph'", "int 1"),
    row("jit name", CALLED, lambda: jit(unknown_name), on(X), S2SError, "'undefined_name'"),
]

MAKERS = (grad, value_and_grad, jacfwd, jacrev)
ROWS = [each for maker in MAKERS for each in derivative_rows(maker)]
ROWS += [*GRAD_ONLY, *OTHERS, *VMAP, *AT_ONCE]


@pytest.mark.parametrize("when, make, call, kind, texts", ROWS)
def test_misuse_is_refused_at_the_moment_it_can_be_known(when, make, call, kind, texts):
    if when is MADE:
        with pytest.raises(kind) as caught:
            make()
    else:
        made = make()
        with pytest.raises(kind) as caught:
            call(made)
    message = str(caught.value)
    assert [text for text in texts if text not in message] == [], message


@pytest.mark.parametrize("maker", [grad, value_and_grad, jacfwd, jacrev, vmap, jit])
def test_a_function_without_source_is_refused_by_name(maker):
    space = {"np": np}
    exec("def typed(x):\n    return x * x", space)
    with pytest.raises(S2SError, match="the source of typed cannot be read"):
        maker(space["typed"])(A)


def test_errors_of_wrong_arguments_are_python_s_own_types_and_ours():
    with pytest.raises(S2SError) as caught:
        grad(f, 5)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "S2S502"
    with pytest.raises(S2SError) as caught:
        grad(f, "x")
    assert isinstance(caught.value, TypeError)
    assert caught.value.code == "S2S501"


@pytest.mark.parametrize("function", [item_inside, float_inside])
def test_numbers_taken_out_of_arrays_carry_their_derivative(function):
    np.testing.assert_allclose(grad(function)(X), [2 * X[0] + X[1], X[0]])
    np.testing.assert_allclose(vmap(function)(B3 * C), B3)


def test_paths_that_only_the_call_can_choose_are_taken():
    np.testing.assert_array_equal(grad(tries)(X), [2, 2])
    np.testing.assert_array_equal(value_and_grad(tries)(X)[0], 2 * X)
    for jacobian in (jacfwd, jacrev):
        np.testing.assert_array_equal(jacobian(tries)(X), [[2, 0], [0, 2]])
        np.testing.assert_array_equal(jacobian(branches)(X), [[-1, 0], [0, -1]])
    rows = np.array([[1.0, 2.0, 3.0], [5.0, 2.0, 1.0]])  # sums on either side of 7
    np.testing.assert_array_equal(vmap(branches)(rows), [[-1, -2, -3], [5, 2, 1]])
    np.testing.assert_array_equal(vmap(grad(branches))(rows), [[-1] * 3, [1] * 3])


def test_arguments_that_are_not_differentiated_may_be_anything():
    np.testing.assert_allclose(grad(scaled)(X, 3), [3, 3])
    np.testing.assert_allclose(vmap(lambda x, n: x * 2, in_axes=(0, None))(A, None), 2 * A)
    np.testing.assert_allclose(vmap(lambda x, n: x * 2, in_axes=(0, None))(A, "s"), 2 * A)


SHARED = np.array([1.0, 2.0, 3.0])
BESIDE = {"used": SHARED, "other": np.ones(3)}


def changes_and_reads(x, s):
    x *= s
    return x @ x + BESIDE["used"][0]


def changes_and_reads_another(x, s):
    x *= s
    return x @ x + BESIDE["other"][0]


def test_an_argument_that_is_changed_may_not_be_a_captured_array_that_is_read():
    with pytest.raises(S2SError, match="may share memory") as caught:
        grad(changes_and_reads)(SHARED, 2.0)
    assert caught.value.code == "S2S502"
    np.testing.assert_allclose(grad(changes_and_reads)(SHARED.copy(), 2.0), 8 * SHARED)
    np.testing.assert_allclose(grad(changes_and_reads_another)(SHARED, 2.0), 8 * SHARED)


@pytest.mark.parametrize("transform", [jit, grad, vmap])
def test_a_function_that_is_nested_deeper_than_python_allows(transform, tmp_path, monkeypatch):
    (tmp_path / "nested.py").write_text(f"def f(x):\n    return {' + '.join(['x'] * 1500)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(depth, "DEEPEST", 1000)  # Python itself refuses what needs more than ours
    nested = importlib.import_module("nested")
    with pytest.raises(S2SError, match="f is nested too deeply") as caught:
        transform(nested.f)(np.ones(3) if transform is vmap else 1.0)
    assert caught.value.origin.text == "def f(x):"
    assert "Python allows" in caught.value.why


def nested(kind, depth):
    value = 1.0
    for _ in range(depth):
        value = {"a": value} if kind is dict else kind([value])
    return value


def holding_itself(kind):
    value = kind()
    value.update(me=value) if kind is dict else value.append(value)
    return value


DEEP = [nested(kind, depth) for kind in (list, tuple, dict) for depth in (500, 5000)]
DEEP += [holding_itself(list), holding_itself(dict)]


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda deep: jit(lambda first, deep: first)(1.0, deep), "'deep'"),
        (lambda deep: grad(lambda first, deep: first)(1.0, deep), "'deep'"),
        (lambda deep: vmap(lambda x, deep: x, in_axes=(0, None))(np.ones(2), deep), "'deep'"),
        (lambda deep: grad(lambda x, deep: x).source(1.0, deep), "'deep'"),
        (lambda deep: vjp(lambda x: x * 2.0, 1.0)[1](deep), "'adjoint'"),
        (lambda deep: jit(lambda x: [x, deep])(1.0), "deep"),
        (lambda deep: jit(lambda x: x * len(deep))(1.0), "deep"),
    ],
)
def test_containers_that_are_too_deep_or_hold_themselves(call, name):
    for deep in DEEP:
        with pytest.raises(S2SError, match=f"{name} is nested more than 100 deep, or holds itself"):
            call(deep)


@pytest.mark.parametrize("x", [0.4, np.float64(0.4), np.array(0.4), np.float32(0.4), 0.4 + 1j])
@pytest.mark.parametrize("f", [lambda x: x, lambda x: x * 3.0, lambda x: (x, x * 2.0)])
def test_numbers_of_python_are_adjoints_of_numbers_of_numpy(f, x):
    output, pull = vjp(f, x)
    one = 1.0 if np.isrealobj(x) else 1.0 + 0j
    several = isinstance(output, tuple)
    (found,) = pull((one, one)) if several else pull(one)
    assert found == pytest.approx(np.imag(f(1j))) if not several else found == 3.0
    assert np.result_type(found) == np.result_type(x)
    _, along = linearize(f, x)
    check = along(one)[1] == 2.0 if several else along(one) == found
    assert check


@pytest.mark.parametrize("args, kwargs", [((2.0,), {"foo": 1}), ((2.0, 3.0), {}), ((), {})])
def test_wrong_arguments_get_the_same_error_at_each_call(args, kwargs):
    g = grad(lambda x: x * x)
    errors = []
    for _ in range(5):
        with pytest.raises(ArgumentTypeError) as caught:
            g(*args, **kwargs)
        errors.append(str(caught.value))
        assert g(2.0) == g(x=2.0) == 4.0
    assert len({*errors}) == 1
