"""Errors in one form: the operator and the fact, what was expected, what came, a hint, the user's line."""

from __future__ import annotations

import os
import sys
from typing import Any

_LONGEST_LINE = 160  # characters of the user's line that a message shows
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


def user_instruction() -> tuple[Any, int] | None:
    """Code object and instruction of that frame: cheaper than its line, which `line_of` finds later."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return (frame.f_code, frame.f_lasti) if frame is not None else None


def line_of(instruction: tuple[Any, int]) -> tuple[str, int]:
    """File and line number of what `user_instruction` gave."""
    code, at = instruction
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= at < end and number is not None:
            line = number
    return code.co_filename, line


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the user's own line, however many frames of the package lie between."""
    import warnings

    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    scope = frame.f_globals
    seen = scope.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, scope.get("__name__"), seen)


def describe_line(file: str, line: int) -> str:
    import linecache

    text = linecache.getline(file, line).strip()
    if len(text) > _LONGEST_LINE:
        text = text[:_LONGEST_LINE].rstrip() + " ..."
    place = f"{os.path.basename(file)}:{line}"
    return f"{place}, {text}" if text else place


def message(kind: str, fact: str, expected: str = "", received: str = "", hint: str = "", at: str | None = None) -> str:
    at = user_line() if at is None else at
    lines = [f"({kind}) {fact}"]
    for word, text in (("expected", expected), ("received", received), ("hint", hint), ("at", at)):
        if text:
            lines.append(f"  {word}: {text}")
    return "\n".join(lines)


def offending(fact: str, bad: Any, values: Any, expected: str, label: str = "") -> str:
    """What the meaning of an operator says of numbers that must not be: which and where; the text of an IndexError.

    Args:
        fact: without the name of the operator, which is put before it.
        bad: array of bool, True where `values` holds such a number, once at least.
        label: of the argument.
    """
    places = bad.nonzero()
    first = tuple(int(i[0]) for i in places) if bad.ndim else ()
    found = f"{label}: " if label else ""
    found += f"{values[first]}" + (f" at {list(first)}" if first else "")
    others = int(bad.sum()) - 1
    return f"{fact}.\n  expected: {expected}\n  received: {found}" + (f", and {others} more" if others else "")


def cast_hint(**arguments: Any) -> str:
    """What to write where two arguments differ in element type; by name, each a Tensor, a TensorType or a DType.

    Numbers that are no floats become floats, and float64, which numpy gives where nothing else is asked for, becomes
    what it meets.
    """
    (x, a), (y, b) = ((name, getattr(t, "dtype", t)) for name, t in arguments.items())
    real = [d.kind in "fc" for d in (a, b)]
    if real[0] != real[1]:
        first = real[1]
    elif real[0]:
        first = b.name != "float64"
    else:
        first = (a.kind != "b", a.itemsize) <= (b.kind != "b", b.itemsize)
    name, to = (x, b.name) if first else (y, a.name)
    return f"cast one of them, as in {name}.astype('{to}')."


def need_equal_dtypes(name: str, **arguments: Any) -> None:
    """ValueError where two arguments, by name, differ in element type."""
    x, y = arguments.values()
    if x.dtype is not y.dtype:
        raise invalid_argument(
            f"{name}: the element types differ.",
            expected="equal dtypes",
            received=", ".join(f"{label}: {getattr(t, 'type', t)}" for label, t in arguments.items()),
            hint=cast_hint(**arguments),
        )


def tensor_hint(value: Any, label: str) -> str:
    """What to write where an array of numpy's stands for a Tensor."""
    if type(value).__module__ != "numpy" or not getattr(value, "ndim", 0):
        return ""
    to = "float32" if value.dtype.name == "float64" else ""  # parameters are of float32
    return f"paddle.to_tensor({label}{f', {to!r}' if to else ''}) makes it one."


def _shown_as(builtin: type[Exception]) -> Any:
    """Lets a traceback call a class by the name of what it is to the user."""

    def declare(cls: type[Exception]) -> type[Exception]:
        own = cls.__name__
        cls.__reduce__ = lambda self: (_again, (own, self.args))  # type: ignore[method-assign, attr-defined]
        cls.__name__ = cls.__qualname__ = builtin.__name__
        cls.__module__ = builtin.__module__
        return cls

    return declare


def _again(name: str, args: tuple[Any, ...]) -> Exception:
    return globals()[name](*args)


@_shown_as(IndexError)
class OutOfRange(IndexError, ValueError):
    """An index beyond its axis, where upstream raises IndexError."""


@_shown_as(ValueError)
class BadIndex(ValueError, IndexError):
    """An index beyond its axis, where upstream raises ValueError. Both kinds are caught by either name."""


@_shown_as(KeyError)
class MissingKey(KeyError):
    """A KeyError that prints as a message, not as the repr of one."""

    def __str__(self) -> str:
        return str(self.args[0])


@_shown_as(SystemError)
class Spent(SystemError, RuntimeError):
    """A graph that is gone, where upstream raises SystemError. It is caught by either name."""


@_shown_as(ValueError)
class Damaged(ValueError, RuntimeError):
    """A file that is not what it should be, where upstream raises RuntimeError. It is caught by either name."""


def placed(op: Any, line: tuple[str, int] | None, e: Exception) -> Exception:
    """What the meaning of an operator has raised, with its name and the user's line; an error that has both stays."""
    if isinstance(e, (OutOfRange, BadIndex)):
        return e
    at = describe_line(*line) if line else ""
    if isinstance(e, IndexError):
        return globals()[op.fault](f"{op.name}: {e}", at=at)
    return invalid_argument(f"{op.name}: {e}.", at=at)


def _maker(kind: str, base: type[Exception]) -> Any:
    def make(fact: str, *, expected: str = "", received: str = "", hint: str = "", at: str | None = None) -> Exception:
        return base(message(kind, fact, expected, received, hint, at))

    make.__name__ = kind
    make.__doc__ = f"A {base.__name__} of the kind {kind}, in the project's form. The caller raises it."
    return make


invalid_argument = _maker("InvalidArgument", ValueError)
asserted = _maker("InvalidArgument", AssertionError)
invalid_type = _maker("InvalidType", TypeError)
out_of_range = _maker("OutOfRange", OutOfRange)
bad_index = _maker("InvalidArgument", BadIndex)
damaged = _maker("InvalidArgument", Damaged)
not_found = _maker("NotFound", ValueError)
missing_key = _maker("NotFound", MissingKey)
no_attribute = _maker("NotFound", AttributeError)
precondition = _maker("PreconditionNotMet", RuntimeError)
spent = _maker("PreconditionNotMet", Spent)
unavailable = _maker("Unavailable", RuntimeError)
unimplemented = _maker("Unimplemented", NotImplementedError)
already_exists = _maker("AlreadyExists", ValueError)
permission_denied = _maker("PermissionDenied", RuntimeError)
