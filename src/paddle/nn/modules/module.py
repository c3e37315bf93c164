"""`Module`: PyTorch's name of Layer."""

from ..layer.layers import Layer as Module

__all__ = ["Module"]
