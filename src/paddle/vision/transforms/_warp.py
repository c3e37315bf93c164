"""Arrays [H, W] or [H, W, C] read at computed places: turned, sheared, in perspective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._resample import TAPS, blocks, to_dtype, weights_at, working_dtype

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
    x, y = places
    mode = "bilinear" if mode == "area" else mode
    first, taps = TAPS.get(mode, (0, 1))
    flat, stride = _framed(a, taps, fill)
    out = np.empty((*x.shape, *a.shape[2:]), a.dtype)
    for rows in blocks(*out.shape[:2]):
        if mode == "nearest":
            at = _numbers(np.rint(x[rows]), np.rint(y[rows]), a, first, taps, stride)
            np.take(flat, at, 0, out=out[rows], mode="clip")  # which needs no buffer; all are inside
        else:
            out[rows] = _interpolated(a, x[rows], y[rows], mode, flat, stride).reshape(out[rows].shape)
    return out


def _interpolated(a: np.ndarray, x: np.ndarray, y: np.ndarray, mode: str, flat: np.ndarray, stride: int) -> np.ndarray:
    first, taps = TAPS[mode]
    dtype = working_dtype(a.dtype)
    left, above = np.floor(x), np.floor(y)
    at = _numbers(left, above, a, first, taps, stride)
    channels = a.shape[2] if a.ndim == 3 else 1
    # one weight per value, as loops over whole arrays are faster than over few channels
    across, down = (
        np.repeat(weights_at(place - low, mode).astype(dtype, copy=False).reshape(taps, -1), channels, 1)
        for place, low in ((x, left), (y, above))
    )
    out, line, part = np.zeros((3, across.shape[1]), dtype)
    for i in range(taps):
        line[...] = 0
        for j in range(taps):
            line += np.multiply(np.take(flat[i * stride + j :], at, 0).reshape(-1), across[j], out=part)
        line *= down[i]
        out += line
    return to_dtype(out, a.dtype)


def _framed(a: np.ndarray, width: int, fill: np.ndarray) -> tuple[np.ndarray, int]:
    """The pixels of a in a frame of fill, one after the other, and how many there are in a line."""
    stride = a.shape[1] + 2 * width
    framed = np.empty((a.shape[0] + 2 * width, stride, *a.shape[2:]), a.dtype)
    framed.reshape(len(framed), -1)[...] = np.tile(fill, stride)
    framed[width:-width, width:-width] = a
    return framed.reshape(-1, *a.shape[2:]), stride


def _numbers(left: np.ndarray, above: np.ndarray, a: np.ndarray, first: int, taps: int, stride: int) -> np.ndarray:
    """The numbers, in a frame as wide as the taps, of the first taps of what is read around (left, above).

    All taps of what lies farther off are in the frame.
    """

    def start(at: np.ndarray, n: int) -> np.ndarray:
        return np.clip(at, -taps - first, n - first).astype(np.intp) + (taps + first)

    return start(above, a.shape[0]) * stride + start(left, a.shape[1])
