"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import exp, log, log1p
from ..tensor.random import uniform
from ..tensor.tensor import Tensor
from .distribution import number_or_tensor, refuse, tiny
from .exponential_family import ExponentialFamily

__all__: list[str] = []


class Exponential(ExponentialFamily):
    r"""Positive numbers, of density :math:`r e^{-r x}`.

    Args:
        rate (float|list|Tensor): r, positive.

    Raises:
        TypeError: rate of another type.

    Examples:
        >>> d = paddle.distribution.Exponential(2.0)
        >>> d.mean.item(), round(d.cdf(paddle.to_tensor(0.5)).item(), 4)
        (0.5, 0.6321)
    """

    def __init__(self, rate: Any):
        self.rate = number_or_tensor(rate, "Exponential", "rate", integers=False, lists=True)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.rate

    @property
    def variance(self) -> Tensor:
        return 1.0 / (self.rate * self.rate)

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        u = uniform(list(self._extend_shape(shape)), self.rate.dtype, min=tiny(self.rate), max=1.0)
        return -log(u) / self.rate

    def prob(self, value: Any) -> Tensor:
        return self.rate * exp(-self.rate * value)

    def log_prob(self, value: Any) -> Tensor:
        return log(self.rate) - self.rate * value

    def entropy(self) -> Tensor:
        return 1.0 - log(self.rate)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        return 1.0 - exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which the probability is `value`."""
        return -log1p(-value) / self.rate

    def kl_divergence(self, other: Exponential) -> Tensor:
        """The divergence from another exponential distribution."""
        if not isinstance(other, Exponential):
            refuse("Exponential.kl_divergence", "other", other, "an Exponential")
        ratio = other.rate / self.rate
        return ratio - log(ratio) - 1

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -log(-x)

    @property
    def _mean_carrier_measure(self) -> float:
        return 0.0
