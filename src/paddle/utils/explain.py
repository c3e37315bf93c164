"""Errors that Python or numpy raise inside the package for a wrong call, told in the project's form.

Functions check their arguments where a check costs nothing. What slips through is caught at the edge of the package
(`public`, `Layer.__call__`) on its way to the user, and explained here from the frames that it passed.
"""

from __future__ import annotations

import inspect
import os
import re
import types as python
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import Tensor

_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_MACHINE = tuple(os.path.join(errors._PACKAGE, "engine", part) for part in ("cpu", "passes", "ir"))
_FORMED = re.compile(r"\(\w+\) ")
_KINDS: dict[str, tuple[str, Any]] = {
    "Tensor": ("a Tensor", Tensor),
    "int": ("an integer", (int, np.integer)),
    "float": ("a number", (int, float, np.number)),
    "bool": ("True or False", (bool, np.bool_)),
    "str": ("a string", str),
}


def explained(e: Exception, unbound: type[Exception] = TypeError) -> Exception | None:
    """e in the project's form; None where it has it already, or is no consequence of arguments.

    Args:
        e: as caught; its traceback tells where from.
        unbound: what is raised for arguments that the function does not take, or lacks.
    """
    text = str(e.args[0]) if e.args else ""
    frames = _frames(e.__traceback__)
    if isinstance(e, (NotImplementedError, StopIteration, OSError, ImportError, Warning)) or not _inside(frames[-1]):
        return None
    if next(f for f in reversed(frames) if _inside(f, False)).f_code.co_filename.startswith(_MACHINE):
        return None  # a mistake of the compiler, not of the user
    start = max((i + 1 for i, f in enumerate(frames) if not _inside(f)), default=0)
    at = errors.describe_line(frames[start - 1].f_code.co_filename, frames[start - 1].f_lineno) if start else None
    name, given, bound = _entry(frames[start:])
    if _FORMED.match(text):
        misfit = (
            _misfit(frames[start:]) if isinstance(e, AssertionError) and " of a Tensor of several" in text else None
        )
        return misfit and errors.invalid_type(f"{name}: {misfit[0]}", expected=misfit[1], received=misfit[2], at=at)
    if isinstance(e, AssertionError):
        return None
    if not bound:
        word = "InvalidType" if unbound is TypeError else "InvalidArgument"
        return unbound(errors.message(word, f"{name}: {_sentence(text)}", given.pop(""), arguments(given), at=at))
    misfit = _misfit(frames[start:])
    kind = _base(e)
    if kind is ValueError and misfit and re.match("could not convert|invalid literal|Could not convert", text):
        kind = TypeError
    word = "InvalidType" if kind is TypeError else "InvalidArgument"
    if misfit:
        return kind(errors.message(word, f"{name}: {misfit[0]}", misfit[1], misfit[2], at=at))
    found = kind(errors.message(word, f"{name}: {_sentence(text)}", received=arguments(given), at=at))
    found.__cause__ = e  # there may be more to learn from it
    return found


def describe(value: Any) -> str:
    """A value in few words: type and shape of a Tensor, a number itself, else what it is."""
    if isinstance(value, Tensor):
        return str(value.type)
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {list(value.shape)}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(describe(v) for v in value[:4]) + (", ..." if len(value) > 4 else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    if isinstance(value, type) or inspect.isroutine(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return type(value).__name__


def arguments(given: Mapping[str, Any]) -> str:
    """Arguments by name, in few words."""
    return ", ".join(f"{k}: {describe(v)}" for k, v in given.items()) or "nothing"


def _frames(trace: python.TracebackType | None) -> list[python.FrameType]:
    found = []
    while trace is not None:
        found.append(trace.tb_frame)
        trace = trace.tb_next
    return found


def _inside(frame: python.FrameType, numpy: bool = True) -> bool:
    return frame.f_code.co_filename.startswith((errors._PACKAGE, _NUMPY) if numpy else errors._PACKAGE)


def _entry(frames: list[python.FrameType]) -> tuple[str, dict[str, Any], bool]:
    """What the user called: its name, its arguments by name, and whether it takes them at all."""
    wrapper: Mapping[str, Any] = {}
    for frame in frames:
        code, own = frame.f_code, frame.f_locals
        if code.co_flags & inspect.CO_VARARGS and callable(own.get("f", own.get("self"))):
            wrapper = own  # of `public`, or Layer.__call__
            continue
        given = _given(frame)
        if "self" not in given:
            return code.co_name, given, True
        kind = type(given.pop("self")).__name__
        return kind if code.co_name in ("forward", "__init__") else f"{kind}.{code.co_name}", given, True
    f = wrapper.get("f", wrapper.get("self"))
    call = f if inspect.isroutine(f) else f.forward  # type: ignore[union-attr]
    shown = re.sub(r"(?<=[\w\]]): [^,()=]+(?= =|,|\)| )", "", re.sub(r" -> .*", "", str(inspect.signature(call))))
    name = getattr(f, "__name__", type(f).__name__)
    args, kwargs = wrapper.get("args", wrapper.get("inputs", ())), wrapper.get("kwargs", {})
    given = {**{f"argument {i}": a for i, a in enumerate(args, 1)}, **kwargs}
    return name, {**given, "": name + shown.replace(" = ", "=")}, False


def _given(frame: python.FrameType) -> dict[str, Any]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {n: frame.f_locals[n] for n in names if n in frame.f_locals and n != "name"}


def _misfit(frames: list[python.FrameType]) -> tuple[str, str, str] | None:
    """Fact, expected and received of the first argument that is of another kind than its annotation says."""
    for frame in frames:
        f = frame.f_globals.get(frame.f_code.co_name)
        kinds = getattr(f, "__annotations__", {})
        for name, value in _given(frame).items() if inspect.isfunction(f) else ():
            kind, _, rest = str(kinds.get(name, "")).partition(" | ")
            if kind not in _KINDS or rest not in ("", "None") or (rest and value is None):
                continue
            what, fits = _KINDS[kind]
            if not isinstance(value, fits) and not (isinstance(value, Tensor) and value.type.size == 1):
                return f"{name} is not {what}.", what, f"{name}: {describe(value)}"
    return None


def _base(e: Exception) -> Any:
    """The class of Python's own that e belongs to."""
    return next(c for c in type(e).__mro__ if c.__module__ == "builtins" and c is not UnicodeError)


def _sentence(text: str) -> str:
    """A message of Python's or numpy's as a sentence about the function."""
    text = re.sub(r"^(?:[\w<>]+\.)*[\w<>]+\(\) ", "", text.strip().split("\n")[0]) or "it cannot take these arguments"
    return text if text.endswith(".") else text + "."
