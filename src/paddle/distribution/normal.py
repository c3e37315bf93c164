"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import exp, log
from ..tensor.random import gaussian
from ..tensor.tensor import Tensor
from .distribution import Distribution, floats, like, sizes

__all__: list[str] = []


class Normal(Distribution):
    r"""Normal numbers, of density :math:`\exp(-(x - \mu)^2 / (2 \sigma^2)) / (\sigma \sqrt{2 \pi})`.

    Args:
        loc (int|float|list|tuple|numpy.ndarray|Tensor): The mean.
        scale (int|float|list|tuple|numpy.ndarray|Tensor): The standard deviation, positive.
        name (str, optional): Default: None.

    Raises:
        TypeError: a parameter of another type. ValueError: one is a Tensor and the other is not.

    Examples:
        >>> d = paddle.distribution.Normal(0.0, 2.0)
        >>> round(d.entropy().item(), 4), d.variance.item()
        (2.1121, 4.0)
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None):
        self.name = "Normal" if name is None else name
        self.loc, self.scale = floats("Normal", loc=loc, scale=scale)
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale * self.scale

    def sample(self, shape: Any = (), seed: int = 0) -> Tensor:
        """Draws numbers.

        Args:
            shape (Sequence[int]): How many. Default: one.
            seed (int): Not 0: the numbers of this seed, the same each time. Default: 0.

        Returns:
            Tensor: shape + batch_shape; gradients do not pass it.
        """
        with no_grad():
            return self._draw(shape, seed)

    def rsample(self, shape: Any = ()) -> Tensor:
        return self._draw(shape, 0)

    def _draw(self, shape: Any, seed: int) -> Tensor:
        batch = tuple((self.loc + self.scale).shape)
        return self.loc + self.scale * gaussian(list(sizes(shape, "Normal") + batch), seed=seed, dtype=self.dtype)

    def entropy(self) -> Tensor:
        return log(self.scale) + self.loc * 0 + (0.5 + 0.5 * math.log(2 * math.pi))

    def log_prob(self, value: Tensor) -> Tensor:
        d = (like(value, self.loc) - self.loc) / self.scale
        return -0.5 * d * d - log(self.scale) - 0.5 * math.log(2 * math.pi)

    def probs(self, value: Tensor) -> Tensor:
        """The density at `value`."""
        return exp(self.log_prob(value))

    def kl_divergence(self, other: Normal) -> Tensor:
        r"""The divergence from another normal distribution, :math:`(r - 1 - \ln r + d^2) / 2`.

        Here r is the ratio of the variances and d the distance of the means in deviations of the other.
        """
        if not isinstance(other, Normal):
            from .distribution import refuse

            refuse("Normal.kl_divergence", "other", other, "a Normal")
        ratio = (self.scale / other.scale) ** 2
        d = (self.loc - other.loc) / other.scale
        return 0.5 * (ratio + d * d - 1 - log(ratio))
