"""The base of distributions, and how they read their arguments."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from ..engine import errors
from ..engine.types import default_dtype
from ..framework.grad_mode import no_grad
from ..tensor import broadcast_shape, broadcast_to, exp, full, to_tensor
from ..tensor.tensor import Tensor

__all__: list[str] = []


class Distribution:
    """The base of distributions of random values.

    A distribution has a batch of parameters, of shape `batch_shape`; what is drawn for each has `event_shape`.

    Args:
        batch_shape (Sequence[int]): Default: (), one distribution.
        event_shape (Sequence[int]): Default: (), numbers.

    Examples:
        >>> d = paddle.distribution.Normal(paddle.zeros([3]), paddle.ones([3]))
        >>> d.batch_shape, d.event_shape, d.sample([2]).shape
        ((3,), (), paddle.Size([2, 3]))
    """

    def __init__(self, batch_shape: Iterable[int] = (), event_shape: Iterable[int] = ()):
        self._batch_shape = tuple(int(n) for n in batch_shape)
        self._event_shape = tuple(int(n) for n in event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        self._lacks("mean")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        self._lacks("variance")

    def sample(self, shape: Any = ()) -> Tensor:
        """Draws values.

        Args:
            shape (Sequence[int]): How many. Default: one.

        Returns:
            Tensor: shape + batch_shape + event_shape; gradients do not pass it.
        """
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Tensor:
        """Draws values as `sample` does, of which gradients go to the parameters."""
        self._lacks("rsample")

    def entropy(self) -> Tensor:
        """The entropy in nats, in the shape of the batch."""
        self._lacks("entropy")

    def kl_divergence(self, other: Distribution) -> Tensor:
        """The Kullback-Leibler divergence of `other` from this distribution; see `kl_divergence`."""
        self._lacks("kl_divergence")

    def prob(self, value: Tensor) -> Tensor:
        """The probability (or its density) of `value`."""
        return exp(self.log_prob(value))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability (or of its density) of `value`."""
        self._lacks("log_prob")

    def probs(self, value: Tensor) -> Tensor:
        """The probability of `value`; an older name of `prob`."""
        self._lacks("probs")

    # -- for subclasses --
    def _lacks(self, what: str) -> NoReturn:
        raise errors.unimplemented(f"{type(self).__name__}: {what} is not defined.")

    def _extend_shape(self, sample_shape: Any) -> tuple[int, ...]:
        """The shape of that many draws."""
        return sizes(sample_shape, type(self).__name__) + self._batch_shape + self._event_shape


def sizes(shape: Any, owner: str) -> tuple[int, ...]:
    """The shape of a sample, as sample takes it."""
    if not isinstance(shape, Iterable):
        raise errors.invalid_type(f"{owner}.sample: shape is not a list.", expected="a list or tuple of int",
                                  received=f"shape: {shape!r}")  # fmt: skip
    return tuple(int(n) for n in shape)


def refuse(owner: str, label: str, value: Any, expected: str = "a number or a Tensor") -> NoReturn:
    raise errors.invalid_type(
        f"{owner}: {label} is of another type.", expected=expected, received=f"{label}: {type(value).__name__}"
    )


def number_or_tensor(value: Any, owner: str, label: str, *, integers: bool = True, lists: bool = False) -> Tensor:
    """A parameter as a Tensor: a number becomes one of the default type.

    Args:
        integers: Python integers are accepted. lists: lists are.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, numbers.Real) and (integers or not isinstance(value, numbers.Integral)):
        return full([], float(value), default_dtype())
    if lists and isinstance(value, (list, tuple, np.ndarray)):
        return to_tensor(np.asarray(value), default_dtype())
    refuse(owner, label, value)


def together(*xs: Tensor) -> list[Tensor]:
    """Tensors in the shape that they broadcast to."""
    shape: Any = list(xs[0].shape)
    for x in xs[1:]:
        shape = broadcast_shape(shape, list(x.shape))
    return [x if list(x.shape) == list(shape) else broadcast_to(x, shape) for x in xs]


def floats(owner: str, **parameters: Any) -> list[Tensor]:
    """Parameters that are all Tensors, or all numbers, lists and arrays, which become Tensors of one shape."""
    given = list(parameters.values())
    for label, v in parameters.items():
        if not isinstance(v, (int, float, list, tuple, np.ndarray, Tensor)) or isinstance(v, np.generic):
            refuse(owner, label, v, "a number, a list, an array or a Tensor")
    if any(isinstance(v, Tensor) for v in given):
        if not all(isinstance(v, Tensor) for v in given):
            raise errors.invalid_argument(
                f"{owner}: some parameters are Tensors and some are not.", expected="all Tensors, or none",
                received=", ".join(f"{k}: {type(v).__name__}" for k, v in parameters.items()),
            )  # fmt: skip
        return given
    arrays = [v if isinstance(v, np.ndarray) else np.asarray(v, default_dtype().np) for v in given]
    arrays = [a if a.dtype in (np.float32, np.float64) else a.astype(default_dtype().np) for a in arrays]
    return [to_tensor(np.array(a)) for a in np.broadcast_arrays(*arrays)]


def like(value: Any, parameter: Tensor) -> Tensor:
    """`value`, floating, in the type of a parameter."""
    if value.dtype is not parameter.dtype and value.dtype.is_floating:
        return value.astype(parameter.dtype)
    return value


def need_value(value: Any, owner: str, what: str, kind: Any = None) -> Tensor:
    """A value of which something is asked: a Tensor; ValueError, or what `kind` makes, otherwise."""
    if not isinstance(value, Tensor):
        raise (kind or errors.invalid_argument)(
            f"{owner}.{what}: value is not a Tensor.", expected="a Tensor", received=type(value).__name__
        )
    return value


def as_type(value: Tensor, parameter: Tensor) -> Tensor:
    """`value` in the type of a parameter, integers too."""
    return value if value.dtype is parameter.dtype else value.astype(parameter.dtype)


def tiny(x: Tensor) -> float:
    """The smallest normal number of the type of x."""
    return float(np.finfo(x.dtype.np).tiny)


def eps(x: Tensor) -> float:
    """The distance from 1 to the next number in the type of x."""
    return float(np.finfo(x.dtype.np).eps)
