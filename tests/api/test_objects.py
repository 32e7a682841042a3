"""Objects of plain classes are containers where somebody differentiates by them."""

import copy

import numpy as np
import pytest

from api.plain_objects import Net, Node, Pair, Whole, loss, product
from s2s_ad import S2SError, grad, jacrev, jit, jvp, value_and_grad, vjp, vmap

NET, X = Net(3, 4, 2), np.array([0.3, -0.2, 0.5])

#: what of a net is changed, and read of its gradient
PARTS = {
    "W": lambda net: net.layers[0].W,
    "b": lambda net: net.layers[1].b,
    "_gain": lambda net: np.array(net._gain),
}


def differences(function, part):
    """Central differences by one part of NET."""
    found = np.zeros_like(PARTS[part](NET))
    for i in np.ndindex(found.shape):
        values = []
        for step in (1e-6, -1e-6):
            net = copy.deepcopy(NET)
            if part == "_gain":
                net._gain += step
            else:
                PARTS[part](net)[i] += step
            values.append(function(net))
        found[i] = (values[0] - values[1]) / 2e-6
    return found


def alone(net, x):
    made = {}
    exec(grad(loss).source(net, x, standalone=True), made)
    return made["loss_grad"](net, x)


WAYS = {
    "grad": grad(loss),
    "copied": lambda net, x: grad(loss)(copy.deepcopy(net), x),
    "of several": lambda net, x: grad(loss, (0, 1))(net, x)[0],
    "value_and_grad": lambda net, x: value_and_grad(loss)(net, x)[1],
    "vjp": lambda net, x: vjp(loss, net, x)[1](1.0)[0],
    "vmap": lambda net, x: first(vmap(grad(loss), (None, 0))(net, np.stack([x, 2 * x]))),
    "alone": alone,
}


def first(net):
    net.layers[0].W, net.layers[1].b = net.layers[0].W[0], net.layers[1].b[0]
    net._gain = net._gain[0]
    return net


@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_is_an_object_of_the_class(way):
    for _ in range(3):  # compiled, by the table, by the fast path
        found = WAYS[way](NET, X)
    assert type(found) is Net
    assert list(vars(found)) == list(vars(NET)) == ["layers", "act", "depth", "label", "_gain"]
    assert (found.act, found.depth, found.label) == (None, None, None)
    for part, read in PARTS.items():
        expected = differences(lambda net: loss(net, X), part)
        np.testing.assert_allclose(read(found), expected, rtol=1e-5, atol=1e-7)


def test_a_tangent_is_an_object_too():
    direction = grad(loss)(NET, X)
    _, slope = jvp(loss, (NET, X), (direction, np.zeros(3)))
    squares = [np.sum(each.W**2) + np.sum(each.b**2) for each in direction.layers]
    np.testing.assert_allclose(slope, sum(squares) + direction._gain**2)
    assert jacrev(lambda net: net(X))(NET).layers[0].W.shape == (2, 3, 4)


def test_other_attributes_are_another_call():
    """The fast path saw the class, and not what an object of it holds."""
    g, pair = grad(lambda p: np.sum(p.a**2) * getattr(p, "c", 1.0)), Pair(3.0, 1)
    for _ in range(4):
        assert vars(g(pair)) == {"a": 6.0, "b": None}
    pair.c = 2.0
    assert vars(g(pair)) == {"a": 12.0, "b": None, "c": 9.0}
    del pair.c
    assert vars(g(pair)) == {"a": 6.0, "b": None}
    np.testing.assert_array_equal(g(Pair(np.ones(2), 1.0)).a, [2.0, 2.0])


def test_in_containers_mapped_and_captured():
    found = grad(product, (0, 1))(Pair(1.0, 2.0), Pair(3.0, 4.0))
    assert [vars(each) for each in found] == [{"a": 64.0, "b": 256.0}, {"a": 64.0, "b": 128.0}]
    found = grad(lambda ps: ps["x"][0].a * ps["w"])({"x": [Pair(2.0, 1.0)], "w": 3.0})
    assert vars(found["x"][0]) == {"a": 3.0, "b": 0.0}
    mapped = vmap(lambda p, k: p.a * p.b * k, (0, None))(Pair(np.arange(3.0), np.ones(3)), 2.0)
    np.testing.assert_array_equal(mapped, [0.0, 2.0, 4.0])

    def slope(s):  # the object is captured by what stands around the inner gradient
        return np.sum(grad(loss)(NET, s * X).layers[0].W ** 2)

    np.testing.assert_allclose(grad(slope)(1.0), (slope(1 + 1e-6) - slope(1 - 1e-6)) / 2e-6, 1e-6)


def made(x):
    """An object that is returned is made anew by the caller."""
    pair = Pair(x, "text")
    for _ in range(2):
        pair.a = pair.a * x
    pair.more = [Pair(2 * x, None)]
    return pair


def test_objects_are_returned():
    found, tangent = jvp(made, (2.0,), (1.0,))
    assert (found.a, found.b, found.more[0].a, found.more[0].b) == (8.0, "text", 4.0, None)
    assert (tangent.a, tangent.more[0].a) == (12.0, 2.0)
    assert vars(jit(made)(3.0))["a"] == 27.0
    both = vmap(lambda x: Pair(x, [Pair(2 * x, x)]))(np.ones(2))
    np.testing.assert_array_equal(both.b[0].a, [2.0, 2.0])


def in_a_circle():
    node = Node(1.0)
    node.next = node
    return node


@pytest.mark.parametrize(
    "value, help",
    [
        (in_a_circle(), "nothing that leads back to it"),
        (Pair(1, 2), "let Pair hold floats"),
        (Whole(1.2, 2.0), "make Whole a dataclass"),
    ],
    ids=["in a circle", "no floats", "sets attributes itself"],
)
def test_what_is_no_tree_is_refused(value, help):
    with pytest.raises(S2SError, match=help):
        grad(lambda v: 1.0 * v.value if isinstance(v, Node) else 1.0 * v.a)(value)
