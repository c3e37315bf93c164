"""Callbacks that write down how a training went, with and without the packages they know."""

import builtins
import importlib.util
import os
import struct
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.callbacks import TensorBoard, VisualDL, WandbCallback

_spec = importlib.util.spec_from_file_location("event_files", Path(__file__).parent.parent / "utils" / "test_events.py")
event_files = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(event_files)


class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.full(2, i, "float32"), np.array([i % 2])

    def __len__(self):
        return 8


def fit(callback, epochs=2):
    net = nn.Linear(2, 2)
    net.set_state_dict({"weight": np.eye(2, dtype="float32"), "bias": np.zeros(2, "float32")})
    model = paddle.Model(net)
    schedule = paddle.optimizer.lr.ExponentialDecay(0.5, 0.5)
    model.prepare(
        paddle.optimizer.SGD(schedule, parameters=net.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy()
    )
    model.fit(Data(), Data(), batch_size=4, epochs=epochs, shuffle=False, verbose=0, callbacks=callback)
    return model


def curves(folder):
    (name,) = os.listdir(folder)
    found = {}
    for tag, step, value, _ in event_files.events(os.path.join(folder, name)):
        found.setdefault(tag, []).append((step, struct.unpack("<f", value[2][0])[0]))
    return found


def steps(curve):
    return [step for step, _ in curve]


def without(monkeypatch, package, blame=None):
    """Importing the package fails, or fails for the lack of another one."""
    real = builtins.__import__

    def fail(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ModuleNotFoundError("no", name=blame or package)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(builtins, "__import__", fail)


def test_tensorboard(tmp_path):
    fit(TensorBoard(str(tmp_path), log_freq=1))
    found = curves(tmp_path)
    assert set(found) == {"train/loss", "train/acc", "train/learning_rate", "eval/loss", "eval/acc"}
    assert steps(found["train/loss"]) == [1, 2, 3, 4] and steps(found["eval/loss"]) == [2, 4]
    assert [v for _, v in found["train/learning_rate"]] == [0.5, 0.25, 0.125, 0.0625]
    with pytest.raises(ValueError, match="log_freq"):
        TensorBoard(str(tmp_path), log_freq=0)


def test_tensorboard_reads_the_loss_as_often_as_it_is_told(tmp_path):
    fit(TensorBoard(str(tmp_path), log_freq=3), epochs=3)
    found = curves(tmp_path)
    assert steps(found["train/loss"]) == [3, 6] and steps(found["eval/loss"]) == [2, 4, 6]


def test_an_evaluation_alone(tmp_path):
    model = fit(paddle.callbacks.Callback(), epochs=1)
    model.evaluate(Data(), batch_size=4, verbose=0, callbacks=TensorBoard(str(tmp_path)))
    assert set(curves(tmp_path)) == {"eval/loss", "eval/acc"}


def test_a_training_that_goes_on(tmp_path):
    callback = TensorBoard(str(tmp_path), log_freq=1)
    callback.set_params({"metrics": ["loss"], "steps": 10, "epochs": 5})
    callback.on_train_begin()
    callback.on_epoch_begin(3)
    callback.on_train_batch_end(0, {"loss": [1.0]})
    callback.on_train_end()
    assert curves(tmp_path) == {"train/loss": [(31, 1.0)]}


def test_visualdl_without_its_package(tmp_path, monkeypatch):
    without(monkeypatch, "visualdl")
    with pytest.warns(UserWarning, match="not installed.*TensorBoard"):
        fit(VisualDL(str(tmp_path)))
    found = curves(tmp_path)
    assert set(found) == {"train/loss", "train/acc", "eval/loss", "eval/acc"}
    assert steps(found["train/loss"]) == [1, 2, 3, 4] and steps(found["eval/loss"]) == [0, 1]  # as upstream


def test_visualdl_with_its_package(monkeypatch):
    calls = []

    class LogWriter:
        def __init__(self, folder):
            calls.append(folder)

        def add_scalar(self, tag, value, step):
            calls.append((tag, step, type(value)))

        def close(self):
            calls.append("close")

    monkeypatch.setitem(sys.modules, "visualdl", types.SimpleNamespace(LogWriter=LogWriter))
    fit(VisualDL("folder"), epochs=1)
    of_loss = [c for c in calls if c[0].endswith("loss")]
    assert of_loss == [("train/loss", 1, float), ("train/loss", 2, float), ("eval/loss", 0, float)]
    assert calls[0] == "folder" and calls[-1] == "close"


def test_a_package_that_lacks_something_is_not_passed_over(tmp_path, monkeypatch):
    without(monkeypatch, "visualdl", blame="flask")
    with pytest.raises(ModuleNotFoundError):
        fit(VisualDL(str(tmp_path)))
    without(monkeypatch, "wandb", blame="click")
    with pytest.raises(ModuleNotFoundError) as e:
        WandbCallback()
    assert e.value.name == "click"


def test_wandb_without_its_package(monkeypatch):
    without(monkeypatch, "wandb")
    with pytest.raises(ImportError, match="pip install wandb"):
        WandbCallback()


class Wandb:
    """What is used of the package, written down."""

    run = None

    def __init__(self):
        self.calls = []

    def init(self, **settings):
        self.calls.append(settings)
        return self

    def define_metric(self, name, step_metric=None):
        self.calls.append((name, step_metric))

    def log(self, values):
        self.calls.append(values)

    def finish(self):
        self.calls.append("finish")


def test_wandb_with_its_package(monkeypatch):
    wandb = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    callback = WandbCallback(project="p", mode="offline", tags=["t"])
    assert wandb.calls[0]["project"] == "p" and wandb.calls[0]["mode"] == "offline" and wandb.calls[0]["tags"] == ["t"]
    fit(callback, epochs=1)
    assert wandb.calls[1:5] == [("train/step", None), ("train/*", "train/step"), ("epoch", None), ("eval/*", "epoch")]
    logged = wandb.calls[5:-1]
    assert [sorted(c) for c in logged] == [["train/acc", "train/loss", "train/step"]] * 2 + [
        ["epoch", "eval/acc", "eval/loss"]
    ]
    assert [c["train/step"] for c in logged[:2]] == [1, 2] and wandb.calls[-1] == "finish"
    wandb.run = wandb
    with pytest.warns(UserWarning, match="in progress"):
        WandbCallback()


def test_only_the_first_process_writes(tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    fit(TensorBoard(str(tmp_path / "a")))
    fit(VisualDL(str(tmp_path / "b")))
    assert not list(tmp_path.iterdir())
