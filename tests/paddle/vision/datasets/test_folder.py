import os

import numpy as np
import pytest

import paddle
from paddle.vision.datasets import DatasetFolder, ImageFolder, folder


@pytest.fixture
def tree(tmp_path):
    for name in ("dog/2.npy", "dog/1.NPY", "cat/deep/3.npy", "cat/x.txt", "empty/y.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            np.save(file, np.array([len(name)]))
    return str(tmp_path)


def names(paths):
    return [os.path.basename(p) for p in paths]


def test_dataset_folder(tree):
    data = DatasetFolder(tree, np.load, [".npy"], lambda a: a + 1)
    assert data.classes == ["cat", "dog", "empty"] and data.class_to_idx == {"cat": 0, "dog": 1, "empty": 2}
    assert names(p for p, _ in data.samples) == ["3.npy", "1.NPY", "2.npy"] and data.targets == [0, 1, 1]
    sample, target = data[1]
    assert sample.tolist() == [10] and target == 1 and len(data) == 3


def test_image_folder(tree):
    data = ImageFolder(tree, np.load, (".npy",))
    assert names(data.samples) == ["3.npy", "1.NPY", "2.npy"] and data[0][0].tolist() == [14]
    assert names(ImageFolder(tree, np.load, is_valid_file=lambda p: p.endswith("2.npy")).samples) == ["2.npy"]
    assert len(DatasetFolder(tree, np.load, is_valid_file=lambda p: p.endswith("txt"))) == 2


def test_rejects(tree):
    for kind in (DatasetFolder, ImageFolder):
        with pytest.raises(RuntimeError, match="no files"):
            kind(tree)
    with pytest.raises(FileNotFoundError):
        DatasetFolder("/nope")
    with pytest.raises(RuntimeError):
        ImageFolder("/nope")
    with pytest.raises(AssertionError, match="extensions"):
        folder.has_valid_extension("a.png", ".png")


def test_images_are_read_as_the_backend_says(tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.array([[[1, 2, 3]]], "uint8")).save(tmp_path / "a.png")
    assert ImageFolder(str(tmp_path))[0][0].getpixel((0, 0)) == (1, 2, 3)
    paddle.vision.set_image_backend("cv2")
    try:
        assert ImageFolder(str(tmp_path))[0][0].tolist() == [[[1, 2, 3]]]
    finally:
        paddle.vision.set_image_backend("pil")
