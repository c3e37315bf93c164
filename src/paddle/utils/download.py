"""Files from the web, kept in a folder: weights, data sets. What is there already is not fetched again."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tarfile
import tempfile
import time
import zipfile
from typing import Any

from ..engine import errors

__all__ = ["get_weights_path_from_url"]

logger = logging.getLogger(__name__)

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")
DOWNLOAD_RETRY_LIMIT = 3
_WAIT_S = 1.0  # between two tries
_STALLED_S = 60.0  # without a byte


def is_url(path: str) -> bool:
    """Whether a path is an address of the web.

    Args:
        path (str): starts with http:// or https:// if it is.

    Returns:
        bool: whether it is.

    Examples:
        >>> paddle.utils.download.is_url("https://example.org/a.pdparams")
        True
    """
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The local path of weights, which are fetched unless `~/.cache/paddle/hapi/weights` has them.

    Args:
        url (str): where they are.
        md5sum (str, optional): of the file, in hexadecimal; another file is fetched anew. Default: None, any.

    Returns:
        str: the path.

    Raises:
        AssertionError: not a web address. RuntimeError: it cannot be fetched.
    """
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The local path of a file, fetched unless the folder has it. Several processes may ask at once.

    Args:
        url (str): where the file is.
        root_dir (str): the folder; made if it is not there.
        md5sum (str, optional): of the file, in hexadecimal; another file is fetched anew. Default: None, any.
        check_exist (bool): False fetches it in any case. Default: True.
        decompress (bool): unpack tar and zip archives in the folder. Default: True.
        method (str): "get".

    Returns:
        str: the path of the file; of an archive, that of its only file or folder, or of a folder with its name.

    Raises:
        AssertionError: not a web address, or another method. ValueError: an archive with paths that lead out of the
            folder. RuntimeError: the file cannot be fetched.
    """
    assert is_url(url), errors.message(
        "InvalidArgument", "download: not a web address.", expected="http://... or https://...", received=url
    )
    assert method == "get", errors.message(
        "InvalidArgument", "download: there is no such method.", expected="'get'", received=repr(method)
    )
    path = os.path.join(root_dir, url.split("?")[0].rstrip("/").rpartition("/")[2])
    if not (check_exist and os.path.exists(path) and has_md5(path, md5sum)):
        fetch(url, path, md5sum)
    if decompress and (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)):
        return _decompress(path)
    return path


def fetch(url: str, path: str, md5sum: str | None) -> None:
    """Fetches a file; it appears whole, or not at all."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    failure = ""
    for attempt in range(DOWNLOAD_RETRY_LIMIT):
        if attempt:
            time.sleep(_WAIT_S)
        logger.info("downloading %s", url)
        number, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path) or ".")
        try:
            with os.fdopen(number, "wb") as file:
                copy(url, file)
            if has_md5(temporary, md5sum):
                os.chmod(temporary, 0o644)
                os.replace(temporary, path)
                return
            failure = f"the file has another MD5 sum than {md5sum}"
        except (OSError, ValueError) as e:  # urllib's errors are OSErrors; ValueError: an address that is none
            failure = str(e) or type(e).__name__
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    raise errors.unavailable(
        f"download: {url} could not be fetched in {DOWNLOAD_RETRY_LIMIT} tries.",
        received=failure,
        hint=f"fetch it by other means and put it at {path}; it is taken from there.",
    )


def copy(url: str, file: Any) -> None:
    """Writes what an address gives; a connection that ends early is an error."""
    import urllib.request  # 30 ms that only a download is worth

    with urllib.request.urlopen(url, timeout=_STALLED_S) as answer:
        shutil.copyfileobj(answer, file, 1 << 20)
        wanted = answer.headers.get("Content-Length")
    if wanted is not None and file.tell() != int(wanted):
        raise OSError(f"the connection ended after {file.tell():,} of {int(wanted):,} bytes")


def has_md5(path: str, md5sum: str | None) -> bool:
    """Whether a file has an MD5 sum; any has None."""
    if md5sum is None:
        return True
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == md5sum


# ---- archives ---------------------------------------------------------------------------------
def _decompress(fname: str) -> str:
    """Unpacks an archive beside itself, unless that was done before. Returns what came out (see get_path_from_url)."""
    opened: Any = tarfile.open(fname) if tarfile.is_tarfile(fname) else zipfile.ZipFile(fname)  # noqa: SIM115
    with opened as archive:
        is_tar = isinstance(archive, tarfile.TarFile)
        names = [name.replace("\\", "/") for name in (archive.getnames() if is_tar else archive.namelist())]
        check_inside(fname, names)
        folder = os.path.dirname(fname) or "."
        tops = list(dict.fromkeys(name.removeprefix("./").split("/")[0] for name in names if name.strip("./")))
        target = os.path.join(folder, tops[0] if len(tops) == 1 else os.path.splitext(os.path.basename(fname))[0])
        if os.path.exists(target):
            return target
        logger.info("unpacking %s", fname)
        with tempfile.TemporaryDirectory(prefix="unpack.", dir=folder) as scratch:
            inner = os.path.join(scratch, "files")
            os.mkdir(inner)
            unpack_tar(archive, inner) if is_tar else archive.extractall(inner)
            made = os.path.join(inner, tops[0]) if len(tops) == 1 else inner
            try:
                os.rename(made, target)
            except OSError:
                if not os.path.exists(target):  # else another process was first
                    raise
    return target


def check_inside(fname: str, names: list[str]) -> None:
    """Refuses an archive whose files would land elsewhere."""
    for name in names:
        if name.startswith("/") or ".." in name.split("/") or os.path.splitdrive(name)[0]:
            raise errors.invalid_argument(
                "download: an archive holds a path that leads out of its folder.",
                expected="relative paths without '..'",
                received=f"{name!r} in {fname}",
            )


def unpack_tar(archive: tarfile.TarFile, folder: str) -> None:
    """Files and folders of a tar archive; links and devices are left out, with a warning."""
    members = [m for m in archive.getmembers() if m.isfile() or m.isdir()]
    left = [m.name for m in archive.getmembers() if not (m.isfile() or m.isdir())]
    if left:
        logger.warning("%s: left out what is neither file nor folder: %s", archive.name, ", ".join(left[:5]))
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, members, filter="data")
    else:
        archive.extractall(folder, members)
