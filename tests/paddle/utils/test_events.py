"""Files of events, taken apart by the rules of their format."""

import gc
import io
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle
from paddle.utils.events import EventWriter, crc32c


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as f:
        raw = f.read()
    at = 0
    while at < len(raw):
        (n,) = struct.unpack_from("<Q", raw, at)
        assert struct.unpack_from("<I", raw, at + 8)[0] == masked(raw[at : at + 8])
        data = raw[at + 12 : at + 12 + n]
        assert struct.unpack_from("<I", raw, at + 12 + n)[0] == masked(data)
        yield data
        at += 16 + n


def varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(raw):
    """Field to the list of its values; numbers as they are, everything else as bytes."""
    found, at = {}, 0
    while at < len(raw):
        key, at = varint(raw, at)
        if key & 7 == 0:
            value, at = varint(raw, at)
        else:
            n = {1: 8, 5: 4}.get(key & 7)
            if n is None:
                n, at = varint(raw, at)
            value, at = raw[at : at + n], at + n
        found.setdefault(key >> 3, []).append(value)
    return found


def events(path):
    """(tag, step, fields of the value, seconds) of each event after the first."""
    first, *rest = (fields(r) for r in records(path))
    assert first[3] == [b"brain.Event:2"]
    for e in rest:
        value = fields(fields(e[5][0])[1][0])
        step = e[2][0] - (1 << 64) if e[2][0] >> 63 else e[2][0]
        yield value[1][0].decode(), step, value, struct.unpack("<d", e[1][0])[0]


def written(tmp_path, write):
    with EventWriter(str(tmp_path)) as writer:
        write(writer)
    return list(events(writer.file_name))


def test_checksums():
    # RFC 3720, B.4
    assert crc32c(b"\0" * 32) == 0x8A9136AA and crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E and crc32c(bytes(range(31, -1, -1))) == 0x113FDB5C
    assert crc32c(b"") == 0


def test_the_bytes_of_a_scalar(tmp_path):
    # TensorBoard 2.21 reads this as loss = 0.5 at step 3
    with EventWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", 0.5, 3, walltime=2.0)
    *_, last = records(writer.file_name)
    assert last == b"\x09\0\0\0\0\0\0\0\x40\x10\x03\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f"
    assert os.path.basename(writer.file_name).startswith("events.out.tfevents.")


@pytest.mark.parametrize(
    "value, expected",
    [
        (1, 1.0), (True, 1.0), (np.float64(0.25), 0.25), (np.array([[2.5]]), 2.5), (float("-inf"), -np.inf),
        (float("nan"), np.nan), (1e300, np.finfo("float32").max), (-1e300, np.finfo("float32").min),
    ],
)  # fmt: skip
def test_scalars(tmp_path, value, expected):
    ((tag, step, found, at),) = written(tmp_path, lambda w: w.add_scalar("a/b", value, 2**40))
    assert (tag, step) == ("a/b", 2**40) and at > 1.6e9
    np.testing.assert_equal(struct.unpack("<f", found[2][0])[0], np.float32(expected))


def test_scalars_of_tensors_and_negative_steps(tmp_path):
    found = written(
        tmp_path,
        lambda w: [w.add_scalar("x", paddle.to_tensor([i + 0.5]).astype("bfloat16"), -i) for i in range(30)],
    )
    assert [(step, struct.unpack("<f", v[2][0])[0]) for _, step, v, _ in found[:3]] == [(0, 0.5), (-1, 1.5), (-2, 2.5)]
    assert len(found) == 30


def test_histograms(tmp_path):
    x = np.array([[0.0, 1.0, 1.5], [2.0, np.nan, np.inf]])
    with pytest.warns(UserWarning, match="2 values of w are not finite"):
        ((tag, step, found, _),) = written(tmp_path, lambda w: w.add_histogram("w", x, 5, buckets=[0, 1, 2]))
    h = fields(found[5][0])
    assert (tag, step) == ("w", 5)
    assert [struct.unpack("<d", h[i][0])[0] for i in range(1, 6)] == [0.0, 2.0, 4.0, 4.5, 7.25]
    assert np.frombuffer(h[6][0]).tolist() == [1.0, 2.0] and np.frombuffer(h[7][0]).tolist() == [1.0, 3.0]
    ((_, _, found, _),) = written(tmp_path, lambda w: w.add_histogram("w", paddle.arange(7), 0))
    assert len(np.frombuffer(fields(found[5][0])[7][0])) == 30
    written(tmp_path, lambda w: w.add_histogram("w", [1e300, -1e300], 0))


@pytest.mark.parametrize(
    "dataformats, shape", [("HWC", (4, 5, 3)), ("HWC", (4, 5, 4)), ("CHW", (1, 4, 5)), ("HW", (4, 5))]
)
@pytest.mark.parametrize("kind", ["uint8", "float32"])
def test_pictures(tmp_path, dataformats, shape, kind):
    image = pytest.importorskip("PIL.Image")
    a = np.random.default_rng(0).integers(0, 256, shape).astype("uint8")
    given = a if kind == "uint8" else (a / 255).astype("float32")
    ((_, _, found, _),) = written(tmp_path, lambda w: w.add_image("x", given, 1, dataformats=dataformats))
    f = fields(found[4][0])
    seen = np.array(image.open(io.BytesIO(f[4][0])))
    expected = a[0] if dataformats == "CHW" else a
    assert (f[1], f[2], f[3]) == ([4], [5], [1 if expected.ndim == 2 else shape[-1]])
    np.testing.assert_array_equal(seen, expected)


def test_texts(tmp_path):
    ((tag, step, found, _),) = written(tmp_path, lambda w: w.add_text("note", "**é**"))
    assert (tag, step) == ("note", 0) and fields(found[8][0])[8] == ["**é**".encode()]
    assert fields(fields(found[9][0])[1][0])[1] == [b"text"]


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.add_scalar("", 1, 0),
        lambda w: w.add_scalar(3, 1, 0),
        lambda w: w.add_scalar("a", [1, 2], 0),
        lambda w: w.add_scalar("a", [], 0),
        lambda w: w.add_scalar("a", "x", 0),
        lambda w: w.add_scalar("a", 1j, 0),
        lambda w: w.add_histogram("a", [], 0),
        lambda w: w.add_image("a", np.ones((4, 5)), 0),
        lambda w: w.add_image("a", np.ones((4, 5, 2)), 0),
        lambda w: w.add_image("a", np.ones((0, 5, 3)), 0),
        lambda w: w.add_image("a", np.ones((4, 5, 3)), 0, dataformats="WH"),
    ],
)
def test_what_cannot_be_written(tmp_path, call):
    with EventWriter(str(tmp_path)) as writer:
        with pytest.raises(ValueError):
            call(writer)
    assert list(events(writer.file_name)) == []


def test_files_are_kept_apart_and_closed(tmp_path):
    a, b = EventWriter(str(tmp_path / "runs" / "x")), EventWriter(str(tmp_path / "runs" / "x"), filename_suffix=".v2")
    assert a.file_name != b.file_name and b.file_name.endswith(".v2")
    a.add_scalar("x", 1, 0)
    a.flush()
    assert len(list(events(a.file_name))) == 1
    a.add_scalar("x", 2, 1)
    a.close()
    a.close()
    assert len(list(events(a.file_name))) == 2
    for call in (lambda: a.add_scalar("x", 3, 2), a.flush):
        with pytest.raises(ValueError, match="closed"):
            call()
    b.add_scalar("x", 1, 0)
    name = b.file_name
    del b
    gc.collect()
    assert len(list(events(name))) == 1
    with EventWriter(str(tmp_path), flush_secs=0) as c:
        c.add_scalar("x", 1, 0)
        assert len(list(events(c.file_name))) == 1


def test_what_was_added_is_kept_when_the_program_ends(tmp_path):
    code = (
        "import sys; from paddle.utils.events import EventWriter; w = EventWriter(sys.argv[1]); w.add_scalar('x', 1, 0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    (name,) = os.listdir(tmp_path)
    assert len(list(events(tmp_path / name))) == 1


def test_threads(tmp_path):
    with EventWriter(str(tmp_path)) as writer:
        threads = [threading.Thread(target=lambda k=k: [writer.add_scalar(str(k), i, i) for i in range(50)])
                   for k in range(4)]  # fmt: skip
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(list(events(writer.file_name))) == 200
