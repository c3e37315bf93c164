"""Networks for images. A family is loaded when one of its names is first used."""

from __future__ import annotations

import importlib
from typing import Any

from .alexnet import AlexNet, alexnet  # these two families have a function of the module's name
from .googlenet import GoogLeNet, googlenet
from .lenet import LeNet

_FAMILIES = {
    "densenet": "DenseNet densenet121 densenet161 densenet169 densenet201 densenet264",
    "inceptionv3": "InceptionV3 inception_v3",
    "mobilenetv1": "MobileNetV1 mobilenet_v1",
    "mobilenetv2": "MobileNetV2 mobilenet_v2",
    "mobilenetv3": "MobileNetV3Large MobileNetV3Small mobilenet_v3_large mobilenet_v3_small",
    "resnet": """ResNet resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d resnext50_64x4d
        resnext101_32x4d resnext101_64x4d resnext152_32x4d resnext152_64x4d wide_resnet50_2 wide_resnet101_2""",
    "shufflenetv2": """ShuffleNetV2 shufflenet_v2_swish shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5
        shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0""",
    "squeezenet": "SqueezeNet squeezenet1_0 squeezenet1_1",
    "vgg": "VGG vgg11 vgg13 vgg16 vgg19",
}
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}

__all__ = ["AlexNet", "GoogLeNet", "LeNet", "alexnet", "googlenet", *_HOMES]


def __getattr__(name: str) -> Any:
    family = _HOMES.get(name)
    if family is None:
        if name in _FAMILIES:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{family}")
    for known in _FAMILIES[family].split():
        globals()[known] = getattr(module, known)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FAMILIES})
