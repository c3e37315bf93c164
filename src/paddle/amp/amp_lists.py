"""Which operators compute in 16 bits, which in float32, by level, and other names that lists may give them.

Names are those of functions under `paddle` and `paddle.nn.functional` and of the engine's operators.
"""

from __future__ import annotations

__all__ = ["black_list", "white_list"]

WHITE = frozenset(
    {"attention", "conv", "conv1d", "conv2d", "einsum", "linear", "matmul", "scaled_dot_product_attention"}
)

# Sums, powers and what grows like them: a 16-bit float overflows, or loses what is small beside the sum.
BLACK = frozenset(
    """
    acos asin atanh binary_cross_entropy_with_logits cosh cross_entropy cumprod cumsum dist erfinv exp expm1
    group_norm hsigmoid_loss huber_loss layer_norm log log10 log2 log_loss log_softmax logcumsumexp logsumexp
    margin_cross_entropy mean nll_loss norm p_norm pick_label pow prod reciprocal renorm rsqrt sinh smooth_l1_loss
    softmax softmax_cross_entropy softmax_with_cross_entropy softmin softplus square sum tan tanhshrink
    triplet_margin_loss
    """.split()
)

ALIASES = {
    "conv2d": ("conv1d", "conv2d"),
    "conv3d": ("conv3d",),
    "cross_entropy2": ("cross_entropy",),
    "depthwise_conv2d": ("conv2d",),
    "elementwise_add": ("add",),
    "elementwise_div": ("divide",),
    "elementwise_floordiv": ("floor_divide",),
    "elementwise_max": ("maximum",),
    "elementwise_min": ("minimum",),
    "elementwise_mod": ("remainder",),
    "elementwise_mul": ("multiply",),
    "elementwise_pow": ("pow",),
    "elementwise_sub": ("subtract",),
    "embedding": ("embedding",),
    "flash_attn": ("attention", "scaled_dot_product_attention"),
    "frobenius_norm": ("p_norm", "norm"),
    "hard_sigmoid": ("hardsigmoid",),
    "hard_swish": ("hardswish",),
    "kldiv_loss": ("kl_div",),
    "linear_v2": ("linear",),
    "lookup_table": ("embedding",),
    "lookup_table_v2": ("embedding",),
    "matmul": ("matmul", "linear"),
    "matmul_v2": ("matmul", "linear"),
    "mean": ("sum",),
    "mul": ("matmul", "linear"),
    "pnorm": ("p_norm", "norm"),
    "reduce_max": ("max",),
    "reduce_mean": ("sum",),
    "reduce_min": ("min",),
    "reduce_prod": ("prod",),
    "reduce_sum": ("sum",),
    "sigmoid_cross_entropy_with_logits": ("binary_cross_entropy_with_logits",),
    "softmax_with_cross_entropy": ("cross_entropy", "softmax_with_cross_entropy", "softmax_cross_entropy"),
    "swish": ("silu",),
    "tanh_shrink": ("tanhshrink",),
    "top_k_v2": ("topk",),
}


def white_list() -> dict[str, dict[str, set[str]]]:
    """Operators that compute in 16 bits, by dtype and level.

    Examples:
        >>> "matmul" in paddle.amp.white_list()["bfloat16"]["O1"]
        True
    """
    return {dtype: {level: set(WHITE) for level in ("OD", "O1", "O2")} for dtype in ("float16", "bfloat16")}


def black_list() -> dict[str, dict[str, set[str]]]:
    """Operators that compute in float32, by dtype and level.

    Examples:
        >>> "exp" in paddle.amp.black_list()["bfloat16"]["O1"]
        True
    """
    levels = {"OD": frozenset(), "O1": BLACK, "O2": frozenset()}
    return {dtype: {k: set(v) for k, v in levels.items()} for dtype in ("float16", "bfloat16")}
