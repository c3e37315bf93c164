"""Tensors of what the caller has: numbers, lists, arrays, other Tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.arrays import copied
from ..engine.eager import trace as tracing
from ..engine.eager.trace import from_array
from ..engine.ops.elementwise import Detach, cast
from ..engine.types import DType, default_dtype, dtype_of
from ..framework.place import place_of
from ..utils.public import public
from .tensor import Tensor

__all__ = [
    "to_tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor",
    "ByteTensor", "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "BoolTensor",
]  # fmt: skip

PYTHON_TYPES = (bool, int, float, builtins.complex)


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A Tensor of given values, which are copied.

    Args:
        data (scalar|list|tuple|numpy.ndarray|Tensor): Lists may be nested and may hold Tensors.
        dtype (str|dtype, optional): None keeps numpy's; Python floats take the default type, Python integers int64.
        place (str|Place, optional): Where it lives. Default: the current device.
        stop_gradient (bool): False for a leaf that gradients are computed for.

    Returns:
        Tensor: a leaf.

    Raises:
        TypeError: data of another kind, or no such dtype. ValueError: rows of different lengths, no such place.

    Examples:
        >>> paddle.to_tensor([[1, 2], [3, 4]])
        Tensor(shape=[2, 2], dtype=int64, place=Place(cpu), stop_gradient=True,
               [[1, 2],
                [3, 4]])
    """
    want = None if dtype is None else dtype_of(dtype)
    if place is not None:
        place_of(place, "to_tensor")
    if isinstance(data, Tensor):
        a = data.buffer
        made = Detach()(data) if a is None else tracing.make_tensor(data.type, 0, 0, True, a)
        if want is not None:
            made = cast(made, want)
        if not stop_gradient:
            made.stop_gradient = False
        return made
    return from_array(array_of(data, want), bool(stop_gradient))  # type: ignore[return-value]


def array_of(data: Any, want: DType | None) -> np.ndarray:
    """Python or numpy data as an array of its own, of the element type that `to_tensor` gives."""
    if isinstance(data, (np.ndarray, np.generic)):
        a = np.asarray(data)
    elif isinstance(data, PYTHON_TYPES):
        a = np.asarray(data)
        if want is None:
            a = _default_type(a)
    elif isinstance(data, (list, tuple)):
        plain, mixed = without_tensors(data)
        try:
            a = np.array(plain)
        except ValueError as e:
            raise errors.invalid_argument(
                "to_tensor: the rows have different lengths.", expected="a rectangular list", received=str(e)
            ) from None
        if a.dtype.kind not in "biufcV" or a.dtype.kind == "V" and a.dtype.names:
            _not_data(a.dtype if a.size else data)
        if want is None and (not mixed or a.dtype.kind in "iu"):
            a = _default_type(a)
    elif hasattr(data, "__array__") and not isinstance(data, (str, bytes)):
        a = np.asarray(data)
    else:
        raise errors.invalid_type(
            "to_tensor: a Tensor cannot be made of this.",
            expected="a number, a list, a tuple, a numpy array or a Tensor",
            received=f"data: {type(data).__name__}",
        )
    if a.dtype.kind in "OUSMm":
        _not_data(a.dtype)
    if want is None:
        want = types.bfloat16 if a.dtype == np.uint16 else dtype_of(a.dtype)
        if a.dtype == np.uint16:
            a = a.view(want.np)
    elif want is types.bfloat16 and a.dtype == np.uint16:
        a = a.view(want.np)
    with np.errstate(all="ignore"):
        return copied(a, want.np)


def _not_data(dtype: Any) -> None:
    raise errors.invalid_argument(
        "to_tensor: the elements are not numbers.", expected="bool, integer, floating or complex elements",
        received=f"elements of type {dtype}",
    )  # fmt: skip


def _default_type(a: np.ndarray) -> np.ndarray:
    """Numbers without a type of their own: floats in the default type, integers in int64."""
    if a.dtype.kind == "f":
        return a.astype(default_dtype().np)
    if a.dtype.kind in "iu":
        return a.astype(np.int64)
    if a.dtype.kind == "c" and default_dtype() is not types.float64:
        return a.astype(np.complex64)
    return a


def without_tensors(data: Any) -> tuple[Any, bool]:
    """Nested lists with Tensors replaced by arrays, and whether there were any."""
    found = False

    def plain(v: Any) -> Any:
        nonlocal found
        if isinstance(v, Tensor):
            found = True
            return v.array()
        if isinstance(v, (list, tuple)):
            return [plain(e) for e in v]
        return v

    if any(isinstance(v, (list, tuple, Tensor)) for v in data):
        data = plain(data)
    return data, found


@public(also={"requires_grad": "requires_grad"})
def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A Tensor of given values; see `to_tensor`. requires_grad is the contrary of stop_gradient."""
    return to_tensor(data, dtype, device, not requires_grad)


def tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A Tensor of given values; see `to_tensor`. requires_grad is the contrary of stop_gradient."""
    return to_tensor(data, dtype, device, not requires_grad)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """A Tensor of given values; see `to_tensor`. The values are copied in any case, whatever `copy` says."""
    return to_tensor(obj, dtype, device, not requires_grad)


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A Tensor of the values of a numpy array, which are copied."""
    if not isinstance(ndarray, np.ndarray):
        raise errors.invalid_type(
            "from_numpy: this is not a numpy array.", received=type(ndarray).__name__, expected="a numpy.ndarray"
        )
    return to_tensor(ndarray)


def _typed(dtype: DType) -> type:
    """A class like `paddle.FloatTensor`: a constructor of Tensors of one element type."""

    class TypedTensor:
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return construct(dtype, *args, **kwargs)

    return TypedTensor


def construct(dtype: DType | None, *args: Any, **kwargs: Any) -> Tensor:
    """`Tensor(data)`, or zeros where the arguments are sizes, as in `FloatTensor(2, 3)`."""
    device = kwargs.pop("device", None)
    data = kwargs.pop("data", None) if not args else None
    if kwargs:
        raise errors.invalid_argument(
            "Tensor: unknown arguments.", received=", ".join(kwargs), expected="sizes, or values as `data`"
        )
    if device is not None:
        place_of(device, "Tensor")
    if data is None and args:
        from .creation import zeros

        if all(isinstance(a, (int, np.integer)) and not isinstance(a, bool) for a in args):
            return zeros(list(args), dtype or "float32")
        data = args[0]
    if data is None:
        from .creation import zeros

        return zeros([0], dtype or "float32")
    if not isinstance(data, (list, tuple, np.ndarray, Tensor)):
        raise errors.invalid_argument(
            "Tensor: this is neither data nor a shape.",
            expected="a list, an array, a Tensor, or sizes",
            received=type(data).__name__,
        )
    if dtype is None and isinstance(data, (list, tuple)):
        dtype = types.float32
    if isinstance(data, Tensor) and dtype in (None, data.type.dtype):
        return data.detach()
    return to_tensor(data, dtype)


FloatTensor, DoubleTensor = _typed(types.float32), _typed(types.float64)
HalfTensor, BFloat16Tensor = _typed(types.float16), _typed(types.bfloat16)
ByteTensor, CharTensor = _typed(types.uint8), _typed(types.int8)
ShortTensor, IntTensor = _typed(types.int16), _typed(types.int32)
LongTensor, BoolTensor = _typed(types.int64), _typed(types.bool_)
for _name in [n for n in __all__ if n.endswith("Tensor")]:
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name
    globals()[_name].__doc__ = f"Makes a Tensor of the type that the name says: `{_name}(2, 3)`, `{_name}([1, 2])`."
