"""Looks into a plan: what each of its launches costs."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import copied, empty
from .executor import Plan
from .runtime import Commands, Program, Runtime, runtime

Note = Callable[[int, int, int], None]  # told the number of a launch, and when it began and ended, in ns
_now = time.perf_counter_ns


class TimedPlan(Plan):
    """A plan that runs launch by launch and tells when each began and ended. It shares all else with the plan.

    Args:
        plan: from an Executor.
        note: told of each launch and each host step that has run, by its number in `steps`.

    Attributes:
        steps: descriptions of the launches and host steps, in order.
    """

    def __init__(self, plan: Plan, note: Note):
        self.__dict__.update(plan.__dict__)
        self.note = note
        self.steps: list[dict[str, Any]] = []
        self.runtime = _Clock(plan.runtime, note, call_ns()[0])  # type: ignore[assignment]
        singles, segments = iter(single_launches(plan)), self.segments
        self.segments = []
        for segment in segments:
            if len(segment) == 2:
                for i in range(segment[0].count):
                    self.segments.append((_Numbered(next(singles), len(self.steps)), segment[1] + i))
                    self.steps.append(plan.launches[segment[1] + i])
            else:
                self.segments.append((*segment[:3], {**segment[3], "number": len(self.steps)}))
                self.steps.append(segment[3])
        early = sum(segment[0].count for segment in plan.segments[: plan.early])
        self.late = self.segments[early:]

    def host(self, segment: Any, *rest: Any) -> None:
        began = _now()
        super().host(segment, *rest)
        self.note(segment[3]["number"], began, _now())


class _Numbered:
    """A program of one launch, and the number of that launch."""

    __slots__ = ("number", "program")

    def __init__(self, program: Program, number: int):
        self.program, self.number = program, number


class _Clock:
    """Takes the place of the runtime: runs a launch and notes its time, less what a call without one takes."""

    def __init__(self, inner: Runtime, note: Note, empty: int):
        self.inner, self.note, self.empty = inner, note, empty

    def run(self, numbered: Any, bases: int) -> int:
        began = _now()
        code = self.inner.run(numbered.program, bases)
        ended = _now()
        self.note(numbered.number, began, max(began, ended - self.empty))
        return code


@functools.cache
def call_ns() -> tuple[int, int]:
    """What taking the time of a launch costs: inside the time that is taken, and in all; nanoseconds."""
    found: list[tuple[int, int, int, int]] = []
    clock = _Clock(runtime(), lambda k, began, ended: found.append((k, began, ended, threading.get_ident())), 0)
    program, best = _Numbered(Commands().finish(), 0), 1 << 30
    for _ in range(200):
        began = _now()
        clock.run(program, 0)
        best = min(best, _now() - began)
    return min(ended - began for _, began, ended, _ in found), best


def launch_times(plan: Plan, arrays: list[np.ndarray], repeat: int = 20) -> list[tuple[str, int, int, float]]:
    """Runs a plan launch by launch on its own arrays; the results are thrown away.

    Returns:
        list: per launch its operators, units, units per task, and the least time seen in seconds.
    """
    plan([copied(a) for a in arrays])  # the bases of arena, outputs and host results are set now
    keep = empty((plan.arena + 64,), np.uint8)
    plan.bases[1] = keep.__array_interface__["data"][0]
    if plan.kept:
        kept = empty((plan.kept,), np.uint8)
        plan.bases[plan.kept_base] = kept.__array_interface__["data"][0]
    copies = [copied(a) for a in arrays]
    for i, a in enumerate(copies):
        plan.bases[2 + i] = a.__array_interface__["data"][0]
    outputs = [empty(s, d) for s, d in plan.outputs]
    for j, a in enumerate(outputs):
        plan.bases[2 + plan.inputs + j] = a.__array_interface__["data"][0]
    found = []
    for step, program in zip(plan.launches, single_launches(plan)):
        best = min(_timed(plan, program) for _ in range(repeat))
        found.append((step["op"], step["total"], step["grain"], best))
    plan.status[:] = 0
    return found


def single_launches(plan: Plan) -> list[Any]:
    """One program per launch."""
    programs = []
    for segment in plan.segments:
        if len(segment) != 2:
            continue
        words = segment[0].words
        at = 0
        for _ in range(segment[0].count):
            fn, total, grain, pointers, dims = (int(w) for w in words[at : at + 5])
            end = at + 5 + 2 * pointers
            pairs = words[at + 5 : end].reshape(-1, 2)
            one = Commands()
            one.add(fn, total, grain, [(int(a), int(b)) for a, b in pairs], [int(d) for d in words[end : end + dims]])
            programs.append(one.finish())
            at = end + dims
    return programs


def _timed(plan: Plan, program: Any) -> float:
    began = time.perf_counter()
    plan.runtime.run(program, plan.bases_address)
    return time.perf_counter() - began
