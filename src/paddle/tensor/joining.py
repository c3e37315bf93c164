"""Functions that join tensors and cut them into parts."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.sharing import view
from ..engine.eager.trace import current
from ..engine.ops import join
from ..engine.ops.indexing import Index
from ..engine.ops.shape import Reshape, slice_axis
from ..utils.public import METHODS, public
from .arguments import axis_argument, fill_out, int_argument, ints_argument, tensor_argument, tensor_list
from .manipulation import at_least
from .tensor import Tensor

__all__ = [
    "concat", "cat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "split",
    "tensor_split", "hsplit", "vsplit", "dsplit", "chunk", "unbind", "unstack",
]  # fmt: skip

_slice = builtins.slice


# ---- joining ----------------------------------------------------------------------------------
@public(also={"x": "tensors", "axis": "dim"}, method=True)
def concat(x: Any, axis: Any = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """Tensors one after another along an axis.

    Args:
        x (list|tuple of Tensor): equal in dtype and in all sizes but that of the axis.
        axis (int|Tensor): which.

    Raises:
        ValueError: they do not fit together, or there is no such axis.

    Examples:
        >>> paddle.concat([paddle.ones([1, 2]), paddle.zeros([2, 2])]).shape
        paddle.Size([3, 2])
    """
    if isinstance(x, Tensor):
        raise errors.invalid_argument("concat: x is not a list of Tensors.", expected="a list", received="a Tensor",
                                      hint="write paddle.concat([x, y], axis).")  # fmt: skip
    xs = tensor_list(x, "concat")
    same_dtype(xs, "concat")
    n = len(xs[0].type.shape)
    if n == 0:
        raise errors.invalid_argument("concat: 0-d Tensors have no axis.", expected="at least one axis",
                                      received="0-d Tensors", hint="use paddle.stack.")  # fmt: skip
    a = axis_argument(axis, n, "concat")
    made = join.concat(xs, a) if len(xs) > 1 else Reshape(xs[0].type.shape)(xs[0])
    return fill_out(made, out)


cat = concatenate = concat


def same_dtype(xs: list[Any], name: str) -> None:
    other = next((i for i, x in enumerate(xs) if x.type.dtype is not xs[0].type.dtype), 0)
    if other:
        if current().amp is not None and all(x.type.dtype.is_floating for x in xs):
            return  # auto_cast chooses one
        raise errors.invalid_argument(
            f"{name}: the element types differ.",
            expected="Tensors of one dtype",
            received=", ".join(x.type.dtype.name for x in xs),
            hint=errors.cast_hint(**{f"x[{i}]": xs[i].type for i in (0, other)}),
        )


@public(also={"x": "tensors", "axis": "dim"}, method=True)
def stack(x: Any, axis: int = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """Tensors of one shape along a new axis.

    Args:
        x (list|tuple of Tensor): equal in shape and dtype. axis (int): where the new axis goes.

    Raises:
        ValueError: they differ, or there is no such place.

    Examples:
        >>> paddle.stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    if isinstance(x, Tensor):
        raise errors.invalid_argument("stack: x is not a list of Tensors.", expected="a list", received="a Tensor",
                                      hint="write paddle.stack([x, y], axis).")  # fmt: skip
    xs = tensor_list(x, "stack")
    same_dtype(xs, "stack")
    s = xs[0].type.shape
    if any(y.type.shape != s for y in xs):
        raise errors.invalid_argument(
            "stack: the shapes differ.", expected="Tensors of one shape", received=", ".join(f"{y.type}" for y in xs)
        )
    return fill_out(join.stack(xs, axis_argument(axis, len(s), "stack", extra=1)), out)


def _each(x: Any, name: str) -> tuple[Any, ...]:
    """What is to be stacked: Tensors, arrays or numbers."""
    if not isinstance(x, (list, tuple, np.ndarray, Tensor)):
        raise errors.invalid_type(
            f"{name}: x is not a list.", expected="a list or tuple of Tensors", received=f"x: {type(x).__name__}"
        )
    return tuple(x) if len(x) else tuple(tensor_list(x, name))  # type: ignore[arg-type]


def hstack(x: Any, name: str | None = None) -> Tensor:
    """Tensors side by side: along the second axis, vectors along the first."""
    xs = at_least(1, _each(x, "hstack"))
    xs = xs if isinstance(xs, list) else [xs]
    return concat(xs, 0 if len(xs[0].type.shape) == 1 else 1)


def vstack(x: Any, name: str | None = None) -> Tensor:
    """Tensors one below another: along the first axis, vectors as rows."""
    xs = at_least(2, _each(x, "vstack"))
    return concat(xs if isinstance(xs, list) else [xs], 0)


def row_stack(x: Any, name: str | None = None) -> Tensor:
    """Tensors one below another; as `vstack`."""
    return vstack(x)


def dstack(x: Any, name: str | None = None) -> Tensor:
    """Tensors one behind another: along the third axis."""
    xs = at_least(3, _each(x, "dstack"))
    return concat(xs if isinstance(xs, list) else [xs], 2)


def column_stack(x: Any, name: str | None = None) -> Tensor:
    """Tensors side by side, vectors as columns."""
    xs = tensor_list(x, "column_stack")
    return concat([Reshape((y.type.size, 1))(y) if len(y.type.shape) < 2 else y for y in xs], 1)


# ---- splitting --------------------------------------------------------------------------------
def pieces(x: Any, sizes: list[int], axis: int) -> list[Any]:
    out, start = [], 0
    for n in sizes:
        out.append(slice_axis(x, axis, start, start + n) if n != x.type.shape[axis] else Reshape(x.type.shape)(x))
        start += n
    return out


@public(method=True)
def split(x: Tensor, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """x cut along an axis.

    Args:
        x (Tensor): any type.
        num_or_sections (int|list|tuple): a number of equal parts, or their sizes, of which one may be -1.
        axis (int|Tensor): which.

    Returns:
        list of Tensor.

    Raises:
        ValueError: the sizes do not add up, or the axis does not divide. TypeError: no number and no list.

    Examples:
        >>> [p.shape for p in paddle.split(paddle.ones([5]), [2, -1])]
        [paddle.Size([2]), paddle.Size([3])]
    """
    s = tensor_argument(x, "split").type.shape
    a = axis_argument(axis, len(s), "split")
    total = s[a] if s else 0
    if isinstance(num_or_sections, (list, tuple)):
        sizes = ints_argument(num_or_sections, "split", "num_or_sections")
        if sizes.count(-1) == 1:
            sizes[sizes.index(-1)] = total - sum(n for n in sizes if n != -1)
        if sum(sizes) != total or any(n < 0 for n in sizes):
            raise errors.invalid_argument(
                "split: the sizes do not add up.", expected=f"a sum of {total}", received=f"{list(num_or_sections)}"
            )
        return pieces(x, sizes, a)
    if not isinstance(num_or_sections, (int, np.integer)):
        raise errors.invalid_type("split: num_or_sections is neither a number nor a list.", expected="int, list or "
                                  "tuple", received=type(num_or_sections).__name__)  # fmt: skip
    return _equal_parts(x, int(num_or_sections), a, "split")


def _equal_parts(x: Any, parts: int, axis: int, name: str) -> list[Any]:
    total = x.type.shape[axis] if x.type.shape else 0
    if parts <= 0 or total % parts:
        raise errors.invalid_argument(
            f"{name}: the axis does not divide into equal parts.",
            expected=f"a divisor of {total}",
            received=f"{parts} parts, x: {x.type}, axis: {axis}",
        )
    return pieces(x, [total // parts] * parts, axis)


@public(also={"x": "input", "axis": "dim"}, method=True)
def chunk(x: Tensor, chunks: int, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """x cut along an axis into equal parts.

    Raises:
        ValueError: the axis does not divide.

    Examples:
        >>> [p.shape for p in paddle.chunk(paddle.ones([6]), 3)]
        [paddle.Size([2]), paddle.Size([2]), paddle.Size([2])]
    """
    n = len(tensor_argument(x, "chunk").type.shape)
    if not isinstance(chunks, (int, np.integer)):
        raise errors.invalid_type("chunk: chunks is not an int.", received=type(chunks).__name__, expected="an int")
    return _equal_parts(x, int(chunks), axis_argument(axis, n, "chunk"), "chunk")


@public(also={"x": "input", "axis": "dim", "num_or_indices": "indices_or_sections"}, method=True)
def tensor_split(x: Tensor, num_or_indices: Any, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """x cut along an axis, into parts that may differ by one, or at given places.

    Args:
        x (Tensor): at least one axis.
        num_or_indices (int|list|tuple): a number of parts, or where each further part begins.
        axis (int): which.

    Examples:
        >>> [p.shape for p in paddle.tensor_split(paddle.ones([5]), 2)]
        [paddle.Size([3]), paddle.Size([2])]
    """
    s = tensor_argument(x, "tensor_split").type.shape
    if not s:
        raise errors.invalid_argument(
            "tensor_split: x has no axis.", received=f"x: {x.type}", expected="at least one axis"
        )
    a = axis_argument(axis, len(s), "tensor_split")
    n = s[a]
    if isinstance(num_or_indices, (list, tuple, Tensor)) and not (
        isinstance(num_or_indices, Tensor) and not num_or_indices.type.shape
    ):
        cuts = [_slice(None, i).indices(n)[1] for i in ints_argument(num_or_indices, "tensor_split", "indices")]
    else:
        parts = int_argument(num_or_indices, "tensor_split", "num_or_indices")
        if parts <= 0:
            raise errors.invalid_argument("tensor_split: there is no part.", expected="1 or more",
                                          received=f"{parts}")  # fmt: skip
        cuts = [i * (n // parts) + min(i, n % parts) for i in range(1, parts)]
    bounds = [0, *cuts, n]
    return [slice_axis(x, a, b, max(b, e)) for b, e in zip(bounds, bounds[1:])]


def _along(name: str, axis: int, least: int) -> Callable[..., list[Tensor]]:
    def cut(x: Tensor, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
        n = len(tensor_argument(x, f.__name__).type.shape)
        if n < least:
            raise errors.invalid_argument(
                f"{f.__name__}: x has too few axes.", expected=f"at least {least}", received=f"x: {x.type}"
            )
        return tensor_split(x, num_or_indices, 0 if n == 1 else axis)

    f = public(also={"x": "input", "num_or_indices": "indices"})(cut)
    cut.__name__ = cut.__qualname__ = f.__name__ = f.__qualname__ = name
    f.__doc__ = f"x cut along axis {axis}; see `tensor_split`."
    METHODS[name] = f
    return f


hsplit, vsplit, dsplit = _along("hsplit", 1, 1), _along("vsplit", 0, 2), _along("dsplit", 2, 3)


@public(also={"axis": "dim"}, method=True)
def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices along an axis, without that axis. They share memory with the Tensor.

    Raises:
        ValueError: no such axis.

    Examples:
        >>> [p.tolist() for p in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    s = tensor_argument(input, "unbind", "input").type.shape
    a = axis_argument(axis, len(s), "unbind")
    if not s:
        raise errors.invalid_argument(
            "unbind: input has no axis.", received=f"input: {input.type}", expected="at least one axis"
        )
    input.need_fixed_axis(a, "unbind")
    rest, before, behind = s[:a] + s[a + 1 :], (0,) * a, (0,) * (len(s) - a - 1)
    steps = (1,) * len(s)
    return [
        view(Index((*before, i, *behind), (*s[:a], i + 1, *s[a + 1 :]), steps, rest), input, a == 0)
        for i in range(s[a])
    ]


@public(method=True)
def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """The slices along an axis, without that axis. num: how many there have to be.

    Raises:
        ValueError: no such axis, or another number.
    """
    s = tensor_argument(x, "unstack").type.shape
    a = axis_argument(axis, len(s), "unstack")
    if num is not None and s and num != s[a]:
        raise errors.invalid_argument("unstack: num is not the size of the axis.", expected=f"{s[a]}",
                                      received=f"num: {num}")  # fmt: skip
    x.need_fixed_axis(a, "unstack")
    rest = s[:a] + s[a + 1 :]
    return [Reshape(rest)(slice_axis(x, a, i, i + 1)) for i in range(s[a])]


def _split_with_sizes(self: Tensor, split_sizes: Any, dim: int = 0) -> list[Tensor]:
    """The Tensor cut along an axis into parts of given sizes."""
    return split(self, list(split_sizes), dim)


METHODS["split_with_sizes"] = _split_with_sizes
