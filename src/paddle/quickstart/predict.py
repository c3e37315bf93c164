"""Loads the saved network and tells the digits of the test images: `python -m paddle.quickstart.predict MODEL OUT`.

The quickstart runs this in a new process.
"""

from __future__ import annotations

import sys

import numpy as np

import paddle

from ..vision.datasets import Digits
from .network import DigitNet


def predict(model: DigitNet, images: np.ndarray, batch: int = 250) -> np.ndarray:
    """Scores [N, 10] of images [N, 1, 28, 28]."""
    model.eval()
    with paddle.no_grad():
        parts = [model(paddle.to_tensor(images[i : i + batch])).numpy() for i in range(0, len(images), batch)]
    return np.concatenate(parts)


def main(path: str, out: str) -> None:
    model = DigitNet()
    model.set_state_dict(paddle.load(path))
    np.save(out, predict(model, Digits("test").images))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
