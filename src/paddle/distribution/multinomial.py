"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..nn.functional import one_hot
from ..tensor import arange, clip, exp, lgamma, log
from ..tensor import multinomial as draw
from ..tensor.tensor import Tensor
from .binomial import Binomial
from .distribution import Distribution, need_value, sizes

__all__: list[str] = []


class Multinomial(Distribution):
    """How often each of k categories comes up in n draws.

    Args:
        total_count (int): n, at least 1.
        probs (Tensor): [..., k], weights of the categories, which need not sum to 1.

    Raises:
        ValueError: total_count is no positive integer, or probs has no axis.

    Examples:
        >>> d = paddle.distribution.Multinomial(4, paddle.to_tensor([1.0, 3.0]))
        >>> d.mean.tolist(), round(d.prob(paddle.to_tensor([1.0, 3.0])).item(), 4)
        ([1.0, 3.0], 0.4219)
    """

    probs: Any  # hides the older name of prob

    def __init__(self, total_count: int, probs: Tensor):
        if not isinstance(total_count, int) or total_count < 1:
            raise errors.invalid_argument(
                "Multinomial: total_count is no positive integer.", expected="at least 1", received=f"{total_count!r}"
            )
        if not probs.ndim:
            raise errors.invalid_argument("Multinomial: probs has no axis.", expected="[..., k]",
                                          received=f"probs: {probs.type}")  # fmt: skip
        self.probs = probs / probs.sum(-1, keepdim=True)
        self.total_count = total_count
        super().__init__(probs.shape[:-1], probs.shape[-1:])

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        value = need_value(value, "Multinomial", "log_prob", errors.invalid_type)
        if value.dtype is not self.probs.dtype:
            raise errors.invalid_argument(
                "Multinomial.log_prob: value is of another type.", expected=self.probs.dtype.name,
                received=f"value: {value.type}",
            )  # fmt: skip
        # 0 * log(0) counts as 0
        logp = log(clip(self.probs, min=float(np.finfo(self.probs.dtype.np).tiny)))
        terms = (logp * value).sum(-1)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + terms

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws counts.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape + event_shape, in the type of probs; gradients do not pass it.
        """
        wanted = sizes(shape, "Multinomial")
        with no_grad():
            k = self.probs.shape[-1]
            rows = self.probs.reshape([-1, k])
            number = int(np.prod(wanted))
            if not number:
                raise errors.invalid_argument("Multinomial.sample: nothing is asked for.", received=f"shape: {shape}")
            drawn = draw(rows, number * self.total_count, True)  # [rows, number * n]
            counts = one_hot(drawn.reshape([-1, number, self.total_count]), k).sum(-2).astype(self.probs.dtype)
            return counts.transpose([1, 0, 2]).reshape([*wanted, *self._batch_shape, k])

    def entropy(self) -> Tensor:
        """From that of each count, which is binomial."""
        n = float(self.total_count)
        p = self.probs
        count = arange(1, self.total_count + 1, dtype=p.dtype).reshape([-1] + [1] * p.ndim)
        weight = exp(Binomial(self.total_count, p).log_prob(count))
        logp = log(clip(p, min=float(np.finfo(p.dtype.np).tiny)))
        more = (weight * lgamma(count + 1)).sum(0).sum(-1)
        return -n * (p * logp).sum(-1) - lgamma(p.sum(-1) * 0 + (n + 1)) + more
