"""Layers of static programs, as functions, and control flow."""

import importlib as _importlib

from .control_flow import case, cond, switch_case, while_loop

_LAYERS = ("batch_norm", "conv2d", "embedding", "fc", "group_norm", "instance_norm", "layer_norm", "prelu")

__all__ = ["case", "cond", "switch_case", "while_loop", *_LAYERS]


def __getattr__(name):
    if name in _LAYERS:  # see paddle/static
        return getattr(_importlib.import_module(f"{__name__}.common"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
