"""Layers, initializers, losses and what belongs to networks."""

import re as _re

from . import attention, functional, init, initializer, layer, modules, utils
from .clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from .layer import *
from .layer import __all__ as _layers
from .parameter import Parameter
from .utils import spectral_norm

# PyTorch's spelling of the same things
_others = {"Module": "Layer", "ModuleList": "LayerList", "ModuleDict": "LayerDict", "SiLU": "Silu",
           "HuberLoss": "SmoothL1Loss"}  # fmt: skip
_others |= {f"MaxUnpool{n}d": f"MaxUnPool{n}D" for n in (1, 2, 3)}
_small = r"(Conv|Adaptive(Avg|Max)Pool|LPPool|(Constant|Zero|Reflection|Replication|Circular)Pad|Upsampling\w+)(\d)D"
_others |= {name[:-1] + "d": name for name in _layers if _re.fullmatch(_small, name)}
globals().update({other: globals()[name] for other, name in _others.items()})

__all__ = [
    *_layers,
    *_others,
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "Parameter",
    "attention",
    "functional",
    "init",
    "initializer",
    "modules",
    "spectral_norm",
    "utils",
]
