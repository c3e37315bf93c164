"""Devices: which there are, which is current, and waiting for what was asked of them."""

from __future__ import annotations

from typing import Any

from ..engine.eager.trace import current
from ..framework.place import (
    IPUPlace,
    XPUPlace,
    get_default_device,
    get_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    place_of,
    set_default_device,
    set_device,
)
from . import cuda

__all__ = [
    "IPUPlace", "XPUPlace", "cuda", "device_count", "get_all_custom_device_type", "get_all_device_type",
    "get_available_custom_device", "get_available_device", "get_default_device", "get_device", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute", "is_compiled_with_ipu",
    "is_compiled_with_rocm", "is_compiled_with_xpu", "set_default_device", "set_device", "synchronize",
]  # fmt: skip


def get_all_device_type() -> list[str]:
    """Kinds of accelerators in this build: none."""
    return []


def get_all_custom_device_type() -> list[str]:
    """Kinds of plug-in devices: none."""
    return []


def get_available_device() -> list[str]:
    """Accelerators that can be used: none."""
    return []


def get_available_custom_device() -> list[str]:
    """Plug-in devices that can be used: none."""
    return []


def device_count() -> int:
    """The number of accelerators: 0."""
    return 0


def synchronize(device: Any = None) -> None:
    """Computes all that was recorded so far in this thread, and waits for it.

    Args:
        device (str|Place, optional): Default: the current one.

    Raises:
        ValueError: this build has no such device.
    """
    if device is not None:
        place_of(device, "synchronize")
    current().flush()
