"""What a Tensor is: its kind, size and strides; conversions of its element type and place; complex parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.cpu import storage
from ..engine.eager.sharing import View, row_major, share, strides, view
from ..engine.eager.trace import from_array
from ..engine.ops import complex as complex_ops
from ..engine.ops import elementwise as ew
from ..engine.ops import tables
from ..engine.ops.join import stack
from ..engine.ops.shape import reshape, slice_axis
from ..engine.types import DType, dtype_of
from ..framework.place import Place, place_of
from ..framework.tables import tensor_of
from ..utils.public import METHODS, inplace, public
from .arguments import not_a_tensor, tensor_argument
from .creation import copy_of, filled, full, shape_argument
from .families import no_method
from .tensor import Tensor

__all__ = [
    "is_tensor", "is_complex", "is_floating_point", "is_integer", "is_empty", "rank", "shape", "numel", "tolist",
    "cast", "cast_", "real", "imag", "as_complex", "as_real", "view_as_complex", "view_as_real", "from_dlpack",
    "to_dlpack",
]  # fmt: skip


# ---- kind and size ----------------------------------------------------------------------------
@public(also={"x": "obj"}, method=True)
def is_tensor(x: Any) -> bool:
    """Whether x is a Tensor.

    Examples:
        >>> paddle.is_tensor(paddle.ones([1])), paddle.is_tensor([1])
        (True, False)
    """
    return isinstance(x, Tensor)


def _typed_argument(x: Any, name: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise not_a_tensor(x, name, "x", TypeError)
    return x


@public(also={"x": "input"}, method=True)
def is_complex(x: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    return _typed_argument(x, "is_complex").type.dtype.is_complex


@public(also={"x": "input"}, method=True)
def is_floating_point(x: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return _typed_argument(x, "is_floating_point").type.dtype.is_floating


@public(method=True)
def is_integer(x: Tensor) -> bool:
    """Whether the elements are integers."""
    return _typed_argument(x, "is_integer").type.dtype.is_integer


@public(method=True)
def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """A bool Tensor: whether x has no elements."""
    return filled((), _typed_argument(x, "is_empty").type.size == 0, types.bool_)


@public(method=True)
def rank(input: Tensor) -> Tensor:
    """The number of axes, as an int32 Tensor."""
    return filled((), len(no_method(input, "rank").type.shape), types.int32)


def shape(input: Tensor) -> Tensor:
    """The sizes of the axes, as an int64 Tensor.

    Examples:
        >>> paddle.shape(paddle.ones([2, 3])).tolist()
        [2, 3]
    """
    return tensor_of(tables.numbers, *tensor_argument(input, "shape", "input").type.shape)


@public(method=True)
def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements, as an int64 Tensor."""
    return filled((), tensor_argument(x, "numel").type.size, types.int64)


def tolist(x: Tensor) -> Any:
    """The values as nested lists; a number for a 0-d Tensor."""
    return no_method(x, "tolist").tolist()


def _method(f: Callable[..., Any]) -> Callable[..., Any]:
    METHODS[f.__name__] = f
    return f


@_method
def dim(self: Tensor) -> int:
    """The number of axes."""
    return len(self.type.shape)


METHODS["ndimension"] = dim


@_method
def element_size(self: Tensor) -> int:
    """The size of one element in bytes."""
    return self.type.dtype.itemsize


@_method
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours, for each axis or for one. A view lies in its source."""
    return strides(self) if dim is None else strides(self)[dim]


@_method
def get_strides(self: Tensor) -> list[int]:
    """How many elements lie between neighbours, for each axis."""
    return strides(self)


@_method
def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie in row-major order without gaps: not those of a transposed view."""
    return self.kin is None or self.kin.flat or strides(self) == row_major(self.type.shape)


@_method
def contiguous(self: Tensor) -> Tensor:
    """The Tensor itself, or a copy where its elements do not lie in row-major order."""
    return self if is_contiguous(self) else copy_of(self)


@_method
def is_dense(self: Tensor) -> bool:
    """Whether every element is stored: True."""
    return True


@_method
def is_dist(self: Tensor) -> bool:
    """Whether the Tensor is spread over a mesh of processes: False."""
    return False


@_method
def is_sparse(self: Tensor) -> bool:
    """Whether only some elements are stored: False."""
    return False


@_method
def is_sparse_coo(self: Tensor) -> bool:
    """Whether the Tensor is stored as coordinates and values: False."""
    return False


@_method
def is_sparse_csr(self: Tensor) -> bool:
    """Whether the Tensor is stored as compressed rows: False."""
    return False


@_method
def is_selected_rows(self: Tensor) -> bool:
    """Whether only some rows are stored: False."""
    return False


@_method
def is_same_shape(self: Tensor, y: Tensor) -> bool:
    """Whether two Tensors have the same shape."""
    return self.type.shape == y.type.shape


@_method
def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    a = self.array()
    storage.expose(a)
    return a.__array_interface__["data"][0]


@_method
def get_device(self: Tensor) -> int:
    """The number of the GPU that the Tensor is on: -1, it is in the host's memory."""
    return -1


@_method
def apply(self: Tensor, func: Callable[[Tensor], Any]) -> Any:
    """func(self)."""
    _no_gradients(self, "apply")
    return func(self)


@_method
def apply_(self: Tensor, func: Callable[[Tensor], Any]) -> Tensor:
    """Takes the value of func(self). Returns the Tensor."""
    _no_gradients(self, "apply_")
    return inplace(func, name="apply_")(self)


def _no_gradients(t: Tensor, name: str) -> None:
    if not t.sg:
        raise errors.precondition(
            f"{name}: gradients are computed for this Tensor.", expected="stop_gradient True", received=f"{t.type}"
        )


for _name, _value in (("layout", "NCHW"), ("offset", 0), ("is_cuda", False), ("num_shard", None),
                      ("placements", None), ("process_mesh", None)):  # fmt: skip
    setattr(Tensor, _name, property(lambda self, _value=_value: _value))
Tensor.itemsize = property(lambda self: self.type.dtype.itemsize)  # type: ignore[attr-defined]
Tensor.strides = property(strides)  # type: ignore[attr-defined]


# ---- conversions ------------------------------------------------------------------------------
def converted(x: Tensor, dtype: Any) -> Tensor:
    return ew.cast(x, dtype if type(dtype) is DType else dtype_of(dtype))


@public(also={"x": "input"}, method=True)
def cast(x: Tensor, dtype: Any) -> Tensor:
    """x in another element type: toward zero to integers, `!= 0` to bool.

    Args:
        x (Tensor): any type. dtype (str|dtype): the new type.

    Returns:
        Tensor: the shape of x.

    Raises:
        TypeError: no such dtype.

    Examples:
        >>> paddle.cast(paddle.to_tensor([1.7, -1.7]), "int32").tolist()
        [1, -1]
    """
    d = dtype_of(dtype)
    made = converted(_typed_argument(x, "cast"), d)
    return copy_of(x) if made is x else made


cast_ = inplace(cast, retypes=True)


@_method
def astype(self: Tensor, dtype: Any) -> Tensor:
    """The Tensor in another element type; see `paddle.cast`."""
    return converted(self, dtype)


@_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The Tensor in the element type of another."""
    return converted(self, other.type.dtype)


def _conversion(name: str, dtype: DType) -> None:
    def convert(self: Tensor) -> Tensor:
        return ew.cast(self, dtype)

    convert.__name__ = name
    convert.__doc__ = f"The Tensor as {dtype.name}."
    METHODS[name] = convert


for _name, _value in (
    ("float", types.float32), ("double", types.float64), ("half", types.float16), ("int", types.int32),
    ("long", types.int64), ("short", types.int16), ("char", types.int8), ("byte", types.uint8), ("bool", types.bool_),
    ("cfloat", types.complex64), ("cdouble", types.complex128),
    *((d.name, d) for d in (types.float16, types.bfloat16, types.float32, types.float64, types.int8, types.int16,
                            types.int32, types.int64, types.uint8, types.complex64, types.complex128)),
):  # fmt: skip
    _conversion(_name, _value)


@_method
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The Tensor on another device or in another element type.

    Args:
        *args: a device, a dtype, a device and a dtype, or a Tensor whose type is taken; then `blocking`.
        device (str|Place, optional), dtype (str|dtype, optional), blocking (bool, optional), other (Tensor, optional).

    Raises:
        ValueError: no such device. TypeError: unknown arguments.

    Examples:
        >>> paddle.ones([1]).to("float64").dtype
        paddle.float64
    """
    known = {"device", "dtype", "blocking", "other", "copy", "copy_tensor", "non_blocking"}
    if set(kwargs) - known:
        raise errors.invalid_type(
            "to: unknown arguments.",
            received=", ".join(set(kwargs) - known),
            expected=f"arguments among {sorted(known)}",
        )
    if not args and not kwargs:
        raise errors.invalid_type("to: there is no argument.", expected="a device, dtype or Tensor", received="none")
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    other = kwargs.get("other")
    if args:
        first, rest = args[0], args[1:]
        if isinstance(first, Tensor):
            other = first
        elif names_dtype(first):
            dtype = first
        else:
            device = first
            if rest and rest[0] is not None and not isinstance(rest[0], bool):
                dtype = rest[0]
    if other is not None:
        dtype = other.type.dtype
    if device is not None:
        place_of(device, "to")
    if dtype is None:
        return self
    made = converted(self, dtype)
    return copy_of(self) if made is self and other is None else made


def names_dtype(v: Any) -> bool:
    if v is None or isinstance(v, (Place, int)):
        return False
    try:
        dtype_of(v)
    except TypeError:
        return False
    return True


@_method
def cpu(self: Tensor) -> Tensor:
    """The Tensor in the host's memory: itself."""
    return self


@_method
def cuda(self: Tensor, device_id: Any = None, blocking: bool = True) -> Tensor:
    """The Tensor on a GPU. Raises ValueError: this build has none."""
    raise errors.invalid_argument("cuda: this build has no such device.", expected="the CPU", received="gpu")


@_method
def pin_memory(self: Tensor, blocking: bool = True) -> Tensor:
    """The Tensor in memory that a GPU reads directly. Raises RuntimeError: this build has no GPU."""
    raise errors.permission_denied(
        "pin_memory: this build has no GPU to pin memory for.",
        expected="a build with GPU support",
        received="the CPU build",
    )


# ---- others like it ---------------------------------------------------------------------------
def _new(self: Tensor, size: Any, value: Any, dtype: Any, device: Any, requires_grad: bool, rest: tuple) -> Tensor:
    if rest:
        size = [size, *rest]
    sizes = shape_argument(size, "new")
    return full(sizes, value, dtype or self.type.dtype, device=device, requires_grad=requires_grad)


def _sizes(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Lets a method of a shape also take the sizes one by one: x.new_ones(2, 3)."""
    import functools

    @functools.wraps(f)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if len(args) > 1:
            args = (list(args),)
        return f(self, *args, **kwargs)

    METHODS[f.__name__] = call
    return call


@_sizes
def new_zeros(
    var: Tensor, size: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros of another shape, in the type of this Tensor unless `dtype` gives another."""
    return _new(var, size, 0, dtype, device, requires_grad, ())


@_sizes
def new_ones(
    var: Tensor, size: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones of another shape, in the type of this Tensor unless `dtype` gives another."""
    return _new(var, size, 1, dtype, device, requires_grad, ())


@_sizes
def new_empty(
    var: Tensor, size: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of another shape whose values do not matter, in the type of this one."""
    return _new(var, size, 0, dtype, device, requires_grad, ())


@_method
def new_full(
    var: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of another shape, all one number, in the type of this one unless `dtype` gives another."""
    return _new(var, size, fill_value, dtype, device, requires_grad, ())


# ---- complex ----------------------------------------------------------------------------------
@public(also={"x": "input"}, method=True)
def real(x: Tensor, name: str | None = None) -> Tensor:
    """The real parts; x itself where it is not complex."""
    return view(complex_ops.Real(), tensor_argument(x, "real"))  # type: ignore[no-any-return]


@public(also={"x": "input"}, method=True)
def imag(x: Tensor, name: str | None = None) -> Tensor:
    """The imaginary parts of a complex Tensor."""
    return view(complex_ops.Imag(), _complex(tensor_argument(x, "imag"), "imag"))  # type: ignore[no-any-return]


def _complex(x: Tensor, name: str) -> Tensor:
    if not x.type.dtype.is_complex:
        raise errors.unavailable(f"{name}: x is not complex.", expected="complex64 or complex128", received=f"{x.type}")
    return x


@public(also={"x": "input"}, method=True)
def as_complex(x: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers from pairs of numbers along the last axis.

    Args:
        x (Tensor): [..., 2], float32 or float64.

    Returns:
        Tensor: [...], complex64 or complex128.

    Raises:
        ValueError: the last axis is not of size 2.

    Examples:
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    s = tensor_argument(x, "as_complex").type.shape
    if not s or s[-1] != 2:
        raise errors.invalid_argument("as_complex: these are no pairs.", expected="a last axis of size 2",
                                      received=f"x: {x.type}")  # fmt: skip
    return share(x, _pairs_to_complex(x), _AS_COMPLEX, True)  # type: ignore[no-any-return]


def _pairs_to_complex(x: Any) -> Any:
    s = x.type.shape
    return complex_ops.ToComplex()(*(reshape(slice_axis(x, len(s) - 1, i, i + 1), s[:-1]) for i in (0, 1)))


def _complex_to_pairs(x: Any) -> Any:
    return stack([complex_ops.Real()(x), complex_ops.Imag()(x)], len(x.type.shape))


_AS_COMPLEX = View(_pairs_to_complex, lambda x, part: _complex_to_pairs(part))
_AS_REAL = View(_complex_to_pairs, lambda x, part: _pairs_to_complex(part))


@public(also={"x": "input"}, method=True)
def as_real(x: Tensor, name: str | None = None) -> Tensor:
    """Pairs of real and imaginary part along a new last axis.

    Args:
        x (Tensor): [...], complex.

    Returns:
        Tensor: [..., 2], float32 or float64.

    Examples:
        >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    _complex(tensor_argument(x, "as_real"), "as_real")
    return share(x, _complex_to_pairs(x), _AS_REAL, True)  # type: ignore[no-any-return]


@public(method=True)
def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers from pairs along the last axis; see `as_complex`."""
    return as_complex(input)


@public(method=True)
def view_as_real(input: Tensor) -> Tensor:
    """Pairs of real and imaginary part along a new last axis; see `as_real`."""
    return as_real(input)


# ---- exchange ---------------------------------------------------------------------------------
def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule with the values of x.

    Examples:
        >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.ones([2]))
        >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
        [1.0, 1.0]
    """
    return _typed_argument(x, "to_dlpack").__dlpack__()


class _Capsule:
    """Gives numpy a capsule as an object with the protocol's methods."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A Tensor from a DLPack capsule, or from an object that can give one; the values are copied.

    Raises:
        TypeError: neither of these.
    """
    if type(dlpack).__name__ == "PyCapsule":
        dlpack = _Capsule(dlpack)
    if not hasattr(dlpack, "__dlpack__"):
        raise errors.invalid_type(
            "from_dlpack: this is no DLPack capsule.",
            received=type(dlpack).__name__,
            expected="a capsule, or an object with __dlpack__",
        )
    if isinstance(dlpack, np.ndarray):
        return from_array(np.array(dlpack, order="C"))  # type: ignore[return-value]
    return from_array(np.array(np.from_dlpack(dlpack), order="C"))  # type: ignore[return-value]
