"""Bytes of a file from strangers, read in order; a length that a file claims is compared with what is left of it."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

__all__: list[str] = []

_WINDOW = 1 << 16  # bytes read ahead


class Broken(ValueError):
    """A file is not what it should be. The text says in what way, without naming the file."""


class Source:
    """Reads a stream from where it stands.

    Args:
        f: a stream of bytes. One that cannot be wound is read to its end first.
    """

    def __init__(self, f: Any):
        if not (hasattr(f, "seekable") and f.seekable()):
            f = io.BytesIO(f.read())
        self.f = f
        start = f.tell()
        self.size = max(f.seek(0, os.SEEK_END) - start, 0)
        f.seek(start)
        self.beyond = self.size  # bytes that are not in the window yet
        self.window = b""
        self.at = 0

    @property
    def left(self) -> int:
        """Bytes that have not been taken."""
        return self.beyond + len(self.window) - self.at

    def _fill(self, n: int) -> None:
        """Makes the window hold at least n bytes, if there are that many."""
        kept = self.window[self.at :]
        new = self.f.read(min(max(n - len(kept), _WINDOW), self.beyond))
        self.beyond = self.beyond - len(new) if new else 0  # the file has become shorter
        self.window, self.at = kept + new, 0

    def peek(self, n: int) -> bytes:
        """The next bytes, n at most."""
        if self.at + n > len(self.window):
            self._fill(n)
        return self.window[self.at : self.at + n]

    def byte(self) -> int:
        at = self.at
        if at >= len(self.window):
            self._fill(1)
            at = 0
            if not self.window:
                raise Broken("the file ends too early")
        self.at = at + 1
        return self.window[at]

    def take(self, n: int) -> bytes:
        self._claim(n)
        if self.at + n > len(self.window):
            self._fill(n)
        found = self.window[self.at : self.at + n]
        if len(found) < n:
            raise Broken("the file ends too early")
        self.at += n
        return found

    def line(self, limit: int = 1 << 24) -> bytes:
        """Up to the next line feed, which is taken and left out."""
        n = 256
        while True:
            piece = self.peek(n)
            end = piece.find(b"\n")
            if end >= 0:
                return self.take(end + 1)[:-1]
            if len(piece) < n or n > limit:
                raise Broken("a line does not end")
            n *= 4

    def fill(self, out: np.ndarray) -> None:
        """Overwrites a C-contiguous array with the next bytes, without a copy in between."""
        self._claim(out.nbytes)
        if not out.nbytes:
            return
        view = memoryview(out.reshape(-1).view(np.uint8))
        near = min(len(self.window) - self.at, len(view))
        view[:near] = self.window[self.at : self.at + near]
        self.at += near
        while near < len(view):
            n = self.f.readinto(view[near:]) if hasattr(self.f, "readinto") else self._read_into(view[near:])
            if not n:
                raise Broken("the file ends too early")
            near += n
            self.beyond -= n

    def _read_into(self, view: memoryview) -> int:
        raw = self.f.read(min(len(view), 1 << 20))
        view[: len(raw)] = raw
        return len(raw)

    def _claim(self, n: int) -> None:
        if n > self.left:
            raise Broken(f"{n} bytes are announced where {self.left} are left")

    def close(self) -> None:
        """Leaves the stream right after the last byte that was taken."""
        self.f.seek(self.at - len(self.window), os.SEEK_CUR)
