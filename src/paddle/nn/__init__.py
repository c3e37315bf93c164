"""Layers, initializers, losses and what belongs to networks."""

from . import functional, init, initializer, layer, utils
from .clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from .layer import *
from .layer import __all__ as _layers
from .parameter import Parameter
from .utils import spectral_norm

# PyTorch's spelling of the same things
Module = layer.Layer
ModuleList, ModuleDict = layer.LayerList, layer.LayerDict

__all__ = [
    *_layers,
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "functional",
    "init",
    "initializer",
    "spectral_norm",
    "utils",
]
