"""`Parameter` at the path where PyTorch users look for it."""

from ..framework.param import Parameter

__all__ = ["Parameter"]
