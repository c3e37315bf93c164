"""Norms, distances and similarities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.indexing import Gather
from ...engine.ops.logic import select
from ...engine.ops.math import abs_, pow_
from ...engine.ops.reduction import Max, sum_
from ...engine.ops.shape import broadcast_to
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import axis_of, floating

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def p_norm(x: Any, p: float, axis: int, keepdim: bool) -> Any:
    """The p-norm along an axis (non-negative). Its gradient at 0 is 0, where the formula would give NaN."""
    if math.isinf(p):
        return Max((axis,), keepdim)(abs_(x)) if p > 0 else -Max((axis,), keepdim)(-abs_(x))
    if p == 0:
        return sum_(ew.cast(ew.not_equal(x, 0.0), x.dtype), (axis,), keepdim)
    if p == 1:
        return sum_(abs_(x), (axis,), keepdim)
    total = sum_(x * x if p == 2 else pow_(abs_(x), float(p)), (axis,), keepdim)
    nonzero = ew.not_equal(total, 0.0)
    safe = select(nonzero, total, 1.0)
    return select(nonzero, ew.sqrt(safe) if p == 2 else pow_(safe, 1.0 / p), 0.0)


@public(also={"x": "input", "axis": "dim", "epsilon": "eps"})
def normalize(x: Tensor, p: float = 2, axis: int = 1, epsilon: float = 1e-12, out: Tensor | None = None,
              name: str | None = None) -> Tensor:  # fmt: skip
    """x over its p-norm along an axis.

    Args:
        x (Tensor): any floating dtype.
        p (float, optional): of the norm. Default: 2.
        axis (int, optional): Default: 1.
        epsilon (float, optional): least divisor. Default: 1e-12.
        out (Tensor, optional): takes the result's value. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: there is no such axis.

    Examples:
        >>> [round(v, 3) for v in paddle.nn.functional.normalize(paddle.to_tensor([3.0, 4.0]), axis=0).tolist()]
        [0.6, 0.8]
    """
    floating(x, "normalize")
    norm = p_norm(x, float(p), axis_of(axis, x.ndim, "normalize"), True)
    result = x / ew.maximum(norm, float(epsilon))
    if out is not None:
        from ...utils.public import replace

        return replace(out, result)
    return result


@public(also={"axis": "dim"})
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """Dot product over the product of the norms, along an axis.

    Args:
        x1 (Tensor): any floating dtype.
        x2 (Tensor): broadcasts with x1.
        axis (int, optional): Default: 1.
        eps (float, optional): least divisor. Default: 1e-8.

    Returns:
        Tensor: the broadcast shape without axis.

    Raises:
        IndexError: there is no such axis. ValueError: the shapes do not broadcast.
    """
    floating(x1, "cosine_similarity", "x1")
    floating(x2, "cosine_similarity", "x2")
    n = max(x1.ndim, x2.ndim)
    if not -n <= axis < n:
        raise errors.out_of_range(
            "cosine_similarity: there is no such axis.", expected=f"an axis in [{-n}, {n})", received=f"axis: {axis}"
        )
    # from the right, so that arguments of different rank agree
    back = axis % n - n
    product = x1 * x2
    axis = product.ndim + back

    def total(v: Any) -> Any:
        return sum_(broadcast_to(v, tuple(product.shape)), (axis,))

    dot, square1, square2 = total(product), total(x1 * x1), total(x2 * x2)
    return dot / ew.sqrt(ew.maximum(square1 * square2, float(eps) ** 2))


@public(also={"x": "x1", "y": "x2", "epsilon": "eps"})
def pairwise_distance(x: Tensor, y: Tensor, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False,
                      name: str | None = None) -> Tensor:  # fmt: skip
    """The p-norm of x - y + epsilon along the last axis.

    Args:
        x (Tensor): [N, D] or [D].
        y (Tensor): broadcasts with x.
        p (float, optional): of the norm. Default: 2.0.
        epsilon (float, optional): keeps the norm off 0. Default: 1e-6.
        keepdim (bool, optional): keep the last axis, with size 1. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N] or [].

    Raises:
        ValueError: the shapes do not broadcast.
    """
    floating(x, "pairwise_distance")
    floating(y, "pairwise_distance", "y")
    d = x - y
    if epsilon:
        d = d + float(epsilon)
    return p_norm(d, float(p), axis_of(-1, d.ndim, "pairwise_distance"), keepdim)


@public(guarded=True)
def pdist(x: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """The p-norm of the difference of each pair of rows.

    Args:
        x (Tensor): [N, D].
        p (float, optional): of the norm, not negative. Default: 2.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N * (N - 1) / 2]: rows 0 and 1, 0 and 2, ..., 1 and 2, ...

    Raises:
        ValueError: x is no matrix, or p is negative.

    Examples:
        >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
        [5.0]
    """
    floating(x, "pdist")
    if x.ndim != 2 or p < 0:
        raise errors.invalid_argument(
            "pdist: x is no matrix, or p is negative.", expected="x: [N, D], p >= 0", received=f"x: {x.type}, p: {p}"
        )
    first, second = np.triu_indices(x.shape[0], 1)
    a, b = (Gather(0, False)(x, from_array(i.astype(np.int64))) for i in (first, second))
    return p_norm(a - b, float(p), 1, False)
