"""Layers by family."""

import importlib as _importlib

__all__: list[str] = []
for _name in (
    "layers",
    "container",
    "common",
    "conv",
    "pooling",
    "norm",
    "activation",
    "loss",
    "distance",
    "vision",
    "rnn",
    "transformer",
    "decode",
):
    _module = _importlib.import_module(f"{__name__}.{_name}")
    for _public in _module.__all__:
        globals()[_public] = getattr(_module, _public)
        __all__.append(_public)
