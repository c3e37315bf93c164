"""Functions that repeat elements, and that cut out parts of a tensor."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.sharing import View, share, view
from ..engine.eager.trace import from_array
from ..engine.ops.indexing import Gather, ScatterSet
from ..engine.ops.shape import BroadcastTo, Reshape, Slice, transpose
from ..engine.types import broadcast_shapes as shapes_together
from ..utils.public import METHODS, public
from .arguments import axis_argument, int_argument, ints_argument, tensor_argument, tensor_list
from .manipulation import numbers
from .tensor import Tensor

__all__ = [
    "tile", "expand", "expand_as", "broadcast_to", "broadcast_tensors", "broadcast_shape", "broadcast_shapes",
    "repeat_interleave", "as_strided", "unfold", "crop", "slice", "strided_slice", "narrow",
]  # fmt: skip

_slice = builtins.slice


# ---- repeating --------------------------------------------------------------------------------
@public(also={"x": "input", "repeat_times": "dims"}, method=True)
def tile(x: Tensor, repeat_times: Any, name: str | None = None) -> Tensor:
    """x repeated along its axes.

    Args:
        x (Tensor): any type. repeat_times (int|list|tuple|Tensor): how often, for the last axes; more make new axes.

    Raises:
        ValueError: a negative number.

    Examples:
        >>> paddle.tile(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 2, 1, 2]
    """
    s = tensor_argument(x, "tile").type.shape
    times = ints_argument(repeat_times, "tile", "repeat_times")
    if any(n < 0 for n in times):
        raise errors.invalid_argument(
            "tile: a number of repetitions is negative.", received=f"{times}", expected="numbers of 0 or more"
        )
    n = max(len(s), len(times))
    s, r = (1,) * (n - len(s)) + s, (1,) * (n - len(times)) + tuple(times)
    result = tuple(a * b for a, b in zip(s, r))
    if all(b == 1 for b in r):
        return Reshape(s)(x)
    inner = tuple(m for a, b in zip(s, r) for m in (1, a))
    spread = tuple(m for a, b in zip(s, r) for m in (b, a))
    return Reshape(result)(BroadcastTo(spread)(Reshape(inner)(x)))


def _repeat(input: Tensor, repeats: Any) -> Tensor:
    """The Tensor repeated along its axes; see `paddle.tile`. There are at least as many numbers as axes."""
    return tile(input, repeats)


_repeat.__name__ = "repeat"
numbers(_repeat)


def expanded(x: Tensor, shape: list[int], name: str) -> Tensor:
    s = x.type.shape
    skip = len(shape) - len(s)
    sizes = list(shape)
    for i, n in enumerate(shape):
        if n == -1 and i >= skip:
            sizes[i] = s[i - skip]
    if skip < 0 or any(n < 0 for n in sizes) or any(n not in (1, m) for n, m in zip(s, sizes[skip:])):
        raise errors.invalid_argument(
            f"{name}: x does not broadcast to the shape.",
            expected="sizes of x equal to those of shape, 1, or -1 in shape, axis by axis from the right",
            received=f"x: {x.type}, shape: {shape}",
        )
    return BroadcastTo(tuple(sizes))(x) if tuple(sizes) != s else Reshape(s)(x)


@numbers
@public(also={"x": "input", "shape": "size"}, method=True)
def expand(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """x repeated along axes of size 1 and new axes.

    Args:
        x (Tensor): any type. shape (list|tuple|Tensor): sizes, also one by one; -1 keeps that of x.

    Raises:
        ValueError: x does not broadcast to it.

    Examples:
        >>> paddle.expand(paddle.ones([1, 3]), [2, -1]).shape
        paddle.Size([2, 3])
    """
    return expanded(tensor_argument(x, "expand"), _sizes(shape, "expand"), "expand")


def _sizes(shape: Any, name: str) -> list[int]:
    if shape is None:
        raise errors.invalid_argument(f"{name}: there is no shape.", expected="a list of int", received="shape: None")
    return ints_argument(shape, name, "shape")


@public(also={"x": "input", "shape": "size"}, method=True)
def broadcast_to(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """x repeated along axes of size 1 and new axes; as `expand`."""
    return expanded(tensor_argument(x, "broadcast_to"), _sizes(shape, "broadcast_to"), "broadcast_to")


@public(also={"x": "input", "y": "other"}, method=True, kind=ValueError)
def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """x repeated to the shape of y."""
    return expanded(tensor_argument(x, "expand_as"), list(tensor_argument(y, "expand_as", "y").type.shape), "expand_as")


@public(method=True)
def broadcast_tensors(input: Any, name: str | None = None) -> list[Tensor]:
    """Tensors brought to the shape that they broadcast to.

    Raises:
        ValueError: they do not broadcast.

    Examples:
        >>> [x.shape for x in paddle.broadcast_tensors([paddle.ones([2]), paddle.ones([3, 1])])]
        [paddle.Size([3, 2]), paddle.Size([3, 2])]
    """
    xs = tensor_list(input, "broadcast_tensors", "input")
    shape = broadcast_shapes(*(x.type.shape for x in xs))
    return [expanded(x, shape, "broadcast_tensors") for x in xs]


@public(method=True)
def broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape that two shapes broadcast to.

    Examples:
        >>> paddle.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    return broadcast_shapes(x_shape, y_shape)


def broadcast_shapes(*shapes: Any) -> list[int]:
    """The shape that shapes broadcast to. Raises ValueError if they do not."""
    try:
        return list(shapes_together(*(tuple(s) for s in shapes)))
    except ValueError as e:
        raise errors.invalid_argument(
            f"broadcast_shape: {e}.",
            expected="equal sizes, or 1, axis by axis from the right",
            received=", ".join(map(str, shapes)),
        ) from None


METHODS["broadcast_shapes"] = broadcast_shapes


@public(also={"x": "input", "axis": "dim"}, method=True)
def repeat_interleave(
    x: Tensor, repeats: Any, axis: int | None = None, name: str | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element repeated, next to itself.

    Args:
        x (Tensor): any type. repeats (int|Tensor): how often; a Tensor gives a number per element of the axis.
        axis (int, optional): which. Default: x as a vector.

    Raises:
        ValueError: a negative number, or another number of numbers.

    Examples:
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    tensor_argument(x, "repeat_interleave")
    if axis is None:
        x, axis = Reshape((x.type.size,))(x), 0
    s = x.type.shape
    a = axis_argument(axis, len(s), "repeat_interleave")
    if isinstance(repeats, (list, tuple)):
        raise errors.invalid_type("repeat_interleave: repeats is a list.", expected="an int or a Tensor",
                                  received=f"repeats: {repeats}", hint="use paddle.to_tensor(repeats).")  # fmt: skip
    if isinstance(repeats, Tensor) and repeats.type.size != 1 or isinstance(repeats, np.ndarray):
        counts = ints_argument(repeats, "repeat_interleave", "repeats")
        if len(counts) != s[a] or any(n < 0 for n in counts):
            raise errors.invalid_argument(
                "repeat_interleave: repeats does not fit the axis.",
                expected=f"{s[a]} numbers of 0 or more",
                received=f"repeats: {counts}",
            )
        return Gather(a)(x, from_array(np.repeat(np.arange(s[a]), counts)))
    n = int_argument(repeats, "repeat_interleave", "repeats")
    if n < 0:
        raise errors.invalid_argument(
            "repeat_interleave: repeats is negative.", received=f"repeats: {n}", expected="repeats >= 0"
        )
    spread = BroadcastTo(s[: a + 1] + (n,) + s[a + 1 :])(Reshape(s[: a + 1] + (1,) + s[a + 1 :])(x))
    return Reshape(s[:a] + (s[a] * n,) + s[a + 1 :])(spread)


# ---- cutting out ------------------------------------------------------------------------------
@public(method=True)
def as_strided(x: Tensor, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> Tensor:
    """Elements of x at offset + sum(index * stride), in row-major order of x. The result shares memory with x.

    Args:
        x (Tensor): any type. shape, stride (list|tuple): sizes of the result, and steps in elements.
        offset (int): bytes before the first element.

    Raises:
        ValueError: an element outside x.

    Examples:
        >>> paddle.as_strided(paddle.arange(4), [2, 2], [1, 2]).tolist()
        [[0, 2], [1, 3]]
    """
    tensor_argument(x, "as_strided")
    sizes, steps = ints_argument(shape, "as_strided", "shape"), ints_argument(stride, "as_strided", "stride")
    if len(sizes) != len(steps) or offset % x.type.dtype.itemsize:
        raise errors.invalid_argument(
            "as_strided: shape, stride and offset do not fit together.",
            expected="one stride per axis, and an offset at an element",
            received=f"shape: {sizes}, stride: {steps}, offset: {offset}",
        )
    at: Any = offset // x.type.dtype.itemsize
    for i, (n, step) in enumerate(zip(sizes, steps)):
        at = at + (np.arange(n) * step).reshape([-1 if j == i else 1 for j in range(len(sizes))])
    at = np.broadcast_to(at, sizes)
    if at.size and (at.min() < 0 or at.max() >= x.type.size):
        raise errors.invalid_argument("as_strided: an element lies outside x.", expected=f"positions in [0, "
                                      f"{x.type.size})", received=f"up to {at.max()}")  # fmt: skip
    return _windows(x, np.array(at, np.int64, order="C"))


def _windows(x: Tensor, at: np.ndarray) -> Tensor:
    """The elements of x at positions in row-major order, as a view: an element that comes twice is there once."""
    shape, positions = x.type.shape, from_array(at)
    flat = lambda v: Reshape((v.type.size,))(v)  # noqa: E731
    read = lambda v: Gather(0)(flat(v), positions)  # noqa: E731
    return share(x, read(x), View(read, lambda v, part: Reshape(shape)(ScatterSet(0)(flat(v), part, positions))))  # type: ignore[no-any-return]


@public(also={"axis": "dimension"}, method=True)
def unfold(x: Tensor, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """All windows along an axis; their elements go along a new last axis.

    Args:
        x (Tensor): any type. axis (int): which. size (int): of a window. step (int): from one to the next.

    Examples:
        >>> paddle.unfold(paddle.arange(5), 0, 2, 2).tolist()
        [[0, 1], [2, 3]]
    """
    s = tensor_argument(x, "unfold").type.shape
    a = axis_argument(axis, len(s), "unfold")
    if step <= 0 or not 0 <= size <= (s[a] if s else 1):
        raise errors.invalid_argument("unfold: the windows do not fit.", expected="a positive step, a size within "
                                      "the axis", received=f"x: {x.type}, size: {size}, step: {step}")  # fmt: skip
    if not s:
        return Reshape((size,))(x)
    count = (s[a] - size) // step + 1
    at = np.arange(count)[:, None] * step + np.arange(size)
    positions, n = from_array(np.array(at, np.int64)), len(s) + 1
    there = [i for i in range(n) if i != a + 1] + [a + 1]
    back = [*range(a + 1), n - 1, *range(a + 1, n - 1)]
    read = lambda v: transpose(Gather(a)(v, positions), there)  # noqa: E731
    return share(x, read(x), View(read, lambda v, part: ScatterSet(a)(v, transpose(part, back), positions)))  # type: ignore[no-any-return]


@public(also={"x": "input"})
def crop(x: Tensor, shape: Any = None, offsets: Any = None, name: str | None = None) -> Tensor:
    """A block of x.

    Args:
        x (Tensor): any type. shape (list|tuple|Tensor, optional): its sizes; -1 for all from the offset on.
        offsets (list|tuple|Tensor, optional): where it begins. Default: at the front.

    Raises:
        ValueError: it does not lie within x.

    Examples:
        >>> paddle.crop(paddle.arange(5), [2], [1]).tolist()
        [1, 2]
    """
    s = tensor_argument(x, "crop").type.shape
    sizes = list(s) if shape is None else ints_argument(shape, "crop", "shape")
    starts = [0] * len(s) if offsets is None else ints_argument(offsets, "crop", "offsets")
    if len(sizes) == len(starts) == len(s):
        sizes = [n - a if m == -1 else m for n, m, a in zip(s, sizes, starts)]
    if (
        len(sizes) != len(s)
        or len(starts) != len(s)
        or any(a < 0 or m < 0 or a + m > n for n, m, a in zip(s, sizes, starts))
    ):
        raise errors.invalid_argument(
            "crop: the block does not lie within x.",
            expected="a size and an offset per axis, within x",
            received=f"x: {x.type}, shape: {sizes}, offsets: {starts}",
        )
    return Slice(tuple(starts), tuple(a + m for a, m in zip(starts, sizes)), (1,) * len(s))(x)


def _cut(x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str) -> Tensor:
    s = x.type.shape
    lists = [ints_argument(v, name, n) for v, n in ((axes, "axes"), (starts, "starts"), (ends, "ends"))]
    lists.append([1] * len(lists[0]) if strides is None else ints_argument(strides, name, "strides"))
    if len({len(v) for v in lists}) != 1:
        raise errors.invalid_argument(
            f"{name}: there are not as many starts and ends as axes.",
            received=f"axes: {lists[0]}, starts: {lists[1]}, ends: {lists[2]}",
            expected="one of each per axis",
        )
    cuts = [(0, n, 1) for n in s]
    for a, start, end, step in zip(*lists):
        a = axis_argument(a, len(s), name, "an axis of axes")
        n = s[a]
        if step == 0:
            raise errors.invalid_argument(
                f"{name}: a stride is 0.", received=f"strides: {lists[3]}", expected="strides other than 0"
            )
        if step < 0 and end < -n:
            r = range(*_slice(start, None, step).indices(n))
        else:
            r = range(*_slice(start, end, step).indices(n))
        cuts[a] = (r.start, r.stop, r.step) if len(r) else (0, 0, 1)
    if not s:
        return x
    return view(Slice(*(tuple(v) for v in zip(*cuts))), x)  # type: ignore[no-any-return, call-arg]


@public(method=True)
def slice(input: Tensor, axes: Any, starts: Any, ends: Any) -> Tensor:  # noqa: A001
    """Elements starts[i] to ends[i] of axes[i], as in Python.

    Args:
        input (Tensor): any type. axes, starts, ends (list|tuple|Tensor): as many of each; negative ones count from
            the end, those beyond the end are cut off.

    Raises:
        ValueError: other numbers of them, or no such axis.

    Examples:
        >>> paddle.slice(paddle.arange(5), [0], [1], [-1]).tolist()
        [1, 2, 3]
    """
    tensor_argument(input, "slice", "input")
    if not isinstance(axes, (list, tuple)) or starts is None or ends is None:
        raise errors.invalid_argument(
            "slice: axes is no list, or starts or ends are missing.",
            expected="lists of int",
            received=f"axes: {axes!r:.60}, starts: {starts!r:.60}, ends: {ends!r:.60}",
        )
    return _cut(input, axes, starts, ends, None, "slice")


@public(method=True)
def strided_slice(x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None) -> Tensor:
    """Elements starts[i] to ends[i] of axes[i] in steps of strides[i], as in Python; arguments as `slice`.

    Examples:
        >>> paddle.strided_slice(paddle.arange(5), [0], [4], [0], [-2]).tolist()
        [4, 2]
    """
    return _cut(tensor_argument(x, "strided_slice"), axes, starts, ends, strides, "strided_slice")


@public(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` elements of an axis from `start` on.

    Raises:
        AssertionError: they do not lie within the axis. IndexError: there is no such axis.

    Examples:
        >>> paddle.narrow(paddle.arange(5), 0, 1, 2).tolist()
        [1, 2]
    """
    s = tensor_argument(input, "narrow", "input").type.shape
    a = axis_argument(dim, len(s), "narrow", "dim")
    first, n = int_argument(start, "narrow", "start"), int_argument(length, "narrow", "length")
    first = first + s[a] if first < 0 else first
    if n < 0 or first < 0 or first + n > s[a]:
        raise errors.asserted("narrow: the range does not lie within the axis.", expected=f"within {s[a]}",
                              received=f"start: {start}, length: {length}")  # fmt: skip
    cut = [(first, first + n, 1) if i == a else (0, m, 1) for i, m in enumerate(s)]
    return view(Slice(*(tuple(v) for v in zip(*cut))), input, a == 0)  # type: ignore[no-any-return, call-arg]
