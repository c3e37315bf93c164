"""Activation functions."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops import activation as ops
from ...engine.ops import elementwise as ew
from ...engine.ops.elementwise import exp, log
from ...engine.ops.math import abs_
from ...engine.ops.reduction import Max
from ...engine.ops.shape import reshape, slice_axis
from ...framework.random import next_key
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import axis_of, floating, inplace_of, number
from .probabilities import gumbel_softmax, log_softmax, softmax, softmax_

__all__ = [
    "celu", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "leaky_relu", "leaky_relu_", "log_sigmoid", "log_softmax", "logsigmoid", "maxout", "mish", "prelu",
    "relu", "relu6", "relu_", "rrelu", "selu", "silu", "softmax", "softmax_", "softplus", "softshrink", "softsign",
    "swiglu", "swish", "tanhshrink", "thresholded_relu", "thresholded_relu_",
]  # fmt: skip

_gelu, _gelu_tanh, _silu, _mish = ops.Gelu(), ops.GeluTanh(), ops.Silu(), ops.Mish()
_relu6, _log_sigmoid, _softsign, _tanhshrink = ops.Relu6(), ops.LogSigmoid(), ops.Softsign(), ops.Tanhshrink()
_hardswish = ops.Hardswish()


def is_complex(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.is_complex


@public()
def relu(x: Tensor, name: str | None = None) -> Tensor:
    """The greater of x and 0.

    Args:
        x (Tensor): any floating or integer dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Examples:
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return ew.relu(floating(x, "relu"))


@public()
def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6). The slope at 0 and at 6 is 0.

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return _relu6(floating(x, "relu6"))


@public(also={"x": "input"}, kind=ValueError)
def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the probability that a standard normal number is below x.

    Args:
        x (Tensor): any floating dtype.
        approximate (bool, optional): the tanh formula instead of the error function. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Examples:
        >>> [round(v, 4) for v in paddle.nn.functional.gelu(paddle.to_tensor([-1.0, 0.5])).tolist()]
        [-0.1587, 0.3457]
    """
    if approximate is None:
        approximate = False
    if not isinstance(approximate, (str, bool)):
        raise errors.invalid_type(
            "gelu: approximate is neither a bool nor a name.",
            expected="True, False, 'tanh' or 'none'",
            received=f"approximate: {approximate!r:.60}",
        )
    if approximate is not False and approximate not in (True, "none", "tanh"):
        raise errors.invalid_argument(
            "gelu: approximate is not known.",
            expected="True, False, 'tanh' or 'none'",
            received=f"approximate: {approximate!r:.60}",
        )
    return (_gelu_tanh if approximate and approximate != "none" else _gelu)(floating(x, "gelu"))


@public(also={"x": "input"})
def silu(x: Tensor, inplace: bool = False, name: str | None = None) -> Tensor:
    """x * sigmoid(x).

    Args:
        x (Tensor): any floating dtype.
        inplace (bool, optional): x takes the result's value. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    if is_complex(x):
        out = x / (1 + exp(-x))
    else:
        out = _silu(floating(x, "silu"))
    if inplace:
        from ...utils.public import check_inplace, replace

        check_inplace("silu", x)
        return replace(x, out)
    return out


@public()
def swish(x: Tensor, name: str | None = None) -> Tensor:
    """x * sigmoid(x); see `silu`."""
    return _silu(floating(x, "swish"))


@public(composed=True)
def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """silu(x) * y. Without y, the two halves of x along the last axis are x and y.

    Args:
        x (Tensor): any floating dtype.
        y (Tensor, optional): shape and dtype of x. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape of y.

    Raises:
        ValueError: without y, the last axis of x is odd.
    """
    floating(x, "swiglu")
    if y is None:
        n = x.shape[-1]
        if n % 2:
            raise errors.invalid_argument(
                "swiglu: the last axis of x is odd.",
                expected="an even size, as y is not given",
                received=f"x: {x.type}",
            )
        x, y = slice_axis(x, x.ndim - 1, 0, n // 2), slice_axis(x, x.ndim - 1, n // 2, n)
    return _silu(x) * floating(y, "swiglu", "y")


@public()
def mish(x: Tensor, name: str | None = None) -> Tensor:
    """x * tanh(softplus(x)).

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return _mish(floating(x, "mish"))


@public()
def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is above 0, else alpha * (exp(x) - 1).

    Args:
        x (Tensor): any floating dtype.
        alpha (float, optional): minus the limit far below 0. Default: 1.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.Elu(number(alpha, "elu", "alpha"))(floating(x, "elu"))


@public()
def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).

    Args:
        x (Tensor): any floating dtype.
        alpha (float, optional): not 0. Default: 1.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ZeroDivisionError: alpha is 0.
    """
    if alpha == 0:
        raise ZeroDivisionError(errors.message("InvalidArgument", "celu: alpha is 0.", "alpha != 0", f"alpha: {alpha}"))
    return ops.Celu(number(alpha, "celu", "alpha"))(floating(x, "celu"))


@public()
def selu(
    x: Tensor, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None
) -> Tensor:
    """scale * x where x is above 0, else scale * alpha * (exp(x) - 1).

    Args:
        x (Tensor): any floating dtype.
        scale (float, optional): above 1.
        alpha (float, optional): not below 0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: scale <= 1, or alpha < 0.
    """
    if scale <= 1.0 or alpha < 0:
        raise errors.invalid_argument(
            "selu: scale or alpha is out of range.",
            expected="scale > 1 and alpha >= 0",
            received=f"scale: {scale}, alpha: {alpha}",
        )
    return ops.Selu(number(scale, "selu", "scale"), number(alpha, "selu", "alpha"))(floating(x, "selu"))


@public()
def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """x where it is above 0, else negative_slope * x.

    Args:
        x (Tensor): any floating dtype.
        negative_slope (float, optional): the slope below 0. Default: 0.01.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.LeakyRelu(number(negative_slope, "leaky_relu", "negative_slope"))(floating(x, "leaky_relu"))


@public(guarded=True)
def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x where it is above 0, else weight * x, with one weight or one per channel.

    Args:
        x (Tensor): [N, C, ...], or [N, ..., C] if data_format ends in C.
        weight (Tensor): [1], or [C].
        data_format (str, optional): "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: data_format is not known.
        AssertionError: weight is not a vector, or has another length than there are channels.
    """
    floating(x, "prelu")
    floating(weight, "prelu", "weight")
    if weight.ndim != 1:
        raise errors.asserted("prelu: weight is not a vector.", expected="one axis", received=f"weight: {weight.type}")
    n = weight.shape[0]
    shape = (n,)
    if n > 1:
        formats = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")
        if data_format not in formats:
            raise errors.invalid_argument(
                "prelu: data_format is not known.", expected=f"one of {formats}", received=repr(data_format)
            )
        if x.ndim < 2:
            raise errors.asserted(
                "prelu: x has no axis of channels, which several weights need.",
                expected="at least 2 axes",
                received=f"x: {x.type}, weight: {weight.type}",
            )
        axis = 1 if data_format[1] == "C" else x.ndim - 1
        if n != x.shape[axis]:
            raise errors.asserted(
                "prelu: there are not as many weights as channels.",
                expected=f"weight of shape [1] or [{x.shape[axis]}]",
                received=f"x: {x.type}, weight: {weight.type}",
            )
        shape = tuple(n if i == axis else 1 for i in range(x.ndim))
    return ops.Prelu()(x, reshape(weight, shape))


@public(guarded=True)
def rrelu(
    x: Tensor, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> Tensor:
    """leaky_relu with a slope drawn for each element, uniform in [lower, upper); their mean when not training.

    Args:
        x (Tensor): any floating dtype.
        lower (float, optional): least slope, in [0, 1]. Default: 1/8.
        upper (float, optional): greatest slope, in [lower, 1]. Default: 1/3.
        training (bool, optional): whether to draw. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        TypeError: a bound is not a float. ValueError: the bounds are out of range.
    """
    floating(x, "rrelu")
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise errors.invalid_type(
            "rrelu: a bound is not a float.", expected="floats", received=f"lower: {lower!r}, upper: {upper!r}"
        )
    if not 0 <= lower <= upper <= 1:
        raise errors.invalid_argument(
            "rrelu: the bounds are out of range.",
            expected="0 <= lower <= upper <= 1",
            received=f"lower: {lower}, upper: {upper}",
        )
    if not training:
        return ops.LeakyRelu((lower + upper) / 2)(x)
    from ...engine.ops.random import uniform

    return ops.Prelu()(x, ew.cast(uniform(next_key(), tuple(x.shape), lower, upper), x.dtype))


@public()
def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x clipped to [min, max]. The slope at the bounds is 0.

    Args:
        x (Tensor): any floating dtype.
        min (float, optional): Default: -1.0.
        max (float, optional): Default: 1.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.Hardtanh(number(min, "hardtanh", "min"), number(max, "hardtanh", "max"))(floating(x, "hardtanh"))


@public()
def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """slope * x + offset clipped to [0, 1].

    Args:
        x (Tensor): any floating dtype.
        slope (float, optional): Default: 0.1666667.
        offset (float, optional): Default: 0.5.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.Hardsigmoid(number(slope, "hardsigmoid", "slope"), number(offset, "hardsigmoid", "offset"))(
        floating(x, "hardsigmoid")
    )


@public()
def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """x * min(max(x + 3, 0), 6) / 6.

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return _hardswish(floating(x, "hardswish"))


@public(also={"x": "input", "threshold": "lambd"})
def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x where it is farther than threshold from 0, else 0.

    Args:
        x (Tensor): any floating dtype.
        threshold (float, optional): Default: 0.5.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.Hardshrink(number(threshold, "hardshrink", "threshold"))(floating(x, "hardshrink"))


@public(also={"x": "input", "threshold": "lambd"})
def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved toward 0 by threshold; 0 where it is nearer than that.

    Args:
        x (Tensor): any floating dtype.
        threshold (float, optional): not negative. Default: 0.5.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: threshold is negative.
    """
    threshold = number(threshold, "softshrink", "threshold")
    if threshold < 0:
        raise errors.invalid_argument(
            "softshrink: threshold is negative.", expected="threshold >= 0", received=f"threshold: {threshold}"
        )
    return ops.Softshrink(threshold)(floating(x, "softshrink"))


@public()
def thresholded_relu(x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """x where it is above threshold, else value.

    Args:
        x (Tensor): any floating dtype.
        threshold (float, optional): Default: 1.0.
        value (float, optional): Default: 0.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return ops.ThresholdedRelu(
        number(threshold, "thresholded_relu", "threshold"), number(value, "thresholded_relu", "value")
    )(floating(x, "thresholded_relu"))


@public(also={"x": "input"}, kind=ValueError)
def softplus(x: Tensor, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.

    Args:
        x (Tensor): any floating dtype.
        beta (float, optional): Default: 1.
        threshold (float, optional): Default: 20.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    if is_complex(x):
        return log(1 + exp(x * beta)) / beta
    return ops.Softplus(number(beta, "softplus", "beta"), number(threshold, "softplus", "threshold"))(
        floating(x, "softplus")
    )


@public()
def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + |x|).

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    if is_complex(x):
        return x / (1 + abs_(x))
    return _softsign(floating(x, "softsign"))


@public()
def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """x - tanh(x).

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    return _tanhshrink(floating(x, "tanhshrink"))


@public(also={"x": "input"})
def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), without underflow.

    Args:
        x (Tensor): any floating dtype.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.
    """
    if is_complex(x):
        return -log(1 + exp(-x))
    return _log_sigmoid(floating(x, "log_sigmoid"))


logsigmoid = log_sigmoid


@public(also={"x": "input", "axis": "dim"})
def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The first half of x along an axis times the sigmoid of the second.

    Args:
        x (Tensor): any floating dtype; an even size along axis.
        axis (int, optional): Default: -1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: x with half its size along axis.

    Raises:
        ValueError: the size along axis is odd, or there is no such axis.
    """
    floating(x, "glu")
    axis = axis_of(axis, x.ndim, "glu")
    n = x.shape[axis] if x.ndim else 1
    if n % 2:
        raise errors.invalid_argument(
            "glu: the axis does not split into halves.", expected="an even size", received=f"x: {x.type}, axis: {axis}"
        )
    return slice_axis(x, axis, 0, n // 2) * ew.sigmoid(slice_axis(x, axis, n // 2, n))


@public(composed=True)
def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The greatest of each `groups` neighbouring channels.

    Args:
        x (Tensor): 4 axes.
        groups (int): channels that become one.
        axis (int, optional): of the channels: 1, -1 or 3. Default: 1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: x with its channels divided by groups.

    Raises:
        ValueError: axis is none of these, or groups does not divide the channels.
    """
    floating(x, "maxout")
    if axis not in (1, -1, 3):
        raise errors.invalid_argument("maxout: no such axis of channels.", expected="1, -1 or 3", received=f"{axis}")
    if x.ndim != 4:
        raise errors.invalid_argument("maxout: x has not 4 axes.", expected="[N, C, H, W]", received=f"x: {x.type}")
    axis %= x.ndim
    n = x.shape[axis]
    if groups < 2 or n % groups:
        raise errors.invalid_argument(
            "maxout: groups does not divide the channels.",
            expected=f"a divisor of {n}, above 1",
            received=f"groups: {groups}, x: {x.type}",
        )
    shape = (*x.shape[:axis], n // groups, groups, *x.shape[axis + 1 :])
    return Max((axis + 1,))(reshape(x, shape))


relu_ = inplace_of(relu)
elu_ = inplace_of(elu)
hardtanh_ = inplace_of(hardtanh)
leaky_relu_ = inplace_of(leaky_relu)

thresholded_relu_ = inplace_of(thresholded_relu)
