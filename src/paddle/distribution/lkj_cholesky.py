"""The LKJ distribution of correlations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..framework.grad_mode import no_grad
from ..tensor import arange, concat, diagonal, eye, lgamma, log, sqrt, standard_gamma, zeros
from ..tensor.random import gaussian
from ..tensor.tensor import Tensor
from .distribution import Distribution, need_value, number_or_tensor, sizes

__all__: list[str] = []


class LKJCholesky(Distribution):
    r"""Lower triangular factors of matrices of correlations, whose density is a power of the determinant.

    Args:
        dim (int): Rows of a matrix, at least 2. Default: 2.
        concentration (float|Tensor): Positive; 1: matrices are uniform, more: correlations are smaller. Default: 1.0.
        sample_method (str): "onion" (row by row) or "cvine" (by partial correlations). Default: "onion".

    Raises:
        ValueError: a parameter out of range.

    Source: Lewandowski, Kurowicka and Joe 2009, doi:10.1016/j.jmva.2009.04.008.

    Examples:
        >>> d = paddle.distribution.LKJCholesky(3, 1.5)
        >>> d.sample([2]).shape
        paddle.Size([2, 3, 3])
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion"):
        if not dim >= 2:
            raise errors.invalid_argument("LKJCholesky: dim is too small.", expected="at least 2", received=f"{dim}")
        self.dim = int(dim)
        self.concentration = number_or_tensor(concentration, "LKJCholesky", "concentration")
        if not (self.concentration.array() > 0).all():
            raise errors.invalid_argument(
                "LKJCholesky: concentration is not positive.", received=f"{self.concentration.tolist()}"
            )
        if sample_method not in ("onion", "cvine"):
            raise errors.invalid_argument(
                "LKJCholesky: there is no such sample_method.", expected="'onion' or 'cvine'",
                received=f"{sample_method!r}",
            )  # fmt: skip
        self.sample_method = sample_method
        super().__init__(self.concentration.shape, (self.dim, self.dim))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draws factors.

        Args:
            sample_shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: sample_shape + batch_shape + [dim, dim].
        """
        shape = list(sizes(sample_shape, "LKJCholesky") + self._batch_shape)
        with no_grad():
            return self._onion(shape) if self.sample_method == "onion" else self._vine(shape)

    def _beta(self, a: Tensor, b: Tensor) -> Tensor:
        x, y = standard_gamma(a), standard_gamma(b)
        return x / (x + y)

    def _onion(self, shape: list[int]) -> Tensor:
        """Row i is a direction in i dimensions, of a length whose square is of a beta distribution."""
        d, dtype = self.dim, self.concentration.dtype
        c = self.concentration.expand(shape)
        rows = [eye(1, d, dtype).reshape([1] * len(shape) + [d]).expand([*shape, d])]
        for i in range(1, d):
            square = self._beta(zeros(shape, dtype) + i / 2, c + (d - 1 - i) / 2).unsqueeze(-1)
            e = gaussian([*shape, i], dtype=dtype)
            w = e / sqrt((e * e).sum(-1, keepdim=True)) * sqrt(square)
            rest = zeros([*shape, d - i - 1], dtype)
            rows.append(concat([w, sqrt(1 - square), rest], -1))
        from ..tensor import stack

        return stack(rows, -2)

    def _vine(self, shape: list[int]) -> Tensor:
        """Partial correlations in (-1, 1), of beta distributions, put together row by row."""
        d, dtype = self.dim, self.concentration.dtype
        c = self.concentration.expand(shape)
        rows = []
        for i in range(d):
            left = zeros([*shape, 1], dtype) + 1.0
            parts = []
            for j in range(i):
                a = c + (d - 2 - j) / 2
                r = (2 * self._beta(a, a) - 1).unsqueeze(-1)
                parts.append(r * sqrt(left))
                left = left * (1 - r * r)
            rows.append(concat([*parts, sqrt(left), zeros([*shape, d - 1 - i], dtype)], -1))
        from ..tensor import stack

        return stack(rows, -2)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density at a factor [..., dim, dim]."""
        value = need_value(value, "LKJCholesky", "log_prob")
        if value.ndim < 2:
            raise errors.out_of_range(
                "LKJCholesky.log_prob: value is no matrix.", expected="[..., dim, dim]", received=f"{value.type}"
            )
        d, c = self.dim, self.concentration
        diag = diagonal(value, axis1=-2, axis2=-1)[..., 1:]
        order = arange(2, d + 1).astype(value.dtype)
        power = 2 * (c - 1).unsqueeze(-1) + d - order
        terms = (power * log(diag)).sum(-1)
        # the normalizer, from page 1999 of the source
        k = d - 1
        alpha = c + 0.5 * k
        lengths = from_array(np.arange(1, k + 1, dtype=c.dtype.np) * 0.5)
        numerator = lgamma(alpha.unsqueeze(-1) - lengths).sum(-1)
        return terms - (numerator + 0.25 * k * (k + 1) * math.log(math.pi) - lgamma(alpha) * k)
