"""The uniform distribution."""

from __future__ import annotations

from typing import Any

from ..framework.grad_mode import no_grad
from ..tensor import log
from ..tensor.random import uniform
from ..tensor.tensor import Tensor
from .distribution import Distribution, floats, like, sizes

__all__: list[str] = []


class Uniform(Distribution):
    """Numbers in [low, high), each as likely.

    Args:
        low (int|float|list|tuple|numpy.ndarray|Tensor): The lower bound.
        high (int|float|list|tuple|numpy.ndarray|Tensor): The upper bound.
        name (str, optional): Default: None.

    Raises:
        TypeError: a parameter of another type. ValueError: one is a Tensor and the other is not.

    Examples:
        >>> d = paddle.distribution.Uniform(0.0, 4.0)
        >>> d.prob(paddle.to_tensor([1.0, 5.0])).tolist()
        [0.25, 0.0]
    """

    def __init__(self, low: Any, high: Any, name: str | None = None):
        self.name = "Uniform" if name is None else name
        self.low, self.high = floats("Uniform", low=low, high=high)
        self.dtype = self.low.dtype
        super().__init__(self.low.shape)

    def sample(self, shape: Any = (), seed: int = 0) -> Tensor:
        """Draws numbers.

        Args:
            shape (Sequence[int]): How many. Default: one.
            seed (int): Not 0: the numbers of this seed, the same each time. Default: 0.

        Returns:
            Tensor: shape + batch_shape; gradients do not pass it.
        """
        with no_grad():
            batch = tuple((self.low + self.high).shape)
            u = uniform(list(sizes(shape, "Uniform") + batch), self.dtype, seed=seed)
            return self.low + u * (self.high - self.low)

    def entropy(self) -> Tensor:
        return log(self.high - self.low)

    def _inside(self, value: Tensor) -> Tensor:
        value = like(value, self.low)
        return (self.low < value).astype(self.dtype) * (value < self.high).astype(self.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        return log(self._inside(value)) - log(self.high - self.low)

    def probs(self, value: Tensor) -> Tensor:
        """The density at `value`."""
        return self._inside(value) / (self.high - self.low)
