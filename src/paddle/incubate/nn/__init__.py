"""Layers of fused parts."""

from . import functional, memory_efficient_attention
from .layer.fused_dropout_add import FusedDropout, FusedDropoutAdd
from .layer.fused_linear import FusedLinear
from .layer.fused_transformer import (
    FusedBiasDropoutResidualLayerNorm,
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)

__all__ = [
    "FusedMultiHeadAttention", "FusedFeedForward", "FusedTransformerEncoderLayer", "FusedLinear",
    "FusedBiasDropoutResidualLayerNorm", "FusedDropoutAdd",
]  # fmt: skip
