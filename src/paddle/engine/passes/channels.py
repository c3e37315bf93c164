"""What scales and shifts a value by constants becomes one multiply-add; after a convolution, part of its kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .. import types
from ..ir.graph import Graph, Node, Value
from ..ops import elementwise as ew
from ..ops.convolution import Conv
from ..ops.shape import Reshape

Add = Callable[..., Value]


@dataclass(frozen=True)
class _Affine:
    """base * scale + shift, where scale and shift are constant.

    Attributes:
        alone: nobody else reads base. node: what makes it as it was written, if that is a single step.
    """

    base: Value
    alone: bool
    scale: Value | None = None
    shift: Value | None = None
    node: Node | None = None


def fold_channels(graph: Graph, fixed: set[Value]) -> Graph:
    """(conv(x, w) - mean) * factor + bias  ->  conv(x, w * factor) + (bias - mean * factor), for constant vectors.

    The rounding is another one, of the same size as that of the product. fixed: the values that are constant.
    """
    readers, outputs = graph.users(), set(graph.outputs)
    alone = {v for v, nodes in readers.items() if len(nodes) == 1 and nodes[0].inputs.count(v) == 1} - outputs
    new = Graph(graph.name)
    env: dict[Value, Value] = {v: new.input(v.type, v.name) for v in graph.inputs}
    constant = {env[v] for v in graph.inputs if v in fixed}
    pending: dict[Value, _Affine] = {}  # values that are not written down yet

    def written(v: Value) -> Value:
        if v not in env:
            env[v] = write(v, pending.pop(v))
        return env[v]

    def write(v: Value, x: _Affine) -> Value:
        assert v.node is not None
        add = adder(v.node.line)
        base, scale = x.base, x.scale
        into = None if scale is None or not x.alone else into_kernel(add, base, scale, constant)
        if into is not None:
            base, scale = into, None
        elif x.node is not None:
            return new.add(x.node.op, [env[i] for i in x.node.inputs], x.node.line, (v.type,))[0]
        base = base if scale is None else add(ew.multiply, base, scale)
        return base if x.shift is None else add(ew.add, base, x.shift)

    def adder(line: Any) -> Add:
        return lambda op, *inputs: new.add(op, inputs, line)[0]

    for node in graph.nodes:
        pair = step_of(node, fixed)
        if pair is None:
            inputs = tuple(written(v) for v in node.inputs)
            made = new.add(node.op, inputs, node.line, tuple(v.type for v in node.outputs))
            new.nodes[-1].graphs = node.graphs
            env.update(zip(node.outputs, made))
            constant.update(m for v, m in zip(node.outputs, made) if v in fixed)
            continue
        y, f = pair
        after = None
        if y in pending and y in alone:
            after = extended(adder(node.line), node, pending[y], env[f])
        if after is not None:
            del pending[y]
        else:
            inner = y.node.inputs[0] if y.node is not None and isinstance(y.node.op, Reshape) else y
            start = _Affine(written(y), y in alone and inner in alone)
            after = extended(adder(node.line), node, start, env[f])
            assert after is not None
            after = replace(after, node=node)
        pending[node.outputs[0]] = after
    new.outputs = [written(v) for v in graph.outputs]
    new.drop_unused()
    return new


def step_of(node: Node, fixed: set[Value]) -> tuple[Value, Value] | None:
    """(value, constant), if the node adds a constant to a value, takes it off, or multiplies by it."""
    if node.op not in (ew.add, ew.subtract, ew.multiply) or node.outputs[0].dtype not in (types.float32, types.float64):
        return None
    y, f = node.inputs
    if y in fixed and node.op is not ew.subtract:
        y, f = f, y
    fits = y.type is node.outputs[0].type and f.dtype is y.dtype and f.type.size <= y.type.size
    return (y, f) if fits and f in fixed and y not in fixed else None


def extended(add: Add, node: Node, x: _Affine, f: Value) -> _Affine | None:
    """The value after one more step; None where its constants would grow."""
    if node.op is ew.multiply:
        parts = [f if x.scale is None else merged(add, ew.multiply, x.scale, f)]
        parts.append(None if x.shift is None else merged(add, ew.multiply, x.shift, f))
        grown = parts[0] is None or (parts[1] is None) != (x.shift is None)
        return None if grown else replace(x, scale=parts[0], shift=parts[1], node=None)
    if x.shift is None:
        return replace(x, shift=add(ew.negative, f) if node.op is ew.subtract else f, node=None)
    shift = merged(add, node.op, x.shift, f)
    return None if shift is None else replace(x, shift=shift, node=None)


def merged(add: Add, op: Any, a: Value, b: Value) -> Value | None:
    """op(a, b), if that is no larger than these."""
    size = math.prod(types.broadcast_shapes(a.shape, b.shape))
    return add(op, a, b) if size <= max(a.type.size, b.type.size) else None


def into_kernel(add: Add, base: Value, scale: Value, constant: set[Value]) -> Value | None:
    """base * scale with the scale in the kernel of the convolution that base comes from; None where that cannot be."""
    made = base
    if base.node is not None and isinstance(base.node.op, Reshape):
        made = base.node.inputs[0]
    conv = made.node
    if conv is None or not isinstance(conv.op, Conv) or conv.inputs[1] not in constant:
        return None
    (n, g, o, *rest), (x, w) = made.shape, conv.inputs
    if base is made or base.shape != (n, g * o, *rest) or w.dtype is not scale.dtype:
        return None
    shape = (1,) * (base.ndim - scale.ndim) + scale.shape
    if math.prod(shape) != shape[1] or shape[1] not in (1, g * o):
        return None
    ones = (1,) * (w.ndim - 2)
    factor = add(Reshape((g, o, *ones) if shape[1] > 1 else (1, 1, *ones)), scale)
    return add(Reshape(base.shape), add(conv.op, x, add(ew.multiply, w, factor)))
