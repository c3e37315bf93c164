"""The digits that come with the package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...io import Dataset
from ...io.dataloader.checks import require

_FILE = Path(__file__).parent / "digits" / "mnist10k.npz"
_TRAIN = 8000


class Digits(Dataset[Any]):
    """10,000 real handwritten digits of MNIST, bundled: 8,000 to train on and 2,000 to test, in a fixed random order.

    Args:
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.

    A sample is (image, label): float32 [1, 28, 28] in [0, 1], and an int64 number.

    Examples:
        >>> digits = paddle.vision.datasets.Digits("test")
        >>> len(digits), digits[0][0].shape
        (2000, (1, 28, 28))
    """

    def __init__(self, mode: str = "train", transform: Callable[[Any], Any] | None = None):
        require(mode in ("train", "test"), "Digits: no such mode.", "'train' or 'test'", mode)
        with np.load(_FILE) as file:
            x, y = file["x"], file["y"]
        order = np.random.RandomState(0).permutation(len(x))  # the file is ordered by digit
        order = order[:_TRAIN] if mode == "train" else order[_TRAIN:]
        self.images = x[order].reshape(-1, 1, 28, 28).astype("float32") / 255
        self.labels = y[order].astype("int64")
        self.mode, self.transform = mode, transform

    def __getitem__(self, idx: int) -> tuple[Any, np.int64]:
        image = self.images[idx]
        return (image if self.transform is None else self.transform(image)), self.labels[idx]

    def __len__(self) -> int:
        return len(self.images)
