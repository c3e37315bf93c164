"""Images: datasets, models, transforms."""

from . import datasets, image, models, transforms
from .image import get_image_backend, image_load, set_image_backend
from .models import LeNet

__all__ = ["get_image_backend", "image_load", "set_image_backend"]
