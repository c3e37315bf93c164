"""Fixed values: Constant, Assign, Dirac, Bilinear."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.ops.creation import Full
from ...tensor.tensor import Tensor
from .initializer import Valued

__all__ = ["Assign", "Bilinear", "Constant", "Dirac"]


class Constant(Valued):
    """All elements are one number.

    Args:
        value (float): Default: 0.0.
    """

    def __init__(self, value: float = 0.0) -> None:
        if isinstance(value, Tensor):
            value = value.item()
        if value is None:
            raise errors.invalid_argument("Constant: there is no value.", expected="a number", received="value: None")
        self._value = value

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        kind = {"f": float, "c": complex, "b": bool}.get(dtype.kind, int)
        return Full(shape, kind(self._value), dtype)()


class Assign(Valued):
    """Given values.

    Args:
        value (Tensor|numpy.ndarray|list|tuple): as many elements as the parameter has.
        name (str, optional): not used.

    Raises:
        ValueError: the number of elements differs from the parameter's.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, (Tensor, np.ndarray, list, tuple)):
            raise errors.asserted(
                "Assign: the value is of the wrong type.",
                expected="a Tensor, numpy.ndarray, list or tuple",
                received=type(value).__name__,
            )
        self._value = value

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        value = self._value
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            value = [v.array() if isinstance(v, Tensor) else v for v in value]
        a = value.array() if isinstance(value, Tensor) else np.asarray(value)
        if a.size != math.prod(shape):
            raise errors.invalid_argument(
                "Assign: the value does not fit the parameter.",
                expected=f"shape {list(shape)}",
                received=f"shape {list(a.shape)}",
            )
        return a.reshape(shape)


class Dirac(Valued):
    """A convolution weight that passes its input through, as far as there are channels for it.

    Args:
        groups (int): channels are divided into as many groups. Default: 1.
        name (str, optional): not used.
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if groups <= 0 or not isinstance(groups, int):
            raise errors.asserted(
                "Dirac: groups is not positive.", expected="an int > 0", received=f"groups: {groups!r}"
            )
        self._groups = groups

    def __call__(self, var: Any, block: Any = None) -> Any:
        return self.forward(var, block)

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) not in (3, 4, 5):
            raise errors.asserted(
                "Dirac: the weight is no convolution's.", expected="3 to 5 axes", received=f"shape: {list(shape)}"
            )
        if shape[0] % self._groups:
            raise errors.asserted(
                "Dirac: groups does not divide the output channels.",
                expected="shape[0] % groups == 0",
                received=f"shape: {list(shape)}, groups: {self._groups}",
            )
        a = np.zeros(shape, "float64")
        out = shape[0] // self._groups
        middle = tuple(n // 2 for n in shape[2:])
        for g in range(self._groups):
            for i in range(min(out, shape[1])):
                a[(g * out + i, i, *middle)] = 1.0
        return a


class Bilinear(Valued):
    """A transposed convolution's weight that enlarges by linear interpolation: [C, 1, K, K]."""

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise errors.invalid_argument(
                "Bilinear: the weight is not of a square window.", expected="shape [C, 1, K, K]", received=f"{shape}"
            )
        f = math.ceil(shape[3] / 2.0)
        c = (2 * f - 1 - f % 2) / (2.0 * f)
        i = np.arange(math.prod(shape))
        x, y = i % shape[3], (i / shape[3]) % shape[3]  # the row is a fraction, as upstream computes it
        return ((1 - np.abs(x / f - c)) * (1 - np.abs(y / f - c))).reshape(shape)
