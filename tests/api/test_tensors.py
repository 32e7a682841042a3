"""Tensors through the compiler: what goes in as a Tensor comes out as one; the code is NumPy's."""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jacrev, jit, jvp, value_and_grad, vjp, vmap

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, -1.0])


def product(x, y):
    return (x * y).sum()


def cube(x):
    return (x**3).sum()


def is_float32_tensor(value):
    return type(value) is Tensor and value.dtype == ms.float32


RESULTS = {
    "grad": (lambda: grad(product)(X, Y), [3.0, -1.0]),
    "value": (lambda: value_and_grad(product)(X, Y)[0], 1.0),
    "jit": (lambda: jit(product)(X, Y), 1.0),
    "vmap": (lambda: vmap(cube)(Tensor([[1.0, 2.0], [0.0, 3.0]])), [9.0, 27.0]),
    "jacrev": (lambda: jacrev(lambda x: x * x)(X), [[2.0, 0.0], [0.0, 4.0]]),
    "jvp": (lambda: jvp(cube, X, Y)[1], 3.0 * (3.0 - 4.0)),
    "vjp": (lambda: vjp(cube, X)[1](Tensor(2.0))[0], [6.0, 24.0]),
    "second order": (lambda: grad(lambda x: grad(cube)(x).sum())(X), [6.0, 12.0]),
    "in a dict": (lambda: grad(lambda p: cube(p["a"]))({"a": X})["a"], [3.0, 12.0]),
    "in *args": (lambda: grad(lambda *xs: cube(xs[1]), 1)(Y, X), [3.0, 12.0]),
    "by name": (lambda: jit(lambda *, x: x + 1)(x=X), [2.0, 3.0]),
    "of a number": (lambda: jit(lambda n: Tensor([1.0, 2.0]) * n)(2.0), [2.0, 4.0]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_tensors_give_tensors(name):
    compute, expected = RESULTS[name]
    for _ in range(4):  # the slow way first, then the fast one
        result = compute()
        assert is_float32_tensor(result)
        np.testing.assert_allclose(result, expected)


def test_arrays_give_arrays():
    assert type(grad(product)(X.asnumpy(), Y.asnumpy())) is np.ndarray


def test_the_text_is_that_for_arrays():
    assert grad(product).source(X, Y) == grad(product).source(X.asnumpy(), Y.asnumpy())


def half(x):
    return x / 2


def mixed(x, y):
    return x * y


@pytest.mark.parametrize(
    "function, arguments, dtype, expected",
    [
        (half, (Tensor([1, 2]),), ms.float32, [0.5, 1.0]),
        (half, (np.array([1, 2]),), np.float64, [0.5, 1.0]),
        (mixed, (Tensor([1, 2]), 1.5), ms.float32, [1.5, 3.0]),
        (mixed, (Tensor([1, 2]), X), ms.float32, [1.0, 4.0]),
        (mixed, (Tensor([1, 2], ms.int32), Tensor([1, 2], ms.float16)), ms.float16, [1.0, 4.0]),
        (mixed, (Tensor([True, False]), X), ms.float32, [1.0, 0.0]),
        (mixed, (X, np.array([1.0, 2.0])), ms.float64, [1.0, 4.0]),
        (lambda x: x.sum() / 3, (Tensor([1, 2]),), ms.float32, 1.0),
    ],
)
def test_operators_have_the_dtypes_of_mindspore(function, arguments, dtype, expected):
    result = jit(function)(*arguments)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)


class Holder:
    def __init__(self, weight):
        self.weight, self.again = weight, weight

    def __call__(self, x):
        return (x * self.weight * self.again).sum()


def test_a_parameter_is_read_afresh():
    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    holder = Holder(weight)
    slope = grad(holder)
    for data in ([1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [5.0, 6.0]):
        weight.set_data(Tensor(data))
        np.testing.assert_allclose(slope(X), np.square(data))


def test_a_parameter_in_place_of_another_is_followed():
    first, second = (Parameter(Tensor(data), name="w") for data in ([1.0, 2.0], [3.0, 4.0]))
    holder = Holder(first)
    slope = grad(holder)
    np.testing.assert_allclose(slope(X), [1.0, 4.0])
    holder.again = second
    np.testing.assert_allclose(slope(X), [3.0, 8.0])
    holder.weight = second
    np.testing.assert_allclose(slope(X), [9.0, 16.0])


# ---- Parameters that the compiled code changes ---------------------------------------------------


@pytest.fixture
def moment():
    return Parameter(Tensor([1.0, 2.0]), name="moment")


def changed_by(moment, change):
    """What the Parameter holds after each of three calls, and the results."""
    moment.set_data(Tensor([1.0, 2.0]))
    results = [change(X) for _ in range(3)]
    return [np.array(each) for each in results], np.array(moment)


def test_changes_are_those_of_the_function_run_as_it_stands(moment):
    def by_set_data(x):
        moment.set_data(0.5 * moment + x)
        return (x * moment).sum()

    def by_store(x):
        before = moment.sum()
        moment[...] = moment - x
        moment[0] += 1
        return before * moment

    def in_a_loop(x):
        for i in range(2):
            moment[...] = moment * x[i]
        return moment + 0

    def on_a_path(x):
        if moment[0] < 2:
            moment.set_data(moment + x)
        return moment * x

    for function in (by_set_data, by_store, in_a_loop, on_a_path):
        plain = changed_by(moment, function)
        compiled = changed_by(moment, jit(function))
        np.testing.assert_allclose(compiled[0], plain[0], rtol=1e-6)
        np.testing.assert_allclose(compiled[1], plain[1], rtol=1e-6)


DERIVED = {
    "grad": lambda f: lambda x: grad(f)(x),
    "value_and_grad": lambda f: lambda x: value_and_grad(f)(x)[1],
    "jit": lambda f: lambda x: jit(lambda x: grad(f)(x))(x),
    "jvp": lambda f: (
        lambda x: np.array([jvp(f, x, Tensor(e))[1] for e in ([1.0, 0.0], [0.0, 1.0])])
    ),
    "vjp": lambda f: lambda x: vjp(f, x)[1](Tensor(1.0))[0],
    "jacrev": lambda f: lambda x: jacrev(f)(x),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_derivative_changes_it_once(name, moment):
    def loss(x):
        moment.set_data(0.5 * moment + x)
        return (x * moment).sum()

    slope = DERIVED[name](loss)(X)
    calls = 2 if name == "jvp" else 1  # one for each direction
    after = [np.array([1.0, 2.0])]
    for _ in range(calls):
        after.append(0.5 * after[-1] + X.asnumpy())
    expected = [each + X.asnumpy() for each in after[1:]]  # d(x * (m / 2 + x)) / dx
    np.testing.assert_allclose(slope, np.diag(expected) if calls == 2 else expected[0])
    np.testing.assert_allclose(moment, after[-1])


def test_a_transformed_function_inside_sees_what_was_changed_before(moment):
    @jit
    def step(x):
        first = grad(lambda x: (x * moment).sum())(x)
        moment.set_data(moment - 0.5 * first)
        return first, grad(lambda x: (x * moment).sum())(x)

    first, second = step(X)
    np.testing.assert_allclose(first, [1.0, 2.0])
    np.testing.assert_allclose(second, [0.5, 1.0])
    np.testing.assert_allclose(moment, [0.5, 1.0])


def test_under_vmap_all_samples_store_the_same(moment):
    def counted(x):
        moment.set_data(moment + 1.0)
        return x * moment

    result = vmap(counted)(Tensor([[1.0, 1.0], [2.0, 2.0]]))
    np.testing.assert_allclose(result, [[2.0, 3.0], [4.0, 6.0]])
    np.testing.assert_allclose(moment, [2.0, 3.0])

    def summed(x):
        moment.set_data(moment + x)
        return x

    with pytest.raises(ms.S2SError, match="Parameter moment, and each sample has another"):
        vmap(summed)(Tensor([[1.0, 1.0], [2.0, 2.0]]))


def test_what_stands_in_a_tensor_is_not_changed():
    outside = Tensor([1.0, 2.0])

    def change(x):
        outside[0] = 5.0
        return x

    with pytest.raises(ms.S2SError, match="S2S207"):
        jit(change)(X)


def test_a_derivative_inside_shares_no_memory_with_what_came_in():
    held = np.array([1.0, 2.0])
    both = jit(lambda x, y: (grad(lambda x: (x * y).sum())(x), grad(lambda x: (x * held).sum())(x)))
    arguments = np.ones(2), np.array([3.0, 4.0])
    for result in both(*arguments):
        assert not any(np.shares_memory(result, each) for each in (*arguments, held))


METHODS = {
    "elementwise": lambda x: x.exp() + x.abs() * x.tanh() - x.clip(-1.0, 1.0) + x.square(),
    "reductions": lambda x: x.sum(0) + x.mean(1) * x.max() - x.var() + x.norm(),
    "shapes": lambda x: x.view(-1)[1] + x.permute(1, 0)[0].sum() + x.expand_dims(0)[0, 1].sum(),
    "view of a tuple": lambda x: x.view((4,)) * x.flatten(),
    "types": lambda x: x.astype(ms.float64) + x.float(),
    "as an array": lambda x: np.sin(x.asnumpy()) * x,
    "made inside": lambda x: Tensor([[1.0, 2.0], [3.0, 4.0]]) * x + Tensor(2.0),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_do_what_they_do_outside(name):
    function, x = METHODS[name], Tensor([[0.5, -1.5], [2.0, 0.25]])
    plain, compiled = function(x), jit(function)(x)
    assert compiled.dtype == plain.dtype
    np.testing.assert_allclose(compiled, plain, rtol=1e-6)


def test_the_methods_of_tensors_are_numpy_in_the_text():
    text = jit(lambda x: x.exp().sum(0)).source(X)
    assert text.endswith("return np.sum(np.exp(x), axis=0)\n")
