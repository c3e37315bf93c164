"""Regions that a network proposes, and the levels of a pyramid that they belong to. These run on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...io.dataloader.checks import require
from ...tensor.tensor import Tensor
from ._checks import check_tensor
from .nms import descending, greedy

__all__ = ["distribute_fpn_proposals", "generate_proposals"]

_GROWTH = math.log(1000.0 / 16.0)  # of a side at most, so that exp of a wild difference stays finite


def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The best boxes that a region proposal network gives.

    Source: Ren et al. 2015, arXiv:1506.01497, section 3.

    Args:
        scores (Tensor): [N, A, H, W], of each anchor.
        bbox_deltas (Tensor): [N, 4 * A, H, W], differences of the boxes from the anchors; see `box_coder`.
        img_size (Tensor): [N, 2], height and width of each image: pixels.
        anchors (Tensor): [H, W, A, 4], each x1, y1, x2, y2.
        variances (Tensor): [H, W, A, 4], factors of the differences.
        pre_nms_top_n (int): how many boxes are looked at, the best. Default: 6000.
        post_nms_top_n (int): how many are given at most. Default: 1000.
        nms_thresh (float): see `nms`. Default: 0.5.
        min_size (float): of a side: pixels, at least 1. Default: 0.1.
        eta (float): below 1, nms_thresh shrinks by it with each box that stays. Default: 1.0.
        pixel_offset (bool): coordinates count pixels, the last included. Default: False.
        return_rois_num (bool): must be True, as upstream outside of static programs. Default: False.
        name (str, optional): not used here. Default: None.

    Returns:
        tuple: boxes [R, 4], their scores [R, 1], and int32 [N], how many each image has: at least one, which is 0
        where there is none.

    Raises:
        TypeError, ValueError: a wrong type or shape. AssertionError: return_rois_num is not True.

    Examples:
        >>> anchors = paddle.to_tensor([[[[0.0, 0.0, 8.0, 8.0], [2.0, 2.0, 6.0, 6.0]]]])
        >>> boxes, scores, count = paddle.vision.ops.generate_proposals(
        ...     paddle.to_tensor([[[[0.2]], [[0.9]]]]), paddle.zeros([1, 8, 1, 1]), paddle.to_tensor([[7.0, 7.0]]),
        ...     anchors, paddle.ones_like(anchors), return_rois_num=True)
        >>> boxes.tolist(), count.tolist()
        ([[2.0, 2.0, 6.0, 6.0], [0.0, 0.0, 7.0, 7.0]], [2])
    """
    import paddle

    f = "generate_proposals"
    require(return_rois_num, f"{f}: return_rois_num is False.", "True", f"{return_rois_num}")
    s = check_tensor(scores, f, "scores", ("N", "A", "H", "W")).numpy()
    n, a, h, w = s.shape
    d = check_tensor(bbox_deltas, f, "bbox_deltas", (n, 4 * a, h, w)).numpy()
    sizes = check_tensor(img_size, f, "img_size", (n, 2)).numpy()
    anchor = check_tensor(anchors, f, "anchors", (h, w, a, 4)).numpy().reshape(-1, 4)
    spread = check_tensor(variances, f, "variances", (h, w, a, 4)).numpy().reshape(-1, 4)
    s = s.transpose(0, 2, 3, 1).reshape(n, -1)
    d = d.reshape(n, a, 4, h, w).transpose(0, 3, 4, 1, 2).reshape(n, -1, 4)
    extra = 1.0 if pixel_offset else 0.0
    boxes, probabilities, counts = [], [], []
    for i in range(n):
        best = descending(s[i])[: pre_nms_top_n if pre_nms_top_n > 0 else None]
        found = _decoded(anchor[best], d[i, best] * spread[best], extra)
        height, width = sizes[i]
        found = np.clip(found, 0, np.array([width, height, width, height], found.dtype) - found.dtype.type(extra))
        large = _large_enough(found, max(min_size, 1.0), height, width, pixel_offset)
        found, best = found[large], best[large]
        stays = greedy(found, nms_thresh, extra, eta)[: post_nms_top_n if post_nms_top_n > 0 else None]
        found, score = found[stays], s[i, best[stays], None]
        if not len(found):
            found, score = np.zeros((1, 4), s.dtype), np.zeros((1, 1), s.dtype)
        boxes.append(found)
        probabilities.append(score)
        counts.append(len(found))
    made = (np.concatenate(boxes).astype(s.dtype), np.concatenate(probabilities), np.array(counts, "int32"))
    out, score, count = (paddle.to_tensor(v) for v in made)
    return out, score, count


def _decoded(anchor: np.ndarray, delta: np.ndarray, extra: float) -> np.ndarray:
    size = anchor[:, 2:] - anchor[:, :2] + anchor.dtype.type(extra)
    center = delta[:, :2] * size + anchor[:, :2] + size * anchor.dtype.type(0.5)
    half = np.exp(np.minimum(delta[:, 2:], anchor.dtype.type(_GROWTH))) * size * anchor.dtype.type(0.5)
    return np.concatenate([center - half, center + half - anchor.dtype.type(extra)], 1)


def _large_enough(boxes: np.ndarray, least: float, height: float, width: float, pixel_offset: bool) -> np.ndarray:
    """Which boxes have sides of that length; with pixel_offset, and their centres in the image."""
    size = boxes[:, 2:] - boxes[:, :2] + boxes.dtype.type(pixel_offset)
    fits = (size >= least).all(1)
    if pixel_offset:
        center = boxes[:, :2] + size * boxes.dtype.type(0.5)
        fits &= (center[:, 0] <= width) & (center[:, 1] <= height)
    return fits


def distribute_fpn_proposals(
    fpn_rois: Tensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """Regions by the level of a feature pyramid that fits their size.

    Source: Lin et al. 2016, arXiv:1612.03144, section 4.2.

    Args:
        fpn_rois (Tensor): [R, 4], each x1, y1, x2, y2, those of the first image first.
        min_level (int), max_level (int): the levels, above 0.
        refer_level (int): the level of regions of size refer_scale; twice the size is one level more.
        refer_scale (int): the root of an area: pixels.
        pixel_offset (bool): coordinates count pixels, the last included. Default: False.
        rois_num (Tensor, optional): int32 [N], how many regions each image has; needed here, as upstream outside of
            static programs.
        name (str, optional): not used here. Default: None.

    Returns:
        tuple: a list with the regions of each level, [R_l, 4]; where each of the regions is in those joined, int32
        [R, 1]; a list with how many each image has, int32 [N], of each level.

    Raises:
        TypeError, ValueError: a wrong type or shape. AssertionError: levels that are none, or rois_num is None.

    Examples:
        >>> rois = paddle.to_tensor([[0.0, 0.0, 224.0, 224.0], [0.0, 0.0, 56.0, 56.0]])
        >>> one, restore, _ = paddle.vision.ops.distribute_fpn_proposals(
        ...     rois, 2, 4, 4, 224, rois_num=paddle.to_tensor([2], dtype="int32"))
        >>> [len(level) for level in one], restore.tolist()
        ([1, 0, 1], [[1], [0]])
    """
    import paddle

    f = "distribute_fpn_proposals"
    require(min_level > 0 and max_level > 0, f"{f}: levels are not above 0.", received=f"{min_level}, {max_level}")
    require(0 < max_level - min_level < 99, f"{f}: not 2 to 99 levels.", received=f"{min_level} to {max_level}")
    require(rois_num is not None, f"{f}: rois_num is None.", "an int32 Tensor [N]", "None")
    rois = check_tensor(fpn_rois, f, "fpn_rois", ("R", 4)).numpy()
    counts = check_tensor(rois_num, f, "rois_num", ("N",), floating=False).numpy()
    size = rois[:, 2:] - rois[:, :2]
    area = np.where((size < 0).any(1), 0, np.prod(size + rois.dtype.type(pixel_offset), 1))
    fit = np.log2(np.sqrt(area) / rois.dtype.type(refer_scale) + rois.dtype.type(1e-8))
    level = np.clip(np.floor(fit) + refer_level, min_level, max_level).astype("int64")
    images = np.repeat(np.arange(len(counts)), counts)
    order = np.argsort(level, kind="stable")
    restore = np.empty((len(rois), 1), "int32")
    restore[order, 0] = np.arange(len(rois))
    levels = range(min_level, max_level + 1)
    per_image = [np.bincount(images[level == i], minlength=len(counts)).astype("int32") for i in levels]
    parts: Any = [paddle.to_tensor(rois[level == i]) for i in levels]
    return parts, paddle.to_tensor(restore), [paddle.to_tensor(v) for v in per_image]
