"""Datasets that are folders of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...io import Dataset
from ...io.dataloader.checks import require
from ..image import get_image_backend, pillow

__all__ = [
    "IMG_EXTENSIONS",
    "DatasetFolder",
    "ImageFolder",
    "cv2_loader",
    "default_loader",
    "has_valid_extension",
    "make_dataset",
    "pil_loader",
]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_valid_extension(filename: str, extensions: Sequence[str]) -> bool:
    """Whether a file's name ends in one of extensions, whatever the case.

    Args:
        filename (str): A path.
        extensions (list|tuple of str): With their dots.

    Raises:
        AssertionError: extensions is neither a list nor a tuple.

    Examples:
        >>> paddle.vision.datasets.folder.has_valid_extension("a.JPG", [".jpg"])
        True
    """
    require(isinstance(extensions, (list, tuple)), "extensions is no list or tuple.", received=repr(extensions))
    return filename.lower().endswith(tuple(x.lower() for x in extensions))


def _files_in(folder: str, is_valid: Callable[[str], bool]) -> Iterator[str]:
    """Paths below a folder in the order of their names, through links too."""
    for root, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            path = os.path.join(root, name)
            if is_valid(path):
                yield path


def make_dataset(
    dir: str,
    class_to_idx: dict[str, int],
    extensions: Sequence[str] | None,
    is_valid_file: Callable[[str], bool] | None = None,
) -> list[tuple[str, int]]:
    """Paths of the files of each class, and the number of the class.

    Args:
        dir (str): A folder with a folder for each class.
        class_to_idx (dict): The number of each class by its name.
        extensions (list of str, optional): What the names of files end in; goes before is_valid_file.
        is_valid_file (callable, optional): Says of a path whether it belongs.

    Returns:
        list: pairs of path and number.

    Examples:
        >>> import os
        >>> os.makedirs("data/cat"), open("data/cat/1.png", "w").close()
        (None, None)
        >>> paddle.vision.datasets.folder.make_dataset("data", {"cat": 0}, [".png"])[0][1]
        0
    """
    is_valid = _judge(extensions, is_valid_file)
    folders = [(os.path.join(os.path.expanduser(dir), name), class_to_idx[name]) for name in sorted(class_to_idx)]
    return [(path, i) for folder, i in folders for path in _files_in(folder, is_valid)]


def _judge(extensions: Sequence[str] | None, is_valid_file: Callable[[str], bool] | None) -> Callable[[str], bool]:
    if extensions is None:
        return is_valid_file or (lambda path: has_valid_extension(path, IMG_EXTENSIONS))
    return lambda path: has_valid_extension(path, extensions)


def _nothing(dataset: str, root: str, extensions: Sequence[str] | None) -> Exception:
    return errors.precondition(
        f"{dataset}: there are no files of these kinds below {root}.",
        expected=", ".join(extensions or IMG_EXTENSIONS),
        hint="folders of other kinds of files need extensions or is_valid_file.",
    )


def pil_loader(path: str) -> Any:
    """An image file in RGB.

    Args:
        path (str): The file.

    Returns:
        PIL.Image: in RGB.

    Examples:
        >>> from PIL import Image
        >>> Image.new("L", (4, 2)).save("black.png")
        >>> paddle.vision.datasets.folder.pil_loader("black.png").mode
        'RGB'
    """
    with open(path, "rb") as file:
        return pillow().open(file).convert("RGB")


def cv2_loader(path: str) -> np.ndarray:
    """An image file as an array.

    Args:
        path (str): The file.

    Returns:
        numpy.ndarray: uint8 [H, W, 3], red first.

    Examples:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 2), "red").save("red.png")
        >>> paddle.vision.datasets.folder.cv2_loader("red.png")[0, 0].tolist()
        [255, 0, 0]
    """
    return np.array(pil_loader(path))


def default_loader(path: str) -> Any:
    """An image file as `paddle.vision.set_image_backend` says.

    Args:
        path (str): The file.

    Returns:
        numpy.ndarray for "cv2", as from `cv2_loader`; else PIL.Image, as from `pil_loader`.

    Examples:
        >>> from PIL import Image
        >>> Image.new("L", (4, 2)).save("black.png")
        >>> paddle.vision.datasets.folder.default_loader("black.png").size
        (4, 2)
    """
    return cv2_loader(path) if get_image_backend() == "cv2" else pil_loader(path)


class DatasetFolder(Dataset[Any]):
    """Files in folders that have the names of their classes: root/dog/1.png, root/cat/2.png, ...

    Args:
        root (str): The folder.
        loader (callable, optional): Makes a sample of a path. Default: reads an image.
        extensions (list of str, optional): What the names of files end in. Default: those of images.
        transform (callable, optional): Applied to each sample.
        is_valid_file (callable, optional): Says of a path whether it belongs, in place of extensions.

    Attributes:
        classes (list of str): Names in order. class_to_idx (dict): Their numbers.
        samples (list): Pairs of path and number of the class. targets (list of int): The numbers.

    A sample is (image, number of the class).

    Raises:
        FileNotFoundError: there is no such folder. RuntimeError: no file in it belongs.

    Examples:
        >>> import os
        >>> for name in ("cat", "dog"):
        ...     os.makedirs(f"animals/{name}")
        ...     np.save(f"animals/{name}/0.npy", np.ones(3))
        >>> data = paddle.vision.datasets.DatasetFolder("animals", np.load, [".npy"])
        >>> data.classes, len(data), data[1]
        (['cat', 'dog'], 2, (array([1., 1., 1.]), 1))
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ):
        import paddle

        self.root, self.transform = root, transform
        self.classes, self.class_to_idx = self._find_classes(root)
        self.samples = make_dataset(root, self.class_to_idx, extensions, is_valid_file)
        if not self.samples:
            raise _nothing(type(self).__name__, root, extensions)
        self.loader = default_loader if loader is None else loader
        self.extensions = IMG_EXTENSIONS if extensions is None else extensions
        self.targets = [target for _, target in self.samples]
        self.dtype = paddle.get_default_dtype()

    def _find_classes(self, dir: str) -> tuple[list[str], dict[str, int]]:
        """Names of classes in order, and their numbers."""
        with os.scandir(os.path.expanduser(dir)) as entries:
            classes = sorted(entry.name for entry in entries if entry.is_dir())
        return classes, {name: i for i, name in enumerate(classes)}

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """One sample.

        Args:
            index (int): Its place in `samples`.

        Returns:
            tuple: image and number of the class.
        """
        path, target = self.samples[index]
        sample = self.loader(path)
        return (sample if self.transform is None else self.transform(sample)), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset[Any]):
    """Files in a folder and the folders in it, without labels.

    Args:
        root (str): The folder.
        loader (callable, optional): Makes a sample of a path. Default: reads an image.
        extensions (list of str, optional): What the names of files end in. Default: those of images.
        transform (callable, optional): Applied to each sample.
        is_valid_file (callable, optional): Says of a path whether it belongs, in place of extensions.

    Attributes:
        samples (list of str): Paths.

    A sample is [image].

    Raises:
        RuntimeError: no file in the folder belongs.

    Examples:
        >>> import os
        >>> os.makedirs("shots")
        >>> np.save("shots/0.npy", np.ones(3))
        >>> paddle.vision.datasets.ImageFolder("shots", np.load, [".npy"])[0]
        [array([1., 1., 1.])]
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ):
        self.root, self.transform = root, transform
        self.samples = list(_files_in(os.path.expanduser(root), _judge(extensions, is_valid_file)))
        if not self.samples:
            raise _nothing(type(self).__name__, root, extensions)
        self.loader = default_loader if loader is None else loader
        self.extensions = IMG_EXTENSIONS if extensions is None else extensions

    def __getitem__(self, index: int) -> list[Any]:
        """One sample.

        Args:
            index (int): Its place in `samples`.

        Returns:
            list: the image alone.
        """
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)
