"""The segmented images of the PASCAL Visual Object Classes challenge of 2012."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from ...io import Dataset
from ..image import pillow
from . import _files

__all__ = ["VOC2012"]

VOC_URL = "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar"
VOC_MD5 = "6cd6e144f989b92b3379bac3b3de84fd"
SET_FILE = "VOCdevkit/VOC2012/ImageSets/Segmentation/{}.txt"
DATA_FILE = "VOCdevkit/VOC2012/JPEGImages/{}.jpg"
LABEL_FILE = "VOCdevkit/VOC2012/SegmentationClass/{}.png"
CACHE_DIR = "voc2012"

# There are no labels of the challenge's test set; upstream takes the part for training in its place.
MODE_FLAG_MAP = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(Dataset[Any]):
    """2,913 photographs in which each pixel has one of 21 classes.

    Source: Everingham et al. 2015, "The Pascal Visual Object Classes Challenge: A Retrospective".

    Args:
        data_file (str, optional): The archive `VOCtrainval_11-May-2012.tar`. Default: that in
            `~/.cache/paddle/dataset/voc2012/`, where it is downloaded to if need be.
        mode (str): "train" (all), "valid" or "test" (that half which is not for validation). Default: "train".
        transform (callable, optional): Applied to each photograph.
        download (bool): Look in the cache folder and the network if no file is given. Default: True.
        backend (str, optional): "pil" gives images, "cv2" arrays [H, W, 3] and [H, W] of the default dtype, red
            first. Default: the image backend.

    A sample is (photograph, classes): the classes an image with a palette, or an array of their numbers, 255 where
    there is none.

    Raises:
        AssertionError: no such mode, or there is no file and download is False. FileNotFoundError: there is no such
            file, nor to be had. ValueError: a file of another format, or no such backend.

    Examples:
        >>> paddle.vision.datasets.VOC2012(mode="train", download=False)
        Traceback (most recent call last):
            ...
        AssertionError: (InvalidArgument) VOC2012: no path is given and download is False.
        ...
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ):
        import paddle

        self.flag = MODE_FLAG_MAP[_files.check_mode("VOC2012", mode, ("train", "valid", "test"))]
        self.backend, self.transform = _files.check_backend("VOC2012", backend), transform
        self.data_file = _files.find("VOC2012", data_file, VOC_URL, VOC_MD5, CACHE_DIR, download)
        self._tar = _files.TarFiles("VOC2012", self.data_file)
        names = self._tar.read(SET_FILE.format(self.flag)).decode("utf-8").split()
        self.data = [DATA_FILE.format(name) for name in names]
        self.labels = [LABEL_FILE.format(name) for name in names]
        self.dtype = paddle.get_default_dtype()

    def _open(self, name: str) -> Any:
        return pillow().open(io.BytesIO(self._tar.read(name)))

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        image, classes = self._open(self.data[idx]), self._open(self.labels[idx])
        if self.backend == "cv2":
            image, classes = np.array(image), np.array(classes)
        if self.transform is not None:
            image = self.transform(image)
        if self.backend == "cv2":
            return image.astype(self.dtype), classes.astype(self.dtype)
        return image, classes

    def __len__(self) -> int:
        return len(self.data)
