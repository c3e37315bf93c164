"""Errors in one form: the operator and the fact, what was expected, what came, a hint, the user's line."""

from __future__ import annotations

import os
import sys
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_line() -> str:
    """File, line and source text of the innermost frame outside the package, or "" if there is none."""
    found = user_frame()
    return describe_line(*found) if found else ""


def user_frame() -> tuple[str, int] | None:
    """File and line number of the innermost frame outside the package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def describe_line(file: str, line: int) -> str:
    import linecache

    text = linecache.getline(file, line).strip()
    place = f"{os.path.basename(file)}:{line}"
    return f"{place}, {text}" if text else place


def message(kind: str, fact: str, expected: str = "", received: str = "", hint: str = "", at: str | None = None) -> str:
    at = user_line() if at is None else at
    lines = [f"({kind}) {fact}"]
    for word, text in (("expected", expected), ("received", received), ("hint", hint), ("at", at)):
        if text:
            lines.append(f"  {word}: {text}")
    return "\n".join(lines)


class OutOfRange(IndexError, ValueError):
    """An index beyond its axis. Upstream raises IndexError in some operators and ValueError in others."""


def _maker(kind: str, base: type[Exception]) -> Any:
    def make(fact: str, *, expected: str = "", received: str = "", hint: str = "", at: str | None = None) -> Exception:
        return base(message(kind, fact, expected, received, hint, at))

    make.__name__ = kind
    make.__doc__ = f"A {base.__name__} of the kind {kind}, in the project's form. The caller raises it."
    return make


invalid_argument = _maker("InvalidArgument", ValueError)
invalid_type = _maker("InvalidType", TypeError)
out_of_range = _maker("OutOfRange", OutOfRange)
not_found = _maker("NotFound", ValueError)
precondition = _maker("PreconditionNotMet", RuntimeError)
unavailable = _maker("Unavailable", RuntimeError)
unimplemented = _maker("Unimplemented", NotImplementedError)
already_exists = _maker("AlreadyExists", ValueError)
permission_denied = _maker("PermissionDenied", RuntimeError)
