"""Graph to graph, without changing any result: fold, merge equals, drop the needless."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Graph, Node, Value
from ..ops import elementwise as ew
from ..ops.creation import Full
from ..ops.number import Constant
from ..ops.registry import expand
from ..ops.shape import BroadcastTo, Reshape, Transpose


class _Written(Graph):
    """A graph into which compositions without a loop form are written out, down to primitives."""

    line: Any = None

    def add(self, op: Any, inputs: Any, line: Any = None, types: Any = None) -> tuple[Value, ...]:
        if op.compose and not op.loops:
            return expand(op, *inputs)
        return super().add(op, inputs, line or self.line, types)


def decompose(graph: Graph) -> Graph:
    """Compositions without a loop form are written out, down to primitives."""
    if not any(n.op.compose and not n.op.loops for n in graph.nodes):
        return graph
    new = _Written(graph.name)
    env: dict[Value, Value] = {v: new.input(v.type, v.name) for v in graph.inputs}
    for node in graph.nodes:
        new.line = node.line
        inputs = [env[v] for v in node.inputs]
        env.update(zip(node.outputs, new.add(node.op, inputs, node.line, tuple(v.type for v in node.outputs))))
    new.outputs = [env[v] for v in graph.outputs]
    new.drop_unused()
    return new


def simplify(graph: Graph) -> Graph:
    """Algebraic identities that are exact, and one node for equal ones."""
    known: dict[Any, tuple[Value, ...]] = {}

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        same = identity(node, inputs)
        if same is not None:
            return (same,)
        folded = fold(new, node, inputs)
        if folded is not None:
            return folded
        op = node.op
        if isinstance(op, (Reshape, Transpose)) and inputs[0].node is not None and type(inputs[0].node.op) is type(op):
            source = inputs[0].node
            if isinstance(op, Transpose):
                op = Transpose(tuple(source.op.perm[p] for p in op.perm))
            inputs = source.inputs
            if isinstance(op, Reshape) and inputs[0].shape == op.shape:
                return (inputs[0],)
            if isinstance(op, Transpose) and op.perm == tuple(range(len(op.perm))):
                return (inputs[0],)
        key = (op, inputs)
        if not op.effect:
            got = known.get(key)
            if got is None:
                got = known[key] = new.add(op, inputs, node.line, tuple(v.type for v in node.outputs))
            return got
        return None

    return graph.rebuild(visit)


def identity(node: Node, inputs: tuple[Value, ...]) -> Value | None:
    """The argument that the node gives back unchanged, if it does."""
    op = node.op
    out = node.outputs[0]
    if isinstance(op, ew.Detach):
        return inputs[0]
    if isinstance(op, ew.Cast) and inputs[0].dtype is out.dtype:
        return inputs[0]
    if isinstance(op, (Reshape, BroadcastTo)) and inputs[0].shape == out.shape:
        return inputs[0]
    if isinstance(op, Transpose) and op.perm == tuple(range(len(op.perm))):
        return inputs[0]
    if op in (ew.multiply, ew.divide):
        for i, j in ((0, 1), (1, 0)):
            if number(inputs[j]) == 1 and inputs[i].type is out.type and (op is ew.multiply or j == 1):
                return inputs[i]
    return None


def number(v: Value) -> Any:
    """The one number that all elements of v are, if the graph says so."""
    while v.node is not None and isinstance(v.node.op, (BroadcastTo, Reshape, Transpose)):
        v = v.node.inputs[0]
    if v.node is not None and isinstance(v.node.op, (Constant, Full)):
        return v.node.op.value
    return None


def fold(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Element-wise operators of constants become constants."""
    op = node.op
    if not inputs or len(node.outputs) != 1 or not op.numpy:
        return None
    if isinstance(op, (BroadcastTo, Reshape, Transpose)) and number(inputs[0]) is not None:
        return new.add(Full(node.outputs[0].shape, number(inputs[0]), inputs[0].dtype), (), node.line)
    if not getattr(op, "pointwise", False) or any(number(v) is None for v in inputs):
        return None
    if node.outputs[0].dtype.kind == "c" or any(v.dtype.kind == "c" for v in inputs):
        return None
    with np.errstate(all="ignore"):
        value = op.numpy(*(np.asarray(number(v)).astype(v.dtype.np) for v in inputs))
    return new.add(Full(node.outputs[0].shape, np.asarray(value).item(), node.outputs[0].dtype), (), node.line)
