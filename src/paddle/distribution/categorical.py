"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..nn.functional import log_softmax
from ..tensor import exp, gather, log, multinomial, take_along_axis
from ..tensor.tensor import Tensor
from .distribution import Distribution, floats, refuse

__all__: list[str] = []


class Categorical(Distribution):
    """Numbers of categories.

    Two readings of `logits` live side by side, as upstream has it: samples and probabilities take them as weights,
    which need not sum to 1; entropy and divergence take them as logarithms of weights.

    Args:
        logits (list|tuple|numpy.ndarray|Tensor): [..., categories].
        name (str, optional): Default: None.

    Raises:
        TypeError: logits of another type. ValueError: it has no axis.

    Examples:
        >>> d = paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0]))
        >>> d.probs(paddle.to_tensor([1, 0])).tolist()
        [0.75, 0.25]
    """

    def __init__(self, logits: Any, name: str | None = None):
        self.name = "Categorical" if name is None else name
        if not isinstance(logits, (list, tuple, np.ndarray, Tensor)):
            refuse("Categorical", "logits", logits, "a list, an array or a Tensor")
        (self.logits,) = floats("Categorical", logits=logits)
        self.dtype = self.logits.dtype
        if not self.logits.ndim:
            raise errors.invalid_argument("Categorical: there are no categories.", expected="[..., categories]",
                                          received=f"logits: {self.logits.type}")  # fmt: skip
        self._prob = self.logits / self.logits.sum(-1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws numbers of categories.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: int64, shape + batch_shape.
        """
        wanted = [shape] if isinstance(shape, int) else [int(n) for n in shape]
        with no_grad():
            count = int(np.prod(wanted))
            batch = list(self.logits.shape[:-1])
            weights = self.logits.reshape([-1, self.logits.shape[-1]])
            drawn = multinomial(weights, count, True)  # [rows, count]
            return drawn.transpose([1, 0]).reshape(wanted + batch)

    def entropy(self) -> Tensor:
        logp = log_softmax(self.logits, -1)
        return -(exp(logp) * logp).sum(-1)

    def probs(self, value: Tensor) -> Tensor:
        """The probabilities of categories.

        Args:
            value (Tensor): Their numbers; for several distributions [..., k], the same for all where it is a vector.

        Returns:
            Tensor: the shape of value, with the batch before it where value is a vector.
        """
        if self.logits.ndim == 1:
            at = value.reshape([-1])
            return gather(self._prob, at).reshape(value.shape)
        if value.ndim == 1:
            value = value.reshape([1] * (self.logits.ndim - 1) + [-1]).expand([*self.logits.shape[:-1], value.shape[0]])
        return take_along_axis(self._prob, value.astype("int64"), -1)

    def prob(self, value: Tensor) -> Tensor:
        return self.probs(value)

    def log_prob(self, value: Tensor) -> Tensor:
        return log(self.probs(value))

    def kl_divergence(self, other: Categorical) -> Tensor:
        """The divergence from another categorical distribution.

        Returns:
            Tensor: the batch, with a last axis of 1.
        """
        if not isinstance(other, Categorical):
            refuse("Categorical.kl_divergence", "other", other, "a Categorical")
        logp, logq = log_softmax(self.logits, -1), log_softmax(other.logits, -1)
        return (exp(logp) * (logp - logq)).sum(-1, keepdim=True)
