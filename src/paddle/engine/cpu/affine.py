"""What follows from linear index expressions: flat loops, contractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .. import types
from ..types import DType
from .expr import Expr, Operand, Scope, Var, compute_type
from .linear import Linear, offset_of
from .loops import Loops, Store, has_reduce, loads_in


def walk(e: Expr, seen: set[int], visit: Any) -> None:
    todo = [e]
    while todo:
        x = todo.pop()
        if x.id in seen:
            continue
        seen.add(x.id)
        if visit(x):
            todo.extend(x.args)


def flatten(loops: Loops) -> Loops:
    """The same loops with adjacent variables merged wherever every access runs through them as through one.

    An element-wise kernel over [N, C, H, W] becomes one loop; a bias over channels leaves three.
    """
    offsets: dict[int, Linear] = {}
    reduces: list[tuple[Var, ...]] = []
    plain = True

    def visit(x: Expr) -> bool:
        nonlocal plain
        if x.op == "load":
            if len(x.args) > len(x.attr.shape):
                plain = False
                return False
            form = offset_of(x.attr, x.args)
            if form is None:
                plain = False
                return False
            offsets[x.id] = form
            return False
        if x.op == "var":
            plain = False
        if x.op == "reduce":
            reduces.append(x.attr[1])
        return plain

    seen: set[int] = set()
    for s in loops.stores:
        walk(s.value, seen, visit)
    if not plain:
        return loops
    stores = [offset_of(s.out, s.at) for s in loops.stores]
    if any(s is None for s in stores):
        return loops
    forms = [f[0] for f in offsets.values()] + [s[0] for s in stores if s is not None]
    groups: list[list[Var]] = []
    for variables in (tuple(loops.vars), *dict.fromkeys(reduces)):
        groups += merge([v for v in variables if v.extent != 1], forms)
    scope = Scope()
    made: dict[Var, Var] = {}
    for g in groups:
        new = Var(math.prod(v.extent for v in g)) if len(g) > 1 else g[0]
        made[g[-1]] = new
    flat: dict[Any, Operand] = {}

    def index(form: Linear) -> Expr:
        total = scope.const(form[1], types.int64)
        for old, new in made.items():
            if form[0].get(old):
                total = total + scope.var(new) * form[0][old]
        return total

    def operand(x: Operand) -> Operand:
        if x not in flat:
            flat[x] = Operand(x.name, (math.prod(x.shape),), x.dtype, x.key)
        return flat[x]

    memo: dict[int, Expr] = {}

    def copy(x: Expr) -> Expr:
        got = memo.get(x.id)
        if got is None:
            if x.op == "load":
                got = scope.make("load", x.dtype, (index(offsets[x.id]),), operand(x.attr))
            elif x.op == "reduce":
                variables = tuple(made[v] for v in x.attr[1] if v in made)
                got = scope.make("reduce", x.dtype, (copy(x.args[0]),), (x.attr[0], variables))
            else:
                got = scope.make(x.op, x.dtype, tuple(copy(a) for a in x.args), x.attr)
            memo[x.id] = got
        return got

    return Loops(
        scope,
        [made[v] for v in loops.vars if v in made],
        [
            Store(operand(s.out), (index(f),), copy(s.value), s.kept)
            for s, f in zip(loops.stores, stores)
            if f is not None
        ],
    )


LINE = 16  # elements to a line of the cache
FAR = 1 << 19  # elements that no core keeps in its own cache


def squares(loops: Loops) -> Loops:
    """Element-wise loops in an order that reads neighbours soon after one another where some lie along another axis.

    What only exchanges axes writes a few elements side by side and follows what it reads in the rest. With more to
    read and write, squares are done one after another.
    """
    last = loops.vars[-1] if len(loops.vars) > 1 else None
    if last is None or any(has_reduce(s.value) for s in loops.stores) or not tileable(last):
        return loops
    loads = {x.id: x for s in loops.stores for x in loads_in(s.value)}
    if any(len(x.args) > len(x.attr.shape) for x in loads.values()):
        return loops
    forms = [offset_of(x.attr, x.args) for x in loads.values()]
    if any(f is None for f in forms):
        return loops
    others = loops.vars[:-1]
    stride = lambda form, v: abs(form[0].get(v, 0))
    far = [f for f in forms if f is not None and stride(f, last) > min(stride(f, v) or LINE for v in others)]
    if not far or max(stride(f, last) for f in far) < 2:
        return loops
    form = max(far, key=lambda f: stride(f, last))
    if all(s.value.op == "load" for s in loops.stores):
        others = sorted(others, key=lambda v: -stride(form, v))
        return cut(loops, [last], lambda outer, inner: [outer[last], *others, inner[last]])
    near = min(others, key=lambda v: stride(form, v) or math.inf)
    if not tileable(near):
        return loops
    # two lines of what is read across: it is met twice where the processor fetches pairs of lines
    wide = near.extent % (2 * LINE) == 0 and math.prod(v.extent for v in loops.vars) >= FAR
    return cut(
        loops, [near, last], lambda outer, inner: [*(outer.get(v, v) for v in loops.vars), *inner.values()],
        {near: 2 * LINE} if wide else {},
    )  # fmt: skip


def tileable(v: Var) -> bool:
    return isinstance(v.extent, int) and v.extent % LINE == 0 and v.extent > LINE


def cut(
    loops: Loops, variables: list[Var], order: Callable[[dict[Var, Var], dict[Var, Var]], list[Var]],
    sizes: Mapping[Var, int] = MappingProxyType({}),
) -> Loops:  # fmt: skip
    """The loops with variables split into lines; `order` gives the new nest from the outer and the inner parts.

    sizes: of the inner parts, where they are not lines.
    """
    size = {v: sizes.get(v, LINE) for v in variables}
    outer = {v: Var(v.extent // size[v]) for v in variables}
    inner = {v: Var(size[v]) for v in variables}
    scope, stores = loops.scope, loops.stores
    for v in variables:
        index = scope.var(outer[v]) * size[v] + scope.var(inner[v])
        swap = lambda e, v=v, index=index: put(scope, scope.lift(e, types.int64), v, index)
        stores = [Store(s.out, tuple(map(swap, s.at)), put(scope, s.value, v, index), s.kept) for s in stores]
    return Loops(scope, order(outer, inner), stores)


def put(scope: Scope, e: Expr, old: Var, new: Expr) -> Expr:
    """The expression with another expression in place of a variable."""
    memo: dict[int, Expr] = {}

    def copy(x: Expr) -> Expr:
        if x.op == "var":
            return new if x.attr is old else x
        if old not in x.vars:
            return x
        got = memo.get(x.id)
        if got is None:
            got = memo[x.id] = scope.make(x.op, x.dtype, tuple(copy(a) for a in x.args), x.attr)
        return got

    return copy(e)


def merge(variables: list[Var], forms: list[dict[Var, int]]) -> list[list[Var]]:
    """Runs of adjacent variables that all forms step through as through one variable."""
    groups: list[list[Var]] = []
    for v in variables:
        if groups:
            before = groups[-1][-1]
            if all(f.get(before, 0) == f.get(v, 0) * v.extent for f in forms):
                groups[-1].append(v)
                continue
        groups.append([v])
    return groups


@dataclass(frozen=True)
class Product:
    """A sum of products of two tensors with linear indices.

    Attributes:
        axes: (extent, stride in a, stride in b, stride in the result or None for a summed axis), in elements.
        dtype: what the elements count as: a float32 operand of a bfloat16 product is rounded as it is read.
        out: element type of the result.
    """

    a: Operand
    b: Operand
    axes: tuple[tuple[Any, int, int, int | None], ...]
    a_offset: int
    b_offset: int
    dtype: DType
    out: DType


def product_of(value: Expr, out: Operand, at: tuple[Expr, ...], variables: list[Var]) -> Product | None:
    """`value` as a product of two tensors, if that is what it is."""
    if value.op != "reduce" or value.attr[0] != "sum" or value.args[0].op != "mul":
        return None
    (x, kind), (y, other) = map(factor, value.args[0].args)
    if kind is not other or kind is None or compute_type(out.dtype) is not value.dtype:
        return None
    if len(x.args) != len(x.attr.shape) or len(y.args) != len(y.attr.shape):
        return None
    fx, fy, fo = offset_of(x.attr, x.args), offset_of(y.attr, y.args), offset_of(out, at)
    if fx is None or fy is None or fo is None:
        return None
    axes: list[tuple[Any, int, int, int | None]] = []
    for v in variables:
        if v.extent != 1:
            axes.append((v.extent, fx[0].get(v, 0), fy[0].get(v, 0), fo[0].get(v, 0)))
    for v in value.attr[1]:
        if v.extent != 1:
            axes.append((v.extent, fx[0].get(v, 0), fy[0].get(v, 0), None))
    return Product(x.attr, y.attr, tuple(axes), fx[1], fy[1], kind, out.dtype)


_PRODUCTS = (types.float32, types.float64, types.bfloat16, types.float16, types.int32, types.int64)


def factor(e: Expr) -> tuple[Expr, DType | None]:
    """What a factor of a product loads, and what it counts as; None where products of that are not known."""
    if e.op == "round_bfloat16" and e.args[0].op == "load" and e.args[0].attr.dtype is types.float32:
        return e.args[0], types.bfloat16
    load = e.args[0] if e.op == "cast" and e.dtype is types.int32 else e
    if load.op != "load":
        return e, None
    kind = load.attr.dtype
    if kind in (types.int8, types.uint8):
        return load, types.int8
    return load, kind if load is e and kind in _PRODUCTS else None
