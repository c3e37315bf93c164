"""Tensors of arrays that follow from sizes alone, with how they do: programs of all sizes can be made of them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ..engine.eager import capture
from ..engine.eager.trace import from_array
from ..engine.ops import tables as ops

__all__: list[str] = []


def tensors_of(make: Any, *args: Any) -> tuple[Any, ...]:
    """The arrays of a function that `table` has named, as Tensors. args: plain numbers, texts, and tuples of these."""
    arrays = make(*args)
    found = tuple([from_array(a) for a in (arrays if isinstance(arrays, tuple) else (arrays,))])
    if capture.capturing():
        for i, t in enumerate(found):
            t.__dict__["_recipe"] = make.table, args, i
    return found


def tensor_of(make: Any, *args: Any) -> Any:
    """The one array of a function, as a Tensor."""
    return tensors_of(make, *args)[0]


def rows_of(x: Any, view: Any, start: int) -> Any:
    """Some rows of a Tensor with values, as one: some sizes of several are known as such."""
    t = from_array(view)
    made, args, _ = x.__dict__.get("_recipe", (None, (), 0))
    if made == "numbers" and view.ndim < 2:
        t.__dict__["_recipe"] = (
            ("numbers", args[start : start + view.size], 0) if view.ndim else ("number", args[start : start + 1], 0)
        )
    return t


def positions(n: int, dtype: Any) -> Any:
    """0, 1, ..., n - 1."""
    return tensor_of(ops.positions, n, dtype.name)


class _General(threading.local):
    on = False


_state = _General()


def general() -> bool:
    """Whether a program for many sizes is being captured: then shortcuts for some of them are not taken."""
    return _state.on


@contextlib.contextmanager
def generalizing() -> Iterator[None]:
    """Within the block, `general` is true in this thread."""
    before, _state.on = _state.on, True
    try:
        yield
    finally:
        _state.on = before
