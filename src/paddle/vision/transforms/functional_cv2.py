"""Functions of arrays [H, W] or [H, W, C], as OpenCV has them; `functional` has their public forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from . import _arguments as args
from . import _color, _resample, _warp

__all__: list[str] = []

_RGB = (0.299, 0.587, 0.114)  # how bright red, green and blue are; Source: ITU-R BT.601
_MEAN = 74  # the gray that upstream's contrast of arrays turns around


def to_tensor(pic: np.ndarray, data_format: str = "CHW") -> Tensor:
    import paddle

    if data_format not in ("CHW", "HWC"):
        raise errors.invalid_argument(
            "to_tensor: no such data_format.", expected="'CHW' or 'HWC'", received=repr(data_format)
        )
    a = pic[..., None] if pic.ndim == 2 else pic
    a = a.transpose(2, 0, 1) if data_format == "CHW" else a
    if a.dtype == np.uint8:
        return paddle.to_tensor(np.divide(a, np.float32(255), out=np.empty(a.shape, "float32"), casting="unsafe"))
    return paddle.to_tensor(np.ascontiguousarray(a))


def resize(img: np.ndarray, size: Any, interpolation: str = "bilinear") -> np.ndarray:
    args.interpolation(interpolation, _resample.ARRAY_MODES, "resize")
    target = args.target_size(size, *img.shape[:2])
    return img if target is None else _resample.resize(img, *target, interpolation)


def pad(img: np.ndarray, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> np.ndarray:
    left, top, right, bottom = args.margins(padding, fill, padding_mode)
    if padding_mode != "constant":
        return np.pad(img, [(top, bottom), (left, right)] + [(0, 0)] * (img.ndim - 2), padding_mode)
    if isinstance(fill, str):
        raise errors.invalid_type("pad: an array cannot be filled with a name.", received=f"fill={fill!r}")
    h, w = img.shape[:2]
    out = np.empty((h + top + bottom, w + left + right, *img.shape[2:]), img.dtype)
    out[...] = _warp.fill_of(fill, img)
    out[top : top + h, left : left + w] = img
    return out


def crop(img: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    args.check_corner(top, left, height, width)
    return img[top : top + height, left : left + width]


def center_crop(img: np.ndarray, output_size: Any) -> np.ndarray:
    return crop(img, *args.centered(output_size, *img.shape[:2]))


def hflip(img: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(img[:, ::-1])


def vflip(img: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(img[::-1])


def _look_up(img: np.ndarray, scale: float, fixed: float) -> np.ndarray:
    """Bytes scaled around a fixed value."""
    table = (np.arange(256) - fixed) * scale + fixed
    return np.take(np.clip(table, 0, 255).astype("uint8"), img)


def adjust_brightness(img: np.ndarray, brightness_factor: float) -> np.ndarray:
    return _look_up(img.astype("uint8", copy=False), brightness_factor, 0)


def adjust_contrast(img: np.ndarray, contrast_factor: float) -> np.ndarray:
    if img.dtype != np.uint8:
        raise errors.invalid_type("adjust_contrast: the array has no bytes.", expected="uint8", received=f"{img.dtype}")
    return _look_up(img, contrast_factor, _MEAN)


def _channels(img: np.ndarray, function: str) -> None:
    if img.ndim != 3 or img.shape[2] != 3:
        raise errors.invalid_argument(
            f"{function}: the array has no colours.", expected="shape [H, W, 3]", received=f"shape {list(img.shape)}"
        )


def adjust_saturation(img: np.ndarray, saturation_factor: float) -> np.ndarray:
    _channels(img, "adjust_saturation")
    a = img.astype("float32")
    gray = _color.gray(a, _RGB[::-1])[..., None] * np.float32(1 - saturation_factor)  # arrays have blue first
    return np.clip(a * np.float32(saturation_factor) + gray, 0, 255).astype(img.dtype)


def adjust_hue(img: np.ndarray, hue_factor: float) -> np.ndarray:
    args.check_hue(hue_factor)
    _channels(img, "adjust_hue")
    return _color.shift_hue(img.astype("uint8", copy=False), int(hue_factor * 255)).astype(img.dtype, copy=False)


def affine(img: np.ndarray, matrix: Any, interpolation: str = "nearest", fill: Any = 0) -> np.ndarray:
    args.interpolation(interpolation, _resample.ARRAY_MODES, "affine")
    back = np.array(matrix, "float64").reshape(2, 3)
    back[:, 2] += back[:, :2].sum(1) * 0.5 - 0.5  # the matrix counts from the corner of the first pixel
    places = _warp.affine_places(back, *img.shape[:2])
    return _warp.read(img, places, interpolation, _warp.fill_of(fill, img, every=True))


def rotate(
    img: np.ndarray, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None,
    fill: Any = 0,
) -> np.ndarray:  # fmt: skip
    args.interpolation(interpolation, _resample.ARRAY_MODES, "rotate")
    h, w = img.shape[:2]
    center = (w / 2.0, h / 2.0) if center is None else center
    m = _warp.rotation(center, angle)
    if expand:
        x, y = _turned_corners(center, angle, h, w)
        width, height = (math.ceil(max(v)) - math.floor(min(v)) for v in (x, y))
        m[:, 2] += (width - w) * 0.5, (height - h) * 0.5
        h, w = height, width
    return _warp.read(img, _warp.affine_places(_warp.inverse(m), h, w), interpolation, _warp.fill_of(fill, img))


def _turned_corners(center: Any, angle: float, h: int, w: int) -> tuple[list[float], list[float]]:
    """x and y of the corners of an image after a turn."""
    turn = -math.radians(angle)
    cos, sin = round(math.cos(turn), 15), round(math.sin(turn), 15)  # so that right angles stay right
    cx, cy = center
    moved = [(x - cx, y - cy) for x, y in ((0, 0), (w, 0), (w, h), (0, h))]
    return [cos * x + sin * y + cx for x, y in moved], [-sin * x + cos * y + cy for x, y in moved]


def perspective(
    img: np.ndarray, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0
) -> np.ndarray:
    args.interpolation(interpolation, _resample.ARRAY_MODES, "perspective")
    back = _warp.projection_back(startpoints, endpoints)
    return _warp.read(img, _warp.projected_places(back, *img.shape[:2]), interpolation, _warp.fill_of(fill, img))


def to_grayscale(img: np.ndarray, num_output_channels: int = 1) -> np.ndarray:
    args.check_channels(num_output_channels)
    if img.ndim == 3 and img.shape[2] == 3:
        img = _color.gray(img, _RGB)
    elif img.ndim == 3 and img.shape[2] != 1:
        _channels(img, "to_grayscale")
    return np.repeat(img.reshape(*img.shape[:2], 1), num_output_channels, 2)


def normalize(img: np.ndarray, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> np.ndarray:
    first = data_format == "CHW"
    shape = (-1, 1, 1) if first else (1, 1, -1)
    m, s = (np.asarray(v, "float32").reshape(shape) for v in (mean, std))
    if to_rgb:
        img = img[::-1] if first else img[..., ::-1]
    out = np.ascontiguousarray(img) - m  # numpy would else go along the memory, in loops over few channels
    out /= s
    return out


def erase(img: np.ndarray, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> np.ndarray:
    if not inplace:
        img = img.copy()
    img[i : i + h, j : j + w, ...] = v
    return img
