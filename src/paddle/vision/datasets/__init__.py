"""Image datasets that are read from local files."""

from .digits_dataset import Digits
from .mnist import MNIST, FashionMNIST

__all__ = ["MNIST", "FashionMNIST"]
