"""Functions of Tensors [C, H, W], most of them of batches [N, C, H, W] too; `functional` has their public forms.

All are compositions of public operations, so gradients reach the image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from . import _arguments as args

__all__: list[str] = []

_RGB = (0.2989, 0.587, 0.114)  # how bright red, green and blue are


def _check(img: Tensor, function: str, ndims: tuple[int, ...] = (3, 4)) -> None:
    if img.ndim not in ndims:
        raise errors.precondition(
            f"{function}: the Tensor is no image.",
            expected="[C, H, W]" + (" or [N, C, H, W]" if 4 in ndims else ""),
            received=f"{img.type}",
        )


def _require(holds: bool, fact: str, received: str) -> None:
    """Upstream raises AssertionError here."""
    if not holds:
        raise AssertionError(errors.message("InvalidArgument", fact, received=received))


def _channels(img: Tensor, function: str, kind: type[Exception] = ValueError) -> int:
    n = img.shape[-3]
    if n not in (1, 3):
        raise kind(errors.message("InvalidArgument", f"{function}: no such colours.", "1 or 3 channels", f"{n}"))
    return n


def _number(value: Any, dtype: Any) -> Tensor:
    """Numbers as a Tensor, so that others next time make no other program."""
    import paddle

    return paddle.to_tensor(np.asarray(value, dtype.np))


def _column(values: Any, dtype: Any) -> Tensor:
    """Values per channel, [C, 1, 1]."""
    return _number(np.asarray(values).reshape(-1, 1, 1), dtype)


def to_tensor(pic: Tensor, data_format: str = "CHW") -> Tensor:
    return pic if data_format.lower() == "chw" else pic.transpose([1, 2, 0])


def normalize(img: Tensor, mean: Any, std: Any, data_format: str = "CHW") -> Tensor:
    _check(img, "normalize")
    shape = (-1, 1, 1) if data_format.lower() == "chw" else (-1,)
    m, s = (_number(np.asarray(v).reshape(shape), img.dtype) for v in (mean, std))
    return (img - m) / s


def resize(img: Tensor, size: Any, interpolation: str = "bilinear") -> Tensor:
    from ...nn.functional import interpolate

    _check(img, "resize")
    target = args.target_size(size, img.shape[-2], img.shape[-1])
    if target is None:
        return img
    batch = img if img.ndim == 4 else img.unsqueeze(0)
    out = interpolate(batch, size=list(target), mode=interpolation.lower())
    return out if img.ndim == 4 else out.squeeze(0)


def pad(img: Tensor, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Tensor:
    from ...nn.functional import pad as pad_tensor

    _check(img, "pad")
    left, top, right, bottom = args.margins(padding, fill, padding_mode)
    if padding_mode == "symmetric":
        raise errors.invalid_argument("pad: Tensors have no symmetric mode.", expected="constant, edge or reflect")
    mode = "replicate" if padding_mode == "edge" else padding_mode
    batch = img if img.ndim == 4 else img.unsqueeze(0)
    out = pad_tensor(batch, [left, right, top, bottom], mode, float(fill), "NCHW")
    return out if img.ndim == 4 else out.squeeze(0)


def crop(img: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    _check(img, "crop")
    args.check_corner(top, left, height, width)
    return img[..., top : top + height, left : left + width]


def center_crop(img: Tensor, output_size: Any) -> Tensor:
    _check(img, "center_crop")
    return crop(img, *args.centered(output_size, img.shape[-2], img.shape[-1]))


def hflip(img: Tensor) -> Tensor:
    _check(img, "hflip")
    return img.flip(-1)


def vflip(img: Tensor) -> Tensor:
    _check(img, "vflip")
    return img.flip(-2)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    _check(img, "erase")
    if not inplace:
        img = img.clone()
    img[..., i : i + h, j : j + w] = v
    return img


# ---- colours ----------------------------------------------------------------------------------


def to_grayscale(img: Tensor, num_output_channels: int = 1) -> Tensor:
    _check(img, "to_grayscale")
    args.check_channels(num_output_channels)
    gray = (img * _column(_RGB, img.dtype)).sum(axis=-3, keepdim=True)
    shape = list(gray.shape)
    shape[-3] = num_output_channels
    return gray.expand(shape)


def _blend(img: Tensor, other: Tensor, ratio: float) -> Tensor:
    """ratio of img, and the rest of other; bounded by what images hold."""
    top = 1.0 if img.is_floating_point() else 255.0
    wide = img if img.is_floating_point() else img.astype("float32")
    other = other.astype(wide.dtype)
    return (other + (wide - other) * _number(ratio, wide.dtype)).clip(0.0, top).astype(img.dtype)


def _as_floating(img: Tensor) -> Tensor:
    return img if img.is_floating_point() else img.astype("float32")


def adjust_brightness(img: Tensor, brightness_factor: float) -> Tensor:
    _check(img, "adjust_brightness")
    _require(brightness_factor >= 0, "adjust_brightness: the factor is negative.", f"{brightness_factor}")
    _channels(img, "adjust_brightness", AssertionError)
    top = 1.0 if img.is_floating_point() else 255.0
    wide = _as_floating(img)
    return (wide * _number(brightness_factor, wide.dtype)).clip(0.0, top).astype(img.dtype)


def adjust_contrast(img: Tensor, contrast_factor: float) -> Tensor:
    _check(img, "adjust_contrast")
    _require(contrast_factor >= 0, "adjust_contrast: the factor is negative.", f"{contrast_factor}")
    wide = _as_floating(img)
    gray = wide if _channels(img, "adjust_contrast") == 1 else to_grayscale(wide)
    return _blend(img, gray.mean(axis=[-3, -2, -1], keepdim=True), contrast_factor)


def adjust_saturation(img: Tensor, saturation_factor: float) -> Tensor:
    _check(img, "adjust_saturation")
    _require(saturation_factor >= 0, "adjust_saturation: the factor is negative.", f"{saturation_factor}")
    if _channels(img, "adjust_saturation") == 1:
        return img
    return _blend(img, to_grayscale(_as_floating(img)), saturation_factor)


def adjust_hue(img: Tensor, hue_factor: float) -> Tensor:
    _check(img, "adjust_hue")
    args.check_hue(hue_factor, AssertionError)
    if _channels(img, "adjust_hue") == 1:
        return img
    bytes_ = not img.is_floating_point()
    hue, saturation, value = _to_hsv(img.astype("float32") / 255.0 if bytes_ else img)
    hue = hue + _number(hue_factor, hue.dtype)
    out = _from_hsv(hue - hue.floor(), saturation, value)
    return (out * 255.0).astype(img.dtype) if bytes_ else out


def _to_hsv(img: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation and value, in [0, 1]. Source: Smith 1978, "Color Gamut Transform Pairs", the hexcone model."""
    import paddle

    r, g, b = img.unbind(axis=-3)
    top, low = img.max(axis=-3), img.min(axis=-3)
    gray = top == low
    spread = top - low
    one = paddle.ones_like(top)
    saturation = spread / paddle.where(gray, one, top)
    spread = paddle.where(gray, one, spread)
    far_r, far_g, far_b = (top - r) / spread, (top - g) / spread, (top - b) / spread
    hue = paddle.where(
        top == r, far_b - far_g, paddle.where(top == g, far_r - far_b + 2.0, far_g - far_r + 4.0)
    ) / 6.0 + 1.0  # fmt: skip
    return hue - hue.trunc(), saturation, top


def _from_hsv(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    import paddle

    hue = hue * 6.0
    sector = hue.floor()
    rest = hue - sector
    sector = sector.astype("int32") % 6
    p, q, t = (
        (value * (1.0 - part)).clip(0.0, 1.0)
        for part in (saturation, saturation * rest, saturation * (1.0 - rest))
    )  # fmt: skip
    channels = []
    for corners in ((value, q, p, p, t, value), (t, value, value, q, p, p), (p, p, t, value, value, q)):
        out = corners[0]
        for i, corner in enumerate(corners[1:], 1):
            out = paddle.where(sector == i, corner, out)
        channels.append(out)
    return paddle.stack(channels, axis=-3)


# ---- places -----------------------------------------------------------------------------------


def _points(height: int, width: int, x0: float, y0: float) -> np.ndarray:
    """Homogeneous coordinates of the elements of an image whose first lies at (x0, y0): [height, width, 3]."""
    base = np.ones((height, width, 3), "float32")
    base[..., 0] = x0 + np.arange(width)
    base[..., 1] = y0 + np.arange(height)[:, None]
    return base


def _sample(img: Tensor, grid: np.ndarray, mode: str, fill: Any) -> Tensor:
    """img at the places of grid [H, W, 2]; fill, a number or one per channel, where the image does not reach."""
    import paddle

    from ...nn.functional import grid_sample

    args.interpolation(mode, ("nearest", "bilinear"), "transforms of Tensors")
    batch = img if img.ndim == 4 else img.unsqueeze(0)
    n, c, h, w = batch.shape
    places = paddle.to_tensor(np.broadcast_to(grid[None], (n, *grid.shape)).astype(img.dtype.np))
    if fill is not None:
        batch = paddle.concat([batch, paddle.ones([n, 1, h, w], batch.dtype)], axis=1)
    out = grid_sample(batch, places, mode=mode, padding_mode="zeros", align_corners=False)
    if fill is not None:
        out, covered = out[:, :-1], out[:, -1:]
        color = _column(fill if isinstance(fill, Sequence) else [fill], out.dtype)
        if mode == "nearest":
            covered = (covered >= 0.5).astype(out.dtype)
        out = out * covered + (1.0 - covered) * color
    return out if img.ndim == 4 else out.squeeze(0)


def _affine_grid(back: np.ndarray, h: int, w: int, height: int, width: int) -> np.ndarray:
    """Places in [-1, 1] of an image h x w, by a map [2, 3] from a result height x width; both from their centres."""
    scaled = back.astype("float32").T / np.array([0.5 * w, 0.5 * h], "float32")
    return _points(height, width, 0.5 - width * 0.5, 0.5 - height * 0.5) @ scaled


def affine(img: Tensor, matrix: Any, interpolation: str = "nearest", fill: Any = None) -> Tensor:
    _check(img, "affine")
    h, w = img.shape[-2:]
    return _sample(img, _affine_grid(np.array(matrix).reshape(2, 3), h, w, h, w), interpolation, fill)


def rotate(
    img: Tensor, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None,
    fill: Any = None,
) -> Tensor:  # fmt: skip
    _check(img, "rotate")
    h, w = img.shape[-2:]
    turn = math.radians(-angle % 360)
    cos, sin = math.cos(turn), math.sin(turn)
    cx, cy = (0.0, 0.0) if center is None else (center[0] - w * 0.5, center[1] - h * 0.5)
    back = np.array([[cos, sin, cx - cos * cx - sin * cy], [-sin, cos, cy + sin * cx - cos * cy]], "float32")
    height, width = h, w
    if expand:
        corners = np.array([[x * w, y * h, 1] for x in (-0.5, 0.5) for y in (-0.5, 0.5)], "float32") @ back.T
        width, height = (int(n) for n in np.ceil(corners.max(0)) - np.floor(corners.min(0)))
    return _sample(img, _affine_grid(back, h, w, height, width), interpolation, fill)


def perspective(
    img: Tensor, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = None
) -> Tensor:
    from ._warp import projection

    _check(img, "perspective")
    h, w = img.shape[-2:]
    back = projection(endpoints, startpoints).astype("float32")
    points = _points(h, w, 0.5, 0.5)
    scaled = back[:2].T / np.array([0.5 * w, 0.5 * h], "float32")
    with np.errstate(divide="ignore", invalid="ignore"):
        grid = points @ scaled / (points @ back[2:].T) - np.float32(1)
    return _sample(img, np.nan_to_num(grid, nan=-1e9, posinf=1e9, neginf=-1e9), interpolation, fill)
