"""Compiled objects on disk, so that a second process starts without compiling.

A file per object, named by the hash of all that the object depends on, with a checksum of its bytes. Files appear by an
atomic rename and vanish when the folder grows past its bound, so any number of processes may share a folder without
locks. Whatever goes wrong with the folder costs compile time and one warning, never the run.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
import warnings

from .. import flags
from ..errors import message
from . import jit

__all__ = ["ObjectCache", "compiled", "default_folder", "object_cache"]

_FORMAT = "openpaddle object 1"
_MAGIC = b"OPOBJ1\n\0"
_DIGEST_BYTES = 16
_HEADER_BYTES = len(_MAGIC) + _DIGEST_BYTES
_SUFFIX, _TEMPORARY = ".o", ".tmp"
# Past the bound the folder shrinks to this share of it; a scan happens once per that share of written bytes.
_KEEP, _SCAN = 3 / 4, 1 / 64
_STALE_S = 3600.0

_warned: set[str] = set()


def _warn_once(subject: str, fact: str, **parts: str) -> None:
    if subject not in _warned:
        _warned.add(subject)
        warnings.warn(message("Unavailable", fact, **parts), RuntimeWarning, stacklevel=3)


class ObjectCache:
    """Objects in one folder.

    Args:
        folder (str): made if it is not there; a subfolder of it, for this user alone, holds the files.
        limit_bytes (int): bound of all files together; 0 switches the cache off.
    """

    def __init__(self, folder: str, limit_bytes: int) -> None:
        self.folder = os.path.join(folder, "objects")
        self.limit_bytes = limit_bytes
        self._usable: bool | None = None if limit_bytes > 0 else False
        self._writable = True
        self._written_bytes = 0

    def get(self, key: str, any_target: bool = False) -> bytes | None:
        """The bytes stored under `key` by this version for this target, or None.

        Args:
            key (str): what identifies the object, of any length.
            any_target (bool): the bytes do not depend on the target. Default: False.
        """
        if not self._open():
            return None
        path = self._path(key, any_target)
        try:
            with open(path, "rb") as file:
                raw = file.read()
            os.utime(path)  # the least recently used go first
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn_once("read", "object cache: an entry is not readable; it is compiled anew.", received=str(error))
            return None
        data = raw[_HEADER_BYTES:]
        if raw[:_HEADER_BYTES] == _header(data):
            return data
        _remove(path)
        _warn_once("corrupt", "object cache: an entry is damaged; it is removed and compiled anew.", received=path)
        return None

    def put(self, key: str, data: bytes, any_target: bool = False) -> None:
        """Stores `data` under `key`. On a full disk or a folder that cannot be written, warns once and goes on."""
        nbytes = _HEADER_BYTES + len(data)
        if nbytes > self.limit_bytes or not self._writable or not self._open():
            return
        path = self._path(key, any_target)
        temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}{_TEMPORARY}"
        try:
            flags_ = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with open(os.open(temporary, flags_, 0o600), "wb") as file:
                file.write(_header(data) + data)
            os.replace(temporary, path)
        except OSError as error:
            _remove(temporary)
            if os.path.exists(path):
                return  # where files in use cannot be replaced (Windows): another process was first
            self._writable = False
            _warn_once(
                "write",
                "object cache: the folder cannot be written; this run goes on without it.",
                received=f"{self.folder}: {error.strerror}",
                hint="FLAGS_cache_dir names another folder, FLAGS_cache_bytes=0 switches the cache off.",
            )
            return
        self._written_bytes += nbytes
        # The name is as good as random: over all processes, one put in so many scans, with no state to share.
        chance = nbytes / (self.limit_bytes * _SCAN)
        if self._written_bytes > self.limit_bytes * _SCAN or int(os.path.basename(path)[:8], 16) < chance * 2**32:
            self._written_bytes = 0
            self.shrink()

    def shrink(self) -> None:
        """Removes the least recently used files if all together are past the bound, and what crashes left."""
        entries = []
        try:
            with os.scandir(self.folder) as found:
                for entry in found:
                    try:
                        status = entry.stat()
                    except OSError:  # another process removed it
                        continue
                    if entry.name.endswith(_SUFFIX):
                        entries.append((status.st_mtime_ns, status.st_size, entry.path))
                    elif entry.name.endswith(_TEMPORARY) and status.st_mtime < time.time() - _STALE_S:
                        _remove(entry.path)
        except OSError:
            return
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        for _, size, path in sorted(entries):
            _remove(path)
            total -= size
            if total <= self.limit_bytes * _KEEP:
                break

    def _path(self, key: str, any_target: bool) -> str:
        words = [_FORMAT, jit.versions(), *(() if any_target else jit.target()), key]
        name = hashlib.blake2b("\0".join(words).encode(), digest_size=20).hexdigest()
        return os.path.join(self.folder, name + _SUFFIX)

    def _open(self) -> bool:
        """Makes and checks the folder at the first use. What lies in it is run as code: nobody else may write there."""
        if self._usable is None:
            try:
                os.makedirs(os.path.dirname(self.folder), exist_ok=True)
                try:
                    os.mkdir(self.folder, 0o700)
                except FileExistsError:
                    pass
                status = os.stat(self.folder)
                problem = _problem(status)
                if not problem and os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
                    os.chmod(self.folder, 0o700)
            except OSError as error:
                problem = error.strerror or str(error)
            self._usable = not problem
            if problem:
                _warn_once(
                    "open",
                    "object cache: the folder cannot be used; this run goes on without it.",
                    received=f"{self.folder}: {problem}",
                    hint="FLAGS_cache_dir names another folder, FLAGS_cache_bytes=0 switches the cache off.",
                )
        return self._usable


def _problem(status: os.stat_result) -> str:
    if not stat.S_ISDIR(status.st_mode):
        return "not a folder"
    if os.name == "posix" and status.st_uid != os.geteuid():
        return "it belongs to another user"
    return ""


def _header(data: bytes) -> bytes:
    return _MAGIC + hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # gone already, or the folder is read-only; either way nothing depends on it
        return


def default_folder() -> str:
    """The folder by FLAGS_cache_dir, or the user's cache folder as the system has it."""
    named = flags.get("FLAGS_cache_dir")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # the standard says to ignore a relative one
            base = os.path.expanduser("~/.cache")
    return os.path.join(base, "openpaddle")


_cache: ObjectCache | None = None


def object_cache() -> ObjectCache:
    """The process's cache, by FLAGS_cache_dir and FLAGS_cache_bytes."""
    global _cache
    if _cache is None:
        _cache = ObjectCache(default_folder(), flags.get("FLAGS_cache_bytes"))
    return _cache


def _flags_changed(_: object) -> None:
    global _cache
    _cache = None


flags.on_change("FLAGS_cache_dir", _flags_changed)
flags.on_change("FLAGS_cache_bytes", _flags_changed)


def compiled(text: str, optimize: bool = True) -> bytes:
    """The object for a module of LLVM text, from the cache or compiled here and now.

    Args:
        text (str): as for `jit.compile_object`.
        optimize (bool): as for `jit.compile_object`. Default: True.

    Returns:
        bytes: the object.
    """
    key = f"text {optimize} {text}"
    cache = object_cache()
    data = cache.get(key)
    if data is None:
        data = jit.compile_object(text, optimize)
        cache.put(key, data)
    return data
