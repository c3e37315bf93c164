"""What reads and writes files of samples: Python's own `wave`."""

from .init_backend import get_current_backend, list_available_backends, set_backend
from .wave_backend import info, load, save

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]
