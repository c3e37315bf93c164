"""Static programs: descriptions of inputs, control flow."""

from . import nn
from .input import InputSpec

__all__ = ["InputSpec", "nn"]
