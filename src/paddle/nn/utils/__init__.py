"""Helpers for parameters and gradients; weights that are computed from others."""

from .gradients import clip_grad_norm_, clip_grad_value_
from .reparametrize import remove_weight_norm, spectral_norm, weight_norm
from .vector import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
