"""Cells: parameters, their names and order, children, modes, text, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

from s2s_ad import Parameter, ParameterTuple, Tensor, grad, jvp, nn, value_and_grad, vmap
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, CellError, S2SError


class Scale(nn.Cell):
    """x * w * (one for each child)"""

    def __init__(self, name=None):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name=name)

    def construct(self, x):
        return x * self.w


class Square(nn.Cell):
    def construct(self, x, factor=1.0):
        return factor * x * x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.own = Parameter(Tensor([1.0]))
        self.rest = nn.CellList([Scale(), nn.SequentialCell(Scale(), nn.Tanh())])
        self.frozen = Parameter(Tensor([0.0]), requires_grad=False)


def names(parameters):
    return [each.name for each in parameters]


# ---- parameters ----------------------------------------------------------------------------------


def test_own_parameters_come_first_then_those_of_the_children_in_order():
    expected = ["own", "frozen", "first.w", "rest.0.w", "rest.1.0.w"]
    assert names(Net().get_parameters()) == expected
    assert [name for name, _ in Net().parameters_and_names()] == expected
    assert list(Net().parameters_dict()) == expected


def test_parameters_are_divided_by_requires_grad():
    net = Net()
    assert names(net.untrainable_params()) == ["frozen"]
    net.first.w.requires_grad = False
    assert names(net.trainable_params()) == ["own", "rest.0.w", "rest.1.0.w"]
    assert names(net.trainable_params(recurse=False)) == ["own"]


def test_a_name_of_its_own_stays_and_a_child_is_called_by_its_attributes():
    assert names(Scale("mine").get_parameters()) == ["mine"]
    assert names(nn.SequentialCell(Scale("mine")).get_parameters()) == ["0.w"]


def test_a_parameter_or_cell_in_two_places_is_one():
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Scale()
            self.b = self.a
            self.w = self.a.w

    net = Tied()
    assert len(list(net.get_parameters())) == 1
    assert list(net.cells()) == [net.a]


def test_a_parameter_takes_a_new_value_in_place_and_goes_when_it_is_none():
    cell = Scale()
    before = cell.w
    cell.w = np.array([7.0])
    assert cell.w is before
    assert float(before[0]) == 7.0
    cell.w = None
    assert list(cell.get_parameters()) == []
    del cell.w
    assert not hasattr(cell, "w")


def test_a_parameter_tuple_registers_its_parameters():
    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.all = ParameterTuple([Parameter(1.0, name="a.b"), Parameter(2.0, name="c")])

    assert names(Holder().get_parameters()) == ["a.b", "c"]


def test_names_can_be_prefixed():
    net = Net()
    net.update_parameters_name("student.")
    assert names(net.trainable_params())[:2] == ["student.own", "student.first.w"]
    assert net.rest.param_prefix == "student.rest"


# ---- cells ---------------------------------------------------------------------------------------


def test_cells_and_their_paths():
    paths = [path for path, _ in Net().cells_and_names()]
    assert paths == ["", "first", "rest", "rest.0", "rest.1", "rest.1.0", "rest.1.1"]
    assert list(Net().name_cells()) == ["first", "rest"]


def test_another_object_in_the_place_of_a_child_takes_it_out():
    net = Net()
    net.first = None
    assert list(net.name_cells()) == ["rest"]


@pytest.mark.parametrize("mode, phase", [(True, "train"), (False, "predict")])
def test_modes_reach_all_cells(mode, phase):
    net = Net()
    assert net.training is False
    assert net.set_train(mode) is net
    assert {(cell.training, cell.phase) for _, cell in net.cells_and_names()} == {(mode, phase)}


def test_apply_reaches_children_before_the_cell_itself():
    net, seen = Net(), []
    assert net.apply(lambda cell: seen.append(type(cell).__name__)) is net
    assert seen == ["Scale", "Scale", "Scale", "Tanh", "SequentialCell", "CellList", "Net"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_has_parameters_of_its_own(copied):
    net = nn.SequentialCell(nn.Dense(2, 1), nn.Tanh())
    other = copied(net)
    assert names(other.get_parameters()) == names(net.get_parameters())
    before = np.array(net[0].weight)
    other[0].weight[...] = 0
    np.testing.assert_array_equal(net[0].weight, before)
    assert other[0].weight is next(other.get_parameters())


# ---- containers ----------------------------------------------------------------------------------


def test_a_list_calls_its_cells_by_their_positions_wherever_it_stands():
    net = Net()
    net.rest.insert(0, Scale())
    net.rest.append(Scale())
    found = names(net.get_parameters())
    assert found[3:] == ["rest.0.w", "rest.1.w", "rest.2.0.w", "rest.3.w"]
    del net.rest[0]
    assert names(net.get_parameters())[3:] == ["rest.0.w", "rest.1.0.w", "rest.2.w"]
    assert len(net.rest) == 3
    assert net.rest[-1] is list(net.rest)[2]


def test_a_part_of_a_container_leaves_the_names_alone():
    net = nn.SequentialCell(Scale(), Scale(), nn.Tanh())
    part = net[1:]
    assert isinstance(part, nn.SequentialCell)
    assert names(part.get_parameters()) == ["1.w"]
    np.testing.assert_allclose(np.asarray(part(np.array([0.1]))), np.tanh(0.2))


def test_a_dict_of_cells():
    cells = nn.CellDict({"a": Scale(), "b": nn.Tanh()})
    cells["c"] = Scale()
    assert names(cells.get_parameters()) == ["a.w", "c.w"]
    assert list(cells) == ["a", "b", "c"]
    assert "b" in cells
    assert cells.pop("a") is not None
    assert len(cells) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.SequentialCell(nn.Tanh(), 3),
        lambda: nn.SequentialCell(3),
        lambda: nn.CellList([nn.Tanh(), None]),
        lambda: nn.CellList(3),
        lambda: nn.CellDict({"a": 3}),
        lambda: nn.CellDict({1: nn.Tanh()}),
        lambda: nn.CellDict(3),
        lambda: nn.CellList().append("x"),
    ],
)
def test_containers_refuse_what_is_no_cell(make):
    with pytest.raises(ArgumentTypeError, match="expected"):
        make()


# ---- refusals ------------------------------------------------------------------------------------


def test_two_parameters_of_a_cell_have_two_names():
    cell = Scale("w")
    with pytest.raises(ArgumentValueError, match="'w' and 'v' are both called 'w'"):
        cell.v = Parameter(1.0, name="w")


def test_attributes_before_the_parent_is_made_are_refused():
    class Early(nn.Cell):
        def __init__(self):
            self.fc = nn.Tanh()

    with pytest.raises(CellError, match=r"super\(\).__init__\(\) before assigning"):
        Early()


def test_a_cell_without_construct_says_so():
    with pytest.raises(CellError, match="Net has no construct method"):
        Net()(1.0)
    with pytest.raises(S2SError, match="Net has no construct method"):
        grad(Net())(1.0)


@pytest.mark.parametrize(
    "arguments",
    [("a.b", Parameter(1.0)), ("", Parameter(1.0)), ("a", 3.0), (3, Parameter(1.0))],
)
def test_insert_param_refuses_what_is_no_name_or_parameter(arguments):
    with pytest.raises(S2SError, match="insert_param_to_cell: argument"):
        nn.Cell().insert_param_to_cell(*arguments)


def test_a_parameter_is_not_replaced_by_text():
    with pytest.raises(ArgumentTypeError, match=r"Scale.w is a Parameter, got str 'x'"):
        Scale().w = "x"


# ---- under the compiler --------------------------------------------------------------------------

X = np.array([0.3, -0.2, 0.9])


def test_cells_in_cells_are_differentiated():
    net = nn.SequentialCell(Square(), nn.SequentialCell(Square(), Square()), nn.Tanh())
    expected = (1 - np.tanh(X**8) ** 2) * 8 * X**7
    np.testing.assert_allclose(grad(net)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(net))(X), expected, rtol=1e-12)


def test_arguments_by_name_and_defaults():
    net = Square()
    np.testing.assert_allclose(grad(net)(X, 3.0), 6 * X)
    np.testing.assert_allclose(grad(lambda x: net(x, factor=4.0))(X), 8 * X)


def test_text_is_called_as_the_classes_and_attributes_of_the_user():
    class Block(nn.Cell):
        def construct(self, x):
            y = np.sin(x)
            return y * np.exp(y)

    class Model(nn.Cell):
        def __init__(self):
            super().__init__()
            self.encoder = Block()

        def construct(self, image):
            return self.encoder(self.encoder(image))

    text = grad(Model()).source(X)
    assert "def model_grad(image):" in text
    assert "encoder_forward(" in text
    assert "construct" not in text


def test_bprop_takes_the_place_of_the_derivative():
    class Odd(nn.Cell):
        def construct(self, x, y):
            return x * y, x

        def bprop(self, x, y, out, dout):
            return dout[0] * 10 + out[0], dout[1] * y

    odd = Odd()
    dx, dy = grad(odd, (0, 1))(X, 2 * X)
    np.testing.assert_allclose(dx, 10 + 2 * X * X)
    np.testing.assert_allclose(dy, 2 * X)
    np.testing.assert_allclose(vmap(grad(lambda x: odd(x, x)[0]))(X), 10 + X * X)


def test_hooks_change_inputs_outputs_and_gradients_until_they_are_removed():
    net = Square()
    handles = [
        net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,)),
        net.register_forward_hook(lambda cell, inputs, output: output * inputs[0]),
        net.register_backward_pre_hook(lambda cell, bar: bar / 2),
        net.register_forward_hook(lambda cell, inputs, output: None),
    ]
    value, slope = value_and_grad(net)(X)
    np.testing.assert_allclose(value, (X + 1) ** 3)
    np.testing.assert_allclose(net(X), (X + 1) ** 3)
    # of (x+1)**2 * (x+1): the gradient of the first factor is halved
    np.testing.assert_allclose(slope, (X + 1) * 2 * (X + 1) / 2 + (X + 1) ** 2)
    _, tangent = jvp(net, X, np.ones(3))
    np.testing.assert_allclose(tangent, 3 * (X + 1) ** 2)
    for each in handles:
        each.remove()
    np.testing.assert_allclose(grad(net)(X), 2 * X)


def test_backward_hooks_see_the_gradients_of_inputs_and_output():
    class Product(nn.Cell):
        def construct(self, x, y):
            return x * y

    net = Product()
    net.register_backward_hook(lambda cell, inputs, output: (inputs[0] * 2, output[0]))
    dx, dy = grad(lambda x, y: 3 * net(x, y), (0, 1))(X, X + 1)
    np.testing.assert_allclose(dx, 2 * 3 * (X + 1))
    np.testing.assert_allclose(dy, np.full(3, 3.0))


def test_backward_hooks_are_not_for_cells_with_parameters():
    net = Scale()
    net.register_backward_hook(lambda cell, inputs, output: inputs)
    with pytest.raises(S2SError, match="reads from around it"):
        grad(lambda x: net(x), None, net.w)(X)


def test_construct_may_change_parameters():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = Parameter(Tensor(0), requires_grad=False)
            self.last = Parameter(Tensor([0.0, 0.0, 0.0]), requires_grad=False)

        def construct(self, x):
            self.calls += 1
            self.last = 2 * x
            return x * x

    net = Counting()
    slope = grad(net)
    for count in (1, 2):
        np.testing.assert_allclose(slope(count * X), 2 * count * X)
        assert int(net.calls) == count
        np.testing.assert_allclose(np.asarray(net.last), 2 * count * X, rtol=1e-6)
    net(X)
    assert int(net.calls) == 3
    assert [each.name for each in net.get_parameters()] == ["calls", "last"]


def test_hooks_are_functions():
    with pytest.raises(ArgumentTypeError, match="register_forward_hook: argument 'hook_fn', got"):
        Square().register_forward_hook(3)


def test_to_float_casts_the_inputs_of_all_cells():
    net = nn.SequentialCell(Square(), Square()).to_float(np.float16)
    assert net(X).dtype == np.float16
    value, slope = value_and_grad(net)(X)
    assert value.dtype == np.float16
    np.testing.assert_allclose(slope, 4 * X**3, rtol=1e-2)
    with pytest.raises(ArgumentValueError, match="expected float16, float32 or float64"):
        net.to_float(np.int32)
