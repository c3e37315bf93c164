"""The LLVM text of a convolution of 3 x 3 by tiles: input transform, products, output transform, block by block.

A unit of work takes some tiles and some blocks of output channels. For a block of input channels it transforms the
tiles (V: positions x tiles x channels), multiplies them by the transformed weights position by position (M: positions
x tiles x output channels) and at last transforms M back into the result. V and M stay in the core's own cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..ops.winograd import PAIRS, block_of
from .candidates import cut, power_below
from .nest import Nest, Num, Values

SIZE = 4  # bytes of an element
LONGEST = 128  # products in a sum; such sums are added up, which keeps errors small
FAR = 64  # bytes that keep the positions apart: a power of two would crowd a few cache sets


@dataclass(frozen=True)
class Winograd:
    """One convolution and how it is cut.

    Attributes:
        n, c, o: batch, input channels, output channels. h, w: sizes of the padded input.
        m: a tile gives m x m results.
        vector_bytes: of the target.
        most: tiles in a unit, at most. depth: input channels in a block, at most.
        together: blocks of output channels in a unit, if all input channels are one block.
    """

    n: int
    c: int
    o: int
    h: int
    w: int
    m: int
    vector_bytes: int
    most: int = 28
    depth: int = 64
    together: int = 1

    @property
    def size(self) -> tuple[int, int]:
        """Of the result."""
        return self.h - 2, self.w - 2

    @property
    def grid(self) -> tuple[int, int]:
        """Tiles along each axis."""
        return -(-(self.h - 2) // self.m), -(-(self.w - 2) // self.m)

    @property
    def positions(self) -> int:
        return (self.m + 2) ** 2

    @property
    def tiles(self) -> int:
        return self.n * self.grid[0] * self.grid[1]

    @property
    def tile_blocks(self) -> int:
        return -(-self.tiles // self.most)

    @property
    def rows(self) -> int:
        """Tiles in a unit."""
        return -(-self.tiles // self.tile_blocks)

    @property
    def block(self) -> int:
        return block_of(self.o)

    @property
    def blocks(self) -> int:
        return -(-self.o // self.block)

    @property
    def channels(self) -> int:
        """Input channels in a block."""
        count = -(-self.c // self.depth)
        return min(self.c, -(-self.c // count // 16) * 16)

    @property
    def group(self) -> int:
        """Blocks of output channels in a unit."""
        return min(self.together, self.blocks) if self.channels == self.c else 1

    @property
    def units(self) -> int:
        return self.tile_blocks * -(-self.blocks // self.group)

    @property
    def grain(self) -> int:
        """Units in a task."""
        each = self.rows * self.positions * self.c * self.block * self.group
        return max(1, min(self.units, 1_500_000 // each))

    @property
    def lanes(self) -> int:
        return self.vector_bytes // SIZE

    @property
    def registers(self) -> int:
        return 32 if self.vector_bytes == 64 else 16


class _Kernel(Nest):
    def __init__(self, s: Winograd):
        super().__init__()
        self.s = s
        self.intrinsics: set[str] = set()
        self.lanes = s.lanes
        self.v_row = s.channels * SIZE
        self.v_position = s.rows * self.v_row + FAR
        self.m_row = s.block * SIZE
        self.m_position = s.rows * self.m_row + FAR

    def function(self, name: str) -> str:
        s = self.s
        self.body()
        wide = '"min-legal-vector-width"="512" "prefer-vector-width"="512" ' if s.vector_bytes == 64 else ""
        head = [f"define void @{name}(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {wide}{{", "entry:"]
        for x, i in (("X", 1), ("U", 2), ("OUT", 3)):
            head.append(f"  %at{x} = getelementptr ptr, ptr %ptrs, i64 {i}")
            head.append(f"  %{x} = load ptr, ptr %at{x}")
        head.append(f"  %V = alloca i8, i64 {s.positions * self.v_position}, align 64")
        head.append(f"  %M = alloca i8, i64 {s.positions * self.m_position}, align 64")
        return "\n".join([*head, *self.lines, "}", *sorted(self.intrinsics)]) + "\n"

    # -- vectors --
    def vec(self, lanes: int) -> str:
        return f"<{lanes} x float>"

    def load(self, ptr: str, lanes: int) -> str:
        return self.op(f"load {self.vec(lanes)}, ptr {ptr}, align 4")

    def store(self, x: str, ptr: str, lanes: int) -> None:
        self.do(f"store {self.vec(lanes)} {x}, ptr {ptr}, align 4")

    def plus(self, x: str, y: str) -> str:
        return self.op(f"fadd {self.vec(self.lanes)} {x}, {y}")

    def minus(self, x: str, y: str) -> str:
        return self.op(f"fsub {self.vec(self.lanes)} {x}, {y}")

    def fma(self, x: str, y: str, z: str) -> str:
        t = self.vec(self.lanes)
        name = f"llvm.fmuladd.v{self.lanes}f32"
        self.intrinsics.add(f"declare {t} @{name}({t}, {t}, {t})")
        return self.op(f"call {t} @{name}({t} {x}, {t} {y}, {t} {z})")

    def number(self, value: float) -> str:
        return f"<{', '.join([f'float {value:.16e}'] * self.lanes)}>"

    def plus_times(self, z: str, factor: float, x: str) -> str:
        """z + factor * x"""
        if factor == 1:
            return self.plus(z, x)
        if factor == -1:
            return self.minus(z, x)
        return self.fma(x, self.number(factor), z)

    def fetch(self, ptr: str) -> None:
        """Into the core's own cache."""
        self.intrinsics.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.do(f"call void @llvm.prefetch.p0(ptr {ptr}, i32 0, i32 2, i32 1)")

    # -- transforms along one axis --
    def of_data(self, d: list[str]) -> list[str]:
        """Products of (x - q) over all points but one, for each point; x^i stands for d[i]."""
        squares = [p * p for p in PAIRS[self.s.m]]
        if len(squares) == 1:
            (a,) = squares
            assert a == 1
            return [self.minus(d[2], d[0]), self.plus(d[2], d[1]), self.minus(d[2], d[1]), self.minus(d[3], d[1])]
        a, b = squares
        whole = [self.plus_times(self.plus_times(d[4 + i], -(a + b), d[2 + i]), a * b, d[i]) for i in range(2)]
        out = [whole[0]]
        for p, other in zip(PAIRS[4], (b, a)):
            even, odd = self.plus_times(d[4], -other, d[2]), self.plus_times(d[3], -other, d[1])
            out += [self.plus_times(even, p, odd), self.plus_times(even, -p, odd)]
        return [*out, whole[1]]

    def of_sums(self, s: list[str]) -> list[str]:
        """Sums of p^i * s[p] over the points; the last result has that of infinity."""
        pairs = PAIRS[self.s.m]
        even = [self.plus(s[1 + 2 * i], s[2 + 2 * i]) for i in range(len(pairs))]
        odd = [self.minus(s[1 + 2 * i], s[2 + 2 * i]) for i in range(len(pairs))]
        out = []
        for i in range(self.s.m):
            parts = odd if i % 2 else even
            total = s[0] if i == 0 else s[-1] if i == self.s.m - 1 else None
            for p, x in zip(pairs, parts):
                if total is None:
                    total = self.op(f"fmul {self.vec(self.lanes)} {x}, {self.number(p**i)}") if p**i != 1 else x
                else:
                    total = self.plus_times(total, p**i, x)
            out.append(total)
        return out  # type: ignore[return-value]

    def both(self, rows: list[list[str]], along: Callable[[list[str]], list[str]]) -> list[list[str]]:
        """A transform along columns, then along rows."""
        columns = [along([row[j] for row in rows]) for j in range(len(rows[0]))]
        return [along([c[i] for c in columns]) for i in range(len(columns[0]))]

    # -- units --
    def body(self) -> None:
        s = self.s

        def unit(i: Num, _: Values) -> Values:
            group, block = self.divmod(self.add(i, "%begin"), s.tile_blocks)
            first = self.mul(block, s.rows)
            count = self.extreme("min", s.rows, self.sub(s.tiles, first))
            first_k = self.mul(group, s.group)
            ks = self.extreme("min", s.group, self.sub(s.blocks, first_k))
            if s.channels == s.c:
                self.input(first, count, 0, s.c)

                def one(j: Num, _: Values) -> Values:
                    k = self.add(first_k, j)
                    self.in_blocks(LONGEST, lambda start, size, later: self.products(k, start, start, size, later))
                    self.output(first, count, k)
                    return []

                self.loop(ks, one)
                return []

            def part(start: Num, size: int, later: bool | str) -> None:
                self.input(first, count, start, size)
                self.products(first_k, start, 0, size, later)

            self.in_blocks(s.channels, part)
            self.output(first, count, first_k)
            return []

        self.loop(self.op("sub i64 %end, %begin"), unit)
        self.do("ret void")

    def in_blocks(self, most: int, body: Callable[[Num, int, bool | str], None]) -> None:
        """body(first, how many, whether it is not the first block) for blocks of input channels."""
        most = min(most, self.s.c)
        whole, rest = divmod(self.s.c, most)

        def part(j: Num, _: Values) -> Values:
            later = self.op(f"icmp sgt i64 {j}, 0") if isinstance(j, str) else j > 0
            body(self.mul(j, most), most, later)
            return []

        self.loop(whole, part)
        if rest:
            body(whole * most, rest, True)

    # -- input --
    def place_of(self, tile: Num) -> tuple[Num, Num, Num]:
        rest, x = self.divmod(tile, self.s.grid[1])
        n, y = self.divmod(rest, self.s.grid[0])
        return n, self.mul(y, self.s.m), self.mul(x, self.s.m)

    def reach(self, first: Num, count: int, n: int, stride: int) -> list[Num]:
        """Byte offsets of `count` rows or columns from `first` on; past the last one it is repeated."""
        s = self.s
        whole = n % s.m == (2 % s.m if count > s.m else 0)
        if whole:
            base = self.mul(first, stride)
            return [base] + [i * stride for i in range(1, count)]
        return [self.mul(self.extreme("min", self.add(first, i), n - 1), stride) for i in range(count)]

    def places(self, ptr: str, first: tuple[Num, Num], count: int, sizes: tuple[int, int], channels: int) -> Callable:
        """Pointers to a tile's elements."""
        row = sizes[1] * channels * SIZE
        ys, xs = self.reach(first[0], count, sizes[0], row), self.reach(first[1], count, sizes[1], channels * SIZE)
        relative = [isinstance(a[-1], int) and not isinstance(a[0], int) for a in (ys, xs)]
        y0, x0 = (a[0] if r else 0 for a, r in zip((ys, xs), relative))
        ptr = self.gep(ptr, y0, x0)
        if relative[0]:
            ys = [0, *ys[1:]]
        if relative[1]:
            xs = [0, *xs[1:]]
        rows = [self.gep(ptr, y) if isinstance(y, str) else (ptr, y) for y in ys]

        def at(offset: Num) -> list[list[str]]:
            out = []
            base = self.gep(ptr, offset)
            for y in rows:
                p, fixed = (base, y[1]) if isinstance(y, tuple) else (self.gep(y, offset), 0)
                out.append(
                    [self.gep(p, self.add(fixed, x)) if isinstance(x, int) else self.gep(p, x, fixed) for x in xs]
                )
            return out

        return at

    def along(self, count: int, lanes: int, body: Callable[[Num], None]) -> None:
        """Vectors over `count` channels; the last overlaps its neighbour, with equal numbers. Offsets in bytes."""
        vectors = -(-count // lanes)

        def one(i: Num, _: Values) -> Values:
            at = self.mul(i, lanes)
            if count % lanes:
                at = self.extreme("min", at, count - lanes)
            body(self.mul(at, SIZE))
            return []

        self.loop(vectors, one)

    def input(self, first: Num, count: Num, channel: Num, channels: int) -> None:
        """V of some tiles, for channels from `channel` on."""
        s = self.s
        self.lanes = min(s.lanes, power_below(channels, s.lanes))
        image = s.h * s.w * s.c * SIZE

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t))
            ptr = self.gep("%X", self.mul(n, image), self.mul(channel, SIZE))
            at = self.places(ptr, (y, x), s.m + 2, (s.h, s.w), s.c)
            row = self.gep("%V", self.mul(t, self.v_row))

            def vector(offset: Num) -> None:
                data = [[self.load(p, self.lanes) for p in line] for line in at(offset)]
                to, position = self.gep(row, offset), 0
                for line in self.both(data, self.of_data):
                    for value in line:
                        self.store(value, self.gep(to, position), self.lanes)
                        position += self.v_position

            self.along(channels, self.lanes, vector)
            return []

        self.loop(count, tile)
        self.lanes = s.lanes

    # -- products --
    def products(self, k: Num, channel: Num, column: Num, channels: int, add: bool | str) -> None:
        """M of a block of output channels, or what some input channels add to it; they are in V from `column` on."""
        s = self.s
        left = self.gep("%V", self.mul(column, SIZE))
        panel = self.gep("%U", self.mul(k, s.positions * s.c * self.m_row), self.mul(channel, self.m_row))
        vectors = s.block // s.lanes
        nv = next(n for n in ((4, 3, 2, 1) if s.registers == 32 else (2, 3, 1)) if vectors % n == 0)
        room = s.registers - nv - (0 if s.registers == 32 else 1)
        rows = cut(s.rows, max(1, min(room // nv, 14)))

        def position(p: Num, _: Values) -> Values:
            a, c = self.gep(left, self.mul(p, self.v_position)), self.gep("%M", self.mul(p, self.m_position))
            b = self.gep(panel, self.mul(p, s.c * self.m_row))
            for column in range(0, vectors, nv):
                shift = column * s.vector_bytes
                pb, pc = self.gep(b, shift), self.gep(c, shift)
                begin = before = 0
                lines = -(-nv * s.vector_bytes // (64 * rows.tiles))
                for n, m in rows.sizes:

                    def tile(
                        i: Num, _: Values, m: int = m, begin: int = begin, before: int = before, pb: str = pb,
                        pc: str = pc, lines: int = lines,
                    ) -> Values:  # fmt: skip
                        row = self.add(begin, self.mul(i, m))
                        at = self.gep(a, self.mul(row, self.v_row))
                        ahead = self.gep(pb, s.c * self.m_row, self.mul(self.add(before, i), lines * 64))
                        self.tile(at, pb, self.gep(pc, self.mul(row, self.m_row)), m, nv, channels, add, ahead, lines)
                        return []

                    self.loop(n, tile)
                    begin, before = begin + n * m, before + n
            return []

        self.loop(s.positions, position)

    def tile(
        self, a: str, b: str, c: str, m: int, nv: int, channels: int, add: bool | str, ahead: str, lines: int
    ) -> None:
        """m tiles by nv vectors of output channels; meanwhile `lines` of each row of the next panel are fetched."""
        s = self.s
        t = self.vec(s.lanes)
        places = [self.gep(c, i * self.m_row + j * s.vector_bytes) for i in range(m) for j in range(nv)]
        sums = ["zeroinitializer"] * len(places)
        wide = next(n for n in (4, 3, 2, 1) if channels % n == 0)

        def steps(_: Num, v: Values) -> Values:
            pa, pb, pf, sums = v[0], v[1], v[2], v[3:]
            for u in range(wide):
                for line in range(lines):
                    self.fetch(self.gep(pf, u * self.m_row + line * 64))
                right = [self.load(self.gep(pb, u * self.m_row + j * s.vector_bytes), s.lanes) for j in range(nv)]
                for i in range(m):
                    x = self.op(f"load float, ptr {self.gep(pa, i * self.v_row + u * SIZE)}")
                    x = self.op(f"insertelement {t} poison, float {x}, i32 0")
                    x = self.op(f"shufflevector {t} {x}, {t} poison, <{s.lanes} x i32> zeroinitializer")
                    for j in range(nv):
                        sums[i * nv + j] = self.fma(x, right[j], sums[i * nv + j])
            return [*(self.gep(x, wide * n) for x, n in ((pa, SIZE), (pb, self.m_row), (pf, self.m_row))), *sums]

        sums = self.loop(channels // wide, steps, [a, b, ahead, *sums], ["ptr"] * 3 + [t] * len(sums))[3:]
        if add is not False:  # sums of blocks, added up: closer than one long sum
            sums = self.added(places, sums, add)
        for p, x in zip(places, sums):
            self.store(x, p, s.lanes)

    def added(self, places: list[str], sums: Values, add: bool | str) -> Values:
        """The sums with what is there, if `add` is true."""
        t = self.vec(self.s.lanes)
        if add is True:
            return [self.plus(x, self.load(p, self.s.lanes)) for p, x in zip(places, sums)]
        yes, done, before = self.label(), self.label(), self.block
        self.do(f"br i1 {add}, label %{yes}, label %{done}")
        self.place(yes)
        new = self.added(places, sums, True)
        self.do(f"br label %{done}")
        self.place(done)
        return [self.op(f"phi {t} [ {x}, %{before} ], [ {y}, %{yes} ]") for x, y in zip(sums, new)]

    # -- output --
    def output(self, first: Num, count: Num, k: Num) -> None:
        """The results of some tiles, for a block of output channels."""
        s = self.s
        last = s.o - (s.blocks - 1) * s.block
        self.lanes = power_below(last, s.lanes)
        image = s.size[0] * s.size[1] * s.o * SIZE
        valid: Num = s.block
        if last != s.block:
            valid = self.extreme("min", s.block, self.sub(s.o, self.mul(k, s.block)))

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t))
            ptr = self.gep("%OUT", self.mul(n, image), self.mul(k, self.m_row))
            at = self.places(ptr, (y, x), s.m, s.size, s.o)
            row = self.gep("%M", self.mul(t, self.m_row))

            def vector(i: Num, _: Values) -> Values:
                offset = self.mul(i, self.lanes)
                if last % self.lanes or s.block % self.lanes:
                    offset = self.extreme("min", offset, self.sub(valid, self.lanes))
                offset = self.mul(offset, SIZE)
                source = self.gep(row, offset)
                side = s.m + 2
                sums = [[self.load(self.gep(source, (i * side + j) * self.m_position), self.lanes) for j in range(side)]
                        for i in range(side)]  # fmt: skip
                made = self.both(sums, self.of_sums)
                # results past an edge go where the last one goes, before it does
                for line, ptrs in reversed(list(zip(made, at(offset)))):
                    for value, p in reversed(list(zip(line, ptrs))):
                        self.store(value, p, self.lanes)
                return []

            many = self.divmod(self.add(valid, self.lanes - 1), self.lanes)[0]
            self.loop(many, vector)
            return []

        self.loop(count, tile)
        self.lanes = s.lanes


CACHE = 786_432  # bytes that V and M of a unit may take: most of a core's own cache, and of a small stack


def plan(x: tuple[int, ...], channels: int, tile: int, vector_bytes: int) -> Winograd:
    """How a convolution of x [N, 1, C, H, W] to some output channels is cut."""
    n, _, c, h, w = x
    block, positions = block_of(channels), (tile + 2) ** 2
    room = lambda depth: CACHE // (positions * (depth + block) * SIZE + 2 * FAR)
    depth = c if room(c) >= 16 else 128
    whole = Winograd(n, c, channels, h, w, tile, vector_bytes, max(1, min(room(depth), 64)), depth)
    together = max(1, min(whole.blocks, whole.tile_blocks * whole.blocks // 16))
    return replace(whole, together=together)


def text(s: Winograd, name: str) -> str:
    """The function `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`: ptrs[1..3] = input, weights, result."""
    return _Kernel(s).function(name)
