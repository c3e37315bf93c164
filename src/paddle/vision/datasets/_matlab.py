"""Reads arrays of numbers from MATLAB files of version 5 to 7.2.

Source: The MathWorks, "MAT-File Format", chapter "MAT-File Level 5 Format".
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from ...engine import errors

_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = range(6, 16)  # classes of matrices that hold numbers
_MOST_BYTES = 1 << 30  # of one compressed element


def read_matlab(path: str) -> dict[str, np.ndarray]:
    """The arrays of numbers in a file by name, in the types that they are stored in; ValueError if it is another."""
    with open(path, "rb") as file:
        data = file.read()
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise _broken(path, "the header is missing")
    found = {}
    try:
        for kind, content in _elements(data[128:], order):
            if kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(content, _MOST_BYTES)
                kind, content = next(iter(_elements(unpacked, order)))
            if kind == _MATRIX:
                found.update(_matrix(content, order))
    except (struct.error, zlib.error, StopIteration, IndexError, KeyError, ValueError) as e:
        raise _broken(path, str(e) or type(e).__name__) from None
    return found


def _broken(path: str, why: str) -> Exception:
    return errors.invalid_argument(f"{path} is no MATLAB file of version 5, or is damaged: {why}.")


def _elements(data: bytes, order: str):  # type: ignore[no-untyped-def]
    """Type and content of each element in a run of them."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # a short element: its content is in the second word
            kind, size, start, at = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            at = start + size + (-size % 8 if kind != _COMPRESSED else 0)
        if start + size > len(data):
            raise ValueError("an element is cut short")
        yield kind, data[start : start + size]


def _matrix(content: bytes, order: str) -> dict[str, np.ndarray]:
    """A matrix by its name; nothing if it holds no numbers."""
    parts = iter(_elements(content, order))
    flags = struct.unpack(f"{order}I", next(parts)[1][:4])[0]
    if flags & 0xFF not in _NUMBERS:
        return {}
    shape = np.frombuffer(next(parts)[1], f"{order}i4")
    name = next(parts)[1].decode("latin1")
    kind, values = next(parts)
    return {name: np.frombuffer(values, order + _TYPES[kind]).reshape(shape, order="F")}
