"""ShuffleNet V2."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...engine import errors
from ...nn import functional as F
from ...tensor.joining import concat
from ...tensor.tensor import Tensor
from ._blocks import ConvNormActivation, check_pretrained

__all__ = ["ShuffleNetV2", "shufflenet_v2_swish", "shufflenet_v2_x0_25", "shufflenet_v2_x0_33", "shufflenet_v2_x0_5",
           "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"]  # fmt: skip

_REPEATS = (4, 8, 4)
# scale: channels of the first convolution, of the three stages, of the last convolution
_CHANNELS = {
    0.25: (24, (24, 48, 96), 512),
    0.33: (24, (32, 64, 128), 512),
    0.5: (24, (48, 96, 192), 1024),
    1.0: (24, (116, 232, 464), 1024),
    1.5: (24, (176, 352, 704), 1024),
    2.0: (24, (224, 488, 976), 2048),
}
_ACTIVATIONS = {"relu": nn.ReLU, "swish": nn.Swish, None: None}


def _shuffled(left: Tensor, right: Tensor) -> Tensor:
    """The channels of both, by turns."""
    return F.channel_shuffle(concat([left, right], axis=1), 2)


class InvertedResidual(nn.Layer):
    """Half of the channels go through three convolutions. Shapes: x [N, C, H, W] -> the same."""

    def __init__(self, channels: int, activation: Any) -> None:
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNormActivation(half, half, 1, activation_layer=activation)
        self._conv_dw = ConvNormActivation(half, half, 3, groups=half, activation_layer=None)
        self._conv_linear = ConvNormActivation(half, half, 1, activation_layer=activation)

    def forward(self, inputs: Tensor) -> Tensor:
        half = inputs.shape[1] // 2
        left, right = inputs[:, :half], inputs[:, half:]
        return _shuffled(left, self._conv_linear(self._conv_dw(self._conv_pw(right))))


class InvertedResidualDS(nn.Layer):
    """Two branches, both of stride 2. Shapes: x [N, C, H, W] -> [N, O, H / 2, W / 2]."""

    def __init__(self, inputs: int, outputs: int, activation: Any) -> None:
        super().__init__()
        half = outputs // 2
        self._conv_dw_1 = ConvNormActivation(inputs, inputs, 3, 2, groups=inputs, activation_layer=None)
        self._conv_linear_1 = ConvNormActivation(inputs, half, 1, activation_layer=activation)
        self._conv_pw_2 = ConvNormActivation(inputs, half, 1, activation_layer=activation)
        self._conv_dw_2 = ConvNormActivation(half, half, 3, 2, groups=half, activation_layer=None)
        self._conv_linear_2 = ConvNormActivation(half, half, 1, activation_layer=activation)

    def forward(self, inputs: Tensor) -> Tensor:
        left = self._conv_linear_1(self._conv_dw_1(inputs))
        right = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return _shuffled(left, right)


class ShuffleNetV2(nn.Layer):
    """A network that mixes its channels by shuffling them. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Ma et al. 2018, arXiv:1807.11164, table 5.

    Args:
        scale (float): 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0. Default: 1.0.
        act (str, optional): "relu" or "swish"; None for no activation. Default: "relu".
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.

    Raises:
        NotImplementedError: the scale is not known. RuntimeError: the activation is not known.

    Examples:
        >>> net = paddle.vision.models.ShuffleNetV2(scale=0.25, num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        if scale not in _CHANNELS:
            raise NotImplementedError(
                errors.message("Unimplemented", "ShuffleNetV2: the scale is not known.", f"{[*_CHANNELS]}", f"{scale}")
            )
        if act not in _ACTIVATIONS:
            raise errors.precondition(
                "ShuffleNetV2: the activation is not known.", expected=f"{[*_ACTIVATIONS]}", received=f"act: {act!r}"
            )
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        first, stages, last = _CHANNELS[scale]
        activation = _ACTIVATIONS[act]
        self._conv1 = ConvNormActivation(3, first, 3, 2, activation_layer=activation)
        self._max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._block_list = []
        inputs = first
        for stage, (outputs, count) in enumerate(zip(stages, _REPEATS), 2):
            for i in range(1, count + 1):
                block = (
                    InvertedResidual(outputs, activation) if i > 1 else InvertedResidualDS(inputs, outputs, activation)
                )
                self._block_list.append(self.add_sublayer(f"{stage}_{i}", block))
            inputs = outputs
        self._last_conv = ConvNormActivation(inputs, last, 1, activation_layer=activation)
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        return self._fc(x.flatten(1)) if self.num_classes > 0 else x


def _shufflenet(name: str, scale: float, act: str, pretrained: bool, kwargs: dict[str, Any]) -> ShuffleNetV2:
    check_pretrained(name, pretrained)
    return ShuffleNetV2(scale=scale, act=act, **kwargs)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.25; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x0_25", 0.25, "relu", pretrained, kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.33; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x0_33", 0.33, "relu", pretrained, kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.5; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x0_5", 0.5, "relu", pretrained, kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1.0; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x1_0", 1.0, "relu", pretrained, kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1.5; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x1_5", 1.5, "relu", pretrained, kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 2.0; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_x2_0", 2.0, "relu", pretrained, kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1.0 with the swish activation; kwargs are those of `ShuffleNetV2`."""
    return _shufflenet("shufflenet_v2_swish", 1.0, "swish", pretrained, kwargs)
