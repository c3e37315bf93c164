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


class History:
    """Arrays of equal types, step after step, in blocks of memory that are never moved."""

    STEPS = 64  # in one block

    def __init__(self, first: Sequence[np.ndarray]):
        self.types = [(a.shape, a.dtype) for a in first]
        sizes = [-(-a.nbytes // 64) * 64 for a in first]
        self.offsets = np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.zeros(0, np.int64)
        self.row = sum(sizes)
        self.blocks: list[tuple[np.ndarray, int]] = []
        self.length = 0
        self.append(first)

    def address(self, step: int) -> int:
        """Where the arrays of a step lie, or are to lie."""
        block, i = divmod(step, self.STEPS)
        if block == len(self.blocks):
            made = np.empty(self.row * self.STEPS + 64, np.uint8)
            self.blocks.append((made, -pointer(made) % 64))
        memory, skipped = self.blocks[block]
        return pointer(memory) + skipped + i * self.row

    def arrays(self, step: int) -> list[np.ndarray]:
        self.address(step)
        memory, skipped = self.blocks[step // self.STEPS]
        start = skipped + step % self.STEPS * self.row
        found = []
        for (shape, dtype), offset in zip(self.types, self.offsets.tolist()):
            size = int(np.prod(shape)) * dtype.itemsize
            found.append(memory[start + offset : start + offset + size].view(dtype).reshape(shape))
        return found

    def append(self, arrays: Sequence[np.ndarray]) -> None:
        for place, a in zip(self.arrays(self.length), arrays):
            np.copyto(place, a)
        self.length += 1


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
                return self.turn(plan, values, rest, carried)
            *values, goes_on = self([*values, *rest])
            if not goes_on.item():
                return values

    def turn(
        self, plan: Plan, values: Sequence[np.ndarray], rest: Sequence[np.ndarray], carried: int
    ) -> list[np.ndarray]:
        """The same with nothing between two runs but a look at the bool: results go to and fro between two places."""
        table = Table(plan)
        places = [[np.empty(shape, dtype) for shape, dtype in plan.outputs] for _ in range(2)]
        given = [*rest, *plan.numbers]
        table.first(values, given, places[0])
        verdicts = [p[carried].reshape(-1) for p in places]
        at = 0
        table.run()
        if verdicts[0][0]:
            turns = [Table(plan, table) for _ in range(2)]
            for i, turn in enumerate(turns):
                turn.first(places[1 - i][:carried], given, places[i])
            run = [t.run for t in turns]
            while verdicts[at][0]:
                at = 1 - at
                run[at]()
            statistics["compiled_runs"] += sum(t.runs for t in turns)
        return places[at][:carried]

    def history(self, arrays: Sequence[np.ndarray], carried: int) -> History:
        """Runs the graph as `repeat` does, and keeps the values of every run: those before the first come first."""
        values, rest = list(arrays[:carried]), list(arrays[carried:])
        found = History(values)
        goes_on = np.ones((), np.bool_)
        while goes_on.item():
            plan = self.compiled
            if plan is not None and is_simple(plan):
                return self.write_history(plan, found, rest)
            *values, goes_on = self([*values, *rest])
            found.append(values)
        return found

    def write_history(self, plan: Plan, found: History, rest: Sequence[np.ndarray]) -> History:
        table = Table(plan)
        last = found.arrays(found.length - 1)
        verdict = np.ones(plan.outputs[-1][0], np.bool_)
        table.first(last, [*rest, *plan.numbers], [*last, verdict])
        goes_on = verdict.reshape(-1)
        n = len(last)
        inputs, outputs = table.inputs[:n], table.outputs[:n]
        before = found.address(found.length - 1)
        while goes_on[0]:
            after = found.address(found.length)
            np.add(found.offsets, before, out=inputs)
            np.add(found.offsets, after, out=outputs)
            table.run()
            before = after
            found.length += 1
        return found

    def rewind(
        self, history: History, constants: Sequence[np.ndarray], values: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        """Runs the graph for each run of a history but its last values, the last first.

        Its arguments are what is in the history, the constants, and its results of the run before: `values` at first.
        """
        for step in range(history.length - 2, -1, -1):
            plan = self.compiled
            if plan is not None and is_simple(plan):
                return self.rewind_from(plan, step, history, constants, values)
            values = self([*history.arrays(step), *constants, *values])
        return values

    def rewind_from(
        self, plan: Plan, last: int, history: History, constants: Sequence[np.ndarray], values: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        places = [[np.empty(shape, dtype) for shape, dtype in plan.outputs] for _ in range(2)]
        for place, a in zip(places[1], values):
            np.copyto(place, a)
        state = history.arrays(last)
        tables = [Table(plan), Table(plan)]
        for i, table in enumerate(tables):
            table.first(state, [*constants, *places[1 - i], *plan.numbers], places[i])
        inputs = [t.inputs[: len(state)] for t in tables]
        at = 1
        for step in range(last, -1, -1):
            at = 1 - at
            np.add(history.offsets, history.address(step), out=inputs[at])
            tables[at].run()
        return places[at]


class Table:
    """Where a plan of launches alone finds its arrays; it runs the plan on what is there.

    Attributes:
        inputs, outputs: addresses, to be set.
    """

    def __init__(self, plan: Plan, beside: Table | None = None):
        self.plan, self.runs = plan, 0
        self.bases = plan.bases.copy()
        self.status = np.zeros(8, np.int64)
        self.arena: np.ndarray = np.empty(plan.arena, np.uint8) if beside is None else beside.arena
        self.bases[0], self.bases[1] = self.status.ctypes.data, pointer(self.arena)
        self.inputs = self.bases[2 : 2 + plan.inputs]
        self.outputs = self.bases[2 + plan.inputs : 2 + plan.inputs + len(plan.outputs)]
        self.at = self.bases.ctypes.data
        self.held: list[np.ndarray] = []

    def first(self, values: Sequence[np.ndarray], others: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Sets all arrays."""
        self.held = [*values, *others, *results]
        self.inputs[:] = [pointer(a) for a in (*values, *others)]
        self.outputs[:] = list(map(pointer, results))

    def run(self) -> None:
        launch = self.plan.runtime.run
        for program, number in self.plan.segments:
            if launch(program, self.at):
                raise self.plan.fault(number, self.status)
        self.runs += 1


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


for _name in ("FLAGS_cpu_features", "FLAGS_winograd", "FLAGS_eager_constants", "FLAGS_eager_compile",
              "FLAGS_recompute"):  # fmt: skip
    flags.on_change(_name, _forget)
