"""Inception V3."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...tensor.joining import concat
from ...tensor.tensor import Tensor
from ._blocks import ConvNormActivation, check_pretrained

__all__ = ["InceptionV3", "inception_v3"]


def _conv(inputs: int, outputs: int, size: Any, stride: int = 1, padding: Any = 0) -> ConvNormActivation:
    return ConvNormActivation(inputs, outputs, size, stride, padding)


def _row(inputs: int, outputs: int, n: int) -> ConvNormActivation:
    """1 x n, which keeps the size."""
    return _conv(inputs, outputs, (1, n), padding=(0, n // 2))


def _column(inputs: int, outputs: int, n: int) -> ConvNormActivation:
    """n x 1, which keeps the size."""
    return _conv(inputs, outputs, (n, 1), padding=(n // 2, 0))


class InceptionStem(nn.Layer):
    """Convolutions and pooling to an eighth of the size. Shapes: x [N, 3, H, W] -> [N, 192, H', W']."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _conv(3, 32, 3, stride=2)
        self.conv_2a_3x3 = _conv(32, 32, 3)
        self.conv_2b_3x3 = _conv(32, 64, 3, padding=1)
        self.max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        self.conv_3b_1x1 = _conv(64, 80, 1)
        self.conv_4a_3x3 = _conv(80, 192, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionA(nn.Layer):
    """Branches of 1x1, 5x5, two of 3x3, and pooling. Shapes: x [N, C, H, W] -> [N, 224 + pool_features, H, W]."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 64, 1)
        self.branch5x5_1 = _conv(num_channels, 48, 1)
        self.branch5x5_2 = _conv(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _conv(num_channels, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, padding=1)
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, pool_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        branches = [
            self.branch1x1(x),
            self.branch5x5_2(self.branch5x5_1(x)),
            self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionB(nn.Layer):
    """Halves the image. Shapes: x [N, C, H, W] -> [N, 480 + C, H / 2, W / 2]."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3 = _conv(num_channels, 384, 3, stride=2)
        self.branch3x3dbl_1 = _conv(num_channels, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, stride=2)
        self.branch_pool = nn.MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        doubled = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([self.branch3x3(x), doubled, self.branch_pool(x)], axis=1)


class InceptionC(nn.Layer):
    """Branches of 7x7 in rows and columns. Shapes: x [N, C, H, W] -> [N, 768, H, W]."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        n = channels_7x7
        self.branch1x1 = _conv(num_channels, 192, 1)
        self.branch7x7_1 = _conv(num_channels, n, 1)
        self.branch7x7_2 = _row(n, n, 7)
        self.branch7x7_3 = _column(n, 192, 7)
        self.branch7x7dbl_1 = _conv(num_channels, n, 1)
        self.branch7x7dbl_2 = _column(n, n, 7)
        self.branch7x7dbl_3 = _row(n, n, 7)
        self.branch7x7dbl_4 = _column(n, n, 7)
        self.branch7x7dbl_5 = _row(n, 192, 7)
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        doubled = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        branches = [
            self.branch1x1(x),
            self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x))),
            self.branch7x7dbl_5(self.branch7x7dbl_4(doubled)),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionD(nn.Layer):
    """Halves the image. Shapes: x [N, C, H, W] -> [N, 512 + C, H / 2, W / 2]."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = _conv(num_channels, 192, 1)
        self.branch3x3_2 = _conv(192, 320, 3, stride=2)
        self.branch7x7x3_1 = _conv(num_channels, 192, 1)
        self.branch7x7x3_2 = _row(192, 192, 7)
        self.branch7x7x3_3 = _column(192, 192, 7)
        self.branch7x7x3_4 = _conv(192, 192, 3, stride=2)
        self.branch_pool = nn.MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return concat([self.branch3x3_2(self.branch3x3_1(x)), seven, self.branch_pool(x)], axis=1)


class InceptionE(nn.Layer):
    """Branches that end in a row and a column side by side. Shapes: x [N, C, H, W] -> [N, 2048, H, W]."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 320, 1)
        self.branch3x3_1 = _conv(num_channels, 384, 1)
        self.branch3x3_2a = _row(384, 384, 3)
        self.branch3x3_2b = _column(384, 384, 3)
        self.branch3x3dbl_1 = _conv(num_channels, 448, 1)
        self.branch3x3dbl_2 = _conv(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _row(384, 384, 3)
        self.branch3x3dbl_3b = _column(384, 384, 3)
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_1(x)
        doubled = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        branches = [
            self.branch1x1(x),
            self.branch3x3_2a(three),
            self.branch3x3_2b(three),
            self.branch3x3dbl_3a(doubled),
            self.branch3x3dbl_3b(doubled),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionV3(nn.Layer):
    """The third Inception network. Shapes: x [N, 3, 299, 299] -> [N, num_classes].

    Source: Szegedy et al. 2016, arXiv:1512.00567.

    Args:
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Examples:
        >>> net = paddle.vision.models.InceptionV3(num_classes=10)
        >>> net(paddle.ones([1, 3, 75, 75])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = nn.LayerList(
            [
                *(InceptionA(c, pool) for c, pool in ((192, 32), (256, 64), (288, 64))),
                InceptionB(288),
                *(InceptionC(768, n) for n in (128, 160, 160, 192)),
                InceptionD(768),
                InceptionE(1280),
                InceptionE(2048),
            ]
        )
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(p=0.2, mode="downscale_in_infer")
            bound = 1.0 / math.sqrt(2048)
            self.fc = nn.Linear(2048, num_classes, weight_attr=nn.initializer.Uniform(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        return self.fc(self.dropout(x.reshape([-1, 2048]))) if self.num_classes > 0 else x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception V3; kwargs are its arguments."""
    check_pretrained("inception_v3", pretrained)
    return InceptionV3(**kwargs)
