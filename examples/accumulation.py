"""Gradients of micro-batches added up: the same step as that of the whole batch."""

import numpy as np

import s2s_ad as ms
from s2s_ad import Tensor, nn, ops, value_and_grad

MICRO_BATCHES = 4
rng = np.random.default_rng(0)
inputs = Tensor(rng.normal(size=(8, 3)))
targets = Tensor(rng.normal(size=(8, 1)))


def model():
    weight = np.array([[0.5, -0.25, 1.0]])
    return nn.Dense(
        3, 1, weight_init=Tensor(weight), bias_init=Tensor([0.0], ms.float64), dtype=ms.float64
    )


def step_of_the_whole(net):
    loss_fn, optimizer = nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)
    grad_fn = value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    _, gradients = grad_fn(inputs, targets)
    optimizer(gradients)


def step_in_parts(net):
    loss_fn, optimizer = nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)
    sums = optimizer.parameters.clone(prefix="accumulate", init="zeros")

    def forward(x, y):
        return loss_fn(net(x), y) / MICRO_BATCHES

    grad_fn = value_and_grad(forward, None, optimizer.parameters)
    for x, y in zip(ops.split(inputs, 2), ops.split(targets, 2)):
        _, gradients = grad_fn(x, y)
        for total, gradient in zip(sums, gradients):
            ops.assign_add(total, gradient)
    optimizer(tuple(sums))


def main():
    whole, parts = model(), model()
    step_of_the_whole(whole)
    step_in_parts(parts)
    for a, b in zip(whole.trainable_params(), parts.trainable_params()):
        difference = float(np.max(np.abs(a.asnumpy() - b.asnumpy())))
        print(f"{a.name}: {a.asnumpy().round(6)}, differs by less than 1e-15: {difference < 1e-15}")


if __name__ == "__main__":
    main()

# Output:
#
# weight: [[ 0.318964 -0.266555  0.93122 ]], differs by less than 1e-15: True
# bias: [-0.020047], differs by less than 1e-15: True
