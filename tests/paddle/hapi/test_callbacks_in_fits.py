"""Callbacks in small trainings: epochs, rates and files are those of upstream 3.3.1 on the same data."""

import os

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.callbacks import Callback, EarlyStopping, LRScheduler, ReduceLROnPlateau
from paddle.optimizer import lr


class Data(paddle.io.Dataset):
    def __init__(self, n, seed):
        self.x = np.random.RandomState(seed).standard_normal((n, 4)).astype("float32")
        self.y = (self.x[:, :1] > 0).astype("int64")

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class Epochs(Callback):
    def __init__(self):
        super().__init__()
        self.count = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.count += 1


def fit(callbacks, save_dir, rate=0.3, **how):
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    for i, p in enumerate(net.parameters()):
        p.set_value(np.random.RandomState(i).standard_normal(p.shape).astype("float32"))
    model, epochs = paddle.Model(net), Epochs()
    model.prepare(
        paddle.optimizer.SGD(rate, parameters=net.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy()
    )
    model.fit(Data(40, 0), Data(20, 1), batch_size=8, shuffle=False, verbose=0, callbacks=[epochs, *callbacks],
              save_dir=save_dir, **how)  # fmt: skip
    return epochs.count, model._optimizer.get_lr(), model


CASES = {  # callbacks, rate, arguments of fit: epochs, rate at the end, names of saved models
    "save": (lambda: [], 0.3, {"epochs": 4, "save_freq": 2}, 4, 0.3, "0 2 final"),
    "at once": (lambda: [EarlyStopping(verbose=0, save_best_model=False)], 0.3, {"epochs": 5}, 1, 0.3, "0 final"),
    "accuracy": (
        lambda: [EarlyStopping("acc", patience=2, verbose=0)], 0.3, {"epochs": 8}, 4, 0.3, "0 1 2 3 best_model final"
    ),
    "delta": (
        lambda: [EarlyStopping(patience=1, min_delta=0.05, verbose=0, save_best_model=False)], 0.3, {"epochs": 8},
        4, 0.3, "0 1 2 3 final",
    ),
    "baseline": (
        lambda: [EarlyStopping(baseline=0.01, patience=2, verbose=0)], 0.3, {"epochs": 8}, 2, 0.3, "0 1 final"
    ),
    "upward": (
        lambda: [EarlyStopping(mode="max", patience=2, verbose=0)], 0.3, {"epochs": 8}, 3, 0.3, "0 1 2 best_model final"
    ),
    "plateau": (
        lambda: [ReduceLROnPlateau(patience=1, min_delta=0.2, factor=0.5, cooldown=2, min_lr=0.1, verbose=0)], 0.3,
        {"epochs": 10, "save_freq": 20}, 10, 0.1, "0 final",
    ),
    "by step": (lambda: [], lambda: lr.StepDecay(0.3, 4), {"epochs": 3, "save_freq": 9}, 3, 0.0003, "0 final"),
    "by epoch": (
        lambda: [LRScheduler(by_step=False, by_epoch=True)], lambda: lr.ExponentialDecay(0.3, 0.5),
        {"epochs": 3, "save_freq": 9}, 3, 0.0375, "0 final",
    ),
    "not at all": (
        lambda: [LRScheduler(by_step=False, by_epoch=False)], lambda: lr.ExponentialDecay(0.3, 0.5),
        {"epochs": 2, "save_freq": 9}, 2, 0.3, "0 final",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_upstream(tmp_path, name):
    callbacks, rate, how, epochs, last_rate, saved = CASES[name]
    found = fit(callbacks(), str(tmp_path), rate() if callable(rate) else rate, **how)
    assert found[0] == epochs and found[1] == pytest.approx(last_rate)
    assert sorted(f[: -len(".pdparams")] for f in os.listdir(tmp_path) if f.endswith(".pdparams")) == saved.split()


def test_a_lowered_rate_is_the_rate_that_is_used(tmp_path):
    _, rate, model = fit([ReduceLROnPlateau(patience=1, min_delta=9.0, factor=0.5, verbose=0)], None, epochs=2)
    assert rate == 0.15
    bias = model.network[2].bias
    before = bias.numpy()
    nn.functional.cross_entropy(model.network(paddle.ones([2, 4])), paddle.to_tensor([0, 1])).backward()
    gradient = bias.grad.numpy()
    model._optimizer.step()
    np.testing.assert_allclose(bias.numpy(), before - 0.15 * gradient, rtol=1e-5)


def test_only_the_first_process_saves(tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    fit([], str(tmp_path), epochs=1)
    assert not os.listdir(tmp_path)
