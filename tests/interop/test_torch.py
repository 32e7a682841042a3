"""interop.torch: values and derivatives beside PyTorch's own."""

import numpy as np
import pytest

from interop.programs import layer, of_containers, picked, recurrence
from s2s_ad import custom_rule, interop, vmap
from s2s_ad.diagnostics import S2SError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
double = torch.float64


def tensor(*shape, grad=True):
    made = torch.tensor(np.random.default_rng(len(shape)).normal(size=shape), dtype=double)
    return made.requires_grad_(grad)


def theirs(x, w, b):
    return torch.tanh(x @ w + b)


def test_first_and_second_derivatives_are_those_of_differences():
    ours, args = interop.torch(layer), (tensor(4, 3), tensor(3), tensor())
    assert torch.autograd.gradcheck(ours, args)
    assert torch.autograd.gradgradcheck(ours, args)
    steps = interop.torch(recurrence)
    assert torch.autograd.gradcheck(lambda h, w: steps(h, w, 3), (tensor(5), tensor()))
    assert torch.autograd.gradgradcheck(lambda h, w: steps(h, w, 3), (tensor(5), tensor()))


def test_third_derivatives():
    cube = interop.torch(lambda x: x**4)
    x = torch.tensor(2.0, dtype=double, requires_grad=True)
    found = cube(x)
    for expected in (32.0, 48.0, 48.0):
        (found,) = torch.autograd.grad(found, x, create_graph=True)
        assert found.item() == expected


def test_per_sample_gradients():
    ours, (x, w, b) = interop.torch(layer), (tensor(5, 4, 3), tensor(3), tensor())
    of = lambda fn: torch.func.vmap(
        torch.func.grad(lambda x, w, b: fn(x, w, b).sum(), argnums=(0, 1)), in_dims=(0, None, None)
    )
    for found, expected in zip(of(ours)(x, w, b), of(theirs)(x, w, b), strict=True):
        torch.testing.assert_close(found, expected)
    moved = torch.func.vmap(ours, in_dims=(1, None, None))(x, w, b)
    torch.testing.assert_close(moved, torch.func.vmap(theirs, in_dims=(1, None, None))(x, w, b))
    twice = torch.func.vmap(torch.func.vmap(ours, (None, 0, None)), (0, None, None))
    torch.testing.assert_close(
        twice(x, torch.stack([w, 2 * w]), b),
        torch.stack([theirs(x, w, b), theirs(x, 2 * w, b)], dim=1),
    )


def test_a_hessian():
    x, w, b = tensor(4, 3, grad=False), tensor(3, grad=False), tensor(grad=False)
    of = lambda fn: torch.autograd.functional.hessian(lambda w: fn(x, w, b).sum(), w)
    torch.testing.assert_close(of(interop.torch(layer)), of(theirs))


def test_containers_in_and_out():
    parameters = {"w": tensor(3), "rest": [tensor(2), tensor()]}
    found = interop.torch(of_containers)(parameters, 3)
    loss, (image, other) = found["loss"], found["images"]
    (loss + image.sum() + 2 * other.sum()).backward()
    w, (b, c) = parameters["w"].detach(), (each.detach() for each in parameters["rest"])
    torch.testing.assert_close(parameters["w"].grad, 6 * w * b[0] + c)
    torch.testing.assert_close(
        parameters["rest"][0].grad, torch.stack([2 + 3 * (w**2).sum(), torch.tensor(2.0)])
    )
    torch.testing.assert_close(parameters["rest"][1].grad, w.sum())


def test_a_part_of_the_arguments_and_whole_numbers():
    ours, (x, w, b) = interop.torch(layer), (tensor(4, 3, grad=False), tensor(3), tensor())
    ours(x, w, b).sum().backward()
    assert x.grad is None
    (expected,) = torch.autograd.grad(theirs(x, w, b).sum(), w)
    torch.testing.assert_close(w.grad, expected)
    places, y = torch.tensor([0, 2]), tensor(3)
    interop.torch(picked)(y, places).sum().backward()
    torch.testing.assert_close(y.grad, 2 * y.detach() * torch.tensor([1.0, 0.0, 1.0]))


def test_single_precision_stays():
    x = torch.ones(3, requires_grad=True)
    y = interop.torch(np.sin)(x)
    y.sum().backward()
    assert (y.dtype, x.grad.dtype) == (torch.float32, torch.float32)


def test_one_step_of_training_is_pytorchs():
    x, y = tensor(6, 3, grad=False), tensor(6, grad=False)
    results = []
    for fn in (interop.torch(layer), theirs):
        w, b = torch.zeros(3, dtype=double), torch.zeros((), dtype=double)
        w.requires_grad_(), b.requires_grad_()
        optimizer = torch.optim.Adam([w, b], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(fn(x, w, b), y).backward()
            optimizer.step()
        results.append((w.detach(), b.detach()))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)


def test_what_is_refused():
    x = tensor(3)
    with pytest.raises(S2SError, match="open"):
        interop.torch(lambda x: open(str(x)).read())(x)
    one_way = custom_rule(lambda x: 2.0 * x, forward=lambda dots, y, x: 2.0 * dots[0])
    assert torch.autograd.gradcheck(interop.torch(lambda x: one_way(x)), (x,))
    with pytest.raises(NotImplementedError, match="forward mode"):
        torch.func.jvp(interop.torch(np.sin), (x,), (x,))


def changes(x):
    x[0] = 1.0
    return x * 2


def test_what_a_function_changes_stays_inside():
    x = tensor(3)
    before = x.detach().clone()
    torch.testing.assert_close(interop.torch(changes)(x)[0].item(), 2.0)
    torch.testing.assert_close(x.detach(), before)
    assert torch.autograd.gradcheck(interop.torch(changes), (x,))


def test_of_a_batched_function():
    x, w, b = tensor(5, 3), tensor(3), tensor()
    ours = interop.torch(vmap(layer, in_axes=(0, None, None)))
    torch.testing.assert_close(ours(x, w, b), theirs(x, w, b))
    assert torch.autograd.gradcheck(ours, (x, w, b))
