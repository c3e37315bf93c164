"""MobileNet V3, small and large."""

from __future__ import annotations

import functools
from typing import Any

from ... import nn
from ...tensor.tensor import Tensor
from ._blocks import ConvNormActivation, SqueezeExcitation, check_pretrained, make_divisible

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "mobilenet_v3_large", "mobilenet_v3_small"]

# channels before, kernel, channels inside, channels after, squeeze and excitation, activation, stride
_SMALL = (
    (16, 3, 16, 16, True, nn.ReLU, 2),
    (16, 3, 72, 24, False, nn.ReLU, 2),
    (24, 3, 88, 24, False, nn.ReLU, 1),
    (24, 5, 96, 40, True, nn.Hardswish, 2),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 120, 48, True, nn.Hardswish, 1),
    (48, 5, 144, 48, True, nn.Hardswish, 1),
    (48, 5, 288, 96, True, nn.Hardswish, 2),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
)
_LARGE = (
    (16, 3, 16, 16, False, nn.ReLU, 1),
    (16, 3, 64, 24, False, nn.ReLU, 2),
    (24, 3, 72, 24, False, nn.ReLU, 1),
    (24, 5, 72, 40, True, nn.ReLU, 2),
    (40, 5, 120, 40, True, nn.ReLU, 1),
    (40, 5, 120, 40, True, nn.ReLU, 1),
    (40, 3, 240, 80, False, nn.Hardswish, 2),
    (80, 3, 200, 80, False, nn.Hardswish, 1),
    (80, 3, 184, 80, False, nn.Hardswish, 1),
    (80, 3, 184, 80, False, nn.Hardswish, 1),
    (80, 3, 480, 112, True, nn.Hardswish, 1),
    (112, 3, 672, 112, True, nn.Hardswish, 1),
    (112, 5, 672, 160, True, nn.Hardswish, 2),
    (160, 5, 960, 160, True, nn.Hardswish, 1),
    (160, 5, 960, 160, True, nn.Hardswish, 1),
)

_norm = functools.partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)


class InvertedResidual(nn.Layer):
    """Widens by 1x1, filters each channel, weighs the channels, narrows by 1x1; beside a shortcut where shapes allow.

    Shapes: x [N, C, H, W] -> [N, O, H / stride, W / stride].
    """

    def __init__(
        self, inputs: int, kernel: int, wide: int, outputs: int, use_se: bool, activation: Any, stride: int
    ) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and inputs == outputs
        self.use_se = use_se
        self.expand = inputs != wide
        if self.expand:
            self.expand_conv = ConvNormActivation(inputs, wide, 1, norm_layer=_norm, activation_layer=activation)
        self.bottleneck_conv = ConvNormActivation(
            wide, wide, kernel, stride, groups=wide, norm_layer=_norm, activation_layer=activation
        )
        if use_se:
            self.mid_se = SqueezeExcitation(wide, make_divisible(wide // 4), scale_activation=nn.Hardsigmoid)
        self.linear_conv = ConvNormActivation(wide, outputs, 1, norm_layer=_norm, activation_layer=None)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        if self.use_se:
            inner = self.mid_se(inner)
        inner = self.linear_conv(inner)
        return x + inner if self.use_res_connect else inner


class MobileNetV3(nn.Layer):
    """Base of the two networks.

    Args:
        config: a row per block. last_channel (int): width of the linear layer before the last.
        scale, num_classes, with_pool: as in `MobileNetV3Small`.
    """

    def __init__(
        self, config: Any, last_channel: int, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        self.last_channel = last_channel
        of = lambda n: make_divisible(n * scale)
        self.conv = ConvNormActivation(3, of(config[0][0]), 3, 2, norm_layer=_norm, activation_layer=nn.Hardswish)
        self.blocks = nn.Sequential(
            *(InvertedResidual(of(i), k, of(w), of(o), se, act, s) for i, k, w, o, se, act, s in config)
        )
        outputs = of(config[-1][3])
        self.lastconv_output_channels = outputs * 6
        self.lastconv = ConvNormActivation(
            outputs, outputs * 6, 1, norm_layer=_norm, activation_layer=nn.Hardswish
        )  # fmt: skip
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(outputs * 6, last_channel),
                nn.Hardswish(),
                nn.Dropout(p=0.2),
                nn.Linear(last_channel, num_classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(x.flatten(1)) if self.num_classes > 0 else x


class MobileNetV3Small(MobileNetV3):
    """The small MobileNet V3. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Howard et al. 2019, arXiv:1905.02244, table 2.

    Args:
        scale (float): multiplies all numbers of channels. Default: 1.0.
        num_classes (int): Size of the output; 0 leaves the linear layers out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Examples:
        >>> net = paddle.vision.models.MobileNetV3Small(scale=0.35, num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, make_divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The large MobileNet V3. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Howard et al. 2019, arXiv:1905.02244, table 1.

    Args:
        scale (float): multiplies all numbers of channels. Default: 1.0.
        num_classes (int): Size of the output; 0 leaves the linear layers out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Examples:
        >>> net = paddle.vision.models.MobileNetV3Large(scale=0.35, num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, make_divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """The small MobileNet V3; kwargs are those of `MobileNetV3Small`."""
    check_pretrained("mobilenet_v3_small", pretrained)
    return MobileNetV3Small(scale=scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """The large MobileNet V3; kwargs are those of `MobileNetV3Large`."""
    check_pretrained("mobilenet_v3_large", pretrained)
    return MobileNetV3Large(scale=scale, **kwargs)
