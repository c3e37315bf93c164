"""Random programs, compiled whole and operator by operator, against their numpy meaning.

`python tests/engine/cpu/test_programs.py FIRST LAST` tries the programs of seeds FIRST to LAST - 1 and cuts each
failing one down to the operators that matter.
"""

import contextlib
import random
import sys
from unittest import mock

import numpy as np
import pytest
from fences import Numpy, moved
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from programs import Maker, tolerances

from paddle.engine import flags
from paddle.engine.cpu import compiler, executor
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.plan import MemoryPlan
from paddle.engine.cpu.steps import LoopStep
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.registry import registry
from paddle.engine.types import TensorType, dtype_of

TIERS = ("never", "always", "constants")  # the last: compiled for inputs that mostly stay, all but the first


@contextlib.contextmanager
def setting(name, value):
    before = flags.get(name)
    flags.set_(name, value)
    try:
        yield
    finally:
        flags.set_(name, before)


@contextlib.contextmanager
def fences(at_end):
    """Within the block, memory that programs get lies beside unreadable pages, and holds no plausible number."""
    executor._arenas.clear()
    with mock.patch.object(executor, "np", Numpy(at_end)):
        yield
    executor._arenas.clear()


def compare(got, want, tolerance, what):
    assert got.shape == want.shape and got.dtype == want.dtype, f"{what}: {got.dtype}{got.shape}"
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    got, want = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=0.0, atol=tolerance, err_msg=what)


def problem(graph, arrays, donated, tolerance, tier):
    """What is wrong with a program in one tier, or "" if nothing is."""
    want = [a.copy() for a in Reference(graph)([a.copy() for a in arrays])]
    constant = tier == "constants"
    with setting("FLAGS_eager_compile", "always" if constant else tier), setting("FLAGS_eager_constants", "always"):
        try:
            run = Executor(graph, donated, lasting=tuple(constant and i > 0 for i in range(len(arrays))))
            for visit in range(3 if constant else 2):
                if visit < 2:
                    given_ = [moved(a, visit == 0) for a in arrays]
                else:
                    given_ = [moved(a, False) if d else b for a, b, d in zip(arrays, given_, donated)]
                with fences(visit == 0):
                    got = run(given_)
                for i, (a, b) in enumerate(zip(given_, arrays)):
                    if not donated[i]:
                        assert a.tobytes() == b.tobytes(), f"input {i} was written to"
                for j, (a, b, t) in enumerate(zip(got, want, tolerance)):
                    compare(a, b, t, f"output {j}, visit {visit}")
        except Exception as e:  # noqa: BLE001
            return f"{type(e).__name__}: {e}"
    return ""


def overlaps(graph, donated):
    """Launches that write where another of their operands lies: a kernel takes it that there are none."""
    graph, steps = compiler.lowered(graph)
    plan, found = MemoryPlan(graph, steps, donated), []
    for i, s in enumerate(steps):
        if isinstance(s, LoopStep):
            operands = compiler.loop_kernel(s, plan, i).operands
            places = [plan.place[plan.root_of(o.key)] for o in operands]
            ends = [p.offset + max(o.key.type.nbytes, 1) for o, p in zip(operands, places)]
            for j, o in enumerate(operands):
                for k, p in enumerate(places):
                    apart = p.base != places[j].base or p.offset >= ends[j] or ends[k] <= places[j].offset
                    if o.key in s.outputs and j != k and not apart:
                        found.append(f"step {i} of {s.node.op.name}: operands {j} and {k}")
    return found


def check(maker):
    tolerance = tolerances(maker)
    found = overlaps(maker.graph, maker.donated)
    assert not found, f"{found}\n{maker.graph}\ndonated: {maker.donated}"
    for tier in TIERS:
        wrong = problem(maker.graph, maker.arrays, maker.donated, tolerance, tier)
        if wrong:
            raise AssertionError(f"{tier}: {wrong}\n{maker.graph}\ndonated: {maker.donated}")


@settings(max_examples=100, derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate),
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(st.randoms(use_true_random=False))
def test_random_programs(choices):
    with setting("FLAGS_cpu_threads", choices.randrange(1, 5)):
        check(Maker(choices.randrange))


# ---- what was found ---------------------------------------------------------------------------
def graph_of(build, *arrays):
    """The program that `build(add, *values)` makes; add(name, *values, **attributes) appends a node."""
    graph = Graph()
    values = [graph.input(TensorType(a.shape, dtype_of(a.dtype))) for a in arrays]
    out = build(lambda name, *args, **attributes: graph.add(registry[name](**attributes), args)[0], *values)
    graph.outputs = list(out) if isinstance(out, tuple) else [out]
    return graph


def check_graph(build, *arrays, donated=()):
    graph = graph_of(build, *arrays)
    mask = tuple(i in donated for i in range(len(arrays)))
    for tier in TIERS:
        wrong = problem(graph, list(arrays), mask, [0.0] * len(graph.outputs), tier)
        assert not wrong, f"{tier}: {wrong}"


def test_a_buffer_taken_over_has_the_shape_of_the_output():
    x = np.arange(16, dtype="float32").reshape(16, 1)
    check_graph(lambda add, x: add("reshape", add("neg", x), shape=(16,)), x, donated=(0,))
    x = np.zeros((1, 1, 0))
    check_graph(lambda add, x, y: add("multiply", x, y), x, np.zeros((1, 3, 0, 0)), donated=(0, 1))


def test_a_column_alone_is_no_square():
    x = np.arange(99, dtype="float32").reshape(33, 3)
    check_graph(lambda add, x: add("neg", add("slice", x, starts=(0, 1), stops=(32, 2), steps=(1, 1))), x)


def test_what_is_read_under_another_shape_is_overwritten_as_one_operand():
    def build(add, x, y, z):
        row = lambda i: add("reshape", add("slice", x, starts=(i, 0), stops=(i + 1, 6), steps=(1, 1)), shape=(6,))
        a, b = add("add", add("tanh", y), row(0)), add("add", add("tanh", z), row(1))
        c, d = add("add", add("tanh", a), row(2)), add("add", add("tanh", b), row(3))
        return c, d, add("add", a, b)

    x = np.arange(24, dtype="float64").reshape(4, 6)
    graph = graph_of(build, x, x[0], x[1])
    assert not overlaps(graph, (False,) * 3)
    for tier in TIERS:
        assert not problem(graph, [x, x[0].copy(), x[1].copy()], (False,) * 3, [1e-12] * 3, tier)


@pytest.mark.parametrize(
    "dims, axis, units", [((5000,), 0, 1), ((100, 64), 0, 64), ((4, 21, 8, 8), 1, 256), ((7, 9), 1, 7)]
)
def test_rows_are_reduced_once_and_not_for_each_of_their_elements(dims, axis, units):
    graph = graph_of(lambda add, x: add("softmax", x, axis=axis), np.empty(dims, "float32"))
    (step,) = compiler.compile_graph(graph, (False,))[0]["steps"]
    assert step["total"] == units


def test_sums_of_products_of_integers_wrap():
    x = np.resize(np.array([-(2**63), 2**63 - 1, 2**62, 3, -(2**62), 7]), 24)

    def build(add, x, y):
        a, b = add("multiply", x, add("add", x, x)), add("multiply", y, add("add", y, y))
        return add("greater_than", add("add", a, b), a)

    check_graph(build, x, x[::-1].copy())


def test_nothing_is_reported_on_stderr(capfd):
    x = np.arange(24)
    check_graph(lambda add, x, y: add("floor_divide", x, y), x, x + 1)
    assert capfd.readouterr().err == ""


# ---- making a failing program small -----------------------------------------------------------
def values_of(graph, arrays):
    """Every value of a graph, by the reference."""
    every = Graph(graph.name)
    every.inputs, every.nodes, every.outputs = graph.inputs, graph.nodes, list(graph.values())
    return dict(zip(every.outputs, Reference(every)([a.copy() for a in arrays])))


def rebuilt(graph, arrays, donated, tolerance, keep_outputs, given_values):
    """The graph with some values given as inputs and fewer outputs."""
    known = values_of(graph, arrays)
    new, env, new_arrays, new_donated = Graph(), {}, [], []
    needed, nodes = {graph.outputs[j] for j in keep_outputs}, []
    for n in reversed(graph.nodes):
        if any(v in needed for v in n.outputs) and not any(v in given_values for v in n.outputs):
            nodes.append(n)
            needed.update(n.inputs)
    for v in graph.values():
        if v in needed and (v.node is None or v in given_values):
            env[v] = new.input(v.type)
            new_arrays.append(known[v])
            new_donated.append(donated[v.index] if v.node is None else False)
    for n in reversed(nodes):
        env.update(zip(n.outputs, new.add(n.op, [env[v] for v in n.inputs])))
    new.outputs = [env[graph.outputs[j]] for j in keep_outputs]
    return new, new_arrays, tuple(new_donated), [tolerance[j] for j in keep_outputs]


def minimized(graph, arrays, donated, tolerance, tier):
    """A part of the program that still goes wrong."""
    state = (graph, arrays, donated, tolerance)
    changed = True
    while changed:
        changed = False
        g = state[0]
        count = len(g.outputs)
        tries = [([j for j in range(count) if j != k], ()) for k in range(count) if count > 1]
        tries += [(range(count), n.outputs) for n in g.nodes]
        for keep, given_values in tries:
            smaller = rebuilt(*state, keep, set(given_values))
            if problem(*smaller, tier):
                state, changed = smaller, True
                break
        for i, d in enumerate(state[2]):
            fewer = (*state[:2], tuple(x and k != i for k, x in enumerate(state[2])), state[3])
            if d and problem(*fewer, tier):
                state = fewer
    return state


def main(first, last):
    failures = 0
    for seed in range(first, last):
        maker = Maker(random.Random(seed).randrange)
        tolerance = tolerances(maker)
        for tier in TIERS:
            wrong = problem(maker.graph, maker.arrays, maker.donated, tolerance, tier)
            if wrong:
                failures += 1
                g, arrays, donated, t = minimized(maker.graph, maker.arrays, maker.donated, tolerance, tier)
                print(
                    f"--- seed {seed}, {tier}, donated {donated}\n{g}\n{problem(g, arrays, donated, t, tier)}\n",
                    flush=True,
                )
    print(f"{failures} failures of {last - first} programs")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
