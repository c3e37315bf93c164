"""A bias and an activation."""

from __future__ import annotations

from typing import Any

from ....engine import errors
from ....nn.functional import gelu, relu, sigmoid, silu, swiglu
from ....tensor import split
from ....tensor.tensor import Tensor

__all__: list[str] = []


def _geglu(x: Tensor) -> Any:
    a, b = split(x, 2, -1)
    return gelu(a) * b


_ACTIVATIONS = {
    "gelu": gelu, "relu": relu, "sigmoid": sigmoid, "silu": silu, "swish": silu, "swiglu": swiglu, "geglu": _geglu,
}  # fmt: skip


def fused_bias_act(
    x: Tensor, bias: Tensor | None = None, dequant_scales: Tensor | None = None, shift: Tensor | None = None,
    smooth: Tensor | None = None, act_method: str = "gelu", compute_dtype: str = "default", quant_scale: float = -1,
    quant_round_type: int = 0, quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> Tensor:  # fmt: skip
    """activation(x + bias), moved by `shift` and multiplied by `smooth`.

    Args:
        x (Tensor): [..., n], floating. bias (Tensor, optional): [n].
        act_method (str): "gelu", "relu", "sigmoid", "silu", "swish", or "swiglu" and "geglu", which halve the last
            axis. Default: "gelu".
        shift (Tensor, optional): added to the activations. smooth (Tensor, optional): multiplies them then.
        dequant_scales, quant_scale, quant_round_type, quant_max_bound, quant_min_bound: only no quantization.
        compute_dtype (str): "default".

    Returns:
        Tensor: [..., n], or [..., n / 2].

    Raises:
        ValueError: no such activation. NotImplementedError: quantization is asked for.

    Examples:
        >>> x, bias = paddle.to_tensor([[1.0, -3.0]]), paddle.to_tensor([1.0, 1.0])
        >>> paddle.incubate.nn.functional.fused_bias_act(x, bias, act_method="relu").tolist()
        [[2.0, 0.0]]
    """
    if dequant_scales is not None or quant_scale > 0:
        raise errors.unimplemented("fused_bias_act: integers are not taken or given.", expected="no quantization")
    chosen = _ACTIVATIONS.get(act_method)
    if chosen is None:
        raise errors.invalid_argument(
            "fused_bias_act: there is no such activation.", expected=", ".join(_ACTIVATIONS), received=f"{act_method!r}"
        )
    out = chosen(x if bias is None else x + bias)
    if shift is not None:
        out = out + shift
    return out if smooth is None else out * smooth
