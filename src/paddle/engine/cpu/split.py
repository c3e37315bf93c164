"""Long sums with few results, cut into parts that threads can share. Cuts depend on sizes only."""

from __future__ import annotations

import math
from dataclasses import replace

from ..ir.graph import Graph, Value
from ..types import TensorType
from .affine import Product, put
from .expr import LoopBuilder, Operand, Scope, Var, compute_type
from .loops import Loops, Store, column_reduction
from .steps import LoopStep, ProductStep, Step

PARTS = (16, 8, 12, 10, 14, 9, 7, 6, 5, 4, 3, 2)


def split(graph: Graph, steps: list[Step]) -> list[Step]:
    return split_reductions(graph, split_products(graph, steps))


def total(partial: Value, result: Value, kind: str, step: Step) -> LoopStep:
    """The step that reduces the first axis of the parts."""
    scope = Scope()
    variables = [Var(m) for m in result.shape]
    at = tuple(scope.var(v) for v in variables)
    source = Operand("partial", partial.shape, partial.dtype, partial)
    target = Operand("out", result.shape, result.dtype, result)
    k = LoopBuilder(scope, at, result.dtype, result.shape)
    value = k.reduce(kind, [partial.shape[0]], lambda j: k.load(source, [j, *at]))
    value = scope.cast(value, compute_type(result.dtype))
    return LoopStep([result], [partial], step.node, Loops(scope, variables, [Store(target, at, value)]))


def split_reductions(graph: Graph, steps: list[Step]) -> list[Step]:
    """Reductions of much to little, other than products."""
    out: list[Step] = []
    for s in steps:
        parts = parts_of(s) if isinstance(s, LoopStep) else None
        if parts is None:
            out.append(s)
            continue
        assert isinstance(s, LoopStep)
        loops, result = s.loops, s.outputs[0]
        value = loops.stores[0].value
        kind, rows = value.attr
        scope = loops.scope
        outer, inner = Var(parts), Var(rows[0].extent // parts)
        index = scope.var(outer) * inner.extent + scope.var(inner)
        body = put(scope, value.args[0], rows[0], index)
        partial = Value(graph, TensorType((parts, *result.shape), value.dtype), s.node, 0, "partial")
        target = Operand("partial", (parts, result.type.size), value.dtype, partial)
        flat = scope.const(0, index.dtype)
        for v in loops.vars:
            flat = flat * v.extent + scope.var(v)
        made = scope.make("reduce", value.dtype, (body,), (kind, (inner, *rows[1:])))
        store = Store(target, (scope.var(outer), flat), made)
        out.append(LoopStep([partial], s.inputs, s.node, Loops(scope, [outer, *loops.vars], [store])))
        out.append(total(partial, result, kind, s))
    return out


def parts_of(s: LoopStep) -> int | None:
    """Into how many parts a reduction is cut; None where it is not one, or results alone are enough to share."""
    stores = s.loops.stores
    if len(stores) != 1 or s.closed or len(s.outputs) != 1:
        return None
    value = stores[0].value
    if value.op != "reduce" or value.attr[0] not in ("sum", "prod", "max", "min", "any", "all"):
        return None
    result = s.outputs[0]
    if compute_type(result.dtype) is not result.dtype or value.dtype is not result.dtype:
        return None
    extents = [v.extent for v in value.attr[1]]
    if not extents or not all(isinstance(n, int) for n in extents):
        return None
    most = 64 if column_reduction(s.loops, [v for v in s.loops.vars if v.extent != 1]) is None else 1024
    if result.type.size > most or math.prod(extents) * result.type.size < 65_536:
        return None
    return next((n for n in PARTS if extents[0] % n == 0), None)


def split_products(graph: Graph, steps: list[Step]) -> list[Step]:
    """A product with few results and long sums is cut into parts that threads can share, added up afterwards.

    The cut depends on sizes only.
    """
    out: list[Step] = []
    for s in steps:
        parts = cut_of(s.product) if isinstance(s, ProductStep) and s.finish is None else None
        if parts is None:
            out.append(s)
            continue
        assert isinstance(s, ProductStep)
        i, n = parts
        result = s.outputs[0]
        extent, a, b, _ = s.product.axes[i]
        each = extent // n
        kind = compute_type(result.dtype)  # parts are not rounded
        partial = Value(graph, TensorType((n, *result.shape), kind), s.node, 0, "partial")
        axes = list(s.product.axes)
        axes[i : i + 1] = [(n, a * each, b * each, result.type.size), (each, a, b, None)]
        product = replace(s.product, axes=tuple(axes), out=kind)
        out.append(ProductStep([partial], s.inputs, s.node, product))
        out.append(total(partial, result, "sum", s))
    return out


def cut_of(p: Product) -> tuple[int, int] | None:
    """Which summed axis to cut and into how many parts; None where the results alone are enough work to share."""
    results = math.prod(n for n, _, _, c in p.axes if c is not None)
    summed = [(n, i) for i, (n, _, _, c) in enumerate(p.axes) if c is None]
    length = math.prod(n for n, _ in summed)
    if length < 1024 or results > 4096 or results * length < 200_000:
        return None
    for n, i in sorted(summed, reverse=True):
        for parts in (8, 7, 6, 5, 4, 9, 10, 3, 2):
            if n % parts == 0 and n > parts:
                return i, parts
    return None
