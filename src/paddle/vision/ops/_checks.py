"""Checks that these operations share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor


def check_tensor(x: Any, function: str, name: str, shape: Sequence[Any], floating: bool = True) -> Tensor:
    """x, if it is a Tensor of this shape: numbers, or letters for sizes that may be anything.

    Raises:
        TypeError: no Tensor. RuntimeError: not floating, where it has to be. ValueError: another shape.
    """
    expected = f"a {'floating ' if floating else ''}Tensor [{', '.join(str(n) for n in shape)}]"
    if not isinstance(x, Tensor):
        raise errors.invalid_type(f"{function}: {name} is no Tensor.", expected=expected, received=type(x).__name__)
    if floating and not x.is_floating_point():
        raise errors.precondition(f"{function}: {name} is not floating.", expected=expected, received=f"{x.type}")
    if x.ndim != len(shape) or any(isinstance(n, int) and n != m for n, m in zip(shape, x.shape)):
        raise errors.invalid_argument(f"{function}: {name} has a wrong shape.", expected=expected, received=f"{x.type}")
    return x


def pair(value: Any, function: str, name: str) -> tuple[int, int]:
    """Two whole numbers from one or two."""
    if isinstance(value, int):
        return value, value
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(isinstance(n, int) for n in value):
        raise errors.invalid_type(
            f"{function}: {name} is neither a whole number nor two.", expected="an int or two", received=repr(value)
        )
    return value[0], value[1]
