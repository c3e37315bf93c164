"""Maps of random values with the logarithm of how they stretch volumes."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..nn.functional import log_sigmoid, sigmoid, softmax, softplus
from ..tensor import abs, arange, atanh, broadcast_shape, concat, cumprod, exp, log, stack, tanh, unstack, zeros
from ..tensor.tensor import Tensor
from . import constraint, variable
from .distribution import Distribution, refuse

__all__ = [
    "Transform", "AbsTransform", "AffineTransform", "ChainTransform", "ExpTransform", "IndependentTransform",
    "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform",
]  # fmt: skip


class Type(enum.Enum):
    """Which maps have an inverse."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, type_: Type) -> bool:
        """Whether different values are taken to different values."""
        return type_ in (cls.BIJECTION, cls.INJECTION)


def sum_rightmost(x: Tensor, n: int) -> Tensor:
    """The sum over the last n axes."""
    return x.sum(list(range(-n, 0))) if n > 0 else x


class Transform:
    """The base of maps between random values.

    A subclass defines `_forward`, `_inverse` and `_forward_log_det_jacobian` or `_inverse_log_det_jacobian`, and, where
    shapes change, `_forward_shape` and `_inverse_shape`.

    Examples:
        >>> t = paddle.distribution.ExpTransform()
        >>> t.forward(paddle.to_tensor([0.0])).tolist(), t.inverse(paddle.to_tensor([1.0])).tolist()
        ([1.0], [0.0])
    """

    _type = Type.INJECTION

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    def __call__(self, input: Any) -> Any:
        """The map of a Tensor; of a distribution, that of its values; of a transform, the two one after the other."""
        if isinstance(input, Distribution):
            from .transformed_distribution import TransformedDistribution

            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return self.forward(input)

    def _need(self, value: Any, what: str, kind: variable.Variable) -> Tensor:
        if not isinstance(value, Tensor):
            refuse(f"{type(self).__name__}.{what}", "the value", value, "a Tensor")
        if value.ndim < kind.event_rank:
            raise errors.invalid_argument(
                f"{type(self).__name__}.{what}: the value has too few axes.", expected=f"at least {kind.event_rank}",
                received=f"{value.type}",
            )  # fmt: skip
        return value

    def forward(self, x: Tensor) -> Tensor:
        """The map of x."""
        return self._forward(self._need(x, "forward", self._domain))

    def inverse(self, y: Tensor) -> Any:
        """What is mapped to y."""
        return self._inverse(self._need(y, "inverse", self._codomain))

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """The logarithm of the absolute value of the determinant of the derivative at x.

        Raises:
            NotImplementedError: the map is not injective.
        """
        x = self._need(x, "forward_log_det_jacobian", self._domain)
        if not self._is_injective():
            self._lacks("forward_log_det_jacobian")
        return self._call_forward_log_det_jacobian(x)

    def inverse_log_det_jacobian(self, y: Tensor) -> Any:
        """The same of the inverse, at y."""
        y = self._need(y, "inverse_log_det_jacobian", self._codomain)
        return self._call_inverse_log_det_jacobian(y)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the map of values of a shape."""
        return self._forward_shape(self._sequence(shape))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of what is mapped to values of a shape."""
        return self._inverse_shape(self._sequence(shape))

    # -- for subclasses --
    def _sequence(self, shape: Any) -> Sequence[int]:
        if not isinstance(shape, Sequence):
            refuse(f"{type(self).__name__}", "shape", shape, "a list or tuple of int")
        return shape

    def _lacks(self, what: str) -> Any:
        raise errors.unimplemented(f"{type(self).__name__}: {what} is not defined.")

    def _forward(self, x: Tensor) -> Tensor:
        return self._lacks("forward")

    def _inverse(self, y: Tensor) -> Any:
        return self._lacks("inverse")

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _call_forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if hasattr(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self.forward(x))
        return self._lacks("forward_log_det_jacobian")

    def _call_inverse_log_det_jacobian(self, y: Tensor) -> Any:
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if hasattr(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        return self._lacks("inverse_log_det_jacobian")


class AbsTransform(Transform):
    """y = abs(x). The inverse is the pair (-y, y).

    Examples:
        >>> t = paddle.distribution.AbsTransform()
        >>> t.forward(paddle.to_tensor([-1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    _type = Type.SURJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return abs(x)

    def _inverse(self, y: Tensor) -> tuple[Tensor, Tensor]:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> tuple[Tensor, Tensor]:
        zero = zeros([], y.dtype)
        return zero, zero


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc (Tensor): What is added.
        scale (Tensor): What x is multiplied by, not 0.

    Raises:
        TypeError: a parameter is no Tensor.

    Examples:
        >>> t = paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))
        >>> t.forward(paddle.to_tensor([3.0])).tolist()
        [7.0]
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Tensor, scale: Tensor):
        for label, v in (("loc", loc), ("scale", scale)):
            if not isinstance(v, Tensor):
                refuse("AffineTransform", label, v, "a Tensor")
        self._loc, self._scale = loc, scale

    @property
    def loc(self) -> Tensor:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """What x is multiplied by."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        return self._loc + self._scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return log(abs(self._scale))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return tuple(broadcast_shape(broadcast_shape(list(shape), list(self._loc.shape)), list(self._scale.shape)))

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """y = exp(x).

    Examples:
        >>> t = paddle.distribution.ExpTransform()
        >>> t.forward_log_det_jacobian(paddle.to_tensor([2.0])).tolist()
        [2.0]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x ** power, of positive numbers.

    Args:
        power (Tensor): The exponent.

    Raises:
        TypeError: power is no Tensor.

    Examples:
        >>> t = paddle.distribution.PowerTransform(paddle.to_tensor(2.0))
        >>> t.forward(paddle.to_tensor([3.0])).tolist(), t.inverse(paddle.to_tensor([4.0])).tolist()
        ([9.0], [2.0])
    """

    _type = Type.BIJECTION

    def __init__(self, power: Tensor):
        if not isinstance(power, Tensor):
            refuse("PowerTransform", "power", power, "a Tensor")
        self._power = power

    @property
    def power(self) -> Tensor:
        """The exponent."""
        return self._power

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return x**self._power

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1.0 / self._power)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return log(abs(self._power * x ** (self._power - 1)))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return tuple(broadcast_shape(list(shape), list(self._power.shape)))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Examples:
        >>> t = paddle.distribution.SigmoidTransform()
        >>> t.forward(paddle.to_tensor([0.0])).tolist(), t.inverse(paddle.to_tensor([0.5])).tolist()
        ([0.5], [0.0])
    """

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y) - (-y).log1p()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x).

    Examples:
        >>> t = paddle.distribution.TanhTransform()
        >>> t.forward(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return atanh(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """log(1 - tanh(x)**2), without the 1 - 1 of large x."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftmaxTransform(Transform):
    """y = exp(x) over its sum along the last axis; the inverse is the logarithm, whose sum is lost.

    Examples:
        >>> t = paddle.distribution.SoftmaxTransform()
        >>> t.forward(paddle.zeros([2])).tolist()
        [0.5, 0.5]
    """

    _type = Type.OTHER

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise errors.invalid_argument("SoftmaxTransform: the shape has no axis.", received=f"{shape}")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(Transform):
    r"""Vectors of k - 1 numbers to k shares of a whole: each share is a part of what those before have left.

    The i-th part is sigmoid(x_i - log(k - i)), which is an equal one for x = 0.

    Examples:
        >>> t = paddle.distribution.StickBreakingTransform()
        >>> [round(v, 4) for v in t.forward(paddle.zeros([1])).tolist()]
        [0.5, 0.5]
    """

    _type = Type.BIJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _centered(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        return x - log(arange(n, 0, -1).astype(x.dtype))

    def _forward(self, x: Tensor) -> Tensor:
        part = sigmoid(self._centered(x))
        one = zeros([*x.shape[:-1], 1], x.dtype) + 1.0
        left = cumprod(1 - part, -1)
        return concat([part, one], -1) * concat([one, left], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        left = 1.0 - shares.cumsum(-1)
        n = shares.shape[-1]
        return log(shares) - log(left) + log(arange(n, 0, -1).astype(y.dtype))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        y, x = self._forward(x), self._centered(x)
        return (-x + log_sigmoid(x) + log(y[..., :-1])).sum(-1)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._resized(shape, 1)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._resized(shape, -1)

    def _resized(self, shape: Sequence[int], more: int) -> tuple[int, ...]:
        if len(shape) < 1:
            raise errors.invalid_argument("StickBreakingTransform: the shape has no axis.", received=f"{shape}")
        return (*shape[:-1], shape[-1] + more)


class ReshapeTransform(Transform):
    """Values in another shape.

    Args:
        in_event_shape (Sequence[int]): The shape of a value.
        out_event_shape (Sequence[int]): Its new shape, of as many elements.

    Raises:
        TypeError: what is no list. ValueError: the numbers of elements differ.

    Examples:
        >>> t = paddle.distribution.ReshapeTransform((2, 3), (6,))
        >>> t.forward(paddle.ones([4, 2, 3])).shape
        paddle.Size([4, 6])
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]):
        for label, v in (("in_event_shape", in_event_shape), ("out_event_shape", out_event_shape)):
            if not isinstance(v, Sequence):
                refuse("ReshapeTransform", label, v, "a list or tuple of int")
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise errors.invalid_argument(
                "ReshapeTransform: the shapes differ in elements.",
                received=f"{tuple(in_event_shape)} and {tuple(out_event_shape)}",
            )
        self._in, self._out = tuple(in_event_shape), tuple(out_event_shape)

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of a value."""
        return self._in

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """Its new shape."""
        return self._out

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out))

    def _forward(self, x: Tensor) -> Tensor:
        return x.reshape(list(self._swap(tuple(x.shape), self._in, self._out)))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(list(self._swap(tuple(y.shape), self._out, self._in)))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._swap(tuple(shape), self._in, self._out)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._swap(tuple(shape), self._out, self._in)

    def _swap(self, shape: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
        at = len(shape) - len(old)
        if at < 0 or shape[at:] != old:
            raise errors.invalid_argument(
                "ReshapeTransform: the value has another shape.", expected=f"[..., {', '.join(map(str, old))}]",
                received=f"{list(shape)}",
            )  # fmt: skip
        return shape[:at] + new

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return zeros(list(x.shape[: x.ndim - len(self._in)]), x.dtype)


class IndependentTransform(Transform):
    """A transform whose last batch axes count as axes of one value: the logarithms are summed over them.

    Args:
        base (Transform): The transform.
        reinterpreted_batch_rank (int): How many axes, at least 1.

    Raises:
        TypeError: base is no Transform. ValueError: the number is not positive.

    Examples:
        >>> t = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> t.forward_log_det_jacobian(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [3.0, 7.0]
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int):
        if not isinstance(base, Transform):
            refuse("IndependentTransform", "base", base, "a Transform")
        if reinterpreted_batch_rank <= 0:
            raise errors.invalid_argument(
                "IndependentTransform: reinterpreted_batch_rank is not positive.",
                received=f"{reinterpreted_batch_rank}",
            )
        self._base, self._rank = base, reinterpreted_batch_rank

    def _is_injective(self) -> bool:
        return self._base._is_injective()

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._rank)

    def _forward(self, x: Tensor) -> Tensor:
        return self._base.forward(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return sum_rightmost(self._base.forward_log_det_jacobian(x), self._rank)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.inverse_shape(shape)


class ChainTransform(Transform):
    """Transforms one after another, the first one first.

    Args:
        transforms (Sequence[Transform]): Which.

    Raises:
        TypeError: what is no sequence of transforms.

    Examples:
        >>> double = paddle.distribution.AffineTransform(paddle.to_tensor(0.0), paddle.to_tensor(2.0))
        >>> t = paddle.distribution.ChainTransform([double, paddle.distribution.ExpTransform()])
        >>> t.forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """

    def __init__(self, transforms: Sequence[Transform]):
        if not isinstance(transforms, Sequence) or not all(isinstance(t, Transform) for t in transforms):
            refuse("ChainTransform", "transforms", transforms, "a list of Transforms")
        self.transforms = transforms

    def _is_injective(self) -> bool:
        return all(t._is_injective() for t in self.transforms)

    @property
    def _domain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self.transforms[-1]._codomain.event_rank
        for t in reversed(self.transforms):
            rank = max(rank - t._codomain.event_rank + t._domain.event_rank, t._domain.event_rank)
        first = self.transforms[0]._domain
        return variable.Independent(first, rank - first.event_rank)

    @property
    def _codomain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self.transforms[0]._domain.event_rank
        for t in self.transforms:
            rank = max(rank - t._domain.event_rank + t._codomain.event_rank, t._codomain.event_rank)
        last = self.transforms[-1]._codomain
        return variable.Independent(last, rank - last.event_rank)

    def _forward(self, x: Tensor) -> Tensor:
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        total: Any = 0.0
        rank = self._domain.event_rank
        for t in self.transforms:
            total = total + sum_rightmost(t.forward_log_det_jacobian(x), rank - t._domain.event_rank)
            x = t.forward(x)
            rank += t._codomain.event_rank - t._domain.event_rank
        return total

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        return shape


class StackTransform(Transform):
    """A transform for each slice along an axis.

    Args:
        transforms (Sequence[Transform]): As many as the axis is long.
        axis (int): Default: 0.

    Raises:
        TypeError: what is no sequence of transforms, or none in it; axis is no integer.

    Examples:
        >>> t = paddle.distribution.StackTransform(
        ...     [paddle.distribution.ExpTransform(), paddle.distribution.TanhTransform()])
        >>> t.forward(paddle.zeros([2])).tolist()
        [1.0, 0.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0):
        if (
            not isinstance(transforms, Sequence)
            or not transforms
            or not all(isinstance(t, Transform) for t in transforms)
        ):
            refuse("StackTransform", "transforms", transforms, "a list of Transforms, at least one")
        if not isinstance(axis, int):
            refuse("StackTransform", "axis", axis, "an int")
        self._transforms, self._axis = transforms, axis

    def _is_injective(self) -> bool:
        return all(t._is_injective() for t in self._transforms)

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis of the slices."""
        return self._axis

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([t._domain for t in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([t._codomain for t in self._transforms], self._axis)

    def _slices(self, value: Tensor) -> list[Tensor]:
        n = value.ndim
        if not -n <= self._axis < n or value.shape[self._axis] != len(self._transforms):
            raise errors.invalid_argument(
                "StackTransform: the value has another number of slices.",
                expected=f"{len(self._transforms)} on axis {self._axis}", received=f"{value.type}",
            )  # fmt: skip
        return unstack(value, self._axis)

    def _stacked(self, parts: list[Tensor]) -> Tensor:
        shape: Any = list(parts[0].shape)
        for p in parts[1:]:
            shape = broadcast_shape(shape, list(p.shape))
        return stack([p.expand(shape) for p in parts], self._axis)

    def _forward(self, x: Tensor) -> Tensor:
        return self._stacked([t.forward(v) for t, v in zip(self._transforms, self._slices(x))])

    def _inverse(self, y: Tensor) -> Tensor:
        return self._stacked([t.inverse(v) for t, v in zip(self._transforms, self._slices(y))])

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return self._stacked([t.forward_log_det_jacobian(v) for t, v in zip(self._transforms, self._slices(x))])
