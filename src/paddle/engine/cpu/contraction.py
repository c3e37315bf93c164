"""The LLVM text of a contraction whose tiles are chosen.

`tile.py` decides how a sum of products is cut; this module writes the loops. A tile keeps rows x vectors
accumulators in registers while it walks the reduce axes, so C is touched once per tile (once per block of the
outermost reduce axis when that is cut). Numbers are ints in a static kernel and values read from %dims in a
dynamic one; the same code folds the first and emits arithmetic for the second.

There are no masks. A row of columns that is no multiple of the vector ends with a vector that overlaps its
neighbour in the same tile: both compute equal numbers, and every old value of C is read before the first store.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .arithmetic import SIZES
from .nest import Num, Values
from .schedule import LEFT_BYTES, PANEL_BYTES, SCRATCH_BYTES, Schedule
from .storing import Place, Storing

MOST_SUMS = 26  # accumulators from which on LLVM, given two steps at once, spills some inside the loop


@dataclass
class _Operand:
    """How a tile finds the elements of A or B: a pointer, and byte offsets for rows and vectors."""

    ptr: str
    row1: list[Num]
    row2: list[Num]
    vectors: list[Num]
    lane: Num  # byte stride between lanes: 0 broadcast, itemsize a vector load, else gathered
    k: list[Num]
    form: str  # "panel": packed; "direct": groups of elements as they are; "parts": single elements, converted

    def key(self, i: int, j: int, v: int) -> tuple[Num, Num, Num]:
        return self.row1[i], self.row2[j], self.vectors[v]


class _Kernel(Storing):
    # -- the function --
    def function(self, name: str) -> str:
        s = self.s
        self.body()
        wide = '"min-legal-vector-width"="512" "prefer-vector-width"="512" ' if s.vector_bytes == 64 else ""
        head = [f"define void @{name}(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {wide}{{", "entry:"]
        if s.dynamic:
            used = "\n".join(self.lines)
            for key, i in self.index.items():
                if f"%n.{key}" in used:
                    head.append(f"  %d.{key} = getelementptr i64, ptr %dims, i64 {i}")
                    head.append(f"  %n.{key} = load i64, ptr %d.{key}")
        a, b = (2, 1) if s.swap else (1, 2)
        for x, i in (("A", a), ("B", b), ("C", 3), *((f"E{j}", 4 + j) for j in range(len(s.beside)))):
            head.append(f"  %at{x} = getelementptr ptr, ptr %ptrs, i64 {i}")
            head.append(f"  %{x} = load ptr, ptr %at{x}")
        if s.panel is not None:
            head.append(f"  %panel = alloca i8, i64 {self.panel_bytes()}, align 64")
        for name, count in self.copies().items():
            head.append(f"  %{name} = alloca i8, i64 {count}, align 64")
        return "\n".join([*head, *self.lines, "}", *sorted(self.intrinsics)]) + "\n"

    def panel_bytes(self) -> int:
        s = self.s
        if s.dynamic:
            return PANEL_BYTES
        if s.window is not None:
            return s.panel_steps * s.window_row
        return s.panel_steps * max(s.v_cut.s1, s.v_cut.s2) * s.lanes * self.size

    def copies(self) -> dict[str, int]:
        """Bytes of what a unit keeps on the stack beside the panel."""
        s, found = self.s, {}
        rows = s.rows * math.prod(d.extent for d in s.inner)
        if s.biased and s.panel is not None:
            found["totals"] = max(s.v_cut.s1, s.v_cut.s2) * s.lanes * self.size
        if s.left:
            found["left"] = LEFT_BYTES if s.dynamic else rows * s.left_row
        if s.scratch:
            found["scratch"] = SCRATCH_BYTES if s.dynamic else rows * s.scratch_row
        elif self.held:
            found["held"] = self.held_row * max(s.r1_cut.s1, s.r1_cut.s2)
        return found

    def body(self) -> None:
        s = self.s
        count = self.op("sub i64 %end, %begin")

        def unit(i: Num, _: Values) -> Values:
            rest = place = self.add(i, "%begin")
            at: dict[str, Num] = {}
            names = [(f"u{j}", f"u{j}.n") for j in range(len(s.units))]
            names += [(x, x + "_blocks") for x in ("r1", "r2", "v")]
            for key, number in reversed(names):
                if key == names[0][0]:
                    at[key] = rest
                else:
                    rest, at[key] = self.divmod(rest, self.n(number))
            a, b = self.gep("%A", self.n("a_offset")), self.gep("%B", self.n("b_offset"))
            c = self.part(("%C", *(f"%E{j}" for j in range(len(s.beside)))), place, at)
            for j in range(len(s.units)):
                a, b, c = self.moved(a, b, c, f"u{j}", at[f"u{j}"])
            self.free(0, a, b, c, at)
            return []

        self.loop(count, unit)
        self.do("ret void")

    def moved(self, a: str, b: str, c: Place, name: str, i: Num) -> tuple[str, str, Place]:
        sa, sb, *sc = self.dims(name, "a", "b", *self.spots)
        a, b = self.gep(a, self.mul(i, sa)), self.gep(b, self.mul(i, sb))
        return a, b, tuple(self.gep(p, self.mul(i, st)) for p, st in zip(c, sc))

    def free(self, level: int, a: str, b: str, c: Place, at: dict[str, Num]) -> None:
        """The axes of C inside a unit, then the blocks of the outermost reduce axis."""
        s = self.s
        if level < len(s.loops):
            name = f"l{level}"

            def one(i: Num, _: Values) -> Values:
                self.free(level + 1, *self.moved(a, b, c, name, i), at)
                return []

            self.loop(self.n(name + ".n"), one)
            return
        if s.scratch:
            self.outer_reduce(0, a, b, (self.kept_apart(at),), at, 0, True)
            self.flush(c, at)
        else:
            self.outer_reduce(0, a, b, c, at, 0, True)

    def outer_reduce(
        self, level: int, a: str, b: str, c: Place, at: dict[str, Num], gone: Num, last: bool | str
    ) -> None:
        """The reduce axes around the tiles; gone: 0 until C has been written. last: whether it is for the last time."""
        s = self.s
        accumulate = s.accumulate and not s.scratch
        if level < len(s.k_outer):
            name = f"q{level}"

            def one(i: Num, _: Values) -> Values:
                pa, pb, _c = self.moved(a, b, c, name, i)
                before = i if gone == 0 else self.op(f"or i64 {gone}, {i}") if i != 0 else gone
                self.outer_reduce(level + 1, pa, pb, c, at, before, self.both(last, self.ends(i, self.n(name + ".n"))))
                return []

            self.loop(self.n(name + ".n"), one)
            return
        if not s.k_block:
            later: bool | str = accumulate
            if s.k_outer and not accumulate:
                later = self.op(f"icmp sgt i64 {gone}, 0") if isinstance(gone, str) else gone > 0
            self.tiles(a, b, c, at, self.n("k0.n") if s.k else 1, self.n("g.n") if s.pair else 0, later,
                       last)  # fmt: skip
            return
        whole = self.n("k0.n")
        blocks = -(-s.k[0].extent // s.k_block) if isinstance(whole, int) else self.blocks_of(whole, s.k_block)
        exact = isinstance(whole, int) and whole % s.k_block == 0

        def block(i: Num, _: Values) -> Values:
            start = self.mul(i, s.k_block)
            pa, pb = self.gep(a, self.mul(start, self.n("k0.a"))), self.gep(b, self.mul(start, self.n("k0.b")))
            steps = s.k_block if exact else self.extreme("min", self.sub(whole, start), s.k_block)
            elements: Num = self.n("g.n") if s.pair else 0
            if s.pair_at == 0:
                most = self.group * s.k_block
                left = self.sub(elements, self.mul(start, self.group))
                even = exact and isinstance(elements, int) and elements % most == 0
                elements = most if even else self.extreme("min", left, most)
            first: bool | str = True
            if not accumulate:
                first = self.op(f"icmp sgt i64 {i}, 0") if isinstance(i, str) else i > 0
            self.tiles(pa, pb, c, at, steps, elements, first, self.both(last, self.ends(i, blocks)))
            return []

        self.loop(blocks, block)

    def blocks_of(self, n: str, size: int) -> str:
        """ceil(n / size), at least 1, so that C is written also where n is 0."""
        q, _ = self.divmod(self.add(n, size - 1), size)
        return str(self.extreme("max", q, 1))

    # -- tiles --
    def tiles(
        self, a: str, b: str, c: Place, blocks: dict[str, Num], steps: Num, elements: Num, add: bool | str,
        last: bool | str,
    ) -> None:  # fmt: skip
        """All tiles of one unit over `steps` of the outermost reduce axis; `elements` of it if it is the paired one."""
        s = self.s
        rows = self.span("r1", blocks["r1"]), self.span("r2", blocks["r2"])
        if s.left:
            a = self.pack_left(a, rows[0], steps, elements)
        if s.kind == "dot":
            self.rows(a, b, c, *rows, 1, [0], steps, add, last)
            return
        if s.window is not None:
            self.pack_window(b, steps, *s.window)
            b = "%panel"
        span = self.span("v", blocks["v"])
        for lo, count, nv, begins in self.regions(s.v_cut, *span):

            def one(i: Num, _: Values, lo: Num = lo, nv: int = nv, begins: int = begins) -> Values:
                start, final = self.columns(self.add(lo, i), nv, begins)
                pa, pb, pc = self.moved(a, b, c, "v", start)
                at: list[Num] = [*(j * s.lanes for j in range(nv - 1)), final]
                if s.panel is not None and s.window is None:
                    self.pack(pb, at, steps, elements)
                ahead = self.ahead(b, pb, nv, span, self.add(lo, i)) if s.prefetch else ""
                self.inside(0, pa, pb, pc, lambda a, b, c: self.rows(a, b, c, *rows, nv, at, steps, add, last, ahead))
                return []

            self.loop(count, one)

    def inside(self, level: int, a: str, b: str, c: Place, body: Callable[[str, str, Place], None]) -> None:
        """The axes of C that run inside a tile of columns."""
        if level == len(self.s.inner):
            body(a, b, c)
            return
        name = f"w{level}"

        def one(i: Num, _: Values) -> Values:
            self.inside(level + 1, *self.moved(a, b, c, name, i), body)
            return []

        self.loop(self.n(name + ".n"), one)

    def rows(
        self, a: str, b: str, c: Place, at1: tuple[Num, Num], at2: tuple[Num, Num], nv: int, at: list[Num], steps: Num,
        add: bool | str, last: bool | str, ahead: str = "",
    ) -> None:  # fmt: skip
        """The tiles at1 of `r1` by at2 of `r2` against one tile of columns; ahead: what of B will be packed next."""
        s = self.s
        for lo2, count2, m2, begin2 in self.regions(s.r2_cut, *at2):
            for lo1, count1, m1, begin1 in self.regions(s.r1_cut, *at1):

                def outer(i2: Num, _: Values, of: tuple = (lo2, m2, begin2, lo1, count1, m1, begin1)) -> Values:
                    lo2, m2, begin2, lo1, count1, m1, begin1 = of
                    first2 = self.first_row(self.add(lo2, i2), m2, begin2, s.r2_cut.s1)
                    p2 = self.moved(a, b, c, "r2", first2)
                    o2 = self.row_offsets("r2", m2, first2)

                    def inner(i1: Num, _: Values) -> Values:
                        first1 = self.first_row(self.add(lo1, i1), m1, begin1, s.r1_cut.s1)
                        p1 = self.moved(*p2, "r1", first1)
                        if s.prefetch:
                            self.fetch_panel(ahead, nv, self.sub(self.add(lo1, i1), at1[0]))
                        self.tile(*p1, self.row_offsets("r1", m1, first1), o2, nv, at, steps, add, last)
                        return []

                    self.loop(count1, inner)
                    return []

                self.loop(count2, outer)

    def row_offsets(self, name: str, m: int, first: Num) -> list[list[Num]]:
        """Byte offsets of the rows of a tile in A, B and the spots. A dynamic tile repeats its last row at the end."""
        at: list[Num] = [*range(m)]
        if self.s.dynamic and m > 1:
            left = self.sub(self.sub(self.n(name + ".n"), first), 1)
            at = [0, *(self.extreme("min", i, left) for i in range(1, m))]
        return [[self.mul(i, st) for i in at] for st in self.dims(name, "a", "b", *self.spots)]

    def tile(
        self, a: str, b: str, c: Place, o1: list[list[Num]], o2: list[list[Num]], nv: int, at: list[Num], steps: Num,
        add: bool | str, last: bool | str,
    ) -> None:  # fmt: skip
        s = self.s
        m1, m2 = len(o1[0]), len(o2[0])
        va, vb, *vc = self.dims("v", "a", "b", *self.spots)
        k = "k" if s.panel is None else "p"
        axes = range(len(s.k if s.panel is None else s.panel))
        extents: list[Num] = [self.n(f"{k}{i}.n") for i in axes]
        if extents:
            extents[0] = steps if s.panel is None else self.mul(steps, self.n("panel_outer"))
        ka: list[Num] = [self.n(f"{k}{i}.a") for i in axes]
        kb: list[Num] = [self.n(f"{k}{i}.b") for i in axes]
        if s.kind == "dot":
            va_at: list[Num] = [0]
            vb_at: list[Num] = [0]
        else:
            va_at, vb_at = [self.mul(x, va) for x in at], [self.mul(x, vb) for x in at]
        form = "direct" if self.group > 1 and s.kind != "dot" else "parts"
        left = _Operand(a, o1[0], o2[0], va_at, va, ka, form)
        if s.left:
            left.form, left.k = "panel", [self.size if s.left == "k" else m1 * self.size]
            if s.left == "r":
                left.row1 = [j * self.size for j in range(m1)]
        if s.window is not None:
            right = _Operand(b, o1[1], o2[1], vb_at, vb, [self.mul(x, s.window_row) for x in kb], "panel")
        elif s.panel is None:
            right = _Operand(b, o1[1], o2[1], vb_at, vb, kb, form)
        else:
            row = nv * s.lanes * self.size
            vectors: list[Num] = [j * s.lanes * self.size for j in range(nv)]
            zero: list[Num] = [0]
            right = _Operand(
                "%panel", zero * m1, zero * m2, vectors, self.size, [self.mul(x, row) for x in kb], "panel"
            )
        if s.prefetch and not s.scratch:
            for x in o1[2]:
                for line in (0, (nv * s.lanes - 1) * SIZES[s.c_type]):
                    self.fetch(self.gep(c[0], x, line), True)
        sums = ["zeroinitializer"] * (m1 * m2 * nv)
        if s.biased and s.panel is not None:
            totals = [self.load(self.gep("%totals", j * s.lanes * self.size), self.size) for j in range(nv)]
            sums = [self.op(f"sub {self.vec} zeroinitializer, {x}") for x in totals] * (m1 * m2)
        if s.kind == "dot":
            left.k.append(va)
            right.k.append(vb)
            extents.append(self.n("v.n"))
        sums = self.reduce(0, extents, left, right, a, right.ptr, 0, 0, sums)
        if s.kind == "dot":
            self.finish_dot(c, o1[2:], o2[2:], sums, add)
        else:
            self.finish(c, o1[2:], o2[2:], at, vc, sums, add, last)

    def fetch(self, ptr: str, write: bool) -> None:
        self.intrinsics.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.do(f"call void @llvm.prefetch.p0(ptr {ptr}, i32 {int(write)}, i32 3, i32 1)")

    def ahead(self, b: str, at: str, nv: int, span: tuple[Num, Num], tile: Num) -> str:
        """What of B is packed after the tile of columns at `at`: the next tile, or the first over the next steps."""
        s = self.s
        beside = self.gep(at, nv * s.lanes * SIZES[s.b_type])
        if not s.k_block:
            return beside
        first = self.mul(self.mul(self.first_of(span[0], s.v_cut), s.lanes), self.n("v.b"))
        below = self.gep(b, first, s.k_block * self.values["k0.b"][0] * SIZES[s.b_type])
        final = self.op(f"icmp eq i64 {tile}, {self.sub(span[1], 1)}")
        return self.op(f"select i1 {final}, ptr {below}, ptr {beside}")

    def fetch_panel(self, src: str, nv: int, tile: Num) -> None:
        """Fetches some rows of what is packed next, so that packing will not wait. It shares a tile's time evenly."""
        s = self.s
        count = -(-s.k_block // s.r1_block) if s.k_block else -(-s.k[0].extent // s.r1_block)
        width, stride = nv * s.lanes * SIZES[s.b_type], self.n("k0.b")
        src = self.gep(src, self.mul(self.mul(tile, count), stride))
        for i in range(count):
            for q in range(self.group):
                at = self.gep(src, self.mul(i, stride), self.mul(q, self.n("g.b")) if q else 0)
                for line in range(0, width, 64):
                    self.fetch(self.gep(at, line), False)

    # -- the reduce axes of a tile --
    def reduce(
        self, level: int, extents: list[Num], left: _Operand, right: _Operand, pa: str, pb: str, oa: int, ob: int,
        sums: Values,
    ) -> Values:  # fmt: skip
        s = self.s
        if level == len(extents):
            return self.step(left, right, pa, pb, oa, ob, sums)
        if s.kind == "dot" and level == len(extents) - 1:
            return self.along_vector(extents[level], left, right, pa, pb, oa, ob, sums)
        n, sa, sb = extents[level], left.k[level], right.k[level]
        innermost = level == len(extents) - 1
        if len(extents) - level <= s.unroll and isinstance(n, int):
            assert isinstance(sa, int) and isinstance(sb, int)
            for j in range(n):
                sums = self.reduce(level + 1, extents, left, right, pa, pb, oa + j * sa, ob + j * sb, sums)
            return sums
        pa, pb = self.gep(pa, oa), self.gep(pb, ob)
        wide = 2 if innermost and isinstance(n, int) and len(sums) < MOST_SUMS else 1
        count = n // wide if isinstance(n, int) else n
        pa, pb, sums = self.walk(count, wide, sa, sb, pa, pb, sums, lambda a, b, x: self.reduce(
            level + 1, extents, left, right, a, b, 0, 0, x))  # fmt: skip
        if isinstance(n, int):
            for j in range(n % wide):
                at = self.gep(pa, self.mul(j, sa)), self.gep(pb, self.mul(j, sb))
                sums = self.reduce(level + 1, extents, left, right, *at, 0, 0, sums)
        return sums

    def walk(
        self, count: Num, wide: int, sa: Num, sb: Num, pa: str, pb: str, sums: Values,
        inside: Callable[[str, str, Values], Values],
    ) -> tuple[str, str, Values]:  # fmt: skip
        """`count` rounds of `wide` steps, the pointers carried along."""

        def body(_: Num, v: Values) -> Values:
            a, b, x = v[0], v[1], v[2:]
            for j in range(wide):
                x = inside(self.gep(a, self.mul(j, sa)), self.gep(b, self.mul(j, sb)), x)
            return [self.gep(a, self.mul(wide, sa)), self.gep(b, self.mul(wide, sb)), *x]

        out = self.loop(count, body, [pa, pb, *sums], ["ptr", "ptr", *[self.sums] * len(sums)])
        return out[0], out[1], out[2:]

    def along_vector(
        self, n: Num, left: _Operand, right: _Operand, pa: str, pb: str, oa: int, ob: int, sums: Values
    ) -> Values:
        """The reduce axis that the vectors of a dot tile run along; in its rest the lanes done before are zeroed."""
        lanes = self.s.lanes * self.group
        pa, pb = self.gep(pa, oa), self.gep(pb, ob)
        sa, sb = self.mul(lanes, left.lane), self.mul(lanes, right.lane)
        full, rest = self.divmod(n, lanes)
        wide = 2 if isinstance(full, int) and full > 4 else 1
        if isinstance(full, int) and full <= 4:
            for j in range(full):
                at = self.gep(pa, self.mul(j, sa)), self.gep(pb, self.mul(j, sb))
                sums = self.step(left, right, *at, 0, 0, sums)
            pa, pb = self.gep(pa, self.mul(full, sa)), self.gep(pb, self.mul(full, sb))
        else:
            count = full // wide if isinstance(full, int) else full
            pa, pb, sums = self.walk(count, wide, sa, sb, pa, pb, sums,
                                     lambda a, b, x: self.step(left, right, a, b, 0, 0, x))  # fmt: skip
            if isinstance(full, int) and full % wide:
                sums = self.step(left, right, pa, pb, 0, 0, sums)
                pa, pb = self.gep(pa, sa), self.gep(pb, sb)
        if rest == 0:
            return sums
        back = self.sub(rest, lanes)
        if isinstance(rest, int):
            keep: str | list[bool] = [j >= lanes - rest for j in range(lanes)]
            at = self.gep(pa, self.mul(back, left.lane)), self.gep(pb, self.mul(back, right.lane))
            return self.step(left, right, *at, 0, 0, sums, keep)
        some, tail, done, before = self.op(f"icmp ne i64 {rest}, 0"), self.label(), self.label(), self.block
        self.do(f"br i1 {some}, label %{tail}, label %{done}")
        self.place(tail)
        keep = self.tail_mask(back)
        at = self.gep(pa, self.mul(back, left.lane)), self.gep(pb, self.mul(back, right.lane))
        new = self.step(left, right, *at, 0, 0, sums, keep)
        last = self.block
        self.do(f"br label %{done}")
        self.place(done)
        return [self.op(f"phi {self.sums} [ {x}, %{before} ], [ {y}, %{last} ]") for x, y in zip(sums, new)]

    def tail_mask(self, back: Num) -> str:
        """Lanes j with j >= -back."""
        lanes = self.s.lanes * self.group
        ints = f"<{lanes} x i64>"
        first = self.op(f"insertelement {ints} poison, i64 {self.sub(0, back)}, i32 0")
        first = self.op(f"shufflevector {ints} {first}, {ints} poison, <{lanes} x i32> zeroinitializer")
        iota = ", ".join(f"i64 {j}" for j in range(lanes))
        return self.op(f"icmp sge {ints} <{iota}>, {first}")

    def step(
        self, left: _Operand, right: _Operand, pa: str, pb: str, oa: int, ob: int, sums: Values,
        keep: str | list[bool] | None = None,
    ) -> Values:  # fmt: skip
        """One multiply-add of every accumulator."""
        m1, m2 = len(left.row1), len(left.row2)
        nv = max(len(left.vectors), len(right.vectors))
        got: dict[tuple, str] = {}

        def read(which: str, x: _Operand, p: str, o: int, i: int, j: int, v: int) -> str:
            key = (which, *x.key(i, j, v))
            if key not in got:
                at = self.gep(p, x.row1[i], x.row2[j], x.vectors[v], o)
                got[key] = self.fetched(which, x, at, keep)
            return got[key]

        if not any(right.row1):  # first what all rows share
            for j in range(m2):
                for v in range(nv):
                    read("b", right, pb, ob, 0, j, v)
        out, n = list(sums), 0
        for i in range(m1):
            for j in range(m2):
                for v in range(nv):
                    x, y = read("a", left, pa, oa, i, j, v), read("b", right, pb, ob, i, j, v)
                    out[n] = self.multiply_add(x, y, sums[n])
                    n += 1
        return out

    def fetched(self, which: str, x: _Operand, at: str, keep: str | list[bool] | None) -> str:
        """A vector of A or B."""
        if x.form == "panel":
            return self.load(at, x.lane)
        if x.form == "direct":
            return self.direct(which, at, x.lane)
        lanes = self.s.lanes
        return self.side_by_side(self.parts(which, at, x.lane, lanes * self.group, keep), lanes)


def emit(s: Schedule, name: str) -> str:
    """The LLVM text of a schedule: `define void @name(ptr %ptrs, ptr %dims, i64 %begin, i64 %end)`."""
    return _Kernel(s).function(name)
