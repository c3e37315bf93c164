"""What transforms have in common."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...engine import errors

__all__ = ["BaseTransform", "Compose"]


class Compose:
    """Transforms one after the other.

    Args:
        transforms (list of callable): In order.

    Raises:
        TypeError: transforms is no list, or one of them cannot be called.

    Examples:
        >>> T = paddle.vision.transforms
        >>> T.Compose([T.Transpose(), T.Normalize(127.5, 127.5)])(np.zeros((4, 4, 3), "uint8")).shape
        (3, 4, 4)
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]):
        if not isinstance(transforms, Iterable):
            raise errors.invalid_type(
                "Compose: transforms is not a list.",
                expected="a list of transforms",
                received=type(transforms).__name__,
                hint="put it into brackets.",
            )
        if isinstance(transforms, (list, tuple)):
            for i, f in enumerate(transforms):
                kind = isinstance(f, type) and issubclass(f, BaseTransform)
                if kind or not callable(f):
                    raise errors.invalid_type(
                        f"Compose: transforms[{i}] is not a transform.",
                        expected="something to call with an image",
                        received=f"the class {f.__name__}" if kind else type(f).__name__,
                        hint=f"write {f.__name__}(), with its arguments." if kind else "",
                    )
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
        keys (list of str, optional): What the inputs are, in order: "image", "coords", "boxes", "mask" or a name of
            one's own; for each the method `_apply_<name>` is called. Further inputs stay as they are. Default:
            ("image",).

    Attributes:
        params: What `_get_params(inputs)` gave for the inputs at hand.

    Raises:
        ValueError: keys is no sequence. NotImplementedError: there is no method for a name.

    Examples:
        >>> class Invert(paddle.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return 255 - image
        >>> Invert()((np.array([[5]], "uint8"), "label"))
        (array([[250]], dtype=uint8), 'label')
    """

    def __init__(self, keys: Sequence[str] | None = None):
        keys = ("image",) if keys is None else keys
        if not isinstance(keys, Sequence):
            raise errors.invalid_argument("transform: keys is no sequence.", received=f"keys={keys!r}")
        for key in keys:
            if self._get_apply(key) is None:
                raise errors.unimplemented(f"{type(self).__name__} does not transform {key!r}.")
        self.keys = keys
        self.params: Any = None

    def _get_params(self, inputs: Any) -> Any:
        return None

    def _get_apply(self, key: str) -> Callable[[Any], Any] | None:
        return getattr(self, f"_apply_{key}", None)

    def __call__(self, inputs: Any) -> Any:
        fields = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(fields)
        out = [getattr(self, f"_apply_{key}")(value) for key, value in zip(self.keys, fields)]
        out.extend(fields[len(self.keys) :])
        return out[0] if len(out) == 1 else tuple(out)

    def _lacks(self, key: str) -> Exception:
        return errors.unimplemented(f"{type(self).__name__} has no _apply_{key}.")

    def _apply_image(self, image: Any) -> Any:
        raise self._lacks("image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise self._lacks("boxes")

    def _apply_mask(self, mask: Any) -> Any:
        raise self._lacks("mask")

    def _apply_coords(self, coords: Any) -> Any:
        raise self._lacks("coords")


def require(holds: bool, fact: str, received: str) -> None:
    """AssertionError, which upstream raises for arguments of transforms, unless `holds`."""
    if not holds:
        raise AssertionError(errors.message("InvalidArgument", fact, received=received))


def check_probability(prob: Any, name: str) -> None:
    """TypeError for what is no number, AssertionError for one outside [0, 1]."""
    if not isinstance(prob, numbers.Real):
        raise errors.invalid_type(
            f"{name}: prob is not a number.", expected="a number in [0, 1]", received=f"prob: {prob!r:.60}"
        )
    require(0 <= prob <= 1, f"{name}: prob is outside [0, 1].", f"{prob}")


def check_sequence(value: Any, name: str, lengths: tuple[int, ...]) -> None:
    """TypeError for what is no sequence, ValueError for a wrong length."""
    expected = f"a sequence of length {' or '.join(str(n) for n in lengths)}"
    if not isinstance(value, Sequence):
        raise errors.invalid_type(f"transform: {name} is no sequence.", expected=expected, received=f"{value!r}")
    if len(value) not in lengths:
        raise errors.invalid_argument(
            f"transform: {name} has a wrong length.", expected=expected, received=f"{value!r}"
        )


def angles(value: Any, name: str, lengths: tuple[int, ...] = (2,)) -> list[float]:
    """Bounds of angles; a number stands for minus and plus itself."""
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise errors.invalid_argument(f"transform: {name} is a single number below 0.", received=f"{value!r}")
        value = [-value, value]  # type: ignore[operator]
    check_sequence(value, name, lengths)
    return [float(v) for v in value]
