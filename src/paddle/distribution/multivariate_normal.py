"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..linalg import cholesky, inv, matmul, triangular_solve
from ..tensor import broadcast_shape, broadcast_to, diagonal, log, matrix_transpose
from ..tensor.random import gaussian
from ..tensor.tensor import Tensor
from .distribution import Distribution, as_type, need_value, sizes

__all__: list[str] = []


class MultivariateNormal(Distribution):
    r"""Vectors of normal numbers with a covariance.

    Args:
        loc (Tensor): [..., k], the mean; a number stands for a vector of one.
        covariance_matrix (Tensor, optional): [..., k, k], symmetric and positive definite.
        precision_matrix (Tensor, optional): The inverse of the covariance.
        scale_tril (Tensor, optional): A lower triangular L with covariance L L^T. One of the three is given.

    Raises:
        ValueError: none or several of the three are given, or what is given is no matrix.

    Examples:
        >>> d = paddle.distribution.MultivariateNormal(paddle.zeros([2]), paddle.eye(2) * 4.0)
        >>> d.variance.tolist(), round(d.entropy().item(), 4)
        ([4.0, 4.0], 4.2242)
    """

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None
    ):  # fmt: skip
        given = {k: v for k, v in (("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix),
                                   ("scale_tril", scale_tril)) if v is not None}  # fmt: skip
        if len(given) != 1:
            raise errors.invalid_argument(
                "MultivariateNormal: the covariance is not given in one way.",
                expected="one of covariance_matrix, precision_matrix and scale_tril",
                received=", ".join(given) or "none",
            )
        if isinstance(loc, (int, float)):
            from ..tensor import full

            loc = full([1], float(loc))
        ((label, matrix),) = given.items()
        loc = loc.reshape([1]) if not loc.ndim else loc
        if matrix.ndim < 2:
            raise errors.invalid_argument(f"MultivariateNormal: {label} is no matrix.", expected="[..., k, k]",
                                          received=f"{label}: {matrix.type}")  # fmt: skip
        k = loc.shape[-1]
        batch = list(broadcast_shape(list(matrix.shape[:-2]), list(loc.shape[:-1])))
        matrix = broadcast_to(matrix, [*batch, *matrix.shape[-2:]])
        self.loc = broadcast_to(loc, [*batch, k])
        self.dtype = loc.dtype
        self.covariance_matrix = self.precision_matrix = self.scale_tril = None
        setattr(self, label, matrix)
        if label == "scale_tril":
            self._lower = matrix
        elif label == "covariance_matrix":
            self._lower = cholesky(matrix)
        else:  # inv(P) = L L^T: L from the factor of P with its rows and columns in reverse
            factor = cholesky(matrix.flip([-2, -1]))
            self._lower = inv(matrix_transpose(factor.flip([-2, -1])))
        super().__init__(batch, [k])

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """[..., k], the diagonal of the covariance."""
        return (self._lower * self._lower).sum(-1)

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        full = list(sizes(shape, "MultivariateNormal") + self._batch_shape + self._event_shape)
        e = gaussian(full, dtype=self.dtype)
        return self.loc + matmul(self._lower, e.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return log(diagonal(self._lower, axis1=-2, axis2=-1)).sum(-1)

    def _distance(self, d: Tensor) -> Tensor:
        """The square of L^-1 d: [...] for d [..., k]."""
        lower = broadcast_to(self._lower, [*d.shape[:-1], *self._lower.shape[-2:]])
        z = triangular_solve(lower, d.unsqueeze(-1), upper=False).squeeze(-1)
        return (z * z).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        d = as_type(need_value(value, "MultivariateNormal", "log_prob"), self.loc) - self.loc
        if d.shape[-1] != self._event_shape[0]:
            raise errors.invalid_argument(
                "MultivariateNormal.log_prob: value is no vector of this size.",
                expected=f"[..., {self._event_shape[0]}]", received=f"value: {value.type}",
            )  # fmt: skip
        k = self._event_shape[0]
        return -0.5 * (k * math.log(2 * math.pi) + self._distance(d)) - self._half_log_det()

    def entropy(self) -> Tensor:
        k = self._event_shape[0]
        h = 0.5 * k * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return broadcast_to(h, list(self._batch_shape)) if self._batch_shape else h

    def kl_divergence(self, other: MultivariateNormal) -> Tensor:
        """The divergence from another multivariate normal distribution."""
        if not isinstance(other, MultivariateNormal) or self._event_shape != other._event_shape:
            raise errors.invalid_argument(
                "MultivariateNormal.kl_divergence: the vectors differ in size.",
                expected=f"event_shape {self._event_shape}",
                received=f"{getattr(other, '_event_shape', type(other).__name__)}",
            )
        mixed = triangular_solve(
            broadcast_to(other._lower, list(broadcast_shape(list(other._lower.shape), list(self._lower.shape)))),
            broadcast_to(self._lower, list(broadcast_shape(list(other._lower.shape), list(self._lower.shape)))),
            upper=False,
        )
        trace = (mixed * mixed).sum([-2, -1])
        d = other.loc - self.loc
        k = self._event_shape[0]
        return other._half_log_det() - self._half_log_det() + 0.5 * (trace + other._distance(d) - k)
