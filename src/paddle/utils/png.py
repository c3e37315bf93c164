"""Writes PNG files with nothing but zlib."""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np


def encode(pixels: np.ndarray) -> bytes:
    """The PNG file of an image.

    Args:
        pixels (array): uint8 [H, W, 3] (RGB) or [H, W] (gray).

    Returns:
        bytes: the file.

    Source: W3C, Portable Network Graphics (PNG) Specification, third edition, sections 5 and 9.
    """
    assert pixels.dtype == np.uint8 and pixels.ndim in (2, 3), (pixels.dtype, pixels.shape)
    height, width = pixels.shape[:2]
    color = 2 if pixels.ndim == 3 else 0
    rows = pixels.reshape(height, -1)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = 2  # filter "up": each byte less the one above it
    filtered[:, 1:] = rows - above
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(path: str | os.PathLike[str], pixels: np.ndarray) -> None:
    """Writes an image to a file; arguments as in `encode`."""
    with open(path, "wb") as file:
        file.write(encode(pixels))
