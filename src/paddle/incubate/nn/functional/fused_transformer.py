"""The parts of a transformer's layer, with dropout, residual sums and normalization."""

from __future__ import annotations

from typing import Any

from ....engine import errors
from ....nn.functional import dropout, gelu, layer_norm, relu, softmax
from ....tensor import concat, matmul
from ....tensor.tensor import Tensor

__all__: list[str] = []

# Shape letters: B batch, S sequence, D model width, H heads, K width of a head.


def _normed(x: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    return layer_norm(x, [x.shape[-1]], scale, bias, epsilon)


def fused_bias_dropout_residual_layer_norm(
    x: Tensor, residual: Tensor, bias: Tensor | None = None, ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None, dropout_rate: float = 0.5, ln_epsilon: float = 1e-5, training: bool = True,
    mode: str = "upscale_in_train", name: str | None = None,
) -> Tensor:  # fmt: skip
    """layer_norm(residual + dropout(x + bias)).

    Args:
        x, residual (Tensor): [B, S, D]. bias, ln_scale, ln_bias (Tensor, optional): [D].
        dropout_rate (float): Default: 0.5. ln_epsilon (float): Default: 1e-5.
        training (bool), mode (str): as `paddle.nn.functional.dropout` takes them.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [B, S, D].

    Examples:
        >>> x = paddle.to_tensor([[[1.0, 3.0]]])
        >>> f = paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm
        >>> [round(v, 3) for v in f(x, x, dropout_rate=0.0)[0, 0].tolist()]
        [-1.0, 1.0]
    """
    x = x if bias is None else x + bias
    return _normed(residual + dropout(x, dropout_rate, training=training, mode=mode), ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Tensor, linear1_weight: Tensor, linear2_weight: Tensor, linear1_bias: Tensor | None = None,
    linear2_bias: Tensor | None = None, ln1_scale: Tensor | None = None, ln1_bias: Tensor | None = None,
    ln2_scale: Tensor | None = None, ln2_bias: Tensor | None = None, dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5, activation: str = "relu", ln1_epsilon: float = 1e-5, ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False, training: bool = True, mode: str = "upscale_in_train", ring_id: int = -1,
    add_residual: bool = True, name: str | None = None,
) -> Tensor:  # fmt: skip
    """x + dropout(linear2(dropout(activation(linear1(x))))), with layer_norm before (ln1) or after (ln2).

    Args:
        x (Tensor): [B, S, D].
        linear1_weight (Tensor): [D, F]. linear2_weight (Tensor): [F, D]. linear1_bias, linear2_bias (Tensor, optional).
        ln1_scale, ln1_bias, ln2_scale, ln2_bias (Tensor, optional): [D].
        dropout1_rate (float): after the activation. dropout2_rate (float): after the second product. Default: 0.5.
        activation (str): "relu" or "gelu". Default: "relu".
        ln1_epsilon, ln2_epsilon (float): Default: 1e-5.
        pre_layer_norm (bool): Normalization comes before. Default: False.
        training (bool), mode (str): as `paddle.nn.functional.dropout` takes them.
        ring_id (int): only -1, no other process takes part. add_residual (bool): x is added. Default: True.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [B, S, D].

    Raises:
        ValueError: no such activation.

    Examples:
        >>> x, w = paddle.ones([1, 1, 2]), paddle.eye(2)
        >>> f = paddle.incubate.nn.functional.fused_feedforward
        >>> f(x, w, w, dropout1_rate=0.0, dropout2_rate=0.0, pre_layer_norm=True)[0, 0].tolist()
        [1.0, 1.0]
    """
    _alone(ring_id, "fused_feedforward")
    chosen = {"relu": relu, "gelu": gelu}.get(activation)
    if chosen is None:
        raise errors.invalid_argument(
            "fused_feedforward: there is no such activation.", expected="'relu' or 'gelu'", received=f"{activation!r}"
        )
    h = _normed(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    h = matmul(h, linear1_weight)
    h = chosen(h if linear1_bias is None else h + linear1_bias)
    h = matmul(dropout(h, dropout1_rate, training=training, mode=mode), linear2_weight)
    h = h if linear2_bias is None else h + linear2_bias
    h = dropout(h, dropout2_rate, training=training, mode=mode)
    out = x + h if add_residual else h
    return out if pre_layer_norm else _normed(out, ln2_scale, ln2_bias, ln2_epsilon)


def _alone(ring_id: int, fn: str) -> None:
    if ring_id != -1:
        raise errors.unimplemented(f"{fn}: no other process takes part here.", expected="ring_id -1",
                                   received=f"{ring_id}")  # fmt: skip


def fused_multi_head_attention(
    x: Tensor, qkv_weight: Tensor, linear_weight: Tensor, pre_layer_norm: bool = False,
    pre_ln_scale: Tensor | None = None, pre_ln_bias: Tensor | None = None, ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None, pre_ln_epsilon: float = 1e-5, qkv_bias: Tensor | None = None,
    linear_bias: Tensor | None = None, cache_kv: Tensor | None = None, attn_mask: Tensor | None = None,
    dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5, ln_epsilon: float = 1e-5, training: bool = True,
    mode: str = "upscale_in_train", ring_id: int = -1, add_residual: bool = True, num_heads: int = -1,
    transpose_qkv_wb: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Self-attention with its products, dropout, residual sum and layer_norm before or after.

    Args:
        x (Tensor): [B, S, D].
        qkv_weight (Tensor): [3, H, K, D]; with transpose_qkv_wb [D, 3 D].
        linear_weight (Tensor): [D, D], of the result. linear_bias (Tensor, optional): [D].
        pre_layer_norm (bool): layer_norm comes first (pre_ln_scale, pre_ln_bias, pre_ln_epsilon); else last (ln_scale,
            ln_bias, ln_epsilon). Default: False.
        qkv_bias (Tensor, optional): [3, H, K]; with transpose_qkv_wb [3 D].
        cache_kv (Tensor, optional): [2, B, H, T, K], keys and values from before.
        attn_mask (Tensor, optional): added to the scores, broadcasts with [B, H, S, T + S].
        dropout_rate (float): of the result. attn_dropout_rate (float): of the weights. Default: 0.5.
        training (bool), mode (str): as `paddle.nn.functional.dropout` takes them.
        ring_id (int): only -1. add_residual (bool): x is added. Default: True.
        num_heads (int): H, with transpose_qkv_wb. transpose_qkv_wb (bool): Default: False.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [B, S, D]; with cache_kv also the longer cache.

    Raises:
        ValueError: qkv_weight does not fit.

    Examples:
        >>> x, qkv, out = paddle.ones([1, 2, 4]), paddle.ones([3, 2, 2, 4]), paddle.eye(4)
        >>> f = paddle.incubate.nn.functional.fused_multi_head_attention
        >>> f(x, qkv, out, dropout_rate=0.0, attn_dropout_rate=0.0).shape
        paddle.Size([1, 2, 4])
    """
    fn = "fused_multi_head_attention"
    _alone(ring_id, fn)
    b, s, d = x.shape
    if transpose_qkv_wb:
        if num_heads <= 0 or d % num_heads:
            raise errors.invalid_argument(f"{fn}: num_heads does not divide the width.", received=f"{num_heads}, {d}")
        h, k = num_heads, d // num_heads
        weight, bias = qkv_weight, qkv_bias
    else:
        if qkv_weight.ndim != 4 or qkv_weight.shape[0] != 3 or qkv_weight.shape[3] != d:
            raise errors.invalid_argument(f"{fn}: qkv_weight does not fit.", expected=f"[3, H, K, {d}]",
                                          received=f"qkv_weight: {qkv_weight.type}")  # fmt: skip
        h, k = qkv_weight.shape[1:3]
        weight = qkv_weight.reshape([3 * h * k, d]).t()
        bias = None if qkv_bias is None else qkv_bias.reshape([-1])
    y = _normed(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    qkv = matmul(y, weight)
    qkv = qkv if bias is None else qkv + bias
    q_BHSK, k_BHTK, v_BHTK = qkv.reshape([b, s, 3, h, k]).transpose([2, 0, 3, 1, 4])
    if cache_kv is not None:
        k_BHTK, v_BHTK = concat([cache_kv[0], k_BHTK], 2), concat([cache_kv[1], v_BHTK], 2)
    scores = matmul(q_BHSK * k**-0.5, k_BHTK, transpose_y=True)
    if attn_mask is not None:
        scores = scores + attn_mask
    weights = dropout(softmax(scores, -1), attn_dropout_rate, training=training, mode=mode)
    out = matmul(weights, v_BHTK).transpose([0, 2, 1, 3]).reshape([b, s, h * k])
    out = matmul(out, linear_weight)
    out = out if linear_bias is None else out + linear_bias
    out = dropout(out, dropout_rate, training=training, mode=mode)
    if add_residual:
        out = x + out
    if not pre_layer_norm:
        out = _normed(out, ln_scale, ln_bias, ln_epsilon)
    if cache_kv is None:
        return out
    return out, concat([k_BHTK.unsqueeze(0), v_BHTK.unsqueeze(0)], 0)
