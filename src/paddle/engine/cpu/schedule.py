"""How a contraction is cut: the decisions that `tile.py` takes and `contraction.py` writes out."""

from __future__ import annotations

from dataclasses import dataclass

PANEL_BYTES = 32768
WINDOW_BYTES = 98304


@dataclass(frozen=True)
class Dim:
    """One loop: its extent and its element strides in A, B (or the packed panel) and C."""

    extent: int
    a: int = 0
    b: int = 0
    c: int = 0


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
    """

    kind: str
    dtype: str
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

    @property
    def itemsize(self) -> int:
        return 4 if self.dtype == "float32" else 8

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

    def numbers(self) -> dict[str, tuple[int, bool]]:
        """Every number that a dynamic kernel reads from %dims: name -> (value, whether it is a stride)."""
        out: dict[str, tuple[int, bool]] = {"a_offset": (self.a_offset, True), "b_offset": (self.b_offset, True)}
        named = [("v", self.v), ("r1", self.r1), ("r2", self.r2)]
        for kind, dims in (
            ("u", self.units), ("l", self.loops), ("k", self.k), ("p", self.panel or ()),
            ("w", self.inner), ("q", self.k_outer),
        ):  # fmt: skip
            named += [(f"{kind}{i}", d) for i, d in enumerate(dims)]
        for name, d in named:
            out[name + ".n"] = (d.extent, False)
            out[name + ".a"] = (d.a, True)
            out[name + ".b"] = (d.b, name[0] != "p")
            out[name + ".c"] = (d.c, True)
        for name, cut, block in (
            ("v", self.v_cut, self.v_block),
            ("r1", self.r1_cut, self.r1_block),
            ("r2", self.r2_cut, self.r2_block),
        ):
            out[name + "_tiles"], out[name + "_block"] = (cut.tiles, False), (block, False)
            out[name + "_blocks"] = (-(-cut.tiles // block), False)
        out["panel_outer"] = (self.panel_outer, False)
        return out
