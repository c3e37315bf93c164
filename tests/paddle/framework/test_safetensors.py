"""Files of safetensors: those of other programs, ours in theirs, and what is wrong with wrong ones."""

import io
import json

import numpy as np
import pytest

import paddle
from paddle import nn

# What safetensors.torch.save (safetensors 0.8.0, torch 2.13) made of one tensor per element type.
OF_TORCH = (
    b'\x18\x02\0\0\0\0\0\0{"__metadata__":{"format":"pt"},"i":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"c":{"dtype"'
    b':"C64","shape":[1],"data_offsets":[8,16]},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},"z":{"dtype":"F32"'
    b',"shape":[0,3],"data_offsets":[32,32]},"h":{"dtype":"BF16","shape":[2],"data_offsets":[32,36]},"half":{"dtype":"F16",'
    b'"shape":[1],"data_offsets":[36,38]},"f8":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[38,40]},"u":{"dtype":"U8",'
    b'"shape":[1],"data_offsets":[40,41]},"b":{"dtype":"BOOL","shape":[3],"data_offsets":[41,44]}}'
    b"\x07\0\0\0\0\0\0\0\0\0\x80?\0\0\0@\0\0\x80?\0\0\0@\0\0@@\0\0\x90@\xc0?\0\xc0\x0088\xb0\xff\x01\0\x01"
)
TYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 float8_e4m3fn float8_e5m2".split()


def test_files_of_torch():
    found = paddle.load(io.BytesIO(OF_TORCH))
    assert {k: (t.dtype, list(t.shape)) for k, t in found.items()} == {
        "i": (paddle.int64, []), "c": (paddle.complex64, [1]), "w": (paddle.float32, [2, 2]),
        "z": (paddle.float32, [0, 3]), "h": (paddle.bfloat16, [2]), "half": (paddle.float16, [1]),
        "f8": (paddle.float8_e4m3fn, [2]), "u": (paddle.uint8, [1]), "b": (paddle.bool, [3]),
    }  # fmt: skip
    values = {k: t.astype("float32").tolist() for k, t in found.items() if k not in ("c", "z")}
    assert values == {"i": 7.0, "w": [[1.0, 2.0], [3.0, 4.5]], "h": [1.5, -2.0], "half": [0.5], "f8": [1.0, -0.5],
                      "u": [255.0], "b": [1.0, 0.0, 1.0]}  # fmt: skip
    assert found["c"].tolist() == [1 + 2j] and found["w"].stop_gradient
    arrays = paddle.load(io.BytesIO(OF_TORCH), return_numpy=True)
    assert arrays["h"].dtype == np.uint16 and arrays["f8"].dtype == np.int8  # as Tensor.numpy gives them
    arrays["w"][0] = 0.0  # belongs to the caller


def mixed():
    state = {d: paddle.ones([3]).astype(d) for d in TYPES}
    return {**state, "scalar": paddle.to_tensor(2.5), "none": paddle.zeros([0, 4]), "the «name»\n": paddle.ones([2, 2])}


def test_round_trip(tmp_path):
    state = mixed()
    for path, how in ((tmp_path / "a.safetensors", {}), (tmp_path / "b", {"safetensors": True})):
        paddle.save(state, path, **how)
        found = paddle.load(path)  # known by what it holds
        assert list(found) == list(state)
        for k, t in state.items():
            assert found[k].dtype == t.dtype and found[k].shape == t.shape
            np.testing.assert_array_equal(found[k].numpy(), t.numpy())
    paddle.save({}, tmp_path / "c.safetensors")
    assert paddle.load(tmp_path / "c.safetensors") == {}


def test_a_layer_goes_through(tmp_path):
    def net():
        return nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(72, 3))

    a, b = net(), net()
    paddle.save(a.state_dict(), tmp_path / "net.safetensors")
    assert b.set_state_dict(paddle.load(tmp_path / "net.safetensors")) == ([], [])
    x = paddle.rand([2, 1, 8, 8])
    np.testing.assert_array_equal(a(x).numpy(), b(x).numpy())


def test_the_library_reads_ours(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    names = {"the «name»\n", "scalar", "none", "bool", "int64", "float16", "float32"}
    state = {k: t for k, t in mixed().items() if k in names}
    paddle.save(state, tmp_path / "a.safetensors")
    found = theirs.load_file(tmp_path / "a.safetensors")
    assert set(found) == set(state)
    for k, t in state.items():
        np.testing.assert_array_equal(found[k], t.numpy())
        assert found[k].dtype == t.numpy().dtype and found[k].shape == tuple(t.shape)
    from safetensors import deserialize

    f = io.BytesIO()
    paddle.save({"h": paddle.to_tensor([1.5]).astype("bfloat16")}, f, safetensors=True)
    ((name, found),) = deserialize(f.getvalue())
    assert name == "h" and found["dtype"] == "BF16" and bytes(found["data"]) == b"\xc0?"


def test_ours_reads_the_library(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(0)
    arrays = {f"layer.{i}.{d}": (rng.normal(size=(i, 3)) * 9).astype(d) for i in range(4)
              for d in ("float32", "float64", "int64", "int8", "uint8", "bool", "float16")}  # fmt: skip
    theirs.save_file(arrays, tmp_path / "a.safetensors", metadata={"format": "np", "from": "elsewhere"})
    for how in ({}, {"safetensors": True}):
        found = paddle.load(tmp_path / "a.safetensors", **how)
        assert set(found) == set(arrays)
        for k, a in arrays.items():
            np.testing.assert_array_equal(found[k].numpy(), a)


@pytest.mark.parametrize(
    "obj, what",
    [
        ([1], "list"),
        (paddle.ones([1]), "Tensor"),
        ({"a": paddle.ones([1]), "LR_Scheduler": {"last_epoch": 1}}, "'LR_Scheduler': dict"),
        ({"a": np.ones(1)}, "'a': ndarray"),
        ({1: paddle.ones([1])}, "the name 1"),
        ({"__metadata__": paddle.ones([1])}, "the name '__metadata__'"),
        ({"a": paddle.ones([1]).astype("complex128")}, r"'a': complex128\[1\]"),
    ],
)
def test_what_the_format_cannot_hold(tmp_path, obj, what):
    with pytest.raises(ValueError, match=rf"(?s)safetensors holds Tensors by name.*received: {what}"):
        paddle.save(obj, tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())
    if not isinstance(obj, dict) or "a" not in obj:
        return
    paddle.save(obj, tmp_path / "a.safetensors", safetensors=False)  # a pickle, as upstream writes it there
    assert list(paddle.load(tmp_path / "a.safetensors")) == list(obj)


def made(table, data=b"", n=None):
    header = table if isinstance(table, bytes) else json.dumps(table).encode()
    return (len(header) if n is None else n).to_bytes(8, "little") + header + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


@pytest.mark.parametrize(
    "raw, why",
    [
        (b"", "empty"),
        (b"\1\2\3", "a file of 3 bytes"),
        (made({"a": entry()}, b"\0" * 8)[:20], "table of"),
        (made(b"{}", n=2**62), "table of"),
        (made(b"{}", n=2**32), "table of"),
        (made(b"[1]"), "no JSON object"),
        (made(b"{1}"), "no JSON"),
        (made(b'{"\xff": 1}'), "no JSON"),
        (made(b"{" + b'"a":{' * 100_000), "no JSON"),
        (made(b'{"a":' + b"9" * 10_000 + b"}"), "no JSON"),
        (made(b'{"a":1,"a":1}'), "twice"),
        (made({"__metadata__": {"a": 1}}), "__metadata__"),
        (made({"__metadata__": []}), "__metadata__"),
        (made({"a": 1}), "'a' has no dtype"),
        (made({"a": entry(more=1)}, b"\0" * 8), "'a' has no dtype"),
        (made({"a": entry("F31")}, b"\0" * 8), "type 'F31'"),
        (made({"a": entry([1])}, b"\0" * 8), "type"),
        (made({"a": entry(shape=[-2])}, b"\0" * 8), "a shape"),
        (made({"a": entry(shape=[2.0])}, b"\0" * 8), "a shape"),
        (made({"a": entry(shape=[True, 2])}, b"\0" * 8), "a shape"),
        (made({"a": entry(offsets=[8, 0])}, b"\0" * 8), "a place"),
        (made({"a": entry(offsets=[0])}, b"\0" * 8), "a place"),
        (made({"a": entry(shape=[3])}, b"\0" * 8), r"F32 of shape \[3\] with 8 bytes"),
        (made({"a": entry(shape=[2**40, 2**40])}, b"\0" * 8), "F32 of shape"),
        (made({"a": entry(shape=[1] * 65 + [2])}, b"\0" * 8), "F32 of shape"),
        (made({"a": entry(shape=[0, 2**62, 2**62], offsets=[0, 0])}), "too large"),
        (made({"a": entry(shape=[2**40], offsets=[0, 2**42])}, b"\0" * 8), "at most 8 are free"),
        (made({"a": entry(offsets=[8, 16])}, b"\0" * 16), "where 0 to"),  # a gap
        (made({"a": entry(), "b": entry()}, b"\0" * 8), "'b' lies at bytes 0 to 8"),  # one over another
        (made({"a": entry()}, b"\0" * 9), "1 bytes follow"),
        (made({"a": entry()}, b"\0" * 7), "at most 7 are free"),
        (made({"a": entry("BOOL", [2], [0, 2])}, b"\0\7"), "neither 0 nor 1"),
    ],
)
def test_wrong_files(tmp_path, raw, why):
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw)
    for how in ({}, {"safetensors": True}):
        with pytest.raises(ValueError, match=rf"(?s)model\.safetensors cannot be read.*{why}"):
            paddle.load(path, **how)


def test_a_pickle_is_not_taken_for_safetensors(tmp_path):
    paddle.save({"a": paddle.ones([1])}, tmp_path / "a.pdparams")
    with pytest.raises(ValueError, match="cannot be read"):
        paddle.load(tmp_path / "a.pdparams", safetensors=True)
