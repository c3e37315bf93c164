"""Checks of arguments; upstream raises AssertionError here, and so do we."""

from __future__ import annotations

import operator
from typing import Any

from ...engine import errors


def require(holds: Any, fact: str, expected: str = "", received: Any = "") -> None:
    """Raises AssertionError in the project's form unless `holds`."""
    if not holds:
        text = received if isinstance(received, str) else repr(received)
        raise AssertionError(errors.message("InvalidArgument", fact, expected, text))


def is_positive_int(n: Any) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and n > 0


def whole(n: Any, name: str) -> int:
    """n as an int. Raises TypeError for what is no whole number, such as text and floats."""
    try:
        return operator.index(n)
    except TypeError:
        raise errors.invalid_type(
            f"{name} is no int.", expected="an int", received=f"{n!r} ({type(n).__name__})"
        ) from None
