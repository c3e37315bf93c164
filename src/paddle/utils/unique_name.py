"""Names that occur once: `linear_0`, `linear_1`, ..."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["generate", "guard", "switch"]


class UniqueNameGenerator:
    """Counts, per key, the names given out.

    Args:
        prefix (str, optional): goes before every name. Default: "".
    """

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = prefix or ""
        self.ids: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, key: str) -> str:
        with self._lock:
            n = self.ids.get(key, 0)
            self.ids[key] = n + 1
        return f"{self.prefix}{key}_{n}"


class ParameterNameChecker:
    """Knows the names of parameters; called with one, says whether it was known already."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, name: str) -> bool:
        known = name in self.names
        self.names.add(name)
        return known


_generator = UniqueNameGenerator()
_checker = ParameterNameChecker()


def is_used(name: str) -> bool:
    """Whether a parameter has this name; from now on one has."""
    return _checker(name)


def generate(key: str) -> str:
    """The next name that starts with `key`.

    Args:
        key (str): the start of the name.

    Returns:
        str: key, an underscore and a number that was not used with this key before.

    Examples:
        >>> with paddle.utils.unique_name.guard():
        ...     paddle.utils.unique_name.generate("fc"), paddle.utils.unique_name.generate("fc")
        ('fc_0', 'fc_1')
    """
    return _generator(key)


def switch(new_generator: UniqueNameGenerator | None = None, new_para_name_checker: Any = None) -> Any:
    """Replaces what names are made with, and what knows the names of parameters.

    Args:
        new_generator: the one to use from now on; a fresh one by default.
        new_para_name_checker: the one to use from now on; a fresh one by default.

    Returns:
        tuple: the generator and the checker in use before.
    """
    global _generator, _checker
    old = _generator, _checker
    _generator = new_generator if new_generator is not None else UniqueNameGenerator()
    _checker = new_para_name_checker if new_para_name_checker is not None else ParameterNameChecker()
    return old


@contextlib.contextmanager
def guard(new_generator: str | bytes | UniqueNameGenerator | None = None) -> Iterator[None]:
    """Inside, names are counted afresh, and parameters may have the names of others outside.

    Args:
        new_generator (str|UniqueNameGenerator, optional): a prefix for all names, or a generator.
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    old = switch(new_generator)
    try:
        yield
    finally:
        switch(*old)
