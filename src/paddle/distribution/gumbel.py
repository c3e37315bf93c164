"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import clip, exp, full_like, log
from ..tensor.random import rand
from ..tensor.tensor import Tensor
from .distribution import as_type, eps, number_or_tensor, tiny, together
from .transform import AffineTransform
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform

__all__: list[str] = []

EULER = 0.57721566490153286


class Gumbel(TransformedDistribution):
    r"""The greatest of many numbers: of density :math:`\exp(-(z + e^{-z})) / s`, with :math:`z = (x - \mu) / s`.

    Args:
        loc (float|Tensor): The mode.
        scale (float|Tensor): s, positive.

    Raises:
        TypeError: a parameter of another type.

    Examples:
        >>> d = paddle.distribution.Gumbel(0.0, 1.0)
        >>> round(d.mean.item(), 4), round(d.variance.item(), 4)
        (0.5772, 1.6449)
    """

    def __init__(self, loc: Any, scale: Any):
        self.loc, self.scale = together(
            number_or_tensor(loc, "Gumbel", "loc"), number_or_tensor(scale, "Gumbel", "scale")
        )
        base = Uniform(full_like(self.loc, 0.0), full_like(self.loc, 1.0))
        super().__init__(base, [AffineTransform(self.loc, self.scale)])

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        return self.scale * self.scale * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.scale * (math.pi / math.sqrt(6))

    def _distance(self, value: Tensor) -> Tensor:
        return (as_type(value, self.loc) - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._distance(value)
        return -(z + exp(-z)) - log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        return exp(-exp(-self._distance(value)))

    def entropy(self) -> Tensor:
        return log(self.scale) + (1 + EULER)

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        u = clip(rand(list(self._extend_shape(shape)), self.loc.dtype), tiny(self.loc), 1 - eps(self.loc))
        return self.loc - self.scale * log(-log(u))
