"""Functions of images: PIL images, arrays [H, W] or [H, W, C], and Tensors [C, H, W] or [N, C, H, W].

Each function works on the kind of image that it is given and gives that kind back. Where interpolation is asked for,
arrays are treated as OpenCV would (it is not needed), PIL images by Pillow.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from . import functional_cv2 as of_array
from . import functional_pil as of_pil
from . import functional_tensor as of_tensor

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "affine",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "perspective",
    "resize",
    "rotate",
    "to_grayscale",
    "to_tensor",
    "vflip",
]

Image = Any  # a PIL image, an array or a Tensor


def _is_pil_image(img: Any) -> bool:
    pil = sys.modules.get("PIL.Image")  # who has such an image has loaded it
    return pil is not None and isinstance(img, pil.Image)


def _is_tensor_image(img: Any) -> bool:
    return isinstance(img, Tensor)


def _is_numpy_image(img: Any) -> bool:
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def _kind(img: Any, function: str) -> Any:
    """The module that has the functions of this kind of image."""
    if isinstance(img, Tensor):
        return of_tensor
    if _is_numpy_image(img):
        return of_array
    if _is_pil_image(img):
        return of_pil
    shape = f" of shape {list(img.shape)}" if isinstance(img, np.ndarray) else ""
    raise errors.invalid_type(
        f"{function}: not an image.",
        expected="PIL image, Tensor, or array with two or three axes",
        received=f"{type(img).__name__}{shape}",
    )


def to_tensor(pic: Image, data_format: str = "CHW") -> Tensor:
    """An image as a Tensor; bytes are scaled to [0, 1].

    Args:
        pic (PIL image|array|Tensor): uint8 becomes float32 in [0, 1]; other types stay. A Tensor [C, H, W] stays as
            it is, but for the order of its axes.
        data_format (str): "CHW" or "HWC", of the result. Default: "CHW".

    Returns:
        Tensor: of three axes.

    Raises:
        TypeError: pic is no image. ValueError: data_format is neither.

    Examples:
        >>> paddle.vision.transforms.to_tensor(np.full((2, 4, 3), 255, "uint8")).shape
        paddle.Size([3, 2, 4])
    """
    return _kind(pic, "to_tensor").to_tensor(pic, data_format)


def resize(img: Image, size: int | Sequence[int], interpolation: str = "bilinear") -> Image:
    """An image in another size.

    Args:
        img (PIL image|array|Tensor): The image.
        size (int|list): [height, width], or the length of the shorter side; then the proportions stay.
        interpolation (str): "nearest", "bilinear", "bicubic"; for PIL images also "box", "lanczos", "hamming", for
            arrays "area", "lanczos", for Tensors "area". Default: "bilinear".

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image, or size is neither. KeyError: no such interpolation (also a ValueError).

    Examples:
        >>> paddle.vision.transforms.resize(np.zeros((6, 8, 3), "uint8"), 3).shape
        (3, 4, 3)
    """
    return _kind(img, "resize").resize(img, size, interpolation)


def pad(img: Image, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Image:
    """An image with margins.

    Args:
        img (PIL image|array|Tensor): The image.
        padding (int|list): Pixels: on all sides, or [left and right, top and bottom], or [left, top, right, bottom].
        fill (number|list|str): With "constant", the value of the margins, or one per channel. As upstream, a number is
            that of the first channel of a PIL image or array, the others get 0; of a Tensor it fills all. A name is
            one of Pillow's colours, for PIL images. Default: 0.
        padding_mode (str): "constant", "edge" (the nearest pixel), "reflect" (mirrored at the outermost pixel) or
            "symmetric" (mirrored at the edge; not for Tensors). Default: "constant".

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image, or an argument has a wrong type. ValueError: padding has a wrong length, or a
            Tensor is given with "symmetric". AssertionError: no such mode.

    Examples:
        >>> paddle.vision.transforms.pad(np.zeros((6, 8, 3), "uint8"), [1, 2]).shape
        (10, 10, 3)
    """
    return _kind(img, "pad").pad(img, padding, fill, padding_mode)


def crop(img: Image, top: int, left: int, height: int, width: int) -> Image:
    """A part of an image.

    Args:
        img (PIL image|array|Tensor): The image.
        top (int), left (int): The upper left corner: pixels.
        height (int), width (int): Pixels. Of an array or Tensor what lies beyond the image is left out; of a PIL image
            it is black.

    Returns:
        Of the kind and dtype of img; a part of an array shares its memory.

    Raises:
        TypeError: img is no image. ValueError: a part of an array or Tensor that starts outside of it.

    Examples:
        >>> paddle.vision.transforms.crop(np.zeros((6, 8, 3), "uint8"), 1, 2, 3, 4).shape
        (3, 4, 3)
    """
    return _kind(img, "crop").crop(img, top, left, height, width)


def center_crop(img: Image, output_size: int | Sequence[int]) -> Image:
    """The middle of an image.

    Args:
        img (PIL image|array|Tensor): The image.
        output_size (int|list): Height and width, or both in one number: pixels.

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image. ValueError: output_size is no size, or larger than an array or Tensor.

    Examples:
        >>> paddle.vision.transforms.center_crop(np.zeros((6, 8, 3), "uint8"), 4).shape
        (4, 4, 3)
    """
    return _kind(img, "center_crop").center_crop(img, output_size)


def hflip(img: Image) -> Image:
    """An image with left and right exchanged.

    Args:
        img (PIL image|array|Tensor): The image.

    Returns:
        Of the kind, shape and dtype of img.

    Raises:
        TypeError: img is no image.

    Examples:
        >>> paddle.vision.transforms.hflip(np.array([[1, 2, 3]], "uint8")).tolist()
        [[3, 2, 1]]
    """
    return _kind(img, "hflip").hflip(img)


def vflip(img: Image) -> Image:
    """An image with top and bottom exchanged.

    Args:
        img (PIL image|array|Tensor): The image.

    Returns:
        Of the kind, shape and dtype of img.

    Raises:
        TypeError: img is no image.

    Examples:
        >>> paddle.vision.transforms.vflip(np.array([[1], [2]], "uint8")).tolist()
        [[2], [1]]
    """
    return _kind(img, "vflip").vflip(img)


def adjust_brightness(img: Image, brightness_factor: float) -> Image:
    """A brighter or darker image.

    Args:
        img (PIL image|array|Tensor): The image; an array is taken as bytes.
        brightness_factor (float): 0 gives black, 1 the image, 2 twice its values. Not negative.

    Returns:
        Of the kind of img, bounded by [0, 255], or by [0, 1] for a floating Tensor.

    Raises:
        TypeError: img is no image. AssertionError: a Tensor with a negative factor, or without 1 or 3 channels.

    Examples:
        >>> paddle.vision.transforms.adjust_brightness(np.array([[10, 200]], "uint8"), 2).tolist()
        [[20, 255]]
    """
    return _kind(img, "adjust_brightness").adjust_brightness(img, brightness_factor)


def adjust_contrast(img: Image, contrast_factor: float) -> Image:
    """An image with stronger or weaker contrast.

    Args:
        img (PIL image|array|Tensor): The image; an array of uint8.
        contrast_factor (float): 0 gives one gray, 1 the image, 2 twice its differences from that gray, which is the
            mean brightness, but 74 for arrays. Not negative.

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image, or an array of another dtype. AssertionError: a Tensor with a negative factor.
        ValueError: a Tensor without 1 or 3 channels.

    Examples:
        >>> paddle.vision.transforms.adjust_contrast(np.array([[64, 84]], "uint8"), 2).tolist()
        [[54, 94]]
    """
    return _kind(img, "adjust_contrast").adjust_contrast(img, contrast_factor)


def adjust_saturation(img: Image, saturation_factor: float) -> Image:
    """An image with stronger or weaker colours.

    Args:
        img (PIL image|array|Tensor): The image; an array [H, W, 3], blue first.
        saturation_factor (float): 0 gives gray, 1 the image, 2 twice its distance from gray. Not negative.

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image. AssertionError: a Tensor with a negative factor. ValueError: an array without 3
            channels, or a Tensor without 1 or 3.

    Examples:
        >>> image = np.array([[[255, 0, 0]]], "uint8")
        >>> paddle.vision.transforms.functional.adjust_saturation(image, 0.0).tolist()
        [[[29, 29, 29]]]
    """
    return _kind(img, "adjust_saturation").adjust_saturation(img, saturation_factor)


def adjust_hue(img: Image, hue_factor: float) -> Image:
    """An image with its colours moved around the circle of hues.

    Args:
        img (PIL image|array|Tensor): The image; an array [H, W, 3], blue first, taken as bytes.
        hue_factor (float): Part of the circle, in [-0.5, 0.5]; 0 gives the image.

    Returns:
        Of the kind and dtype of img. Gray images stay as they are.

    Raises:
        TypeError: img is no image. ValueError: hue_factor is out of range (AssertionError for a Tensor), or there are
            no colours.

    Examples:
        >>> paddle.vision.transforms.adjust_hue(np.array([[[0, 0, 255]]], "uint8"), 0.5).tolist()
        [[[252, 255, 0]]]
    """
    return _kind(img, "adjust_hue").adjust_hue(img, hue_factor)


def to_grayscale(img: Image, num_output_channels: int = 1) -> Image:
    """A gray image.

    Args:
        img (PIL image|array|Tensor): The image, red first.
        num_output_channels (int): 1, or 3 equal ones. Default: 1.

    Returns:
        Of the kind and dtype of img. An array has three axes.

    Raises:
        TypeError: img is no image. ValueError: another number of channels.

    Examples:
        >>> paddle.vision.transforms.to_grayscale(np.array([[[255, 0, 0]]], "uint8")).tolist()
        [[[76]]]
    """
    return _kind(img, "to_grayscale").to_grayscale(img, num_output_channels)


def normalize(
    img: Image, mean: float | Sequence[float], std: float | Sequence[float], data_format: str = "CHW",
    to_rgb: bool = False,
) -> Any:  # fmt: skip
    """(img - mean) / std, channel by channel.

    Args:
        img (PIL image|array|Tensor): The image.
        mean (list of float), std (list of float): One number per channel.
        data_format (str): "CHW" or "HWC", of img. Default: "CHW".
        to_rgb (bool): Turn the channels of an array around first. Default: False.

    Returns:
        Tensor for a Tensor, array for others: float32 for bytes and PIL images.

    Examples:
        >>> paddle.vision.transforms.normalize(np.array([[[0, 255]]], "uint8"), [127.5], [127.5], "HWC").tolist()
        [[[-1.0, 1.0]]]
    """
    if isinstance(img, Tensor):
        return of_tensor.normalize(img, mean, std, data_format)
    a = np.asarray(img, "float32") if _is_pil_image(img) else img
    return of_array.normalize(a, mean, std, data_format, to_rgb)


def erase(img: Image, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Image:
    """An image with a rectangle of another colour.

    Args:
        img (PIL image|array|Tensor): The image.
        i (int), j (int): Top and left of the rectangle: pixels.
        h (int), w (int): Its height and width: pixels.
        v (number|array|Tensor): Its value; an array [H, W, C] or Tensor [C, H, W] is broadcast to it.
        inplace (bool): Change the array or Tensor itself. Default: False.

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image.

    Examples:
        >>> paddle.vision.transforms.erase(np.ones((2, 3), "uint8"), 0, 1, 1, 2, 0).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    return _kind(img, "erase").erase(img, i, j, h, w, v, inplace)


def affine(
    img: Image,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Sequence[float] | None = None,
) -> Image:
    """An image turned, scaled and sheared around a point, then moved.

    Args:
        img (PIL image|array|Tensor): The image.
        angle (float): Degrees, clockwise.
        translate (list of float): To the right and down: pixels.
        scale (float): Above 0.
        shear (float|list): Along x, or along x and y: degrees.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        fill (number|list): What lies outside, for all channels or one per channel. Default: 0.
        center (list of float, optional): x and y from the upper left corner: pixels. Default: the middle.

    Returns:
        Of the kind, shape and dtype of img.

    Raises:
        TypeError: img is no image, or an argument has a wrong type. ValueError: a wrong length, or scale <= 0.

    Examples:
        >>> image = np.array([[1, 2, 3]], "uint8")
        >>> paddle.vision.transforms.affine(image, 0, [1, 0], 1.0, [0, 0]).tolist()
        [[0, 1, 2]]
    """
    kind = _kind(img, "affine")
    for name, value, types in (
        ("angle", angle, (int, float)),
        ("translate", translate, (list, tuple)),
        ("shear", shear, (numbers.Number, list, tuple)),
        ("interpolation", interpolation, str),
        ("center", () if center is None else center, (list, tuple)),
    ):
        if not isinstance(value, types):
            raise errors.invalid_type(f"affine: {name} has a wrong type.", received=f"{name}={value!r}")
    shears = list(shear) if isinstance(shear, (list, tuple)) else [shear, 0.0]
    shears = shears * 2 if len(shears) == 1 else shears
    if len(translate) != 2 or len(shears) != 2:
        raise errors.invalid_argument(
            "affine: translate and shear have two numbers.", received=f"translate={translate!r}, shear={shear!r}"
        )
    if scale <= 0.0:
        raise errors.invalid_argument("affine: scale is not positive.", received=f"scale={scale!r}")
    width, height = _get_image_size(img)
    if kind is of_tensor:  # its places count from the middle
        middle = [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]
    else:
        middle = [width * 0.5, height * 0.5] if center is None else list(center)
    return kind.affine(img, _get_affine_matrix(middle, angle, translate, scale, shears), interpolation, fill)


def _get_affine_matrix(center: Any, angle: float, translate: Any, scale: float, shear: Any) -> list[float]:
    """The map from result to image, [a, b, c, d, e, f]: the inverse of T(translate + center) R S scale T(-center)."""
    turn, sx, sy = (math.radians(v) for v in (angle, *shear))
    cos, sin = math.cos(turn - sy) / math.cos(sy), math.sin(turn - sy) / math.cos(sy)
    a, b = cos, -cos * math.tan(sx) - math.sin(turn)
    c, d = sin, -sin * math.tan(sx) + math.cos(turn)
    back = [v / scale for v in (d, -b, -c, a)]  # the determinant of turn and shear is 1
    x, y = center[0] + translate[0], center[1] + translate[1]
    return [
        back[0], back[1], center[0] - back[0] * x - back[1] * y,
        back[2], back[3], center[1] - back[2] * x - back[3] * y,
    ]  # fmt: skip


def _get_image_size(img: Image) -> tuple[int, int]:
    """Width and height."""
    if _is_pil_image(img):
        return img.size
    if _is_numpy_image(img):
        return img.shape[1], img.shape[0]
    if not isinstance(img, Tensor):
        _kind(img, "transform")  # raises
    if img.ndim not in (3, 4):
        raise errors.invalid_argument(
            "transform: the Tensor is no image.", expected="[C, H, W] or [N, C, H, W]", received=f"{img.type}"
        )
    return img.shape[-1], img.shape[-2]


def rotate(
    img: Image,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = 0,
) -> Image:
    """An image turned around a point.

    Args:
        img (PIL image|array|Tensor): The image.
        angle (float): Degrees, counterclockwise.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        expand (bool): Make the result large enough for the whole image. Default: False.
        center (list of float, optional): x and y from the upper left corner: pixels. Default: the middle.
        fill (number|list): What lies outside, one value or one per channel. As upstream, a number is that of the
            first channel of an array. Default: 0.

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image. KeyError: no such interpolation (also a ValueError).

    Examples:
        >>> paddle.vision.transforms.rotate(paddle.to_tensor([[[1.0, 2.0], [3.0, 4.0]]]), 90).tolist()
        [[[2.0, 4.0], [1.0, 3.0]]]
    """
    return _kind(img, "rotate").rotate(img, angle, interpolation, expand, center, fill)


def perspective(
    img: Image,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: Any = 0,
) -> Image:
    """An image as seen from elsewhere: four of its points are moved, and the others with them.

    Args:
        img (PIL image|array|Tensor): The image.
        startpoints (list): Four points [x, y] of the image: pixels.
        endpoints (list): Where they are in the result.
        interpolation (str): "nearest", "bilinear", or "bicubic" (not for Tensors). Default: "nearest".
        fill (number|list): What lies outside, one value or one per channel. As upstream, a number is that of the
            first channel of an array. Default: 0.

    Returns:
        Of the kind, shape and dtype of img.

    Raises:
        TypeError: img is no image. KeyError: no such interpolation (also a ValueError).

    Examples:
        >>> image, corners = np.arange(12, dtype="uint8").reshape(3, 4), [[0, 0], [3, 0], [3, 2], [0, 2]]
        >>> bool((paddle.vision.transforms.perspective(image, corners, corners) == image).all())
        True
    """
    for name, points in (("startpoints", startpoints), ("endpoints", endpoints)):
        if np.shape(points) != (4, 2):
            raise errors.invalid_argument(
                f"perspective: {name} are not four points.", expected="[[x, y]] * 4", received=f"{points!r}"
            )
    return _kind(img, "perspective").perspective(img, startpoints, endpoints, interpolation, fill)
