"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..tensor import arange, exp, full, lgamma, log, nan_to_num, poisson
from ..tensor.tensor import Tensor
from .distribution import Distribution, as_type, need_value, refuse

__all__: list[str] = []


class Poisson(Distribution):
    r"""Counts of events at a constant rate: :math:`r^k e^{-r} / k!`.

    Args:
        rate (int|float|Tensor): The expected count, positive. A number stands for a batch of one.

    Examples:
        >>> d = paddle.distribution.Poisson(paddle.to_tensor(2.0))
        >>> d.variance.item(), round(d.prob(paddle.to_tensor(1.0)).item(), 4)
        (2.0, 0.2707)
    """

    def __init__(self, rate: Any):
        self.rate = rate if hasattr(rate, "shape") else full([1], _real(rate))
        if isinstance(self.rate, np.ndarray):
            from ..tensor import to_tensor

            self.rate = to_tensor(self.rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws counts.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape, in the type of rate; gradients do not pass it.
        """
        with no_grad():
            return poisson(self.rate.expand(list(self._extend_shape(shape))))

    def log_prob(self, value: Tensor) -> Tensor:
        value = as_type(need_value(value, "Poisson", "log_prob"), self.rate)
        return nan_to_num(-self.rate + value * log(self.rate) - lgamma(value + 1), neginf=-np.finfo("float32").max)

    def entropy(self) -> Tensor:
        """The sum over all counts of any weight: those up to 30 deviations above the mean."""
        most = int(np.maximum(self.rate.array(), 0).max(initial=0.0))
        count = int(most + 30 * (np.sqrt(most) if most else 1)) + 1
        values = arange(count, dtype=self.rate.dtype).reshape([-1] + [1] * len(self.batch_shape))
        log_prob = self.log_prob(values)
        return -(exp(log_prob) * log_prob).sum(0)

    def kl_divergence(self, other: Poisson) -> Tensor:
        """The divergence from another Poisson distribution."""
        if not isinstance(other, Poisson):
            refuse("Poisson.kl_divergence", "other", other, "a Poisson")
        return self.rate * (log(self.rate) - log(other.rate)) - self.rate + other.rate


def _real(rate: Any) -> float:
    if not isinstance(rate, (int, float)):
        raise AttributeError(errors.message("InvalidArgument", "Poisson: rate is of another type.",
                                            "a number or a Tensor", type(rate).__name__))  # fmt: skip
    return float(rate)
