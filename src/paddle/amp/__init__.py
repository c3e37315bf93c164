"""Mixed precision: operators that compute in 16 bits where that is safe."""

from typing import Any

from .amp_lists import black_list, white_list
from .auto_cast import (
    amp_decorate, amp_guard, auto_cast, autocast, decorate, get_autocast_cpu_dtype, get_autocast_dtype,
    get_autocast_gpu_dtype, is_autocast_enabled,
)  # fmt: skip
from .grad_scaler import AmpScaler, GradScaler, OptimizerState

__all__ = ["GradScaler", "auto_cast", "decorate", "get_autocast_cpu_dtype", "get_autocast_dtype",
           "get_autocast_gpu_dtype", "is_autocast_enabled", "is_bfloat16_supported",
           "is_float16_supported"]  # fmt: skip


def __getattr__(name: str) -> Any:  # what few programs need
    if name in ("debugging", "accuracy_compare"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_float16_supported(device: Any = None) -> bool:
    """Whether operators compute in float16 on a device: they do on all.

    Args:
        device (str|Place, optional): the current one by default.

    Examples:
        >>> paddle.amp.is_float16_supported()
        True
    """
    return _is_device(device)


def is_bfloat16_supported(device: Any = None) -> bool:
    """Whether operators compute in bfloat16 on a device: they do on all.

    Args:
        device (str|Place, optional): the current one by default.

    Examples:
        >>> paddle.amp.is_bfloat16_supported()
        True
    """
    return _is_device(device)


def _is_device(device: Any) -> bool:
    """True; raises the error of `set_device` for what is no device."""
    if device is not None:
        from ..framework.place import place_of

        place_of(device, "is_supported")
    return True
