"""Steps to a plan: where every value lies, what runs in place, and the commands for the runtime."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ir.graph import Graph, Value
from .expr import Expr, Operand
from .linear import offset_of
from .loops import CHUNK, Kernel, has_reduce, loads_in
from .steps import AliasStep, GroupStep, HostStep, LoopStep, ProductStep, Step

ALIGN = 64
SERIAL_WORK = 40_000  # simple operations below which a kernel stays on one thread
TASK_WORK = 60_000  # simple operations in a task, about 20 microseconds


@dataclass(frozen=True)
class Place:
    """Where a value lies: base ("arena", ("input", i), ("output", j), ("host", k) or ("kept", 0)) and byte offset."""

    base: Any
    offset: int = 0


class MemoryPlan:
    """Places for all values of a list of steps.

    Attributes:
        arena (int): bytes of the arena.
        place: by value (aliases share that of their root).
        taken: output index -> input index whose buffer it takes over.
        shared: step index -> {operand read: operand written} where they are one buffer.
        forwarded: outputs that are an input, or another output, under some shape: output -> ("input" | "output", i).
        overwriting: host steps that write into the buffer of an argument.
        scratch: step index -> byte offset in the arena of what it needs while it runs.
        kept (int): bytes of the results of the first steps that the others read: they stay from run to run.

    Args:
        loops: whether kernels take over buffers of inputs too, and not only the operators made for it.
        early: how many steps, the first ones, do not run each time.
    """

    def __init__(self, graph: Graph, steps: list[Step], donated: tuple[bool, ...], loops: bool = True, early: int = 0):
        self.graph, self.steps, self.donated = graph, steps, donated
        self.root: dict[Value, Value] = {}
        self.place: dict[Value, Place] = {}
        self.taken: dict[int, int] = {}
        self.shared: dict[int, dict[Value, Value]] = {}
        self.forwarded: dict[int, tuple[str, int]] = {}
        self.overwriting: set[int] = set()
        self.loops = loops
        self.early = early
        self.arena = self.kept = 0
        self.scratch: dict[int, int] = {}
        for s in steps:
            if isinstance(s, AliasStep):
                self.root[s.outputs[0]] = self.root_of(s.inputs[0])
        self.lifetimes()
        self.assign_outputs()
        self.assign_arena()
        for v in self.root:
            self.place[v] = self.place[self.root_of(v)]

    def root_of(self, v: Value) -> Value:
        return self.root.get(v, v)

    def made(self, v: Value) -> bool:
        """Whether a step makes v, be it under another shape."""
        return self.first.get(self.root_of(v), -1) >= 0

    def lifetimes(self) -> None:
        self.first: dict[Value, int] = {v: -1 for v in self.graph.inputs}
        self.last: dict[Value, int] = {}
        for i, s in enumerate(self.steps):
            if isinstance(s, AliasStep):
                continue
            for v in s.inputs:
                self.last[self.root_of(v)] = i
            for v in s.outputs:
                self.first.setdefault(v, i)
                self.last.setdefault(v, i)

    def assign_outputs(self) -> None:
        index = {v: i for i, v in enumerate(self.graph.inputs)}
        for v, i in index.items():
            self.place[v] = Place(("input", i))
        seen: dict[Value, int] = {}
        free = {i for i, d in enumerate(self.donated) if d}
        for j, v in enumerate(self.graph.outputs):
            r = self.root_of(v)
            if r in index:
                self.forwarded[j] = ("input", index[r])
            elif r in seen:
                self.forwarded[j] = ("output", seen[r])
            else:
                seen[r] = j
        blocked = {i for kind, i in self.forwarded.values() if kind == "input"}
        # a buffer is taken over only when nothing can fail any more: what is overwritten could not be given back
        safe = max((i + 1 for i, s in enumerate(self.steps) if may_fail(s)), default=0)
        self.overwrite(index, free - blocked, safe, seen)
        free -= {place.base[1] for v, place in self.place.items() if v not in index}
        reads = self.reads(free - blocked) if self.loops else {}
        users = Counter(i for r in seen for i in reads.get(r, ()))
        for r, j in sorted(seen.items(), key=lambda e: (len(reads.get(e[0], ())), e[1])):
            if r in self.place:
                self.taken[j] = self.place[r].base[1]
                continue
            step = self.first[r]
            found = []
            if self.loops and step >= safe and isinstance(self.steps[step], (LoopStep, GroupStep)):
                own = reads.get(r, ())
                for i in free - blocked:
                    x = self.graph.inputs[i]
                    last = self.last.get(x, -1)
                    # another shape would be a view, which nothing can be written over at the next run
                    if x.shape != self.graph.outputs[j].shape or x.dtype is not r.dtype or last > step or last < 0:
                        continue
                    if last < step or in_place(self.steps[step], x, r, self.root_of):
                        # what a result is the next state of is read by few others; so buffers stay with their Tensors
                        found.append((i not in own, last != step, users[i], i))
            if not found:
                self.place[r] = Place(("output", j))
                continue
            *_, chosen = min(found)
            x = self.graph.inputs[chosen]
            if self.last[x] == step:
                self.shared.setdefault(step, {})[x] = r
            free.discard(chosen)
            self.taken[j] = chosen
            self.place[r] = Place(("input", chosen))

    def reads(self, inputs: set[int]) -> dict[Value, set[int]]:
        """Which of some inputs every output follows from."""
        bits = {self.graph.inputs[i]: 1 << i for i in inputs}
        for node in self.graph.nodes:  # a step may compute several results side by side
            found = 0
            for v in node.inputs:
                found |= bits.get(v, 0)
            for v in node.outputs:
                bits[v] = found
        outputs = {self.root_of(v) for v in self.graph.outputs}
        return {r: {i for i in inputs if bits.get(r, 0) >> i & 1} for r in outputs}

    def overwrite(self, index: dict[Value, int], free: set[int], safe: int, outputs: dict[Value, int]) -> None:
        """Places the results of host steps that can be written into the buffer of an input that is needed no more."""
        for i, s in enumerate(self.steps):
            if not isinstance(s, HostStep) or s.node.op.overwrites is None or i < safe:
                continue
            x, out = self.root_of(s.node.inputs[s.node.op.overwrites]), s.outputs[0]
            place = self.place.get(x)
            others = [v for k, v in enumerate(s.node.inputs) if k != s.node.op.overwrites]
            if (
                place is not None
                and place.base[1] in free
                and self.last[x] == i
                and (x in index or x not in outputs)
                and x not in map(self.root_of, others)
                and x.type.nbytes == out.type.nbytes
            ):
                self.place[out] = place
                self.overwriting.add(i)

    def assign_arena(self) -> None:
        """First fit by order of birth. Nothing here looks at all that is alive but `fit`: programs have many steps."""
        live: list[tuple[int, int, Value]] = []  # (offset, bytes, value), by offset
        hosts = 0
        for i, s in enumerate(self.steps):
            if isinstance(s, AliasStep):
                continue
            if isinstance(s, HostStep):
                for v in s.outputs:
                    if i not in self.overwriting:
                        self.place[v] = Place(("host", hosts))
                        hosts += 1
            for v in s.outputs:
                if v in self.place:
                    continue
                size = -(-max(v.type.nbytes, 1) // ALIGN) * ALIGN
                if i < self.early <= self.last[v]:
                    self.place[v] = Place(("kept", 0), self.kept)
                    self.kept += size
                    continue
                taken = self.reusable(i, s, v, size)
                if taken is not None:
                    offset = self.place[taken].offset
                    live[position(live, offset)] = (offset, size, v)
                else:
                    offset = self.fit(live, size)
                    live.insert(position(live, offset), (offset, size, v))
                self.place[v] = Place("arena", offset)
                self.arena = max(self.arena, offset + size)
            if s.scratch():
                self.scratch[i] = offset = self.fit(live, s.scratch())
                self.arena = max(self.arena, offset + s.scratch())
            for v in (*map(self.root_of, s.inputs), *s.outputs):
                if self.last[v] == i and self.place[v].base == "arena":
                    at = position(live, self.place[v].offset)
                    if at < len(live) and live[at][2] is v:  # else another has its place, or it is gone already
                        del live[at]

    def reusable(self, i: int, s: Step, v: Value, size: int) -> Value | None:
        """An argument that dies here and that v, of `size` bytes, may overwrite element by element."""
        if isinstance(s, GroupStep):
            read = s.makers[v].inputs
        elif isinstance(s, LoopStep) and s.loops is not None:
            read = s.inputs
        else:
            return None
        shared = self.shared.get(i, {})
        dying = {
            x: self.place[x].offset
            for x in map(self.root_of, read)
            if self.last[x] == i and x.dtype is v.dtype and x not in shared and self.place[x].base == "arena"
        }
        for x in sorted(dying, key=dying.__getitem__):
            if -(-max(x.type.nbytes, 1) // ALIGN) * ALIGN == size and in_place(s, x, v, self.root_of):
                self.shared.setdefault(i, {})[x] = v
                return x
        return None

    @staticmethod
    def fit(live: list[tuple[int, int, Value]], size: int) -> int:
        at = 0
        for offset, n, _ in live:
            if offset - at >= size:
                return at
            at = max(at, offset + n)
        return at


def position(live: list[tuple[int, int, Value]], offset: int) -> int:
    """Where in a list by offsets one stands, or would stand."""
    return bisect.bisect_left(live, offset, key=lambda e: e[0])


def in_place(step: Step, x: Value, out: Value, root_of: Callable[[Value], Value]) -> bool:
    """Whether each element of x is read, under any of its shapes, only while the same element of `out` is made."""
    if isinstance(step, GroupStep):
        maker = step.makers[out]
        alone = step.readers[x] == 1 and x in map(root_of, maker.inputs)
        return alone and in_place(maker, x, out, root_of)
    assert isinstance(step, LoopStep)
    if step.loops is None:
        return False
    stores = step.loops.stores
    target = next((s for s in stores if s.out.key is out and s.kept), None)
    if target is None or any(has_reduce(s.value) for s in stores):
        return False
    want = offset_of(target.out, target.at)
    if want is None or any(isinstance(n, Expr) for n in target.out.shape):
        return False
    for s in stores:
        for e in loads_in(s.value):
            y: Operand = e.attr
            if root_of(y.key) is x:
                if len(e.args) > len(y.shape) or offset_of(y, e.args) != want:
                    return False
    return True


def may_fail(step: Step) -> bool:
    """Whether a step may meet an index or element that it refuses."""
    if isinstance(step, HostStep):
        return step.node.op.overwrites is None
    if not isinstance(step, LoopStep):
        return any(map(may_fail, step.within()))
    if step.loops is None:  # a kernel of the first tier
        return step.node.op.fault != "out_of_range" or any(v.dtype.is_integer for v in step.node.inputs)
    return any(has_check(s.value) for s in step.loops.stores)


def has_check(e: Expr) -> bool:
    todo, seen = [e], set()
    while todo:
        x = todo.pop()
        if x.op == "check":
            return True
        if x.id not in seen:
            seen.add(x.id)
            todo.extend(x.args)
    return False


def split(kernel: Kernel, sizes: dict[str, int]) -> tuple[int, int]:
    """Units of a kernel and how many of them make a task. Depends on sizes only."""
    outer = [extent(e, sizes) for e in kernel.outer]
    inner = math.prod(extent(e, sizes) for e in kernel.inner) if kernel.inner else 1
    total = math.prod(outer)
    if kernel.chunk:
        total = -(-total // CHUNK)
        inner = CHUNK
    work = max(1, inner * max(1, kernel.cost))
    if total * work < SERIAL_WORK:
        return total, max(total, 1)
    return total, max(1, min(TASK_WORK // work, -(-total // 2)))


def extent(e: Any, sizes: dict[str, int]) -> int:
    """An extent with sizes put in."""
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return sizes[e]
    a, b = extent(e[1], sizes), extent(e[2], sizes)
    return {"add": a + b, "sub": a - b, "mul": a * b, "floordiv": a // b if b else 0}[e[0]]


__all__ = ["AliasStep", "HostStep", "LoopStep", "MemoryPlan", "Place", "ProductStep", "extent", "split"]
