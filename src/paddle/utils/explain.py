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
    frames, formed = frames[start:], bool(_FORMED.match(text))
    if isinstance(e, AssertionError) and not (formed and " of a Tensor of several" in text):
        return None
    call = _Call(frames)
    if formed:
        misfit = _misfit(frames) if isinstance(e, AssertionError) else None
        return misfit and errors.invalid_type(
            f"{call.name}: {misfit[0]}", expected=misfit[1], received=misfit[2], at=at
        )
    misfit, kind = (_misfit(frames), _base(e)) if call.bound else (None, unbound)
    if kind is ValueError and misfit and re.match("could not convert|invalid literal|Could not convert", text):
        kind = TypeError
    word = "InvalidType" if kind is TypeError else "InvalidArgument"
    fact, *told = misfit or (_sentence(text, call.method), call.expected, arguments(call.given))
    found = kind(errors.message(word, f"{call.name}: {fact}", *told, at=at))
    if call.bound and not misfit:
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


class _Call:
    """What the user called.

    Attributes:
        name: of the function, layer or method.
        given: arguments by name, those left at their defaults left out.
        expected: how it is called.
        bound: whether it takes these arguments at all.
        method: it takes an owner besides.
    """

    def __init__(self, frames: list[python.FrameType]) -> None:
        wrapper: Mapping[str, Any] = {}
        self.bound = False
        for frame in frames:
            own = frame.f_locals
            if frame.f_code.co_flags & inspect.CO_VARARGS and callable(own.get("f", own.get("self"))):
                wrapper = own  # of `public`, `guard`, or Layer.__call__
                continue
            self.given, self.bound = _given(frame), True
            f, owner = _function(frame), own.get("self")
            self.name = frame.f_code.co_name
            break
        else:
            owner = wrapper.get("self")
            f = wrapper.get("f") or owner.forward  # type: ignore[union-attr]
            self.name = f.__name__ if "f" in wrapper else "forward"
            args = enumerate(wrapper.get("args", wrapper.get("inputs", ())), 1)
            self.given = {**{f"argument {i}": a for i, a in args}, **wrapper.get("kwargs", {})}
        self.method = owner is not None
        if owner is not None:
            kind = type(owner).__name__
            self.name = kind if not self.name or self.name in ("forward", "__init__") else f"{kind}.{self.name}"
        takes = dict(inspect.signature(f).parameters) if f is not None else {}
        takes.pop("self", None)
        for n, p in takes.items():
            if n in self.given and _is_default(self.given[n], p.default):
                del self.given[n]
        self.expected = f"{self.name}({parameters(takes)})" if f is not None else ""


def _is_default(value: Any, default: Any) -> bool:
    """Whether an argument says nothing that its default does not; Tensors and arrays are never compared."""
    return value is default or (isinstance(value, (bool, int, float)) and default == 0 and value == 0)


def parameters(takes: Mapping[str, inspect.Parameter]) -> str:
    """Parameters with their defaults, without types."""
    empty = inspect.Parameter.empty
    found = inspect.Signature([p.replace(annotation=empty) for p in takes.values()])
    return str(found)[1:-1]


def _given(frame: python.FrameType) -> dict[str, Any]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {n: frame.f_locals[n] for n in names if n in frame.f_locals and n not in ("self", "name")}


def _function(frame: python.FrameType) -> Any:
    """The function that a frame runs, if it can be found by its name."""
    name = frame.f_code.co_name
    found = [frame.f_globals.get(name)]
    for cls in type(frame.f_locals.get("self")).__mro__:
        found += [cls.__dict__.get(name), cls.__dict__.get("forward")]
    for f in found:
        while f is not None and getattr(f, "__code__", None) is not frame.f_code:
            f = getattr(f, "__wrapped__", None)
        if f is not None:
            return f
    return None


def _misfit(frames: list[python.FrameType]) -> tuple[str, str, str] | None:
    """Fact, expected and received of the first argument that is of another kind than its annotation says."""
    for frame in frames:
        kinds = getattr(_function(frame), "__annotations__", {})
        for name, value in _given(frame).items() if kinds else ():
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


def _sentence(text: str, method: bool) -> str:
    """A message of Python's or numpy's as a sentence about the function."""
    text = re.sub(r"^(?:[\w<>]+\.)*[\w<>]+\(\) ", "", text.strip().split("\n")[0]) or "it cannot take these arguments"
    if method and " positional argument" in text and " given" in text:  # Python counts the owner
        text = re.sub(r"\d+", lambda m: str(int(m[0]) - 1), text)
    return text if text.endswith(".") else text + "."
