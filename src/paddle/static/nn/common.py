"""Layers that make their parameters where they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import nn
from ...engine import errors
from ...engine.types import default_dtype, dtype_of
from ...framework.param import ParamAttr, make_parameter
from ...nn import functional as F
from ...nn import initializer as init
from ...tensor.tensor import Tensor
from ...utils import unique_name

__all__ = ["batch_norm", "conv2d", "embedding", "fc", "group_norm", "instance_norm", "layer_norm", "prelu"]


def _parameter(owner: str, shape: Sequence[int], dtype: Any, attr: Any, is_bias: bool, default: Any = None) -> Any:
    attr = ParamAttr._to_attr(attr)
    if attr is False:
        return None
    return make_parameter(list(shape), dtype, attr, owner, is_bias, default)


def _activated(x: Tensor, name: str | None, who: str) -> Tensor:
    if name is None:
        return x
    function = getattr(F, name, None) or getattr(nn.functional, name, None)
    if function is None:
        import paddle

        function = getattr(paddle, name, None)
    if function is None:
        raise errors.invalid_argument(
            f"{who}: there is no such activation.", expected="a name of nn.functional", received=f"{name!r}"
        )
    return function(x)


def _floating(x: Any, who: str, label: str = "x") -> None:
    if not isinstance(x, Tensor):
        raise errors.invalid_type(f"{who}: {label} is no Tensor.", expected="Tensor", received=type(x).__name__)
    if x.type.dtype.kind != "f":
        raise errors.invalid_type(
            f"{who}: {label} is not of a floating element type.", expected="float32 or float64", received=f"{x.dtype}"
        )


def fc(
    x: Any, size: int, num_flatten_dims: int = 1, weight_attr: Any = None, bias_attr: Any = None,
    activation: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """x W + b, with the last axes of x as one.

    Args:
        x (Tensor|list[Tensor]): floating; of several the products are summed.
        size (int): columns of W.
        num_flatten_dims (int): axes before those that are multiplied. Default: 1.
        weight_attr (ParamAttr|list, optional): of W, [product of the last axes, size].
        bias_attr (ParamAttr|bool, optional): of b, [size]; False for none.
        activation (str, optional): a function of nn.functional that is applied to the result.
        name (str, optional): what the names of the parameters begin with.

    Returns:
        Tensor: the first num_flatten_dims sizes of x, then size.

    Raises:
        TypeError: x is no Tensor, or not floating. ValueError: x has not more than num_flatten_dims axes.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.static.nn.fc(paddle.static.data("fc_x", [None, 3]), 4).shape
        paddle.Size([-1, 4])
        >>> paddle.disable_static()
    """
    owner = unique_name.generate(name or "fc")
    xs = list(x) if isinstance(x, (list, tuple)) else [x]
    attrs = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(xs)
    total: Any = None
    for v, attr in zip(xs, attrs):
        _floating(v, "fc")
        shape = v.type.shape
        flat = num_flatten_dims + len(shape) if num_flatten_dims < 0 else num_flatten_dims
        if not 0 < flat < len(shape):
            raise errors.invalid_argument(
                "fc: there are no axes to multiply.",
                expected=f"num_flatten_dims from 1 to {len(shape) - 1}",
                received=f"num_flatten_dims: {num_flatten_dims}, x: {len(shape)} axes",
            )
        weight = _parameter(owner, [math.prod(shape[flat:]), size], v.dtype, attr, False)
        rows = v.reshape([*shape[:flat], weight.type.shape[0]]) if flat + 1 != len(shape) else v
        product = rows @ weight
        total = product if total is None else total + product
    bias = _parameter(owner, [size], total.dtype, bias_attr, True)
    return _activated(total if bias is None else total + bias, activation, "fc")


def embedding(
    input: Tensor, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False,
    padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32",
) -> Tensor:  # fmt: skip
    """Rows of a table.

    Args:
        input (Tensor): int64, which rows.
        size (list|tuple): [rows, columns] of the table.
        is_sparse (bool): gradients by rows. Default: False.
        is_distributed (bool): not used.
        padding_idx (int, optional): a row that is zero, and stays so.
        param_attr (ParamAttr, optional): of the table.
        dtype (str|dtype): of the table. Default: float32.

    Returns:
        Tensor: the shape of input, then the columns.
    """
    table = _parameter(unique_name.generate("embedding"), size, dtype_of(dtype), param_attr, False)
    return F.embedding(input, table, padding_idx=padding_idx, sparse=is_sparse)


def conv2d(
    input: Tensor, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True,
    act: str | None = None, name: str | None = None, data_format: str = "NCHW",
) -> Tensor:  # fmt: skip
    """A convolution.

    Args:
        input (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        num_filters (int): channels of the result.
        filter_size (int|list): height and width of the kernel.
        stride, padding, dilation, groups: as in `nn.functional.conv2d`.
        param_attr (ParamAttr, optional): of the kernel, [num_filters, C / groups, height, width].
        bias_attr (ParamAttr|bool, optional): of the bias, [num_filters]; False for none.
        use_cudnn (bool): not used.
        act (str, optional): a function of nn.functional that is applied to the result.
        name (str, optional): what the names of the parameters begin with.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        Tensor: the axes of input.

    Raises:
        ValueError: the channels cannot be parted into groups.
    """
    _floating(input, "conv2d", "input")
    owner = unique_name.generate(name or "conv2d")
    channels = input.type.shape[1 if data_format == "NCHW" else -1]
    if channels % (groups or 1):
        raise errors.invalid_argument(
            "conv2d: the channels cannot be parted.", expected=f"a multiple of {groups}", received=f"{channels}"
        )
    kernel = [filter_size] * 2 if isinstance(filter_size, int) else list(filter_size)
    shape = [num_filters, channels // (groups or 1), *kernel]
    spread = (2.0 / (math.prod(kernel) * channels)) ** 0.5
    weight = _parameter(owner, shape, input.dtype, param_attr, False, init.Normal(0.0, spread))
    bias = _parameter(owner, [num_filters], input.dtype, bias_attr, True)
    out = F.conv2d(input, weight, bias, stride, padding, dilation, groups or 1, data_format)
    return _activated(out, act, "conv2d")


def batch_norm(
    input: Tensor, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False,
) -> Tensor:  # fmt: skip
    """Batch normalization.

    Args:
        input (Tensor): [N, C, ...], or [N, ..., C] as data_layout says.
        act (str, optional): a function of nn.functional that is applied to the result.
        is_test (bool): running statistics are used, and stay. Default: False.
        momentum, epsilon: as in `nn.functional.batch_norm`.
        param_attr, bias_attr (ParamAttr, optional): of scale and shift, [C].
        data_layout (str): "NCHW" or "NHWC".
        in_place (bool): not used.
        name (str, optional): what the names of the parameters begin with.
        moving_mean_name, moving_variance_name (str, optional): names of the running statistics.
        do_model_average_for_mean_and_var (bool): not used.
        use_global_stats (bool): running statistics while training too.

    Returns:
        Tensor: shape and dtype of input.
    """
    _floating(input, "batch_norm", "input")
    owner = unique_name.generate(name or "batch_norm")
    channels = input.type.shape[1 if data_layout == "NCHW" else -1]
    scale = _parameter(owner, [channels], default_dtype(), param_attr, False, init.Constant(1.0))
    shift = _parameter(owner, [channels], default_dtype(), bias_attr, True)
    running = [
        _parameter(
            owner,
            [channels],
            default_dtype(),
            ParamAttr(name=label, initializer=init.Constant(value), trainable=False),
            False,
        )
        for label, value in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
    ]
    form = data_layout if len(input.type.shape) == 4 else "NC" if len(input.type.shape) == 2 else data_layout
    out = F.batch_norm(input, *running, scale, shift, not is_test, momentum, epsilon, form, use_global_stats or None)
    return _activated(out, act, "batch_norm")


def layer_norm(
    input: Tensor, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-05,
    param_attr: Any = None, bias_attr: Any = None, act: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Layer normalization over the axes from begin_norm_axis on.

    Args:
        input (Tensor): floating.
        scale, shift (bool): whether the result is scaled, and shifted. Default: True.
        begin_norm_axis (int): Default: 1.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr, optional): of scale and shift, [product of the last axes].
        act (str, optional): a function of nn.functional that is applied to the result.
        name (str, optional): what the names of the parameters begin with.

    Returns:
        Tensor: shape and dtype of input.
    """
    _floating(input, "layer_norm", "input")
    owner = unique_name.generate(name or "layer_norm")
    last = list(input.type.shape[begin_norm_axis:])
    count = [math.prod(last)]
    weight = _parameter(owner, count, input.dtype, param_attr, False, init.Constant(1.0)) if scale else None
    bias = _parameter(owner, count, input.dtype, bias_attr, True) if shift else None
    return _activated(F.layer_norm(input, last, weight, bias, epsilon), act, "layer_norm")


def group_norm(
    input: Tensor, groups: int, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None,
    act: str | None = None, data_layout: str = "NCHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Group normalization.

    Args:
        input (Tensor): [N, C, ...], or [N, ..., C] as data_layout says.
        groups (int): into how many groups channels are parted.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr|bool, optional): of scale and shift, [C]; False for none.
        act (str, optional): a function of nn.functional that is applied to the result.
        data_layout (str): "NCHW" or "NHWC".
        name (str, optional): what the names of the parameters begin with.

    Returns:
        Tensor: shape and dtype of input.
    """
    _floating(input, "group_norm", "input")
    owner = unique_name.generate(name or "group_norm")
    count = [input.type.shape[1 if data_layout == "NCHW" else -1]]
    weight = _parameter(owner, count, input.dtype, param_attr, False, init.Constant(1.0))
    bias = _parameter(owner, count, input.dtype, bias_attr, True)
    out = F.group_norm(input, groups, epsilon, weight, bias, data_layout)
    return _activated(out, act, "group_norm")


def instance_norm(
    input: Tensor, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Tensor:
    """Instance normalization.

    Args:
        input (Tensor): [N, C, ...].
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr|bool, optional): of scale and shift, [C]; False for none.
        name (str, optional): what the names of the parameters begin with.

    Returns:
        Tensor: shape and dtype of input.
    """
    _floating(input, "instance_norm", "input")
    owner = unique_name.generate(name or "instance_norm")
    count = [input.type.shape[1]]
    weight = _parameter(owner, count, input.dtype, param_attr, False, init.Constant(1.0))
    bias = _parameter(owner, count, input.dtype, bias_attr, True)
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def prelu(x: Tensor, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """max(x, 0) + weight min(x, 0).

    Args:
        x (Tensor): floating.
        mode (str): "all": one weight, "channel": one for each channel.
        param_attr (ParamAttr, optional): of the weight; 0.25 by default.
        data_format (str): where channels are.
        name (str, optional): what the name of the weight begins with.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: there is no such mode.
    """
    _floating(x, "prelu")
    if mode not in ("all", "channel"):
        raise errors.invalid_argument(
            "prelu: there is no such mode.", expected='"all" or "channel"', received=f"mode: {mode!r}"
        )
    count = 1 if mode == "all" else x.type.shape[1 if data_format[1] == "C" else -1]
    owner = unique_name.generate(name or "prelu")
    weight = _parameter(owner, [count], x.dtype, param_attr, False, init.Constant(0.25))
    return F.prelu(x, weight, data_format)
