"""Convolutions compute no more than is used of them."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.graph import Graph, Node, Value
from ..ops.convolution import Conv
from ..ops.shape import Pad, Reshape


def narrow_convolutions(graph: Graph) -> Graph:
    """Pad(-a, -b)(Conv(Pad(low, high)(x), w))  ->  Conv(Pad(low - a, high - b)(x), w), with steps of 1 where it cuts.

    Such is the gradient of an input that was padded: what would belong to the padding is cut off.
    """
    if not any(isinstance(n.op, Conv) for n in graph.nodes):
        return graph
    users, outputs = graph.users(), set(graph.outputs)
    cuts: dict[Node, Node] = {}  # by convolution, the node that cuts its result
    for node in graph.nodes:
        conv = cut_by(node, lambda v: len(users[v]) == 1 and v not in outputs)
        if conv is not None:
            cuts[conv] = node
    if not cuts:
        return graph
    done = set(cuts.values())

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if node in cuts:
            pad = node.inputs[0].node
            assert pad is not None and inputs[0].node is not None
            low, high = amounts(pad.op, cuts[node].op, len(node.op.strides))
            x = inputs[0].node.inputs
            if any((*low, *high)):
                x = new.add(Pad(low, high, pad.op.value), x, pad.line)
            return new.add(node.op, (*x, inputs[1]), node.line)
        if isinstance(node.op, Reshape) and node.inputs[0].node in cuts:
            return inputs  # the cut gives the shape
        if node in done:
            shape = node.outputs[0].shape
            return inputs if inputs[0].shape == shape else new.add(Reshape(shape), inputs, node.line)
        return None

    return graph.rebuild(visit)


def cut_by(node: Node, only: Callable[[Value], bool]) -> Node | None:
    """The convolution of which a node cuts off some results that nothing else reads."""
    op, v = node.op, node.inputs[0] if node.inputs else None
    if not isinstance(op, Pad) or v is None or max(*op.low, *op.high) > 0 or not only(v):
        return None
    if v.node is not None and isinstance(v.node.op, Reshape):
        v = v.node.inputs[0]
    if v.node is None or not isinstance(v.node.op, Conv) or not only(v):
        return None
    conv, x = v.node.op, v.node.inputs[0]
    rank = len(conv.strides)
    whole = (*op.low[:-rank], *op.high[:-rank])
    sizes = node.inputs[0].shape[-rank:], node.outputs[0].shape[-rank:]
    steps = [s for s, a, b in zip(conv.strides, op.low[-rank:], op.high[-rank:]) if a or b]
    fits = sizes[0] == v.shape[-rank:] and min(sizes[1]) > 0
    padded = x.node is not None and isinstance(x.node.op, Pad)
    return v.node if fits and padded and not any(whole) and all(s == 1 for s in steps) else None


def amounts(pad: Pad, cut: Pad, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What a Pad of [N, G, C, ...] adds around that, less what is cut off the last `rank` axes of the result."""
    return tuple(  # type: ignore[return-value]
        (*x[:-rank], *(a + b for a, b in zip(x[-rank:], y[-rank:])))
        for x, y in ((pad.low, cut.low), (pad.high, cut.high))
    )
