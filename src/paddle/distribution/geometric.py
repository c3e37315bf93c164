"""The geometric distribution."""

from __future__ import annotations

import numbers
from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import floor, log, log1p, sqrt
from ..tensor.random import uniform
from ..tensor.tensor import Tensor
from .distribution import Distribution, number_or_tensor, refuse, tiny

__all__: list[str] = []


class Geometric(Distribution):
    """How often a trial fails before it succeeds.

    Args:
        probs (float|Tensor): The probability of success of a trial, in (0, 1].

    Raises:
        TypeError: probs of another type.

    Examples:
        >>> d = paddle.distribution.Geometric(0.5)
        >>> d.pmf(2).item(), d.mean.item()
        (0.125, 1.0)
    """

    probs: Any  # hides the older name of prob

    def __init__(self, probs: Any):
        self.probs = number_or_tensor(probs, "Geometric", "probs")
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return sqrt(self.variance)

    def _number(self, k: Any) -> Any:
        if not isinstance(k, (numbers.Integral, Tensor)):
            refuse("Geometric", "k", k, "an integer or a Tensor")
        return k

    def pmf(self, k: Any) -> Tensor:
        """The probability of k failures.

        Args:
            k (int|Tensor): How many.

        Raises:
            TypeError: k of another type.
        """
        return (1.0 - self.probs) ** self._number(k) * self.probs

    def log_pmf(self, k: Any) -> Tensor:
        """The logarithm of `pmf`."""
        return log(self.pmf(k))

    def cdf(self, k: Any) -> Tensor:
        """The probability of at most k failures."""
        return 1.0 - (1.0 - self.probs) ** (self._number(k) + 1)

    def entropy(self) -> Tensor:
        p = self.probs
        return -((1.0 - p) * log(1.0 - p) + p * log(p)) / p

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        p = self.probs
        u = uniform(list(self._extend_shape(shape)), p.dtype, min=tiny(p), max=1.0)
        return floor(log(u) / log1p(-p))

    def kl_divergence(self, other: Geometric) -> Tensor:
        """The divergence of a single trial from that of another geometric distribution."""
        if not isinstance(other, Geometric):
            refuse("Geometric.kl_divergence", "other", other, "a Geometric")
        p, q = self.probs, other.probs
        # per trial, as upstream has it; over all trials it is this divided by p
        return p * log(p / q) + (1.0 - p) * log((1.0 - p) / (1.0 - q))
