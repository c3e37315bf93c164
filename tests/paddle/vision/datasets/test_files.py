"""Where files come from: given paths, the cache, the network (file URLs here); what is said where there are none."""

import hashlib
import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

from paddle.vision.datasets import FashionMNIST, _files, _matlab


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "DATA_HOME", tmp_path / "cache")
    return tmp_path / "cache"


def published(folder, content=b"content"):
    """URL and sum of a file."""
    file = folder / "set.bin"
    file.write_bytes(content)
    return file.as_uri(), hashlib.md5(content).hexdigest()


def test_a_file_is_fetched_once(cache, tmp_path, capsys):
    url, md5 = published(tmp_path)
    path = _files.find("Set", None, url, md5, "sets", True)
    assert path == str(cache / "sets" / "set.bin") and Path(path).read_bytes() == b"content"
    assert "Set: downloading file:" in capsys.readouterr().err
    (tmp_path / "set.bin").unlink()
    assert _files.find("Set", None, url, md5, "sets", True) == path and not capsys.readouterr().err


def test_a_wrong_sum_leaves_nothing(cache, tmp_path):
    url, _ = published(tmp_path)
    with pytest.raises(FileNotFoundError, match="md5 sum") as caught:
        _files.find("Set", None, url, "0" * 32, "sets", True)
    assert isinstance(caught.value, RuntimeError) and not list((cache / "sets").iterdir())


def test_without_a_network_the_file_the_url_and_the_folder_are_named(cache, monkeypatch):
    def nowhere(*args):
        raise OSError("no such host")

    monkeypatch.setattr("socket.getaddrinfo", nowhere)
    monkeypatch.setattr("urllib.request.getproxies", dict)
    with pytest.raises(FileNotFoundError) as caught:
        FashionMNIST()
    text = str(caught.value)
    name = "train-images-idx3-ubyte.gz"
    for word in (
        str(cache / "fashion-mnist" / name),
        f"https://dataset.bj.bcebos.com/fashion_mnist/{name}",
        "no network",
    ):
        assert word in text
    assert not cache.exists()


def test_a_failed_download_says_why(cache, tmp_path):
    with pytest.raises(FileNotFoundError, match="URLError"):
        _files.find("Set", None, (tmp_path / "nope").as_uri(), "", "sets", True)
    with pytest.raises(FileNotFoundError, match="there is no /nope"):
        _files.find("Set", "/nope", "", "", "sets", False)
    with pytest.raises(AssertionError, match="download is False"):
        _files.find("Set", None, "x/y", "", "sets", False)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_files_in_tar_archives(tmp_path, mode):
    path = str(tmp_path / "a.tar")
    with tarfile.open(path, mode) as tar:
        for name, content in (("a/1", b"one"), ("2", b"")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    files = pickle.loads(pickle.dumps(_files.TarFiles("Set", path)))
    assert files.read("a/1") == b"one" and files.read("2") == b"" and "3" not in files
    with pytest.raises(ValueError, match="no 3 in"):
        files.read("3")
    (tmp_path / "b.tar").write_bytes(b"nothing like it" * 100)
    with pytest.raises(ValueError, match="no tar archive"):
        _files.TarFiles("Set", str(tmp_path / "b.tar"))


# ---- MATLAB files -----------------------------------------------------------------------------


def element(kind, content, order="<"):
    word = np.dtype(order + "u4")
    if len(content) <= 4:
        return np.array([len(content) << 16 | kind], word).tobytes() + content.ljust(4, b"\0")
    return np.array([kind, len(content)], word).tobytes() + content + bytes(-len(content) % 8)


def matlab(name, values, kind, of_class=6, order="<", packed=False):
    """A file with one matrix."""
    parts = [
        element(6, np.array([of_class, 0], order + "u4").tobytes(), order),
        element(5, np.array(values.shape, order + "i4").tobytes(), order),
        element(1, name.encode(), order),
        element(kind, values.astype(values.dtype.newbyteorder(order)).tobytes(order="F"), order),
    ]
    matrix = element(14, b"".join(parts), order)
    if packed:
        import zlib

        content = zlib.compress(matrix)
        matrix = np.array([15, len(content)], order + "u4").tobytes() + content
    return bytes(124) + np.array([0x0100, 0x4D49], order + "u2").tobytes() + matrix


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_matlab(tmp_path, order, packed):
    file = tmp_path / "a.mat"
    for dtype, kind in (("uint8", 2), ("uint16", 4), ("float64", 9)):
        values = np.arange(6).reshape(2, 3).astype(dtype)
        file.write_bytes(matlab("labels", values, kind, order=order, packed=packed))
        found = _matlab.read_matlab(str(file))
        assert list(found) == ["labels"] and found["labels"].dtype.newbyteorder("=") == dtype
        np.testing.assert_array_equal(found["labels"], values)
    file.write_bytes(matlab("id", np.array([[7]], "uint8"), 2))  # name and content in short elements
    assert _matlab.read_matlab(str(file))["id"].tolist() == [[7]]
    file.write_bytes(matlab("text", np.array([[7]], "uint16"), 4, of_class=4))
    assert _matlab.read_matlab(str(file)) == {}


def test_matlab_rejects(tmp_path):
    file = tmp_path / "a.mat"
    good = matlab("labels", np.arange(6).reshape(1, 6).astype("uint16"), 4)
    packed = matlab("labels", np.arange(6).reshape(1, 6).astype("uint16"), 4, packed=True)
    damaged = packed[:150] + bytes([packed[150] ^ 255]) + packed[151:]
    strange = matlab("labels", np.zeros((1, 6), "uint16"), 99)
    for content in (b"", b"x" * 200, good[:-4], strange, damaged):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="no MATLAB file"):
            _matlab.read_matlab(str(file))
