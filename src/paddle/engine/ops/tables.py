"""Arrays that follow from sizes and other plain numbers, by functions that are known by name.

Where operations run at once, such an array is computed when it is needed. A program that serves all sizes has this
operator in its place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import invalid_argument
from ..types import TensorType, dtype_of
from .registry import Operator, absent, operator

MOST_BYTES = 1 << 30
_TABLES: dict[str, tuple[Callable[..., Any], Callable[..., int]]] = {}


def table(name: str, size: Callable[..., int]) -> Callable[[Any], Any]:
    """Names a function that gives an array, or a tuple of arrays, of plain numbers and texts alone.

    Args:
        size: of the same arguments: the bytes that it needs, about.
    """

    def known(fn: Any) -> Any:
        _TABLES[name] = fn, size
        fn.table = name
        return fn

    return known


@functools.lru_cache(maxsize=32)
def arrays_of(name: str, args: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """The arrays of a function.

    Raises:
        ValueError: there is no such function, the arguments do not suit it, or it would take too much memory.
    """
    fn, size = _TABLES.get(name, (None, None))
    if fn is None or size is None:
        raise invalid_argument("table: there is no such table.", expected=", ".join(_TABLES), received=repr(name)[:80])
    try:
        large = not 0 <= size(*args) <= MOST_BYTES
        found = None if large else fn(*args)
    except (TypeError, ValueError, IndexError, ArithmeticError) as e:
        raise invalid_argument(
            f"table: {name} is not defined for these arguments.", expected=f"arguments of {name}",
            received=f"{args!r:.80} ({str(e)[:200]})",
        ) from None  # fmt: skip
    if large:
        raise invalid_argument(
            f"table: {name} would be too large.", expected=f"{MOST_BYTES} bytes", received=f"{args!r:.80}"
        )
    return found if isinstance(found, tuple) else (found,)


@operator
class Table(Operator):
    """One of the arrays that a function gives."""

    table: str
    args: tuple
    which: int = 0
    vjp = absent("made of attributes alone")
    loops = absent("computed by a function of its own")
    xla = absent("computed by a function of its own")

    def arrays(self) -> tuple[np.ndarray, ...]:
        return arrays_of(self.table, self.args)

    def infer(self) -> TensorType:
        found = self.arrays()
        if not 0 <= self.which < len(found):
            raise invalid_argument("table: there are fewer arrays.", expected=f"{len(found)}", received=f"{self.which}")
        a = found[self.which]
        return TensorType(a.shape, dtype_of(a.dtype))

    def numpy(self):
        return np.array(self.arrays()[self.which])

    def spmd(self, *types):
        return "->" + "ABCDEFGH"[: len(self.infer().shape)]

    @classmethod
    def samples(cls, rng):
        yield cls("positions", (5, "int64")), ()


@table("positions", lambda n, dtype: 8 * n)
def positions(n: int, dtype: str) -> np.ndarray:
    """0, 1, ..., n - 1."""
    return np.arange(n).astype(dtype_of(dtype).np)


@table("numbers", lambda *ns: 8 * len(ns))
def numbers(*ns: int) -> np.ndarray:
    """The numbers themselves."""
    return np.array(ns, np.int64)


@table("number", lambda n: 8)
def number(n: int) -> np.ndarray:
    """The number itself, of no axis."""
    return np.array(n, np.int64)
