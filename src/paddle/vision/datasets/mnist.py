"""MNIST and Fashion-MNIST, from local files in their own format (idx, gzipped or not)."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...engine import errors
from ...io import Dataset
from ...io.dataloader.checks import require
from ..image import get_image_backend, pillow

__all__ = ["MNIST", "FashionMNIST"]

_IMAGES, _LABELS = 2051, 2049  # magic numbers: unsigned bytes with three axes, with one
DATA_HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paddle" / "dataset"


class MNIST(Dataset[Any]):
    """Handwritten digits, 28x28, 60,000 to train on and 10,000 to test.

    Files are read from image_path and label_path, or from `~/.cache/paddle/dataset/mnist/` under their usual names.
    They are not downloaded; `paddle.vision.datasets.Digits` has 10,000 digits that come with the package.

    Args:
        image_path (str, optional), label_path (str, optional): idx files, gzipped or not.
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder if no paths are given. Default: True.
        backend (str, optional): "pil" gives images, "cv2" float32 arrays [28, 28, 1]. Default: the image backend.

    A sample is (image, label), the label an int64 array [1].

    Raises:
        AssertionError: mode or the paths are missing. FileNotFoundError: there is no such file.
        ValueError: a file of another format, or no such backend.
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
        name = type(self).__name__
        require(mode.lower() in ("train", "test"), f"{name}: no such mode.", "'train' or 'test'", mode)
        backend = get_image_backend() if backend is None else backend
        if backend not in ("pil", "cv2"):
            raise errors.invalid_argument(
                f"{name}: no such backend.", expected="'pil' or 'cv2'", received=repr(backend)
            )
        self.mode, self.transform, self.backend = mode.lower(), transform, backend
        self.image_path = self._find(image_path, "IMAGE", download)
        self.label_path = self._find(label_path, "LABEL", download)
        self.images = _read_idx(self.image_path, _IMAGES).reshape(-1, 28 * 28)
        self.labels = _read_idx(self.label_path, _LABELS).astype("int64").reshape(-1, 1)
        if len(self.images) != len(self.labels):
            raise errors.invalid_argument(
                f"{name}: there are not as many labels as images.",
                received=f"{len(self.images)} images, {len(self.labels)} labels",
            )

    def _find(self, path: str | None, what: str, search: bool) -> str:
        if path is None:
            require(search, f"{type(self).__name__}: no path is given and download is False.")
            url = getattr(self, f"{self.mode.upper()}_{what}_URL")
            path = str(DATA_HOME / self.NAME / url.rsplit("/", 1)[1])
            hint = f" Files are not downloaded: fetch {url} and put it there, or pass the path."
        else:
            hint = ""
        if not os.path.isfile(path):
            raise FileNotFoundError(errors.message("NotFound", f"{type(self).__name__}: there is no {path}.{hint}"))
        return path

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        image: Any = self.images[idx].reshape(28, 28)
        if self.backend == "pil":
            image = pillow().fromarray(image)
        else:
            image = image.astype("float32")[..., None]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[idx]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Articles of clothing in the format of MNIST; see there."""

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
