"""What grad gives for each grad_position and weights: eight ways to ask."""

import s2s_ad as ms
from s2s_ad import Tensor, grad, nn


class Net(nn.Cell):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.fc = nn.Dense(inputs, outputs, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        logits = self.fc(x).squeeze()
        return self.loss(logits, y), logits


net = Net(3, 1)
net.fc.weight.set_data(Tensor([[2, 3, 4]], ms.float32))
x = Tensor([[1, 2, 3]], ms.float32)
y = Tensor(19, ms.float32)
weights = net.trainable_params()


def main():
    for position, parameters in [
        (0, None),
        (1, None),
        ((0, 1), None),
        (None, weights),
        (0, weights),
        (1, weights),
        ((0, 1), weights),
    ]:
        gradients, logits = grad(net, position, parameters, has_aux=True)(x, y)
        print(f"grad_position={position}, weights={'yes' if parameters else None}")
        print(gradients)
    try:
        grad(net, None, None)
    except ValueError as error:
        print("grad_position=None, weights=None")
        print(str(error).splitlines()[0])
    print("the auxiliary output, each time:", logits)
    print("without has_aux the outputs are added up:", grad(net, 0)(x, y))


if __name__ == "__main__":
    main()

# Output:
#
# grad_position=0, weights=None
# [[4. 6. 8.]]
# grad_position=1, weights=None
# -2.0
# grad_position=(0, 1), weights=None
# (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 4.00000000e+00,  6.00000000e+00,  8.00000000e+00]]), Tensor(shape=[], dtype=Float32, value= -2))
# grad_position=None, weights=yes
# (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.00000000e+00,  4.00000000e+00,  6.00000000e+00]]),)
# grad_position=0, weights=yes
# (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 4.00000000e+00,  6.00000000e+00,  8.00000000e+00]]), (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.00000000e+00,  4.00000000e+00,  6.00000000e+00]]),))
# grad_position=1, weights=yes
# (Tensor(shape=[], dtype=Float32, value= -2), (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.00000000e+00,  4.00000000e+00,  6.00000000e+00]]),))
# grad_position=(0, 1), weights=yes
# ((Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 4.00000000e+00,  6.00000000e+00,  8.00000000e+00]]), Tensor(shape=[], dtype=Float32, value= -2)), (Tensor(shape=[1, 3], dtype=Float32, value=
# [[ 2.00000000e+00,  4.00000000e+00,  6.00000000e+00]]),))
# grad_position=None, weights=None
# S2S502: grad: nothing to differentiate: `grad_position` and `weight` can not be None at the same time.
# the auxiliary output, each time: (Tensor(shape=[], dtype=Float32, value= 20),)
# without has_aux the outputs are added up: [[ 6.  9. 12.]]
