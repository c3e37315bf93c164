"""Element types as the API shows them, their limits, and the default floating type."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.types import DType, dtype_of
from ..utils.public import public

dtype = DType
bool = types.bool_  # noqa: A001 - upstream's name
uint8, uint16, uint32, uint64 = types.uint8, types.uint16, types.uint32, types.uint64
int8, int16, int32, int64 = types.int8, types.int16, types.int32, types.int64
float16, bfloat16, float32, float64 = types.float16, types.bfloat16, types.float32, types.float64
float8_e4m3fn, float8_e5m2 = types.float8_e4m3fn, types.float8_e5m2
complex64, complex128 = types.complex64, types.complex128
half, float, double = float16, float32, float64  # noqa: A001
short, int, long = int16, int32, int64  # noqa: A001
cfloat, cdouble = complex64, complex128

__all__ = [
    "dtype", "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16",
    "float32", "float64", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128", "half", "float", "double",
    "short", "int", "long", "cfloat", "cdouble", "finfo", "iinfo", "get_default_dtype", "set_default_dtype",
]  # fmt: skip


def get_default_dtype() -> str:
    """The name of the floating type that Python floats and new parameters take.

    Returns:
        str: "float32" unless `set_default_dtype` changed it.

    Examples:
        >>> paddle.get_default_dtype()
        'float32'
    """
    return types.default_dtype().name


def set_default_dtype(d: Any) -> None:
    """Sets the floating type that Python floats and new parameters take.

    Args:
        d (str|dtype|type): float16, bfloat16, float32 or float64.

    Raises:
        TypeError: d is another type.

    Examples:
        >>> paddle.set_default_dtype("float64")
        >>> paddle.to_tensor(1.5).dtype
        paddle.float64
        >>> paddle.set_default_dtype("float32")
    """
    try:
        found: DType | None = None if d is None else dtype_of(d)
    except (TypeError, ValueError):
        found = None
    if found not in (float16, bfloat16, float32, float64):
        raise errors.invalid_type(
            "set_default_dtype: the default type is a floating type.",
            expected="float16, bfloat16, float32 or float64",
            received=repr(d),
        )
    assert found is not None
    types.set_default_dtype(found)


class finfo:
    """Limits of a floating (or complex) type.

    Attributes:
        min, max (float): extreme finite values. eps (float): distance from 1 to the next number.
        tiny, smallest_normal (float): the least positive number of full precision.
        resolution (float): 10 to the minus number of decimal digits. bits (int): size. dtype (str): name.

    Raises:
        ValueError: the type is not floating.

    Examples:
        >>> paddle.finfo("float16").max
        65504.0
    """

    def __init__(self, dtype: Any):
        d = dtype_of(dtype)
        if d.kind == "c":
            d = float32 if d is complex64 else float64
        if d.kind != "f":
            raise errors.invalid_argument("finfo: the type is not floating.", expected="a floating type",
                                          received=d.name)  # fmt: skip
        if d in (float16, float32, float64):
            info: Any = np.finfo(d.np)
        else:
            import ml_dtypes

            info = ml_dtypes.finfo(d.np)
        real = builtins.float
        self.min, self.max, self.eps = real(info.min), real(info.max), real(info.eps)
        self.tiny = self.smallest_normal = real(info.smallest_normal)
        self.resolution = real(str(info.resolution))
        self.bits, self.dtype = d.itemsize * 8, d.name

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, resolution={self.resolution:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, bits={self.bits}, dtype={self.dtype})"
        )


finfo = public(also={"dtype": "type"})(finfo)


class iinfo:
    """Limits of an integer type.

    Attributes:
        min, max (int): extreme values. bits (int): size. dtype (str): name.

    Raises:
        ValueError: the type is not an integer type.

    Examples:
        >>> paddle.iinfo("uint8").max
        255
    """

    def __init__(self, dtype: Any):
        d = dtype_of(dtype)
        if not d.is_integer:
            raise errors.invalid_argument("iinfo: the type is not an integer type.", expected="an integer type",
                                          received=d.name)  # fmt: skip
        info = np.iinfo(d.np)
        self.min, self.max, self.bits, self.dtype = info.min, info.max, d.itemsize * 8, d.name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"
