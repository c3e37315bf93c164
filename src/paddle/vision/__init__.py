"""Images: datasets, models, operations, transforms. A part is loaded when one of its names is first used."""

from __future__ import annotations

import importlib
from typing import Any

from .image import get_image_backend, image_load, set_image_backend

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

_PARTS = ("datasets", "models", "transforms")  # with names that upstream has here too


def __getattr__(name: str) -> Any:
    if name in _PARTS or name == "ops":
        return importlib.import_module(f"{__name__}.{name}")
    if not name.startswith("_"):
        for part in _PARTS:
            module = importlib.import_module(f"{__name__}.{part}")
            if name in module.__all__:
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    found = {*globals(), *_PARTS, "ops"}
    for part in _PARTS:
        found.update(importlib.import_module(f"{__name__}.{part}").__all__)
    return sorted(found)
