"""Functions of diagonals, and in-place filling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.sharing import View, share
from ..engine.eager.trace import from_array
from ..engine.ops.creation import Eye
from ..engine.ops.elementwise import cast
from ..engine.ops.indexing import ScatterSet
from ..engine.ops.logic import select
from ..engine.ops.shape import Dilate, Reshape, Slice, broadcast_to, pad, reshape, transpose
from ..engine.types import bool_
from ..utils.public import METHODS, inplace, public
from .arguments import axis_argument, int_argument, shape_argument, tensor_argument, tensor_list
from .creation import filled
from .scattering import scalar_tensor
from .tensor import Tensor

__all__ = ["diag", "diagflat", "diag_embed", "diagonal", "diagonal_scatter", "block_diag"]


def read(x: Any, offset: int) -> Any:
    """The diagonals of the matrices of the last two axes, along a new last axis."""
    s = x.type.shape
    n, m = s[-2], s[-1]
    size = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    outer = s[:-2]
    zeros, ones = (0,) * len(outer), (1,) * len(outer)
    flat = Reshape((*outer, n * m))(x)
    if not size:
        return Slice((*zeros, 0), (*outer, 0), (*ones, 1))(flat)
    start = offset if offset >= 0 else -offset * m
    return Slice((*zeros, start), (*outer, start + (size - 1) * (m + 1) + 1), (*ones, m + 1))(flat)


def embed(v: Any, offset: int) -> Any:
    """Square matrices on the last two axes with the vectors of the last axis of v on a diagonal."""
    s = v.type.shape
    k = s[-1]
    n = k + abs(offset)
    if not k:
        return filled((*s[:-1], n, n), 0, v.type.dtype)
    start = offset if offset >= 0 else -offset * n
    spaced = Dilate((1,) * (len(s) - 1) + (n + 1,))(v) if k > 1 else v
    low = (0,) * (len(s) - 1) + (start,)
    high = (0,) * (len(s) - 1) + (n * n - start - (k - 1) * (n + 1) - 1,)
    return Reshape((*s[:-1], n, n))(pad(spaced, low, high))


@public(method=True)
def diag(x: Tensor, offset: int = 0, padding_value: Any = 0, name: str | None = None) -> Tensor:
    """A vector as the diagonal of a matrix; the diagonal of a matrix as a vector.

    Args:
        x (Tensor): a vector or a matrix. offset (int): columns to the right of the main diagonal.
        padding_value (number): what stands elsewhere, for a vector.

    Raises:
        ValueError: more than two axes.

    Examples:
        >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    s = tensor_argument(x, "diag").type.shape
    k = int_argument(offset, "diag", "offset")
    if len(s) > 2:
        raise errors.invalid_argument(
            "diag: x has more than two axes.", received=f"x: {x.type}", expected="a vector or a matrix"
        )
    if len(s) == 2:
        return read(x, k)
    out = embed(reshape(x, (x.type.size,)), k)
    if padding_value:
        n = out.type.shape[0]
        out = select(Eye(n, n, bool_, k)(), out, scalar_tensor(padding_value, x, "diag"))
    return out


@public(method=True)
def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """All elements of x on a diagonal of a matrix."""
    tensor_argument(x, "diagflat")
    return embed(reshape(x, (x.type.size,)), int_argument(offset, "diagflat", "offset"))


@public(method=True)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The vectors of the last axis as diagonals of matrices, which lie on axes dim1 and dim2.

    Raises:
        ValueError: no such axes, or the same twice.

    Examples:
        >>> paddle.diag_embed(paddle.ones([3, 2])).shape
        paddle.Size([3, 2, 2])
    """
    n = len(tensor_argument(input, "diag_embed", "input").type.shape) + 1
    out = embed(input, int_argument(offset, "diag_embed", "offset"))
    return _spread(out, n, dim1, dim2, "diag_embed")


def _spread(x: Any, n: int, first: Any, second: Any, name: str) -> Any:
    """The last two axes of x moved to `first` and `second`."""
    a, b = axis_argument(first, n, name, "dim1"), axis_argument(second, n, name, "dim2")
    if a == b:
        raise errors.invalid_argument(
            f"{name}: the axes are the same.", received=f"{first}, {second}", expected="two axes"
        )
    order: list[int] = []
    rest = iter(range(n - 2))
    for i in range(n):
        order.append(n - 2 if i == a else n - 1 if i == b else next(rest))
    return transpose(x, order)


def _gathered(x: Any, first: Any, second: Any, name: str) -> tuple[Any, int, int]:
    """x with axes `first` and `second` last."""
    n = len(x.type.shape)
    if n < 2:
        raise errors.invalid_argument(f"{name}: x is not a matrix.", expected="at least two axes",
                                      received=f"x: {x.type}")  # fmt: skip
    a, b = axis_argument(first, n, name, "axis1"), axis_argument(second, n, name, "axis2")
    if a == b:
        raise errors.invalid_argument(
            f"{name}: the axes are the same.", received=f"{first}, {second}", expected="two axes"
        )
    return transpose(x, [i for i in range(n) if i not in (a, b)] + [a, b]), a, b


@public(also={"x": "input", "axis1": "dim1", "axis2": "dim2"}, method=True, kind=ValueError)
def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The diagonals of the matrices on two axes, along a new last axis. The result shares memory with x.

    Args:
        x (Tensor): at least two axes. offset (int): columns to the right of the main diagonal.
        axis1, axis2 (int): of the rows and the columns.

    Raises:
        ValueError: no such axes, or the same twice.

    Examples:
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    k = int_argument(offset, "diagonal", "offset")
    find = lambda v: read(_gathered(v, axis1, axis2, "diagonal")[0], k)  # noqa: E731
    both = View(
        find,
        lambda v, part: _with_diagonal(v, part, k, axis1, axis2, "diagonal"),
        lambda a: np.diagonal(a, k, axis1, axis2),
    )
    return share(x, find(tensor_argument(x, "diagonal")), both)  # type: ignore[no-any-return]


def _with_diagonal(x: Any, y: Any, offset: int, first: Any, second: Any, name: str) -> Any:
    """x with other diagonals."""
    placed, a, b = _gathered(x, first, second, name)
    s = placed.type.shape
    n, m = s[-2:]
    size = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    start = offset if offset >= 0 else -offset * m
    at = from_array(np.arange(size) * (m + 1) + start)
    want = (*s[:-2], size)
    if y.type.shape != want:
        raise errors.invalid_argument(f"{name}: y does not fit the diagonal.", expected=f"shape {list(want)}",
                                      received=f"y: {y.type}")  # fmt: skip
    flat = Reshape((*s[:-2], n * m))(placed)
    done = Reshape(s)(ScatterSet(len(s) - 2)(flat, cast(y, x.type.dtype), at))
    return _spread(done, len(s), a, b, name)


@public(method=True)
def diagonal_scatter(
    x: Tensor, y: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """x with the diagonals that `diagonal` would give replaced by y.

    Examples:
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.to_tensor([1.0, 2.0])).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    tensor_argument(y, "diagonal_scatter", "y")
    return _with_diagonal(tensor_argument(x, "diagonal_scatter"), y, offset, axis1, axis2, "diagonal_scatter")


def fill_diagonal_tensor(
    x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """x with the diagonals on two axes replaced by y."""
    tensor_argument(y, "fill_diagonal_tensor", "y")
    return _with_diagonal(tensor_argument(x, "fill_diagonal_tensor"), y, offset, dim1, dim2, "fill_diagonal_tensor")


METHODS["fill_diagonal_tensor"] = fill_diagonal_tensor
fill_diagonal_tensor_ = inplace(fill_diagonal_tensor)


def fill_diagonal(x: Tensor, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None) -> Tensor:
    """x with its diagonal set to one number. wrap: in tall matrices the diagonal begins anew after each block."""
    s = x.type.shape
    if len(s) < 2:
        raise errors.invalid_argument("fill_diagonal_: x is not a matrix.", expected="at least two axes",
                                      received=f"x: {x.type}")  # fmt: skip
    if len(s) > 2 and len(set(s)) != 1:
        raise errors.invalid_argument(
            "fill_diagonal_: the axes differ in size.",
            received=f"x: {x.type}",
            expected="equal sizes, as x has more than two axes",
        )
    m = s[-1]
    if len(s) == 2:
        step, stop = m + 1, x.type.size if wrap or s[0] <= m else m * m
        at = np.arange(0, stop, step) + offset
        rows, columns = np.arange(0, stop, step) // m, np.arange(0, stop, step) % m + offset
        at = at[(columns >= 0) & (columns < m) & (rows < s[0])]
    else:
        at = np.arange(m) * sum(m**i for i in range(len(s))) + offset
        at = at[(at >= 0) & (at < x.type.size)]
    v = broadcast_to(scalar_tensor(value, x, "fill_diagonal_"), (len(at),))
    return Reshape(s)(ScatterSet(0)(Reshape((x.type.size,))(x), v, from_array(np.array(at, np.int64))))


fill_diagonal_ = inplace(fill_diagonal, name="fill_diagonal_")


@public(method=True)
def block_diag(inputs: Any, name: str | None = None) -> Tensor:
    """Matrices along the diagonal of one matrix; numbers and vectors count as rows.

    Examples:
        >>> paddle.block_diag([paddle.to_tensor([[1, 2]]), paddle.to_tensor([[3]])]).tolist()
        [[1, 2, 0], [0, 0, 3]]
    """
    from .joining import concat

    xs = [reshape(x, (1,) * (2 - len(x.type.shape)) + x.type.shape) for x in tensor_list(inputs, "block_diag")]
    width = sum(x.type.shape[1] for x in xs)
    rows, left = [], 0
    for x in xs:
        n = x.type.shape[1]
        rows.append(pad(x, (0, left), (0, width - left - n)))
        left += n
    return concat(rows, 0)


# ---- filling ----------------------------------------------------------------------------------
def fill(x: Tensor, value: Any) -> Tensor:
    """A Tensor like x whose elements are all one number."""
    from .creation import _full

    return _full("fill_", x.type.shape, value, x.type.dtype)


fill_ = inplace(fill, name="fill_")


def zero(x: Tensor) -> Tensor:
    """Zeros like x."""
    return filled(x.type.shape, 0, x.type.dtype)


zero_ = inplace(zero, name="zero_")


def resized(x: Tensor, shape: Any, fill_zero: bool = False, name: str | None = None) -> Tensor:
    """The first elements of x under another shape; zeros where there are none."""
    s = shape_argument(shape, "resize_")
    n, m = x.type.size, math.prod(s)
    flat = reshape(x, (n,))
    if m > n:
        flat = pad(flat, (0,), (m - n,))
    elif m < n:
        flat = Slice((0,), (m,), (1,))(flat)
    return reshape(flat, s)


resize_ = inplace(resized, name="resize_", reshapes=True)


def taken_over(
    x: Tensor, source: Any = None, shape: Any = None, stride: Any = None, offset: int = 0, name: str | None = None
) -> Tensor:
    """The values of another Tensor, or nothing; with a shape and stride, elements of it as in `as_strided`."""
    from .repeating import as_strided

    if source is None:
        return filled((0,), 0, x.type.dtype)
    if shape is None:
        return Reshape(source.type.shape)(source.detach())
    if stride is None:
        s = shape_argument(shape, "set_")
        stride = [math.prod(s[i + 1 :]) for i in range(len(s))]
    return as_strided(source.detach(), shape, stride, offset)


set_ = inplace(taken_over, name="set_", reshapes=True, retypes=True)
