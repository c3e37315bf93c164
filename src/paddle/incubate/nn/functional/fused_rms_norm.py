"""Root mean square normalization of sums."""

from __future__ import annotations

import math
from typing import Any

from ....engine import errors
from ....tensor import rsqrt, zeros
from ....tensor.tensor import Tensor

__all__: list[str] = []


def flattened(x: Tensor, axis: int, fn: str) -> Any:
    """x with the axes from `axis` on as one."""
    n = x.ndim
    if not -n <= axis < n:
        raise errors.invalid_argument(
            f"{fn}: x has no such axis.", expected=f"begin_norm_axis in [{-n}, {n})", received=f"{axis}"
        )
    at = axis % n
    return x.reshape([*x.shape[:at], math.prod(x.shape[at:])])


def no_quantization(scale: float, fn: str) -> None:
    if scale > 0:
        raise errors.unimplemented(f"{fn}: results are not quantized.", expected="quant_scale -1", received=f"{scale}")


def summed(x: Tensor, bias: Tensor | None, residual: Tensor | None) -> Tensor:
    if bias is not None:
        x = x + bias
    return x if residual is None else x + residual


def fused_rms_norm(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor | None, epsilon: float, begin_norm_axis: int = 1,
    bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1, quant_round_type: float = 0,
    quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """x + bias + residual over the root of its mean square, times a weight.

    Args:
        x (Tensor): floating.
        norm_weight (Tensor): a vector, with an element for each of the axes that are normalized.
        norm_bias (Tensor, optional): likewise, added.
        epsilon (float): added to the mean square.
        begin_norm_axis (int): The axes from this one on are normalized together. Default: 1.
        bias (Tensor, optional): added to x first. residual (Tensor, optional): likewise, of the shape of x.
        quant_scale, quant_round_type, quant_max_bound, quant_min_bound: only -1, no quantization.

    Returns:
        tuple[Tensor]: the result in the shape of x; x + bias + residual, or an empty Tensor without residual.

    Raises:
        ValueError: no such axis. NotImplementedError: quantization is asked for.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> out, _ = paddle.incubate.nn.functional.fused_rms_norm(x, paddle.ones([2]), None, 0.0)
        >>> [round(v, 4) for v in out[0].tolist()]
        [0.8485, 1.1314]
    """
    no_quantization(quant_scale, "fused_rms_norm")
    whole = summed(x, bias, residual)
    flat = flattened(whole, begin_norm_axis, "fused_rms_norm")
    wide = flat.astype("float32") if flat.dtype.itemsize < 4 else flat
    out = (wide * rsqrt((wide * wide).mean(-1, keepdim=True) + epsilon)).astype(flat.dtype)
    out = out * norm_weight.reshape([-1])
    if norm_bias is not None:
        out = out + norm_bias.reshape([-1])
    return out.reshape(x.shape), whole if residual is not None else zeros([0], x.dtype)


def fused_rms_norm_ext(
    x: Tensor, scale: Tensor, epsilon: float = 1e-5, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """x over the root of its mean square along the last axis, times scale.

    Args:
        x (Tensor): [..., n], floating. scale (Tensor): [n]. epsilon (float): added to the mean square. Default: 1e-5.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        tuple[Tensor]: the result; the inverse of the root, float32, without the last axis.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> out, inverse = paddle.incubate.nn.functional.fused_rms_norm_ext(x, paddle.ones([2]), 0.0)
        >>> round(inverse.item(), 4)
        0.2828
    """
    wide = x.astype("float32") if x.dtype.itemsize < 4 else x
    inverse = rsqrt((wide * wide).mean(-1, keepdim=True) + epsilon)
    return (wide * inverse).astype(x.dtype) * scale, inverse.squeeze(-1).astype("float32")


def fast_rms_norm(x: Tensor, scale: Tensor, epsilon: float = 1e-5) -> tuple[Tensor, Tensor]:
    """`fused_rms_norm_ext`.

    Examples:
        >>> out, _ = paddle.incubate.nn.functional.fast_rms_norm(paddle.to_tensor([[2.0]]), paddle.ones([1]), 0.0)
        >>> out.tolist()
        [[1.0]]
    """
    return fused_rms_norm_ext(x, scale, epsilon)
