"""Transforms as objects, to be composed. Random ones draw from the generators of Python and numpy, as upstream."""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from . import functional as F
from ._arguments import PAD_MODES, height_and_width
from .base import BaseTransform, Compose, check_probability, require
from .color import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    Grayscale,
    HueTransform,
    SaturationTransform,
)
from .geometry import RandomAffine, RandomErasing, RandomPerspective, RandomRotation

__all__ = [
    "BaseTransform",
    "BrightnessTransform",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ContrastTransform",
    "Grayscale",
    "HueTransform",
    "Normalize",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "SaturationTransform",
    "ToTensor",
    "Transpose",
]


class ToTensor(BaseTransform):
    """An image as a Tensor; bytes are scaled to [0, 1]. See `to_tensor`.

    Args:
        data_format (str): "CHW" or "HWC". Default: "CHW".
        keys (list of str, optional): See BaseTransform.

    Examples:
        >>> paddle.vision.transforms.ToTensor()(np.full((2, 4, 3), 255, "uint8")).shape
        paddle.Size([3, 2, 4])
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """(image - mean) / std, channel by channel; see `normalize`.

    Args:
        mean (float|list), std (float|list): For three channels, or one number per channel.
        data_format (str): "CHW" or "HWC". Default: "CHW".
        to_rgb (bool): Turn the channels of an array around first. Default: False.
        keys (list of str, optional): See BaseTransform.

    Examples:
        >>> normalize = paddle.vision.transforms.Normalize(127.5, 127.5, data_format="HWC")
        >>> normalize(np.array([[[0, 255, 0]]], "uint8")).tolist()
        [[[-1.0, 1.0, -1.0]]]
    """

    def __init__(
        self,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, numbers.Number) else mean
        self.std = [std] * 3 if isinstance(std, numbers.Number) else std
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """An image as an array with its axes in another order.

    Args:
        order (list of int): Default: (2, 0, 1), from [H, W, C] to [C, H, W]. A gray image [H, W] is [H, W, 1].
        keys (list of str, optional): See BaseTransform.

    Examples:
        >>> paddle.vision.transforms.Transpose()(np.zeros((4, 5, 3), "uint8")).shape
        (3, 4, 5)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        if F._is_tensor_image(image):
            return image.transpose(self.order)
        a = np.asarray(image)
        return (a[..., None] if a.ndim == 2 else a).transpose(self.order)


class Resize(BaseTransform):
    """An image in another size; see `resize`.

    Args:
        size (int|list): [height, width], or the length of the shorter side; then the proportions stay.
        interpolation (str): Default: "bilinear".
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: size is neither.

    Examples:
        >>> paddle.vision.transforms.Resize(3)(np.zeros((6, 8, 3), "uint8")).shape
        (3, 4, 3)
    """

    def __init__(self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None):
        super().__init__(keys)
        fits = isinstance(size, numbers.Integral) or (isinstance(size, Iterable) and len(size) == 2)
        require(fits, "Resize: size is neither a number nor a pair.", repr(size))
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of an image; see `center_crop`.

    Args:
        size (int|list): Height and width, or both in one number: pixels.
        keys (list of str, optional): See BaseTransform.

    Examples:
        >>> paddle.vision.transforms.CenterCrop(4)(np.zeros((6, 8, 3), "uint8")).shape
        (4, 4, 3)
    """

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.size = _pair(size)

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class RandomCrop(BaseTransform):
    """A part of an image from a random place.

    Args:
        size (int|list): Height and width of the part, or both in one number: pixels.
        padding (int|list, optional): Margins that are added first; see `pad`. Default: None.
        pad_if_needed (bool): Add margins to an image that is too small. Default: False.
        fill (number|list): See `pad`. Default: 0.
        padding_mode (str): See `pad`. Default: "constant".
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: the image is too small, when called.

    Examples:
        >>> paddle.vision.transforms.RandomCrop(6, padding=1)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 6, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        self.size = _pair(size)
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _get_param(self, image: Any, output_size: Sequence[int]) -> tuple[int, int, int, int]:
        """Top, left, height and width."""
        width, height = F._get_image_size(image)
        h, w = height_and_width(output_size, "RandomCrop")
        if (height, width) == (h, w):
            return 0, 0, height, width
        if height < h or width < w:
            raise errors.invalid_argument(
                "RandomCrop: the image is smaller than the part.",
                expected=f"at least {h} x {w} pixels",
                received=f"{height} x {width}",
                hint="pass pad_if_needed=True, or padding.",
            )
        return random.randint(0, height - h), random.randint(0, width - w), h, w

    def _apply_image(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        width, height = F._get_image_size(image)
        h, w = height_and_width(self.size, "RandomCrop")
        if self.pad_if_needed and width < w:
            image = F.pad(image, (w - width, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and height < h:
            image = F.pad(image, (0, h - height), self.fill, self.padding_mode)
        return F.crop(image, *self._get_param(image, self.size))


class RandomResizedCrop(BaseTransform):
    """A part of an image of random size, shape and place, brought to a given size.

    Source: Szegedy et al. 2014, arXiv:1409.4842, section 6.

    Args:
        size (int|list): Height and width of the result, or both in one number: pixels.
        scale (list of float): Bounds of the part's area, of that of the image. Default: (0.08, 1.0).
        ratio (list of float): Bounds of the part's width over its height. Default: (3/4, 4/3).
        interpolation (str): See `resize`. Default: "bilinear".
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: bounds in a wrong order.

    Examples:
        >>> paddle.vision.transforms.RandomResizedCrop(4)(np.zeros((6, 8, 3), "uint8")).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        self.size = _pair(size)
        require(scale[0] <= scale[1], "RandomResizedCrop: scale is not (least, greatest).", f"{scale}")
        require(ratio[0] <= ratio[1], "RandomResizedCrop: ratio is not (least, greatest).", f"{ratio}")
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _get_param(self, image: Any, attempts: int = 10) -> tuple[int, int, int, int]:
        """Top, left, height and width: random ones that fit, or else the middle."""
        width, height = F._get_image_size(image)
        area = height * width
        bounds = [math.log(r) for r in self.ratio]
        for _ in range(attempts):
            wanted = np.random.uniform(*self.scale) * area
            ratio = math.exp(np.random.uniform(*bounds))
            w, h = int(round(math.sqrt(wanted * ratio))), int(round(math.sqrt(wanted / ratio)))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        ratio = min(max(width / height, min(self.ratio)), max(self.ratio))
        w, h = min(width, int(round(height * ratio))), min(height, int(round(width / ratio)))
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, image: Any) -> Any:
        return F.resize(F.crop(image, *self._get_param(image)), self.size, self.interpolation)


class RandomHorizontalFlip(BaseTransform):
    """Exchanges left and right at random.

    Args:
        prob (float): How often. Default: 0.5.
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: prob is outside [0, 1].

    Examples:
        >>> paddle.vision.transforms.RandomHorizontalFlip(1.0)(np.array([[1, 2]], "uint8")).tolist()
        [[2, 1]]
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None):
        super().__init__(keys)
        check_probability(prob, "RandomHorizontalFlip")
        self.prob = prob

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if random.random() < self.prob else image


class RandomVerticalFlip(BaseTransform):
    """Exchanges top and bottom at random.

    Args:
        prob (float): How often. Default: 0.5.
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: prob is outside [0, 1].

    Examples:
        >>> paddle.vision.transforms.RandomVerticalFlip(1.0)(np.array([[1], [2]], "uint8")).tolist()
        [[2], [1]]
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None):
        super().__init__(keys)
        check_probability(prob, "RandomVerticalFlip")
        self.prob = prob

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if random.random() < self.prob else image


class Pad(BaseTransform):
    """An image with margins; see `pad`.

    Args:
        padding (int|list): Pixels: on all sides, or [left and right, top and bottom], or [left, top, right, bottom].
        fill (number|list|str): The value of the margins with "constant". Default: 0.
        padding_mode (str): "constant", "edge", "reflect" or "symmetric". Default: "constant".
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: an argument has a wrong type, or there is no such mode. ValueError: padding has a wrong length.

    Examples:
        >>> paddle.vision.transforms.Pad(1)(np.zeros((6, 8, 3), "uint8")).shape
        (8, 10, 3)
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ):
        types = (numbers.Number, list, tuple)
        require(isinstance(padding, types), "Pad: padding has a wrong type.", repr(padding))
        require(isinstance(fill, (*types, str)), "Pad: fill has a wrong type.", repr(fill))
        require(padding_mode in PAD_MODES, "Pad: no such padding_mode.", repr(padding_mode))
        if isinstance(padding, Sequence) and len(padding) not in (2, 4):
            raise errors.invalid_argument(
                "Pad: padding has a wrong length.", expected="a number, 2 or 4 numbers", received=repr(padding)
            )
        super().__init__(keys)
        self.padding = tuple(padding) if isinstance(padding, list) else padding
        self.fill = tuple(fill) if isinstance(fill, list) else fill
        self.padding_mode = padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


def _pair(size: Any) -> Any:
    return (int(size), int(size)) if isinstance(size, numbers.Number) else size  # type: ignore[call-overload]
