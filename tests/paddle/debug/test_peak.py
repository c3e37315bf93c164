"""What a program will hold while it runs, told before it does, beside what it then takes."""

import tracemalloc

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.debug import peak_memory
from paddle.engine import flags
from paddle.engine.cpu import executor
from paddle.engine.eager import materialize


@pytest.fixture
def mode():
    before = flags.get("FLAGS_eager_compile")
    yield lambda name: flags.set_("FLAGS_eager_compile", name)
    flags.set_("FLAGS_eager_compile", before)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16), nn.Linear(16, 10)

    def forward(self, x):
        x = nn.functional.relu(self.norm(self.conv(x)))
        return self.fc(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


def training():
    net = Net()
    optimizer = paddle.optimizer.Momentum(0.1, 0.9, parameters=net.parameters())
    x, y = paddle.randn([8, 3, 32, 32]), paddle.to_tensor(np.arange(8))

    def record():
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return record


@pytest.mark.parametrize("tier", ["always", "never"])
def test_what_is_told_is_what_is_allocated(mode, tier, monkeypatch):
    mode(tier)
    materialize._settings_changed(None)  # programs that another tier has run are not gone on with
    record = training()
    for _ in range(3):
        float(record())
    loss = record()
    told = peak_memory()
    found = told.compiled if tier == "always" else told.first
    ran = []
    run = executor.Plan.execute

    def execute(self, arrays, *rest):
        monkeypatch.setattr(executor, "_arenas", [])  # the work area is made anew
        tracemalloc.start()
        out = run(self, arrays, *rest)
        ran.append((self.arena, tracemalloc.get_traced_memory()[1], sum(a.nbytes for a in arrays)))
        tracemalloc.stop()
        return out

    monkeypatch.setattr(executor.Plan, "execute", execute)
    float(loss)
    ((arena, allocated, given),) = ran
    assert arena == found.work > 8 * 16 * 32 * 32 * 4
    assert given == found.inputs
    assert found.work + found.outputs <= allocated <= found.work + found.outputs + 30_000
    assert found.peak == found.inputs + found.outputs + found.work


def test_it_runs_nothing_and_names_what_fills_the_work_area():
    record = training()
    float(record())
    runs = materialize.statistics()["first"]["runs"]
    loss = record()
    text = str(peak_memory(loss))
    assert materialize.statistics()["first"]["runs"] == runs and loss.buffer is None
    assert text.startswith("compiled: ") and "\noperator by operator: " in text
    assert "float32[8, 16, 32, 32]" in text and "test_peak.py:" in text and "fullest at kernel" in text
    assert peak_memory().nbytes > peak_memory(loss).compiled.inputs
    assert float(loss) > 0


def test_sizes_that_can_be_counted(mode):
    x = paddle.ones([1000])
    x.numpy()
    y = (x * 2).sum() + 1
    found = peak_memory(y)
    assert (found.compiled.inputs, found.compiled.outputs) == (4000, 4)
    assert found.first.work >= 4000 > found.compiled.work
    assert "more" in found.text(0)


def test_what_cannot_be_told():
    x = paddle.ones([2])
    x.numpy()
    with pytest.raises(RuntimeError, match="nothing is recorded"):
        peak_memory()
    with pytest.raises(RuntimeError, match="argument 0 has its value"):
        peak_memory(x)
    with pytest.raises(TypeError, match="argument 1 is not a Tensor"):
        peak_memory(x + 1, 3)


def test_normalizing_keeps_one_tensor_for_its_gradient():
    """The result, which the gradient of a weight needs anyway, and not what it was made of."""
    norm, shape = nn.BatchNorm2D(16), [8, 16, 32, 32]
    x = paddle.randn(shape)
    x.stop_gradient = False
    y = x
    for _ in range(8):
        y = norm(y * 2)
    y.sum().backward()
    found = peak_memory().first
    assert sum(v.shape == tuple(shape) for v in found.alive) <= 8 + 4
