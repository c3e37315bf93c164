"""What several families of networks are made of."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...engine import errors
from ...tensor.tensor import Tensor

__all__ = ["ConvNormActivation", "SqueezeExcitation", "check_pretrained", "make_divisible"]


class ConvNormActivation(nn.Sequential):
    """A convolution without bias, a norm, an activation. Shapes: x [N, C, H, W] -> [N, O, H / stride, W / stride].

    Args:
        in_channels (int), out_channels (int): C and O.
        kernel_size (int|tuple): Default: 3.
        stride (int): Default: 1.
        padding (int|tuple, optional): by default the sizes stay where the stride is 1.
        groups (int): Default: 1.
        norm_layer (type, optional): called with the number of channels. Default: nn.BatchNorm2D.
        activation_layer (type, optional): None leaves it out. Default: nn.ReLU.
        bias (bool, optional): by default, where there is no norm.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: int = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Any = nn.BatchNorm2D,
        activation_layer: Any = nn.ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        layers: list[nn.Layer] = [
            nn.Conv2D(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups,
                      bias_attr=None if bias else False)
        ]  # fmt: skip
        layers += [norm_layer(out_channels)] if norm_layer is not None else []
        layers += [activation_layer()] if activation_layer is not None else []
        super().__init__(*layers)


class SqueezeExcitation(nn.Layer):
    """Scales each channel by a factor in [0, 1] that follows from the means of all. Shapes: x [N, C, H, W] -> the same.

    Source: Hu, Shen and Sun 2018, arXiv:1709.01507, section 3.

    Args:
        input_channels (int): C.
        squeeze_channels (int): of the layer between.
        activation (type): after the first convolution. Default: nn.ReLU.
        scale_activation (type): gives the factors. Default: nn.Sigmoid.
    """

    def __init__(
        self, input_channels: int, squeeze_channels: int, activation: Any = nn.ReLU, scale_activation: Any = nn.Sigmoid
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        factor = self.fc2(self.activation(self.fc1(self.avgpool(input))))
        return input * self.scale_activation(factor)


def make_divisible(n: float, divisor: int = 8, minimum: int | None = None) -> int:
    """The multiple of `divisor` next to n, at least `minimum` (one divisor) and not more than a tenth below n."""
    near = max(minimum or divisor, int(n + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * n else near


def check_pretrained(name: str, pretrained: Any) -> None:
    """Raises RuntimeError if pretrained weights are asked for: they would have to be downloaded."""
    if pretrained:
        raise errors.precondition(
            f"{name}: pretrained weights need a download, and this package makes none.",
            expected="pretrained False",
            received=f"pretrained: {pretrained!r}",
            hint="load a file of weights that you have: model.set_state_dict(paddle.load(path)).",
        )
