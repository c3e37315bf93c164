"""Autograd: who made which value, and the walk back over it.

Inside a trace the trie itself is the record. GradNodes are made from it where the record has to outlive the trace
(a flush before backward), where hooks or PyLayers take part, and for the first backward at a place; the second
backward at that place is one step of the trie.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import errors
from ..ops.creation import Full
from ..ops.elementwise import Detach, Tied, add, cast, divide, multiply
from ..ops.number import Number
from ..ops.rows import add_grads, dense
from ..types import TensorType
from . import rows
from . import trace as tracing
from .trace import (
    STUCK,
    TENSOR,
    Tensor,
    Trace,
    TrieNode,
    current,
    local,
    make_tensor,
    materialize_elsewhere,
    rebind,
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
            if t.epoch == trace.epoch:
                index, last = index_of(trace)
                if index[t.slot].op is not None:
                    edge = build(trace, [t.slot], index, last)[t.slot]
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


# ---- backward ---------------------------------------------------------------------------------
def backward(tensors: Sequence[Tensor], grads: Sequence[Any], retain: bool = False) -> None:
    """Adds the gradients of `tensors` to the `grad` of the leaves they depend on."""
    trace = current()
    root = tensors[0]
    plain = len(tensors) == 1 and grads[0] is None and not trace.generic and trace.flush_next is None
    plain = plain and root.epoch == trace.epoch and root.gnode is None and not root.sg
    start = trace.node
    key = ("backward", root.slot, retain)
    if plain:
        node = start.children.get(key)
        if node is not None:
            leaves = [trace.values[leaf] for leaf, _ in node.outs]
            if not any(t.leaf is not None and (t.leaf.hooks or t.leaf.post) for t in leaves):
                trace.node = node.end
                values, epoch = trace.values, trace.epoch
                for t, (_, (type_, slot, by)) in zip(leaves, node.outs):
                    g = values.get(slot)
                    if g is None:
                        g = values[slot] = make_tensor(type_, epoch, slot, True)
                    elif by is None:
                        g = rows.handle(g, TENSOR[0])  # another leaf has this one: each is changed on its own
                    accumulate(leaf_state(t), g if by is None else rows.recall(trace, g, by))
                return
    if len(tensors) == 1 and grads[0] is None and type(root.gnode) is tuple and root.buffer is not None:
        if _backward_of_records(trace, root, retain):
            return
    edges = [edge_of(t) for t in tensors]
    found, visited, pure = walk(edges, seeds(tensors, grads), retain=retain)
    if not retain:
        _free(trace, root.slot, visited)
    if plain and pure and trace.flush_next is None and trace.epoch == root.epoch and trace.reachable_from(start):
        by_state = {t.leaf: slot for slot, t in trace.values.items() if t.leaf is not None}
        outs = [(by_state.get(s), rows.recorded(trace, g)) for s, g in found]
        if all(leaf is not None and g is not None for leaf, g in outs):
            node = TrieNode(start, trace.grad)
            node.end = trace.node
            node.outs = tuple(outs)
            start.children[key] = node
    del edges, visited
    for (state, _), g in zip(found, _each_its_own([g for _, g in found], grads)):
        accumulate(state, g)


def _each_its_own(found: Sequence[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Gradients without a Tensor twice, nor one of the user's: each may be changed in place."""
    seen = {id(g) for g in given}
    out = []
    for g in found:
        if isinstance(g, Tensor):
            if id(g) in seen:
                g = rows.handle(g, TENSOR[0])
            seen.add(id(g))
        out.append(g)
    return out


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


def _free(trace: Trace, root: int, visited: Sequence[GradNode]) -> None:
    for node in visited:
        node.free()
    if trace.flush_next is None:  # a trace that ends here has no further use of its slots
        slots = _slots_of(trace, visited)
        if slots:
            mark = trace.mark(("freed", root, len(slots)))
            mark.freed = mark.freed | slots


# Which leaves take a gradient, and the tables' heights of those by rows or 0, by the key of a recorded graph.
backwards: dict[Any, tuple[tuple[int, ...], tuple[int, ...]]] = {}
_backwards_age = [
    0
]  # changes when they are forgotten: steps in the trie that were known until then are not taken any more


_lent: Counter[Any] = Counter()  # keys that no recorded step has, only templates do: how many of these


def lend(key: Any, known: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """A template has a step of this key from now on, see family.py."""
    if key not in backwards or key in _lent:
        backwards[key] = known
        _lent[key] += 1


def end_loan(key: Any) -> None:
    """A template that had a step of this key has other sizes now."""
    if key in _lent:
        _lent[key] -= 1
        if not _lent[key]:
            del _lent[key], backwards[key]


def _backward_of_records(trace: Trace, root: Tensor, retain: bool) -> bool:
    """backward of a value of an earlier flush: graphs of equal structure share one step of the trie.

    Returns:
        False, and nothing is done, where Python functions of the user take part.
    """
    form = _form(root.gnode)
    if form is None:
        return False
    key, reads, aliases, leaves, nodes = form
    if len(backwards) > 1024:
        backwards.clear()
        _lent.clear()
        _backwards_age[0] += 1
    key = ("backward", _backwards_age[0], root.type, key)

    def compute() -> tuple[Any, ...]:
        for t, i in aliases:
            t.epoch, t.slot = reads[i].epoch, reads[i].slot
        found = dict(walk([root.gnode], seeds([root], [None]), retain=True)[0])
        takers = tuple(i for i, state in enumerate(leaves) if state in found)
        tensors, heights = rows.flattened([found[leaves[i]] for i in takers])
        backwards[key] = takers, heights
        _lent.pop(key, None)
        return tuple(tensors)

    if not leaves:
        return False
    grads = trace.macro(key, reads, compute)
    takers, heights = backwards[key]
    for i, g in zip(takers, _each_its_own(rows.gathered(grads, heights))):
        accumulate(leaves[i], g)
    if not retain:
        for node in nodes:
            node.free()
    return True


def _form(edge: tuple[GradNode, int]) -> Any:
    """The structure of a recorded graph as a key, its saved values, and its leaves; None if it is not plain.

    Returns:
        tuple: key; one Tensor per saved array; further Tensors of these arrays with their index; LeafStates; nodes.
    """
    nodes = sorted(_reachable([edge], set()), key=lambda n: -n.order)
    place = {node: i for i, node in enumerate(nodes)}
    reads: list[Tensor] = []
    arrays: dict[int, int] = {}
    aliases: list[tuple[Tensor, int]] = []
    leaves: dict[LeafState, int] = {}
    parts: list[Any] = [edge[1]]
    for node in nodes:
        if type(node) is not GradNode or node.hooks or node.keep or node.freed:
            return None
        values: list[Any] = []
        for a in (*node.args, *node.outs):
            if isinstance(a, Tensor):
                if a.buffer is None:
                    return None
                at = arrays.get(id(a.buffer))
                if at is None:
                    at = arrays[id(a.buffer)] = len(reads)
                    reads.append(a)
                else:
                    aliases.append((a, at))
                values.append(at)
            elif type(a) is Ghost:
                values.append(a.type)
            elif type(a) is Number:
                values.append(a)
            else:
                return None
        to: list[Any] = []
        for e in node.edges:
            if e is None:
                to.append(None)
            elif type(e) is tuple:
                to.append((place[e[0]], e[1]))
            else:
                to.append(leaves.setdefault(e, len(leaves)))
        parts.append((node.op, len(node.args), tuple(values), tuple(to), node.types))
    return tuple(parts), reads, aliases, list(leaves), nodes


def _slots_of(trace: Trace, visited: Iterable[GradNode]) -> frozenset[int]:
    ids = {id(n) for n in visited}
    if trace.gnodes is None:
        return frozenset()
    found: set[int] = set()
    for slot, gnode in trace.gnodes.items():
        if id(gnode) in ids:
            found.update(range(slot, slot + len(gnode.types)))
    return frozenset(found)


def seeds(tensors: Sequence[Tensor], grads: Sequence[Any]) -> list[Any]:
    out = []
    for t, g in zip(tensors, grads):
        if g is None:
            g = Full(t.type.shape, 1.0, t.type.dtype)()
        elif not isinstance(g, Tensor):
            raise errors.asserted(
                "backward: a gradient is not a Tensor.",
                expected=f"grad_tensor: a Tensor of shape {list(t.type.shape)}, or None",
                received=f"grad_tensor: {g!r:.60}",
            )
        elif tuple(g.type.shape) != t.type.shape:
            raise errors.asserted(
                "backward: the gradient does not fit its tensor.",
                expected=f"grad_tensor of shape {list(t.type.shape)}",
                received=f"grad_tensor: {g.type}",
            )
        elif g.type.dtype is not t.type.dtype:
            g = cast(g, t.type.dtype)
        out.append(g)
    return out


def accumulate(state: LeafState, g: Any) -> None:
    g = rows.to_tensor(g)
    if state.hooks:
        for hook in list(state.hooks.values()):
            changed = hook(g)
            if changed is not None and changed is not g:
                g = rows.alike(g, rows.handle(changed, type(changed)))
    if not g.sg:
        g = Detach()(g)
    if state.grad is None:
        state.grad, state.zero = g, False
    else:
        trace = current()
        before = trace.grad
        if not state.grad.sg:
            trace.set_grad(False)
        if isinstance(g, rows.RowTensor) or isinstance(state.grad, rows.RowTensor):
            state.grad = rows.added(state.grad, g)
        else:
            rebind(state.grad, add(state.grad, g))
        trace.set_grad(before)
    if state.post:
        for hook in list(state.post.values()):
            hook(state.tensor() if state.tensor is not None else None)


def walk(
    edges: Sequence[Any],
    grads: Sequence[Any],
    *,
    retain: bool,
    targets: Sequence[Any] | None = None,
    history: bool = False,
    barred: Iterable[Any] = (),
) -> tuple[list[tuple[Any, Any]], list[GradNode], bool]:
    """Passes gradients back from `edges`.

    targets: edges whose gradients are wanted; None for all leaves. barred: edges that gradients do not pass.

    Returns:
        (target, gradient) pairs; the nodes visited; whether no Python function of the user took part.
    """
    barred = set(barred)
    if packing.hooks:
        pack_pending()
    nodes = _reachable([e for e in edges if isinstance(e, tuple)], barred)
    if targets is not None:
        nodes = _leading_to(nodes, targets)
    leaves: dict[Any, Any] = {}
    pending: dict[GradNode, list[Any]] = {}
    wanted = None if targets is None else set(targets)
    found: dict[Any, Any] = {}
    lost: list[GradNode] = []
    pure = True

    def send(edge: Any, g: Any) -> None:
        if edge is None or g is None or edge in barred:
            return
        if isinstance(edge, LeafState):
            if wanted is None or edge in wanted:
                leaves[edge] = g if edge not in leaves else add_grads(leaves[edge], g)
            return
        node, i = edge
        if node is FREED:
            if wanted is None:
                raise _freed_error(node)
            lost.append(node)  # an error only if a target is not found elsewhere
            return
        if node not in nodes:
            return
        slots = pending.setdefault(node, [None] * len(node.types))
        g = dense(g)
        slots[i] = g if slots[i] is None else add(slots[i], g)

    trace = current()
    before, amp = trace.grad, trace.set_amp(None)  # gradients have the types of what they are gradients of
    trace.set_grad(history)
    try:
        for edge, g in zip(edges, grads):
            send(edge, g)
        for node in sorted(nodes, key=lambda n: -n.order):
            gs = pending.pop(node, None)
            if gs is None:
                continue
            if node.hooks:
                pure = False
                for i, hooks in node.hooks.items():
                    for hook in list(hooks.values()):
                        if gs[i] is not None:
                            trace.set_grad(before)  # a hook may compute gradients of its own
                            changed = hook(gs[i])
                            trace.set_grad(history)
                            if isinstance(changed, Tensor) and not (history or changed.sg):
                                changed = Detach()(changed)
                            gs[i] = gs[i] if changed is None else changed
            if node.keep:
                pure = False
                for i, state in node.keep.items():
                    if gs[i] is not None:
                        accumulate(state, rows.handle(gs[i], TENSOR[0]))
            if wanted is not None:
                for i, g in enumerate(gs):
                    if (node, i) in wanted and g is not None:
                        found[(node, i)] = g
            if node.freed:
                raise _freed_error(node)
            if type(node) is not GradNode:
                pure = False
            for edge, g in zip(node.edges, node.pull(gs, history)):
                send(edge, g)
    finally:
        trace.set_grad(before)
        trace.set_amp(amp)
    found.update(leaves)
    if lost and any(t not in found for t in targets or ()):
        raise _freed_error(lost[0])
    return list(found.items()), list(nodes), pure


def _freed_error(node: GradNode) -> Exception:
    return errors.spent(
        "backward: the graph was freed by an earlier backward.",
        hint="pass retain_graph=True to the earlier call to go through the graph again.",
        expected="a graph that was kept, or a new forward",
        received=f"a second backward through {node.op.name if node.op is not None else 'it'}",
    )


def _reachable(edges: Sequence[tuple[GradNode, int]], barred: set[Any]) -> dict[GradNode, None]:
    found: dict[GradNode, None] = {}
    todo = [n for n, i in edges if (n, i) not in barred]
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found[node] = None
        todo.extend(e[0] for e in node.edges if isinstance(e, tuple) and e not in barred)
    return found


def _leading_to(nodes: dict[GradNode, None], targets: Sequence[Any]) -> dict[GradNode, None]:
    """Of nodes, those from which a target can be reached, targets included."""
    goal = set(targets)
    goal_nodes = {t[0] for t in targets if isinstance(t, tuple)}
    keep: dict[GradNode, None] = {}
    for node in sorted(nodes, key=lambda n: n.order):
        hit = node in goal_nodes or any(
            e in goal or (isinstance(e, tuple) and e[0] in keep) for e in node.edges if e is not None
        )
        if hit:
            keep[node] = None
    return keep


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grads: Sequence[Any],
    *,
    retain: bool,
    create_graph: bool,
    allow_unused: bool,
    no_grad: Sequence[Tensor] = (),
    only: bool = True,
) -> list[Any]:
    """Gradients of outputs for inputs, as Tensors; nothing is accumulated."""
    targets = [edge_of(x) for x in inputs]
    edges = [edge_of(t) for t in outputs]
    first = seeds(outputs, grads)
    pairs, visited, _ = walk(
        edges,
        first,
        retain=retain,
        targets=[t for t in targets if t is not None],
        history=create_graph,
        barred=[e for e in map(edge_of, no_grad) if e is not None],
    )
    found = dict(pairs)
    for edge, g in zip(edges, first):
        if isinstance(edge, tuple) and edge in targets and edge not in found:
            found[edge] = g
    if not retain:
        _free(current(), outputs[0].slot, visited)
    result = _each_its_own([None if t is None else rows.to_tensor(found.get(t)) for t in targets], grads)
    if not allow_unused and any(r is None for r in result):
        i = next(i for i, r in enumerate(result) if r is None)
        raise errors.invalid_argument(
            f"grad: inputs[{i}] takes no part in the outputs.",
            expected="every input to be used in making the outputs, with stop_gradient False",
            received=f"inputs[{i}]: {inputs[i].type} with stop_gradient {inputs[i].sg}",
            hint="set stop_gradient to False before it is used; `w -= ...` under no_grad gives a new Tensor with True."
            if inputs[i].sg
            else "pass allow_unused=True to get None for it.",
        )
    return result


def describe(edges: Iterable[Any]) -> str:
    """The operations behind `edges`, last first: a line each, with where its gradients go."""
    nodes = sorted(_reachable([e for e in edges if isinstance(e, tuple)], set()), key=lambda n: -n.order)
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
