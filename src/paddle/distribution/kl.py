"""Kullback-Leibler divergences between distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ..autograd import grad
from ..engine import errors
from ..tensor import digamma, lgamma, log, log1p
from ..tensor.tensor import Tensor
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .exponential_family import ExponentialFamily
from .gamma import Gamma
from .geometric import Geometric
from .laplace import Laplace
from .lognormal import LogNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .poisson import Poisson

__all__ = ["register_kl", "kl_divergence"]

F = TypeVar("F", bound=Callable[..., Any])
_rules: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    r"""The divergence of q from p, :math:`\int p \log(p / q)`, in nats.

    Args:
        p (Distribution): Whose values are expected.
        q (Distribution): What is compared.

    Returns:
        Tensor: one number for each distribution of the batch.

    Raises:
        NotImplementedError: nothing is registered for the two kinds.

    Examples:
        >>> p, q = paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 1.0)
        >>> paddle.distribution.kl_divergence(p, q).item()
        0.5
    """
    return _rule(type(p), type(q))(p, q)


def register_kl(cls_p: type[Distribution], cls_q: type[Distribution]) -> Callable[[F], F]:
    """Declares a function as the divergence of a distribution of class cls_q from one of cls_p.

    Args:
        cls_p (type): A subclass of Distribution. cls_q (type): Another, or the same.

    Returns:
        callable: a decorator of functions of two distributions.

    Raises:
        TypeError: a class is no Distribution.

    Examples:
        >>> @paddle.distribution.register_kl(paddle.distribution.Uniform, paddle.distribution.Uniform)
        ... def divergence(p, q):
        ...     return (q.high - q.low).log() - (p.high - p.low).log()
    """
    if not issubclass(cls_p, Distribution) or not issubclass(cls_q, Distribution):
        raise errors.invalid_type("register_kl: a class is no Distribution.", received=f"{cls_p}, {cls_q}")

    def declare(f: F) -> F:
        _rules[cls_p, cls_q] = f
        return f

    return declare


def _rule(p: type, q: type) -> Callable[[Any, Any], Tensor]:
    """The rule of the nearest classes: of those that fit, the one first in the order of p, then of q."""
    fits = [(a, b) for a, b in _rules if issubclass(p, a) and issubclass(q, b)]
    if not fits:
        raise errors.unimplemented(
            f"kl_divergence: nothing is known of {p.__name__} and {q.__name__}.",
            hint="declare a function for them with register_kl.",
        )
    left = min(fits, key=lambda f: (p.__mro__.index(f[0]), q.__mro__.index(f[1])))
    right = min(fits, key=lambda f: (q.__mro__.index(f[1]), p.__mro__.index(f[0])))
    if left != right:
        warnings.warn(
            f"kl_divergence: two rules fit {p.__name__} and {q.__name__} equally well; that of {left[0].__name__} and "
            f"{left[1].__name__} is used.",
            stacklevel=3,
        )
    return _rules[left]


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    a, b = p.probs, q.probs
    return a * (log(a) - log(b)) + (1 - a) * (log1p(-a) - log1p(-b))


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    a, b, c, d = p.alpha, p.beta, q.alpha, q.beta
    constant = lgamma(c) + lgamma(d) + lgamma(a + b) - lgamma(a) - lgamma(b) - lgamma(c + d)
    return constant + (a - c) * digamma(a) + (b - d) * digamma(b) + (c + d - a - b) * digamma(a + b)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    s = a.sum(-1)
    terms = (a - b) * (digamma(a) - digamma(s).unsqueeze(-1))
    return lgamma(s) - lgamma(a).sum(-1) - lgamma(b.sum(-1)) + lgamma(b).sum(-1) + terms.sum(-1)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizer.

    Source: Nielsen and Nock 2010, "Entropies and cross-entropies of exponential families".
    """
    if type(p) is not type(q):
        raise errors.unimplemented(
            f"kl_divergence: {type(p).__name__} and {type(q).__name__} are of different families."
        )
    eta = []
    for t in p._natural_parameters:
        t = t.detach()
        t.stop_gradient = False
        eta.append(t)
    normalizer = p._log_normalizer(*eta)
    slopes = grad(normalizer.sum(), eta, create_graph=True)
    total = q._log_normalizer(*q._natural_parameters) - normalizer
    for e, f, slope in zip(eta, q._natural_parameters, slopes):
        term = (e - f) * slope
        total = total + (term.sum(list(range(-len(q.event_shape), 0))) if q.event_shape else term)
    return total


def _own(p: Any, q: Any) -> Tensor:
    return p.kl_divergence(q)


for _cls in (Binomial, Categorical, Cauchy, ContinuousBernoulli, Normal, MultivariateNormal, Laplace, Geometric,
             Exponential, Gamma, LogNormal, Poisson):  # fmt: skip
    register_kl(_cls, _cls)(_own)
