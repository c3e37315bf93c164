"""Callbacks that write down how a training went: for TensorBoard, VisualDL, Weights & Biases."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..engine import errors
from .callback import Callback

__all__ = ["TensorBoard", "VisualDL", "WandbCallback"]


class _Tracker(Callback):
    """Hands loss and metrics of the first process on to `_write`.

    As upstream, training steps are counted from 1 through all epochs, and evaluations bear the number of their epoch,
    from 0.
    """

    def __init__(self) -> None:
        super().__init__()
        from ..distributed.parallel import ParallelEnv

        self.first = ParallelEnv().local_rank == 0
        self.train_step = self.epoch = 0
        self.fitting = False

    def _write(self, mode: str, step: int, values: dict[str, float]) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError

    def _pass_on(self, mode: str, step: int, names: Any, logs: Any) -> None:
        if self.first:
            found = {n: np.ravel(logs[n]) for n in names if logs and n in logs}
            self._write(mode, step, {n: float(v[0]) for n, v in found.items() if v.size})

    def _place_of_evaluation(self) -> int:
        return self.epoch

    def on_train_begin(self, logs: Any = None) -> None:
        self.fitting, self.train_step = True, 0

    def state_dict(self) -> dict[str, Any]:
        return {"train_step": self.train_step}

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = epoch
        if not self.train_step:  # a training that goes on somewhere in the middle
            self.train_step = epoch * (self.params.get("steps") or 0)

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        self.train_step += 1
        self._pass_on("train", self.train_step, self.params.get("metrics", []), logs)

    def on_eval_begin(self, logs: Any = None) -> None:
        self.eval_metrics = (logs or {}).get("metrics") or self.params.get("metrics", [])

    def on_eval_end(self, logs: Any = None) -> None:
        self._pass_on("eval", self._place_of_evaluation(), self.eval_metrics, logs)
        if not self.fitting and self.first:
            self._end()

    def on_train_end(self, logs: Any = None) -> None:
        self.fitting = False
        if self.first:
            self._end()


class TensorBoard(_Tracker):
    """Writes loss, metrics and learning rate for TensorBoard. Needs no package; TensorBoard shows what it wrote.

    Steps are counted from 1 through all epochs; an evaluation stands at the step before it.

    Args:
        log_dir (str): Folder; a file is added to it. Show it with `tensorboard --logdir <log_dir>`.
        log_freq (int): Steps between two values. Each has to wait for the step it belongs to. Default: 10.

    Raises:
        ValueError: log_freq is below 1.

    Examples:
        >>> callback = paddle.callbacks.TensorBoard("runs/first")
    """

    def __init__(self, log_dir: str, log_freq: int = 10):
        super().__init__()
        if log_freq < 1:
            raise errors.invalid_argument(
                "TensorBoard: log_freq is below 1.", received=str(log_freq), expected="log_freq >= 1"
            )
        self.log_dir, self.log_freq = log_dir, log_freq
        self.writer: Any = None

    def _open(self) -> Any:
        from ..utils.events import EventWriter

        return EventWriter(self.log_dir)

    def _place_of_evaluation(self) -> int:
        return self.train_step

    def _write(self, mode: str, step: int, values: dict[str, float]) -> None:
        if self.writer is None:
            self.writer = self._open()
        for name, value in values.items():
            self.writer.add_scalar(f"{mode}/{name}", value, step)

    def _end(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        if (self.train_step + 1) % self.log_freq:
            self.train_step += 1
            return
        super().on_train_batch_end(step, logs)
        optimizer = getattr(self.model, "_optimizer", None)
        if self.first and optimizer is not None:
            self._write("train", self.train_step, {"learning_rate": float(optimizer.get_lr())})


class VisualDL(_Tracker):
    """Writes loss and metrics for VisualDL, or for TensorBoard where the package `visualdl` is not installed.

    Args:
        log_dir (str): Folder of the log.

    Examples:
        >>> callback = paddle.callbacks.VisualDL("runs/first")
    """

    def __init__(self, log_dir: str):
        super().__init__()
        self.log_dir = log_dir
        self.writer: Any = None

    def _open(self) -> Any:
        try:
            from visualdl import LogWriter
        except ImportError as e:
            if e.name != "visualdl":  # it is there and lacks something
                raise
            from ..utils.events import EventWriter

            warnings.warn(
                f"VisualDL: the package visualdl is not installed. {self.log_dir} is written for TensorBoard.",
                stacklevel=2,
            )
            return EventWriter(self.log_dir)
        return LogWriter(self.log_dir)

    def _write(self, mode: str, step: int, values: dict[str, float]) -> None:
        if self.writer is None:
            self.writer = self._open()
        for name, value in values.items():
            self.writer.add_scalar(tag=f"{mode}/{name}", step=step, value=value)

    def _end(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None


class WandbCallback(_Tracker):
    """Sends loss and metrics to Weights & Biases. Needs the package `wandb`.

    Args:
        project (str, optional): As in `wandb.init`, like all that follow.
        entity (str, optional): User or team.
        name (str, optional): Of the run.
        dir (str, optional): Folder of the local files.
        mode (str, optional): "online", "offline" or "disabled".
        job_type (str, optional): Groups runs.
        **kwargs: Further arguments of `wandb.init`.

    Raises:
        ImportError: The package is not installed.
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        try:
            import wandb
        except ImportError as e:
            if e.name != "wandb":
                raise
            raise ImportError("WandbCallback needs the package wandb: pip install wandb") from None
        self.wandb = wandb
        self.wandb_args = {
            "project": project, "entity": entity, "name": name, "dir": dir, "mode": mode, "job_type": job_type, **kwargs
        }  # fmt: skip
        self._run: Any = None
        _ = self.run

    @property
    def run(self) -> Any:
        """The run, begun if there is none; None in all processes but the first."""
        if self._run is None and self.first:
            if self.wandb.run is not None:
                warnings.warn(
                    "WandbCallback: the run that is in progress goes on; wandb.finish() ends it.", stacklevel=2
                )
                self._run = self.wandb.run
            else:
                self._run = self.wandb.init(**self.wandb_args)
        return self._run

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        if self.first:
            self.run.define_metric("train/step")
            self.run.define_metric("train/*", step_metric="train/step")
            self.run.define_metric("epoch")
            self.run.define_metric("eval/*", step_metric="epoch")

    def _write(self, mode: str, step: int, values: dict[str, float]) -> None:
        axis = "train/step" if mode == "train" else "epoch"
        self.run.log({axis: step, **{f"{mode}/{name}": value for name, value in values.items()}})

    def _end(self) -> None:
        if self._run is not None:
            self._run.finish()
            self._run = None
