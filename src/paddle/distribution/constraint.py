"""Sets that values lie in, as conditions on Tensors."""

from __future__ import annotations

from typing import Any

from ..tensor import abs
from ..tensor.tensor import Tensor

__all__: list[str] = []


class Constraint:
    """The base of conditions: called with values, tells which fulfil it."""

    def __call__(self, value: Tensor) -> Tensor:
        raise NotImplementedError


class Real(Constraint):
    """Numbers that are not NaN."""

    def __call__(self, value: Tensor) -> Tensor:
        return value == value


class Range(Constraint):
    """Numbers from `lower` to `upper`, both included."""

    def __init__(self, lower: Any, upper: Any):
        self._lower, self._upper = lower, upper

    def __call__(self, value: Tensor) -> Tensor:
        return (self._lower <= value).logical_and(value <= self._upper)


class Positive(Constraint):
    """Numbers that are not negative."""

    def __call__(self, value: Tensor) -> Tensor:
        return value >= 0.0


class Simplex(Constraint):
    """Vectors of numbers that are not negative and have the sum 1."""

    def __call__(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1).logical_and(abs(value.sum(-1) - 1) < 1e-6)


real = Real()
positive = Positive()
simplex = Simplex()
