"""Checks of arguments; upstream raises AssertionError here, and so do we."""

from __future__ import annotations

from typing import Any

from ...engine import errors


def require(holds: Any, fact: str, expected: str = "", received: Any = "") -> None:
    """Raises AssertionError in the project's form unless `holds`."""
    if not holds:
        text = received if isinstance(received, str) else repr(received)
        raise AssertionError(errors.message("InvalidArgument", fact, expected, text))


def is_positive_int(n: Any) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and n > 0
