"""A small convolutional network on scikit-learn's 8x8 digits; the loss curve is a picture.

pip install s2s_ad[examples]; it takes less than a minute on two cores. With --workers 2 each batch
is halved between two processes (s2s_ad[parallel]), and the accuracy is the same.
"""

import argparse
import contextlib

import numpy as np

import s2s_ad as ms
from s2s_ad import Tensor, nn, value_and_grad


class Digits(nn.Cell):
    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 16, 3, pad_mode="same"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3, pad_mode="same"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
        )
        self.classes = nn.Dense(32 * 2 * 2, 10)

    def construct(self, x):
        return self.classes(self.features(x))


def data():
    """Training and test images, (n, 1, 8, 8), and their classes."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, classes = load_digits(return_X_y=True)
    images = (images / 16 - 0.5).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, classes.astype(np.int32), test_size=0.25, random_state=0)


def batches(rng, images, classes, size=64):
    order = rng.permutation(len(images))
    for start in range(0, len(order) - size + 1, size):
        chosen = order[start : start + size]
        yield Tensor(images[chosen]), Tensor(classes[chosen])


def train(net, images, classes, epochs, workers=0):
    """The loss of each step."""
    from tqdm import tqdm

    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-3)
    step = value_and_grad(lambda x, t: loss_fn(net(x), t), None, optimizer.parameters)
    if workers:
        from s2s_ad import parallel

        step = parallel.data_parallel(step, chunk_size=-(-64 // workers))
    rng, losses = np.random.default_rng(0), []
    for _ in tqdm(range(epochs), unit="epoch"):
        for x, t in batches(rng, images, classes):
            loss, gradients = step(x, t)
            optimizer(gradients)
            losses.append(float(loss))
    return losses


@contextlib.contextmanager
def cluster(workers):
    """So many processes that compute chunks, while it lasts; none for 0."""
    if not workers:
        yield
        return
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made:
        with Client(made):
            yield


def draw(losses, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.semilogy(losses)
    pyplot.xlabel("step")
    pyplot.ylabel("loss")
    pyplot.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--picture", default="digits_loss.png")
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    ms.set_seed(0)
    images, test_images, classes, test_classes = data()
    net = Digits()
    with cluster(options.workers):
        losses = train(net, images, classes, options.epochs, options.workers)
    draw(losses, options.picture)
    found = net(Tensor(test_images)).asnumpy().argmax(axis=1)
    print(f"loss {losses[0]:.2f} at first, {np.mean(losses[-20:]):.4f} at the end")
    print(f"test accuracy {np.mean(found == test_classes):.4f}")


if __name__ == "__main__":
    main()
