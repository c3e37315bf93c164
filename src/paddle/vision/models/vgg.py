"""VGG: stacks of 3x3 convolutions."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["VGG", "vgg11", "vgg13", "vgg16", "vgg19"]

_COUNTS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_CHANNELS = (64, 128, 256, 512, 512)


class VGG(nn.Layer):
    """Convolutions followed by three linear layers. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: Simonyan and Zisserman 2015, arXiv:1409.1556.

    Args:
        features (Layer): makes [N, 512, H', W'] of the images.
        num_classes (int): Size of the output; 0 leaves the linear layers out. Default: 1000.
        with_pool (bool): False leaves the pooling to 7x7 out, so that H' and W' have to be 7. Default: True.

    Examples:
        >>> net = paddle.vision.models.vgg11(num_classes=0)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 512, 7, 7])
    """

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(x.flatten(1)) if self.num_classes > 0 else x


def _features(depth: int, batch_norm: bool) -> nn.Sequential:
    layers: list[nn.Layer] = []
    inputs = 3
    for outputs, count in zip(_CHANNELS, _COUNTS[depth]):
        for _ in range(count):
            layers.append(nn.Conv2D(inputs, outputs, kernel_size=3, padding=1))
            if batch_norm:
                layers.append(nn.BatchNorm2D(outputs))
            layers.append(nn.ReLU())
            inputs = outputs
        layers.append(nn.MaxPool2D(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


def _vgg(depth: int, pretrained: bool, batch_norm: bool, kwargs: dict[str, Any]) -> VGG:
    check_pretrained(f"vgg{depth}", pretrained)
    return VGG(_features(depth, batch_norm), **kwargs)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers that have weights; kwargs are those of `VGG`."""
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers that have weights; kwargs are those of `VGG`."""
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers that have weights; kwargs are those of `VGG`."""
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers that have weights; kwargs are those of `VGG`."""
    return _vgg(19, pretrained, batch_norm, kwargs)
