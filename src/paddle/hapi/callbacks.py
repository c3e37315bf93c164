"""Callbacks of `paddle.Model`: what happens besides training, at its events."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..engine import errors
from .callback import Callback
from .progressbar import ProgressBar
from .trackers import TensorBoard, VisualDL, WandbCallback

__all__ = [
    "Callback",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "TensorBoard",
    "VisualDL",
    "WandbCallback",
]


class CallbackList:
    """Calls several callbacks in order."""

    def __init__(self, callbacks: Iterable[Callback]):
        self.callbacks = list(callbacks)

    def __iter__(self) -> Any:
        return iter(self.callbacks)

    def set_params(self, params: dict[str, Any]) -> None:
        for c in self.callbacks:
            c.set_params(params)

    def set_model(self, model: Any) -> None:
        for c in self.callbacks:
            c.set_model(model)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("on_"):
            raise AttributeError(name)

        def call(*args: Any) -> None:
            for c in self.callbacks:
                method = getattr(c, name, None)
                if method is not None:
                    method(*args)

        return call

    def begin(self, mode: str, logs: Any = None) -> None:
        getattr(self, f"on_{mode}_begin")(logs)

    def end(self, mode: str, logs: Any = None) -> None:
        getattr(self, f"on_{mode}_end")(logs)

    def batch_begin(self, mode: str, step: int, logs: Any) -> None:
        getattr(self, f"on_{mode}_batch_begin")(step, logs)

    def batch_end(self, mode: str, step: int, logs: Any) -> None:
        getattr(self, f"on_{mode}_batch_end")(step, logs)


def config_callbacks(
    callbacks: Any = None,
    model: Any = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    log_freq: int = 2,
    verbose: int = 2,
    save_freq: int = 1,
    save_dir: str | None = None,
    metrics: Any = None,
    mode: str = "train",
) -> CallbackList:
    """The callbacks of a run: the user's, and those that are always there unless the user brought their kind."""
    given = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
    if not any(isinstance(c, ProgBarLogger) for c in given) and verbose:
        given = [ProgBarLogger(log_freq, verbose), *given]
    if not any(isinstance(c, ModelCheckpoint) for c in given):
        given.append(ModelCheckpoint(save_freq, save_dir))
    for c in given:
        if isinstance(c, EarlyStopping):
            c.save_dir = save_dir
    if mode == "train" and not any(isinstance(c, LRScheduler) for c in given):
        given.append(LRScheduler())
    found = CallbackList(given)
    found.set_model(model)
    found.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps,
            "verbose": verbose,
            "metrics": metrics or [],
        }
    )
    return found


class ProgBarLogger(Callback):
    """Shows progress, loss and metrics.

    Args:
        log_freq (int): Steps between two lines; a bar is drawn as often as the eye can follow. Default: 1.
        verbose (int): 0 nothing, 1 a bar, 2 lines, 3 lines with the time spent on reading data. Default: 2.

    Examples:
        >>> callback = paddle.callbacks.ProgBarLogger(log_freq=10, verbose=2)
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2):
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self.epochs: int | None = None
        self.steps: int | None = None

    def _begin(self, title: str, steps: int | None) -> None:
        self.steps, self.seen = steps, 0
        self.reading_s, self.asked_at = 0.0, time.perf_counter()
        self.bar = ProgressBar(steps, title, live=None if self.verbose == 1 else False)

    def _batch_begin(self) -> None:
        self.reading_s += time.perf_counter() - self.asked_at

    def _batch_end(self, step: int, logs: Any) -> None:
        done = step + 1
        self.seen += logs.get("batch_size", 0) if logs else 0
        due = self.bar.wants(done)
        if self.verbose != 1:
            due = done % self.log_freq == 0 and done != self.steps
        if self.verbose and due:
            self.bar.update(done, self._values(logs, done))
        self.asked_at = time.perf_counter()

    def _end(self, logs: Any) -> None:
        if self.verbose:
            done = logs.get("step", -1) + 1 if logs else 0
            self.bar.finish(done, self._values(logs, done))

    def _values(self, logs: Any, done: int) -> dict[str, Any]:
        names = [n for n in self.params.get("metrics", []) if logs and n in logs]
        values = {n: logs[n] for n in names}
        if self.verbose == 3 and done:
            spent = time.perf_counter() - self.bar.start
            values["reading"] = f"{self.reading_s / done * 1e3:.3g} ms/step"
            values["speed"] = f"{self.seen / spent:.4g} samples/s"
        return values

    def on_train_begin(self, logs: Any = None) -> None:
        self.epochs = self.params.get("epochs")

    def on_epoch_begin(self, epoch: int | None = None, logs: Any = None) -> None:
        self._begin(f"epoch {(epoch or 0) + 1}/{self.epochs}", self.params.get("steps"))

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        self._batch_begin()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        self._batch_end(step, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._end(logs)

    def on_eval_begin(self, logs: Any = None) -> None:
        self.outer = getattr(self, "bar", None)
        self._begin("evaluate", (logs or {}).get("steps"))

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        self._batch_begin()

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        self._batch_end(step, logs)

    def on_eval_end(self, logs: Any = None) -> None:
        self._end(logs)

    def on_predict_begin(self, logs: Any = None) -> None:
        self._begin("predict", (logs or {}).get("steps"))

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        self._batch_begin()

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        self._batch_end(step, logs)

    def on_predict_end(self, logs: Any = None) -> None:
        self._end(logs)


class ModelCheckpoint(Callback):
    """Saves the model after epochs, as `<save_dir>/<epoch>`, and at the end, as `<save_dir>/final`.

    Args:
        save_freq (int): Epochs between two. Default: 1.
        save_dir (str, optional): Folder; None saves nothing.

    Examples:
        >>> callback = paddle.callbacks.ModelCheckpoint(save_freq=1, save_dir="checkpoints")
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None):
        super().__init__()
        self.save_freq, self.save_dir = save_freq, save_dir

    def _save(self, name: str) -> None:
        from ..distributed.parallel import ParallelEnv

        if self.save_dir and ParallelEnv().local_rank == 0:
            self.model.save(os.path.join(os.path.abspath(self.save_dir), name))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Any = None) -> None:
        self._save("final")


class LRScheduler(Callback):
    """Moves the optimizer's learning rate schedule on.

    Args:
        by_step (bool): After each step. Default: True.
        by_epoch (bool): After each epoch. Default: False.

    Raises:
        ValueError: Both.

    Examples:
        >>> callback = paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False):
        super().__init__()
        if by_step and by_epoch:
            raise errors.invalid_argument(
                "LRScheduler: by_step and by_epoch exclude each other.",
                expected="one of them",
                received="by_step: True, by_epoch: True",
            )
        self.by_step, self.by_epoch = by_step, by_epoch

    def _step(self) -> None:
        schedule = getattr(getattr(self.model, "_optimizer", None), "_learning_rate", None)
        if hasattr(schedule, "step"):
            schedule.step()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        if self.by_step:
            self._step()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.by_epoch:
            self._step()


class _Watcher(Callback):
    """Watches a value from evaluation to evaluation.

    Attributes:
        monitor (str): its name. better: whether a value beats another.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__}: mode {mode!r} is unknown, auto is taken.", stacklevel=3)
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.upward = mode == "max" or (mode == "auto" and "acc" in monitor)

    def better(self, value: float, than: float) -> bool:
        return value - self.min_delta > than if self.upward else value + self.min_delta < than

    @property
    def worst(self) -> float:
        return -np.inf if self.upward else np.inf

    def value_in(self, logs: Any) -> float | None:
        """The watched value, or None with a warning."""
        if logs is None or self.monitor not in logs:
            warnings.warn(
                f"{type(self).__name__}: there is no {self.monitor!r}; monitor is the loss or a metric's name.",
                stacklevel=3,
            )
            return None
        return float(np.ravel(logs[self.monitor])[0])

    def say(self, text: str) -> None:
        print(text)


class EarlyStopping(_Watcher):
    """Stops training when evaluations no longer improve.

    Args:
        monitor (str): "loss" or the name of a metric. Default: "loss".
        mode (str): "min", "max", or "auto": up for names with "acc", else down. Default: "auto".
        patience (int): Evaluations without progress that are put up with. Default: 0.
        verbose (int): 0 says nothing. Default: 1.
        min_delta (float): What counts as progress. Default: 0.
        baseline (float, optional): The value to beat.
        save_best_model (bool): Save the best as `<save_dir>/best_model`, save_dir being that of `fit`. Default: True.

    Examples:
        >>> callback = paddle.callbacks.EarlyStopping("acc", patience=3)
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ):
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline, self.save_best_model = patience, verbose, baseline, save_best_model
        self.save_dir: str | None = None
        self.wait_epoch = self.stopped_epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait_epoch = self.stopped_epoch = 0
        self.best_value = self.worst if self.baseline is None else self.baseline

    def state_dict(self) -> dict[str, Any]:
        return {k: getattr(self, k) for k in ("wait_epoch", "stopped_epoch", "best_value")}

    def on_eval_end(self, logs: Any = None) -> None:
        value = self.value_in(logs)
        if value is None:
            return
        if self.better(value, self.best_value):
            self.best_value, self.wait_epoch = value, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        self.stopped_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose:
                self.say(f"epoch {self.stopped_epoch}: stopped, no progress of {self.monitor}")


class ReduceLROnPlateau(_Watcher):
    """Lowers the learning rate when evaluations no longer improve.

    Args:
        monitor (str): "loss" or the name of a metric. Default: "loss".
        factor (float): What the rate is multiplied with, below 1. Default: 0.1.
        patience (int): Evaluations without progress before it is lowered. Default: 10.
        verbose (int): 0 says nothing. Default: 1.
        mode (str): "min", "max" or "auto", see EarlyStopping. Default: "auto".
        min_delta (float): What counts as progress. Default: 1e-4.
        cooldown (int): Evaluations after lowering that do not count. Default: 0.
        min_lr (float): Lower bound of the rate. Default: 0.

    Raises:
        ValueError: factor is 1 or more.

    Examples:
        >>> callback = paddle.callbacks.ReduceLROnPlateau(patience=2)
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ):
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise errors.invalid_argument(
                "ReduceLROnPlateau: factor does not lower the rate.", expected="less than 1", received=str(factor)
            )
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = (
            factor,
            patience,
            verbose,
            cooldown,
            min_lr,
        )
        self._reset()

    def _reset(self) -> None:
        self.best, self.wait, self.cooldown_counter, self.epoch = self.worst, 0, 0, 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._reset()

    def state_dict(self) -> dict[str, Any]:
        return {k: getattr(self, k) for k in ("best", "wait", "cooldown_counter", "epoch")}

    def in_cooldown(self) -> bool:
        """Whether evaluations do not count yet."""
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: Any = None) -> None:
        value = self.value_in(logs)
        if value is None:
            return
        self.epoch += 1
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.better(value, self.best):
            self.best, self.wait = value, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower()

    def _lower(self) -> None:
        optimizer = self.model._optimizer
        if hasattr(optimizer._learning_rate, "step"):
            warnings.warn(
                "ReduceLROnPlateau: the optimizer has a schedule of its own, which stays in charge.", stacklevel=4
            )
            return
        old = float(optimizer.get_lr())
        if old <= self.min_lr:
            return
        new = max(old * self.factor, self.min_lr)
        optimizer.set_lr(new)
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose:
            self.say(f"epoch {self.epoch}: learning rate lowered to {new:g}")
