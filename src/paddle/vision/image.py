"""How image files are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors

_backend = ["pil"]
BACKENDS = ("pil", "cv2", "tensor")


def check_backend(backend: Any) -> str:
    """The name of a backend, or ValueError."""
    if backend not in BACKENDS:
        raise errors.invalid_argument(
            "image backend: there is no such backend.", expected=f"one of {', '.join(BACKENDS)}", received=repr(backend)
        )
    return backend


def set_image_backend(backend: str) -> None:
    """Sets what images are read as: "pil" (PIL.Image), "cv2" (uint8 arrays, blue first) or "tensor".

    Args:
        backend (str): One of the three.

    Raises:
        ValueError: It is none of them.

    Examples:
        >>> paddle.vision.set_image_backend("cv2")
        >>> paddle.vision.get_image_backend()
        'cv2'
        >>> paddle.vision.set_image_backend("pil")
    """
    _backend[0] = check_backend(backend)


def get_image_backend() -> str:
    """The backend that images are read with.

    Returns:
        str: "pil", "cv2" or "tensor".

    Examples:
        >>> paddle.vision.get_image_backend()
        'pil'
    """
    return _backend[0]


def pillow() -> Any:
    """PIL.Image, or ImportError that names the extra."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("images need Pillow: pip install openpaddle[vision]") from None
    return Image


def image_load(path: str, backend: str | None = None) -> Any:
    """Reads an image file.

    Args:
        path (str): The file.
        backend (str, optional): Default: `get_image_backend()`.

    Returns:
        PIL.Image for "pil", uint8 array [H, W, 3] with blue first for "cv2", Tensor uint8 [3, H, W] for "tensor".

    Raises:
        ValueError: No such backend. FileNotFoundError: no such file. ImportError: Pillow is not installed.

    Examples:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 2), "red").save("red.png")
        >>> paddle.vision.image_load("red.png").size, paddle.vision.image_load("red.png", "cv2")[0, 0].tolist()
        ((4, 2), [0, 0, 255])
    """
    backend = check_backend(backend or get_image_backend())
    found = pillow().open(path)
    found.load()  # reads and closes the file
    if backend == "pil":
        return found
    array = np.asarray(found.convert("RGB"))
    if backend == "cv2":
        return np.ascontiguousarray(array[..., ::-1])
    import paddle

    return paddle.to_tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))
