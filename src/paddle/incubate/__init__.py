"""What upstream tries out: fused functions and layers, further derivatives, optimizers around optimizers.

A function with a name of fused parts is the composition of its parts: the compiler fuses what pays.
"""

from . import autograd, nn, operators, optimizer, tensor
from .operators import (
    graph_khop_sampler,
    graph_reindex,
    graph_sample_neighbors,
    graph_send_recv,
    identity_loss,
    softmax_mask_fuse,
    softmax_mask_fuse_upper_triangle,
)
from .optimizer import LookAhead, ModelAverage
from .tensor import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "LookAhead", "ModelAverage", "softmax_mask_fuse_upper_triangle", "softmax_mask_fuse", "graph_send_recv",
    "graph_khop_sampler", "graph_sample_neighbors", "graph_reindex", "segment_sum", "segment_mean", "segment_max",
    "segment_min", "identity_loss",
]  # fmt: skip
