"""SqueezeNet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...engine import errors
from ...nn import functional as F
from ...tensor.joining import concat
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

# channels inside, channels after each of the two branches
_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
_POOLED = {"1.0": (3, 7), "1.1": (2, 4)}  # after which fires the image is halved


class MakeFireConv(nn.Layer):
    """A convolution and ReLU."""

    def __init__(self, inputs: int, outputs: int, size: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, padding=padding)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self._conv(x))


class MakeFire(nn.Layer):
    """Squeezes the channels, then widens them by 1x1 and by 3x3. Shapes: x [N, C, H, W] -> [N, 2 * O, H, W]."""

    def __init__(self, inputs: int, inside: int, outputs: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(inputs, inside, 1)
        self._conv_path1 = MakeFireConv(inside, outputs, 1)
        self._conv_path2 = MakeFireConv(inside, outputs, 3, padding=1)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


class SqueezeNet(nn.Layer):
    """A small network of fire modules. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Iandola et al. 2016, arXiv:1602.07360.

    Args:
        version (str): "1.0", or "1.1", which is faster.
        num_classes (int): Size of the output; 0 leaves the last convolution out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Raises:
        AssertionError: the version is not known.

    Examples:
        >>> net = paddle.vision.models.SqueezeNet("1.1", num_classes=10)
        >>> net(paddle.ones([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in _POOLED:
            raise AssertionError(
                errors.message(
                    "InvalidArgument", "SqueezeNet: the version is not known.", "'1.0' or '1.1'", f"{version!r}"
                )
            )
        self.version, self.num_classes, self.with_pool = version, num_classes, with_pool
        inputs = 96 if version == "1.0" else 64
        self._conv = (
            nn.Conv2D(3, inputs, 7, stride=2) if version == "1.0" else nn.Conv2D(3, inputs, 3, stride=2, padding=1)
        )
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        for i, (inside, outputs) in enumerate(_FIRES):
            setattr(self, f"_conv{i + 1}", MakeFire(inputs, inside, outputs))
            inputs = 2 * outputs
        self._drop = nn.Dropout(p=0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(512, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._pool(F.relu(self._conv(inputs)))
        for i in range(1, 9):
            x = getattr(self, f"_conv{i}")(x)
            if i in _POOLED[self.version]:
                x = self._pool(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
            x = F.relu(x) if self.with_pool else x
        return self._avg_pool(x).squeeze([2, 3]) if self.with_pool else x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0; kwargs are those of `SqueezeNet`."""
    check_pretrained("squeezenet1_0", pretrained)
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1; kwargs are those of `SqueezeNet`."""
    check_pretrained("squeezenet1_1", pretrained)
    return SqueezeNet("1.1", **kwargs)
