"""What is cheap to compute again is not kept from the forward pass to the backward pass.

A training holds most memory when its backward pass begins. An activation that was made from a value that is kept
anyway, as the output of a convolution is for its batch norm, is made again from that, just before it is needed again.
The same operations on the same numbers give the same bits. See docs/decisions/recomputation.md.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from .. import flags
from ..ir.graph import Graph, Node, Value
from ..ops.elementwise import Detach
from ..ops.number import Constant
from ..ops.random import RandomUniform
from ..ops.shape import BroadcastTo, Pad, Reshape, Transpose
from .expr import compute_type
from .values import supports

LEAST_BYTES = 1 << 18  # of a value that is not kept
GAP = 48  # nodes between two uses, at least; kernels that are nearer may be one
SMALL = 16  # what is so many times smaller may be kept for the sake of a value
MOST_NODES = 16  # computed again for one value
MOST_LARGE = 2  # large values that one is computed again from
COSTLY = frozenset({"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "pow",
                    "normal_cdf", "gelu", "sigmoid", "silu", "softplus", "mish", "lgamma"})  # fmt: skip


@dataclass
class Again:
    """A value that is computed again.

    Attributes:
        nodes: what is computed, in order. before: the node, by number, before which it is needed.
    """

    value: Value
    nodes: list[Node]
    before: int


def recomputed(graph: Graph) -> Graph:
    """The graph with activations computed again before the backward pass needs them."""
    if flags.get("FLAGS_recompute") == "never":
        return graph
    found = choose(graph)
    if not found:
        return graph
    at: dict[int, list[Again]] = {}
    for x in found:
        at.setdefault(x.before, []).append(x)
    place = {n: i for i, n in enumerate(graph.nodes)}
    new = Graph(graph.name)
    env: dict[Value, Value] = {v: new.input(v.type, v.name) for v in graph.inputs}
    copies: dict[Value, Value] = {}
    for node in graph.nodes:
        for x in at.get(place[node], ()):
            for n in x.nodes:
                if n.outputs[0] not in copies:
                    inputs = [copies.get(v, env[v]) for v in n.inputs]
                    (copies[n.outputs[0]],) = new.add(n.op, inputs, n.line, (n.outputs[0].type,))
            env[x.value] = copies[x.value]
        outputs = new.add(node.op, [env[v] for v in node.inputs], node.line, tuple(v.type for v in node.outputs))
        new.nodes[-1].graphs = node.graphs
        env.update(zip(node.outputs, outputs))
    new.outputs = [env[v] for v in graph.outputs]
    return new


def choose(graph: Graph) -> list[Again]:
    """The values that are computed again."""
    if len(graph.nodes) < 2 * GAP:
        return []
    place = {n: i for i, n in enumerate(graph.nodes)}
    uses: dict[Value, list[int]] = {}
    for i, node in enumerate(graph.nodes):
        for v in dict.fromkeys(node.inputs):
            uses.setdefault(v, []).append(i)
    end = len(graph.nodes)
    for v in graph.outputs:
        uses.setdefault(v, []).append(end)
    last = {v: at[-1] for v, at in uses.items()}
    found: list[Again] = []
    again: dict[Value, Again] = {}
    for node in graph.nodes:
        v = node.outputs[0]
        if len(node.outputs) > 1 or v.type.nbytes < LEAST_BYTES or not cheap(node):
            continue
        known = uses.get(v, [])
        late = first_late(place[node], known)
        if late is None or known[-1] == end:
            continue
        nodes = chain(v, known[-1], last, again, place)
        if nodes is None:
            continue
        again[v] = Again(v, nodes, late)
        found.append(again[v])
        last[v] = known[bisect.bisect_left(known, late) - 1] if known[0] < late else place[node]
        for n in nodes:
            for x in n.inputs:
                if x.node not in nodes:
                    last[x] = max(last.get(x, -1), known[-1])
    return found


def cheap(node: Node) -> bool:
    """Whether a node is a few operations for each element, with the same bits in whichever kernel."""
    op, kind = node.op, node.outputs[0].dtype
    if op.effect or op.name in COSTLY or isinstance(op, Constant):
        return False
    if not supports(kind) or compute_type(kind) is not kind:
        return False  # 16-bit floats are rounded when they are stored, so what is stored shows in the bits
    return bool(op.pointwise and op.loops) or isinstance(
        op, (Pad, Transpose, BroadcastTo, Reshape, Detach, RandomUniform)
    )


def first_late(made: int, uses: list[int]) -> int | None:
    """The first use after the longest time without one, if that is long."""
    best, late, before = GAP, None, made
    for at in uses:
        if at - before > best:
            best, late = at - before, at
        before = at
    return late


def chain(
    v: Value, until: int, last: dict[Value, int], again: dict[Value, Again], place: dict[Node, int]
) -> list[Node] | None:
    """The nodes that make v of what is kept till then, None where that is too much."""
    nodes: dict[Node, None] = {}
    large: set[Value] = set()

    def visit(x: Value) -> bool:
        node = x.node
        if x is not v and not (node is not None and isinstance(node.op, Constant)):
            if x.type.nbytes * SMALL <= v.type.nbytes:
                return True
            if last.get(x, -1) >= until and x not in again:
                large.add(x)
                return len(large) <= MOST_LARGE
        if node is None or len(node.outputs) > 1 or not (cheap(node) or isinstance(node.op, Constant)):
            return False
        if node not in nodes:
            if not all(map(visit, node.inputs)):
                return False
            nodes[node] = None
        return len(nodes) <= MOST_NODES

    if not visit(v):
        return None
    return sorted(nodes, key=place.__getitem__)
