"""`Callback`, the base of all callbacks of `paddle.Model`."""

from __future__ import annotations

from typing import Any

__all__ = ["Callback"]


class Callback:
    """Base of callbacks; every method may be left out.

    Attributes:
        model (Model): whose callback it is.
        params (dict): batch_size, epochs, steps, verbose, metrics of the run.

    `logs` holds the names of the loss and the metrics with their values so far, `step` and `batch_size`. Loss and
    metrics are read from the device when they are asked for.

    Examples:
        >>> class Losses(paddle.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print(epoch, logs["loss"])
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Called before the run."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called before the run."""
        self.model = model

    def state_dict(self) -> dict[str, Any]:
        """What it has counted and a later process goes on from, by the names of its attributes; see `Model.save`.

        Returns:
            dict: numbers, strings, lists and dictionaries. Here there are none.
        """
        return {}

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Called after `on_train_begin` of a fit that goes on, with what `state_dict` gave; sets the attributes."""
        vars(self).update(state)

    def on_train_begin(self, logs: Any = None) -> None:
        """Before `Model.fit` begins."""

    def on_train_end(self, logs: Any = None) -> None:
        """After `Model.fit`."""

    def on_eval_begin(self, logs: Any = None) -> None:
        """Before an evaluation; logs has steps and metrics."""

    def on_eval_end(self, logs: Any = None) -> None:
        """After an evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before a prediction; logs has steps."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch, before its evaluation."""

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a training step, counted from 0 in each epoch."""

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """After a training step."""

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a step of evaluation."""

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """After a step of evaluation."""

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a step of prediction."""

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """After a step of prediction."""
