"""Generated code as a module of its own: NumPy alone runs it, ruff has nothing to change in it."""

import collections
import dataclasses
import inspect
import linecache
import logging
import pickle
import subprocess
import sys

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, runtime, stop_gradient, value_and_grad, vmap
from s2s_ad.core.registry import RULES
from s2s_ad.core.rule import Rule
from s2s_ad.emit.printer import print_expression
from s2s_ad.emit.standalone import LARGEST, literal, standalone_module

RNG = np.random.default_rng(0)

# ---- literals ------------------------------------------------------------------------------------

LITERALS = [
    (3, "3"),
    (-2.5, "-2.5"),
    (-0.0, "-0.0"),
    (True, "True"),
    (np.nan, "np.nan"),
    (-np.inf, "-np.inf"),
    (2j, "2j"),
    (complex(-0.0, np.inf), None),
    (np.float64(0.1), "np.float64(0.1)"),
    (np.float32(0.1), "np.float32(0.1)"),
    (np.int8(-3), "np.int8(-3)"),
    (np.bool(True), "np.bool(True)"),
    (np.complex64(0.1 + 0.2j), None),
    (np.array(2.0), "np.array(2.0)"),
    (np.array(7), "np.array(7)"),
    (np.array([1.0, np.nan, -np.inf, -0.0]), "np.array([1.0, np.nan, -np.inf, -0.0])"),
    (np.array([[1, 2], [3, 4]]), "np.array([[1, 2], [3, 4]])"),
    (np.array([True, False]), "np.array([True, False])"),
    (np.array([0.1, 0.2], np.float32), "np.array([0.1, 0.2], dtype=np.float32)"),
    (np.array([1, 255], np.uint8), "np.array([1, 255], dtype=np.uint8)"),
    (np.array([2**64 - 1], np.uint64), None),
    (np.array([5e-324, 1.7976931348623157e308]), None),
    (np.array([1 + 2j, complex(np.nan, -0.0)]), None),
    (np.array(0.1j, np.complex64), None),
    (np.array([1.5, 2.5], ">f8"), 'np.array([1.5, 2.5], dtype=">f8")'),
    (np.zeros((0, 3)), "np.zeros((0, 3))"),
    (np.zeros((2, 0), np.int64), "np.zeros((2, 0), dtype=np.int64)"),
    (np.zeros(0, np.float32), "np.zeros((0,), dtype=np.float32)"),
    (RNG.standard_normal((5, 7)), None),
    (RNG.standard_normal(40).astype(np.float32) * np.float32(1e-30), None),
    (RNG.standard_normal(40).astype(np.float16), None),
    (np.asfortranarray(RNG.standard_normal((3, 4)))[::-1], None),
]


@pytest.mark.parametrize("value, text", LITERALS, ids=[repr(each)[:40] for each, _ in LITERALS])
def test_literal_makes_the_value_again_bit_for_bit(value, text):
    written = print_expression(literal(value))
    again = eval(written, {"np": np})
    assert type(again) is type(value)
    assert np.asarray(again).dtype == np.asarray(value).dtype
    assert np.shape(again) == np.shape(value)
    both_nan = isinstance(value, float) and np.isnan(value)
    assert both_nan or np.asarray(again).tobytes() == np.asarray(value).tobytes()
    assert text is None or written == text


# ---- programs ------------------------------------------------------------------------------------

r_tp1 = np.array(2.0)
s_tp1 = np.array([1.0, 2.0, 0.0])
weights = np.array([0.1, np.inf, 3.0], np.float32)
factor = 3
unused = np.ones(2 * LARGEST)


def value_fn(theta, state):
    return np.tensordot(theta, state, axes=1)


def td_loss(theta, s_tm1, r_t, s_t):
    return (stop_gradient(r_tp1 + value_fn(theta, s_tp1)) - value_fn(theta, s_t)) ** 2


def weighted(x):
    return np.sum(np.minimum(x, weights)) * factor


def gathered(x, i):
    return np.sum(x[i] ** 2)


def cube(x):
    return x**3


def ignores_large(x):
    both = (np.sum(x * x), 2 * unused)
    return both[0]


TD = RNG.standard_normal(3), RNG.standard_normal(3), np.array(2.0), RNG.standard_normal(3)
TD_BATCH = (TD[0], *(np.stack([each, each]) for each in TD[1:]))
GENERAL = ()  # no examples: the text for all arguments
PER_SAMPLE = vmap(grad(td_loss), in_axes=(None, 0, 0, 0))

PROGRAMS = {
    "td": (grad(td_loss), TD, TD),
    "td_general": (grad(td_loss), GENERAL, TD),
    "td_batch": (PER_SAMPLE, TD_BATCH, TD_BATCH),
    "td_batch_general": (PER_SAMPLE, GENERAL, TD_BATCH),
    "captures": (value_and_grad(weighted), (np.ones(3),), (np.ones(3),)),
    "index": (grad(gathered), (np.ones(4), np.array([1, 1, 2])), (np.ones(4), np.array([1, 1, 2]))),
    "no_numpy": (grad(cube), (2.0,), (2.0,)),
    "large_and_not_read": (grad(ignores_large), (np.ones(2),), (np.ones(2),)),
}

DRIVER = """\
import pickle, runpy, sys
space = runpy.run_path(sys.argv[1])
assert not [name for name in sys.modules if name.startswith("s2s_ad")]
with open(sys.argv[2], "rb") as file:
    name, args = pickle.load(file)
sys.stdout.buffer.write(pickle.dumps(space[name](*args)))
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_module_gives_the_same_with_numpy_alone(name, tmp_path):
    fn, examples, args = PROGRAMS[name]
    source, inputs = tmp_path / "module.py", tmp_path / "inputs"
    source.write_text(fn.source(*examples, standalone=True), encoding="utf-8")
    inputs.write_bytes(pickle.dumps((fn.text(*examples).name, args)))
    command = [sys.executable, "-I", "-c", DRIVER, str(source), str(inputs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found, expected = pickle.loads(done.stdout), fn(*args)
    pairs = zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]
    for a, b in pairs:
        assert np.result_type(a) == np.result_type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


def fake_text(helpers):
    """A text that calls these helpers."""
    text = grad(cube).text(2.0)
    body = "\n".join(f"    {name}" for name in helpers)
    changes = {"function": f"def calls():\n{body}\n", "name": "calls", "helpers": tuple(helpers)}
    return dataclasses.replace(text, **changes)


HELPERS = sorted(name for name, each in vars(runtime).items() if inspect.isfunction(each))


def test_ruff_has_nothing_to_change_or_to_find(tmp_path):
    program, _ = grad(cube)._text((2.0,), {})
    for name, (fn, examples, _) in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(fn.source(*examples, standalone=True))
    for name in HELPERS:  # each alone: what it calls has to come along
        text = standalone_module(program, fake_text([name]))
        (tmp_path / f"helper_{name}.py").write_text(text)
    for arguments in (["format", "--diff"], ["check", "--select", "F"]):
        ruff = [sys.executable, "-m", "ruff", *arguments, "--isolated", str(tmp_path)]
        done = subprocess.run(ruff, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stdout


def test_every_function_of_ours_that_code_may_call_can_be_pasted():
    ours = [each for each in RULES if (getattr(each, "__module__", "") or "").startswith("s2s_ad")]
    assert len(ours) >= 5
    others = [each for each in ours if getattr(runtime, each.__name__, None) is not each]
    # those of a module of rules are written as what they stand for: `A @ x`
    assert all(each.__module__.startswith("s2s_ad.rules.") for each in others)
    assert [each for each in others if type(RULES[each]).surface is Rule.surface] == []


def test_text_is_the_same_each_time():
    texts = {grad(td_loss).source(standalone=True) for _ in range(3)}
    assert len(texts) == 1


def test_docstrings_of_helpers_are_kept():
    source = grad(td_loss).source(standalone=True)
    assert inspect.getdoc(runtime.unbroadcast) in source


def test_captured_numbers_are_those_that_stand_there_now(monkeypatch):
    fn = grad(weighted)
    assert "factor = 3\n" in fn.source(np.ones(3), standalone=True)
    monkeypatch.setitem(globals(), "factor", 4)
    assert "factor = 4\n" in fn.source(np.ones(3), standalone=True)


def test_helper_gives_way_to_a_captured_object_of_its_name():
    """`product_spec` is called by a helper only, so that the function may use the name."""
    space = {"np": np, "product_spec": 2.0}
    code = "def scaled(a, b):\n    return product_spec * np.tensordot(a, b, axes=1)\n"
    fn = grad(_defined(code, "scaled", space))
    made: dict = {}
    exec(fn.source(standalone=True), made)
    a, b = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))
    expected = 2.0 * np.ones((2, 4)) @ b.T
    np.testing.assert_allclose(made["scaled_grad"](a, b), expected)


def _defined(code, name, space):
    """A function whose source is in linecache, as in a notebook."""
    file = f"<test {name}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    exec(compile(code, file, "exec"), space)
    return space[name]


# ---- objects of the user's -----------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: float
    y: float


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: np.ndarray
    y: "list[float]" = None


@dataclasses.dataclass
class Measured:
    x: float
    y: float

    def __abs__(self):
        return np.hypot(self.x, self.y)


def to_point(a):
    return Point(a, 2 * a)


def to_pair(a):
    return Pair(a, 2 * a)


def _scaled(p, *, factor=2.0):
    return p * factor


def changed_in_place(point):
    """Reads a default that is not in a module, but in a dict of the function's."""
    point.x = _scaled(point.x)
    return point.x * point.y


def test_a_gradient_of_an_object_brings_its_class():
    source = grad(changed_in_place).source(Point(3.0, 4.0), standalone=True)
    space: dict = {"__name__": "alone"}
    exec(source, space)
    assert repr(space["changed_in_place_grad"](Point(3.0, 4.0))) == repr(Point(8.0, 6.0))


def to_fixed(a):
    return Fixed(a, 2 * a)


def to_measured(a):
    return Measured(a, 2 * a)


@pytest.mark.parametrize("fn, kind", [(to_point, Point), (to_pair, Pair), (to_fixed, Fixed)])
def test_classes_of_results_are_defined_anew(fn, kind):
    source = jit(fn).source(1.0, standalone=True)
    assert kind.__module__ not in source
    space: dict = {"__name__": "alone"}
    exec(source, space)
    found = space[fn.__name__](1.5)
    assert repr(found) == repr(kind(1.5, 3.0))
    assert found == space[kind.__name__](1.5, 3.0)
    if kind is Fixed:
        assert type(found)(1.0).y is None
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.x = 2.0


def test_classes_with_code_of_their_own_are_imported():
    source = jit(to_measured).source(1.0, standalone=True)
    assert f"from {__name__} import Measured\n" in source
    space: dict = {}
    exec(source, space)
    assert space["to_measured"](1.5) == Measured(1.5, 3.0)


class TooLarge(ValueError):
    """Raised by the user's code."""


class FarTooLarge(TooLarge):
    pass


class Counted(TooLarge):
    """Code of its own that reads nothing but builtins."""

    def __init__(self, *values):
        super().__init__(f"{len(values)} too large")
        self.values = values


def raises_with_methods(x):
    if x > 10:
        raise Counted(x, 1)
    return x * x


def test_methods_of_an_exception_are_written_anew():
    source = grad(raises_with_methods).source(2.0, standalone=True)
    assert __name__ not in source
    space: dict = {}
    exec(source, space)
    assert space["raises_with_methods_grad"](4.0) == pytest.approx(8.0)
    with pytest.raises(ValueError, match="2 too large") as caught:
        space["raises_with_methods_grad"](11.0)
    assert caught.value.values == (11.0, 1)


LOG = logging.getLogger("tests.standalone")


def logs(x):
    LOG.debug("x is %s", x)
    return x * x


def test_a_logger_is_asked_for_by_its_name(caplog):
    source = grad(logs).source(2.0, standalone=True)
    assert __name__ not in source
    space: dict = {}
    exec(source, space)
    with caplog.at_level(logging.DEBUG, "tests.standalone"):
        assert space["logs_grad"](3.0) == pytest.approx(6.0)
    assert caplog.messages == ["x is 3.0"]


class WithCode(Exception):
    def __str__(self):
        return repr(LOG)


def raises_its_own(x):
    if x > 10:
        raise FarTooLarge(f"{x} is far too large")
    try:
        y = np.sqrt(x) if x > 1 else 1 / x
    except TooLarge:
        y = x
    return y * x


class WithMoreCode(WithCode):
    pass


def raises_with_code(x):
    try:
        if x > 10:
            raise WithMoreCode
    except WithCode:
        return 3 * x
    if x < 0:
        raise WithMoreCode
    return x * x


def test_exceptions_with_code_are_imported_with_those_they_derive_from():
    space: dict = {}
    exec(grad(raises_with_code).source(2.0, standalone=True), space)
    assert (space["raises_with_code_grad"](4.0), space["raises_with_code_grad"](20.0)) == (8.0, 3.0)
    with pytest.raises(WithMoreCode):
        space["raises_with_code_grad"](-1.0)


def test_exceptions_of_the_user_are_defined_anew():
    source = grad(raises_its_own).source(2.0, standalone=True)
    assert "import TooLarge" not in source
    assert __name__ not in source
    space: dict = {}
    exec(source, space)
    assert space["raises_its_own_grad"](4.0) == pytest.approx(1.5 * 2.0)
    with pytest.raises(ValueError, match="is far too large") as caught:
        space["raises_its_own_grad"](20.0)
    assert [each.__name__ for each in type(caught.value).__mro__[:3]] == [
        "FarTooLarge",
        "TooLarge",
        "ValueError",
    ]


class NoRoot(Exception):
    def __init__(self, message, n=None, *, at=(1, 2.0)):
        super().__init__(message)
        self.n, self.at = n, at

    def __repr__(self):
        return f"NoRoot({self.n})"


def raises_with_defaults(x):
    for _ in range(3):
        x = 0.5 * (x + 3 / x)
    if abs(x * x - 3) > 1:
        raise NoRoot("no root", n=3)
    return x


def test_methods_of_exceptions_may_have_defaults():
    space: dict = {}
    exec(grad(raises_with_defaults).source(2.0, standalone=True), space)
    assert space["raises_with_defaults_grad"](2.5) == grad(raises_with_defaults)(2.5)
    with pytest.raises(Exception, match="no root") as caught:
        space["raises_with_defaults_grad"](100.0)
    assert (caught.value.n, caught.value.at, repr(caught.value)) == (3, (1, 2.0), "NoRoot(3)")


def local_result():
    @dataclasses.dataclass
    class Hidden:
        x: float

        def twice(self):
            return 2 * self.x

    def to_hidden(a):
        return Hidden(2 * a)

    return to_hidden


large = np.ones(LARGEST + 1)
longest = np.array([0.1], np.longdouble)


def reads_large(x):
    return np.sum(x) * np.sum(large)


def reads_longest(x):
    return np.sum(x * longest)


def to_main(a):
    return Measured(a, 2 * a)


REFUSED = [
    (grad(reads_large), "large cannot be written", "1,001 elements", "pass large as an argument"),
    (jit(local_result()), "Hidden cannot be imported", "class", "at the top of a module"),
]
if np.finfo(np.longdouble).bits > 64:
    REFUSED.append((grad(reads_longest), "longest cannot be written", "more digits", "pass"))


@pytest.mark.parametrize("fn, what, why, help", REFUSED)
def test_what_cannot_be_written_is_refused_at_its_place(fn, what, why, help):
    with pytest.raises(S2SError) as caught:
        fn.source(1.0, standalone=True)
    error = caught.value
    assert error.code == "S2S205"
    assert what in error.what
    assert why in error.why
    assert help in error.help
    assert error.origin.file == __file__


def test_class_of_the_main_program_is_refused(monkeypatch):
    monkeypatch.setattr(Measured, "__module__", "__main__")
    monkeypatch.setitem(globals(), "__name__", "__main__")
    with pytest.raises(S2SError, match="cannot be imported"):
        jit(to_main).source(1.0, standalone=True)
