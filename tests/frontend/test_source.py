"""Where the source of a function comes from, and that it is what runs."""

import ast
import enum
import functools
import gc
import importlib
import inspect
import linecache
import os
import re
import sys
import warnings

import numpy as np
import pytest

from frontend.loading import load, load_file
from s2s_ad import S2SError, grad, jit
from s2s_ad.frontend.source import Source, source_of

X = np.array([0.3, -0.7, 1.1])


def raised(function, *args, transform=grad):
    with pytest.raises(S2SError) as caught:
        transform(function)(*args)
    return caught.value


# ---- the definition is found ---------------------------------------------------------------------

identical = (lambda x: x * 2.0), (lambda x: x * 2.0)
similar = [lambda x: x * 1, lambda x: x * 1.0, lambda x: x * True, lambda x: -x * 1.0]
nested = lambda x: (lambda y: (lambda z: z * x)(y + x))(x * 2.0)
in_call = dict(
    first=lambda x: x + 1.0,
    second=sorted([lambda x: x * 3.0, lambda x: x * 4.0], key=lambda f: f(1.0)),
    third=(
        lambda x, *, k=2.0: (
            x
            * k
        )
    ),
)  # fmt: skip
constant = lambda x: 3.0
unused = lambda x, y: x


@pytest.mark.parametrize(
    "function",
    [
        *identical,
        *similar,
        nested,
        in_call["first"],
        *in_call["second"],
        in_call["third"],
        constant,
    ],
)
def test_lambdas_are_found_by_their_place(function):
    expected = function(2.0)
    result = jit(function)(2.0)
    assert result == expected
    assert type(result) is type(expected)


def test_a_lambda_is_found_where_its_assert_stands(tmp_path):
    """What pytest before 8.4 compiles says of all of an assert that it stands where that does."""
    text = """from s2s_ad import grad

def one():
    assert grad(
        lambda x: x * x)(3.0) == 6.0

def two():
    assert grad(lambda x: x * x)(3.0) == 6.0 and grad(lambda x: x + x)(3.0) == 2.0
"""
    file = tmp_path / "asserting.py"
    file.write_text(text)
    module = ast.parse(text)
    for statement in ast.walk(module):
        if isinstance(statement, ast.Assert):
            for node in ast.walk(statement):
                ast.copy_location(node, statement)
    exec(compile(module, str(file), "exec"), space := {})
    space["one"]()
    with pytest.raises(S2SError, match="cannot be told from others on its line"):
        space["two"]()


@pytest.mark.parametrize("place", [0, 1])
def test_the_caret_tells_identical_lambdas_apart(place):
    pair = (lambda x: x * x.no), (lambda x: x * x.no)  # fmt: skip
    origin = raised(pair[place], 1.0).origin
    columns = [each.start() for each in re.finditer(r"x\.no", origin.text)]
    assert origin.column == columns[place]


def test_parameters_that_are_not_used_count():
    assert jit(unused)(2.0, 3.0) == 2.0


class Private:
    __scale = 3.0

    def __helper(self, x, *, __k=2.0):
        return x * self.__scale * __k

    def method(self, x):
        inner = lambda __v: self.__helper(__v, _Private__k=5.0)
        return self.__helper(x) + inner(x)


def test_private_names_are_those_of_the_class():
    assert jit(Private().method)(2.0) == Private().method(2.0) == 42.0


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings(ending, tmp_path):
    text = "import numpy as np\ndef f(x):\n    y = np.sin(x)\n    return y * y\n"
    function = load(tmp_path, text.replace("\n", ending)).f
    np.testing.assert_allclose(grad(function)(X), np.sin(2 * X))


def test_tabs_and_letters_of_any_alphabet(tmp_path):
    text = "def f(θ, 日本=2.0):\n\tü = 'é'; λ = lambda x: x * 日本\n\treturn λ(θ) * len(ü)\n"
    assert jit(load(tmp_path, text).f)(3.0) == 6.0


def test_declared_encoding(tmp_path):
    path = tmp_path / "latin_one.py"
    path.write_bytes(
        "# -*- coding: latin-1 -*-\ndef f(x):\n    é = 'ü'; return x * len(é)\n".encode("latin-1")
    )
    assert jit(load_file(path).f)(3.0) == 3.0


def test_postponed_annotations(tmp_path):
    text = """
    from __future__ import annotations
    def f(x: Nothing) -> Nowhere:
        y: Never = x
        return y * y
    """
    assert grad(load(tmp_path, text).f)(3.0) == 6.0


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated at once")
def test_annotations_of_names_that_do_not_exist(tmp_path):
    text = """
    import dataclasses
    @dataclasses.dataclass
    class Pair:
        x: Nothing
        y: Nowhere = 2.0
    def inner(x: Nothing) -> Nowhere:
        pair = Pair(x)
        return pair.x * pair.y
    def f(x: Nothing) -> Nowhere:
        y: Never = inner(x)
        return y * y
    """
    assert grad(load(tmp_path, text).f)(3.0) == 24.0


def test_what_python_warned_of_at_import_is_not_said_again(tmp_path):
    text = r"""
    def f(x):
        assert (x, "always true")
        name = "\d"
        return x * len(name)
    """
    with warnings.catch_warnings(action="ignore"):
        function = load(tmp_path, text).f
    with warnings.catch_warnings(action="error"):
        assert jit(function)(3.0) == 6.0


def test_asserts_that_a_test_runner_rewrote():
    def f(x):
        assert x > 0, "positive"
        y = x * x
        assert y > 0 and x < 100  # noqa: PT018
        return y

    assert grad(f)(3.0) == 6.0


def test_a_cell_of_a_notebook():
    text = (
        "import numpy as np\ndef cell(x):\n    return np.sin(x) * 2.0\nf = lambda x: cell(x) * x\n"
    )
    name = "<ipython-input-1-s2s>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    np.testing.assert_allclose(jit(space["f"])(X), space["f"](X))


def test_source_through_a_loader(tmp_path):
    import zipfile

    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("packed_module.py", "def f(x):\n    return x * x\n")
    sys.path.insert(0, str(archive))
    try:
        module = importlib.import_module("packed_module")
    finally:
        sys.path.remove(str(archive))
    assert grad(module.f)(3.0) == 6.0


# ---- no source, or not the source ----------------------------------------------------------------


@pytest.mark.parametrize("known", ["", "import sys\n", "def f(x):\n    return x * 3\n"])
def test_code_given_to_exec_is_refused(known, monkeypatch):
    """Since 3.13 the text of `python -c` is known, under the name that code given to exec has."""
    lines = known.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<string>", (len(known), None, lines, "<string>"))
    space = {}
    exec("def f(x):\n    return x * x\n", space)
    error = raised(space["f"], 3.0)
    assert error.code == "S2S101"
    assert "file or a notebook cell" in error.help


EDITS = {
    "another constant": ("return x * 2.0", "return x * 3.0"),
    "another constant of the same value": ("return x * 2.0", "return x * 2"),
    "another line": ("def f(x):", "# new\ndef f(x):"),
    "another name": ("return x * 2.0", "return y * 2.0"),
    "another operator": ("return x * 2.0", "return x + 2.0"),
    "another parameter": ("def f(x):", "def f(y, x=1.0):"),
    "gone": ("def f(x):", "def g(x):"),
    "shorter": ("def f(x):\n    return x * 2.0\n", ""),
    "swapped parameters": ("def h(a, b):", "def h(b, a):"),
    "unreadable": ("def f(x):", "def f(x:"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_changed_after_import_is_refused(edit, tmp_path):
    old, new = EDITS[edit]
    text = "def f(x):\n    return x * 2.0\n\n\ndef h(a, b):\n    return a\n"
    module = load(tmp_path, text)
    path = tmp_path / f"{module.__name__}.py"
    path.write_text(text.replace(old, new))
    os.utime(path, (1, 1))
    function, args = (module.h, (3.0, 2.0)) if edit.startswith("swapped") else (module.f, (3.0,))
    error = raised(function, *args)
    assert error.code == "S2S102"
    assert "import it again" in error.help


def test_a_change_elsewhere_in_the_file_is_no_matter(tmp_path):
    text = "def f(x):\n    return x * 2.0\n\n\ndef g(x):\n    return x\n"
    module = load(tmp_path, text)
    path = tmp_path / f"{module.__name__}.py"
    path.write_text(text + "\n\nunrelated = 1\n")
    os.utime(path, (1, 1))
    assert grad(module.f)(3.0) == 2.0


class Plain:
    pass


async def coroutine(x):
    return x


def generator(x):
    yield x


def calls(function):
    return lambda x: function(x)


@pytest.mark.parametrize("transform", [grad, jit])
@pytest.mark.parametrize("function", [np.fromfile, len, open, np.loadtxt, Plain, 3, "f", Plain()])
def test_what_is_not_a_python_function_is_refused(function, transform):
    error = raised(function, X, transform=transform)
    assert error.code in ("S2S103", "S2S501", "S2S301")
    assert error.help or "must be a function" in error.what


@pytest.mark.parametrize("function", [coroutine, generator])
@pytest.mark.parametrize("wrap", [lambda f: f, calls])
def test_functions_that_do_not_run_to_their_end_are_refused(function, wrap):
    assert raised(wrap(function), 3.0).code in ("S2S103", "S2S304", "S2S501")


@pytest.mark.parametrize("transform", [grad, jit])
def test_what_is_refused_takes_nothing_from_the_others(transform):
    """The object whose making failed goes at once, and may not take the calls of all along."""
    for refused in (np.fromfile, len, Plain()):
        raised(refused, X, transform=transform)
    gc.collect()
    np.testing.assert_array_equal(jit(lambda x: 2 * x)(X), 2 * X)


@pytest.mark.parametrize(
    "function, words",
    [
        (np.random.gamma, "only what shifts and scales standard numbers has one"),
        (np.copyto, "missing 1 required positional argument"),
        (Plain, "takes no arguments"),
        (enum.Enum, "has to be known when code is generated"),
        (3, "not a function"),
        (print, "returned None"),
        (functools.partial(print, "x"), "statement of its own"),
    ],
)
def test_calls_that_are_refused_say_why(function, words):
    error = raised(calls(function), X)
    assert words in str(error)
    assert error.origin.text.strip() == "return lambda x: function(x)"


def test_recursion_is_refused():
    def factorial(n):
        return 1.0 if n is None else n * factorial(n - 1.0)

    assert raised(factorial, 3.0).code == "S2S206"


def test_sources_are_read_once():
    function = lambda x: x * x
    assert source_of(function).node is source_of(function).node


@functools.cache
def decorated(x):
    return np.sum(
        x**2,
    )


@pytest.mark.parametrize("function", [decorated.__wrapped__, Source.origin])
def test_a_source_holds_its_own_lines_alone(function):
    """The tuple of all lines of the file was kept for each function in it."""
    lines = source_of(function).lines
    assert "".join(lines.values()) == inspect.getsource(function)
    assert min(lines) == function.__code__.co_firstlineno
