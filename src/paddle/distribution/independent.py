"""Batches as single values."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..tensor.tensor import Tensor
from .distribution import Distribution, refuse

__all__: list[str] = []


class Independent(Distribution):
    """A distribution whose last batch axes count as axes of one value, whose elements are independent.

    Args:
        base (Distribution): The distribution.
        reinterpreted_batch_rank (int): How many axes, from 1 to those that the batch has.

    Raises:
        TypeError: base is no Distribution. ValueError: the number of axes is out of range.

    Examples:
        >>> normal = paddle.distribution.Normal(paddle.zeros([2, 3]), paddle.ones([2, 3]))
        >>> d = paddle.distribution.Independent(normal, 1)
        >>> d.batch_shape, d.event_shape
        ((2,), (3,))
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int):
        if not isinstance(base, Distribution):
            refuse("Independent", "base", base, "a Distribution")
        n = reinterpreted_batch_rank
        if not 0 < n <= len(base.batch_shape):
            raise errors.invalid_argument(
                "Independent: reinterpreted_batch_rank is out of range.", expected=f"[1, {len(base.batch_shape)}]",
                received=f"{n}",
            )  # fmt: skip
        self._base, self._rank = base, n
        shape, at = base.batch_shape + base.event_shape, len(base.batch_shape) - n
        super().__init__(shape[:at], shape[at:])

    @property
    def mean(self) -> Tensor:
        return self._base.mean

    @property
    def variance(self) -> Tensor:
        return self._base.variance

    def sample(self, shape: Any = ()) -> Tensor:
        return self._base.sample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        return self._base.rsample(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._sum(self._base.log_prob(value))

    def entropy(self) -> Tensor:
        return self._sum(self._base.entropy())

    def _sum(self, x: Tensor) -> Tensor:
        return x.sum(list(range(-self._rank, 0)))
