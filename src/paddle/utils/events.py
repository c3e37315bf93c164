"""Files of events that TensorBoard shows: numbers, histograms, pictures and texts over steps.

A file is a sequence of records: the length as uint64, its checksum, the data, its checksum. The data is a protocol
buffer `Event`; those few messages are written here by hand. The checksum is CRC-32C, rotated and shifted.

Source: the record format of TFRecord files; `event.proto`, `summary.proto`, `tensor.proto` of TensorBoard.
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import time
import warnings
import weakref
import zlib
from typing import Any

import numpy as np

from ..engine import errors
from ..tensor.tensor import Tensor

__all__ = ["EventWriter"]

_count = itertools.count()


class EventWriter:
    """Writes events to a new file in a folder, to be shown with `tensorboard --logdir <folder>`.

    May be used from several threads, and as a context manager.

    Args:
        logdir (str): folder, made if need be.
        flush_secs (float): seconds after which what was added is on disk, at the next addition. Default: 10.
        filename_suffix (str): stands at the end of the name of the file. Default: "".

    Attributes:
        file_name (str): path of the file.

    Examples:
        >>> import tempfile
        >>> from paddle.utils.events import EventWriter
        >>> with EventWriter(tempfile.mkdtemp()) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1.0 / (step + 1), step)
    """

    def __init__(self, logdir: str, flush_secs: float = 10, filename_suffix: str = ""):
        self.logdir, self.flush_secs = os.fspath(logdir), flush_secs
        os.makedirs(self.logdir, exist_ok=True)
        # programs that show events look for "tfevents" in the name
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_count)}"
        self.file_name = os.path.join(self.logdir, name + filename_suffix)
        self._file = open(self.file_name, "xb")
        self._lock = threading.Lock()
        self._close = weakref.finalize(self, self._file.close)  # also when the program ends
        self._flushed_at = time.monotonic()
        self._add(None, 0, _text(3, "brain.Event:2"))
        self.flush()

    def add_scalar(self, tag: str, value: float | Tensor, step: int, walltime: float | None = None) -> None:
        """Adds a point of a curve.

        Args:
            tag (str): the curve; a part before "/" groups curves.
            value (float|Tensor): one number. It is kept as float32.
            step (int): where on the axis.
            walltime (float, optional): seconds since 1970. Default: now.

        Raises:
            ValueError: not one number; the writer is closed.
        """
        a = _array(value)
        if a.size != 1:
            raise errors.invalid_argument(
                "add_scalar: this is not one number.", expected="one number", received=f"shape {list(a.shape)}"
            )
        number = np.clip(float(a.item()), -_MOST_FLOAT32, _MOST_FLOAT32) if np.isfinite(a).all() else float(a.item())
        self._add_value(tag, _float(2, number), step, walltime)

    def add_histogram(
        self, tag: str, values: Any, step: int, walltime: float | None = None, buckets: int | Any = 30
    ) -> None:
        """Adds a distribution.

        Args:
            tag (str): its name.
            values (Tensor|array): any shape. What is not finite is left out, with a warning.
            step (int): where on the axis.
            walltime (float, optional): seconds since 1970. Default: now.
            buckets (int|sequence): how many, or their bounds. Default: 30.

        Raises:
            ValueError: no values.
        """
        a = _array(values).astype(np.float64).ravel()
        finite = a[np.isfinite(a)]
        if finite.size < a.size:
            warnings.warn(f"add_histogram: {a.size - finite.size} values of {tag} are not finite.", stacklevel=2)
        if not finite.size:
            raise errors.invalid_argument("add_histogram: there are no values.", expected="at least one")
        counts, bounds = np.histogram(finite, buckets)
        with np.errstate(over="ignore"):
            totals = (finite.min(), finite.max(), finite.size, finite.sum(), (finite * finite).sum())
        message = b"".join(_double(field, float(number)) for field, number in enumerate(totals, start=1))
        message += _packed(6, bounds[1:]) + _packed(7, counts)
        self._add_value(tag, _bytes(5, message), step, walltime)

    def add_image(self, tag: str, img: Any, step: int, walltime: float | None = None, dataformats: str = "HWC") -> None:
        """Adds a picture.

        Args:
            tag (str): its name.
            img (Tensor|array): uint8, or floating point from 0 to 1; 1, 3 or 4 channels, or none for "HW".
            step (int): where on the axis.
            walltime (float, optional): seconds since 1970. Default: now.
            dataformats (str): "HWC", "CHW" or "HW". Default: "HWC".

        Raises:
            ValueError: no picture.
        """
        a = _picture(_array(img), dataformats)
        height, width, channels = a.shape
        message = _number(1, height) + _number(2, width) + _number(3, channels) + _bytes(4, _png(a))
        self._add_value(tag, _bytes(4, message), step, walltime)

    def add_text(self, tag: str, text_string: str, step: int | None = None, walltime: float | None = None) -> None:
        """Adds a text, in Markdown.

        Args:
            tag (str): its name.
            text_string (str): the text.
            step (int, optional): where on the axis. Default: 0.
            walltime (float, optional): seconds since 1970. Default: now.
        """
        of_strings = _number(1, 7) + _bytes(2, _bytes(2, _number(1, 1)))  # a Tensor of strings, shape [1]
        value = _bytes(8, of_strings + _text(8, text_string)) + _bytes(9, _bytes(1, _text(1, "text")))
        self._add_value(tag, value, step or 0, walltime)

    def flush(self) -> None:
        """Puts all that was added on disk."""
        with self._lock:
            self._check_open()
            self._file.flush()
            self._flushed_at = time.monotonic()

    def close(self) -> None:
        """Puts all on disk and ends the file. Further calls do nothing."""
        with self._lock:
            self._close()

    def __enter__(self) -> "EventWriter":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _add_value(self, tag: str, value: bytes, step: int, walltime: float | None) -> None:
        if not isinstance(tag, str) or not tag:
            raise errors.invalid_argument("EventWriter: the tag is no name.", expected="a str", received=repr(tag))
        self._add(walltime, int(step), _bytes(5, _bytes(1, _text(1, tag) + value)))

    def _add(self, walltime: float | None, step: int, what: bytes) -> None:
        event = _double(1, time.time() if walltime is None else float(walltime)) + _number(2, step) + what
        head = struct.pack("<Q", len(event))
        record = head + _checksum(head) + event + _checksum(event)
        with self._lock:
            self._check_open()
            self._file.write(record)
            if time.monotonic() - self._flushed_at >= self.flush_secs:
                self._file.flush()
                self._flushed_at = time.monotonic()

    def _check_open(self) -> None:
        if self._file.closed:
            raise errors.invalid_argument("EventWriter: it is closed.", expected="a writer that is open")


# ---- values -----------------------------------------------------------------------------------
_MOST_FLOAT32 = float(np.finfo(np.float32).max)


def _array(value: Any) -> np.ndarray:
    if isinstance(value, Tensor):
        value = value.array()
    a = np.asarray(value)
    if a.dtype.isbuiltin != 1 and a.dtype.isnative:  # bfloat16, float8
        a = a.astype(np.float32)
    if a.dtype.kind not in "biuf":
        raise errors.invalid_argument(
            "EventWriter: these are no numbers.", expected="real numbers", received=a.dtype.name
        )
    return a


def _picture(a: np.ndarray, dataformats: str) -> np.ndarray:
    """[H, W, channels] as uint8."""
    order = dataformats.upper()
    if order not in ("HWC", "CHW", "HW") or a.ndim != len(order):
        raise errors.invalid_argument(
            "add_image: this is no picture.",
            expected="HWC, CHW or HW",
            received=f"dataformats {dataformats!r} and shape {list(a.shape)}",
        )
    a = a[:, :, None] if order == "HW" else a.transpose(1, 2, 0) if order == "CHW" else a
    if a.shape[2] not in (1, 3, 4) or 0 in a.shape:
        raise errors.invalid_argument(
            "add_image: this is no picture.", expected="1, 3 or 4 channels", received=f"{a.shape[2]} channels"
        )
    if a.dtype.kind == "f":
        a = np.rint(np.clip(np.nan_to_num(a), 0, 1) * 255)
    return a.astype(np.uint8)


def _png(a: np.ndarray) -> bytes:
    """Source: W3C, Portable Network Graphics (PNG) Specification, third edition."""
    height, width, channels = a.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = a.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows.tobytes()))
        + chunk(b"IEND", b"")
    )


# ---- protocol buffers -------------------------------------------------------------------------
def _varint(n: int) -> bytes:
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8"))


def _packed(field: int, values: np.ndarray) -> bytes:
    return _bytes(field, values.astype("<f8").tobytes())


# ---- checksums --------------------------------------------------------------------------------
def _table() -> list[int]:
    out = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)  # the polynomial of Castagnoli, its bits in reverse
        out.append(n)
    return out


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """Source: RFC 3720, appendix B.4, has the values for some inputs."""
    table, crc = _TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _checksum(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
