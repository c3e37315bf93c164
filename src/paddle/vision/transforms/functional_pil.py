"""Functions of PIL images; `functional` has their public forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor.tensor import Tensor
from ..image import pillow
from . import _arguments as args
from ._warp import projection

__all__: list[str] = []

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")
_DTYPES = {"I": "int32", "I;16": "int32", "F": "float32", "1": "uint8"}


def _method(name: str, function: str, known: tuple[str, ...] = INTERPOLATIONS) -> Any:
    return getattr(pillow().Resampling, args.interpolation(name, known, function).upper())


def to_array(img: Any) -> np.ndarray:
    """[H, W] or [H, W, C]; black and white pixels are 0 and 255."""
    a = np.asarray(img, _DTYPES.get(img.mode))
    return a * np.uint8(255) if img.mode == "1" else a


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    from . import functional_cv2

    return functional_cv2.to_tensor(to_array(pic), data_format)


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    method = _method(interpolation, "resize")
    target = args.target_size(size, img.size[1], img.size[0])
    return img if target is None else img.resize(target[::-1], method)


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    left, top, right, bottom = args.margins(padding, fill, padding_mode)
    if padding_mode == "constant":
        from PIL import ImageOps

        return ImageOps.expand(img, (left, top, right, bottom), tuple(fill) if isinstance(fill, list) else fill)
    a = np.asarray(img)
    sides = [(top, bottom), (left, right)] + [(0, 0)] * (a.ndim - 2)
    out = pillow().fromarray(np.pad(a, sides, padding_mode))
    if img.mode == "P":
        out.putpalette(img.getpalette())
    return out


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    return img.crop((left, top, left + width, top + height))


def center_crop(img: Any, output_size: Any) -> Any:
    return crop(img, *args.centered(output_size, img.size[1], img.size[0]))


def hflip(img: Any) -> Any:
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(img).enhance(brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(img).enhance(contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Color(img).enhance(saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    args.check_hue(hue_factor)
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    steps = int(hue_factor * 255)
    hue = hue.point([(i + steps) % 256 for i in range(256)])
    return pillow().merge("HSV", (hue, saturation, value)).convert(img.mode)


def _color(fill: Any, img: Any) -> Any:
    """A number for every colour of an image, which is opaque there; a list as Pillow wants it."""
    if not isinstance(fill, (int, float)):
        return tuple(fill) if isinstance(fill, list) else fill
    if img.mode == "LA":
        return (fill, 255)
    return (fill,) * 3 if img.mode == "P" or len(img.getbands()) > 2 else fill


def affine(img: Any, matrix: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    method = _method(interpolation, "affine", INTERPOLATIONS[:3])
    return img.transform(img.size, pillow().Transform.AFFINE, matrix, method, fillcolor=_color(fill, img))


def rotate(
    img: Any, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0
) -> Any:
    method = _method(interpolation, "rotate", INTERPOLATIONS[:3])
    return img.rotate(angle, method, expand, center, fillcolor=_color(fill, img))


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    method = _method(interpolation, "perspective", INTERPOLATIONS[:3])
    back = projection(endpoints, startpoints).ravel()[:8].tolist()
    return img.transform(img.size, pillow().Transform.PERSPECTIVE, back, method, fillcolor=_color(fill, img))


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    args.check_channels(num_output_channels)
    gray = img.convert("L")
    return gray if num_output_channels == 1 else pillow().merge("RGB", (gray, gray, gray))


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    a = np.array(img, np.uint8)
    a[i : i + h, j : j + w, ...] = v
    return pillow().fromarray(a)
