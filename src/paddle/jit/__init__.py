"""Functions as programs."""

from .api import not_to_static, to_static
from .program import enable_to_static

__all__ = ["enable_to_static", "not_to_static", "to_static"]
