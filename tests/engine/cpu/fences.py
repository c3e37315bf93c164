"""Arrays beside unreadable memory: what reads or writes past them ends the process."""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from typing import Any

import numpy as np


def fenced(shape: Any, dtype: Any, at_end: bool = True) -> np.ndarray:
    """An array whose last (or first) byte touches a page that cannot be read; so it is aligned to its elements only."""
    shape, dtype, page = shape if isinstance(shape, tuple) else (shape,), np.dtype(dtype), mmap.PAGESIZE
    size = math.prod(shape) * dtype.itemsize
    inner = -(-max(size, 1) // page) * page
    memory = mmap.mmap(-1, inner + 2 * page)
    start = page + (inner - size if at_end else 0)
    array = np.frombuffer(memory, dtype, math.prod(shape), start).reshape(shape)
    if sys.platform == "linux":
        base, libc = array.__array_interface__["data"][0] - start, ctypes.CDLL(None)
        for at in (base, base + page + inner):
            assert libc.mprotect(ctypes.c_void_p(at), page, 0) == 0
    return array


def moved(a: np.ndarray, at_end: bool = True) -> np.ndarray:
    """A copy between fences."""
    out = fenced(a.shape, a.dtype, at_end)
    out[...] = a
    return out


class Numpy:
    """numpy for a module that is to make its arrays between fences, full of what is no plausible number."""

    def __init__(self, at_end: bool):
        self.at_end = at_end

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any) -> np.ndarray:
        out = fenced(shape, dtype, self.at_end)
        out.reshape(-1).view(np.uint8).fill(0xFF)
        return out
