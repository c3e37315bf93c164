"""Graphs as text.

graph eager(%0: float32[64, 784], %1: float32[784, 128]) {
  %2 = matmul(%0, %1, transpose_x=False, transpose_y=False) : float32[64, 128]  # train.py:41
  return %2
}
"""

from __future__ import annotations

import os

from .body import Body
from .graph import Graph, Node, Value


def text(graph: Graph, lines: bool = True, indent: str = "") -> str:
    """The graph as text. lines: whether the user's lines are shown."""
    names: dict[Value, str] = {}

    def name(v: Value) -> str:
        if v not in names:
            names[v] = f"%{v.name}" if v.name and f"%{v.name}" not in names.values() else f"%{len(names)}"
        return names[v]

    arguments = ", ".join(f"{name(v)}: {v.type}" for v in graph.inputs)
    out = [f"{indent}graph {graph.name}({arguments}) {{"]
    for node in graph.nodes:
        results = ", ".join(name(v) for v in node.outputs)
        types = ", ".join(str(v.type) for v in node.outputs)
        parts = [*(name(v) for v in node.inputs), *(f"{k}={a!r}" for k, a in node.op.attributes().items())]
        line = f"  # {os.path.basename(node.line[0])}:{node.line[1]}" if lines and node.line else ""
        out.append(f"{indent}  {results} = {node.op.name}({', '.join(parts)}) : {types}{line}")
        out += [text(g, lines, indent + "    ") for g in inner_graphs(node)]
    out.append(f"{indent}  return {', '.join(name(v) for v in graph.outputs)}")
    out.append(f"{indent}}}")
    return "\n".join(out)


def inner_graphs(node: Node) -> list[Graph]:
    """The graphs inside a node: those of control flow, and what an operator repeats."""
    bodies = (a for a in node.op.attributes().values() if isinstance(a, Body))
    return [*node.graphs, *(g for b in bodies for g in list(b.graphs.values())[:1])]
