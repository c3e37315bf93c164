"""Static programs: descriptions of inputs."""

from .input import InputSpec

__all__ = ["InputSpec"]
