import json
import os

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.hapi.model import Logs
from paddle.static import InputSpec


class Points(paddle.io.Dataset):
    """Points in the plane; the label says on which side of a line."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.standard_normal((n, 2)).astype("float32")
        self.y = (self.x.sum(1, keepdims=True) > 0).astype("int64")

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


def prepared(metrics=None, rate=0.1, loss=None):
    paddle.seed(0)
    model = paddle.Model(nn.Linear(2, 2))
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    model.prepare(optimizer, loss or nn.CrossEntropyLoss(), metrics)
    return model


class Record(paddle.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.events = []


for _event in [n for n in dir(paddle.callbacks.Callback) if n.startswith("on_")]:
    setattr(
        Record,
        _event,
        lambda self, *a, _n=_event: self.events.append((_n, *[dict(v) if isinstance(v, dict) else v for v in a])),
    )  # noqa: E501


def test_learns():
    model = prepared(paddle.metric.Accuracy())
    model.fit(Points(256), batch_size=32, epochs=5, verbose=0)
    assert model.evaluate(Points(100, 1), batch_size=32, verbose=0)["acc"] > 0.95


def test_events_come_in_upstreams_order_with_their_logs():
    record = Record()
    model = prepared(paddle.metric.Accuracy())
    model.fit(Points(5), Points(3), batch_size=2, epochs=1, callbacks=[record], verbose=0)
    names = [e[0] for e in record.events]
    batch = ["on_train_batch_begin", "on_train_batch_end"]
    evaluation = ["on_eval_begin", *["on_eval_batch_begin", "on_eval_batch_end"] * 2, "on_eval_end"]
    assert names == ["on_train_begin", "on_epoch_begin", *batch * 3, "on_epoch_end", *evaluation, "on_train_end"]
    _, step, logs = record.events[7]
    assert (
        step == 2
        and logs["step"] == 2
        and logs["batch_size"] == 1
        and set(logs) == {"loss", "acc", "step", "batch_size"}
    )
    assert isinstance(logs["loss"], list) and isinstance(logs["loss"][0], float)
    assert record.events[names.index("on_eval_begin")][1] == {"steps": 2, "metrics": ["loss", "acc"]}
    assert record.params == {"batch_size": 2, "epochs": 1, "steps": 3, "verbose": 0, "metrics": ["loss", "acc"]}


def test_the_loss_is_not_read_until_somebody_looks(monkeypatch):
    model = prepared(paddle.metric.Accuracy())
    reads = []
    read = model._read
    monkeypatch.setattr(model, "_read", lambda losses: reads.append(1) or read(losses))
    model.fit(Points(64), batch_size=2, epochs=1, verbose=0)
    assert len(reads) == 1
    total = model._metrics[0].count[0]
    assert total == 64  # every batch counted all the same


def test_callbacks_see_the_same_as_when_read_at_every_step():
    class Look(paddle.callbacks.Callback):
        def __init__(self, every):
            super().__init__()
            self.every, self.seen = every, {}

        def on_train_batch_end(self, step, logs=None):
            if step % self.every == 0:
                self.seen[step] = (logs["loss"][0], float(logs["acc"]))

    looks = [Look(1), Look(7)]
    for look in looks:
        prepared(paddle.metric.Accuracy()).fit(
            Points(64), batch_size=2, epochs=1, verbose=0, shuffle=False, callbacks=look
        )
    assert all(looks[0].seen[s] == v for s, v in looks[1].seen.items()) and len(looks[1].seen) == 5


def test_logs_are_a_dict_to_everybody():
    logs = Logs()
    logs.promise(["loss"], lambda: {"loss": [0.5]})
    logs.update(step=3)
    assert logs["step"] == 3 and logs.later is not None and "loss" in logs
    for look in (dict, lambda d: {**d}, lambda d: d.copy(), lambda d: json.loads(json.dumps(d))):
        logs.promise(["loss"], lambda: {"loss": [0.5]})
        assert look(logs) == {"loss": [0.5], "step": 3}
    logs.promise(["loss"], lambda: {"loss": [0.25]})
    assert repr(logs) == "{'loss': [0.25], 'step': 3}" and logs.get("loss") == [0.25] and logs.get("x", 1) == 1


def test_batches_one_by_one():
    model = prepared(paddle.metric.Accuracy())
    x, y = np.ones((4, 2), "float32"), np.zeros((4, 1), "int64")
    losses, metrics = model.train_batch([x], [y])
    assert losses[0].shape == () and 0 <= metrics[0] <= 1
    before = model.network.weight.numpy()
    model.train_batch(x, y, update=False)
    np.testing.assert_array_equal(model.network.weight.numpy(), before)
    assert not np.array_equal(model.train_batch(x, y)[0][0], losses[0])
    assert model.eval_batch([paddle.to_tensor(x)], [paddle.to_tensor(y)])[0][0].dtype == np.float32
    assert model.predict_batch(x)[0].shape == (4, 2) and not model.network.training


def test_gradients_accumulate():
    x = Points(8)
    whole, parts = prepared(rate=0.1), prepared(rate=0.1)
    whole.prepare(paddle.optimizer.SGD(0.1, parameters=whole.parameters()), nn.CrossEntropyLoss())
    parts.prepare(paddle.optimizer.SGD(0.05, parameters=parts.parameters()), nn.CrossEntropyLoss())
    whole.fit(x, batch_size=8, verbose=0, shuffle=False)
    parts.fit(x, batch_size=4, verbose=0, shuffle=False, accumulate_grad_batches=2)
    np.testing.assert_allclose(whole.network.weight.numpy(), parts.network.weight.numpy(), rtol=1e-5)


@pytest.mark.parametrize("limit", [3, 7, 23])
def test_num_iters_takes_the_place_of_epochs(limit):
    record = Record()
    prepared().fit(Points(10), batch_size=2, epochs=2, num_iters=limit, verbose=0, callbacks=record)
    assert sum(e[0] == "on_train_batch_end" for e in record.events) == limit


def test_several_losses_add_up():
    model = prepared(loss=lambda out, y: [out.sum(), out.mean()])
    a, b = model.train_batch(np.ones((2, 2), "float32"), np.zeros((2, 1), "int64"))
    assert a == pytest.approx(4 * b, rel=1e-5)
    assert len(model.evaluate(Points(3), verbose=0)["loss"]) == 2


def test_predict_stacked_or_by_batch():
    model = prepared()
    (batches,) = model.predict(Points(5), batch_size=2, verbose=0)
    assert [b.shape for b in batches] == [(2, 2), (2, 2), (1, 2)]
    (whole,) = model.predict(Points(5), batch_size=2, stack_outputs=True, verbose=0)
    np.testing.assert_array_equal(whole, np.concatenate(batches))
    assert paddle.Model(nn.Linear(2, 2)).predict(Points(2), verbose=0)[0][0].shape == (1, 2)


def test_data_from_loaders_and_generators():
    model = prepared()
    model.fit(paddle.io.DataLoader(Points(4), batch_size=2), verbose=0)
    stream = [(np.ones((2, 2), "float32"), np.zeros((2, 1), "int64"))] * 3
    model.fit(iter(stream), verbose=0)
    with pytest.raises(TypeError):
        model.fit(3, verbose=0)


@pytest.mark.parametrize("verbose", [1, 2, 3])
def test_what_is_shown(verbose, capsys):
    model = prepared(paddle.metric.Accuracy())
    model.fit(Points(20), Points(4), batch_size=2, epochs=2, verbose=verbose, log_freq=4)
    text = capsys.readouterr().out
    assert "epoch 2/2" in text and "10/10" in text and "loss " in text and "acc " in text and "evaluate" in text
    assert ("samples/s" in text) == (verbose == 3)


def test_stops_when_told():
    class Stop(Record):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    record = Stop()
    prepared().fit(Points(4), epochs=5, verbose=0, callbacks=record)
    assert sum(e[0] == "on_epoch_begin" for e in record.events) == 2


def test_save_and_load_go_on_training_alike(tmp_path):
    path = str(tmp_path / "deep" / "model")
    model = prepared()
    model.fit(Points(8), batch_size=4, verbose=0, shuffle=False)
    model.save(path)
    assert sorted(os.listdir(tmp_path / "deep")) == ["model.pdopt", "model.pdparams"]
    weights = model.network.weight.numpy()
    model.fit(Points(8), batch_size=4, verbose=0, shuffle=False)
    expected = model.network.weight.numpy()
    model.load(path + ".pdparams")
    np.testing.assert_array_equal(model.network.weight.numpy(), weights)
    model.fit(Points(8), batch_size=4, verbose=0, shuffle=False)
    np.testing.assert_allclose(model.network.weight.numpy(), expected, rtol=1e-6)


def test_load_names_what_does_not_fit(tmp_path):
    path = str(tmp_path / "m")
    paddle.Model(nn.Linear(2, 2)).save(path)
    other = paddle.Model(nn.Linear(2, 3))
    with pytest.raises(ValueError, match=r"weight has shape \[2, 2\]"):
        other.load(path)
    with pytest.warns(UserWarning, match="stays as it is") as warned:
        other.load(path, skip_mismatch=True)
    assert len(warned) == 2
    with pytest.raises(ValueError, match="0.weight is not in the file"):
        paddle.Model(nn.Sequential(nn.Linear(2, 2))).load(path)
    with pytest.raises(AssertionError, match="nowhere"):
        other.load(str(tmp_path / "nowhere"))


def test_checkpoints_are_written_by_epoch(tmp_path):
    prepared().fit(Points(4), epochs=3, save_dir=str(tmp_path), save_freq=2, verbose=0)
    assert {f.split(".")[0] for f in os.listdir(tmp_path)} == {"0", "2", "final"}


def test_prepare_rejects():
    model = paddle.Model(nn.Linear(2, 2))
    with pytest.raises(AssertionError, match="prepare"):
        model.train_batch(np.ones((1, 2), "float32"), np.zeros((1, 1), "int64"))
    with pytest.raises(AssertionError, match="train_data"):
        model.fit()
    with pytest.raises(TypeError, match="loss"):
        model.prepare(loss=3)
    with pytest.raises(AssertionError, match="Metric"):
        model.prepare(metrics=3)
    with pytest.raises(ValueError, match="level"):
        model.prepare(amp_configs="O9")
    with pytest.raises(ValueError, match="unknown keys"):
        model.prepare(amp_configs={"level": "O1", "x": 1})
    with pytest.warns(UserWarning, match="no effect on the CPU"):
        model.prepare(amp_configs="O1")


def test_inputs_are_split_from_labels():
    class Two(nn.Layer):
        def forward(self, a, b):
            return a + b

    model = paddle.Model(Two())
    assert [o.tolist() for o in model.predict([(np.ones(1), np.ones(1), 3)], verbose=0)[0]] == [[2.0]]
    spec = InputSpec([None, 2], name="x")
    assert paddle.Model(nn.Linear(2, 2), spec)._inputs == [spec]
    with pytest.raises(ValueError, match="no name"):
        paddle.Model(nn.Linear(2, 2), InputSpec([None, 2]))
    with pytest.raises(AssertionError, match="InputSpec"):
        paddle.Model(nn.Linear(2, 2), 3)
    with pytest.raises(AttributeError):
        paddle.Model(3)


def test_summary_of_the_inputs(capsys):
    model = paddle.Model(nn.Linear(2, 3), InputSpec([None, 2], name="x"))
    assert model.summary() == {"total_params": 9, "trainable_params": 9}
    assert "Linear-1" in capsys.readouterr().out
