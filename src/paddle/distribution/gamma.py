"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import digamma, lgamma, log, standard_gamma
from ..tensor.tensor import Tensor
from .distribution import need_value, number_or_tensor, refuse
from .exponential_family import ExponentialFamily

__all__: list[str] = []


class Gamma(ExponentialFamily):
    r"""Positive numbers, of density :math:`x^{c - 1} e^{-r x} r^c / \Gamma(c)`.

    Args:
        concentration (float|list|Tensor): c, positive.
        rate (float|list|Tensor): r, positive.

    Raises:
        TypeError: a parameter of another type. ValueError: a parameter is not positive.

    Examples:
        >>> d = paddle.distribution.Gamma(2.0, 4.0)
        >>> d.mean.item(), d.variance.item()
        (0.5, 0.125)
    """

    def __init__(self, concentration: Any, rate: Any):
        self.concentration = number_or_tensor(concentration, "Gamma", "concentration", integers=False, lists=True)
        self.rate = number_or_tensor(rate, "Gamma", "rate", integers=False, lists=True)
        super().__init__(self.concentration.shape)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        return self.concentration / (self.rate * self.rate)

    def log_prob(self, value: Any) -> Tensor:
        value, c, r = need_value(value, "Gamma", "log_prob"), self.concentration, self.rate
        return c * log(r) + (c - 1) * log(value) - r * value - lgamma(c)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c - log(self.rate) + lgamma(c) + (1.0 - c) * digamma(c)

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        batch = tuple((self.concentration + self.rate).shape)
        c = self.concentration.expand(list(self._extend_shape(shape))[: -len(batch) or None] + list(batch))
        return standard_gamma(c) / self.rate

    def kl_divergence(self, other: Gamma) -> Tensor:
        """The divergence from another gamma distribution."""
        if not isinstance(other, Gamma):
            refuse("Gamma.kl_divergence", "other", other, "a Gamma")
        c, r, d, s = self.concentration, self.rate, other.concentration, other.rate
        return (c - d) * digamma(c) + lgamma(d) - lgamma(c) + d * (log(r) - log(s)) + c * (s / r - 1)

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return lgamma(x + 1) - (x + 1) * log(-y)

    @property
    def _mean_carrier_measure(self) -> float:
        return 0.0
