"""Element types, places, seeds, saving and loading, and other things that concern the whole framework."""

from .dtype import get_default_dtype, set_default_dtype
from .mode import in_dynamic_mode
from .place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    IPUPlace,
    XPUPlace,
)
from .place import current_place as _current_expected_place
from .place import place_of as _get_paddle_place

__all__ = [
    "get_default_dtype",
    "set_default_dtype",
    "in_dynamic_mode",
    "CPUPlace",
    "CUDAPlace",
    "CUDAPinnedPlace",
    "XPUPlace",
    "IPUPlace",
    "CustomPlace",
    "_current_expected_place",
    "_get_paddle_place",
]


def __getattr__(name):  # late: io needs Tensors, which need this package
    if name in ("async_save", "clear_async_save_task_queue", "load", "save"):
        from . import io

        return getattr(io, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
