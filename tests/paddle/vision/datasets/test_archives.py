"""CIFAR, Flowers and VOC, from small archives of the original forms."""

import io
import os
import pickle
import struct
import tarfile

import numpy as np
import pytest

import paddle
from paddle.vision import transforms as T
from paddle.vision.datasets import VOC2012, Cifar10, Cifar100, Flowers

from .test_files import matlab

PIXELS = np.random.default_rng(0).integers(0, 256, (3, 3072)).astype("uint8")


def archive(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return str(path)


def python2(pixels, labels):
    """A batch in the form of the published archives, which Python 2 wrote."""
    raw = pixels.tobytes()
    return b"".join([
        b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K",
        bytes([len(pixels)]), b"M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R",
        b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T", struct.pack("<I", len(raw)), raw,
        b"tbU\x06labels](", b"".join(b"K" + bytes([n]) for n in labels), b"eu.",
    ])  # fmt: skip


def batch(**more):
    return pickle.dumps({b"data": PIXELS, **{k.encode(): v for k, v in more.items()}})


@pytest.fixture
def cifar(tmp_path):
    members = {"data_batch_2": batch(labels=[4, 5, 6]), "data_batch_1": python2(PIXELS[::-1], [1, 2, 3]),
               "test_batch": batch(labels=[7, 8, 9]), "batches.meta": b"not a pickle"}  # fmt: skip
    return archive(tmp_path / "c.tar.gz", {f"cifar-10-batches-py/{k}": v for k, v in members.items()})


def test_cifar10(cifar):
    data = Cifar10(cifar, backend="cv2")
    assert [int(data[i][1]) for i in range(len(data))] == [1, 2, 3, 4, 5, 6]
    image, label = data[3]
    assert image.dtype == np.float32 and label.dtype == np.int64 and label.shape == ()
    np.testing.assert_array_equal(image, PIXELS[0].reshape(3, 32, 32).transpose(1, 2, 0))
    np.testing.assert_array_equal(data[2][0], image)
    assert [int(y) for _, y in Cifar10(cifar, mode="Test", backend="cv2").data] == [7, 8, 9]
    tensor = Cifar10(cifar, transform=T.ToTensor(), backend="cv2")[3][0]
    assert isinstance(tensor, paddle.Tensor) and tensor.shape == [3, 32, 32] and tensor.numpy().max() <= 1


def test_cifar_gives_pil_images(cifar):
    pytest.importorskip("PIL")
    image, _ = Cifar10(cifar, backend="pil")[3]
    assert image.mode == "RGB" and image.getpixel((1, 0)) == tuple(PIXELS[0].reshape(3, -1)[:, 1])


def test_cifar100_takes_the_fine_labels(tmp_path):
    members = {"cifar-100-python/train": batch(fine_labels=[99, 1, 2], coarse_labels=[0, 0, 0])}
    data = Cifar100(archive(tmp_path / "c.tgz", members), backend="cv2")
    assert len(data) == 3 and int(data[0][1]) == 99


class Attack:
    def __reduce__(self):
        return os.mkdir, ("attacked",)


@pytest.mark.parametrize(
    "content, text",
    [
        (pickle.dumps({b"data": Attack(), b"labels": [1]}), "cannot be read"),
        (batch(labels=[1])[:-9], "cannot be read"),
        (batch(labels=[1]), "as many labels"),
        (batch(other=[1]), "no batch"),
        (pickle.dumps({b"data": PIXELS[:, 1:], b"labels": [1, 2, 3]}), "no batch"),
        (pickle.dumps([1]), "no batch"),
    ],
)
def test_cifar_rejects(tmp_path, monkeypatch, content, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=text):
        Cifar10(archive("c.tar", {"data_batch_1": content}))
    assert not os.path.exists("attacked")


def test_cifar_needs_its_members(cifar):
    with pytest.raises(ValueError, match="no images"):
        Cifar100(cifar)
    with pytest.raises(ValueError, match="backend"):
        Cifar10(cifar, backend="tensor")


def picture(width, form="PNG", mode="RGB"):
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.fromarray(np.full((4, width, 3), width * 9, "uint8")).convert(mode).save(out, form)
    return out.getvalue()


@pytest.fixture
def flowers(tmp_path):
    files = {f"jpg/image_{i:05}.jpg": picture(i + 4) for i in range(1, 5)}
    files["../outside"] = b"never unpacked"
    data = archive(tmp_path / "102flowers.tgz", files)
    (tmp_path / "imagelabels.mat").write_bytes(matlab("labels", np.array([[11, 22, 33, 44]], "uint8"), 2))
    sets = (("trnid", [1]), ("valid", [2]), ("tstid", [4, 3]))
    content = [matlab(name, np.array([ids], "uint16"), 4) for name, ids in sets]
    (tmp_path / "setid.mat").write_bytes(content[0] + content[1][128:] + content[2][128:])
    return data, str(tmp_path / "imagelabels.mat"), str(tmp_path / "setid.mat")


def test_flowers(flowers, tmp_path):
    data = Flowers(*flowers, backend="cv2")
    assert len(data) == 2 and data[0][1].tolist() == [44] and data[0][1].dtype == np.int64
    assert data[0][0].shape == (4, 8, 3) and data[0][0].dtype == np.float32
    assert sorted(os.listdir(tmp_path / "102flowers")) == ["jpg"] and not (tmp_path / "outside").exists()
    image, label = Flowers(*flowers, mode="valid", backend="pil")[0]
    assert image.size == (6, 4) and label.tolist() == [22]
    assert Flowers(*flowers, mode="test", transform=np.asarray, backend="pil")[0][0].shape == (4, 5, 3)


def test_flowers_rejects(flowers):
    with pytest.raises(ValueError, match="no array labels"):
        Flowers(flowers[0], flowers[2], flowers[1])
    with pytest.raises(AssertionError, match="mode"):
        Flowers(*flowers, mode="all")


@pytest.fixture
def voc(tmp_path):
    root = "VOCdevkit/VOC2012/"
    files = {f"{root}ImageSets/Segmentation/{k}.txt": v for k, v in
             (("trainval", b"a\nb\n"), ("train", b"a\n"), ("val", b"b\n"))}  # fmt: skip
    for i, name in enumerate("ab"):
        files[f"{root}JPEGImages/{name}.jpg"] = picture(i + 5, "JPEG")
        files[f"{root}SegmentationClass/{name}.png"] = picture(i + 5, "PNG", "P")
    return archive(tmp_path / "voc.tar", files, "w")


def test_voc2012(voc):
    data = VOC2012(voc, backend="cv2")
    assert len(data) == 2 and data[1][0].shape == (4, 6, 3) and data[1][1].shape == (4, 6)
    assert data[0][0].dtype == data[0][1].dtype == np.float32
    image, classes = pickle.loads(pickle.dumps(VOC2012(voc, mode="valid", backend="pil")))[0]
    assert image.size == (6, 4) and classes.mode == "P"
    assert len(VOC2012(voc, mode="test", transform=T.Transpose(), backend="cv2")[0][0]) == 3
