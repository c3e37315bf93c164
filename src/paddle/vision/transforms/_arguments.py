"""Arguments that the three kinds of images share: sizes, margins, names of interpolations."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

from ...engine import errors


class UnknownInterpolation(KeyError, ValueError):
    """No such interpolation. Upstream raises KeyError, and ValueError for Tensors."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show it quoted, on one line


def interpolation(name: str, known: Sequence[str], function: str) -> str:
    """name, if it is known."""
    if name not in known:
        raise UnknownInterpolation(
            errors.message(
                "InvalidArgument",
                f"{function}: no such interpolation for this kind of image.",
                f"one of {', '.join(known)}",
                repr(name),
            )
        )
    return name


def target_size(size: Any, height: int, width: int) -> tuple[int, int] | None:
    """Height and width of the result of `resize`; None if it is the image itself."""
    if isinstance(size, numbers.Integral):
        size = _positive(int(size), size)
        if min(height, width) == size:
            return None
        if height <= 0 or width <= 0:
            raise NotImplementedError(
                errors.message("Unimplemented", "resize: the image is empty.", received=f"{height} x {width} pixels")
            )
        return (int(size * height / width), size) if width < height else (size, int(size * width / height))
    if isinstance(size, str) or not isinstance(size, Iterable) or len(pair := list(size)) != 2:
        raise errors.invalid_type(
            "resize: size is neither a number nor a pair.",
            expected="an int, or [height, width]",
            received=f"size={size!r}",
        )
    return _positive(int(pair[0]), size), _positive(int(pair[1]), size)


def _positive(n: int, size: Any) -> int:
    if n < 1:
        raise errors.invalid_argument("resize: a size is not positive.", expected="> 0", received=f"size={size!r}")
    return n


def height_and_width(size: Any, function: str) -> tuple[int, int]:
    """Both in one number, or a pair."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)  # type: ignore[call-overload]
    if isinstance(size, str) or not isinstance(size, Sequence) or len(size) != 2:
        raise errors.invalid_argument(
            f"{function}: this is no size.", expected="a number, or [height, width]", received=repr(size)
        )
    return int(size[0]), int(size[1])


def centered(size: Any, height: int, width: int) -> tuple[int, int, int, int]:
    """Top, left, height and width of the middle of an image."""
    h, w = height_and_width(size, "center_crop")
    return int(round((height - h) / 2.0)), int(round((width - w) / 2.0)), h, w


def check_corner(top: int, left: int, height: int, width: int) -> None:
    """ValueError for a part that starts outside of an array or Tensor: its slices would count from the other end."""
    if top < 0 or left < 0 or height < 0 or width < 0:
        raise errors.invalid_argument(
            "crop: the part starts outside of the image, or has a negative size.",
            expected="top, left, height, width >= 0",
            received=f"top={top}, left={left}, height={height}, width={width}",
            hint="pad the image first, or crop a PIL image, whose surroundings are black.",
        )


def margins(padding: Any, fill: Any, mode: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom margin in pixels, after the checks that upstream makes of all arguments of `pad`."""
    for name, value, types in (
        ("padding", padding, (numbers.Number, list, tuple)),
        ("fill", fill, (numbers.Number, str, list, tuple)),
        ("padding_mode", mode, str),
    ):
        if not isinstance(value, types):
            raise errors.invalid_type(f"pad: {name} has a wrong type.", received=f"{name}={value!r}")
    if mode not in PAD_MODES:
        raise AssertionError(
            errors.message("InvalidArgument", "pad: no such mode.", f"one of {', '.join(PAD_MODES)}", repr(mode))
        )
    sides = list(padding) if isinstance(padding, (list, tuple)) else [padding]
    if len(sides) not in (1, 2, 4) or (len(sides) == 1 and not isinstance(padding, numbers.Number)):
        raise errors.invalid_argument(
            "pad: padding has a wrong length.", expected="a number, 2 or 4 numbers", received=f"padding={padding!r}"
        )
    if any(not isinstance(n, numbers.Number) or n != int(n) or n < 0 for n in sides):  # type: ignore[call-overload]
        raise errors.invalid_argument(
            "pad: margins are whole numbers of pixels, not negative.", received=f"padding={padding!r}"
        )
    left, top, right, bottom = (int(n) for n in (sides * 4 if len(sides) == 1 else sides * 2)[:4])
    return left, top, right, bottom


PAD_MODES = ("constant", "edge", "reflect", "symmetric")


def check_hue(hue_factor: float, kind: type[Exception] = ValueError) -> None:
    if not -0.5 <= hue_factor <= 0.5:
        raise kind(
            errors.message(
                "InvalidArgument", "adjust_hue: hue_factor is out of range.", "-0.5 <= hue_factor <= 0.5",
                f"{hue_factor}",
            )
        )  # fmt: skip


def check_channels(num_output_channels: int) -> None:
    if num_output_channels not in (1, 3):
        raise errors.invalid_argument(
            "to_grayscale: no such number of channels.", expected="1 or 3", received=repr(num_output_channels)
        )
