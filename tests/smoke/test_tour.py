"""A tour of what users touch, in seconds: whether the whole hangs together. Details are tested elsewhere."""

import os
import subprocess
import sys

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle import nn


def test_tensors():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.shape == [2, 2] and x.dtype == paddle.float32
    y = (x @ x.T + 1).sum(axis=0)
    np.testing.assert_array_equal(y.numpy(), [18.0, 38.0])
    x[0, 1] = 9
    assert x[0].tolist() == [1.0, 9.0] and float(x.max()) == 9.0
    assert paddle.concat([x, x], axis=1).reshape([-1]).shape == [8]
    assert bool((paddle.arange(5) == paddle.to_tensor([0, 1, 2, 3, 4])).all())
    assert "Tensor(shape=[2, 2]" in repr(x)


def test_gradients():
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y = (x**3).sum()
    (g,) = paddle.grad(y, x, create_graph=True)
    (h,) = paddle.grad(g.sum(), x)
    np.testing.assert_allclose(g.numpy(), [3, 12, 27], rtol=1e-6)
    np.testing.assert_allclose(h.numpy(), [6, 12, 18], rtol=1e-6)
    with paddle.no_grad():
        assert (x * 2).stop_gradient


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 3))

    def forward(self, x):
        return self.head(self.features(x))


def task(count=60):
    """Images whose brightest third tells the class."""
    state = np.random.RandomState(0)
    y = state.randint(0, 3, count)
    x = state.rand(count, 1, 8, 8).astype("float32")
    for i, k in enumerate(y):
        x[i, 0, 2 * k : 2 * k + 3] += 1
    return x, y.astype("int64")


class Rows(paddle.io.Dataset):
    def __init__(self):
        self.x, self.y = task()

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


def test_training_saving_and_predicting(tmp_path):
    paddle.seed(1)
    model = Net()
    schedule = paddle.optimizer.lr.StepDecay(0.02, step_size=5)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    losses = []
    for _ in range(6):
        for x, y in paddle.io.DataLoader(Rows(), batch_size=20, shuffle=True):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        schedule.step()
    assert losses[-1] < losses[0] / 2
    model.eval()
    x, y = task()
    with paddle.no_grad():
        before = model(paddle.to_tensor(x))
    assert float((before.argmax(axis=1) == paddle.to_tensor(y)).astype("float32").mean()) > 0.9

    paddle.save(model.state_dict(), str(tmp_path / "net.pdparams"))
    paddle.save(optimizer.state_dict(), str(tmp_path / "net.pdopt"))
    paddle.seed(2)
    other = Net()
    other.set_state_dict(paddle.load(str(tmp_path / "net.pdparams")))
    other.eval()
    np.testing.assert_array_equal(other(paddle.to_tensor(x)).numpy(), before.numpy())
    again = paddle.optimizer.AdamW(0.02, parameters=other.parameters())
    again.set_state_dict(paddle.load(str(tmp_path / "net.pdopt")))


def test_model(tmp_path):
    paddle.seed(3)
    model = paddle.Model(Net())
    optimizer = paddle.optimizer.Adam(0.02, parameters=model.parameters())
    model.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.fit(Rows(), epochs=4, batch_size=20, verbose=0)
    assert model.evaluate(Rows(), batch_size=20, verbose=0)["acc"] > 0.8
    assert model.predict(Rows(), batch_size=20, stack_outputs=True, verbose=0)[0].shape == (60, 3)
    model.save(str(tmp_path / "model"))
    model.load(str(tmp_path / "model"))


def test_attention_and_recurrence():
    paddle.seed(4)
    x = paddle.randn([2, 5, 16])
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0), 2)
    out, (h, _) = nn.LSTM(16, 8)(encoder(x))
    assert out.shape == [2, 5, 8] and h.shape == [1, 2, 8]
    words = nn.Embedding(50, 16)(paddle.to_tensor([[1, 2, 3]]))
    (out.mean() + words.mean()).backward()
    assert all(p.grad is not None for p in encoder.parameters())


def test_settings_and_modes():
    assert paddle.get_device() == "cpu" and paddle.in_dynamic_mode()
    assert paddle.get_default_dtype() == "float32"
    with paddle.no_grad(), pytest.warns(UserWarning, match="nothing is done"):
        nn.Linear(2, 2)(paddle.ones([1, 2])).backward()


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"(?s)matmul.*test_tour\.py"):
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    with pytest.raises(IndexError):
        F.cross_entropy(paddle.ones([2, 3]), paddle.to_tensor([0, 7])).item()


def test_a_fresh_process():
    """Imports alone, computes, prints nothing else."""
    code = "import paddle; print(float(paddle.nn.Linear(3, 2)(paddle.zeros([1, 3])).sum()) == 0.0)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=os.environ)
    assert (done.stdout, done.stderr) == ("True\n", "")
