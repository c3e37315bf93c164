"""Resizing of images: every mode is a linear map along one axis after the other."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.ops.tables import table
from ...engine.ops.taps import tap_tables
from ...engine.types import DType
from ...framework.tables import general
from ...tensor.creation import copy_of
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import choice, floating, need_fixed, no_kernel, tensor
from .conv import to_first, to_last
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, apply_taps

__all__ = ["interpolate", "upsample"]

MODES = ("linear", "bilinear", "trilinear", "bicubic", "nearest", "area")
FORMATS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
CUBIC = -0.75  # slope of the cubic kernel at 1


@table("resize", lambda kind, n, out, *_: 16 * n * out)
@lru_cache(maxsize=256)
def resize_tables(kind: str, n: int, out: int, scale: float, align_corners: bool, align_mode: int) -> Any:
    """Tables of Taps that resize an axis from n to `out` elements.

    kind: "nearest", "linear" or "cubic". scale: the factor that was asked for, 0 if a size was.
    """
    f = np.float32  # upstream computes positions in float32, which decides on which side of a border they fall
    if align_corners:
        ratio = f((n - 1) / (out - 1)) if out > 1 else f(0)
    else:
        ratio = f(1 / scale) if scale > 0 else f(n / out)
    z = np.arange(out, dtype=f)
    matrix = np.zeros((n, out))
    columns = np.arange(out)
    if kind == "nearest":
        at = np.minimum((ratio * z + f(0.5 if align_corners else 0)).astype(int), n - 1)
        matrix[at, columns] = 1
    elif kind == "linear":
        centred = align_mode == 0 and not align_corners
        at = np.maximum(ratio * (z + f(0.5)) - f(0.5), 0) if centred else ratio * z
        low = np.minimum(at.astype(int), n - 1)
        share = (at - low).astype(np.float64)
        np.add.at(matrix, (low, columns), 1 - share)
        np.add.at(matrix, (np.minimum(low + 1, n - 1), columns), share)
    else:
        at = ratio * z if align_corners else ratio * (z + f(0.5)) - f(0.5)
        low = np.floor(at).astype(int)
        t = (at - low).astype(np.float64)
        a = CUBIC
        near = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1  # noqa: E731
        far = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a  # noqa: E731
        for k, w in ((-1, far(t + 1)), (0, near(t)), (1, near(1 - t)), (2, far(2 - t))):
            np.add.at(matrix, (np.clip(low + k, 0, n - 1), columns), w)
    return tap_tables(matrix)


def _sizes(x: Any, size: Any, scale: Any, spatial: tuple[int, ...]) -> tuple[list[int], list[float]]:
    rank = len(spatial)
    if size is not None:
        if isinstance(size, Tensor):
            size = size.tolist() if size.ndim else [size.item()]
        if not hasattr(size, "__iter__"):
            raise errors.invalid_type("interpolate: size is not a list.", expected=f"{rank} ints", received=f"{size!r}")
        sizes = [int(v) for v in size]
        if len(sizes) != rank:
            raise errors.invalid_argument(
                "interpolate: size has the wrong length.",
                expected=f"{rank} numbers",
                received=f"size: {sizes}, x: {x.type}",
            )
        if min(sizes) < 1:
            raise errors.asserted("interpolate: size is not positive.", expected="above 0", received=f"size: {sizes}")
        return sizes, [0.0] * rank
    if isinstance(scale, Tensor):
        scale = scale.tolist() if scale.ndim else scale.item()
    if isinstance(scale, (list, tuple)):
        scales = [float(v) for v in scale]
        if len(scales) != rank:
            raise errors.invalid_argument(
                "interpolate: scale_factor has the wrong length.",
                expected=f"a number, or {rank} of them",
                received=f"scale_factor: {scales}",
            )
    elif isinstance(scale, (int, float)):
        scales = [float(scale)] * rank
    else:
        raise errors.invalid_type(
            "interpolate: scale_factor is not a number.", expected="a float, a list or a Tensor", received=f"{scale!r}"
        )
    if min(scales) <= 0:
        raise errors.invalid_argument(
            "interpolate: scale_factor is not positive.", expected="above 0", received=f"{scales}"
        )
    return [int(n * s) for n, s in zip(spatial, scales)], scales


@public(guarded=True)
def interpolate(x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool = False, align_mode: int = 0, data_format: str | None = None,
                recompute_scale_factor: bool | None = None, antialias: bool = False,
                name: str | None = None) -> Tensor:  # fmt: skip
    """x resized along its spatial axes.

    Args:
        x (Tensor): [N, C, W], [N, C, H, W] or [N, C, D, H, W], or the channels last as data_format says.
        size (list|tuple|Tensor, optional): sizes of the result. Default: None.
        scale_factor (float|list|tuple|Tensor, optional): instead of size, factors. Default: None.
        mode (str, optional): "nearest", "linear" (3 axes), "bilinear", "bicubic" (4), "trilinear" (5) or "area".
            Default: "nearest".
        align_corners (bool, optional): the centres of the corner elements stay in place. Not for "nearest" and
            "area". Default: False.
        align_mode (int, optional): linear modes without align_corners: 0 takes elements as areas, with their centres
            at halves; 1 as points. Default: 0.
        data_format (str, optional): "NCW", "NWC", "NCHW", "NHWC", "NCDHW" or "NDHWC". Default: None, channels first.
        recompute_scale_factor (bool, optional): positions follow from the sizes, not from scale_factor.
            Default: None, False.
        antialias (bool, optional): accepted, and without effect as in upstream's CPU kernels. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: the resized x.

    Raises:
        ValueError: mode, data_format and the axes of x do not go together; neither or both of size and scale_factor
            are given. TypeError: size or scale_factor is of another type.

    Examples:
        >>> x = paddle.to_tensor([[[0.0, 1.0]]])
        >>> paddle.nn.functional.interpolate(x, [3], mode="linear", align_corners=True).flatten().tolist()
        [0.0, 0.5, 1.0]
    """
    tensor(x, "interpolate")
    kind = mode.lower() if isinstance(mode, str) else mode
    choice(kind, MODES, "interpolate", "mode")
    axes = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "nearest": (4, 5), "area": (3, 4, 5)}
    if x.ndim not in axes[kind]:
        raise errors.invalid_argument(
            f"interpolate: mode {kind!r} does not go with the axes of x.",
            expected=f"{' or '.join(map(str, axes[kind]))} axes",
            received=f"x: {x.type}",
        )
    if size is None and scale_factor is None:
        raise errors.invalid_argument(
            "interpolate: neither size nor scale_factor is given.",
            expected="one of them",
            received="size: None, scale_factor: None",
        )
    if size is not None and scale_factor is not None:
        raise errors.invalid_argument(
            "interpolate: size and scale_factor are both given.",
            expected="one of them",
            received=f"size: {size}, scale_factor: {scale_factor}",
        )
    if align_corners and kind in ("nearest", "area"):
        raise errors.invalid_argument(
            f"interpolate: align_corners does not go with mode {kind!r}.",
            expected="a linear or cubic mode",
            received="align_corners: True",
        )
    choice(align_mode, (0, 1), "interpolate", "align_mode")
    first, second = FORMATS[x.ndim]
    layout = (data_format or first).upper()
    layout = {"NCL": "NCW", "NLC": "NWC"}.get(layout, layout)
    last = choice(layout, (first, second), "interpolate", "data_format") == second
    if size is None and kind == "area":
        raise errors.invalid_argument(
            "interpolate: mode 'area' takes no scale_factor.", expected="size", received=f"scale_factor: {scale_factor}"
        )
    x = to_first(x, last)
    if 0 in x.type.shape[2:]:
        raise errors.invalid_argument(
            "interpolate: there is nothing to interpolate between.",
            expected="spatial axes of at least one element",
            received=f"x: {x.type}",
        )
    spatial = tuple(x.shape)[2:]
    sizes, scales = _sizes(x, size, scale_factor, spatial)
    if recompute_scale_factor:
        scales = [0.0] * len(scales)
    if min(sizes) < 1:
        raise errors.invalid_argument("interpolate: the result would be empty.", expected="sizes of at least 1",
                                      received=f"{sizes}")  # fmt: skip
    if kind == "area":
        pool = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}[len(sizes)]
        return to_last(pool(x, sizes), last)
    family = "nearest" if kind == "nearest" else "cubic" if kind == "bicubic" else "linear"
    if family != "nearest":
        floating(x, "interpolate")
    elif not _has_kernel(x.dtype):
        raise no_kernel(
            "interpolate: there is no kernel for this element type.",
            received=f"x: {x.type}",
            expected="a floating type, or uint8",
        )
    out = x
    for axis, (n, m, s) in enumerate(zip(spatial, sizes, scales), 2):
        if n != m or s or general():
            if n != m or s:
                need_fixed(n, "interpolate")
            out = apply_taps(out, axis, resize_tables, family, n, m, s, bool(align_corners), align_mode)
    return to_last(copy_of(x) if out is x else out, last)


def _has_kernel(dtype: DType) -> bool:
    return dtype.is_floating or dtype.name in ("int32", "int64", "uint8")


@public(guarded=True)
def upsample(x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool = False, align_mode: int = 0, data_format: str | None = None,
             name: str | None = None) -> Tensor:  # fmt: skip
    """x resized along its spatial axes; see `interpolate`."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)
