"""CIFAR-10 and CIFAR-100, from the archives of their Python version. Their pickles are read without running them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import errors
from ...framework import pickled
from ...framework.source import Broken, Source
from ...io import Dataset
from ..image import pillow
from . import _files

__all__ = ["Cifar10", "Cifar100"]

URL_PREFIX = "https://dataset.bj.bcebos.com/cifar/"
CIFAR10_URL = URL_PREFIX + "cifar-10-python.tar.gz"
CIFAR10_MD5 = "c58f30108f718f92721af3b95e74349a"
CIFAR100_URL = URL_PREFIX + "cifar-100-python.tar.gz"
CIFAR100_MD5 = "eb9058c3a382ffc7106e4002c42a8d85"

MODE_FLAG_MAP = {"train10": "data_batch", "test10": "test_batch", "train100": "train", "test100": "test"}


class Cifar10(Dataset[Any]):
    """60,000 photographs of 32x32 pixels in 10 classes, 50,000 of them to train on.

    Source: Krizhevsky 2009, "Learning Multiple Layers of Features from Tiny Images".

    Args:
        data_file (str, optional): The archive `cifar-10-python.tar.gz`. Default: that in
            `~/.cache/paddle/dataset/cifar/`, where it is downloaded to if need be.
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder and the network if no file is given. Default: True.
        backend (str, optional): "pil" gives images, "cv2" arrays [32, 32, 3] of the default dtype, red first.
            Default: the image backend.

    A sample is (image, label), the label an int64 array [].

    Raises:
        AssertionError: no such mode, or there is no file and download is False. FileNotFoundError: there is no such
            file, nor to be had. ValueError: a file of another format, or no such backend.

    Examples:
        >>> import io, pickle, tarfile
        >>> batch = pickle.dumps({b"data": np.zeros((4, 3072), "uint8"), b"labels": [3, 1, 4, 1]})
        >>> with tarfile.open("cifar.tar.gz", "w:gz") as tar:
        ...     info = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        ...     info.size = len(batch)
        ...     tar.addfile(info, io.BytesIO(batch))
        >>> data = paddle.vision.datasets.Cifar10("cifar.tar.gz", mode="test", backend="cv2")
        >>> len(data), data[2][0].shape, int(data[2][1])
        (4, (32, 32, 3), 4)
    """

    _SIZE = 10
    _URL, _MD5 = CIFAR10_URL, CIFAR10_MD5

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ):
        import paddle

        name = type(self).__name__
        self.mode, self.transform = _files.check_mode(name, mode, ("train", "test")), transform
        self.backend = _files.check_backend(name, backend)
        self.flag = MODE_FLAG_MAP[f"{self.mode}{self._SIZE}"]
        self.data_file = _files.find(name, data_file, self._URL, self._MD5, "cifar", download)
        self.data: list[tuple[np.ndarray, int]] = []
        with _files.open_tar(name, self.data_file) as tar:
            members = sorted((m for m in tar if m.isfile() and self.flag in m.name), key=lambda m: m.name)
            for member in members:
                self.data.extend(self._read(member.name, tar.extractfile(member)))
        if not self.data:
            raise errors.invalid_argument(
                f"{name}: there are no images in {self.data_file}.",
                expected=f"members with {self.flag!r} in their names",
            )
        self.dtype = paddle.get_default_dtype()

    def _read(self, member: str, file: Any) -> Any:
        """Pairs of the bytes [3072] of an image and its label."""
        where = f"{type(self).__name__}: {member} in {self.data_file}"
        try:
            batch = pickled.read(Source(file))
        except Broken as e:
            raise errors.invalid_argument(f"{where} cannot be read: it holds {e}.") from None
        items = batch.items() if isinstance(batch, dict) else ()
        known = {k.decode("latin1") if isinstance(k, bytes) else k: v for k, v in items}
        images, labels = known.get("data"), known.get("labels", known.get("fine_labels"))
        images, labels = (v.value if isinstance(v, pickled.Array) else v for v in (images, labels))
        if not isinstance(images, np.ndarray) or images.shape != (len(images), 3072) or labels is None:
            raise errors.invalid_argument(f"{where} is no batch of images.", expected="data [N, 3072] and N labels")
        if len(labels) != len(images):
            raise errors.invalid_argument(
                f"{where} has not as many labels as images.",
                received=f"{len(images)} images, {len(labels)} labels",
            )
        return zip(images, labels)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        pixels, label = self.data[idx]
        image: Any = pixels.reshape(3, 32, 32).transpose(1, 2, 0)
        if self.backend == "pil":
            image = pillow().fromarray(np.ascontiguousarray(image, "uint8"))
        if self.transform is not None:
            image = self.transform(image)
        return (image if self.backend == "pil" else image.astype(self.dtype)), np.asarray(label, "int64")

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """60,000 photographs of 32x32 pixels in 100 classes, 50,000 of them to train on; see Cifar10.

    Args:
        data_file (str, optional): The archive `cifar-100-python.tar.gz`.
        mode (str): "train" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder and the network if no file is given. Default: True.
        backend (str, optional): "pil" or "cv2". Default: the image backend.

    Examples:
        >>> issubclass(paddle.vision.datasets.Cifar100, paddle.vision.datasets.Cifar10)
        True
    """

    _SIZE = 100
    _URL, _MD5 = CIFAR100_URL, CIFAR100_MD5

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ):
        super().__init__(data_file, mode, transform, download, backend)
