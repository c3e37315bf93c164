"""Gradients of tables by rows: what a look-up of n rows gives back, without an array as large as the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import invalid_argument, offending
from ..types import TensorType, int64
from .elementwise import add
from .indexing import Gather, ScatterAdd, checked, position
from .join import Concat
from .registry import Operator, absent, operator
from .shape import reshape

NO_HISTORY = "part of what optimizers and clippers do, which is not differentiated"


class RowGrad:
    """A gradient of a table [V, ...] that is zero but for some rows.

    A row that comes up several times has the sum of its values.

    Attributes:
        values: [n, ...]. rows: int64 [n], numbers in [0, height). height: V.
    """

    __slots__ = ("values", "rows", "height")

    def __init__(self, values: Any, rows: Any, height: int):
        self.values, self.rows, self.height = values, rows, height

    def dense(self) -> Any:
        """The same as one tensor [V, ...]."""
        return ScatterAdd(0, (self.height,), False)(self.values, self.rows)

    def once(self) -> RowGrad:
        """The same with the sum of a row in one place, and zeros where the row comes up again."""
        return self.with_values(MergeRows(self.height, True)(self.values, self.rows))

    def with_values(self, values: Any) -> RowGrad:
        return RowGrad(values, self.rows, self.height)


def dense(g: Any) -> Any:
    """A gradient as one tensor."""
    return g.dense() if isinstance(g, RowGrad) else g


def add_grads(a: Any, b: Any) -> Any:
    """The sum of two gradients of one value, each a tensor or a RowGrad; rows are put one after another."""
    if isinstance(a, RowGrad) and isinstance(b, RowGrad):
        return RowGrad(Concat(0)(a.values, b.values), Concat(0)(a.rows, b.rows), a.height)
    return add(dense(a), dense(b))


@operator
class LookUp(Gather):
    """Rows of a table: Gather on axis 0, whose gradient is a RowGrad.

    Shapes: table [V, ...], index [...] -> index's shape + table's without V.
    """

    fault = "bad_index"
    wrap: bool = False

    def vjp(self, g, out, table, index):
        n = index.type.size
        values = reshape(g, (n, *tuple(table.shape)[1:]))
        height = tuple(table.shape)[0]
        return RowGrad(values, RowNumbers(height)(reshape(index, (n,))), height), None

    @classmethod
    def samples(cls, rng):
        table = rng.integers(-9, 9, (5, 3)).astype("int32")
        yield cls(), (table, np.array([4, 0, 0]))
        yield cls(), (table, np.array([[3], [1]], "int32"))
        yield cls(), (table, np.zeros((0, 2), "int64"))


@operator
class RowNumbers(Operator):
    """Indices as numbers of rows of a table: int64 in [0, height), or an error.

    Shapes: index [...] -> [...].
    """

    height: int
    pointwise = True
    vjp = absent("integers have no gradient")

    def infer(self, index: TensorType) -> TensorType:
        return TensorType(index.shape, int64)

    def numpy(self, index):
        return np.array(checked(index, self.height, False))

    def loops(self, k, index):
        return position(k, k.load(index, k.at), self.height, False)

    def xla(self, jnp, index):
        return index.astype("int64")

    def spmd(self, *types):
        return "...->..."

    @classmethod
    def samples(cls, rng):
        yield cls(5), (np.array([4, 0, 0]),)
        yield cls(5), (np.array([[4], [1]], "int32"),)
        yield cls(5), (np.array(3),)
        yield cls(5), (np.zeros((2, 0), "int32"),)


def rows_within(rows: np.ndarray, height: int) -> bool:
    """Whether all rows are in [0, height)."""
    return not rows.size or (rows.min() >= 0 and rows.max() < height)


def equal_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where equal numbers are, of those that come up more than once.

    Returns:
        Positions of the numbers, equal ones beside each other and in order; where each group starts; its length.
    """
    n = rows.size
    bits = max(n - 1, 1).bit_length()
    if rows.size and int(rows.max()).bit_length() + bits < 63:
        keys = np.sort(rows << bits | np.arange(n))  # sorting keys is several times as fast as a stable argsort
        order, ordered = keys & ((1 << bits) - 1), keys >> bits
    else:
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
    new = np.ones(n, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, n))
    several = counts > 1
    order = order[np.repeat(several, counts)]
    counts = counts[several]
    return order, np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)[:-1])), counts


LONG = 16  # groups of more rows are summed each for itself, shorter ones side by side


def sums_of_groups(values: np.ndarray, order: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums of the values at order[start : start + count], one row per group, from first to last."""
    sums = values[order[starts]]
    for j in range(1, LONG):
        at = np.flatnonzero((counts > j) & (counts <= LONG))
        if not at.size:
            break
        sums[at] += values[order[starts[at] + j]]
    for i in np.flatnonzero(counts > LONG):
        sums[i] = values[order[starts[i] : starts[i] + counts[i]]].sum(0)
    return sums


@operator
class MergeRows(Operator):
    """Values [n, ...] replaced by the sum over all that belong to the same row; a row outside [0, height) is an error.

    once: only the first of equal rows has the sum, the others are zero. So all rows can be written back at once, in
    any order, and no size depends on how many are equal.

    Shapes: values [n, ...], rows int64 [n] -> as values.
    """

    height: int
    once: bool = False
    vjp = absent(NO_HISTORY)
    loops = absent("sorts")
    spmd = absent("equal rows may be anywhere: all of them are gathered")

    def infer(self, values: TensorType, rows: TensorType) -> TensorType:
        check_rows("merge_rows", values, rows)
        return values

    def numpy(self, values, rows):
        if not rows_within(rows, self.height):
            bad = (rows < 0) | (rows >= self.height)
            raise IndexError(
                offending("an index is out of range", bad, rows, f"numbers in [0, {self.height})", "index")
            )
        out = values.copy()
        order, starts, counts = equal_rows(rows)
        if order.size:
            wide = values if values.dtype.itemsize >= 4 else values.astype(np.float32)
            sums = sums_of_groups(wide, order, starts, counts)
            if self.once:
                out[order] = 0
                out[order[starts]] = sums
            else:
                out[order] = np.repeat(sums, counts, axis=0)
        return out

    def xla(self, jnp, values, rows):
        first = jnp.full(self.height, rows.size, rows.dtype).at[rows].min(jnp.arange(rows.size, dtype=rows.dtype))
        sums = jnp.zeros_like(values).at[first[rows]].add(values)
        return sums if self.once else sums[first[rows]]

    @classmethod
    def samples(cls, rng):
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        rows = np.array([4, 0, 4, 1, 0, 4])
        yield cls(5), (f(6, 3), rows)
        yield cls(5, True), (f(6, 3), rows)
        yield cls(9), (f(40, 2).astype("float64"), np.repeat([7, 1], 20))
        yield cls(3), (f(3), np.array([2, 0, 1]))
        yield cls(5), (rng.integers(-9, 9, (6, 2)), rows)
        yield cls(5, True), (f(6, 2).astype("float16"), rows)
        yield cls(5), (f(0, 2), np.zeros(0, "int64"))


@operator
class ScatterRows(Operator):
    """A table with rows replaced by values; rows outside the table are left out. Equal rows must have equal values.

    Where nothing else needs the table, it is written in place: the cost does not depend on its size.

    Shapes: table [V, ...], rows int64 [n], values [n, ...] -> as table.
    """

    overwrites = 0
    vjp = absent(NO_HISTORY)
    loops = absent("writes where rows say")

    def infer(self, table: TensorType, rows: TensorType, values: TensorType) -> TensorType:
        check_rows("scatter_rows", values, rows)
        if values.dtype is not table.dtype or values.shape[1:] != table.shape[1:]:
            raise invalid_argument(
                "scatter_rows: the values do not fit.",
                expected=f"values: {table.with_shape((*rows.shape, *table.shape[1:]))}",
                received=f"values: {values}, table: {table}",
            )
        return table

    def numpy(self, table, rows, values):
        out = np.array(table)
        self.overwrite(out, rows, values)
        return out

    def overwrite(self, table, rows, values):
        height = table.shape[0]
        if not rows_within(rows, height):
            kept = (rows >= 0) & (rows < height)
            rows, values = rows[kept], values[kept]
        table[rows] = values

    def written(self, k, table, rows, values):
        r, *rest = k.at
        row = k.load(rows, [r])
        return [row, *rest], k.load(values, k.at), (row >= 0) & (row < table.shape[0])

    def written_shape(self, table, rows, values):
        return values

    def xla(self, jnp, table, rows, values):
        return table.at[jnp.where(rows < 0, table.shape[0], rows)].set(values, mode="drop")

    def spmd(self, *types):
        inner = "abcdefgh"[: types[0].ndim - 1]
        return f"N{inner},M,M{inner}->N{inner}"

    @classmethod
    def samples(cls, rng):
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(), (f(5, 3), np.array([4, 0]), f(2, 3))
        yield cls(), (f(5), np.array([1, 7, -1, 3]), f(4))
        yield cls(), (np.arange(6), np.array([2, 2]), np.array([9, 9]))
        yield cls(), (f(5, 3), np.zeros(0, "int64"), f(0, 3))


def check_rows(name: str, values: TensorType, rows: TensorType) -> None:
    if rows.dtype is not int64 or rows.ndim != 1 or values.shape[:1] != rows.shape:
        raise invalid_argument(
            f"{name}: rows and values do not fit.",
            expected="rows: int64[n], values: [n, ...]",
            received=f"rows: {rows}, values: {values}",
        )
