"""MNIST and Fashion-MNIST, from local files in their own format (idx, gzipped or not)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import errors
from ...io import Dataset
from ..image import pillow
from . import _files

__all__ = ["MNIST", "FashionMNIST"]

_IMAGES, _LABELS = 2051, 2049  # magic numbers: unsigned bytes with three axes, with one


class MNIST(Dataset[Any]):
    """Handwritten digits, 28x28, 60,000 to train on and 10,000 to test.

    Files are read from image_path and label_path, or from `~/.cache/paddle/dataset/mnist/` under their usual names, and
    downloaded to there if need be. `paddle.vision.datasets.Digits` has 10,000 digits that come with the package.

    Args:
        image_path (str, optional), label_path (str, optional): idx files, gzipped or not.
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder and the network if no paths are given. Default: True.
        backend (str, optional): "pil" gives images, "cv2" arrays [28, 28] of the default dtype. Default: the image
            backend.

    A sample is (image, label), the label an int64 array [1].

    Raises:
        AssertionError: no such mode, or a path is missing and download is False. FileNotFoundError: there is no such
            file, nor to be had. ValueError: a file of another format, or no such backend.

    Examples:
        >>> import struct
        >>> with open("images", "wb") as images, open("labels", "wb") as labels:
        ...     size = images.write(struct.pack(">4I", 2051, 2, 28, 28) + bytes(2 * 784))
        ...     size = labels.write(struct.pack(">2I", 2049, 2) + bytes([7, 3]))
        >>> image, label = paddle.vision.datasets.MNIST("images", "labels", backend="cv2")[1]
        >>> image.shape, label
        ((28, 28), array([3]))
    """

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ):
        import paddle

        name = type(self).__name__
        self.mode, self.transform = _files.check_mode(name, mode, ("train", "test")), transform
        self.backend = _files.check_backend(name, backend)
        self.image_path = self._find(image_path, "IMAGE", download)
        self.label_path = self._find(label_path, "LABEL", download)
        self.images = _read_idx(self.image_path, _IMAGES).reshape(-1, 28 * 28)
        self.labels = _read_idx(self.label_path, _LABELS).astype("int64").reshape(-1, 1)
        if len(self.images) != len(self.labels):
            raise errors.invalid_argument(
                f"{name}: there are not as many labels as images.",
                received=f"{len(self.images)} images, {len(self.labels)} labels",
            )
        self.dtype = paddle.get_default_dtype()

    def _find(self, path: str | None, what: str, download: bool) -> str:
        url, md5 = (getattr(self, f"{self.mode.upper()}_{what}_{part}") for part in ("URL", "MD5"))
        return _files.find(type(self).__name__, path, url, md5, self.NAME, download)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        image: Any = self.images[idx].reshape(28, 28)
        image = pillow().fromarray(image) if self.backend == "pil" else image.astype("float32")
        if self.transform is not None:
            image = self.transform(image)
        return (image if self.backend == "pil" else image.astype(self.dtype)), self.labels[idx]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Articles of clothing in the format of MNIST; see there.

    Source: Xiao, Rasul and Vollgraf 2017, arXiv:1708.07747.

    Args:
        image_path (str, optional), label_path (str, optional): idx files, gzipped or not.
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder and the network if no paths are given. Default: True.
        backend (str, optional): "pil" or "cv2". Default: the image backend.

    Examples:
        >>> paddle.vision.datasets.FashionMNIST.NAME
        'fashion-mnist'
    """

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"


def _read_idx(path: str, magic: int) -> np.ndarray:
    """The array in an idx file of bytes; ValueError if it is another file, or cut short."""
    with open(path, "rb") as file:
        head = file.read(2)
    opener: Any = gzip.open if head == b"\x1f\x8b" else open
    try:
        with opener(path, "rb") as file:
            data = file.read()
    except (OSError, EOFError) as e:
        raise errors.invalid_argument(f"{path} cannot be read: {e}.") from None
    axes = magic & 0xFF
    found = int.from_bytes(data[:4], "big")
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(axes)]
    size = int(np.prod(shape))
    if found != magic or len(data) != 4 + 4 * axes + size:
        raise errors.invalid_argument(
            f"{path} is not an idx file of {'images' if magic == _IMAGES else 'labels'}, or is cut short.",
            expected=f"magic number {magic} and {size} bytes of data",
            received=f"magic number {found} and {len(data) - 4 - 4 * axes} bytes",
        )
    return np.frombuffer(data, np.uint8, offset=4 + 4 * axes).reshape(shape)
