"""Runs a graph on the CPU: operator by operator at first, compiled whole when it repeats."""

from __future__ import annotations

import itertools
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors, flags
from ..arrays import empty
from ..ir import saved
from ..ir.graph import Graph, Node, Value
from ..ops.number import Constant
from ..ops.registry import registry, run_numpy
from ..types import dtype_of
from . import compiler, jit, kernels, storage, workers
from .cache import object_cache
from .lower import single_steps
from .plan import MemoryPlan
from .recurrence import RecurrenceStep, expanded, functions_in
from .runtime import Commands, runtime
from .steps import KernelStep, LoopStep, ProductStep, Step

statistics: dict[str, float] = {
    "first_runs": 0,
    "first_s": 0.0,
    "compiled_runs": 0,
    "compiled_s": 0.0,
    "compile_s": 0.0,
}
_arenas: list[np.ndarray] = []


def release_arenas() -> int:
    """Gives back the memory that runs keep for the next one; returns its bytes."""
    freed = 0
    for _ in range(len(_arenas)):
        try:
            freed += _arenas.pop().nbytes
        except IndexError:  # another thread has taken it
            break
    return freed


SOURCE, WRITTEN = 1, 2  # roles of inputs, beside 0
SAME_RUNS = 8  # with the same arrays, before these count as constant


def pointer(a: np.ndarray) -> int:
    """Address of the first element."""
    return a.__array_interface__["data"][0]


class Plan:
    """A description with the machine code it needs, ready to run.

    Args:
        description: from `compiler.describe`.
        functions: addresses by name; launches of the first tier carry addresses themselves.
        code: whatever keeps the machine code alive.
        lines: the user's lines, by the number that the description uses.

    Attributes:
        numbers: arrays that every run gets as its last inputs.
        compiled_for: of the compiled tier, the inputs that count as constant; else None.
        kept: bytes of what the first segments make of the inputs `sources` alone: they run only when those change.
    """

    def __init__(self, description: dict[str, Any], functions: dict[str, int], code: Any, lines: Any = None):
        self.code = code
        self.outputs = [(tuple(s), dtype_of(d).np) for s, d in description["outputs"]]
        self.taken = [(j, i) for j, i in description["taken"]]
        self.forwarded = description["forwarded"]
        self.host_outputs = description["host_outputs"]
        taken = {j for j, _ in self.taken} | {j for j, _, _ in self.forwarded} | {j for j, _ in self.host_outputs}
        self.made = [(j, *self.outputs[j]) for j in range(len(self.outputs)) if j not in taken]
        self.arena = description["arena"]
        self.inputs = description["inputs"]
        count = 2 + self.inputs + len(self.outputs)
        hosts = [p for s in description["steps"] if "host" in s for p in s["out"] if p[0] == "host"]
        self.host_base = count
        self.bases = np.zeros(count + len(hosts) + 1, np.int64)
        self.status = np.zeros(8, np.int64)
        self.bases[0] = self.status.ctypes.data
        self.bases_address = self.bases.ctypes.data
        self.lock = threading.Lock()
        # the arrays of the last run: parameters are the same ones step after step
        self.known: list[Any] = [None] * self.inputs
        self.numbers: list[np.ndarray] = []
        self.kept_base = count + len(hosts)
        prepared = description.get("prepared", {"bytes": 0, "steps": 0, "inputs": []})
        self.kept, self.sources, self.early = prepared["bytes"], prepared["inputs"], 0
        self.compiled_for: tuple[bool, ...] | None = None
        self.preparations = storage.Preparations()
        self.written, self.unwatched = description["written"], -1
        self.roles = [0] * self.inputs
        for i in self.sources:
            self.roles[i] = SOURCE
        for i in self.written:
            self.roles[i] = WRITTEN
        self.segments: list[Any] = []
        self.launches: list[dict[str, Any]] = []
        self.lines = lines
        commands, size = Commands(), 0
        first = 0
        for number, s in enumerate(expanded(description["steps"])):
            if number == prepared["steps"] and number:
                self.segments.append((commands.finish(), first))
                self.early = len(self.segments)
                commands, size, first = Commands(), 0, len(self.launches)
            if "host" in s:
                if size:
                    self.segments.append((commands.finish(), first))
                    commands, size, first = Commands(), 0, len(self.launches)
                op = registry[s["host"]](**{k: saved.decode(a) for k, a in s["attrs"].items()})
                ins = [(self.base(p), p[2], tuple(p[3]), dtype_of(p[4]).np) for p in s["in"]]
                outs = [(self.base(p), tuple(p[3]), dtype_of(p[4]).np) for p in s["out"]]
                self.segments.append((op, ins, outs, s))
                continue
            fn = s["fn"]
            pointers = [(0, 0), *((self.base(p), p[2]) for p in s["ptrs"])]
            commands.add(functions[fn] if isinstance(fn, str) else fn, s["total"], s["grain"], pointers, s["dims"])
            self.launches.append(told(s))
            size += 1
        if size:
            self.segments.append((commands.finish(), first))
        self.late = self.segments[self.early :]
        self.runtime = runtime()

    def base(self, p: list[Any]) -> int:
        kind, i = p[0], p[1]
        if kind in ("status", "arena"):
            return int(kind == "arena")
        return {"input": 2, "output": 2 + self.inputs, "host": self.host_base, "kept": self.kept_base}[kind] + i

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        # Two threads may be here at once: the second takes pointers of its own. Nobody waits, so a fork does no harm.
        if not self.lock.acquire(False):
            bases, status = self.bases.copy(), np.zeros(8, np.int64)
            bases[0] = status.ctypes.data
            for i, a in enumerate(arrays, 2):
                bases[i] = pointer(a)
            storage.written(arrays[i] for i in self.written)
            return self.execute(arrays, bases, bases.ctypes.data, status, None)
        try:
            known, bases, moved = self.known, self.bases, False
            roles = self.roles if self.kept or storage.watches else None  # a training has new arrays in each step
            for i, a in enumerate(arrays):
                last = known[i]
                if last is None or last() is not a:
                    bases[2 + i] = pointer(a)
                    known[i] = weakref.ref(a)
                    if roles is None:
                        continue
                    if roles[i] == SOURCE:
                        moved = True
                    elif roles[i] == WRITTEN and id(a) in storage.watches:
                        storage.written((a,))
            if self.written and self.unwatched != storage.serial:
                self.unwatched = storage.serial
                storage.written(arrays[i] for i in self.written)
            prepared = None
            if self.kept:
                sets = self.preparations
                sets.runs += 1
                prepared = sets.current
                if moved or prepared is None or prepared.memory is None:
                    prepared = sets.find([arrays[i] for i in self.sources])
            return self.execute(arrays, self.bases, self.bases_address, self.status, prepared)
        finally:
            self.lock.release()

    def execute(
        self, arrays: list[np.ndarray], bases: np.ndarray, address: int, status: np.ndarray, prepared: Any
    ) -> list[np.ndarray]:
        out: list[Any] = [None] * len(self.outputs)
        segments, kept = self.segments, None
        if prepared is not None and prepared.memory is not None:
            kept, segments = prepared.memory, self.late
            bases[self.kept_base] = pointer(kept)
        elif self.kept:
            kept = empty((self.kept,), np.uint8)
            bases[self.kept_base] = pointer(kept)
        arena = None
        if self.arena:
            arena = _arenas.pop() if _arenas else None
            if arena is None or arena.nbytes < self.arena:
                arena = empty((self.arena,), np.uint8)
            bases[1] = pointer(arena)
        for j, shape, dtype in self.made:
            a = out[j] = empty(shape, dtype)
            bases[2 + self.inputs + j] = pointer(a)
        hosts: dict[int, np.ndarray] = {}
        for segment in segments:
            if len(segment) == 2:
                program, first = segment
                if self.runtime.run(program, address):
                    raise self.fault(first, status)
            else:
                self.host(segment, arrays, out, {1: arena, self.kept_base: kept}, hosts, bases)
        for j, i in self.taken:
            a, shape = arrays[i], self.outputs[j][0]
            out[j] = a if a.shape == shape else a.reshape(shape)
        for j, k in self.host_outputs:
            a, shape = hosts[self.host_base + k], self.outputs[j][0]
            out[j] = a if a.shape == shape else a.reshape(shape)  # a view cannot be written over later
        for j, kind, i in self.forwarded:
            source = arrays[i] if kind == "input" else out[i]
            shape = self.outputs[j][0]
            out[j] = source if source.shape == shape else source.reshape(shape)
        if arena is not None:
            _arenas.append(arena)
        if prepared is not None:
            prepared.keep(kept)
        return out

    def host(
        self, segment: Any, arrays: list[np.ndarray], out: list[Any], memory: dict[int, Any], hosts: dict[int, Any],
        bases: Any,
    ) -> None:  # fmt: skip
        op, ins, outs, step = segment
        args = []
        for base, offset, shape, dtype in ins:
            if base in memory:
                n = int(np.prod(shape)) * dtype.itemsize
                a = memory[base][offset : offset + n].view(dtype).reshape(shape)
            elif base < 2 + self.inputs:
                a = arrays[base - 2]
            elif base < self.host_base:
                a = out[base - 2 - self.inputs]
            else:
                a = hosts[base]
            args.append(a if a.shape == shape else a.reshape(shape))
        if step["overwrites"]:
            op.overwrite(*args)
            return
        try:
            if op.nested:
                from .nested import program

                results = op.nested(program, *args)
            else:
                results = run_numpy(op, *args)
        except (IndexError, np.linalg.LinAlgError) as e:
            raise errors.placed(op, self.place(step), e) from None
        for (base, shape, dtype), r in zip(outs, results):
            r = np.ascontiguousarray(r) if np.ndim(r) else np.asarray(r)
            assert r.shape == shape and r.dtype == dtype, f"{op!r}: gave {r.dtype}{r.shape}, inferred {dtype}{shape}"
            if r.base is not None or any(r is a for a in args):
                r = r.copy()  # a view of an argument: that buffer may be used again
            hosts[base] = r
            bases[base] = pointer(r)

    def fault(self, first: int, status: np.ndarray) -> Exception:
        code, where, value = (int(x) for x in status[:3])
        status[:] = 0
        step = self.launches[first + where]
        text, *origin = step["messages"][code - 1]
        name, line = origin or (step["op"], step["line"])  # of one of the operators that are computed together
        kind = getattr(registry.get(name), "fault", "out_of_range")
        return getattr(errors, kind)(f"{name}: {text.format(value=value)}", at=self.line({"line": line}))

    def place(self, step: dict[str, Any]) -> tuple[str, int] | None:
        line = step["line"]
        if line is not None and line[0] == "" and self.lines is not None:
            line = self.lines[line[1]]
        return line or None

    def line(self, step: dict[str, Any]) -> str:
        found = self.place(step)
        return errors.describe_line(*found) if found else ""


def told(launch: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a launch, for errors and profiles. It holds no lists: a great many are kept."""
    line = launch["line"]
    return {
        "op": launch["op"], "fn": launch["fn"], "total": launch["total"], "grain": launch["grain"],
        "messages": tuple(map(tuple_of, launch["messages"])), "line": None if line is None else tuple(line),
    }  # fmt: skip


def tuple_of(a: Any) -> Any:
    return tuple(map(tuple_of, a)) if isinstance(a, (list, tuple)) else a


class Executor:
    """Runs one graph; decides which tier does.

    The first visits run operator by operator. From the second on the graph is compiled in the background, and from
    visit `patience` on the compiled program runs, waited for if need be. `patience` follows from the graph alone, so
    that the same script computes the same bits on every run.

    What follows from inputs that stay is computed once, see `Looking`.

    Args:
        donated: inputs that may be written over.
        again: makes the graph anew.
        lasting: inputs that are weights, or other state of a model.
    """

    def __init__(
        self, graph: Graph, donated: tuple[bool, ...], again: Callable[[], Graph] | None = None,
        lasting: tuple[bool, ...] = (),
    ):  # fmt: skip
        self._graph: Graph | None = graph
        self.again, self.donated = again, donated
        name = self.name() if _earlier else ""
        self.visits = _earlier.get(name, 0)
        self.first: Plan | None = None
        self.compiled: Plan | None = None
        self.job: Any = None
        self.patience = patience(graph)
        self.choosing = threading.Lock()
        self.constant: tuple[bool, ...] = ()
        self.looking = looking(tuple(x and not d for x, d in zip(lasting, donated)))
        if self.looking is not None and flags.get("FLAGS_eager_constants") == "always":
            self.constant = self.looking.lasting
        elif self.looking is not None and self.visits:
            bits = _earlier.get(CONSTANT_OF + name, 0)
            self.constant = tuple(x and bool(bits >> i & 1) for i, x in enumerate(self.looking.lasting))

    @property
    def graph(self) -> Graph:
        """The graph; made anew where it was not kept."""
        if self._graph is not None:
            return self._graph
        assert self.again is not None
        return self.again()

    def name(self) -> str:
        """What the program is called in every process, whatever it may overwrite there."""
        graph = self.graph
        return compiler.cache_key(compiler.payload(graph, (False,) * len(graph.inputs)))

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        plan = self.plan(arrays)
        began = time.perf_counter()
        out = plan(arrays + plan.numbers if plan.numbers else arrays)
        kind = "compiled" if plan is self.compiled else "first"
        statistics[kind + "_s"] += time.perf_counter() - began
        statistics[kind + "_runs"] += 1
        return out

    def plan(self, arrays: list[np.ndarray]) -> Plan:
        """What to run on these arrays."""
        compiled = self.compiled
        if compiled is None:
            return self.choose(arrays)
        if self.looking is not None and self.looking.is_due(compiled):
            return self.reconsider(self.looking, compiled, arrays)
        return compiled

    def reconsider(self, looking: Looking, compiled: Plan, arrays: list[np.ndarray]) -> Plan:
        """The program for other constant inputs, once it is known which they are."""
        if not self.choosing.acquire(False):
            return compiled
        try:
            if looking.next is None:
                looking.look(self.constant, compiled, arrays, lambda c: compiler.liftable(self.graph, c))
                if looking.next is not None:
                    self.begin(looking.next)
                return compiled
            self.constant, looking.next = looking.next, None
            self.compiled = self.compile()
            return self.compiled
        except Exception as e:
            self.looking = None
            self.complain(e, "could not be compiled for weights that stay; it runs on as it is.")
            return compiled
        finally:
            self.choosing.release()

    def choose(self, arrays: list[np.ndarray]) -> Plan:
        self.visits += 1
        # The graph may be taken apart here: a second thread makes its own. Nobody waits, so a fork does no harm.
        if not self.choosing.acquire(False):
            return self.first or first_tier(self.again() if self.again is not None else self.graph, self.donated)
        try:
            return self.choose_alone(arrays)
        finally:
            self.choosing.release()

    def choose_alone(self, arrays: list[np.ndarray]) -> Plan:
        mode = flags.get("FLAGS_eager_compile")
        if mode == "always" or (mode == "auto" and self.visits >= self.patience):
            try:
                self.compiled = self.compile()
            except Exception as e:
                if isinstance(e, workers.CompileError) or mode == "auto":
                    self.stay(e)
                else:
                    raise
            else:
                self.first = None
                return self.compiled
        if mode == "auto" and self.visits == 2:
            if self.looking is not None and self.first is not None and not self.constant:
                self.constant = self.looking.guess(self.first.known, arrays)
            self.begin(self.constant)
        if self.first is None:
            self.first = first_tier(self.graph, self.donated)
            if self.again is not None and self._graph is not None:
                self._graph.dispose()  # a program whose shapes do not come again needs it no more
                self._graph = None
        return self.first

    def stay(self, error: Exception) -> None:
        """Goes on operator by operator where the program cannot be compiled, and says so."""
        self.patience = sys.maxsize
        self.complain(error, "could not be compiled as a whole; it runs on, operator by operator.")

    def complain(self, error: Exception, what: str) -> None:
        line = next((n.line for n in reversed(self.graph.nodes) if n.line), None)
        text = errors.message(
            "Unavailable", f"a program of {len(self.graph.nodes)} operations {what}",
            received=f"{type(error).__name__}: {error}", hint="this is a bug of the compiler: please report it.",
            at=errors.describe_line(*line) if line else "",
        )  # fmt: skip
        warnings.warn(text, RuntimeWarning, stacklevel=3)

    def begin(self, constant: tuple[bool, ...]) -> None:
        """Starts the compilation beside the program."""
        data = compiler.payload(self.graph, self.donated, constant)
        if object_cache().get(compiler.cache_key(data)) is None:
            self.job = workers.submit(data)

    def compile(self) -> Plan:
        began = time.perf_counter()
        data = compiler.payload(self.graph, self.donated, self.constant)
        key = compiler.cache_key(data)
        result = object_cache().get(key)
        if result is None:
            try:
                result = self.job.result() if self.job is not None else compiler.compile_payload(data)
            except workers.CompileError as e:
                if e.crashed:
                    raise
                result = compiler.compile_payload(data)  # the worker was lost for another reason
            object_cache().put(key, result)
        self.job = None
        description, objects = compiler.unpack(result)
        names = {s["fn"] for s in functions_in(description["steps"])}
        kinds = [k for k in "kp" if any(n[0] == k for n in names)]
        loaded = [jit.load(code, [n for n in names if n[0] == k]) for k, code in zip(kinds, objects)]
        functions = {name: address for part in loaded for name, address in part.addresses.items()}
        plan = Plan(description, functions, loaded, [n.line for n in self.graph.nodes])
        plan.compiled_for = self.constant
        statistics["compile_s"] += time.perf_counter() - began
        return plan


class Looking:
    """Finds out which inputs of a program are constant: lasting ones that were the same arrays, not written to, run
    after run. All is told by counting runs.

    Attributes:
        lasting: the inputs in question.
        next: the constant inputs of the program that is being compiled, None if none is.
    """

    def __init__(self, lasting: tuple[bool, ...]):
        self.lasting = lasting
        self.next: tuple[bool, ...] | None = None
        self._runs, self._due, self._pause = 0, SAME_RUNS, SAME_RUNS
        self._watches: list[storage.Watch | None] = []

    def guess(self, before: list[Any], arrays: list[np.ndarray]) -> tuple[bool, ...]:
        """Those that are the arrays of the run before."""
        same = zip(self.lasting, before, arrays)
        return tuple(x and b is not None and b() is a for x, b, a in same)

    def is_due(self, compiled: Plan) -> bool:
        self._runs += 1
        return self._runs >= self._due or (self.next is None and not compiled.preparations.steady)

    def look(
        self, constant: tuple[bool, ...], compiled: Plan, arrays: list[np.ndarray],
        worth: Callable[[tuple[bool, ...]], bool],
    ) -> None:  # fmt: skip
        """Sets `next` if other inputs are constant than those that the program was compiled for."""
        if not compiled.preparations.steady:
            self.next, self._pause = (), 8 * self._pause
        elif compiled.kept:
            self._due = self._runs + self._pause
            return
        elif not self._watches:
            self._watches = [storage.watch(a) if x else None for x, a in zip(self.lasting, arrays)]
            self._due = self._runs + SAME_RUNS
            return
        else:
            found = tuple(w is not None and storage.is_watched(w, a) for w, a in zip(self._watches, arrays))
            if any(found) and found != constant and worth(found):
                self.next = found
            self._pause = min(2 * self._pause, 4096)
        self._watches = []
        self._due = self._runs + (SAME_RUNS if self.next is not None else self._pause)


def looking(lasting: tuple[bool, ...]) -> Looking | None:
    return Looking(lasting) if any(lasting) and flags.get("FLAGS_eager_constants") != "never" else None


# Visits in the process that this one goes on with, by name; and by CONSTANT_OF and the name, a bit for each input.
_earlier: dict[str, int] = {}
CONSTANT_OF = "constant of "


def go_on(visits: dict[str, int]) -> None:
    """Programs made from now on count as visited as often as there: the tiers round differently here and there."""
    _earlier.clear()
    _earlier.update(visits)


def patience(graph: Graph) -> int:
    """At which visit the compiled program takes over: sooner the more a run costs beside the compilation."""
    compile_ms = 60 + 6 * len(graph.nodes)
    run_ms = 0.02 * len(graph.nodes) + sum(v.type.size for v in graph.values()) * 2e-6
    return int(min(64, max(4, compile_ms / max(run_ms, 0.05) / 4)))


def first_tier(graph: Graph, donated: tuple[bool, ...]) -> Plan:
    """A plan that runs operator by operator. Those that a process needs first are kept for the next process."""
    early = next(_made) < EARLY
    key = "first " + compiler.cache_key(compiler.payload(graph, donated)) if early else ""
    stored = object_cache().get(key) if early else None
    if stored is not None:
        description, objects = compiler.unpack(stored)
        loaded = [jit.load(data, ["k"]) for data in objects]
        functions = {f"f{i}": code.addresses["k"] for i, code in enumerate(loaded)}
        made = Plan(description, functions, loaded, [n.line for n in graph.nodes])
        made.numbers = [np.asarray(saved.decode(x)).astype(dtype_of(d).np) for d, x in description["numbers"]]
        return made
    whole, prepared = graph, compiler.prepare(graph, False)
    graph, numbers = numbers_as_inputs(prepared)
    donated += (False,) * len(numbers)
    steps = single_steps(graph)
    plan = MemoryPlan(graph, steps, donated, loops=False)
    code: list[Any] = []
    native = launches(steps, code)
    description = compiler.describe(graph, steps, plan, native)
    made = Plan(description, {}, code)
    made.numbers = numbers
    if early:
        keep_first(key, description, code, numbers, whole)
    for g in (prepared, graph):
        if g is not whole:
            g.dispose()
    return made


def launches(steps: list[Step], code: list[Any]) -> dict[int, Any]:
    """The launches of steps, and their kernels in `code`."""
    native: dict[int, Any] = {}
    for i, s in enumerate(steps):
        if isinstance(s, LoopStep):
            native[i] = kernels.launch(s.node, s.outputs[0].index)
        elif isinstance(s, ProductStep):
            native[i] = kernels.product_launch(s)
        elif isinstance(s, KernelStep):
            native[i] = [kernels.own_launch(s, x) for x in s.kernels]
            code += [x["code"] for x in native[i]]
            continue
        elif isinstance(s, RecurrenceStep):
            native[i] = launches(s.steps, code)
            continue
        else:
            continue
        code.append(native[i]["code"])
    return native


EARLY = 32  # plans of the first tier that are kept: what a process runs first, the next one runs first
_made = itertools.count()


def keep_first(key: str, description: dict[str, Any], code: list[Any], numbers: list[np.ndarray], graph: Graph) -> None:
    """Puts a plan of the first tier into the object cache, with its kernels, for a process that starts."""
    ready = {r.address: r for r in code}
    names = {address: f"f{i}" for i, address in enumerate(ready)}
    places = {n.line: i for i, n in reversed(list(enumerate(graph.nodes))) if n.line}

    def named(s: dict[str, Any]) -> dict[str, Any]:
        line = None if s["line"] is None else ["", places[tuple(s["line"])]]
        if "repeat" in s:
            repeat = {**s["repeat"], "launches": [named(x) for x in s["repeat"]["launches"]]}
            return {**s, "line": line, "repeat": repeat}
        return {**s, "line": line, **({"fn": names[s["fn"]]} if "fn" in s else {})}

    steps = [named(s) for s in description["steps"]]
    known = [[a.dtype.name, saved.encode(a.item())] for a in numbers]
    object_cache().put(
        key, compiler.pack({**description, "steps": steps, "numbers": known}, [r.data for r in ready.values()])
    )


def numbers_as_inputs(graph: Graph) -> tuple[Graph, list[np.ndarray]]:
    """The graph with its constants as further inputs, so that kernels do not depend on them; and their values."""
    numbers: list[np.ndarray] = []

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if not isinstance(node.op, Constant):
            return None
        numbers.append(node.op.numpy())
        return (new.input(node.outputs[0].type),)

    if any(isinstance(n.op, Constant) for n in graph.nodes):
        graph = graph.rebuild(visit)
    return graph, numbers
