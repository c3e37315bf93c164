"""What a profiler notes while it records: flushes, launches, new programs, waiting for data, and what users mark."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

from ..engine import errors, flags
from ..engine.cpu.executor import Executor, statistics
from ..engine.cpu.inspect import TimedPlan, call_ns
from ..engine.cpu.runtime import cores, thread_count
from ..engine.cpu.work import Work, works
from ..engine.eager import materialize
from ..engine.eager.causes import cause_of
from ..engine.eager.trace import current
from ..engine.types import float32
from ..io import reader

__all__ = ["Event", "Recorder", "Recording"]

_now = time.perf_counter_ns


@dataclass
class Event:
    """A stretch of time on one thread.

    Attributes:
        kind (str): "step" (of the user's loop), "user" (RecordEvent), "data" (waiting for a batch), "flush", and within
            a flush "new" (a program is made), "prepare" (its kernels, operator by operator), "compile" (waiting for the
            compiled program), "kernel", "host" (numpy), "reference" (all of it by numpy), "profiler" (our own work).
        name (str): what it is.
        start, end (int): nanoseconds of the clock on the wall.
        thread (int): its identity.
        detail (dict): more, as plain data; events of the same kernel share one.
    """

    kind: str
    name: str
    start: int
    end: int
    thread: int
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end - self.start


@dataclass
class Recording:
    """All that was noted from start to stop.

    Attributes:
        events: in the order of their beginnings.
        start, end (int): nanoseconds of the clock on the wall.
        thread (int): the one that started the profiler.
        threads: names by identity.
        about (dict): settings, and what the machine did as a whole.
    """

    events: list[Event]
    start: int
    end: int
    thread: int
    threads: dict[int, str]
    about: dict[str, Any]


class Recorder:
    """Watches the engine from `start` to `stop`. One at a time in a process."""

    active: Recorder | None = None

    def __init__(self) -> None:
        self.raw: list[tuple[str, Any, int, int, int, Any]] = []
        self.plans: dict[int, tuple[int, TimedPlan, Any, Any]] = {}
        self.local = threading.local()
        self.ending = False
        self.held: dict[str, int] = {}  # bytes of the program that holds most while it runs

    # -- from start to stop --
    def start(self) -> None:
        """Begins. What was recorded by operators before runs first, so that it is not counted."""
        if Recorder.active is not None:
            raise errors.precondition(
                "Profiler: another profiler is recording.", expected="one at a time", hint="call its stop() first."
            )
        if materialize.watcher is not None:
            raise errors.precondition("Profiler: something else watches the engine, as paddle.debug.capture does.")
        current().flush()
        call_ns()
        self.offset = time.time_ns() - _now()
        self.thread = threading.get_ident()
        Recorder.active = materialize.watcher = self
        reader.watchers.append(self.waited)
        self.cpu, self.began = time.process_time_ns(), _now()

    def settle(self) -> None:
        """Has computed what is still to be computed on this thread, so that it is counted."""
        self.ending = True
        if threading.get_ident() == self.thread:
            try:
                current().flush()
            except BaseException:
                self.detach()
                raise

    def stop(self) -> Recording:
        """Ends; gives what was noted."""
        ended, cpu = _now(), time.process_time_ns() - self.cpu
        self.detach()
        about = {
            "cpu_ns": cpu, "cores": cores(), "threads": thread_count(), "call_ns": call_ns()[1], "pid": os.getpid(),
            "flags": {k: flags.get(k) for k in ("FLAGS_reference", "FLAGS_check_nan_inf", "FLAGS_eager_sync",
                                                "FLAGS_eager_compile")},
            "until_compiled": self.until_compiled(), "held": self.held,
        }  # fmt: skip
        names = {t.ident: t.name for t in threading.enumerate() if t.ident is not None}
        events = sorted(self.events(), key=lambda e: (e.start, -e.end))
        threads = {e.thread: names.get(e.thread, f"thread {e.thread}") for e in events}
        threads[self.thread] = names.get(self.thread, "MainThread")
        return Recording(events, self.began + self.offset, ended + self.offset, self.thread, threads, about)

    def detach(self) -> None:
        """Lets go of the engine."""
        if Recorder.active is not self:
            return
        Recorder.active = None
        materialize.watcher = None
        if self.waited in reader.watchers:
            reader.watchers.remove(self.waited)

    # -- told by the engine, see materialize.watcher --
    def begin(self) -> tuple[int, Any]:
        place = errors.user_frame()
        self.local.began = began = _now()
        return began, place

    def made(self, program: Any) -> None:
        now, thread = _now(), threading.get_ident()
        cause = cause_of(program)
        kind, text = ("end", "the profiler stops here") if self.ending else (cause.kind, cause.text)
        run = program.run
        graph = getattr(run, "graph", None)
        known = isinstance(run, Executor) and (run.visits > 0 or run.compiled is not None)
        detail = {
            "cause": kind, "text": text, "line": cause.line, "known": known,
            "operations": len(graph.nodes) if graph is not None else 0,
        }  # fmt: skip
        self.raw.append(("new", "new program", self.local.began, now, thread, detail))
        self.raw.append(("profiler", "cause of a new program", now, _now(), thread, None))

    def run(self, program: Any, arrays: list[Any]) -> list[Any]:
        run = program.run
        if isinstance(run, Executor):
            return self.execute(run, arrays)
        began = _now()
        out = run(arrays)
        graph = getattr(run, "graph", None)
        name = f"{len(graph.nodes)} operations" if graph is not None else type(run).__name__
        self.raw.append(("reference", name, began, _now(), threading.get_ident(), None))
        return out

    def end(self, token: tuple[int, Any]) -> None:
        began, place = token
        self.raw.append(("flush", "flush", began, _now(), threading.get_ident(), place))

    # -- programs --
    def execute(self, executor: Executor, arrays: list[Any]) -> list[Any]:
        """Runs a program as the executor does, launch by launch."""
        began, first, compiled = _now(), executor.first, executor.compiled
        plan = executor.plan(arrays)
        chosen = _now()
        if plan is not first and plan is not compiled:
            kind = "compile" if plan is executor.compiled else "prepare"
            text = f"{len(executor.graph.nodes)} operations"
            self.raw.append((kind, text, began, chosen, threading.get_ident(), None))
        number, timed = self.timed(plan, executor, arrays)
        ready = _now()
        self.raw.append(("profiler", "launches one by one", chosen, ready, threading.get_ident(), None))
        out = timed([*arrays, *plan.numbers])
        tier = "compiled" if plan is executor.compiled else "first"
        statistics[f"{tier}_s"] += (_now() - ready) / 1e9
        statistics[f"{tier}_runs"] += 1
        return out

    def timed(self, plan: Any, executor: Executor, arrays: list[Any]) -> tuple[int, TimedPlan]:
        known = self.plans.get(id(plan))
        if known is None:
            number, raw = len(self.plans), self.raw
            timed = TimedPlan(plan, lambda k, a, b: raw.append(("launch", number, a, b, threading.get_ident(), k)))
            known = self.plans[id(plan)] = (number, timed, plan, executor)
            made = sum(math.prod(shape) * dtype.itemsize for _, shape, dtype in plan.made)
            held = {"inputs": sum(a.nbytes for a in arrays), "results": made, "work": plan.arena + plan.kept}
            self.held = max(self.held, held, key=lambda h: sum(h.values()))
        return known[0], known[1]

    def until_compiled(self) -> int:
        """After how many more visits all programs that ran will have been compiled; -1 if some never will be."""
        left = [e.patience - e.visits for _, _, plan, e in self.plans.values() if e.compiled is None]
        return -1 if any(n > sys.maxsize // 2 for n in left) else max(left, default=0)

    # -- told by others --
    def waited(self, loader: Any, began: int, ended: int) -> None:
        """A batch was waited for."""
        detail = {"workers": loader.num_workers}
        self.raw.append(("data", "DataLoader", began, ended, threading.get_ident(), detail))

    def marked(self, kind: str, name: str, began: int, thread: int, type_name: str) -> None:
        """A step or a RecordEvent has ended."""
        self.raw.append((kind, name, began, _now(), thread, {"type": type_name}))

    # -- afterwards --
    def events(self) -> list[Event]:
        details = {number: _details(timed, plan, executor) for number, timed, plan, executor in self.plans.values()}
        found = []
        for kind, name, began, ended, thread, more in list(self.raw):
            if kind == "launch":
                detail = details[name][more]
                kind, name = "host" if detail["tier"] == "host" else "kernel", detail["name"]
            else:
                detail = {"line": more} if kind == "flush" else more or {}
            found.append(Event(kind, name, began + self.offset, ended + self.offset, thread, detail))
        return found


def _details(timed: TimedPlan, plan: Any, executor: Executor) -> list[dict[str, Any]]:
    """What each launch of a plan is."""
    compiled = plan.compiled_for is not None
    found = []
    for work, step in zip(_works(timed, executor, plan), timed.steps):
        line = step["line"]
        if line is not None and line[0] == "":
            line = plan.lines[line[1]] if plan.lines is not None else None
        total, grain = step.get("total", 1), step.get("grain", 1)
        found.append({
            "name": work.name, "tier": "host" if work.host else "compiled" if compiled else "first",
            "shapes": list(work.shapes), "bits": 8 * work.dtype.itemsize, "operations": work.operations,
            "read": work.read_bytes, "written": work.written_bytes, "tasks": -(-total // max(grain, 1)),
            "line": list(line) if line else None,
        })  # fmt: skip
    return found


def _works(timed: TimedPlan, executor: Executor, plan: Any) -> list[Work]:
    found = works(executor.graph, plan.compiled_for is not None, plan.compiled_for)
    names = [s.get("op") or s["host"] for s in timed.steps]
    if [w.operator for w in found] == names:
        return found
    warnings.warn(
        errors.message(
            "Unavailable", f"Profiler: what the {len(names)} launches of a program have to do is not known.",
            hint="this is a bug of the profiler: please report it.", at="",
        ), RuntimeWarning, stacklevel=2,
    )  # fmt: skip
    return [Work(n, n, ("",), float32, None, 0, 0, "host" in s) for n, s in zip(names, timed.steps)]


def _forget() -> None:
    """In a forked child: what it does is not what the profiler is to see."""
    if Recorder.active is not None:
        Recorder.active.detach()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
