"""MobileNet V2."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor.tensor import Tensor
from ._blocks import ConvNormActivation, check_pretrained, make_divisible

__all__ = ["MobileNetV2", "mobilenet_v2"]

# expansion, channels, blocks, stride of the first
_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class InvertedResidual(nn.Layer):
    """Widens by 1x1, filters by 3x3, narrows by 1x1; beside a shortcut where shapes allow.

    Shapes: x [N, C, H, W] -> [N, O, H / stride, W / stride].
    """

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and inputs == outputs
        wide = inputs * expansion
        layers: list[nn.Layer] = []
        if expansion != 1:
            layers.append(ConvNormActivation(inputs, wide, 1, activation_layer=nn.ReLU6))
        layers += [
            ConvNormActivation(wide, wide, 3, stride, groups=wide, activation_layer=nn.ReLU6),
            nn.Conv2D(wide, outputs, 1, bias_attr=False),
            nn.BatchNorm2D(outputs),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    """A network of inverted residuals. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Sandler et al. 2018, arXiv:1801.04381, table 2.

    Args:
        scale (float): multiplies all numbers of channels. Default: 1.0.
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Examples:
        >>> net = paddle.vision.models.MobileNetV2(scale=0.25, num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        inputs = make_divisible(32 * scale)
        last = make_divisible(1280 * max(1.0, scale))
        layers: list[nn.Layer] = [ConvNormActivation(3, inputs, 3, 2, activation_layer=nn.ReLU6)]
        for expansion, channels, count, stride in _STAGES:
            outputs = make_divisible(channels * scale)
            for i in range(count):
                layers.append(InvertedResidual(inputs, outputs, stride if i == 0 else 1, expansion))
                inputs = outputs
        layers.append(ConvNormActivation(inputs, last, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*layers)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(x.flatten(1)) if self.num_classes > 0 else x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNet V2; kwargs are those of `MobileNetV2`."""
    check_pretrained("mobilenet_v2", pretrained)
    return MobileNetV2(scale=scale, **kwargs)
