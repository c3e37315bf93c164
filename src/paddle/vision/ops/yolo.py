"""The last layer of YOLO networks: boxes from it, and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from ._checks import check_tensor

__all__ = ["yolo_box", "yolo_loss"]

# Shape letters: N images, A anchors, C classes, H, W cells of the grid, B true boxes.


def _anchors(anchors: Sequence[int], function: str) -> np.ndarray:
    """Widths and heights, [A, 2]."""
    if not anchors or len(anchors) % 2:
        raise errors.invalid_argument(
            f"{function}: anchors are no pairs of width and height.", received=f"{list(anchors)!r}"
        )
    return np.array(anchors, "float64").reshape(-1, 2)


def _constant(values: Any, x: Tensor) -> Tensor:
    import paddle

    return paddle.to_tensor(np.ascontiguousarray(values).astype(x.dtype.np))


def _centers(x: Tensor, scale: float, axis: int) -> Tensor:
    """Centres of boxes from x [N, A, H, W] along an axis (2 down, 3 across), in cells."""
    shape = [1, 1, 1, 1]
    shape[axis] = x.shape[axis]
    cell = np.arange(x.shape[axis]).reshape(shape) - 0.5 * (scale - 1.0)
    return x.sigmoid() * scale + _constant(cell, x)


def yolo_box(
    x: Tensor,
    img_size: Tensor,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """Boxes and scores from the output of a YOLOv3 network.

    Source: Redmon and Farhadi 2018, arXiv:1804.02767, section 2.1.

    Args:
        x (Tensor): [N, A * (5 + C), H, W]; with iou_aware [N, A * (6 + C), H, W], the A overlaps first.
        img_size (Tensor): int32 [N, 2], height and width of the images: pixels.
        anchors (list of int): width and height of each of A anchors: pixels.
        class_num (int): C.
        conf_thresh (float): boxes with less confidence are 0, and so are their scores.
        downsample_ratio (int): pixels of the network's input for a cell of the grid.
        clip_bbox (bool): bound the boxes by the image. Default: True.
        name (str, optional): not used here. Default: None.
        scale_x_y (float): centres reach beyond their cell by (scale_x_y - 1) / 2. Default: 1.0.
        iou_aware (bool): the confidence is mixed with an expected overlap. Default: False.
        iou_aware_factor (float): exponent of the overlap; that of the confidence is 1 minus it. Default: 0.5.

    Returns:
        tuple: boxes [N, A * H * W, 4], each x1, y1, x2, y2 in pixels of the image; scores [N, A * H * W, C].

    Raises:
        TypeError, ValueError: a wrong type or shape.

    Examples:
        >>> x, size = paddle.zeros([1, 14, 2, 2]), paddle.to_tensor([[64, 64]], dtype="int32")
        >>> boxes, scores = paddle.vision.ops.yolo_box(x, size, [10, 13, 16, 30], 2, 0.1, 32)
        >>> boxes[0, 0].tolist(), scores.shape
        ([11.0, 9.5, 21.0, 22.5], paddle.Size([1, 8, 2]))
    """
    import paddle

    pairs = _anchors(anchors, "yolo_box")
    a, parts = len(pairs), 5 + class_num
    check_tensor(x, "yolo_box", "x", ("N", a * (parts + bool(iou_aware)), "H", "W"))
    n, _, h, w = x.shape
    check_tensor(img_size, "yolo_box", "img_size", (n, 2), floating=False)
    overlap = x[:, :a].sigmoid() if iou_aware else None
    values = x[:, a:] if iou_aware else x
    values = values.reshape([n, a, parts, h, w])
    confidence = values[:, :, 4].sigmoid()
    if overlap is not None:
        confidence = confidence ** (1.0 - iou_aware_factor) * overlap**iou_aware_factor
    height, width = img_size.astype(x.dtype).reshape([n, 2, 1, 1, 1]).unbind(axis=1)
    cx = _centers(values[:, :, 0], scale_x_y, 3) * width / float(w)
    cy = _centers(values[:, :, 1], scale_x_y, 2) * height / float(h)
    side = _constant(pairs.reshape(a, 2, 1, 1) / (downsample_ratio * np.array([w, h]).reshape(1, 2, 1, 1)), x)
    half_w = values[:, :, 2].exp() * side[:, 0] * width * 0.5
    half_h = values[:, :, 3].exp() * side[:, 1] * height * 0.5
    corners = [cx - half_w, cy - half_h, cx + half_w, cy + half_h]
    if clip_bbox:
        zero = paddle.zeros_like(cx)
        corners = [paddle.maximum(v, zero) for v in corners[:2]] + [
            paddle.minimum(v, top - 1.0) for v, top in zip(corners[2:], (width, height))
        ]
    stays = (confidence >= conf_thresh).unsqueeze(-1)
    boxes = paddle.stack(corners, axis=-1)
    scores = (values[:, :, 5:].sigmoid() * confidence.unsqueeze(2)).transpose([0, 1, 3, 4, 2])
    boxes, scores = (paddle.where(stays, v, paddle.zeros_like(v)) for v in (boxes, scores))
    return boxes.reshape([n, a * h * w, 4]), scores.reshape([n, a * h * w, class_num])


def yolo_loss(
    x: Tensor,
    gt_box: Tensor,
    gt_label: Tensor,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Tensor | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """The loss of a YOLOv3 network at one scale.

    Source: Redmon and Farhadi 2018, arXiv:1804.02767, section 2.

    Each true box belongs to the anchor whose shape fits best, in the cell of its centre, if anchor_mask has that one.
    There centre and class have a cross entropy, the size has an absolute difference; small boxes weigh up to twice.
    The confidence has a cross entropy everywhere, but where a wrong box overlaps a true one by more than
    ignore_thresh.

    Args:
        x (Tensor): the network's output, [N, A * (5 + C), H, H], with A the length of anchor_mask.
        gt_box (Tensor): true boxes, [N, B, 4], each centre, width and height as parts of the image; 0 for none.
        gt_label (Tensor): int32 [N, B], their classes.
        anchors (list of int): width and height of each of all anchors: pixels.
        anchor_mask (list of int): the numbers of the anchors of this scale.
        class_num (int): C.
        ignore_thresh (float): of intersection over union.
        downsample_ratio (int): pixels of the network's input for a cell of the grid.
        gt_score (Tensor, optional): [N, B], weights of the true boxes. Default: 1.
        use_label_smooth (bool): classes are 1 - s and s rather than 1 and 0, s = min(1 / C, 1 / 40). Default: True.
        name (str, optional): not used here. Default: None.
        scale_x_y (float): see `yolo_box`. Default: 1.0.

    Returns:
        Tensor: [N].

    Raises:
        TypeError, ValueError: a wrong type or shape, or anchor_mask names no anchor.

    Examples:
        >>> x, box = paddle.zeros([1, 7, 2, 2]), paddle.to_tensor([[[0.3, 0.3, 0.2, 0.3]]])
        >>> label = paddle.to_tensor([[1]], dtype="int32")
        >>> paddle.vision.ops.yolo_loss(x, box, label, [10, 13], [0], 2, 0.7, 32).shape
        paddle.Size([1])
    """
    import paddle

    f = "yolo_loss"
    pairs, a = _anchors(anchors, f), len(anchor_mask)
    if not a or not all(0 <= i < len(pairs) for i in anchor_mask):
        raise errors.invalid_argument(
            f"{f}: anchor_mask names no anchors.", expected=f"numbers below {len(pairs)}", received=f"{anchor_mask!r}"
        )
    check_tensor(x, f, "x", ("N", a * (5 + class_num), "H", "W"))
    n, _, h, w = x.shape
    if h != w:
        raise errors.invalid_argument(f"{f}: the grid is no square.", expected="H == W", received=f"x: {x.type}")
    box = check_tensor(gt_box, f, "gt_box", (n, "B", 4)).numpy()
    label = check_tensor(gt_label, f, "gt_label", (n, box.shape[1]), floating=False).numpy()
    score = np.ones(label.shape) if gt_score is None else check_tensor(gt_score, f, "gt_score", label.shape).numpy()
    values = x.reshape([n, a, 5 + class_num, h, w])
    real = (box[..., 2:] > 1e-6).all(-1)
    input_size = downsample_ratio * h
    sides = pairs / input_size
    hit = _hits(box, real, sides, anchor_mask, h)

    target = np.full((n, a, h, w), -1.0)  # of the confidence: the score of a true box, or -1
    for i, j, k, row, column in hit:
        target[i, k, row, column] = score[i, j]
    confidence = values[:, :, 4]
    ignored = _best_overlap(values, box, real, sides[list(anchor_mask)], scale_x_y) > ignore_thresh
    positive = _constant(np.maximum(target, 0), x)
    negative = paddle.to_tensor(target < 0) & ~ignored | paddle.to_tensor((target >= 0) & (target <= 1e-5))
    loss = _cross_entropy(confidence, 1.0) * positive * (positive > 1e-5).astype(x.dtype)
    loss = (loss + _cross_entropy(confidence, 0.0) * negative.astype(x.dtype)).sum(axis=[1, 2, 3])
    if not len(hit):
        return loss

    i, j, k, row, column = hit.T
    found = paddle.gather_nd(
        values.transpose([0, 1, 3, 4, 2]), paddle.to_tensor(np.stack([i, k, row, column], 1))
    )  # [M, 5 + C]
    true = box[i, j].astype("float64")
    wanted = [true[:, 0] * h - column, true[:, 1] * h - row]
    best = pairs[np.array(anchor_mask)[k]]
    wanted += [np.log(true[:, 2] * input_size / best[:, 0]), np.log(true[:, 3] * input_size / best[:, 1])]
    wanted_t = _constant(np.stack(wanted, 1), x)
    place = _cross_entropy(found[:, :2], wanted_t[:, :2]) + (found[:, 2:4] - wanted_t[:, 2:]).abs()
    weight = score[i, j]
    place = place.sum(axis=1) * _constant((2 - true[:, 2] * true[:, 3]) * weight, x)
    smooth = min(1.0 / class_num, 1.0 / 40) if use_label_smooth else 0.0
    classes = np.where(np.arange(class_num) == label[i, j][:, None], 1 - smooth, smooth)
    kind = _cross_entropy(found[:, 5:], _constant(classes, x)).sum(axis=1) * _constant(weight, x)
    return loss + _constant(np.arange(n)[:, None] == i, x) @ (place + kind)


def _cross_entropy(x: Tensor, target: Any) -> Tensor:
    """Of sigmoid(x)."""
    from ...nn.functional import softplus

    return softplus(x) - x * target


def _hits(box: np.ndarray, real: np.ndarray, sides: np.ndarray, anchor_mask: Sequence[int], cells: int) -> np.ndarray:
    """Image, number, anchor of this scale, row and column of the true boxes that belong here: int64 [M, 5]."""
    mine = {anchor: i for i, anchor in reversed(list(enumerate(anchor_mask)))}
    found = []
    for i, j in np.argwhere(real):
        x, y, width, height = box[i, j]
        inside = np.minimum(sides[:, 0], width) * np.minimum(sides[:, 1], height)
        best = int(np.argmax(inside / (sides.prod(1) + width * height - inside)))
        if best in mine:
            row, column = (min(int(v * cells), cells - 1) for v in (y, x))
            found.append((i, j, mine[best], row, column))
    return np.array(found, "int64").reshape(-1, 5)


def _best_overlap(values: Tensor, box: np.ndarray, real: np.ndarray, sides: np.ndarray, scale: float) -> Tensor:
    """The greatest intersection over union of each box of the network with a true one, [N, A, H, W]."""
    import paddle

    values = values.detach()
    n, a, _, h, w = values.shape
    if not box.shape[1]:
        return paddle.zeros([n, a, h, w], values.dtype)
    axes = []
    for centre, size, axis in ((0, 2, 3), (1, 3, 2)):
        middle = (_centers(values[:, :, centre], scale, axis) / float(h)).unsqueeze(-1)
        side = (values[:, :, size].exp() * _constant(sides[:, centre].reshape(1, a, 1, 1), values)).unsqueeze(-1)
        true, length = (_constant(box[:, None, None, None, :, c], values) for c in (centre, size))
        low = paddle.maximum(middle - side * 0.5, true - length * 0.5)
        high = paddle.minimum(middle + side * 0.5, true + length * 0.5)
        axes.append(((high - low).clip(min=0.0), side, length))
    (across, width, true_w), (down, height, true_h) = axes
    inside = across * down
    iou = inside / (width * height + true_w * true_h - inside)
    return (iou * _constant(real[:, None, None, None, :], values)).max(axis=-1)
