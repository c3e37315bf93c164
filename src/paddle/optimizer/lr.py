"""Learning rate schedules. A schedule is called for the rate and stepped by the user, per batch or per epoch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..tensor.tensor import Tensor

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]

_COMMON = """
        last_epoch (int): where to go on from; -1 for the start. Default: -1.
        verbose (bool): prints every change. Default: False.
"""


def _documented(cls: type) -> type:
    """Adds the arguments that all schedules have to the docstring."""
    cls.__doc__ = (cls.__doc__ or "").rstrip() + _COMMON
    return cls


def _check(ok: bool, kind: type[Exception], fact: str, received: Any = None) -> None:
    if not ok:
        word = "InvalidType" if kind is TypeError else "InvalidArgument"
        raise kind(errors.message(word, fact, "", "" if received is None else repr(received)))


class LRScheduler:
    """Base of schedules. A subclass writes `get_lr`, which reads `base_lr`, `last_epoch` and `last_lr`.

    Args:
        learning_rate (float): the first rate. Default: 0.1.
        last_epoch (int): where to go on from; -1 for the start. Default: -1.
        verbose (bool): prints every change. Default: False.

    Attributes:
        last_epoch (int): steps made. last_lr (float): the rate now.

    Examples:
        >>> rate = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.1)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(rate(), 3))
        ...     rate.step()
        >>> rates
        [0.5, 0.5, 0.05]
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(learning_rate, (float, int)):
            raise errors.invalid_type(
                f"{type(self).__name__}: learning_rate is of the wrong type.",
                expected="a float",
                received=type(learning_rate).__name__,
            )
        if learning_rate < 0:
            raise errors.invalid_argument(
                f"{type(self).__name__}: learning_rate is negative.", expected=">= 0", received=f"{learning_rate}"
            )
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._var_name: str | None = None
        self.step()

    def __call__(self) -> float:
        """The rate now."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next rate.

        Args:
            epoch (int, optional): goes there instead of one further.
        """
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            self.last_lr = self.get_lr() if closed is None else closed()
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The rate of the epoch `last_epoch`."""
        raise NotImplementedError(f"{type(self).__name__}: write get_lr in the subclass.")

    def state_keys(self) -> None:
        """Sets `keys`: the attributes that state_dict holds."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """What the schedule goes on from."""
        self.state_keys()
        out: dict[str, Any] = {}
        for key in self.keys:
            if key in self.__dict__:
                value = self.__dict__[key]
                if isinstance(value, (Tensor, np.ndarray)):
                    value = float(value.item())
                out[key] = value
        return out

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from what state_dict gave.

        Raises:
            RuntimeError: an entry is missing.
        """
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise errors.precondition(
                    f"{type(self).__name__}.set_state_dict: {key} is missing.",
                    expected=f"entries {self.keys}",
                    received=f"{list(state_dict)}",
                )
        for key in self.keys:
            self.__dict__[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            warnings.warn("There are some unused values in state_dict. Maybe the optimizer have different "
                          "'LearningRateDecay' when invoking state_dict and set_dict", stacklevel=2)  # fmt: skip

    set_dict = set_state_dict


@_documented
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
        _check(d_model > 0, ValueError, "NoamDecay: d_model is not positive.", d_model)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        return self.base_lr * self.d_model**-0.5 * min(1.0 if n == 0 else n**-0.5, self.warmup_steps**-1.5 * n)


@_documented
class PiecewiseDecay(LRScheduler):
    """One rate per stretch.

    Args:
        boundaries (list[int]): the epochs at which the rate changes.
        values (list[float]): the rates, one more.
    """

    def __init__(self, boundaries: Any, values: Any, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(len(boundaries) > 0, ValueError, "PiecewiseDecay: boundaries is empty.")
        _check(len(values) > len(boundaries), ValueError, "PiecewiseDecay: there are too few values.", values)
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for b, v in zip(self.boundaries, self.values):
            if self.last_epoch < b:
                return v
        return self.values[len(self.values) - 1]


@_documented
class NaturalExpDecay(LRScheduler):
    r""":math:`\eta e^{-\gamma n}`.

    Args:
        learning_rate (float): the first rate.
        gamma (float): positive.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(gamma > 0.0, AssertionError, "NaturalExpDecay: gamma is not positive.", gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


@_documented
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


@_documented
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
        _check(
            isinstance(decay_steps, int) and decay_steps > 0,
            AssertionError,
            "PolynomialDecay: decay_steps is not a positive int.",
            decay_steps,
        )
        _check(power > 0.0, AssertionError, "PolynomialDecay: power is not positive.", power)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n, total = self.last_epoch, self.decay_steps
        if self.cycle:
            total *= max(math.ceil(n / float(total)), 1)
        else:
            n = min(n, total)
        return (self.base_lr - self.end_lr) * ((1 - float(n) / float(total)) ** self.power) + self.end_lr


@_documented
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
        _check(
            isinstance(learning_rate, (float, int, LRScheduler)),
            TypeError,
            "LinearWarmup: learning_rate is of the wrong type.",
            learning_rate,
        )
        _check(
            isinstance(warmup_steps, int) and warmup_steps > 0,
            AssertionError,
            "LinearWarmup: warmup_steps is not a positive int.",
            warmup_steps,
        )
        _check(end_lr > start_lr, AssertionError, "LinearWarmup: end_lr is not above start_lr.", (start_lr, end_lr))
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


@_documented
class ExponentialDecay(LRScheduler):
    r""":math:`\eta \gamma^n`.

    Args:
        learning_rate (float): the first rate.
        gamma (float): within (0, 1).
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(0.0 < gamma < 1.0, AssertionError, "ExponentialDecay: gamma is not within (0, 1).", gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma**self.last_epoch)


@_documented
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
        _check(
            isinstance(milestones, (tuple, list)), TypeError, "MultiStepDecay: milestones is not a list.", milestones
        )
        _check(
            all(a < b for a, b in zip(milestones, milestones[1:])),
            ValueError,
            "MultiStepDecay: milestones do not increase.",
            milestones,
        )
        _check(gamma < 1.0, ValueError, "MultiStepDecay: gamma is not below 1.", gamma)
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        for i, m in enumerate(self.milestones):
            if self.last_epoch < m:
                return self.base_lr * (self.gamma**i)
        return self.base_lr * (self.gamma ** len(self.milestones))


@_documented
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
        _check(isinstance(step_size, int), TypeError, "StepDecay: step_size is not an int.", step_size)
        _check(gamma < 1.0, ValueError, "StepDecay: gamma is not below 1.", gamma)
        _check(step_size > 0, AssertionError, "StepDecay: step_size is not positive.", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


@_documented
class LambdaDecay(LRScheduler):
    """The first rate times a function of the epoch.

    Args:
        learning_rate (float): the first rate.
        lr_lambda (Callable[[int], float]): the factor.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(callable(lr_lambda), TypeError, "LambdaDecay: lr_lambda is not a function.", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


@_documented
class MultiplicativeDecay(LRScheduler):
    """Multiplied, every epoch, by a function of the epoch.

    Args:
        learning_rate (float): the first rate.
        lr_lambda (Callable[[int], float]): the factor.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(callable(lr_lambda), TypeError, "MultiplicativeDecay: lr_lambda is not a function.", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate = self.base_lr
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate


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
        _check(mode in ("min", "max"), ValueError, "ReduceOnPlateau: mode is not min or max.", mode)
        _check(factor < 1.0, ValueError, "ReduceOnPlateau: factor is not below 1.", factor)
        _check(
            threshold_mode in ("rel", "abs"),
            ValueError,
            "ReduceOnPlateau: threshold_mode is not known.",
            threshold_mode,
        )
        _check(
            isinstance(learning_rate, (float, int)),
            TypeError,
            "ReduceOnPlateau: learning_rate is of the wrong type.",
            learning_rate,
        )
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
            _check(size == 1, AssertionError, "ReduceOnPlateau.step: metrics is not one number.", list(metrics.shape))
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


@_documented
class CosineAnnealingDecay(LRScheduler):
    r"""Half a cosine from the first rate to eta_min and back:
    :math:`\eta_{min} + (\eta - \eta_{min})(1 + \cos(\pi n/T))/2`.

    Source: Loshchilov and Hutter 2016, arXiv:1608.03983.

    Args:
        learning_rate (float): the first rate.
        T_max (float|int): T, half the period.
        eta_min (float): least rate. Default: 0.
    """

    def __init__(
        self, learning_rate: float, T_max: float, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(isinstance(T_max, (int, float)), TypeError, "CosineAnnealingDecay: T_max is not a number.", T_max)
        _check(isinstance(eta_min, (int, float)), TypeError, "CosineAnnealingDecay: eta_min is not a number.", eta_min)
        _check(T_max > 0, AssertionError, "CosineAnnealingDecay: T_max is not positive.", T_max)
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n, t = self.last_epoch, self.T_max
        if n == 0:
            return self.base_lr
        if (n - 1 - t) % (2 * t) == 0:
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / t)) / 2
        return (1 + math.cos(math.pi * n / t)) / (1 + math.cos(math.pi * (n - 1) / t)) * (
            self.last_lr - self.eta_min
        ) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


@_documented
class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the first rate to eta_min, again and again.

    Source: Loshchilov and Hutter 2016, arXiv:1608.03983.

    Args:
        learning_rate (float): the first rate.
        T_0 (int): length of the first one.
        T_mult (int): by what the length grows. Default: 1.
        eta_min (float): least rate. Default: 0.
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(
            isinstance(T_0, int) and T_0 > 0, ValueError, "CosineAnnealingWarmRestarts: T_0 is not a positive int.", T_0
        )
        _check(
            isinstance(T_mult, int) and T_mult >= 1,
            ValueError,
            "CosineAnnealingWarmRestarts: T_mult is not an int of at least 1.",
            T_mult,
        )
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min, self.T_cur = T_mult, float(eta_min), float(last_epoch)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            _check(epoch >= 0, ValueError, "CosineAnnealingWarmRestarts.step: epoch is negative.", epoch)
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, float(epoch)
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")


@_documented
class OneCycleLR(LRScheduler):
    """Up to a greatest rate, then down to a very small one.

    Source: Smith and Topin 2017, arXiv:1708.07120.

    Args:
        max_learning_rate (float): the greatest rate.
        total_steps (int): of the whole cycle.
        divide_factor (float): the first rate is the greatest divided by this. Default: 25.0.
        end_learning_rate (float): the last rate. Default: 0.0001.
        phase_pct (float): share of the way up. Default: 0.3.
        anneal_strategy (str): "cos" or "linear". Default: "cos".
        three_phase (bool): down to the first rate in as many steps as up, then to the last. Default: False.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        who = "OneCycleLR: "
        for name, value in (("max_learning_rate", max_learning_rate), ("end_learning_rate", end_learning_rate)):
            _check(isinstance(value, (float, int)), TypeError, f"{who}{name} is not a float.", value)
            _check(value >= 0, ValueError, f"{who}{name} is negative.", value)
        _check(isinstance(total_steps, int), TypeError, f"{who}total_steps is not an int.", total_steps)
        _check(total_steps > 0, ValueError, f"{who}total_steps is not positive.", total_steps)
        _check(isinstance(phase_pct, float), TypeError, f"{who}phase_pct is not a float.", phase_pct)
        _check(0 <= phase_pct <= 1, ValueError, f"{who}phase_pct is not within [0, 1].", phase_pct)
        _check(
            anneal_strategy in ("cos", "linear"),
            ValueError,
            f"{who}anneal_strategy is not cos or linear.",
            anneal_strategy,
        )
        first = max_learning_rate / float(divide_factor)
        if three_phase:
            _check(phase_pct < 0.5, ValueError, f"{who}phase_pct is not below 0.5.", phase_pct)
            up = phase_pct * total_steps
            self._step_config = [0, up - 1, 2 * up - 2, total_steps - 1, total_steps - 1]
            self._lr_config = [first, max_learning_rate, first, end_learning_rate]
        else:
            self._step_config = [0, phase_pct * total_steps - 1, total_steps - 1, total_steps - 1]
            self._lr_config = [first, max_learning_rate, end_learning_rate]
        self.total_steps, self.max_lr = total_steps, max_learning_rate
        self._cosine = anneal_strategy == "cos"
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        if n > self.total_steps:
            raise errors.invalid_argument(
                "OneCycleLR: there are no more steps.",
                expected=f"at most {self.total_steps} steps",
                received=f"step {n}",
            )
        steps, rates = self._step_config, self._lr_config
        for i in range(len(rates) - 1):
            if n <= steps[i + 1] or i == len(rates) - 2:
                share = (n - steps[i]) / (steps[i + 1] - steps[i])
                a, b = rates[i], rates[i + 1]
                if self._cosine:
                    return b + (a - b) / 2.0 * (math.cos(math.pi * share) + 1)
                return (b - a) * share + a
        raise AssertionError(f"{n} is in none of {steps}")


@_documented
class CyclicLR(LRScheduler):
    """Up and down between two rates.

    Source: Smith 2015, arXiv:1506.01186.

    Args:
        base_learning_rate (float): the lower rate.
        max_learning_rate (float): the upper rate.
        step_size_up (int): steps of the way up.
        step_size_down (int, optional): steps of the way down; as many by default.
        mode (str): "triangular", "triangular2" (halved every cycle) or "exp_range". Default: "triangular".
        exp_gamma (float): of exp_range. Default: 1.0.
        scale_fn (Callable[[float], float], optional): scales the height, instead of mode.
        scale_mode (str): what scale_fn gets: "cycle" or "iterations". Default: "cycle".
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        who = "CyclicLR: "
        _check(
            isinstance(max_learning_rate, (float, int)), TypeError, f"{who}max_learning_rate is not a float.",
            max_learning_rate,
        )  # fmt: skip
        _check(max_learning_rate >= 0, ValueError, f"{who}max_learning_rate is negative.", max_learning_rate)
        _check(isinstance(step_size_up, int), TypeError, f"{who}step_size_up is not an int.", step_size_up)
        _check(step_size_up > 0, ValueError, f"{who}step_size_up is not positive.", step_size_up)
        if step_size_down is not None:
            _check(isinstance(step_size_down, int), TypeError, f"{who}step_size_down is not an int.", step_size_down)
            _check(step_size_down > 0, ValueError, f"{who}step_size_down is not positive.", step_size_down)
        _check(isinstance(exp_gamma, (float, int)), TypeError, f"{who}exp_gamma is not a float.", exp_gamma)
        _check(mode in ("triangular", "triangular2", "exp_range"), ValueError, f"{who}mode is not known.", mode)
        _check(scale_mode in ("cycle", "iterations"), ValueError, f"{who}scale_mode is not known.", scale_mode)
        self.max_lr, self.exp_gamma = float(max_learning_rate), exp_gamma
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.cycle_size = up + down
        self.step_up_pct = up / self.cycle_size
        if scale_fn is not None:
            self.scale_fn, self.scale_mode = scale_fn, scale_mode
        elif mode == "triangular":
            self.scale_fn, self.scale_mode = (lambda x: 1.0), "cycle"
        elif mode == "triangular2":
            self.scale_fn, self.scale_mode = (lambda x: 1 / (2.0 ** (x - 1))), "cycle"
        else:
            self.scale_fn, self.scale_mode = (lambda x: self.exp_gamma**x), "iterations"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        cycle = 1 + n // self.cycle_size
        share = 1.0 + n / self.cycle_size - cycle
        if share <= self.step_up_pct:
            height = share / self.step_up_pct
        else:
            height = (1 - share) / (1 - self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else n)
        return self.base_lr + (self.max_lr - self.base_lr) * height * scale


@_documented
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
        _check(0 < start_factor <= 1.0, ValueError, "LinearLR: start_factor is not within (0, 1].", start_factor)
        _check(0 <= end_factor <= 1.0, ValueError, "LinearLR: end_factor is not within [0, 1].", end_factor)
        _check(total_steps > 0, ValueError, "LinearLR: total_steps is not positive.", total_steps)
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        a, b, total = self.start_factor, self.end_factor, self.total_steps
        if self.last_epoch == 0:
            return self.base_lr * a
        if self.last_epoch > total:
            return self.last_lr
        return self.last_lr * (1.0 + (b - a) / (total * a + (self.last_epoch - 1) * (b - a)))
