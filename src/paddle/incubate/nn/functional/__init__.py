"""Fused functions: compositions with the names of upstream's kernels."""

from ....nn.functional import swiglu
from .fused_bias_act import fused_bias_act
from .fused_dropout_add import fused_dropout_add
from .fused_layer_norm import fast_ln, fused_layer_norm
from .fused_matmul_bias import fused_linear, fused_linear_activation, fused_matmul_bias
from .fused_rms_norm import fast_rms_norm, fused_rms_norm, fused_rms_norm_ext
from .fused_rotary_position_embedding import fused_rotary_position_embedding
from .fused_transformer import (
    fused_bias_dropout_residual_layer_norm,
    fused_feedforward,
    fused_multi_head_attention,
)
from .int_bincount import int_bincount
from .variable_length_memory_efficient_attention import variable_length_memory_efficient_attention

__all__ = [
    "fast_ln", "fast_rms_norm", "fused_multi_head_attention", "fused_feedforward", "fused_matmul_bias", "fused_linear",
    "fused_linear_activation", "fused_bias_dropout_residual_layer_norm", "fused_dropout_add",
    "fused_rotary_position_embedding", "variable_length_memory_efficient_attention", "fused_rms_norm",
    "fused_layer_norm", "fused_bias_act", "int_bincount", "fused_rms_norm_ext",
]  # fmt: skip
