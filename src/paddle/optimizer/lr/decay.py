"""Schedules that go one way: a formula of the epoch, or a function of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .base import LRScheduler, documented, require

__all__ = [
    "ExponentialDecay",
    "InverseTimeDecay",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "PiecewiseDecay",
    "PolynomialDecay",
    "StepDecay",
]


@documented
class NoamDecay(LRScheduler):
    r"""Linear warm up, then the inverse square root of the step: :math:`\eta\, d^{-1/2} \min(n^{-1/2}, n w^{-3/2})`.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 5.3.

    Args:
        d_model (int): d, width of the model.
        warmup_steps (int): w.
        learning_rate (float): a factor. Default: 1.0.
    """

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(d_model > 0, ValueError, self, "d_model > 0", d_model=d_model)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        return self.base_lr * self.d_model**-0.5 * min(1.0 if n == 0 else n**-0.5, self.warmup_steps**-1.5 * n)


@documented
class PiecewiseDecay(LRScheduler):
    """One rate per stretch.

    Args:
        boundaries (list[int]): the epochs at which the rate changes.
        values (list[float]): the rates, one more.
    """

    def __init__(self, boundaries: Any, values: Any, last_epoch: int = -1, verbose: bool = False) -> None:
        require(len(boundaries) > 0, ValueError, self, "at least one boundary", boundaries=boundaries)
        require(
            len(values) > len(boundaries),
            ValueError,
            self,
            f"{len(boundaries) + 1} values, one more than boundaries",
            values=values,
        )
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for b, v in zip(self.boundaries, self.values):
            if self.last_epoch < b:
                return v
        return self.values[len(self.values) - 1]


@documented
class NaturalExpDecay(LRScheduler):
    r""":math:`\eta e^{-\gamma n}`.

    Args:
        learning_rate (float): the first rate.
        gamma (float): positive.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require(gamma > 0.0, AssertionError, self, "gamma > 0", gamma=gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


@documented
class InverseTimeDecay(LRScheduler):
    r""":math:`\eta / (1 + \gamma n)`.

    Args:
        learning_rate (float): the first rate.
        gamma (float): how fast.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


@documented
class PolynomialDecay(LRScheduler):
    r""":math:`(\eta - \eta_{end}) (1 - n/N)^p + \eta_{end}`.

    Args:
        learning_rate (float): the first rate.
        decay_steps (int): N, positive.
        end_lr (float): the last rate. Default: 0.0001.
        power (float): p. Default: 1.0.
        cycle (bool): starts again, with a multiple of N, where N is passed. Default: False.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require(
            decay_steps > 0 and isinstance(decay_steps, int),
            AssertionError,
            self,
            "an int > 0",
            decay_steps=decay_steps,
        )
        require(power > 0.0, AssertionError, self, "power > 0", power=power)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n, total = self.last_epoch, self.decay_steps
        if self.cycle:
            total *= max(math.ceil(n / float(total)), 1)
        else:
            n = min(n, total)
        return (self.base_lr - self.end_lr) * ((1 - float(n) / float(total)) ** self.power) + self.end_lr


@documented
class LinearWarmup(LRScheduler):
    """A straight line from start_lr to end_lr, then a rate or another schedule.

    Args:
        learning_rate (float|LRScheduler): what follows.
        warmup_steps (int): length of the line.
        start_lr (float): the first rate.
        end_lr (float): the rate at the end of the line.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require(
            isinstance(learning_rate, (float, int, LRScheduler)),
            TypeError,
            self,
            "a float or an LRScheduler",
            learning_rate=learning_rate,
        )
        require(
            warmup_steps > 0 and isinstance(warmup_steps, int),
            AssertionError,
            self,
            "an int > 0",
            warmup_steps=warmup_steps,
        )
        require(end_lr > start_lr, AssertionError, self, f"end_lr > start_lr, which is {start_lr}", end_lr=end_lr)
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def state_dict(self) -> dict[str, Any]:
        out = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            out["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return out

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        inner = state_dict.get("LinearWarmup_LR")
        super().set_state_dict({k: v for k, v in state_dict.items() if k != "LinearWarmup_LR"})
        if isinstance(self.learning_rate, LRScheduler) and inner is not None:
            self.learning_rate.set_state_dict(inner)

    set_dict = set_state_dict

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate


@documented
class ExponentialDecay(LRScheduler):
    r""":math:`\eta \gamma^n`.

    Args:
        learning_rate (float): the first rate.
        gamma (float): within (0, 1).
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require(0.0 < gamma < 1.0, AssertionError, self, "0 < gamma < 1", gamma=gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma**self.last_epoch)


@documented
class MultiStepDecay(LRScheduler):
    """Multiplied by gamma at every milestone.

    Args:
        learning_rate (float): the first rate.
        milestones (list[int]): epochs, increasing.
        gamma (float): below 1. Default: 0.1.
    """

    def __init__(
        self, learning_rate: float, milestones: Any, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(isinstance(milestones, (tuple, list)), TypeError, self, "a list of int", milestones=milestones)
        increasing = all(a < b for a, b in zip(milestones, milestones[1:]))
        require(increasing, ValueError, self, "increasing numbers", milestones=milestones)
        require(gamma < 1.0, ValueError, self, "gamma < 1", gamma=gamma)
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        for i, m in enumerate(self.milestones):
            if self.last_epoch < m:
                return self.base_lr * (self.gamma**i)
        return self.base_lr * (self.gamma ** len(self.milestones))


@documented
class StepDecay(LRScheduler):
    """Multiplied by gamma every step_size epochs.

    Args:
        learning_rate (float): the first rate.
        step_size (int): epochs.
        gamma (float): below 1. Default: 0.1.
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(isinstance(step_size, int), TypeError, self, "an int", step_size=step_size)
        require(gamma < 1.0, ValueError, self, "gamma < 1", gamma=gamma)
        require(step_size > 0, AssertionError, self, "step_size > 0", step_size=step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


@documented
class LambdaDecay(LRScheduler):
    """The first rate times a function of the epoch.

    Args:
        learning_rate (float): the first rate.
        lr_lambda (Callable[[int], float]): the factor.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(callable(lr_lambda), TypeError, self, "a function of the epoch", lr_lambda=lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


@documented
class MultiplicativeDecay(LRScheduler):
    """Multiplied, every epoch, by a function of the epoch.

    Args:
        learning_rate (float): the first rate.
        lr_lambda (Callable[[int], float]): the factor.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(callable(lr_lambda), TypeError, self, "a function of the epoch", lr_lambda=lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate = self.base_lr
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate


@documented
class LinearLR(LRScheduler):
    """A straight line from start_factor to end_factor times the rate.

    Args:
        learning_rate (float): the rate.
        total_steps (int): length of the line.
        start_factor (float): within (0, 1]. Default: 1/3.
        end_factor (float): within [0, 1]. Default: 1.0.
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require(0 < start_factor <= 1.0, ValueError, self, "0 < start_factor <= 1", start_factor=start_factor)
        require(0 <= end_factor <= 1.0, ValueError, self, "0 <= end_factor <= 1", end_factor=end_factor)
        require(total_steps > 0, ValueError, self, "total_steps > 0", total_steps=total_steps)
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        a, b, total = self.start_factor, self.end_factor, self.total_steps
        if self.last_epoch == 0:
            return self.base_lr * a
        if self.last_epoch > total:
            return self.last_lr
        return self.last_lr * (1.0 + (b - a) / (total * a + (self.last_epoch - 1) * (b - a)))
