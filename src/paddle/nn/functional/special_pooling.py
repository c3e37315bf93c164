"""Pooling over random bins, powers in windows, and the inverse of pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import errors
from ...engine.ops import pooling as ops
from ...engine.ops.elementwise import sqrt
from ...engine.ops.math import pow_
from ...engine.ops.planes import SetPlane, TakePlane
from ...framework.random import next_key
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, numbers, tensor
from .conv import FORMATS, positive
from .pooling import average, bins_of, checked, maximum

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool3d", "lp_pool1d", "lp_pool2d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d",
]  # fmt: skip


# ---- fractional -------------------------------------------------------------------------------
def fractional_bins(n: int, bins: int, kernel: int | None, u: float) -> tuple[tuple[int, int], ...]:
    """Bins whose edges follow ceil(alpha * (z + u)) with alpha = n / bins.

    Source: Graham 2014, arXiv:1412.6071, section 3; with upstream's choice of u, and overlapping bins for a kernel.
    """
    alpha = (n - (kernel or 0)) / (bins - (1 if kernel else 0)) if bins > 1 or not kernel else 1.0
    if kernel:
        starts = [int((z + u) * alpha) - int(u * alpha) for z in range(bins)]
        starts = [n - kernel if z == bins - 1 and bins > 1 else s for z, s in enumerate(starts)]
        return tuple((s, min(s + kernel, n)) for s in starts)
    base = n // bins
    u_max = min((base + 2) / alpha - 1, (n + 1 - base) / alpha - (bins - 1))
    v = u * u_max
    edges = [int((z + v) * alpha) - int(v * alpha) for z in range(bins + 1)]
    return tuple((edges[z], min(edges[z + 1], n)) for z in range(bins))


def _fractional(name: str, rank: int, x: Any, output_size: Any, kernel: Any, u: Any, return_mask: bool) -> Any:
    checked(name, x, rank)
    source = tuple(x.shape)[2:]
    sizes = bins_of(name, output_size, source)
    kernels = (None,) * rank if kernel is None else positive(kernel, rank, name, "kernel_size")
    for n, size, k in zip(source, sizes, kernels):
        if size - 1 + (k or 1) > n:
            raise errors.invalid_argument(
                f"{name}: there are more bins than fit.",
                expected=f"output_size{'' if k is None else ' - 1 + kernel_size'} <= {list(source)}",
                received=f"output_size: {list(sizes)}, kernel_size: {kernel}",
            )
    if u is None:
        u = float(np.random.Generator(np.random.Philox(abs(int(next_key().numpy().sum())))).uniform(1e-6, 1 - 1e-6))
    if not 0 < u < 1:
        raise errors.invalid_argument(f"{name}: random_u is out of range.", expected="0 < random_u < 1",
                                      received=f"{u}")  # fmt: skip
    index = ops.BinMaxIndex(tuple(fractional_bins(*a, u) for a in zip(source, sizes, kernels)))(x)
    out = TakePlane(rank)(x, index)
    return (out, index) if return_mask else out


@public(guarded=True)
def fractional_max_pool2d(x: Tensor, output_size: Any, kernel_size: Any = None, random_u: float | None = None,
                          return_mask: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """The greatest element of each bin of a pseudo-random division into output_size bins.

    Source: Graham 2014, arXiv:1412.6071.

    Args:
        x (Tensor): [N, C, H, W].
        output_size (int|list): bins along both axes; None in a list keeps the size.
        kernel_size (int|list, optional): size of overlapping bins; None for disjoint ones. Default: None.
        random_u (float, optional): in (0, 1), chooses the division; drawn if None. Default: None.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW]; with return_mask a tuple with the positions (int32).

    Raises:
        ValueError: x has not 4 axes, output_size does not fit, or random_u is out of range.
    """
    return _fractional("fractional_max_pool2d", 2, x, output_size, kernel_size, random_u, return_mask)


@public(guarded=True)
def fractional_max_pool3d(x: Tensor, output_size: Any, kernel_size: Any = None, random_u: float | None = None,
                          return_mask: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """The greatest element of each bin of a pseudo-random division; see `fractional_max_pool2d`.

    Args:
        x (Tensor): [N, C, D, H, W].
        output_size (int|list): bins along the axes; None in a list keeps the size.
        kernel_size (int|list, optional): size of overlapping bins; None for disjoint ones. Default: None.
        random_u (float, optional): in (0, 1), chooses the division; drawn if None. Default: None.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZD, ZH, ZW]; with return_mask a tuple with the positions (int32).

    Raises:
        ValueError: x has not 5 axes, output_size does not fit, or random_u is out of range.
    """
    return _fractional("fractional_max_pool3d", 3, x, output_size, kernel_size, random_u, return_mask)


# ---- unpooling --------------------------------------------------------------------------------
def _unpool(name: str, rank: int, x: Any, indices: Any, kernel: Any, stride: Any, padding: Any, data_format: str,
            output_size: Any) -> Any:  # fmt: skip
    tensor(indices, name, "indices")
    if data_format != FORMATS[rank][0]:
        raise errors.invalid_argument(
            f"{name}: data_format is not known.", expected=FORMATS[rank][0], received=f"{data_format!r}"
        )
    checked(name, x, rank)
    kernels = positive(kernel, rank, name, "kernel_size")
    strides = kernels if stride is None else positive(stride, rank, name, "stride")
    paddings = numbers(padding, rank, name, "padding")
    least = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(tuple(x.shape)[2:], strides, paddings, kernels)]
    if output_size is None:
        sizes = tuple(least)
    else:
        if isinstance(output_size, (list, tuple)) and len(output_size) == rank + 2:
            output_size = list(output_size)[2:]
        sizes = numbers(output_size, rank, name, "output_size")
        if any(not m - s < n < m + s for n, m, s in zip(sizes, least, strides)):
            raise errors.invalid_argument(
                f"{name}: output_size cannot be reached.",
                expected=f"within a stride of {least}",
                received=f"output_size: {list(sizes)}",
            )
    if indices.dtype.name not in ("int32", "int64"):
        raise errors.invalid_argument(
            f"{name}: indices are of the wrong type.", expected="int32 or int64", received=f"indices: {indices.type}"
        )
    if tuple(indices.shape) != tuple(x.shape):
        raise errors.invalid_argument(
            f"{name}: indices do not fit x.",
            expected="the shape of x",
            received=f"x: {x.type}, indices: {indices.type}",
        )
    return SetPlane(rank, sizes)(x, indices)


@public(guarded=True)
def max_unpool1d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 data_format: str = "NCL", output_size: Any = None, name: str | None = None) -> Tensor:  # fmt: skip
    """Puts the results of `max_pool1d` back where they were found, with zeros around.

    Args:
        x (Tensor): [N, C, Z].
        indices (Tensor): int32 or int64, the positions that the pooling returned.
        kernel_size, stride, padding: of the pooling.
        data_format (str, optional): "NCL". Default: "NCL".
        output_size (list, optional): sizes of the result where the pooling left a rest. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, (Z - 1) * stride - 2 * padding + kernel_size].

    Raises:
        ValueError: shapes or output_size do not fit. IndexError: a position is outside the result.
    """
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


@public(guarded=True)
def max_unpool2d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 data_format: str = "NCHW", output_size: Any = None, name: str | None = None) -> Tensor:  # fmt: skip
    """Puts the results of `max_pool2d` back where they were found, with zeros around; see `max_unpool1d`.

    Args:
        x (Tensor): [N, C, ZH, ZW].
        indices (Tensor): int32 or int64, the positions that the pooling returned.
        kernel_size, stride, padding: of the pooling.
        data_format (str, optional): "NCHW". Default: "NCHW".
        output_size (list, optional): sizes of the result where the pooling left a rest. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, H, W].

    Raises:
        ValueError: shapes or output_size do not fit. IndexError: a position is outside the result.
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


@public(guarded=True)
def max_unpool3d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 data_format: str = "NCDHW", output_size: Any = None, name: str | None = None) -> Tensor:  # fmt: skip
    """Puts the results of `max_pool3d` back where they were found, with zeros around; see `max_unpool1d`.

    Args:
        x (Tensor): [N, C, ZD, ZH, ZW].
        indices (Tensor): int32 or int64, the positions that the pooling returned.
        kernel_size, stride, padding: of the pooling.
        data_format (str, optional): "NCDHW". Default: "NCDHW".
        output_size (list, optional): sizes of the result where the pooling left a rest. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, D, H, W].

    Raises:
        ValueError: shapes or output_size do not fit. IndexError: a position is outside the result.
    """
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)


# ---- power averages ---------------------------------------------------------------------------
def _lp_pool(name: str, rank: int, x: Any, norm_type: float, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
             data_format: str) -> Any:  # fmt: skip
    if norm_type == float("inf"):
        return maximum(name, rank, x, kernel, stride, padding, False, ceil_mode, data_format)
    if not norm_type:
        raise errors.invalid_argument(
            f"{name}: norm_type is 0.", expected="a number other than 0", received=f"norm_type: {norm_type}"
        )
    floating(x, name)
    p = float(norm_type)
    powered = x if p == 1 else x * x if p == 2 else pow_(x, p)
    total = average(name, rank, powered, kernel, stride, padding, False, ceil_mode, 1.0, data_format)
    return total if p == 1 else sqrt(total) if p == 2 else pow_(total, 1.0 / p)


@public(also={"x": "input"})
def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0,
              ceil_mode: bool = False, data_format: str = "NCL", name: str | None = None) -> Tensor:  # fmt: skip
    """(sum over the window of x ** norm_type) ** (1 / norm_type).

    Args:
        x (Tensor): [N, C, L], or [N, L, C] as data_format says.
        norm_type (float): the power; infinity for the maximum.
        kernel_size, stride, padding, ceil_mode: as for `avg_pool1d`; a bool in the place of padding is ceil_mode.
        data_format (str, optional): "NCL" or "NLC". Default: "NCL".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, Z] in data_format.

    Raises:
        ValueError: norm_type is 0, or the window does not fit.
    """
    if isinstance(padding, bool):
        padding, ceil_mode = 0, padding
    return _lp_pool("lp_pool1d", 1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


@public(also={"x": "input"})
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0,
              ceil_mode: bool = False, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """(sum over the window of x ** norm_type) ** (1 / norm_type); see `lp_pool1d`.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        norm_type (float): the power; infinity for the maximum.
        kernel_size, stride, padding, ceil_mode: as for `avg_pool2d`; a bool in the place of padding is ceil_mode.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW] in data_format.

    Raises:
        ValueError: norm_type is 0, or the window does not fit.
    """
    if isinstance(padding, bool):
        padding, ceil_mode = 0, padding
    return _lp_pool("lp_pool2d", 2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)
