"""AlexNet."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...nn import functional as F
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["AlexNet", "alexnet"]


def _uniform(fan_in: int) -> nn.initializer.Uniform:
    bound = 1.0 / math.sqrt(fan_in)
    return nn.initializer.Uniform(-bound, bound)


def _conv(inputs: int, outputs: int, size: int, stride: int = 1, padding: int = 0) -> nn.Conv2D:
    start = _uniform(inputs * size * size)
    return nn.Conv2D(inputs, outputs, size, stride, padding, weight_attr=start, bias_attr=start)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    start = _uniform(256 * 6 * 6)  # the same for all three, as upstream
    return nn.Linear(inputs, outputs, weight_attr=start, bias_attr=start)


class ConvPoolLayer(nn.Layer):
    """A convolution, ReLU, and 3x3 pooling of stride 2. Shapes: x [N, C, H, W] -> [N, O, H', W']."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, padding: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self._conv = _conv(inputs, outputs, size, stride, padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)

    def forward(self, inputs: Tensor) -> Tensor:
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(nn.Layer):
    """Five convolutions and three linear layers. Shapes: x [N, 3, 224, 224] -> [N, num_classes].

    Source: Krizhevsky 2014, arXiv:1404.5997.

    Args:
        num_classes (int): Size of the output; 0 leaves the linear layers out. Default: 1000.

    Examples:
        >>> paddle.vision.models.AlexNet(num_classes=0)(paddle.ones([1, 3, 64, 64])).shape
        paddle.Size([1, 256, 1, 1])
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _conv(192, 384, 3, padding=1)
        self._conv4 = _conv(384, 256, 3, padding=1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = _linear(256 * 6 * 6, 4096)
            self._drop2 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = _linear(4096, 4096)
            self._fc8 = _linear(4096, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(F.relu(self._conv4(F.relu(self._conv3(x)))))
        if self.num_classes > 0:
            x = F.relu(self._fc6(self._drop1(x.flatten(1))))
            x = self._fc8(F.relu(self._fc7(self._drop2(x))))
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet; kwargs are its arguments."""
    check_pretrained("alexnet", pretrained)
    return AlexNet(**kwargs)
