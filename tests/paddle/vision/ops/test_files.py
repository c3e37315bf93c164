import numpy as np
import pytest

import paddle
from paddle.vision import ops


def test_files(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"\0\xff")
    x = ops.read_file(str(path))
    assert x.tolist() == [0, 255] and x.dtype is paddle.uint8
    with pytest.raises(FileNotFoundError):
        ops.read_file(str(tmp_path / "nope"))


def test_decode_jpeg(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = str(tmp_path / "a.jpg")
    image.fromarray(np.full((4, 6, 3), (200, 100, 0), "uint8")).save(path, quality=100)
    x = ops.read_file(path)
    rgb = ops.decode_jpeg(x)
    assert rgb.shape == [3, 4, 6] and rgb.dtype is paddle.uint8
    assert np.abs(rgb.numpy()[:, 1, 2].astype(int) - [200, 100, 0]).max() <= 3
    assert ops.decode_jpeg(x, "gray").shape == [1, 4, 6] and ops.decode_jpeg(x, "rgb").shape == [3, 4, 6]
    for bad, mode in ((x, "bgr"), (x[:20], "rgb"), (x.reshape([1, -1]), "rgb")):
        with pytest.raises(ValueError):
            ops.decode_jpeg(bad, mode)
    assert ops.ConvNormActivation(3, 4)(paddle.ones([1, 3, 4, 4])).shape == [1, 4, 4, 4]
