"""Differences, integrals, distances, traces and combinations."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..engine.ops import elementwise as ew
from ..engine.ops import linalg, logic
from ..engine.ops import math as mathops
from ..engine.ops.indexing import Gather
from ..engine.ops.join import Concat
from ..engine.ops.norm import p_norm
from ..engine.ops.reduction import sum_
from ..engine.ops.scan import Cumsum
from ..engine.ops.shape import broadcast_to, reshape, slice_axis
from ..utils.public import public
from .arguments import axis_argument, fill_out, int_argument
from .families import need_tensor, no_method
from .tensor import Tensor

__all__ = [
    "diff", "trapezoid", "cumulative_trapezoid", "trace", "dist", "cdist", "pdist", "renorm", "vander",
    "combinations", "cartesian_prod",
]  # fmt: skip


@public(also={"x": "input", "axis": "dim"}, method=True)
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: str | None = None, *,
         out: Any = None) -> Tensor:  # fmt: skip
    """Differences of neighbours along an axis, n times.

    Args:
        x (Tensor): Any type; of bool, whether neighbours differ.
        n (int): how often. axis (int).
        prepend, append (Tensor, optional): put before and behind x first.

    Examples:
        >>> paddle.diff(paddle.to_tensor([1, 4, 9])).tolist()
        [3, 5]
    """
    no_method(x, "diff")
    n = int_argument(n, "diff", "n")
    if n < 1:
        raise errors.invalid_argument("diff: n is too small.", expected="n >= 1", received=f"n: {n}")
    a = axis_argument(axis, x.ndim, "diff")
    parts = [t for t in (prepend, x, append) if t is not None]
    t = Concat(a)(*parts) if len(parts) > 1 else x
    for _ in range(n):
        size = t.type.shape[a]
        after, before = slice_axis(t, a, min(1, size), size), slice_axis(t, a, 0, max(size - 1, 0))
        t = logic.logical_xor(after, before) if t.dtype.is_bool else after - before
    return fill_out(t, out)


def _panels(y: Any, x: Any, dx: Any, axis: int, name: str) -> tuple[Tensor, int]:
    """The areas of the trapezoids between neighbours along an axis."""
    no_method(y, name)
    if x is not None and dx is not None:
        raise errors.invalid_argument(f"{name}: x and dx are given.", expected="one of them", received="both")
    a = axis_argument(axis, y.ndim, name)
    n = y.type.shape[a]
    both = slice_axis(y, a, min(1, n), n) + slice_axis(y, a, 0, max(n - 1, 0))
    if x is None:
        step = 1.0 if dx is None else dx
    else:
        if x.ndim == 1:
            step = reshape(diff(x), tuple(x.type.size - 1 if i == a else 1 for i in range(y.ndim)))
        else:
            step = diff(x, axis=a)
    return both * step * 0.5, a


@public(method=True)
def trapezoid(y: Tensor, x: Tensor | None = None, dx: float | None = None, axis: int = -1,
              name: str | None = None) -> Tensor:  # fmt: skip
    """The integral along an axis by trapezoids, at places x or at distances dx (1).

    Examples:
        >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        4.0
    """
    t, a = _panels(y, x, dx, axis, "trapezoid")
    return sum_(t, (a,))


@public(method=True)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, dx: float | None = None, axis: int = -1,
                         name: str | None = None) -> Tensor:  # fmt: skip
    """The running integral along an axis by trapezoids. Arguments as `trapezoid`.

    Examples:
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.5, 4.0]
    """
    t, a = _panels(y, x, dx, axis, "cumulative_trapezoid")
    return Cumsum(a)(t)


@public(also={"x": "input"}, method=True)
def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The sum of a diagonal over two axes.

    Examples:
        >>> paddle.trace(paddle.to_tensor([[1, 2], [3, 4]])).item()
        5
    """
    need_tensor(x, "trace")
    if x.ndim < 2:
        raise errors.out_of_range("trace: x is no matrix.", expected="at least 2 axes", received=f"x: {x.type}")
    from .diagonal import diagonal

    t = diagonal(x, offset, axis1, axis2)
    return sum_(t, (t.ndim - 1,))


@public(method=True)
def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y; the shapes broadcast.

    Examples:
        >>> paddle.dist(paddle.to_tensor([3.0, 4.0]), paddle.to_tensor([0.0, 0.0])).item()
        5.0
    """
    need_tensor(x, "dist", kind=TypeError)
    d = x - need_tensor(y, "dist", "y", TypeError)
    return p_norm(d, float(p), tuple(range(d.ndim)), False)


@public(method=True)
def cdist(x: Tensor, y: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
          name: str | None = None) -> Tensor:  # fmt: skip
    """The p-distances between the rows of x [..., P, M] and of y [..., R, M]: [..., P, R].

    Args:
        compute_mode (str): "use_mm_for_euclid_dist" takes a matrix product for p = 2 (faster, less exact);
            "..._if_necessary" for more than 25 rows; "donot_use_mm_for_euclid_dist" never.

    Examples:
        >>> paddle.cdist(paddle.zeros([2, 2]), paddle.ones([3, 2]), 1.0).shape
        paddle.Size([2, 3])
    """
    need_tensor(x, "cdist", kind=TypeError)
    need_tensor(y, "cdist", "y", TypeError)
    modes = ("use_mm_for_euclid_dist", "use_mm_for_euclid_dist_if_necessary", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise errors.invalid_argument("cdist: no such mode.", expected=", ".join(modes), received=compute_mode)
    if x.ndim < 2 or y.ndim < 2 or x.type.shape[-1] != y.type.shape[-1] or p < 0:
        raise errors.invalid_argument(
            "cdist: these are no rows of one length.", expected="[..., P, M], [..., R, M], p >= 0",
            received=f"x: {x.type}, y: {y.type}, p: {p}",
        )  # fmt: skip
    many = x.type.shape[-2] > 25 or y.type.shape[-2] > 25
    if p == 2.0 and (compute_mode == modes[0] or (compute_mode == modes[1] and many)):
        xx, yy = sum_(x * x, (x.ndim - 1,), True), sum_(y * y, (y.ndim - 1,), True)
        from ..engine.ops.shape import transpose

        yy = transpose(yy, (*range(y.ndim - 2), y.ndim - 1, y.ndim - 2))
        squares = xx + yy - linalg.MatMul(False, True)(x, y) * 2.0
        return ew.sqrt(ew.maximum(squares, 0.0))
    d = reshape(x, (*x.type.shape[:-1], 1, x.type.shape[-1])) - reshape(y, (*y.type.shape[:-2], 1, *y.type.shape[-2:]))
    return p_norm(d, float(p), (d.ndim - 1,), False)


@public(method=True)
def pdist(x: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """The p-distances between the N rows of x, each pair once: [N * (N - 1) / 2].

    Examples:
        >>> paddle.pdist(paddle.to_tensor([[0.0], [3.0], [4.0]])).tolist()
        [3.0, 4.0, 1.0]
    """
    if no_method(x, "pdist").ndim != 2:
        raise errors.invalid_argument("pdist: x is no matrix.", expected="2 axes", received=f"x: {x.type}")
    i, j = np.triu_indices(x.type.shape[0], 1)
    row = lambda at: Gather(0)(x, from_array(at.astype("int64")))  # noqa: E731
    return p_norm(row(i) - row(j), float(p), (1,), False)


@public(method=True)
def renorm(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """x with its slices along an axis scaled down to p-norms of at most max_norm.

    Examples:
        >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]]), 2.0, 0, 1.0).tolist()[1]
        [0.0, 1.0]
    """
    need_tensor(x, "renorm", kind=TypeError)
    a = axis_argument(axis, x.ndim, "renorm")
    size = p_norm(x, float(p), tuple(i for i in range(x.ndim) if i != a), True)
    factor = logic.select(ew.greater_than(size, float(max_norm)), float(max_norm) / (size + 1e-7), 1.0)
    return x * broadcast_to(factor, x.type.shape)


@public(method=True)
def vander(x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None) -> Tensor:
    """Powers of the elements of a vector, one row each: n of them (as many as elements), falling unless `increasing`.

    Examples:
        >>> paddle.vander(paddle.to_tensor([2.0, 3.0]), 3).tolist()
        [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    if no_method(x, "vander").ndim != 1:
        raise errors.invalid_argument("vander: x is no vector.", expected="one axis", received=f"x: {x.type}")
    n = x.type.size if n is None else int_argument(n, "vander", "n")
    if n < 0:
        raise errors.invalid_argument("vander: n is negative.", expected="n >= 0", received=f"n: {n}")
    powers = np.arange(n, dtype="int64") if increasing else np.arange(n - 1, -1, -1, dtype="int64")
    column = broadcast_to(reshape(x, (x.type.size, 1)), (x.type.size, n))
    exponents = from_array(powers.astype(x.dtype.np).reshape(1, n))
    return mathops.power(column, exponents)


@public(method=True)
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Tensor:
    """All choices of r elements of a vector, in order: [number of choices, r].

    Examples:
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    if no_method(x, "combinations").ndim != 1:
        raise errors.invalid_type("combinations: x is no vector.", expected="one axis", received=f"x: {x.type}")
    if not isinstance(r, int) or r < 0:
        raise errors.invalid_argument("combinations: r is negative.", expected="r >= 0", received=f"r: {r}")
    if r == 0:
        return from_array(np.zeros((0,), x.dtype.np))  # type: ignore[return-value]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    at = np.array(list(choose(range(x.type.size), r)), "int64").reshape(-1, r)
    return Gather(0)(x, from_array(at))


@public()
def cartesian_prod(x: Any, name: str | None = None) -> Tensor:
    """All ways to take one element of each vector: [product of the sizes, number of vectors].

    Examples:
        >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([3])]).tolist()
        [[1, 3], [2, 3]]
    """
    vectors = [no_method(t, "cartesian_prod") for t in ([x] if isinstance(x, Tensor) else x)]
    for t in vectors:
        if t.ndim != 1:
            raise errors.invalid_argument("cartesian_prod: not a vector.", expected="one axis", received=f"{t.type}")
    if len(vectors) == 1:
        return vectors[0]
    sizes = tuple(t.type.size for t in vectors)
    n = math.prod(sizes)
    columns = []
    for i, t in enumerate(vectors):
        spread = broadcast_to(reshape(t, tuple(m if j == i else 1 for j, m in enumerate(sizes))), sizes)
        columns.append(reshape(spread, (n, 1)))
    return Concat(1)(*columns)
