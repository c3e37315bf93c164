"""Functions as programs."""

from .api import ignore_module, not_to_static, to_static
from .program import enable_to_static

__all__ = ["TranslatedLayer", "enable_to_static", "ignore_module", "load", "not_to_static", "save", "to_static"]

# imported when they are first named
_LATE = {"TranslatedLayer": "translated_layer", "load": "saving", "save": "saving"}


def __getattr__(name):
    if name in _LATE:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE})
