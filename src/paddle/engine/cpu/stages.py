"""A graph at each stage on its way to machine code, for reading: what passes change, what becomes one kernel, and
where every value lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from ..ir.drawing import KINDS, Box, Picture, counted, document, place_of, short
from ..ir.graph import Graph, Node, Value
from ..ops.number import Constant
from ..passes.simplify import decompose
from .compiler import lowered, prepare
from .lower import Lowering
from .plan import AliasStep, MemoryPlan, Step


@dataclass
class Launch:
    """What runs at once in the compiled program.

    Attributes:
        kind: loop, product, host, group or recurrence.
        nodes: the operations that are computed in it. Some may be in several: cheap ones are computed again.
        reads, writes: the values that it loads and stores.
        within: what it repeats step after step, or the members of a group.
    """

    kind: str
    nodes: list[Node]
    reads: list[Value]
    writes: list[Value]
    within: list[Launch] = field(default_factory=list)

    @property
    def line(self) -> tuple[str, int] | None:
        return next((n.line for n in reversed(self.nodes) if n.line), None)

    @property
    def title(self) -> str:
        return ", ".join(n.op.name for n in self.nodes if not isinstance(n.op, Constant)) or "sum of its parts"


@dataclass
class Stages:
    """The stages of one program of the compiled tier.

    Args:
        recorded: the graph as recorded.
        donated: which inputs nobody else holds, so that results may take their place.

    Attributes:
        written_out: compositions replaced by what they consist of. simplified: after the exact identities.
        compiled: the graph that kernels are made of, with copies of what has to lie otherwise in memory.
        launches: what runs at once, in order. plan: places of values.
    """

    recorded: Graph
    donated: tuple[bool, ...]
    written_out: Graph = field(init=False)
    simplified: Graph = field(init=False)
    compiled: Graph = field(init=False)
    launches: list[Launch] = field(init=False)
    plan: MemoryPlan = field(init=False)

    def __post_init__(self) -> None:
        self.written_out = decompose(self.recorded)
        self.simplified = prepare(self.recorded, True)
        self.compiled, steps = lowered(self.recorded)
        self.plan = MemoryPlan(self.compiled, steps, self.donated)
        self.launches = [launch(self.compiled, s) for s in steps if not isinstance(s, AliasStep)]


def launch(graph: Graph, step: Step) -> Launch:
    kind = type(step).__name__.removesuffix("Step").lower()
    inside: set[Node] = set()
    if not any(v.node is step.outputs[0].node and v.node is not None for v in step.inputs):  # else parts are summed
        todo = list(step.outputs)
        while todo:
            v = todo.pop()
            if v.node is not None and v.node not in inside and v not in step.inputs:
                inside.add(v.node)
                todo += v.node.inputs
    nodes = [n for n in graph.nodes if n in inside]
    within = [launch(getattr(step, "graph", graph), s) for s in step.within() if not isinstance(s, AliasStep)]
    return Launch(kind, nodes, list(step.inputs), list(step.outputs), within)


def kinds(graph: Graph) -> dict[Node, str]:
    """How each node is computed, in the words of `drawing.KINDS`."""
    lowering = Lowering(graph, True)
    return {n: "other" if n.op.compose and not n.op.loops else lowering.kind(n) for n in graph.nodes}


def kernels_text(stages: Stages) -> str:
    """One line for each launch: what it computes, what it reads and writes, and for which line of the user's."""
    lines: list[str] = []

    def tell(launches: list[Launch], prefix: str, indent: str) -> None:
        for i, x in enumerate(launches):
            reads, writes = (", ".join(str(v.type) for v in vs) for vs in (x.reads, x.writes))
            place = f"  # {place_of(x.line)}" if x.line else ""
            title = x.kind if x.title == x.kind else f"{x.kind} {x.title}"
            lines.append(f"{indent}{prefix}{i}: {title}: {reads} -> {writes}{place}")
            tell(x.within, f"{prefix}{i}.", indent + "  ")

    tell(stages.launches, "", "")
    return "\n".join(lines)


def kernels_picture(stages: Stages, title: str, outputs: Sequence[str] = (), limit: int | None = None) -> Picture:
    """A box for each launch, with what is computed in it."""
    drawn = Picture(title)
    graph, root = stages.compiled, stages.plan.root_of
    leaves = {root(v): outputs[j] if j < len(outputs) and outputs[j] else f"output {j}"
              for j, v in enumerate(graph.outputs)}  # fmt: skip
    home: dict[Value, int] = {}
    shown = stages.launches if limit is None else stages.launches[:limit]
    for number, x in enumerate(shown):
        reads = dict.fromkeys(root(v) for v in x.reads)
        chips = {}
        for v in reads:
            if v.node is None and v.index < len(graph.inputs):
                chips[v] = len(drawn.boxes)
                drawn.boxes.append(Box([v.name or f"input {v.index}", str(v.type)], "input"))
        here = len(drawn.boxes)
        words = counted(n.op.name for n in x.nodes if not isinstance(n.op, Constant)) or ["sum of its parts"]
        rows = [f"{number}: {words[0]}", *words[1:]]
        heading = "each step:" if x.kind == "recurrence" else "together:"
        rows += [heading, *(f" {short(w.title, 40)}" for w in x.within)] if x.within else []
        rows += [str(v.type) for v in x.writes[:4]] + ([f"and {len(x.writes) - 4} more"] if len(x.writes) > 4 else [])
        if x.line:
            rows.append(" " + place_of(x.line))
        told = [leaves[root(v)] for v in x.writes if root(v) in leaves]
        rows += [f"→ {short(', '.join(told))}"] if told else []
        lines = tuple(dict.fromkeys(n.line for n in x.nodes if n.line))
        drawn.boxes.append(Box(rows, x.kind, x.title, lines, bool(told)))
        for v in reads:
            at = chips[v] if v in chips else home.get(v)
            if at is not None:
                drawn.join(at, here, str(v.type))
        home.update((root(v), here) for v in x.writes)
    if len(shown) < len(stages.launches):
        drawn.note = f"the first {len(shown)} of {len(stages.launches):,} kernels; limit=None draws each."
    return drawn


# ---- the memory plan --------------------------------------------------------------------------
@dataclass(frozen=True)
class Stay:
    """A value's time in the work area: offset and bytes, and the launches from the first to the last that needs it."""

    value: Value
    offset: int
    nbytes: int
    first: int
    last: int


def stays(stages: Stages) -> list[Stay]:
    """The values that lie in the work area (the arena), in the order in which they come into being."""
    plan = stages.plan
    number = {i: k for k, i in enumerate(i for i, s in enumerate(plan.steps) if not isinstance(s, AliasStep))}
    found = []
    for v, p in plan.place.items():
        if p.base == "arena" and plan.root_of(v) is v:
            first = number[plan.first[v]]
            found.append(Stay(v, p.offset, v.type.nbytes, first, number[plan.last[v]]))
    return sorted(found, key=lambda s: (s.first, s.offset))


def memory_text(stages: Stages) -> str:
    """Where every value lies that is written to memory."""
    plan, graph = stages.plan, stages.compiled
    lines = [f"work area: {plan.arena:,} bytes"]
    for i, offset in plan.scratch.items():
        step = plan.steps[i]
        lines.append(f"  bytes {offset:,} to {offset + step.scratch():,}: while {step.node.op.name} runs")
    for s in stays(stages):
        assert s.value.node is not None
        lines.append(
            f"  bytes {s.offset:,} to {s.offset + s.nbytes:,}, kernels {s.first} to {s.last}: "
            f"{s.value.node.op.name} : {s.value.type}" + told_line(s.value)
        )
    for j, v in enumerate(graph.outputs):
        if j in plan.taken:
            where = f"written over input {plan.taken[j]}"
        elif j in plan.forwarded:
            kind, i = plan.forwarded[j]
            where = f"the same memory as {kind} {i}"
        else:
            where = "memory of its own"
        lines.append(f"output {j}, {v.type}: {where}")
    return "\n".join(lines)


def told_line(v: Value) -> str:
    return f"  # {place_of(v.node.line)}" if v.node is not None and v.node.line else ""


def memory_svg(stages: Stages, title: str, alone: bool = True) -> str:
    """The work area over time: kernels from left to right, bytes from top to bottom, a box for each value."""
    found, count = stays(stages), max(1, len(stages.launches))
    wide, high, left, top = max(640.0, min(1600.0, 26.0 * count)), 380.0, 90.0, 48.0
    total = max(1, stages.plan.arena)
    fill, stroke, _ = KINDS["map"]
    body = [f'<text class="title" x="16" y="22">{escape(title)}</text>']
    for k in range(5):
        y = top + high * k / 4
        body.append(f'<path class="edge" d="M{left} {y:.1f}H{left + wide:.1f}"/>')
        body.append(f'<text class="soft" x="8" y="{y + 4:.1f}">{size_text(total * k // 4)}</text>')
    for s in found:
        assert s.value.node is not None
        x, w = left + wide * s.first / count, wide * (s.last - s.first + 1) / count
        y, h = top + high * s.offset / total, max(1.0, high * s.nbytes / total)
        words = f"{s.value.node.op.name} {s.value.type}"
        tip = f"{words}\nbytes {s.offset:,} to {s.offset + s.nbytes:,}, kernels {s.first} to {s.last}"
        place = place_of(s.value.node.line)
        tip += f"\n{place}"
        body.append(
            f'<g class="box" data-lines={quoteattr(place)}><title>{escape(tip)}</title><rect x="{x:.1f}" '
            f'y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="2" fill="{fill}" stroke="{stroke}"/>'
        )
        if h > 13 and w > 40:
            body.append(f'<text x="{x + 4:.1f}" y="{y + 12:.1f}">{short(words, int((w - 8) / 6.65))}</text>')
        body.append("</g>")
    body.append(f'<text class="soft" x="{left}" y="{top + high + 18:.1f}">kernel 0</text>')
    end = f"kernel {count - 1}"
    body.append(f'<text class="soft" x="{left + wide - 7 * len(end):.1f}" y="{top + high + 18:.1f}">{end}</text>')
    said = [
        f"{len(found)} values share {size_text(stages.plan.arena)}; side by side they would take "
        f"{size_text(sum(s.nbytes for s in found))}."
        if found
        else "No value needs the work area.",
        f"{len(stages.plan.taken)} of {len(stages.compiled.outputs)} outputs are written over inputs that nobody "
        "needs any more.",
    ]
    for k, text in enumerate(said):
        body.append(f'<text x="{left}" y="{top + high + 40 + 15 * k:.1f}">{text}</text>')
    return document("\n".join(body), left + wide + 20, top + high + 70, alone)


def size_text(nbytes: int) -> str:
    """Bytes with a unit: 1.5 KiB."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
