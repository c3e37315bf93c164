"""Residual networks: ResNet, ResNeXt and the wide ones."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...engine import errors
from ...tensor.tensor import Tensor
from ._blocks import check_pretrained

__all__ = ["ResNet", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "resnext101_32x4d",
           "resnext101_64x4d", "resnext152_32x4d", "resnext152_64x4d", "resnext50_32x4d", "resnext50_64x4d",
           "wide_resnet101_2", "wide_resnet50_2"]  # fmt: skip

_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _conv(inputs: int, outputs: int, size: int, **settings: Any) -> nn.Conv2D:
    return nn.Conv2D(inputs, outputs, size, bias_attr=False, **settings)


class BasicBlock(nn.Layer):
    """Two 3x3 convolutions beside a shortcut. Shapes: x [N, inplanes, H, W] -> [N, planes, H / stride, W / stride].

    Args:
        inplanes (int), planes (int): channels before and after.
        stride (int): of the first convolution. Default: 1.
        downsample (Layer, optional): on the shortcut, where shapes differ. Default: None.
        groups (int), base_width (int): not used; for `BottleneckBlock`.
        dilation (int): 1. norm_layer (type, optional): Default: nn.BatchNorm2D.

    Raises:
        NotImplementedError: dilation is more than 1.
    """

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Layer | None = None,
                 groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: Any = None) -> None:  # fmt: skip
        super().__init__()
        if dilation > 1:
            raise NotImplementedError(f"(Unimplemented) BasicBlock: its convolutions have no dilation: {dilation}")
        norm = norm_layer or nn.BatchNorm2D
        self.conv1 = _conv(inplanes, planes, 3, stride=stride, padding=1)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = _conv(planes, planes, 3, padding=1)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        inner = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(inner + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut. Shapes: x [N, inplanes, H, W] -> [N, 4 * planes, H', W'].

    Args:
        inplanes (int): channels before. planes (int): a quarter of those after.
        stride (int): of the 3x3 convolution. Default: 1.
        downsample (Layer, optional): on the shortcut, where shapes differ. Default: None.
        groups (int): of the 3x3 convolution. Default: 1. base_width (int): its channels per group at 64 planes.
        dilation (int): of the 3x3 convolution. Default: 1. norm_layer (type, optional): Default: nn.BatchNorm2D.
    """

    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Layer | None = None,
                 groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: Any = None) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = _conv(inplanes, width, 1)
        self.bn1 = norm(width)
        self.conv2 = _conv(width, width, 3, stride=stride, padding=dilation, groups=groups, dilation=dilation)
        self.bn2 = norm(width)
        self.conv3 = _conv(width, planes * self.expansion, 1)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        inner = self.relu(self.bn1(self.conv1(x)))
        inner = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(inner)))))
        return self.relu(inner + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Layer):
    """A residual network. Shapes: x [N, 3, H, W] -> [N, num_classes].

    Source: He, Zhang, Ren and Sun 2016, arXiv:1512.03385; with groups, Xie et al. 2017, arXiv:1611.05431; with more
    width, Zagoruyko and Komodakis 2016, arXiv:1605.07146. The stride is that of the 3x3 convolution.

    Args:
        block (type): BasicBlock or BottleneckBlock.
        depth (int): 18, 34, 50, 101 or 152. Default: 50.
        width (int): channels per group in a block, at 64 planes. Default: 64.
        num_classes (int): Size of the output; 0 leaves the linear layer out. Default: 1000.
        with_pool (bool): False leaves the pooling at the end out. Default: True.
        groups (int): of the 3x3 convolutions. Default: 1.

    Raises:
        KeyError: the depth is not known.

    Examples:
        >>> from paddle.vision.models.resnet import BasicBlock
        >>> net = paddle.vision.models.ResNet(BasicBlock, 18, num_classes=5)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 5])
    """

    def __init__(self, block: Any, depth: int = 50, width: int = 64, num_classes: int = 1000, with_pool: bool = True,
                 groups: int = 1) -> None:  # fmt: skip
        super().__init__()
        if depth not in _DEPTHS:
            raise KeyError(errors.message("InvalidArgument", f"ResNet: depth is not known: {depth!r}", f"{[*_DEPTHS]}"))
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inplanes, self.dilation = 64, 1
        self.conv1 = _conv(3, 64, 7, stride=2, padding=3)
        self.bn1 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for i, count in enumerate(_DEPTHS[depth]):
            setattr(self, f"layer{i + 1}", self._stage(block, 64 << i, count, 1 if i == 0 else 2))
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _stage(self, block: Any, planes: int, count: int, stride: int) -> nn.Sequential:
        """`count` blocks, of which the first has the stride."""
        outputs = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != outputs:
            downsample = nn.Sequential(_conv(self.inplanes, outputs, 1, stride=stride), nn.BatchNorm2D(outputs))
        blocks = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width)]
        self.inplanes = outputs
        blocks += [block(outputs, planes, 1, None, self.groups, self.base_width) for _ in range(count - 1)]
        return nn.Sequential(*blocks)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x


def _resnet(name: str, block: Any, depth: int, pretrained: bool, kwargs: dict[str, Any]) -> ResNet:
    check_pretrained(name, pretrained)
    return ResNet(block, depth, **kwargs)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 18 layers; kwargs are those of `ResNet`."""
    return _resnet("resnet18", BasicBlock, 18, pretrained, kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 34 layers; kwargs are those of `ResNet`."""
    return _resnet("resnet34", BasicBlock, 34, pretrained, kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers; kwargs are those of `ResNet`."""
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers; kwargs are those of `ResNet`."""
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 152 layers; kwargs are those of `ResNet`."""
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers and 32 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext50_32x4d", BottleneckBlock, 50, pretrained, {"groups": 32, "width": 4, **kwargs})


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers and 64 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext50_64x4d", BottleneckBlock, 50, pretrained, {"groups": 64, "width": 4, **kwargs})


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers and 32 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext101_32x4d", BottleneckBlock, 101, pretrained, {"groups": 32, "width": 4, **kwargs})


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers and 64 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext101_64x4d", BottleneckBlock, 101, pretrained, {"groups": 64, "width": 4, **kwargs})


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers and 32 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext152_32x4d", BottleneckBlock, 152, pretrained, {"groups": 32, "width": 4, **kwargs})


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers and 64 groups of 4 channels; kwargs are those of `ResNet`."""
    return _resnet("resnext152_64x4d", BottleneckBlock, 152, pretrained, {"groups": 64, "width": 4, **kwargs})


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """Wide ResNet with 50 layers, twice as wide inside its blocks; kwargs are those of `ResNet`."""
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, {"width": 128, **kwargs})


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """Wide ResNet with 101 layers, twice as wide inside its blocks; kwargs are those of `ResNet`."""
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, {"width": 128, **kwargs})
