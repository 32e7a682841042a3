"""Scaling a loss, so that gradients in half precision do not vanish; clipping what comes back."""

import numpy as np

import s2s_ad as ms
from s2s_ad import Tensor, nn, ops, value_and_grad
from s2s_ad.amp import DynamicLossScaler, StaticLossScaler, all_finite

net = nn.Dense(3, 1, weight_init=Tensor([[2.0, 3.0, 4.0]]), has_bias=False)
loss_fn = nn.MSELoss()
x, y = Tensor([[1.0, 2.0, 3.0]]), Tensor([[19.0]])


def with_static_scale():
    scaler = StaticLossScaler(1024.0)

    def forward(x, y):
        logits = net(x)
        return scaler.scale(loss_fn(logits, y)), logits

    grad_fn = value_and_grad(forward, None, net.trainable_params(), has_aux=True)
    (loss, _), gradients = grad_fn(x, y)
    print("scaled:  ", loss, gradients)
    print("unscaled:", scaler.unscale(loss), scaler.unscale(gradients))
    print("finite:  ", all_finite(scaler.unscale(gradients)))
    print("clipped: ", ops.clip_by_global_norm(scaler.unscale(gradients)))


def with_dynamic_scale():
    """The scale halves where a gradient overflows, and doubles after three that do not."""
    scaler = DynamicLossScaler(2.0**16, scale_factor=2, scale_window=3)
    weight = ms.Parameter(Tensor([2.0], ms.float16), name="weight")

    def forward(x):
        return scaler.scale(ops.sum(weight * x))

    grad_fn = value_and_grad(forward, None, [weight])
    for value in (1.0, 0.5, 0.25, 0.25, 0.25, 0.25):
        with np.errstate(over="ignore"):
            _, gradients = grad_fn(Tensor([value], ms.float16))
        finite = all_finite(gradients)
        print(f"x = {value}: scale {scaler.scale_value.asnumpy()}, finite {finite}")
        scaler.adjust(finite)


if __name__ == "__main__":
    with_static_scale()
    with_dynamic_scale()

# Output:
#
# scaled:   1024.0 (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.04800000e+03,  4.09600000e+03,  6.14400000e+03]]),)
# unscaled: 1.0 (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.00000000e+00,  4.00000000e+00,  6.00000000e+00]]),)
# finite:   True
# clipped:  (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.67261237e-01,  5.34522474e-01,  8.01783681e-01]]),)
# x = 1.0: scale 65536.0, finite False
# x = 0.5: scale 32768.0, finite True
# x = 0.25: scale 32768.0, finite True
# x = 0.25: scale 32768.0, finite True
# x = 0.25: scale 65536.0, finite False
# x = 0.25: scale 32768.0, finite True
