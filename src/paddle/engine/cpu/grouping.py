"""Kernels of loops that have nothing to do with one another run as one launch: all updates of an optimizer's step, the
sums of squares of all gradients.

A group's kernel has a table: for each member the kernel, its pointers, its units. Equal kernels that differ in the
number of elements alone are one that is told the number. The tasks are those that the members would have, small members
several to a task; so they are shared out over all members, and follow from sizes alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import types
from ..ir.graph import Graph, Value
from .expr import Expr, Scope, Var
from .loops import Kernel, Loops, Store, heavy, loads_in
from .plan import TASK_WORK, extent, may_fail, split
from .steps import AliasStep, GroupStep, LoopStep, Step

WINDOW = 64  # steps that one may be moved ahead of
SMALL_BYTES = 65536  # of results that others read: what comes into being earlier takes memory for longer
FEWEST, MOST = 3, 256  # members: a group's own kernel has to be compiled, too
ROW = 7  # words of the table for a member: first task, tasks, kernel, pointer, units, units of a task, elements


def grouped(graph: Graph, steps: list[Step], early: int = 0) -> tuple[list[Step], int]:
    """The steps, with groups; and how many there are now of the first `early` ones, which do not run each time."""
    root: dict[Value, Value] = {}
    for s in steps:
        if isinstance(s, AliasStep):
            root[s.outputs[0]] = root.get(s.inputs[0], s.inputs[0])
    results = {root.get(v, v) for v in graph.outputs}
    first = _grouped(steps[:early], root, results)
    return first + _grouped(steps[early:], root, results), len(first)


def _grouped(steps: Sequence[Step], root: dict[Value, Value], results: set[Value]) -> list[Step]:
    """Each step that can be in a group goes to the last one of its kind before which all that it reads is made."""
    found: list[list[Step]] = []
    made: dict[Value, int] = {}
    read: dict[Value, int] = {}  # where a value was read last
    groups: dict[Any, list[int]] = {}  # where the members of a group are, in order, by their kind
    ahead = 0  # nothing goes ahead of what may fail: till then nothing is written over

    def root_of(v: Value) -> Value:
        return root.get(v, v)

    for s in steps:
        if isinstance(s, AliasStep):
            found.append([s])
            continue
        at = len(found)
        kind = kind_of(s, results) if isinstance(s, LoopStep) else None
        if kind is not None:
            before = [made.get(root_of(v), -1) for v in s.inputs]
            # what a result may be written over has been read by then
            before += [read.get(root_of(v), -1) for v in s.inputs if any(v.type == x.type for x in s.outputs)]
            least = max(max(before, default=-1) + 1, ahead, at - WINDOW)
            known = groups.setdefault(kind, [])
            if known and known[-1] >= least and len(found[known[-1]]) < MOST:
                at = known[-1]
            else:
                known.append(at)
        elif may_fail(s):
            ahead = at + 1
        if at == len(found):
            found.append([])
        found[at].append(s)
        made.update((v, at) for v in s.outputs)
        read.update((root_of(v), max(at, read.get(root_of(v), -1))) for v in s.inputs)
    out: list[Step] = []
    for x in found:
        out += [group_of(x, root)] if len(x) >= FEWEST else x  # type: ignore[arg-type]
    return out


def kind_of(s: LoopStep, results: set[Value]) -> Any:
    """Equal ones can be in one group; None where a step stays where it is."""
    loops = s.loops
    others = sum(v.type.nbytes for v in s.outputs if v not in results)
    if (
        others > SMALL_BYTES
        or may_fail(s)
        or not all(isinstance(v.extent, int) and v.extent for v in loops.vars)
        or any(st.guard is not None for st in loops.stores)
    ):
        return None
    if not others and not heavy(loops):
        return "results"
    return s.node.op.name, len(s.inputs), len(s.outputs), any(v.node is s.node for v in s.inputs)


def group_of(members: list[LoopStep], root: dict[Value, Value]) -> GroupStep:
    outputs = [v for s in members for v in s.outputs]
    inputs = list(dict.fromkeys(v for s in members for v in s.inputs))
    readers = Counter(v for s in members for v in {root.get(x, x) for x in s.inputs})
    makers = {v: s for s in members for v in s.outputs}
    return GroupStep(outputs, inputs, members[0].node, members, readers, makers)


def sized(s: LoopStep) -> tuple[LoopStep, dict[str, int]]:
    """A step whose kernel is told the number of elements, where that is all that its text knows of sizes."""
    loops = s.loops
    variables = [v for v in loops.vars if v.extent != 1]
    loads = [x for st in loops.stores for x in loads_in(st.value)]
    if (
        len(variables) != 1
        or heavy(loops)
        or any(len(x.args) != len(x.attr.shape) or len(x.args) > 1 for x in loads)
        or any(len(st.at) > 1 for st in loops.stores)
    ):
        return s, {}
    scope = Scope()
    (old,) = variables
    new = Var(scope.make("param", types.int64, (), "n"))
    memo: dict[int, Expr] = {}

    def copy(e: Expr) -> Expr:
        got = memo.get(e.id)
        if got is None:
            if e.op == "var":
                got = scope.var(new)
            else:
                got = scope.make(e.op, e.dtype, tuple(map(copy, e.args)), e.attr)
            memo[e.id] = got
        return got

    stores = [Store(st.out, tuple(map(copy, st.at)), copy(st.value), st.kept) for st in loops.stores]
    assert isinstance(old.extent, int)
    return replace(s, loops=Loops(scope, [new], stores)), {"n": old.extent}


def table(kernels: list[tuple[Kernel, dict[str, int]]], names: list[str]) -> tuple[list[int], int]:
    """The numbers that a group's kernel is called with, and its tasks. names: of the members' kernels."""
    bodies = {name: i for i, name in enumerate(dict.fromkeys(names))}
    rows: list[list[int]] = []
    small: list[tuple[int, list[int]]] = []
    tasks, pointer = 0, 0
    for (kernel, sizes), name in zip(kernels, names):
        total, grain = split(kernel, sizes)
        row = [0, 1, bodies[name], pointer, total, grain, sizes.get("n", 0)]
        pointer += 1 + len(kernel.operands)
        if total <= grain:
            small.append((work(kernel, sizes), row))
            continue
        row[:2] = tasks, -(-total // grain)
        tasks += row[1]
        rows.append(row)
    held = TASK_WORK
    for cost, row in small:
        if held + cost > TASK_WORK:
            tasks, held = tasks + 1, 0
        row[0] = tasks - 1
        held += cost
        rows.append(row)
    return [len(rows), *(n for row in rows for n in row)], tasks


def work(kernel: Kernel, sizes: dict[str, int]) -> int:
    """Simple operations of a whole kernel."""
    inner = 1 if kernel.chunk else math.prod(extent(e, sizes) for e in kernel.inner)
    return math.prod(extent(e, sizes) for e in kernel.outer) * inner * max(1, kernel.cost)


def text(names: list[str]) -> str:
    """The kernel @KERNEL of a group whose members' kernels have these names."""
    bodies = list(dict.fromkeys(names))
    cases = " ".join(f"i64 {i}, label %b{i}" for i in range(len(bodies)))
    calls = "\n".join(
        f"b{i}:\n  call void @{name}(ptr %p, ptr %d, i64 %from, i64 %to)\n  br label %next"
        for i, name in enumerate(bodies)
    )
    words = "\n".join(
        f"  %{name}.p = getelementptr i64, ptr %row, i64 {i}\n  %{name} = load i64, ptr %{name}.p"
        for i, name in enumerate(("body", "pointer", "units", "grain"), 2)
    )
    return f"""define void @KERNEL(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind "no-jump-tables"="true" {{
entry:
  %count = load i64, ptr %dims
  %rows = getelementptr i64, ptr %dims, i64 1
  br label %task
task:
  %t = phi i64 [ %begin, %entry ], [ %t1, %over ]
  %any = icmp slt i64 %t, %end
  br i1 %any, label %member, label %done
member:
  %m = phi i64 [ 0, %task ], [ %m1, %next ]
  %at = mul i64 %m, {ROW}
  %row = getelementptr i64, ptr %rows, i64 %at
  %first = load i64, ptr %row
  %tasks.p = getelementptr i64, ptr %row, i64 1
  %tasks = load i64, ptr %tasks.p
  %own = sub i64 %t, %first
  %mine = icmp ult i64 %own, %tasks
  br i1 %mine, label %run, label %next
run:
{words}
  %p = getelementptr ptr, ptr %ptrs, i64 %pointer
  %d = getelementptr i64, ptr %row, i64 {ROW - 1}
  %from = mul i64 %own, %grain
  %full = add i64 %from, %grain
  %last = icmp sge i64 %full, %units
  %to = select i1 %last, i64 %units, i64 %full
  switch i64 %body, label %next [ {cases} ]
{calls}
next:
  %m1 = add i64 %m, 1
  %more = icmp slt i64 %m1, %count
  br i1 %more, label %member, label %over
over:
  %t1 = add i64 %t, 1
  br label %task
done:
  ret void
}}
"""
