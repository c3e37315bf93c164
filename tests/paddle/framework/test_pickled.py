"""Strangers' pickles: the same data as Python reads, no code, no more memory than the file justifies."""

import io
import pickle
import random
import struct
import tracemalloc
from collections import OrderedDict

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.framework import pickled
from paddle.framework.source import Broken, Source


def read(raw):
    return pickled.read(Source(io.BytesIO(raw)))


def random_object(rng, depth=0):
    kind = rng.randrange(13 if depth < 4 else 8)
    if kind == 0:
        return rng.choice([None, True, False, 0, -1, 255, 256, 65536, -(2**31), 2**31, 2**63, -(2**200), 2**2100])
    if kind == 1:
        return rng.choice([0.0, -1.5, 1e300, float("inf")])
    if kind == 2:
        return rng.choice(["", "a", "é\n'", "x" * 300, "\ud800", "日本" * 200])
    if kind == 3:
        return rng.choice([b"", b"ab\n", bytes(range(256)) * 2])
    if kind == 4:
        return rng.choice([1 + 2j, bytearray(b"xyz"), frozenset({1, "a"}), {3, (1, 2)}])
    if kind < 8:
        return rng.randrange(10**6)
    items = [random_object(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 8:
        return items + items[:1]  # shared
    if kind == 9:
        return tuple(items)
    pairs = [(f"k{i}", v) for i, v in enumerate(items)]
    return OrderedDict(pairs) if kind == 10 else dict(pairs)


@pytest.mark.parametrize("protocol", range(6))
def test_reads_what_python_writes(protocol):
    rng = random.Random(protocol)
    for _ in range(60):
        obj = random_object(rng)
        raw = pickle.dumps(obj, protocol)
        try:
            found = read(raw)
        except Broken as e:  # strings with escapes are how protocol 0 stores bytes
            assert protocol == 0 and "escapes" in str(e)
            continue
        assert found == obj and pickle.dumps(found, 4) == pickle.dumps(pickle.loads(raw), 4)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_reads_arrays(protocol):
    arrays = [
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(2000.0).reshape(2, 1000)), np.zeros((0, 3), "int8"),
        np.array(2 + 1j), np.arange(3, dtype=">i4"), np.array(["a", "bc"]), np.array([b"a", b"bc"]),
        np.array([True, False]), np.arange(3000, dtype="float16"),
    ]  # fmt: skip
    for a in arrays:
        found = read(pickle.dumps([a, a], protocol))
        assert found[0] is found[1] and found[0].value.dtype == a.dtype
        np.testing.assert_array_equal(found[0].value, a)
    assert read(pickle.dumps(np.float32(1.5), protocol)) == np.float32(1.5)


def test_long_bytes_are_bytes():
    f = io.BytesIO()
    paddle.save({"b": b"x" * 10_000, "c": (b"y" * 5000,)}, f)
    f.seek(0)
    assert paddle.load(f) == {"b": b"x" * 10_000, "c": (b"y" * 5000,)}


# ---- bombs ------------------------------------------------------------------------------------
def u4(n):
    return struct.pack("<I", n)


def u8(n):
    return struct.pack("<Q", n)


def doubled(start, levels):
    """start, then pairs, each of which holds the one before twice."""
    raw = start + b"q\x000"
    for i in range(levels):
        raw += b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) + b"0"
    return raw[:-1]  # the last stays


_ENCODE = b"c_codecs\nencode\nq\x00X" + u4(100_000) + b"a" * 100_000 + b"\x85q\x01"
BOMBS = {
    "bytes of a petabyte": b"\x80\x04\x8e" + u8(2**50) + b"abc.",
    "bytes beyond all memory": b"\x80\x04\x8e" + u8(2**63 + 5) + b"abc.",
    "text of a petabyte": b"\x80\x04\x8d" + u8(2**50) + b"abc.",
    "text of 4 GB": b"\x80\x02X" + u4(2**32 - 1) + b"abc.",
    "a byte array of a petabyte": b"\x80\x05\x96" + u8(2**50) + b"abc.",
    "a frame of a petabyte": b"\x80\x04\x95" + u8(2**50) + b"N.",
    "a number of 2 GB": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"abc.",
    "a number of negative length": b"\x80\x02\x8b" + struct.pack("<i", -5) + b".abc",
    "an array of a petabyte": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    b"(K\x01\x8a\x07" + (2**50).to_bytes(7, "little") + b"\x85cnumpy\ndtype\nU\x02f8\x85R\x89U\x08abcdefghtb.",
    "calls that copy again and again": b"\x80\x02" + _ENCODE + b"](" + b"h\x00h\x01R" * 5000 + b"e.",
    "lists that copy again and again": b"\x80\x02cbuiltins\nlist\nq\x00("
    + b"K\x01" * 9999
    + b"t\x85q\x01]("
    + b"h\x00h\x01R" * 5000
    + b"e.",
    "a nest of shared tuples as a key": b"\x80\x02}" + doubled(b")", 60) + b"K\x01s.",
    "a nest of shared tuples in a set": b"\x80\x04\x8f(" + doubled(b")", 60) + b"\x90.",
    "deep lists": b"\x80\x02" + b"]" * 20_000 + b"a" * 19_999 + b".",
    "deep tuples": b"\x80\x02)" + b"\x85" * 20_000 + b".",
    "marks": b"\x80\x02" + b"(" * 20_000 + b".",
    "a line without end": b"\x80\x02c" + b"a" * 100_000,
    "digits": b"I" + b"9" * 100_000 + b"\n.",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="BytesIO cannot be read"):
            paddle.load(io.BytesIO(BOMBS[name]))
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_memo_with_huge_numbers_is_small():
    raw = b"\x80\x02K\x07r" + u4(2**32 - 1) + b"0j" + u4(2**32 - 1) + b"."
    tracemalloc.start()
    assert paddle.load(io.BytesIO(raw)) == 7
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_long_bytes_that_are_shared_stay_one():
    raw = b"\x80\x04\x8e" + u8(100_000) + b"x" * 100_000 + b"\x940](" + b"h\x00" * 3000 + b"e."
    tracemalloc.start()
    found = paddle.load(io.BytesIO(raw))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 3000 and found[2999] == b"x" * 100_000 and peak < 5e6


def test_a_nest_of_shared_lists_is_walked_once():
    raw = b"\x80\x02" + doubled(b"K\x05\x85", 150) + b"."
    found = paddle.load(io.BytesIO(raw))
    assert found[0] is found[1] and found[0][0] is found[1][1]


@pytest.mark.parametrize(
    "raw, name",
    [
        (b"cos\nsystem\n(S'echo'\ntR.", "os.system"),
        (b"(S'echo'\nios\nsystem\n.", "i is no|0x69"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04echo\x85R.", "os.system"),
        (b"\x80\x02cbuiltins\ngetattr\n.", "getattr"),
        (b"\x80\x02cnumpy\ndtype.__init__\n.", r"dtype\.__init__"),
        (b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.", r"ndarray\.__init__"),
        (b"\x80\x02cbuiltins\neval\nX\x01\0\0\x001\x85R.", "eval"),
        (b"\x80\x02\x82\x01.", "extension"),
        (b"\x80\x02K\x01Q.", "persistent"),
        (b"\x80\x02cbuiltins\ntuple\n.", "tuple"),  # a function is no data
        (b"\x80\x02(cbuiltins\nset\nK\x01e.", "no container|mark"),
        (b"\x80\x02ccollections\nOrderedDict\n)R}X\x05\0\0\0itemsK\x01sb.", "state"),
        (b"\x80\x02c_codecs\nencode\n(N}X\x0c\0\0\0__defaults__K\x01stb.", "state"),  # the functions stay what they are
        (b"\x80\x02cnumpy\nndarray\n)\x81.", "by hand"),
        (b"\x80\x02cdatetime\ndatetime\n]\x85R.", "a time"),
        (b"\x80\x02cdatetime\ntimezone\nK\x01\x85R.", "a time zone"),
        (b"\x80\x02cbuiltins\nrange\n]\x85R.", "something else than numbers"),
        (b"\x80\x02cbuiltins\nlist\nX\x01\0\0\0a\x85R.", "something else"),
        (b"\x80\x02K\x01K\x02R.", "no function"),
        (b"\x80\x02}]K\x01s.", "a key"),
        (b"\x80\x02K\x01K\x02.", "middle"),
        (b"\x80\x02.", "middle"),
        (b"\x80\x02h\x09.", "memo"),
        (b"\x80\x02\x86.", "empty"),
        (b"\x80\x09N.", "protocol"),
    ],
)
def test_programs_that_are_not_data(raw, name):
    with pytest.raises(ValueError, match=rf"(?s)(cannot be read|could run code).*({name})|({name}).*could run code"):
        paddle.load(io.BytesIO(raw))


# ---- damage -----------------------------------------------------------------------------------
def files():
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1D(2))
    optimizer = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters())
    net(paddle.ones([2, 3])).sum().backward()
    optimizer.step()
    nested = {"x": [paddle.ones([2]), (paddle.zeros([3], "int64"), None)], "a": np.arange(3), "s": np.float32(2),
              "t": {1, "two"}, "b": b"bytes", "c": 1 + 2j, "u": np.array(["a", "bc"])}  # fmt: skip
    for obj, how in (
        (net.state_dict(), {}), (net.state_dict(), {"protocol": 2}), (net.state_dict(), {"safetensors": True}),
        (optimizer.state_dict(), {}), (nested, {}), (net[0].weight, {"use_binary_format": True}),
    ):  # fmt: skip
        f = io.BytesIO()
        paddle.save(obj, f, **how)
        yield f.getvalue()


def test_a_file_cut_at_any_byte_is_refused():
    for raw in files():
        for n in range(len(raw)):
            with pytest.raises(ValueError, match="BytesIO cannot be read"):
                paddle.load(io.BytesIO(raw[:n]))


def test_damaged_files_are_refused_or_hold_other_numbers():
    rng = random.Random(3)
    refused = 0
    for raw in files():
        for _ in range(150):
            bad = bytearray(raw)
            for _ in range(rng.choice([1, 1, 3])):
                at = rng.randrange(len(bad))
                how = rng.randrange(4)
                if how == 0:
                    bad[at] ^= 1 << rng.randrange(8)
                elif how == 1:
                    bad[at] = rng.randrange(256)
                elif how == 2:
                    del bad[at : at + rng.randrange(1, 5)]
                else:
                    bad[at:at] = rng.randbytes(3)
            try:
                paddle.load(io.BytesIO(bytes(bad)))
            except ValueError as e:
                refused += 1
                assert "load: BytesIO" in str(e) and len(str(e)) < 1000
    assert refused > 300


def test_a_stream_that_becomes_shorter_while_it_is_read():
    class Shrinking(io.BytesIO):
        def seek(self, to, whence=0):
            return super().seek(to, whence) + (5000 if whence == 2 else 0)

    f = io.BytesIO()
    paddle.save({"w": paddle.ones([3000])}, f)
    with pytest.raises(ValueError, match="ends too early"):
        paddle.load(Shrinking(f.getvalue()[:9000]))
