"""OpenPaddle: deep learning in Python, compiled on the spot."""

from .tensor.tensor import Tensor

__all__ = ["Tensor"]
