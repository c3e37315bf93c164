"""Slices of files."""

import numpy as np
import pytest

import paddle


@pytest.fixture
def storage(tmp_path):
    np.arange(16, dtype="float32").tofile(tmp_path / "a.bin")
    return paddle.MmapStorage(str(tmp_path / "a.bin"), 64)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (("float32", 0, 3), [0.0, 1.0, 2.0]),
        (("float32", 4, 8), [1.0, 2.0, 3.0, 4.0]),  # from byte 4 on 4 elements, as upstream
        (("float32", 0, 16, 5), [0.0, 5.0, 10.0, 15.0]),
        (("uint8", 4, 8), [0, 0, 128, 63]),
        (("float32", 56), [14.0, 15.0]),
        (("int64", 64), []),
        (("bool", 4, 8), [False, False, True, True]),
    ],
)
def test_slices(storage, arguments, expected):
    found = storage.get_slice(*arguments)
    assert found.tolist() == expected and found.stop_gradient
    assert found.dtype == paddle.to_tensor([1]).astype(arguments[0]).dtype


def test_slices_are_tensors_of_their_own(storage):
    a = storage.get_slice(dtype="float32", start=0, stop=2)
    a.add_(paddle.ones([2]))
    assert storage.get_slice("float32", 0, 2).tolist() == [0.0, 1.0] and a.tolist() == [1.0, 2.0]
    assert storage.get_slice().shape == [64]
    assert storage.get_slice("bfloat16", 6, 7).dtype == paddle.bfloat16


@pytest.mark.parametrize(
    "arguments", [("uint8", -1, 3), ("uint8", 5, 3), ("float32", 0, 17), ("uint8", 0, 8, 0), ("uint8", 65)]
)
def test_slices_outside(storage, arguments):
    with pytest.raises(ValueError, match="not inside"):
        storage.get_slice(*arguments)


def test_wrong_files(tmp_path, storage):
    with pytest.raises(FileNotFoundError):
        paddle.MmapStorage(str(tmp_path / "none"), 1)
    with pytest.raises(ValueError, match="fewer bytes"):
        paddle.MmapStorage(str(tmp_path / "a.bin"), 65)
    (tmp_path / "a.bin").write_bytes(b"\0" * 8)
    with pytest.raises(ValueError, match="become shorter"):
        storage.get_slice("uint8", 0, 64)


def test_the_library_of_safetensors_reads_through_it(tmp_path):
    library = pytest.importorskip("safetensors.paddle")
    state = {"a": paddle.rand([2, 3]), "h": paddle.ones([2]).astype("bfloat16"), "n": paddle.to_tensor(3)}
    library.save_file(state, tmp_path / "a.safetensors")
    for found in (library.load_file(tmp_path / "a.safetensors"), paddle.load(tmp_path / "a.safetensors")):
        assert sorted(found) == sorted(state)
        for k, t in state.items():
            assert found[k].dtype == t.dtype and found[k].shape == t.shape
            np.testing.assert_array_equal(found[k].numpy(), t.numpy())
