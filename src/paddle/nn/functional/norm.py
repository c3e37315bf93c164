"""Normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...engine import errors
from ...engine.eager.capture import follows, otherwise
from ...engine.eager.trace import local as _local
from ...engine.eager.trace import rebind
from ...engine.ops.elementwise import Detach, cast, exp, log
from ...engine.ops.normalization import Standardize, rsqrt, statistics_type
from ...engine.ops.pooling import AvgPool
from ...engine.ops.reduction import mean_
from ...engine.ops.shape import reshape
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, number, tensor
from .conv import to_first, to_last

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def _last(data_format: str, name: str, formats: Sequence[str] = FORMATS) -> bool:
    if data_format not in formats:
        raise errors.invalid_argument(
            f"{name}: data_format is not known.", expected=f"one of {list(formats)}", received=f"{data_format!r}"
        )
    return data_format[1] != "C"


def _vector(v: Any, n: int, name: str, label: str) -> Any:
    """A vector of n elements, or None."""
    if v is not None and tuple(tensor(v, name, label).shape) != (n,):
        raise errors.invalid_argument(
            f"{name}: {label} does not fit x.", expected=f"{label}: [{n}]", received=f"{label}: {v.type}"
        )
    return v


def scaled(unit: Any, weight: Any, bias: Any, shape: tuple[int, ...]) -> Any:
    """unit * weight + bias, both seen in `shape`, in the type of unit."""
    if weight is not None:
        unit = unit * cast(reshape(weight, shape), unit.dtype)
    if bias is not None:
        unit = unit + cast(reshape(bias, shape), unit.dtype)
    return unit


@public()
def batch_norm(x: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
               data_format: str = "NCHW", use_global_stats: bool | None = None,
               name: str | None = None) -> Tensor:  # fmt: skip
    """Each channel less its mean, over its standard deviation, times weight plus bias.

    In training the statistics are those of the batch, and the running ones become
    momentum * running + (1 - momentum) * batch (with the biased variance). Otherwise the running ones are used.

    Source: Ioffe and Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2.

    Args:
        x (Tensor): [N, C, ...], or [N, ..., C] as data_format says; at least 2 axes.
        running_mean (Tensor): [C], changed in place in training.
        running_var (Tensor): [C], changed in place in training.
        weight (Tensor, optional): [C]. Default: None.
        bias (Tensor, optional): [C]. Default: None.
        training (bool, optional): use and collect the statistics of the batch. Default: False.
        momentum (float, optional): share of the old running statistics. Default: 0.9.
        epsilon (float, optional): added to the variance. Default: 1e-05.
        data_format (str, optional): "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC". Default: "NCHW".
        use_global_stats (bool, optional): use the running statistics; None for `not training`. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        AssertionError: x has fewer than 2 axes. ValueError: a vector does not fit, or the format is not known.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> y = paddle.nn.functional.batch_norm(x, paddle.zeros([1]), paddle.ones([1]), training=True)
        >>> [round(v, 3) for v in y.flatten().tolist()]
        [-1.0, 1.0]
    """
    floating(x, "batch_norm")
    if x.ndim < 2:
        raise errors.asserted("batch_norm: x has fewer than 2 axes.", expected="[N, C, ...]", received=f"x: {x.type}")
    axis = x.ndim - 1 if _last(data_format, "batch_norm") else 1
    n = x.shape[axis]
    for v, label in ((running_mean, "running_mean"), (running_var, "running_var")):
        tensor(v, "batch_norm", label)
        _vector(v, n, "batch_norm", label)
    _vector(weight, n, "batch_norm", "weight")
    _vector(bias, n, "batch_norm", "bias")
    per_channel = tuple(n if i == axis else 1 for i in range(x.ndim))
    wide = cast(x, statistics_type(x.dtype))
    before = running_mean, running_var
    if training and not use_global_stats and _local.trace.abstract:
        before = Detach()(running_mean), Detach()(running_var)  # as they were before this
    each = math.prod(x.shape) // max(n, 1)  # elements per channel
    if training and not use_global_stats and each == 1:  # without a spread: upstream hands x on, as it is
        unit = wide
        for v in (weight, bias):
            if v is not None:
                unit = unit + reshape(v, per_channel) * 0.0  # has a gradient, of zeros
        return cast(unit, x.dtype)
    if training and not use_global_stats:
        axes = tuple(i for i in range(x.ndim) if i != axis)
        standardize = Standardize(axes, number(epsilon, "batch_norm", "epsilon"))
        unit, mean, variance = standardize(wide)
        if _local.trace.abstract:
            follows(unit, lambda t: _of_many(standardize, math.prod(t.shape[i] for i in axes)))
        share = number(momentum, "batch_norm", "momentum")
        for running, batch in ((running_mean, mean), (running_var, variance)) if each else ():
            batch = cast(reshape(Detach()(batch), (n,)), running.dtype)
            new = running * share + batch * (1.0 - share)
            rebind(running, Detach()(cast(new, running.dtype)))  # auto_cast may have chosen another type
    else:
        unit = _by_running(wide, running_mean, running_var, per_channel, epsilon)
    out = cast(scaled(unit, weight, bias, per_channel), x.dtype)
    if training and not use_global_stats and _local.trace.abstract:
        return otherwise(
            out,
            lambda: cast(scaled(_by_running(wide, *before, per_channel, epsilon), weight, bias, per_channel), x.dtype),
        )
    return out


def _of_many(standardize: Standardize, count: int) -> Standardize:
    """For a program that was recorded for a size that is open: one element per channel would be handed on as it is."""
    if count == 1:
        raise errors.precondition(
            "batch_norm: one element per channel, in a program that was recorded for many.",
            expected="2 elements or more",
            received="1",
        )
    return standardize


def _by_running(wide: Any, mean: Any, variance: Any, per_channel: tuple[int, ...], epsilon: Any) -> Any:
    mean, variance = reshape(mean, per_channel), reshape(variance, per_channel)
    return (wide - cast(mean, wide.dtype)) * cast(rsqrt(variance, number(epsilon, "batch_norm", "epsilon")), wide.dtype)


@public(also={"x": "input", "epsilon": "eps"}, composed=True)
def layer_norm(x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
               bias: Tensor | None = None, epsilon: float = 1e-05, name: str | None = None) -> Tensor:  # fmt: skip
    """x less its mean over the last axes, over its standard deviation there, times weight plus bias.

    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    Args:
        x (Tensor): [..., *normalized_shape], with at least one axis before.
        normalized_shape (int|list): sizes of the last axes.
        weight (Tensor, optional): a vector with one element per element of normalized_shape. Default: None.
        bias (Tensor, optional): likewise. Default: None.
        epsilon (float, optional): added to the variance, at most 0.001. Default: 1e-05.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: x does not end in normalized_shape, or has no other axis; a vector does not fit; epsilon is out of
            range.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> [round(v, 3) for v in paddle.nn.functional.layer_norm(x, 2).flatten().tolist()]
        [-1.0, 1.0]
    """
    floating(x, "layer_norm")
    shape = _suffix(x, normalized_shape, "layer_norm")
    if len(shape) == x.ndim:
        raise errors.invalid_argument(
            "layer_norm: normalized_shape covers every axis of x.",
            expected="an axis before those that are normalized",
            received=f"x: {x.type}, normalized_shape: {list(shape)}",
        )
    if not 0 <= epsilon <= 0.001:
        raise errors.invalid_argument(
            "layer_norm: epsilon is out of range.", expected="0 <= epsilon <= 0.001", received=f"epsilon: {epsilon}"
        )
    n = math.prod(shape)
    _vector(weight, n, "layer_norm", "weight")
    _vector(bias, n, "layer_norm", "bias")
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    unit, _, _ = Standardize(axes, float(epsilon))(cast(x, statistics_type(x.dtype)))
    return cast(scaled(unit, weight, bias, shape), x.dtype)


def _suffix(x: Any, normalized_shape: Any, name: str) -> tuple[int, ...]:
    if hasattr(normalized_shape, "__index__"):
        shape = (int(normalized_shape),)
    elif isinstance(normalized_shape, (list, tuple)):
        shape = tuple(int(n) for n in normalized_shape)
    else:
        raise errors.invalid_argument(
            f"{name}: normalized_shape is not a shape.", expected="an int or a list", received=f"{normalized_shape!r}"
        )
    if not shape or x.ndim < len(shape) or tuple(x.shape)[x.ndim - len(shape) :] != shape:
        raise errors.invalid_argument(
            f"{name}: x does not end in normalized_shape.",
            expected=f"x: [..., {', '.join(map(str, shape))}]",
            received=f"x: {x.type}",
        )
    return shape


@public(also={"input": "x"}, composed=True)
def rms_norm(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float = 1e-05,
             name: str | None = None) -> Tensor:  # fmt: skip
    """x over the root of its mean square over the last axes, times weight.

    Source: Zhang and Sennrich 2019, arXiv:1910.07467, equation 4.

    Args:
        input (Tensor): [..., *normalized_shape].
        normalized_shape (int|list): sizes of the last axes.
        weight (Tensor, optional): of these sizes, or a vector of as many elements. Default: None.
        eps (float, optional): added to the mean square. Default: 1e-05.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of input.

    Raises:
        ValueError: input does not end in normalized_shape, or weight does not fit.
    """
    x = floating(input, "rms_norm", "input")
    shape = _suffix(x, normalized_shape, "rms_norm")
    if weight is not None and tensor(weight, "rms_norm", "weight").size != math.prod(shape):
        raise errors.invalid_argument(
            "rms_norm: weight does not fit.", expected=f"{list(shape)}", received=f"weight: {weight.type}"
        )
    wide = cast(x, statistics_type(x.dtype))
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    unit = wide * rsqrt(mean_(wide * wide, axes, True), float(eps))
    return cast(scaled(unit, weight, None, shape), x.dtype)


@public(composed=True)
def group_norm(x: Tensor, num_groups: int, epsilon: float = 1e-05, weight: Tensor | None = None,
               bias: Tensor | None = None, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """Each group of channels of a sample less its mean, over its standard deviation, times weight plus bias.

    Source: Wu and He 2018, arXiv:1803.08494.

    Args:
        x (Tensor): [N, C, ...], or [N, ..., C] as data_format says.
        num_groups (int): divides C.
        epsilon (float, optional): added to the variance. Default: 1e-05.
        weight (Tensor, optional): [C]. Default: None.
        bias (Tensor, optional): [C]. Default: None.
        data_format (str, optional): "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: num_groups does not divide C, a vector does not fit, or the format is not known.
    """
    floating(x, "group_norm")
    last = _last(data_format, "group_norm")
    if x.ndim < 2:
        raise errors.invalid_argument("group_norm: x has no channels.", expected="2 axes or more", received=f"{x.type}")
    first = to_first(x, last)
    batch, channels, *rest = first.shape
    if num_groups < 1 or channels % num_groups:
        raise errors.invalid_argument(
            "group_norm: num_groups does not divide the channels.",
            expected=f"a divisor of {channels}",
            received=f"num_groups: {num_groups}, x: {x.type}",
        )
    _vector(weight, channels, "group_norm", "weight")
    _vector(bias, channels, "group_norm", "bias")
    wide = cast(first, statistics_type(x.dtype))
    grouped = reshape(wide, (batch, num_groups, channels // num_groups * math.prod(rest)))
    unit, _, _ = Standardize((2,), float(epsilon))(grouped)
    unit = reshape(unit, (batch, channels, *rest))
    return to_last(cast(scaled(unit, weight, bias, (1, channels, *[1] * len(rest))), x.dtype), last)


@public(guarded=True)
def instance_norm(x: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.9, eps: float = 1e-05, data_format: str = "NCHW",
                  name: str | None = None) -> Tensor:  # fmt: skip
    """Each channel of a sample less its mean, over its standard deviation, times weight plus bias.

    As upstream, the statistics are always those of the input, and the channels are always on axis 1: the running
    statistics, use_input_stats, momentum and data_format have no effect.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, arXiv:1607.08022.

    Args:
        x (Tensor): [N, C, ...].
        running_mean, running_var (Tensor, optional): [C]; not used.
        weight (Tensor, optional): [C]. Default: None.
        bias (Tensor, optional): [C]. Default: None.
        use_input_stats (bool, optional): not used.
        momentum (float, optional): not used.
        eps (float, optional): added to the variance. Default: 1e-05.
        data_format (str, optional): not used.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: x has fewer than 2 axes, or a vector does not fit.
    """
    floating(x, "instance_norm")
    if x.ndim < 2:
        raise errors.invalid_argument(
            "instance_norm: x has no channels.", expected="2 axes or more", received=f"x: {x.type}"
        )
    n = x.shape[1]
    _vector(weight, n, "instance_norm", "weight")
    _vector(bias, n, "instance_norm", "bias")
    wide = cast(x, statistics_type(x.dtype))
    shape = (*x.shape, 1) if x.ndim == 2 else tuple(x.shape)
    unit, _, _ = Standardize(tuple(range(2, len(shape))), float(eps))(reshape(wide, shape))
    unit = reshape(unit, tuple(x.shape))
    return cast(scaled(unit, weight, bias, (1, n, *[1] * (x.ndim - 2))), x.dtype)


@public(composed=True)
def local_response_norm(x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0,
                        data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """x over (k + alpha * mean square of the `size` channels around) ** beta.

    Source: Krizhevsky, Sutskever and Hinton 2012, section 3.3, with the mean in place of the sum.

    Args:
        x (Tensor): [N, C, ...], or [N, ..., C] as data_format says; at least 3 axes.
        size (int): channels in the window.
        alpha (float, optional): Default: 1e-4.
        beta (float, optional): Default: 0.75.
        k (float, optional): Default: 1.0.
        data_format (str, optional): "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: x has fewer than 3 axes, or the format is not known.
    """
    floating(x, "local_response_norm")
    if size < 1:
        raise errors.invalid_argument(
            "local_response_norm: size is not positive.", expected="size > 0", received=f"size: {size}"
        )
    last = _last(data_format, "local_response_norm", FORMATS[1:])
    if x.ndim < 3:
        raise errors.invalid_argument(
            "local_response_norm: x has too few axes.", expected="3 axes or more", received=f"x: {x.type}"
        )
    first = to_first(x, last)
    n, c, *rest = first.shape
    plane = reshape(first * first, (n, c, math.prod(rest)))
    mean = AvgPool((size, 1), (1, 1), (size // 2, 0), (c, math.prod(rest)), size == 1, (), float(size))(plane)
    scale = exp(log(reshape(mean, (n, c, *rest)) * float(alpha) + float(k)) * -float(beta))
    return to_last(first * scale, last)
