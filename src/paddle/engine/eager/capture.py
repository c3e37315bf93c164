"""Capture: a function's operations are recorded into a trace of their own, on stand-ins, and nothing is computed.

What comes out is one program: it can be called as one step of the running trace, and be made a graph. It is the way
from eager code to `jit.to_static`, saved models, static programs and the branches of control flow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import errors, types
from ..ir.graph import Graph
from ..ops.elementwise import Detach
from ..types import TensorType
from . import tape
from . import trace as tracing
from .trace import Tensor, Trace, TrieNode, local, make_tensor

_KEY = TensorType((2,), types.int64)


class ValueNeeded(RuntimeError):
    """A value was asked for that does not exist while operations are being recorded into a program."""


class _Capture(Trace):
    """The trace of a capture. Tensors of outside stay where they are; leaves of their kind stand for them.

    Attributes:
        outer: the trace that goes on after the capture.
        entered: leaf slot of a Tensor that was made elsewhere, by its id, and the Tensor. sources: what is read there.
        born: Tensors with values that were made within: constants, which nobody outside can see change.
        assigned: attributes that were set to Tensors of the capture: object, name, what it was, and the Tensor.
        differentiates: who calls the program may ask for gradients of what it gives.
        snapshots: what Tensors of outside were before a change. grads: the same for gradients of leaves.
        keys: leaf slots of what each run needs anew, such as random keys.
        declare: takes a Tensor that outlives the capture, with what gives it its first value; None: it has it at once.
        numbers: by the slot of a step, its arguments that are numbers, as they were given, None for Tensors.
        rules: by the slot of a step, what gives its operator from the types of its arguments, where a formula does not.
        tests: by slots, values that take the place of those of training in a program that only computes.
    """

    __slots__ = (
        "assigned",
        "differentiates",
        "outer",
        "entered",
        "sources",
        "born",
        "snapshots",
        "grads",
        "keys",
        "declare",
        "tests",
        "numbers",
        "rules",
    )
    abstract = True

    def __init__(self, outer: Trace, amp: Any, grad: bool):
        super().__init__()
        self.outer, self.amp, self.grad = outer, amp, grad
        self.in_layer = True  # calls of Layers end no program here
        self.entered: dict[int, tuple[int, Tensor]] = {}
        self.snapshots: dict[int, tuple[Tensor, tuple[Any, ...]]] = {}
        self.grads: dict[int, tuple[Any, Any, bool]] = {}
        self.keys: list[tuple[int, Callable[[], Tensor]]] = []
        self.sources: list[tuple[Tensor, int]] = []
        self.born: dict[int, Tensor] = {}
        self.assigned: dict[tuple[int, str], tuple[Any, str, Any, Tensor]] = {}
        self.differentiates = False
        self.declare: Callable[[Any, Callable[[Any], Any]], None] | None = None
        self.tests: dict[int, int] = {}
        self.numbers: dict[int, tuple[Any, ...]] = {}
        self.rules: dict[int, Callable[..., Any]] = {}
        self.node = TrieNode(None, grad)

    def leaf(self, type_: TensorType, kind: int) -> int:
        """A new leaf."""
        node = self.child(1)
        node.type, node.types = type_, (type_,)
        node.sg = kind == 0
        node.sgs = (node.sg,)
        node.refs = (kind,)
        self.publish((len(self.values), "leaf"), node)
        self.node = node
        return node.slot

    def stand_in(self, type_: TensorType, sg: bool) -> Tensor:
        """A Tensor without a value, for an argument."""
        slot = self.leaf(type_, 0 if sg else 1)
        t = self.values[slot] = make_tensor(type_, self.epoch, slot, sg)
        return t

    def enter(self, t: Tensor) -> int:
        known = self.entered.get(id(t))
        if known is not None:
            return known[0]
        edge = tape.edge_of(t)
        slot = self.leaf(t.type, 0 if t.sg else 1)
        stand = self.values[slot] = make_tensor(t.type, self.epoch, slot, t.sg)
        if isinstance(edge, tuple):
            stand.gnode = edge
        elif edge is not None:
            stand.leaf = edge
            self.grads[id(t)] = (edge, edge.grad, edge.zero)
        self.entered[id(t)] = (slot, t)
        source = t
        if id(t) in self.born:
            source = tracing.shadow(t)
            if "_recipe" in t.__dict__:  # how it follows from sizes, see framework/tables.py
                source.__dict__["_recipe"] = t.__dict__["_recipe"]
        self.sources.append((source, slot))
        return slot

    def start_gradients(self, t: Tensor) -> None:
        """From here on gradients are computed for t, a stand-in."""
        node: TrieNode | None = self.node
        while node is not None and not (node.types and node.slot <= t.slot < node.slot + len(node.types)):
            node = node.parent
        if node is not None and node.op is None:
            node.sg, node.sgs, node.refs = False, (False,), (1,)
            t.sg = False
        else:
            tape.as_leaf(t)

    def swap(self) -> None:
        """Tensors of outside that the capture changes take the state that they have on its other side."""
        for key, (x, state) in self.snapshots.items():
            self.snapshots[key] = (x, _state_of(x))
            x.type, x.epoch, x.slot, x.sg, x.buffer, x.gnode, x.leaf, x.kin = state
            owner = tracing.trace_of(x)
            if owner is not None and owner.abstract and x.buffer is None:
                owner.values[x.slot] = x

    def note(self, x: Tensor) -> None:
        """Called before a Tensor takes another value in place."""
        if x.epoch != self.epoch and id(x) not in self.snapshots and id(x) not in self.born:
            owner = tracing.trace_of(x)
            if x.buffer is None and owner is not None and not owner.abstract:
                with outside():  # its trace may end before this one
                    tracing.materialize_elsewhere(x)
            elif owner is not None and owner.values.get(x.slot) is x:
                owner.values[x.slot] = tracing.shadow(x)  # what was recorded there goes on with the value as it is
            self.enter(x)
            self.snapshots[id(x)] = (x, _state_of(x))

    def update(
        self, key: Any, reads: Sequence[Tensor], writes: Sequence[Tensor], fn: Callable[[], Sequence[Tensor]]
    ) -> None:
        grad, amp = self.grad, self.set_amp(None)
        self.set_grad(False)
        try:
            news = fn()
        finally:
            self.set_grad(grad)
            self.set_amp(amp)
        for x, new in zip(writes, news):
            if new is x:
                continue
            self.note(x)
            if new.epoch != self.epoch:
                new = Detach()(new)
            x.type, x.epoch, x.slot, x.buffer = new.type, new.epoch, new.slot, None
            self.values[x.slot] = x
            if x.kin is not None:
                tracing.share_change(x)

    def first_visit(self, key: Any, op: Any, args: tuple[Any, ...]) -> Any:
        out = super().first_visit(key, op, args)
        if self.node.op is op and any(isinstance(a, (float, int)) for a in args):
            given = tuple(a if isinstance(a, (float, int)) else None for a in args)
            self.numbers.setdefault(self.node.slot, given)
        return out

    def publish(self, key: Any, node: TrieNode) -> None:
        self.node.children[key] = node

    def promote_numbers(self, node: TrieNode, op: Any, args: tuple[Any, ...]) -> None:
        return None

    def is_full(self) -> bool:
        return False

    def flush_before_next(self) -> None:
        """Programs do not end within a capture."""

    def flush(self) -> None:
        raise ValueNeeded(
            errors.message(
                "PreconditionNotMet",
                "A value was asked for while the function is being recorded as one program.",
                expected="operations on Tensors only",
                received="numpy(), item(), print, or Python control flow that needs the value of a Tensor",
                hint="paddle.static.nn.cond and while_loop choose and repeat inside a program; with full_graph=False"
                " to_static runs the function as Python.",
            )
        )


def _state_of(x: Tensor) -> tuple[Any, ...]:
    return x.type, x.epoch, x.slot, x.sg, x.buffer, x.gnode, x.leaf, x.kin


class Recording:
    """A capture that is entered and left as often as one likes: a block of `with` adds what is recorded in it.

    Attributes:
        trace: what records.
    """

    def __init__(self) -> None:
        self.trace = _Capture(local.trace, None, True)

    def __enter__(self) -> "Recording":
        self.trace.outer = local.trace
        self.trace.swap()
        local.trace = self.trace
        return self

    def __exit__(self, *_: Any) -> None:
        local.trace = self.trace.outer
        self.trace.swap()

    def stand_in(self, type_: TensorType, sg: bool = True) -> Tensor:
        """A Tensor without a value, which each run gives one."""
        return self.trace.stand_in(type_, sg)

    def captured(self, inputs: Sequence[Tensor], result: Any = None) -> "Captured":
        """What has been recorded so far, as one program. Within the block only."""
        return _finished(self.trace, [t.slot for t in inputs], result)


class Captured:
    """One program made of a function's operations.

    Attributes:
        steps: those that make values, in order.
        inputs: leaf slots of the arguments.
        externals: Tensors of outside that it reads, each with its leaf slot.
        keys: leaf slots of random keys with the generator each is taken from.
        result: what the function returned; its Tensors belong to the capture.
        changes: Tensors of outside that it changes in place, each with the slot of the new value.
        grads: leaves outside whose gradient it sets: Tensor and slot.
        inputs_changed: arguments that it changes in place: which, and the slot of the new value.
        assigned: attributes that it sets to what it makes: object, name and slot.
    """

    __slots__ = ("steps", "inputs", "externals", "keys", "result", "changes", "grads", "epoch", "inputs_changed",
                 "assigned")  # fmt: skip
    steps: list[TrieNode]
    inputs: list[int]
    externals: list[tuple[Tensor, int]]
    keys: list[tuple[int, Callable[[], Tensor]]]
    result: Any
    changes: list[tuple[Tensor, int]]
    grads: list[tuple[Tensor, int]]
    inputs_changed: list[tuple[int, int]]
    assigned: list[tuple[Any, str, int]]
    epoch: int

    def slot(self, t: Tensor) -> int | None:
        """Where a Tensor of the result is made; None for one of outside."""
        return t.slot if t.epoch == self.epoch else None

    def graph(self, slots: Sequence[int], stops: bool = False) -> tuple[Graph, list[int]]:
        """The graph that gives the values of `slots`.

        Args:
            stops: what was recorded without gradients is detached, so that the graph can be differentiated.

        Returns:
            The graph and its inputs' slots: all arguments, then of externals and keys those that are read.
        """
        from .materialize import graph_of

        order = [*self.inputs, *(s for _, s in self.externals), *(s for s, _ in self.keys)]
        graph, leaves = graph_of(self.steps, slots, order, len(self.inputs), stops)
        return graph, list(leaves)

    def replay(self, tensors: Sequence[Tensor], slots: Sequence[int]) -> tuple[Tensor, ...]:
        """Records the operations anew, on other Tensors.

        Args:
            tensors: for the arguments, the externals and the keys, in this order.
            slots: of the values that are returned.
        """
        leaves = [*self.inputs, *(s for _, s in self.externals), *(s for s, _ in self.keys)]
        env: dict[int, Any] = dict(zip(leaves, tensors))
        trace = local.trace
        grad, amp = trace.grad, trace.set_amp(None)  # casts have been recorded as such
        last = {}
        for i, step in enumerate(self.steps):
            for r in step.refs if step.op is not None else ():
                last[r] = i
        wanted = set(slots)
        try:
            for i, step in enumerate(self.steps):
                if step.op is None:
                    continue
                trace.set_grad(grad and step.grad)
                args = tuple(env[r] if type(r) is int else r for r in step.refs)
                out = trace.record(step.op, args) if args else step.op()
                if len(step.types) == 1:
                    env[step.slot] = out
                else:
                    env.update(zip(range(step.slot, step.slot + len(out)), out))
                for r in step.refs:
                    if type(r) is int and last[r] == i and r not in wanted:
                        env.pop(r, None)
        finally:
            trace.set_grad(grad)
            trace.set_amp(amp)
        return tuple(env[s] for s in slots)


def capturing() -> bool:
    """Whether operations are recorded into a capture now."""
    return local.trace.abstract


def in_program() -> bool:
    """Whether operations are recorded into a program whose variables get their values when it starts."""
    trace = local.trace
    return isinstance(trace, _Capture) and trace.declare is not None


def random_key(make: Callable[[], Tensor]) -> Tensor | None:
    """In a capture, a stand-in for a random key that `make` gives anew for each run; None elsewhere."""
    return each_run(_KEY, make)


def each_run(type_: TensorType, make: Callable[[], Tensor]) -> Tensor | None:
    """In a capture, a stand-in for a value that `make` gives anew for each run; None elsewhere."""
    trace = local.trace
    if not isinstance(trace, _Capture):
        return None
    t = trace.stand_in(type_, True)
    trace.keys.append((t.slot, make))
    return t


def start(t: Tensor, give: Callable[[Any], Any]) -> None:
    """Gives a Tensor that outlives a capture its first value, by `give(t)`: at once, or when the program starts."""
    trace = local.trace
    if not isinstance(trace, _Capture):
        give(t)
    elif trace.declare is not None:
        trace.declare(t, give)
    else:
        with outside():
            give(t)


def follows(out: Tensor, make: Callable[..., Any]) -> Tensor:
    """Gives `out`. A program whose sizes are open asks `make(*types)` for the operator of it at other sizes."""
    trace = local.trace
    if isinstance(trace, _Capture) and trace.declare is not None and out.epoch == trace.epoch:
        trace.rules[out.slot] = make
    return out


def otherwise(out: Tensor, make: Callable[[], Tensor]) -> Tensor:
    """Gives `out`, a result of training. Programs keep beside it what `make` gives, for when nothing is trained."""
    trace = local.trace
    if isinstance(trace, _Capture) and trace.declare is not None and out.epoch == trace.epoch:
        instead = make()
        trace.tests[out.slot] = instead.slot if instead.epoch == trace.epoch else trace.enter(instead)
    return out


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Within the block, operations run as if no capture were under way: to make state that outlives it."""
    inner = trace = local.trace
    while isinstance(trace, _Capture):
        trace = trace.outer
    local.trace = trace
    try:
        yield
    finally:
        local.trace = inner


def capture(
    fn: Callable[..., Any], tensors: Sequence[Any], sgs: Sequence[bool] | None = None, differentiates: bool = False
) -> Captured:
    """Records what `fn` does with stand-ins for Tensors. Tensors of outside that it changes are as before afterwards.

    Args:
        fn: called with one stand-in per Tensor.
        tensors: Tensors, or TensorTypes, that the stand-ins have the types of.
        sgs: whether each stops gradients; as the Tensors do, and True for TensorTypes, where it is not given.
        differentiates: gradients of the result are asked for later on, so nothing that operations do not tell may
            take part in them.

    Raises:
        ValueNeeded: fn asked for a value.
    """
    outer = local.trace
    inner = _Capture(outer, outer.amp, outer.grad)
    inner.differentiates = differentiates or (isinstance(outer, _Capture) and outer.differentiates)
    local.trace = inner
    try:
        stands = []
        for i, t in enumerate(tensors):
            type_, sg = (t, True) if isinstance(t, TensorType) else (t.type, t.sg)
            stands.append(inner.stand_in(type_, sg if sgs is None else sgs[i]))
        inputs = [t.slot for t in stands]  # before one of them takes another value in place
        result = fn(*stands)
        changed = []
        for i, (t, slot) in enumerate(zip(stands, inputs)):
            if t.slot != slot or t.epoch != inner.epoch:
                changed.append((i, t.slot if t.epoch == inner.epoch else inner.enter(tracing.shadow(t))))
        made = _finished(inner, inputs, result)
        made.inputs_changed = changed
        return made
    finally:
        local.trace = outer
        for owner, name, before, _ in inner.assigned.values():
            owner._restore(name, before)
        inner.swap()
        for state, g, zero in inner.grads.values():
            state.grad, state.zero = g, zero


def refuse_python_gradients(what: str) -> None:
    """Raises where a program is recorded whose gradients follow from its operations, and Python would take part."""
    trace = local.trace
    if isinstance(trace, _Capture) and trace.differentiates and trace.grad:
        raise errors.unimplemented(
            f"{what}: gradients of a function that is called as one program follow from its operations alone.",
            expected=f"no {what} within the function",
            received="one, of values that need gradients",
            hint="take it out of the function, or call to_static with full_graph=False.",
        )


def _finished(inner: _Capture, inputs: list[int], result: Any) -> Captured:
    from .materialize import path_to

    made = Captured()
    made.epoch, made.result, made.inputs = inner.epoch, result, inputs
    made.changes = []
    for x, _ in inner.snapshots.values():
        made.changes.append((x, x.slot if x.epoch == inner.epoch else inner.enter(tracing.shadow(x))))
    made.grads = []
    for key, (state, before, _) in inner.grads.items():
        g = state.grad
        if g is not before and isinstance(g, Tensor):
            if g.epoch != inner.epoch:
                g = Detach()(g)
            made.grads.append((inner.entered[key][1], g.slot))
    made.externals = inner.sources
    made.keys = list(inner.keys)
    made.inputs_changed = []
    made.assigned = [(o, n, t.slot) for o, n, _, t in inner.assigned.values() if t.epoch == inner.epoch]
    made.steps = path_to(inner.node)
    return made
