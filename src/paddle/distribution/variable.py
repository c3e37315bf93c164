"""What transforms take and give: the kind of values, and how many axes one of them has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..tensor import stack, unstack
from ..tensor.tensor import Tensor
from . import constraint

__all__: list[str] = []


class Variable:
    """A kind of random values.

    Args:
        is_discrete (bool): Single points have a probability. Default: False.
        event_rank (int): Axes of one value. Default: 0.
        constraint (callable, optional): Tells which values are possible.
    """

    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: Any = None):
        self._is_discrete, self._event_rank, self._constraint = is_discrete, event_rank, constraint

    @property
    def is_discrete(self) -> bool:
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        return self._event_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Which values are possible."""
        return self._constraint(value)


class Real(Variable):
    """Real numbers."""

    def __init__(self, event_rank: int = 0):
        super().__init__(False, event_rank, constraint.real)


class Positive(Variable):
    """Positive numbers."""

    def __init__(self, event_rank: int = 0):
        super().__init__(False, event_rank, constraint.positive)


class Independent(Variable):
    """Several values of a kind as one: the last axes of the batch count as axes of a value.

    Args:
        base (Variable): The kind.
        reinterpreted_batch_rank (int): How many axes.
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int):
        self._base, self._rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Tensor) -> Tensor:
        found = self._base.constraint(value)
        if found.ndim < self._rank:
            raise errors.invalid_argument(
                "Independent.constraint: the value has too few axes.", expected=f"at least {self._rank}",
                received=f"{value.type}",
            )  # fmt: skip
        return found.reshape([*found.shape[: found.ndim - self._rank], -1]).all(-1)


class Stack(Variable):
    """Values of several kinds, side by side along an axis."""

    def __init__(self, vars: Sequence[Variable], axis: int = 0):
        self._vars, self._axis = vars, axis
        rank = max(v.event_rank for v in vars)
        if axis < 0:
            rank += 1
        super().__init__(any(v.is_discrete for v in vars), rank)

    def constraint(self, value: Tensor) -> Tensor:
        parts = unstack(value, self._axis)
        return stack([v.constraint(p) for v, p in zip(self._vars, parts)], self._axis)


real = Real()
positive = Positive()
