"""Memory that a worker and its loop share. It has no name, so nothing is left of it, whoever of both is killed.

A file that was never in a folder, or no longer is, lives as long as somebody has it open. The loop makes one per
worker before it starts the worker; the worker lets it grow to what its batches need, and uses places again that the
loop has copied from.
"""

from __future__ import annotations

import bisect
import math
import os
import tempfile
from typing import Any

import numpy as np

PAGE = 4096  # bytes; arrays begin at multiples of it


def available() -> bool:
    """Whether this system can hand an open file to a child."""
    return os.name == "posix"


class Nameless:
    """A file without a name that a child process can be given."""

    def __init__(self, descriptor: int | None = None):
        self.descriptor = _open() if descriptor is None else descriptor

    def __reduce__(self) -> Any:  # on the way to a process that is not forked
        from multiprocessing import reduction

        return _received, (type(self), reduction.DupFd(self.descriptor))

    def read(self, limit: int = 1 << 16) -> str:
        """The beginning of the file as text; at most `limit` bytes."""
        return os.pread(self.descriptor, limit, 0).decode(errors="replace")

    def close(self) -> None:
        """Lets go of the file; what is mapped of it stays."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _open() -> int:
    if hasattr(os, "memfd_create"):
        try:
            return os.memfd_create("paddle-loader")
        except OSError:
            pass  # the kernel is too old, or it is forbidden here
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _received(kind: type[Nameless], handle: Any) -> Nameless:
    return kind(handle.detach())


class SharedFile(Nameless):
    """A nameless file, seen as bytes."""

    def __init__(self, descriptor: int | None = None):
        super().__init__(descriptor)
        self.bytes = np.empty(0, np.uint8)

    def close(self) -> None:
        self.bytes = np.empty(0, np.uint8)
        super().close()

    def grow(self, size: int) -> None:
        """Makes the file `size` bytes long. Raises OSError if there is no memory for it."""
        reserve = getattr(os, "posix_fallocate", None)
        if reserve is None:
            os.ftruncate(self.descriptor, size)
        else:
            reserve(self.descriptor, 0, size)  # else a write could end the process, where memory is short

    def part(self, start: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A view of the file from byte `start` on."""
        size = dtype.itemsize * math.prod(shape)
        if start + size > len(self.bytes):
            import mmap

            length = os.fstat(self.descriptor).st_size
            self.bytes = np.frombuffer(mmap.mmap(self.descriptor, length), np.uint8)
        return self.bytes[start : start + size].view(dtype).reshape(shape)


class Places:
    """Which parts of a file are in use. The first gap that is long enough is taken, so that the file stays short.

    Attributes:
        size (int): bytes up to the end of the last part that ever was in use.
    """

    def __init__(self) -> None:
        self.size = 0
        self.gaps: list[tuple[int, int]] = []  # (start, end) in order, never two side by side
        self.ends: dict[int, int] = {}  # of what is in use, by its start

    def take(self, count: int) -> int:
        """The start of a part of at least `count` bytes."""
        count = max(PAGE, -(-count // PAGE) * PAGE)
        for i, (start, end) in enumerate(self.gaps):
            if end - start >= count:
                self.gaps[i : i + 1] = [(start + count, end)] if end - start > count else []
                break
        else:
            start = self.gaps.pop()[0] if self.gaps and self.gaps[-1][1] == self.size else self.size
            self.size = start + count
        self.ends[start] = start + count
        return start

    def give_back(self, start: int) -> None:
        """The part that begins at `start` is no longer in use."""
        end = self.ends.pop(start)
        at = bisect.bisect(self.gaps, (start, end))
        if at < len(self.gaps) and self.gaps[at][0] == end:
            end = self.gaps.pop(at)[1]
        if at and self.gaps[at - 1][1] == start:
            at -= 1
            start = self.gaps.pop(at)[0]
        self.gaps.insert(at, (start, end))

    def shrink(self, size: int) -> None:
        """Nothing beyond `size` is in use, or may be."""
        self.size = size
        while self.gaps and self.gaps[-1][1] > size:
            start, _ = self.gaps.pop()
            if start < size:
                self.gaps.append((start, size))
