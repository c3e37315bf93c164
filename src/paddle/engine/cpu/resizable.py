"""A plan of the first tier whose sizes can be changed: programs that differ in sizes only share one.

What a plan holds of sizes (what kernels are told, units, shapes of results, numbers) is a rule of the sizes of the
program's input, learnt from samples. The arena is laid out for the largest sizes, so that all smaller ones fit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ir.graph import Graph
from ..sizes import Fixed, Rule, Sizes, Unexplained, explained, number, polynomial
from ..types import TensorType, dtype_of
from . import compiler, jit, kernels, tile
from .executor import Plan, launches, numbers_as_inputs, statistics
from .loops import CHUNK
from .lower import single_steps
from .plan import SERIAL_WORK, TASK_WORK, MemoryPlan
from .steps import AliasStep, HostStep, KernelStep, LoopStep, OwnKernel, ProductStep

MORE_DIMS = 24  # room for what a product of another size is told


class _Numbers:
    """Integers that follow from the sizes. Those that agree in all samples are computed once."""

    def __init__(self, sizes: Sequence[Sizes]):
        self.sizes = sizes
        self.index: dict[tuple[int, ...], int] = {}
        self.rules: list[Rule] = []

    def add(self, samples: tuple[int, ...]) -> int:
        """The place of a number, given as it is in each sample."""
        found = self.index.get(samples)
        if found is None:
            found = self.index[samples] = len(self.rules)
            self.rules.append(polynomial(samples, self.sizes))
        return found

    def at(self, sizes: Sizes) -> np.ndarray:
        return np.array([rule(sizes) for rule in self.rules], np.int64)


class _Sample:
    """One program: its graph in primitives, its steps and launches."""

    def __init__(self, graph: Graph):
        prepared = compiler.prepare(graph, False)
        self.graph, self.numbers = numbers_as_inputs(prepared)
        self.steps = single_steps(self.graph)
        if not all(isinstance(s, (LoopStep, ProductStep, KernelStep, HostStep, AliasStep)) for s in self.steps):
            raise Unexplained
        self.code: list[Any] = []
        self.native = launches(self.steps, self.code)
        self.place = {v: i for i, v in enumerate(self.graph.values())}

    def form(self) -> list[Any]:
        """What has to be the same in all samples."""
        at = self.place
        found: list[Any] = [[at[v] for v in self.graph.outputs], [v.dtype for v in self.graph.values()]]
        for i, s in enumerate(self.steps):
            p = s.product if isinstance(s, ProductStep) else None
            own = [s.node.op, *(x.key for x in s.kernels)] if isinstance(s, KernelStep) else None
            found.append((
                type(s), [at[v] for v in s.inputs], [at[v] for v in s.outputs], [at[v] for v in s.node.inputs],
                [at[v] for v in s.node.outputs], self.native[i]["fn"] if isinstance(s, LoopStep) else None,
                None if p is None else (at[p.a.key], at[p.b.key], p.dtype, p.out, p.a.dtype, p.b.dtype), own,
            ))  # fmt: skip
        return found


class _Planned:
    """Launches of one product that is planned anew for every size."""

    def __init__(self, like: tile.Contraction, axes: list[Any]):
        self.like, self.axes = like, axes
        self.launches: list[Any] = []
        self.kept: dict[int, Any] = {}

    def at(self, n: np.ndarray) -> tuple[int, int, int, Any]:
        axes = tuple([tile.Axis(*[None if i is None else int(n[i]) for i in axis]) for axis in self.axes])  # type: ignore[arg-type]
        ready, total, grain, dims = kernels.product_kernel(replace(self.like, axes=axes))
        self.kept[ready.address] = ready
        return ready.address, total, grain, dims


class _Alike:
    """Launches of one product that is cut in the same way for every size: blocks are those of the largest.

    Args:
        made: the kernels for the samples; they have the same code.
        ready: that code.
        numbers: where extents, strides and offsets are found.
    """

    def __init__(self, made: list[tile.Kernel], ready: Any, numbers: _Numbers):
        self.launches: list[Any] = []
        self.ready = ready
        largest = made[-1]
        told = [{k: v * unit if unit else v for k, (v, unit) in m.schedule.numbers().items()} for m in made]  # type: ignore[union-attr]
        names = list(told[0])
        if any(list(t) != names for t in told):
            raise Unexplained
        s = largest.schedule
        assert s is not None
        place = {name: i for i, name in enumerate(names)}
        cut = {f"{x}_{what}" for x in ("v", "r1", "r2") for what in ("tiles", "block", "blocks")}
        nothing = numbers.add((0,) * len(made))
        self.numbers = np.array([nothing if k in cut else numbers.add(tuple(t[k] for t in told)) for k in names])
        self.cuts = []
        for x, lanes, block in (("v", s.lanes, s.v_block), ("r1", 1, s.r1_block), ("r2", 1, s.r2_block)):
            tiles = [t[f"{x}_tiles"] for t in told]
            size = getattr(s, f"{x}_cut").s1 * lanes
            if len(set(tiles)) == 1:
                size = 0
            elif any(-(-t[f"{x}.n"] // size) != n for t, n in zip(told, tiles)):
                raise Unexplained
            self.cuts.append((place[f"{x}_tiles"], place[f"{x}.n"], size, tiles[-1], block))
        self.units = [place[f"u{i}.n"] for i in range(len(s.units))]
        steps = tuple(math.prod(a.extent for a in m.spec.axes) for m in made)
        self.steps, self.cycles = numbers.add(steps), largest.cycles / max(1, steps[-1])

    @classmethod
    def of(cls, specs: list[tile.Contraction], numbers: _Numbers) -> _Alike | None:
        """Launches of this kind, if all samples may be cut in the way of the last one."""
        has = compiler.instructions()
        plain = [tile.plan(spec, jit.vector_bytes(), has=has) for spec in specs]
        way = lambda m: (*m.way[:3], m.way[4])
        if any(way(m) != way(plain[-1]) for m in plain):
            return None  # sums would not be taken as in programs of their own
        made = [tile.alike(spec, plain[-1], jit.vector_bytes(), has) for spec in specs]
        if any(m is None or m.key != made[-1].key for m in made):  # type: ignore[union-attr]
            return None
        try:
            return cls(made, kernels.product_code(made[-1]), numbers)  # type: ignore[arg-type]
        except Unexplained:
            return None

    def at(self, n: np.ndarray) -> tuple[int, int, int, Any]:
        told = n[self.numbers]
        total = 1
        for place, extent, size, tiles, block in self.cuts:
            if size:
                tiles = -(-int(told[extent]) // size)
            blocks = -(-tiles // block)
            told[place : place + 3] = tiles, block, blocks
            total *= blocks
        for u in self.units:
            total *= int(told[u])
        grain = max(1, min(total, round(tile.TASK_CYCLES * total / max(self.cycles * int(n[self.steps]), 1.0))))
        return self.ready.address, total, grain, told


class _Own:
    """Launches of a step with kernels of its own, which are planned anew for every size."""

    def __init__(self, step: KernelStep, shapes: list[list[int]]):
        self.plan, self.bytes, self.keys = step.plan, step.bytes, [x.key for x in step.kernels]
        self.shapes, self.dtypes = shapes, [v.dtype for v in step.node.inputs]
        self.launches: list[tuple[np.ndarray, int, int]] = []

    def at(self, n: np.ndarray) -> list[OwnKernel]:
        shapes = [tuple([int(n[i]) for i in shape]) for shape in self.shapes]
        found = self.plan([TensorType(s, d) for s, d in zip(shapes, self.dtypes)])
        if found is None or found[1] > self.bytes or [x.key for x in found[0]] != self.keys:
            raise Unexplained
        return found[0]


class Resizable:
    """Runs the programs of one form in the first tier.

    Args:
        graphs: samples; the last one has the largest sizes.
        sizes: those of each sample.
        donated: which inputs may be overwritten.
        again: called when sizes come a second time without a change.

    Raises:
        Unexplained: what a plan holds does not follow from the sizes by a known rule.
    """

    def __init__(
        self, graphs: Sequence[Graph], sizes: Sequence[Sizes], donated: tuple[bool, ...], again: Callable[[], None]
    ):
        self.again = again
        samples = [_Sample(g) for g in graphs]
        largest = samples[-1]
        form = largest.form()
        if any(s.form() != form for s in samples[:-1]):
            raise Unexplained
        self.compiled = None
        self.visits = 0
        self.numbers = _Numbers(sizes)
        memory = MemoryPlan(largest.graph, largest.steps, donated + (False,) * len(largest.numbers), loops=False)
        for i, s in enumerate(largest.steps):
            if isinstance(s, ProductStep):
                largest.native[i]["dims"] = [*largest.native[i]["dims"], *[0] * MORE_DIMS]
        description = compiler.describe(largest.graph, largest.steps, memory, largest.native)
        self.first = Plan(description, {}, largest.code)
        self.first.numbers = largest.numbers
        self._values(samples)
        self._launches(samples)
        self._hosts(samples, sizes, memory)
        rules = constants([s.numbers for s in samples], sizes)
        self.constants = [
            (j, largest.numbers[j].dtype, rule) for j, rule in enumerate(rules) if type(rule) is not Fixed
        ]
        for sample in samples:
            sample.graph.dispose()

    def _values(self, samples: list[_Sample]) -> None:
        """Sizes that have to stay within the plan's, and shapes of results."""
        largest = samples[-1].graph
        values = list(zip(*(s.graph.values() for s in samples)))
        if any(len(v.shape) != len(vs[0].shape) for vs in values for v in vs):
            raise Unexplained
        most = max(len(v.shape) for v in largest.values())
        one, rows = self.numbers.add((1,) * len(samples)), {}
        for vs in values:
            row = [self.numbers.add(axis) for axis in zip(*(v.shape for v in vs))]
            row += [one] * (most - len(row))
            rows[tuple(row)] = vs[-1].type.size
        self.fits = np.array(list(rows)), np.array(list(rows.values()))
        varying = set()
        for vs in values:
            for axis in zip(*(v.shape for v in vs)):
                if len(set(axis)) > 1:
                    varying.add(self.numbers.add(axis))
                    if min(axis) < 2:
                        raise Unexplained  # axes of one element take other ways
        self.extents = np.array(sorted(varying), np.int64)
        self.shapes = []
        for j in range(len(largest.outputs)):
            of = [s.graph.outputs[j].shape for s in samples]
            self.shapes.append([self.numbers.add(axis) for axis in zip(*of)])

    def _launches(self, samples: list[_Sample]) -> None:
        """Where numbers go in the words of the plan's programs."""
        largest = samples[-1]
        self.words: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # of a program: words, places, numbers
        self.units: list[Any] = []
        self.products: dict[Any, _Alike | _Planned] = {}
        self.owns: list[_Own] = []
        planned = None
        native = [i for i, s in enumerate(largest.steps) if isinstance(s, (LoopStep, ProductStep, KernelStep))
                  for _ in (s.kernels if isinstance(s, KernelStep) else (s,))]  # fmt: skip
        at = iter(native)
        for segment in self.first.segments:
            if len(segment) != 2:
                continue
            program = segment[0]
            program.parallel = True
            places, numbers = [], []
            units: list[tuple[int, int, int, int, bool]] = []
            pos = 0
            for _ in range(program.count):
                i = next(at)
                pointers, dims = int(program.words[pos + 3]), int(program.words[pos + 4])
                start = pos + 5 + 2 * pointers
                step = largest.steps[i]
                if isinstance(step, LoopStep):
                    told = list(zip(*(s.native[i]["dims"] for s in samples)))
                    assert len(told) == dims
                    for k, x in enumerate(told):
                        if len(set(x)) > 1:
                            places.append(start + k)
                            numbers.append(self.numbers.add(x))
                    work = [kernels.work(s.steps[i].node, s.steps[i].outputs[0].index) for s in samples]
                    kernel = largest.native[i]["code"].kernel
                    if len(set(work)) > 1:
                        outer, inner = zip(*work)
                        ways = self.numbers.add(outer), self.numbers.add(inner)
                        units.append((pos, *ways, max(1, kernel.cost), bool(kernel.chunk)))
                elif isinstance(step, ProductStep):
                    found = [s.steps[i].product for s in samples]  # type: ignore[attr-defined]
                    self._product((program.words, pos, start, dims), step, found)
                elif isinstance(step, KernelStep):
                    if planned is not step:
                        planned = step
                        of = zip(*([v.shape for v in s.steps[i].node.inputs] for s in samples))
                        self.owns.append(_Own(step, [[self.numbers.add(axis) for axis in zip(*each)] for each in of]))
                    self.owns[-1].launches.append((program.words, pos, start))
                pos = start + dims
            self.words.append((program.words, np.array(places, np.int64), np.array(numbers, np.int64)))
            if units:
                columns = [np.array(c) for c in zip(*units)]
                self.units.append((program.words, *columns))

    def _product(self, place: tuple[np.ndarray, int, int, int], step: ProductStep, found: list[Any]) -> None:
        """A launch of a product, at a place: the words, where it and what it is told begin, the room for that."""
        if len({len(p.axes) for p in found}) > 1 or len({(p.a_offset, p.b_offset) for p in found}) > 1:
            raise Unexplained
        axes = []
        for each in zip(*(p.axes for p in found)):
            if any(len({x is None for x in part}) > 1 for part in zip(*each)):
                raise Unexplained
            axes.append(tuple([None if x[0] is None else self.numbers.add(x) for x in zip(*each)]))
        if all(p.axes == found[0].axes for p in found):
            return
        like = compiler.tile_spec(step, True)
        key = (tuple(axes), like)
        form = self.products.get(key)
        if form is None:
            specs = [replace(like, axes=tuple(tile.Axis(*a) for a in p.axes)) for p in found]
            form = self.products[key] = _Alike.of(specs, self.numbers) or _Planned(like, axes)
        form.launches.append(place)

    def _hosts(self, samples: list[_Sample], sizes: Sequence[Sizes], memory: MemoryPlan) -> None:
        self.hosts: list[Any] = []
        steps = [i for i, s in enumerate(samples[-1].steps) if isinstance(s, HostStep)]
        places = [j for j, segment in enumerate(self.first.segments) if len(segment) != 2]
        for i, j in zip(steps, places):
            nodes = [s.steps[i].node for s in samples]
            op = explained([n.op for n in nodes], sizes)
            ins = explained([tuple(v.shape for v in n.inputs) for n in nodes], sizes)
            outs = explained([tuple(v.shape for v in n.outputs) for n in nodes], sizes)
            if all(type(r) is Fixed for r in (op, ins, outs)):
                continue
            if i in memory.overwriting:
                raise Unexplained
            self.hosts.append((j, op, ins, outs))

    # -- another size --
    def resize(self, sizes: Sizes) -> list[tuple[int, ...]]:
        """Changes all sizes.

        Returns:
            The shapes of the results.

        Raises:
            Unexplained: these sizes do not follow the rules, or do not fit; nothing is changed.
        """
        n = self.numbers.at(sizes)
        axes, most = self.fits
        if (n[axes].prod(1) > most).any() or (n[self.extents] < 2).any():
            raise Unexplained
        products = [(form.launches, form.at(n)) for form in self.products.values()]
        if any(len(told[3]) > room for launches, told in products for _, _, _, room in launches):
            raise Unexplained
        owns = [(own.launches, own.at(n)) for own in self.owns]
        hosts = [(j, op(sizes), ins(sizes), outs(sizes)) for j, op, ins, outs in self.hosts]
        numbers = [(j, np.asarray(rule(sizes).value).astype(d)) for j, d, rule in self.constants]
        plan = self.first
        for words, at, which in self.words:
            words[at] = n[which]
        for words, pos, outer, inner, cost, chunk in self.units:
            each, total = n[inner], n[outer]
            total = np.where(chunk, -(-total // CHUNK), total)
            work = np.maximum(1, np.where(chunk, CHUNK, each) * cost)
            grain = np.maximum(1, np.minimum(TASK_WORK // work, -(-total // 2)))
            words[pos + 1] = total
            words[pos + 2] = np.where(total * work < SERIAL_WORK, np.maximum(total, 1), grain)
        for places, (fn, total, grain, dims) in products:
            for words, pos, start, _ in places:
                words[pos : pos + 3] = fn, total, grain
                words[start : start + len(dims)] = dims
        for launched, planned in owns:
            for (words, pos, start), x in zip(launched, planned):
                words[pos + 1 : pos + 3] = x.total, x.grain
                words[start : start + len(x.dims)] = x.dims
        for j, op, ins, outs in hosts:
            _, was, made, step = plan.segments[j]
            plan.segments[j] = (
                op, [(b, o, shape, d) for (b, o, _, d), shape in zip(was, ins)],
                [(b, shape, d) for (b, _, d), shape in zip(made, outs)], step,
            )  # fmt: skip
        for j, a in numbers:
            plan.numbers[j] = a
        self.visits = 0
        values = n.tolist()
        shapes = [tuple(values[k] for k in shape) for shape in self.shapes]
        plan.outputs = [(shape, d) for shape, (_, d) in zip(shapes, plan.outputs)]
        plan.made = [(j, *plan.outputs[j]) for j, _, _ in plan.made]
        return shapes

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        plan = self.first
        self.visits += 1
        if self.visits > 1:
            self.again()
        began = time.perf_counter()
        out = plan(arrays + plan.numbers if plan.numbers else arrays)
        statistics["first_s"] += time.perf_counter() - began
        statistics["first_runs"] += 1
        return out


def constants(samples: list[list[np.ndarray]], sizes: Sequence[Sizes]) -> list[Rule]:
    """Rules for the constants of programs."""
    if len({len(s) for s in samples}) > 1:
        raise Unexplained
    return [number([a.item() for a in each], sizes, dtype_of(each[0].dtype)) for each in zip(*samples)]
