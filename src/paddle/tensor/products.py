"""Products of matrices and vectors."""

from __future__ import annotations

import math
from typing import Any

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import linalg as ops
from ..engine.ops.contraction import einsum as _einsum
from ..engine.ops.elementwise import cast, conj
from ..engine.ops.reduction import sum_
from ..engine.ops.shape import broadcast_to, reshape, slice_axis, transpose
from ..utils.public import public
from .arguments import axis_argument, fill_out, int_argument
from .families import need_tensor
from .tensor import Tensor, flag

__all__ = [
    "matmul", "mm", "bmm", "mv", "dot", "vecdot", "inner", "outer", "ger", "addmm", "baddbmm", "kron", "cross",
    "tensordot", "einsum",
]  # fmt: skip


@public(also={"x": "input", "y": "other"}, method=True, kind=ValueError)
def matmul(x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None, *,
           out: Any = None) -> Tensor:  # fmt: skip
    """The product of matrices, or of stacks of them.

    Args:
        x (Tensor): [..., M, K], or a vector [K].
        y (Tensor): [..., K, N], or a vector [K]; the leading axes broadcast.
        transpose_x, transpose_y (bool): the last two axes are swapped first.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: [..., M, N]; a vector's axis is left out.

    Raises:
        ValueError: an argument is not a Tensor, sizes or types differ.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.matmul(x, x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
    """
    need_tensor(x, "matmul")
    need_tensor(y, "matmul", "y")
    x, y = one_type(x, y)
    return fill_out(ops.matmul(x, y, flag(transpose_x, "transpose_x"), flag(transpose_y, "transpose_y")), out)


def one_type(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the complex type if one is complex, float32 beside integers; other types have to be equal."""
    if x.dtype is types.float32 and y.dtype in (types.int32, types.int64):
        return x, cast(y, x.dtype)
    if x.dtype is not y.dtype and (x.dtype.is_complex or y.dtype.is_complex):
        dtype = ew.promote_pair(x.dtype, y.dtype, "matmul")
        return cast(x, dtype), cast(y, dtype)
    return x, y


@public(method=True)
def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The product of two matrices: `matmul`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.mm(x, x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
    """
    need_tensor(input, "mm", "input")
    need_tensor(mat2, "mm", "mat2")
    return ops.matmul(*one_type(input, mat2))


def _need_shape(name: str, label: str, x: Tensor, ndim: int, what: str) -> None:
    if x.ndim != ndim:
        raise errors.invalid_argument(f"{name}: {label} is no {what}.", expected=f"{ndim} axes", received=f"{x.type}")


@public(also={"x": "input", "y": "mat2"}, method=True, kind=ValueError)
def bmm(x: Tensor, y: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """The products of two stacks of matrices: [B, M, K] and [B, K, N] give [B, M, N].

    Examples:
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).flatten().tolist()
        [3.0, 3.0]
    """
    for a, label in ((x, "x"), (y, "y")):
        _need_shape("bmm", label, need_tensor(a, "bmm", label), 3, "stack of matrices")
    if x.type.shape[0] != y.type.shape[0]:
        raise errors.invalid_argument(
            "bmm: the stacks differ in length.", expected="x.shape[0] == y.shape[0]", received=f"{x.type}, {y.type}"
        )
    return fill_out(ops.MatMul(False, False)(x, y), out)


@public(method=True)
def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """The product of a matrix [M, N] and a vector [N].

    Examples:
        >>> paddle.mv(paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [3.0, 3.0]
    """
    _need_shape("mv", "x", need_tensor(x, "mv"), 2, "matrix")
    _need_shape("mv", "vec", need_tensor(vec, "mv", "vec"), 1, "vector")
    return ops.matmul(x, vec)


@public(also={"x": "input", "y": "tensor"}, method=True, kind=ValueError)
def dot(x: Tensor, y: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """The sum of the products of two vectors, or of the rows of two matrices.

    Examples:
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    need_tensor(x, "dot")
    need_tensor(y, "dot", "y")
    if not 1 <= x.ndim <= 2 or x.type.shape != y.type.shape:
        raise errors.precondition(
            "dot: the shapes differ.", expected="two vectors, or two matrices", received=f"x: {x.type}, y: {y.type}"
        )
    return fill_out(sum_(x * y, (x.ndim - 1,)), out)


@public(method=True)
def vecdot(x: Tensor, y: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum along an axis of conj(x) * y; the shapes broadcast.

    Examples:
        >>> paddle.linalg.vecdot(paddle.ones([2, 3]), paddle.ones([2, 3])).tolist()
        [3.0, 3.0]
    """
    need_tensor(x, "vecdot", kind=TypeError)
    product = conj(x) * (y if ew.is_number(y) else need_tensor(y, "vecdot", "y", TypeError))
    return sum_(
        cast(product, types.int64) if product.dtype.kind in "biu" else product,
        (axis_argument(axis, product.ndim, "vecdot"),),
    )


@public(method=True)
def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Sums over the last axes of x and y; the product with a 0-D Tensor.

    Examples:
        >>> paddle.inner(paddle.ones([2, 3]), paddle.ones([4, 3])).shape
        paddle.Size([2, 4])
    """
    need_tensor(x, "inner")
    need_tensor(y, "inner", "y")
    if not x.ndim or not y.ndim:
        return x * y
    x, y = one_type(x, y)
    if x.type.shape[-1] != y.type.shape[-1]:
        raise errors.invalid_argument(
            "inner: the last axes differ.", received=f"x: {x.type}, y: {y.type}", expected="x.shape[-1] == y.shape[-1]"
        )
    rows = lambda t: reshape(t, (math.prod(t.type.shape[:-1]), t.type.shape[-1]))  # noqa: E731
    return reshape(ops.MatMul(False, True)(rows(x), rows(y)), (*x.type.shape[:-1], *y.type.shape[:-1]))


@public(also={"x": "input", "y": "vec2"}, method=True)
def outer(x: Tensor, y: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """All products of an element of x and one of y: [size of x, size of y].

    Examples:
        >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    need_tensor(x, "outer")
    need_tensor(y, "outer", "y")
    return fill_out(reshape(x, (x.type.size, 1)) * reshape(y, (1, y.type.size)), out)


ger = outer


def _added(input: Any, product: Tensor, beta: float, alpha: float, name: str) -> Tensor:
    if len(input.type.shape) not in (1, product.ndim) and input.ndim != product.ndim:
        raise errors.invalid_argument(
            f"{name}: input does not fit.",
            received=f"{input.type}, product: {product.type}",
            expected="a shape that broadcasts to the product",
        )
    if ew.broadcast(name, input.type, product.type) != product.type.shape:
        raise errors.invalid_argument(
            f"{name}: input does not broadcast to the product.",
            expected=f"{list(product.type.shape)}",
            received=f"input: {input.type}",
        )
    return input * beta + product * alpha


@public(method=True)
def addmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y), for matrices; input broadcasts.

    Examples:
        >>> paddle.addmm(paddle.ones([2, 2]), paddle.ones([2, 3]), paddle.ones([3, 2]), alpha=2.0).tolist()
        [[7.0, 7.0], [7.0, 7.0]]
    """
    for a, label in ((input, "input"), (x, "x"), (y, "y")):
        need_tensor(a, "addmm", label, TypeError)
    _need_shape("addmm", "x", x, 2, "matrix")
    _need_shape("addmm", "y", y, 2, "matrix")
    return _added(input, ops.MatMul(False, False)(x, y), beta, alpha, "addmm")


@public(method=True)
def baddbmm(input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0,
            name: str | None = None) -> Tensor:  # fmt: skip
    """beta * input + alpha * bmm(x, y), for stacks of matrices; input broadcasts.

    Examples:
        >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 3]), paddle.ones([1, 3, 1])).item()
        4.0
    """
    for a, label in ((input, "input"), (x, "x"), (y, "y")):
        need_tensor(a, "baddbmm", label, TypeError)
    return _added(input, bmm(x, y), beta, alpha, "baddbmm")


@public(method=True)
def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The Kronecker product: each element of x times the whole of y, side by side.

    Examples:
        >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
        [1, 10, 2, 20]
    """
    need_tensor(x, "kron")
    need_tensor(y, "kron", "y")
    n = max(x.ndim, y.ndim)
    a = (1,) * (n - x.ndim) + x.type.shape
    b = (1,) * (n - y.ndim) + y.type.shape
    spread = reshape(x, tuple(v for d in a for v in (d, 1))) * reshape(y, tuple(v for d in b for v in (1, d)))
    return reshape(spread, tuple(p * q for p, q in zip(a, b)))


@public(also={"axis": "dim"}, method=True)
def cross(x: Tensor, y: Tensor, axis: int | None = 9, name: str | None = None) -> Tensor:
    """The cross product of 3-vectors along an axis: by default (9) the first of size 3.

    Examples:
        >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
        [0.0, 0.0, 1.0]
    """
    need_tensor(x, "cross", kind=TypeError)
    need_tensor(y, "cross", "y", TypeError)
    shape = ew.broadcast("cross", x.type, y.type)
    x, y = broadcast_to(x, shape), broadcast_to(y, shape)
    if axis is None or axis == 9:
        if 3 not in shape:
            raise errors.invalid_argument(
                "cross: no axis has size 3.",
                received=f"x: {x.type}, y: {y.type}",
                expected="vectors of 3 along some axis",
            )
        a = shape.index(3)
    else:
        a = axis_argument(axis, x.ndim, "cross")
        if shape[a] != 3:
            raise errors.invalid_argument(
                "cross: the axis has not size 3.",
                received=f"x: {x.type}, axis: {axis}",
                expected="vectors of 3 along axis",
            )
    from ..engine.ops.join import Concat

    part = lambda t, i: slice_axis(t, a, i, i + 1)  # noqa: E731
    return Concat(a)(*(part(x, i) * part(y, j) - part(x, j) * part(y, i) for i, j in ((1, 2), (2, 0), (0, 1))))


@public(method=True)
def tensordot(x: Tensor, y: Tensor, axes: Any = 2, name: str | None = None) -> Tensor:
    """Sums over pairs of axes of x and y.

    Args:
        x, y (Tensor): any.
        axes (int|list|Tensor): a number n pairs the last n axes of x with the first n of y; two lists name them;
            one list names them in both.

    Returns:
        Tensor: the other axes of x, then those of y.

    Examples:
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), axes=1).shape
        paddle.Size([2, 4])
    """
    need_tensor(x, "tensordot", kind=TypeError)
    need_tensor(y, "tensordot", "y", TypeError)
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, int):
        n = int_argument(axes, "tensordot", "axes")
        left, right = list(range(x.ndim - n, x.ndim)), list(range(n))
    elif len(axes) and isinstance(axes[0], (list, tuple, Tensor)):
        lists = [a.tolist() if isinstance(a, Tensor) else list(a) for a in axes]
        left, right = lists[0], lists[1] if len(lists) > 1 else lists[0]
    else:
        left = right = list(axes)
    # the shorter list is completed by the rest of the longer one
    if len(left) != len(right):
        left, right = (left, left) if len(left) > len(right) and not right else (left[: len(right)], right[: len(left)])
    left = [axis_argument(a, x.ndim, "tensordot") for a in left]
    right = [axis_argument(a, y.ndim, "tensordot") for a in right]
    for i, j in zip(left, right):
        if x.type.shape[i] != y.type.shape[j] and 1 not in (x.type.shape[i], y.type.shape[j]):
            raise errors.invalid_argument(
                "tensordot: the sizes of a pair of axes differ.",
                received=f"x: {x.type}, y: {y.type}, {i} and {j}",
                expected="equal sizes, or 1",
            )
    free_x = [i for i in range(x.ndim) if i not in left]
    free_y = [i for i in range(y.ndim) if i not in right]
    inner_ = math.prod(x.type.shape[i] for i in left)
    a = reshape(transpose(x, (*free_x, *left)), (math.prod(x.type.shape[i] for i in free_x), inner_))
    b = reshape(transpose(y, (*right, *free_y)), (inner_, math.prod(y.type.shape[i] for i in free_y)))
    shape = (*(x.type.shape[i] for i in free_x), *(y.type.shape[i] for i in free_y))
    return reshape(ops.MatMul(False, False)(a, b), shape)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products in Einstein's notation.

    Args:
        equation (str): letters per operand, separated by commas, and after "->" those of the result; without it those
            that come once, in alphabetical order. "..." stands for axes that broadcast.
        *operands (Tensor): one per term, or one list of them.

    Returns:
        Tensor: the axes that the equation names.

    Raises:
        AssertionError: the equation does not fit the operands. ValueError: the sizes of a letter differ.

    Examples:
        >>> paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        paddle.Size([2, 4])
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise errors.no_attribute(
            "einsum: the equation is not a string.",
            expected="a str, as in 'ij,jk->ik'",
            received=type(equation).__name__,
        )
    for i, t in enumerate(operands):
        need_tensor(t, "einsum", f"operands[{i}]", AttributeError)
    return _einsum(equation, *operands) * 1 if len(operands) == 1 else _einsum(equation, *operands)


@public(method=True)
def multi_dot(x: list[Tensor], name: str | None = None) -> Tensor:
    """The product of several matrices, in the order that costs least; the first and last may be vectors.

    Examples:
        >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 1])]).shape
        paddle.Size([2, 1])
    """
    if not isinstance(x, (list, tuple)) or len(x) < 2 or not all(isinstance(t, Tensor) for t in x):
        raise errors.invalid_argument("multi_dot: no list of matrices.", expected="at least two", received=f"{x!r}")
    mats = list(x)
    if len(mats) == 2:
        return ops.matmul(mats[0], mats[1])
    row, column = mats[0].ndim == 1, mats[-1].ndim == 1
    if row:
        mats[0] = reshape(mats[0], (1, mats[0].type.size))
    if column:
        mats[-1] = reshape(mats[-1], (mats[-1].type.size, 1))
    sizes = [m.type.shape[0] for m in mats] + [mats[-1].type.shape[1]]
    out = _chain(mats, 0, len(mats) - 1, _best_splits(sizes))
    shape = out.type.shape
    return reshape(out, (() if row else shape[:1]) + (() if column else shape[1:]))


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each stretch of a product of matrices [sizes[i], sizes[i + 1]] for the fewest multiplications."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            found = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(found, key=found.__getitem__)
            cost[i, j] = found[split[i, j]]
    return split


def _chain(mats: list[Tensor], i: int, j: int, split: dict[tuple[int, int], int]) -> Tensor:
    if i == j:
        return mats[i]
    k = split[i, j]
    return ops.matmul(_chain(mats, i, k, split), _chain(mats, k + 1, j, split))
