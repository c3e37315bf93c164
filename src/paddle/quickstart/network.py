"""The network of the quickstart."""

from __future__ import annotations

from .. import nn
from ..tensor.tensor import Tensor


class DigitNet(nn.Layer):
    """Two convolutions and two linear layers, for images [N, 1, 28, 28]; gives scores [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 32, 5), nn.ReLU(), nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.classify = nn.Sequential(nn.Linear(32 * 5 * 5, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: Tensor) -> Tensor:
        return self.classify(self.features(x).flatten(1))
