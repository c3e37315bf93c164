"""Copies of blocks of A and B as LLVM text: converted, in the order in which tiles read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .arithmetic import SIZES
from .elements import Elements
from .nest import Num, Values
from .schedule import Cut, Dim


@dataclass
class _Copy:
    """What one step of a copy takes: vectors of `lanes`, `lane` bytes from one to the next, `at` and to which `places`.

    row: bytes that all of them take.
    """

    which: str
    lanes: int
    lane: Num
    at: list[Num]
    places: list[int]
    row: Num


class Packing(Elements):
    # -- tiles --
    def regions(self, cut: Cut, lo: Num, hi: Num) -> list[tuple[Num, Num, int, int]]:
        """(first tile, count, size, tile at which this size begins) for each size that occurs in [lo, hi)."""
        if not cut.n2:
            return [(lo, self.sub(hi, lo), cut.s1, 0)]
        if not cut.n1:
            return [(lo, self.sub(hi, lo), cut.s2, 0)]
        mid_lo, mid_hi = self.extreme("min", hi, cut.n1), self.extreme("max", lo, cut.n1)
        return [(lo, self.sub(mid_lo, lo), cut.s1, 0), (mid_hi, self.sub(hi, mid_hi), cut.s2, cut.n1)]

    def first_row(self, tile: Num, m: int, begins: int, s1: int) -> Num:
        return self.add(self.mul(self.sub(tile, begins), m), begins * s1)

    # -- the reduce axes --
    def along(
        self, which: str, src: str, dst: str, steps: Num, elements: Num, one: Callable[[str, str, Num], str],
        many: Callable[[str, str], str] | None = None, at_once: int = 1,
    ) -> str:  # fmt: skip
        """Walks the reduce axes: one(src, dst, elements in the group) -> the next dst.

        many: does `at_once` groups along the innermost axis. elements: of the outermost axis if that is the paired one.
        """
        s = self.s
        kinds = ["ptr", "ptr"]
        extents: list[Num] = [steps, *(self.n(f"k{i}.n") for i in range(1, len(s.k)))]

        def nest(level: int, src: str, dst: str, valid: Num) -> str:
            if level == len(extents):
                return one(src, dst, valid)
            rest: Num = 0
            n, stride = extents[level], self.n(f"k{level}.{which}")
            if level == s.pair_at:
                n, rest = self.divmod(elements if level == 0 else self.n("g.n"), self.group)

            def step(_: Num, v: Values) -> Values:
                after = nest(level + 1, v[0], v[1], valid)
                return [self.gep(v[0], stride), after]

            def several(_: Num, v: Values) -> Values:
                assert many is not None
                after = many(v[0], v[1])
                return [self.gep(v[0], self.mul(at_once, stride)), after]

            if level == len(extents) - 1 and many is not None:
                count, n = self.divmod(n, at_once)
                src, dst = self.loop(count, several, [src, dst], kinds)
            src, dst = self.loop(n, step, [src, dst], kinds)
            if rest == 0:
                return dst
            some = 1 if isinstance(rest, int) else self.extreme("min", rest, 1)
            return self.loop(some, lambda _, v: [v[0], nest(level + 1, v[0], v[1], rest)], [src, dst], kinds)[1]

        return nest(0, src, dst, self.group)

    def group_at(self, which: str, ptr: str, lane: Num, lanes: int, valid: Num) -> str:
        """Groups from memory, `lane` bytes apart; of the elements of each only the first `valid` are there."""
        if self.group == 1:
            return self.parts(which, ptr, lane, lanes)
        stride = self.n(f"g.{which}")
        found = []
        for q in range(self.group):
            some: bool | str = q < valid if isinstance(valid, int) else self.op(f"icmp sgt i64 {valid}, {q}")
            far = self.mul(q, stride) if isinstance(some, bool) else self.op(
                f"select i1 {some}, i64 {self.mul(q, stride)}, i64 0")  # fmt: skip
            found.append(self.parts(which, self.gep(ptr, far) if some else ptr, lane, lanes, some=some))
        return self.interleaved(found, lanes)

    def copy(self, c: _Copy, src: str, dst: str, valid: Num) -> str:
        """One step: groups of a row or a column of elements."""
        vec = f"<{c.lanes} x {self.elem}>"
        found = [self.group_at(c.which, self.gep(src, self.mul(o, c.lane)), c.lane, c.lanes, valid) for o in c.at]
        for j, (place, x) in enumerate(zip(c.places, found)):
            self.do(f"store {vec} {x}, ptr {self.gep(dst, place)}, align {self.size}")
            self.count_in(c, j, [x])
        return self.gep(dst, c.row)

    # -- B --
    def pack(self, b: str, at: list[Num], steps: Num, elements: Num) -> None:
        """Copies a block of B so that its vectors lie one after another in the order of the reduce axes."""
        s = self.s
        width = s.lanes * self.size
        c = _Copy("b", s.lanes, self.n("v.b"), at, [j * width for j in range(len(at))], len(at) * width)
        if s.biased:
            for j in range(len(at)):
                self.do(f"store {self.vec} zeroinitializer, ptr {self.gep('%totals', j * width)}, align {self.size}")

        def square(src: str, dst: str) -> str:
            """As many steps as lanes, read along the reduce axis."""

            def one(j: Num, _: Values) -> Values:
                column = self.extreme("min", self.mul(j, s.lanes), at[-1])
                rows = self.gep(src, self.mul(column, c.lane))
                to = self.gep(dst, self.mul(j, width))
                read = [self.neighbours("b", self.gep(rows, self.mul(i, c.lane)), s.lanes) for i in range(s.lanes)]
                turned = self.transposed(read, self.vec, self.s.lanes, self.size)
                for i, x in enumerate(turned):
                    self.do(f"store {self.vec} {x}, ptr {self.gep(to, self.mul(i, c.row))}, align {self.size}")
                self.count_in(c, j, turned)
                return []

            self.loop(len(at), one)
            return self.gep(dst, self.mul(s.lanes, c.row))

        squares = self.side_by("b") and c.lane not in (0, SIZES[s.b_type]) and s.lanes > 1
        one_step = lambda src, dst, valid: self.copy(c, src, dst, valid)
        self.along("b", b, "%panel", steps, elements, one_step, square if squares else None, s.lanes)

    def side_by(self, which: str) -> bool:
        """Whether groups lie side by side in memory along the innermost reduce axis."""
        s = self.s
        if self.n(f"k{len(s.k) - 1}.{which}") != self.group * SIZES[s.stored(which)]:
            return False
        return self.group == 1 or (s.pair_at == len(s.k) - 1 and self.n(f"g.{which}") == SIZES[s.stored(which)])

    def neighbours(self, which: str, ptr: str, lanes: int) -> str:
        """Groups that lie side by side in memory."""
        return self.side_by_side(self.parts(which, ptr, SIZES[self.s.stored(which)], lanes * self.group), lanes)

    def count_in(self, c: _Copy, j: Num, groups: Values) -> None:
        """Adds 128 times the elements of a column of B to the totals of the panel."""
        if not self.s.biased or c.which != "b":
            return
        at = self.gep("%totals", self.mul(j, self.s.lanes * self.size))
        total = self.load(at, self.size)
        for x in groups:
            total = self.dot_bytes(total, self.constant("i32", -2139062144, self.s.lanes), x)  # 0x80808080
        self.do(f"store {self.vec} {total}, ptr {at}, align {self.size}")

    # -- A --
    def pack_left(self, a: str, rows: tuple[Num, Num], steps: Num, elements: Num) -> str:
        """Copies the rows of a unit; what comes back is a pointer to row 0 of r1 of a copy that had all rows."""
        s = self.s
        row_bytes = self.n("left_row")
        first = self.row_of(rows[0])
        copied = self.rows_of(rows) if s.left == "k" else None

        def nest(level: int, src: str, dst: str) -> None:
            if level < len(s.inner):

                def one(i: Num, _: Values) -> Values:
                    to = self.gep(dst, self.mul(i, self.local[f"w{level}.a"]))
                    nest(level + 1, self.gep(src, self.mul(i, self.n(f"w{level}.a"))), to)
                    return []

                self.loop(self.n(f"w{level}.n"), one)
            elif copied is not None:
                start = self.gep(src, self.mul(first, self.n("r1.a")))
                self.copy_rows(start, dst, self.sub(copied, first), steps, elements)
            else:
                self.copy_tiles(src, dst, rows, first, steps, elements)

        nest(0, a, "%left")
        return self.gep("%left", self.sub(0, self.mul(first, row_bytes)))

    def row_of(self, tile: Num) -> Num:
        """The first row of a tile of r1."""
        return self.first_of(tile, self.s.r1_cut)

    def first_of(self, tile: Num, c: Cut) -> Num:
        """Where a tile begins, in rows or vectors."""
        if not (c.n1 and c.n2):
            return self.mul(tile, c.s1 if c.n1 else c.s2)
        early, late = self.extreme("min", tile, c.n1), self.extreme("max", self.sub(tile, c.n1), 0)
        return self.add(self.mul(early, c.s1), self.mul(late, c.s2))

    def rows_of(self, rows: tuple[Num, Num]) -> Num:
        """The row after those of the tiles."""
        return self.extreme("min", self.row_of(rows[1]), self.n("r1.n"))

    def copy_rows(self, src: str, dst: str, count: Num, steps: Num, elements: Num) -> None:
        """Row after row, each in the order of the reduce axes."""
        s = self.s
        lanes = s.vector_bytes // self.size
        single = _Copy("a", 1, SIZES[s.a_type], [0], [0], self.size)

        def vector(src: str, dst: str) -> str:
            x = self.neighbours("a", src, lanes)
            self.do(f"store <{lanes} x {self.elem}> {x}, ptr {dst}, align {self.size}")
            return self.gep(dst, lanes * self.size)

        def one(_: Num, v: Values) -> Values:
            self.along("a", v[0], v[1], steps, elements, lambda a, b, valid: self.copy(single, a, b, valid),
                       vector if self.side_by("a") else None, lanes)  # fmt: skip
            return [self.gep(v[0], self.n("r1.a")), self.gep(v[1], self.n("left_row"))]

        self.loop(count, one, [src, dst], ["ptr", "ptr"])

    def copy_tiles(self, src: str, dst: str, rows: tuple[Num, Num], first: Num, steps: Num, elements: Num) -> None:
        """Step after step, each for all tiles: rows lie side by side, and so do those of a tile in the copy.

        A vector may take more rows than the tile has: the next step of the tile is written over what is too much.
        """
        s = self.s
        for lo, count, m, begins in self.regions(s.r1_cut, *rows):
            row = self.first_row(lo, m, begins, s.r1_cut.s1)

            def some(many: Num, lanes: int, at: list[Num], row: Num, m: int = m) -> Num:
                places = [self.size * j for j in (range(m) if lanes == 1 else at) if isinstance(j, int)]
                c = _Copy("a", lanes, self.n("r1.a"), at, places, m * self.size)
                self.copy_some(c, src, dst, row, first, many, m, steps, elements)
                return self.add(row, self.mul(many, m))

            most = 1 << (m - 1).bit_length()
            if most <= s.vector_bytes // self.size:
                wide = self.fitting(row, most, m, count)
                count, row = self.sub(count, wide), some(wide, most, [0], row)
            lanes = 1 << (min(m, s.vector_bytes // self.size).bit_length() - 1)
            if lanes < most and count != 0:
                whole = self.fitting(row, m, m, count) if s.dynamic else count
                at: list[Num] = [*range(0, m - lanes, lanes), m - lanes]
                count, row = self.sub(count, whole), some(whole, lanes, at, row)
            if s.dynamic and m > 1:  # the last row stands for those past the end
                left = self.sub(self.sub(self.n("r1.n"), row), 1)
                some(count, 1, [0, *(self.extreme("min", j, left) for j in range(1, m))], row)

    def fitting(self, row: Num, taken: int, m: int, count: Num) -> Num:
        """How many tiles of m rows, from a row on, have `taken` rows before the end."""
        room = self.extreme("max", self.sub(self.add(self.n("r1.n"), m - taken), row), 0)
        return self.extreme("min", count, self.divmod(room, m)[0])

    def copy_some(
        self, c: _Copy, src: str, dst: str, row: Num, first: Num, count: Num, m: int, steps: Num, elements: Num
    ) -> None:
        """`count` tiles from a row on."""
        src = self.gep(src, self.mul(row, c.lane))
        dst = self.gep(dst, self.mul(self.sub(row, first), self.n("left_row")))

        def step(src: str, dst: str, valid: Num) -> str:
            def tile(_: Num, v: Values) -> Values:
                self.copy(c, v[0], v[1], valid)
                return [self.gep(v[0], self.mul(m, c.lane)), self.gep(v[1], self.mul(m, self.n("left_row")))]

            self.loop(count, tile, [src, dst], ["ptr", "ptr"])
            return self.gep(dst, c.row)

        self.along("a", src, dst, steps, elements, step)

    def pack_window(self, b: str, steps: Num, y: Dim, x: Dim) -> None:
        """Copies what the window needs of B: for each step, its rows one after another."""
        s = self.s
        lanes = 1
        while 2 * lanes <= min(x.extent, s.lanes):
            lanes *= 2
        at = [*range(0, x.extent - lanes, lanes), x.extent - lanes]
        vec, size = f"<{lanes} x {self.elem}>", SIZES[s.b_type]
        lane = x.b * size
        extents: list[Num] = [steps, *(self.n(f"k{i}.n") for i in range(1, len(s.k)))]

        def line(_: Num, v: Values) -> Values:
            for j, e in zip(at, [self.parts("b", self.gep(v[0], j * lane), lane, lanes) for j in at]):
                self.do(f"store {vec} {e}, ptr {self.gep(v[1], j * self.size)}, align {self.size}")
            return [self.gep(v[0], y.b * size), self.gep(v[1], x.extent * self.size)]

        def nest(level: int, src: str, dst: str) -> str:
            kinds = ["ptr", "ptr"]
            if level == len(extents):
                self.loop(y.extent, line, [src, dst], kinds)
                return self.gep(dst, s.window_row)

            def one(_: Num, v: Values) -> Values:
                after = nest(level + 1, v[0], v[1])
                return [self.gep(v[0], self.n(f"k{level}.b")), after]

            return self.loop(extents[level], one, [src, dst], kinds)[1]

        nest(0, b, "%panel")
