"""Handwritten digits with paddle.Model: a data set of your own, transforms, a convolutional network, accuracy.

Usage: python examples/image_classification.py [--small]
"""

import argparse
from pathlib import Path

import numpy as np

import paddle
from paddle import nn
from paddle.vision import transforms as T

# 10,000 digits of MNIST, in order of their class; paddle.vision.datasets.Digits gives them ready for use.
FILE = Path(__file__).parents[1] / "src/paddle/vision/datasets/digits/mnist10k.npz"


class Digits(paddle.io.Dataset):
    """Images [1, 28, 28] and labels [1]; the first `count` of them in random order, or those from 8,000 on."""

    def __init__(self, mode, transform, count):
        super().__init__()
        with np.load(FILE) as file:
            images, labels = file["x"].reshape(-1, 28, 28, 1), file["y"].astype("int64").reshape(-1, 1)
        order = np.random.RandomState(0).permutation(len(images))
        rows = order[:8000][:count] if mode == "train" else order[8000:][:count]
        self.images, self.labels, self.transform = images[rows], labels[rows], transform

    def __getitem__(self, index):
        return self.transform(self.images[index]), self.labels[index]

    def __len__(self):
        return len(self.images)


class RandomShift(T.BaseTransform):
    """Moves the image by up to `most` pixels in each direction; the digits have an empty border."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def _apply_image(self, image):
        return np.roll(image, np.random.randint(-self.most, self.most + 1, 2), (0, 1))


class Block(nn.Layer):
    """Two convolutions around which the input is added, then half the size."""

    def __init__(self, channels, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(channels, width, 3, padding=1, bias_attr=False), nn.BatchNorm2D(width), nn.ReLU(),
            nn.Conv2D(width, width, 3, padding=1, bias_attr=False), nn.BatchNorm2D(width),
        )  # fmt: skip
        self.skip = nn.Conv2D(channels, width, 1)
        self.pool = nn.MaxPool2D(2, 2)

    def forward(self, x):
        return self.pool(nn.functional.relu(self.body(x) + self.skip(x)))


def main(small):
    paddle.seed(1)
    np.random.seed(1)
    as_array = [T.Transpose(), T.Normalize(mean=[33.3], std=[78.6], data_format="CHW")]
    train = Digits("train", T.Compose([RandomShift(2), *as_array]), 1600 if small else 8000)
    test = Digits("test", T.Compose(as_array), 500 if small else 2000)

    width, epochs, batch = (8, 3, 32) if small else (16, 6, 64)
    net = nn.Sequential(Block(1, width), Block(width, 2 * width), nn.Flatten(), nn.Linear(2 * width * 49, 10))
    model = paddle.Model(net)
    rate = paddle.optimizer.lr.OneCycleLR(max_learning_rate=1e-2, total_steps=epochs * (len(train) // batch))
    model.prepare(
        paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=0.01),
        nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(topk=(1, 2)),
    )
    model.fit(train, test, batch_size=batch, epochs=epochs, drop_last=True, verbose=2, log_freq=50)

    result = model.evaluate(test, batch_size=100, verbose=0)
    scores = model.predict(test, batch_size=100, stack_outputs=True, verbose=0)[0]
    truth, found = test.labels[:, 0], scores.argmax(1)
    wrong = np.zeros((10, 10), int)
    np.add.at(wrong, (truth, found), truth != found)
    digit, taken_for = np.unravel_index(wrong.argmax(), wrong.shape)
    print(f"accuracy    {result['acc_top1']:.4f}, among the first two {result['acc_top2']:.4f}")
    print(f"mistakes    {wrong.sum()} of {len(test)}; {digit} was taken for {taken_for} {wrong.max()} times")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, a smaller network: seconds")
    main(parser.parse_args().small)
