"""Flags, and whether operations are recorded eagerly."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..engine import flags as settings
from ..engine.eager.trace import local

__all__ = ["in_dynamic_mode", "set_flags", "get_flags", "disable_signal_handler"]


def in_dynamic_mode() -> bool:
    """Whether operations act on Tensors at once (True), and not on a program that is being built.

    Examples:
        >>> paddle.in_dynamic_mode()
        True
    """
    return not local.trace.abstract


def set_flags(flags: dict[str, Any]) -> None:
    """Sets settings of the engine.

    Args:
        flags (dict): values by name; see `paddle.engine.flags`.

    Raises:
        TypeError: not a dict. ValueError: no such flag, or a value that it does not take.

    Examples:
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise errors.invalid_type("set_flags: flags is not a dict.", received=type(flags).__name__)
    for name, value in flags.items():
        if name not in settings.known():
            from . import idle_flags

            if name in idle_flags.values:
                idle_flags.set_(name, value)
                continue
        settings.set_(name, value)


def get_flags(flags: Any) -> dict[str, Any]:
    """The values of settings.

    Args:
        flags (str|list|tuple): names.

    Returns:
        dict: values by name.

    Raises:
        TypeError: not names. ValueError: no such flag.

    Examples:
        >>> paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    names = [flags] if isinstance(flags, str) else flags
    if not isinstance(names, (list, tuple)):
        raise errors.invalid_type("get_flags: flags is not a list of names.", received=type(flags).__name__)
    known = settings.known()
    idle: dict[str, Any] = {}
    if any(name not in known for name in names):
        from .idle_flags import values as idle
    for name in names:
        if name not in known and name not in idle:
            raise errors.not_found(
                f"get_flags: there is no flag {name}.", expected=f"one of {', '.join(sorted(known))}"
            )
    return {name: settings.get(name) if name in known else idle[name] for name in names}


def disable_signal_handler() -> None:
    """Upstream removes its handlers of signals here. The engine installs none, so there is nothing to remove."""
