"""Functions that make tensors: from Python and numpy data, constant, in steps, triangular."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.ops import creation as ops
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.shape import Reshape, broadcast_to, reshape
from ..engine.types import DType, default_dtype, dtype_of
from ..utils.public import METHODS, inplace, public, replace
from .arguments import (
    dtype_argument,
    fill_out,
    finish,
    int_argument,
    not_a_tensor,
    shape_argument,
    tensor_argument,
    tensor_list,
)
from .conversion import PYTHON_TYPES, to_tensor, without_tensors
from .tensor import Tensor

__all__ = [
    "zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like", "arange", "range",
    "linspace", "logspace", "eye", "meshgrid", "tril", "triu", "tril_", "triu_", "tril_indices", "triu_indices",
    "assign", "clone", "complex", "polar",
]  # fmt: skip


# ---- constant ---------------------------------------------------------------------------------
def filled(shape: tuple[int, ...], value: Any, dtype: DType) -> Tensor:
    return ops.Full(shape, value, dtype)()


def _sizes(f: Any) -> Any:
    """Lets a function of a shape also take the sizes one by one: zeros(2, 3)."""
    import functools

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and isinstance(args[0], (int, np.integer)) and isinstance(args[1], (int, np.integer)):
            n = 0
            while n < len(args) and isinstance(args[n], (int, np.integer)) and not isinstance(args[n], bool):
                n += 1
            args = (list(args[:n]), *args[n:])
        if "size" in kwargs and "shape" not in kwargs:
            kwargs["shape"] = kwargs.pop("size")
        return f(*args, **kwargs)

    return call


@_sizes
def zeros(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of zeros.

    Args:
        shape (int|list|tuple|Tensor): sizes; also one by one, as in zeros(2, 3).
        dtype (str|dtype, optional): Default: the default type.

    Returns:
        Tensor: of the shape.

    Raises:
        ValueError: a negative size. TypeError: sizes that are not integers, or no such dtype.

    Examples:
        >>> paddle.zeros([2]).tolist()
        [0.0, 0.0]
    """
    t = filled(shape_argument(shape, "zeros"), 0, dtype_argument(dtype, default_dtype()))
    return finish(t, out, requires_grad, device, "zeros")


@_sizes
def ones(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of ones; arguments as `zeros`.

    Examples:
        >>> paddle.ones(2, 2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    t = filled(shape_argument(shape, "ones"), 1, dtype_argument(dtype, default_dtype()))
    return finish(t, out, requires_grad, device, "ones")


@_sizes
def empty(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor whose values do not matter (zeros here); arguments as `zeros`."""
    t = filled(shape_argument(shape, "empty"), 0, dtype_argument(dtype, default_dtype()))
    return finish(t, out, requires_grad, device, "empty")


@public(also={"shape": "size"})
def full(
    shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor whose elements are all one number.

    Args:
        shape (int|list|tuple|Tensor): sizes.
        fill_value (number|Tensor): the number; a Tensor of one element is read when the result is.
        dtype (str|dtype, optional): Default: the default type; bool for a bool, complex for a complex number.

    Returns:
        Tensor: of the shape.

    Examples:
        >>> paddle.full([2], 7, "int64").tolist()
        [7, 7]
    """
    sizes = shape_argument(shape, "full")
    return finish(_full("full", sizes, fill_value, dtype), out, requires_grad, device, "full")


def _full(name: str, sizes: tuple[int, ...], value: Any, dtype: Any, like: DType | None = None) -> Tensor:
    if isinstance(value, str):
        value = _number_in(value, name)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, Tensor) and not is_number(value):
        raise errors.invalid_type(
            f"{name}: fill_value is not a number.", expected="a number", received=type(value).__name__
        )
    if dtype is not None:
        d = dtype_of(dtype)
    elif like is not None:
        d = like
    elif isinstance(value, (bool, np.bool_)):
        d = types.bool_
    elif isinstance(value, (builtins.complex, np.complexfloating)):
        d = types.complex128
    else:
        d = default_dtype()
    if isinstance(value, Tensor):
        return broadcast_to(reshape(cast(value.detach(), d), ()), sizes)
    if isinstance(value, np.generic):
        value = value.item()
    return filled(sizes, _fitting(value, d), d)


def _fitting(value: Any, d: DType) -> Any:
    """The number as one of the type: cut toward zero for integers, around their range as a conversion in C does."""
    if d.kind == "b":
        return bool(value)
    if d.kind in "iu":
        if isinstance(value, builtins.complex):
            value = value.real
        if isinstance(value, float) and not math.isfinite(value):
            value = -(1 << 63)
        bits = d.itemsize * 8
        n = int(value) & ((1 << bits) - 1)
        return n - (1 << bits) if d.kind == "i" and n >> (bits - 1) else n
    if d.kind == "c":
        return builtins.complex(value)
    return float(value.real if isinstance(value, builtins.complex) else value)


def _number_in(text: str, name: str) -> Any:
    try:
        return float(text)
    except ValueError:
        raise errors.invalid_argument(
            f"{name}: fill_value is not a number.", expected="a number", received=repr(text)
        ) from None


def _like(x: Any, dtype: Any, name: str) -> tuple[tuple[int, ...], DType]:
    if not isinstance(x, Tensor):
        raise not_a_tensor(x, name, "x", AttributeError)
    return x.type.shape, dtype_argument(dtype, x.type.dtype)


def _range(d: DType) -> tuple[float, float]:
    """The least and the greatest number of a type, as Python numbers."""
    if d.is_bool:
        return -math.inf, math.inf  # anything is true or false
    if d.is_integer:
        info = np.iinfo(d.np)
        return int(info.min), int(info.max)
    most = {types.float16: 65504.0, types.bfloat16: 3.3895313892515355e38, types.float32: 3.4028234663852886e38,
            types.complex64: 3.4028234663852886e38}.get(d, 1.7976931348623157e308)  # fmt: skip
    return -most, most


@public(also={"x": "input"})
def zeros_like(
    x: Tensor, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros in the shape of x, in its type unless `dtype` gives another."""
    shape, d = _like(x, dtype, "zeros_like")
    return finish(filled(shape, 0, d), None, requires_grad, device, "zeros_like")


@public(also={"x": "input"})
def ones_like(
    x: Tensor, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones in the shape of x, in its type unless `dtype` gives another."""
    shape, d = _like(x, dtype, "ones_like")
    return finish(filled(shape, 1, d), None, requires_grad, device, "ones_like")


@public(also={"x": "input"})
def empty_like(
    x: Tensor, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor in the shape of x whose values do not matter (zeros here)."""
    shape, d = _like(x, dtype, "empty_like")
    return finish(filled(shape, 0, d), None, requires_grad, device, "empty_like")


@public(also={"x": "input"})
def full_like(
    x: Tensor, fill_value: Any, dtype: Any = None, name: str | None = None, *, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor in the shape of x whose elements are all one number, in the type of x unless `dtype` is given."""
    shape, d = _like(x, dtype, "full_like")
    if isinstance(fill_value, (int, float)) and math.isfinite(fill_value):
        least, most = _range(d)
        if not least <= fill_value <= most:
            raise errors.invalid_argument(
                "full_like: fill_value does not fit the element type.",
                expected=f"{d.name}: a number in [{least}, {most}]",
                received=f"fill_value: {fill_value}",
            )
    return finish(_full("full_like", shape, fill_value, d), None, requires_grad, device, "full_like")


# ---- in steps ---------------------------------------------------------------------------------
def _scalar(v: Any, name: str, label: str) -> tuple[Any, DType | None]:
    """A Python number from a number, a numpy number or a Tensor of one element, and the type it brings."""
    if isinstance(v, Tensor):
        if v.type.size != 1:
            raise errors.invalid_argument(
                f"{name}: {label} has more than one element.", expected="a number", received=f"{label}: {v.type}"
            )
        return v.array().reshape(()).item(), v.type.dtype
    if isinstance(v, np.ndarray) and v.size == 1:
        v = v.reshape(())[()]
    if isinstance(v, np.generic):
        return v.item(), dtype_of(v.dtype)
    if isinstance(v, (list, tuple)):
        raise errors.invalid_argument(f"{name}: {label} is a list.", expected="a number", received=f"{label}: {v}")
    if not isinstance(v, (int, float)):
        raise errors.invalid_type(f"{name}: {label} is not a number.", expected="a number",
                                  received=f"{label}: {type(v).__name__}")  # fmt: skip
    return v, None


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers from start on, by step, up to but without end.

    Args:
        start, end, step (number|Tensor): With one number: that is the end, and it starts at 0.
        dtype (str|dtype, optional): Default: int64 if all three are integers, else the default type.

    Returns:
        Tensor: of ceil((end - start) / step) elements.

    Raises:
        ValueError: step is 0.

    Examples:
        >>> paddle.arange(0, 10, 4).tolist()
        [0, 4, 8]
    """
    if end is None:
        start, end = 0, start
    numbers, kinds = zip(*(_scalar(v, "arange", n) for v, n in ((start, "start"), (end, "end"), (step, "step"))))
    start, end, step = numbers
    if dtype is not None:
        d = dtype_of(dtype)
    else:
        found = [k for k in kinds if k is not None]
        if any(isinstance(n, float) for n in numbers):
            typed = [k for k in found if k.kind == "f"]
            d = typed[0] if typed else default_dtype()
        else:
            d = found[0] if found and all(k is found[0] for k in found) and len(found) == 3 else types.int64
    if step == 0:
        raise errors.invalid_argument("arange: step is 0.", expected="a step other than 0", received=f"step: {step}")
    if d.kind in "iu":
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise errors.invalid_argument(
                "arange: step is 0 as an integer.",
                received=f"step: {numbers[2]}",
                expected="a step of at least 1, or at most -1",
            )
        size = max(0, -((start - end) // step))
    else:
        size = max(0, math.ceil((end - start) / step))
    return finish(ops.Arange(start, step, size, d)(), out, requires_grad, device, "arange")


def range(  # noqa: A001 - upstream's name
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers from start on, by step, up to and with end; otherwise as `arange`."""
    if end is None:
        start, end = 0, start
    low, high, by = (_scalar(v, "range", n)[0] for v, n in ((start, "start"), (end, "end"), (step, "step")))
    if by == 0:
        raise errors.invalid_argument("range: step is 0.", expected="a step other than 0", received=f"step: {step}")
    d = dtype_argument(dtype, default_dtype())
    count = max(0, math.floor((high - low) / by) + 1)
    return finish(ops.Arange(low, by, count, d)(), out, requires_grad, device, "range")


@public(also={"stop": "end", "num": "steps"})
def linspace(
    start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None, *, out: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`num` numbers from start to stop, both included, at equal distances.

    Args:
        start, stop (number|Tensor): ends. num (int|Tensor): how many.
        dtype (str|dtype, optional): Default: the default type.

    Returns:
        Tensor: [num].

    Examples:
        >>> paddle.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    low, dl = _scalar(start, "linspace", "start")
    high, dh = _scalar(stop, "linspace", "stop")
    n = _count(num, "linspace")
    d = dtype_argument(dtype, default_dtype())
    if d.kind in "iu":
        low, high = int(low), int(high)
    return finish(ops.Linspace(float(low), float(high), n, d)(), out, requires_grad, device, "linspace")


def _count(num: Any, name: str) -> int:
    n = int_argument(num, name, "num")
    if n < 0:
        raise errors.invalid_argument(f"{name}: num is negative.", expected="0 or more", received=f"num: {n}")
    return n


def logspace(start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None) -> Tensor:
    """`num` powers of base, with exponents from start to stop at equal distances.

    Examples:
        >>> paddle.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    low, high = _scalar(start, "logspace", "start")[0], _scalar(stop, "logspace", "stop")[0]
    b, n = _scalar(base, "logspace", "base")[0], _count(num, "logspace")
    d = dtype_argument(dtype, default_dtype())
    with np.errstate(all="ignore"):
        values = np.power(np.float64(b), np.linspace(low, high, n))
        return from_array(np.array(values.astype(d.np)))  # type: ignore[return-value]


@public(also={"num_rows": "n", "num_columns": "m"})
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None, *, out: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere.

    Args:
        num_rows (int): rows. num_columns (int, optional): columns; as many as rows by default.
        dtype (str|dtype, optional): Default: the default type.

    Raises:
        TypeError: a negative number, or none at all.

    Examples:
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = int_argument(num_rows, "eye", "num_rows")
    columns = rows if num_columns is None else int_argument(num_columns, "eye", "num_columns")
    if rows < 0 or columns < 0:
        raise errors.invalid_type("eye: a size is negative.", expected="0 or more", received=f"{rows}, {columns}")
    return finish(ops.Eye(rows, columns, dtype_argument(dtype, default_dtype()))(), out, requires_grad, device, "eye")


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates of a grid: for n vectors, n Tensors with n axes.

    Args:
        *args (Tensor): vectors or 0-d Tensors, or one list of them.
        indexing (str): "ij": axis i runs along vector i. "xy": the first two axes are swapped.

    Returns:
        list of Tensor: each of shape [len(vector 0), len(vector 1), ...].

    Raises:
        ValueError: an argument is not a vector.

    Examples:
        >>> x, y = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4, 5]))
        >>> x.tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    indexing = kwargs.pop("indexing", None) or "ij"
    kwargs.pop("name", None)
    if kwargs:
        raise errors.invalid_type(
            "meshgrid: unknown arguments.", received=", ".join(kwargs), expected="Tensors, and indexing"
        )
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = tuple(args[0])
    xs = tensor_list(args, "meshgrid", "inputs")
    if indexing not in ("ij", "xy"):
        raise errors.invalid_argument("meshgrid: no such indexing.", expected="'ij' or 'xy'", received=repr(indexing))
    for i, x in enumerate(xs):
        if len(x.type.shape) > 1:
            raise errors.invalid_argument(
                "meshgrid: an input is not a vector.", expected="at most one axis", received=f"inputs[{i}]: {x.type}"
            )
    order = list(np.arange(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = [1, 0]
    shape = tuple(xs[i].type.size for i in order)
    out = []
    for i, x in enumerate(xs):
        at = order.index(i)
        out.append(broadcast_to(Reshape(tuple(n if j == at else 1 for j, n in enumerate(shape)))(x), shape))
    return out


# ---- triangles --------------------------------------------------------------------------------
@public(also={"x": "input"}, method=True, kind=ValueError)
def tril(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """The lower triangle of each matrix; zeros above.

    Args:
        x (Tensor): at least two axes. diagonal (int): the last one that is kept; 0 is the main diagonal.

    Returns:
        Tensor: shape and type of x.

    Examples:
        >>> paddle.tril(paddle.ones([2, 2])).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    tensor_argument(x, "tril")
    return fill_out(ops.Triangle(int_argument(diagonal, "tril", "diagonal"), True)(x), out)


@public(also={"x": "input"}, method=True, kind=ValueError)
def triu(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """The upper triangle of each matrix; zeros below. Arguments as `tril`, where diagonal is the first that is kept."""
    tensor_argument(x, "triu")
    return fill_out(ops.Triangle(int_argument(diagonal, "triu", "diagonal"), False)(x), out)


tril_ = inplace(tril)
triu_ = inplace(triu)


def tril_indices(row: int, col: int, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Rows and columns of the elements of a lower triangle.

    Args:
        row, col (int): size of the matrix. offset (int): the last diagonal that counts.

    Returns:
        Tensor: [2, number of elements].

    Examples:
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    _sizes_of_triangle("tril_indices", row, col, offset)
    return to_tensor(np.stack(np.tril_indices(row, offset, col)), dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Rows and columns of the elements of an upper triangle; arguments as `tril_indices`."""
    col = row if col is None else col
    _sizes_of_triangle("triu_indices", row, col, offset)
    return to_tensor(np.stack(np.triu_indices(row, offset, col)), dtype)


def _sizes_of_triangle(name: str, row: Any, col: Any, offset: Any) -> None:
    if not (isinstance(row, int) and isinstance(col, int) and isinstance(offset, int)) or row < 0 or col < 0:
        raise errors.invalid_type(
            f"{name}: sizes and offset are integers.",
            expected="row and col of 0 or more, an integer offset",
            received=f"row: {row!r}, col: {col!r}, offset: {offset!r}",
        )


# ---- copies -----------------------------------------------------------------------------------
def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A copy of x, through which gradients pass.

    Args:
        x (Tensor|numpy.ndarray|list|tuple|number): the values; a number becomes a vector of one element.
        output (Tensor, optional): takes the values and is returned.

    Returns:
        Tensor: shape and type of x.

    Raises:
        TypeError: x is none of these.

    Examples:
        >>> paddle.assign([1, 2]).tolist()
        [1, 2]
    """
    if isinstance(x, Tensor):
        made = copy_of(x)
    else:
        if isinstance(x, PYTHON_TYPES):
            x = [x]
        if not isinstance(x, (list, tuple, np.ndarray, np.generic)):
            raise errors.invalid_type(
                "assign: x has no values.", expected="a Tensor, an array, a list or a number", received=type(x).__name__
            )
        plain = x if isinstance(x, (np.ndarray, np.generic)) else np.array(without_tensors(x)[0])
        made = to_tensor(plain)
    return made if output is None else replace(tensor_argument(output, "assign", "output"), made)


def copy_of(x: Tensor) -> Tensor:
    """x as another value of the program: gradients pass, in-place changes of one do not touch the other."""
    return Reshape(x.type.shape)(x)


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of x, through which gradients pass.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> paddle.clone(x).stop_gradient
        False
    """
    if not isinstance(x, Tensor):
        raise not_a_tensor(x, "clone", "x", AttributeError)
    return copy_of(x)


def _clone(self: Tensor) -> Tensor:
    """A copy of the Tensor, through which gradients pass."""
    return copy_of(self)


METHODS["clone"] = _clone


def complex(real: Tensor, imag: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:  # noqa: A001
    """Complex numbers from real and imaginary parts, which broadcast.

    Args:
        real, imag (Tensor): float32 or float64, the same.

    Returns:
        Tensor: complex64 or complex128.

    Examples:
        >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [(1+2j)]
    """
    from ..engine.ops.complex import ToComplex

    tensor_argument(real, "complex", "real")
    tensor_argument(imag, "complex", "imag")
    return fill_out(ToComplex()(real, imag), out)


def polar(abs: Tensor, angle: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:  # noqa: A002
    """Complex numbers from their absolute values and angles (radians)."""
    from ..engine.ops.complex import ToComplex
    from ..engine.ops.math import cos, sin

    tensor_argument(abs, "polar", "abs")
    tensor_argument(angle, "polar", "angle")
    return fill_out(ToComplex()(abs * cos(angle), abs * sin(angle)), out)
