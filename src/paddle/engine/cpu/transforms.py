"""Tiles of convolutions as LLVM text: transforms of vectors of channels, where tiles lie, products of one position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ops.winograd import PAIRS
from ..types import float32
from .candidates import cut, power_below
from .nest import Nest, Num, Values
from .values import constant

SIZE = 4  # bytes of an element
FAR = 64  # bytes that keep the positions apart: a power of two would crowd a few cache sets
CACHE = 786_432  # bytes that a unit may keep: most of a core's own cache, and of a small stack


class Tiles(Nest):
    """The lines of a function on tiles of float32.

    Args:
        m: positions are (m + 2)^2.
        vector_bytes: of the target.

    Attributes:
        lanes: elements of a vector, fewer where there are few channels.
    """

    def __init__(self, m: int, vector_bytes: int):
        super().__init__()
        self.m, self.vector_bytes, self.lanes = m, vector_bytes, vector_bytes // SIZE
        self.intrinsics: set[str] = set()

    def text(self, name: str, operands: Sequence[str], stack: dict[str, int]) -> str:
        """The function `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`, whose lines are written.

        operands: names of ptrs[1], ptrs[2], ... stack: bytes of what it keeps.
        """
        wide = '"min-legal-vector-width"="512" "prefer-vector-width"="512" ' if self.vector_bytes == 64 else ""
        head = [f"define void @{name}(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {wide}{{", "entry:"]
        for i, x in enumerate(operands, 1):
            head += [f"  %at{x} = getelementptr ptr, ptr %ptrs, i64 {i}", f"  %{x} = load ptr, ptr %at{x}"]
        head += [f"  %{x} = alloca i8, i64 {count}, align 64" for x, count in stack.items()]
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
        return f"<{', '.join([f'float {constant(value, float32)}'] * self.lanes)}>"

    def times(self, factor: float, x: str) -> str:
        return x if factor == 1 else self.op(f"fmul {self.vec(self.lanes)} {x}, {self.number(factor)}")

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
        squares = [p * p for p in PAIRS[self.m]]
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

    def of_sums(self, s: list[str], count: int, scales: Sequence[float] = ()) -> list[str]:
        """`count` sums of p^i * s[p] over the points; the last result has that of infinity.

        scales: factors of s, of 0 and of both numbers of each pair. Default: 1.
        """
        pairs = PAIRS[self.m]
        first, *factors = scales or [1.0] * (1 + len(pairs))
        even = [self.plus(s[1 + 2 * i], s[2 + 2 * i]) for i in range(len(pairs))]
        odd = [self.minus(s[1 + 2 * i], s[2 + 2 * i]) for i in range(len(pairs))]
        out = []
        for i in range(count):
            total = self.times(first, s[0]) if i == 0 else s[-1] if i == count - 1 else None
            for p, factor, x in zip(pairs, factors, odd if i % 2 else even):
                factor *= p**i
                total = self.times(factor, x) if total is None else self.plus_times(total, factor, x)
            assert total is not None
            out.append(total)
        return out

    def of_kernel(self, g: list[str]) -> list[str]:
        """A polynomial with four coefficients at the points; the last result is that of infinity."""
        out = [g[0]]
        for p in PAIRS[self.m]:
            even, odd = self.plus_times(g[0], p * p, g[2]), self.plus_times(g[1], p * p, g[3])
            out += [self.plus_times(even, p, odd), self.plus_times(even, -p, odd)]
        return [*out, g[3]]

    def both(self, rows: list[list[str]], along: Callable[[list[str]], list[str]]) -> list[list[str]]:
        """A transform along columns, then along rows."""
        columns = [along([row[j] for row in rows]) for j in range(len(rows[0]))]
        return [along([c[i] for c in columns]) for i in range(len(columns[0]))]

    def data_of(self, places: list[list[str]], to: str, position: int) -> None:
        """Transforms a vector of a tile; `position` bytes from one position of the result to the next."""
        self.spread(
            self.both([[self.load(p, self.lanes) for p in line] for line in places], self.of_data), to, position
        )

    def spread(self, rows: list[list[str]], to: str, position: int) -> None:
        """Stores what belongs to the positions."""
        for i, x in enumerate(x for row in rows for x in row):
            self.store(x, self.gep(to, i * position), self.lanes)

    def positions_at(self, ptr: str, position: int) -> list[list[str]]:
        """Loads what belongs to the positions."""
        side = range(self.m + 2)
        return [[self.load(self.gep(ptr, (i * len(side) + j) * position), self.lanes) for j in side] for i in side]

    # -- where tiles lie --
    def place_of(self, tile: Num, grid: tuple[int, int]) -> tuple[Num, Num, Num]:
        """The image of a tile, and its first row and column."""
        rest, x = self.divmod(tile, grid[1])
        n, y = self.divmod(rest, grid[0])
        return n, self.mul(y, self.m), self.mul(x, self.m)

    def whole(self, count: int, n: int) -> bool:
        """Whether tiles of `count` rows or columns end where n do."""
        return n % self.m == (2 % self.m if count > self.m else 0)

    def reach(self, first: Num, count: int, n: int, stride: int) -> list[Num]:
        """Byte offsets of `count` rows or columns from `first` on; past the last one it is repeated."""
        if self.whole(count, n):
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

    def along(self, valid: Num, least: int, body: Callable[[Num], None]) -> None:
        """Vectors over `valid` channels, of which there are always `least`: body(byte offset).

        The last one overlaps its neighbour; both have equal numbers.
        """
        most = self.vector_bytes // SIZE
        self.lanes = lanes = power_below(least, most)

        def one(i: Num, _: Values) -> Values:
            at = self.mul(i, lanes)
            if not isinstance(valid, int) or valid % lanes:
                at = self.extreme("min", at, self.sub(valid, lanes))
            body(self.mul(at, SIZE))
            return []

        self.loop(self.divmod(self.add(valid, lanes - 1), lanes)[0], one)
        self.lanes = most

    # -- products --
    def product(
        self, a: str, b: str, c: str, shape: tuple[int, int, int], a_row: int, a_step: int, row: int, add: bool | str,
        ahead: int = 0,
    ) -> None:  # fmt: skip
        """C = A B, or C += A B where `add`. Shapes: A [m, k], B [k, n], C [m, n]; n fills vectors.

        a_row, a_step: bytes from row to row and from column to column of A. row: from row to row of B and of C.
        ahead: bytes to what comes after B; it is fetched meanwhile.
        """
        m, steps, n = shape
        wide = self.vector_bytes == 64  # with 32 registers, and broadcasts that need none
        vectors = n // self.lanes
        nv = next(x for x in ((4, 3, 2, 1) if wide else (2, 3, 1)) if vectors % x == 0)
        rows = cut(m, max(1, min(((32 if wide else 15) - nv) // nv, 14)))
        lines = -(-nv * self.vector_bytes // (64 * rows.tiles)) if ahead else 0
        for column in range(0, vectors, nv):
            pb, pc = (self.gep(p, column * self.vector_bytes) for p in (b, c))
            begin = before = 0
            for count, size in rows.sizes:

                def tile(i: Num, _: Values, at: tuple = (begin, before, size, pb, pc)) -> Values:
                    begin, before, size, pb, pc = at
                    first = self.add(begin, self.mul(i, size))
                    pa, pc = self.gep(a, self.mul(first, a_row)), self.gep(pc, self.mul(first, row))
                    fetched = self.gep(pb, ahead, self.mul(self.add(before, i), lines * 64)) if ahead else pb
                    self.tile(pa, pb, pc, (size, steps, nv), a_row, a_step, row, add, fetched, lines)
                    return []

                self.loop(count, tile)
                begin, before = begin + count * size, before + count

    def tile(
        self, a: str, b: str, c: str, shape: tuple[int, int, int], a_row: int, a_step: int, row: int, add: bool | str,
        ahead: str, lines: int,
    ) -> None:  # fmt: skip
        """Rows by vectors in registers; meanwhile `lines` of each row ahead are fetched."""
        m, steps, nv = shape
        t = self.vec(self.lanes)
        places = [self.gep(c, i * row + j * self.vector_bytes) for i in range(m) for j in range(nv)]
        unroll = next(n for n in (4, 3, 2, 1) if steps % n == 0)

        def some(_: Num, v: Values) -> Values:
            pa, pb, pf, sums = v[0], v[1], v[2], v[3:]
            for u in range(unroll):
                for line in range(lines):
                    self.fetch(self.gep(pf, u * row + line * 64))
                right = [self.load(self.gep(pb, u * row + j * self.vector_bytes), self.lanes) for j in range(nv)]
                for i in range(m):
                    x = self.broadcast(self.op(f"load float, ptr {self.gep(pa, i * a_row + u * a_step)}"))
                    for j in range(nv):
                        sums[i * nv + j] = self.fma(x, right[j], sums[i * nv + j])
            return [*(self.gep(x, unroll * n) for x, n in ((pa, a_step), (pb, row), (pf, row))), *sums]

        zeros = ["zeroinitializer"] * len(places)
        sums = self.loop(steps // unroll, some, [a, b, ahead, *zeros], ["ptr"] * 3 + [t] * len(zeros))[3:]
        if add is not False:  # sums of blocks, added up: closer than one long sum
            sums = self.added(places, sums, add)
        for p, x in zip(places, sums):
            self.store(x, p, self.lanes)

    def broadcast(self, x: str) -> str:
        t = self.vec(self.lanes)
        x = self.op(f"insertelement {t} poison, float {x}, i32 0")
        return self.op(f"shufflevector {t} {x}, {t} poison, <{self.lanes} x i32> zeroinitializer")

    def added(self, places: list[str], sums: Values, add: bool | str) -> Values:
        """The sums with what is there, if `add` is true."""
        t = self.vec(self.lanes)
        if add is True:
            return [self.plus(x, self.load(p, self.lanes)) for p, x in zip(places, sums)]
        yes, done, before = self.label(), self.label(), self.block
        self.do(f"br i1 {add}, label %{yes}, label %{done}")
        self.place(yes)
        new = self.added(places, sums, True)
        self.do(f"br label %{done}")
        self.place(done)
        return [self.op(f"phi {t} [ {x}, %{before} ], [ {y}, %{yes} ]") for x, y in zip(sums, new)]
