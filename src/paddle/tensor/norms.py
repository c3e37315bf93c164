"""Norms of vectors and matrices, condition numbers, ranks."""

from __future__ import annotations

import math
from typing import Any

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import reduction
from ..engine.ops.decomposition import Inverse, Svd
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.math import abs_
from ..engine.ops.norm import p_norm
from ..engine.ops.reduction import sum_
from ..engine.ops.shape import reshape, transpose
from ..engine.types import dtype_of
from ..utils.public import public
from .arguments import axis_argument, fill_out
from .axes import axes_argument
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = ["norm"]  # the others are in `paddle.linalg` alone

_INF = math.inf


@public(also={"x": "input", "p": "ord", "axis": "dim"}, method=True)
def norm(x: Tensor, p: Any = None, axis: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None,
         name: str | None = None) -> Tensor:  # fmt: skip
    """The norm of a vector, or of a matrix where two axes are given.

    Args:
        x (Tensor): floating or complex.
        p (float|str, optional): the order, "fro" (root of the sum of squares, the default
            where axis is None; else 2) or "nuc" (sum of the
            singular values). With two axes: 1, -1, 2, -2, inf, -inf, "fro", "nuc".
        axis (int|list|tuple, optional): None for all elements as one vector.
        keepdim (bool): the axes stay, with size 1. out (Tensor, optional): Takes the result and is returned.
        dtype (str|dtype, optional): x is converted to it first.

    Returns:
        Tensor: real, x without the axes.

    Raises:
        TypeError: x is not a Tensor. ValueError: no such norm or axis.

    Examples:
        >>> paddle.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    need_tensor(x, "norm", kind=TypeError)
    keepdim = flag(keepdim, "keepdim")
    x = _floating(x if dtype is None else cast(x, dtype_of(dtype)), "norm")
    if p is None:
        p = "fro" if axis is None else 2.0
    if p == "nuc":
        axes = [-2, -1] if axis is None else axis
        return fill_out(_matrix_norm(x, p, axes, keepdim, "norm"), out)
    if isinstance(p, str):
        if p != "fro":
            _no_norm("norm", p)
        return fill_out(p_norm(x, 2.0, axes_argument(axis, x.ndim, "norm"), keepdim), out)
    if not is_number(p):
        _no_norm("norm", p)
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        return fill_out(_matrix_norm(x, p, axis, keepdim, "norm"), out)
    return fill_out(p_norm(x, float(p), axes_argument(axis, x.ndim, "norm"), keepdim), out)


def _floating(x: Tensor, name: str) -> Tensor:
    if x.dtype.kind not in "fc":
        raise errors.unavailable(
            f"{name}: it is not defined for {x.dtype.name}.", expected="floating or complex", received=f"x: {x.type}"
        )
    return x


def _no_norm(name: str, p: Any) -> None:
    raise errors.invalid_argument(
        f"{name}: no such norm.", expected="a number, 'fro' or 'nuc'; of matrices 1, -1, 2, -2, inf or -inf",
        received=f"p: {p!r}",
    )  # fmt: skip


@public(also={"p": "ord", "axis": "dim"})
def vector_norm(x: Tensor, p: float = 2.0, axis: Any = None, keepdim: bool = False, name: str | None = None, *,
                dtype: Any = None, out: Any = None) -> Tensor:  # fmt: skip
    """The p-norm over axes, all for None.

    Examples:
        >>> paddle.linalg.vector_norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    need_tensor(x, "vector_norm", kind=TypeError)
    x = _floating(x if dtype is None else cast(x, dtype_of(dtype)), "vector_norm")
    return fill_out(p_norm(x, float(p), axes_argument(axis, x.ndim, "vector_norm"), keepdim), out)


def matrix_norm(x: Tensor, p: Any = "fro", axis: Any = [-2, -1], keepdim: bool = False,  # noqa: B006
                name: str | None = None) -> Tensor:  # fmt: skip
    """The norm of matrices on two axes: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Examples:
        >>> paddle.linalg.matrix_norm(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), 1).item()
        6.0
    """
    need_tensor(x, "matrix_norm")
    return _matrix_norm(_floating(x, "matrix_norm"), p, axis, keepdim, "matrix_norm")


def _matrix_norm(x: Tensor, p: Any, axis: Any, keepdim: bool, name: str) -> Tensor:
    if not isinstance(axis, (list, tuple)) or len(axis) != 2:
        raise errors.invalid_argument(f"{name}: a matrix has two axes.", received=f"axis: {axis}", expected="two axes")
    i, j = (axis_argument(a, x.ndim, name) for a in axis)
    if i == j:
        raise errors.invalid_argument(
            f"{name}: an axis is named twice.", received=f"axis: {axis}", expected="different axes"
        )
    if p == "fro":
        return p_norm(x, 2.0, (i, j), keepdim)
    shape = tuple(1 if a in (i, j) else n for a, n in enumerate(x.type.shape) if keepdim or a not in (i, j))
    last = transpose(x, (*(a for a in range(x.ndim) if a not in (i, j)), i, j))
    n = last.ndim
    if p == "nuc":
        return reshape(sum_(Svd()(last)[1], (n - 2,)), shape)
    if p not in (1, -1, 2, -2, _INF, -_INF) or isinstance(p, (bool, str)):
        _no_norm(name, p)
    largest = reduction.Max if p > 0 else reduction.Min
    if abs(p) == 2:
        return reshape(largest((n - 2,), False)(Svd()(last)[1]), shape)
    sums = sum_(abs_(last), (n - 2 if abs(p) == 1 else n - 1,))
    return reshape(largest((n - 2,), False)(sums), shape)


@public(method=True)
def cond(x: Tensor, p: Any = None, name: str | None = None) -> Tensor:
    """The condition number of matrices [..., M, N]: norm(x) * norm(inverse of x); for None that of order 2.

    Examples:
        >>> round(paddle.linalg.cond(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).item(), 4)
        2.0
    """
    no_method(x, "cond")
    if p is None or (is_number(p) and abs(p) == 2):
        s = Svd()(x)[1]
        last = (s.ndim - 1,)
        top, low = reduction.Max(last, False)(s), reduction.Min(last, False)(s)
        return low / top if p == -2 else top / low
    axes = [-2, -1]
    return _matrix_norm(x, p, axes, False, "cond") * _matrix_norm(Inverse()(x), p, axes, False, "cond")


@public(method=True)
def matrix_rank(x: Tensor, tol: Any = None, hermitian: bool = False, atol: Any = None, rtol: Any = None,
                name: str | None = None) -> Tensor:  # fmt: skip
    """How many singular values of matrices count: those above a bound.

    Args:
        x (Tensor): [..., M, N]. tol (float|Tensor, optional): the bound.
        atol, rtol (float|Tensor, optional): absolute bound, and one relative to the greatest singular value;
            the greater counts. By default rtol is max(M, N) times the precision of the type.

    Returns:
        Tensor: int64 [...].

    Examples:
        >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
        1
    """
    import numpy as np

    no_method(x, "matrix_rank")
    s = Svd()(x)[1]
    last = (s.ndim - 1,)
    top = reduction.Max(last, True)(s)
    if tol is not None:
        bound = _bound(tol, s)
    else:
        default = max(x.type.shape[-2:]) * float(np.finfo(s.dtype.np).eps) if atol is None and rtol is None else 0.0
        bound = top * (_bound(rtol, s) if rtol is not None else default)
        if atol is not None:
            bound = ew.maximum(*ew.promoted("matrix_rank", _bound(atol, s), bound))
    return sum_(cast(ew.greater_than(s, bound), types.int64), last)


def _bound(v: Any, s: Tensor) -> Any:
    """A bound per matrix, beside their singular values."""
    if isinstance(v, Tensor):
        return reshape(cast(v, s.dtype), (*v.type.shape, 1))
    return float(v)
