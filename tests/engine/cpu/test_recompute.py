"""Activations that are computed again: less memory, the same results."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine import flags, types
from paddle.engine.cpu import recompute
from paddle.engine.cpu.footprint import footprint
from paddle.engine.eager import materialize
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add, exp, multiply
from paddle.engine.ops.linalg import MatMul
from paddle.engine.types import TensorType

N = 512  # squares of so many elements to a side take a MiB


def residual():
    """Blocks with normalization and a residual, as in convolutional networks."""

    class Block(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)
            self.na, self.nb = nn.BatchNorm1D(64), nn.BatchNorm1D(64)

        def forward(self, x):
            return nn.functional.relu(x + self.nb(self.b(nn.functional.relu(self.na(self.a(x))))))

    return nn.Sequential(*[Block() for _ in range(3)], nn.Linear(64, 3)), (1024, 64)


def normalized():
    """Layers normalized before their products, as in transformers."""
    layers = [nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 128), nn.ReLU()) for _ in range(4)]
    return nn.Sequential(*layers, nn.Linear(128, 3)), (512, 128)


def train(make, mode, monkeypatch, dtype="float32"):
    """Losses and parameters of a training, and the memory of its step."""
    graphs = []
    backend = materialize.backend

    def spy(graph, donated, *rest, **named):
        graphs.append((graph, donated))
        return backend(graph, donated, *rest, **named)

    materialize.trie.clear()
    with monkeypatch.context() as m, setting("FLAGS_recompute", mode), setting("FLAGS_eager_compile", "always"):
        m.setattr(materialize, "backend", spy)
        m.setattr(materialize, "_runs", type(materialize._runs)())
        paddle.seed(0)
        net, shape = make()
        optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
        x = paddle.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))
        found = []
        for _ in range(2):
            with paddle.amp.auto_cast(enable=dtype != "float32", level="O1", dtype="bfloat16"):
                loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            found.append(loss.numpy())
        told = footprint(*max(graphs, key=lambda g: len(g[0].inputs)))
    materialize.trie.clear()
    return found + [p.numpy() for p in net.parameters()], told


def setting(name, value):
    class Setting:
        def __enter__(self):
            self.before = flags.get(name)
            flags.set_(name, value)

        def __exit__(self, *error):
            flags.set_(name, self.before)

    return Setting()


@pytest.mark.parametrize("make, tolerance", [(residual, 2e-6), (normalized, 0.0)])
def test_a_training_takes_less_memory_and_has_the_same_results(make, tolerance, monkeypatch):
    """Which sums are added up in the stores of products may be others, and then their last bits are."""
    kept, before = train(make, "never", monkeypatch)
    again, after = train(make, "auto", monkeypatch)
    assert after.work < 0.85 * before.work, (before.work, after.work)
    for a, b in zip(again, kept):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_mixed_precision_has_the_same_bits(monkeypatch):
    """What is rounded when it is stored is not computed again."""
    kept, _ = train(normalized, "never", monkeypatch, "bfloat16")
    again, _ = train(normalized, "auto", monkeypatch, "bfloat16")
    for a, b in zip(again, kept):
        np.testing.assert_array_equal(a, b)


def program(first, dtype=types.float32, keeps=True, far=True):
    """v = first(x w), used at once and after many other operations; x w is used at the end, too, if it `keeps`."""
    g = Graph("program")
    x, w = (g.input(TensorType((N, N), dtype)) for _ in "xw")
    (h,) = g.add(MatMul(), (x, w))
    v = first(g, h)
    (y,) = g.add(MatMul(), (v, w))
    for _ in range(2 * recompute.GAP if far else 4):
        (y,) = g.add(add, (y, x))
    (z,) = g.add(MatMul(), (v, y))
    g.outputs = [g.add(multiply, (z, h if keeps else z))[0]]
    return g, v


def twice(g, h):
    return g.add(add, (h, h))[0]


def test_what_is_cheap_is_computed_again_beside_its_use():
    g, v = program(twice)
    (found,) = recompute.choose(g)
    assert found.value is v and [n.op for n in found.nodes] == [add] and v in g.nodes[found.before].inputs
    new = recompute.recomputed(g)
    assert len(new.nodes) == len(g.nodes) + 1 and len(g.users()[v]) == 2
    assert footprint(g, (False, False)).work == footprint(new, (False, False)).work


@pytest.mark.parametrize(
    "case",
    [
        lambda: program(twice, keeps=False),  # it would have to be made of what is not kept
        lambda: program(twice, far=False),  # it is not kept for long
        lambda: program(twice, types.bfloat16),  # it is rounded when it is stored
        lambda: program(lambda g, h: g.add(exp, (h,))[0]),  # dear
        lambda: program(lambda g, h: g.add(MatMul(), (h, h))[0]),  # a product
    ],
)
def test_what_is_kept_all_the_same(case):
    g, _ = case()
    assert recompute.choose(g) == [] and recompute.recomputed(g) is g


def test_results_are_not_computed_again():
    g, v = program(twice)
    g.outputs.append(v)
    assert recompute.choose(g) == []


def test_the_flag_turns_it_off():
    g, _ = program(twice)
    with setting("FLAGS_recompute", "never"):
        assert recompute.recomputed(g) is g
    with pytest.raises(ValueError, match="FLAGS_recompute"):
        flags.set_("FLAGS_recompute", "sometimes")
