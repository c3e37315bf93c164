"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..tensor import full_like
from .distribution import number_or_tensor
from .gamma import Gamma

__all__: list[str] = []


class Chi2(Gamma):
    """Sums of `df` squares of standard normal numbers.

    Args:
        df (float|list|Tensor): Degrees of freedom, positive.

    Raises:
        TypeError: df of another type. ValueError: it is not positive.

    Examples:
        >>> d = paddle.distribution.Chi2(3.0)
        >>> d.mean.item(), d.variance.item()
        (3.0, 6.0)
    """

    def __init__(self, df: Any):
        self.df = number_or_tensor(df, "Chi2", "df", integers=False, lists=True)
        if not (self.df.array() > 0).all():
            raise errors.invalid_argument(
                "Chi2: df is not positive.", expected="df > 0", received=f"{self.df.tolist()}"
            )
        super().__init__(self.df * 0.5, full_like(self.df, 0.5))
