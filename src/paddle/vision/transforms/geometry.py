"""Transforms that turn, shear and cover images, by numbers drawn from the generators of Python and numpy."""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from . import functional as F
from .base import BaseTransform, angles, check_probability, check_sequence, require

__all__ = ["RandomAffine", "RandomErasing", "RandomPerspective", "RandomRotation"]

_INTERPOLATIONS = ("nearest", "bilinear", "bicubic")


class RandomAffine(BaseTransform):
    """An image turned, moved, scaled and sheared at random; see `affine`.

    Args:
        degrees (float|list): Bounds of the angle, or a number d for [-d, d]: degrees.
        translate (list of float, optional): How far at most to either side, of width and height: in [0, 1].
        scale (list of float, optional): Bounds of the scale.
        shear (float|list, optional): Bounds of the shear along x, and two more for that along y, or a number s for
            [-s, s] along x: degrees.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        fill (number|list, optional): What lies outside. Default: 0.
        center (list of float, optional): x and y from the upper left corner: pixels. Default: the middle.
        keys (list of str, optional): See BaseTransform.

    Raises:
        TypeError, ValueError: bounds that are no sequence, of a wrong length, or out of range. AssertionError: no such
            interpolation.

    Examples:
        >>> paddle.vision.transforms.RandomAffine(10, [0.1, 0.1])(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Sequence[float] | None = None,
        keys: Sequence[str] | None = None,
    ):
        self.degrees = angles(degrees, "degrees")
        super().__init__(keys)
        require(interpolation in _INTERPOLATIONS, "RandomAffine: no such interpolation.", repr(interpolation))
        for name, value, low, high in (("translate", translate, 0.0, 1.0), ("scale", scale, None, math.inf)):
            if value is None:
                continue
            check_sequence(value, name, (2,))
            if any(v > high or (v <= 0 if low is None else v < low) for v in value):
                raise errors.invalid_argument(f"RandomAffine: {name} is out of range.", received=f"{value!r}")
        if not isinstance(0 if fill is None else fill, (Sequence, numbers.Number)):
            raise errors.invalid_type("RandomAffine: fill is no number and no sequence.", received=f"{fill!r}")
        if center is not None:
            check_sequence(center, "center", (2,))
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.interpolation, self.fill, self.center = interpolation, 0 if fill is None else fill, center

    def _get_param(self, size: Sequence[int]) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Angle, translation, scale and shear for an image of this width and height."""
        angle = random.uniform(*self.degrees)
        move = (0, 0)
        if self.translate is not None:
            far = [float(t * n) for t, n in zip(self.translate, size)]
            move = (int(random.uniform(-far[0], far[0])), int(random.uniform(-far[1], far[1])))
        scale = 1.0 if self.scale is None else random.uniform(*self.scale)
        shear = self.shear or [0.0, 0.0]
        along_x = random.uniform(*shear[:2]) if self.shear is not None else 0.0
        along_y = random.uniform(*shear[2:]) if len(shear) == 4 else 0.0
        return angle, move, scale, (along_x, along_y)

    def _apply_image(self, image: Any) -> Any:
        param = self._get_param(F._get_image_size(image))
        return F.affine(image, *param, interpolation=self.interpolation, fill=self.fill, center=self.center)


class RandomRotation(BaseTransform):
    """An image turned at random; see `rotate`.

    Args:
        degrees (float|list): Bounds of the angle, or a number d for [-d, d]: degrees.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        expand (bool): Make the result large enough for the whole image. Default: False.
        center (list of float, optional): x and y from the upper left corner: pixels. Default: the middle.
        fill (number|list): What lies outside. Default: 0.
        keys (list of str, optional): See BaseTransform.

    Raises:
        ValueError: a negative number, or not two bounds.

    Examples:
        >>> paddle.vision.transforms.RandomRotation(30)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
        keys: Sequence[str] | None = None,
    ):
        if isinstance(degrees, numbers.Number):
            low, high = angles(degrees, "degrees")
            self.degrees: Sequence[float] = (low, high)
        else:
            check_sequence(degrees, "degrees", (2,))
            self.degrees = degrees
        super().__init__(keys)
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _apply_image(self, image: Any) -> Any:
        angle = random.uniform(*self.degrees)
        return F.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomPerspective(BaseTransform):
    """An image seen from a random place; see `perspective`.

    Args:
        prob (float): How often. Default: 0.5.
        distortion_scale (float): How far the corners move at most, of half the width and height: in [0, 1].
            Default: 0.5.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        fill (number|list): What lies outside. Default: 0.
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: an argument is out of range or of a wrong type.

    Examples:
        >>> paddle.vision.transforms.RandomPerspective(1.0)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        check_probability(prob, "RandomPerspective")
        require(
            0 <= distortion_scale <= 1, "RandomPerspective: distortion_scale is outside [0, 1].", f"{distortion_scale}"
        )
        require(interpolation in _INTERPOLATIONS, "RandomPerspective: no such interpolation.", repr(interpolation))
        require(isinstance(fill, (numbers.Number, str, list, tuple)), "RandomPerspective: wrong fill.", repr(fill))
        self.prob, self.distortion_scale, self.interpolation, self.fill = prob, distortion_scale, interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[list[list[int]], list[list[int]]]:
        """The corners of an image, from the upper left one clockwise, and random points near them.

        Args:
            width (int), height (int): Of the image: pixels.
            distortion_scale (float): See the class.

        Returns:
            tuple: startpoints and endpoints for `perspective`.

        Examples:
            >>> paddle.vision.transforms.RandomPerspective().get_params(9, 5, 0.0)[0]
            [[0, 0], [8, 0], [8, 4], [0, 4]]
        """
        far_x, far_y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))

        def near(low: int, high: int) -> int:
            return int(random.uniform(low, high))

        end = []
        for right, below in ((False, False), (True, False), (True, True), (False, True)):
            x = near(width - far_x - 1, width) if right else near(0, far_x + 1)
            y = near(height - far_y - 1, height) if below else near(0, far_y + 1)
            end.append([x, y])
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], end

    def _apply_image(self, image: Any) -> Any:
        size = F._get_image_size(image)
        if random.random() >= self.prob:
            return image
        start, end = self.get_params(*size, self.distortion_scale)
        return F.perspective(image, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """An image with a random rectangle covered.

    Source: Zhong et al. 2017, arXiv:1708.04896.

    Args:
        prob (float): How often. Default: 0.5.
        scale (list of float): Bounds of the rectangle's area, of that of the image. Default: (0.02, 0.33).
        ratio (list of float): Bounds of the rectangle's height over its width. Default: (0.3, 3.3).
        value (number|list|str): Its value, or one for each of three channels, or "random" for normal noise. Default: 0.
        inplace (bool): Change the array or Tensor itself. Default: False.
        keys (list of str, optional): See BaseTransform.

    Raises:
        AssertionError: an argument is out of range or of a wrong type. ValueError: value is another word, or has
            neither 1 nor 3 numbers (when called).

    Examples:
        >>> paddle.vision.transforms.RandomErasing(1.0)(np.zeros((6, 8, 3), "uint8")).shape
        (6, 8, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        inplace: bool = False,
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        for name, pair, most in (("scale", scale, 1), ("ratio", ratio, math.inf)):
            require(isinstance(pair, (tuple, list)), f"RandomErasing: {name} is no tuple or list.", repr(pair))
            require(0 <= pair[0] <= pair[1] <= most, f"RandomErasing: {name} is out of range.", repr(pair))
        check_probability(prob, "RandomErasing")
        require(isinstance(value, (numbers.Number, str, tuple, list)), "RandomErasing: wrong value.", repr(value))
        if isinstance(value, str) and value != "random":
            raise errors.invalid_argument("RandomErasing: no such value.", expected="'random'", received=repr(value))
        self.prob, self.scale, self.ratio, self.value, self.inplace = prob, scale, ratio, value, inplace

    def _get_param(self, image: Any, value: Sequence[float] | None) -> tuple[int, int, int, int, Any] | None:
        """Top, left, height, width and contents of the rectangle; None if none fits in ten attempts."""
        width, height = F._get_image_size(image)
        bounds = np.log(self.ratio)
        for _ in range(10):
            area = np.random.uniform(*self.scale) * height * width
            ratio = np.exp(np.random.uniform(*bounds))
            h, w = int(round(np.sqrt(area * ratio))), int(round(np.sqrt(area / ratio)))
            if h >= height or w >= width:
                continue
            contents = _contents(image, value, h, w)
            top, left = np.random.randint(0, height - h + 1), np.random.randint(0, width - w + 1)
            return int(top), int(left), h, w, contents
        return None

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        value: Any = [self.value] if isinstance(self.value, numbers.Number) else self.value
        value = None if isinstance(value, str) else value
        if value is not None and len(value) not in (1, 3):
            raise errors.invalid_argument(
                "RandomErasing: value does not fit the channels.", expected="1 or 3 numbers", received=f"{value!r}"
            )
        found = self._get_param(image, value)
        return image if found is None else F.erase(image, *found, self.inplace)


def _contents(image: Any, value: Sequence[float] | None, h: int, w: int) -> Any:
    """Values for a rectangle of an image; noise for None."""
    if F._is_tensor_image(image):
        import paddle

        if value is None:
            return paddle.normal(shape=[image.shape[-3], h, w]).astype(image.dtype)
        return paddle.to_tensor(np.reshape(value, (-1, 1, 1)), dtype=image.dtype)
    shape = np.shape(image)[2:]  # () for a gray image
    if value is None:
        return np.random.normal(size=(h, w, *shape)) * 255
    return np.reshape(value, (1, 1, -1)) if shape else value[0]
