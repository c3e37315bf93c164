"""The binary form of one tensor, as in `.pdiparams` files and `paddle.save(..., use_binary_format=True)`.

uint32 0, uint64 levels of detail (0), uint32 0, int32 length, description, data. The description is a protocol buffer:
field 1 the element type, field 2 (repeated) the sizes. Everything is little endian.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator

import numpy as np

from ..engine.types import DType, dtype_of
from .source import Broken, Source

__all__: list[str] = []

_CODES = {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6, "uint8": 20,
          "int8": 21, "bfloat16": 22, "complex64": 23, "complex128": 24}  # fmt: skip
_NAMES = {code: name for name, code in _CODES.items()}
_HEAD = struct.Struct("<IQIi")


def has_code(d: DType) -> bool:
    """Whether the form has a word for an element type."""
    return d.name in _CODES


def pieces(d: DType, a: np.ndarray) -> Iterator[bytes | memoryview]:
    """The bytes of one tensor, in order."""
    description = b"\x08" + _varint(_CODES[d.name]) + b"".join(b"\x10" + _varint(n) for n in a.shape)
    yield _HEAD.pack(0, 0, 0, len(description)) + description
    a = np.ascontiguousarray(a)
    if sys.byteorder == "big":
        a = a.byteswap()
    if a.nbytes:
        yield memoryview(a.reshape(-1).view(np.uint8))


def read(source: Source) -> np.ndarray:
    """The tensor that comes next.

    Raises:
        Broken: it is cut off, or something else.
    """
    version, levels, _, length = _HEAD.unpack(source.take(_HEAD.size))
    if version or levels or length < 0:
        raise Broken("the head of a tensor is wrong")
    d, shape = _description(source.take(length))
    if len(shape) > 64 or math.prod(shape) * d.itemsize > source.left:
        raise Broken(f"a tensor {d.name}{shape[:9]} where {source.left} bytes are left")
    try:
        out = np.empty(shape, d.np)
    except ValueError:  # without elements, but with sizes beyond numpy's
        raise Broken("a shape too large") from None
    source.fill(out)
    if sys.byteorder == "big":
        out.byteswap(inplace=True)
    if d.is_bool and out.size and out.view(np.uint8).max() > 1:
        raise Broken("a tensor of bool holds neither 0 nor 1")
    return out


def _varint(n: int) -> bytes:
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _description(raw: bytes) -> tuple[DType, list[int]]:
    code, shape = None, []
    numbers = _varints(raw)
    for tag in numbers:
        value = next(numbers, None)
        if value is None or tag not in (0x08, 0x10):
            raise Broken(f"the field {tag} of a tensor's description is not known")
        if tag == 0x08:
            code = value
        else:
            shape.append(value)
    if code not in _NAMES:
        raise Broken("a tensor without element type")
    return dtype_of(_NAMES[code]), shape


def _varints(raw: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in raw:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
        elif shift > 63:
            raise Broken("a number of a tensor's description does not end")
    if shift:
        raise Broken("a number of a tensor's description is cut off")
