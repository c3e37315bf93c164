"""The continuous Bernoulli distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import abs, atanh, clip, full, full_like, log, log1p, where
from ..tensor.random import rand
from ..tensor.tensor import Tensor
from .distribution import Distribution, as_type, eps, need_value, refuse

__all__: list[str] = []


class ContinuousBernoulli(Distribution):
    r"""Numbers in [0, 1], of density :math:`C(p)\, p^x (1 - p)^{1 - x}`.

    Args:
        probs (int|float|Tensor): p, in (0, 1). A number stands for a batch of one.
        lims (Sequence[float]): Between these p counts as 1/2, near which C is taken from its series. Default: (0.499,
            0.501).

    Source: Loaiza-Ganem and Cunningham 2019, arXiv:1907.06845.

    Examples:
        >>> d = paddle.distribution.ContinuousBernoulli(paddle.to_tensor(0.25))
        >>> round(d.mean.item(), 4)
        0.4102
    """

    probs: Any  # hides the older name of prob

    def __init__(self, probs: Any, lims: Sequence[float] = (0.499, 0.501)):
        if isinstance(probs, (int, float)):
            probs = full([1], float(probs))
        elif not hasattr(probs, "dtype"):
            raise AttributeError(f"ContinuousBernoulli: probs is of another type: {type(probs).__name__}.")
        elif not isinstance(probs, Tensor):
            from ..engine import errors

            raise errors.invalid_argument(
                "ContinuousBernoulli: probs is of another type.", expected="a number or a Tensor",
                received=type(probs).__name__,
            )  # fmt: skip
        self.dtype = probs.dtype
        self.lims = lims
        e = eps(probs)
        self.probs = clip(probs, e, 1 - e)
        low, high = lims
        self._near = (self.probs > low).logical_and(self.probs < high)
        # a value away from 1/2 where p is near it, so that what is not used stays finite
        self._away = where(self._near, full_like(self.probs, low), self.probs)
        super().__init__(self.probs.shape)

    def _log_constant(self) -> Tensor:
        """log C: log(2 atanh(1 - 2p) / (1 - 2p)), or its series at 1/2."""
        p = self._away
        exact = log(abs(2.0 * atanh(1.0 - 2.0 * p))) - log(abs(1.0 - 2.0 * p))
        x = (self.probs - 0.5) ** 2
        series = log(full_like(self.probs, 2.0)) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return where(self._near, series, exact)

    @property
    def mean(self) -> Tensor:
        p = self._away
        exact = p / (2.0 * p - 1.0) + 1.0 / (2.0 * atanh(1.0 - 2.0 * p))
        x = self.probs - 0.5
        return where(self._near, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x * x) * x, exact)

    @property
    def variance(self) -> Tensor:
        p = self._away
        exact = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (2.0 * atanh(1.0 - 2.0 * p)) ** 2
        x = (self.probs - 0.5) ** 2
        return where(self._near, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x, exact)

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        return self.icdf(rand(list(self._extend_shape(shape)), self.dtype))

    def _logit(self, p: Tensor) -> Tensor:
        return log(p) - log1p(-p)

    def log_prob(self, value: Tensor) -> Tensor:
        value = as_type(need_value(value, "ContinuousBernoulli", "log_prob"), self.probs)
        p = self.probs
        return value * log(p) + (1.0 - value) * log1p(-p) + self._log_constant()

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        value = as_type(need_value(value, "ContinuousBernoulli", "cdf"), self.probs)
        p = self._away
        exact = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        found = where(self._near.expand(exact.shape), value.expand(exact.shape), exact)
        found = where(value.expand(exact.shape) <= 0.0, full_like(found, 0.0), found)
        return where(value.expand(exact.shape) >= 1.0, full_like(found, 1.0), found)

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which the probability is `value`."""
        value = as_type(need_value(value, "ContinuousBernoulli", "icdf"), self.probs)
        p = self._away
        exact = (log1p(value * (2.0 * p - 1.0) - p) - log1p(-p)) / self._logit(p)
        return where(self._near.expand(exact.shape), value.expand(exact.shape), exact)

    def entropy(self) -> Tensor:
        p = self.probs
        return -(self.mean * self._logit(p) + log1p(-p) + self._log_constant())

    def kl_divergence(self, other: ContinuousBernoulli) -> Tensor:
        """The divergence from another continuous Bernoulli distribution."""
        if not isinstance(other, ContinuousBernoulli):
            refuse("ContinuousBernoulli.kl_divergence", "other", other, "a ContinuousBernoulli")
        p, q = self.probs, other.probs
        return -self.entropy() - (self.mean * self._logit(q) + log1p(-q) + other._log_constant()) + 0.0 * p
