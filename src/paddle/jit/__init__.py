"""Functions as programs."""

from .api import ignore_module, not_to_static, to_static
from .program import enable_to_static
from .saving import load, save
from .translated_layer import TranslatedLayer

__all__ = ["TranslatedLayer", "enable_to_static", "ignore_module", "load", "not_to_static", "save", "to_static"]
