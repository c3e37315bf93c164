"""Layer normalization of sums."""

from __future__ import annotations

from typing import Any

from ....tensor import rsqrt, zeros
from ....tensor.tensor import Tensor
from .fused_rms_norm import flattened, no_quantization, summed

__all__: list[str] = []


def _moments(x: Tensor, epsilon: float) -> tuple[Any, Any, Any]:
    """x less its mean over its deviation along the last axis, the mean, the inverse deviation; in float32 at least."""
    wide = x.astype("float32") if x.dtype.itemsize < 4 else x
    mean = wide.mean(-1, keepdim=True)
    d = wide - mean
    inverse = rsqrt((d * d).mean(-1, keepdim=True) + epsilon)
    return (d * inverse).astype(x.dtype), mean.squeeze(-1), inverse.squeeze(-1)


def fused_layer_norm(
    x: Tensor, norm_weight: Tensor | None, norm_bias: Tensor | None, epsilon: float, residual_alpha: float = 1.0,
    begin_norm_axis: int = 1, bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1,
    quant_round_type: float = 0, quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """x + bias + residual_alpha * residual, normalized to mean 0 and deviation 1, times a weight plus a bias.

    Args:
        x (Tensor): floating.
        norm_weight, norm_bias (Tensor, optional): vectors, with an element for each of the axes that are normalized.
        epsilon (float): added to the variance.
        residual_alpha (float): Default: 1.0.
        begin_norm_axis (int): The axes from this one on are normalized together. Default: 1.
        bias (Tensor, optional): added to x first. residual (Tensor, optional): likewise, of the shape of x.
        quant_scale, quant_round_type, quant_max_bound, quant_min_bound: only -1, no quantization.

    Returns:
        tuple[Tensor]: the result in the shape of x; the sum that was normalized, or an empty Tensor without residual;
        the means; the inverse deviations.

    Raises:
        ValueError: no such axis. NotImplementedError: quantization is asked for.

    Examples:
        >>> x, one = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> out = paddle.incubate.nn.functional.fused_layer_norm(x, one, None, 1e-5)[0]
        >>> [round(v, 3) for v in out[0].tolist()]
        [-1.0, 1.0]
    """
    no_quantization(quant_scale, "fused_layer_norm")
    whole = summed(x, bias, None if residual is None else residual * residual_alpha)
    out, mean, inverse = _moments(flattened(whole, begin_norm_axis, "fused_layer_norm"), epsilon)
    if norm_weight is not None:
        out = out * norm_weight.reshape([-1])
    if norm_bias is not None:
        out = out + norm_bias.reshape([-1])
    rest = whole if residual is not None else zeros([0], x.dtype)
    return out.astype(x.dtype).reshape(x.shape), rest, mean.reshape([-1]), inverse.reshape([-1])


def fast_ln(x: Tensor, scale: Tensor, bias: Tensor, epsilon: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalization along the last axis.

    Args:
        x (Tensor): [..., n], floating. scale, bias (Tensor): [n]. epsilon (float): Default: 1e-5.

    Returns:
        tuple[Tensor]: the result; the means; the inverse deviations.

    Examples:
        >>> x, one = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> [round(v, 3) for v in paddle.incubate.nn.functional.fast_ln(x, one, one)[0][0].tolist()]
        [0.0, 2.0]
    """
    out, mean, inverse = _moments(x, epsilon)
    return out * scale + bias, mean, inverse
