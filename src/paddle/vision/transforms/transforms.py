"""Transforms as objects, to be composed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from . import functional as F

__all__ = [
    "BaseTransform",
    "CenterCrop",
    "Compose",
    "Normalize",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Resize",
    "ToTensor",
    "Transpose",
]


class Compose:
    """Transforms one after the other.

    Args:
        transforms (list of callable): In order.

    Examples:
        >>> T = paddle.vision.transforms
        >>> T.Compose([T.Transpose(), T.Normalize(127.5, 127.5)])(np.zeros((4, 4, 3), "uint8")).shape
        (3, 4, 4)
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]):
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for f in self.transforms:
            data = f(data)
        return data

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class BaseTransform:
    """Base of transforms. Subclasses define `_apply_image`, and `_get_params` if they draw numbers.

    Args:
        keys (list of str, optional): What the inputs are, in order; for each name the method `_apply_<name>` is
            called, and inputs without one stay as they are. Default: ("image",).

    Raises:
        ValueError: keys is no sequence. NotImplementedError: there is no method for a name.
    """

    def __init__(self, keys: Sequence[str] | None = None):
        if keys is not None and (isinstance(keys, str) or not isinstance(keys, Sequence)):
            raise errors.invalid_argument("transform: keys is no sequence.", received=f"keys={keys!r}")
        self.keys = ("image",) if keys is None else keys
        self.params: Any = None

    def _get_params(self, inputs: Any) -> Any:
        return None

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} has no _apply_image."))

    def __call__(self, inputs: Any) -> Any:
        single = not isinstance(inputs, tuple)
        fields = (inputs,) if single else inputs
        self.params = self._get_params(fields)
        out = []
        for key, value in zip(self.keys, fields):
            apply = getattr(self, f"_apply_{key}", None)
            if apply is None:
                raise NotImplementedError(
                    errors.message("Unimplemented", f"{type(self).__name__} does not transform {key!r}.")
                )
            out.append(apply(value))
        out.extend(fields[len(self.keys) :])
        return out[0] if single else tuple(out)


class ToTensor(BaseTransform):
    """See `to_tensor`.

    Args:
        data_format (str): "CHW" or "HWC". Default: "CHW".
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """(image - mean) / std, channel by channel; see `normalize`.

    Args:
        mean (float|list), std (float|list): For all channels, or one number per channel.
        data_format (str): "CHW" or "HWC". Default: "CHW".
        to_rgb (bool): Turn the channels of an array around first. Default: False.
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(
        self,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ):
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, (int, float)) else mean
        self.std = [std] * 3 if isinstance(std, (int, float)) else std
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """An image as an array with its axes in another order.

    Args:
        order (list of int): Default: (2, 0, 1), from [H, W, C] to [C, H, W]. A gray image [H, W] is [H, W, 1].
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        if F._is_tensor_image(image):
            return image.transpose(self.order)
        a = np.asarray(image)
        return (a[..., None] if a.ndim == 2 else a).transpose(self.order)


class Resize(BaseTransform):
    """See `resize`.

    Args:
        size (int|list): [height, width], or the length of the shorter side.
        interpolation (str): Default: "bilinear".
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of an image.

    Args:
        size (int|list): Height and width, or both in one number: pixels.
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else size

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class RandomHorizontalFlip(BaseTransform):
    """Exchanges left and right at random (from Python's generator).

    Args:
        prob (float): How often. Default: 0.5.
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.prob = _probability(prob)

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if random.random() < self.prob else image


class RandomVerticalFlip(BaseTransform):
    """Exchanges top and bottom at random (from Python's generator).

    Args:
        prob (float): How often. Default: 0.5.
        keys (list of str, optional): See BaseTransform.
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None):
        super().__init__(keys)
        self.prob = _probability(prob)

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if random.random() < self.prob else image


def _probability(p: float) -> float:
    if not 0 <= p <= 1:
        raise AssertionError(errors.message("InvalidArgument", "transform: prob is outside [0, 1].", received=str(p)))
    return p
