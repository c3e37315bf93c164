"""Sampling of images at computed places, and shifts in time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.ops import elementwise as ew
from ...engine.ops.join import concat
from ...engine.ops.linalg import matmul
from ...engine.ops.logic import logical_and, select
from ...engine.ops.math import abs_, clip, floor, round_
from ...engine.ops.planes import TakePlane
from ...engine.ops.shape import broadcast_to, pad, reshape, slice_axis
from ...engine.ops.tables import table
from ...engine.types import int64
from ...framework.tables import tensor_of
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import choice, floating

__all__ = ["affine_grid", "grid_sample", "temporal_shift"]


@table("grid", lambda sizes, align_corners, dtype: 32 * math.prod(sizes))
@lru_cache(maxsize=64)
def _base_grid(sizes: tuple[int, ...], align_corners: bool, dtype: str) -> np.ndarray:
    """Homogeneous coordinates in [-1, 1] of the elements of an image, the last axis first: [size, rank + 1]."""
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1) - (1 if align_corners else 0)
        lines.append(line if align_corners or n == 1 else line * (n - 1) / n)
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.ascontiguousarray(np.stack([m.ravel() for m in mesh] + [np.ones(math.prod(sizes))], 1), dtype)


@public(guarded=True)
def affine_grid(theta: Tensor, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Tensor:
    """Places of a transformed image in the original, for `grid_sample`.

    Source: Jaderberg et al. 2015, arXiv:1506.02025, section 3.2.

    Args:
        theta (Tensor): affine maps, [N, 2, 3] for images or [N, 3, 4] for volumes.
        out_shape (list|tuple|Tensor): [N, C, H, W] or [N, C, D, H, W] of the result.
        align_corners (bool, optional): -1 and 1 are the centres of the corner elements, else their outer edges.
            Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, H, W, 2] or [N, D, H, W, 3]: coordinates in [-1, 1], x first.

    Raises:
        ValueError: the shapes do not fit.
    """
    if not isinstance(theta, Tensor):
        raise errors.invalid_type(
            "affine_grid: theta is not a Tensor.", expected="a Tensor", received=f"theta: {theta!r:.60}"
        )
    floating(theta, "affine_grid", "theta")
    if isinstance(out_shape, str):
        raise errors.invalid_type(
            "affine_grid: out_shape is no shape.", expected="4 or 5 ints", received=f"out_shape: {out_shape!r}"
        )
    shape = [int(n) for n in (out_shape.tolist() if isinstance(out_shape, Tensor) else out_shape)]
    rank = len(shape) - 2
    if rank not in (2, 3) or tuple(theta.shape) != (shape[0], rank, rank + 1):
        raise errors.invalid_argument(
            "affine_grid: theta and out_shape do not fit.",
            expected="theta [N, 2, 3] with 4 sizes, or [N, 3, 4] with 5",
            received=f"theta: {theta.type}, out_shape: {shape}",
        )
    base = tensor_of(_base_grid, tuple(shape[2:]), bool(align_corners), theta.dtype.np.name)
    points = matmul(broadcast_to(reshape(base, (1, *base.shape)), (shape[0], *base.shape)), theta, False, True)
    return reshape(points, (shape[0], *shape[2:], rank))


def _reflected(at: Any, n: int, align_corners: bool) -> Any:
    """Places outside [0, n - 1] mirrored at the corner elements, or at their outer edges."""
    span = 2.0 * (n - 1 if align_corners else n)
    if not span:
        return at * 0.0
    shift = 0.0 if align_corners else 0.5
    at = abs_(at + shift)
    rest = at - floor(at / span) * span
    at = ew.minimum(rest, span - rest) - shift
    return at if align_corners else clip(at, 0.0, float(n - 1))


@public(also={"x": "input"}, kind=ValueError)
def grid_sample(x: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool = True, name: str | None = None) -> Tensor:  # fmt: skip
    """x read at the places that grid names.

    Args:
        x (Tensor): [N, C, H, W] or [N, C, D, H, W].
        grid (Tensor): [N, HO, WO, 2] or [N, DO, HO, WO, 3]: coordinates in [-1, 1], x first.
        mode (str, optional): "bilinear" or "nearest". Default: "bilinear".
        padding_mode (str, optional): what lies outside: "zeros", "border" (the nearest element) or "reflection".
            Default: "zeros".
        align_corners (bool, optional): -1 and 1 are the centres of the corner elements, else their outer edges.
            Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, HO, WO] or [N, C, DO, HO, WO].

    Raises:
        ValueError: the shapes do not fit, or a mode is not known.
    """
    floating(x, "grid_sample")
    floating(grid, "grid_sample", "grid")
    choice(mode, ("bilinear", "nearest"), "grid_sample", "mode")
    choice(padding_mode, ("zeros", "border", "reflection"), "grid_sample", "padding_mode")
    rank = x.ndim - 2
    if rank not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise errors.invalid_argument(
            "grid_sample: x and grid do not fit.",
            expected="x [N, C, H, W] with grid [N, HO, WO, 2], or one axis more each",
            received=f"x: {x.type}, grid: {grid.type}",
        )
    sizes = tuple(x.shape)[2:]
    places = []
    for axis, n in enumerate(sizes):
        j = rank - 1 - axis  # the grid names the last axis first
        at = reshape(slice_axis(grid, grid.ndim - 1, j, j + 1), tuple(grid.shape)[:-1])
        at = (at + 1.0) * ((n - 1) / 2) if align_corners else (at + 1.0) * (n / 2) - 0.5
        if padding_mode == "border":
            at = clip(at, 0.0, float(n - 1))
        elif padding_mode == "reflection":
            at = _reflected(at, n, align_corners)
        places.append(at)
    if mode == "nearest":
        return _read(x, [round_(at) for at in places], sizes)
    lows = [floor(at) for at in places]
    shares = [at - low for at, low in zip(places, lows)]
    out: Any = None
    for corner in itertools.product((0, 1), repeat=rank):
        weight: Any = None
        for one, share in zip(corner, shares):
            w = share if one else 1.0 - share
            weight = w if weight is None else weight * w
        value = _read(x, [low + float(one) if one else low for one, low in zip(corner, lows)], sizes)
        part = value * reshape(weight, (weight.shape[0], 1, *tuple(weight.shape)[1:]))
        out = part if out is None else out + part
    return out


def _read(x: Any, places: Sequence[Any], sizes: tuple[int, ...]) -> Any:
    """x at whole places, one per spatial axis; 0 where they are outside."""
    inside: Any = None
    flat: Any = None
    for at, n in zip(places, sizes):
        here = logical_and(ew.greater_equal(at, 0.0), ew.less_equal(at, float(n - 1)))  # NaN is nowhere
        ok = ew.cast(here, x.dtype)
        inside = ok if inside is None else inside * ok
        at = ew.cast(select(here, at, 0.0), int64)
        flat = at if flat is None else flat * n + at
    shape = (x.shape[0], x.shape[1], *tuple(flat.shape)[1:])
    spread = lambda v: reshape(v, (v.shape[0], 1, *tuple(v.shape)[1:]))  # noqa: E731
    return TakePlane(len(sizes))(x, broadcast_to(spread(flat), shape)) * spread(inside)


@public(guarded=True)
def temporal_shift(x: Tensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None,
                   data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """Part of the channels moved one step back in time, part of them one step on.

    Source: Lin, Gan and Han 2019, arXiv:1811.08383, section 3.1.

    Args:
        x (Tensor): [N * T, C, H, W], or [N * T, H, W, C] as data_format says.
        seg_num (int): T, the length in time.
        shift_ratio (float, optional): share of the channels for either way, below 0.5. Default: 0.25.
        name (str, optional): shown in printed programs. Default: None.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: x has not 4 axes, seg_num does not divide its first, or an option is out of range.
    """
    floating(x, "temporal_shift")
    choice(data_format, ("NCHW", "NHWC"), "temporal_shift", "data_format")
    if not isinstance(seg_num, int):
        raise errors.invalid_type(
            "temporal_shift: seg_num is not an integer.", expected="an int", received=f"{seg_num!r}"
        )
    if x.ndim != 4 or seg_num < 1 or x.shape[0] % seg_num:
        raise errors.invalid_argument(
            "temporal_shift: seg_num does not divide the first axis.",
            expected="4 axes, the first a multiple of seg_num",
            received=f"x: {x.type}, seg_num: {seg_num}",
        )
    if not 0 < shift_ratio < 0.5:
        raise errors.invalid_argument(
            "temporal_shift: shift_ratio is out of range.", expected="0 < shift_ratio < 0.5", received=f"{shift_ratio}"
        )
    last = data_format == "NHWC"
    shape = tuple(x.shape)
    v = reshape(x, (shape[0] // seg_num, seg_num, *shape[1:]))
    axis = 4 if last else 2
    c = v.shape[axis]
    a, b = int(c * shift_ratio), int(c * 2 * shift_ratio)
    none = (0,) * 5
    step = (0, 1, 0, 0, 0)
    back = slice_axis(pad(slice_axis(v, axis, 0, a), step, none), 1, 0, seg_num)
    on = slice_axis(pad(slice_axis(v, axis, a, b), none, step), 1, 1, seg_num + 1)
    out = concat([t for t in (back, on, slice_axis(v, axis, b, c)) if t.shape[axis]], axis)
    return reshape(out, shape)
