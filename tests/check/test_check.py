"""`check` passes where derivatives are right, and fails where one of them is made wrong."""

import dataclasses
import functools

import numpy as np
import pytest

from s2s_ad import (
    Parameter,
    S2SError,
    Tensor,
    custom_rule,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    stop_gradient,
    value_and_grad,
    vmap,
)
from s2s_ad.api.function import Transformed
from s2s_ad.check import check, dot_product_test
from s2s_ad.core.registry import RULES

X = np.array([0.5, -1.5, 2.0])
M = np.array([[1.0, 2.0, 0.5], [0.2, -1.0, 3.0]])
held = np.array(2.0)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def tanh_layer(A, x):
    return np.tanh(A @ x)


def several(x, y):
    return {"product": x * y, "sum": np.sum(x)}


def with_aux(x, y):
    return np.sum(x * y), np.cos(y), x


def stops(x):
    return (stop_gradient(held * x) - x) ** 2


def cross_entropy(params, x, label):
    z = x @ params["W"] + params["b"]
    z = z - np.max(z)
    return np.log(np.sum(np.exp(z))) - z[label]


def product(*factors):
    return factors[0] * factors[1], 2.0


def default(x, n=3, scale=2.0):
    return scale * x**n


def scaled_by(function):
    @functools.wraps(function)
    def wrapper(x, scale):
        return scale * function(x)

    return wrapper


@scaled_by
def wrapped(x):
    return np.sum(x**3)


def printing(x):
    print("x", x)
    return np.sum(x * x)


PARAMS = {"W": 0.1 * M.T @ M, "b": X}
BATCH = np.stack([X, 2 * X])
CHECKED = {
    "function": (rosenbrock, (X,)),
    "array output": (tanh_layer, (M, X)),
    "several outputs": (several, (X, 2.0)),
    "constant output": (product, (X, X)),
    "container and index": (cross_entropy, (PARAMS, X, 1)),
    "defaults": (default, (X,)),
    "keyword default": (default, (X, 2)),
    "decorator with parameters of its own": (wrapped, (X, 2.0)),
    "stopped gradient": (stops, (X,)),
    "effects": (printing, (X,)),
    "float32": (tanh_layer, (M.astype(np.float32), X.astype(np.float32))),
    "python float": (default, (1.5,)),
    "grad": (grad(rosenbrock), (X,)),
    "grad stopped": (grad(stops), (X,)),
    "grad of two": (grad(tanh_layer, (1, 0)), (M, X)),
    "grad with aux and ids": (grad(with_aux, (0, 1), has_aux=True, return_ids=True), (X, X)),
    "grad with one id": (grad(with_aux, (1,), return_ids=True), (X, X)),
    "grad of star": (grad(product, 1), (X, X)),
    "value_and_grad": (value_and_grad(cross_entropy), (PARAMS, X, 2)),
    "grad twice": (grad(grad(default)), (1.5,)),
    "jacrev": (jacrev(tanh_layer, (0, 1)), (M, X)),
    "jacfwd": (jacfwd(several), (X, 2.0)),
    "hessian": (hessian(rosenbrock), (X,)),
    "jit": (jit(tanh_layer), (M, X)),
    "vmap": (vmap(tanh_layer, in_axes=(None, 0)), (M, BATCH)),
    "vmap axes": (vmap(tanh_layer, in_axes=(None, -1), out_axes=1), (M, BATCH.T)),
    "vmap containers": (
        vmap(grad(cross_entropy), in_axes=(None, 0, 0)),
        (PARAMS, BATCH, np.array([0, 2])),
    ),
    "grad of vmap": (grad(vmap(tanh_layer, in_axes=(None, 0))), (M, BATCH)),
    "empty batch": (vmap(tanh_layer, in_axes=(None, 0)), (M, BATCH[:0])),
}


@pytest.mark.parametrize("name", CHECKED)
def test_right_derivatives_pass(name):
    fn, args = CHECKED[name]
    report = check(fn, *args)
    assert report.passed, str(report)
    assert str(report).endswith("\npassed")


@pytest.mark.parametrize("name", ["function", "array output", "container and index", "float32"])
def test_dot_product_test_of_right_derivatives(name):
    fn, args = CHECKED[name]
    assert dot_product_test(fn, args) < (1e-5 if name == "float32" else 1e-13)


class Wrong(Transformed):
    """A transformed function whose results are changed."""

    def __call__(self, *args):
        return tree_map(lambda x: x * 1.01, super().__call__(*args))


def tree_map(change, value):
    if isinstance(value, dict):
        return {key: tree_map(change, item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(tree_map(change, item) for item in value)
    return change(value)


@pytest.mark.parametrize(
    "name", ["grad", "grad of two", "jacrev", "jacfwd", "hessian", "vmap", "jit"]
)
def test_wrong_result_of_a_transform_fails(name):
    right, args = CHECKED[name]
    wrong = Wrong(right.fn, right.transform, right.label)
    report = check(wrong, *args)
    assert not report.passed
    assert str(report).endswith("\nFAILED")
    assert report.largest_error > 1e-5
    assert repr(wrong) in next(each.what for each in report.comparisons if not each.passed)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_wrong_rule_fails_and_names_the_mode(mode, monkeypatch):
    rule = RULES[np.tanh]
    method = getattr(type(rule), mode)

    def wrong(self, *args, **kwargs):
        found = method(self, *args, **kwargs)
        return [each * 1.001 for each in found] if isinstance(found, list) else found * 1.001

    monkeypatch.setattr(type(rule), mode, wrong)
    failed = [each.what for each in check(tanh_layer, M, X).comparisons if not each.passed]
    other = {"forward": "reverse", "reverse": "forward"}[mode]
    assert f"tanh_layer: {mode}, differences" in failed
    assert "tanh_layer: forward, reverse" in failed
    assert f"tanh_layer: {other}, differences" not in failed
    assert dot_product_test(tanh_layer, (M, X)) > 1e-5


@pytest.mark.parametrize("factor, passed", [(1.0, True), (1.001, False)])
def test_a_rule_for_reverse_mode_alone_is_compared_with_differences(factor, passed):
    rule = custom_rule(np.tanh, reverse=lambda y_bar, y, x: factor * y_bar * (1 - y * y))
    report = check(lambda x: np.sum(rule(x) ** 2), X)
    assert report.passed == passed
    assert [each.what for each in report.comparisons] == ["<lambda>: reverse, differences"]


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_numbers_that_are_not_are_failures():
    assert not check(lambda x: np.sqrt(x), np.array([0.0])).passed


def test_seed_decides_the_directions():
    first = check(rosenbrock, X)
    assert check(rosenbrock, X) == first
    assert check(rosenbrock, X, seed=1) != first


def test_tolerance_is_followed():
    right, args = CHECKED["grad"]
    for tolerance, passes in ((0.05, True), (0.005, False)):
        off_by_a_hundredth = Wrong(right.fn, right.transform, right.label)
        assert check(off_by_a_hundredth, *args, tolerance=tolerance).passed == passes


def test_tolerance_that_nothing_meets_is_refused():
    with pytest.raises(S2SError, match="tolerance must be above 0, got 0"):
        check(rosenbrock, X, tolerance=0)


def test_nothing_to_check_is_refused():
    with pytest.raises(S2SError, match="no argument holds floats"):
        check(lambda n: n * 2.0, 3)


def test_only_what_is_differentiated_is_looked_at():
    wheres = {each.where for each in check(grad(tanh_layer, 1), M, X).comparisons}
    assert wheres == {"x"}


def test_leaves_have_the_names_that_users_call_them_by():
    @dataclasses.dataclass
    class Layer:
        weight: np.ndarray

    def total(layer, pair):
        return np.sum(layer.weight * pair[1])

    wheres = {each.where for each in check(total, Layer(X), (1, 2.0)).comparisons}
    assert wheres == {"layer.weight", "pair[1]"}


W = Parameter(Tensor([2.0, 3.0, 1.0]), name="w")


@pytest.mark.parametrize(
    "fn, args, text",
    [
        (grad(lambda x: np.sum(x * W), None, W), (X,), "with respect to Parameters"),
        (grad(lambda x: x * x, sens_param=True), (X, X), "a given gradient of the output"),
    ],
)
def test_what_is_not_compared_is_refused(fn, args, text):
    with pytest.raises(S2SError, match=text):
        check(fn, *args)


def test_the_gradients_of_all_inputs_are_compared():
    report = check(grad(lambda x, y: np.sum(x * x * y), ...), X, X + 1)
    assert report.passed
    assert {each.where for each in report.comparisons} >= {"x", "y"}
