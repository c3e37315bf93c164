"""A schedule that follows a metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from .base import LRScheduler, require

__all__ = [
    "ReduceOnPlateau",
]


class ReduceOnPlateau(LRScheduler):
    """Multiplied by a factor when a metric has stopped getting better.

    Args:
        learning_rate (float): the first rate.
        mode (str): "min" if less is better, else "max". Default: "min".
        factor (float): below 1. Default: 0.1.
        patience (int): epochs without improvement that are borne. Default: 10.
        threshold (float): what counts as an improvement. Default: 1e-4.
        threshold_mode (str): "rel" or "abs". Default: "rel".
        cooldown (int): epochs after a change that do not count. Default: 0.
        min_lr (float): least rate. Default: 0.
        epsilon (float): least change. Default: 1e-8.
        verbose (bool): prints every change. Default: False.
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        require(mode in ("min", "max"), ValueError, self, "'min' or 'max'", mode=mode)
        require(factor < 1.0, ValueError, self, "factor < 1", factor=factor)
        require(threshold_mode in ("rel", "abs"), ValueError, self, "'rel' or 'abs'", threshold_mode=threshold_mode)
        require(isinstance(learning_rate, (float, int)), TypeError, self, "a float", learning_rate=learning_rate)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lr, self.epsilon, self.verbose = min_lr, epsilon, verbose
        self.cooldown_counter = self.num_bad_epochs = 0
        self.best: Any = None
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self._var_name = None

    def state_keys(self) -> None:
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the metric of an epoch.

        Args:
            metrics (float|Tensor|numpy.ndarray): one number.
            epoch (int, optional): which epoch it is.
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if isinstance(metrics, (Tensor, np.ndarray)):
            size = metrics.size
            require(size == 1, AssertionError, self, "one number", metrics=metrics)
            metrics = metrics.item()
        elif not isinstance(metrics, (int, float, np.floating, np.integer)):
            raise errors.invalid_type(
                "ReduceOnPlateau.step: metrics is of the wrong type.",
                expected="a number, a Tensor or an array of one",
                received=type(metrics).__name__,
            )
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metrics, self.best):
            self.best, self.num_bad_epochs = metrics, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            new = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - new > self.epsilon:
                self.last_lr = new
                if self.verbose:
                    print(f"Epoch {self.last_epoch}: ReduceOnPlateau set learning rate to {self.last_lr}.")

    def _is_better(self, current: float, best: float) -> bool:
        if self.mode == "min":
            return current < (best - best * self.threshold if self.threshold_mode == "rel" else best - self.threshold)
        return current > (best + best * self.threshold if self.threshold_mode == "rel" else best + self.threshold)
