"""Distributions of values that went through transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..framework.grad_mode import no_grad
from ..tensor.tensor import Tensor
from .distribution import Distribution, refuse
from .independent import Independent
from .transform import ChainTransform, Transform, sum_rightmost

__all__: list[str] = []


class TransformedDistribution(Distribution):
    """The distribution of the values of another after transforms.

    Args:
        base (Distribution): The other.
        transforms (Sequence[Transform]): The first one first.

    Raises:
        TypeError: base is no Distribution, or transforms no list of Transforms. ValueError: the values of base have
            too few axes for the transforms.

    Examples:
        >>> normal = paddle.distribution.Normal(paddle.to_tensor(0.0), paddle.to_tensor(1.0))
        >>> d = paddle.distribution.TransformedDistribution(normal, [paddle.distribution.ExpTransform()])
        >>> round(d.log_prob(paddle.to_tensor(1.0)).item(), 4)
        -0.9189
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]):
        if not isinstance(base, Distribution):
            refuse("TransformedDistribution", "base", base, "a Distribution")
        if not isinstance(transforms, Sequence) or not all(isinstance(t, Transform) for t in transforms):
            refuse("TransformedDistribution", "transforms", transforms, "a list of Transforms")
        chain = ChainTransform(transforms)
        shape = base.batch_shape + base.event_shape
        taken = chain._domain.event_rank
        if len(shape) < taken:
            raise errors.invalid_argument(
                "TransformedDistribution: values of base have too few axes.", expected=f"at least {taken}",
                received=f"{len(shape)}",
            )  # fmt: skip
        more = taken - len(base.event_shape)
        self._base = Independent(base, more) if more > 0 else base
        self._transforms = list(transforms)
        self._chain = chain
        whole = tuple(chain.forward_shape(shape))
        rank = chain._codomain.event_rank + max(len(base.event_shape) - taken, 0)
        super().__init__(whole[: len(whole) - rank], whole[len(whole) - rank :])

    def sample(self, shape: Any = ()) -> Tensor:
        with no_grad():
            return self._chain.forward(self._base.sample(shape))

    def rsample(self, shape: Any = ()) -> Tensor:
        return self._chain.forward(self._base.rsample(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """That of what is mapped to `value`, less the logarithm of how the transforms stretch there.

        Raises:
            TypeError: value is no Tensor. NotImplementedError: the transforms are not injective.
        """
        if not self._chain._is_injective():
            self._lacks("log_prob")
        total: Any = 0.0
        rank = len(self._event_shape)
        for t in reversed(self._transforms):
            x = t.inverse(value)
            rank += t._domain.event_rank - t._codomain.event_rank
            total = total - sum_rightmost(t.forward_log_det_jacobian(x), rank - t._domain.event_rank)
            value = x
        return total + sum_rightmost(self._base.log_prob(value), rank - len(self._base.event_shape))
