import errno
import os
import subprocess
import sys

import pytest

from paddle.engine import flags
from paddle.engine.cpu import cache
from paddle.engine.cpu.cache import ObjectCache

LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())
    yield
    flags.set_("FLAGS_cpu_features", "")


def files(store):
    return sorted(os.path.join(store.folder, name) for name in os.listdir(store.folder))


def test_what_is_put_is_got_also_by_another_process(tmp_path):
    store = ObjectCache(str(tmp_path), LIMIT)
    assert store.get("k") is None
    store.put("k", b"machine code")
    store.put("empty", b"")
    assert store.get("k") == b"machine code"
    again = ObjectCache(str(tmp_path), LIMIT)
    assert again.get("k") == b"machine code"
    assert again.get("empty") == b""
    assert again.get("other") is None
    store.put("k", b"newer")
    assert again.get("k") == b"newer"


def test_keys_are_of_a_target_and_of_a_version(tmp_path, monkeypatch):
    store = ObjectCache(str(tmp_path), LIMIT)
    store.put("k", b"host")
    store.put("everywhere", b"text", any_target=True)
    flags.set_("FLAGS_cpu_features", "generic")
    assert store.get("k") is None
    assert store.get("everywhere", any_target=True) == b"text"
    flags.set_("FLAGS_cpu_features", "")
    monkeypatch.setattr(cache.jit, "versions", lambda: "llvmlite 99")
    assert store.get("k") is None
    assert store.get("everywhere", any_target=True) is None


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_the_user_reaches_the_files(tmp_path):
    before = os.umask(0)
    try:
        store = ObjectCache(str(tmp_path / "a"), LIMIT)
        store.put("k", b"x")
        assert os.stat(store.folder).st_mode & 0o777 == 0o700
        assert [os.stat(f).st_mode & 0o777 for f in files(store)] == [0o600]
        os.makedirs(tmp_path / "b" / "objects", 0o777)
        store = ObjectCache(str(tmp_path / "b"), LIMIT)
        store.put("k", b"x")
        assert os.stat(store.folder).st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    ObjectCache(str(tmp_path), LIMIT).put("k", b"x")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    store = ObjectCache(str(tmp_path), LIMIT)
    with pytest.warns(RuntimeWarning, match="(?s)the folder cannot be used.*belongs to another user") as caught:
        assert store.get("k") is None
        store.put("k", b"y")
        assert store.get("k") is None
    assert len(caught) == 1


DAMAGE = {
    "cut": lambda raw: raw[:-1],
    "cut in the header": lambda raw: raw[:10],
    "emptied": lambda raw: b"",
    "longer": lambda raw: raw + b"\0",
    "a bit of the data": lambda raw: raw[:-3] + bytes([raw[-3] ^ 1]) + raw[-2:],
    "a bit of the sum": lambda raw: raw[:12] + bytes([raw[12] ^ 1]) + raw[13:],
    "something else": lambda raw: b"\x7fELF" + raw[4:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_entry_is_removed_and_named_once(tmp_path, damage):
    store = ObjectCache(str(tmp_path), LIMIT)
    store.put("k", b"machine code")
    store.put("l", b"machine code")
    for path in files(store):
        with open(path, "rb") as file:
            raw = file.read()
        with open(path, "wb") as file:
            file.write(damage(raw))
    with pytest.warns(RuntimeWarning, match="an entry is damaged") as caught:
        assert store.get("k") is None
        assert store.get("l") is None
    assert len(caught) == 1
    assert files(store) == []
    store.put("k", b"again")
    assert store.get("k") == b"again"


def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = ObjectCache(str(tmp_path / "file"), LIMIT)
    with pytest.warns(
        RuntimeWarning, match=r"(?s)\(Unavailable\) object cache: the folder cannot be used.*hint:"
    ) as caught:
        store.put("k", b"x")
        assert store.get("k") is None
        ObjectCache(str(tmp_path / "file" / "deeper"), LIMIT).put("k", b"x")
    assert len(caught) == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_still_read(tmp_path):
    store = ObjectCache(str(tmp_path), LIMIT)
    store.put("k", b"x")
    os.chmod(store.folder, 0o500)
    try:
        with pytest.warns(RuntimeWarning, match="cannot be written"):
            store.put("l", b"y")
        assert store.get("k") == b"x"
    finally:
        os.chmod(store.folder, 0o700)


class FullDisk:
    """Stands for a file on a disk without room."""

    def __init__(self, descriptor, mode):
        os.close(descriptor)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_costs_one_warning_and_leaves_nothing(tmp_path, monkeypatch):
    store = ObjectCache(str(tmp_path), LIMIT)
    store.put("k", b"x")
    ours = files(store)
    monkeypatch.setattr(cache, "open", FullDisk, raising=False)
    with pytest.warns(
        RuntimeWarning, match="(?s)cannot be written.*No space left on device.*FLAGS_cache_bytes=0"
    ) as caught:
        store.put("l", b"y")
        store.put("m", b"z")
    assert len(caught) == 1
    monkeypatch.undo()
    assert files(store) == ours
    assert store.get("k") == b"x"


def test_the_least_recently_used_go_when_the_bound_is_passed(tmp_path):
    store = ObjectCache(str(tmp_path), 100_000)
    for i in range(9):
        store.put(f"k{i}", bytes(10_000))
        os.utime(store._path(f"k{i}", False), (i, i))
    assert store.get("k0") is not None  # used just now
    for i in range(9, 12):
        store.put(f"k{i}", bytes(10_000))
    kept = {i for i in range(12) if os.path.exists(store._path(f"k{i}", False))}
    assert sum(map(os.path.getsize, files(store))) <= 100_000
    assert kept == {0, *range(12 - len(kept) + 1, 12)}
    assert 3 < len(kept) < 11


def test_the_bound_holds_over_many_small_puts(tmp_path):
    for _ in range(40):  # each stands for a process that puts little and ends
        store = ObjectCache(str(tmp_path), 50_000)
        for _ in range(5):
            store.put(os.urandom(8).hex(), bytes(500))
            assert sum(map(os.path.getsize, files(store))) <= 50_000 * 5 / 4


def test_what_is_larger_than_the_bound_is_not_kept(tmp_path):
    store = ObjectCache(str(tmp_path), 1000)
    store.put("k", bytes(2000))
    assert store.get("k") is None


def test_a_bound_of_zero_switches_it_off(tmp_path):
    store = ObjectCache(str(tmp_path / "none"), 0)
    store.put("k", b"")
    assert store.get("k") is None
    assert not os.path.exists(tmp_path / "none")


def test_leftovers_of_a_crash_are_swept(tmp_path):
    store = ObjectCache(str(tmp_path), LIMIT)
    store.put("k", b"x")
    old, young = store._path("a", False) + ".1.aa.tmp", store._path("b", False) + ".1.bb.tmp"
    for path in (old, young):
        with open(path, "wb"):
            pass
    os.utime(old, (1, 1))
    store.shrink()
    assert not os.path.exists(old)
    assert os.path.exists(young)


WRITER = """
import sys
from paddle.engine.cpu.cache import ObjectCache
store = ObjectCache(sys.argv[1], 60_000)
data = lambda i: bytes([i]) * (3000 + i)
for turn in range(30):
    for i in range(12):
        assert store.get(f"k{i}") in (None, data(i)), (turn, i)
        store.put(f"k{i}", data(i))
"""


def test_processes_write_and_evict_the_same_keys_at_once(tmp_path):
    run = [sys.executable, "-W", "error", "-c", WRITER, str(tmp_path)]
    processes = [subprocess.Popen(run, stderr=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        _, text = process.communicate(timeout=60)
        assert process.returncode == 0, text.decode()
    store = ObjectCache(str(tmp_path), LIMIT)
    assert all(store.get(f"k{i}") in (None, bytes([i]) * (3000 + i)) for i in range(12))
    assert all(name.endswith(".o") for name in files(store))


def test_a_text_is_compiled_once(tmp_path, monkeypatch):
    flags.set_("FLAGS_cache_dir", str(tmp_path))
    try:
        first = cache.compiled("define void @f() { ret void }")
        monkeypatch.setattr(cache.jit, "compile_object", None)
        assert cache.compiled("define void @f() { ret void }") == first
    finally:
        flags.set_("FLAGS_cache_dir", "")


def test_the_folder_is_the_users(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    monkeypatch.setattr(sys, "platform", "linux")
    if os.name == "posix":
        assert cache.default_folder() == "/some/cache/openpaddle"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert cache.default_folder() == os.path.expanduser("~/.cache/openpaddle")
        monkeypatch.setattr(sys, "platform", "darwin")
        assert cache.default_folder() == os.path.expanduser("~/Library/Caches/openpaddle")
    flags.set_("FLAGS_cache_dir", "~/mine")
    try:
        assert cache.default_folder() == os.path.expanduser("~/mine")
    finally:
        flags.set_("FLAGS_cache_dir", "")
