"""Sums over the same axes: what differs by a factor is taken once; mean and variance are found side by side."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from .. import types
from ..ir.graph import Graph, Node, Value
from ..ops import elementwise as ew
from ..ops.convolution import Conv
from ..ops.creation import Full
from ..ops.linalg import MatMul
from ..ops.reduction import Sum
from ..ops.shape import Reshape
from .simplify import number

Key = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class _Scaled:
    """A sum of products of some factors.

    Attributes:
        key: equal where the sums are over the same axes and have the same factors that vary along them.
        kept: shape of the result, with 1 in place of the axes.
        steady: factors that do not vary along the axes, by number.
    """

    key: Key
    kept: tuple[int, ...]
    steady: Counter[Value]


def share_sums(graph: Graph) -> Graph:
    """sum(x), sum(x * f)  ->  s = sum(x), s * f, where f does not vary along the axes.

    The gradient of a scaled normalization has such pairs. A sum alone stays as it is: the products with its factor may
    be finite where the sum of the rest is not.
    """
    found = {node: s for node in graph.nodes if (s := scaled(node)) is not None}
    if max(Counter(s.key for s in found.values()).values(), default=0) < 2:
        return graph
    env: dict[Value, Value] = {}
    made: dict[Key, list[tuple[Counter[Value], Value]]] = {}

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        env.update(zip(node.inputs, inputs))
        s = found.get(node)
        if s is None:
            return None
        add = lambda op, *values: new.add(op, values, node.line)[0]
        others = made.setdefault(s.key, [])
        out = next((out for steady, out in others if steady <= s.steady), None)
        if out is None:
            out = add(node.op, *inputs)
            others.append((s.steady, out))
            return (out,)
        before = next(steady for steady, x in others if x is out)
        shape = node.outputs[0].shape
        more = list((s.steady - before).elements())
        if more:
            out = out if out.shape == s.kept else add(Reshape(s.kept), out)
            for v in more:
                out = add(ew.multiply, out, env[v])
        return (out if out.shape == shape else add(Reshape(shape), out),)

    return graph.rebuild(visit)


def scaled(node: Node) -> _Scaled | None:
    """A sum of products, by the factors that it is made of."""
    x = node.inputs[0] if isinstance(node.op, Sum) else None
    if x is None or x.dtype not in (types.float32, types.float64) or not x.type.size:
        return None
    axes = node.op.axes
    varying: list[Value] = []
    steady: list[Value] = []
    for v in factors(x):
        before = x.ndim - v.ndim
        changes = any(a >= before and v.shape[a - before] != 1 for a in axes)
        (varying if changes else steady).append(v)
    if not any(v.shape == x.shape for v in varying):
        return None
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return _Scaled((axes, x.shape, tuple(sorted(map(id, varying)))), kept, Counter(steady))


def factors(x: Value) -> list[Value]:
    """What is multiplied to give x."""
    if x.node is None or x.node.op is not ew.multiply:
        return [x]
    return [f for v in x.node.inputs for f in factors(v)]


# ---- mean and variance ------------------------------------------------------------------------
PASSED = 4  # operators between a product and its statistics


def moments(graph: Graph) -> Graph:
    """sum(x), sum((x - sum(x) / n)^2)  ->  s = sum(wide x), s and sum((wide x)^2) - s^2 / n, for float32.

    This is done to what follows a product, where the product can add up both while it stores x. Squares of float32
    are exact in float64, so the difference is as close as that of rounded numbers from their rounded mean.
    """
    pairs = {node: pair for node in graph.nodes if (pair := centred(node)) is not None}
    if not pairs:
        return graph
    firsts = {mean for mean, _ in pairs.values()}
    wide: dict[Node, tuple[Value, Value]] = {}

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        add = lambda op, *values: new.add(op, values, node.line)[0]
        if node in firsts:
            x = add(ew.Cast(types.float64), inputs[0])
            total = add(node.op, x)
            wide[node] = x, total
            return (add(ew.Cast(types.float32), total),)
        if node not in pairs:
            return None
        mean, n = pairs[node]
        x, total = wide[mean]
        constant = lambda value: add(Full((), float(value), types.float64))
        squares = add(Sum(node.op.axes, True), add(ew.multiply, x, x))
        rest = add(ew.subtract, squares, add(ew.divide, add(ew.multiply, total, total), constant(n)))
        out = add(ew.Cast(types.float32), add(ew.maximum, rest, constant(0)))
        shape = node.outputs[0].shape
        return (out if out.shape == shape else add(Reshape(shape), out),)

    return graph.rebuild(visit)


def centred(node: Node) -> tuple[Node, int] | None:
    """For a sum of squared differences from the mean: the sum that the mean comes from, and of how many."""
    square = node.inputs[0].node if isinstance(node.op, Sum) else None
    if square is None or square.op is not ew.multiply or square.inputs[0] is not square.inputs[1]:
        return None
    difference = square.inputs[0].node
    if difference is None or difference.op is not ew.subtract:
        return None
    x, mean = difference.inputs
    quotient = mean.node
    if x.dtype is not types.float32 or quotient is None or quotient.op is not ew.divide or not x.type.size:
        return None
    first = quotient.inputs[0].node
    if first is None or first.op != Sum(node.op.axes, True) or first.inputs[0] is not x:
        return None
    count = math.prod(x.shape[a] for a in node.op.axes)
    left = [n for i, n in enumerate(x.shape) if i not in node.op.axes and n != 1]
    if number(quotient.inputs[1]) != count or len(left) != 1 or not follows_a_product(x):
        return None
    return first, count


def follows_a_product(x: Value) -> bool:
    """Whether x is a product, but for what is done to each element."""
    for _ in range(PASSED):
        if x.node is None or isinstance(x.node.op, (Conv, MatMul)):
            return x.node is not None
        if not (x.node.op.pointwise or isinstance(x.node.op, Reshape)):
            return False
        x = max(x.node.inputs, key=lambda v: v.type.size, default=x)
    return False
