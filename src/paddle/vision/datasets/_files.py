"""Where the files of datasets come from, and how archives are read."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tarfile
from pathlib import Path
from typing import IO, Any

from ...engine import errors
from ...io.dataloader.checks import require
from ..image import get_image_backend

DATA_HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paddle" / "dataset"
_WAIT = 20  # seconds without an answer, after which a download is given up
_BLOCK = 1 << 20  # bytes


class MissingFile(FileNotFoundError, RuntimeError):
    """A file is not here and could not be fetched. Upstream raises RuntimeError for the second."""


def check_mode(dataset: str, mode: str, modes: tuple[str, ...]) -> str:
    """The mode in lower case, or AssertionError."""
    known = isinstance(mode, str) and mode.lower() in modes
    require(known, f"{dataset}: no such mode.", " or ".join(f"'{m}'" for m in modes), repr(mode))
    return mode.lower()


def check_backend(dataset: str, backend: str | None) -> str:
    """The backend that images of a dataset are given in, or ValueError."""
    backend = get_image_backend() if backend is None else backend
    if backend not in ("pil", "cv2"):
        raise errors.invalid_argument(f"{dataset}: no such backend.", expected="'pil' or 'cv2'", received=repr(backend))
    return backend


def find(dataset: str, path: str | None, url: str, md5: str, folder: str, download: bool) -> str:
    """The path of a file of a dataset: the given one, or that of the cache, where it is fetched to if need be.

    Args:
        dataset (str): For messages.
        path (str, optional): Where the user says it is.
        url (str), md5 (str): Where it is published, and its sum.
        folder (str): Of the cache.
        download (bool): Whether the cache and the network may be looked at.

    Raises:
        AssertionError: no path, and download is False. FileNotFoundError: the file is not here, nor to be had.
    """
    if path:
        if not os.path.isfile(path):
            raise MissingFile(errors.message("NotFound", f"{dataset}: there is no {path}."))
        return path
    require(download, f"{dataset}: no path is given and download is False.", "a path", f"the file of {url}")
    target = DATA_HOME / folder / url.rsplit("/", 1)[1]
    if not target.is_file():
        _fetch(dataset, url, md5, target)
    return str(target)


def _fetch(dataset: str, url: str, md5: str, target: Path) -> None:
    import urllib.error
    import urllib.request

    def failed(why: str) -> Exception:
        return MissingFile(
            errors.message(
                "NotFound",
                f"{dataset}: there is no {target}, and it could not be downloaded.",
                received=why,
                hint=f"fetch {url} elsewhere and put it into {target.parent}, or pass its path.",
            )
        )

    if not _reachable(url):
        raise failed("the host is not to be found: there seems to be no network")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"{dataset}: downloading {url} to {target.parent}", file=sys.stderr)
        with urllib.request.urlopen(url, timeout=_WAIT) as source, open(part, "wb") as sink:
            found = _copy(source, sink)
        if found != md5:
            raise failed(f"the md5 sum is {found}, not {md5}")
        os.replace(part, target)
    except (OSError, urllib.error.URLError) as e:
        if isinstance(e, MissingFile):
            raise
        raise failed(f"{type(e).__name__}: {e}") from None
    finally:
        part.unlink(missing_ok=True)


def _reachable(url: str) -> bool:
    """Whether the host of url has an address, or a proxy is asked for it."""
    import socket
    import urllib.parse
    import urllib.request

    parts = urllib.parse.urlsplit(url)
    if not parts.hostname or parts.scheme in urllib.request.getproxies():
        return True
    try:
        socket.getaddrinfo(parts.hostname, parts.port or parts.scheme)
    except OSError:
        return False
    return True


def _copy(source: Any, sink: IO[bytes]) -> str:
    """Copies a stream; gives its md5 sum."""
    digest = hashlib.md5(usedforsecurity=False)
    while block := source.read(_BLOCK):
        digest.update(block)
        sink.write(block)
    return digest.hexdigest()


def open_tar(dataset: str, path: str) -> tarfile.TarFile:
    try:
        return tarfile.open(path)
    except (tarfile.TarError, EOFError) as e:
        raise errors.invalid_argument(f"{dataset}: {path} is no tar archive, or is damaged: {e}.") from None


class TarFiles:
    """The files in a tar archive, by name; for any number of threads and processes at a time.

    An archive that is compressed cannot be read at a place of one's choice, so that its contents are kept in memory.
    """

    def __init__(self, dataset: str, path: str):
        self.path = path
        self._places: dict[str, tuple[int, int]] = {}
        self._contents: dict[str, bytes] = {}
        with open_tar(dataset, path) as tar:
            plain = isinstance(tar.fileobj, io.BufferedReader)
            for member in tar:
                if not member.isfile():
                    continue
                if plain and not member.issparse():
                    self._places[member.name] = member.offset_data, member.size
                else:
                    self._contents[member.name] = tar.extractfile(member).read()  # type: ignore[union-attr]

    def __contains__(self, name: str) -> bool:
        return name in self._places or name in self._contents

    def read(self, name: str) -> bytes:
        if name in self._contents:
            return self._contents[name]
        if name not in self._places:
            raise errors.not_found(f"there is no {name} in {self.path}.")
        place, size = self._places[name]
        with open(self.path, "rb") as file:
            file.seek(place)
            return file.read(size)
