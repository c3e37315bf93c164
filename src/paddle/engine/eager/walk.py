"""Backward: gradients go back over the record of who made which value.

The first backward at a place walks over GradNodes; the second one is one step of the trie, of the running trace or of
graphs of equal structure that an earlier flush has left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .. import errors
from ..ops.creation import Full
from ..ops.elementwise import Detach, add, cast
from ..ops.number import Number
from ..ops.rows import add_grads, dense
from . import rows
from .tape import FREED, Ghost, GradNode, LeafState, edge_of, leaf_state, pack_pending, packing, reachable
from .trace import TENSOR, Tensor, Trace, TrieNode, current, make_tensor, rebind


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
    nodes = sorted(reachable([edge], set()), key=lambda n: -n.order)
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
    nodes = reachable([e for e in edges if isinstance(e, tuple)], barred)
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
