"""Flowers, from the files of the University of Oxford."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import errors
from ...io import Dataset
from ..image import pillow
from . import _files
from ._matlab import read_matlab

__all__ = ["Flowers"]

DATA_URL = "http://paddlemodels.bj.bcebos.com/flowers/102flowers.tgz"
LABEL_URL = "http://paddlemodels.bj.bcebos.com/flowers/imagelabels.mat"
SETID_URL = "http://paddlemodels.bj.bcebos.com/flowers/setid.mat"
DATA_MD5 = "52808999861908f626f3c1f4e79d11fa"
LABEL_MD5 = "e0620be6f572b9609742df49c70aed4d"
SETID_MD5 = "a5357ecc9cb78c4bef273ce3793fc85c"

# The test set is larger than that for training, so that upstream has them exchanged.
MODE_FLAG_MAP = {"train": "tstid", "test": "trnid", "valid": "valid"}

_IMAGE = re.compile(r"(?:\./)?(jpg/image_\d{5,}\.jpg)")


class Flowers(Dataset[Any]):
    """8,189 photographs of 102 kinds of flowers.

    Source: Nilsback and Zisserman 2008, "Automated flower classification over a large number of classes".

    Args:
        data_file (str, optional): The archive `102flowers.tgz`. It is unpacked into a folder beside it.
        label_file (str, optional): `imagelabels.mat`.
        setid_file (str, optional): `setid.mat`, which says what images are for training, validation and test.
            Default for all: those in `~/.cache/paddle/dataset/flowers/`, where they are downloaded to if need be.
        mode (str): "train", "valid" or "test". Default: "train".
        transform (callable, optional): Applied to each image.
        download (bool): Look in the cache folder and the network for files that are not given. Default: True.
        backend (str, optional): "pil" gives images, "cv2" arrays [H, W, 3] of the default dtype, red first.
            Default: the image backend.

    A sample is (image, label), the label an int64 array [1], from 1 on.

    Raises:
        AssertionError: no such mode, or a file is missing and download is False. FileNotFoundError: there is no such
            file, nor to be had. ValueError: a file of another format, or no such backend.

    Examples:
        >>> paddle.vision.datasets.Flowers(mode="train", download=False)
        Traceback (most recent call last):
            ...
        AssertionError: (InvalidArgument) Flowers: no path is given and download is False.
        ...
    """

    def __init__(
        self,
        data_file: str | None = None,
        label_file: str | None = None,
        setid_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ):
        import paddle

        flag = MODE_FLAG_MAP[_files.check_mode("Flowers", mode, ("train", "valid", "test"))]
        self.backend, self.transform = _files.check_backend("Flowers", backend), transform
        data_file, label_file, setid_file = (
            _files.find("Flowers", path, url, md5, "flowers", download)
            for path, url, md5 in (
                (data_file, DATA_URL, DATA_MD5),
                (label_file, LABEL_URL, LABEL_MD5),
                (setid_file, SETID_URL, SETID_MD5),
            )
        )
        self.labels, self.indexes = _vector(label_file, "labels"), _vector(setid_file, flag)
        self.data_path = _unpack(data_file)
        self.dtype = paddle.get_default_dtype()

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        index = self.indexes[idx]
        image = pillow().open(os.path.join(self.data_path, f"jpg/image_{index:05}.jpg"))
        image.load()  # reads and closes the file
        if self.backend == "cv2":
            image = np.array(image)
        if self.transform is not None:
            image = self.transform(image)
        label = self.labels[index - 1 : index]
        return (image if self.backend == "pil" else image.astype(self.dtype)), label

    def __len__(self) -> int:
        return len(self.indexes)


def _vector(path: str, name: str) -> np.ndarray:
    """The array of this name in a MATLAB file, int64 [N]."""
    found = read_matlab(path)
    if name not in found:
        raise errors.invalid_argument(
            f"Flowers: there is no array {name} in {path}.", received=f"arrays {', '.join(sorted(found)) or 'none'}"
        )
    return found[name].reshape(-1).astype("int64")


def _unpack(archive: str) -> str:
    """The folder that the images of an archive are in; they are unpacked once."""
    folder = archive[:-4] if archive.endswith(".tgz") else archive + ".files"
    if os.path.isdir(os.path.join(folder, "jpg")):
        return folder
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as part:  # so that what is there is whole
        os.mkdir(os.path.join(part, "jpg"))
        with _files.open_tar("Flowers", archive) as tar:
            for member in tar:
                name = _IMAGE.fullmatch(member.name)
                if member.isfile() and name:
                    with open(os.path.join(part, name[1]), "wb") as sink:
                        shutil.copyfileobj(tar.extractfile(member), sink)  # type: ignore[arg-type]
        try:
            os.replace(os.path.join(part, "jpg"), os.path.join(folder, "jpg"))
        except OSError:
            if not os.path.isdir(os.path.join(folder, "jpg")):  # else another process was first
                raise
    return folder
