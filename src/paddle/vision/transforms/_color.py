"""Colours of arrays of bytes, in the fixed-point steps of OpenCV."""

from __future__ import annotations

import numpy as np

from ._resample import blocks

_HALF = 1 << 11
_N = np.arange(256)
# 255 and 256 / 6 over n, in 12 bits: the saturation and the hue of a colour
_SATURATION, _HUE = (
    np.rint(np.concatenate([[0], (k << 12) / (d * _N[1:])])).astype("int32") for k, d in ((255, 1), (256, 6))
)
# which of value, p, q, t (see shift_hue) is the first, second and third channel in each sixth of the circle
_SECTORS = np.array([[1, 3, 0], [1, 0, 2], [3, 0, 1], [0, 2, 1], [0, 1, 3], [2, 1, 0]])


def gray(a: np.ndarray, weights: tuple[float, float, float]) -> np.ndarray:
    """[H, W] from [H, W, 3] in its dtype."""
    if a.dtype.kind in "iu":
        fixed = [round(w * 32768) for w in weights[:2]]
        fixed.append(32768 - sum(fixed))  # white stays white
        total = sum(a[..., i].astype("int32") * w for i, w in enumerate(fixed))
        return ((total + (1 << 14)) >> 15).astype(a.dtype)
    return sum(a[..., i] * a.dtype.type(w) for i, w in enumerate(weights)).astype(a.dtype)


def shift_hue(a: np.ndarray, steps: int) -> np.ndarray:
    """Bytes [H, W, 3] with the hue moved by steps of 1 / 256 of the circle; the third channel is at hue 0.

    Source: Smith 1978, "Color Gamut Transform Pairs", the hexcone model.
    """
    out = np.empty_like(a)
    for rows in blocks(*a.shape[:2]):
        out[rows] = _shifted(a[rows], steps)
    return out


def _shifted(a: np.ndarray, steps: int) -> np.ndarray:
    b, g, r = (a[..., i].astype("int32") for i in range(3))
    value = np.maximum(np.maximum(b, g), r)
    spread = value - np.minimum(np.minimum(b, g), r)
    saturation = (spread * _SATURATION[value] + _HALF) >> 12
    hue = np.where(value == r, g - b, np.where(value == g, b - r + 2 * spread, r - g + 4 * spread))
    hue = (hue * _HUE[spread] + _HALF) >> 12
    hue = np.clip(np.where(hue < 0, hue + 256, hue), 0, 255)
    return _from_hsv((hue + steps) % 256, saturation, value)


def _from_hsv(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    one = np.float32(1)
    h = hue.astype("float32") * np.float32(6 / 255)
    s, v = (c.astype("float32") * np.float32(1 / 255) for c in (saturation, value))
    sector = np.floor(h)
    h -= sector
    corners = np.stack([v, v * (one - s), v * (one - s * h), v * (one - s * (one - h))], -1)
    out = np.take_along_axis(corners, _SECTORS[sector.astype("intp") % 6], -1)
    return np.rint(out * np.float32(255)).astype("uint8")
