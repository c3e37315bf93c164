"""MobileNet V1."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor.tensor import Tensor
from ._blocks import ConvNormActivation, check_pretrained

__all__ = ["MobileNetV1", "mobilenet_v1"]

# name: channels before, channels after, stride
_BLOCKS = {
    "conv2_1": (32, 64, 1),
    "conv2_2": (64, 128, 2),
    "conv3_1": (128, 128, 1),
    "conv3_2": (128, 256, 2),
    "conv4_1": (256, 256, 1),
    "conv4_2": (256, 512, 2),
    **{f"conv5_{i + 1}": (512, 512, 1) for i in range(5)},
    "conv5_6": (512, 1024, 2),
    "conv6": (1024, 1024, 1),
}


class DepthwiseSeparable(nn.Layer):
    """A 3x3 convolution of each channel, then one of 1x1. Shapes: x [N, C, H, W] -> [N, O, H / stride, W / stride]."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(inputs, inputs, 3, stride, groups=inputs)
        self._pointwise_conv = ConvNormActivation(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(nn.Layer):
    """A network of depthwise separable convolutions. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Howard et al. 2017, arXiv:1704.04861, table 1.

    Args:
        scale (float): multiplies all numbers of channels. Default: 1.0.
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Examples:
        >>> net = paddle.vision.models.MobileNetV1(scale=0.25, num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2)
        for name, (inputs, outputs, stride) in _BLOCKS.items():
            setattr(self, name, DepthwiseSeparable(int(inputs * scale), int(outputs * scale), stride))
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        for name in _BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet V1; kwargs are those of `MobileNetV1`."""
    check_pretrained("mobilenet_v1", pretrained)
    return MobileNetV1(scale=scale, **kwargs)
