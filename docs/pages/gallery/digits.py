"""
What a network looks at
=======================

A small convolutional network learns to read digits. Then its gradient is taken with respect to the
*picture* instead of the weights: which dots speak for the digit, and how few have to be changed for
the network to see another one? One gradient for each picture is ``vmap(grad(...))``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import s2s_ad as ms
from s2s_ad import Tensor, grad, nn, value_and_grad, vmap

# %%
# Layers, loss and optimizer have MindSpore's names; the network is a class with a ``construct``.


class Digits(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 12, 3, pad_mode="same"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(12 * 16, 10),
        )

    def construct(self, x):
        return self.layers(x)


images, labels = load_digits(return_X_y=True)
images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
labels = labels.astype(np.int32)
order = np.random.default_rng(0).permutation(len(images))
known, unseen = order[:1400], order[1400:]

# %%
# Training is a loop. Twelve passes over the pictures take about a second.

ms.set_seed(1)
net, loss_fn = Digits(), nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)
train = value_and_grad(lambda x, t: loss_fn(net(x), t), None, optimizer.parameters)
rng = np.random.default_rng(0)
for epoch in range(12):
    for chosen in rng.permutation(known).reshape(-1, 50):
        loss, gradients = train(Tensor(images[chosen]), Tensor(labels[chosen]))
        optimizer(gradients)
right = net(Tensor(images[unseen])).asnumpy().argmax(1) == labels[unseen]
print(f"{right.mean():.1%} of {len(unseen)} unseen digits are read right")

# %%
# How far ahead of the others the right digit is, and what each dot of the picture adds to that.


def lead(picture, digit):
    scores = net(picture[None])[0]
    others = np.where(np.arange(10) == digit, -np.inf, scores)
    return scores[digit] - np.max(others)


examples = np.array([unseen[right & (labels[unseen] == digit)][2] for digit in range(10)])
per_picture = vmap(grad(lead))
speaks = per_picture(images[examples], labels[examples])

# %%
# And how it is fooled: dots are changed, along the gradient, until another digit is ahead.

fooled = images[examples].copy()
active = np.ones(10, bool)
for _ in range(60):
    slopes = per_picture(fooled, labels[examples])
    fooled[active] = np.clip(fooled[active] - 0.02 * np.sign(slopes[active]), 0, 1)
    seen = net(Tensor(fooled)).asnumpy().argmax(1)
    active = seen == labels[examples]
change = np.abs(fooled - images[examples]).max((1, 2, 3))
print("seen instead:", seen, "after a change of at most", np.round(change.max(), 2))

# %%

fig, axes = plt.subplots(3, 10, figsize=(8.4, 3.3), layout="constrained")
fig.get_layout_engine().set(hspace=0.16, h_pad=0.1)
for i, column in enumerate(axes.T):
    limit = np.abs(speaks[i]).max()
    column[0].imshow(images[examples[i], 0], cmap="gray_r", vmin=0, vmax=1)
    column[1].imshow(speaks[i, 0], cmap="RdBu", vmin=-limit, vmax=limit)
    column[2].imshow(fooled[i, 0], cmap="gray_r", vmin=0, vmax=1)
    column[2].set_title(f"seen as {seen[i]}", fontsize=8, loc="center", y=-0.42, color="#e4572e")
    for ax in column:
        ax.axis("off")
titles = ("unseen digits", "what speaks for them (blue) and against", "changed until they fool it")
for row, title in zip(axes, titles):
    row[0].text(-0.5, -1.4, title, fontsize=9, weight="bold").set_in_layout(False)
plt.show()
