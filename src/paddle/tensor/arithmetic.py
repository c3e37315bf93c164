"""Arithmetic on Tensors: sums, products, quotients, powers, rounding and bounds."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import logic
from ..engine.ops import math as ops
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.number import Number
from ..utils.public import METHODS, public
from .arguments import fill_out, int_argument
from .families import need_tensor, no_method
from .tensor import Tensor

__all__ = [
    "add", "subtract", "sub", "divide", "div", "true_divide", "pow", "round", "clip", "clamp", "scale",
    "increment", "frac", "negative", "positive", "lerp", "add_n",
]  # fmt: skip

_INF = float("inf")


def _scaled(y: Tensor, alpha: Any) -> Any:
    return y if alpha == 1 else y * alpha


@public(also={"x": "input", "y": "other"}, method=True)
def add(x: Tensor, y: Tensor, name: str | None = None, *, alpha: float = 1, out: Any = None) -> Tensor:
    """The sum of two Tensors, element by element.

    Args:
        x, y (Tensor): Any type; the shapes broadcast.
        alpha (number): y is multiplied by it first.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: x + alpha * y, in the broadcast shape.

    Raises:
        ValueError: an argument is not a Tensor, or the shapes do not broadcast. TypeError: the types do not mix.

    Examples:
        >>> paddle.add(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [4, 6]
    """
    need_tensor(x, "add")
    return fill_out(ew.add(x, _scaled(need_tensor(y, "add", "y"), alpha)), out)


@public(also={"x": "input", "y": "other"}, method=("subtract", "sub"))
def subtract(x: Tensor, y: Tensor, name: str | None = None, *, alpha: float = 1, out: Any = None) -> Tensor:
    """The difference of two Tensors: x - alpha * y. Arguments as `add`.

    Examples:
        >>> paddle.subtract(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 5])).tolist()
        [-2, -3]
    """
    need_tensor(x, "subtract")
    return fill_out(ew.subtract(x, _scaled(need_tensor(y, "subtract", "y"), alpha)), out)


sub = subtract


@public(also={"x": "input", "y": "other"}, method=("divide", "div"))
def divide(
    x: Tensor, y: Tensor, name: str | None = None, *, rounding_mode: str | None = None, out: Any = None
) -> Tensor:
    """The quotient of two Tensors, element by element.

    Args:
        x, y (Tensor): the shapes broadcast; integers are divided in float32.
        rounding_mode (str, optional): "trunc" toward zero, "floor" downward; integers stay integers then.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: x / y, in the broadcast shape.

    Raises:
        ValueError: an argument is not a Tensor, the shapes do not broadcast, or no such rounding mode.

    Examples:
        >>> paddle.divide(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 4])).tolist()
        [0.5, 0.5]
    """
    need_tensor(x, "divide")
    need_tensor(y, "divide", "y")
    if rounding_mode is None:
        return fill_out(ew.divide(x, y), out)
    if rounding_mode == "floor":
        return fill_out(ops.floor_divide(x, y), out)
    if rounding_mode != "trunc":
        raise errors.invalid_argument(
            "divide: no such rounding mode.", expected="None, 'trunc' or 'floor'", received=repr(rounding_mode)
        )
    if x.dtype.is_integer and y.dtype.is_integer:
        y = y if y.ndim or not x.ndim else cast(y, x.dtype)
        down = ops.floor_divide(x, y)  # one too low where signs differ and something remains
        low = logic.logical_and(ew.not_equal(down * y, x), ew.less_than(down, 0))
        return fill_out(down + cast(low, down.dtype), out)
    return fill_out(ops.trunc(ew.divide(x, y)), out)


div = divide


def true_divide(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The quotient of two Tensors; `divide` without rounding."""
    return divide(input, other, out=out)


@public(also={"x": "input", "y": "exponent"}, method=True)
def pow(x: Tensor, y: Any, name: str | None = None, *, out: Any = None) -> Tensor:
    """x to the power of y, element by element.

    Args:
        x (Tensor): Any numeric type.
        y (Tensor|number): the exponent; a number takes the type of x.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: the broadcast shape.

    Raises:
        TypeError: y is neither a Tensor nor a number, or the types do not mix. ValueError: x is not a Tensor.

    Examples:
        >>> paddle.pow(paddle.to_tensor([1.0, 3.0]), 2).tolist()
        [1.0, 9.0]
    """
    need_tensor(x, "pow")
    if is_number(y):
        if x.dtype.is_integer and isinstance(y, float):
            y = int(y)
    elif not isinstance(y, Tensor):
        raise errors.invalid_type(
            "pow: the exponent is no number.", expected="a Tensor or a number", received=type(y).__name__
        )
    return fill_out(ops.pow_(x, y), out)


@public()
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of Tensors of one shape and type.

    Args:
        inputs (list of Tensor|Tensor): one Tensor gives itself.

    Raises:
        ValueError: the list is empty, or the shapes differ.

    Examples:
        >>> paddle.add_n([paddle.to_tensor([1.0]), paddle.to_tensor([2.0])]).tolist()
        [3.0]
    """
    if isinstance(inputs, Tensor):
        return inputs * 1 if not inputs.dtype.is_bool else ew.Detach()(inputs)
    if inputs is None:
        raise errors.precondition("add_n: inputs is None.", expected="Tensors", received="inputs: None")
    if not isinstance(inputs, (list, tuple)):
        raise errors.invalid_argument("add_n: no list of Tensors.", expected="a list", received=type(inputs).__name__)
    if not inputs or not builtins.all(isinstance(t, Tensor) for t in inputs):
        raise errors.invalid_argument(
            "add_n: no list of Tensors.", expected="at least one Tensor", received=f"{inputs!r}"
        )
    for i, t in enumerate(inputs):
        if t.type is not inputs[0].type:
            raise errors.invalid_argument(
                "add_n: the Tensors differ.", expected=f"{inputs[0].type}", received=f"inputs[{i}]: {t.type}"
            )
    total = inputs[0]
    for t in inputs[1:]:
        total = ew.add(total, t)
    return total if len(inputs) > 1 else total * 1


@public(method=True)
def scale(x: Tensor, scale: Any = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None,
          name: str | None = None) -> Tensor:  # fmt: skip
    """scale * x + bias, or scale * (x + bias), in the type of x.

    Args:
        x (Tensor): Any numeric type.
        scale (number|Tensor), bias (number): taken in the type of x.
        bias_after_scale (bool): which comes first.
        act (str, optional): an activation that is applied at last: "relu", "sigmoid" or "tanh".

    Returns:
        Tensor: shape and type of x.

    Examples:
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
        [3.0, 5.0]
    """
    need_tensor(x, "scale")

    def typed(v: Any) -> Any:
        if isinstance(v, Tensor):
            return cast(v, x.dtype)
        return Number(v, x.dtype)

    t = x
    if not bias_after_scale and bias != 0:
        t = ew.add(t, typed(bias))
    if isinstance(scale, Tensor) or scale != 1:
        t = ew.multiply(t, typed(scale))
    if bias_after_scale and bias != 0:
        t = ew.add(t, typed(bias))
    if act is not None:
        known = {"relu": ew.relu, "sigmoid": ew.sigmoid, "tanh": ew.tanh}
        if act not in known:
            raise errors.invalid_argument("scale: no such activation.", expected=f"one of {list(known)}", received=act)
        t = known[act](t)
    return ew.Detach()(t) if t is x and x.sg else (t * 1 if t is x else t)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds a number to a Tensor of one element, in place.

    Raises:
        ValueError: x has more than one element.

    Examples:
        >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
        [2.0]
    """
    need_tensor(x, "increment")
    if x.type.size != 1:
        raise errors.invalid_argument(
            "increment: x is not one number.", expected="one element", received=f"x: {x.type}"
        )
    from ..utils.public import check_inplace, replace

    check_inplace("increment", x)
    return replace(x, ew.add(x, Number(value, x.dtype)))


@public(method=True)
def lerp(x: Tensor, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
    """x + weight * (y - x): between x (weight 0) and y (weight 1).

    Args:
        x, y (Tensor): floating; the shapes broadcast.
        weight (float|Tensor): broadcasts too.

    Examples:
        >>> paddle.lerp(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), 0.25).tolist()
        [1.5]
    """
    for a, label in ((x, "x"), (y, "y")):
        need_tensor(a, "lerp", label, TypeError)
    return x + (y - x) * weight


@public(also={"x": "input"}, method=True, kind=ValueError)
def round(x: Tensor, decimals: int = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """The nearest whole number, or multiple of 10**-decimals; halves go to the even one.

    Args:
        x (Tensor): Any real type; integers stay.
        decimals (int): digits after the point; negative ones before it.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: shape and type of x.

    Examples:
        >>> paddle.round(paddle.to_tensor([0.5, 1.5, -1.7])).tolist()
        [0.0, 2.0, -2.0]
    """
    need_tensor(x, "round")
    decimals = int_argument(decimals, "round", "decimals")
    if decimals == 0 or x.dtype.is_integer:
        return fill_out(ops.round_(x), out)
    scale = 10.0 ** builtins.abs(decimals)
    t = ops.round_(x * scale) / scale if decimals > 0 else ops.round_(x / scale) * scale
    return fill_out(t, out)


@public(method=True)
def frac(x: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """The fraction of each element, with its sign: x - trunc(x).

    Examples:
        >>> paddle.frac(paddle.to_tensor([1.5, -2.25])).tolist()
        [0.5, -0.25]
    """
    no_method(x, "frac")
    if x.dtype not in (types.int32, types.int64, types.float32, types.float64, types.float16, types.bfloat16):
        raise errors.invalid_type("frac: not for this type.", expected="a real number type", received=f"x: {x.type}")
    return fill_out(ew.subtract(x, ops.trunc(x)), out)


def _bound(b: Any, x: Tensor, default: Any, name: str) -> Any:
    if b is None:
        return default
    if isinstance(b, Tensor):
        if b.type.size != 1:
            raise errors.invalid_argument(
                f"{name}: a bound is not one number.",
                expected="a number or a Tensor of one element",
                received=f"{b.type}",
            )
        return b.reshape([]) if b.ndim else b  # type: ignore[attr-defined]
    if not is_number(b):
        raise errors.invalid_type(f"{name}: a bound is no number.", expected="a number", received=f"{b!r}")
    return b


def _is_float(bound: Any) -> bool:
    return isinstance(bound, float) or (isinstance(bound, Tensor) and bound.dtype.is_floating)


@public(also={"x": "input"}, method=("clip", "clamp"))
def clip(x: Tensor, min: Any = None, max: Any = None, name: str | None = None, *, out: Any = None) -> Tensor:
    """Each element, held between two bounds. The gradient passes at the bounds too.

    Args:
        x (Tensor): Any real type; integers become float32 if a bound is a float.
        min, max (number|Tensor, optional): the bounds; None for none.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: the shape of x.

    Raises:
        ValueError: min is greater than max. AttributeError: x is not a Tensor.

    Examples:
        >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    no_method(x, "clip")
    if is_number(min) and is_number(max) and min > max:
        raise errors.invalid_argument(
            "clip: the bounds are the wrong way round.", expected="min <= max", received=f"min: {min}, max: {max}"
        )
    if x.dtype.is_integer and (_is_float(min) or _is_float(max)):
        x = cast(x, types.float32)
    low, high = (_INF, -_INF) if x.dtype.is_floating else (0, 0)
    if x.dtype.is_integer:
        info = np.iinfo(x.dtype.np)
        high, low = int(info.min), int(info.max)
        min, max = (builtins.min(builtins.max(b, high), low) if isinstance(b, int) else b for b in (min, max))
    return fill_out(ops.Clip()(x, _bound(min, x, high, "clip"), _bound(max, x, low, "clip")), out)


clamp = clip


@public(method=True)
def negative(x: Tensor, name: str | None = None) -> Tensor:
    """Each element with the other sign; `neg`.

    Raises:
        TypeError: x is bool.

    Examples:
        >>> paddle.negative(paddle.to_tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    if no_method(x, "negative").dtype.is_bool:
        raise errors.invalid_type("negative: not for bool.", expected="a number type", received=f"x: {x.type}")
    return ew.negative(x)


@public(method=True)
def positive(x: Tensor, name: str | None = None) -> Tensor:
    """x itself; TypeError for bool.

    Examples:
        >>> paddle.positive(paddle.to_tensor([1.0, -2.0])).tolist()
        [1.0, -2.0]
    """
    if no_method(x, "positive").dtype.is_bool:
        raise errors.invalid_type("positive: not for bool.", expected="a number type", received=f"x: {x.type}")
    return x


METHODS |= {"true_divide": true_divide, "add_n": add_n, "increment": increment}
