"""Convolutions of 3 x 3 whose tiles are worth transforming."""

from __future__ import annotations

from .. import flags
from ..ir.graph import Graph, Node, Value
from ..ops.convolution import Conv
from ..ops.winograd import PAIRS, WinogradConv, WinogradWeights, block_of
from ..types import float32

FEWEST_INPUTS, FEWEST_OUTPUTS = 16, 32  # channels for which vectors along them are full
# What it costs, in multiply-adds, as measured:
BUSY = 1.15  # a product of short blocks, beside one of the direct convolution
DATA, SUMS = {2: 16.0, 4: 80.0}, {2: 16.0, 4: 80.0}  # a vector of a tile, transformed, of 32 each
WEIGHT = 60.0  # an element of transformed weights, made, written and read
READ = 25.0  # one that is only read, as it was made for many runs
GAIN = 0.85  # of the direct cost, for which the change pays


def transform_convolutions(graph: Graph, fixed: set[Value] | frozenset[Value] = frozenset()) -> Graph:
    """Conv(x, w)  ->  WinogradConv(x, WinogradWeights(w)), where that takes less time.

    fixed: values that are made once for many runs.
    """
    if not flags.get("FLAGS_winograd") or not any(isinstance(n.op, Conv) for n in graph.nodes):
        return graph

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        tile = tile_of(node, READ if fixed.intersection(node.inputs[1:]) else WEIGHT)
        if tile is None:
            return None
        x, w = inputs
        u = new.add(WinogradWeights(tile), (w,), node.line)
        return new.add(WinogradConv(tile, w.shape[1]), (x, *u), node.line)

    return graph.rebuild(visit)


def tile_of(node: Node, weight: float = WEIGHT) -> int | None:
    """The tile for a convolution; None where the direct way is better, or the only one."""
    if not isinstance(node.op, Conv) or node.op.strides != (1, 1) or node.op.dilations != (1, 1):
        return None
    x, w = (v.type for v in node.inputs)
    if x.dtype is not float32 or w.shape[0] != 1 or w.shape[3:] != (3, 3) or not x.size:
        return None
    outputs, inputs = w.shape[1:3]
    if inputs < FEWEST_INPUTS or outputs < FEWEST_OUTPUTS:
        return None
    sizes = x.shape[3] - 2, x.shape[4] - 2
    costs = {m: cost(m, x.shape[0], inputs, outputs, sizes, weight) for m in PAIRS}
    best = min(costs, key=lambda m: costs[m])
    return best if costs[best] < GAIN * 9 * x.shape[0] * sizes[0] * sizes[1] else None


def cost(m: int, n: int, inputs: int, outputs: int, sizes: tuple[int, int], weight: float = WEIGHT) -> float:
    """Multiply-adds for each pair of channels that a convolution by tiles is worth."""
    tiles = n * -(-sizes[0] // m) * -(-sizes[1] // m)
    wasted = -(-outputs // block_of(outputs)) * block_of(outputs) / outputs
    position = tiles * BUSY * wasted + weight
    return (m + 2) ** 2 * position + 2.0 * tiles * (DATA[m] / outputs + SUMS[m] / inputs)
