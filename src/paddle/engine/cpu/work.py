"""What each launch of a plan has to do: its operators, arithmetic and bytes, read off the steps it was made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..ir.graph import Graph, Value
from ..types import DType
from .affine import Product
from .compiler import lowered_for, prepare
from .executor import numbers_as_inputs
from .expr import Expr, Operand, Var, upper_bound
from .loops import Loops, Store, loads_in
from .lower import COSTLY, Lowering, single_steps
from .steps import (
    AliasStep,
    GroupStep,
    HostStep,
    KernelStep,
    LoopStep,
    ProductStep,
    Step,
    WinogradGradStep,
    WinogradStep,
)

_MOVES = frozenset({"broadcast_to", "reshape", "transpose", "constant", "full", "cast", "detach"})
_FREE = frozenset({"const", "var", "load", "param", "cast", "check", "select", "neg", "not", "and", "or", "xor"})


@dataclass(frozen=True)
class Work:
    """One launch.

    Attributes:
        operator (str): the one it was made for. name (str): all that are computed in it.
        shapes (tuple of str): types of what it reads, and last of what it makes.
        dtype (DType): that of the result.
        operations (float): floating-point operations; a division or a function as `exp` counts ten. None: not known.
        read_bytes, written_bytes (int): each element that is used counted once.
        host (bool): whether numpy does it.
    """

    operator: str
    name: str
    shapes: tuple[str, ...]
    dtype: DType
    operations: float | None
    read_bytes: int
    written_bytes: int
    host: bool


def works(graph: Graph, compiled: bool, constant: tuple[bool, ...] | None = None) -> list[Work]:
    """What the launches and host steps of a graph's plan do, in the order in which they run.

    Args:
        compiled: of the compiled plan, not of that which runs operator by operator.
        constant: inputs for which it was compiled as constant.
    """
    if compiled:
        return list(_in_order(lowered_for(graph, constant or ())[1], None))
    graph, _ = numbers_as_inputs(prepare(graph, False))
    return list(_in_order(single_steps(graph), Lowering(graph, False)))


def _in_order(steps: Sequence[Step], lowering: Lowering | None) -> Iterator[Work]:
    for s in steps:
        if isinstance(s, AliasStep):
            continue
        if isinstance(s, GroupStep):
            yield _together([_work(x, lowering) for x in s.members])
        elif s.within():
            op = s.node.op
            within = list(_in_order(s.within(), lowering))
            for _ in range(s.node.inputs[op.constants + op.carries].shape[0]):
                yield from within
        elif isinstance(s, KernelStep):
            for x in s.kernels:
                yield replace(_work(s, lowering), operations=x.operations)
        else:
            yield _work(s, lowering)


def _together(members: Sequence[Work]) -> Work:
    """The work of a group: sums, under the name of most of it."""
    most = max(members, key=lambda w: w.read_bytes + w.written_bytes)
    operations = [w.operations or 0.0 for w in members]
    read, written = sum(w.read_bytes for w in members), sum(w.written_bytes for w in members)
    name = f"{most.name} ({len(members)} together)"
    return replace(
        most, operator=members[0].operator, name=name, operations=sum(operations), read_bytes=read,
        written_bytes=written,
    )  # fmt: skip


def _work(s: Step, lowering: Lowering | None) -> Work:
    out = s.outputs[0] if s.outputs else s.node.outputs[0]
    shapes = tuple(str(v.type) for v in (*s.inputs, out))
    name = operator = s.node.op.name
    operations: float | None = None
    read, written = (sum(v.type.nbytes for v in values) for values in (s.inputs, s.outputs))
    if isinstance(s, ProductStep):
        operations, read = _product(s.product)
        if s.finish is not None:
            name = _name(s)
            operations += out.type.size * s.finish.epilogue.each(lambda j: False)
            read += sum(v.type.nbytes for v in s.inputs if v not in (s.product.a.key, s.product.b.key))
    elif isinstance(s, WinogradStep):  # the products are nearly all of it
        operations = 2.0 * math.prod(s.inputs[1].shape[1:3]) * s.node.outputs[0].shape[2] * s.tiles
        if s.finish is not None:
            name = _name(s)
            operations += out.type.size * s.finish.epilogue.each(lambda j: False)
    elif isinstance(s, WinogradGradStep):
        n, _, inputs, h, w = s.inputs[0].shape
        operations = 2.0 * 36 * n * -(-(h - 2) // 4) * -(-(w - 2) // 4) * inputs * s.inputs[1].shape[2]
    elif isinstance(s, LoopStep):
        loops = s.loops
        if loops is None:
            assert lowering is not None
            loops = _loops(out, lowering)
        name = _name(s)
        operations, read, written = _count(loops)
    return Work(operator, name, shapes, out.dtype, operations, read, written, isinstance(s, HostStep))


def _loops(out: Value, lowering: Lowering) -> Loops:
    """The loops of a kernel of the first tier."""
    assert out.node is not None
    scope, variables, at = lowering.frame(out)
    value = lowering.own(out.node, out.index, scope, at, None)
    return Loops(scope, variables, [Store(lowering.operand(out), at, value)])


def _name(s: LoopStep | ProductStep | WinogradStep) -> str:
    """The operators whose values are computed in a step, the most telling ones."""
    if any(v.node is s.node for v in s.inputs):
        return f"{s.node.op.name} (parts added)"  # of a long sum, see split.py
    found: dict[str, None] = {}
    todo, seen = list(s.outputs), set(s.inputs)
    while todo:
        v = todo.pop()
        if v in seen or v.node is None:
            continue
        seen.add(v)
        found[v.node.op.name] = None
        if not isinstance(s, LoopStep) or s.loops is not None:
            todo.extend(v.node.inputs)
    names = [n for n in reversed(found) if n not in _MOVES] or list(found)
    return "+".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])


def _product(p: Product) -> tuple[float, int]:
    """Operations, and bytes read."""
    read = 0
    for x, strides in ((p.a, [a for _, a, _, _ in p.axes]), (p.b, [b for _, _, b, _ in p.axes])):
        used = math.prod(axis[0] for axis, stride in zip(p.axes, strides) if stride)
        read += min(math.prod(x.shape), used) * x.dtype.itemsize
    return 2.0 * math.prod(axis[0] for axis in p.axes), read


def _count(loops: Loops) -> tuple[float, int, int]:
    """Operations, bytes read and bytes written. A value is computed once per setting of the variables it depends on."""
    operations = 0.0
    seen: set[int] = set()
    todo: list[Expr] = [s.value for s in loops.stores]
    while todo:
        e = todo.pop()
        if e.id in seen:
            continue
        seen.add(e.id)
        todo.extend(e.args)
        if e.op == "reduce":
            operations += _settings(e.vars.union(e.attr[1]))
        elif e.op not in _FREE and any(a.dtype.kind == "f" for a in (e, *e.args)):
            operations += _settings(e.vars) * (10 if e.op in COSTLY else 1)
    used: dict[Operand, int] = {}
    for s in loops.stores:
        for load in loads_in(s.value):
            variables = frozenset[Var]().union(*(a.vars for a in load.args))
            used[load.attr] = used.get(load.attr, 0) + _settings(variables)
    written = [(s.out, _settings(frozenset(loops.vars))) for s in loops.stores if s.kept]
    return operations, sum(_touched(x, n) for x, n in used.items()), sum(_touched(x, n) for x, n in written)


def _settings(variables: frozenset[Var]) -> int:
    return math.prod(_extent(v) for v in variables)


def _extent(v: Var) -> int:
    return v.extent if isinstance(v.extent, int) else (upper_bound(v.extent) or 1)


def _touched(x: Operand, accesses: int) -> int:
    """Bytes of the elements of x that so many accesses can meet."""
    return min(math.prod(x.shape), accesses) * x.dtype.itemsize
