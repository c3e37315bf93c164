"""Register tiles for contractions: sums of products with affine accesses, and how each is cut.

A matrix product in any transposition, a batched product, a convolution and both its gradients, an einsum: all are
`C[...] = sum over reduce axes of A[...] * B[...]`. `plan` simplifies the axes, weighs the possible tiles with a small
model of the core (two multiply-adds and two loads a cycle) and gives a `Kernel`, whose text `contraction.py` writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from .contraction import emit
from .schedule import PANEL_BYTES, WINDOW_BYTES, Cut, Dim, Schedule, window_row


@dataclass(frozen=True)
class Axis:
    """One loop of a contraction.

    Attributes:
        extent: number of steps.
        a, b: element strides in A and B; 0 where the operand is not indexed by this axis.
        c: element stride in C; None for a reduce axis.
    """

    extent: int
    a: int
    b: int
    c: int | None


@dataclass(frozen=True)
class Contraction:
    """C[...] = sum of A[...] * B[...] over the axes whose `c` is None.

    Attributes:
        axes: all loops, in any order.
        dtype: "float32" or "float64".
        a_offset, b_offset: first element read at index 0 of all axes.
        accumulate: C += instead of C =.
        dynamic: extents, strides other than 0 and 1, and offsets are read from %dims.
    """

    axes: tuple[Axis, ...]
    dtype: str
    a_offset: int = 0
    b_offset: int = 0
    accumulate: bool = False
    dynamic: bool = False


@dataclass(frozen=True)
class Kernel:
    """A planned contraction.

    The function is `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`, with ptrs[1..3] = A, B, C; it computes the
    units [begin, end) of [0, total). Units are independent, so the result does not depend on how they are shared out.
    """

    spec: Contraction
    schedule: Schedule | None  # None: nothing to compute
    cycles: float = 0.0

    @property
    def total(self) -> int:
        return self.schedule.total if self.schedule else 0

    @property
    def grain(self) -> int:
        """Units in a task of about 30 microseconds."""
        return max(1, min(self.total, round(TASK_CYCLES * self.total / max(self.cycles, 1.0))))

    @cached_property
    def key(self) -> str:
        """Equal keys mean equal code (the name apart)."""
        s = self.schedule
        if s is None:
            return "nothing"
        if not s.dynamic:
            return repr(s)
        kinds = "".join("01*"[min(abs(v), 2)] if stride and v >= 0 else "*" for v, stride in self.numbers)
        fixed = (s.kind, s.dtype, s.vector_bytes, s.lanes, s.swap, s.accumulate, s.k_block, s.panel is None)
        sizes = (s.v_cut.s1, s.r1_cut.s1, s.r2_cut.s1, *map(len, (s.units, s.loops, s.k, s.panel or ())))
        return repr((*fixed, *sizes, kinds))

    @cached_property
    def numbers(self) -> list[tuple[int, bool]]:
        return list(self.schedule.numbers().values()) if self.schedule else []

    def dims(self) -> list[int]:
        """What %dims holds: int64; empty for a static kernel."""
        s = self.schedule
        if s is None or not s.dynamic:
            return []
        return [v * s.itemsize if stride else v for v, stride in self.numbers]

    def text(self, name: str) -> str:
        """The LLVM text of the function."""
        if self.schedule is None:
            return f"define void @{name}(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {{\n  ret void\n}}\n"
        return emit(self.schedule, name)


TASK_CYCLES = 90_000.0
UNIT_CYCLES = 60_000.0
K_STEPS = 320  # of the reduce axes between two visits of C, at most about
ONE = Dim(1)


def simplify(axes: tuple[Axis, ...]) -> tuple[list[Dim], list[Dim]]:
    """Axes of C and reduce axes, without those of extent 1, neighbours in memory merged."""
    free = [Dim(x.extent, x.a, x.b, x.c) for x in axes if x.c is not None and x.extent != 1]
    red = [Dim(x.extent, x.a, x.b) for x in axes if x.c is None and x.extent != 1]
    if any(d.extent == 0 for d in red):
        red = [Dim(0)]
    return merge(free), merge(red)


def merge(dims: list[Dim]) -> list[Dim]:
    """Joins pairs that one loop can walk."""
    dims = list(dims)
    again = True
    while again:
        again = False
        for x in dims:
            for y in dims:
                if x is not y and joins(x, y):
                    dims = [d for d in dims if d is not x and d is not y]
                    dims.append(replace(y, extent=x.extent * y.extent))
                    again = True
                    break
            if again:
                break
    return dims


def joins(outer: Dim, inner: Dim) -> bool:
    n = inner.extent
    return outer.a == n * inner.a and outer.b == n * inner.b and outer.c == n * inner.c


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
    lanes: int
    registers: int
    way: tuple[Any, ...] | None = None  # the one candidate that is asked for

    def wants(self, parts: dict[str, Any], packed: bool) -> bool:
        return self.way is None or way_of(parts, packed) == self.way

    def tile(self, m1: int, m2: int, nv: int, loads: float, live: int) -> float:
        """Cycles of one multiply-add of every accumulator."""
        sums = m1 * m2 * nv
        spilled = max(0, sums + live - self.registers)
        return max(sums * 0.5, loads * 0.5, 4.0) + 0.03 * loads + 2.0 * spilled


def load_cost(lane: int, lanes: int) -> float:
    return 1.0 if lane in (0, 1) else 1.5 * lanes


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


def structure(spec: Contraction) -> Any:
    """What the choice for a dynamic contraction goes by: strides, and sizes about."""
    about = lambda n: n if n <= 16 else 16 + n.bit_length()
    kind = lambda stride: -1 if stride is None else min(abs(stride), 2)
    return spec.dtype, tuple((about(x.extent), kind(x.a), kind(x.b), kind(x.c)) for x in spec.axes)


def way_of(parts: dict[str, Any], packed: bool) -> Way:
    axes = (parts["v"], parts["r1"], parts["r2"])
    tiles = (parts["v_cut"].s1, parts["r1_cut"].s1, parts["r2_cut"].s1)
    return (parts["kind"], packed, parts["swap"], *tiles, *((d.a > 0, d.b > 0, d.c == 1, d.c > 0) for d in axes))


def candidates(spec: Contraction, vector_bytes: int, registers: int, way: Way | None = None) -> Iterator[Candidate]:
    """The ways to cut a contraction that are worth weighing; only those like `way` if there is one."""
    free, red = simplify(spec.axes)
    itemsize = 4 if spec.dtype == "float32" else 8
    args = spec, _Machine(vector_bytes // itemsize, registers, way), itemsize
    along = free or [Dim(1, 0, 0, 1)]
    if spec.dynamic:  # fewer kinds of kernels
        along = [d for d in along if d.c == 1] or along
    for v in along:
        others = [d for d in free if d is not v]
        swap = v.b == 0 and v.a != 0
        x, rest, reduce = flip(v, swap), [flip(d, swap) for d in others], [flip(d, swap) for d in red]
        found = [] if spec.dynamic else list(blocked(*args, x, rest, reduce, swap))
        if found:
            yield from found
            continue
        yield from outer(*args, x, rest, reduce, swap)
        if not spec.dynamic and reduce:
            for y in rest:
                if x.b and y.b and not (x.a or y.a) and y.c == x.extent * x.c:
                    joined, left = windowed(x, y, [d for d in rest if d is not y], reduce, itemsize)
                    yield from outer(*args, joined[0], left, reduce, swap, joined[1:])
    for v in red:
        if {v.a, v.b} <= {0, 1} and (v.a or v.b) and v.extent > 1:
            yield from dot(*args, v, free, [d for d in red if d is not v])


def flip(d: Dim, swap: bool) -> Dim:
    return Dim(d.extent, d.b, d.a, d.c) if swap else d


def windowed(
    x: Dim, y: Dim, others: list[Dim], red: list[Dim], itemsize: int
) -> tuple[tuple[Dim, Dim, Dim], list[Dim]]:
    """Joins x and (a part of) y to one vector axis over packed columns: (joined, part of y, x), the other axes of C."""
    steps = max(1, min(K_STEPS, math.prod(d.extent for d in red)))
    most = max(1, WINDOW_BYTES // (steps * itemsize * x.extent))
    size = max(n for n in range(1, min(most, y.extent) + 1) if y.extent % n == 0)
    part = Dim(size, 0, y.b, y.c)
    if size < y.extent:
        others = [*others, Dim(y.extent // size, 0, y.b * size, y.c * size)]
    return (Dim(size * x.extent, 0, 1, x.c), part, x), others


def outer(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, others: list[Dim], red: list[Dim],
    swap: bool, window: tuple[Dim, ...] = (),
) -> Iterator[Candidate]:  # fmt: skip
    lanes = power_below(v.extent, machine.lanes)
    k = tuple(sorted(red, key=lambda d: -abs(d.a) - abs(d.b)))
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
            packable = bool(k and v.b and not r1.b and steps > 1)
            if window and not packable:
                continue
            for packed in (True,) if window else (False, True) if packable else (False,):
                parts = dict(
                    kind="outer", lanes=lanes, swap=swap, loops=tuple(rest), v=v, v_cut=v_cut, v_block=v_cut.tiles,
                    r1=r1, r1_cut=r1_cut, r2=ONE, r2_cut=Cut(1, 1), r2_block=1, k=k, window=window or None,
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
                        loads = load_cost(v.a, lanes) * (s2 if r1.a else 1) * (s1 if v.a else 1)
                        loads += load_cost(b_lane, lanes) * b_cost * (s2 if r1.b else 1) * (s1 if v.b else 1)
                        each = steps * (
                            machine.tile(s2, 1, s1, loads, shared if s2 > 1 else 2) + (0.0 if packed else far)
                        )
                        each += visits * (12 + s1 * s2 * (1.0 if v.c == 1 else 4.0 * lanes))
                        cycles += n1 * n2 * each
                r_rows = r1_cut.tiles
                r_block = row_block(r1, r1_cut, steps, itemsize) if steps * r1.extent * itemsize > 131072 else r_rows
                if packed:
                    row = max(v_cut.s1, v_cut.s2) * lanes * itemsize
                    if inner > (
                        min(K_STEPS, WINDOW_BYTES // window_row(v, itemsize) if window else PANEL_BYTES // row)
                    ):
                        continue
                    again = -(-r_rows // r_block)
                    along = any(d.b == 1 for d in k)
                    each = 1.0 if v.b == 1 else 0.5 * lanes if along else 1.25 * lanes
                    if window:
                        y, x = window
                        pieces = -(-x.extent // power_below(x.extent, lanes))
                        cycles += again * steps * y.extent * (3.0 + pieces * (1.0 if x.b == 1 else 1.25 * lanes))
                    else:
                        cycles += again * steps * vectors * (each + 0.5)
                bulky = 0.01 * (packed and v.b != 1 and len(v_cut.sizes) > 1) + 0.05 * (v.c != 1)
                cycles *= outside * (1.0 + bulky)  # much to compile
                yield cycles, {**parts, "r1_block": r_block}, packed


def blocked(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, others: list[Dim], red: list[Dim], swap: bool
) -> Iterator[Candidate]:
    """Columns side by side in B and C, rows along several axes: a panel of B serves all rows of a unit.

    A convolution whose channels come last is of this kind, and so are its gradients.
    """
    rows = [d for d in others if d.b == 0 and d.a]
    if v.c != 1 or v.a or not v.b or len(rows) < 2 or not red or v.extent < machine.lanes:
        return
    lanes = machine.lanes
    vectors = -(-v.extent // lanes)
    rest = [d for d in others if d not in rows]
    outside = math.prod(d.extent for d in rest)
    steps = math.prod(d.extent for d in red)
    for r1 in rows:
        inner = sorted((d for d in rows if d is not r1), key=lambda d: -abs(d.c))
        count = math.prod(d.extent for d in inner)
        for nv in {min(n, vectors) for n in (1, 2, 3, 4, 6)}:
            m = min(r1.extent, max(1, (machine.registers - nv - (lanes * itemsize < 64)) // nv), 14)
            v_cut, r1_cut = cut_columns(v.extent, lanes, nv), cut(r1.extent, m)
            if v_cut is None:
                continue
            widest = max(v_cut.s1, v_cut.s2) * lanes * itemsize
            order = sorted(red, key=lambda d: abs(d.a) + abs(d.b) if v.b == 1 else abs(d.b))  # as B is packed quickly
            k, k_outer = cut_reduce(order, min(K_STEPS, PANEL_BYTES // widest))
            each = math.prod(d.extent for d in k)
            visits = steps // each
            cycles = 0.0
            for n1, s1 in v_cut.sizes:
                for n2, s2 in r1_cut.sizes:
                    work = steps * machine.tile(s2, 1, s1, s1 + s2, s1) + visits * (12 + 2.5 * s1 * s2 + 3 * len(k))
                    cycles += n1 * n2 * work
            far = 1.0 + 0.02 * (abs(r1.a) * itemsize > 4096)
            pack = steps * vectors * (1.5 if v.b == 1 else (0.5 if k[-1].b == 1 else 1.25) * lanes)
            parts = dict(
                kind="outer", lanes=lanes, swap=swap, loops=tuple(rest), v=v, v_cut=v_cut, v_block=v_cut.tiles,
                r1=r1, r1_cut=r1_cut, r1_block=r1_cut.tiles, r2=ONE, r2_cut=Cut(1, 1), r2_block=1, k=k,
                inner=tuple(inner), k_outer=k_outer,
            )  # fmt: skip
            yield outside * (count * cycles * far + pack), parts, True


def cut_reduce(red: list[Dim], most: int) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Reduce axes, given innermost first: for a panel of at most `most` steps, and those around it, outermost first."""
    inside: list[Dim] = []
    around: list[Dim] = []
    steps = 1
    for d in red:
        fits = max(n for n in range(1, d.extent + 1) if d.extent % n == 0 and (n == 1 or n * steps <= most))
        if fits > 1:
            inside.insert(0, replace(d, extent=fits))
            steps *= fits
        if fits < d.extent:
            around.insert(0, Dim(d.extent // fits, d.a * fits, d.b * fits))
    return tuple(inside or [Dim(1)]), tuple(around)


def row_block(r1: Dim, c: Cut, steps: int, itemsize: int) -> int:
    """Tiles of rows whose part of A stays in the second-level cache."""
    rows = max(64, 262144 // (min(steps, K_STEPS) * itemsize))
    blocks = max(1, round(r1.extent / rows))
    return -(-c.tiles // blocks)


def block_reduce(s: Schedule, packed: bool) -> Schedule:
    """Cuts the outermost reduce axis, and lays out the panel where B is packed."""
    if not s.k or s.kind == "dot":
        return s
    inner = math.prod(d.extent for d in s.k[1:])
    steps = K_STEPS
    row = max(s.v_cut.s1, s.v_cut.s2) * s.lanes * s.itemsize
    if packed:
        steps = min(steps, WINDOW_BYTES // s.window_row if s.window else PANEL_BYTES // row)
        assert inner <= steps, (inner, steps)
    n = s.k[0].extent
    block = 0
    if n * inner > steps and (s.dynamic or n > 1):
        most = max(1, steps // max(inner, 1))
        block = most if s.dynamic else even_block(n, most)
    elif s.dynamic and packed:
        block = max(1, steps // max(inner, 1))
    if block >= n and not s.dynamic:
        block = 0
    s = replace(s, k_block=block)
    if not packed:
        return replace(s, unroll=unrolled(s, s.k))
    whole = [replace(s.k[0], extent=block or n), *s.k[1:]]
    strides, after = [], 1
    for d in reversed(whole):
        strides.append(after)
        after *= d.extent
    panel = merge([replace(d, b=b) for d, b in zip(whole, reversed(strides))])
    panel.sort(key=lambda d: -d.b)
    outer_steps = panel[0].extent // (block or n) if n else 1
    return replace(s, panel=tuple(panel), panel_outer=outer_steps, unroll=unrolled(s, tuple(panel)))


def even_block(n: int, most: int) -> int:
    """A block size of at most `most`, dividing n where that costs little."""
    blocks = -(-n // most)
    for count in range(blocks, blocks + blocks // 2 + 2):
        if n % count == 0:
            return n // count
    return -(-n // blocks)


def unrolled(s: Schedule, k: tuple[Dim, ...]) -> int:
    """How many reduce axes, from the innermost, are written out: up to 9 steps of 12 accumulators."""
    sums = max(s.v_cut.s1, s.v_cut.s2) * max(s.r1_cut.s1, s.r1_cut.s2)
    count, steps = 0, 1
    for i, d in enumerate(reversed(k)):
        steps *= d.extent
        if steps > 9 or steps * sums > 110 or (s.k_block and i == len(k) - 1):
            break
        count += 1
    return count


def dot(
    spec: Contraction, machine: _Machine, itemsize: int, v: Dim, free: list[Dim], red: list[Dim]
) -> Iterator[Candidate]:
    lanes = power_below(v.extent, machine.lanes)
    k = tuple(sorted(red, key=lambda d: -abs(d.a) - abs(d.b)))
    steps = math.prod(d.extent for d in k) * -(-v.extent // lanes)
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
                    kind="dot", lanes=lanes, swap=False, loops=tuple(rest), v=v, v_cut=Cut(1, 1), v_block=1,
                    r1=r1, r1_cut=r1_cut, r1_block=r1_cut.tiles, r2=r2, r2_cut=r2_cut, r2_block=r2_cut.tiles, k=k,
                )  # fmt: skip
                if not machine.wants(parts, False):
                    continue
                cycles = 0.0
                for n1, s1 in r1_cut.sizes:
                    for n2, s2 in r2_cut.sizes:
                        each = steps * machine.tile(s1, s2, 1, s1 + s2, s2 + 1) + 15 + 4 * s1 * s2
                        cycles += n1 * n2 * each
                cycles *= 1.1 * math.prod(d.extent for d in rest)
                yield cycles, parts, False


# ---- parallel units ---------------------------------------------------------------------------
def spread(s: Schedule, cycles: float) -> Schedule:
    """Turns loops over C into units, of about 20 microseconds each; of more where that would make over 128."""
    if s.inner:
        return spread_rows(s, cycles)
    loops = sorted(s.loops, key=lambda d: -abs(d.c))
    units: list[Dim] = []
    wanted = max(UNIT_CYCLES, cycles / 64)
    each = cycles / s.r1_blocks
    while loops and each > wanted:
        units.append(loops.pop(0))
        each /= units[-1].extent
    tiles, columns = s.v_cut.tiles, s.v_cut.s1 * s.lanes
    if s.kind == "outer" and each > wanted and tiles > 1 and s.window is None:
        block = int(tiles * wanted / each)
        if cycles > 16 * each * block / tiles and s.r1_blocks > 1:  # a part of A is fetched once for these
            block = max(block, min(256 // columns, int(tiles * cycles / 16 / each)))
        s = replace(s, v_block=even_tiles(tiles, block))
        each /= s.v_blocks
    if s.kind == "dot" and each > wanted:
        s = replace(s, r2_block=even_tiles(s.r2_cut.tiles, int(s.r2_cut.tiles * wanted / each)))
        each /= s.r2_blocks
    rows = max(1, s.r1_cut.s1)
    enough = each < 4 * wanted and cycles > 12 * each
    if each > wanted and s.r1_blocks == 1 and not enough:
        fewest = -(-64 // rows) if s.panel is not None else 4 if s.kind == "outer" else 1
        block = max(fewest, int(s.r1_block * wanted / each))
        s = replace(s, r1_block=min(even_tiles(s.r1_cut.tiles, block), s.r1_block))
    large = s.panel is not None and len(s.k) == 1 and s.v.b == 1 and s.k[0].extent * s.v.extent * s.itemsize > 262144
    fetch = large and not s.dynamic and s.r1_block >= 8 and s.panel_steps >= 64
    return replace(s, units=tuple(units), loops=tuple(loops), prefetch=fetch)


def spread_rows(s: Schedule, cycles: float) -> Schedule:
    """Units of a kernel with rows along several axes: tiles of columns, then rows, a few hundred in each unit."""
    units, inner = list(s.loops), list(s.inner)
    wanted = max(2 * UNIT_CYCLES, cycles / 64)
    each = cycles / math.prod(d.extent for d in units)
    rows = s.r1.extent * math.prod(d.extent for d in inner)
    if s.v_cut.tiles > 1 and each > wanted:
        s = replace(s, v_block=even_tiles(s.v_cut.tiles, max(1, int(s.v_cut.tiles * wanted / each))))
        each /= s.v_blocks
    while inner and each > 1.5 * wanted and rows > 128:
        d = inner.pop(0)
        sizes = [n for n in range(1, d.extent + 1) if d.extent % n == 0]
        size = next(n for n in sizes if n == d.extent or (rows * n >= 128 * d.extent and each * n >= wanted * d.extent))
        if size < d.extent:
            units.append(Dim(d.extent // size, d.a * size, d.b * size, d.c * size))
            each, rows = each * size / d.extent, rows * size // d.extent
        if size > 1:
            inner.insert(0, replace(d, extent=size))
            break
    return replace(s, units=tuple(units), loops=(), inner=tuple(inner))


def even_tiles(tiles: int, most: int) -> int:
    """Tiles in a block of at most `most`, so that blocks are nearly equal."""
    return -(-tiles // -(-tiles // max(1, most)))


FETCH_CYCLES = 0.08  # to bring a byte from memory to one core


def fetched(spec: Contraction) -> float:
    """Bytes that have to come from memory: all operands, once, where they are larger than a core's own cache."""
    sizes = (math.prod(x.extent for x in spec.axes if stride(x)) for stride in (lambda x: x.a, lambda x: x.b))
    total = sum(sizes) * (8 if spec.dtype == "float64" else 4)
    return total if total > 1 << 20 else 0.0


_ways: dict[Any, Way] = {}  # what was chosen last, by structure


@lru_cache(maxsize=4096)
def plan(spec: Contraction, vector_bytes: int, registers: int = 0) -> Kernel:
    """Chooses the tile for a contraction.

    Args:
        spec: what to compute.
        vector_bytes: 16 (SSE, NEON), 32 (AVX2) or 64 (AVX-512).
        registers: vector registers of the target. Default: 32 with AVX-512, else 16.

    Returns:
        Kernel: text, number of units, and what %dims holds.
    """
    if any(x.extent == 0 for x in spec.axes if x.c is not None):
        return Kernel(spec, None)
    registers = registers or (32 if vector_bytes == 64 else 16)
    known = (vector_bytes, registers, structure(spec)) if spec.dynamic else None
    found = list(candidates(spec, vector_bytes, registers, _ways[known])) if known in _ways else []
    best = min(found or candidates(spec, vector_bytes, registers), key=lambda c: c[0])
    cycles, parts, packed = best
    cycles = max(cycles, fetched(spec) * FETCH_CYCLES)
    if known is not None:
        _ways[known] = way_of(parts, packed)
    a, b = (spec.b_offset, spec.a_offset) if parts["swap"] else (spec.a_offset, spec.b_offset)
    s = Schedule(
        dtype=spec.dtype, accumulate=spec.accumulate, dynamic=spec.dynamic, vector_bytes=vector_bytes,
        a_offset=a, b_offset=b, **parts,
    )  # fmt: skip
    return Kernel(spec, spread(block_reduce(s, packed), cycles), cycles)
