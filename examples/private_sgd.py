"""Private SGD: each sample's gradient is clipped, and noise is added to their sum."""

import numpy as np

from s2s_ad import Tensor, grad, nn, vmap

CLIP, NOISE, RATE = 1.0, 0.5, 0.2
rng = np.random.default_rng(0)

true_weight = np.array([1.5, -2.0, 0.5])
inputs = rng.normal(size=(256, 3)).astype(np.float32)
labels = (inputs @ true_weight + 0.3 * rng.normal(size=256) > 0).astype(np.float32)[:, None]

net = nn.Dense(3, 1, weight_init="zeros", bias_init="zeros")
loss_fn = nn.BCEWithLogitsLoss()


def loss(x, y):
    return loss_fn(net(x), y)


per_sample = vmap(grad(loss, None, net.trainable_params()))


def step(x, y):
    """One step: no sample moves a weight by more than the clip allows."""
    gradients = [each.asnumpy() for each in per_sample(x, y)]
    squares = [np.sum(each.reshape(len(each), -1) ** 2, axis=1) for each in gradients]
    norms = np.sqrt(np.sum(squares, axis=0))
    factors = np.minimum(1, CLIP / np.maximum(norms, 1e-12))
    for parameter, gradient in zip(net.trainable_params(), gradients):
        total = np.tensordot(factors, gradient, axes=1)
        total += NOISE * CLIP * rng.normal(size=total.shape)
        parameter -= RATE * total / len(x)
    return norms


def accuracy():
    return float(np.mean((net(Tensor(inputs)).asnumpy() > 0) == (labels > 0)))


def main():
    x, y = Tensor(inputs), Tensor(labels)
    print("gradients of a batch:", [each.shape for each in per_sample(x, y)])
    for _ in range(100):
        norms = step(x, y)
    print(f"largest gradient before it is clipped: {norms.max():.1f}")
    print(f"accuracy above 0.9: {accuracy() > 0.9}")


if __name__ == "__main__":
    main()

# Output:
#
# gradients of a batch: [(256, 1, 3), (256, 1)]
# largest gradient before it is clipped: 1.4
# accuracy above 0.9: True
