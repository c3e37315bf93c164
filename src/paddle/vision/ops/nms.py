"""Suppression of boxes that overlap better ones. The results depend on values, so that these run on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...io.dataloader.checks import require
from ...tensor.tensor import Tensor
from ._checks import check_tensor

__all__ = ["matrix_nms", "nms"]


def overlap(one: np.ndarray, others: np.ndarray, extra: float = 0.0) -> np.ndarray:
    """Intersection over union of boxes [..., 4] that broadcast; extra is what sides are longer than differences."""
    low = np.maximum(one[..., :2], others[..., :2])
    high = np.minimum(one[..., 2:], others[..., 2:])
    inside = np.where((low > high).any(-1), 0, np.prod(high - low + extra, -1))
    area, areas = (np.prod(b[..., 2:] - b[..., :2] + extra, -1) for b in (one, others))
    whole = area + areas - inside
    return np.where(inside > 0, inside / np.where(whole == 0, 1, whole), 0)


def greedy(boxes: np.ndarray, threshold: float, extra: float = 0.0, eta: float = 1.0) -> np.ndarray:
    """Numbers of the boxes that stay: each in turn removes those after it which it overlaps by more than threshold.

    With eta below 1 the threshold shrinks by it with each box that stays, as long as it is above 0.5.
    """
    left, kept = np.arange(len(boxes)), []
    while len(left):
        kept.append(left[0])
        left = left[1:]
        left = left[overlap(boxes[kept[-1]], boxes[left], extra) <= threshold]
        if eta < 1 and threshold > 0.5:
            threshold *= eta
    return np.array(kept, "int64")


def descending(scores: np.ndarray) -> np.ndarray:
    """Numbers of scores from the greatest on; equal ones stay in order."""
    return np.argsort(-scores, kind="stable")


def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """Numbers of the boxes that overlap no better box by more than a threshold.

    Args:
        boxes (Tensor): [N, 4], each x1, y1, x2, y2.
        iou_threshold (float): of intersection over union. Default: 0.3.
        scores (Tensor, optional): [N]; greater is better. By default the boxes are in order.
        category_idxs (Tensor, optional): [N]; boxes of different categories are not compared.
        categories (list of int, optional): the categories that count; needed with category_idxs.
        top_k (int, optional): give at most so many, the best (with category_idxs).

    Returns:
        Tensor: int64 [M], the best first.

    Raises:
        TypeError, ValueError: boxes or scores of a wrong type or shape. AssertionError: categories are missing, or
            top_k is more than N.

    Examples:
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 5.0], [6.0, 6.0, 8.0, 8.0]])
        >>> paddle.vision.ops.nms(boxes, 0.5, paddle.to_tensor([0.5, 0.9, 0.7])).tolist()
        [1, 2]
    """
    import paddle

    b = check_tensor(boxes, "nms", "boxes", ("N", 4)).numpy()
    if scores is None:
        return paddle.to_tensor(greedy(b, iou_threshold))
    s = check_tensor(scores, "nms", "scores", (len(b),)).numpy()
    if category_idxs is None:
        order = descending(s)
        return paddle.to_tensor(order[greedy(b[order], iou_threshold)])
    require(categories is not None, "nms: category_idxs without categories.", "a list of categories", "None")
    require(top_k is None or top_k <= len(s), "nms: top_k is more than there are boxes.", f"<= {len(s)}", f"{top_k}")
    of = check_tensor(category_idxs, "nms", "category_idxs", (len(b),), floating=False).numpy()
    kept = [np.empty(0, "int64")]
    for category in dict.fromkeys(categories or ()):
        here = np.flatnonzero(of == category)
        here = here[descending(s[here])]
        kept.append(here[greedy(b[here], iou_threshold)])
    found = np.sort(np.concatenate(kept))
    return paddle.to_tensor(found[descending(s[found])][:top_k])


def matrix_nms(
    bboxes: Tensor,
    scores: Tensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Boxes with scores that fall the more, the more better boxes they overlap.

    Source: Wang et al. 2020, arXiv:2003.10152, section 3.3.

    Args:
        bboxes (Tensor): [N, M, 4], each x1, y1, x2, y2.
        scores (Tensor): [N, C, M], for each of C classes.
        score_threshold (float): boxes that are not above it are left out first.
        post_threshold (float): and those whose new score is not above it at the end.
        nms_top_k (int): how many boxes of a class are looked at, the best; -1 for all.
        keep_top_k (int): how many boxes of an image are given, the best; -1 for all.
        use_gaussian (bool): scores fall with exp(-sigma * overlap²) rather than linearly. Default: False.
        gaussian_sigma (float): sigma. Default: 2.0.
        background_label (int): a class that is left out; -1 for none. Default: 0.
        normalized (bool): False if coordinates count pixels, the last included. Default: True.
        return_index (bool): give the numbers of the boxes too. Default: False.
        return_rois_num (bool): give how many there are of each image too. Default: True.
        name (str, optional): not used here. Default: None.

    Returns:
        tuple: out [K, 6], each class, score and box, the best of each image first; int32 [N] or None; index int32
        [K, 1] into the N * M boxes, or None.

    Raises:
        TypeError, ValueError: a Tensor of a wrong type or shape.

    Examples:
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 8.0]]])
        >>> out, count, _ = paddle.vision.ops.matrix_nms(
        ...     boxes, paddle.to_tensor([[[0.9, 0.8]]]), 0.1, 0.1, -1, -1, background_label=-1)
        >>> [round(v, 3) for v in out[:, 1].tolist()], count.tolist()
        ([0.9, 0.4], [2])
    """
    import paddle

    b = check_tensor(bboxes, "matrix_nms", "bboxes", ("N", "M", 4)).numpy()
    s = check_tensor(scores, "matrix_nms", "scores", (b.shape[0], "C", b.shape[1])).numpy()
    extra = 0.0 if normalized else 1.0
    rows, numbers, counts = [np.empty((0, 6), b.dtype)], [np.empty(0, "int32")], []
    for i in range(len(b)):
        found = []
        for label in range(s.shape[1]):
            if label == background_label:
                continue
            at, new = _decayed(b[i], s[i, label], score_threshold, nms_top_k, extra, use_gaussian, gaussian_sigma)
            stays = new > post_threshold
            found.append((np.full(stays.sum(), label), new[stays], at[stays]))
        labels, new, at = (np.concatenate(parts) for parts in zip(*found)) if found else (np.empty(0, "int64"),) * 3
        best = descending(new)[: keep_top_k if keep_top_k > -1 else None]
        rows.append(np.concatenate([labels[best, None], new[best, None], b[i, at[best]]], 1).astype(b.dtype))
        numbers.append((i * b.shape[1] + at[best]).astype("int32"))
        counts.append(len(best))
    out = paddle.to_tensor(np.concatenate(rows))
    count = paddle.to_tensor(np.array(counts, "int32")) if return_rois_num else None
    return out, count, paddle.to_tensor(np.concatenate(numbers)[:, None]) if return_index else None


def _decayed(
    boxes: np.ndarray, scores: np.ndarray, least: float, top_k: int, extra: float, gaussian: bool, sigma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the boxes above `least`, the best first, and their new scores."""
    at = np.flatnonzero(scores > least)
    at = at[descending(scores[at])][: top_k if top_k > -1 else None]
    iou = np.tril(overlap(boxes[at, None], boxes[None, at], extra), -1)  # of each box with the better ones
    most = iou.max(1, initial=0)
    if gaussian:
        decay = np.exp((most * most - iou * iou) * sigma)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            decay = (1 - iou) / (1 - most)
    decay = np.where(np.tri(len(at), k=-1, dtype=bool), decay, 1)
    return at, np.fmin(decay, 1).min(1, initial=1) * scores[at]
