"""Image files as Tensors."""

from __future__ import annotations

import io

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from ..image import pillow
from ._checks import check_tensor

__all__ = ["decode_jpeg", "read_file"]


def read_file(filename: str, name: str | None = None) -> Tensor:
    """The bytes of a file.

    Args:
        filename (str): Its path.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: uint8 [N].

    Raises:
        FileNotFoundError: there is none.

    Examples:
        >>> with open("three", "wb") as file:
        ...     size = file.write(b"abc")
        >>> paddle.vision.ops.read_file("three").tolist()
        [97, 98, 99]
    """
    import paddle

    with open(filename, "rb") as file:
        return paddle.to_tensor(np.frombuffer(file.read(), "uint8").copy())


_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """The image in the bytes of a JPEG file. Pillow is needed.

    Args:
        x (Tensor): uint8 [N]; see `read_file`.
        mode (str): "unchanged", "gray" or "rgb". Default: "unchanged".
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: uint8 [C, H, W].

    Raises:
        ValueError: no such mode, x has a wrong shape or is no image. ImportError: Pillow is not installed.

    Examples:
        >>> from PIL import Image
        >>> Image.new("RGB", (6, 4)).save("black.jpg")
        >>> paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file("black.jpg"), "gray").shape
        paddle.Size([1, 4, 6])
    """
    import paddle

    check_tensor(x, "decode_jpeg", "x", ("N",), floating=False)
    if mode not in _MODES:
        raise errors.invalid_argument(
            "decode_jpeg: no such mode.", expected=f"one of {', '.join(_MODES)}", received=repr(mode)
        )
    try:
        image = pillow().open(io.BytesIO(x.numpy().tobytes()), formats=["JPEG"])
        a = np.asarray(image.convert(_MODES[mode]) if _MODES[mode] else image)
    except OSError as e:
        raise errors.invalid_argument(f"decode_jpeg: x is no JPEG file: {e}.") from None
    a = a[..., None] if a.ndim == 2 else a
    return paddle.to_tensor(np.ascontiguousarray(a.transpose(2, 0, 1)))
