"""Distributions whose logarithm is linear in functions of the value."""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..tensor.tensor import Tensor
from .distribution import Distribution

__all__: list[str] = []


class ExponentialFamily(Distribution):
    r"""The base of distributions of the form :math:`h(x) \exp(\eta \cdot t(x) - F(\eta))`.

    A subclass has the natural parameters :math:`\eta` as `_natural_parameters`, the function F as
    `_log_normalizer(*eta)` and the expected value of the logarithm of h as `_mean_carrier_measure`.

    Source: Nielsen and Nock 2010, "Entropies and cross-entropies of exponential families".
    """

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        self._lacks("_natural_parameters")

    def _log_normalizer(self, *parameters: Tensor) -> Tensor:
        self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        self._lacks("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """F(eta) minus eta times its gradient, minus the expected logarithm of h."""
        eta = []
        for p in self._natural_parameters:
            p = p.detach()
            p.stop_gradient = False
            eta.append(p)
        normalizer = self._log_normalizer(*eta)
        total = normalizer - self._mean_carrier_measure
        for p, g in zip(eta, grad(normalizer.sum(), eta, create_graph=True)):
            term = p * g
            total = total - (term.sum(list(range(-len(self._event_shape), 0))) if self._event_shape else term)
        return total
