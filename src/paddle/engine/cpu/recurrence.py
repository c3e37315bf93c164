"""Recurrences: the launches of one step, listed for every step with the places that it reads and writes.

A step's graph is compiled as a small program. Its places are those of the whole program: sequences are read and written
where they lie, a state is the element of a sequence that the step before has written, or one of two buffers by turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.graph import Graph, Node, Value
from ..ops.recurrence import Recurrence
from .plan import ALIGN, MemoryPlan
from .steps import HostStep, Step


@dataclass
class RecurrenceStep(Step):
    """All steps of a recurrence.

    Attributes:
        graph, steps: of one step. plan: where its values lie.
        buffers: byte offset in the scratch memory of the first of two buffers, by state.
        bytes: of scratch memory.
    """

    graph: Graph
    steps: list[Step]
    plan: MemoryPlan
    buffers: dict[int, int]
    bytes: int

    def scratch(self) -> int:
        return self.bytes

    def within(self) -> Sequence[Step]:
        return self.steps


def recurrence_step(node: Node, steps_of: Callable[[Graph], list[Step]], loops: bool) -> RecurrenceStep | None:
    """The step for a node, None where its body needs the host. Loops: as for `MemoryPlan`."""
    op: Recurrence = node.op
    graph = op.graph([v.type for v in node.inputs])
    steps = steps_of(graph)
    if not node.inputs[op.constants + op.carries].shape[0] or any(isinstance(s, HostStep) for s in steps):
        return None
    plan = MemoryPlan(graph, steps, (False,) * len(graph.inputs), loops)
    if any(kind == "input" for kind, _ in plan.forwarded.values()):
        return None  # a state or an element is given back as it came
    sequences = {plan.root_of(v) for v in graph.outputs[op.carries :]}
    buffers: dict[int, int] = {}
    scratch = -(-plan.arena // ALIGN) * ALIGN
    for j, v in enumerate(graph.outputs[: op.carries]):
        if plan.root_of(v) not in sequences:
            if j in plan.forwarded:
                return None  # one value for two states
            buffers[j] = scratch
            scratch += 2 * -(-max(v.type.nbytes, 1) // ALIGN) * ALIGN
    return RecurrenceStep(
        list(node.outputs), list(dict.fromkeys(node.inputs)), node, graph, steps, plan, buffers, scratch
    )


def describe(
    step: RecurrenceStep, launches: list[dict[str, Any]], place: Callable[[Value], list[Any]], scratch: int
) -> dict[str, Any]:
    """The step as plain data: the launches of one step, and where what they read and write lies in each."""
    op, graph, plan = step.node.op, step.graph, step.plan
    first = op.constants + op.carries
    states = []
    for j, v in enumerate(graph.outputs[: op.carries]):
        base = plan.place[plan.root_of(v)].base
        states.append([base[1], place(step.node.inputs[op.constants + j])])
    outs: list[Any] = []
    for j, v in enumerate(graph.outputs):
        made = step.node.outputs[j]
        if j >= op.carries:
            outs.append(["sequence", place(made), v.type.nbytes])
        elif j in step.buffers:
            size = -(-max(v.type.nbytes, 1) // ALIGN) * ALIGN
            outs.append(["buffers", ["arena", 0, scratch + step.buffers[j]], size, place(made)])
        else:
            outs.append(None)  # the same as another
    for j, kind in plan.forwarded.items():
        if outs[kind[1]] is None or outs[kind[1]][0] == "buffers":  # the place is a sequence's, whichever comes first
            outs[kind[1]] = outs[j] if outs[j] and outs[j][0] == "sequence" else outs[kind[1]]
    return {
        "steps": step.node.inputs[first].shape[0], "reverse": op.reverse, "launches": launches, "states": states,
        "constants": [place(v) for v in step.node.inputs[: op.constants]],
        "elements": [[place(v), v.type.nbytes // v.shape[0]] for v in step.node.inputs[first:]],
        "outs": outs, "scratch": scratch,
    }  # fmt: skip


def expanded(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The steps of a description, recurrences as the launches of all their steps."""
    for s in steps:
        if "repeat" in s:
            yield from _repeated(s)
        else:
            yield s


def _repeated(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    r, inside = step["repeat"], list(expanded(step["repeat"]["launches"]))
    count, constants, states = r["steps"], r["constants"], r["states"]
    shifted = lambda p, n: [p[0], p[1], p[2] + n]

    def out(j: int, turn: int, t: int) -> list[Any]:
        kind, p, size, *last = r["outs"][j]
        if kind == "sequence":
            return shifted(p, t * size)
        return last[0] if turn == count - 1 else shifted(p, turn % 2 * size)

    for turn in range(count):
        t = count - 1 - turn if r["reverse"] else turn
        before = t + 1 if r["reverse"] else t - 1

        def find(p: list[Any], turn: int = turn, t: int = t, before: int = before) -> list[Any]:
            kind, i, offset = p
            if kind == "status":
                return p
            if kind == "arena":
                return ["arena", 0, r["scratch"] + offset]
            if kind == "output":
                return shifted(out(i, turn, t), offset)
            if i < len(constants):
                return shifted(constants[i], offset)
            i -= len(constants)
            if i < len(states):
                source, start = states[i]
                return shifted(start if turn == 0 else out(source, turn - 1, before), offset)
            where, size = r["elements"][i - len(states)]
            return shifted(where, t * size + offset)

        for launch in inside:
            yield {**launch, "ptrs": [find(p) for p in launch["ptrs"]], "op": launch["op"], "line": step["line"]}


def functions_in(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every launch that names a function, each once."""
    for s in steps:
        if "repeat" in s:
            yield from functions_in(s["repeat"]["launches"])
        elif "fn" in s:
            yield s
