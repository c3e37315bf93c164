"""The log-normal distribution."""

from __future__ import annotations

from typing import Any

from ..tensor import exp, expm1
from ..tensor.tensor import Tensor
from .distribution import refuse
from .normal import Normal
from .transform import ExpTransform
from .transformed_distribution import TransformedDistribution

__all__: list[str] = []


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal.

    Args:
        loc (int|float|list|tuple|numpy.ndarray|Tensor): The mean of the logarithms.
        scale (int|float|list|tuple|numpy.ndarray|Tensor): Their standard deviation, positive.

    Raises:
        TypeError: a parameter of another type. ValueError: one is a Tensor and the other is not.

    Examples:
        >>> d = paddle.distribution.LogNormal(0.0, 1.0)
        >>> round(d.mean.item(), 4), round(d.entropy().item(), 4)
        (1.6487, 1.4189)
    """

    def __init__(self, loc: Any, scale: Any):
        self._base = Normal(loc, scale)
        self.loc, self.scale = self._base.loc, self._base.scale
        super().__init__(self._base, [ExpTransform()])

    @property
    def mean(self) -> Tensor:
        return exp(self.loc + self.scale * self.scale / 2)

    @property
    def variance(self) -> Tensor:
        return expm1(self.scale * self.scale) * exp(2 * self.loc + self.scale * self.scale)

    def entropy(self) -> Tensor:
        return self._base.entropy() + self._base.mean

    def probs(self, value: Tensor) -> Tensor:
        """The density at `value`."""
        return exp(self.log_prob(value))

    def kl_divergence(self, other: LogNormal) -> Tensor:
        """The divergence from another log-normal distribution: that of the logarithms."""
        if not isinstance(other, LogNormal):
            refuse("LogNormal.kl_divergence", "other", other, "a LogNormal")
        return self._base.kl_divergence(other._base)
