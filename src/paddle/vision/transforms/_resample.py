"""Arrays [H, W] or [H, W, C] in another size: separable maps, one axis after the other.

Bytes are computed in the same fixed-point steps as OpenCV, which array pipelines are used to; the results are equal
to the last bit for "nearest", "bilinear" and "lanczos", within 1 for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

ARRAY_MODES = ("nearest", "bilinear", "area", "bicubic", "lanczos")

_ONE = 2048  # the fixed-point 1 of weights
_BLOCK = 1 << 12  # pixels; with more, memory goes back and forth between numpy and the system at every call


def resize(a: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    """a with the given height and width, in its dtype; mode is one of ARRAY_MODES."""
    if (height, width) == a.shape[:2]:
        return a.copy()
    if mode == "nearest":
        return a[_nearest(a.shape[0], height)][:, _nearest(a.shape[1], width)]
    half = a.shape[:2] == (2 * height, 2 * width)
    shrinks = height <= a.shape[0] and width <= a.shape[1]
    if half and mode in ("area", "bilinear") and a.dtype.kind in "iu":
        return _halve(a)
    if (half and mode == "bilinear") or (mode == "area" and shrinks):
        return _weigh(a, _area_taps(a.shape[0], height), _area_taps(a.shape[1], width))
    if a.dtype == np.uint8 and mode in ("bilinear", "area"):
        return _bytes_bilinear(a, height, width, mode)
    rows, columns = _taps(a.shape[0], height, mode), _taps(a.shape[1], width, mode)
    if a.dtype == np.uint8 and mode == "lanczos":
        return _bytes_fixed(a, rows, columns)
    return _weigh(a, rows, columns)


def to_dtype(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Floating a as dtype: integers are rounded, and bounded by what they can hold."""
    if dtype.kind not in "iu":
        return a.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(a), limits.min, limits.max).astype(dtype)


def working_dtype(dtype: np.dtype) -> np.dtype:
    """The floating dtype that elements of dtype are computed in."""
    return np.dtype("float64" if dtype.itemsize > 4 or dtype in ("int32", "uint32") else "float32")


def weights_at(share: np.ndarray, mode: str) -> np.ndarray:
    """Weights of the elements around places, [taps, ...]; share, in [0, 1): how far one is from its left neighbour."""
    if mode == "bilinear":
        return np.stack([1 - share, share])
    taps = np.arange(-1, 3) if mode == "bicubic" else np.arange(-3, 5)
    d = np.abs(share - taps.astype(share.dtype).reshape(-1, *[1] * share.ndim))
    if mode == "bicubic":
        # Source: Keys 1981, IEEE Transactions on Acoustics, Speech, and Signal Processing 29(6), with a = -0.75.
        a = -0.75
        return np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)
    w = np.sinc(d) * np.sinc(d / 4)  # a sinc under a wider one, cut at 4 elements
    return w / w.sum(0)


TAPS = {"bilinear": (0, 2), "bicubic": (-1, 4), "lanczos": (-3, 8)}  # the first, from the left neighbour, and how many


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows, each of some thousand elements: what is computed from them stays in the processor's cache."""
    step = max(1, _BLOCK // max(columns, 1))
    return (slice(i, min(i + step, rows)) for i in range(0, rows, step))


def _step(n_in: int, n_out: int) -> float:
    return 1.0 / (n_out / n_in)  # rounded twice, as OpenCV does: floor() of multiples depends on it


@lru_cache(maxsize=256)
def _nearest(n_in: int, n_out: int) -> np.ndarray:
    return np.minimum(np.floor(np.arange(n_out) * _step(n_in, n_out)).astype(np.intp), n_in - 1)


def _places(n_in: int, n_out: int, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """The left neighbour of the place that each element of the result is read at, and how far it is from it."""
    step, at = _step(n_in, n_out), np.arange(n_out)
    if mode != "area":
        place = (at + 0.5) * step - 0.5
        if mode == "lanczos":  # as OpenCV, which takes no more care here
            place = place.astype("float32")
        low = np.floor(place)
        return low.astype(np.intp), place - low
    low = np.floor(at * step)  # of a growing image: edges of elements stay sharp
    share = ((at + 1) - (low + 1) * (n_out / n_in)).astype("float32")
    return low.astype(np.intp), np.where(share <= 0, np.float32(0), share - np.floor(share))


@lru_cache(maxsize=256)
def _taps(n_in: int, n_out: int, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """For each element of the result the indices and weights of the elements that it is made of: [taps, n_out]."""
    low, share = _places(n_in, n_out, mode)
    mode = "bilinear" if mode == "area" else mode
    weights = weights_at(share.astype("float64"), mode)
    index = low + TAPS[mode][0] + np.arange(len(weights))[:, None]
    return np.clip(index, 0, n_in - 1), weights.astype("float32")


@lru_cache(maxsize=256)
def _area_taps(n_in: int, n_out: int) -> tuple[np.ndarray, np.ndarray]:
    """Taps of the mean over the part of the image that each element of a smaller one covers."""
    low = np.arange(n_out) * (n_in / n_out)
    index = np.floor(low).astype(np.intp) + np.arange(int(np.ceil(n_in / n_out)) + 1)[:, None]
    inside = np.minimum(low + n_in / n_out, index + 1) - np.maximum(low, index)
    inside = np.where((inside > 1e-3) & (index < n_in), inside, 0)
    used = inside.any(1)
    index, inside = np.minimum(index[used], n_in - 1), inside[used]
    return index, (inside / inside.sum(0)).astype("float32")


def _halve(a: np.ndarray) -> np.ndarray:
    wide = a.astype("int64" if a.dtype.itemsize > 2 else "int32")
    total = wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]
    return ((total + 2) >> 2).astype(a.dtype)  # half up, while to_dtype rounds half to even


def _picked(a: np.ndarray, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted columns of a, [H, columns * channels]: loops over whole lines are faster than over few channels."""
    return np.take(a, index, 1).reshape(a.shape[0], -1) * weights


def _sum(a: np.ndarray, rows: tuple, columns: tuple) -> np.ndarray:
    """Weighted sums of elements of a, first along lines."""
    (below, down), (beside, across) = rows, columns
    channels = a.shape[2] if a.ndim == 3 else 1
    weights = np.repeat(across, channels, 1)
    lines = np.empty((a.shape[0], weights.shape[1]), weights.dtype)
    for part in blocks(*a.shape[:2]):
        lines[part] = sum(_picked(a[part], i, w) for i, w in zip(beside, weights))
    out = np.empty((below.shape[1], lines.shape[1]), down.dtype)
    for part in blocks(len(out), beside.shape[1]):
        out[part] = sum(np.take(lines, i[part], 0) * w[part, None] for i, w in zip(below, down))
    return out.reshape(len(out), beside.shape[1], *a.shape[2:])


def _weigh(a: np.ndarray, rows: tuple, columns: tuple) -> np.ndarray:
    wide = a.astype(working_dtype(a.dtype))
    return to_dtype(_sum(wide, rows, columns), a.dtype)


def _fixed(weights: np.ndarray) -> np.ndarray:
    return np.rint(weights * np.float32(_ONE)).astype("int32")


def _bytes_fixed(a: np.ndarray, rows: tuple, columns: tuple) -> np.ndarray:
    heavy = _fixed(rows[1]).astype("int64")  # twice 11 bits, and 8
    total = _sum(a, (rows[0], heavy), (columns[0], _fixed(columns[1])))
    return np.clip((total + (1 << 21)) >> 22, 0, 255).astype("uint8")


@lru_cache(maxsize=256)
def _bilinear_columns(n_in: int, n_out: int, mode: str) -> tuple[np.ndarray, ...]:
    low, share = _places(n_in, n_out, mode)
    share = np.where((low < 0) | (low >= n_in - 1), np.float32(0), share)
    low = np.clip(low, 0, n_in - 1)
    return low, np.minimum(low + 1, n_in - 1), _fixed(1 - share), _fixed(share)


@lru_cache(maxsize=256)
def _bilinear_rows(
    n_in: int, n_out: int, mode: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows of the image that are used, and for each row of the result two of them and their weights."""
    low, share = _places(n_in, n_out, mode)
    used, place = np.unique(np.clip(np.stack([low, low + 1]), 0, n_in - 1), return_inverse=True)
    place = place.reshape(2, -1)
    return used, place[0], place[1], _fixed(1 - share), _fixed(share)


def _bytes_bilinear(a: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    used, upper, lower, above, below = _bilinear_rows(a.shape[0], height, mode)
    left, right, near, far = _bilinear_columns(a.shape[1], width, mode)
    if len(used) < a.shape[0]:
        a = a[used]
    else:
        upper, lower = used[upper], used[lower]
    channels = a.shape[2] if a.ndim == 3 else 1
    near, far = np.repeat(near, channels), np.repeat(far, channels)
    lines = np.empty((a.shape[0], width * channels), "int32")
    for part in blocks(*a.shape[:2]):
        sums = _picked(a[part], left, near)
        sums += _picked(a[part], right, far)
        np.right_shift(sums, 4, out=lines[part])  # so that the products below fit into 32 bits
    out = np.empty((height, width * channels), "uint8")
    for part in blocks(height, width):
        sums = np.take(lines, upper[part], 0)
        sums *= above[part, None]
        sums >>= 16
        rest = np.take(lines, lower[part], 0)
        rest *= below[part, None]
        rest >>= 16
        sums += rest
        sums += 2
        sums >>= 2
        out[part] = sums
    return out.reshape(height, width, *a.shape[2:])
