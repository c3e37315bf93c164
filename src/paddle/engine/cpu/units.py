"""What a unit of a contraction does: how the reduce axes are cut, what is packed, which blocks of C are its own."""

from __future__ import annotations

import math
from dataclasses import replace

from .schedule import K_STEPS, LEFT_BYTES, SCRATCH_BYTES, WINDOW_BYTES, Dim, Schedule, merge, most_steps

UNIT_CYCLES = 60_000.0


def block_reduce(s: Schedule, packed: bool) -> Schedule:
    """Cuts the outermost reduce axis, and lays out the panel where B is packed."""
    if not s.k or s.kind == "dot":
        return s
    inner = math.prod(d.extent for d in s.k[1:])
    steps = K_STEPS
    row = max(s.v_cut.s1, s.v_cut.s2) * s.lanes * s.itemsize
    if packed:
        steps = most_steps(s.rounds and not s.dynamic, s.left, math.prod(d.extent for d in s.k), row)
        if s.window:
            steps = min(K_STEPS, WINDOW_BYTES // s.window_row)
        assert inner <= steps, (inner, steps)
    n = s.k[0].extent
    block = 0
    if n * inner > steps and (s.dynamic or n > 1):
        most = max(1, steps // max(inner, 1))
        squares = packed and inner == 1 and s.v.b not in (0, 1) and s.k[0].b == s.recipe.group
        block = most if s.dynamic else even_block(n, most, s.lanes if squares else 1)
    elif s.dynamic and packed:
        block = max(1, steps // max(inner, 1))
    if block >= n and not s.dynamic:
        block = 0
    s = replace(s, k_block=block, scratch=s.rounds and bool(block or s.k_outer))
    if s.left:
        flat = (Dim((block or n) * inner, 0, 1),)
        return bounded(replace(s, panel=flat, panel_outer=inner, unroll=unrolled(s, flat)))
    if not packed:
        return bounded(replace(s, unroll=unrolled(s, s.k)))
    whole = [replace(s.k[0], extent=block or n), *s.k[1:]]
    strides, after = [], 1
    for d in reversed(whole):
        strides.append(after)
        after *= d.extent
    panel = merge([replace(d, b=b) for d, b in zip(whole, reversed(strides))])
    panel.sort(key=lambda d: -d.b)
    outer_steps = panel[0].extent // (block or n) if n else 1
    return bounded(replace(s, panel=tuple(panel), panel_outer=outer_steps, unroll=unrolled(s, tuple(panel))))


def bounded(s: Schedule) -> Schedule:
    """Blocks of C for which a unit's packed rows and its sums kept apart have room."""
    if s.inner or not (s.left or s.scratch):
        return s
    most = min(LEFT_BYTES // s.left_row if s.left else 144, 144 if s.scratch else 256)
    tile = max(s.r1_cut.s1, s.r1_cut.s2)
    s = replace(s, r1_block=min(s.r1_block, even_tiles(s.r1_cut.tiles, most // tile)))
    if s.scratch:
        width = max(s.v_cut.s1, s.v_cut.s2) * s.lanes * s.itemsize
        fits = (SCRATCH_BYTES // min(s.rows, s.r1_block * tile) - 64) // width
        s = replace(s, v_block=min(s.v_block, even_tiles(s.v_cut.tiles, fits)))
    return s


def even_block(n: int, most: int, lanes: int) -> int:
    """A block size of at most `most`: whole squares of `lanes` steps, or dividing n where that costs little."""
    blocks = -(-n // most)
    if 1 < lanes <= most:
        return min(-(-n // (blocks * lanes)), most // lanes) * lanes
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


# ---- parallel units ---------------------------------------------------------------------------
def spread(s: Schedule, cycles: float) -> Schedule:
    """Turns loops over C into units, of about 20 microseconds each; of more where that would make over 128."""
    if s.inner:
        return spread_rows(s, cycles)
    loops = sorted(s.loops, key=lambda d: -abs(d.c))
    units: list[Dim] = []
    wanted = max(UNIT_CYCLES, cycles / 64)
    each = cycles / s.r1_blocks / s.v_blocks
    while loops and each > wanted:
        units.append(loops.pop(0))
        each /= units[-1].extent
    tiles, columns = s.v_cut.tiles, s.v_cut.s1 * s.lanes
    if s.kind == "outer" and each > wanted and tiles > 1 and s.window is None:
        block = int(s.v_block * wanted / each)
        if cycles > 16 * each * block / s.v_block and s.r1_blocks > 1:  # a part of A is fetched once for these
            block = max(block, min(256 // columns, int(s.v_block * cycles / 16 / each)))
        each *= s.v_blocks
        s = replace(s, v_block=min(s.v_block, even_tiles(tiles, max(block, 256 // columns if s.left else 1))))
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
        fewest = 256 // (s.v_cut.s1 * s.lanes) if s.left else 1  # for which A is packed once
        s = replace(s, v_block=even_tiles(s.v_cut.tiles, max(fewest, 1, int(s.v_cut.tiles * wanted / each))))
        each /= s.v_blocks
    most = min(LEFT_BYTES // s.left_row if s.left else rows, SCRATCH_BYTES // s.scratch_row if s.scratch else rows)
    while inner and (rows > most or (each > 1.5 * wanted and rows > 128)):
        d = inner.pop(0)
        sizes = [n for n in range(1, d.extent + 1) if d.extent % n == 0]
        size = next(n for n in sizes if n == d.extent or (rows * n >= 128 * d.extent and each * n >= wanted * d.extent))
        size = max(n for n in sizes if n <= size and (n == 1 or rows * n <= most * d.extent))
        if size < d.extent:
            units.append(d.every(size))
            each, rows = each * size / d.extent, rows * size // d.extent
        if size > 1:
            inner.insert(0, replace(d, extent=size))
            break
    count = s.v_blocks * math.prod(d.extent for d in units)
    if s.left and not inner and count < 8:  # threads need some to share
        most = max(96, min(most, -(-rows * count // 8)))
    if rows > most:
        s = replace(s, r1_block=even_tiles(s.r1_cut.tiles, most // max(s.r1_cut.s1, s.r1_cut.s2)))
    return replace(s, units=tuple(units), loops=(), inner=tuple(inner))


def even_tiles(tiles: int, most: int) -> int:
    """Tiles in a block of at most `most`, so that blocks are nearly equal."""
    return -(-tiles // -(-tiles // max(1, most)))
