"""Transforms of images."""

from . import functional
from .functional import center_crop, crop, hflip, normalize, resize, to_tensor, vflip
from .transforms import (
    BaseTransform,
    CenterCrop,
    Compose,
    Normalize,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Resize,
    ToTensor,
    Transpose,
)

__all__ = [
    "BaseTransform",
    "CenterCrop",
    "Compose",
    "Normalize",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Resize",
    "ToTensor",
    "Transpose",
    "center_crop",
    "crop",
    "hflip",
    "normalize",
    "resize",
    "to_tensor",
    "vflip",
]
