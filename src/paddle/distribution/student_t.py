"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..tensor import digamma, full_like, lgamma, log, log1p, sqrt, standard_gamma, where
from ..tensor.random import gaussian
from ..tensor.tensor import Tensor
from .distribution import Distribution, like, number_or_tensor, together

__all__: list[str] = []


class StudentT(Distribution):
    """A standard normal number over the root of the mean of `df` squares of others, scaled and moved.

    Args:
        df (float|Tensor): Degrees of freedom, positive.
        loc (float|Tensor): The median.
        scale (float|Tensor): Positive.
        name (str, optional): Default: None.

    Raises:
        TypeError: a parameter of another type. ValueError: df or scale is not positive.

    Examples:
        >>> d = paddle.distribution.StudentT(4.0, 0.0, 1.0)
        >>> d.variance.item(), round(d.prob(paddle.to_tensor(0.0)).item(), 4)
        (2.0, 0.375)
    """

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None):
        self.name = "StudentT" if name is None else name
        given = [number_or_tensor(v, "StudentT", label, integers=False)
                 for label, v in (("df", df), ("loc", loc), ("scale", scale))]  # fmt: skip
        self.df, self.loc, self.scale = together(*given)
        for label, v in (("df", self.df), ("scale", self.scale)):
            if not (v.array() > 0).all():
                raise errors.invalid_argument(f"StudentT: {label} is not positive.", received=f"{v.tolist()}")
        super().__init__(self.df.shape)

    @property
    def mean(self) -> Tensor:
        """NaN where df is at most 1."""
        return where(self.df > 1.0, self.loc, full_like(self.loc, math.nan))

    @property
    def variance(self) -> Tensor:
        """Infinite where df is at most 2, NaN where it is at most 1."""
        v = where(self.df > 2.0, self.scale * self.scale * self.df / (self.df - 2), full_like(self.df, math.inf))
        return where(self.df > 1.0, v, full_like(v, math.nan))

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws numbers.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape; gradients do not pass it.
        """
        with no_grad():
            full = list(self._extend_shape(shape))
            squares = standard_gamma((self.df * 0.5).expand(full)) * 2.0
            return self.loc + self.scale * gaussian(full, dtype=self.loc.dtype) / sqrt(squares / self.df)

    def _log_beta(self) -> Tensor:
        """The logarithm of B(df / 2, 1 / 2) * sqrt(df)."""
        half = self.df * 0.5
        return lgamma(half) + 0.5 * math.log(math.pi) - lgamma(half + 0.5) + 0.5 * log(self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (like(value, self.loc) - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * log1p(z * z / self.df) - log(self.scale) - self._log_beta()

    def entropy(self) -> Tensor:
        half = (self.df + 1.0) * 0.5
        return log(self.scale) + half * (digamma(half) - digamma(self.df * 0.5)) + self._log_beta()
