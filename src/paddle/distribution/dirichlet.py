"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..tensor import digamma, lgamma, log, standard_gamma
from ..tensor.tensor import Tensor
from .distribution import need_value
from .exponential_family import ExponentialFamily

__all__: list[str] = []


class Dirichlet(ExponentialFamily):
    r"""Shares of a whole: k positive numbers whose sum is 1, of density proportional to :math:`\prod x_i^{c_i - 1}`.

    Args:
        concentration (Tensor): [..., k], positive.

    Raises:
        ValueError: concentration has no axis.

    Examples:
        >>> d = paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0]))
        >>> d.mean.tolist(), d.event_shape
        ([0.25, 0.75], (2,))
    """

    def __init__(self, concentration: Tensor):
        shape = tuple(concentration.shape)
        if not shape:
            raise errors.invalid_argument("Dirichlet: concentration has no axis.", expected="[..., k]",
                                          received=f"{concentration.type}")  # fmt: skip
        self.concentration = concentration
        super().__init__(shape[:-1], shape[-1:])

    def _total(self) -> Tensor:
        return self.concentration.sum(-1, keepdim=True)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self._total()

    @property
    def variance(self) -> Tensor:
        s = self._total()
        return self.concentration * (s - self.concentration) / (s * s * (s + 1))

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            g = standard_gamma(self.concentration.expand(list(self._extend_shape(shape))))
            return g / g.sum(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        value, c = need_value(value, "Dirichlet", "log_prob"), self.concentration
        return (log(value) * (c - 1.0)).sum(-1) + lgamma(c.sum(-1)) - lgamma(c).sum(-1)

    def entropy(self) -> Tensor:
        c = self.concentration
        s = c.sum(-1)
        spread = (s - c.shape[-1]) * digamma(s) - ((c - 1.0) * digamma(c)).sum(-1)
        return lgamma(c).sum(-1) - lgamma(s) + spread

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return lgamma(x).sum(-1) - lgamma(x.sum(-1))
