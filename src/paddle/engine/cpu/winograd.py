"""The LLVM text of a convolution of 3 x 3 by tiles: input transform, products, output transform, block by block.

A unit of work takes some tiles and some blocks of output channels. For a block of input channels it transforms the
tiles (V: positions x tiles x channels), multiplies them by the transformed weights position by position (M: positions
x tiles x output channels) and at last transforms M back into the result. V and M stay in the core's own cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ..ops.winograd import block_of
from .epilogue import Applied, Epilogue
from .nest import Num, Values
from .ssa import Features
from .transforms import CACHE, FAR, SIZE, Tiles

WIDE = 8  # bytes of a sum over tiles
LONGEST = 128  # products in a sum; such sums are added up, which keeps errors small


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


class _Kernel(Tiles):
    """The lines of the function.

    Args:
        epilogue: what results go through before they are stored; by_channel: its tensors that have channels alone.
        has: the instructions of the target.
    """

    def __init__(self, s: Winograd, epilogue: Epilogue | None, by_channel: Sequence[bool], has: Collection[str]):
        super().__init__(s.m, s.vector_bytes)
        self.s, self.epilogue, self.by_channel, self.features = s, epilogue, by_channel, Features.of(has)
        self.sums = epilogue.sums if epilogue is not None else ()
        self.v_row = s.channels * SIZE
        self.v_position = s.rows * self.v_row + FAR
        self.m_row = s.block * SIZE
        self.m_position = s.rows * self.m_row + FAR

    def function(self, name: str) -> str:
        self.body()
        n = self.s.positions
        operands = ["X", "U", "OUT", *(f"E{j}" for j in range(len(self.by_channel)))]
        return self.text(name, operands, {"V": n * self.v_position, "M": n * self.m_position})

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
                    self.output(first, count, k, block)
                    return []

                self.loop(ks, one)
                return []

            def part(start: Num, size: int, later: bool | str) -> None:
                self.input(first, count, start, size)
                self.products(first_k, start, 0, size, later)

            self.in_blocks(s.channels, part)
            self.output(first, count, first_k, block)
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

    def input(self, first: Num, count: Num, channel: Num, channels: int) -> None:
        """V of some tiles, for channels from `channel` on."""
        s = self.s
        image = s.h * s.w * s.c * SIZE

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t), s.grid)
            ptr = self.gep("%X", self.mul(n, image), self.mul(channel, SIZE))
            at = self.places(ptr, (y, x), s.m + 2, (s.h, s.w), s.c)
            row = self.gep("%V", self.mul(t, self.v_row))
            self.along(
                channels, channels, lambda offset: self.data_of(at(offset), self.gep(row, offset), self.v_position)
            )
            return []

        self.loop(count, tile)

    def products(self, k: Num, channel: Num, column: Num, channels: int, add: bool | str) -> None:
        """M of a block of output channels, or what some input channels add to it; they are in V from `column` on."""
        s = self.s
        left = self.gep("%V", self.mul(column, SIZE))
        panel = self.gep("%U", self.mul(k, s.positions * s.c * self.m_row), self.mul(channel, self.m_row))

        def position(p: Num, _: Values) -> Values:
            a, c = self.gep(left, self.mul(p, self.v_position)), self.gep("%M", self.mul(p, self.m_position))
            b, shape = self.gep(panel, self.mul(p, s.c * self.m_row)), (s.rows, channels, s.block)
            self.product(a, b, c, shape, self.v_row, SIZE, self.m_row, add, ahead=s.c * self.m_row)
            return []

        self.loop(s.positions, position)

    def output(self, first: Num, count: Num, k: Num, part: Num) -> None:
        """The results of some tiles, for a block of output channels. part: where sums over all of them go."""
        s = self.s
        last = s.o - (s.blocks - 1) * s.block
        image = s.size[0] * s.size[1] * s.o * SIZE
        valid: Num = s.block
        if last != s.block:
            valid = self.extreme("min", s.block, self.sub(s.o, self.mul(k, s.block)))
        totals = {
            j: self.gep(f"%E{j}", self.mul(part, s.o * WIDE), self.mul(k, s.block * WIDE)) for j, _ in self.sums
        }  # fmt: skip

        def zero(offset: Num) -> None:
            for to in totals.values():
                self.put_wide("zeroinitializer", to, offset)

        if totals:
            self.along(valid, last, zero)

        def tile(t: Num, _: Values) -> Values:
            n, y, x = self.place_of(self.add(first, t), s.grid)
            across = lambda base: self.gep(base, self.mul(n, image), self.mul(k, self.m_row))
            at = self.places(across("%OUT"), (y, x), s.m, s.size, s.o)
            rows, columns = (
                [self.within(a, i, n) for i in range(s.m if self.sums else 0)] for a, n in zip((y, x), s.size)
            )
            beside = [
                totals[j] if j in totals
                else self.gep(f"%E{j}", self.mul(k, self.m_row)) if alone
                else self.places(across(f"%E{j}"), (y, x), s.m, s.size, s.o)
                for j, alone in enumerate(self.by_channel)
            ]  # fmt: skip
            row = self.gep("%M", self.mul(t, self.m_row))

            def vector(offset: Num) -> None:
                sums = self.positions_at(self.gep(row, offset), self.m_position)
                made = self.both(sums, lambda x: self.of_sums(x, s.m))
                spots = [at(offset), *(self.gep(e, offset) if isinstance(e, str) else e(offset) for e in beside)]
                work = None
                if self.epilogue is not None:
                    work = Applied(self.epilogue, self.features, self.lines, self.intrinsics, self.lanes)
                added: dict[int, list[str]] = {place: [] for _, place in self.sums}
                # results past an edge go where the last one goes, before it does
                for i in reversed(range(s.m)):
                    for j in reversed(range(s.m)):
                        here = [p if isinstance(p, str) else p[i][j] for p in spots]
                        found = self.finished(work, made[i][j], here)
                        for value, p in self.stored(work, made[i][j], found, here):
                            self.store(value, p, self.lanes)
                        for place, values in added.items():
                            x = found[place] if rows[i] is True else self.zeroed(work, place, found[place], rows[i])
                            values.append(x if columns[j] is True else self.zeroed(work, place, x, columns[j]))
                for number, place in self.sums:
                    assert work is not None
                    self.add_wide(work.total(place, added[place]), totals[number], offset)

            self.along(valid, last, vector)
            return []

        self.loop(count, tile)

    def finished(self, work: Applied | None, sum: str, at: list[str]) -> list[str]:
        """What becomes of a vector of results. at: its place in the result and in the further tensors."""
        if work is None:
            return []

        def read(j: int) -> str:
            key = ("read", at[1 + j])
            if key not in work.known:
                work.known[key] = self.load(at[1 + j], self.lanes)
            return work.known[key]

        return work.values(sum, read)

    def stored(self, work: Applied | None, sum: str, found: list[str], at: list[str]) -> list[tuple[str, str]]:
        """What is stored, and where."""
        if work is None:
            return [(sum, at[0])]
        return [(found[work.e.result], at[0]), *((found[place], at[1 + j]) for j, place in work.e.stores)]

    # -- sums over tiles --
    def within(self, first: Num, i: int, n: int) -> bool | str:
        """Whether a row or column of a tile is not past the edge."""
        return i < (n % self.s.m or self.s.m) or self.op(f"icmp slt i64 {self.add(first, i)}, {n}")

    def zeroed(self, work: Applied | None, place: int, x: str, inside: bool | str) -> str:
        """A value of the epilogue, or 0 past an edge."""
        assert work is not None
        t = f"<{self.lanes} x {'double' if work.e.code[place][1] == 'float64' else 'float'}>"
        return self.op(f"select i1 {inside}, {t} {x}, {t} zeroinitializer")

    def put_wide(self, x: str, ptr: str, offset: Num) -> None:
        to = self.gep(ptr, self.mul(offset, WIDE // SIZE))
        self.do(f"store <{self.lanes} x double> {x}, ptr {to}, align 8")

    def add_wide(self, x: str, ptr: str, offset: Num) -> None:
        t, at = f"<{self.lanes} x double>", self.gep(ptr, self.mul(offset, WIDE // SIZE))
        old = self.op(f"load {t}, ptr {at}, align 8")
        self.do(f"store {t} {self.op(f'fadd {t} {old}, {x}')}, ptr {at}, align 8")


def plan(x: tuple[int, ...], channels: int, tile: int, vector_bytes: int) -> Winograd:
    """How a convolution of x [N, 1, C, H, W] to some output channels is cut."""
    n, _, c, h, w = x
    block, positions = block_of(channels), (tile + 2) ** 2
    room = lambda depth: CACHE // (positions * (depth + block) * SIZE + 2 * FAR)
    depth = c if room(c) >= 16 else 128
    whole = Winograd(n, c, channels, h, w, tile, vector_bytes, max(1, min(room(depth), 64)), depth)
    together = max(1, min(whole.blocks, whole.tile_blocks * whole.blocks // 16))
    return replace(whole, together=together)


def text(
    s: Winograd, name: str, epilogue: Epilogue | None = None, by_channel: Sequence[bool] = (), has: Collection[str] = ()
) -> str:
    """The function `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`: ptrs[1..3] = input, weights, result.

    The further tensors of an epilogue follow, all of float32; those not `by_channel` lie as the result does.
    """
    return _Kernel(s, epilogue, by_channel, has).function(name)
