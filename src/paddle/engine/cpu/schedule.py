"""How a contraction is cut: the decisions that `tile.py` takes and `contraction.py` writes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .arithmetic import INT8_FOURS, SIZES, Recipe
from .epilogue import Epilogue, bytes_of

PANEL_BYTES = 32768
WINDOW_BYTES = 98304
K_STEPS = 320  # of the reduce axes between two visits of C, at most about
LEFT_BYTES = 131072
SCRATCH_BYTES = 131072


@dataclass(frozen=True)
class Dim:
    """One loop: its extent, its element strides in A, B (or the packed panel), C, and what else an epilogue needs."""

    extent: int
    a: int = 0
    b: int = 0
    c: int = 0
    e: tuple[int, ...] = ()

    def every(self, n: int) -> Dim:
        """The axis of every n-th element."""
        return Dim(self.extent // n, self.a * n, self.b * n, self.c * n, tuple(x * n for x in self.e))


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


ONE = Dim(1)


def simplify(axes: Sequence[Any]) -> tuple[list[Dim], list[Dim]]:
    """Axes of C and reduce axes, without those of extent 1, neighbours in memory merged."""
    free = [Dim(x.extent, x.a, x.b, x.c, x.e) for x in axes if x.c is not None and x.extent != 1]
    red = [Dim(x.extent, x.a, x.b) for x in axes if x.c is None and x.extent != 1]
    if any(d.extent == 0 for d in red):
        red = [Dim(0)]
    return merge(free), merge(red)


def joins(outer: Dim, inner: Dim) -> bool:
    n = inner.extent
    fits = outer.a == n * inner.a and outer.b == n * inner.b and outer.c == n * inner.c
    return fits and all(x == n * y for x, y in zip(outer.e, inner.e))


@dataclass(frozen=True)
class Cut:
    """How an axis is cut into tiles: `n1` of size `s1`, then `n2` of size `s2`."""

    n1: int
    s1: int
    n2: int = 0
    s2: int = 0

    @property
    def tiles(self) -> int:
        return self.n1 + self.n2

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """(how many, of what size), one or two."""
        return [(n, s) for n, s in ((self.n1, self.s1), (self.n2, self.s2)) if n]


def most_steps(rounds: bool, left: str, steps: int, row: int) -> int:
    """Steps of the reduce axes between two visits of C, for a packed B of `row` bytes a step.

    Packed rows of A share the nearest cache with it. Sums that are rounded are rather visited once, as elsewhere they
    would have to be kept apart.
    """
    if rounds and steps <= 512 and steps * row <= (1 if left else 2) * PANEL_BYTES:
        return steps
    return min(K_STEPS, PANEL_BYTES // row * (3 if left else 4) // 4)


def window_row(v: Dim, itemsize: int) -> int:
    """Bytes from step to step in a packed window; no multiple of 256, which would crowd a few cache sets."""
    n = -(-v.extent * itemsize // 64) * 64
    return n if n % 256 else n + 64


@dataclass(frozen=True)
class Schedule:
    """All decisions about one kernel. A is the operand that is broadcast, B the one that is read in vectors.

    Attributes:
        kind: "outer": vectors run along `v`, an axis of C. "dot": along `v`, a reduce axis, summed at the end.
        lanes: elements of a vector.
        swap: A and B are exchanged with respect to the caller's.
        units: axes of C that parallel units run over, outermost first; then blocks of `r1`, of `r2` and of `v`.
        loops: axes of C that run inside a unit.
        inner: axes of C, not of B, that run inside a tile of columns: more rows for a packed panel.
        k_outer: reduce axes that run outside all that.
        v_cut, v_block: tiles of `v` in vectors; tiles in a unit.
        r1, r2, r1_cut, r2_cut, r1_block, r2_block: the axes that give the rows of a tile, likewise.
        k: reduce axes, outermost first; k_block: steps of k[0] between two visits of C, 0 for all.
        panel: reduce axes over a packed copy of B (its strides counted in steps), None where B is read in place.
        panel_outer: steps of panel[0] for one step of k[0].
        window: two axes (y, x), neighbours in C but not in B, that `v` joins: a unit packs all of B that it needs.
        unroll: reduce axes (from the innermost) that are written out.
        prefetch: while a panel is used, the next one is fetched; C is fetched at the start of a tile.
        dtype: what elements count as; recipe: how they are multiplied; a_type, b_type, c_type: how they are stored.
        has: what of the target matters for that.
        pair: where a step takes several neighbours along a reduce axis: that axis, element by element.
        pair_at: its place in k, where it counts in groups.
        left: how A is packed: "k", row by row; "r", step by step for each tile of rows; "": it is read in place.
        scratch: sums of a unit that is visited several times are kept apart, until they are rounded.
        epilogue: what sums go through when they are finished.
    """

    kind: str
    dtype: str
    recipe: Recipe
    a_type: str
    b_type: str
    c_type: str
    has: tuple[str, ...]
    vector_bytes: int
    lanes: int
    swap: bool
    accumulate: bool
    dynamic: bool
    a_offset: int
    b_offset: int
    loops: tuple[Dim, ...]
    v: Dim
    v_cut: Cut
    v_block: int
    r1: Dim
    r1_cut: Cut
    r1_block: int
    r2: Dim
    r2_cut: Cut
    r2_block: int
    k: tuple[Dim, ...]
    k_block: int = 0
    units: tuple[Dim, ...] = ()
    panel: tuple[Dim, ...] | None = None
    panel_outer: int = 1
    window: tuple[Dim, ...] | None = None
    unroll: int = 0
    prefetch: bool = False
    inner: tuple[Dim, ...] = ()
    k_outer: tuple[Dim, ...] = ()
    pair: Dim | None = None
    pair_at: int = -1
    left: str = ""
    scratch: bool = False
    epilogue: Epilogue | None = None

    def stored(self, which: str) -> str:
        """The type of A, B or C in memory."""
        return {"a": self.a_type, "b": self.b_type, "c": self.c_type}[which]

    @property
    def beside(self) -> tuple[str, ...]:
        """How the further tensors of the epilogue are stored."""
        return self.epilogue.operands if self.epilogue is not None else ()

    @property
    def parts(self) -> int:
        """Parts of the work, each with its own sums along the rows; 0 where those cannot be taken."""
        sums = [j for j, _ in self.epilogue.sums] if self.epilogue is not None else []
        moved = lambda d: [d.e[j] for j in sums] if d.e else [0] * len(sums)
        others = (*self.units, *self.loops, *self.inner, self.r1, self.r2)
        if self.kind != "outer" or moved(self.v) != [1] * len(sums) or any(any(moved(d)) for d in others):
            return 0
        return self.total // self.v_blocks

    @property
    def itemsize(self) -> int:
        """Bytes of a group of elements."""
        return self.recipe.size

    @property
    def rounds(self) -> bool:
        """Whether sums are converted when they are stored."""
        return self.c_type != {"float": "float32", "double": "float64", "i32": "int32", "i64": "int64"}[self.recipe.sum]

    @property
    def biased(self) -> bool:
        """Whether 128 is added to the elements of A, and taken off the sums."""
        return self.recipe is INT8_FOURS and (self.a_type, self.b_type) == ("int8", "int8")

    def literal(self, stride: int) -> bool:
        """Whether a stride of a dynamic kernel is written into its text."""
        return stride in (0, 1, self.recipe.group)

    @property
    def v_blocks(self) -> int:
        return -(-self.v_cut.tiles // self.v_block)

    @property
    def r1_blocks(self) -> int:
        return -(-self.r1_cut.tiles // self.r1_block)

    @property
    def r2_blocks(self) -> int:
        return -(-self.r2_cut.tiles // self.r2_block)

    @property
    def total(self) -> int:
        n = self.v_blocks * self.r1_blocks * self.r2_blocks
        for d in self.units:
            n *= d.extent
        return n

    @property
    def window_row(self) -> int:
        return window_row(self.v, self.itemsize)

    @property
    def panel_steps(self) -> int:
        n = self.k_block or self.k[0].extent
        for d in self.k[1:]:
            n *= d.extent
        return n

    @property
    def rows(self) -> int:
        """Rows in a block of r1, at most."""
        return min(self.r1_block * max(self.r1_cut.s1, self.r1_cut.s2), self.r1.extent)

    @property
    def left_row(self) -> int:
        """Bytes of a row of packed A. Some more than it takes: rows of a power of two would crowd a few cache sets."""
        return self.panel_steps * self.itemsize + (64 if self.left == "k" else self.itemsize)

    @property
    def scratch_row(self) -> int:
        """Bytes of a row of sums kept apart."""
        return self.v_block * max(self.v_cut.s1, self.v_cut.s2) * self.lanes * self.recipe.size + 64

    def numbers(self) -> dict[str, tuple[int, int]]:
        """Every number that a dynamic kernel reads from %dims: name -> (value, bytes of its unit where it is a stride).

        A stride of the packed B counts steps.
        """
        a, b = SIZES[self.a_type], SIZES[self.b_type]
        stored = [("c", bytes_of(self.c_type)), *((f"e{j}", bytes_of(t)) for j, t in enumerate(self.beside))]
        out: dict[str, tuple[int, int]] = {"a_offset": (self.a_offset, a), "b_offset": (self.b_offset, b)}
        named = [("v", self.v), ("r1", self.r1), ("r2", self.r2)]
        for kind, dims in (
            ("u", self.units), ("l", self.loops), ("k", self.k), ("p", self.panel or ()),
            ("w", self.inner), ("q", self.k_outer),
        ):  # fmt: skip
            named += [(f"{kind}{i}", d) for i, d in enumerate(dims)]
        if self.pair is not None:
            named.append(("g", self.pair))
        for name, d in named:
            out[name + ".n"] = (d.extent, 0)
            out[name + ".a"] = (d.a, a)
            out[name + ".b"] = (d.b, 0 if name[0] == "p" else b)
            for (which, size), stride in zip(stored, (d.c, *(d.e or (0,) * len(self.beside)))):
                out[f"{name}.{which}"] = (stride, size)
        for name, cut, block in (
            ("v", self.v_cut, self.v_block),
            ("r1", self.r1_cut, self.r1_block),
            ("r2", self.r2_cut, self.r2_block),
        ):
            out[name + "_tiles"], out[name + "_block"] = (cut.tiles, 0), (block, 0)
            out[name + "_blocks"] = (-(-cut.tiles // block), 0)
        out["panel_outer"] = (self.panel_outer, 0)
        if self.left:
            out["left_row"] = (self.left_row, 0)
        if self.scratch:
            out["scratch_row"] = (self.scratch_row, 0)
        return out
