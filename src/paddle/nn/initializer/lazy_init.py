"""`LazyGuard`: parameters made inside get their first values later."""

from __future__ import annotations

from typing import Any

__all__ = ["LazyGuard"]


class LazyInitHelper:
    """Whether parameters wait for `initialize()`."""

    def __init__(self) -> None:
        self.depth = 0

    @property
    def state(self) -> bool:
        return self.depth > 0

    def enable(self) -> None:
        self.depth += 1

    def disable(self) -> None:
        self.depth = max(self.depth - 1, 0)


_helper = LazyInitHelper()


def lazy_init_helper() -> LazyInitHelper:
    """The switch that LazyGuard turns."""
    return _helper


def active() -> bool:
    return _helper.depth > 0


class LazyGuard:
    """Parameters made inside hold zeros until `initialize()` is called on them.

    Examples:
        >>> with paddle.LazyGuard():
        ...     fc = paddle.nn.Linear(2, 3)
        >>> for p in fc.parameters():
        ...     p.initialize()
    """

    def __enter__(self) -> None:
        _helper.enable()

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _helper.disable()
