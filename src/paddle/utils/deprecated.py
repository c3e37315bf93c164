"""Versions: names on their way out, and the version that a program needs."""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from .. import version
from ..engine import errors

__all__ = ["VisibleDeprecationWarning", "deprecated", "require_version"]

F = TypeVar("F", bound=Callable[..., Any])


class VisibleDeprecationWarning(UserWarning):
    """That a name is on its way out; unlike Python's DeprecationWarning it is shown wherever it comes from."""


def numbers(text: str) -> list[int]:
    """The parts of a version, four of them."""
    found = [int(part) for part in text.split(".") if part.isdigit()]
    return [*found, 0, 0, 0, 0][:4]


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[F], F]:
    """Marks a function as on its way out: its docstring says so, and calls warn or fail.

    Args:
        update_to (str): what to use instead, such as "paddle.add". Default: "".
        since (str): the version of Paddle from which on calls warn; "" for every version. Default: "".
        reason (str): why. Default: "".
        level (int): 0 changes the docstring alone, 1 warns, 2 lets every call fail. Default: 0.

    Returns:
        callable: the decorator.

    Raises:
        AssertionError: an argument of another type, no such level, or update_to outside paddle.
        RuntimeError: at a call, with level 2.

    Examples:
        >>> @paddle.utils.deprecated(update_to="paddle.add", since="2.0.0")
        ... def plus(x, y):
        ...     '''The sum.'''
        ...     return x + y
        >>> print(plus.__doc__.strip().splitlines()[1].split(" and ")[1])
        will be removed in a future version. Use "paddle.add" instead.
    """
    for name, value in (("update_to", update_to), ("since", since), ("reason", reason)):
        assert isinstance(value, str), errors.message(
            "InvalidType", f"deprecated: {name} is not a str.", received=type(value).__name__
        )
    assert isinstance(level, int) and 0 <= level <= 2, errors.message(
        "InvalidArgument", "deprecated: there is no such level.", expected="0, 1 or 2", received=repr(level)
    )
    since, update_to, reason = since.strip(), update_to.strip(), reason.strip()
    assert not update_to or update_to.startswith("paddle."), errors.message(
        "InvalidArgument", 'deprecated: update_to does not start with "paddle.".', received=repr(update_to)
    )

    def decorate(f: F) -> F:
        name = f'API "{f.__module__}.{f.__name__}"'
        text = f"{name} is deprecated{f' since {since}' if since else ''} and will be removed in a future version."
        text += f' Use "{update_to}" instead.' if update_to else ""
        text += f"\n    Reason: {reason}" if reason else ""
        if f.__doc__:
            f.__doc__ = f"\n\nWarning:\n    {text}\n\n{inspect.cleandoc(f.__doc__)}"
        if level == 0:
            return f

        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            if level == 2:
                raise RuntimeError(f"{name} has been deprecated." + (f' Use "{update_to}".' if update_to else ""))
            if not since or numbers(version.full_version) >= numbers(since):
                warnings.warn(f"\nWarning:\n{text}", VisibleDeprecationWarning, stacklevel=2)
            return f(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Raises unless the version of Paddle that this follows lies between two others, both included.

    Args:
        min_version (str): the least, such as "2.6" or "3.0.0.0".
        max_version (str, optional): the greatest. Default: None, no bound.

    Raises:
        TypeError: not strings. ValueError: not one to four numbers with dots between.
        Exception: the version lies outside.

    Examples:
        >>> paddle.utils.require_version("2.6", "3.9")
    """
    for name, value in (("min_version", min_version), ("max_version", max_version)):
        if value is None and name == "max_version":
            continue
        if not isinstance(value, str):
            raise errors.invalid_type(
                f"require_version: {name} is not a str.", expected='a version, such as "3.0"', received=repr(value)
            )
        if not re.fullmatch(r"\d+(\.\d+){0,3}", value):
            raise errors.invalid_argument(
                f"require_version: {name} is not a version.",
                expected='one to four numbers with dots between, such as "1.5.2.0"',
                received=repr(value),
            )
    have = numbers(f"{version.major}.{version.minor}.{version.patch}.{version.rc}")
    if have < numbers(min_version) or (max_version is not None and have > numbers(max_version)):
        wanted = f"{min_version} or higher" if max_version is None else f"in [{min_version}, {max_version}]"
        raise Exception(f"VersionError: PaddlePaddle version {wanted} required, but {version.full_version} installed.")
