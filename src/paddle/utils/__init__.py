"""Helpers of the public API."""

from . import unique_name
from .deprecated import deprecated, require_version
from .environments import strtobool
from .install_check import run_check
from .layers_utils import (
    assert_same_structure,
    convert_to_list,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
    to_sequence,
)
from .lazy_import import try_import

__all__ = [
    "assert_same_structure", "convert_to_list", "deprecated", "flatten", "is_sequence", "map_structure",
    "pack_sequence_as", "require_version", "run_check", "strtobool", "to_sequence", "try_import", "unique_name",
]  # fmt: skip


def __getattr__(name):
    if name == "download":  # few programs need it
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
