"""Autograd's record: who made which value. walk.py goes back over it.

Inside a trace the trie itself is the record. GradNodes are made from it where the record has to outlive the trace
(a flush before backward), where hooks or PyLayers take part, and for the first backward at a place.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ops.creation import Full
from ..ops.elementwise import Detach, Tied, divide, multiply
from ..ops.number import Number
from ..types import TensorType
from . import trace as tracing
from .trace import (
    STUCK,
    Tensor,
    Trace,
    TrieNode,
    current,
    local,
    make_tensor,
    materialize_elsewhere,
    shadow,
    take_value,
    trace_of,
)

_sequence = itertools.count()


class LeafState:
    """Gradient and hooks of a leaf.

    Attributes:
        grad: Tensor or None.
        zero: the gradient was cleared to zeros that nobody has asked for yet (`grad` is None then).
        hooks: called with the gradient by name; post: called after accumulation.
    """

    __slots__ = ("grad", "zero", "hooks", "post", "tensor", "__weakref__")

    def __init__(self) -> None:
        self.grad: Any = None
        self.zero = False
        self.hooks: dict[int, Callable[[Any], Any]] | None = None
        self.post: dict[int, Callable[[Any], Any]] | None = None
        self.tensor: Any = None


class Ghost:
    """Stands for an argument of which a gradient rule reads only shape and dtype."""

    __slots__ = ("type",)

    def __init__(self, type: TensorType):
        self.type = type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def dtype(self) -> Any:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    @property
    def size(self) -> int:
        return self.type.size


_TIED = (multiply, divide)


class GradNode:
    """How gradients pass through one operation.

    Attributes:
        edges: per argument, where its gradient goes: (GradNode, output), a LeafState, or None.
        types: of the outputs.
        hooks: per output, functions on its gradient. keep: per output, LeafStates of retain_grads.
        order: greater than those of the nodes it depends on.
    """

    __slots__ = ("op", "args", "outs", "edges", "types", "hooks", "keep", "order", "line", "freed", "__weakref__")

    def __init__(
        self,
        op: Any,
        args: tuple[Any, ...],
        outs: tuple[Any, ...],
        edges: tuple[Any, ...],
        types: tuple[TensorType, ...],
        line: Any,
    ):
        self.op, self.args, self.outs, self.edges, self.types, self.line = op, args, outs, edges, types, line
        self.hooks: dict[int, dict[int, Callable[[Any], Any]]] | None = None
        self.keep: dict[int, LeafState] | None = None
        self.order = next(_sequence)
        self.freed = False

    def pull(self, grads: Sequence[Any], history: bool) -> Sequence[Any]:
        """Gradients of the arguments. history: the rule's own operations are recorded for another gradient."""
        args = tuple(self.restore(a, e, history) for a, e in zip(self.args, self.edges))
        outs = tuple(self.restore(o, (self, i), history) for i, o in enumerate(self.outs))
        many = len(self.types) > 1
        found = self.op.vjp(tuple(grads) if many else grads[0], outs if many else outs[0], *args)
        assert len(found) == len(self.edges), f"{self.op!r}: vjp gave {len(found)} for {len(self.edges)} arguments"
        if history and self.op in _TIED and not any(isinstance(a, Number) for a in args):
            # upstream's second derivatives of products are zeros, not None, for the factor that is not left
            return tuple(
                d if d is None or e is None or (self.op is divide and i) else Tied()(d, a)
                for i, (d, e, a) in enumerate(zip(found, self.edges, args))
            )
        return found

    def restore(self, saved: Any, edge: Any, history: bool) -> Any:
        if isinstance(saved, Packed):
            saved = unpack(saved)
        if not isinstance(saved, Tensor):
            return saved
        t = shadow(saved)
        if t.buffer is None and t.epoch == local.trace.epoch:
            local.trace.shadows.append(t)  # the rule's own operations may cause a flush
        t.sg, t.gnode, t.leaf = True, None, None
        if history and edge is not None:
            t.sg = False
            if isinstance(edge, LeafState):
                t.leaf = edge
            else:
                t.gnode = edge
        return t

    def free(self) -> None:
        self.args = self.outs = ()
        self.freed = True


FREED = GradNode(None, (), (), (), (), None)
FREED.freed = True


def leaf_state(t: Tensor) -> LeafState:
    if t.leaf is None:
        t.leaf = LeafState()
        t.leaf.tensor = weakref.ref(t)
    return t.leaf


def index_of(trace: Trace) -> tuple[dict[int, TrieNode], TrieNode]:
    """The step that makes each slot of the running trace."""
    last = trace.flush_next or trace.node
    found: dict[int, TrieNode] = {}
    node: TrieNode | None = last
    while node is not None:
        if node.types:
            for i in range(len(node.types)):
                found[node.slot + i] = node
        node = node.parent
    return found, last


def edge_of(t: Tensor) -> Any:
    """Where a gradient of t goes: (GradNode, output), LeafState, or None."""
    if t.sg:
        return None
    if t.gnode is not None:
        return t.gnode
    trace = current() if t.epoch == local.trace.epoch else trace_of(t)
    if trace is not None:
        with trace.lock:
            slot = t.slot  # before the epoch, see Trace.enter; and before the index, as the walk may go on meanwhile
            if t.epoch == trace.epoch:
                index, last = index_of(trace)
                if index[slot].op is not None:
                    edge = build(trace, [slot], index, last)[slot]
                    if isinstance(edge, tuple):
                        t.gnode = edge
                        return edge
    return leaf_state(t)


def build(trace: Trace, slots: Iterable[int], index: dict[int, TrieNode], last: TrieNode) -> dict[int, Any]:
    """GradNodes for slots of the running trace and all that they depend on; edges by slot."""
    if trace.gnodes is None:
        trace.gnodes = weakref.WeakValueDictionary()
    known = trace.gnodes
    edges: dict[int, Any] = {}
    todo, order = list(slots), set()
    while todo:
        slot = todo.pop()
        if slot in order or slot in edges:
            continue
        node = index[slot]
        t = trace.values.get(slot)
        stops = node.sgs[slot - node.slot]
        if t is not None and t.gnode is not None:
            edges[slot] = t.gnode
        elif slot in last.freed and not stops:
            edges[slot] = (FREED, 0)
        elif stops:
            # a value given without gradients to a Tensor that needs them: that Tensor is a leaf
            edges[slot] = None if t is None or t.sg else leaf_state(t)
        elif node.op is None:
            assert t is not None
            edges[slot] = None if t.sg else leaf_state(t)
        else:
            order.add(slot)
            todo.extend(r for r in node.refs if type(r) is int)
    for slot in sorted(order):
        node = index[slot]
        made = known.get(node.slot)
        if made is None:
            uses = node.op.vjp_uses  # type: ignore[union-attr]
            every = "*" in uses
            args = tuple(
                a if isinstance(a, Number) else saved(trace, index, a, every or str(i) in uses)
                for i, a in enumerate(node.refs)
            )
            outs = tuple(saved(trace, index, node.slot + i, "out" in uses) for i in range(len(node.types)))
            made = GradNode(node.op, args, outs, tuple(edges.get(r) if type(r) is int else None for r in node.refs),
                            node.types, node.line)  # fmt: skip
            known[node.slot] = made
            if packing.hooks:
                packing.nodes.append(made)
        edges[slot] = (made, slot - node.slot)
    return edges


def saved(trace: Trace, index: dict[int, TrieNode], slot: int, needed: bool) -> Any:
    node = index[slot]
    type_ = node.types[slot - node.slot]
    if not needed:
        return Ghost(type_)
    known = trace.values.get(slot)
    s = make_tensor(type_, trace.epoch, slot, True, None if known is None else known.buffer)
    if s.buffer is None:
        trace.shadows.append(s)
    return s


# ---- packing of saved values ------------------------------------------------------------------
class Packed:
    """A saved value that a user's pack function replaced."""

    __slots__ = ("value", "unpack", "type")

    def __init__(self, value: Any, unpack: Callable[[Any], Any], type: TensorType):
        self.value, self.unpack, self.type = value, unpack, type


class _Packing(threading.local):
    """Attributes: hooks, the (pack, unpack) pairs in force; nodes, those made since."""

    def __init__(self) -> None:
        self.hooks: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = []
        self.nodes: list[GradNode] = []


packing = _Packing()


def pack(t: Any) -> Any:
    """What is kept of a Tensor that is saved for backward, under the pack functions in force."""
    if packing.hooks and isinstance(t, Tensor):
        to, back = packing.hooks[-1]
        return Packed(to(t), back, t.type)
    return t


def unpack(saved: Any) -> Any:
    return saved.unpack(saved.value) if isinstance(saved, Packed) else saved


def pack_pending() -> None:
    """Packs what operations recorded so far have saved. Called where the values may be computed."""
    trace = current()
    index, last = index_of(trace)
    wanted = [s for s in trace.values if s in index and index[s].op is not None]
    build(trace, wanted, index, last)
    nodes, packing.nodes = packing.nodes, []
    for node in nodes:
        if not node.freed:
            node.args, node.outs = tuple(map(pack, node.args)), tuple(map(pack, node.outs))


def gradient(t: Tensor) -> Any:
    """The gradient of t as computed, or None."""
    leaf = t.leaf
    if leaf is None:
        return None
    if leaf.zero:
        leaf.grad = Full(t.type.shape, 0.0, t.type.dtype)()
        leaf.zero = False
    return leaf.grad


def as_leaf(t: Tensor) -> None:
    """t, which has no history, takes gradients from here on."""
    trace = current()
    if t.epoch == trace.epoch and trace.node is STUCK:
        trace.ready()  # may end the trace
    if t.epoch == trace.epoch:
        if trace.values.get(t.slot) is not t:
            take_value(t, Detach()(t))  # the slot's gradients go to another Tensor
        mark = trace.mark(("leaf", t.slot, None))
        mark.given = mark.given.union((t.slot,))
    elif t.buffer is None:
        materialize_elsewhere(t)
    t.sg = False


def reachable(edges: Sequence[tuple[GradNode, int]], barred: set[Any]) -> dict[GradNode, None]:
    found: dict[GradNode, None] = {}
    todo = [n for n, i in edges if (n, i) not in barred]
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found[node] = None
        todo.extend(e[0] for e in node.edges if isinstance(e, tuple) and e not in barred)
    return found


def describe(edges: Iterable[Any]) -> str:
    """The operations behind `edges`, last first: a line each, with where its gradients go."""
    nodes = sorted(reachable([e for e in edges if isinstance(e, tuple)], set()), key=lambda n: -n.order)
    name = lambda n: f"{n.op.name if n.op is not None else type(n).__name__}_{n.order}"
    lines = []
    for n in nodes:
        to = [name(e[0]) if isinstance(e, tuple) else "leaf" if e is not None else "-" for e in n.edges]
        lines.append(f"{name(n)}: {', '.join(map(str, n.types))} -> {', '.join(to)}")
    return "\n".join(lines) + "\n"


def keep_records(trace: Trace, slots: Iterable[int]) -> bool:
    """At a flush: GradNodes for the surviving values that need gradients later. Returns whether any were made."""
    index = None
    wanted = []
    here = trace.flush_next or trace.node
    freed, given = here.freed, here.given
    for slot in slots:
        t = trace.values.get(slot)
        if t is not None and t.buffer is not None and not tracing._several:
            continue  # a leaf: only another thread's reading gives other values an array before the flush
        if t is not None and not t.sg and t.gnode is None and slot not in given:
            if slot in freed:  # the usual case: a loss that has been differentiated
                t.gnode = (FREED, 0)
                continue
            if index is None:
                index, last = index_of(trace)
            if index[slot].op is not None:
                wanted.append(slot)
    if wanted:
        assert index is not None
        edges = build(trace, wanted, index, last)
        for slot in wanted:
            if isinstance(edges[slot], tuple):
                trace.values[slot].gnode = edges[slot]
    return bool(wanted)
