"""PyTorch's paths to layers."""

from ..layer import *
from ..layer.layers import Layer as Module
from . import container, module

__all__ = ["Module", "container", "module"]
