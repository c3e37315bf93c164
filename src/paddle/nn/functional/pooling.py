"""Pooling over windows and bins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine import errors, types
from ...engine.eager.capture import follows
from ...engine.ops import pooling as ops
from ...engine.ops.creation import Full
from ...engine.ops.planes import TakePlane
from ...engine.ops.tables import table
from ...engine.ops.taps import Taps, tap_tables
from ...framework.tables import general, tensors_of
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, tensor
from .conv import FORMATS, channels_last, padding_pairs, positive, same_padding, to_first, to_last

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip


class Geometry:
    """Where the windows of a pooling lie.

    Attributes:
        kernel, strides, low, high, sizes: per pooled axis: window, step, padding, number of windows.
        exact: no window reaches outside the input.
    """

    def __init__(self, name: str, source: Sequence[int], kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
                 last: bool):  # fmt: skip
        rank = len(source)
        self.kernel = positive(kernel, rank, name, "kernel_size")
        self.strides = self.kernel if stride is None else positive(stride, rank, name, "stride")
        pairs = padding_pairs(padding, rank, last, name)
        if pairs == "SAME":
            pairs = [same_padding(*a) for a in zip(source, self.kernel, self.strides)]
            ceil_mode = False
        elif pairs == "VALID":
            if ceil_mode:
                raise errors.invalid_argument(
                    f"{name}: ceil_mode does not go with padding 'VALID'.",
                    expected="ceil_mode=False",
                    received=f"ceil_mode: {ceil_mode}",
                )
            pairs = [(0, 0)] * rank
        self.low, self.high = tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        up = self.strides if ceil_mode else (1,) * rank
        self.sizes = tuple(
            int((n + a + b - k + u - 1) / s) + 1  # toward 0, as upstream: a window may be larger than the input
            for n, a, b, k, s, u in zip(source, self.low, self.high, self.kernel, self.strides, up)
        )
        if any(z < 1 for z in self.sizes):
            raise errors.invalid_argument(
                f"{name}: the window is larger than the padded input.",
                expected="kernel_size <= size + padding, along each axis",
                received=f"sizes: {list(source)}, kernel_size: {list(self.kernel)}, padding: {pairs}",
            )
        self.exact = (
            not general()
            and not any(self.low)
            and all((z - 1) * s + k <= n for z, s, k, n in zip(self.sizes, self.strides, self.kernel, source))
        )

    def attributes(self) -> tuple[Any, ...]:
        return self.kernel, self.strides, self.low, self.sizes, self.exact


def checked(name: str, x: Any, rank: int) -> None:
    tensor(x, name)
    if x.ndim != rank + 2:
        raise errors.invalid_argument(
            f"{name}: x has the wrong number of axes.", expected=f"{rank + 2} axes", received=f"x: {x.type}"
        )
    floating(x, name)


def maximum(name: str, rank: int, x: Any, kernel: Any, stride: Any, padding: Any, return_mask: bool,
              ceil_mode: bool, data_format: str) -> Any:  # fmt: skip
    last = channels_last(data_format, rank, name)
    checked(name, x, rank)
    if return_mask and last:
        raise errors.invalid_argument(
            f"{name}: return_mask goes with channels first only.",
            expected=f"data_format {FORMATS[rank][0]!r}",
            received=f"data_format: {data_format!r}",
        )
    x = to_first(x, last)
    at = lambda t: Geometry(name, t.shape[2:], kernel, stride, padding, ceil_mode, last).attributes()
    where = at(x.type)
    out = to_last(follows(ops.MaxPool(*where)(x), lambda t: ops.MaxPool(*at(t))), last)
    return (out, follows(ops.MaxPoolIndex(*where)(x), lambda t: ops.MaxPoolIndex(*at(t)))) if return_mask else out


def average(name: str, rank: int, x: Any, kernel: Any, stride: Any, padding: Any, exclusive: bool, ceil_mode: bool,
              divisor: Any, data_format: str) -> Any:  # fmt: skip
    last = channels_last(data_format, rank, name)
    checked(name, x, rank)
    x = to_first(x, last)
    where = Geometry(name, tuple(x.shape)[2:], kernel, stride, padding, ceil_mode, last)
    if divisor is not None and not divisor:
        raise errors.invalid_argument(
            f"{name}: divisor_override is 0.", expected="a number other than 0", received=f"divisor_override: {divisor}"
        )
    by = lambda g: ops.AvgPool(*g.attributes(), () if exclusive else g.high, float(divisor or 0))
    at = lambda t: by(Geometry(name, t.shape[2:], kernel, stride, padding, ceil_mode, last))
    return to_last(follows(by(where)(x), at), last)


@public(composed=True)
def max_pool1d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               return_mask: bool = False, ceil_mode: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """The greatest element of each window.

    Args:
        x (Tensor): [N, C, L].
        kernel_size (int|list): size of the window.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): on both sides, [before, after], "SAME" or "VALID". Default: 0.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        ceil_mode (bool, optional): a last, partial window counts. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, Z]; with return_mask a tuple with the positions (int32) along L.

    Raises:
        ValueError: x has not 3 axes, the window does not fit, or the padding is not known.
    """
    return maximum("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@public(composed=True)
def max_pool2d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               return_mask: bool = False, ceil_mode: bool = False, data_format: str = "NCHW",
               name: str | None = None) -> Any:  # fmt: skip
    """The greatest element of each window.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        kernel_size (int|list): size of the window, [h, w] or both.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): both sides; [h, w]; [top, bottom, left, right]; a pair per axis; "SAME";
            "VALID". Default: 0.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        ceil_mode (bool, optional): last, partial windows count. Default: False.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW] in data_format; with return_mask a tuple with the positions (int32) h * W + w.

    Raises:
        ValueError: x has not 4 axes, the window does not fit, or the padding or format is not known.

    Examples:
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> paddle.nn.functional.max_pool2d(x, 2).tolist()
        [[[[4.0]]]]
    """
    return maximum("max_pool2d", 2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@public(composed=True)
def max_pool3d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               return_mask: bool = False, ceil_mode: bool = False, data_format: str = "NCDHW",
               name: str | None = None) -> Any:  # fmt: skip
    """The greatest element of each window; see `max_pool2d`.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        kernel_size (int|list): size of the window.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): as for `max_pool2d`. Default: 0.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        ceil_mode (bool, optional): last, partial windows count. Default: False.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZD, ZH, ZW] in data_format; with return_mask a tuple with the positions (int32).

    Raises:
        ValueError: x has not 5 axes, the window does not fit, or the padding or format is not known.
    """
    return maximum("max_pool3d", 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@public(composed=True)
def avg_pool1d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               exclusive: bool = True, ceil_mode: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """The mean of each window.

    Args:
        x (Tensor): [N, C, L].
        kernel_size (int|list): size of the window.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): on both sides, [before, after], "SAME" or "VALID". Default: 0.
        exclusive (bool, optional): the padding does not count as elements. Default: True.
        ceil_mode (bool, optional): a last, partial window counts. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, Z].

    Raises:
        ValueError: x has not 3 axes, the window does not fit, or the padding is not known.
    """
    return average("avg_pool1d", 1, x, kernel_size, stride, padding, exclusive, ceil_mode, None, "NCL")


@public(composed=True)
def avg_pool2d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               ceil_mode: bool = False, exclusive: bool = True, divisor_override: float | None = None,
               data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The mean of each window.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        kernel_size (int|list): size of the window.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): as for `max_pool2d`. Default: 0.
        ceil_mode (bool, optional): last, partial windows count. Default: False.
        exclusive (bool, optional): the padding does not count as elements. Default: True.
        divisor_override (float, optional): what sums are divided by instead of the count. Default: None.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW] in data_format.

    Raises:
        ValueError: x has not 4 axes, the window does not fit, or the padding or format is not known.
    """
    return average("avg_pool2d", 2, x, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override,
                     data_format)  # fmt: skip


@public(composed=True)
def avg_pool3d(x: Tensor, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
               ceil_mode: bool = False, exclusive: bool = True, divisor_override: float | None = None,
               data_format: str = "NCDHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The mean of each window; see `avg_pool2d`.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        kernel_size (int|list): size of the window.
        stride (int|list, optional): elements between windows; kernel_size if None. Default: None.
        padding (int|str|list, optional): as for `max_pool2d`. Default: 0.
        ceil_mode (bool, optional): last, partial windows count. Default: False.
        exclusive (bool, optional): the padding does not count as elements. Default: True.
        divisor_override (float, optional): what sums are divided by instead of the count. Default: None.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZD, ZH, ZW] in data_format.

    Raises:
        ValueError: x has not 5 axes, the window does not fit, or the padding or format is not known.
    """
    return average("avg_pool3d", 3, x, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override,
                     data_format)  # fmt: skip


# ---- adaptive ---------------------------------------------------------------------------------
def bins_of(name: str, size: Any, source: Sequence[int]) -> tuple[int, ...]:
    """Numbers of bins; None keeps the size of the axis."""
    if isinstance(size, (list, tuple)):
        size = [n if s is None else s for s, n in zip(size, source)] if len(size) == len(source) else size
    elif size is None:
        size = list(source)
    elif isinstance(size, str) or not hasattr(size, "__index__"):
        # upstream looks for one number per axis first
        short = isinstance(size, str) and len(size) < len(source)
        raise (errors.out_of_range if short else errors.invalid_type)(
            f"{name}: output_size is neither an integer nor a list of integers.",
            expected=f"an int, or {len(source)} of them",
            received=f"output_size: {size!r:.60}",
        )
    return positive(size, len(source), name, "output_size")


@table("mean of bins", lambda n, bins: 16 * n * bins)
@lru_cache(maxsize=256)
def _mean_tables(n: int, bins: int) -> tuple[np.ndarray, ...]:
    matrix = np.zeros((n, bins))
    for z in range(bins):
        a, b = z * n // bins, -(-(z + 1) * n // bins)
        matrix[a:b, z] = 1 / (b - a)
    return tap_tables(matrix)


def apply_taps(x: Any, axis: int, make: Any, *args: Any) -> Any:
    """The map along one axis whose tables `make` gives; weights take the type in which x is computed."""
    return Taps(axis)(x, *tensors_of(make, *args))


def _adaptive_avg(name: str, rank: int, x: Any, output_size: Any, data_format: str) -> Any:
    last = channels_last(data_format, rank, name)
    checked(name, x, rank)
    x = to_first(x, last)
    source = tuple(x.shape)[2:]
    sizes = bins_of(name, output_size, source)
    if 0 in source:
        return to_last(_of_nothing(x, sizes), last)
    shortcut = not general() or max(sizes) == 1
    if shortcut and not any(n % z for n, z in zip(source, sizes)):
        kernel = tuple(n // z for n, z in zip(source, sizes))
        return to_last(ops.AvgPool(kernel, kernel, (0,) * rank, sizes, True)(x), last)
    for axis, (n, z) in enumerate(zip(source, sizes), 2):
        if n != z or not shortcut:
            x = apply_taps(x, axis, _mean_tables, n, z)
    return to_last(x, last)


def _of_nothing(x: Any, sizes: tuple[int, ...]) -> Any:
    """The mean, or greatest, of no elements: NaN in every bin."""
    total = x.sum(axis=list(range(2, x.ndim)), keepdim=True) * float("nan")
    return total.expand([*total.shape[:2], *sizes])


def _adaptive_max(name: str, rank: int, x: Any, output_size: Any, return_mask: bool) -> Any:
    checked(name, x, rank)
    source = tuple(x.shape)[2:]
    sizes = bins_of(name, output_size, source)
    if 0 in source:
        out = _of_nothing(x, sizes)
        return (out, Full(out.type.shape, 0, types.int32)()) if return_mask else out
    if not any(n % z for n, z in zip(source, sizes)):
        kernel = tuple(n // z for n, z in zip(source, sizes))
        where = (kernel, kernel, (0,) * rank, sizes, True)
        out = ops.MaxPool(*where)(x)
        return (out, ops.MaxPoolIndex(*where)(x)) if return_mask else out
    index = ops.AdaptiveMaxIndex(sizes)(x)
    out = TakePlane(rank)(x, index)
    return (out, index) if return_mask else out


@public(also={"x": "input"}, composed=True)
def adaptive_avg_pool1d(x: Tensor, output_size: int | Sequence[int], name: str | None = None) -> Tensor:
    """The mean of each of output_size bins; bin z covers floor(z * L / Z) to ceil((z + 1) * L / Z).

    Args:
        x (Tensor): [N, C, L].
        output_size (int|list): number of bins Z.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, Z].

    Raises:
        ValueError: x has not 3 axes, or output_size is not positive.
    """
    return _adaptive_avg("adaptive_avg_pool1d", 1, x, output_size, "NCL")


@public(also={"x": "input"}, composed=True)
def adaptive_avg_pool2d(x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The mean of each bin, with output_size bins per axis.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        output_size (int|list): bins along both axes; None in a list keeps the size.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW] in data_format.

    Raises:
        ValueError: x has not 4 axes, or output_size does not fit.

    Examples:
        >>> paddle.nn.functional.adaptive_avg_pool2d(paddle.ones([1, 3, 7, 7]), 1).shape
        paddle.Size([1, 3, 1, 1])
    """
    return _adaptive_avg("adaptive_avg_pool2d", 2, x, output_size, data_format)


@public(also={"x": "input"}, composed=True)
def adaptive_avg_pool3d(x: Tensor, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Tensor:
    """The mean of each bin, with output_size bins per axis; see `adaptive_avg_pool2d`.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        output_size (int|list): bins along the axes; None in a list keeps the size.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZD, ZH, ZW] in data_format.

    Raises:
        ValueError: x has not 5 axes, or output_size does not fit.
    """
    return _adaptive_avg("adaptive_avg_pool3d", 3, x, output_size, data_format)


@public(also={"x": "input", "return_mask": "return_indices"}, composed=True)
def adaptive_max_pool1d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest element of each of output_size bins; see `adaptive_avg_pool1d`.

    Args:
        x (Tensor): [N, C, L].
        output_size (int|list): number of bins Z.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, Z]; with return_mask a tuple with the positions (int32) along L.

    Raises:
        ValueError: x has not 3 axes, or output_size is not positive.
    """
    return _adaptive_max("adaptive_max_pool1d", 1, x, output_size, return_mask)


@public(also={"x": "input", "return_mask": "return_indices"}, composed=True)
def adaptive_max_pool2d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest element of each bin, with output_size bins per axis.

    Args:
        x (Tensor): [N, C, H, W].
        output_size (int|list): bins along both axes; None in a list keeps the size.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZH, ZW]; with return_mask a tuple with the positions (int32) h * W + w.

    Raises:
        ValueError: x has not 4 axes, or output_size does not fit.
    """
    return _adaptive_max("adaptive_max_pool2d", 2, x, output_size, return_mask)


@public(also={"x": "input", "return_mask": "return_indices"}, composed=True)
def adaptive_max_pool3d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest element of each bin, with output_size bins per axis; see `adaptive_max_pool2d`.

    Args:
        x (Tensor): [N, C, D, H, W].
        output_size (int|list): bins along the axes; None in a list keeps the size.
        return_mask (bool, optional): also return where the elements were found. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, ZD, ZH, ZW]; with return_mask a tuple with the positions (int32).

    Raises:
        ValueError: x has not 5 axes, or output_size does not fit.
    """
    return _adaptive_max("adaptive_max_pool3d", 3, x, output_size, return_mask)
