import warnings

import numpy as np
import pytest

import paddle
from paddle.callbacks import Callback, EarlyStopping, LRScheduler, ModelCheckpoint, ProgBarLogger, ReduceLROnPlateau
from paddle.hapi.callbacks import config_callbacks


class Fake:
    """A model whose savings are written down."""

    def __init__(self, rate=1.0):
        self.stop_training, self.saved = False, []
        p = paddle.create_parameter([1], "float32")
        self._optimizer = paddle.optimizer.SGD(rate, parameters=[p])

    def save(self, path):
        self.saved.append(path)


def watch(callback, values, name="loss"):
    """Evaluations with `values`, until training is stopped; how many there were."""
    model = Fake()
    callback.set_model(model)
    callback.on_train_begin()
    for n, v in enumerate(values, 1):
        callback.on_eval_end({name: v})
        if model.stop_training:
            return n
    return None


# what upstream 3.3.1 does on the same values
@pytest.mark.parametrize(
    "arguments, values, stopped",
    [
        ({}, [[1.0], [0.5]], 1),
        ({"patience": 1}, [[1.0], [0.5], [0.6], [0.7]], 3),
        ({"patience": 1, "min_delta": 0.1}, [1.0, 0.95, 0.94], 2),
        ({"patience": 1, "mode": "max"}, [0.5, 0.4], 2),
        ({"patience": 1, "baseline": 1.0}, [2.0, 0.5], 1),
        ({"patience": 2}, [1.0, 0.9, 0.8], None),
    ],
)
def test_early_stopping(arguments, values, stopped, capsys):
    assert watch(EarlyStopping(**arguments), values) == stopped
    assert ("stopped" in capsys.readouterr().out) == (stopped is not None)


def test_early_stopping_goes_up_for_accuracy():
    assert watch(EarlyStopping("acc", patience=2, verbose=0), [0.5, 0.6, 0.4, 0.3], "acc") == 4


def test_early_stopping_saves_the_best(tmp_path):
    callback = EarlyStopping(patience=5)
    callback.save_dir = str(tmp_path)
    watch(callback, [1.0, 0.5, 0.7])
    assert len(callback.model.saved) == 2 and callback.model.saved[0].endswith("best_model")


def test_unknown_names_warn():
    with pytest.warns(UserWarning, match="no 'nope'"):
        watch(EarlyStopping("nope"), [1.0])
    with pytest.warns(UserWarning, match="mode 'x'"):
        EarlyStopping(mode="x")


@pytest.mark.parametrize(
    "arguments, count, rates",
    [
        ({"patience": 2}, 5, [1, 1, 0.1, 0.1, 0.01]),
        ({"patience": 1, "cooldown": 2, "factor": 0.5}, 6, [1, 0.5, 0.5, 0.25, 0.25, 0.125]),
        ({"patience": 1, "min_lr": 0.05}, 4, [1, 0.1, 0.05, 0.05]),
    ],
)
def test_reduce_on_plateau(arguments, count, rates):
    callback, model = ReduceLROnPlateau(verbose=0, **arguments), Fake()
    callback.set_model(model)
    callback.on_train_begin()
    found = []
    for _ in range(count):
        callback.on_eval_end({"loss": [1.0]})
        found.append(model._optimizer.get_lr())
    np.testing.assert_allclose(found, rates)


def test_reduce_on_plateau_rejects_a_factor_that_does_not_lower():
    with pytest.raises(ValueError, match="factor"):
        ReduceLROnPlateau(factor=1.0)


def test_schedule_by_step_or_by_epoch():
    with pytest.raises(ValueError, match="exclude"):
        LRScheduler(True, True)
    for callback, rate in ((LRScheduler(), 0.25), (LRScheduler(False, True), 0.5)):
        model = Fake(paddle.optimizer.lr.ExponentialDecay(1.0, 0.5))
        callback.set_model(model)
        callback.on_train_batch_end(0)
        callback.on_train_batch_end(1)
        callback.on_epoch_end(0)
        assert model._optimizer.get_lr() == rate


def test_checkpoints(tmp_path):
    callback = ModelCheckpoint(2, str(tmp_path))
    callback.set_model(Fake())
    for epoch in range(4):
        callback.on_epoch_end(epoch)
    callback.on_train_end()
    assert [p.rsplit("/", 1)[1] for p in callback.model.saved] == ["0", "2", "final"]


def test_defaults_stand_back_for_the_users():
    mine = [ProgBarLogger(3), LRScheduler(False, True), ModelCheckpoint(1, None)]
    assert list(config_callbacks(mine)) == mine
    kinds = [type(c) for c in config_callbacks(EarlyStopping(), verbose=2)]
    assert kinds == [ProgBarLogger, EarlyStopping, ModelCheckpoint, LRScheduler]


def test_a_callback_may_be_anything_with_the_methods():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = []

        class Mine(Callback):
            def on_epoch_end(self, epoch, logs=None):
                seen.append(epoch)

        config_callbacks([Mine()], verbose=0).on_epoch_end(3, {})
    assert seen == [3] and Callback().model is None
