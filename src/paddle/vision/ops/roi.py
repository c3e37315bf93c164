"""Regions of interest of a feature map, brought to one size.

Boxes have no gradients: what is read where is computed from their values on the host, and the map is read and summed
by public operations, so that gradients reach it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import nn
from ...engine import errors
from ...io.dataloader.checks import require
from ...tensor.tensor import Tensor
from ._checks import check_tensor, pair

__all__ = ["PSRoIPool", "RoIAlign", "RoIPool", "psroi_pool", "roi_align", "roi_pool"]

# Shape letters: N images, C channels, H, W of the map, R regions, P parts along an axis, K elements of a part.
Window = tuple[np.ndarray, np.ndarray]  # along one axis: indices int64 [R, P, K] and weights [R, P, K]


def _regions(x: Any, boxes: Any, boxes_num: Any, function: str) -> tuple[np.ndarray, np.ndarray]:
    """Boxes [R, 4] and the number of the image of each, [R]."""
    check_tensor(x, function, "x", ("N", "C", "H", "W"))
    b = check_tensor(boxes, function, "boxes", ("R", 4)).numpy()
    require(boxes_num is not None, f"{function}: boxes_num is None.", "an int32 Tensor [N]", "None")
    counts = check_tensor(boxes_num, function, "boxes_num", (x.shape[0],), floating=False).numpy()
    if counts.sum() != len(b) or (counts < 0).any():
        raise errors.invalid_argument(
            f"{function}: boxes_num does not fit boxes.",
            expected=f"counts whose sum is {len(b)}",
            received=f"{counts.tolist()}",
        )
    return b, np.repeat(np.arange(len(counts)), counts)


def _round(a: np.ndarray) -> np.ndarray:
    """Half away from zero, as in C."""
    return np.trunc(a + np.copysign(a.dtype.type(0.5), a))


def _even(n: int) -> int:
    """A length of windows, the next even one: with fewer lengths fewer programs have to be compiled."""
    return max(n + n % 2, 2)


def _bins(low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices [R, P, K] of the elements from low to high [R, P], and which of them are."""
    low, high = (np.clip(v, 0, n).astype("int64") for v in (low, high))
    at = low[..., None] + np.arange(_even(int((high - low).max(initial=0))))
    return np.minimum(at, n - 1), at < high[..., None]


def _rows(x: Tensor, images: np.ndarray, y: np.ndarray, across: np.ndarray) -> tuple[Tensor, tuple[int, ...]]:
    """x at the elements that windows y [R, P, K] and across [R, Q, L] name: [R * P * Q * K * L, C], and those sizes."""
    import paddle

    n, c, h, w = x.shape
    at = images[:, None, None, None, None] * h + y[:, :, None, :, None]
    at = at * w + across[:, None, :, None, :]
    flat = x.transpose([0, 2, 3, 1]).reshape([n * h * w, c])
    return paddle.gather(flat, paddle.to_tensor(at.reshape(-1))), at.shape


def _weighted(x: Tensor, images: np.ndarray, y: Window, across: Window) -> Tensor:
    """Sums of x over windows, [R, C, P, Q]."""
    import paddle

    rows, (r, p, q, k, l) = _rows(x, images, y[0], across[0])
    weights = y[1][:, :, None, :, None] * across[1][:, None, :, None, :]
    weights = paddle.to_tensor(weights.reshape(r, p, q, k * l, 1).astype(x.dtype.np))
    return (rows.reshape([r, p, q, k * l, -1]) * weights).sum(axis=3).transpose([0, 3, 1, 2])


def _nothing(x: Tensor, c: int, p: int, q: int) -> Tensor:
    import paddle

    return paddle.zeros([0, c, p, q], x.dtype)


# ---- align ------------------------------------------------------------------------------------


def _interpolated(start: np.ndarray, size: np.ndarray, parts: int, ratio: int, n: int) -> Window:
    """Means of linear interpolations at the centres of each part's cells, as windows. start, size: [R]."""
    step = size / parts
    cells = np.full(len(start), ratio) if ratio > 0 else np.maximum(np.ceil(step), 0).astype("int64")
    most = max(int(cells.max(initial=0)), 1)
    cell = np.arange(most)
    many = np.maximum(cells, 1)
    inner = (cell + np.float32(0.5)) * (step / many)[:, None]  # [R, most]
    at = (start[:, None] + np.arange(parts) * step[:, None])[..., None] + inner[:, None]
    counts = (cell < cells[:, None])[:, None] & (at >= -1) & (at <= n)
    at = np.where(counts, np.maximum(at, 0), 0).astype(start.dtype)
    low = np.minimum(at.astype("int64"), n - 1)
    share = np.where(low >= n - 1, 0, at - low)
    first = np.where(counts, low, n).min(-1)  # of the window of each part
    length = _even(int(np.where(counts, low + 1 - first[..., None], 0).max(initial=0)) + 1)
    weights = np.zeros((*first.shape, length), start.dtype)
    r, p, _ = np.indices(at.shape)
    place = np.where(counts, low - first[..., None], 0)
    np.add.at(weights, (r, p, place), np.where(counts, 1 - share, 0) / many[:, None, None])
    np.add.at(weights, (r, p, np.minimum(place + 1, length - 1)), np.where(counts, share, 0) / many[:, None, None])
    return np.clip(first[..., None] + np.arange(length), 0, n - 1), weights


def roi_align(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Tensor:
    """Regions of a feature map in one size: means of interpolated values.

    Source: He et al. 2017, arXiv:1703.06870, section 3.

    Args:
        x (Tensor): the map, [N, C, H, W].
        boxes (Tensor): [R, 4], each x1, y1, x2, y2, those of the first image first.
        boxes_num (Tensor): int32 [N], how many boxes each image has.
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.
        sampling_ratio (int): how many values along each axis a part's mean is of; if not above 0, as many as the part
            has elements. Default: -1.
        aligned (bool): the centres of elements are at whole numbers and a half. Default: True.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: [R, C, P, Q].

    Raises:
        TypeError, ValueError: a wrong type or shape, or counts that do not fit. AssertionError: boxes_num is None.

    Examples:
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.roi_align(x, box, one, 2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    b, images = _regions(x, boxes, boxes_num, "roi_align")
    p, q = pair(output_size, "roi_align", "output_size")
    if not len(b):
        return _nothing(x, x.shape[1], p, q)
    scaled = b * b.dtype.type(spatial_scale) - b.dtype.type(0.5 if aligned else 0)
    size = scaled[:, 2:] - scaled[:, :2]
    size = size if aligned else np.maximum(size, 1)
    h, w = x.shape[2:]
    y = _interpolated(scaled[:, 1], size[:, 1], p, sampling_ratio, h)
    return _weighted(x, images, y, _interpolated(scaled[:, 0], size[:, 0], q, sampling_ratio, w))


class RoIAlign(nn.Layer):
    """See `roi_align`.

    Args:
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.

    Examples:
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIAlign(2)(paddle.ones([1, 3, 4, 4]), box, one).shape
        paddle.Size([1, 3, 2, 2])
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor:
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


# ---- pool -------------------------------------------------------------------------------------


def roi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Tensor:
    """Regions of a feature map in one size: greatest values.

    Source: Girshick 2015, arXiv:1504.08083, section 2.1.

    Args:
        x (Tensor): the map, [N, C, H, W].
        boxes (Tensor): [R, 4], each x1, y1, x2, y2, those of the first image first.
        boxes_num (Tensor): int32 [N], how many boxes each image has.
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: [R, C, P, Q]; 0 for parts outside of the map. The gradient goes to the first of equal values.

    Raises:
        TypeError, ValueError: a wrong type or shape, or counts that do not fit. AssertionError: boxes_num is None.

    Examples:
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.roi_pool(x, box, one, 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    import paddle

    b, images = _regions(x, boxes, boxes_num, "roi_pool")
    p, q = pair(output_size, "roi_pool", "output_size")
    c = x.shape[1]
    if not len(b):
        return _nothing(x, c, p, q)
    corners = _round(b * b.dtype.type(spatial_scale))
    windows = []
    for start, end, parts, n in ((1, 3, p, x.shape[2]), (0, 2, q, x.shape[3])):
        low = corners[:, start]
        step = (np.maximum(corners[:, end] - low + 1, 1) / b.dtype.type(parts))[:, None]
        part = np.arange(parts).astype(b.dtype)
        bounds = (np.floor(part * step) + low[:, None], np.ceil((part + 1) * step) + low[:, None])
        windows.append(_bins(*bounds, n))
    (y, in_y), (across, in_x) = windows
    rows, (r, _, _, k, l) = _rows(x, images, y, across)
    inside = (in_y[:, :, None, :, None] & in_x[:, None, :, None, :]).reshape(r, p, q, k * l, 1)
    values = rows.reshape([r, p, q, k * l, c])
    masked = paddle.where(paddle.to_tensor(inside), values, paddle.full_like(values, -np.inf))
    best = masked.detach().argmax(axis=3, keepdim=True)
    found = paddle.take_along_axis(values, best, axis=3).squeeze(3)
    some = paddle.to_tensor(inside.any(3))
    return paddle.where(some, found, paddle.zeros_like(found)).transpose([0, 3, 1, 2])


class RoIPool(nn.Layer):
    """See `roi_pool`.

    Args:
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.

    Examples:
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIPool((2, 1))(paddle.ones([1, 3, 4, 4]), box, one).shape
        paddle.Size([1, 3, 2, 1])
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


def psroi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Tensor:
    """Regions of a feature map in one size: means, each part's from channels of its own.

    Source: Dai et al. 2016, arXiv:1605.06409, section 3.

    Args:
        x (Tensor): the map, [N, C * P * Q, H, W].
        boxes (Tensor): [R, 4], each x1, y1, x2, y2, those of the first image first.
        boxes_num (Tensor): int32 [N], how many boxes each image has.
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: [R, C, P, Q]; 0 for parts outside of the map.

    Raises:
        TypeError, ValueError: a wrong type or shape, or counts that do not fit. AssertionError: boxes_num is None.

    Examples:
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.psroi_pool(paddle.ones([1, 8, 4, 4]), box, one, 2).shape
        paddle.Size([1, 2, 2, 2])
    """
    import paddle

    b, images = _regions(x, boxes, boxes_num, "psroi_pool")
    p, q = pair(output_size, "psroi_pool", "output_size")
    n, channels, h, w = x.shape
    if channels % (p * q):
        raise errors.invalid_argument(
            "psroi_pool: the channels are no multiple of the parts.",
            expected=f"[N, C * {p * q}, H, W]",
            received=f"x: {x.type}",
        )
    c = channels // (p * q)
    if not len(b):
        return _nothing(x, c, p, q)
    corners = _round(b)
    corners[:, 2:] += 1
    corners *= b.dtype.type(spatial_scale)
    windows = []
    for start, end, parts, size in ((1, 3, p, h), (0, 2, q, w)):
        low = corners[:, start, None]
        step = np.maximum(corners[:, end, None] - low, b.dtype.type(0.1)) / b.dtype.type(parts)
        part = np.arange(parts).astype(b.dtype)
        at, inside = _bins(np.floor(part * step + low), np.ceil((part + 1) * step + low), size)
        windows.append((at, inside / np.maximum(inside.sum(-1, keepdims=True), 1)))
    (y, in_y), (across, in_x) = windows
    plane = (images[:, None, None] * p + np.arange(p)[:, None]) * q + np.arange(q)  # [R, P, Q]
    at = plane[..., None, None] * h + y[:, :, None, :, None]
    at = at * w + across[:, None, :, None, :]
    flat = x.reshape([n, c, p * q * h * w]).transpose([0, 2, 1]).reshape([-1, c])
    r, _, _, k, l = at.shape
    weights = (in_y[:, :, None, :, None] * in_x[:, None, :, None, :]).reshape(r, p, q, k * l, 1)
    rows = paddle.gather(flat, paddle.to_tensor(at.reshape(-1))).reshape([r, p, q, k * l, c])
    return (rows * paddle.to_tensor(weights.astype(x.dtype.np))).sum(axis=3).transpose([0, 3, 1, 2])


class PSRoIPool(nn.Layer):
    """See `psroi_pool`.

    Args:
        output_size (int|tuple): P, or (P, Q).
        spatial_scale (float): of the map to the image that the boxes count in. Default: 1.0.

    Examples:
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.PSRoIPool(2)(paddle.ones([1, 8, 4, 4]), box, one).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"
