"""Memory for the arrays of batches, used again: to the system, that of a new large array is more work than a copy."""

from __future__ import annotations

import math
import weakref
from collections import deque

import numpy as np

LEAST = 1 << 15  # bytes from which on it pays to use memory again, and to send arrays through shared memory


class Memory:
    """Gives out arrays, and takes their memory back when nobody holds them or a view of them any more."""

    def __init__(self) -> None:
        self._back: deque[np.ndarray] = deque()  # what came back, at any time and from any thread
        self._free: list[np.ndarray] = []
        self._keep = 2  # pieces of memory: those of two batches
        self._given = 0  # for this batch

    def next_batch(self) -> None:
        """The arrays that follow are for another batch."""
        self._keep, self._given = max(2, 2 * self._given), 0

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array with whatever is in memory."""
        size = dtype.itemsize * math.prod(shape)
        if size < LEAST or dtype.hasobject:
            return np.empty(shape, dtype)
        self._given += 1
        piece = self._piece(size)
        # An array over a memoryview is what all views of it refer to: it goes when the last of them does.
        whole = np.frombuffer(memoryview(piece), np.uint8, size)
        weakref.finalize(whole, self._back.append, piece).atexit = False
        return whole.view(dtype).reshape(shape)

    def copy(self, a: np.ndarray) -> np.ndarray:
        """A copy of a, in C order."""
        out = self.empty(a.shape, a.dtype)
        out[...] = a
        return out

    def _piece(self, size: int) -> np.ndarray:
        while self._back:
            self._free.append(self._back.popleft())
        del self._free[: -self._keep]
        fitting = [i for i, piece in enumerate(self._free) if size <= piece.nbytes <= 2 * size]
        if fitting:
            return self._free.pop(min(fitting, key=lambda i: self._free[i].nbytes))
        step = 1 << max(size.bit_length() - 4, 0)  # sizes that differ a little share memory
        return np.empty(-(-size // step) * step, np.uint8)
