"""Kernels that have nothing to do with one another run as one launch."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine import types
from paddle.engine.cpu import compiler, grouping, lower, work
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.loops import Kernel
from paddle.engine.cpu.plan import MemoryPlan
from paddle.engine.cpu.recurrence import RecurrenceStep
from paddle.engine.cpu.steps import AliasStep, GroupStep
from paddle.engine.eager import materialize
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add, exp, multiply
from paddle.engine.ops.indexing import Gather
from paddle.engine.types import TensorType


def updates(sizes, shared=()):
    """p * g + g for each size, and x + x for inputs that several updates read."""
    g = Graph("updates")
    pairs = [[g.input(TensorType((n,), types.float32)) for _ in "pg"] for n in sizes]
    g.outputs = [g.add(add, (g.add(multiply, pair)[0], pair[1]))[0] for pair in pairs]
    g.outputs += [g.add(add, (pairs[i][0], pairs[i][0]))[0] for i in shared]
    return g


def run(g, donated):
    arrays = [np.random.default_rng(i).normal(size=v.shape).astype("float32") for i, v in enumerate(g.inputs)]
    plan = Executor(g, donated).compile()
    given = [a.copy() for a in arrays]
    return plan, arrays, given, plan(given)


def test_updates_of_any_sizes_are_one_launch_with_one_kernel_for_all_that_differ_in_size():
    sizes = [3, 1000, 70_000, 1024, 17, 1 << 20, 5000]
    g = updates(sizes)
    plan, arrays, given, out = run(g, (True,) * len(g.inputs))
    (launch,) = plan.launches
    assert launch["total"] > 20 and launch["grain"] == 1
    for i, n in enumerate(sizes):
        p, grad = arrays[2 * i], arrays[2 * i + 1]
        np.testing.assert_array_equal(out[i], p * grad + grad)
        assert any(out[i] is a for a in given), f"the update of {n} elements is not in place"
    description, _ = compiler.compile_graph(updates(sizes), (True,) * len(g.inputs))
    (step,) = description["steps"]
    rows = np.reshape(step["dims"][1:], (-1, grouping.ROW))
    assert len(rows) == len(sizes) and set(rows[:, 2]) == {0}, "the kernels are not the same one"
    assert sorted(rows[:, -1]) == sorted(sizes)


def test_what_another_member_reads_is_not_written_over():
    g = updates([100, 200, 300], shared=[1])
    plan, arrays, given, out = run(g, (True,) * len(g.inputs))
    for i in range(3):
        np.testing.assert_array_equal(out[i], arrays[2 * i] * arrays[2 * i + 1] + arrays[2 * i + 1])
    np.testing.assert_array_equal(out[3], arrays[2] + arrays[2])


def test_a_member_does_not_read_what_another_makes():
    g = updates([64, 64, 64, 64])
    g.outputs += [g.add(exp, (v,))[0] for v in g.outputs]
    steps = [s for s in lower.steps_of(g) if not isinstance(s, AliasStep)]
    for s in steps:
        if isinstance(s, GroupStep):
            assert not {v for m in s.members for v in m.inputs} & set(s.outputs)
    _, arrays, _, out = run(g, (False,) * len(g.inputs))
    want = [arrays[2 * i] * arrays[2 * i + 1] + arrays[2 * i + 1] for i in range(4)]
    for got, x in zip(out, want):
        np.testing.assert_array_equal(got, x)
    for got, x in zip(out[4:], want):
        np.testing.assert_allclose(got, np.exp(x), rtol=1e-6)


def test_updates_stay_behind_what_may_fail():
    """Before it has run, nothing is written over: what an error leaves is what was there."""
    g = Graph("fails")
    sizes = [50, 60, 70, 80]
    pairs = [[g.input(TensorType((n,), types.float32)) for _ in "pg"] for n in sizes]
    index = g.input(TensorType((3,), types.int64))
    g.outputs = [g.add(multiply, pair)[0] for pair in pairs[:2]]
    g.outputs.append(g.add(Gather(0), (pairs[3][0], index))[0])
    g.outputs += [g.add(multiply, pair)[0] for pair in pairs[2:]]
    arrays = [np.ones(v.shape, "float32") * 2 for v in g.inputs[:-1]] + [np.array([0, 1, 999])]
    plan = Executor(g, (True,) * len(g.inputs)).compile()
    with pytest.raises(IndexError):
        plan(arrays)
    assert all((a == 2).all() for a in arrays[:-1])


def test_a_great_many_are_several_groups(monkeypatch):
    monkeypatch.setattr(grouping, "MOST", 8)
    steps = lower.steps_of(updates(range(10, 30)))
    assert [len(s.members) for s in steps] == [8, 8, 4]


@pytest.mark.parametrize("seed", range(4))
def test_every_unit_of_every_member_is_in_one_task(seed):
    rng = np.random.default_rng(seed)
    kernels, names = [], []
    for _ in range(int(rng.integers(3, 40))):
        n = int(rng.integers(1, 300_000))
        chunk = bool(rng.integers(2))
        kernels.append((
            Kernel("", [None] * int(rng.integers(1, 9)), [], [n if chunk else n % 97 + 1], 1024 * chunk,
                   [n] if chunk else [50], int(rng.integers(1, 60)), []), {},
        ))  # fmt: skip
        names.append(f"k{rng.integers(3)}")
    (count, *words), tasks = grouping.table(kernels, names)
    rows = np.reshape(words, (count, grouping.ROW))
    assert count == len(kernels) and sorted(set().union(*(range(r[0], r[0] + r[1]) for r in rows))) == [*range(tasks)]
    for _, own, _, _, units, grain, _ in rows:
        assert own == -(-units // grain)
    starts = np.cumsum([0, *(1 + len(k.operands) for k, _ in kernels)])
    assert sorted(rows[:, 3]) == list(starts[:-1])


@pytest.fixture
def programs(flags_always, monkeypatch):
    seen = []
    make = materialize.backend

    def spy(graph, donated, *rest, **named):
        made = make(graph, donated, *rest, **named)
        seen.append((made, graph, donated))
        return made

    monkeypatch.setattr(materialize, "backend", spy)
    forget(monkeypatch)
    return seen


def forget(monkeypatch):
    """Programs are made anew."""
    materialize.trie.clear()
    monkeypatch.setattr(materialize, "_runs", type(materialize._runs)())


@pytest.fixture
def flags_always():
    before = paddle.get_flags(["FLAGS_eager_compile", "FLAGS_cpu_threads"])
    paddle.set_flags({"FLAGS_eager_compile": "always"})
    yield
    paddle.set_flags(before)


def train(threads=None, steps=3):
    """Training with gradients clipped by their norm: its losses and parameters."""
    if threads:
        paddle.set_flags({"FLAGS_cpu_threads": threads})
    paddle.seed(0)
    net = nn.Sequential(
        nn.Linear(70, 130), nn.LayerNorm(130), nn.GELU(), nn.Linear(130, 90), nn.ReLU(), nn.Linear(90, 3)
    )
    clip = nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.AdamW(1e-2, parameters=net.parameters(), grad_clip=clip)
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(40, 70)).astype("float32"))
    found = []
    for _ in range(steps):
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(loss.numpy())
    return found + [p.numpy() for p in net.parameters()]


def test_a_training_has_the_same_bits_grouped_or_not_on_any_number_of_threads(flags_always, monkeypatch, tmp_path):
    want = train(1)
    for threads in (2, 3):
        for a, b in zip(train(threads), want):
            np.testing.assert_array_equal(a, b)
    seen = []
    monkeypatch.setattr(lower, "grouped", lambda graph, steps: (seen.append(graph) or steps, 0))
    monkeypatch.setattr(compiler, "source", lambda: f"without groups {tmp_path}")
    forget(monkeypatch)
    for a, b in zip(train(2), want):
        np.testing.assert_array_equal(a, b)
    assert seen, "the programs were not compiled again"
    materialize.trie.clear()


def test_updates_and_squares_of_a_training_are_one_launch_each_and_told_as_one(programs):
    train()
    _, graph, donated = max(programs, key=lambda p: len(p[1].inputs))  # it has moments
    graph, steps = compiler.lowered(graph)
    groups = [s for s in steps if isinstance(s, GroupStep)]
    assert len(groups[-1].members) == 8, "not all parameters are updated at once"
    assert any(len(s.members) == 8 for s in groups[:-1]), "the squares of gradients are not summed at once"
    plan = MemoryPlan(graph, steps, donated)
    written = {v for v in groups[-1].outputs if plan.place[v].base[0] == "input"}
    assert len(written) == len(groups[-1].outputs), "an update is not in place"
    told = work.works(graph, True)
    assert told[-1].name.endswith("(8 together)")
    assert told[-1].written_bytes == sum(v.type.nbytes for v in groups[-1].outputs)
    assert len(told) == len([s for s in steps if not isinstance(s, AliasStep)])


def test_groups_within_a_recurrence(programs):
    """The state of the step lies elsewhere in each of its turns, and so do the pointers of a group."""
    rnn = nn.LSTM(8, 8, num_layers=3)
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32"))

    def value():
        materialize.trie.clear()
        out, (h, c) = rnn(x)
        return [t.numpy() for t in (out, h, c)]

    grouped = value()
    inner = [s for _, g, _ in programs for s in compiler.lowered(g)[1] if isinstance(s, RecurrenceStep)]
    assert inner
    paddle.set_flags({"FLAGS_eager_compile": "never"})
    for a, b in zip(grouped, value()):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
