"""Networks for images."""

from .lenet import LeNet

__all__ = ["LeNet"]
