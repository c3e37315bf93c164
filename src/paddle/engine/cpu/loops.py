"""Nests of loops over output elements, and what can be told from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .. import types
from ..types import DType
from .expr import Expr, Operand, Scope, Var
from .linear import linear

CHUNK = 1024  # elements per unit of a one-dimensional kernel
UNROLL = 32  # steps up to which a reduction is written out
COLUMNS = 64  # output columns that a reduction over rows accumulates side by side


@dataclass
class Store:
    """An output: `out[at] = value`, where `guard` holds if there is one.

    Not kept: computed for later stores of the kernel, but not written.
    """

    out: Operand
    at: tuple[Expr, ...]
    value: Expr
    kept: bool = True
    guard: Expr | None = None


@dataclass
class Loops:
    """A nest of loops over `vars`, outermost first, that fills `stores`.

    Attributes:
        checks: message by code, for `check` expressions; code 1 is the first.
    """

    scope: Scope
    vars: list[Var]
    stores: list[Store]


@dataclass
class Kernel:
    """The text of a kernel and how to call it.

    Attributes:
        text: LLVM functions; the name is the placeholder `@KERNEL`.
        operands: what the pointers after the status buffer stand for; outputs first.
        params: names of the sizes in dims, in order.
        outer: extents (see `size`) whose product is the number of units (before chunking).
        chunk (int): elements per unit if the kernel is one-dimensional, else 0.
        inner: extents inside a unit.
        cost (int): operations per innermost element, roughly.
        messages: of checks, by code from 1: the text, and operator and line where the kernel serves one program.
        functions: names of the math functions it calls.
    """

    text: str
    operands: list[Any]
    params: list[str]
    outer: list[Any]
    chunk: int
    inner: list[Any]
    cost: int
    messages: list[Any]
    functions: set[str] = field(default_factory=set)


def size(e: Any) -> Any:
    """An extent as plain data: an int, the name of a size known at run time, or (operation, extent, extent)."""
    if isinstance(e, int):
        return e
    if e.op == "const":
        return e.attr
    return e.attr if e.op == "param" else (e.op, size(e.args[0]), size(e.args[1]))


def accumulator(kind: str, d: DType) -> DType:
    """The type in which a reduction is carried: sums of float32 in float64, so that long ones stay exact."""
    return types.float64 if kind == "sum" and d is types.float32 else d


def identity(kind: str, d: DType) -> Any:
    if kind in ("sum", "any"):
        return 0
    if kind in ("prod", "all"):
        return 1
    if d.kind == "f":
        return -math.inf if kind == "max" else math.inf
    if d.kind == "b":
        return kind == "min"
    bits = d.itemsize * 8
    if d.kind == "u":
        return 0 if kind == "max" else (1 << bits) - 1
    return -(1 << (bits - 1)) if kind == "max" else (1 << (bits - 1)) - 1


def heavy(loops: Loops) -> bool:
    """Whether one output element takes a loop."""
    return any(has_reduce(s.value) for s in loops.stores)


def has_reduce(e: Expr) -> bool:
    todo, seen = [e], set()
    while todo:
        x = todo.pop()
        if x.op == "reduce":
            return True
        if x.id not in seen:
            seen.add(x.id)
            todo.extend(x.args)
    return False


def find_reduces(e: Expr) -> list[Expr]:
    """Outermost reductions in an expression."""
    found, todo, seen = [], [e], set()
    while todo:
        x = todo.pop()
        if x.id in seen:
            continue
        seen.add(x.id)
        if x.op == "reduce":
            found.append(x)
        else:
            todo.extend(x.args)
    return found


def loads_in(e: Expr) -> list[Expr]:
    found, todo, seen = [], [e], set()
    while todo:
        x = todo.pop()
        if x.id in seen:
            continue
        seen.add(x.id)
        if x.op == "load":
            found.append(x)
        todo.extend(x.args)
    return found


def split_loops(variables: list[Var], loops: Loops) -> tuple[list[Var], list[Var]]:
    """Outer variables, whose settings are spread over threads, and those looped over inside."""
    if heavy(loops):  # what is reduced once and used for many elements is not reduced for each of them
        reduces = [r for s in loops.stores for r in find_reduces(s.value)]
        shared = [v for v in variables if all(v not in r.vars for r in reduces)]
        if shared:
            return [v for v in variables if v not in shared], shared
    if all(isinstance(v.extent, int) for v in variables):
        units: Any = 1  # a product of ints
        p = 0
        last = len(variables) if heavy(loops) else len(variables) - 1
        while p < last and (units < 32 or p == 0):
            units *= variables[p].extent
            p += 1
        return variables[: max(p, 1)], variables[max(p, 1) :]
    if heavy(loops):
        return variables, []
    p = max(1, len(variables) - 2) if len(variables) > 1 else 1
    return variables[:p], variables[p:]


def column_reduction(loops: Loops, variables: list[Var]) -> Expr | None:
    """The reduction, if there is one and it runs down columns: neighbours in memory are different outputs."""
    if not variables:
        return None
    found = {r.id: r for s in loops.stores for r in find_reduces(s.value)}
    if len(found) != 1:
        return None
    (reduce,) = found.values()
    kind, rows = reduce.attr
    rows = [r for r in rows if r.extent != 1]
    if kind.startswith("arg") or not rows or variables[-1] not in reduce.vars or has_reduce(reduce.args[0]):
        return None
    if any(isinstance(r.extent, Expr) and r.extent.vars for r in rows):
        return None
    across = along = 0
    for x in loads_in(reduce.args[0]):
        if not x.attr.shape:
            continue
        last = x.args[len(x.attr.shape) - 1]
        form = linear(last)
        if form is None:
            across += variables[-1] in last.vars
            along += rows[-1] in last.vars
        else:  # one index may step along several axes
            column = abs(form[0].get(variables[-1], 0))
            row = min((abs(form[0][r]) for r in rows if r in form[0]), default=0)
            across += column != 0 and (row == 0 or column < row)
            along += row != 0 and (column == 0 or row < column)
    return reduce if across > along else None
