"""The flush: what a trace has recorded becomes a program, runs, and gives values to the Tensors still in use."""

from __future__ import annotations

import collections
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors, flags
from ..arrays import Memory
from ..ir.graph import Graph, Value
from ..ops.elementwise import Detach
from ..ops.number import Constant, Number
from ..ops.registry import run_numpy
from . import tape
from .recovery import recover
from .trace import Tensor, Trace, TrieNode, forget_programs, make_tensor, trie

try:
    import _signal  # the module `signal` wraps every handler in an enumeration, 20 times as slow
except ImportError:
    _signal = signal

_count = sys.getrefcount
_MAIN = threading.main_thread().ident


def _look(values: dict[int, Tensor], dead: int, owned: int) -> tuple[list[int], list[int], list[int], int, int]:
    """Slots of the Tensors that somebody but the trace holds, and of the others with an array that nobody else has.

    dead, owned: reference counts of a Tensor and of an array that only the trace holds; the last two results are
    those of the last Tensor, with which they are found out.
    """
    live, spare = [], []
    differentiable = []
    n = m = 0
    for slot, t in values.items():
        n = _count(t)
        if n > dead:
            live.append(slot)
            if not t.sg:
                differentiable.append(slot)
        else:
            a = t.buffer
            if a is not None:
                m = _count(a)
                if m <= owned and (a.base is None or type(a.base) is Memory):
                    spare.append(slot)
    return live, differentiable, spare, n, m


def _shadow_counts(shadows: list[Tensor]) -> list[int]:
    return [_count(t) for t in shadows]


# How many references a Tensor has that nobody but the trace holds: counted once, as it depends on the interpreter.
_, _, _, _DEAD, _ONE_OWNER = _look({0: make_tensor(None, 0, 0, True, np.empty(1))}, 1000, 0)  # type: ignore[arg-type]
_DEAD_SHADOW = _shadow_counts([make_tensor(None, 0, 0, True)])[0]  # type: ignore[arg-type]


class Program:
    """What runs at one flush point for one set of live values.

    Attributes:
        leaves (tuple of int): slots of the inputs.
        run: what executes it, from the back end: takes and gives lists of arrays.
        home: the node and the key under which it is found: live slots, and those that may be overwritten.
        made: per result, the name of its operator and the user's line.
    """

    __slots__ = ("leaves", "run", "home", "made")

    def __init__(self, leaves: tuple[int, ...], run: Any, home: tuple[TrieNode, Any], made: tuple[Any, ...]):
        self.leaves, self.run, self.home, self.made = leaves, run, home, made


# Who sees flushes: a profiler while it records, or debug.capture, else None. `begin` and `end` frame a flush (what
# `begin` gives is handed to `end`; a flush that fails has no end), `made` is told of a new program, `run` runs one.
watcher: Any = None


def path_to(node: TrieNode) -> list[TrieNode]:
    """The steps that make values, in order."""
    found = []
    at: TrieNode | None = node
    while at is not None:
        if at.types:
            found.append(at)
        at = at.parent
    return found[::-1]


def graph_of(
    path: list[TrieNode],
    slots: Sequence[int],
    order: Sequence[int] | None = None,
    always: int = 0,
    stops: bool = False,
) -> tuple[Graph, tuple[int, ...]]:
    """The graph that gives `slots`, and the leaf slots it reads.

    Args:
        order: all leaves in the order of the inputs; that of the path by default.
        always: how many of them, the first, are inputs even if nothing reads them.
        stops: steps that recorded no gradients are told apart, by operators that stop them.
    """
    graph = Graph("eager" if order is None else "program")
    needed = set(slots)
    for step in reversed(path):
        if step.op is not None and (step.op.effect or any(step.slot + i in needed for i in range(len(step.types)))):
            needed.update(r for r in step.refs if type(r) is int)
    types = {s.slot: s.types[0] for s in path if s.op is None}
    leaves = tuple(s for i, s in enumerate(types if order is None else order) if i < always or s in needed)
    env: dict[int, Value] = {s: graph.input(types[s]) for s in leaves}
    numbers: dict[Number, Value] = {}
    for step in path:
        op = step.op
        if op is None or not (op.effect or any(step.slot + i in needed for i in range(len(step.types)))):
            continue
        args = []
        for r in step.refs:
            if isinstance(r, Number):
                if r not in numbers:
                    numbers[r] = graph.add(Constant(r.value, r.dtype), ())[0]
                args.append(numbers[r])
            else:
                args.append(env[r])
        for i, v in enumerate(graph.add(op, args, step.line, step.types)):
            stop = stops and not step.grad and v.dtype.is_differentiable and op.vjp
            env[step.slot + i] = graph.add(Detach(), (v,))[0] if stop else v
    graph.outputs = [env[s] for s in slots]
    return graph, leaves


def flush(trace: Trace) -> None:
    """Runs what the trace holds and starts it anew. After an error, what comes before the failing step has values."""
    with trace.lock:
        node = trace.flush_next or trace.node
        values = trace.values
        if not values:
            trace.restart()
            return
        watch = watcher
        began = watch.begin() if watch is not None else None
        slots, donated = survey(trace, node, values)
        held = uninterrupted()
        if slots:
            if node.programs is None:
                node.programs = {}
            key = (slots, donated)
            program = node.programs.get(key)
            try:
                if program is None:
                    program = node.programs[key] = make_program(node, slots, donated, values)
                    if watch is not None:
                        watch.made(program)
                elif program in _programs:
                    _programs.move_to_end(program)
                arrays = [values[s].buffer for s in program.leaves]
                held.__enter__()
                outputs = program.run(arrays) if watch is None else watch.run(program, arrays)
            except BaseException as e:
                held.__exit__()
                told = None
                try:
                    told = recover(trace, path_to(node), list(slots), backend)
                finally:
                    trace.restart()
                if told is not None and isinstance(e, type(told)):
                    raise told from None
                raise
            try:
                for slot, a, made in zip(slots, outputs, program.made):
                    t = values.get(slot)
                    if t is not None:
                        t.buffer, t.made = a, made
                if trace.shadows:
                    by_slot = dict(zip(slots, zip(outputs, program.made)))
                    for s in trace.shadows:
                        if s.slot in by_slot:
                            s.buffer, s.made = by_slot[s.slot]
            finally:
                trace.restart()
                held.__exit__()  # only now, as arrays of arguments have been written over
        else:
            trace.restart()
        if trie.size > flags.get("FLAGS_eager_trie_nodes"):
            trie.clear()
    if watch is not None:
        watch.end(began)
    if held.caught is not None:
        raise KeyboardInterrupt


class uninterrupted:
    """Holds Ctrl-C back until the block has ended, so that a flush is whole: buffers are overwritten in it."""

    __slots__ = ("before", "caught")

    def __init__(self) -> None:
        self.before: Any = None
        self.caught: Any = None

    def __enter__(self) -> None:
        if threading.get_ident() == _MAIN:
            self.before = _signal.getsignal(signal.SIGINT)
            if self.before is not signal.default_int_handler:
                self.before = None  # the program has plans of its own
            else:
                _signal.signal(signal.SIGINT, self.catch)

    def catch(self, number: int, frame: Any) -> None:
        self.caught = (number, frame)

    def __exit__(self, *exception: Any) -> None:
        if self.before is not None:
            _signal.signal(signal.SIGINT, self.before)


def survey(trace: Trace, node: TrieNode, values: dict[int, Tensor]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which slots have to be computed, and which leaves may be overwritten."""
    live, differentiable, spare, _, _ = _look(values, _DEAD, _ONE_OWNER)
    if differentiable and tape.keep_records(trace, differentiable):
        _, _, spare, _, _ = _look(values, _DEAD, _ONE_OWNER)  # some arrays are saved for a backward now
    # an inspector sees what nobody holds too
    return _wanted(trace, live if inspector is None else list(values), values), tuple(spare)


def pending(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Like `survey` of what is recorded, and leaves it as it is: nothing is kept for a backward still to come."""
    live, _, spare, _, _ = _look(trace.values, _DEAD, _ONE_OWNER)
    return _wanted(trace, live, trace.values), tuple(spare)


def _wanted(trace: Trace, live: list[int], values: dict[int, Tensor]) -> tuple[int, ...]:
    """What has to be computed, in one order, however it came to be known: so that equal programs are one."""
    slots = {s for s in live if values[s].buffer is None}
    if trace.shadows:
        counts = _shadow_counts(trace.shadows)
        slots.update(s.slot for s, n in zip(trace.shadows, counts) if n > _DEAD_SHADOW and s.buffer is None)
    return tuple(sorted(slots))


_programs: "collections.OrderedDict[Program, None]" = collections.OrderedDict()
_runs: "weakref.WeakValueDictionary[Any, Any]" = weakref.WeakValueDictionary()


def make_program(
    node: TrieNode, slots: tuple[int, ...], donated: tuple[int, ...], values: dict[int, Tensor]
) -> Program:
    """The program for a flush point. Equal graphs share what runs them, wherever they were recorded."""
    path = path_to(node)
    graph, leaves = graph_of(path, slots)
    mask = tuple(s in donated for s in leaves)
    lasting = tuple(is_lasting(values[s]) for s in leaves)
    run = shared_run(graph, mask, lasting, lambda: graph_of(path_to(node), slots)[0])
    wanted = set(slots)
    origin = {
        s.slot + i: (s.op.name, s.line)
        for s in path
        if s.op is not None
        for i in range(len(s.types))
        if s.slot + i in wanted
    }
    program = Program(leaves, run, (node, (slots, donated)), tuple(origin.get(s) for s in slots))
    _programs[program] = None
    while len(_programs) > flags.get("FLAGS_eager_programs"):
        old, _ = _programs.popitem(last=False)
        home, at = old.home
        if home.programs is not None:
            home.programs.pop(at, None)
    return program


def shared_run(graph: Graph, donated: tuple[bool, ...], lasting: tuple[bool, ...], again: Callable[[], Graph]) -> Any:
    """What runs a graph, which becomes its own: that of an equal graph, if there is one."""
    key = (signature(graph), donated, lasting)
    run = _runs.get(key)
    if run is None:
        run = _runs[key] = backend(graph, donated, again, lasting)
    else:
        graph.dispose()
    return run


def is_lasting(t: Tensor) -> bool:
    """Whether a Tensor is state of a model: a parameter, or what is saved with them."""
    return bool(t.__dict__.get("_persistable"))


def signature(graph: Graph) -> Any:
    """What tells one graph from another: operators by identity, and the lines of those that may find a bad element.

    Many signatures are kept: they are flat, so that the garbage collector has little to look at.
    """
    number = {v: i for i, v in enumerate(graph.values())}
    nodes: list[Any] = []
    for n in graph.nodes:
        nodes.append(n.op)
        nodes.extend(number[v] for v in n.inputs)
    return (
        tuple(v.type for v in graph.inputs),
        tuple(nodes),
        tuple(number[v] for v in graph.outputs),
        tuple(n.line for n in graph.nodes if may_fail(n)),
    )


def may_fail(node: Any) -> bool:
    """Whether an operator may meet an index or element that it refuses while it runs."""
    return node.op.fault != "out_of_range" or any(v.dtype.is_integer for v in node.inputs)


def visits() -> dict[str, int]:
    """How often each program has run, by its name, for `go_on` in another process. Those that ran once are left out.

    With them, where it has any, its constant inputs.
    """
    from ..cpu.executor import CONSTANT_OF, Executor
    from .family import met

    found = met()
    for run in list(_runs.values()):
        if isinstance(run, Executor) and run.visits > 1:
            name = run.name()
            found[name] = max(run.visits, found.get(name, 0))
            if any(run.constant):
                found[CONSTANT_OF + name] = sum(1 << i for i, c in enumerate(run.constant) if c)
    return found


def read_foreign(trace: Trace, t: Tensor) -> None:
    """Computes the value of a Tensor of another thread's running trace; that trace goes on undisturbed.

    Nothing is done where that thread flushes, or gives the Tensor another value, at the same time.
    """
    with trace.lock:
        slot = t.slot  # before the epoch, see Trace.enter
        if t.buffer is not None or t.epoch != trace.epoch:
            return
        node = trace.flush_next or trace.node
        values = dict(trace.values)
        graph, leaves = graph_of(path_to(node), (slot,))
        held = [values.get(s) for s in leaves]
        arrays = [None if h is None else h.buffer for h in held]
        if any(a is None for a in arrays):
            return
        a = backend(graph, tuple(False for _ in leaves))(arrays)[0]
        if t.buffer is None and t.epoch == trace.epoch and t.slot == slot:
            t.buffer = a


# Who looks at all that is computed, operator by operator, or None: a function of a node and the arrays it has given.
inspector: Callable[[Any, list[np.ndarray]], None] | None = None


def inspect(look: Callable[[Any, list[np.ndarray]], None] | None) -> None:
    """Sets the inspector. What was recorded before is computed first. While there is one, nothing is compiled."""
    global inspector
    forget_programs()
    inspector = look
    _settings_changed(None)


settings = [0]  # a number that changes with the settings that programs are made under


def _settings_changed(_: Any) -> None:
    """Programs made under other settings are not used any more."""
    settings[0] += 1
    forget_programs()
    _runs.clear()
    _programs.clear()


def statistics() -> dict[str, dict[str, float]]:
    """Programs run so far and the seconds they took, by tier: "first" (operator by operator) and "compiled"."""
    from ..cpu.executor import statistics as counted

    return {tier: {"runs": counted[f"{tier}_runs"], "seconds": counted[f"{tier}_s"]} for tier in ("first", "compiled")}


# ---- back ends --------------------------------------------------------------------------------
def backend(
    graph: Graph, donated: tuple[bool, ...], again: Callable[[], Graph] | None = None, lasting: tuple[bool, ...] = ()
) -> Any:
    """What runs a graph on the current device.

    Args:
        again: makes the graph anew, so that it need not be kept.
        lasting: inputs that are state of a model.
    """
    if inspector is not None or flags.get("FLAGS_check_nan_inf"):
        return Reference(graph, inspector or require_finite)
    if flags.get("FLAGS_reference"):
        return Reference(graph)
    from ..cpu.executor import Executor

    return Executor(graph, donated, again, lasting)


class Reference:
    """Runs every node by its numpy meaning, in order. The definition that compiled programs are held to.

    look: called with each node and what it has given.
    """

    def __init__(self, graph: Graph, look: Callable[[Any, list[np.ndarray]], None] | None = None):
        self.graph = graph
        self.look = look
        last: dict[Value, int] = {}
        for i, n in enumerate(graph.nodes):
            for v in n.inputs:
                last[v] = i
        keep = set(graph.outputs)
        self.dies = [[v for v in dict.fromkeys(n.inputs) if last[v] == i and v not in keep]
                     for i, n in enumerate(graph.nodes)]  # fmt: skip

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        env: dict[Value, Any] = dict(zip(self.graph.inputs, arrays))
        for node, dies in zip(self.graph.nodes, self.dies):
            try:
                out = run_numpy(node.op, *(env[v] for v in node.inputs))
            except IndexError as e:
                raise errors.placed(node.op, node.line, e) from None
            except np.linalg.LinAlgError as e:
                at = errors.describe_line(*node.line) if node.line else ""
                given = ", ".join(map(repr, (v.type for v in node.inputs)))
                raise errors.invalid_argument(
                    f"{node.op.name}: {e}.", expected="matrices that have this", received=given, at=at
                ) from None
            for v, a in zip(node.outputs, out):
                env[v] = conform(a, v)
            if self.look is not None:
                self.look(node, [env[v] for v in node.outputs])
            for v in dies:
                del env[v]
        return [env[v] for v in self.graph.outputs]


def conform(a: Any, v: Value) -> np.ndarray:
    a = np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a)
    assert a.dtype == v.dtype.np and a.shape == v.shape, f"{v.node}: gave {a.dtype}{a.shape}, inferred {v.type}"
    return a


def require_finite(node: Any, arrays: list[np.ndarray]) -> None:
    """Raises at the first node that gives NaN or infinity."""
    for v, a in zip(node.outputs, arrays):
        if v.dtype.is_differentiable and not np.isfinite(a).all():
            raise not_finite(node, a)


def not_finite(node: Any, a: np.ndarray) -> Exception:
    bad = ~np.isfinite(a)
    return errors.precondition(
        f"{node.op.name}: the result holds NaN or infinity (FLAGS_check_nan_inf is set).",
        received=f"{int(bad.sum())} of {a.size} elements, the first at {[int(i) for i in np.argwhere(bad)[0]]}",
        at=errors.describe_line(*node.line) if node.line else "",
        expected="finite numbers",
    )


for _name in ("FLAGS_reference", "FLAGS_check_nan_inf", "FLAGS_cpu_features", "FLAGS_winograd",
              "FLAGS_eager_constants", "FLAGS_recompute"):  # fmt: skip
    flags.on_change(_name, _settings_changed)
