"""Looks into a plan: what each of its launches costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .executor import Plan
from .runtime import Commands


def launch_times(plan: Plan, arrays: list[np.ndarray], repeat: int = 20) -> list[tuple[str, int, int, float]]:
    """Runs a plan launch by launch on its own arrays; the results are thrown away.

    Returns:
        list: per launch its operators, units, units per task, and the least time seen in seconds.
    """
    plan([a.copy() for a in arrays])  # the bases of arena, outputs and host results are set now
    keep = np.empty(plan.arena + 64, np.uint8)
    plan.bases[1] = keep.__array_interface__["data"][0]
    copies = [a.copy() for a in arrays]
    for i, a in enumerate(copies):
        plan.bases[2 + i] = a.__array_interface__["data"][0]
    outputs = [np.zeros(s, d) for s, d in plan.outputs]
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
