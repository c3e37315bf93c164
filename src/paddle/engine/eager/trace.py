"""The tracer: operators called on Tensors are recorded, and run together at a flush.

A trace is a walk down a trie of programs. The key of a step is the operator and where its arguments came from
(slots of this trace, or numbers); the node that it leads to knows the result type, the slot and the user's line.
A walk that was taken before costs one dictionary look-up per operator.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors, flags, types
from ..ops import registry
from ..ops.number import Number
from ..ops.registry import Operator
from ..types import TensorType

_epochs = itertools.count(1)
_getrefcount = sys.getrefcount


class TrieNode:
    """One step of a program, or a shortcut over several (then `end` is the last of them).

    Attributes:
        children: next steps by key.
        end: the node that the walk goes on from.
        type, sg, slot: of the (single) result: its type, whether it stops gradients, its number.
        types, sgs: the same for all results; `slot` is that of the first.
        op, refs: the operator, and per argument a slot or a Number. For a leaf: op None.
        grad: whether gradients are recorded from here on.
        freed: slots whose graph a backward has freed. given: slots of new values of leaves.
        programs: what runs at a flush here, by live slots (see materialize.py).
        families: of leaves that may be entered here (see family.py).
    """

    __slots__ = ("children", "end", "type", "sg", "slot", "types", "sgs", "op", "refs", "grad", "programs",
                 "parent", "line", "next_slot", "numbers", "outs", "freed", "given", "families")  # fmt: skip

    def __init__(self, parent: "TrieNode | None", grad: bool):
        self.children: dict[Any, TrieNode] = {}
        self.parent = parent
        self.end = self
        self.grad = grad
        self.op: Operator | None = None
        self.refs: tuple[Any, ...] = ()
        self.types: tuple[TensorType, ...] = ()
        self.sgs: tuple[bool, ...] = ()
        self.type: TensorType | None = None
        self.sg = True
        self.next_slot: int = 0 if parent is None else parent.next_slot
        self.slot = self.next_slot
        self.programs: dict[Any, Any] | None = None
        self.line: tuple[str, int] | None = None
        self.numbers: dict[Any, int] | None = None
        self.families: dict[Any, Any] | None = None
        self.outs: tuple[Any, ...] = ()
        self.freed: frozenset[int] = frozenset() if parent is None else parent.freed
        self.given: frozenset[int] = frozenset() if parent is None else parent.given


class Tensor:
    """The engine's part of a Tensor; `paddle.Tensor` adds the public methods.

    A Tensor is either part of its thread's trace (`epoch` is the trace's, `slot` says which value) or has `buffer`,
    or both. In-place operations make it stand for another value.

    Attributes:
        type: shape and element type.
        sg: stop_gradient.
        buffer: the array, None while deferred.
        gnode: (GradNode, output) that made it, None for a leaf or while the trace knows.
        leaf: gradient and hooks of a leaf (LeafState), made when needed.
        kin: how it lies in memory that it shares with other Tensors (see sharing.py), or None.
        made: where the array comes from, not always set: the operator's name and the user's line, or "" and the code
            object and instruction that a Tensor was made at (see `origin_of`).
    """

    __slots__ = ("type", "epoch", "slot", "sg", "buffer", "gnode", "leaf", "kin", "made", "__dict__", "__weakref__")
    type: TensorType
    epoch: int
    slot: int
    sg: bool
    buffer: np.ndarray | None
    gnode: Any
    leaf: Any
    kin: Any
    made: Any


TENSOR: list[type[Tensor]] = [Tensor]  # the class that results have; paddle.Tensor takes its place
_new = object.__new__


def make_tensor(type_: TensorType, epoch: int, slot: int, sg: bool, data: np.ndarray | None = None) -> Tensor:
    t = _new(TENSOR[0])
    t.type, t.epoch, t.slot, t.sg, t.buffer = type_, epoch, slot, sg, data
    t.gnode = t.leaf = t.kin = None
    return t


def from_array(a: np.ndarray, sg: bool = True) -> Tensor:
    """A Tensor that owns `a` (C-contiguous, aligned, native byte order)."""
    from ..types import dtype_of

    a = np.asarray(a)  # a numpy scalar has no buffer of its own
    t = make_tensor(TensorType(a.shape, dtype_of(a.dtype)), 0, 0, sg, a)
    t.made = "", errors.user_instruction()
    if local.trace.abstract:
        local.trace.born[id(t)] = t  # type: ignore[attr-defined]
    return t


def origin_of(t: Tensor) -> tuple[str, tuple[str, int] | None]:
    """The operator that made the array of t, "" if it came from outside, and the user's line as far as known."""
    name, place = getattr(t, "made", None) or ("", None)
    return name, errors.line_of(place) if name == "" and place is not None else place


class Trie:
    """All programs seen so far, by where in the user's code they begin and in which modes. Starts anew when full."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.roots: dict[Any, TrieNode] = {}
        self.size = 0

    def root(self, grad: bool, amp: Any, place: tuple[str, int] | None) -> TrieNode:
        key = (grad, amp, place)
        node = self.roots.get(key)
        if node is None:
            node = self.roots[key] = TrieNode(None, grad)
            self.size += 1
        return node


trie = Trie()
# Where a walk stands before its first step, and where it has to end: without children, so that the next operation
# takes the slow path, which sees to it.
STUCK = TrieNode(None, True)


class Trace:
    """What a thread has recorded since its last flush.

    Attributes:
        node: where the walk is.
        epoch: number of this stretch; Tensors that carry it belong to it.
        values: Tensor by slot, leaves included.
        shadows: further Tensors of this stretch that hold a slot (values saved for gradients).
        reads (int): how often values were read on this thread.
        changes: what was changed in place: steps of `update`, or the new slot with the old one or the old Tensor.
        generic: hooks or Python-level gradients are involved; no shortcut for backward.
        in_layer: a Layer is being called, for inference.
        promoted: inputs that numbers have become in the step of `update` that is under way, else None.
        amp: decides the types that operators compute in (see paddle/amp/mode.py), or None.
    """

    __slots__ = ("node", "epoch", "values", "shadows", "grad", "lock", "generic", "flush_next", "gnodes", "reads",
                 "changes", "in_layer", "amp", "promoted", "__weakref__")  # fmt: skip
    abstract = False  # whether it records a program of which nothing is computed, see capture.py

    def __init__(self) -> None:
        self.grad = True
        self.amp: Any = None
        self.lock = threading.RLock()
        self.in_layer = False
        self.promoted: list[Tensor] | None = None
        self.reads = 0
        self.epoch = 0
        self.restart()

    def restart(self) -> None:
        self.node = STUCK
        _traces.pop(self.epoch, None)
        self.epoch = next(_epochs)
        self.values: dict[int, Tensor] = {}
        self.shadows: list[Tensor] = []
        self.generic = False
        self.flush_next: TrieNode | None = None
        self.gnodes: Any = None
        self.changes: list[Any] = []
        _traces[self.epoch] = self

    def ready(self) -> None:
        """Called where the walk is stuck: ends what has to end, and goes to where the next program begins.

        The user's line is part of that place, so that the lines that steps remember are those of this program.
        """
        if self.flush_next is not None:
            self.flush()
        self.node = trie.root(self.grad, self.amp, errors.user_frame())

    # -- leaves --
    def enter(self, t: Tensor) -> int:
        """Gives a Tensor from outside this trace a slot."""
        if self.node is STUCK:
            self.ready()
        if t.buffer is None:
            materialize_elsewhere(t)
        kind = 0 if t.sg else 1 if t.gnode is None else 2
        if kind == 2:
            self.generic = True  # what lies behind it is not part of the key
        key = (t.type, kind)
        node = self.node.children.get(key)
        if node is None:
            node = self.first_leaf(key)
        self.node = node
        slot = node.slot
        # Another thread may be using t: whoever reads the slot first and then finds its epoch has its own slot.
        # Threads do not take turns from the last test to the end: that needs a call or a loop.
        while t.buffer is None or _several:
            if t.buffer is None:
                materialize_elsewhere(t)
            at = part(t)
            if t.buffer is not None and t.epoch == at[0] and t.slot == at[1]:
                break
        t.epoch = 0
        t.slot = slot
        t.epoch = self.epoch
        self.values[slot] = t
        return slot

    def first_leaf(self, key: tuple[TensorType, int]) -> TrieNode:
        """The step for a leaf whose type is new at this place."""
        from . import family

        type_, kind = key
        found = None if _several else family.resized(self, key)
        if found is not None:
            return found
        node = self.child(1)
        node.type, node.types = type_, (type_,)
        node.sg = kind == 0
        node.sgs = (node.sg,)
        node.refs = (kind,)
        self.publish(key, node)
        family.note(self.node, node, key)
        return node

    def child(self, outputs: int) -> TrieNode:
        """A next step, to be filled in before others can meet it."""
        node = TrieNode(self.node, self.grad)
        node.next_slot = node.slot + outputs
        return node

    def publish(self, key: Any, node: TrieNode) -> None:
        """From here on every thread whose walk comes by may take the step."""
        self.node.children[key] = node
        trie.size += 1

    # -- operations --
    def ref(self, a: Any) -> Any:
        if isinstance(a, Tensor):
            slot = a.slot  # before the epoch, see enter
            return slot if a.epoch == self.epoch else self.enter(a)
        return a

    def record(self, op: Operator, args: tuple[Any, ...]) -> Any:
        """Applies an operator; Tensors, Numbers and Python numbers are arguments."""
        if self.node is STUCK:
            self.ready()
        epoch = self.epoch
        key: list[Any] = [op]
        for a in args:
            if isinstance(a, Tensor):
                slot = a.slot  # before the epoch, see enter
                key.append(slot if a.epoch == epoch else self.enter(a))
            else:
                key.append(type(a))
                key.append(a if a.__class__ is not float or a else repr(a))
        if self.epoch != epoch:  # a flush came in between
            return self.record(op, args)
        k = tuple(key)
        node = self.node.children.get(k)
        if node is None:
            return self.first_visit(k, op, args)
        self.node = node.end
        if node.outs:
            return self.take(node)
        t = make_tensor(node.type, epoch, node.slot, node.sg)  # type: ignore[arg-type]
        self.values[node.slot] = t
        return t

    def take(self, node: TrieNode) -> Any:
        """Tensors for the results of a multi-output step or a shortcut."""
        out = []
        for spec in node.outs:
            if spec is None or type(spec) is not tuple:
                out.append(spec)
                continue
            type_, slot, sg = spec
            t = make_tensor(type_, self.epoch, slot, sg)
            known = self.values.get(slot)
            if known is None:
                self.values[slot] = t
                out.append(t)
            else:
                out.append(known)
        return tuple(out) if len(out) > 1 else out[0]

    def first_visit(self, key: Any, op: Operator, args: tuple[Any, ...]) -> Any:
        if self.is_full():
            self.flush_before_next()
            return self.record(op, args)
        start = self.node
        promoted = self.promote_numbers(start, op, args)
        if promoted is not None:
            return self.record(op, promoted)
        if self.amp is not None:
            suited = self.amp.arguments(op, args)
            if suited is not None:
                return self.shortcut(start, key, self.record(op, suited))
        ready = op.prepare(*args)
        if op.compose and not op.vjp:
            out = op.compose(*ready)
            return self.shortcut(start, key, out)
        if any(a is not b for a, b in zip(ready, args)) or len(ready) != len(args):
            plain = all(isinstance(a, (Tensor, Number)) for a in ready)
            assert plain, f"{op!r}: prepare gave {ready}"
            if self.node is start and all(a is b or isinstance(a, Number) for a, b in zip(ready, args)):
                return self.step(key, op, ready)  # only numbers were typed: the key says as much
            return self.shortcut(start, key, self.record(op, ready))
        return self.step(key, op, ready)

    def step(self, key: Any, op: Operator, args: tuple[Any, ...]) -> Any:
        refs = tuple(self.ref(a) for a in args)
        types = op.infer_types(*(a.type for a in args))
        node = self.child(len(types))
        node.op, node.refs, node.types = op, refs, types
        node.line = errors.user_frame()
        grad = self.grad and bool(op.vjp) and any(isinstance(a, Tensor) and not a.sg for a in args)
        node.sgs = tuple(not (grad and t.dtype.is_differentiable) for t in types)
        node.type, node.sg = types[0], node.sgs[0]
        if len(types) > 1:
            node.outs = tuple((t, node.slot + i, s) for i, (t, s) in enumerate(zip(types, node.sgs)))
        self.publish(key, node)
        self.node = node
        if len(types) > 1:
            out = self.take(node)
        else:
            out = make_tensor(types[0], self.epoch, node.slot, node.sg)
            self.values[node.slot] = out
        if flags.get("FLAGS_eager_sync") and not self.abstract:
            self.flush()
        return out

    def is_full(self) -> bool:
        """Whether nothing new may follow here.

        A node alone decides, so that each visit ends the program at the same place and finds it compiled.
        """
        node: TrieNode | None = self.node
        if self.node.slot <= flags.get("FLAGS_eager_max_trace"):
            return False
        while node is not None and node.op is None:  # leaves alone are no program
            node = node.parent
        return node is not None

    def promote_numbers(self, node: TrieNode, op: Operator, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """From the third different number on at one place, numbers there become inputs of the program."""
        if not any(isinstance(a, (float, int)) and not isinstance(a, bool) for a in args):
            return None
        where = (op, tuple(a.slot if isinstance(a, Tensor) else type(a) for a in args))
        if node.numbers is None:
            node.numbers = {}
        seen = node.numbers[where] = node.numbers.get(where, 0) + 1
        if seen <= 2:
            return None
        ready = op.prepare(*args)
        if not any(isinstance(r, Number) for r in ready):
            return None
        found = tuple(from_array(r.array()) if isinstance(r, Number) else r for r in ready)
        if self.promoted is not None:
            self.promoted += [t for t, r in zip(found, ready) if isinstance(r, Number)]
        return found

    def shortcut(self, start: TrieNode, key: Any, out: Any) -> Any:
        """Remembers that `key` at `start` leads to here, so that next time nothing in between runs."""
        tensors = out if isinstance(out, tuple) else (out,)
        if (
            self.flush_next is None
            and self.node is not start
            and all(isinstance(t, Tensor) and t.epoch == self.epoch for t in tensors)
            and self.reachable_from(start)
        ):
            node = TrieNode(start, self.grad)
            node.end = self.node
            node.outs = tuple((t.type, t.slot, t.sg) for t in tensors)
            start.children[key] = node
        return out

    def reachable_from(self, start: TrieNode) -> bool:
        node: TrieNode | None = self.node
        while node is not None and node is not start:
            if node.op is None and node.parent is not None and node.types:
                return False  # a leaf entered in between has to be entered each time
            node = node.parent
        return node is start

    def leaves_since(self, start: TrieNode) -> set[int]:
        found = set()
        node: TrieNode | None = self.node
        while node is not None and node is not start:
            if node.op is None and node.types:
                found.add(node.slot)
            node = node.parent
        return found

    # -- steps over many operators --
    def macro(self, key: Any, tensors: Sequence[Tensor], fn: Callable[[], Any]) -> tuple[Tensor, ...]:
        """Tensors that `fn` makes of `tensors`; what it records is one step from its second visit on.

        Args:
            key: says, with the tensors, all that the result depends on.
            tensors: every Tensor that fn reads.
            fn: gives a tuple of Tensors; not called when this step was seen before.
        """
        if self.node is STUCK:
            self.ready()
        slots = [self.ref(t) for t in tensors]
        k = (key, *slots)
        start = self.node
        node = start.children.get(k)
        if node is not None:
            self.node = node.end
            out = self.take(node)
            return out if type(out) is tuple else (out,)
        out = fn()
        if out:
            self.shortcut(start, k, out)
        return out

    def update(
        self, key: Any, reads: Sequence[Tensor], writes: Sequence[Tensor], fn: Callable[[], Sequence[Tensor]]
    ) -> None:
        """Rebinds `writes` to what `fn` makes of them and of `reads`: one step from its second visit on.

        Values from outside this trace are entered by the step itself. `key` says all that the result depends on,
        including the type of every Tensor. Gradients are not recorded.
        """
        if self.node is STUCK:
            self.ready()
        epoch = self.epoch
        places = [t.slot if t.epoch == epoch else -1 for t in reads]
        places += [t.slot if t.epoch == epoch else -1 for t in writes]
        k = (key, *places)
        node = self.node.children.get(k)
        if node is None:
            self.first_update(k, reads, writes, fn)
            return
        values, cls = self.values, TENSOR[0]
        entered, given, numbers = node.outs
        for a, slot in numbers:
            t = values[slot] = from_array(a)
            t.epoch, t.slot = epoch, slot
        for i, slot in entered:
            t = reads[i]
            while t.buffer is None or _several:  # see enter
                if t.buffer is None:
                    materialize_elsewhere(t)
                at = part(t)
                if t.buffer is not None and t.epoch == at[0] and t.slot == at[1]:
                    break
            t.epoch = 0
            t.slot = slot
            t.epoch = epoch
            values[slot] = t
        self.changes.append(node)
        self.node = node.end  # before a Tensor takes a new slot: other threads may look for what makes it
        shared = []
        for x, old, slot in zip(writes, node.refs, given):
            if x.buffer is None and x.epoch != epoch:
                materialize_elsewhere(x)
            if slot != old:
                was = _new(cls)
                was.type, was.epoch, was.slot, was.sg = x.type, epoch, old, x.sg
                was.buffer, was.gnode, was.leaf, was.kin = x.buffer, x.gnode, x.leaf, None
                known = values.get(old)
                if known is x or known is None:
                    values[old] = was
                while _several:
                    at = part(x)
                    if x.epoch == at[0] and x.slot == at[1]:
                        break
                x.buffer = None
            values[slot] = x
            x.epoch, x.slot = epoch, slot
            if x.kin is not None:
                shared.append(x)
        for x in shared:
            share_change(x)

    def first_update(self, k: Any, reads: Sequence[Tensor], writes: Sequence[Tensor], fn: Any) -> None:
        start, epoch = self.node, self.epoch
        outside = [(i, t) for i, t in enumerate(reads) if t.epoch != epoch]
        entered = [(i, self.ref(t)) for i, t in outside]
        olds = [self.ref(x) for x in writes]
        grad, amp = self.grad, self.set_amp(None)
        self.set_grad(False)
        promoted: list[Tensor] = []
        self.promoted = promoted
        try:
            news: Sequence[Tensor] = fn()
        finally:
            self.promoted = None
            self.set_grad(grad)
            self.set_amp(amp)
        numbers = [(t.buffer, t.slot) for t in promoted if t.epoch == epoch]
        slots = [t.slot for t in news]
        changed = [s for s, old in zip(slots, olds) if s != old]
        distinct = len(set(changed)) == len(changed) and not set(changed) & set(olds)
        known = {slot for _, slot in entered} | {slot for _, slot in numbers} | set(olds)
        if (
            self.epoch == epoch
            and self.flush_next is None
            and distinct
            and all(t.epoch == epoch for t in news)
            and self.leaves_since(start) <= known  # more have entered where another thread took a Tensor meanwhile
        ):
            mark = self.mark(("updated", *slots))
            mark.given = mark.given.union(slots)
            node = TrieNode(start, grad)
            node.end = self.node
            node.refs = tuple(olds)
            node.outs = (tuple(entered), tuple(slots), tuple(numbers))
            start.children[k] = node
        for x, new in zip(writes, news):
            if new is x:
                continue
            old = shadow(x)
            note_change(self, x, new)
            if x.epoch == self.epoch and self.values.get(x.slot) is x:
                self.values[x.slot] = old
            if new.epoch == self.epoch and self.values.get(new.slot) is new:
                self.values[new.slot] = x
            while _several:
                at = part(x)
                if x.epoch == at[0] and x.slot == at[1]:
                    break
            x.epoch, x.slot, x.buffer = new.epoch, new.slot, new.buffer
        for x in writes:
            if x.kin is not None:
                share_change(x)

    # -- modes --
    def set_grad(self, on: bool) -> None:
        if on != self.grad:
            self.grad = on
            if self.node is not STUCK:
                self.turn(on)

    def set_amp(self, mode: Any) -> Any:
        """Sets what decides the types that operators compute in; returns what did before."""
        before, self.amp = self.amp, mode
        if mode is not before and self.node is not STUCK:
            self.turn(("amp", mode))
        return before

    def turn(self, key: Any) -> None:
        """A step without results to where another mode is in force."""
        node = self.node.children.get(key)
        if node is None:
            node = self.child(0)
            self.publish(key, node)
        self.node = node

    def mark(self, key: Any) -> TrieNode:
        """A step without results: keeps programs apart that differ in more than their operators."""
        if self.node is STUCK:
            self.ready()
        node = self.node.children.get(key)
        if node is None:
            node = self.child(0)
            self.publish(key, node)
        self.node = node
        return node

    def flush_before_next(self) -> None:
        """The operation recorded next starts a new program."""
        if self.flush_next is None and self.values:
            self.flush_next = self.node
            self.node = STUCK

    def flush(self) -> None:
        from .materialize import flush

        flush(self)


_traces: "weakref.WeakValueDictionary[int, Trace]" = weakref.WeakValueDictionary()
_several = False  # whether a second thread has ever recorded


class _Ending:
    """Goes with its thread, and has what others still hold of the thread's Tensors computed then."""

    __slots__ = ("process", "trace")

    def __init__(self, trace: Trace):
        self.process, self.trace = os.getpid(), trace

    def __del__(self) -> None:
        # A forked child drops its parent's other threads in the midst of what they did, locks held.
        if self.trace.values and not sys.is_finalizing() and self.process == os.getpid():
            try:
                self.trace.flush()
            except Exception:  # the values are lost, and those who read them are told
                self.trace.restart()


class _Local(threading.local):
    def __init__(self) -> None:
        global _several
        _several = bool(_traces)
        self.trace = Trace()
        self.ending = _Ending(self.trace)


def _forked() -> None:
    """In a child only the thread that forked lives on; what another was in the midst of running has no value."""
    for epoch, trace in list(_traces.items()):
        if trace is local.trace:
            trace.lock = threading.RLock()
        elif trace.lock.acquire(blocking=False):
            trace.lock.release()
        else:
            del _traces[epoch]
    local.ending.process = os.getpid()


local = _Local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def current() -> Trace:
    return local.trace


def forget_programs() -> None:
    """Starts the trie anew, where the meaning of a recorded step depends on a setting that has changed."""
    local.trace.flush()
    trie.clear()
    local.trace.restart()


types.on_default_dtype.append(forget_programs)


def trace_of(t: Tensor) -> Trace | None:
    """The running trace, of any thread, that a Tensor belongs to."""
    return _traces.get(t.epoch) if t.epoch else None


def materialize_elsewhere(t: Tensor) -> np.ndarray:
    """The data of a Tensor, of which some trace still owes it if there is none."""
    while True:
        a, epoch = t.buffer, t.epoch
        if a is not None:
            return a
        trace = local.trace
        other = _traces.get(epoch)
        if epoch == trace.epoch:
            trace.flush()
        elif other is not None and other.abstract:
            other.flush()
        elif other is not None:
            from .materialize import read_foreign
            from .tape import edge_of

            edge_of(t)
            read_foreign(other, t)
            continue  # if its thread has flushed, or given t another value, in the meantime
        if t.buffer is None and t.epoch == epoch:
            raise errors.precondition(
                "This Tensor's value was lost: the operation that makes it failed, or its thread has ended.",
                expected="a Tensor whose value can be computed",
                received=f"{t.type}",
                hint="look at the first error that was raised.",
            )


def part(t: Tensor) -> tuple[int, int]:
    """Where another thread's running trace holds t, a handle of the same value takes its place, as t goes elsewhere.

    Returns:
        The epoch and slot of t. Another thread may take t again until the caller has compared them.
    """
    epoch, slot = t.epoch, t.slot
    other = _traces.get(epoch)
    if other is not None and other is not local.trace:
        values = other.values  # of the stretch that t is in, if the epoch is still the same
        if other.epoch == epoch and values.get(slot) is t:
            if not t.sg:
                from .tape import edge_of

                edge_of(t)  # gradients of the handle are those of t
            held = shadow(t)
            if t.epoch == epoch and t.slot == slot:
                values[slot] = held
    return epoch, slot


def apply_operator(op: Operator, args: tuple[Any, ...]) -> Any:
    return local.trace.record(op, args)


Tensor.apply_operator = staticmethod(apply_operator)  # type: ignore[attr-defined]
registry._Context.default = lambda op: apply_operator(op, ())


def rebind(x: Tensor, new: Tensor) -> Tensor:
    """x stands for the value of `new` from now on (in-place operations), and Tensors that share memory with it for
    what that makes of them. Returns x."""
    take_value(x, new)
    if x.kin is not None:
        share_change(x, new)
    return x


def share_change(x: Tensor, new: Tensor | None = None) -> None:
    from .sharing import adopt, changed

    if new is None or not adopt(x, new):
        changed(x)


def take_value(x: Tensor, new: Tensor) -> None:
    """x alone stands for the value of `new` from now on."""
    trace = local.trace
    if not x.sg and new.sg:
        from .tape import edge_of

        edge_of(x)  # x keeps its history, as the change is not recorded; uses of `new` record gradients from here on
        if new.epoch == trace.epoch:
            trace.mark(("leaf", new.slot, x.slot if x.epoch == trace.epoch else None))
        if x.gnode is not None and x.epoch != trace.epoch:
            trace.generic = True
    note_change(trace, x, new)
    if x.epoch == trace.epoch and trace.values.get(x.slot) is x:
        trace.values[x.slot] = shadow(x)
    if new.epoch == trace.epoch and new.slot in trace.values and trace.values[new.slot] is new:
        trace.values[new.slot] = x
    while _several:
        at = part(x)
        if x.epoch == at[0] and x.slot == at[1]:
            break
    x.type, x.epoch, x.slot, x.buffer = new.type, new.epoch, new.slot, new.buffer
    if x.buffer is not None:
        x.made = getattr(new, "made", None)
    if not new.sg:
        x.sg, x.gnode, x.leaf = new.sg, new.gnode, new.leaf


def note_change(trace: Trace, x: Tensor, new: Tensor) -> None:
    """Remembers what x was before it stood for `new`, should the program fail that makes `new`."""
    if trace.abstract:
        trace.note(x)  # type: ignore[attr-defined]
        return
    if new.epoch == trace.epoch and new.buffer is None:
        if x.epoch == trace.epoch:
            trace.changes.append((new.slot, x.slot))
        elif x.buffer is not None:
            trace.changes.append((new.slot, shadow(x)))


def shadow(t: Tensor) -> Tensor:
    """Another handle of the same value."""
    s = make_tensor(t.type, t.epoch, t.slot, t.sg, t.buffer)
    s.gnode, s.leaf = t.gnode, t.leaf
    return s
