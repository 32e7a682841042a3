"""try, with and effects: they happen where they stand, once."""

import math

import numpy as np
import pytest

from frontend.flow import assert_like_python, interpreted, lowered
from frontend.loading import load
from s2s_ad import S2SError, grad, jvp, vmap
from s2s_ad.core.regions import Attempt

B = np.array([1.0, 2.0])


def solved(A, b):
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        x = b * 2
    return x


def with_else(A, b):
    try:
        x = np.linalg.solve(A, b)
    except (ValueError, np.linalg.LinAlgError):
        x = b
    else:
        x = x + 1
    return x * 2


class Solved:
    """What was found so far is kept, whatever happens."""

    def __init__(self, A, b):
        self.x, self.steps = b, 0
        try:
            while np.sum(np.abs(A @ self.x - b)) > 0.1 and self.steps < 4:
                self.refine(A, b)
        except RuntimeError:
            self.x = b * 3
        except (OSError, AttributeError):
            self.x = b * 4

    def refine(self, A, b):
        self.x = self.x + 0.5 * (b - A @ self.x)
        self.steps += 1


def what_no_arithmetic_raises(A, b):
    return Solved(A, b).x


def kept_from_before(A, b):
    x = b
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        pass
    return x


def leaves_from_inside(A, b, n):
    for i in range(n):
        try:
            if i == 2:
                return b * i
            x = np.linalg.solve(A - i * np.eye(2), b)
        except np.linalg.LinAlgError:
            continue
        b = x
    return b


def raises_inside(x):
    try:
        if x < 0:
            raise ValueError("negative")
        y = np.sqrt(x)
    except ValueError:
        y = 0.0
    except TypeError:
        y = 1.0
    return y


def at_the_end(A, b):
    k = 1.0
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return b
    finally:
        k = k * 2
    return x * k


def nothing_to_fail(x):
    try:
        y = x
    finally:
        z = 2.0
    return y * z


def quiet(x):
    with np.errstate(divide="ignore", invalid="warn"):
        y = x / (x - 1.0)
    return np.where(x == 1.0, 0.0, y)


def half_assigned(A, b):
    x = b
    try:
        x = b * 2
        y = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        y = x
    return y


def half_changed(A, b):
    x = b.copy()
    try:
        x[0] = 5.0
        y = np.linalg.solve(A, x)
    except np.linalg.LinAlgError:
        y = b
    return y + x


def missing_keys(x):
    """Which keys there are is known; the handler is for those that are not."""
    prices, total = {"a": x * x, "c": 3.0}, 0.0
    for key in ("a", "b", "c"):
        try:
            total += prices[key] * x
        except KeyError:
            total += x
    try:
        return total * prices["d"]
    except LookupError:
        return total


def missing_items(items, x):
    """A store, a deletion and a pop of an item that a list does not have."""
    count = 1.0
    try:
        items.pop(7)
    except IndexError:
        count = 2.0
    try:
        items[8] = x
    except IndexError:
        count += 20.0
    try:
        del items[8]
        count += 1000.0
    except IndexError:
        count += 200.0
    return count * sum(items) * x


def deleted_last(items, x):
    total = x
    try:
        root = math.sqrt(x)
        del items[-2]
    except ValueError:
        root = 2.0
    return total + root * sum(items)


def changed_by_a_helper_at_its_end(a, x):
    def store():
        root = math.sqrt(x)
        a[1] = 7.0
        return root

    try:
        y = store()
    except ValueError:
        y = a[1] * 3.0
    return y + np.sum(a * a)


def appended_by_a_helper(items, x):
    items = items[:]

    def add():
        items.append(math.sqrt(x))

    try:
        add()
    except ValueError:
        items.append(9.0)
    return sum(items) * len(items)


def assigned_for_a_function_inside(a, x):
    root = x
    try:
        root = math.sqrt(x)
        a = a * math.sqrt(x - 1.0)
    except ValueError:
        a = a * 0.25

    def halved():
        nonlocal root
        root = root * 0.5
        return root

    return halved() + root + np.sum(a)


def popped_from_an_argument(items, x):
    first = items.pop(int(x))
    items[0] = first * 2.0
    return sum(items) * x


def changed_before_it_raises(a, x):
    """The body is certain to raise, when it has changed an array."""
    kept = {"a": x}
    try:
        a[0] *= x
        raise ValueError("always")
    except ValueError:
        y = a[1]
    try:
        a[1] -= 3.0
        y *= kept["b"]
    except (KeyError, TypeError):
        y = y + math.sqrt(abs(x))
    return y + np.sum(a * a)


def never_an_element(a, x):
    """An index that is as large as the axis is long, and one into an axis of length 1."""
    try:
        y = a[a.shape]
    except IndexError:
        y = x
    try:
        z = a[None][-2, 0]
    except IndexError:
        z = 2.0 * x
    try:
        z = z * np.stack([a, a], axis=1)[0, 2]
    except IndexError:
        z = z * x
    return y * z * np.sum(a)


def product_of_either(a, x):
    """The rank of what is multiplied is that of one path or of the other."""
    try:
        y = a[None] * math.sqrt(x)
    except ValueError:
        y = 0.5 * a
    return y.prod() + y.ravel()[1]


IN_A_TRY = [deleted_last, appended_by_a_helper, missing_items, assigned_for_a_function_inside]
IN_A_TRY += [changed_by_a_helper_at_its_end, changed_before_it_raises, never_an_element]
IN_A_TRY += [product_of_either]

PROGRAMS = [
    (missing_keys, (1.5,)),
    *(
        (f, ([1.0, 2.0, 4.0] if f.__code__.co_varnames[0] == "items" else B * 1.0, x))
        for f in IN_A_TRY
        for x in (-1.0, 0.5, 2.0)
    ),
    *((popped_from_an_argument, ([1.0, 2.0, 4.0], x)) for x in (0.5, 1.5, -1.2)),
    *(
        (f, (A, B))
        for f in (solved, with_else, kept_from_before, half_assigned, half_changed)
        for A in (np.eye(2), 0 * np.eye(2))
    ),
    (what_no_arithmetic_raises, (np.array([[1.5, 0.5], [0.25, 1.0]]), B)),
    *((leaves_from_inside, (np.eye(2) * 3, B, n)) for n in (0, 2, 4)),
    (leaves_from_inside, (np.eye(2), B, 4)),
    *((raises_inside, (x,)) for x in (4.0, -1.0)),
    *((at_the_end, (A, B)) for A in (np.eye(2), 0 * np.eye(2))),
    (nothing_to_fail, (1.5,)),
    (quiet, (np.array([2.0, 3.0]),)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_attempts_are_those_of_python(function, args):
    assert_like_python(function, args)


def first_behind_the_last(z):
    try:
        y = z[len(z)]
    except IndexError:
        y = 0.31
    return y


def test_an_element_that_there_is_not_has_no_dtype():
    found = vmap(first_behind_the_last)(1j * np.eye(2))
    assert found.dtype == float
    np.testing.assert_array_equal(found, [0.31, 0.31])


def test_what_cannot_fail_is_no_attempt():
    assert not any(
        isinstance(each.function, Attempt) for each in lowered(nothing_to_fail, (1.5,)).body
    )


def test_effects_stay_where_they_are_and_run_once(capsys):
    def f(x, n):
        for i in range(n):
            if x > 2:
                print("large", i, x)
            x = x * 1.5
            assert x < 100, "too large"
        if x < 0:
            y = x * 2
            print(y)
            raise ValueError(f"negative: {y}")
        return x

    expected = [f(2.0, 3), capsys.readouterr().out]
    assert [interpreted(f, (2.0, 3)), capsys.readouterr().out] == expected
    with pytest.raises(AssertionError, match="too large"):
        interpreted(f, (60.0, 3))
    with pytest.raises(ValueError, match="negative: -2"):
        interpreted(f, (-1.0, 0))


def test_the_last_clause_runs_where_an_exception_goes_on(capsys):
    def f(A, b):
        try:
            x = np.linalg.solve(A, b)
        finally:
            print("done")
        return x

    assert_like_python(f, (np.eye(2), B))
    assert capsys.readouterr().out == "done\ndone\n"
    with pytest.raises(np.linalg.LinAlgError):
        interpreted(f, (0 * np.eye(2), B))
    assert capsys.readouterr().out == "done\n"


def filled(x, A, b):
    x[0] = 5.0
    return np.linalg.solve(A, x * b)


def half_changed_by_a_helper(A, b):
    x = b.copy()
    try:
        y = filled(x, A, b)
    except np.linalg.LinAlgError:
        y = b
    return y + x


def half_changed_by_a_function_inside(A, b):
    x = b.copy()

    def change():
        x[0] = 5.0
        x[1] = math.sqrt(x[0] - b[1])

    try:
        change()
    except ValueError:
        pass
    return x


def half_unpacked(A, b):
    x = y = b
    try:
        (x, (y, z)) = np.linalg.solve(A, b), b * 2
        y = np.linalg.solve(A, y * z)
    except np.linalg.LinAlgError:
        pass
    return y + x


class Halved:
    def __init__(self, x):
        self.x = x

    def append(self, A):
        self.x = self.x / 2
        self.x = np.linalg.solve(A, self.x)


def half_changed_by_a_method(A, b):
    h = Halved(b)
    try:
        h.append(A)
    except np.linalg.LinAlgError:
        pass
    return h.x


def raised_again(A, b):
    y = b
    try:
        y = y * 2
        try:
            y = np.linalg.solve(A, y)
        except ValueError:
            y = y * 3
            raise
    except np.linalg.LinAlgError:
        y = y + 1
    return y


HEADS = {
    "of a loop": "for v in NAME(x):\n            s = s + v**2",
    "around a call": "for i, v in enumerate(zip(NAME(x), x)):\n            s = s + v[0] * v[1] * i",
    "of a branch": "if NAME(x)[1] > 1.0:\n            s = s + x[0] ** 2",
    "of a while": "while NAME(x)[1] > s:\n            s = s + x[1] ** 2",
    "of a method": "for v in holder.NAME(x):\n            s = s + v**2",
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", ["items", "values", "keys", "len", "range", "reversed", "rows"])
@pytest.mark.parametrize("head", HEADS)
def test_a_helper_in_a_head_may_raise_whatever_it_is_called(tmp_path, head, name):
    text = f"""
        import numpy as np

        def {name}(x):
            if x[0] > 2.0:
                raise ValueError("too much")
            return x

        class Holder:
            def {name}(self, x):
                return {name}(x)

        holder = Holder()

        def f(x):
            s = 0.0
            try:
                s = s + x[0]
                {{}}
            except ValueError:
                s = s + 7.0 * x[1]
            return s
        """
    text = text.format(HEADS[head].replace("NAME", name).replace("\n", "\n        "))
    f = load(tmp_path, text).f
    for x in (np.array([1.5, 2.5]), np.array([3.0, 2.5])):
        assert_like_python(f, (x,))
        np.testing.assert_allclose(grad(f)(x), slopes(f, x), rtol=1e-5)


def slopes(f, x, h=1e-6):
    return np.array([(f(x + h * each) - f(x - h * each)) / (2 * h) for each in np.eye(len(x))])


def rows_of_two_lengths(x):
    s = 0.0
    a = list(x)
    for u, v in zip(a, a[:-1], strict=True):
        s = s + v**2 * u
    return s


def test_zip_of_two_lengths_that_may_not_differ():
    with pytest.raises(ValueError, match="length"):
        grad(rows_of_two_lengths)(np.array([1.0, 2.0, 3.0]))


def rows_that_one_part_made(x):
    s = 0.0
    a = list(x)
    try:
        s = s + 1.0
        for u, v in zip(a, a[:-1], strict=True):
            s = s + v**2 * u
    except ValueError:
        s = s + 7 * x[0]
    return s


def by_handler(x, k):
    try:
        if k == 1:
            raise ValueError
        if k == 2:
            raise KeyError
        if k == 3:
            raise TypeError
        y = x * x
    except ValueError:
        y = np.sin(x)
    except KeyError:
        y = 3 * x
    except TypeError:
        y = x**3
    return y


@pytest.mark.parametrize(
    "k, slope, second",
    [(0, 1.4, 2.0), (1, np.cos(0.7), -np.sin(0.7)), (2, 3.0, 0.0), (3, 1.47, 4.2)],
)
def test_each_of_several_handlers_has_its_own_slope(k, slope, second):
    x, k = 0.7, float(k)

    def tangent(x, k):
        return jvp(by_handler, (x, k), (1.0, 0.0))[1]

    assert tangent(x, k) == pytest.approx(slope)
    assert grad(by_handler)(x, k) == pytest.approx(slope)
    assert grad(tangent)(x, k) == pytest.approx(second)
    np.testing.assert_allclose(vmap(tangent)(np.full(2, x), np.full(2, k)), slope)


WEIGHTS = [0.5, 2.0, 3.0]


def weighted_by_handler(x):
    total = 0.0
    for k in (0, 2, 9, 1):
        try:
            v = x[k] * WEIGHTS[0]
            if v < -1:
                raise ArithmeticError
            v = math.log(v)
        except IndexError:
            v = x[0] ** 2 * WEIGHTS[1]
        except ArithmeticError:
            v = -x[k]
        except ValueError:
            v = np.sin(x[k] * WEIGHTS[2])
        else:
            v = v * WEIGHTS[1]
        finally:
            total += 0.1 * x[0]
        total += v
    return total


def test_handlers_may_read_what_was_captured():
    x, h = np.array([0.3, 1.4, -0.2]), 1e-6 * np.eye(3)
    slopes = [(weighted_by_handler(x + e) - weighted_by_handler(x - e)) / 2e-6 for e in h]
    assert jvp(weighted_by_handler, (x,), (np.ones(3),))[1] == pytest.approx(sum(slopes))
    np.testing.assert_allclose(grad(weighted_by_handler)(x), slopes, rtol=1e-6)


def third(x, w):
    try:
        y = x[2]
    except IndexError:
        y = 1.5
    return y * w


def test_an_item_that_an_array_of_the_call_lacks_has_no_dtype():
    """A complex item that there is not makes no result complex; with other lengths there is one."""
    derived, batch = grad(third, 1), vmap(third, in_axes=(0, 0))
    for _ in range(2):
        assert derived(np.zeros(2, complex), 0.5) == 1.5
        assert derived(np.array([1.0, 2.0, 3.0]), 0.5) == 3.0
        np.testing.assert_array_equal(batch(np.zeros((2, 0), complex), np.ones(2)), [1.5, 1.5])
    assert batch(np.zeros((2, 0), complex), np.ones(2)).dtype == float
    assert batch(np.ones((2, 3), complex), np.ones(2)).dtype == complex


def caught(A, b):
    try:
        y = np.linalg.solve(A, b)
    except np.linalg.LinAlgError as error:
        y = b * len(error.args)
    return y


def strict(x):
    with np.errstate(all="print"):
        return 1 / x


def opened(x):
    with open("file") as file:
        return x * len(file.read())


@pytest.mark.parametrize(
    "function, args, line, says",
    [
        (half_changed_by_a_helper, (np.eye(2), B), "return y + x", "try"),
        (half_changed_by_a_function_inside, (np.eye(2), B), "return x", "try"),
        (half_changed_by_a_method, (np.eye(2), B), "return h.x", "try"),
        (half_unpacked, (np.eye(2), B), "y = np.linalg.solve(A, y * z)", "last statement"),
        (raised_again, (np.eye(2), B), "y = y + 1", "last statement"),
        (rows_that_one_part_made, (B,), "for u, v in zip(a, a[:-1], strict=True):", "path"),
        (caught, (np.eye(2), B), "y = b * len(error.args)", "exception"),
        (strict, (1.5,), 'with np.errstate(all="print"):', "ignore"),
        (opened, (1.5,), 'with open("file") as file:', "outside the function"),
    ],
)
def test_what_would_need_more_is_refused_by_name(function, args, line, says):
    with pytest.raises(S2SError) as caught:
        lowered(function, args)
    assert caught.value.origin.text.strip() == line
    assert says in str(caught.value)
