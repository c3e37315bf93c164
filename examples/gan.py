"""Digits that nobody wrote: a generator and a discriminator that learn from each other, and a picture of the result.

Source: Radford, Metz and Chintala 2015, arXiv:1511.06434. The picture needs Pillow.

Usage: python examples/gan.py [--small] [--out gan.png]
"""

import argparse
from pathlib import Path

import numpy as np

import paddle
from paddle import nn
from paddle.nn import functional as F

# 10,000 digits of MNIST, in order of their class; paddle.vision.datasets.Digits gives them ready for use.
FILE = Path(__file__).parents[1] / "src/paddle/vision/datasets/digits/mnist10k.npz"
NOISE = 32


def load_digits(kinds):
    """Images [N, 1, 28, 28] between -1 and 1 of the digits below `kinds`."""
    with np.load(FILE) as file:
        images = file["x"][file["y"] < kinds]
    return images.reshape(-1, 1, 28, 28).astype("float32") / 127.5 - 1.0


def generator(width):
    return nn.Sequential(
        nn.Linear(NOISE, 2 * width * 49, bias_attr=False), nn.Unflatten(1, [2 * width, 7, 7]),
        nn.BatchNorm2D(2 * width), nn.ReLU(),
        nn.Conv2DTranspose(2 * width, width, 4, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(width), nn.ReLU(),
        nn.Conv2DTranspose(width, 1, 4, stride=2, padding=1), nn.Tanh(),
    )  # fmt: skip


def discriminator(width):
    return nn.Sequential(
        nn.Conv2D(1, width, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2D(width, 2 * width, 4, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(2 * width),
        nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(2 * width * 49, 1),
    )  # fmt: skip


def start(net):
    """Weights as in the paper: convolutions around 0, scales of normalizations around 1."""
    for layer in net.sublayers():
        if isinstance(layer, (nn.Conv2D, nn.Conv2DTranspose, nn.Linear)):
            nn.initializer.Normal(0.0, 0.05)(layer.weight)
        elif isinstance(layer, nn.BatchNorm2D):
            nn.initializer.Normal(1.0, 0.02)(layer.weight)
    return net


def picture(images, path):
    """Writes 64 images as one PNG, or says what is missing."""
    try:
        from PIL import Image
    except ImportError:
        print("no picture: it needs Pillow (pip install Pillow)")
        return
    page = images.reshape(8, 8, 28, 28).transpose(0, 2, 1, 3).reshape(224, 224)
    Image.fromarray(((page + 1.0) * 127.5).astype("uint8")).resize((672, 672)).save(path)
    print(f"picture     {path}")


def main(small, out):
    paddle.seed(13)
    np.random.seed(13)
    kinds, width, batch, epochs = (2, 8, 32, 5) if small else (10, 32, 64, 12)
    images = load_digits(kinds)
    data = paddle.io.TensorDataset([paddle.to_tensor(images)])
    loader = paddle.io.DataLoader(data, batch_size=batch, shuffle=True, drop_last=True)

    make, judge = start(generator(width)), start(discriminator(width))
    rate = 2e-3 if small else 5e-4
    maker = paddle.optimizer.Adam(rate, beta1=0.5, parameters=make.parameters())
    judging = paddle.optimizer.Adam(rate, beta1=0.5, parameters=judge.parameters())
    is_real, is_made = paddle.full([batch, 1], 0.9), paddle.zeros([batch, 1])
    for epoch in range(epochs):
        history = []
        for (real,) in loader:
            made = make(paddle.randn([batch, NOISE]))

            # The discriminator tells real from made.
            of_real, of_made = judge(real), judge(made.detach())
            loss = F.binary_cross_entropy_with_logits(of_real, is_real)
            loss += F.binary_cross_entropy_with_logits(of_made, is_made)
            loss.backward()
            judging.step()
            judging.clear_grad()

            # The generator makes what the discriminator takes for real.
            fooled = F.binary_cross_entropy_with_logits(judge(made), is_real)
            fooled.backward()
            maker.step()
            maker.clear_grad()
            judging.clear_grad()
            history.append([loss.item(), fooled.item()])
        both = np.mean(history, 0)
        print(f"epoch {epoch + 1}: loss of the discriminator {both[0]:.3f}, of the generator {both[1]:.3f}")

    make.eval()
    with paddle.no_grad():
        made = make(paddle.randn([64, NOISE])).numpy()
    picture(made, out)
    # Every image made is compared with the real one that is closest to it, pixel by pixel; so are real images.
    real = np.random.RandomState(0).permutation(len(images))

    def distance(some, others):
        some, others = (a.reshape(len(a), -1) for a in (some, others))
        squares = (some**2).sum(1)[:, None] + (others**2).sum(1) - 2.0 * some @ others.T
        return float(np.sqrt(squares.min(1) / some.shape[1]).mean())

    others = images[real[64:]]
    noise = np.random.RandomState(1).permutation(made.ravel()).reshape(made.shape)
    near = [distance(a, others) for a in (made, images[real[:64]], noise)]
    print(f"distance    {near[0]:.3f} from an image made to the closest digit; {near[1]:.3f} from another digit, "
          f"{near[2]:.3f} from the same pixels in disorder")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="only 0 and 1, smaller networks: seconds")
    parser.add_argument("--out", default="gan.png", help="the picture (gan.png)")
    given = parser.parse_args()
    main(given.small, given.out)
