"""Plans run launch by launch, and what each launch has to do."""

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.cpu import inspect, work
from paddle.engine.cpu.executor import Executor
from paddle.engine.eager import materialize
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import exp
from paddle.engine.ops.indexing import Gather
from paddle.engine.ops.linalg import MatMul
from paddle.engine.ops.reduction import Sum
from paddle.engine.ops.scan import Cumsum
from paddle.engine.types import TensorType


def graph(*shapes, dtype="float32"):
    g = Graph("test")
    return g, [g.input(TensorType(s, types.dtype_of(dtype))) for s in shapes]


def plans(g):
    """Both plans of a graph, with what their launches do."""
    executor = Executor(g, (False,) * len(g.inputs))
    first, compiled = executor.choose([]), executor.compile()
    return [(first, work.works(g, False)), (compiled, work.works(g, True))]


def run(plan, arrays):
    noted = []
    timed = inspect.TimedPlan(plan, lambda number, began, ended: noted.append((number, began, ended)))
    return timed, timed(list(arrays) + plan.numbers), noted


class Watcher:
    """Notes the executors that run."""

    def __init__(self, seen):
        self.seen = seen

    def begin(self):
        return None

    def made(self, program):
        return None

    def run(self, program, arrays):
        self.seen.append(program.run)
        return program.run(arrays)

    def end(self, began):
        return None


def a_program():
    g, (x, w) = graph((8, 16), (16, 4))
    h = g.add(exp, g.add(MatMul(), [x, w]))
    (s,) = g.add(Cumsum(1), h)
    g.outputs = [*g.add(Sum((1,), False), [s]), h[0]]
    return g, [np.random.default_rng(0).normal(size=v.shape).astype("float32") for v in g.inputs]


def test_a_plan_run_launch_by_launch_gives_the_same_and_tells_of_each():
    g, arrays = a_program()
    for plan, found in plans(g):
        want = plan([*arrays, *plan.numbers])
        timed, out, noted = run(plan, arrays)
        for a, b in zip(out, want):
            np.testing.assert_array_equal(a, b)
        assert [number for number, _, _ in noted] == list(range(len(timed.steps))) == list(range(len(found)))
        assert all(began <= ended for _, began, ended in noted)
        assert [("host" in s) for s in timed.steps] == [f.host for f in found]
        assert [s.get("op") or s["host"] for s in timed.steps] == [f.operator for f in found]


def test_work_of_a_product_a_function_a_sum_and_a_host_step():
    g, _ = a_program()
    for compiled in (False, True):
        found = {w.name: w for w in work.works(g, compiled)}
        assert (found["matmul"].operations, found["matmul"].read_bytes) == (2 * 8 * 16 * 4, 4 * (8 * 16 + 16 * 4))
        assert found["matmul"].written_bytes == 4 * 8 * 4
        assert found["matmul"].shapes == ("float32[8, 16]", "float32[16, 4]", "float32[8, 4]")
        assert (found["exp"].operations, found["exp"].read_bytes, found["exp"].written_bytes) == (320, 128, 128)
        assert found["cumsum"].host and found["cumsum"].operations is None and found["cumsum"].read_bytes == 128
        assert (found["sum"].operations, found["sum"].read_bytes, found["sum"].written_bytes) == (32, 128, 32)


def test_what_is_fused_is_one_launch_with_the_work_of_all():
    g, (x,) = graph((1000,))
    g.outputs = list(g.add(Sum((0,), False), g.add(exp, g.add(exp, [x]))))
    assert [w.name for w in work.works(g, False)] == ["exp", "exp", "sum"]
    (fused,) = work.works(g, True)
    assert fused.name == "exp+sum" and fused.operations == 21_000 and fused.read_bytes == 4000


def test_a_long_sum_is_two_launches():
    g, (x,) = graph((1 << 18,))
    g.outputs = list(g.add(Sum((0,), False), g.add(exp, [x])))
    parts, added = work.works(g, True)
    assert (parts.name, added.name) == ("exp+sum", "sum (parts added)")
    assert parts.operations == 11 << 18 and parts.read_bytes == 4 << 18
    assert added.read_bytes == parts.written_bytes < 100


def test_a_gather_reads_the_rows_that_it_picks():
    g, (x,) = graph((10_000, 4))
    index = g.input(TensorType((3,), types.int64))
    g.outputs = list(g.add(Gather(0), [x, index]))
    for compiled in (False, True):
        (found,) = work.works(g, compiled)
        assert found.read_bytes <= 3 * 4 * 4 + 3 * 8 * 4  # the index at most once per element
        assert found.written_bytes == 48 and found.operations == 0


@pytest.mark.parametrize("compiled", [False, True])
def test_the_launches_of_a_recurrence_are_those_of_its_steps(compiled):
    import paddle

    layer = paddle.nn.GRU(3, 4)
    x = paddle.ones([2, 5, 3])
    float(x.sum())
    seen = []
    materialize.watcher = Watcher(seen)
    try:
        layer(x)[0].numpy()
    finally:
        materialize.watcher = None
    executor = seen[-1]
    plan = executor.compile() if compiled else executor.first
    assert len(work.works(executor.graph, compiled)) == len(inspect.TimedPlan(plan, print).steps)


def test_convolutions_whose_kernels_are_laid_out():
    import paddle

    net = paddle.nn.Conv2D(32, 64, 3, padding=1)
    x = paddle.ones([1, 32, 8, 8])
    float(x.sum() + net.weight.sum())
    seen = []
    materialize.watcher = Watcher(seen)
    try:
        paddle.nn.functional.relu(net(x)).numpy()
    finally:
        materialize.watcher = None
    for compiled, plan in ((False, seen[-1].first), (True, seen[-1].compile())):
        steps = inspect.TimedPlan(plan, print).steps
        found = work.works(seen[-1].graph, compiled)
        assert [w.operator for w in found] == [s["op"] for s in steps]
        conv = next(w for w in found if w.operator == "conv")
        assert conv.operations == 2 * 64 * 64 * 32 * 9


def test_taking_the_time_of_a_launch_costs_little():
    inside, whole = inspect.call_ns()
    assert 0 <= inside <= whole < 1_000_000
