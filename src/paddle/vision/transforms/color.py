"""Transforms of colours, by factors that are drawn from Python's generator."""

from __future__ import annotations

import numbers
import random
from collections.abc import Sequence
from typing import Any

from ...engine import errors
from . import functional as F
from .base import BaseTransform, Compose

__all__ = [
    "BrightnessTransform",
    "ColorJitter",
    "ContrastTransform",
    "Grayscale",
    "HueTransform",
    "SaturationTransform",
]


def _bounds(
    value: Any, name: str, center: float = 1, least: float = 0, most: float = float("inf")
) -> list[float] | tuple[float, ...] | None:
    """What factors are drawn between; None if only the factor that changes nothing is.

    A number stands for center - value and center + value, of which the first is at least 0 unless center is.
    """
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise errors.invalid_argument(f"{name}: a single number is negative.", received=f"{value!r}")
        low = center - value  # type: ignore[operator]
        value = [max(low, 0) if center else low, center + value]  # type: ignore[operator]
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        if not least <= value[0] <= value[1] <= most:
            raise errors.invalid_argument(
                f"{name}: bounds are out of range, or in a wrong order.",
                expected=f"{least} <= value[0] <= value[1] <= {most}",
                received=f"{value!r}",
            )
    else:
        raise errors.invalid_type(f"{name}: no number, and no pair.", received=f"{value!r}")
    return None if value[0] == value[1] == center else value


class BrightnessTransform(BaseTransform):
    """Another brightness; see `adjust_brightness`.

    Args:
        value (float|list): Bounds of the factor, or a number v for [max(0, 1 - v), 1 + v].
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or bounds in a wrong order. TypeError: neither a number nor a pair.

    Examples:
        >>> paddle.vision.transforms.BrightnessTransform([2, 2])(np.array([[10]], "uint8")).tolist()
        [[20]]
    """

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.value = _bounds(value, "brightness")

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else F.adjust_brightness(image, random.uniform(*self.value))


class ContrastTransform(BaseTransform):
    """Another contrast; see `adjust_contrast`.

    Args:
        value (float|list): Bounds of the factor, or a number v for [max(0, 1 - v), 1 + v].
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or bounds in a wrong order. TypeError: neither a number nor a pair.

    Examples:
        >>> paddle.vision.transforms.ContrastTransform([2, 2])(np.array([[84]], "uint8")).tolist()
        [[94]]
    """

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.value = _bounds(value, "contrast")

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else F.adjust_contrast(image, random.uniform(*self.value))


class SaturationTransform(BaseTransform):
    """Another saturation; see `adjust_saturation`.

    Args:
        value (float|list): Bounds of the factor, or a number v for [max(0, 1 - v), 1 + v].
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or bounds in a wrong order. TypeError: neither a number nor a pair.

    Examples:
        >>> paddle.vision.transforms.SaturationTransform([0, 0])(np.array([[[255, 0, 0]]], "uint8")).tolist()
        [[[29, 29, 29]]]
    """

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.value = _bounds(value, "saturation")

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else F.adjust_saturation(image, random.uniform(*self.value))


class HueTransform(BaseTransform):
    """Another hue; see `adjust_hue`.

    Args:
        value (float|list): Bounds of the factor, in [-0.5, 0.5], or a number v for [-v, v].
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or bounds that are out of range. TypeError: neither a number nor a pair.

    Examples:
        >>> paddle.vision.transforms.HueTransform([0.5, 0.5])(np.array([[[0, 0, 255]]], "uint8")).tolist()
        [[[252, 255, 0]]]
    """

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.value = _bounds(value, "hue", 0, -0.5, 0.5)

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else F.adjust_hue(image, random.uniform(*self.value))


class ColorJitter(BaseTransform):
    """Another brightness, contrast, saturation and hue, in random order.

    Args:
        brightness (float|list), contrast (float|list), saturation (float|list): Bounds of the factor, or a number v
            for [max(0, 1 - v), 1 + v]. Default: 0.
        hue (float|list): Bounds of the factor, in [-0.5, 0.5], or a number v for [-v, v]. Default: 0.
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or bounds that are out of range. TypeError: neither a number nor a pair.

    Examples:
        >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0,
        contrast: float | Sequence[float] = 0,
        saturation: float | Sequence[float] = 0,
        hue: float | Sequence[float] = 0,
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue
        self._parts = [
            kind(value, keys)
            for kind, value in (
                (BrightnessTransform, brightness),
                (ContrastTransform, contrast),
                (SaturationTransform, saturation),
                (HueTransform, hue),
            )
            if value is not None
        ]

    def _apply_image(self, image: Any) -> Any:
        parts = list(self._parts)
        random.shuffle(parts)
        return Compose(parts)(image)


class Grayscale(BaseTransform):
    """A gray image; see `to_grayscale`.

    Args:
        num_output_channels (int): 1, or 3 equal ones. Default: 1.
        keys (list of str, optional): See BaseTransform.

    Examples:
        >>> paddle.vision.transforms.Grayscale(3)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)
