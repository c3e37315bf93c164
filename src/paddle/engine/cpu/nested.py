"""Graphs inside operators, as programs of their own that the operator's host step runs."""

from __future__ import annotations

import collections
import threading
from collections.abc import Sequence

import numpy as np

from .. import flags
from ..ir.graph import Graph
from .executor import Executor, Plan, pointer, statistics

MOST = 512  # programs that are kept

_programs: "collections.OrderedDict[Graph, Nested]" = collections.OrderedDict()
_lock = threading.Lock()


class Nested(Executor):
    """What runs a graph inside an operator."""

    def repeat(self, arrays: Sequence[np.ndarray], carried: int) -> list[np.ndarray]:
        """Runs the graph again and again, as long as its last result, a bool, is true: once at least.

        Args:
            arrays: the first run's. In the next ones the first `carried` are results of the run before, the others
                stay.

        Returns:
            The first `carried` results of the last run.
        """
        values, rest = list(arrays[:carried]), list(arrays[carried:])
        while True:
            plan = self.compiled
            if plan is not None and is_simple(plan):
                return self.turn(plan, [*values, *rest, *plan.numbers], carried)
            *values, goes_on = self([*values, *rest])
            if not goes_on.item():
                return values

    def turn(self, plan: Plan, arrays: list[np.ndarray], carried: int) -> list[np.ndarray]:
        """The same with nothing between two runs but a look at the bool: results go to and fro between two places."""
        places = [[np.empty(shape, dtype) for shape, dtype in plan.outputs] for _ in range(2)]
        arena = np.empty(plan.arena, np.uint8)
        status = np.zeros(8, np.int64)
        first, outputs = 2, 2 + plan.inputs

        def bases(inputs: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> np.ndarray:
            found = plan.bases.copy()
            found[0], found[1] = status.ctypes.data, pointer(arena)
            found[first : first + len(inputs)] = list(map(pointer, inputs))
            found[outputs : outputs + len(results)] = list(map(pointer, results))
            return found

        constants = arrays[carried:]
        tables = [bases([*places[1 - i][:carried], *constants], places[i]) for i in range(2)]
        tables.append(bases(arrays, places[0]))  # the first run
        addresses = [t.ctypes.data for t in tables]
        verdicts = [p[carried].reshape(-1) for p in places]
        run, programs = plan.runtime.run, list(plan.segments)
        at, table, runs = 0, 2, 0
        while True:
            for program, launch in programs:
                if run(program, addresses[table]):
                    raise plan.fault(launch, status)
            runs += 1
            if not verdicts[at][0]:
                statistics["compiled_runs"] += runs
                return places[at][:carried]
            at = table = 1 - at


def is_simple(plan: Plan) -> bool:
    """Whether a compiled plan is launches alone, and every result has an array of its own."""
    return (
        len(plan.made) == len(plan.outputs)
        and not plan.kept
        and not plan.written
        and all(len(s) == 2 for s in plan.segments)
    )


def program(graph: Graph) -> Nested:
    """What runs a graph. It does not change: the graph of a Body."""
    with _lock:
        found = _programs.get(graph)
        if found is None:
            found = _programs[graph] = Nested(graph, (False,) * len(graph.inputs))
            if len(_programs) > MOST:
                _programs.popitem(last=False)
        else:
            _programs.move_to_end(graph)
    return found


def _forget(_: object) -> None:
    _programs.clear()


for _name in ("FLAGS_cpu_features", "FLAGS_winograd", "FLAGS_eager_constants", "FLAGS_eager_compile"):
    flags.on_change(_name, _forget)
