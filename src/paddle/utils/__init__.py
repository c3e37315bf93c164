"""Helpers of the public API."""

from . import unique_name
from .layers_utils import flatten, map_structure, pack_sequence_as

__all__ = ["flatten", "map_structure", "pack_sequence_as", "unique_name"]
