import gzip
import struct

import numpy as np
import pytest

from paddle.vision.datasets import MNIST, Digits


def files(folder, n=6, zipped=True, cut=0):
    images = np.arange(n * 784, dtype=np.uint32).astype(np.uint8)
    write = gzip.open if zipped else open
    paths = [str(folder / f"{name}{'.gz' if zipped else ''}") for name in ("images", "labels")]
    data = (struct.pack(">IIII", 2051, n, 28, 28) + images.tobytes(), struct.pack(">II", 2049, n) + bytes(range(n)))
    for path, content in zip(paths, data):
        with write(path, "wb") as f:
            f.write(content[: len(content) - cut])
    return paths, images.reshape(n, 28, 28)


@pytest.mark.parametrize("zipped", [True, False])
def test_mnist_reads_local_files(tmp_path, zipped):
    paths, images = files(tmp_path, zipped=zipped)
    data = MNIST(*paths, backend="cv2")
    x, y = data[2]
    assert len(data) == 6 and x.shape == (28, 28) and x.dtype == np.float32
    np.testing.assert_array_equal(x, images[2])
    assert y.dtype == np.int64 and y.tolist() == [2]


def test_mnist_gives_pil_images_and_transforms(tmp_path):
    pytest.importorskip("PIL")
    paths, images = files(tmp_path)
    x, _ = MNIST(*paths, mode="test", backend="pil")[1]
    assert x.size == (28, 28) and x.mode == "L"
    assert MNIST(*paths, transform=lambda im: np.asarray(im).sum())[1][0] == images[1].sum()


def test_mnist_rejects(tmp_path):
    paths, _ = files(tmp_path)
    with pytest.raises(AssertionError, match="mode"):
        MNIST(*paths, mode="x")
    with pytest.raises(ValueError, match="backend"):
        MNIST(*paths, backend="x")
    with pytest.raises(FileNotFoundError, match="nope"):
        MNIST("/nope", "/nope")
    with pytest.raises(AssertionError, match="download"):
        MNIST(download=False)
    with pytest.raises(ValueError, match="idx file of images"):
        MNIST(paths[1], paths[0])


def test_a_file_that_is_cut_short_is_named(tmp_path):
    paths, _ = files(tmp_path, cut=1)
    with pytest.raises(ValueError, match="cut short"):
        MNIST(*paths)
    with open(paths[0], "r+b") as f:
        f.truncate(100)
    with pytest.raises(ValueError, match="cannot be read"):
        MNIST(*paths)


def test_what_a_transform_makes_gets_the_default_dtype(tmp_path):
    paths, _ = files(tmp_path)
    data = MNIST(*paths, backend="cv2", transform=lambda image: image.astype("uint8")[::2])
    assert data[0][0].shape == (14, 28) and data[0][0].dtype == np.float32
    assert MNIST(*paths, mode="TEST", backend="cv2").mode == "test"


def test_digits_are_bundled_and_apart():
    train, test = Digits(), Digits("test")
    assert (len(train), len(test)) == (8000, 2000)
    x, y = test[0]
    assert x.shape == (1, 28, 28) and x.dtype == np.float32 and 0 <= x.min() and x.max() == 1 and y.dtype == np.int64
    assert np.bincount(test.labels, minlength=10).min() > 150
    kept = {im.tobytes() for im in train.images}
    assert sum(im.tobytes() in kept for im in test.images) == 0
    with pytest.raises(AssertionError):
        Digits("x")
