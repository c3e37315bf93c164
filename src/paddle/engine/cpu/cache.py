"""Compiled objects by their text."""

from __future__ import annotations

from . import jit


def compiled(text: str) -> bytes:
    """The object for a module of LLVM text."""
    return jit.compile_object(text)
