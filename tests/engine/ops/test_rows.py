"""Rows of tables: merged, and written back where the table lies."""

import numpy as np
import pytest

from paddle.engine import flags
from paddle.engine.cpu.compiler import compile_graph
from paddle.engine.cpu.executor import Executor
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add
from paddle.engine.ops.indexing import Gather
from paddle.engine.ops.rows import LONG, MergeRows, ScatterRows, equal_rows
from paddle.engine.types import TensorType, dtype_of, float32, int64


@pytest.mark.parametrize("kind", ["distinct", "few", "long", "mixed"])
@pytest.mark.parametrize("once", [False, True])
def test_merged_rows_are_sums_of_equal_ones(kind, once):
    rng = np.random.default_rng(0)
    rows = {
        "distinct": rng.permutation(50),
        "few": rng.integers(0, 40, 50),
        "long": rng.integers(0, 2, 5 * LONG),
        "mixed": np.concatenate([np.full(3 * LONG, 7), rng.integers(0, 30, 40), np.full(LONG, 9)]),
    }[kind]
    values = rng.normal(size=(len(rows), 3)).astype("float32")
    total = np.zeros((60, 3))
    np.add.at(total, rows, values)
    got = MergeRows(60, once).numpy(values, rows)
    want = total[rows]
    if once:
        first = np.zeros(len(rows), bool)
        first[np.unique(rows, return_index=True)[1]] = True
        want[~first] = 0
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_groups_of_numbers_too_large_to_pack():
    rows = np.array([2**61, 5, 2**61, 5, 1])
    order, starts, counts = equal_rows(rows)
    assert order.tolist() == [1, 3, 0, 2] and starts.tolist() == [0, 2] and counts.tolist() == [2, 2]


def test_nan_and_infinity_stay_in_their_row():
    values = np.array([[np.nan], [1.0], [np.inf], [2.0]], "float32")
    got = MergeRows(9).numpy(values, np.array([3, 5, 4, 5]))
    np.testing.assert_array_equal(got, np.array([[np.nan], [3.0], [np.inf], [3.0]], "float32"))


@pytest.mark.parametrize("bad", [-1, 9])
def test_a_row_outside_the_table_is_an_error(bad):
    with pytest.raises(IndexError, match=rf"numbers in \[0, 9\)[^$]*index: {bad} at \[1\]"):
        MergeRows(9).numpy(np.zeros((2, 1), "float32"), np.array([3, bad]))


def test_rows_and_values_have_to_fit():
    values, rows = TensorType((4, 2), float32), TensorType((3,), int64)
    with pytest.raises(ValueError, match="merge_rows: rows and values do not fit"):
        MergeRows(9).infer(values, rows)
    with pytest.raises(ValueError, match="scatter_rows: the values do not fit"):
        ScatterRows().infer(TensorType((9, 3), float32), TensorType((4,), int64), values)


# ---- in place ---------------------------------------------------------------------------------
def program(graph, donated, tier):
    """What runs a graph on one tier."""
    from paddle.engine import flags

    before = flags.get("FLAGS_eager_compile")
    run = Executor(graph, donated)

    def call(*arrays):
        flags.set_("FLAGS_eager_compile", tier)
        try:
            return run(list(arrays))
        finally:
            flags.set_("FLAGS_eager_compile", before)

    return call


def updates(count, after=None):
    """A table with rows set `count` times; `after` adds to the graph and gives further outputs."""
    g = Graph("test")
    table, rows = g.input(TensorType((6, 2), float32)), g.input(TensorType((3,), int64))
    values = g.input(TensorType((3, 2), float32))
    new = table
    for _ in range(count):
        new = ScatterRows()(new, rows, add(values, values))
    g.outputs = [new, *(after(table, rows, values) if after else ())]
    return g


ARRAYS = (np.zeros((6, 2), "float32"), np.array([4, 0, 2]), np.ones((3, 2), "float32"))
WANT = np.array([[2, 2], [0, 0], [2, 2], [0, 0], [2, 2], [0, 0]], "float32")


@pytest.mark.parametrize("tier", ["never", "always"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_table_that_nobody_else_needs_is_written_in_place(tier, count):
    table, rows, values = (a.copy() for a in ARRAYS)
    (out,) = program(updates(count), (True, False, False), tier)(table, rows, values)
    assert out is table
    np.testing.assert_array_equal(out, WANT)


@pytest.mark.parametrize("tier", ["never", "always"])
@pytest.mark.parametrize(
    "donated, after",
    [
        (False, None),
        (True, lambda table, rows, values: [table]),
        (True, lambda table, rows, values: [add(table, table)]),  # reads the old table later
    ],
    ids=["held", "an output itself", "read later"],
)
def test_a_table_that_is_needed_stays(tier, donated, after):
    table, rows, values = (a.copy() for a in ARRAYS)
    out, *_ = program(updates(1, after), (donated, False, False), tier)(table, rows, values)
    assert out is not table
    np.testing.assert_array_equal(out, WANT)
    np.testing.assert_array_equal(table, ARRAYS[0])


@pytest.mark.parametrize("tier", ["never", "always"])
def test_nothing_is_overwritten_while_a_later_step_may_fail(tier):
    table, rows, values = (a.copy() for a in ARRAYS)
    run = program(updates(1, lambda t, r, v: [Gather(0, False)(v, r)]), (True, False, False), tier)
    with pytest.raises(IndexError):
        run(table, rows, values)  # v has 3 rows, r says 4
    np.testing.assert_array_equal(table, ARRAYS[0])


def test_a_kernel_writes_into_the_buffer_of_an_argument():
    description, _ = compile_graph(updates(1), (True, False, False))
    step = description["steps"][-1]
    assert not any("host" in s for s in description["steps"]) and step["ptrs"][0][:2] == ["input", 0]
    assert description["taken"] == [(0, 0)]


def test_the_host_writes_where_the_argument_is_still_needed():
    description, _ = compile_graph(updates(1), (False, False, False))
    (step,) = (s for s in description["steps"] if "host" in s)
    assert step["host"] == "scatter_rows" and not step["overwrites"]


@pytest.mark.parametrize("width", [(), (3,), (2, 16)])
def test_rows_outside_are_left_out_by_kernels_too(width):
    rng = np.random.default_rng(1)
    table, rows = rng.normal(size=(50, *width)).astype("float32"), rng.integers(-5, 55, 40)
    values = np.broadcast_to(rows.reshape(-1, *(1 for _ in width)), (40, *width)).astype("float32")
    graph = Graph("g")
    inputs = [graph.input(TensorType(a.shape, dtype_of(a.dtype))) for a in (table, rows, values)]
    graph.outputs = list(graph.add(ScatterRows(), inputs))
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", "always")
    (got,) = Executor(graph, (True, False, False))([table.copy(), rows, values])
    flags.set_("FLAGS_eager_compile", before)
    np.testing.assert_array_equal(got, ScatterRows().numpy(table, rows, values))
