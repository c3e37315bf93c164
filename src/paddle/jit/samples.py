"""Programs with open sizes: the same function is captured at several sizes, and what follows from them is learnt."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import materialize
from ..engine.eager.capture import ValueNeeded
from ..engine.ir.graph import Graph
from ..engine.opened import Depends, OpenGraph, alike, learn, unshared
from ..engine.types import DType, TensorType
from ..framework.tables import generalizing

__all__: list[str] = []

Place = tuple[int, int]  # input, axis
LONG = 300  # a size up to which results are compared, beyond it operations alone
MOST_TRIES = 80  # captures at one set of sizes, to find which open sizes are one
MOST_DRAWN = 1 << 20  # elements of one array for a trial
_SAMPLES = 6
# Sizes that samples have, and others at which the result is looked at again: any; such as halve five times; such as
# halve three times; smaller ones. Only where the first are refused: a dependence could hide from the last two.
_SIZES = (
    (
        (64, 97, 75, 130, 159, 191, 222, 256, 103, 118, 173, 205, 232, 145, 88, 241),
        ((2, 3, 5, 7, 9), (45, 34, 23, 50, 12), (1031, 769, 907, 1283, 853)),
    ),
    ((64, 96, 160, 224, 288, 352, 416, 480, 544, 608, 736, 800), ((32, 128, 192, 256),)),
    ((16, 184, 24, 120, 40, 88, 72, 56, 104, 136, 152, 168), ((8, 32, 48, 64),)),
    ((5, 8, 11, 14, 19, 26, 29, 34, 37, 44, 47, 58, 61, 73, 86, 95), ((2, 3, 4, 6, 7), (107, 121, 140, 163))),
    ((2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), ((16, 17, 18, 19),)),
)
_WIDE = 3  # so many of them reach far


def opened(
    make: Callable[[list[TensorType]], tuple[Graph, Any]],
    specs: Sequence[tuple[Sequence[int], DType]],
    names: Sequence[str] = (),
    avoid: Iterable[int] = (),
) -> tuple[OpenGraph, tuple[int, ...], Any]:
    """The program of a function of inputs some of whose sizes are open.

    Args:
        make: gives, for types of the inputs, the graph (those inputs first, others after them) and whatever else says
            how it is used, which has to be equal at all sizes.
        specs: shape, with -1 where it is open, and element type of each input.
        names: of the inputs.
        avoid: sizes that occur otherwise, which samples had better not have.

    Returns:
        The graph with open sizes, sizes that it is known to take, and what else `make` gave.

    Raises:
        ValueError: it does not work at any sizes that were tried, or depends on them by no rule.
    """
    try:
        return _opened(make, specs, names, avoid)
    except _Dependent as first:
        try:
            with generalizing():
                return _opened(make, specs, names, avoid)
        except _Dependent:
            raise first.error from None


class _Dependent(Exception):
    """What a program does depends on a size."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


def _opened(
    make: Any, specs: Any, names: Sequence[str], avoid: Iterable[int]
) -> tuple[OpenGraph, tuple[int, ...], Any]:
    places = [(i, axis) for i, (shape, _) in enumerate(specs) for axis, n in enumerate(shape) if n < 0]
    avoided = {*avoid, *(n for shape, _ in specs for n in shape)}
    first: Exception | None = None
    depends: Depends | None = None
    for at, (choice, others) in enumerate(_SIZES):
        if depends is not None and at >= _WIDE:  # a rule for small sizes alone would be a guess
            break
        usual = [n for n in choice if n not in avoided]
        base = usual if len(usual) >= _SAMPLES + 1 else list(choice)
        found = _grouping(make, specs, places, base)
        if isinstance(found, Exception):
            first = first or found
            if not places:
                break
            continue
        group, start = found
        try:
            program, sizes, told = _learnt(make, specs, places, group, base, start, names)
            refused = []
            for row in others if places else ():
                further = tuple(row[j % len(row)] for j in range(max(group) + 1))
                refused.append(_compare(make, specs, places, group, further, program, told))
            if refused and all(refused):
                raise Depends(f"at some sizes it is another program ({refused[0]})", None)
            return program, sizes, told
        except ValueNeeded:
            raise
        except Depends as e:
            depends = depends or e
            if not e.rule:
                break
        except Exception as e:
            first = first or e
        if not places:
            break
    if depends is not None:
        raise _Dependent(
            errors.invalid_argument(
                f"save: what the program does depends on an open size: {depends.fact}.",
                expected="the same operations at all sizes",
                received=_told(specs, names),
                hint="give that size in the input_spec, or let Tensors decide (paddle.shape, paddle.static.nn.cond).",
                at=errors.describe_line(*depends.line) if depends.line else "",
            )
        )
    assert first is not None
    if not places:
        raise first
    raise errors.invalid_argument(
        "save: the program works at none of the sizes that were tried for the open ones.",
        expected="a program of any size",
        received=_told(specs, names),
        hint=f"give sizes in the input_spec. It said: {str(first).strip().splitlines()[0]}",
    ) from first


def _told(specs: Sequence[tuple[Sequence[int], DType]], names: Sequence[str]) -> str:
    told = []
    for i, (shape, dtype) in enumerate(specs):
        told.append(f"{names[i] if i < len(names) else i}: {dtype.name}{list(shape)}")
    return ", ".join(told)


def _grouping(make: Any, specs: Any, places: list[Place], base: list[int]) -> Any:
    """Which open sizes are one, each place with its number, and what `make` gave; or the first error."""
    first: Exception | None = None
    for tries, group in enumerate(groupings(places)):
        if tries == MOST_TRIES:
            break
        sizes = _rows(max(group, default=-1) + 1, base)[0]
        try:
            return group, (sizes, make(_types(specs, places, group, sizes)))
        except ValueNeeded:
            raise
        except Exception as e:  # whatever the function raises where sizes do not fit
            first = first or e
    return first


def groupings(places: list[Place]) -> Iterator[tuple[int, ...]]:
    """Ways in which open sizes may be one: as few as can be first, those of the same axis before others."""
    count = len(places)
    if count > 7:
        by_axis: dict[int, int] = {}
        yield tuple(range(count))
        first = next(i for i, (_, axis) in enumerate(places) if axis == 0 or i == count - 1)
        merged = [first if axis == 0 else i for i, (_, axis) in enumerate(places)]
        yield _numbered(merged)
        yield _numbered([by_axis.setdefault(axis, axis) for _, axis in places])
        yield (0,) * count
        return
    every: list[tuple[int, ...]] = [()]
    for _ in range(count):
        every = [(*g, n) for g in every for n in range(max(g, default=-1) + 2)]

    def cost(g: tuple[int, ...]) -> tuple[int, int]:
        crossing = sum(
            g[a] == g[b] and (places[a][1] != places[b][1] or places[a][0] == places[b][0])
            for a in range(count)
            for b in range(a)
        )
        return crossing, count - len(set(g))

    yield from sorted(every, key=cost)


def _numbered(group: Sequence[int]) -> tuple[int, ...]:
    number: dict[int, int] = {}
    return tuple(number.setdefault(g, len(number)) for g in group)


def _rows(count: int, base: list[int]) -> list[tuple[int, ...]]:
    """Sets of sizes: those of one set differ, and no size follows from another."""
    seed = 0
    while True:
        draw = random.Random(seed)
        columns = [draw.sample(base, _SAMPLES) if j else base[:_SAMPLES] for j in range(count)]
        rows = list(zip(*columns)) if count else [()]
        if seed > 1000 or all(len(set(r)) == count for r in rows):
            return rows
        seed += 1


def _types(specs: Any, places: list[Place], group: tuple[int, ...], sizes: tuple[int, ...]) -> list[TensorType]:
    shapes = [list(shape) for shape, _ in specs]
    for (i, axis), g in zip(places, group):
        shapes[i][axis] = sizes[g]
    return [TensorType(tuple(s), dtype) for s, (_, dtype) in zip(shapes, specs)]


def _learnt(
    make: Any,
    specs: Any,
    places: list[Place],
    group: tuple[int, ...],
    base: list[int],
    start: Any,
    names: Sequence[str],
) -> tuple[OpenGraph, tuple[int, ...], Any]:
    rows = _rows(max(group, default=-1) + 1, base)
    graphs, others = [], []
    for sizes in rows:
        graph, other = start[1] if sizes == start[0] else make(_types(specs, places, group, sizes))
        graphs.append(graph)
        others.append(other)
    if any(o != others[0] for o in others):
        raise Depends("it reads other Tensors, or gives another structure, at another size", None)
    data = learn(graphs, rows, names)
    for i, g in enumerate(group):  # the same size in several samples of different meaning would be a fixed one
        assert data["inputs"][places[i][0]]["shape"][places[i][1]] == {"$n": [g, 1, 0, 1]}, (
            places,
            group,
            data["inputs"],
        )
    return OpenGraph(data), min(rows, key=sum), others[0]


def _compare(
    make: Any,
    specs: Any,
    places: list[Place],
    group: tuple[int, ...],
    sizes: tuple[int, ...],
    program: OpenGraph,
    told: Any,
) -> None:
    """Depends, where the function does at further sizes what the program does not.

    Returns:
        What the program says, where it refuses these sizes and the function does not: a call would say so too.
    """
    try:
        graph, other = make(_types(specs, places, group, sizes))
    except Exception:  # it need not take these
        return ""
    shown = ", ".join(map(str, sizes))
    if other != told:
        raise Depends("it reads other Tensors, or gives another structure, at another size", None)
    try:
        learnt = program.graph(sizes)
    except ValueError as e:
        return str(e).splitlines()[0]
    if [v.type for v in graph.outputs] != [v.type for v in learnt.outputs]:
        raise Depends(f"at {shown} its results have other types", None)
    nodes, others = (unshared(g) for g in (graph, learnt))
    wired = nodes[1] == others[1] and [at for _, at in nodes[0]] == [at for _, at in others[0]]
    if wired and all(alike(n.op, m.op) for (n, _), (m, _) in zip(nodes[0], others[0])):
        return ""
    if max(sizes) > LONG:  # too long to be computed
        pairs = [(n, m) for (n, _), (m, _) in zip(nodes[0], others[0]) if not alike(n.op, m.op)]
        if len(nodes[0]) == len(others[0]) and pairs and all(n.op.name == m.op.name for n, m in pairs):
            raise Depends(f"at {shown} {pairs[0][0].op.name} is another than at fewer", pairs[0][0].line)
        return ""
    rng = np.random.default_rng(0)  # it may be the same written in another way, as where an axis is short
    arrays = [drawn(rng, v.type.shape, v.dtype) for v in graph.inputs]
    try:
        expected = materialize.Reference(graph)(arrays)
    except (ValueError, IndexError, ArithmeticError):  # such as an index beyond a table: the inputs are drawn
        return ""
    for a, b in zip(expected, materialize.Reference(learnt)(arrays)):
        wide = complex if a.dtype.kind == "c" else float
        if not np.allclose(a.astype(wide), b.astype(wide), 1e-3, 1e-4, equal_nan=True):
            line = next((n.line for (n, _), (m, _) in zip(nodes[0], others[0]) if not alike(n.op, m.op)), None)
            raise Depends(f"at {shown} its results are not those of the same operations at other sizes", line)
    return ""


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """An array for a trial: normal numbers, zeros and ones where they are whole."""
    if not dtype.is_floating:
        return rng.integers(0, 2, shape).astype(dtype.np)
    if shape and math.prod(shape) > MOST_DRAWN:  # equal rows, which take no memory
        return np.broadcast_to(rng.standard_normal(shape[-1]).astype(dtype.np), shape)
    return np.asarray(rng.standard_normal(shape)).astype(dtype.np)
