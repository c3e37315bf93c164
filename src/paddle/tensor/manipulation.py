"""Functions that give the elements of a tensor another shape, or its axes another order."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.sharing import View, shape_view, share, strides
from ..engine.eager.sharing import view as view_of
from ..engine.eager.trace import from_array
from ..engine.ops import join
from ..engine.ops import shape as ops
from ..engine.ops.shape import Reshape, slice_axis
from ..engine.types import DType, dtype_of
from ..utils.public import METHODS, inplace, public
from .arguments import (
    axis_argument,
    int_argument,
    ints_argument,
    tensor_argument,
)
from .tensor import Tensor

__all__ = [
    "reshape", "reshape_", "flatten", "flatten_", "ravel", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_",
    "transpose", "transpose_", "swapaxes", "swapdims", "t", "t_", "permute", "moveaxis", "flip", "reverse", "roll",
    "rot90", "atleast_1d", "atleast_2d", "atleast_3d", "unflatten", "view", "view_as",
]  # fmt: skip


def numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a function of x and a list of numbers take the numbers one by one: x.reshape(2, 3)."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 2 and all(isinstance(a, (int, np.integer)) for a in args[1:]):
            args = (args[0], list(args[1:]))
        return f(*args, **kwargs)

    METHODS[f.__name__] = call
    return call


_INT = {int}
_reshapes: dict[Any, Any] = {}
_transposes: dict[Any, Any] = {}


def remember(cache: dict[Any, Any], key: Any, op: Any) -> None:
    if len(cache) > 10_000:
        cache.clear()
    cache[key] = op


# ---- shape ------------------------------------------------------------------------------------
def shape_for(x: tuple[int, ...], size: int, want: list[int], name: str) -> tuple[int, ...]:
    """The sizes that `want` stands for: 0 takes the size of x there (if x has elements), one -1 what remains."""
    out = list(want)
    open_ = -1
    for i, n in enumerate(want):
        if n == 0 and size and i < len(x):
            out[i] = x[i]
        elif n == -1 and open_ < 0:
            open_ = i
        elif n < 0 or (n == 0 and size):
            raise errors.invalid_argument(
                f"{name}: a size in shape is not allowed.",
                expected="positive sizes, 0 for the size of x there, -1 once for what remains",
                received=f"x: {list(x)}, shape: {want}",
            )
    if open_ >= 0:
        # without elements, 0 stands for itself, and -1 for what the other sizes of x leave
        total = size or (math.prod(n for n in x if n) if 0 in want else 0)
        known = math.prod(n for i, n in enumerate(out) if i != open_ and n)
        out[open_] = total // known
        if out[open_] * known != total:
            out[open_] = -1
    if math.prod(out) != size or -1 in out:
        raise errors.invalid_argument(
            f"{name}: the number of elements changes.",
            expected=f"a shape of {size} elements",
            received=f"x: {list(x)}, shape: {want}",
        )
    return tuple(out)


@numbers
@public(also={"x": "input"}, method=True)
def reshape(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """The elements in row-major order under another shape.

    Args:
        x (Tensor): any type.
        shape (list|tuple|int|Tensor): sizes, also one by one. 0 takes the size of x there; -1, once, what remains.

    Returns:
        Tensor: of that shape.

    Raises:
        ValueError: the number of elements would change.

    Examples:
        >>> paddle.reshape(paddle.arange(6), [2, -1]).shape
        paddle.Size([2, 3])
    """
    type_ = tensor_argument(x, "reshape").type
    key = None
    if isinstance(shape, (list, tuple)):
        if set(map(type, shape)) == _INT:
            key = (type_, *shape)
            op = _reshapes.get(key)
            if op is not None:
                return op(x) if not type_.shape and op.shape else shape_view(op, x)
        want = [n if type(n) is int else _size(n) for n in shape]
    elif isinstance(shape, (Tensor, np.ndarray, int, np.integer)):
        want = ints_argument(shape, "reshape", "shape")
    else:
        raise errors.invalid_argument("reshape: this is not a shape.", expected="a list, tuple, int or Tensor",
                                      received=type(shape).__name__)  # fmt: skip
    op = Reshape(shape_for(type_.shape, type_.size, want, "reshape"))
    if key is not None:
        remember(_reshapes, key, op)
    return op(x) if not type_.shape and op.shape else shape_view(op, x)  # upstream copies what has no axis


def _size(n: Any) -> int:
    return int(n) if isinstance(n, float) and n == int(n) else int_argument(n, "reshape", "shape")


reshape_ = inplace(reshape, reshapes=True)


@public(also={"x": "input", "start_axis": "start_dim", "stop_axis": "end_dim"}, method=True)
def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """Axes start_axis to stop_axis, both included, as one.

    Raises:
        ValueError: no such axis, or start_axis comes after stop_axis.

    Examples:
        >>> paddle.flatten(paddle.ones([2, 3, 4]), 1).shape
        paddle.Size([2, 12])
    """
    s = tensor_argument(x, "flatten").type.shape
    if not s:
        return Reshape((1,))(x)
    a = axis_argument(start_axis, len(s), "flatten", "start_axis")
    b = axis_argument(stop_axis, len(s), "flatten", "stop_axis")
    if a > b:
        raise errors.invalid_argument(
            "flatten: start_axis comes after stop_axis.",
            received=f"start_axis: {start_axis}, stop_axis: {stop_axis}",
            expected="start_axis <= stop_axis",
        )
    return shape_view(Reshape(s[:a] + (math.prod(s[a : b + 1]),) + s[b + 1 :]), x)


flatten_ = inplace(flatten, reshapes=True)


@public(method=True)
def ravel(input: Tensor) -> Tensor:
    """All axes as one."""
    return flatten(input)


@public(also={"x": "input", "axis": "dim"}, method=True)
def squeeze(x: Tensor, axis: Any = None, name: str | None = None) -> Tensor:
    """x without axes of size 1.

    Args:
        x (Tensor): any type.
        axis (int|list|tuple|Tensor, optional): which; those of another size stay. Default: all.

    Raises:
        ValueError: no such axis.

    Examples:
        >>> paddle.squeeze(paddle.ones([1, 2, 1]), 0).shape
        paddle.Size([2, 1])
    """
    s = tensor_argument(x, "squeeze").type.shape
    if axis is None or (isinstance(axis, (list, tuple)) and not axis):
        return shape_view(Reshape(tuple(n for n in s if n != 1)), x)
    if type(axis) is int:
        axes = {axis_argument(axis, len(s), "squeeze")}
    else:
        axes = {axis_argument(a, len(s), "squeeze") for a in ints_argument(axis, "squeeze", "axis")}
    return shape_view(Reshape(tuple(n for i, n in enumerate(s) if n != 1 or i not in axes)), x)


squeeze_ = inplace(squeeze, reshapes=True)


@public(also={"x": "input", "axis": "dim"}, method=True)
def unsqueeze(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """x with new axes of size 1, put in one after another.

    Args:
        x (Tensor): any type. axis (int|list|tuple|Tensor): where; negative ones count from the end of the result.

    Raises:
        ValueError: no such place.

    Examples:
        >>> paddle.unsqueeze(paddle.ones([2]), [0, 2]).shape
        paddle.Size([1, 2, 1])
    """
    s = tensor_argument(x, "unsqueeze").type.shape
    axes = [axis] if type(axis) is int else [] if axis is None else ints_argument(axis, "unsqueeze", "axis")
    for a in axes:
        a = axis_argument(a, len(s), "unsqueeze", extra=1)
        s = s[:a] + (1,) + s[a:]
    return shape_view(Reshape(s), x)


unsqueeze_ = inplace(unsqueeze, reshapes=True)


@public(also={"x": "input", "axis": "dim", "shape": "sizes"}, method=True)
def unflatten(x: Tensor, axis: int, shape: Any, name: str | None = None) -> Tensor:
    """One axis as several.

    Args:
        x (Tensor): any type. axis (int): which. shape (list|tuple|Tensor): its new sizes, one may be -1.

    Examples:
        >>> paddle.unflatten(paddle.ones([6]), 0, [2, -1]).shape
        paddle.Size([2, 3])
    """
    s = tensor_argument(x, "unflatten").type.shape
    a = axis_argument(axis, len(s), "unflatten")
    sizes = ints_argument(shape, "unflatten", "shape")
    return shape_view(Reshape(s[:a] + shape_for((), s[a], sizes, "unflatten") + s[a + 1 :]), x)


@public(also={"shape_or_dtype": "dtype"})
def _view(x: Tensor, shape_or_dtype: Any, name: str | None = None) -> Tensor:
    """The bytes of x under another shape or element type. The result shares memory with x.

    Args:
        x (Tensor): any type.
        shape_or_dtype (list|tuple|str|dtype): a shape, also one by one; or a type, by whose size the last axis changes.

    Raises:
        ValueError: the bytes do not fit, or x is a view whose elements do not lie so that it needs no copy.

    Examples:
        >>> paddle.view(paddle.to_tensor([1.0]), "int32").tolist()
        [1065353216]
    """
    if isinstance(shape_or_dtype, (list, tuple, int, np.integer)) and not isinstance(shape_or_dtype, str):
        made = reshape(x, shape_or_dtype)
        if not x.type.shape and made.type.shape:
            return shape_view(Reshape(made.type.shape), x)
        if made.kin is None:
            raise errors.invalid_argument(
                "view: the elements of x do not lie in the order that this shape needs.",
                expected=f"a shape that the strides {strides(x)} can be seen in",
                received=f"x: {x.type}, shape: {list(made.type.shape)}",
                hint="use reshape, which copies where it has to.",
            )
        return made
    return view_bytes(tensor_argument(x, "view"), dtype_of(shape_or_dtype))


_view.__name__ = _view.__qualname__ = "view"
view = numbers(public(also={"shape_or_dtype": "size"})(_view))


def view_bytes(x: Tensor, dtype: DType) -> Tensor:
    """x with its bytes read as another type; gradients do not pass."""
    if dtype is x.type.dtype:
        return x
    s, old, new = x.type.shape, x.type.dtype.itemsize, dtype.itemsize
    if old != new and (not s or s[-1] * old % new):
        raise errors.invalid_argument(
            "view: the last axis does not divide into elements of that type.",
            expected=f"a last axis of a multiple of {new} bytes",
            received=f"x: {x.type}, dtype: {dtype.name}",
        )
    made = from_array(np.array(x.array(), order="C").view(dtype.np))
    as_it_was = x.type.dtype
    both = View(lambda v: view_bytes(v, dtype), lambda v, part: view_bytes(part, as_it_was))
    return share(x, made, both, True)  # type: ignore[no-any-return]


@public(method=True)
def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """x in the shape of another Tensor."""
    return reshape(tensor_argument(x, "view_as"), tensor_argument(other, "view_as", "other").type.shape)


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least one axis; a list for several.

    Examples:
        >>> paddle.atleast_1d(paddle.to_tensor(3)).shape
        paddle.Size([1])
    """
    return at_least(1, inputs)


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least two axes: a vector becomes a row."""
    return at_least(2, inputs)


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least three axes: a vector [n] becomes [1, n, 1], a matrix [m, n] becomes [m, n, 1]."""
    return at_least(3, inputs)


def at_least(n: int, inputs: tuple[Any, ...]) -> Any:
    from .conversion import to_tensor

    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) and any(isinstance(t, Tensor) for t in inputs[0]):
        inputs = tuple(inputs[0])
    out = []
    for x in inputs:
        x = x if isinstance(x, Tensor) else to_tensor(x)
        s = x.type.shape
        if len(s) < n:
            if n == 3:
                s = {0: (1, 1, 1), 1: (1, *s, 1), 2: (*s, 1)}[len(s)]
            else:
                s = (1,) * (n - len(s)) + s
            x = shape_view(Reshape(s), x)
        out.append(x)
    return out[0] if len(out) == 1 else out


for _f in (atleast_1d, atleast_2d, atleast_3d):
    METHODS[_f.__name__] = _f


# ---- axes -------------------------------------------------------------------------------------
def _two_axes(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets transpose take two axes to swap in place of a permutation."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "input" in kwargs:
            kwargs["x"] = kwargs.pop("input")
        pair = None
        for first, second in (("dim0", "dim1"), ("axis0", "axis1")):
            if first in kwargs or second in kwargs:
                rest = list(args[1:]) if "x" not in kwargs else list(args)
                pair = [kwargs.pop(first) if first in kwargs else rest.pop(0)]
                pair.append(kwargs.pop(second) if second in kwargs else rest.pop(0))
        if pair is None and len(args) >= 3 and isinstance(args[1], (int, np.integer)):
            pair = list(args[1:3])
        if pair is not None:
            x = args[0] if "x" not in kwargs else kwargs["x"]
            n = len(tensor_argument(x, "transpose").type.shape)
            a, b = (axis_argument(p, n, "swapaxes", "an axis") for p in pair)
            order = list(range(n))
            if n:
                order[a], order[b] = b, a
            return f(x, order)
        return f(*args, **kwargs)

    return call


@_two_axes
def transpose(x: Tensor, perm: Any, name: str | None = None) -> Tensor:
    """Axes in another order.

    Args:
        x (Tensor): any type.
        perm (list|tuple): axis i of the result is axis perm[i] of x. Two integers in its place swap these axes.

    Raises:
        ValueError: perm is not a permutation of the axes.

    Examples:
        >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    type_ = tensor_argument(x, "transpose").type
    n = len(type_.shape)
    key = None
    if type(perm) in (list, tuple) and set(map(type, perm)) == _INT:
        key = (n, *perm)
        op = _transposes.get(key)
        if op is not None:
            return view_of(op, x)
    order = [axis_argument(p, n, "transpose", "perm") for p in ints_argument(perm, "transpose", "perm")]
    if sorted(order) != list(range(n)) and not (n == 0 and not order):
        if len(order) < n and order == list(range(len(order))):
            order += range(len(order), n)  # upstream completes a perm that is too short
        else:
            raise errors.invalid_argument(
                "transpose: perm is not a permutation of the axes of x.",
                expected=f"each of 0..{n - 1} once",
                received=f"x: {x.type}, perm: {perm}",
            )
    if order == list(range(n)):
        return shape_view(Reshape(type_.shape), x)
    op = ops.Transpose(tuple(order))
    if key is not None:
        remember(_transposes, key, op)
    return view_of(op, x)


swapaxes = swapdims = transpose
for _name in ("transpose", "swapaxes", "swapdims"):
    METHODS[_name] = transpose
transpose_ = inplace(transpose, reshapes=True)


@public(also={"input": "x"}, method=True)
def t(input: Tensor, name: str | None = None) -> Tensor:
    """A matrix transposed; a vector or number as it is.

    Raises:
        ValueError: more than two axes.
    """
    n = len(tensor_argument(input, "t", "input").type.shape)
    if n > 2:
        raise errors.invalid_argument("t: input has more than two axes.", received=f"input: {input.type}",
                                      hint="use paddle.transpose.", expected="at most two axes")  # fmt: skip
    return view_of(ops.Transpose((1, 0)), input) if n == 2 else shape_view(Reshape(input.type.shape), input)


t_ = inplace(t, reshapes=True)


@numbers
def permute(input: Tensor, dims: Any) -> Tensor:
    """Axes in another order; see `transpose`."""
    return transpose(input, dims)


@public(method=True)
def moveaxis(x: Tensor, source: Any, destination: Any, name: str | None = None) -> Tensor:
    """x with some axes at other places, the others in their order.

    Args:
        x (Tensor): any type. source, destination (int|list|tuple): from where, to where.

    Raises:
        AssertionError: no such axis, one twice, or unequal numbers.

    Examples:
        >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, -1).shape
        paddle.Size([3, 4, 2])
    """
    n = len(tensor_argument(x, "moveaxis").type.shape)
    lists = [ints_argument(v, "moveaxis", label) for v, label in ((source, "source"), (destination, "destination"))]
    ok = len(lists[0]) == len(lists[1]) and all(-n <= a < n for v in lists for a in v)
    places = [[a % n for a in v] for v in lists] if ok else []
    if not ok or any(len(set(v)) != len(v) for v in places):
        raise AssertionError(
            errors.message(
                "InvalidArgument",
                "moveaxis: the axes do not fit.",
                f"as many different axes in [{-n}, {n})",
                f"source: {source}, destination: {destination}",
            )
        )
    order = [a for a in range(n) if a not in places[0]]
    for b, a in sorted(zip(places[1], places[0])):
        order.insert(b, a)
    return transposed(x, order)


def transposed(x: Tensor, order: Any) -> Tensor:
    """x with its axes in another order, as a view."""
    order = tuple(order)
    return x if order == tuple(range(len(order))) else view_of(ops.Transpose(order), x)


def _transposed(x: Tensor) -> Tensor:
    """The axes in reverse order."""
    return transposed(x, range(len(x.type.shape) - 1, -1, -1))


def _matrix_transposed(x: Tensor) -> Tensor:
    """The last two axes swapped."""
    n = len(x.type.shape)
    if n < 2:
        raise errors.invalid_argument("mT: x is not a matrix.", expected="at least two axes", received=f"x: {x.type}")
    return transposed(x, [*range(n - 2), n - 1, n - 2])


Tensor.T = property(_transposed)  # type: ignore[attr-defined]
Tensor.mT = property(_matrix_transposed)  # type: ignore[attr-defined]


@public(also={"x": "input", "axis": "dims"}, method=("flip", "reverse"), kind=TypeError)
def flip(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """The order of elements reversed along axes.

    Args:
        x (Tensor): any type. axis (int|list|tuple): which.

    Raises:
        ValueError: no such axis, or one twice.

    Examples:
        >>> paddle.flip(paddle.to_tensor([1, 2, 3]), 0).tolist()
        [3, 2, 1]
    """
    n = len(tensor_argument(x, "flip").type.shape)
    axes = [axis_argument(a, n, "flip") for a in ints_argument(axis, "flip", "axis")]
    if len(set(axes)) != len(axes):
        raise errors.invalid_argument("flip: an axis comes twice.", received=f"axis: {axis}", expected="different axes")
    return ops.flip(x, axes) if axes else Reshape(x.type.shape)(x)


reverse = flip


@public(also={"x": "input", "axis": "dims"}, method=True, kind=ValueError)
def roll(x: Tensor, shifts: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Elements moved along axes; what leaves at one end comes in at the other.

    Args:
        x (Tensor): any type.
        shifts (int|list|tuple|Tensor): by how much, per axis.
        axis (int|list|tuple, optional): which. Default: x is rolled as a vector and keeps its shape.

    Raises:
        ValueError: no such axis, or other numbers of shifts and axes.

    Examples:
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    s = tensor_argument(x, "roll").type.shape
    if shifts is None:
        raise errors.invalid_argument("roll: there are no shifts.", expected="an int or some", received="shifts: None")
    amounts = ints_argument(shifts, "roll", "shifts")
    if axis is None:
        if len(amounts) != 1:
            raise errors.invalid_argument("roll: axis is missing.", expected="as many axes as shifts",
                                          received=f"shifts: {amounts}")  # fmt: skip
        return Reshape(s)(_roll(Reshape((x.type.size,))(x), amounts[0], 0))
    axes = [axis_argument(a, len(s), "roll") for a in ints_argument(axis, "roll", "axis")]
    if len(axes) != len(amounts):
        raise errors.invalid_argument(
            "roll: there are not as many shifts as axes.",
            expected="one shift per axis",
            received=f"shifts: {amounts}, axis: {axis}",
        )
    for a, n in zip(axes, amounts):
        x = _roll(x, n, a)
    return x


def _roll(x: Any, shift: int, axis: int) -> Any:
    n = x.type.shape[axis] if x.type.shape else 0
    cut = -shift % n if n else 0
    if not cut:
        return x
    return join.concat([slice_axis(x, axis, cut, n), slice_axis(x, axis, 0, cut)], axis)


@public(method=True)
def rot90(x: Tensor, k: int = 1, axes: Any = (0, 1), name: str | None = None) -> Tensor:
    """x turned k times by a quarter, from the first of two axes toward the second.

    Raises:
        ValueError: fewer than two axes, or the same axis twice.

    Examples:
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    n = len(tensor_argument(x, "rot90").type.shape)
    if n < 2 or len(axes) != 2:
        raise errors.invalid_argument("rot90: there is no plane to turn in.", expected="two axes of two or more",
                                      received=f"x: {x.type}, axes: {axes}")  # fmt: skip
    a, b = (axis_argument(v, n, "rot90", "axes") for v in axes)
    if a == b:
        raise errors.invalid_argument("rot90: the axes are the same.", received=f"axes: {axes}", expected="two axes")
    order = list(range(n))
    order[a], order[b] = b, a
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return ops.flip(x, (a, b))
    if k == 1:
        return ops.transpose(ops.flip(x, (b,)), order)
    return ops.flip(ops.transpose(x, order), (b,))
