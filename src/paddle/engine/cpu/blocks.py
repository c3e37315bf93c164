"""Constant weights of convolutions in blocks of output channels, in the order in which the products read them.

With channels last, a kernel takes some tens of neighbours from each of thousands of rows: as many pages, and nothing
that a processor would fetch ahead. In blocks it reads from one end to the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ir.graph import Graph, Value
from ..types import TensorType
from .expr import LoopBuilder, Operand, Scope, Var
from .loops import Loops, Store
from .steps import AliasStep, LoopStep, ProductStep, Step

if TYPE_CHECKING:
    from .tile import Kernel

LEAST_BYTES = 1 << 18  # what is smaller stays in a core's own cache
MOST_ROWS = 512  # that use a weight; with more, the time to read it is nothing

Axes = list[tuple[int, int]]  # (extent, stride in the weights as they are), outermost first
Whole = tuple[int, int, int, "int | None", tuple[int, ...]]  # an axis of a product; last come strides in the epilogue


def in_blocks(
    graph: Graph, steps: list[Step], early: int, kernel_of: Callable[[ProductStep], Kernel]
) -> tuple[list[Step], int]:
    """Steps whose products read in blocks what the first `early` steps make; and how many there are now of those."""
    root: dict[Value, Value] = {}
    for s in steps:
        if isinstance(s, AliasStep):
            root[s.outputs[0]] = root.get(s.inputs[0], s.inputs[0])
    made = {v for s in steps[:early] if not isinstance(s, AliasStep) for v in s.outputs}
    first, late = list(steps[:early]), list(steps[early:])
    copies: dict[tuple[Value, tuple[tuple[int, int], ...]], Value] = {}
    for i, s in enumerate(late):
        if not isinstance(s, ProductStep) or not isinstance(s.product.b, Operand):
            continue
        if s.finish is not None and s.finish.epilogue.sums:  # cut otherwise, it would have another number of parts
            continue
        weight = s.product.b.key
        source = root.get(weight, weight)
        width = block_of(s, kernel_of) if source in made and source.type.nbytes >= LEAST_BYTES else None
        if width is None:
            continue
        axes, order = blocked(s, width)
        key = (source, tuple(order))
        if key not in copies:
            copies[key] = copied(graph, source, order)
            first.append(copy_step(source, copies[key], order))
        operand = Operand("blocks", copies[key].shape, source.dtype, copies[key])
        product = replace(s.product, b=operand, axes=tuple(axis[:4] for axis in axes))
        finish = None if s.finish is None else replace(s.finish, strides=tuple(axis[4] for axis in axes))
        inputs = [v if v is not weight else copies[key] for v in s.inputs]
        late[i] = ProductStep(s.outputs, inputs, s.node, product, finish)
    return first + late, len(first)


def block_of(s: ProductStep, kernel_of: Callable[[ProductStep], Kernel]) -> int | None:
    """How many output channels a tile of the product has; None where its weights stay as they are."""
    p, weight = s.product, s.product.b.key
    own = sorted((b, n) for n, _, b, _ in p.axes if b)
    dense = all(b == math.prod(n for _, n in own[:i]) for i, (b, _) in enumerate(own))
    rows = math.prod(n for n, _, b, c in p.axes if not b and c is not None)
    both = any(a and b and c is not None for _, a, b, c in p.axes)
    lanes = [n for n, a, b, c in p.axes if b == 1 and not a and c == 1]
    fits = dense and not p.b_offset and math.prod(n for _, n in own) == weight.type.size
    if not fits or both or rows > MOST_ROWS or len(lanes) != 1 or p.a.key is weight:
        return None
    schedule = kernel_of(s).schedule
    if schedule is None or schedule.kind != "outer" or schedule.window or schedule.swap:
        return None
    width = schedule.v_cut.s1 * schedule.lanes
    return width if schedule.v.extent == lanes[0] and lanes[0] % width == 0 and lanes[0] > width else None


def blocked(s: ProductStep, width: int) -> tuple[list[Whole], Axes]:
    """The axes of the product with weights in blocks, and those of the weights, outermost first."""
    beside = s.finish.strides if s.finish is not None else ((),) * len(s.product.axes)
    known: list[Whole] = [(*axis, e) for axis, e in zip(s.product.axes, beside)]
    summed = sorted((x for x in known if x[2] and x[3] is None), key=lambda x: (-abs(x[1]), -x[2]))
    others = [x for x in known if x[2] and x[3] is not None and x[2] != 1]
    lanes = next(x for x in known if x[2] == 1 and x[3] == 1)
    axes = [x for x in known if not x[2]]
    order: Axes = [(lanes[0] // width, width), *((x[0], x[2]) for x in (*others, *summed)), (width, 1)]
    sizes = [n for n, _ in order]
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    axes.append((lanes[0] // width, 0, strides[0], width, tuple(x * width for x in lanes[4])))
    axes += [(n, a, b, c, e) for (n, a, _, c, e), b in zip((*others, *summed), strides[1:])]
    return [*axes, (width, 0, 1, 1, lanes[4])], order


def copied(graph: Graph, source: Value, order: Axes) -> Value:
    return Value(graph, TensorType(tuple(n for n, _ in order), source.dtype), source.node, 0, "blocks")


def copy_step(source: Value, target: Value, order: Axes) -> LoopStep:
    """The step that puts weights into blocks."""
    scope = Scope()
    variables = [Var(n) for n, _ in order]
    at = tuple(scope.var(v) for v in variables)
    k = LoopBuilder(scope, at, target.dtype, target.shape)
    flat = Operand("source", (source.type.size,), source.dtype, source)
    place = scope.const(0, at[0].dtype)
    for x, (_, stride) in zip(at, order):
        place = place + x * stride
    store = Store(Operand("blocks", target.shape, target.dtype, target), at, k.load(flat, [place]))
    assert source.node is not None
    return LoopStep([target], [source], source.node, Loops(scope, variables, [store]))
