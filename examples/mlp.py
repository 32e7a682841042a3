"""A two-layer classifier: the loss with its gradient, and one gradient for each sample."""

import numpy as np

from s2s_ad import grad, value_and_grad, vmap

BATCH, INPUTS, HIDDEN, CLASSES = 64, 784, 128, 10


def mlp_loss(params, x, label):
    """The cross entropy of one sample."""
    h = np.tanh(x @ params["W1"] + params["b1"])
    logits = h @ params["W2"] + params["b2"]
    z = logits - np.max(logits)
    return np.log(np.sum(np.exp(z))) - z[label]


def make_inputs(seed=0):
    """Parameters, and a batch of samples with their labels."""
    rng = np.random.default_rng(seed)

    def normal(scale, *shape):
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    params = {
        "W1": normal(INPUTS**-0.5, INPUTS, HIDDEN),
        "b1": normal(0.1, HIDDEN),
        "W2": normal(HIDDEN**-0.5, HIDDEN, CLASSES),
        "b2": normal(0.1, CLASSES),
    }
    return params, normal(1.0, BATCH, INPUTS), rng.integers(0, CLASSES, BATCH)


def largest_difference(per_sample, params, x, label):
    """How far the gradients of a batch are from those of one sample after the other."""
    gradient = grad(mlp_loss)
    loop = [gradient(params, *sample) for sample in zip(x, label)]
    return max(
        np.max(np.abs(per_sample[name] - np.stack([each[name] for each in loop])))
        for name in params
    )


def main():
    params, x, label = make_inputs()
    loss_and_grad = value_and_grad(mlp_loss)
    gradients = vmap(grad(mlp_loss), in_axes=(None, 0, 0))

    print("# value_and_grad(mlp_loss)\n")
    print(loss_and_grad.source(params, x[0], label[0]))
    print("# vmap(grad(mlp_loss), in_axes=(None, 0, 0))\n")
    print(gradients.source(params, x, label))

    loss, _ = loss_and_grad(params, x[0], label[0])
    per_sample = gradients(params, x, label)
    print(f"the loss of the first sample: {loss:.4f}")
    print(f"one gradient for each of {BATCH} samples:")
    for name, value in per_sample.items():
        print(f"  {name}: {value.dtype}{list(value.shape)}")
    difference = largest_difference(per_sample, params, x, label)
    print(f"largest difference from a loop over the samples: {difference:.1e}")


if __name__ == "__main__":
    main()
