"""Convolutions of 3 x 3 whose tiles are worth transforming."""

from __future__ import annotations

from .. import flags
from ..ir.graph import Graph, Node, Value
from ..ops.convolution import Conv
from ..ops.registry import apply_to_values
from ..ops.shape import Transpose
from ..ops.winograd import PAIRS, WinogradConv, WinogradGrad, WinogradWeights, block_of
from ..types import float32

GRADIENT = (2, 1, 0, 3, 4), (2, 0, 1, 3, 4)  # what brings x and g of such a convolution back: [N, 1, C, H, W]
FEWEST_INPUTS, FEWEST_OUTPUTS = 16, 32  # channels for which vectors along them are full
# What it costs, in multiply-adds, as measured:
BUSY = 1.15  # a product of short blocks, beside one of the direct convolution
DATA, SUMS = {2: 16.0, 4: 80.0}, {2: 16.0, 4: 80.0}  # a vector of a tile, transformed, of 32 each
WEIGHT = 60.0  # an element of transformed weights, made, written and read
READ = 16.0  # one that is only read, as it was made for many runs
COPY = 45.0  # an element of weights, copied into the order that a direct convolution reads
TILE, PART = 55.0, 180.0  # of the gradient of a kernel: a tile, and what is made of the sums
GAIN = 0.85  # of the direct cost, for which the change pays


def transform_convolutions(graph: Graph, fixed: set[Value] | frozenset[Value] = frozenset()) -> Graph:
    """Conv(x, w)  ->  WinogradConv(x, WinogradWeights(w)), where that takes less time.

    Conv(transposed x, transposed g)  ->  WinogradGrad(x, g), if that is the gradient of a 3 x 3 kernel.

    fixed: values that are made once for many runs.
    """
    if not flags.get("FLAGS_winograd") or not any(isinstance(n.op, Conv) for n in graph.nodes):
        return graph

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        tile = tile_of(node, bool(fixed.intersection(node.inputs[1:])))
        if tile is None and is_gradient(node):
            x, g = (turned(v, perm) for v, perm in zip(inputs, GRADIENT))
            return new.add(WinogradGrad(), (x, g), node.line)
        if tile is None:
            return None
        x, w = inputs
        u = new.add(WinogradWeights(tile), (w,), node.line)
        return new.add(WinogradConv(tile, w.shape[1]), (x, *u), node.line)

    return graph.rebuild(visit)


def turned(v: Value, perm: tuple[int, ...]) -> Value:
    """The transpose of v; what v is the inverse transpose of, if it is one."""
    if v.node is not None and isinstance(v.node.op, Transpose):
        whole = tuple(v.node.op.perm[p] for p in perm)
        v, perm = v.node.inputs[0], whole
    return v if perm == tuple(range(v.ndim)) else apply_to_values(Transpose(perm), (v,))


def is_gradient(node: Node) -> bool:
    """Whether a convolution is the gradient of a 3 x 3 kernel, and better computed by tiles."""
    if not isinstance(node.op, Conv) or node.op.strides != (1, 1) or node.op.dilations != (1, 1):
        return False
    x, g = (v.type for v in node.inputs)
    if x.dtype is not float32 or g.shape[0] != 1 or node.outputs[0].shape[3:] != (3, 3) or not x.size or not g.size:
        return False
    inputs, outputs, n, sizes = x.shape[0], g.shape[1], x.shape[2], g.shape[3:]
    if inputs < FEWEST_INPUTS or outputs < FEWEST_OUTPUTS:
        return False
    tiles = n * -(-sizes[0] // 4) * -(-sizes[1] // 4)
    wasted = -(-outputs // block_of(outputs)) * block_of(outputs) / outputs
    return TILE * wasted * tiles + PART < GAIN * 9 * n * sizes[0] * sizes[1]


def tile_of(node: Node, fixed: bool = False) -> int | None:
    """The tile for a convolution; None where the direct way is better, or the only one.

    fixed: its weights are transformed, or copied, once for many runs.
    """
    if not isinstance(node.op, Conv) or node.op.strides != (1, 1) or node.op.dilations != (1, 1):
        return None
    x, w = (v.type for v in node.inputs)
    if x.dtype is not float32 or w.shape[0] != 1 or w.shape[3:] != (3, 3) or not x.size:
        return None
    outputs, inputs = w.shape[1:3]
    if inputs < FEWEST_INPUTS or outputs < FEWEST_OUTPUTS:
        return None
    sizes = x.shape[3] - 2, x.shape[4] - 2
    costs = {m: cost(m, x.shape[0], inputs, outputs, sizes, READ if fixed else WEIGHT) for m in PAIRS}
    best = min(costs, key=lambda m: costs[m])
    products = x.shape[0] * sizes[0] * sizes[1]
    return best if costs[best] < GAIN * 9 * (products + (0.0 if fixed else COPY)) else None


def cost(m: int, n: int, inputs: int, outputs: int, sizes: tuple[int, int], weight: float = WEIGHT) -> float:
    """Multiply-adds for each pair of channels that a convolution by tiles is worth."""
    tiles = n * -(-sizes[0] // m) * -(-sizes[1] // m)
    wasted = -(-outputs // block_of(outputs)) * block_of(outputs) / outputs
    position = tiles * BUSY * wasted + weight
    return (m + 2) ** 2 * position + 2.0 * tiles * (DATA[m] / outputs + SUMS[m] / inputs)
