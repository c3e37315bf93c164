"""Which order the axes of a value have in memory: channels last around convolutions, so that vectors run along them.

Loop forms speak of logical axes; only addresses know the order. A value that something outside the kernels reads (a
result, an argument of the host, a reshape that is more than unit axes) keeps its axes as they are.
"""

from __future__ import annotations

from ..ir.graph import Graph, Node, Value
from ..ops.convolution import Conv
from ..ops.elementwise import Copy, Detach
from ..ops.pooling import Windows
from ..ops.shape import Dilate, Pad, Reshape, Slice, Transpose
from ..ops.winograd import WinogradConv, WinogradGrad
from .values import supports

Order = tuple[int, ...]  # axes, outermost first

CHANNELS_LAST = (0, 3, 4, 1, 2)  # of a plane [N, G, C, H, W]
FEWEST = 32  # channels for which the change pays


def turn_weights(graph: Graph) -> Graph:
    """The graph with kernels of convolutions that come from outside copied, so that they can lie as it suits."""

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        w = node.inputs[1] if isinstance(node.op, Conv) else None
        if w is None or channels_last(node.outputs[0]) is None or w.type.size <= w.shape[1] * w.shape[2]:
            return None
        source = w
        while source.node is not None and isinstance(source.node.op, (Transpose, Reshape, Detach)):
            source = source.node.inputs[0]
        if source.node is not None:
            return None
        return new.add(node.op, (inputs[0], *new.add(Copy(), (inputs[1],), node.line)), node.line)

    return graph.rebuild(visit) if any(isinstance(n.op, Conv) for n in graph.nodes) else graph


def orders(graph: Graph) -> tuple[dict[Value, Order], set[Value]]:
    """The values whose axes are not in their own order, and those that are kept in memory for the sake of that."""
    if not any(isinstance(n.op, (Conv, WinogradConv, WinogradGrad)) for n in graph.nodes):
        return {}, set()
    fixed = plain_values(graph)
    found: dict[Value, Order] = {}
    kept: set[Value] = set()
    for node in graph.nodes:
        if isinstance(node.op, Conv):
            prefer_weight(node, fixed, found, kept)
        elif by_tiles(node):
            for v in node.inputs[: 1 if isinstance(node.op, WinogradConv) else 2]:
                prefer_channels(v, fixed, found)
        order = order_after(node, found)
        if order is not None and order != tuple(range(len(order))):
            for v in node.outputs:
                if v not in fixed and v.ndim == len(order):
                    found[v] = order
    return found, kept


def plain_values(graph: Graph) -> set[Value]:
    """Values that have to lie as their shape says."""
    fixed = {*graph.inputs, *graph.outputs}
    for node in reversed(graph.nodes):
        if isinstance(node.op, (Reshape, Detach)):
            v, out = node.inputs[0], node.outputs[0]
            if out in fixed or not same_but_for_units(v.shape, out.shape):
                fixed.update((v, out))
        elif runs_on_host(node):
            fixed.update((*node.inputs, *node.outputs))
    for node in graph.nodes:  # a buffer has one order, whatever its shape is called
        if isinstance(node.op, (Reshape, Detach)) and node.inputs[0] in fixed:
            fixed.add(node.outputs[0])
    return fixed


def runs_on_host(node: Node) -> bool:
    if by_tiles(node):
        return False
    return not node.op.loops or not all(supports(v.dtype) for v in (*node.inputs, *node.outputs))


def by_tiles(node: Node) -> bool:
    """Whether a node is a convolution, or the gradient of a kernel, that is computed by tiles."""
    return isinstance(node.op, (WinogradConv, WinogradGrad)) and all(v.type.size for v in node.inputs)


def same_but_for_units(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return [n for n in a if n != 1] == [n for n in b if n != 1]


def order_after(node: Node, found: dict[Value, Order]) -> Order | None:
    """The order that suits the results of a node."""
    op, out = node.op, node.outputs[0]
    if isinstance(op, Conv):
        return channels_last(out)
    if by_tiles(node):
        return CHANNELS_LAST
    source = max(
        (v for v in node.inputs if v in found and (v.ndim == out.ndim or isinstance(op, Reshape))),
        key=lambda v: v.type.size, default=None,
    )  # fmt: skip
    if source is None:
        return None
    order = found[source]
    if isinstance(op, Reshape):
        return through_reshape(source.shape, out.shape, order)
    if isinstance(op, Transpose):
        return tuple(op.perm.index(a) for a in order)
    if op.pointwise or isinstance(op, (Detach, Windows, Pad, Slice, Dilate)):
        return order
    return None


def channels_last(out: Value) -> Order | None:
    """The order of a convolution's result [N, G, O, *Z]."""
    if out.shape[1] * out.shape[2] < FEWEST:
        return None
    return (0, *range(3, out.ndim), 1, 2)


def through_reshape(a: tuple[int, ...], b: tuple[int, ...], order: Order) -> Order:
    """The order of a value under a shape with other unit axes."""
    place = dict(zip((i for i, n in enumerate(a) if n != 1), (j for j, n in enumerate(b) if n != 1)))
    return (*(j for j, n in enumerate(b) if n == 1), *(place[i] for i in order if i in place))


def prefer_weight(node: Node, fixed: set[Value], found: dict[Value, Order], kept: set[Value]) -> None:
    """A kernel [G, O, C, *K] that is made for a convolution is made with its output channels last."""
    v, axes = node.inputs[1], tuple(range(node.inputs[1].ndim))
    if channels_last(node.outputs[0]) is None:
        return
    while v.node is not None and isinstance(v.node.op, Transpose):
        axes = tuple(v.node.op.perm[a] for a in axes)
        v = v.node.inputs[0]
    if v.node is None or v in fixed or v in found or isinstance(v.node.op, (Reshape, Detach, Conv)):
        return
    wanted = (*range(3, v.ndim), 2, 0, 1)
    found[v] = tuple(axes[a] for a in wanted)
    kept.add(v)


def prefer_channels(v: Value, fixed: set[Value], found: dict[Value, Order]) -> None:
    """What a convolution by tiles reads is made with its channels last."""
    order: Order = CHANNELS_LAST
    wanted: dict[Value, Order] = {}
    while v not in fixed and v not in found:
        wanted[v] = order
        if v.node is None or not isinstance(v.node.op, (Reshape, Detach)):
            found.update(wanted)
            return
        source = v.node.inputs[0]
        order = through_reshape(v.shape, source.shape, order) if isinstance(v.node.op, Reshape) else order
        v = source
