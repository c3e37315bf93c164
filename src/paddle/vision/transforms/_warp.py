"""Arrays [H, W] or [H, W, C] read at computed places: turned, sheared, in perspective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._resample import FIRST_TAP, to_dtype, weights_at, working_dtype

Places = tuple[np.ndarray, np.ndarray]  # x and y, float32 [height, width], in elements of the image that is read


def rotation(center: Sequence[float], angle: float, scale: float = 1.0) -> np.ndarray:
    """The map [2, 3] that turns the plane counterclockwise (y points down) around center. angle: degrees."""
    turn = angle * math.pi / 180  # not math.radians, which rounds otherwise: nearest neighbours may depend on it
    a, b = scale * math.cos(turn), scale * math.sin(turn)
    x, y = (float(np.float32(c)) for c in center)
    return np.array([[a, b, (1 - a) * x - b * y], [-b, a, b * x + (1 - a) * y]])


def inverse(m: np.ndarray) -> np.ndarray:
    """The inverse of an affine map [2, 3]."""
    det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    scale = 1.0 / det if det else 0.0
    a, b, c, d = m[1, 1] * scale, -m[0, 1] * scale, -m[1, 0] * scale, m[0, 0] * scale
    x, y = m[:, 2]  # in steps that round as OpenCV's
    return np.array([[a, b, -a * x - b * y], [c, d, -c * x - d * y]])


def projection(start: Any, end: Any) -> np.ndarray:
    """The map [3, 3] of homogeneous coordinates that takes four points to four others, as nearly as there is one."""
    pairs = list(zip(start, end))
    rows = [[x, y, 1, 0, 0, 0, -x * u, -y * u] for (x, y), (u, _) in pairs]
    rows += [[0, 0, 0, x, y, 1, -x * v, -y * v] for (x, y), (_, v) in pairs]
    values = [u for _, (u, _) in pairs] + [v for _, (_, v) in pairs]
    found = np.linalg.lstsq(np.array(rows, "float64"), np.array(values, "float64"), rcond=None)[0]
    return np.append(found, 1).reshape(3, 3)


def projection_back(start: Any, end: Any) -> np.ndarray:
    """The map that takes the points of a result at end to those of the image at start."""
    try:
        return np.linalg.inv(projection(start, end))  # with the roundings of OpenCV
    except np.linalg.LinAlgError:
        return projection(end, start)


def affine_places(back: np.ndarray, height: int, width: int) -> Places:
    """Where the elements of a result of this size lie in the image, by the map [2, 3] from result to image."""
    return _linear(back[0], height, width), _linear(back[1], height, width)


def projected_places(back: np.ndarray, height: int, width: int) -> Places:
    """The same by a map [3, 3] of homogeneous coordinates."""
    u, v, scale = (_linear(row, height, width) for row in back)
    with np.errstate(divide="ignore", invalid="ignore"):
        u, v = u / scale, v / scale
    far = np.float32(-1e9)  # outside of any image
    return np.nan_to_num(u, nan=far, copy=False), np.nan_to_num(v, nan=far, copy=False)


def _linear(row: np.ndarray, height: int, width: int) -> np.ndarray:
    """row[0] * x + row[1] * y + row[2], float32 [height, width], in the roundings of OpenCV.

    They decide what lies halfway between two pixels: sixteen columns at a time are added in one order, what is left
    over in another, each with the first product exact.
    """
    a, b, c = row.astype("float32")
    across = np.arange(width) * np.float64(a)
    down = np.arange(height, dtype="float32")[:, None] * b
    whole = width // 16 * 16
    left = (across[:whole] + (down + c)).astype("float32")
    return np.concatenate([left, (across[whole:] + down).astype("float32") + c], 1)


def fill_of(fill: Any, a: np.ndarray, every: bool = False) -> np.ndarray:
    """The value of elements outside, per channel. A number is that of the first channel, unless `every`."""
    channels = a.shape[2] if a.ndim == 3 else 1
    if every and not isinstance(fill, Sequence):
        values = [fill] * channels
    else:
        values = [*fill] if isinstance(fill, Sequence) else [fill]
        values = (values + [0] * channels)[:channels]
    values = to_dtype(np.asarray(values, "float64"), a.dtype)
    return values if a.ndim == 3 else values[0]


def read(a: np.ndarray, places: Places, mode: str, fill: np.ndarray) -> np.ndarray:
    """a at places, with fill outside; mode is "nearest", "bilinear", "bicubic" or "lanczos" ("area": bilinear)."""
    height, width = a.shape[:2]
    framed = np.empty((height + 2, width + 2, *a.shape[2:]), a.dtype)  # what lies outside is read from the frame
    framed[...] = fill
    framed[1:-1, 1:-1] = a
    flat = framed.reshape(-1, *a.shape[2:])
    x, y = places

    def inside(at: np.ndarray, n: int) -> np.ndarray:
        return np.clip(at, -1, n).astype(np.intp) + 1

    if mode == "nearest":
        return np.take(flat, inside(np.rint(y), height) * (width + 2) + inside(np.rint(x), width), 0)
    mode = "bilinear" if mode == "area" else mode
    dtype = working_dtype(a.dtype)
    left, above = np.floor(x), np.floor(y)
    across, down = (weights_at((at - low), mode).astype(dtype) for at, low in ((x, left), (y, above)))
    taps = range(across.shape[-1])
    columns = [inside(left + (FIRST_TAP[mode] + k), width) for k in taps]
    spread = (...,) if a.ndim == 2 else (..., None)
    out: Any = None
    for i in taps:
        row = inside(above + (FIRST_TAP[mode] + i), height) * (width + 2)
        line: Any = None
        for j in taps:
            part = np.take(flat, row + columns[j], 0) * across[..., j][spread]
            line = part if line is None else line + part
        line *= down[..., i][spread]
        out = line if out is None else out + line
    return to_dtype(out, a.dtype)
