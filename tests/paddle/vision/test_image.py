import numpy as np
import pytest

import paddle


def test_backends(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = str(tmp_path / "a.png")
    image.fromarray(np.arange(12, dtype="uint8").reshape(2, 2, 3)).save(path)
    assert paddle.vision.image_load(path).size == (2, 2)
    assert paddle.vision.image_load(path, "cv2")[0, 0].tolist() == [2, 1, 0]
    assert paddle.vision.image_load(path, "tensor").shape == [3, 2, 2]
    paddle.vision.set_image_backend("cv2")
    assert paddle.vision.get_image_backend() == "cv2"
    paddle.vision.set_image_backend("pil")
    with pytest.raises(ValueError, match="backend"):
        paddle.vision.set_image_backend("x")
