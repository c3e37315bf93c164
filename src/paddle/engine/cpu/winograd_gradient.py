"""The LLVM text of the gradient of a 3 x 3 kernel by tiles of 4 x 4 of the result's gradient.

dw[c, o, i, j] = sum over n, y, x of x[n, c, y + i, x + j] * g[n, o, y, x]: for each tile of g that is a correlation of
6 x 6 elements of x with 4 x 4 of g, which takes 36 products instead of 144. A unit of work has a block of input
channels, a block of output channels and a part of the tiles. Some tiles at a time it transforms x (V: positions x tiles
x input channels) and g (W: positions x tiles x output channels), and adds what V and W give to M (positions x input
channels x output channels); at last it transforms M to 3 x 3. Parts of the tiles are added up by a later step.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ops.winograd import PAIRS, block_of
from .nest import Num, Values
from .transforms import FAR, SIZE, Tiles

M, SIDE, TAPS = 4, 6, 3
DEPTH = 32  # input channels in a block
MOST = 32  # tiles at a time


@dataclass(frozen=True)
class Gradient:
    """One gradient and how it is cut.

    Attributes:
        n, c, o: batch, input channels, output channels. h, w: sizes of the padded input.
        vector_bytes: of the target.
    """

    n: int
    c: int
    o: int
    h: int
    w: int
    vector_bytes: int

    @property
    def grid(self) -> tuple[int, int]:
        """Tiles along each axis."""
        return -(-(self.h - 2) // M), -(-(self.w - 2) // M)

    @property
    def tiles(self) -> int:
        return self.n * self.grid[0] * self.grid[1]

    @property
    def rows(self) -> int:
        """Tiles at a time: a multiple of 4."""
        blocks = -(-self.tiles // MOST)
        return -(-self.tiles // (blocks * 4)) * 4

    @property
    def depth(self) -> int:
        """Input channels in a block, the last one apart."""
        return min(self.c, DEPTH)

    @property
    def block(self) -> int:
        """Output channels in a block, the last one apart."""
        return block_of(self.o)

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Of tiles, of input channels, of output channels."""
        return -(-self.tiles // self.rows), -(-self.c // self.depth), -(-self.o // self.block)

    @property
    def each(self) -> int:
        """Blocks of tiles in a part: so many that there are some units for threads to share."""
        tiles, inputs, outputs = self.blocks
        return -(-tiles // max(1, min(tiles // 2, -(-24 // (inputs * outputs)))))

    @property
    def parts(self) -> int:
        return -(-self.blocks[0] // self.each)

    @property
    def units(self) -> int:
        return self.parts * self.blocks[1] * self.blocks[2]

    @property
    def grain(self) -> int:
        """Units in a task."""
        work = SIDE * SIDE * self.each * self.rows * self.depth * self.block
        return max(1, min(self.units, 1_500_000 // work))


class _Kernel(Tiles):
    def __init__(self, s: Gradient):
        super().__init__(M, s.vector_bytes)
        self.s = s
        self.v_row, self.w_row = s.depth * SIZE, s.block * SIZE
        self.v_position, self.w_position = s.rows * self.v_row + FAR, s.rows * self.w_row + FAR
        self.m_position = s.depth * self.w_row + FAR

    def function(self, name: str) -> str:
        self.body()
        n = SIDE * SIDE
        stack = {"V": n * self.v_position, "W": n * self.w_position, "M": n * self.m_position}
        return self.text(name, ("X", "G", "OUT"), stack)

    def body(self) -> None:
        s = self.s
        blocks, inputs, outputs = s.blocks

        def unit(i: Num, _: Values) -> Values:
            rest, k = self.divmod(self.add(i, "%begin"), outputs)
            part, c = self.divmod(rest, inputs)
            first = self.mul(part, s.each)
            c, k = self.mul(c, s.depth), self.mul(k, s.block)
            some_c, some_k = self.some(s.c, c, s.depth), self.some(s.o, k, s.block)

            def block(j: Num, _: Values) -> Values:
                tile = self.mul(self.add(first, j), s.rows)
                count = self.some(s.tiles, tile, s.rows)
                self.data(tile, count, c, some_c)
                self.kernel(tile, count, k, some_k)
                self.clear(count)
                self.sums(self.op(f"icmp sgt i64 {j}, 0") if isinstance(j, str) else j > 0)
                return []

            self.loop(self.extreme("min", s.each, self.sub(blocks, first)), block)
            self.output(part, c, some_c, k, some_k)
            return []

        self.loop(self.op("sub i64 %end, %begin"), unit)
        self.do("ret void")

    def some(self, n: int, first: Num, most: int) -> Num:
        """How many of n there are from `first` on, at most `most`."""
        return most if n % most == 0 else self.extreme("min", most, self.sub(n, first))

    def data(self, first: Num, count: Num, channel: Num, some: Num) -> None:
        """V of some tiles and input channels."""
        s = self.s
        image = s.h * s.w * s.c * SIZE

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t), s.grid)
            ptr = self.gep("%X", self.mul(n, image), self.mul(channel, SIZE))
            at = self.places(ptr, (y, x), SIDE, (s.h, s.w), s.c)
            row = self.gep("%V", self.mul(t, self.v_row))
            self.along(some, least(s.c, s.depth), lambda o: self.data_of(at(o), self.gep(row, o), self.v_position))
            return []

        self.loop(count, tile)

    def kernel(self, first: Num, count: Num, channel: Num, some: Num) -> None:
        """W of some tiles and output channels; past an edge g is 0."""
        s = self.s
        sizes = s.h - 2, s.w - 2
        image = sizes[0] * sizes[1] * s.o * SIZE

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t), s.grid)
            ptr = self.gep("%G", self.mul(n, image), self.mul(channel, SIZE))
            at = self.places(ptr, (y, x), M, sizes, s.o)
            row = self.gep("%W", self.mul(t, self.w_row))
            factors = self.inside((y, x), sizes)

            def vector(offset: Num) -> None:
                g = [[self.load(p, self.lanes) for p in line] for line in at(offset)]
                for i, j in factors:
                    f = self.broadcast(factors[i, j])
                    g[i][j] = self.op(f"fmul {self.vec(self.lanes)} {g[i][j]}, {f}")
                self.spread(self.both(g, self.of_kernel), self.gep(row, offset), self.w_position)

            self.along(some, least(s.o, s.block), vector)
            return []

        self.loop(count, tile)

    def inside(self, first: tuple[Num, Num], sizes: tuple[int, int]) -> dict[tuple[int, int], str]:
        """1.0 for the elements of a tile that are inside and 0.0 for others, where there may be some."""
        ok = []
        for begin, n in zip(first, sizes):
            whole = self.whole(M, n)
            ok.append(
                [None if whole or not i else self.op(f"icmp slt i64 {self.add(begin, i)}, {n}") for i in range(M)]
            )
        found = {}
        for i, row in enumerate(ok[0]):
            for j, column in enumerate(ok[1]):
                both = self.op(f"and i1 {row}, {column}") if row and column else row or column
                if both:
                    found[i, j] = self.op(f"select i1 {both}, float 1.0, float 0.0")
        return found

    def clear(self, count: Num) -> None:
        """Rows of V and W past the last tile are 0."""
        s = self.s
        if count == s.rows:
            return
        lanes = self.vector_bytes // SIZE
        for name, position, row in (("V", self.v_position, self.v_row), ("W", self.w_position, self.w_row)):

            def one(p: Num, _: Values, name: str = name, position: int = position, row: int = row) -> Values:
                start = self.gep(f"%{name}", self.mul(p, position), self.mul(count, row))
                # rows follow one another, and there is room for a vector behind the last one
                size = self.mul(self.sub(s.rows, count), row)

                def some(i: Num, _: Values) -> Values:
                    self.store("zeroinitializer", self.gep(start, self.mul(i, self.vector_bytes)), lanes)
                    return []

                self.loop(self.divmod(self.add(size, self.vector_bytes - 1), self.vector_bytes)[0], some)
                return []

            self.loop(SIDE * SIDE, one)

    def sums(self, add: bool | str) -> None:
        """M, or what the tiles add to it."""
        s = self.s

        def position(p: Num, _: Values) -> Values:
            a, b, c = (self.gep(x, self.mul(p, n)) for x, n in
                       (("%V", self.v_position), ("%W", self.w_position), ("%M", self.m_position)))  # fmt: skip
            self.product(a, b, c, (s.depth, s.rows, s.block), SIZE, self.v_row, self.w_row, add)
            return []

        self.loop(SIDE * SIDE, position)

    def output(self, part: Num, c: Num, some_c: Num, k: Num, some_k: Num) -> None:
        """The sums of a part of the tiles: [C, 3, 3, O]."""
        s = self.s
        square = [p * p for p in PAIRS[M]]
        a, b = square
        scales = [1 / (a * b), 1 / (2 * a * (a - b)), 1 / (2 * b * (b - a))]  # what points are divided by
        row = TAPS * TAPS * s.o * SIZE

        def channel(i: Num, _: Values) -> Values:
            source = self.gep("%M", self.mul(i, self.w_row))
            place = self.add(self.mul(part, s.c), self.add(c, i))
            to = self.gep("%OUT", self.mul(place, row), self.mul(k, SIZE))

            def vector(offset: Num) -> None:
                sums = self.positions_at(self.gep(source, offset), self.m_position)
                made = self.both(sums, lambda x: self.of_sums(x, TAPS, scales))
                self.spread(made, self.gep(to, offset), s.o * SIZE)

            self.along(some_k, least(s.o, s.block), vector)
            return []

        self.loop(some_c, channel)


def least(n: int, block: int) -> int:
    """The size of the smallest of blocks."""
    return n % block or block


def plan(x: tuple[int, ...], channels: int, vector_bytes: int) -> Gradient:
    """How the gradient of a kernel from x [N, 1, C, H, W] to some output channels is cut."""
    n, _, c, h, w = x
    return Gradient(n, c, channels, h, w, vector_bytes)


def gradient_parts(x: tuple[int, ...], channels: int) -> int:
    """In how many parts the tiles of that come, on any target."""
    return plan(x, channels, 16).parts


def text(s: Gradient, name: str) -> str:
    """The function `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`: ptrs[1..3] = input, gradient, parts of dw."""
    return _Kernel(s).function(name)
