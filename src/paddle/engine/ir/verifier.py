"""Checks that a graph is well formed."""

from __future__ import annotations

from .graph import Graph, Value


class Malformed(AssertionError):
    """A graph breaks a rule; the message names the node and the rule."""


def verify(graph: Graph, outer: frozenset[Value] = frozenset()) -> None:
    """Checks a graph and the graphs inside its nodes.

    Every value is made once and before it is used, belongs to the graph, and has the type that its operator infers.
    Nested graphs may read values of the graphs around them that are made before.

    Raises:
        Malformed: a rule is broken.
    """
    known: set[Value] = set(outer)
    for i, v in enumerate(graph.inputs):
        if v.node is not None or v.index != i or v.graph is not graph:
            raise Malformed(f"{graph.name}: input {i} is not an input of this graph: {v!r}")
        if v in known:
            raise Malformed(f"{graph.name}: input {i} appears twice")
        known.add(v)
    for at, node in enumerate(graph.nodes):
        where = f"{graph.name}, node {at}, {node.op!r}"
        for v in node.inputs:
            if v not in known:
                raise Malformed(f"{where}: reads {v!r} before it is made, or from another graph")
        for g in node.graphs:
            verify(g, frozenset(known))
        for i, v in enumerate(node.outputs):
            if v.node is not node or v.index != i or v.graph is not graph:
                raise Malformed(f"{where}: output {i} does not name this node as its maker")
            if v in known:
                raise Malformed(f"{where}: output {i} is made twice")
            known.add(v)
        if node.op.infer:
            types = node.op.infer_types(*(v.type for v in node.inputs))
            if types != tuple(v.type for v in node.outputs):
                raise Malformed(f"{where}: has types {[v.type for v in node.outputs]}, infers {list(types)}")
    for v in graph.outputs:
        if v not in known:
            raise Malformed(f"{graph.name}: returns {v!r}, which it does not make")
