"""Files of the format safetensors: named tensors and nothing else, so that there is nothing to run.

A file is a little-endian uint64 N, N bytes of JSON, and the data. The JSON has for each tensor its `dtype`, its `shape`
and where its bytes begin and end in the data; together they fill the data without gaps. The place
`__metadata__` may hold texts by name.

Tensors are read one after another into memory of their own: a mapped file that somebody shortens would end the
process. Why this is not left to a library: docs/decisions/safetensors.md.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine import types
from .source import Broken, Source

__all__: list[str] = []

MOST_HEADER_BYTES = 100_000_000  # no reader of the format takes more
_DTYPES = {"BOOL": types.bool_, "U8": types.uint8, "I8": types.int8, "U16": types.uint16, "I16": types.int16,
           "F16": types.float16, "BF16": types.bfloat16, "U32": types.uint32, "I32": types.int32, "F32": types.float32,
           "U64": types.uint64, "I64": types.int64, "F64": types.float64, "C64": types.complex64,
           "F8_E4M3": types.float8_e4m3fn, "F8_E5M2": types.float8_e5m2}  # fmt: skip
_CODES = {d: code for code, d in _DTYPES.items()}


# ---- writing ----------------------------------------------------------------------------------
def code_of(d: types.DType) -> str | None:
    """What the format calls an element type, or None if it has no word for it."""
    return _CODES.get(d)


def pieces(arrays: dict[str, tuple[types.DType, np.ndarray]]) -> Iterator[Any]:
    """What a file with these arrays consists of, in order, as buffers."""
    # wide elements first: then each begins at a multiple of its size
    order = sorted(arrays, key=lambda name: (-arrays[name][0].itemsize, name))
    at, places = 0, {}
    for name in order:
        places[name] = [at, at + arrays[name][1].nbytes]
        at = places[name][1]
    table = {
        name: {"dtype": _CODES[d], "shape": list(a.shape), "data_offsets": places[name]}
        for name, (d, a) in arrays.items()
    }
    header = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    header += b" " * (-len(header) % 8)
    if len(header) > MOST_HEADER_BYTES:
        raise ValueError(f"the names and shapes take {len(header)} bytes; the format has room for {MOST_HEADER_BYTES}")
    yield len(header).to_bytes(8, "little")
    yield header
    for name in order:
        a = np.ascontiguousarray(arrays[name][1])
        if sys.byteorder == "big":
            a = a.byteswap()
        yield memoryview(a.reshape(-1).view(np.uint8)) if a.nbytes else b""


# ---- reading ----------------------------------------------------------------------------------
def is_one(start: bytes) -> bool:
    """Whether a file that begins with these 9 bytes is of this format; no pickle and no tensor's binary form is."""
    return len(start) == 9 and 2 <= int.from_bytes(start[:8], "little") <= MOST_HEADER_BYTES and start[8:] == b"{"


def read(source: Source) -> dict[str, np.ndarray]:
    """The arrays of a file by name, in the order of its table.

    Raises:
        Broken: the file is cut off, or its table does not describe its data.
    """
    table = _table(source)
    size = source.left
    at = 0
    arrays = {name: np.zeros(0) for name in table}
    for name, (d, shape, begin, end) in sorted(table.items(), key=lambda entry: entry[1][2:]):
        if begin != at or end > size:
            raise Broken(f"{name[:80]!r} lies at bytes {begin} to {end}, where {at} to at most {size} are free")
        at = end
        try:
            a = arrays[name] = np.empty(shape, d.np)
        except ValueError:  # without elements, but with sizes beyond numpy's
            raise Broken(f"{name[:80]!r} has a shape too large") from None
        source.fill(a)
        if sys.byteorder == "big":
            a.byteswap(inplace=True)
        if d is types.bool_ and a.size and a.view(np.uint8).max() > 1:
            raise Broken(f"{name[:80]!r} is bool and holds neither 0 nor 1")
    if at != size:
        raise Broken(f"{size - at} bytes follow the last tensor")
    return arrays


_Entry = tuple[types.DType, tuple[int, ...], int, int]  # element type, shape, first byte, byte after the last


def _table(source: Source) -> dict[str, _Entry]:
    if source.left < 8:
        raise Broken(f"a file of {source.left} bytes")
    n = int.from_bytes(source.take(8), "little")
    if n > MOST_HEADER_BYTES or n > source.left:
        raise Broken(f"a table of {n} bytes where {source.left} are left")
    try:
        table = json.loads(source.take(n).decode("utf-8"), object_pairs_hook=_no_repeats)
    except Broken:
        raise
    except (ValueError, RecursionError) as e:
        raise Broken(f"the table is no JSON: {str(e)[:100]}") from None
    if not isinstance(table, dict):
        raise Broken("the table is no JSON object")
    notes = table.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise Broken("__metadata__ holds something else than texts")
    return {name: _entry(name, given) for name, given in table.items()}


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        raise Broken("a name stands twice in the table")
    return out


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and n >= 0 for n in numbers)


def _entry(name: str, given: Any) -> _Entry:
    if not isinstance(given, dict) or set(given) != {"dtype", "shape", "data_offsets"}:
        raise Broken(f"{name[:80]!r} has no dtype, shape and data_offsets, or more than these")
    code, shape, place = given["dtype"], given["shape"], given["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise Broken(f"{name[:80]!r} has elements of type {code!r:.40}, which Tensors do not have")
    if not _whole(shape) or not _whole(place) or len(place) != 2 or place[0] > place[1]:
        raise Broken(f"{name[:80]!r} has a shape or a place that is none")
    d = _DTYPES[code]
    if len(shape) > 64 or math.prod(shape) * d.itemsize != place[1] - place[0]:
        raise Broken(f"{name[:80]!r} is {code} of shape {shape[:9]} with {place[1] - place[0]} bytes")
    return d, tuple(shape), *place
