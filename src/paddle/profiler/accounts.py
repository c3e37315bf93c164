"""Where the time of a recording went, and what each kernel did beside what the machine can do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..engine.cpu.peak import CACHED_BYTES, Peak
from .recorder import Event, Recording

__all__ = ["Account", "Kernel", "accounts", "kernels", "news"]

_ONE_LAUNCH_S = 2e-8  # of a launch that stays on one thread
# Inside these an event has a row of its own; what a flush and Python do beside are what is left.
_KINDS = (
    "data",
    "new",
    "prepare",
    "compile",
    "compiled",
    "first",
    "host",
    "reference",
    "dispatch",
    "profiler",
    "python",
)


@dataclass
class Account:
    """A row of the overview: calls, and nanoseconds."""

    calls: int = 0
    ns: int = 0


def accounts(r: Recording) -> dict[str, Account]:
    """The time of the thread that started the profiler, split without rest.

    Returns:
        dict: By kind of event; kernels by tier ("compiled", "first"); "dispatch", a flush beside all that; "python",
        what lies outside flushes and waiting for data: recording operators, and the user's own code.
    """
    found = {kind: Account() for kind in _KINDS}
    counted: list[Event] = []
    inside: dict[int, int] = {}
    covered = 0
    stack: list[Event] = []
    for e in r.events:
        if e.thread != r.thread or e.kind in ("step", "user"):  # steps and marks take no time themselves
            continue
        while stack and e.start >= stack[-1].end:
            stack.pop()
        if not stack:
            covered += e.duration
        elif stack[-1].kind == "data":  # operators that make a batch
            continue
        else:
            inside[id(stack[-1])] = inside.get(id(stack[-1]), 0) + e.duration
        stack.append(e)
        counted.append(e)
    for e in counted:
        row = found[_row(e)]
        row.calls += 1
        row.ns += max(0, e.duration - inside.get(id(e), 0))
    launches = found["compiled"].calls + found["first"].calls
    own = min(found["dispatch"].ns, launches * r.about["call_ns"])
    found["dispatch"].ns -= own
    found["profiler"].ns += own
    found["python"].ns = max(0, r.end - r.start - covered)
    return found


def _row(e: Event) -> str:
    if e.kind == "flush":
        return "dispatch"
    return e.detail["tier"] if e.kind == "kernel" else e.kind


@dataclass
class Kernel:
    """A row of the table of kernels: all launches of one kernel.

    Attributes:
        name (str), shape (str), tier (str), line: what it is, and where in the user's code.
        times (list of int): ns of each call.
        operations, nbytes (float): of all calls together; operations None where they are not known.
        written (float): those of the bytes that are written, not read.
        movable (float): bytes that the machine, as measured, moves in the time of all calls: from memory, or from the
            cores' caches where a call's bytes lie there. No hardware counter is read: this bounds what was moved.
        tasks (int): parts of a launch that threads share. bits (int): of an element.
        bound (str): "compute", "memory", "dispatch", or "host" for what numpy does.
        least_s (float): what the calls would take at that bound.
    """

    name: str
    shape: str
    shapes: tuple[str, ...]
    tier: str
    line: tuple[str, int] | None
    bits: int = 32
    tasks: int = 1
    times: list[int] = field(default_factory=list)
    operations: float | None = 0.0
    nbytes: float = 0.0
    written: float = 0.0
    movable: float = 0.0
    bound: str = ""
    least_s: float = 0.0

    @property
    def ns(self) -> int:
        return sum(self.times)

    @property
    def gflops(self) -> float | None:
        """1e9 operations per second."""
        return self.operations / self.ns if self.operations and self.ns else None

    @property
    def gbytes(self) -> float:
        """1e9 bytes per second."""
        return self.nbytes / self.ns if self.ns else 0.0

    @property
    def off(self) -> float:
        """How many times as long as at its bound."""
        return self.ns / 1e9 / self.least_s if self.least_s else 0.0


def kernels(events: Iterable[Event], peak: Peak | None, by_shapes: bool = False) -> list[Kernel]:
    """Kernels and host steps, those that took longest first.

    peak: for bounds, which else are not told. by_shapes: apart by what they read, not only by what they make.
    """
    found: dict[Any, Kernel] = {}
    for e in events:
        d = e.detail
        if e.kind not in ("kernel", "host") or "tier" not in d:
            continue
        line = tuple(d["line"]) if d["line"] else None
        key = (d["tier"], d["name"], *(d["shapes"] if by_shapes else d["shapes"][-1:]), line)
        k = found.get(key)
        if k is None:
            shapes = tuple(d["shapes"])
            k = found[key] = Kernel(e.name, shapes[-1], shapes, d["tier"], line, d["bits"], d["tasks"])
        k.times.append(e.duration)
        k.tasks = max(k.tasks, d["tasks"])
        k.nbytes += d["read"] + d["written"]
        k.written += d["written"]
        k.operations = None if d["operations"] is None or k.operations is None else k.operations + d["operations"]
    for k in found.values():
        if peak is not None:
            _bound(k, peak)
    return sorted(found.values(), key=lambda k: -k.ns)


def _bound(k: Kernel, peak: Peak) -> None:
    """Sets what bounds a kernel: its arithmetic, its bytes, or being launched; whichever takes longest at best.

    A kernel of fewer tasks than threads is held to what so many threads can do.
    """
    if k.tier == "host":
        k.bound = "host"
        return
    calls = len(k.times)
    share = min(k.tasks, peak.threads) / peak.threads
    fast = peak.gflops * (32 / k.bits if k.bits > 32 else 1.0)
    bandwidth = peak.cache_gbytes if k.nbytes / calls <= CACHED_BYTES * peak.threads else peak.gbytes
    least = {
        "compute": (k.operations or 0.0) / (fast * share * 1e9),
        "memory": k.nbytes / (bandwidth * share * 1e9),
        "dispatch": calls * (peak.launch_s if k.tasks > 1 else _ONE_LAUNCH_S),
    }
    k.movable = bandwidth * share * k.ns
    k.bound = max(least, key=lambda name: least[name])
    k.least_s = least[k.bound]


def news(r: Recording) -> list[Event]:
    """The new programs, less one that only the end of the recording made."""
    return [e for e in r.events if e.kind == "new" and e.detail["cause"] != "end"]
