"""Element types, places and precisions by their names in `paddle.inference`."""

from __future__ import annotations

import enum

from ..engine import errors
from ..engine.types import DType, dtype_of

__all__ = ["DataType", "PlaceType", "PrecisionType", "get_num_bytes_of_data_type"]


class DataType(enum.IntEnum):
    """Element types of the Tensors of a Predictor."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7
    BFLOAT16 = 8


class PlaceType(enum.IntEnum):
    """Where Tensors lie. All lie on the CPU."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(enum.IntEnum):
    """How exactly an engine computes."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


def kind_of(dtype: DType) -> DataType:
    """What an element type is called here.

    Raises:
        ValueError: it has no name here.
    """
    found = DataType.__members__.get(dtype.name.upper())
    if found is None:
        raise errors.invalid_argument(
            "inference: this element type has no name.", expected=", ".join(DataType.__members__), received=dtype.name
        )
    return found


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """The bytes of one element.

    Args:
        dtype (DataType): the element type.

    Returns:
        int: its bytes.

    Raises:
        TypeError: no DataType.

    Examples:
        >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.INT64)
        8
    """
    if not isinstance(dtype, DataType):
        raise errors.invalid_type(
            "get_num_bytes_of_data_type: this is no DataType.", expected="DataType", received=repr(dtype)
        )
    return dtype_of(dtype.name.lower()).itemsize
