"""Functions that are defined in cells of a notebook, run by IPython as it runs them."""

import os
import sys

import numpy as np
import pytest

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
IMPORTS = "import numpy as np\nfrom s2s_ad import grad, jit, vmap\n"
X = "x = np.array([0.3, -0.7, 1.1])\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """An IPython of its own; nothing of it is left when the tests of this file are done."""
    before = sys.modules["__main__"], sys.displayhook, sys.excepthook
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        yield interactiveshell.InteractiveShell.instance()
        interactiveshell.InteractiveShell.clear_instance()
    sys.modules["__main__"], sys.displayhook, sys.excepthook = before


@pytest.fixture
def run(session):
    """Run one cell after the other; gives a name's value after the last."""
    session.reset()

    def cells(*texts, of="result"):
        for text in texts:
            session.run_cell(text, store_history=True).raise_error()
        return session.user_ns.get(of)

    return cells


def assert_gradient(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


x = np.array([0.3, -0.7, 1.1])
of_tanh_squared = 2 * np.tanh(x) / np.cosh(x) ** 2  # the gradient of np.sum(np.tanh(x) ** 2)


CELLS = {
    "imports and a function": (
        "def f(x):\n    return np.sum(np.tanh(x) ** 2)\nresult = grad(f)(x)",
        of_tanh_squared,
    ),
    "imports and a lambda": (
        "result = grad(lambda x: np.sum(np.tanh(x) ** 2))(x)",
        of_tanh_squared,
    ),
    "several lambdas": (
        "f, g = lambda x: np.sum(x**2), lambda x: np.sum(x**3)\n"
        "result = [grad(f)(x), grad(g)(x), grad(lambda x: f(x) + g(x))(x)]",
        [2 * x, 3 * x**2, 2 * x + 3 * x**2],
    ),
    "an import under a condition": (
        "if True:\n    import math\n    def f(x):\n        return math.sin(x) * math.pi\n"
        "result = grad(f)(0.5)",
        np.pi * np.cos(0.5),
    ),
    "a decorator": (
        "@jit\ndef f(x):\n    return np.sum(np.sin(x))\nresult = grad(f)(x)",
        np.cos(x),
    ),
    "a class": (
        "class Scaled:\n    rate = 3.0\n    def __call__(self, x):\n"
        "        return np.sum(self.__scaled(x))\n"
        "    def __scaled(self, x):\n        return np.sin(x) * self.rate\n"
        "result = grad(Scaled())(x)",
        3 * np.cos(x),
    ),
    "magics around": (
        "%time pass\nf = lambda x: np.sum(np.sin(x))\n%time result = grad(f)(x)\n",
        np.cos(x),
    ),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("first", ["", "%%time\n\n# a comment\n"])
def test_all_in_one_cell(name, first, run):
    text, expected = CELLS[name]
    assert_gradient(run(first + IMPORTS + X + text), expected)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CELLS)
def test_imports_in_a_cell_before(name, run):
    text, expected = CELLS[name]
    assert_gradient(run(IMPORTS, X, text), expected)


@pytest.mark.parametrize("before", ["", "import math\n"])
def test_await_at_the_top(before, run):
    text = "async def kept(f):\n    return f\nf = await kept(lambda x: np.sum(np.sin(x)))\n"
    assert_gradient(run(before + IMPORTS + X + text + "result = grad(f)(x)"), np.cos(x))


@pytest.mark.parametrize("first", ["", "%%time\n"])
def test_postponed_annotations(first, run, session):
    text = "\ndef f(x: Nothing) -> Nowhere:\n    return np.sum(x * x)\nresult = grad(f)(x)"
    try:
        future = "from __future__ import annotations\n"
        assert_gradient(run(first + future + IMPORTS + X + text), 2 * x)
        assert_gradient(run("result = None", text), 2 * x)  # it holds for later cells
    finally:
        session.compile.reset_compiler_flags()


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "cell, expected",
    [
        ("%time f = lambda x: np.sum(np.sin(x))", np.cos(x)),
        ("%timeit -n 1 -r 1 -q found.append(grad(lambda x: np.sum(np.sin(x)))(x))", np.cos(x)),
        ("%timeit -n1 -r1 f = lambda x: np.sum(np.sin(x)); found.append(grad(f)(x))", np.cos(x)),
        (
            "%%timeit -n 1 -r 1\nf = lambda x: np.sum(np.sin(x))\nfound.append(grad(f)(x))",
            np.cos(x),
        ),
        (
            "%%timeit -n 1 -r 1 k = 2.0; g = lambda x: k * x\nimport math\n"
            "def f(x):\n    return np.sum(g(np.sin(x)) * math.pi * k)\n"
            "found.append(grad(f)(x) / math.pi)\nfound.append(grad(g)(1.0))\n",
            (4 * np.cos(x), 2.0),
        ),
        (
            "%%time\nf = lambda x: np.sum(x**2)\n"
            "%timeit -n1 -r1 found.append(grad(lambda x: f(x) + np.sum(np.sin(x)))(x))",
            2 * x + np.cos(x),
        ),
        ("%%prun -q\nf = lambda x: np.sum(np.sin(x))\nfound.append(grad(f)(x))", np.cos(x)),
    ],
)
def test_functions_inside_of_what_is_timed(cell, expected, run, session):
    run(IMPORTS, X, "found = []", cell, of="found")
    found = session.user_ns["found"] or [run("result = grad(f)(x)")]
    for each, wanted in zip(found, expected if isinstance(expected, tuple) else (expected,)):
        assert_gradient(each, wanted)
    if "f = " in cell and cell.startswith("%%time\n"):
        assert_gradient(run("result = grad(f)(x)"), 2 * x)  # in a later cell


def test_two_cells_that_are_timed_are_told_apart(run):
    one = "%%time\ndef f(x):\n    return np.sum(x**2)"
    other = "%%time\ndef f(x):\n    return np.sum(x**3)"
    run(IMPORTS + X, one, "first = f", other, of="f")
    assert_gradient(run("result = [grad(first)(x), grad(f)(x)]"), [2 * x, 3 * x**2])


def test_what_a_later_cell_defines_anew_is_followed(run):
    define = "def helper(x):\n    y = np.sin(x)\n    return {0} * y\nrate = 2.0"
    run(
        IMPORTS + X + define.format("1.0") + "\ndef f(x):\n    return np.sum(rate * helper(x))",
        "g = grad(f)",
    )
    assert_gradient(run("result = g(x)"), 2 * np.cos(x))
    assert_gradient(run("rate = 5.0", "result = g(x)"), 5 * np.cos(x))
    assert_gradient(run(define.format("7.0"), "result = g(x)"), 14 * np.cos(x))
    assert_gradient(run(f"%%time\n{define.format('9.0')}", "result = g(x)"), 18 * np.cos(x))
    assert_gradient(run("def sin(x):\n    return x", "helper = sin", "result = g(x)"), 2 + 0 * x)


def test_a_function_of_the_same_text_in_another_cell(run):
    text = "def f(x):\n    return np.sum(np.sin(x) * k)"
    run(IMPORTS + X + "k = 2.0", text, "first = grad(f)", text, of="first")
    assert_gradient(run("result = [first(x), grad(f)(x)]"), [2 * np.cos(x)] * 2)


@pytest.mark.parametrize("first", ["", "%%time\n"])
def test_code_that_a_cell_gives_to_exec_is_refused(first, run):
    text = 'exec("def hidden(x):\\n    return x * x")\ndef f(x):\n    return x * x\n'
    run(IMPORTS + "from s2s_ad import S2SError", first + text, of="f")
    error = run("try:\n    grad(hidden)(2.0)\nexcept S2SError as e:\n    result = e")
    assert error.code == "S2S101"
    assert "a notebook cell" in error.help
    assert run("result = grad(f)(2.0)") == 4.0


def test_code_that_is_not_that_of_the_cell_is_refused(run, session):
    import ast

    class Doubled(ast.NodeTransformer):
        def visit_Constant(self, node):
            doubled = ast.Constant(node.value * 2) if type(node.value) is float else node
            return ast.copy_location(doubled, node)

    run(IMPORTS + "from s2s_ad import S2SError")
    session.ast_transformers.append(Doubled())
    try:
        run("def f(x):\n    return x * 3.0", "%%time\ndef g(x):\n    return x * 3.0", of="f")
    finally:
        session.ast_transformers.clear()
    catch = "try:\n    grad({0})(2.0)\nexcept S2SError as e:\n    result = e"
    assert run("result = f(1.0)") == 6.0
    assert [run(catch.format(name)).code for name in "fg"] == ["S2S101", "S2S101"]


def test_text_and_errors_call_a_cell_by_its_number(run, session):
    run(IMPORTS + X, "def f(x):\n    return np.sum(x * x)", of="f")
    number = session.execution_count - 1
    assert f"(cell {number}, line 1)" in run("result = grad(f).source(x)")
    catch = "try:\n    grad(lambda x: x.no)(x)\nexcept Exception as e:\n    result = str(e)"
    assert f"--> cell {number + 2}:2:" in run(catch)
