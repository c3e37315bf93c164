"""How a batch gets from a worker to the loop: large arrays through shared memory, the rest as a pickle."""

from __future__ import annotations

import math
import pickle
from typing import Any, NamedTuple

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from .memory import LEAST, Memory
from .shared import Places, SharedFile


class Stored(NamedTuple):
    """An array in the shared file.

    Attributes:
        start (int): byte of the file where its elements begin, in C order.
    """

    start: int
    dtype: np.dtype
    shape: tuple[int, ...]


class Parcel(NamedTuple):
    """A batch on its way.

    Attributes:
        pickled: its structure, with `Stored` in the place of large arrays; where that is large too, its own place.
        starts: of the parts of the shared file that it takes up until it was opened.
    """

    pickled: bytes | Stored
    starts: tuple[int, ...]


class Sender:
    """The worker's end.

    Args:
        file (SharedFile, optional): Without, all goes into the pickle.
    """

    def __init__(self, file: SharedFile | None):
        self.file, self.places = file, Places()
        self.taken: list[int] = []  # for the batch that is being made
        self.made: dict[int, Stored] = {}  # arrays that `empty` gave, by address

    def give_back(self, starts: list[int]) -> None:
        """The loop has copied what was there."""
        for start in starts:
            self.places.give_back(start)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array for the batch that is being made. It lies where it need not be copied from, if it is large."""
        stored = self._place(dtype, shape)
        if stored is None:
            return np.empty(shape, dtype)
        a = self.file.part(stored.start, dtype, shape)  # type: ignore[union-attr]
        self.made[a.ctypes.data] = stored
        return a

    def pack(self, batch: Any) -> Parcel:
        """A batch, ready to be pickled.

        Raises:
            TypeError: it holds something that cannot be pickled.
        """
        content = self._stored(batch)
        try:
            pickled: Any = pickle.dumps(content, 5)
        except Exception as e:
            raise errors.invalid_type(
                "DataLoader: a batch cannot be sent from its worker to the loop.",
                expected="arrays, Tensors, numbers, strings and what else can be pickled, in lists, tuples and dicts",
                received=f"{type(e).__name__}: {e}",
                hint="a collate_fn that gives something else, or num_workers=0.",
                at="",
            ) from e
        if len(pickled) >= LEAST:
            whole = np.frombuffer(pickled, np.uint8)
            stored = self._copy(whole)
            pickled = pickled if stored is None else stored
        starts, self.taken = tuple(self.taken), []
        self.made.clear()
        return Parcel(pickled, starts)

    def drop(self) -> None:
        """The batch that was being made will not be sent."""
        self.give_back(self.taken)
        self.taken = []
        self.made.clear()

    def _stored(self, data: Any) -> Any:
        if isinstance(data, Tensor):
            data = data.array()
        if isinstance(data, np.ndarray):
            known = self.made.get(data.ctypes.data)
            if known is not None and (known.shape, known.dtype) == (data.shape, data.dtype) and data.flags.c_contiguous:
                return known
            return self._copy(data) or data
        if isinstance(data, (list, tuple)):
            return [self._stored(d) for d in data]
        return {k: self._stored(d) for k, d in data.items()} if isinstance(data, dict) else data

    def _copy(self, a: np.ndarray) -> Stored | None:
        stored = self._place(a.dtype if a.dtype.isnative else a.dtype.newbyteorder("="), a.shape)
        if stored is not None:
            self.file.part(stored.start, stored.dtype, a.shape)[...] = a  # type: ignore[union-attr]
        return stored

    def _place(self, dtype: np.dtype, shape: tuple[int, ...]) -> Stored | None:
        """Room for an array; None if it is small, holds Python objects, or memory is short."""
        size = dtype.itemsize * math.prod(shape)
        if self.file is None or size < LEAST or dtype.hasobject:
            return None
        before = self.places.size
        start = self.places.take(size)
        if self.places.size > before:
            try:
                self.file.grow(self.places.size)
            except OSError:
                self.places.give_back(start)
                self.places.shrink(before)
                return None
        self.taken.append(start)
        return Stored(start, dtype, shape)


class Receiver:
    """The loop's end.

    Args:
        file (SharedFile, optional): That of the sender.
    """

    def __init__(self, file: SharedFile | None):
        self.file = file

    def open(self, parcel: Parcel, memory: Memory) -> Any:
        """The batch, with arrays in memory of this process."""
        pickled = parcel.pickled
        if isinstance(pickled, Stored):
            pickled = self._part(pickled).data  # type: ignore[assignment]
        return self._loaded(pickle.loads(pickled), memory)  # type: ignore[arg-type]

    def _loaded(self, data: Any, memory: Memory) -> Any:
        if isinstance(data, Stored):
            return memory.copy(self._part(data))
        if isinstance(data, list):
            return [self._loaded(d, memory) for d in data]
        return {k: self._loaded(d, memory) for k, d in data.items()} if isinstance(data, dict) else data

    def _part(self, stored: Stored) -> np.ndarray:
        return self.file.part(stored.start, stored.dtype, stored.shape)  # type: ignore[union-attr]
