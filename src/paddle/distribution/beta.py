"""The beta distribution."""

from __future__ import annotations

import numbers
from typing import Any

from ..engine import errors
from ..tensor import lgamma, stack
from ..tensor.tensor import Tensor
from .dirichlet import Dirichlet
from .distribution import need_value, number_or_tensor, together
from .exponential_family import ExponentialFamily

__all__: list[str] = []


class Beta(ExponentialFamily):
    r"""Numbers between 0 and 1, of density proportional to :math:`x^{\alpha - 1} (1 - x)^{\beta - 1}`.

    Args:
        alpha (float|Tensor): Positive.
        beta (float|Tensor): Positive.

    Raises:
        ValueError: a parameter of another type.

    Examples:
        >>> d = paddle.distribution.Beta(1.0, 3.0)
        >>> d.mean.item(), round(d.variance.item(), 4)
        (0.25, 0.0375)
    """

    def __init__(self, alpha: Any, beta: Any):
        for label, v in (("alpha", alpha), ("beta", beta)):
            if not isinstance(v, (numbers.Real, Tensor)):
                raise errors.invalid_argument(
                    f"Beta: {label} is of another type.", expected="a number or a Tensor", received=type(v).__name__
                )
        self.alpha, self.beta = together(
            number_or_tensor(alpha, "Beta", "alpha"), number_or_tensor(beta, "Beta", "beta")
        )
        self._pair = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(self._pair.batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Tensor:
        s = self.alpha + self.beta
        return self.alpha * self.beta / (s * s * (s + 1))

    def log_prob(self, value: Tensor) -> Tensor:
        value = need_value(value, "Beta", "log_prob")
        return self._pair.log_prob(stack([value, 1.0 - value], -1))

    def sample(self, shape: Any = ()) -> Tensor:
        return self._pair.sample(shape)[..., 0]

    def entropy(self) -> Tensor:
        return self._pair.entropy()

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return lgamma(x) + lgamma(y) - lgamma(x + y)
