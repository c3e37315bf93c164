"""Arrays that begin with a line of the cache, as far as they are large enough for that to matter.

numpy gives memory as the C library does, 16 bytes after a page where it is large: there every vector of 64 bytes lies
on two lines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LINE = 64
LEAST_BYTES = 1 << 14  # below, an array costs as much to make as is won


class Memory(np.ndarray):
    """The bytes that such an array lies in, known to it alone: `a.base`. Views of it have the array itself as base."""

    __slots__ = ()


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array whose elements have any values."""
    dtype = np.dtype(dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < LEAST_BYTES:
        return np.empty(shape, dtype)
    memory = Memory(nbytes + LINE, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.__array_interface__["data"][0] % LINE)


def copied(a: Any, dtype: Any = None) -> np.ndarray:
    """A C-contiguous array of one's own."""
    a = np.asarray(a)
    if a.nbytes < LEAST_BYTES:
        return np.array(a, dtype=dtype, order="C")
    made = empty(a.shape, a.dtype if dtype is None else dtype)
    np.copyto(made, a, casting="unsafe")
    return made


def root_of(a: np.ndarray) -> np.ndarray:
    """The array that a is a view of."""
    while isinstance(a.base, np.ndarray) and type(a.base) is not Memory:
        a = a.base
    return a
