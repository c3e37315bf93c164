"""Functions of images: PIL images, arrays [H, W] or [H, W, C], and Tensors [C, H, W]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor

__all__ = ["center_crop", "crop", "hflip", "normalize", "resize", "to_tensor", "vflip"]


def _is_pil_image(img: Any) -> bool:
    return hasattr(img, "getbands")  # without importing Pillow


def _is_tensor_image(img: Any) -> bool:
    return isinstance(img, Tensor)


def _is_numpy_image(img: Any) -> bool:
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def _check(img: Any, name: str) -> None:
    if not (_is_pil_image(img) or _is_tensor_image(img) or _is_numpy_image(img)):
        raise errors.invalid_type(
            f"{name}: not an image.",
            expected="PIL image, Tensor, or array with two or three axes",
            received=type(img).__name__,
        )


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """An image as a Tensor; bytes are scaled to [0, 1].

    Args:
        pic (PIL image|array|Tensor): uint8 becomes float32 in [0, 1]; other types stay. A Tensor stays as it is.
        data_format (str): "CHW" or "HWC", of the result. Default: "CHW".

    Returns:
        Tensor: of three axes.

    Raises:
        TypeError: pic is no image. ValueError: data_format is neither.

    Examples:
        >>> paddle.vision.transforms.to_tensor(np.full((2, 4, 3), 255, "uint8")).shape
        paddle.Size([3, 2, 4])
    """
    _check(pic, "to_tensor")
    if data_format not in ("CHW", "HWC"):
        raise errors.invalid_argument(
            "to_tensor: no such data_format.", expected="'CHW' or 'HWC'", received=repr(data_format)
        )
    if isinstance(pic, Tensor):
        return pic
    import paddle

    a = pic
    if _is_pil_image(pic):
        a = np.asarray(pic, {"1": "uint8", "I": "int32", "F": "float32", "I;16": "int16"}.get(pic.mode))
        a = a * np.uint8(255) if pic.mode == "1" else a
    a = a[..., None] if a.ndim == 2 else a
    a = a.transpose(2, 0, 1) if data_format == "CHW" else a
    a = a.astype("float32") / np.float32(255) if a.dtype == np.uint8 else a
    return paddle.to_tensor(np.ascontiguousarray(a))


def normalize(
    img: Any, mean: float | Sequence[float], std: float | Sequence[float], data_format: str = "CHW",
    to_rgb: bool = False,
) -> Any:  # fmt: skip
    """(img - mean) / std, channel by channel.

    Args:
        img (PIL image|array|Tensor): The image.
        mean (list of float), std (list of float): One number per channel.
        data_format (str): "CHW" or "HWC", of img. Default: "CHW".
        to_rgb (bool): Turn the channels of an array around first. Default: False.

    Returns:
        Tensor for a Tensor, float32 array for others.
    """
    channels = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    m, s = (np.asarray(v, "float32").reshape(channels) for v in (mean, std))
    if isinstance(img, Tensor):
        import paddle

        return (img - paddle.to_tensor(m).astype(img.dtype)) / paddle.to_tensor(s).astype(img.dtype)
    a = np.asarray(img, "float32")
    if to_rgb:
        a = a[::-1] if data_format == "CHW" else a[..., ::-1]
    return (a - m) / s


def _size_of(img: Any) -> tuple[int, int]:
    """Height and width."""
    if _is_pil_image(img):
        return img.size[1], img.size[0]
    return tuple(img.shape[-2:]) if isinstance(img, Tensor) else tuple(img.shape[:2])  # type: ignore[return-value]


def resize(img: Any, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """An image in another size.

    Args:
        img (PIL image|array|Tensor): The image.
        size (int|list): [height, width], or the length of the shorter side; then the proportions stay.
        interpolation (str): "nearest" or "bilinear"; for PIL images also "bicubic", "box", "lanczos", "hamming".

    Returns:
        Of the kind and dtype of img.

    Raises:
        TypeError: img is no image. ValueError: no such interpolation.
    """
    _check(img, "resize")
    h, w = _size_of(img)
    if isinstance(size, int):
        height, width = (size, size * w // h) if h <= w else (size * h // w, size)
    else:
        height, width = size
    if _is_pil_image(img):
        from PIL import Image

        methods = {n: getattr(Image, n.upper()) for n in
                   ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")}  # fmt: skip
        return img.resize((width, height), methods[_known(interpolation, tuple(methods))])
    _known(interpolation, ("nearest", "bilinear"))
    if isinstance(img, Tensor):
        from ... import nn

        return nn.functional.interpolate(img.unsqueeze(0), size=[height, width], mode=interpolation).squeeze(0)
    return _resize_array(img, height, width, interpolation)


def _known(interpolation: str, names: tuple[str, ...]) -> str:
    if interpolation not in names:
        raise errors.invalid_argument(
            "resize: no such interpolation for this kind of image.",
            expected=f"one of {', '.join(names)}",
            received=repr(interpolation),
        )
    return interpolation


def _resize_array(a: np.ndarray, height: int, width: int, interpolation: str) -> np.ndarray:
    if interpolation == "nearest":
        rows = np.minimum((np.arange(height) * (a.shape[0] / height)).astype(int), a.shape[0] - 1)
        columns = np.minimum((np.arange(width) * (a.shape[1] / width)).astype(int), a.shape[1] - 1)
        return a[rows][:, columns]
    out = _interpolate(_interpolate(a.astype("float64"), height, 0), width, 1)
    if a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype)
        out = np.clip(np.rint(out), limits.min, limits.max)
    return out.astype(a.dtype)


def _interpolate(a: np.ndarray, n: int, axis: int) -> np.ndarray:
    """Linear interpolation between the centres of pixels, along one axis."""
    at = np.clip((np.arange(n) + 0.5) * (a.shape[axis] / n) - 0.5, 0, a.shape[axis] - 1)
    low = np.floor(at).astype(int)
    weight = (at - low).reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    high = np.minimum(low + 1, a.shape[axis] - 1)
    return np.take(a, low, axis) * (1 - weight) + np.take(a, high, axis) * weight


def hflip(img: Any) -> Any:
    """An image with left and right exchanged. TypeError if it is none."""
    _check(img, "hflip")
    if _is_pil_image(img):
        from PIL import Image

        return img.transpose(Image.FLIP_LEFT_RIGHT)
    return img.flip(-1) if isinstance(img, Tensor) else img[:, ::-1].copy()


def vflip(img: Any) -> Any:
    """An image with top and bottom exchanged. TypeError if it is none."""
    _check(img, "vflip")
    if _is_pil_image(img):
        from PIL import Image

        return img.transpose(Image.FLIP_TOP_BOTTOM)
    return img.flip(-2) if isinstance(img, Tensor) else img[::-1].copy()


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of an image whose upper left corner is (top, left): pixels. TypeError if it is none."""
    _check(img, "crop")
    if _is_pil_image(img):
        return img.crop((left, top, left + width, top + height))
    if isinstance(img, Tensor):
        return img[..., top : top + height, left : left + width]
    return img[top : top + height, left : left + width]


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of an image.

    Args:
        img (PIL image|array|Tensor): The image.
        output_size (int|list): Height and width, or both in one number: pixels.
    """
    _check(img, "center_crop")
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    h, w = _size_of(img)
    return crop(img, int(round((h - height) / 2.0)), int(round((w - width) / 2.0)), height, width)
