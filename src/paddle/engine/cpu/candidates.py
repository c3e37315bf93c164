"""The ways to cut a contraction that are worth weighing, and what each costs by a small model of the core."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .arithmetic import INT8_FOURS, RESULT, Recipe, recipes
from .schedule import K_STEPS, ONE, WINDOW_BYTES, Cut, Dim, joins, most_steps, simplify, window_row

if TYPE_CHECKING:
    from .tile import Contraction


def cut(extent: int, most: int) -> Cut:
    """As even as possible, the larger tiles first."""
    tiles = -(-extent // most)
    size, extra = divmod(extent, tiles)
    return Cut(extra, size + 1, tiles - extra, size) if extra else Cut(tiles, size)


def cut_columns(extent: int, lanes: int, most: int) -> Cut | None:
    """Cut of a vector axis, in vectors; the last tile must be able to overlap itself where lanes do not fit."""
    c = cut(-(-extent // lanes), most)
    if c.n2:
        c = Cut(c.n2, c.s2, c.n1, c.s1)
    return None if extent % lanes and (c.s2 if c.n2 else c.s1) < 2 else c


def power_below(n: int, most: int) -> int:
    """The largest power of two that is at most n and `most`."""
    return min(most, 1 << (max(n, 1).bit_length() - 1))


# ---- the model: cycles of one core, registers and loads as on AVX2 ------------------------------
@dataclass(frozen=True)
class _Machine:
    """What a candidate costs with one recipe.

    Attributes:
        a, b: extra loads that an element of A or B costs where it is converted as it is multiplied; 0 where it is kept
            as it is.
        rounds: whether sums are converted when they are stored. biased: whether 128 is added to the elements of A.
        pair, groups: the reduce axis of which a step takes several neighbours: its elements, and its groups.
        way: the one candidate that is asked for.
    """

    recipe: Recipe
    vector_bytes: int
    registers: int
    a: float = 0.0
    b: float = 0.0
    rounds: bool = False
    biased: bool = False
    pair: Dim | None = None
    groups: Dim | None = None
    way: tuple[Any, ...] | None = None

    @property
    def lanes(self) -> int:
        return self.vector_bytes // self.recipe.size

    @property
    def in_place(self) -> bool:
        """Whether tiles can read A where it is, without converting it."""
        group = self.recipe.group
        fits = self.pair is None or (self.pair.a == 1 and self.pair.extent % group == 0)
        return fits and not self.a

    def lefts(self, r1: Dim, k: tuple[Dim, ...], inner: tuple[Dim, ...] = ()) -> list[str]:
        """The ways to read A: in place, or packed by rows or by steps."""
        if self.in_place:
            return [""]
        found = [""] if self.recipe.group == 1 else []
        if k and r1.a and not r1.b and all(d.a for d in inner):
            along = k[-1].a == self.recipe.group and (self.pair is None or (self.pair.a == 1 and k[-1] is self.groups))
            found.append("r" if r1.a == 1 and not along else "k")
        return found

    def pack_left(self, left: str, m: int, k: tuple[Dim, ...]) -> float:
        """Cycles to pack a group of A for one row."""
        group = self.recipe.group
        if left == "r":
            pieces = -(-m // power_below(m, self.lanes))
            return pieces * (2.0 * group + group * self.a + 1) / m
        return (2.0 + 2.0 * self.a) / self.lanes if k[-1].a == group else 2.0 * group + 2.0

    def wants(self, parts: dict[str, Any], packed: bool) -> bool:
        return self.way is None or way_of(parts, packed) == self.way

    def tile(self, m1: int, m2: int, nv: int, loads: float, live: int) -> float:
        """Cycles of one multiply-add of every accumulator."""
        sums = m1 * m2 * nv
        spilled = max(0, sums + live - self.registers)
        return max(sums * 0.5, loads * 0.5, 4.0) + 0.03 * loads + 2.0 * spilled


def load_cost(lane: int, lanes: int, converted: float = 0.0) -> float:
    """Loads for a vector. A single number that is broadcast is converted in more instructions than a vector."""
    if lane in (0, 1):
        return 1.0 + converted * (2.0 if lane == 0 else 1.0)
    return (1.5 + converted) * lanes


def conflicts(strides: list[tuple[int, int]], width: int, itemsize: int) -> bool:
    """Whether rows of `width` bytes at these (extent, stride) fall out of a 32 KiB, 8-way cache."""
    rows, sets, lines = 1, 64, -(-width // 64)
    for extent, stride in strides:
        step = abs(stride) * itemsize
        if step >= 64 and extent > 1:
            rows *= extent
            if step % 64 == 0:
                sets = min(sets, max(1, 64 // math.gcd(64, step // 64)) * lines)
    return rows * lines > 6 * min(sets, 64)


Candidate = tuple[float, dict[str, Any], bool]  # cycles, fields of a Schedule, whether B is packed
Way = tuple[Any, ...]  # what tells a candidate from the others for contractions of the same structure


def way_of(parts: dict[str, Any], packed: bool) -> Way:
    axes = (parts["v"], parts["r1"], parts["r2"])
    tiles = (parts["v_cut"].s1, parts["r1_cut"].s1, parts["r2_cut"].s1)
    more = parts["recipe"].name, parts["left"], parts["pair_at"]
    return (parts["kind"], packed, parts["swap"], *more, *tiles, *((d.a > 0, d.b > 0, d.c == 1, d.c > 0) for d in axes))


def candidates(
    spec: Contraction, vector_bytes: int, registers: int, has: tuple[str, ...], way: Way | None = None
) -> Iterator[Candidate]:
    """The ways to cut a contraction that are worth weighing; only those like `way` if there is one."""
    free, red = simplify(spec.axes)
    a, b, c = spec.types
    rounds = c != RESULT.get(spec.dtype, "float32" if spec.dtype in ("bfloat16", "float16") else spec.dtype)
    for recipe in recipes(spec.dtype, a, b, vector_bytes, has):
        extra_a, extra_b = (0.0 if recipe.keeps(t) else 1.0 for t in (a, b))
        biased = recipe is INT8_FOURS and (a, b) == ("int8", "int8")
        spare = 2 if recipe.group > 1 else 0  # LLVM spills accumulators where these take all registers
        machine = _Machine(recipe, vector_bytes, registers - spare, extra_a, extra_b, rounds, biased, way=way)
        yield from with_recipe(spec, machine, free, red)


def with_recipe(spec: Contraction, machine: _Machine, free: list[Dim], red: list[Dim]) -> Iterator[Candidate]:
    itemsize, recipe = machine.recipe.size, machine.recipe
    along = free or [Dim(1, 0, 0, 1)]
    if spec.dynamic:  # fewer kinds of kernels
        along = [d for d in along if d.c == 1] or along
    for v in along:
        others = [d for d in free if d is not v]
        swap = v.b == 0 and v.a != 0
        x, rest, reduce = flip(v, swap), [flip(d, swap) for d in others], [flip(d, swap) for d in red]
        core = replace(machine, a=machine.b, b=machine.a) if swap else machine
        if recipe.group > 1:
            if not x.b or x.a or x.extent < recipe.fewest or not math.prod(d.extent for d in reduce) or not reduce:
                continue
            core, reduce = in_groups(core, x, reduce)
        args = spec, core, itemsize
        found = [] if spec.dynamic else list(blocked(*args, x, rest, reduce, swap))
        if found:
            yield from found
            continue
        yield from outer(*args, x, rest, reduce, swap)
        if not spec.dynamic and reduce and recipe.group == 1:
            for y in rest:
                if x.b and y.b and not (x.a or y.a) and joins(replace(y, a=0, b=0), replace(x, a=0, b=0)):
                    joined, left = windowed(x, y, [d for d in rest if d is not y], reduce, itemsize)
                    yield from outer(*args, joined[0], left, reduce, swap, joined[1:])
    if recipe is INT8_FOURS:
        return
    for v in red:
        if {v.a, v.b} <= {0, 1} and (v.a or v.b) and v.extent > 1 and v.extent >= recipe.group * recipe.fewest:
            yield from dot(spec, machine, itemsize, v, free, [d for d in red if d is not v])


def in_groups(machine: _Machine, v: Dim, red: list[Dim]) -> tuple[_Machine, list[Dim]]:
    """The reduce axes, one of them in groups: where little is wasted, and then where packing is cheap."""
    group = machine.recipe.group
    if machine.biased:
        machine = replace(machine, a=1.0)

    def badness(d: Dim) -> tuple[Any, ...]:
        wasted = round(20 * -(-d.extent // group) * group / d.extent)
        in_place = replace(machine, pair=d).in_place
        return not in_place, wasted, d.a != 1, v.b != 1 and d.b != 1, abs(d.a) + abs(d.b)

    whole = min(red, key=badness)
    groups = Dim(-(-whole.extent // group), whole.a * group, whole.b * group)
    return replace(machine, pair=whole, groups=groups), [groups if d is whole else d for d in red]


def flip(d: Dim, swap: bool) -> Dim:
    return replace(d, a=d.b, b=d.a) if swap else d


def windowed(
    x: Dim, y: Dim, others: list[Dim], red: list[Dim], itemsize: int
) -> tuple[tuple[Dim, Dim, Dim], list[Dim]]:
    """Joins x and (a part of) y to one vector axis over packed columns: (joined, part of y, x), the other axes of C."""
    steps = max(1, min(K_STEPS, math.prod(d.extent for d in red)))
    most = max(1, WINDOW_BYTES // (steps * itemsize * x.extent))
    size = max(n for n in range(1, min(most, y.extent) + 1) if y.extent % n == 0)
    part = replace(y, extent=size)
    if size < y.extent:
        others = [*others, y.every(size)]
    return (Dim(size * x.extent, 0, 1, x.c, x.e), part, x), others


def outer(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, others: list[Dim], red: list[Dim],
    swap: bool, window: tuple[Dim, ...] = (),
) -> Iterator[Candidate]:  # fmt: skip
    recipe, group = machine.recipe, machine.recipe.group
    lanes = power_below(v.extent, machine.lanes)
    k = tuple(sorted(red, key=lambda d: -abs(d.a) - abs(d.b)))
    at = place_of(machine.groups, k)
    steps = math.prod(d.extent for d in k)
    visits = -(-steps // K_STEPS)  # of C
    inner = math.prod(d.extent for d in k[1:])
    vectors = -(-v.extent // lanes)
    far = 2.0 if k and abs(k[-1].b) * itemsize >= 1024 else 0.0  # a page or so from step to step
    for r1 in [*others, ONE]:
        if r1 is ONE and others and any(not (d.b and d.a) for d in others):
            continue
        rest = [d for d in others if d is not r1]
        outside = math.prod(d.extent for d in rest)
        tried: set[tuple[int, int]] = set()
        for nv in (1, 2, 3, 4, 6, 8, 12):
            nv = min(nv, vectors)
            if spec.dynamic:
                nv = 1 if v.extent % lanes == 0 and vectors == 1 else 2
            shared = (nv if not r1.b else 1) + 1
            m = min(r1.extent, max(1, (machine.registers - shared) // nv), 12)
            if spec.dynamic:
                m = next(x for x in (6, 4, 3, 2, 1) if x <= m)
                v_cut: Cut | None = Cut(-(-v.extent // (nv * lanes)), nv)
                r1_cut = Cut(-(-r1.extent // m), m)
            else:
                v_cut, r1_cut = cut_columns(v.extent, lanes, nv), cut(r1.extent, m)
            if v_cut is None or (r1_cut.s1, nv) in tried:
                continue
            tried.add((r1_cut.s1, nv))
            packable = bool(k and v.b and not r1.b and (steps > 1 or recipe.group > 1))
            if (window or recipe.group > 1) and not packable:
                continue
            if window and machine.rounds and steps > min(K_STEPS, WINDOW_BYTES // window_row(v, itemsize)):
                continue  # sums kept apart would have no room
            always = window or recipe.group > 1
            choices = [("", False), ("", True)]
            if window or not machine.in_place:
                lefts = [""] if window or v.a else machine.lefts(r1, k)
                choices = [("", False), *((left, True) for left in lefts)]
            for left, packed in choices:
                if packed > packable or (always and not packed):
                    continue
                parts = dict(
                    recipe=recipe, kind="outer", lanes=lanes, swap=swap, loops=tuple(rest), v=v, v_cut=v_cut,
                    v_block=v_cut.tiles, r1=r1, r1_cut=r1_cut, r2=ONE, r2_cut=Cut(1, 1), r2_block=1, k=k,
                    window=window or None, left=left, pair=machine.pair, pair_at=at,
                )  # fmt: skip
                if not machine.wants(parts, packed):
                    continue
                cycles = 0.0
                b_lane, b_cost = v.b, 1.0
                if packed:
                    b_lane = 1
                elif conflicts([(d.extent, d.b) for d in k], nv * lanes * itemsize, itemsize) and r1_cut.tiles > 2:
                    b_cost = 4.0
                for n1, s1 in v_cut.sizes:
                    for n2, s2 in r1_cut.sizes:
                        loads = load_cost(v.a, lanes, 0.0 if left else machine.a)
                        loads *= (s2 if r1.a else 1) * (s1 if v.a else 1)
                        loads += (
                            load_cost(b_lane, lanes, 0.0 if packed else machine.b)
                            * b_cost
                            * (s2 if r1.b else 1)
                            * (s1 if v.b else 1)
                        )
                        each = steps * (
                            machine.tile(s2, 1, s1, loads, shared if s2 > 1 else 2) + (0.0 if packed else far)
                        )
                        each += visits * (12 + s1 * s2 * (1.0 if v.c == 1 else 4.0 * lanes))
                        cycles += n1 * n2 * each
                r_rows = r1_cut.tiles
                r_block = row_block(r1, r1_cut, steps, itemsize) if steps * r1.extent * itemsize > 131072 else r_rows
                if packed:
                    row = max(v_cut.s1, v_cut.s2) * lanes * itemsize
                    fits = min(K_STEPS, WINDOW_BYTES // window_row(v, itemsize)) if window else most_steps(
                        machine.rounds and not spec.dynamic, left, steps, row)  # fmt: skip
                    if inner > fits:
                        continue
                    again = -(-r_rows // r_block)
                    pair = machine.pair
                    along = any(d.b == 1 for d in k) if pair is None else pair.b == 1 and at == len(k) - 1
                    each = 1.0 * group if v.b == 1 else 0.5 * lanes if along else 1.25 * lanes * group
                    each += 0.5 * group * machine.b
                    if window:
                        y, x = window
                        pieces = -(-x.extent // power_below(x.extent, lanes))
                        cycles += again * steps * y.extent * (3.0 + pieces * (1.0 if x.b == 1 else 1.25 * lanes))
                    else:
                        cycles += again * steps * vectors * (each + 0.5)
                if left:
                    cycles += r1.extent * steps * machine.pack_left(left, r1_cut.s1, k) * -(-v.extent // 256)
                if machine.rounds and visits > 1:
                    cycles += 4.0 * r1.extent * vectors
                bulky = 0.01 * (packed and v.b != 1 and len(v_cut.sizes) > 1) + 0.05 * (v.c != 1)
                cycles *= outside * (1.0 + bulky)  # much to compile
                yield cycles, {**parts, "r1_block": r_block}, packed


def place_of(groups: Dim | None, k: tuple[Dim, ...]) -> int:
    return next((i for i, d in enumerate(k) if d is groups), -1)


def blocked(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, others: list[Dim], red: list[Dim], swap: bool
) -> Iterator[Candidate]:
    """Columns side by side in B and C, rows along several axes: a panel of B serves all rows of a unit.

    A convolution whose channels come last is of this kind, and so are its gradients.
    """
    rows = [d for d in others if d.b == 0 and d.a]
    if v.c != 1 or v.a or not v.b or len(rows) < 2 or not red or v.extent < machine.lanes:
        return
    recipe, group, lanes = machine.recipe, machine.recipe.group, machine.lanes
    vectors = -(-v.extent // lanes)
    rest = [d for d in others if d not in rows]
    outside = math.prod(d.extent for d in rest)
    steps = math.prod(d.extent for d in red)
    for r1 in rows:
        inner = sorted((d for d in rows if d is not r1), key=lambda d: -abs(d.c))
        count = math.prod(d.extent for d in inner)
        for nv in {min(n, vectors) for n in (1, 2, 3, 4, 6)}:
            m = min(r1.extent, max(1, (machine.registers - nv - 1) // nv), 14)
            v_cut, r1_cut = cut_columns(v.extent, lanes, nv), cut(r1.extent, m)
            if v_cut is None:
                continue
            widest = max(v_cut.s1, v_cut.s2) * lanes * itemsize
            order = sorted(red, key=lambda d: abs(d.a) + abs(d.b) if v.b == 1 else abs(d.b))  # as B is packed quickly
            most = most_steps(machine.rounds, "" if machine.in_place else "r", steps, widest)
            k, k_outer, at = cut_reduce(order, most, machine.groups)
            pair = machine.pair
            if pair is not None and k[at].extent * group < pair.extent:
                if pair.extent % group:
                    continue
                pair = replace(pair, extent=k[at].extent * group)
            each = math.prod(d.extent for d in k)
            visits = steps // each
            cycles = 0.0
            for n1, s1 in v_cut.sizes:
                for n2, s2 in r1_cut.sizes:
                    work = steps * machine.tile(s2, 1, s1, s1 + s2, s1) + visits * (12 + 2.5 * s1 * s2 + 3 * len(k))
                    cycles += n1 * n2 * work
            far = 1.0 + 0.02 * (abs(r1.a) * itemsize > 4096)
            along = k[-1].b == group and (pair is None or (at == len(k) - 1 and pair.b == 1))
            pack = steps * vectors * (0.5 + group if v.b == 1 else 0.5 * lanes if along else 1.25 * lanes * group)
            pack += 0.5 * group * machine.b * steps * vectors
            if machine.rounds and visits > 1:
                pack += 4.0 * count * r1.extent * vectors
            for left in replace(machine, groups=k[at] if pair else None).lefts(r1, k, tuple(inner)):
                parts = dict(
                    recipe=recipe, kind="outer", lanes=lanes, swap=swap, loops=tuple(rest), v=v, v_cut=v_cut,
                    v_block=v_cut.tiles, r1=r1, r1_cut=r1_cut, r1_block=r1_cut.tiles, r2=ONE, r2_cut=Cut(1, 1),
                    r2_block=1, k=k, inner=tuple(inner), k_outer=k_outer, left=left, pair=pair, pair_at=at,
                )  # fmt: skip
                if left:
                    more = count * r1.extent * steps * machine.pack_left(left, r1_cut.s1, k) * -(-v.extent // 256)
                else:
                    more = count * r1_cut.tiles * v_cut.tiles * steps * r1_cut.s1 * machine.a
                yield outside * (count * cycles * far + pack + more), parts, True


def cut_reduce(red: list[Dim], most: int, groups: Dim | None = None) -> tuple[tuple[Dim, ...], tuple[Dim, ...], int]:
    """Reduce axes, given innermost first: for a panel of at most `most` steps, and those around it, outermost first.

    Last comes the place of `groups` among the first, where it always has one.
    """
    inside: list[Dim] = []
    around: list[Dim] = []
    found: Dim | None = None
    steps = 1
    for d in red:
        fits = max(n for n in range(1, d.extent + 1) if d.extent % n == 0 and (n == 1 or n * steps <= most))
        if fits > 1 or d is groups:
            inside.insert(0, replace(d, extent=fits))
            steps *= fits
            found = inside[0] if d is groups else found
        if fits < d.extent:
            around.insert(0, Dim(d.extent // fits, d.a * fits, d.b * fits))
    k = tuple(inside or [Dim(1)])
    return k, tuple(around), place_of(found, k)


def row_block(r1: Dim, c: Cut, steps: int, itemsize: int) -> int:
    """Tiles of rows whose part of A stays in the second-level cache."""
    rows = max(64, 327680 // (min(steps, K_STEPS) * itemsize))
    blocks = max(1, round(r1.extent / rows))
    return -(-c.tiles // blocks)


def dot(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, free: list[Dim], red: list[Dim]
) -> Iterator[Candidate]:
    recipe = machine.recipe
    lanes = power_below(v.extent // recipe.group, machine.lanes)
    k = tuple(sorted(red, key=lambda d: -abs(d.a) - abs(d.b)))
    steps = math.prod(d.extent for d in k) * -(-v.extent // (lanes * recipe.group))
    lefts = [d for d in free if d.a and not d.b] or [ONE]
    rights = [d for d in free if d.b and not d.a] or [ONE]
    for r1 in lefts:
        for r2 in rights:
            rest = [d for d in free if d is not r1 and d is not r2]
            tried: set[tuple[int, int]] = set()
            for most2 in (1, 2, 3, 4, 5, 6, 8, 12):
                m2 = min(most2, r2.extent)
                m1 = min(r1.extent, max(1, (machine.registers - m2 - 1) // m2), 12)
                r1_cut, r2_cut = cut(r1.extent, m1), cut(r2.extent, m2)
                if spec.dynamic:
                    m1, m2 = (next(x for x in (4, 3, 2, 1) if x <= m) for m in (m1, m2))
                    r1_cut, r2_cut = Cut(-(-r1.extent // m1), m1), Cut(-(-r2.extent // m2), m2)
                if (r1_cut.s1, r2_cut.s1) in tried:
                    continue
                tried.add((r1_cut.s1, r2_cut.s1))
                parts = dict(
                    recipe=recipe, kind="dot", lanes=lanes, swap=False, loops=tuple(rest), v=v, v_cut=Cut(1, 1),
                    v_block=1, r1=r1, r1_cut=r1_cut, r1_block=r1_cut.tiles, r2=r2, r2_cut=r2_cut,
                    r2_block=r2_cut.tiles, k=k, left="", pair_at=-1,
                )  # fmt: skip
                if not machine.wants(parts, False):
                    continue
                cycles = 0.0
                for n1, s1 in r1_cut.sizes:
                    for n2, s2 in r2_cut.sizes:
                        loads = s1 + s2 + machine.a * s1 + machine.b * s2
                        each = steps * machine.tile(s1, s2, 1, loads, s2 + 1) + 15 + 4 * s1 * s2
                        cycles += n1 * n2 * each
                cycles *= 1.1 * math.prod(d.extent for d in rest)
                yield cycles, parts, False
