"""Files that are either what they were or complete, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Any

__all__: list[str] = []


def write_atomically(path: str, write: Callable[[Any], None]) -> None:
    """The file holds either what it held before or all of what `write` wrote.

    Args:
        path (str): where to; folders are made. A link stays a link. A device or a pipe is written to as it is.
        write (callable): is given a stream of bytes.

    Raises:
        OSError: the file cannot be written; it is as it was before.
    """
    target = os.path.realpath(path) if os.path.islink(path) else path
    try:
        mode: int | None = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "There is a folder of this name", path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as f:
            write(f)
        return
    if mode is not None and not os.access(target, os.W_OK):  # a rename would not ask
        raise PermissionError(errno.EACCES, "The file is write-protected", path)
    folder, name = os.path.split(target)
    folder = folder or "."
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    try:
        os.makedirs(folder, exist_ok=True)
        _write_and_move(temporary, target, mode, write)
    except OSError as e:
        if e.errno is None or e.filename not in (None, temporary):
            raise
        raise OSError(e.errno, e.strerror, path) from None  # the name that the user knows
    _sync_folder(folder)


def _write_and_move(temporary: str, target: str, mode: int | None, write: Callable[[Any], None]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as f:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(f.fileno(), stat.S_IMODE(mode))
            write(f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass  # the replacement has happened
        raise


def _sync_folder(folder: str) -> None:
    if hasattr(os, "O_DIRECTORY"):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        except OSError:
            pass  # some file systems cannot; the file itself is safe
        finally:
            os.close(directory)
