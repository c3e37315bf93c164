"""How a contraction's sums get to C as LLVM text: added to what is there, rounded, or through an epilogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..types import dtype_of
from .arithmetic import SIZES
from .elements import MEMORY
from .epilogue import Applied, bytes_of
from .nest import Num, Values
from .packing import Packing
from .schedule import Schedule
from .values import memory_type

Place = tuple[str, ...]  # a place in C as a pointer, and the same place in each further tensor of the epilogue
Offset = tuple[Num, ...]
IN_REGISTERS = 4  # instructions for a vector
WIDE = 8  # bytes of a sum along the rows


class Storing(Packing):
    """What follows the last multiply-add.

    Attributes:
        spots: names of the strides in C and in the further tensors of the epilogue.
    """

    def __init__(self, s: Schedule):
        super().__init__(s)
        self.spots = ("c", *(f"e{j}" for j in range(len(s.beside))))

    # -- the last visit --
    def both(self, x: bool | str, y: bool | str) -> bool | str:
        if x is True or y is False:
            return y
        return x if y is True or x is False else self.op(f"and i1 {x}, {y}")

    def ends(self, i: Num, n: Num) -> bool | str:
        """Whether round i of n is the last, where it matters."""
        if self.s.epilogue is None:
            return False
        return self.op(f"icmp eq i64 {i}, {self.sub(n, 1)}") if isinstance(i, str) else i == self.sub(n, 1)

    # -- blocks and tiles --
    def span(self, name: str, block: Num) -> tuple[Num, Num]:
        """The tiles of an axis in a block."""
        size, tiles = self.n(name + "_block"), self.n(name + "_tiles")
        if self.n(name + "_blocks") == 1:
            return 0, tiles
        lo = self.mul(block, size)
        return lo, self.extreme("min", self.add(lo, size), tiles)

    def columns(self, tile: Num, nv: int, begins: int) -> tuple[Num, Num]:
        """First column of a tile and the offset of its last vector."""
        s = self.s
        width, n, full = nv * s.lanes, self.n("v.n"), (nv - 1) * s.lanes
        if s.dynamic:
            if nv == 1:
                return self.mul(tile, width), 0
            final = self.op(f"icmp eq i64 {tile}, {self.sub(self.n('v_tiles'), 1)}")
            short = self.sub(n, s.lanes)
            bound = self.op(f"select i1 {final}, i64 {n}, i64 {short}")
            start = self.extreme("min", self.mul(tile, width), short)
            stop = self.extreme("min", self.mul(self.add(tile, 1), width), bound)
            return start, self.sub(self.sub(stop, start), s.lanes)
        assert isinstance(n, int)
        first = begins * s.v_cut.s1 * s.lanes
        start = self.add(self.mul(self.sub(tile, begins), width), first)
        final_size = s.v_cut.s2 if s.v_cut.n2 else s.v_cut.s1
        if n % s.lanes == 0 or nv != final_size:
            return start, full
        last = full + n % s.lanes - s.lanes
        if isinstance(tile, int):
            return start, last if tile == s.v_cut.tiles - 1 else full
        if (s.v_cut.n2 or s.v_cut.n1) == 1:
            return start, last
        final = self.op(f"icmp eq i64 {tile}, {s.v_cut.tiles - 1}")
        return start, self.op(f"select i1 {final}, i64 {last}, i64 {full}")

    # -- writing C --
    def guarded(self, add: bool | str, old: Callable[[Values], Values], kinds: str, sums: Values) -> Values:
        """`old(sums)` where C is added to, decided at run time when `add` is a value."""
        if add is True:
            return old(sums)
        if add is False:
            return sums
        yes, done, before = self.label(), self.label(), self.block
        self.do(f"br i1 {add}, label %{yes}, label %{done}")
        self.place(yes)
        new = old(sums)
        last = self.block
        self.do(f"br label %{done}")
        self.place(done)
        return [self.op(f"phi {kinds} [ {x}, %{before} ], [ {y}, %{last} ]") for x, y in zip(sums, new)]

    def finish(
        self, c: Place, o1: list[list[Num]], o2: list[list[Num]], at: list[Num], lane: list[Num], sums: Values,
        add: bool | str, last: bool | str,
    ) -> None:  # fmt: skip
        """Stores the accumulators of a tile: o1, o2: offsets of rows, lane: strides, for each spot; at: columns."""
        columns = [self.mul(v, lane[0]) for v in at]
        places = [(i, j, v) for i in o1[0] for j in o2[0] for v in columns]
        apart = self.s.scratch

        def plus(x: Values) -> Values:
            old = [self.old(self.gep(c[0], *p), lane[0], apart) for p in places]
            return [self.op(f"{self.addition} {self.sums} {o}, {y}") for o, y in zip(old, x)]

        sums = self.guarded(add, plus, self.sums, sums)

        def plain(to: str, row: Sequence[Offset], step: Num, apart: bool) -> None:
            for place, x in zip(row, sums):
                self.put(self.gep(to, *place), step, x, apart)

        def finished() -> None:
            if self.in_registers:
                self.through(c, o1, o2, at, lane, sums)
            else:
                plain("%held", self.held_places(len(at)), self.size, True)
                self.by_rows(c, o1, at, lane)

        if apart or self.s.epilogue is None:
            plain(c[0], places, lane[0], apart)
        elif last is True:
            finished()
        else:
            yes, no, done = self.label(), self.label(), self.label()
            self.do(f"br i1 {last}, label %{yes}, label %{no}")
            self.place(yes)
            finished()
            self.do(f"br label %{done}")
            self.place(no)
            plain(c[0], places, lane[0], False)
            self.do(f"br label %{done}")
            self.place(done)

    # -- the epilogue --
    @property
    def in_registers(self) -> bool:
        """Whether an epilogue meets the accumulators of a tile in registers.

        It has to be short and C visited once: LLVM would spill accumulators in the loop before for the sake of more.
        """
        s, e = self.s, self.s.epilogue
        if e is None or len(e.operands) > 2 or s.k_block or s.k_outer:
            return False
        return e.each(lambda j: s.r1.e == () or s.r1.e[j] == 0) <= IN_REGISTERS

    @property
    def held(self) -> bool:
        """Whether a tile puts its sums down side by side for the epilogue. Rows of C may crowd a few cache sets."""
        s = self.s
        return s.epilogue is not None and s.kind == "outer" and not s.scratch and not self.in_registers

    @property
    def held_row(self) -> int:
        return max(self.s.v_cut.s1, self.s.v_cut.s2) * self.s.lanes * self.size

    def held_places(self, n: int) -> list[Offset]:
        """Offsets of vectors, n to a row."""
        s, width = self.s, self.s.lanes * self.size
        return [(i * self.held_row, j * width) for i in range(max(s.r1_cut.s1, s.r1_cut.s2)) for j in range(n)]

    def applied(self, lanes: int) -> Applied:
        assert self.s.epilogue is not None
        return Applied(self.s.epilogue, self.features, self.lines, self.intrinsics, lanes)

    def through(
        self, c: Place, o1: list[list[Num]], o2: list[list[Num]], at: list[Num], lane: list[Num], sums: Values
    ) -> None:
        """Stores what the epilogue makes of the accumulators of a tile."""
        columns = [[self.mul(v, x) for v in at] for x in lane]
        places: list[list[Offset]] = [
            [(i, j, v) for i in rows for j in more for v in vs] for rows, more, vs in zip(o1, o2, columns)
        ]
        work = self.applied(self.s.lanes)
        made = self.apply(work, c, places, lane, sums)
        self.add_to(c, at, self.added(work, at, self.totals(c, at), made))

    def by_rows(self, c: Place, o1: list[list[Num]], at: list[Num], lane: list[Num]) -> None:
        """Runs the epilogue for the sums that a tile has put down, row by row."""
        work, n = self.applied(self.s.lanes), range(len(at))
        places: list[list[Offset]] = [[(self.mul(v, x),) for v in at] for x in lane]
        strides = [rows[1] if len(rows) > 1 else 0 for rows in o1]
        for v in n:
            work.beforehand(self.reader(work, c, [p[v] for p in places], lane), lambda j: strides[1 + j] == 0)

        def row(i: Num, totals: Values) -> Values:
            here = tuple(self.gep(p, self.mul(i, st)) for p, st in zip(c, strides))
            held = self.gep("%held", self.mul(i, self.held_row))
            sums = [self.old(self.gep(held, v * self.s.lanes * self.size), self.size, True) for v in n]
            return self.added(work, at, totals, self.apply(work, here, places, lane, sums))

        totals = self.totals(c, at)
        self.add_to(c, at, self.loop(len(o1[0]), row, totals, [f"<{self.s.lanes} x double>"] * len(totals)))

    def reader(self, work: Applied, c: Place, at: list[Offset], lane: list[Num]) -> Callable[[int], str]:
        """What reads a vector of each further tensor, at a place that is given for all spots."""

        def read(j: int) -> str:
            key = ("read", j, c[1 + j], at[1 + j])
            if key not in work.known:
                kind = work.e.operands[j]
                memory, size = memory_type(dtype_of(kind)), bytes_of(kind)
                x = self.raw(memory, self.gep(c[1 + j], *at[1 + j]), lane[1 + j], work.lanes, size, size)
                work.known[key] = work.from_memory(kind, x)
            return work.known[key]

        return read

    def apply(
        self, work: Applied, c: Place, places: list[list[Offset]], lane: list[Num], sums: Values
    ) -> list[list[str]]:
        """The epilogue for some vectors of sums. All is read before anything is written: vectors may overlap.

        places: offsets from c of each vector, for each of the spots.

        Returns:
            list: for each vector, the value of each step of the code.
        """
        e, made = work.e, []
        for n, x in enumerate(sums):
            made.append(work.values(x, self.reader(work, c, [p[n] for p in places], lane)))
        for spot, kind, value in [(0, self.s.c_type, e.result), *((1 + j, e.operands[j], v) for j, v in e.stores)]:
            for n, found in enumerate(made):
                to, x = self.gep(c[spot], *places[spot][n]), work.to_memory(kind, found[value])
                self.write(to, lane[spot], x, memory_type(dtype_of(kind)), bytes_of(kind), work.lanes)
        return made

    # -- what is added up along the rows --
    @property
    def added_up(self) -> tuple[tuple[int, int], ...]:
        return self.s.epilogue.sums if self.s.epilogue is not None else ()

    def part(self, c: Place, unit: Num, blocks: dict[str, Num]) -> Place:
        """Where the sums of the unit's part lie, which it sets to 0. Units that differ in columns alone share one."""
        if not self.added_up:
            return c
        s, out = self.s, list(c)
        part = self.mul(self.divmod(unit, s.v_blocks)[0], s.v.extent * WIDE)
        lo, hi = (self.mul(self.first_of(x, s.v_cut), s.lanes) for x in self.span("v", blocks["v"]))
        hi = self.extreme("min", hi, s.v.extent)
        lanes = s.lanes if s.v.extent % s.lanes == 0 else 1
        for j, _ in self.added_up:
            out[1 + j] = self.gep(c[1 + j], part)

            def zero(i: Num, _: Values, to: str = out[1 + j]) -> Values:
                to = self.gep(to, self.mul(self.add(lo, self.mul(i, lanes)), WIDE))
                self.write(to, WIDE, "zeroinitializer", "double", WIDE, lanes)
                return []

            self.loop(self.divmod(self.sub(hi, lo), lanes)[0], zero)
        return tuple(out)

    def totals(self, c: Place, at: list[Num]) -> Values:
        """The sums so far of some columns."""
        return [
            self.raw("double", self.gep(c[1 + j], self.mul(v, WIDE)), WIDE, self.s.lanes, WIDE, WIDE)
            for j, _ in self.added_up for v in at
        ]  # fmt: skip

    def add_to(self, c: Place, at: list[Num], totals: Values) -> None:
        """Stores the sums of some columns."""
        found = iter(totals)
        for j, _ in self.added_up:
            for v in at:
                self.write(self.gep(c[1 + j], self.mul(v, WIDE)), WIDE, next(found), "double", WIDE, self.s.lanes)

    def added(self, work: Applied, at: list[Num], totals: Values, made: list[list[str]]) -> Values:
        """The sums with what some rows add to them. Where two vectors share columns, both have the same."""
        n, wide, before = len(at), f"<{self.s.lanes} x double>", iter(totals)
        out = []
        for _, place in self.added_up:
            sums = [work.total(place, [x[place] for x in made[v::n]]) for v in range(n)]
            for x in sums:
                out.append(self.op(f"fadd {wide} {next(before)}, {x}"))
        return out

    @property
    def addition(self) -> str:
        return "fadd" if self.sum in ("float", "double") else "add"

    def old(self, ptr: str, lane: Num, apart: bool) -> str:
        """A vector of C, or of sums kept apart."""
        if apart:
            return self.raw(self.sum, ptr, lane, self.s.lanes, self.size, self.size)
        kind = self.s.c_type
        return self.widened(self.raw(MEMORY[kind], ptr, lane, self.s.lanes, SIZES[kind], SIZES[kind]), self.s.lanes)

    def put(self, ptr: str, lane: Num, x: str, apart: bool) -> None:
        lanes, kind, size = self.s.lanes, self.sum, self.size
        if not apart:
            x, kind, size = self.rounded(x, lanes), MEMORY[self.s.c_type], SIZES[self.s.c_type]
        self.write(ptr, lane, x, kind, size, lanes)

    def write(self, ptr: str, lane: Num, x: str, kind: str, size: int, lanes: int) -> None:
        """Stores a vector of an LLVM type, `lane` bytes apart."""
        vec = f"<{lanes} x {kind}>"
        if lane == size or lanes == 1:
            self.do(f"store {vec} {x}, ptr {ptr}, align {size}")
            return
        for j in range(lanes):
            e = self.op(f"extractelement {vec} {x}, i32 {j}")
            self.do(f"store {kind} {e}, ptr {self.gep(ptr, self.mul(j, lane))}")

    def finish_dot(self, c: Place, o1: list[list[Num]], o2: list[list[Num]], sums: Values, add: bool | str) -> None:
        name, start, how = f"llvm.vector.reduce.add.{self.suffix}", "", ""
        if self.addition == "fadd":
            name, start, how = f"llvm.vector.reduce.fadd.{self.suffix}", f"{self.sum} -0.0, ", "reassoc "
        types = f"{self.sum}, {self.sums}" if start else self.sums
        self.intrinsics.add(f"declare {self.sum} @{name}({types})")
        flat = [self.op(f"call {how}{self.sum} @{name}({start}{self.sums} {x})") for x in sums]
        if self.s.epilogue is not None:
            self.dot_through(c, [[(i, j) for i in x for j in y] for x, y in zip(o1, o2)], flat)
            return
        places, kind = [(i, j) for i in o1[0] for j in o2[0]], MEMORY[self.s.c_type]

        def plus(x: Values) -> Values:
            old = [self.widened(self.op(f"load {kind}, ptr {self.gep(c[0], *p)}"), 0) for p in places]
            return [self.op(f"{self.addition} {self.sum} {o}, {y}") for o, y in zip(old, x)]

        for place, y in zip(places, self.guarded(add, plus, self.sum, flat)):
            self.do(f"store {kind} {self.rounded(y, 0)}, ptr {self.gep(c[0], *place)}")

    def dot_through(self, c: Place, places: list[list[Offset]], sums: Values) -> None:
        """Stores what the epilogue makes of single sums, all of a tile as one vector."""
        work = self.applied(len(sums))

        def gathered(kind: str, singles: Values) -> str:
            x = "poison"
            for n, single in enumerate(singles):
                x = self.op(f"insertelement <{work.lanes} x {kind}> {x}, {kind} {single}, i32 {n}")
            return x

        def read(j: int) -> str:
            kind = work.e.operands[j]
            memory, got = memory_type(dtype_of(kind)), {}
            for p in places[1 + j]:
                if p not in got:
                    got[p] = self.op(f"load {memory}, ptr {self.gep(c[1 + j], *p)}")
            return work.from_memory(kind, gathered(memory, [got[p] for p in places[1 + j]]))

        found = work.values(gathered(self.sum, sums), read)
        e = work.e
        for spot, kind, value in [(0, self.s.c_type, e.result), *((1 + j, e.operands[j], v) for j, v in e.stores)]:
            x, memory = work.to_memory(kind, found[value]), memory_type(dtype_of(kind))
            for n, p in enumerate(places[spot]):
                single = self.op(f"extractelement <{work.lanes} x {memory}> {x}, i32 {n}")
                self.do(f"store {memory} {single}, ptr {self.gep(c[spot], *p)}")

    # -- sums kept apart --
    def kept_apart(self, blocks: dict[str, Num]) -> str:
        """A pointer to what would be the first element of C, had the sums kept apart all of it."""
        row = self.mul(self.row_of(self.span("r1", blocks["r1"])[0]), self.n("scratch_row"))
        column = self.mul(self.first_column(blocks), self.size)
        return self.gep("%scratch", self.sub(0, row), self.sub(0, column))

    def first_column(self, blocks: dict[str, Num]) -> Num:
        s = self.s
        column = self.mul(self.first_of(self.span("v", blocks["v"])[0], s.v_cut), s.lanes)
        return self.extreme("min", column, self.sub(self.n("v.n"), s.lanes)) if s.dynamic else column

    def flush(self, c: Place, blocks: dict[str, Num]) -> None:
        """Writes the sums of a unit to C, rounded once."""
        s = self.s
        rows = self.span("r1", blocks["r1"])
        first = self.row_of(rows[0])
        count = self.sub(self.rows_of(rows), first)
        apart = self.gep("%scratch", self.mul(-self.size, self.first_column(blocks)))
        strides = lambda axis: [self.n(f"{axis}.{spot}") for spot in self.spots]
        moved = lambda c, axis, i: tuple(self.gep(p, self.mul(i, st)) for p, st in zip(c, strides(axis)))
        start, kinds, lane = moved(c, "r1", first), ["ptr"] * (1 + len(c)), strides("v")

        def nest(level: int, src: str, dst: Place, write: Callable[[str, Place], None]) -> None:
            if level == len(s.inner):
                write(src, dst)
                return

            def one(i: Num, _: Values) -> Values:
                at = self.gep(src, self.mul(i, self.local[f"w{level}.c"]))
                nest(level + 1, at, moved(dst, f"w{level}", i), write)
                return []

            self.loop(self.n(f"w{level}.n"), one)

        for lo, many, nv, begins in self.regions(s.v_cut, *self.span("v", blocks["v"])):

            def tile(i: Num, _: Values, lo: Num = lo, nv: int = nv, begins: int = begins) -> Values:
                column, last = self.columns(self.add(lo, i), nv, begins)
                at: list[Num] = [*(j * s.lanes for j in range(nv - 1)), last]
                places: list[list[Offset]] = [[(self.mul(o, x),) for o in at] for x in lane]

                def row(_: Num, v: Values) -> Values:
                    new = [self.old(self.gep(v[0], self.mul(o, self.size)), self.size, True) for o in at]
                    self.flush_row(tuple(v[1:]), places, at, lane, new)
                    after = [self.gep(p, st) for p, st in zip(v[1:], strides("r1"))]
                    return [self.gep(v[0], self.n("scratch_row")), *after]

                def block(src: str, dst: Place) -> None:
                    self.loop(count, row, [src, *dst], kinds)

                src = self.gep(apart, self.mul(column, self.size))
                nest(0, src, moved(start, "v", column), block)
                return []

            self.loop(many, tile)

    def flush_row(
        self, c: Place, places: list[list[Offset]], columns: list[Num], lane: list[Num], sums: Values
    ) -> None:
        if self.s.epilogue is not None:
            work = self.applied(self.s.lanes)
            made = self.apply(work, c, places, lane, sums)
            self.add_to(c, columns, self.added(work, columns, self.totals(c, columns), made))
            return
        at = [self.gep(c[0], *p) for p in places[0]]
        if self.s.accumulate:
            old = [self.old(p, lane[0], False) for p in at]
            sums = [self.op(f"{self.addition} {self.sums} {x}, {y}") for x, y in zip(old, sums)]
        for p, x in zip(at, sums):
            self.put(p, lane[0], x, False)
