"""What a handler has caught: it may be logged, printed, warned of, and be the cause of another."""

import logging
import math
import warnings

import numpy as np
import pytest

from frontend.every_mode import assert_as_a_whole
from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

pytestmark = pytest.mark.thinned(2)

logger = logging.getLogger(__name__)


def logged(x):
    try:
        y = math.log(x)
    except ValueError as error:
        logger.warning("no logarithm: %s (%s)", error, type(error).__name__)
        y = 0.5 * x
    return y * y


def printed(x):
    try:
        y = math.log(x)
    except (ValueError, TypeError) as e:
        print(f"no logarithm: {e!r}", e.args[0])
        y = 0.5 * x
    return y * y


def warned(x):
    try:
        y = math.log(x)
    except ValueError as e:
        warnings.warn(f"no logarithm: {e}", RuntimeWarning, stacklevel=1)
        y = x
    return y * y


def chained(x):
    try:
        y = math.log(x)
    except ValueError as error:
        raise RuntimeError(f"bad value {x}") from error
    return y * y


def chained_of_its_text(x):
    try:
        y = math.log(x)
    except ValueError as error:
        raise RuntimeError("bad: " + str(error)) from None
    return y * y


def one_in_another(x):
    try:
        y = math.log(x)
    except ValueError as first:
        try:
            y = math.sqrt(x)
        except ValueError as second:
            raise RuntimeError(f"{first}, {second}") from first
    return y * y


def shows_the_outer_one(x):
    try:
        y = math.log(x)
    except ValueError as outer:
        try:
            y = math.sqrt(x)
        except ValueError:
            raise RuntimeError(f"{outer}") from outer
    return y * y


def raised_for_certain(x):
    if x > 0.0:
        return x
    try:
        raise ValueError(f"not for {x}")
    except ValueError as e:
        raise RuntimeError(str(e)) from e


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        try:
            total = total + math.log(x + k)
        except ValueError as e:
            print("step", k, e)
    return total


RUN = [logged, printed, warned, in_a_loop]
RAISE = [chained, chained_of_its_text, one_in_another, shows_the_outer_one, raised_for_certain]
MODES = {
    "value": lambda f, x: jit(f)(x),
    "gradient": lambda f, x: grad(f)(x),
    "both": lambda f, x: value_and_grad(f)(x),
    "tangent": lambda f, x: jvp(f, (x,), (1.0,)),
    "second": lambda f, x: grad(grad(f))(x),
    "batch": lambda f, x: vmap(grad(f))(np.array([2.0, x])),
}


def seen(call, capsys, caplog):
    """What a call prints, logs, warns of; of an exception, its kind, text and cause."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            call()
            error = None
        except RuntimeError as found:
            cause = found.__cause__
            error = type(found), str(found), type(cause), str(cause)
    said = [str(e.message) for e in warned if e.category is RuntimeWarning]
    return error, capsys.readouterr().out, caplog.messages, said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [*RUN, *RAISE], ids=lambda f: f.__name__)
def test_each_mode_says_what_python_says(f, mode, capsys, caplog):
    for x in (-0.5, -1.5):
        expected = seen(lambda: f(x), capsys, caplog)
        found = seen(lambda: MODES[mode](f, x), capsys, caplog)
        assert any(found), "nothing was said"
        assert found == expected


@pytest.mark.parametrize("x", [2.0, -0.5])
@pytest.mark.parametrize("f", RUN, ids=lambda f: f.__name__)
def test_derivatives(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
        np.testing.assert_allclose(vmap(grad(f))(np.array([x, x])), expected, rtol=1e-6)


def test_the_text_has_the_users_name():
    text = grad(one_in_another).source(2.0)
    assert "except ValueError as first:" in text
    assert 'raise RuntimeError(f"{first}, {second}") from first' in text
    assert "bound when it was compiled" not in text


# ---- as values -----------------------------------------------------------------------------------


def message(x):
    text = "none"
    try:
        y = math.log(x)
    except ValueError as e:
        text = str(e)
        y = 0.5 * x
    print(text.upper(), "domain" in text)
    return y * y


def described(x):
    try:
        return {"value": math.log(x), "error": None}
    except ValueError as e:
        return {"value": 0.5 * x, "error": f"{type(e).__name__}: {e}"}


def asks_the_result(x):
    result = described(x)
    if result["error"] is not None:
        warnings.warn(result["error"], RuntimeWarning, stacklevel=1)
        return result["value"] ** 2
    return result["value"]


def tries_again(x):
    last = None
    for k in range(3):
        try:
            return math.sqrt(x + k)
        except ValueError as error:
            last = error
    raise RuntimeError("no attempt left") from last


def raises_the_last(x):
    last = None
    for k in range(2):
        try:
            y = math.sqrt(x + k)
            break
        except ValueError as error:
            last = RuntimeError(str(error))
    else:
        raise last
    return y * x


def keeps_all(x):
    texts, errors, total = [], [], 0.0
    for k in range(3):
        try:
            total += math.log(x + k)
        except ValueError as e:
            texts.append(str(e))
            errors.append(e)
    if texts:
        print("; ".join(texts), texts, len(errors))
    if len(errors) > 1:
        raise RuntimeError("twice") from errors[-1]
    return total * x


def by_name(x):
    errors = {}
    total = 0.0
    for name, shift in (("near", 0.0), ("far", 1.0)):
        try:
            total += math.log(x + shift)
        except ValueError as e:
            errors[name] = str(e)
    if errors:
        print(len(errors), "near" in errors)
    return total + 0.1 * len(errors) * x


def of_which_class(x):
    try:
        y = math.log(x) / (x - 1.0)
    except Exception as e:
        print(type(e).__name__)
        if isinstance(e, ZeroDivisionError):
            y = 1.0
        elif type(e) is ValueError and "domain" in e.args[0]:
            y = 3.0 * x
        else:
            raise RuntimeError(type(e).__name__) from e
    return y * y


def handed_back(x):
    def attempt(x):
        try:
            return math.log(x), None
        except ValueError as e:
            return 0.5 * x, e

    y, error = attempt(x)
    if error is not None:
        logger.warning("no logarithm: %s", error)
        y = 2.0 * y
    return y * x


class TooSmall(RuntimeError):
    pass


def class_of_two(x):
    kind = TooSmall if x > -1.0 else RuntimeError
    if x < 0.0:
        raise kind(f"bad value {x}")
    return x * x


def made_before(x):
    problem = None
    if x < -1.0:
        problem = RuntimeError(f"far below: {x}")
    elif x < 0.0:
        problem = TooSmall("below")
    if problem is not None:
        raise problem
    return x**3


VALUES = [message, asks_the_result, tries_again, raises_the_last, keeps_all, by_name]
VALUES += [of_which_class, handed_back, class_of_two, made_before]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", VALUES, ids=lambda f: f.__name__)
def test_values_in_each_mode(f, mode, capsys, caplog):
    said = []
    for x in (2.0, -0.5, -1.5, -4.0):
        expected = seen(lambda: f(x), capsys, caplog)
        found = seen(lambda: MODES[mode](f, x), capsys, caplog)
        said.append(any(found))
        if mode != "batch" or expected[0] is not None or not any(expected):
            assert found == expected
        else:  # the batch has another sample, which may say something as well
            assert all(set(a) >= set(b) for a, b in zip(found[2:], expected[2:], strict=True))
    assert any(said), "nothing was said"


@pytest.mark.thinned(12)
@pytest.mark.parametrize("x", [2.0, -0.5])
@pytest.mark.parametrize("f", VALUES, ids=lambda f: f.__name__)
def test_derivatives_of_values(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f(x)
        except RuntimeError:
            pytest.skip("raises here")
        assert_as_a_whole(f, x)


def test_a_result_may_hold_the_text_or_none():
    for x in (2.0, -0.5):
        assert jit(described)(x) == described(x)


def test_a_value_that_an_exception_carries_is_refused():
    class Failed(ValueError):
        def __init__(self, value):
            super().__init__("failed")
            self.value = value

    def carried(x):
        try:
            if x > 1.0:
                raise Failed(x)
            return x
        except Failed as e:
            return 3.0 * e.value

    def all_of_them(x):
        try:
            raise ValueError("failed", 2.0 * x)
        except ValueError as e:
            text, value = e.args
            return value if text == "failed" else x

    with pytest.raises(S2SError, match="the attribute 'value' of an exception that was caught"):
        grad(carried)(2.0)
    with pytest.raises(S2SError, match=r"read by its place, error.args\[0\]"):
        grad(all_of_them)(2.0)


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __enter__(self):
        return self.scale

    def __exit__(self, *what):
        return False


class Doubled(Scaled):
    def __enter__(self):
        self.scale = 2.0 * self.scale
        return self.scale

    def __exit__(self, *what):
        self.scale = 0.0


def under_one_of_two(x):
    manager = Scaled(x) if x > 1.0 else Doubled(3.0 * x)
    with manager as scale:
        y = scale * x
    return y + manager.scale


@pytest.mark.parametrize("x", [2.0, 0.5])
def test_with_one_of_two_managers(x):
    assert_as_a_whole(under_one_of_two, x)


def test_nothing_is_written_behind_a_raise():
    lines = grad(chained).source(2.0).splitlines()
    at = next(i for i, line in enumerate(lines) if " from error" in line)
    deeper = [len(each) - len(each.lstrip()) for each in lines[at : at + 2]]
    assert deeper[1] < deeper[0]


class Length:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"{self.value:g} m"


def logged_by_repr(x):
    longest = Length(x) if x > 1.0 else Length(2.0 * x)
    other = Length(x)
    logger.warning("longest %r of %s", longest, other)
    return longest.value**2


@pytest.mark.parametrize("mode", MODES)
def test_objects_in_a_log_say_what_they_are(mode, capsys, caplog):
    for x in (2.0, 0.5):
        expected = seen(lambda: logged_by_repr(x), capsys, caplog)
        found = seen(lambda: MODES[mode](logged_by_repr, x), capsys, caplog)
        assert expected[2][0] in found[2]
