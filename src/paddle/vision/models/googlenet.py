"""GoogLeNet."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...nn import functional as F
from ...tensor.joining import concat
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["GoogLeNet", "googlenet"]

# name: channels before; of 1x1; before 3x3, of 3x3; before 5x5, of 5x5; after pooling
_INCEPTIONS = {
    "_ince3a": (192, 64, 96, 128, 16, 32, 32),
    "_ince3b": (256, 128, 128, 192, 32, 96, 64),
    "_ince4a": (480, 192, 96, 208, 16, 48, 64),
    "_ince4b": (512, 160, 112, 224, 24, 64, 64),
    "_ince4c": (512, 128, 128, 256, 24, 64, 64),
    "_ince4d": (512, 112, 144, 288, 32, 64, 64),
    "_ince4e": (528, 256, 160, 320, 32, 128, 128),
    "_ince5a": (832, 256, 160, 320, 32, 128, 128),
    "_ince5b": (832, 384, 192, 384, 48, 128, 128),
}


def _uniform(channels: int) -> nn.initializer.Uniform:
    bound = math.sqrt(3.0 / channels)
    return nn.initializer.Uniform(-bound, bound)


class ConvLayer(nn.Layer):
    """A convolution without bias that keeps the size of the image, over the stride."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, stride, (size - 1) // 2, bias_attr=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return self._conv(inputs)


class Inception(nn.Layer):
    """Four branches side by side, then ReLU. Shapes: x [N, C, H, W] -> [N, c1 + c3 + c5 + proj, H, W]."""

    def __init__(self, inputs: int, c1: int, c3r: int, c3: int, c5r: int, c5: int, proj: int) -> None:
        super().__init__()
        self._conv1 = ConvLayer(inputs, c1, 1)
        self._conv3r = ConvLayer(inputs, c3r, 1)
        self._conv3 = ConvLayer(c3r, c3, 3)
        self._conv5r = ConvLayer(inputs, c5r, 1)
        self._conv5 = ConvLayer(c5r, c5, 5)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=1, padding=1)
        self._convprj = ConvLayer(inputs, proj, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        branches = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return F.relu(concat(branches, axis=1))


class GoogLeNet(nn.Layer):
    """The first Inception network, with its two outputs on the way.

    Shapes: x [N, 3, 224, 224] -> three, each [N, num_classes].

    Source: Szegedy et al. 2015, arXiv:1409.4842, table 1. As upstream there is no ReLU but after each Inception.

    Args:
        num_classes (int): Size of the outputs; 0 leaves the linear layers out. Default: 1000.
        with_pool (bool): False leaves the pooling at the ends out. Default: True.

    Examples:
        >>> net = paddle.vision.models.GoogLeNet(num_classes=0)
        >>> [list(out.shape) for out in net(paddle.ones([1, 3, 128, 128]))]
        [[1, 1024, 1, 1], [1, 512, 1, 1], [1, 528, 1, 1]]
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, channels in _INCEPTIONS.items():
            setattr(self, name, Inception(*channels))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(kernel_size=5, stride=3)
            self._pool_o2 = nn.AvgPool2D(kernel_size=5, stride=3)
        if num_classes > 0:
            self._drop = nn.Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes, weight_attr=_uniform(1024))
            for i, inputs in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{i}", ConvLayer(inputs, 128, 1))
                setattr(self, f"_fc_o{i}", nn.Linear(1152, 1024, weight_attr=_uniform(2048)))
                setattr(self, f"_drop_o{i}", nn.Dropout(p=0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{i}", nn.Linear(1024, num_classes, weight_attr=_uniform(1024)))

    def forward(self, inputs: Tensor) -> tuple[Tensor, ...]:
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        x_4a = self._ince4a(x)
        x_4d = self._ince4d(self._ince4c(self._ince4b(x_4a)))
        x = self._pool(self._ince4e(x_4d))
        outs = [self._ince5b(self._ince5a(x)), x_4a, x_4d]
        if self.with_pool:
            outs = [pool(o) for pool, o in zip((self._pool_5, self._pool_o1, self._pool_o2), outs)]
        if self.num_classes > 0:
            outs[0] = self._fc_out(self._drop(outs[0]).squeeze([2, 3]))
            outs[1] = self._out1(self._drop_o1(F.relu(self._fc_o1(self._conv_o1(outs[1]).flatten(1)))))
            outs[2] = self._out2(self._drop_o2(self._fc_o2(self._conv_o2(outs[2]).flatten(1))))
        return tuple(outs)


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet; kwargs are its arguments."""
    check_pretrained("googlenet", pretrained)
    return GoogLeNet(**kwargs)
