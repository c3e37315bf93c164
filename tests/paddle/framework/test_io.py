"""Saving and loading: the format, crashes, strangers' files."""

import datetime
import gzip
import io
import os
import pickle
import pickletools
import random
import struct

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.framework import io as fio


def state():
    return {"w": paddle.to_tensor([[1.0, 2.0]]), "n": paddle.to_tensor([1, 2]), "more": {"step": 3, "rate": 0.5}}


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, paddle.Tensor):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    else:
        assert a == b


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_round_trip(tmp_path, protocol):
    x = paddle.to_tensor([[1.5, -2.0], [0.0, np.inf]])
    for obj in (
        state(),
        x,
        [x, (x, 1, "s", None, True, 2.5, 1 + 2j)],
        {"a": [x], 1: {"b": x}},
        {"s": {1, 2}, "b": b"bytes", "big": 2**80, "f": np.float32(2.0)},
        3,
        None,
        {k: paddle.zeros([2, 0, 3], k) for k in ("float16", "float64", "int8", "uint8", "bool", "complex64")},
        {"h": x.astype("bfloat16"), "0": paddle.to_tensor(3.0)},
    ):
        path = str(tmp_path / "deep" / "file.pd")
        paddle.save(obj, path, protocol=protocol)
        same(obj, paddle.load(path))


def test_the_format_is_a_pickle_of_arrays(tmp_path):
    path = str(tmp_path / "a.pdparams")
    fc = nn.Linear(2, 3)
    paddle.save(fc.state_dict(), path)
    with open(path, "rb") as f:
        raw = pickle.load(f)
    assert raw.pop("StructuredToParameterName@@") == {"weight": fc.weight.name, "bias": fc.bias.name}
    np.testing.assert_array_equal(raw["weight"], fc.weight.numpy())
    x = paddle.ones([2])
    paddle.save([x], path)
    with open(path, "rb") as f:
        ((name, a),) = pickle.load(f)
    assert name == x.name and a.shape == (2,)


def test_names_and_arrays(tmp_path):
    path = str(tmp_path / "a.pdparams")
    fc = nn.Linear(2, 3)
    paddle.save(fc.state_dict(), path)
    loaded = paddle.load(path)
    assert loaded["weight"].name == fc.weight.name and loaded["weight"].stop_gradient
    assert "StructuredToParameterName@@" in paddle.load(path, keep_name_table=True)
    arrays = paddle.load(path, return_numpy=True)
    arrays["weight"][0] = 0.0  # belongs to the caller
    paddle.save([paddle.ones([1])], path)
    assert isinstance(paddle.load(path, return_numpy=True)[0], np.ndarray)


def test_streams():
    f = io.BytesIO()
    paddle.save(state(), f)
    f.seek(0)
    same(state(), paddle.load(f))


def test_the_binary_form(tmp_path):
    path = str(tmp_path / "a.bin")
    for x in (
        paddle.to_tensor([[1.0, 2.0, 3.0]]),
        paddle.to_tensor(7),
        paddle.zeros([300, 0]),
        paddle.ones([2]).astype("bfloat16"),
    ):
        paddle.save(x, path, use_binary_format=True)
        same(x, paddle.load(path))
    with open(path, "wb") as f:
        f.write(struct.pack("<IQIi", 0, 0, 0, 2) + b"\x08\x05" + b"\0" * 3)
    with pytest.raises(ValueError, match="cannot be read"):
        paddle.load(path)


def test_a_crash_leaves_the_old_file(tmp_path, monkeypatch):
    path = str(tmp_path / "a.pd")
    paddle.save(1, path)

    class Bomb:
        def __reduce__(self):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        paddle.save([2, Bomb()], path)
    assert paddle.load(path) == 1 and os.listdir(tmp_path) == ["a.pd"]
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError):
        paddle.save(3, path)
    assert paddle.load(path) == 1 and os.listdir(tmp_path) == ["a.pd"]


@pytest.mark.parametrize("where", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_files_that_are_cut_off(tmp_path, where):
    path = str(tmp_path / "a.pd")
    paddle.save(nn.Linear(20, 30).state_dict(), path)
    with open(path, "rb") as f:
        raw = f.read()
    with open(path, "wb") as f:
        f.write(raw[: int(len(raw) * where)])
    with pytest.raises(ValueError, match="cannot be read"):
        paddle.load(path)


@pytest.mark.parametrize(
    "raw", [b"", b"hello world", b"\x89PNG\r\n", b"PK\x03\x04" + b"\0" * 50, b"\x80\x04.", b"\0" * 30]
)
def test_files_of_other_formats(tmp_path, raw):
    path = str(tmp_path / "a.pd")
    with open(path, "wb") as f:
        f.write(raw)
    with pytest.raises(ValueError, match="cannot be read|could run code"):
        paddle.load(path)


class Call:
    def __init__(self, f, *args):
        self.f, self.args = f, args

    def __reduce__(self):
        return self.f, self.args


@pytest.mark.parametrize(
    "bad, name",
    [
        (lambda: Call(os.system, "touch pwned"), "system"),
        (lambda: Call(eval, "1"), "eval"),
        (lambda: Call(getattr, {}, "x"), "getattr"),
        (lambda: Call(__import__, "os"), "__import__"),
        (lambda: Call(np.load, "x"), "load"),
        (lambda: Call(open, "x", "w"), "open"),
        (lambda: nn.Linear, "Linear"),
        (lambda: np.frombuffer, "frombuffer"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_nothing_is_run(tmp_path, monkeypatch, bad, name, protocol):
    monkeypatch.chdir(tmp_path)
    with open("a.pd", "wb") as f:
        pickle.dump({"w": np.ones(2), "x": bad()}, f, protocol)
    with pytest.raises(ValueError, match=rf"asks for .*{name}.*could run code"):
        paddle.load("a.pd")
    assert os.listdir(".") == ["a.pd"]


def opcodes(*parts):
    return b"\x80\x02" + b"".join(parts) + b"."


@pytest.mark.parametrize(
    "raw",
    [
        opcodes(b"cnumpy\ndtype\n", b"U\x01O\x85R"),  # an element type of objects
        opcodes(b"cnumpy\ndtype\n", b"K\x05\x85R"),
        opcodes(b"cnumpy.core.multiarray\n_reconstruct\n", b"cbuiltins\ntuple\nK\x00\x85U\x01b\x87R"),
        opcodes(b"c_codecs\nencode\n", b"X\x01\0\0\0aX\x05\0\0\0utf-7\x86R"),
        opcodes(b"cnumpy.core.multiarray\nscalar\n", b"K\x01K\x02\x86R"),
        opcodes(b"U\x01xQ"),  # a persistent object
    ],
)
def test_harmless_names_take_harmless_arguments_only(tmp_path, raw):
    pickletools.dis(raw, io.StringIO())
    path = str(tmp_path / "a.pd")
    with open(path, "wb") as f:
        f.write(raw)
    with pytest.raises(ValueError, match="cannot be read|could run code"):
        paddle.load(path)


def test_arrays_whose_state_is_wrong(tmp_path):
    path = str(tmp_path / "a.pd")
    raw = pickle.dumps(np.arange(8.0), 2)
    for bad in (raw.replace(b"K\x08\x85", b"K\x09\x85"), raw.replace(b"f8", b"f4")):
        with open(path, "wb") as f:
            f.write(bad)
        if bad != raw:
            with pytest.raises(ValueError, match="cannot be read"):
                paddle.load(path)


def test_byte_order_and_column_order(tmp_path):
    path = str(tmp_path / "a.pd")
    a = np.arange(6, dtype=">f4").reshape(2, 3)
    for obj in (a, np.asfortranarray(a.astype("float64"))):
        with open(path, "wb") as f:
            pickle.dump({"a": obj}, f, 2)
        np.testing.assert_array_equal(paddle.load(path)["a"].numpy(), obj)


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 16])
def test_where_long_arrays_are_cut(itemsize):
    most = (2**30 - 1) // itemsize  # elements, as upstream has it
    assert fio._cuts(most, itemsize) == []
    assert fio._cuts(most + 1, itemsize) == [(0, most), (most, most + 1)]
    cuts = fio._cuts(5 * 2**30, itemsize)
    assert cuts[0][0] == 0 and cuts[-1][1] == 5 * 2**30
    assert all(a[1] == b[0] for a, b in zip(cuts, cuts[1:]))
    assert all((end - begin) * itemsize < 2**30 for begin, end in cuts)
    assert fio._cuts(0, itemsize) == []


def test_split_arrays(tmp_path, monkeypatch):
    monkeypatch.setattr(fio, "_MOST_BYTES", 40)
    path = str(tmp_path / "a.pd")
    obj = {"w": paddle.arange(24.0).reshape([4, 6]), "v": paddle.ones([2])}
    paddle.save(obj, path, protocol=2)
    with open(path, "rb") as f:
        raw = pickle.load(f)
    assert raw["UnpackBigParamInfor@@"] == {"w": {"OriginShape": (4, 6), "slices": ["w@@.0", "w@@.1", "w@@.2"]}}
    loaded = paddle.load(path)
    np.testing.assert_array_equal(loaded["w"].numpy(), obj["w"].numpy())
    assert sorted(loaded) == ["v", "w"] and loaded["w"].name == obj["w"].name
    paddle.save(obj, path)  # the protocol has no such limit
    with open(path, "rb") as f:
        assert "w" in pickle.load(f)
    for spoil in (
        lambda r: r["UnpackBigParamInfor@@"]["w"].update(slices=["w@@.0", "w@@.7"]),
        lambda r: r["UnpackBigParamInfor@@"]["w"].update(OriginShape=(5, 5)),
        lambda r: r["UnpackBigParamInfor@@"]["w"].pop("slices"),
        lambda r: r.update({"UnpackBigParamInfor@@": 3}),
        lambda r: r.pop("v"),
        lambda r: r.update({"StructuredToParameterName@@": []}),
    ):
        bad = pickle.loads(pickle.dumps(raw))
        spoil(bad)
        with pytest.raises(ValueError, match="cannot be read"):
            paddle.load(io.BytesIO(pickle.dumps(bad)))


def test_arrays_that_were_no_tensors_stay_arrays():
    x = paddle.ones([2])
    for obj, kind in (
        ({"x": [x], "a": np.arange(3)}, np.ndarray),  # Tensors are told from arrays
        ({"x": x, "a": {"b": np.arange(3)}}, np.ndarray),  # a state dictionary
        ({"a": np.arange(3), "n": 1}, paddle.Tensor),  # nothing tells
    ):
        f = io.BytesIO()
        paddle.save(obj, f)
        f.seek(0)
        a = paddle.load(f)["a"]
        a = a["b"] if isinstance(a, dict) else a
        assert type(a) is kind
        np.testing.assert_array_equal(np.asarray(a), [0, 1, 2])


def test_tensors_that_share_an_array_are_tensors_of_their_own():
    x = paddle.to_tensor([1.0, 2.0])
    f = io.BytesIO()
    paddle.save([x, x], f)
    f.seek(0)
    a, b = paddle.load(f)
    a.add_(paddle.ones([2]))
    assert a is not b and a.tolist() == [2.0, 3.0] and b.tolist() == [1.0, 2.0]


def test_lists_that_hold_themselves():
    loop = [1]
    loop.append({"again": loop})
    f = io.BytesIO()
    paddle.save(loop, f)
    f.seek(0)
    found = paddle.load(f)
    assert found[0] == 1 and found[1]["again"] is found


def test_element_types_are_values():
    f = io.BytesIO()
    paddle.save({"kind": paddle.bfloat16, "other": np.dtype("float32")}, f)
    f.seek(0)
    assert paddle.load(f) == {"kind": paddle.bfloat16, "other": np.dtype("float32")}
    # pickle.dumps(paddle.float32) in PaddlePaddle 3.3.1
    raw = b"\x80\x04\x95\x1a\0\0\0\0\0\0\0\x8c\x06paddle\x94\x8c\x05dtype\x94\x93\x94)\x81\x94K\nb."
    assert paddle.load(io.BytesIO(raw)) is paddle.float32
    with pytest.raises(ValueError, match="cannot be read"):
        paddle.load(io.BytesIO(raw.replace(b"K\n", b"Kc")))


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_stands_beside_tensors_in_a_checkpoint(protocol):
    now = datetime.datetime(2026, 1, 2, 3, 4, 5, 6)
    obj = {
        "shape": paddle.ones([2, 3]).shape, "rows": slice(1, None, 2), "steps": range(3), "at": now,
        "there": now.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=8))),
        "random": random.Random(1).getstate(),
        "numpy": {k: v for k, v in np.random.RandomState(1).get_state(legacy=False).items() if k != "state"},
    }  # fmt: skip
    f = io.BytesIO()
    paddle.save(obj, f, protocol=protocol)
    f.seek(0)
    assert paddle.load(f) == obj
    f.seek(0)
    assert type(pickle.load(f)["shape"]) is list  # which upstream can read


def test_tensors_of_static_programs_as_upstream_stores_them():
    class Data:
        def __reduce__(self):
            return eval, ("data", {"data": np.arange(3.0)})

    raw = pickle.dumps(Data())
    assert paddle.load(io.BytesIO(raw)).tolist() == [0.0, 1.0, 2.0]
    for bad in (raw.replace(b"data", b"date", 1), raw.replace(b"\x8c\x04data", b"\x8c\x04quit", 1)):
        with pytest.raises(ValueError, match="could run code"):
            paddle.load(io.BytesIO(bad))


class Pipe(io.RawIOBase):
    """A stream that cannot be wound."""

    def __init__(self, raw=b""):
        self.raw = io.BytesIO(raw)

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, b):
        return self.raw.readinto(b)

    def write(self, b):
        return self.raw.write(b)


def test_streams_of_all_kinds(tmp_path):
    f = io.BytesIO()
    paddle.save({"a": paddle.ones([3])}, f)
    paddle.save(paddle.zeros([2000]), f)
    paddle.save({"b": paddle.ones([1])}, f, safetensors=True)
    f.seek(0)
    assert list(paddle.load(f)) == ["a"] and paddle.load(f).shape == [2000] and list(paddle.load(f)) == ["b"]
    assert f.tell() == len(f.getvalue())
    paddle.save(state(), tmp_path / "a.pd")
    same(state(), paddle.load(tmp_path / "a.pd"))
    same(state(), paddle.load(Pipe((tmp_path / "a.pd").read_bytes())))
    pipe = Pipe()
    paddle.save(state(), pipe)
    same(state(), paddle.load(io.BytesIO(pipe.raw.getvalue())))
    with gzip.open(tmp_path / "a.gz", "wb") as packed:
        paddle.save(state(), packed)
    with gzip.open(tmp_path / "a.gz", "rb") as packed:
        same(state(), paddle.load(packed))
    with open(tmp_path / "a.pd", encoding="latin1") as text:
        with pytest.raises(TypeError, match="stream of bytes"):
            paddle.load(text)
    with pytest.raises(ValueError, match='mode "wb"'):
        paddle.save(1, io.StringIO())


def test_a_stream_holds_no_half_of_an_object():
    f = io.BytesIO(b"before")
    f.seek(0, os.SEEK_END)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        paddle.save([1, lambda: 0], f)
    assert f.getvalue() == b"before" and f.tell() == 6


@pytest.mark.parametrize(
    "raw, kind",
    [
        (b"PK\x03\x04" + b"\0" * 50, "zip archive"),
        (b"\x1f\x8b\x08" + b"\0" * 50, "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS"),
        (b"<!DOCTYPE html><html>", "download"),
        (b'{"a": 1}', "JSON"),
        (b"", "it is empty"),
    ],
)
def test_what_a_wrong_file_looks_like_is_said(tmp_path, raw, kind):
    path = tmp_path / "model.pdparams"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=rf"(?s)model\.pdparams cannot be read.*{kind}"):
        paddle.load(path)


# ---- beside other work ------------------------------------------------------------------------
def test_async_save_writes_the_values_at_the_call(tmp_path):
    w = paddle.to_tensor([1.0, 2.0])
    for i in range(3):
        paddle.async_save({"w": w}, str(tmp_path / f"{i}.pdparams"), sync_other_task=i == 2)
        w.add_(paddle.ones([2]))
    paddle.clear_async_save_task_queue()
    found = [paddle.load(str(tmp_path / f"{i}.pdparams"))["w"].tolist() for i in range(3)]
    assert found == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]


def test_async_save_reports_what_failed(tmp_path):
    with pytest.raises(TypeError, match="a dict or a Tensor"):
        paddle.async_save([1], str(tmp_path / "a"))
    with pytest.warns(UserWarning, match="use_binary_format has no effect"):
        paddle.async_save(paddle.ones([1]), str(tmp_path / "a"), use_binary_format=True)
    (tmp_path / "folder").mkdir()
    paddle.async_save({}, str(tmp_path / "folder"))
    with pytest.raises(IsADirectoryError):
        paddle.clear_async_save_task_queue()
    paddle.clear_async_save_task_queue()
    assert paddle.load(str(tmp_path / "a")).tolist() == [1.0]


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda d: paddle.save(nn.Linear(1, 1), d + "/x"), ValueError),
        (lambda d: paddle.save([nn.Linear(1, 1)], d + "/x"), ValueError),
        (lambda d: paddle.save(1, d + "/"), ValueError),
        (lambda d: paddle.save(1, ""), ValueError),
        (lambda d: paddle.save(1, 3), ValueError),
        (lambda d: paddle.save(1, d + "/x", protocol=5), ValueError),
        (lambda d: paddle.save(1, d + "/x", protocol="a"), ValueError),
        (lambda d: paddle.save(1, d + "/x", nope=1), ValueError),
        (lambda d: paddle.save([1], d + "/x", use_binary_format=True), NotImplementedError),
        (lambda d: paddle.save(paddle.ones([1]), d + "/x", use_binary_format=1), TypeError),
        (lambda d: paddle.save(1, d), IsADirectoryError),
        (lambda d: paddle.load(d + "/none"), ValueError),
        (lambda d: paddle.load(d), ValueError),
        (lambda d: paddle.load(3), TypeError),
        (lambda d: paddle.load(d + "/x", nope=1), ValueError),
    ],
)
def test_bad_arguments(tmp_path, call, kind):
    with pytest.raises(kind):
        call(str(tmp_path))


def test_a_near_name_is_hinted(tmp_path):
    paddle.save(1, str(tmp_path / "m.pdparams"))
    with pytest.raises(ValueError, match="did you mean .*m.pdparams"):
        paddle.load(str(tmp_path / "m"))


def test_files_of_upstream():
    # paddle.save({"a": Tensor([[1, 2]]), "o": {"k": 1}}) in PaddlePaddle 3.3.1 with numpy 1.26, protocol 2
    raw = (
        b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00"
        b"\x85q\x04c_codecs\nencode\nq\x05X\x01\x00\x00\x00bq\x06X\x06\x00\x00\x00latin1q\x07\x86q\x08Rq\t\x87q\nRq\x0b"
        b"(K\x01K\x01K\x02\x86q\x0ccnumpy\ndtype\nq\rX\x02\x00\x00\x00f4q\x0e\x89\x88\x87q\x0fRq\x10(K\x03X\x01\x00\x00"
        b"\x00<q\x11NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tq\x12b\x89h\x05X\t\x00\x00\x00\x00\x00\xc2\x80?\x00\x00"
        b"\x00@q\x13h\x07\x86q\x14Rq\x15tq\x16bX\x01\x00\x00\x00oq\x17}q\x18X\x01\x00\x00\x00kq\x19K\x01sX\x1b\x00\x00"
        b"\x00StructuredToParameterName@@q\x1a}q\x1bh\x01X\x12\x00\x00\x00generated_tensor_0q\x1csu."
    )
    loaded = paddle.load(io.BytesIO(raw))
    np.testing.assert_array_equal(loaded["a"].numpy(), [[1.0, 2.0]])
    assert loaded["o"] == {"k": 1} and loaded["a"].name == "generated_tensor_0"


def test_other_paths_to_the_same_names():
    for name in ("load", "save", "async_save", "clear_async_save_task_queue"):
        assert getattr(paddle.framework, name) is getattr(paddle, name)
    assert isinstance(nn.Linear(1, 1).weight, fio.EagerParamBase)
    with pytest.raises(AttributeError, match="nothing"):
        paddle.framework.nothing  # noqa: B018
