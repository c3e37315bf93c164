"""Automatic differentiation: gradients, operations with gradients of one's own, and functional forms."""

from ..framework.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .backward_mode import backward, grad
from .functional import hessian, jacobian
from .py_layer import PyLayer, PyLayerContext, once_differentiable
from .saved_tensors_hooks import saved_tensors_hooks

Function = PyLayer

__all__ = [
    "Function",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "once_differentiable",
    "saved_tensors_hooks",
    "set_grad_enabled",
]
