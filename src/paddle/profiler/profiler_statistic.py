"""The tables of `Profiler.summary`."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Sequence
from typing import Any

from ..engine import errors
from ..engine.cpu.peak import Peak, measured_peak
from .accounts import Account, Kernel, accounts, kernels, news
from .advice import advice
from .recorder import Event, Recording
from .result import ProfilerResult

__all__ = ["SortedKeys", "tables"]

_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_ROWS = {
    "data": "waiting for data", "python": "Python and recording", "new": "new programs", "prepare": "preparing kernels",
    "compile": "waiting for the compiler", "compiled": "kernels, compiled", "first": "kernels, operator by operator",
    "host": "operators on the host (numpy)", "reference": "programs by numpy (FLAGS_reference)",
    "dispatch": "flushes beside that", "profiler": "the profiler itself",
}  # fmt: skip
_NEW_SHOWN = 8
_KERNELS_SHOWN = 25
_DETAILS_SHOWN = 4


class SortedKeys(enum.Enum):
    """What rows are sorted by, greatest first: the total, average, greatest or least time of the calls.

    Examples:
        >>> paddle.profiler.SortedKeys.CPUTotal.value
        0
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


_KEYS: list[Callable[[Sequence[int]], float]] = [sum, lambda t: sum(t) / len(t), max, min]


def tables(
    result: ProfilerResult | None, *, sorted_by: SortedKeys, op_detail: bool, thread_sep: bool, time_unit: str,
    views: set[str], shapes: bool, memory: bool, flops: bool,
) -> str:  # fmt: skip
    """All tables that are asked for, and advice in words."""
    if time_unit not in _UNITS:
        raise errors.invalid_argument(
            "Profiler.summary: there is no such unit.", expected="'s', 'ms', 'us' or 'ns'", received=repr(time_unit)
        )
    if result is None:
        return "The profiler has recorded nothing: the scheduler reached no state of recording, or timer_only is set."
    r = result.recording
    peak = measured_peak() if any(e.kind == "kernel" for e in r.events) else None
    page = _Page(time_unit, _KEYS[sorted_by.value % 4])
    found, rows = accounts(r), kernels(r.events, peak)
    by_thread = [[e for e in r.events if e.thread == t] for t in r.threads] if thread_sep else [r.events]
    names = [f", thread {name}" for name in r.threads.values()] if thread_sep else [""]
    parts = []
    if "DeviceView" in views:
        parts.append(_device(r))
    if "OverView" in views:
        parts += [_overview(r, found, page), _new_programs(r, page)]
    if "ModelView" in views:
        parts.append(_steps(r, page))
    if "KernelView" in views:
        parts.append(_kernels(kernels(r.events, peak, shapes), peak, page, shapes))
    if "OperatorView" in views:
        parts += [_operators(kernels(e, peak), page, op_detail, flops, n) for e, n in zip(by_thread, names)]
    if "MemoryView" in views and memory:
        parts.append(_memory(rows, peak))
    if "UDFView" in views:
        parts += [_marks(r, e, page, n) for e, n in zip(by_thread, names)]
    parts.append(advice(r, found, rows, peak))
    return "\n\n".join(p for p in parts if p)


class _Page:
    """How times are written, and rows sorted."""

    def __init__(self, unit: str, key: Callable[[Sequence[int]], float]):
        self.unit, self.key = unit, key

    def time(self, ns: float) -> str:
        return f"{ns / _UNITS[self.unit]:.3f}" if self.unit != "ns" else f"{ns:.0f}"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Columns as wide as they have to be, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    line = lambda row: "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
    rule = "  ".join("-" * w for w in widths)
    whole = len(rule)
    lines = [f" {title} ".center(whole, "-"), line(head).rstrip(), rule, *(line(r).rstrip() for r in rows), rule]
    return "\n".join([*lines, note] if note else lines)


def place(line: Any) -> str:
    """A file and a line, short; "" where there is none."""
    return f"{os.path.basename(line[0])}:{line[1]}" if line else ""


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _device(r: Recording) -> str:
    used = r.about["cpu_ns"] / max(1, r.end - r.start)
    rows = [["CPU (this process)", _percent(used, 1), str(r.about["cores"]), str(r.about["threads"])]]
    return _table("Device", ["", "busy", "cores", "threads"], rows, "100% is one core.")


def _overview(r: Recording, found: dict[str, Account], page: _Page) -> str:
    whole, steps = r.end - r.start, sum(e.kind == "step" for e in r.events)
    rows = []
    for kind, words in _ROWS.items():
        a = found[kind]
        if a.ns or a.calls:
            calls = str(a.calls) if a.calls else ""
            rows.append([words, calls, page.time(a.ns), _percent(a.ns, whole), page.time(a.ns / max(1, steps))])
    rows.append(["all", "", page.time(whole), "100.0%", page.time(whole / max(1, steps))])
    others = sum(e.duration for e in r.events if e.kind in ("kernel", "host") and e.thread != r.thread)
    note = f"Other threads ran kernels for {page.time(others)} {page.unit}." if others else ""
    return _table("Where the time went", ["", "calls", f"time, {page.unit}", "share", "per step"], rows, note)


def _new_programs(r: Recording, page: _Page) -> str:
    made = news(r)
    rows = []
    for e in made[:_NEW_SHOWN]:
        d = e.detail
        rows.append([d["text"], place(d["line"]), str(d["operations"]), page.time(e.duration)])
    if len(made) > _NEW_SHOWN:
        rows.append(
            [f"and {len(made) - _NEW_SHOWN} more", "", "", page.time(sum(e.duration for e in made[_NEW_SHOWN:]))]
        )
    if not made:
        return ""
    return _table("New programs, and why", ["cause", "at", "operations", f"time, {page.unit}"], rows)


def _steps(r: Recording, page: _Page) -> str:
    steps = [e for e in r.events if e.kind == "step" and e.thread == r.thread]
    rows = []
    for s in steps[:20]:
        inside = [e for e in r.events if e.thread == r.thread and s.start <= e.start and e.end <= s.end]
        total = lambda *kinds, inside=inside: page.time(sum(e.duration for e in inside if e.kind in kinds))
        new = sum(e.kind == "new" for e in inside)
        rows.append([s.name, page.time(s.duration), total("data"), total("flush"), total("kernel"),
                     total("host", "reference"), str(new) if new else ""])  # fmt: skip
    if not rows:
        return ""
    if len(steps) > 20:
        rows.append([f"and {len(steps) - 20} more", page.time(sum(s.duration for s in steps[20:])), *[""] * 5])
    head = [f"times in {page.unit}", "step", "data", "flushes", "kernels", "host", "new programs"]
    return _table("Steps", head, rows)


def _kernels(rows: list[Kernel], peak: Peak | None, page: _Page, shapes: bool) -> str:
    if not rows:
        return ""
    whole = sum(k.ns for k in rows)
    rows = sorted(rows, key=lambda k: -page.key(k.times))
    lines = []
    for k in rows[:_KERNELS_SHOWN]:
        gflops, bandwidth = k.gflops, f"{k.gbytes:.1f}"
        ours = f"{k.off:.1f}x" if k.off else ""
        what = f"{k.name} {' '.join(k.shapes[:-1])} -> {k.shape}" if shapes else f"{k.name} {k.shape}"
        lines.append([
            what, place(k.line), k.tier, str(len(k.times)), page.time(k.ns), _percent(k.ns, whole),
            f"{gflops:.1f}" if gflops else "-", _percent(gflops or 0, peak.gflops) if gflops and peak else "-",
            bandwidth, _percent(k.gbytes, peak.gbytes) if peak else "-", k.bound, ours,
        ])  # fmt: skip
    if len(rows) > _KERNELS_SHOWN:
        rest = rows[_KERNELS_SHOWN:]
        ns = sum(k.ns for k in rest)
        calls = str(sum(len(k.times) for k in rest))
        lines.append([f"and {len(rest)} more", "", "", calls, page.time(ns), _percent(ns, whole), *[""] * 6])
    lines.append(["all", "", "", str(sum(len(k.times) for k in rows)), page.time(whole), "100.0%", *[""] * 6])
    note = ""
    if peak is not None:
        note = (
            f"Peak, measured with {peak.threads} threads: {peak.gflops:.0f} GFLOP/s (float32), {peak.gbytes:.0f} GB/s"
            f" from memory, {peak.cache_gbytes:.0f} GB/s from the cores' caches.\n"
            "A division or a function as exp counts as 10 operations. Over 100% of memory: the data lay in a cache."
        )
    head = ["kernel", "at", "tier", "calls", f"time, {page.unit}", "share", "GFLOP/s", "of peak", "GB/s", "of peak",
            "bound by", "off by"]  # fmt: skip
    return _table("Kernels", head, lines, note)


def _operators(rows: list[Kernel], page: _Page, detail: bool, flops: bool, of: str) -> str:
    groups: dict[str, list[Kernel]] = {}
    for k in rows:
        groups.setdefault(k.name, []).append(k)
    if not groups:
        return ""
    whole = sum(k.ns for k in rows)
    times = {name: [t for k in ks for t in k.times] for name, ks in groups.items()}
    lines = []
    for name in sorted(groups, key=lambda n: -page.key(times[n])):
        lines.append(_operator_row(name, times[name], groups[name], whole, page, flops))
        if detail and len(groups[name]) > 1:
            for k in sorted(groups[name], key=lambda k: -page.key(k.times))[:_DETAILS_SHOWN]:
                words = " ".join(w for w in (f"  {k.shape}", k.tier, place(k.line)) if w)
                lines.append(_operator_row(words, k.times, [k], whole, page, flops))
    head = [f"operators, times in {page.unit}", "calls", "total", "avg", "max", "min", "share"]
    return _table(f"Operators{of}", [*head, "FLOPs"] if flops else head, lines)


def _operator_row(name: str, times: list[int], ks: list[Kernel], whole: int, page: _Page, flops: bool) -> list[str]:
    total = sum(times)
    row = [name, str(len(times)), page.time(total), page.time(total / len(times)), page.time(max(times)),
           page.time(min(times)), _percent(total, whole)]  # fmt: skip
    if flops:
        known = [k.operations for k in ks if k.operations is not None]
        row.append(f"{sum(known):.0f}" if known else "-")
    return row


def _memory(rows: list[Kernel], peak: Peak | None) -> str:
    """The ledger of bytes: by operator, and below it the kernels that move most."""
    lines = []
    groups: dict[str, list[Kernel]] = {}
    for k in rows:
        groups.setdefault(k.name, []).append(k)
    for name, ks in sorted(groups.items(), key=lambda g: -sum(k.nbytes for k in g[1])):
        lines.append(_memory_row(name, ks))
        if len(ks) > 1:
            for k in sorted(ks, key=lambda k: -k.nbytes)[:_DETAILS_SHOWN]:
                lines.append(_memory_row(" ".join(w for w in (f"  {k.shape}", k.tier, place(k.line)) if w), [k]))
    if not lines:
        return ""
    note = "Bytes are told from the operands: each element that is used counts once for a call."
    if peak is not None:
        note += (
            f"\nAt most: what {peak.gbytes:.0f} GB/s from memory, or {peak.cache_gbytes:.0f} GB/s from the caches where"
            " a call fits there, move in the kernels' time.\nHardware counters are not read. A share near 100%: the"
            " time is that of moving the bytes; over it: they lay in a cache."
        )
    head = ["operators", "calls", "MB read and written", "MB per call", "MB read", "MB written", "MB at most", "share"]
    return _table("Memory", head, lines, note)


def _memory_row(name: str, ks: list[Kernel]) -> list[str]:
    calls = sum(len(k.times) for k in ks)
    nbytes, written, movable = (sum(getattr(k, w) for k in ks) for w in ("nbytes", "written", "movable"))
    mb = [f"{n / 1e6:.3f}" for n in (nbytes, nbytes / calls, nbytes - written, written)]
    return [name, str(calls), *mb, f"{movable / 1e6:.3f}" if movable else "-", _percent(nbytes, movable)]


def _marks(r: Recording, events: Sequence[Event], page: _Page, of: str) -> str:
    times: dict[str, list[int]] = {}
    for e in events:
        if e.kind == "user":
            times.setdefault(e.name, []).append(e.duration)
    if not times:
        return ""
    whole = r.end - r.start
    rows = [
        [name, str(len(t)), page.time(sum(t)), page.time(sum(t) / len(t)), page.time(max(t)), page.time(min(t)),
         _percent(sum(t), whole)] for name, t in sorted(times.items(), key=lambda x: -page.key(x[1]))
    ]  # fmt: skip
    head = [f"RecordEvent, times in {page.unit}", "calls", "total", "avg", "max", "min", "of all"]
    return _table(f"Marked by the program{of}", head, rows, "What is recorded runs at the next flush, maybe later.")
