"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import abs, exp, expm1, log, log1p, sign
from ..tensor.random import uniform
from ..tensor.tensor import Tensor
from .distribution import Distribution, as_type, eps, number_or_tensor, refuse, together

__all__: list[str] = []


class Laplace(Distribution):
    r"""Numbers of density :math:`\exp(-|x - \mu| / s) / (2 s)`.

    Args:
        loc (float|Tensor): The mean.
        scale (float|Tensor): s, positive.

    Raises:
        TypeError: a parameter of another type.

    Examples:
        >>> d = paddle.distribution.Laplace(0.0, 1.0)
        >>> d.variance.item(), round(d.entropy().item(), 4)
        (2.0, 1.6931)
    """

    def __init__(self, loc: Any, scale: Any):
        self.loc, self.scale = together(
            number_or_tensor(loc, "Laplace", "loc"), number_or_tensor(scale, "Laplace", "scale")
        )
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.scale * math.sqrt(2.0)

    @property
    def variance(self) -> Tensor:
        return 2.0 * self.scale * self.scale

    def _distance(self, value: Any) -> Tensor:
        if isinstance(value, Tensor):
            value = as_type(value, self.loc)
        return (value - self.loc) / self.scale

    def log_prob(self, value: Any) -> Tensor:
        return -abs(self._distance(value)) - log(2.0 * self.scale)

    def entropy(self) -> Tensor:
        return 1.0 + log(2.0 * self.scale)

    def cdf(self, value: Any) -> Tensor:
        """The probability of numbers up to `value`."""
        d = self._distance(value)
        return 0.5 - 0.5 * sign(d) * expm1(-abs(d))

    def icdf(self, value: Any) -> Tensor:
        """The number up to which the probability is `value`."""
        if isinstance(value, Tensor):
            value = as_type(value, self.loc)
        d = value - 0.5 + self.loc * 0
        return self.loc - self.scale * sign(d) * log1p(-2.0 * abs(d))

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        e = eps(self.loc)
        u = uniform(list(self._extend_shape(shape)), self.loc.dtype, min=-1.0 + e / 2, max=1.0 - e / 2)
        return self.loc - self.scale * sign(u) * log1p(-abs(u))

    def kl_divergence(self, other: Laplace) -> Tensor:
        """The divergence from another Laplace distribution."""
        if not isinstance(other, Laplace):
            refuse("Laplace.kl_divergence", "other", other, "a Laplace")
        ratio, d = self.scale / other.scale, abs(self.loc - other.loc)
        return -log(ratio) + ratio * exp(-d / self.scale) + d / other.scale - 1
