"""One linear layer, step by step: a function, a fixed part, an auxiliary output, a Cell."""

import numpy as np

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, nn, ops, value_and_grad

x = ops.ones(5, ms.float32)
y = ops.zeros(3, ms.float32)
w = Parameter(Tensor(np.linspace(-1, 1, 15).reshape(5, 3), ms.float32), name="w")
b = Parameter(Tensor([-1.0, 0.5, 2.0]), name="b")


def loss(x, y, w, b):
    z = ops.matmul(x, w) + b
    return ops.binary_cross_entropy_with_logits(z, y, ops.ones_like(z), ops.ones_like(z))


def loss_and_logits(x, y, w, b):
    z = ops.matmul(x, w) + b
    return ops.binary_cross_entropy_with_logits(z, y, ops.ones_like(z), ops.ones_like(z)), z


def loss_and_fixed_logits(x, y, w, b):
    value, z = loss_and_logits(x, y, w, b)
    return value, ops.stop_gradient(z)


class Linear(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = w
        self.b = b

    def construct(self, x):
        return ops.matmul(x, self.w) + self.b


def main():
    print("the gradient with respect to b:")
    print(grad(loss, 3)(x, y, w, b))

    print("of the sum of both outputs:")
    print(grad(loss_and_logits, 3)(x, y, w, b))

    print("with the second output fixed, and with it as an auxiliary output:")
    print(grad(loss_and_fixed_logits, 3)(x, y, w, b))
    gradient, (logits,) = grad(loss_and_logits, 3, has_aux=True)(x, y, w, b)
    print(gradient, "at the logits", logits)

    model, loss_fn = Linear(), nn.BCEWithLogitsLoss()

    def forward(x, y):
        return loss_fn(model(x), y)

    print("of a Cell, with respect to its parameters:")
    train = value_and_grad(forward, None, weights=model.trainable_params())
    value, gradients = train(x, y)
    print(value)
    for parameter, gradient in zip(model.trainable_params(), gradients):
        print(parameter.name, gradient.shape, gradient.sum())


if __name__ == "__main__":
    main()

# Output:
#
# the gradient with respect to b:
# [0.05086955 0.20748645 0.31262147]
# of the sum of both outputs:
# [1.0508696 1.2074865 1.3126215]
# with the second output fixed, and with it as an auxiliary output:
# [0.05086955 0.20748645 0.31262147]
# [0.05086955 0.20748645 0.31262147] at the logits [-1.7142857   0.50000006  2.7142859 ]
# of a Cell, with respect to its parameters:
# 1.3060352
# w (5, 3) 2.854887
# b (3,) 0.57097745
