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


_generator = UniqueNameGenerator()


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
    """Replaces the name generator.

    Args:
        new_generator: the one to use from now on; a fresh one by default.
        new_para_name_checker: accepted for compatibility; names are not checked.

    Returns:
        tuple: the generator in use before, and what was given as its checker.
    """
    global _generator
    old, _generator = _generator, new_generator if new_generator is not None else UniqueNameGenerator()
    return old, new_para_name_checker


@contextlib.contextmanager
def guard(new_generator: str | bytes | UniqueNameGenerator | None = None) -> Iterator[None]:
    """Inside, names are counted afresh.

    Args:
        new_generator (str|UniqueNameGenerator, optional): a prefix for all names, or a generator.
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    old, _ = switch(new_generator)
    try:
        yield
    finally:
        switch(old)
