"""Graphs as pictures: a box for each operation with its type and the user's line, drawn as SVG.

A graph of more operations than a picture can hold is folded: neighbours that one line of the user's program made share
a box, and a note tells so.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from .arrange import lay_out
from .body import Body
from .graph import Graph, Node, Value
from .printer import inner_graphs

LIMIT = 120  # boxes that a reader can still follow
FAR = 8  # an input read again so many operations later is drawn again there
_CHARACTER, _ROW, _PAD = 6.65, 14.0, 7.0  # of the font below, in pixels
_LONGEST = 44  # characters of a row

# What a box is drawn as: its colours (inside, edge) and what it says of the operation.
KINDS = {
    "input": ("#f3f4f7", "#9aa2b1", "input"),
    "map": ("#e7f0fd", "#5b8bd0", "element by element"),
    "reduce": ("#fdf0dd", "#d29a3a", "sum, maximum or the like along axes"),
    "product": ("#e2f4e5", "#4f9d5d", "matrix product or convolution"),
    "alias": ("#ffffff", "#9aa2b1", "another shape of the same memory, no work"),
    "host": ("#fde6e6", "#cc5b5b", "runs in numpy"),
    "loop": ("#e7f0fd", "#5b8bd0", "kernel: loops over elements"),
    "group": ("#e7f0fd", "#5b8bd0", "kernels that run at once"),
    "recurrence": ("#e2f4f4", "#4a9a9a", "a step that is repeated along a sequence"),
    "other": ("#f1ecfa", "#8b72c0", "written out of simpler operations, or another kind"),
    "folded": ("#f1ecfa", "#8b72c0", "several operations"),
}
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLE = f"""
.drawing text {{ font: 11px {FONT}; fill: #20242f; white-space: pre; }}
.drawing .title {{ font-size: 14px; font-weight: bold; }}
.drawing .soft {{ fill: #6d7485; }}
.drawing .head {{ font-weight: bold; }}
.drawing .edge {{ fill: none; stroke: #aab1bf; stroke-width: 1.1; }}
.drawing .box rect {{ stroke-width: 1.1; }}
.drawing .out rect {{ stroke-width: 2.4; }}
"""


@dataclass
class Box:
    """A box of a picture.

    Attributes:
        rows: what stands in it, the first in bold, those that start with a space in grey.
        kind: of KINDS.
        tip: what is shown when the mouse rests on it.
        lines: the user's lines behind it.
        out: whether something in it leaves the graph.
    """

    rows: list[str]
    kind: str
    tip: str = ""
    lines: tuple[tuple[str, int], ...] = ()
    out: bool = False


@dataclass
class Picture:
    """Boxes and what joins them.

    Attributes:
        title: above the drawing. note: below it, for what the reader should know.
        edges: from the first box to the second, with what passes there.
    """

    title: str
    boxes: list[Box] = field(default_factory=list)
    edges: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    note: str = ""

    def join(self, a: int, b: int, what: str) -> None:
        passing = self.edges.setdefault((a, b), [])
        if what not in passing:
            passing.append(what)


def place_of(line: tuple[str, int] | None) -> str:
    return f"{os.path.basename(line[0])}:{line[1]}" if line else ""


def kind_of(node: Node) -> str:
    """What the operator alone tells."""
    return "map" if getattr(node.op, "pointwise", False) or not node.inputs else "other"


def is_number(node: Node) -> bool:
    """Whether a node is a number, which is drawn where it is read."""
    return not node.inputs and not node.op.effect and "value" in node.op.attributes()


def picture(
    graph: Graph,
    title: str = "",
    kind: Callable[[Node], str] = kind_of,
    outputs: Sequence[str] = (),
    limit: int | None = LIMIT,
) -> Picture:
    """The picture of a graph.

    Args:
        title: above the drawing; the graph's name by default.
        kind: of KINDS, for each node.
        outputs: names of the graph's outputs, as far as known.
        limit: boxes for operations; more operations are folded. None for all.
    """
    drawn = Picture(title or graph.name)
    results = set(graph.outputs)
    numbers = {v: n for n in graph.nodes if is_number(n) and n.outputs[0] not in results for v in n.outputs}
    nodes = [n for n in graph.nodes if n.outputs[0] not in numbers]
    groups = fold(nodes, limit)
    names = output_names(graph, outputs)
    home: dict[Value, int] = {}
    chips: dict[Value, tuple[int, int]] = {}  # an input's last box, and where it was read last
    at = 0
    for group in groups:
        inside = {v for n in group for v in n.outputs}
        reads = dict.fromkeys(v for n in group for v in n.inputs if v not in inside and v not in numbers)
        fresh = [v for v in reads if v.node is None and (v not in chips or at - chips[v][1] > FAR)]
        if len(group) > 1 and len(fresh) > 2:
            chips.update((v, (len(drawn.boxes), at)) for v in fresh)
            drawn.boxes.append(inputs_box(graph, fresh, names))
            fresh = []
        for v in fresh:
            chips[v] = (len(drawn.boxes), at)
            drawn.boxes.append(input_box(graph, v, names))
        here = len(drawn.boxes)
        if len(group) == 1:
            drawn.boxes.append(node_box(group[0], kind(group[0]), numbers, names))
        else:
            drawn.boxes.append(folded_box(group, names))
        for v in reads:
            if v.node is None:
                chips[v] = (chips[v][0], at)
            drawn.join(chips[v][0] if v.node is None else home[v], here, str(v.type))
        home.update((v, here) for v in inside)
        at += len(group)
    for v in graph.inputs:
        if v not in chips and v in results:
            drawn.boxes.append(input_box(graph, v, names))
    if len(groups) < len(nodes):
        drawn.note = (
            f"{len(nodes):,} operations in {len(groups)} boxes, folded by the line that made them; "
            "limit=None draws each."
        )
    return drawn


def output_names(graph: Graph, outputs: Sequence[str]) -> dict[Value, str]:
    """What is said of values that leave the graph."""
    names: dict[Value, str] = {}
    for i, v in enumerate(graph.outputs):
        told = outputs[i] if i < len(outputs) and outputs[i] else f"output {i}"
        names[v] = f"{names[v]}, {told}" if v in names else told
    return names


def fold(nodes: Sequence[Node], limit: int | None) -> list[list[Node]]:
    """Runs of nodes, at most `limit`: cut where the user's line changes, and the longest runs again.

    Runs of an order in which values are made before they are used depend on each other in that order alone.
    """
    if limit is None or len(nodes) <= limit:
        return [[n] for n in nodes]
    runs = [list(run) for _, run in itertools.groupby(nodes, key=lambda n: n.line)]
    if len(runs) >= limit:
        return parts(list(nodes), limit)
    spare, rest = limit - len(runs), max(1, len(nodes) - len(runs))
    return [p for run in runs for p in parts(run, 1 + spare * (len(run) - 1) // rest)]


def parts(run: list[Node], count: int) -> list[list[Node]]:
    """A run cut into as many parts of about the same length."""
    count = max(1, min(count, len(run)))
    ends = [len(run) * (i + 1) // count for i in range(count)]
    return [run[a:b] for a, b in zip([0, *ends], ends)]


def short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def input_box(graph: Graph, v: Value, names: dict[Value, str]) -> Box:
    rows = [v.name or f"input {v.index}", str(v.type)]
    if v in names:
        rows.append(f"→ {names[v]}")
    return Box(rows, "input", f"{rows[0]}: {v.type}", out=v in names)


def inputs_box(graph: Graph, values: Sequence[Value], names: dict[Value, str]) -> Box:
    """Inputs that are first read by the same folded operations."""
    rows = [f"{len(values)} inputs", *(f" {v.name or f'input {v.index}'}" for v in values[:4])]
    rows += [f" and {len(values) - 4} more"] if len(values) > 4 else []
    tip = "\n".join(f"{v.name or f'input {v.index}'}: {v.type}" for v in values)
    return Box(rows, "input", tip, out=any(v in names for v in values))


def node_box(node: Node, kind: str, numbers: dict[Value, Node], names: dict[Value, str]) -> Box:
    head = node.op.name
    if any(v in numbers for v in node.inputs):
        head += f"({', '.join(f'{number(numbers[v])}' if v in numbers else '·' for v in node.inputs)})"
    rows = [head]
    told = attributes_of(node.op)
    if told:
        rows.append(" " + told)
    for g in inner_graphs(node):
        rows += ["each step:", *counted(n.op.name for n in g.nodes if not is_number(n))]
    rows += [str(v.type) for v in node.outputs[:3]]
    if node.line:
        rows.append(" " + place_of(node.line))
    rows += [f"→ {names[v]}" for v in node.outputs if v in names]
    lines = (node.line,) if node.line else ()
    return Box(rows, kind, tip_of(node), lines, any(v in names for v in node.outputs))


def attributes_of(op: Any) -> str:
    """The attributes of an operator that are not its defaults, and no graphs."""
    told = op.attributes().items()
    return ", ".join(f"{k}={a}" for k, a in told if a != type(op).fields.get(k) and not isinstance(a, Body))


def number(node: Node) -> str:
    value = node.op.attributes()["value"]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tip_of(node: Node) -> str:
    types = ", ".join(str(v.type) for v in node.inputs)
    line = f"\n{node.line[0]}:{node.line[1]}" if node.line else ""
    return f"{node.op!r}({types}) : {', '.join(str(v.type) for v in node.outputs)}{line}"


def folded_box(group: Sequence[Node], names: dict[Value, str]) -> Box:
    lines = tuple(dict.fromkeys(n.line for n in group if n.line))
    rows = [f"{len(group)} operations", *counted(n.op.name for n in group)]
    if lines:
        rows.append(" " + place_of(lines[0]) + (f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""))
    told = [names[v] for n in group for v in n.outputs if v in names]
    rows += [f"→ {short(', '.join(told))}"] if told else []
    tips = [tip_of(n).replace("\n", "  # ") for n in group[:40]]
    if len(group) > 40:
        tips.append(f"and {len(group) - 40} more")
    return Box(rows, "folded", "\n".join(tips), lines, bool(told))


def counted(names: Iterable[str], most: int = 6) -> list[str]:
    """Rows that tell how often each name occurs, the most frequent first."""
    counts = Counter(names)
    words = [f"{k} ×{c}" if c > 1 else k for k, c in counts.most_common(most)]
    return wrapped([*words, "…"] if len(counts) > most else words)


def wrapped(words: Iterable[str]) -> list[str]:
    """Words joined to rows of a readable length."""
    rows: list[str] = []
    for w in words:
        if rows and len(rows[-1]) + len(w) + 2 <= 30:
            rows[-1] += f", {w}"
        else:
            rows.append(w)
    return rows


# ---- SVG --------------------------------------------------------------------------------------
def svg(drawn: Picture, alone: bool = True) -> str:
    """The picture as SVG.

    Args:
        alone: with style and background, as a file; False for a part of a page that has STYLE.
    """
    sizes = []
    for box in drawn.boxes:
        box.rows = [short(r) for r in box.rows]
        sizes.append((max(map(len, box.rows)) * _CHARACTER + 2 * _PAD, len(box.rows) * _ROW + 2 * _PAD - 3))
    layout = lay_out(sizes, list(drawn.edges))
    margin, top = 16.0, 40.0
    legend = [k for k in KINDS if any(b.kind == k for b in drawn.boxes)]
    below = [*([drawn.note] if drawn.note else []), *([] if drawn.boxes else ["nothing is computed here"])]
    width = max(layout.width, 420.0, len(drawn.title) * 8.5, *(len(n) * _CHARACTER for n in below)) + 2 * margin
    height = top + layout.height + margin + _ROW * (len(legend) + len(below) + 1)
    body = [f'<text class="title" x="{margin}" y="22">{escape(drawn.title)}</text>']
    left = (width - layout.width) / 2
    body.append(f'<g transform="translate({left:.1f},{top})">')
    for ((a, b), what), points in zip(drawn.edges.items(), layout.lines):
        body.append(
            f'<path class="edge" data-a="{a}" data-b="{b}" d="{curve(points)}">'
            f"<title>{escape(', '.join(what))}</title></path>"
        )
    for i, (box, size, at) in enumerate(zip(drawn.boxes, sizes, layout.boxes)):
        body.append(box_svg(i, box, size, at))
    body.append("</g>")
    y = top + layout.height + margin + 6
    for text in below:
        body.append(f'<text x="{margin}" y="{y:.1f}">{escape(text)}</text>')
        y += _ROW
    for k in legend:
        fill, stroke, words = KINDS[k]
        body.append(
            f'<rect x="{margin}" y="{y - 9:.1f}" width="14" height="10" rx="2" fill="{fill}" stroke="{stroke}"/>'
            f'<text class="soft" x="{margin + 20}" y="{y:.1f}">{words}</text>'
        )
        y += _ROW
    return document("\n".join(body), width, height, alone)


def document(body: str, width: float, height: float, alone: bool) -> str:
    style = f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#ffffff"/>' if alone else ""
    return (
        f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" preserveAspectRatio="xMidYMin meet">'
        f"{style}\n{body}\n</svg>\n"
    )


def box_svg(i: int, box: Box, size: tuple[float, float], at: tuple[float, float]) -> str:
    fill, stroke, _ = KINDS[box.kind]
    keys = quoteattr(" ".join(place_of(line) for line in box.lines))
    dashed = ' stroke-dasharray="4 3"' if box.kind == "alias" else ""
    round_ = 11 if box.kind == "input" else 4
    out = [
        f'<g class="box{" out" if box.out else ""}" data-i="{i}" data-lines={keys} '
        f'transform="translate({at[0]:.1f},{at[1]:.1f})"><title>{escape(box.tip)}</title>'
        f'<rect width="{size[0]:.1f}" height="{size[1]:.1f}" rx="{round_}" fill="{fill}" stroke="{stroke}"{dashed}/>'
    ]
    for k, row in enumerate(box.rows):
        style = ' class="head"' if k == 0 else ' class="soft"' if row.startswith(" ") else ""
        out.append(f'<text{style} x="{_PAD}" y="{_PAD + 9 + k * _ROW:.1f}">{escape(row.strip())}</text>')
    return "".join(out) + "</g>"


def curve(points: Sequence[tuple[float, float]]) -> str:
    """A smooth line through points, upright at each."""
    x, y = points[0]
    out = [f"M{x:.1f} {y:.1f}"]
    for u, v in points[1:]:
        middle = (y + v) / 2
        out.append(f"L{u:.1f} {v:.1f}" if u == x else f"C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {v:.1f}")
        x, y = u, v
    return "".join(out)
