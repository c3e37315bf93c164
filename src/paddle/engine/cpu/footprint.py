"""How much memory a program holds while it runs, told from its plan, before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.graph import Graph, Value
from .compiler import lowered, prepare
from .executor import numbers_as_inputs
from .lower import single_steps
from .plan import MemoryPlan
from .steps import AliasStep

__all__ = ["Footprint", "footprint"]


@dataclass(frozen=True)
class Footprint:
    """Bytes of one program of one tier.

    Attributes:
        inputs (int): what it reads, parameters among it; some of its results are written over these.
        outputs (int): results that take new memory. work (int): the work area, which programs share.
        host (int): what numpy gives for steps without a kernel, all of them together.
        fullest (int): the kernel at which most of the work area is in use. launches (int): kernels and host steps.
        alive: the values in the work area then, the largest first.
    """

    inputs: int
    outputs: int
    work: int
    host: int
    fullest: int
    launches: int
    alive: tuple[Value, ...]

    @property
    def peak(self) -> int:
        """What is held at most, all together."""
        return self.inputs + self.outputs + self.work + self.host


def footprint(graph: Graph, donated: tuple[bool, ...], compiled: bool = True) -> Footprint:
    """What a graph takes when it runs.

    donated: which inputs nobody else holds. compiled: whole, not operator by operator, as on its first visits.
    """
    if compiled:
        graph, steps = lowered(graph)
        return of_plan(MemoryPlan(graph, steps, donated))
    graph, numbers = numbers_as_inputs(prepare(graph, False))
    return of_plan(MemoryPlan(graph, single_steps(graph), donated + (False,) * len(numbers), loops=False))


def of_plan(plan: MemoryPlan) -> Footprint:
    graph = plan.graph
    known = {*plan.taken, *plan.forwarded}
    made = [
        v for j, v in enumerate(graph.outputs) if j not in known and plan.place[plan.root_of(v)].base[0] == "output"
    ]
    areas = [v for v, p in plan.place.items() if p.base == "arena" and plan.root_of(v) is v]
    host = sum(v.type.nbytes for v, p in plan.place.items() if p.base[0] == "host" and plan.root_of(v) is v)
    change = [0] * (len(plan.steps) + 1)
    for v in areas:
        change[plan.first[v]] += v.type.nbytes
        change[plan.last[v] + 1] -= v.type.nbytes
    held = fullest = at = most = 0
    launches = -1
    for i, s in enumerate(plan.steps):
        held += change[i]
        launches += not isinstance(s, AliasStep)
        if held > most:
            most, at, fullest = held, i, launches
    alive = sorted((v for v in areas if plan.first[v] <= at <= plan.last[v]), key=lambda v: -v.type.nbytes)
    return Footprint(
        sum(v.type.nbytes for v in graph.inputs), sum(v.type.nbytes for v in made), plan.arena, host, fullest,
        launches + 1, tuple(alive),
    )  # fmt: skip
