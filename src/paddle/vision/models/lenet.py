"""LeNet."""

from __future__ import annotations

from ... import nn
from ...tensor.tensor import Tensor

__all__ = ["LeNet"]


class LeNet(nn.Layer):
    """Two convolutions and three linear layers, for images of 28x28.

    Source: LeCun, Bottou, Bengio and Haffner 1998, Proceedings of the IEEE 86(11), in upstream's form.

    Args:
        num_classes (int): Size of the output; 0 leaves the linear layers out. Default: 10.

    Examples:
        >>> paddle.vision.models.LeNet()(paddle.ones([2, 1, 28, 28])).shape
        paddle.Size([2, 10])
    """

    def __init__(self, num_classes: int = 10):
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.features(inputs)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x
