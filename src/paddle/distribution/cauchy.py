"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..tensor import atan, log, log1p, tan
from ..tensor.random import rand
from ..tensor.tensor import Tensor
from .distribution import Distribution, like, need_value, number_or_tensor, refuse, together

__all__: list[str] = []


class Cauchy(Distribution):
    r"""Numbers of density :math:`1 / (\pi s (1 + ((x - \mu) / s)^2))`.

    Args:
        loc (float|Tensor): The median.
        scale (float|Tensor): s, half the width at half the height; positive.
        name (str, optional): Default: None.

    Raises:
        TypeError: a parameter of another type.

    Examples:
        >>> d = paddle.distribution.Cauchy(0.0, 1.0)
        >>> round(d.cdf(paddle.to_tensor(1.0)).item(), 4), round(d.entropy().item(), 4)
        (0.75, 2.531)
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None):
        self.name = "Cauchy" if name is None else name
        self.loc, self.scale = together(
            number_or_tensor(loc, "Cauchy", "loc"), number_or_tensor(scale, "Cauchy", "scale")
        )
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    def _undefined(self, what: str) -> NoReturn:
        raise errors.invalid_argument(f"Cauchy: there is no {what}; the integral has no value.")

    @property
    def mean(self) -> Tensor:
        """Undefined: raises ValueError."""
        self._undefined("mean")

    @property
    def variance(self) -> Tensor:
        """Undefined: raises ValueError."""
        self._undefined("variance")

    @property
    def stddev(self) -> Tensor:
        """Undefined: raises ValueError."""
        self._undefined("standard deviation")

    def sample(self, shape: Any = (), name: str | None = None) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = (), name: str | None = None) -> Tensor:
        u = rand(list(self._extend_shape(shape)), self.dtype)
        return self.loc + self.scale * tan(math.pi * (u - 0.5))

    def _distance(self, value: Any, what: str) -> Tensor:
        value = need_value(value, "Cauchy", what, errors.invalid_type)
        if not value.dtype.is_floating:
            raise errors.invalid_argument(
                f"Cauchy.{what}: value is not floating.", expected=self.dtype.name, received=f"value: {value.type}"
            )
        return (like(value, self.loc) - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        d = self._distance(value, "log_prob")
        return -log1p(d * d) - log(math.pi * self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        return atan(self._distance(value, "cdf")) / math.pi + 0.5

    def entropy(self) -> Tensor:
        return log(4 * math.pi * self.scale)

    def kl_divergence(self, other: Cauchy) -> Tensor:
        """The divergence from another Cauchy distribution.

        Source: Chyzak and Nielsen 2019, arXiv:1905.10965.
        """
        if not isinstance(other, Cauchy):
            refuse("Cauchy.kl_divergence", "other", other, "a Cauchy")
        s, t, d = self.scale, other.scale, self.loc - other.loc
        return log(((s + t) ** 2 + d * d) / (4 * s * t))
