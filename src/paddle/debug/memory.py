"""`memory_owners`: the bytes that are alive, the user's lines that made them, and who holds them."""

from __future__ import annotations

import gc
import linecache
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.arrays import root_of
from ..engine.cpu import executor, storage
from ..engine.cpu.stages import size_text
from ..engine.eager import trace as tracing
from ..engine.ir.drawing import place_of, short
from ..nn.layer.layers import Layer
from ..optimizer.optimizer import Optimizer
from . import holders

__all__ = ["MemoryOwners", "MemoryRow", "memory_owners"]

_SHOWN = 3  # holders of an array that are named


@dataclass
class MemoryRow:
    """One array.

    Attributes:
        nbytes (int): its size.
        shape (tuple of int), dtype (str): of the Tensor.
        operator (str): what computed it; "" if it came from outside, as by `to_tensor`.
        line (tuple): file and number of the user's line that made it, or None.
        holders (tuple of str): what holds it, as you would write it, the shortest first.
    """

    nbytes: int
    shape: tuple[int, ...]
    dtype: str
    operator: str
    line: tuple[str, int] | None
    holders: tuple[str, ...]

    @property
    def made(self) -> str:
        """By what and where: "matmul at train.py:12: h = x @ w"."""
        if self.line is None:
            return self.operator or "not known"
        text = linecache.getline(*self.line).strip()
        name = f"{self.operator} at " if self.operator else ""
        return f"{name}{place_of(self.line)}" + (f": {short(text, 60)}" if text else "")


@dataclass
class MemoryOwners:
    """What `memory_owners` found. `print` shows the rows, like ones together, the largest first.

    Attributes:
        rows (list[MemoryRow]): one per array, the largest first.
        nbytes (int): of all rows.
        deferred (int), deferred_nbytes (int): Tensors that are recorded and not computed yet, and what they will take.
        complete (bool): False where so many objects exist that some holders were not looked for.
    """

    rows: list[MemoryRow] = field(default_factory=list)
    deferred: int = 0
    deferred_nbytes: int = 0
    complete: bool = True

    @property
    def nbytes(self) -> int:
        return sum(r.nbytes for r in self.rows)

    def text(self, most: int = 30) -> str:
        """The table.

        Args:
            most (int): entries that are shown. Default: 30.
        """
        groups: dict[Any, list[MemoryRow]] = {}
        for r in self.rows:
            key = (r.line, r.operator, r.shape, r.dtype, tuple(without_numbers(h) for h in r.holders[:1]))
            groups.setdefault(key, []).append(r)
        ordered = sorted(groups.values(), key=lambda g: -sum(r.nbytes for r in g))
        head = f"{size_text(self.nbytes)} in {len(self.rows):,} arrays"
        if self.deferred:
            head += (
                f"; {self.deferred:,} Tensors are not computed yet ({size_text(self.deferred_nbytes)} when they are)"
            )
        lines = [head]
        for group in ordered[:most]:
            first = group[0]
            count = f"{len(group):,} × " if len(group) > 1 else ""
            held = "; ".join(first.holders[:_SHOWN])
            held += f"; and {len(first.holders) - _SHOWN} more" if len(first.holders) > _SHOWN else ""
            held += " and the like" if len(group) > 1 else ""
            size = size_text(sum(r.nbytes for r in group))
            lines.append(f"{size:>10}  {f'{count}{first.dtype}{list(first.shape)}':<26}  held by {held}")
            if first.line or first.operator:
                lines.append(f"{'':>40}made by {first.made}")
        if len(ordered) > most:
            rest = sum(r.nbytes for g in ordered[most:] for r in g)
            lines.append(f"{size_text(rest):>10}  in {sum(map(len, ordered[most:])):,} more arrays")
        if not self.complete:
            lines.append("There are more objects than were looked through: some holders may be missing.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def without_numbers(text: str) -> str:
    return "".join("#" if c.isdigit() else c for c in text).replace("##", "#")


def memory_owners() -> MemoryOwners:
    """For all bytes of Tensors that are alive: the line of yours that made them, and what holds them.

    Looks through the objects of the process when it is called, some tenths of a second for a large one; nothing is
    watched before. Nothing is computed, and nothing is kept alive by it.

    Returns:
        MemoryOwners: `print` it; `.rows` for programs.

    Examples:
        >>> history = [paddle.ones([1000, 1000]) * i for i in range(2)]
        >>> values = [t.sum().item() for t in history]
        >>> for row in paddle.debug.memory_owners().rows:
        ...     if any(h.startswith("history") for h in row.holders):
        ...         print(row.nbytes, row.operator, row.holders[0])
        4000000 ... history[...]
        4000000 ... history[...]
    """
    tensors: list[Any] = []
    tracked: list[Any] = []
    ignored: list[Any] = []
    lists: dict[type, list[Any]] = {}
    for x in gc.get_objects():
        kind = type(x)
        into = lists.get(kind)
        if into is None:
            named = issubclass(kind, (types.GeneratorType, Optimizer, Layer))
            into = lists[kind] = tensors if issubclass(kind, tracing.Tensor) else tracked if named else ignored
        if into is not ignored:
            into.append(x)
    x = None
    walk = holders.walk_all(tracked)
    del tracked
    running = holders.of_running_traces()
    arrays: dict[int, tuple[np.ndarray, list[Any]]] = {}
    out = MemoryOwners(complete=walk.complete)
    for t in tensors:
        a = getattr(t, "buffer", None)
        if a is None:
            if id(t) in running:
                out.deferred += 1
                out.deferred_nbytes += t.type.nbytes
            continue
        root = root_of(a)
        arrays.setdefault(id(root), (root, []))[1].append(t)
    for root, sharing in arrays.values():
        out.rows.append(row_of(root, sharing, walk, running))
    for made in list(storage.alive):
        a = made.memory
        if a is not None:
            holder = "compiled programs, as weights made ready for them"
            out.rows.append(MemoryRow(a.nbytes, a.shape, "uint8", "", None, (holder,)))
    for a in executor._arenas:
        out.rows.append(MemoryRow(a.nbytes, a.shape, "uint8", "", None, ("compiled programs, as their work area",)))
    out.rows.sort(key=lambda r: -r.nbytes)
    return out


def row_of(root: np.ndarray, sharing: list[Any], walk: holders.Walk, running: dict[int, str]) -> MemoryRow:
    ways: dict[str, Any] = {}
    for t in sharing:
        for step in walk.found.get(id(t), ()):
            ways.setdefault(str(step), t)
    told = sorted(ways, key=rank_of)
    first = ways[told[0]] if told else sharing[0]
    told += dict.fromkeys(running[id(t)] for t in sharing if id(t) in running)
    if not told:
        told = list(dict.fromkeys(nameless(t) for t in sharing))
    operator, line = "", None
    for t in sharing:
        name, place = tracing.origin_of(t)
        if place is not None and (line is None or name):
            operator, line = name, place
    return MemoryRow(root.nbytes, first.type.shape, first.type.dtype.name, operator, line, tuple(told))


def rank_of(told: str) -> tuple[int, int]:
    """Short names first, then records of gradients, then what an optimizer trains."""
    return (told.startswith("the record of") + 2 * (holders.TRAINED in told), len(told))


def nameless(t: Any) -> str:
    """What refers to a Tensor that no name leads to."""
    kinds = {
        type(r).__name__ for r in gc.get_referrers(t) if not isinstance(r, types.FrameType) and type(r) is not list
    }
    inside = f" ({', '.join(sorted(kinds))})" if kinds else ""
    return f"no name{inside}: objects that refer to each other, which gc.collect() frees, or another library"
