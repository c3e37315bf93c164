"""Boxes from differences and back; prior boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...io.dataloader.checks import require
from ...tensor.tensor import Tensor
from ._checks import check_tensor

__all__ = ["box_coder", "prior_box"]


def _centers(box: Tensor, extra: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Centre and size of boxes [..., 4]."""
    x1, y1, x2, y2 = box.unbind(axis=-1)
    w, h = x2 - x1 + extra, y2 - y1 + extra
    return x1 + w * 0.5, y1 + h * 0.5, w, h


def box_coder(
    prior_box: Tensor,
    prior_box_var: Tensor | Sequence[float],
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """Differences of boxes from prior boxes, or boxes from such differences.

    Args:
        prior_box (Tensor): [M, 4], each x1, y1, x2, y2.
        prior_box_var (Tensor|list): [M, 4], or 4 numbers: what differences are divided by.
        target_box (Tensor): to encode: boxes [N, 4]; to decode: differences [N, M, 4], with axis 1 [M, N, 4].
        code_type (str): "encode_center_size" or "decode_center_size".
        box_normalized (bool): False if coordinates count pixels, the last included. Default: True.
        axis (int): of target_box that the prior boxes stand along, to decode: 0 for the second, 1 for the first.
            Default: 0.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: encoded [N, M, 4]: differences of the centres in sizes of the prior box, logarithms of the quotients
        of the sizes; decoded: boxes in the shape of target_box.

    Raises:
        TypeError: prior_box_var is neither. ValueError: wrong shapes, or no such code_type. AssertionError: a list of
            another length.

    Examples:
        >>> prior, box = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]), paddle.to_tensor([[1.0, 1.0, 3.0, 3.0]])
        >>> paddle.vision.ops.box_coder(prior, [0.1, 0.1, 0.2, 0.2], box).tolist()
        [[[5.0, 5.0, 0.0, 0.0]]]
    """
    import paddle

    check_tensor(prior_box, "box_coder", "prior_box", ("M", 4))
    if isinstance(prior_box_var, Tensor):
        check_tensor(prior_box_var, "box_coder", "prior_box_var", (prior_box.shape[0], 4))
        spread: Any = prior_box_var.unbind(axis=-1)
    elif isinstance(prior_box_var, (list, tuple)):
        require(len(prior_box_var) == 4, "box_coder: prior_box_var has a wrong length.", "4", f"{len(prior_box_var)}")
        spread = [float(v) for v in prior_box_var]
    else:
        raise errors.invalid_type(
            "box_coder: prior_box_var is neither a Tensor nor a list.", received=type(prior_box_var).__name__
        )
    extra = 0.0 if box_normalized else 1.0
    px, py, pw, ph = _centers(prior_box, extra)
    if code_type == "encode_center_size":
        check_tensor(target_box, "box_coder", "target_box", ("N", 4))
        x1, y1, x2, y2 = (v.unsqueeze(1) for v in target_box.unbind(axis=-1))
        w, h = x2 - x1 + extra, y2 - y1 + extra
        parts = (((x1 + x2) * 0.5 - px) / pw, ((y1 + y2) * 0.5 - py) / ph, (w / pw).abs().log(), (h / ph).abs().log())
        return paddle.stack([v / s for v, s in zip(parts, spread)], axis=-1)
    if code_type != "decode_center_size" or axis not in (0, 1):
        raise errors.invalid_argument(
            "box_coder: no such code.",
            expected="'encode_center_size' or 'decode_center_size', axis 0 or 1",
            received=f"code_type={code_type!r}, axis={axis!r}",
        )
    m = prior_box.shape[0]
    check_tensor(target_box, "box_coder", "target_box", ("N", m, 4) if axis == 0 else (m, "N", 4))
    along = lambda v: v if axis == 0 or not isinstance(v, Tensor) else v.unsqueeze(1)  # noqa: E731
    dx, dy, dw, dh = (d * along(s) for d, s in zip(target_box.unbind(axis=-1), spread))
    cx, cy = dx * along(pw) + along(px), dy * along(ph) + along(py)
    w, h = dw.exp() * along(pw) * 0.5, dh.exp() * along(ph) * 0.5
    return paddle.stack([cx - w, cy - h, cx + w - extra, cy + h - extra], axis=-1)


def _numbers(value: Any) -> list[float]:
    return [float(v) for v in value] if isinstance(value, (list, tuple)) else [float(value)]


def prior_box(
    input: Tensor,
    image: Tensor,
    min_sizes: Sequence[float] | float,
    max_sizes: Sequence[float] | float | None = None,
    aspect_ratios: Sequence[float] | float = [1.0],  # noqa: B006  (upstream's default, never changed)
    variance: Sequence[float] | float = [0.1, 0.1, 0.2, 0.2],  # noqa: B006
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] | float = [0.0, 0.0],  # noqa: B006
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Boxes of several sizes and shapes around each element of a feature map.

    Source: Liu et al. 2015, arXiv:1512.02325, section 2.2.

    Args:
        input (Tensor): the feature map, [N, C, H, W]; its values do not count.
        image (Tensor): what it was made of, [N, C, height, width].
        min_sizes (float|list): sides of squares: pixels.
        max_sizes (float|list, optional): as many; a square of side sqrt(min * max) for each.
        aspect_ratios (float|list): width over height of further boxes of the area of the small square. Default: [1.0].
        variance (list): what is given beside each box. Default: [0.1, 0.1, 0.2, 0.2].
        flip (bool): one over each ratio too. Default: False.
        clip (bool): bound the boxes by the image. Default: False.
        steps (list): how far elements lie apart along width and height: pixels; 0 for the image's over the map's
            size. Default: [0.0, 0.0].
        offset (float): where in its step an element's centre is. Default: 0.5.
        min_max_aspect_ratios_order (bool): small square, large square, then the others; else the large ones last.
            Default: False.
        name (str, optional): not used here. Default: None.

    Returns:
        tuple: boxes [H, W, P, 4], each x1, y1, x2, y2 in [0, 1], and variances of the same shape; in the dtype of
        input.

    Raises:
        ValueError: wrong shapes, steps are not two, or max_sizes are not above min_sizes.

    Examples:
        >>> boxes, variances = paddle.vision.ops.prior_box(
        ...     paddle.zeros([1, 3, 2, 2]), paddle.zeros([1, 3, 8, 8]), [4.0], aspect_ratios=[2.0], flip=True)
        >>> boxes.shape, boxes[0, 0, 0].tolist()
        (paddle.Size([2, 2, 3, 4]), [0.0, 0.0, 0.5, 0.5])
    """
    import paddle

    check_tensor(input, "prior_box", "input", ("N", "C", "H", "W"))
    check_tensor(image, "prior_box", "image", ("N", "C", "height", "width"), floating=False)
    small, step, spread = _numbers(min_sizes), _numbers(steps), _numbers(variance)
    large = [] if max_sizes is None else _numbers(max_sizes)
    if len(step) != 2 or len(spread) != 4:
        raise errors.invalid_argument(
            "prior_box: steps are not two numbers, or variance not four.", received=f"{steps!r}, {variance!r}"
        )
    if large and (len(large) != len(small) or any(a >= b for a, b in zip(small, large))):
        raise errors.invalid_argument(
            "prior_box: max_sizes do not fit min_sizes.",
            expected="as many, each greater",
            received=f"min_sizes={min_sizes!r}, max_sizes={max_sizes!r}",
        )
    sizes = _sizes(small, large, _numbers(aspect_ratios), flip, min_max_aspect_ratios_order)
    h, w, height, width = *input.shape[2:], *image.shape[2:]
    step_w, step_h = step if all(step) else (width / w, height / h)
    y, x = ((np.arange(n) + offset) * s for n, s in ((h, step_h), (w, step_w)))
    boxes = np.empty((h, w, len(sizes), 4))
    half = np.array(sizes) / 2
    for corner, sign in ((0, -1), (2, 1)):
        boxes[..., corner] = (x[None, :, None] + sign * half[:, 0]) / width
        boxes[..., corner + 1] = (y[:, None, None] + sign * half[:, 1]) / height
    boxes = np.clip(boxes, 0, 1) if clip else boxes
    dtype = input.dtype.np
    variances = np.broadcast_to(np.array(spread, dtype), boxes.shape)
    return paddle.to_tensor(boxes.astype(dtype)), paddle.to_tensor(np.ascontiguousarray(variances))


def _sizes(
    small: list[float], large: list[float], ratios: list[float], flip: bool, large_second: bool
) -> list[tuple[float, float]]:
    """Width and height of the boxes around one element."""
    every = [1.0]
    for ratio in ratios:
        if all(abs(ratio - r) >= 1e-6 for r in every):
            every += [ratio, 1 / ratio] if flip else [ratio]
    sizes = []
    for i, side in enumerate(small):
        shaped = [(side * math.sqrt(r), side / math.sqrt(r)) for r in every]
        between = [(math.sqrt(side * large[i]),) * 2] if large else []
        sizes += [*shaped[:1], *between, *shaped[1:]] if large_second else [*shaped, *between]
    return sizes
