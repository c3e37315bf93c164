"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..framework.grad_mode import no_grad
from ..tensor import arange, binomial, clip, exp, lgamma, log, log1p
from ..tensor.tensor import Tensor
from .distribution import Distribution, as_type, eps, need_value, number_or_tensor, refuse, together

__all__: list[str] = []


class Binomial(Distribution):
    r"""How many of n trials succeed: :math:`\binom{n}{k} p^k (1 - p)^{n - k}`.

    Args:
        total_count (int|Tensor): n.
        probs (float|Tensor): p, in [0, 1].

    Examples:
        >>> d = paddle.distribution.Binomial(4, 0.5)
        >>> d.mean.item(), round(d.prob(paddle.to_tensor(2.0)).item(), 4)
        (2.0, 0.375)
    """

    probs: Any  # hides the older name of prob

    def __init__(self, total_count: Any, probs: Any):
        p = number_or_tensor(probs, "Binomial", "probs")
        n = number_or_tensor(total_count, "Binomial", "total_count")
        self.dtype = p.dtype
        self.total_count, self.probs = together(n.astype(p.dtype), p)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws counts.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape, in the type of probs; gradients do not pass it.
        """
        with no_grad():
            full = list(self._extend_shape(shape))
            n, p = (t.expand(full) for t in (self.total_count, self.probs))
            return binomial(n.astype("int32"), p).astype(self.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        k, n = as_type(need_value(value, "Binomial", "log_prob"), self.probs), self.total_count
        e = eps(self.probs)
        p = clip(self.probs, e, 1 - e)
        ways = lgamma(n + 1.0) - lgamma(n - k + 1.0) - lgamma(k + 1.0)
        return ways + k * log(p) + (n - k) * log1p(-p)

    def entropy(self) -> Tensor:
        """The sum over all counts."""
        most = int(self.total_count.array().max(initial=0.0))
        values = arange(most + 1, dtype=self.dtype).reshape([-1] + [1] * len(self.batch_shape))
        log_prob = self.log_prob(values)
        possible = (values <= self.total_count).astype(self.dtype)
        finite = clip(log_prob, float(np.finfo("float32").min), 0.0)
        return -(exp(finite) * finite * possible).sum(0)

    def kl_divergence(self, other: Binomial) -> Tensor:
        """The divergence from another binomial distribution with as many trials."""
        if not isinstance(other, Binomial):
            refuse("Binomial.kl_divergence", "other", other, "a Binomial")
        from ..engine import errors

        if not (np.asarray(self.total_count.array()) == np.asarray(other.total_count.array())).all():
            raise errors.invalid_argument("Binomial.kl_divergence: the numbers of trials differ.")
        p, q = self.probs, other.probs
        return self.total_count * (p * (log(p) - log(q)) + (1 - p) * (log1p(-p) - log1p(-q)))
