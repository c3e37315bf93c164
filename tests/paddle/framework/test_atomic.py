"""Files are what they were, or complete."""

import errno
import os
import stat
import subprocess
import sys

import pytest

import paddle
from paddle.framework import atomic


def put(text):
    return lambda f: f.write(text)


def test_what_was_there_stays_until_all_is_written(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def write(f):
        f.write(b"new" * 100_000)
        assert path.read_bytes() == b"old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic.write_atomically(str(path), write)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]
    atomic.write_atomically(str(path), put(b"new"))
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["a"]


def test_a_process_that_dies_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    code = (
        "import os, sys; from paddle.framework.atomic import write_atomically\n"
        "write_atomically(sys.argv[1], lambda f: (f.write(b'x' * 10**6), f.flush(), os._exit(9)))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 9
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("when", ["write", "fsync", "replace"])
def test_a_full_disk(tmp_path, monkeypatch, when):
    path = tmp_path / "model.pdparams"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if when != "write":
        monkeypatch.setattr(os, when, full)
    with pytest.raises(OSError) as e:
        atomic.write_atomically(str(path), full if when == "write" else put(b"new"))
    assert e.value.errno == errno.ENOSPC and e.value.filename == str(path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model.pdparams"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space left"):
        paddle.save({"a": paddle.ones([100_000])}, "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    paddle.save({"a": 1}, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a", tmp_path / "link"
    target.write_bytes(b"old")
    try:
        link.symlink_to(target)
    except OSError as e:
        pytest.skip(f"no links: {e}")
    atomic.write_atomically(str(link), put(b"new"))
    assert link.is_symlink() and target.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        atomic.write_atomically(str(tmp_path / "new"), put(b""))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    kept = tmp_path / "kept"
    kept.write_bytes(b"")
    kept.chmod(0o606)
    atomic.write_atomically(str(kept), put(b"x"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o606


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="folder of this name"):
        atomic.write_atomically(str(tmp_path), put(b""))
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        atomic.write_atomically(str(tmp_path / "file" / "below"), put(b""))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="write-protected"):
        atomic.write_atomically(str(tmp_path / "file"), put(b"new"))
    assert (tmp_path / "file").read_bytes() == b"old"
    monkeypatch.setattr(os, "open", lambda *a: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no", a[0])))
    with pytest.raises(PermissionError) as e:
        atomic.write_atomically(str(tmp_path / "other"), put(b""))
    assert e.value.filename == str(tmp_path / "other")


def test_long_names(tmp_path):
    path = tmp_path / ("n" * 250)
    atomic.write_atomically(str(path), put(b"x"))
    assert path.read_bytes() == b"x"
