"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.types import default_dtype
from ..framework.grad_mode import no_grad
from ..nn.functional import binary_cross_entropy_with_logits as cross_entropy
from ..nn.functional import sigmoid
from ..tensor import bernoulli, clip, log, log1p, to_tensor, where, zeros_like
from ..tensor.random import rand
from ..tensor.tensor import Tensor
from .distribution import eps, like, refuse, tiny, together
from .exponential_family import ExponentialFamily

__all__: list[str] = []


class Bernoulli(ExponentialFamily):
    """1 with a probability, else 0.

    Args:
        probs (float|list|numpy.ndarray|Tensor): The probability of 1.
        name (str, optional): Default: None.

    Raises:
        TypeError: probs of another type.

    Examples:
        >>> d = paddle.distribution.Bernoulli(0.25)
        >>> round(d.prob(paddle.to_tensor(1.0)).item(), 4), d.variance.item()
        (0.25, 0.1875)
    """

    probs: Any  # hides the older name of prob

    def __init__(self, probs: Any, name: str | None = None):
        self.name = "Bernoulli" if name is None else name
        if isinstance(probs, (float, list, tuple, np.ndarray)) and not isinstance(probs, np.generic):
            probs = to_tensor(np.asarray(probs), default_dtype())
        elif not isinstance(probs, Tensor):
            refuse("Bernoulli", "probs", probs, "a float, a list, an array or a Tensor")
        e = eps(probs)
        self.probs = clip(probs, e, 1 - e)
        self.logits = log(self.probs) - log1p(-self.probs)
        self.dtype = self.probs.dtype
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws 0 and 1.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape, in the type of probs; gradients do not pass it.
        """
        with no_grad():
            return bernoulli(self.probs.expand(list(self._extend_shape(shape))))

    def rsample(self, shape: Any = (), temperature: float = 1.0) -> Tensor:
        """Draws numbers between 0 and 1 that come nearer to them the lower the temperature, and take gradients.

        Args:
            shape (Sequence[int]): How many. Default: one.
            temperature (float): Positive. Default: 1.0.

        Source: Maddison, Mnih and Teh 2017, arXiv:1611.00712.
        """
        u = clip(rand(list(self._extend_shape(shape)), self.dtype), tiny(self.logits), 1 - eps(self.logits))
        return sigmoid((self.logits + log(u) - log1p(-u)) / temperature)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        value, p = together(like(value, self.logits), self.probs)
        zeros = zeros_like(p)
        return where(value < 0, zeros, where(value < 1, 1 - p, zeros + 1))

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs, reduction="none")

    def log_prob(self, value: Tensor) -> Tensor:
        value, logits = together(like(value, self.logits), self.logits)
        return -cross_entropy(logits, value, reduction="none")

    def kl_divergence(self, other: Bernoulli) -> Tensor:
        """The divergence from another Bernoulli distribution: sum of p * log(p / q) over 0 and 1."""
        from .kl import kl_divergence

        return kl_divergence(self, other)
