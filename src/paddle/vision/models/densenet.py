"""DenseNet."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...engine import errors
from ...tensor.joining import concat
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "densenet264"]

# layers: channels at the start, channels that a layer adds, layers per block
_CONFIGS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(nn.Layer):
    """A norm, ReLU, and a convolution without bias."""

    def __init__(self, inputs: int, outputs: int, size: int, padding: int = 0) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm(inputs, act="relu")
        self._conv = nn.Conv2D(inputs, outputs, size, padding=padding, bias_attr=False)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv(self._batch_norm(input))


class ConvBNLayer(nn.Layer):
    """A convolution without bias, a norm, and ReLU."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, padding: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, stride, padding, bias_attr=False)
        self._batch_norm = nn.BatchNorm(outputs, act="relu")

    def forward(self, input: Tensor) -> Tensor:
        return self._batch_norm(self._conv(input))


class DenseLayer(nn.Layer):
    """Adds channels to those that are there. Shapes: x [N, C, H, W] -> [N, C + growth, H, W]."""

    def __init__(self, inputs: int, growth: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(inputs, bn_size * growth, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth, growth, 3, padding=1)
        if dropout:
            self.dropout_func = nn.Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, input: Tensor) -> Tensor:
        new = self.bn_ac_func2(self.bn_ac_func1(input))
        return concat([input, self.dropout_func(new) if self.dropout else new], axis=1)


class DenseBlock(nn.Layer):
    """`count` dense layers. Shapes: x [N, C, H, W] -> [N, C + count * growth, H, W]."""

    def __init__(self, inputs: int, growth: int, bn_size: int, count: int, dropout: float, name: str) -> None:
        super().__init__()
        self.dropout = dropout
        self.dense_layer_func = [
            self.add_sublayer(f"{name}_{i + 1}", DenseLayer(inputs + i * growth, growth, bn_size, dropout))
            for i in range(count)
        ]

    def forward(self, input: Tensor) -> Tensor:
        for layer in self.dense_layer_func:
            input = layer(input)
        return input


class TransitionLayer(nn.Layer):
    """Halves channels and image. Shapes: x [N, C, H, W] -> [N, C / 2, H / 2, W / 2]."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(inputs, inputs // 2, 1)
        self.pool2d_avg = nn.AvgPool2D(kernel_size=2, stride=2, padding=0)

    def forward(self, input: Tensor) -> Tensor:
        return self.pool2d_avg(self.conv_ac_func(input))


class DenseNet(nn.Layer):
    """A network whose layers see what all layers before them have made. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Huang, Liu, van der Maaten and Weinberger 2017, arXiv:1608.06993.

    Args:
        layers (int): 121, 161, 169, 201 or 264. Default: 121.
        bn_size (int): channels between the two convolutions of a layer, over those that it adds. Default: 4.
        dropout (float): share of the new channels' elements that training drops. Default: 0.0.
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Raises:
        AssertionError: the number of layers is not known.

    Examples:
        >>> net = paddle.vision.models.DenseNet(num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, layers: int = 121, bn_size: int = 4, dropout: float = 0.0, num_classes: int = 1000,
                 with_pool: bool = True) -> None:  # fmt: skip
        super().__init__()
        if layers not in _CONFIGS:
            raise AssertionError(
                errors.message("InvalidArgument", "DenseNet: layers is not known.", f"{[*_CONFIGS]}", f"{layers!r}")
            )
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, growth, counts = _CONFIGS[layers]
        self.conv1_func = ConvBNLayer(3, channels, 7, 2, 3)
        self.pool2d_max = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._stages = []
        for i, count in enumerate(counts, 2):
            block = DenseBlock(channels, growth, bn_size, count, dropout, f"conv{i}")
            self._stages.append(self.add_sublayer(f"db_conv_{i}", block))
            channels += count * growth
            if i < len(counts) + 1:
                self._stages.append(self.add_sublayer(f"tr_conv{i}_blk", TransitionLayer(channels)))
                channels //= 2
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1.0 / math.sqrt(channels)
            self.out = nn.Linear(channels, num_classes, weight_attr=nn.initializer.Uniform(-bound, bound))

    def forward(self, input: Tensor) -> Tensor:
        x = self.pool2d_max(self.conv1_func(input))
        for stage in self._stages:
            x = stage(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.out(x.flatten(1)) if self.num_classes > 0 else x


def _densenet(layers: int, pretrained: bool, kwargs: dict[str, Any]) -> DenseNet:
    check_pretrained(f"densenet{layers}", pretrained)
    return DenseNet(layers=layers, **kwargs)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers; kwargs are those of `DenseNet`."""
    return _densenet(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers; kwargs are those of `DenseNet`."""
    return _densenet(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers; kwargs are those of `DenseNet`."""
    return _densenet(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers; kwargs are those of `DenseNet`."""
    return _densenet(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 264 layers; kwargs are those of `DenseNet`."""
    return _densenet(264, pretrained, kwargs)
