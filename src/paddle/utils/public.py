"""`public`: what makes a function part of the API, with its other spellings and as a method of Tensor."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, TypeVar

from ..engine import errors

F = TypeVar("F", bound=Callable[..., Any])
METHODS: dict[str, Callable[..., Any]] = {}


def public(
    *,
    also: dict[str, str] | None = None,
    method: bool | str | tuple[str, ...] = False,
    kind: type[Exception] = TypeError,
) -> Callable[[F], F]:
    """Declares a public function.

    Args:
        also: other keyword names by parameter name, as in `{"x": "input", "axis": "dim"}`.
        method: True makes it a Tensor method of the same name; names give others.
        kind: exception type for an unknown keyword or a missing argument (upstream raises ValueError in some).

    Returns:
        The function, accepting the other spellings.
    """
    renamed = {theirs: ours for ours, theirs in (also or {}).items()}

    def declare(f: F) -> F:
        if renamed or kind is not TypeError:

            @functools.wraps(f)
            def call(*args: Any, **kwargs: Any) -> Any:
                if kwargs and renamed:
                    kwargs = {renamed.get(k, k) if renamed.get(k, k) not in kwargs else k: v for k, v in kwargs.items()}
                if kind is not TypeError:
                    try:
                        signature.bind(*args, **kwargs)
                    except TypeError as e:
                        raise kind(errors.message("InvalidArgument", f"{f.__name__}: {e}.")) from None
                return f(*args, **kwargs)

            signature = inspect.signature(f)
            made: Any = call
        else:
            made = f
        for name in (f.__name__,) if method is True else (method,) if isinstance(method, str) else method or ():
            METHODS[name] = made
        return made

    return declare
