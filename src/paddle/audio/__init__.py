"""Sound: spectrograms and what is made of them, and files of samples."""

from . import backends, features, functional
from .backends import info, load, save

__all__ = ["functional", "features", "backends", "load", "info", "save"]
