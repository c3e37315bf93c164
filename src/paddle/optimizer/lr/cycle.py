"""Schedules that go up and down."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...engine import errors
from .base import LRScheduler, documented, require

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "OneCycleLR",
]


@documented
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
        require(isinstance(T_max, (int, float)), TypeError, self, "a number", T_max=T_max)
        require(isinstance(eta_min, (int, float)), TypeError, self, "a number", eta_min=eta_min)
        require(T_max > 0, AssertionError, self, "T_max > 0", T_max=T_max)
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


@documented
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
        require(T_0 > 0 and isinstance(T_0, int), ValueError, self, "an int > 0", T_0=T_0)
        require(T_mult >= 1 and isinstance(T_mult, int), ValueError, self, "an int >= 1", T_mult=T_mult)
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
            require(epoch >= 0, ValueError, self, "epoch >= 0", epoch=epoch)
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


@documented
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
        for name, value in (("max_learning_rate", max_learning_rate), ("end_learning_rate", end_learning_rate)):
            require(isinstance(value, (float, int)), TypeError, self, "a float", **{name: value})
            require(value >= 0, ValueError, self, "a number >= 0", **{name: value})
        require(isinstance(total_steps, int), TypeError, self, "an int", total_steps=total_steps)
        require(total_steps > 0, ValueError, self, "total_steps > 0", total_steps=total_steps)
        require(isinstance(phase_pct, float), TypeError, self, "a float", phase_pct=phase_pct)
        require(0 <= phase_pct <= 1, ValueError, self, "0 <= phase_pct <= 1", phase_pct=phase_pct)
        known = anneal_strategy in ("cos", "linear")
        require(known, ValueError, self, "'cos' or 'linear'", anneal_strategy=anneal_strategy)
        first = max_learning_rate / float(divide_factor)
        if three_phase:
            require(phase_pct < 0.5, ValueError, self, "phase_pct < 0.5 with three_phase", phase_pct=phase_pct)
            up = phase_pct * total_steps
            self._step_config = [0, up - 1, 2 * up - 2, total_steps - 1, total_steps - 1]
            self._lr_config = [first, max_learning_rate, first, end_learning_rate]
        else:
            self._step_config = [0, phase_pct * total_steps - 1, total_steps - 1, total_steps - 1]
            self._lr_config = [first, max_learning_rate, end_learning_rate]
        self.total_steps, self.max_lr = total_steps, max_learning_rate
        self.anneal_func = _cosine if anneal_strategy == "cos" else _linear
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
        i = next((i for i in range(len(rates) - 2) if n <= steps[i + 1]), len(rates) - 2)
        share = (n - steps[i]) / (steps[i + 1] - steps[i])
        return self.anneal_func(rates[i], rates[i + 1], share)


def _cosine(a: float, b: float, share: float) -> float:
    return b + (a - b) / 2.0 * (math.cos(math.pi * share) + 1)


def _linear(a: float, b: float, share: float) -> float:
    return (b - a) * share + a


@documented
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
        rate = max_learning_rate
        require(isinstance(rate, (float, int)), TypeError, self, "a float", max_learning_rate=rate)
        require(rate >= 0, ValueError, self, "a number >= 0", max_learning_rate=rate)
        for name, steps in (("step_size_up", step_size_up), ("step_size_down", step_size_down)):
            if steps is not None or name == "step_size_up":
                require(isinstance(steps, int), TypeError, self, "an int", **{name: steps})
                require(steps > 0, ValueError, self, "an int > 0", **{name: steps})
        require(isinstance(exp_gamma, (float, int)), TypeError, self, "a float", exp_gamma=exp_gamma)
        modes = ("triangular", "triangular2", "exp_range")
        require(mode in modes, ValueError, self, f"one of {modes}", mode=mode)
        require(
            scale_mode in ("cycle", "iterations"), ValueError, self, "'cycle' or 'iterations'", scale_mode=scale_mode
        )
        base = base_learning_rate
        require(isinstance(base, (float, int)), TypeError, self, "a float", base_learning_rate=base)
        self.max_lr, self.gamma, self.mode = float(max_learning_rate), exp_gamma, mode
        self.amplitude = self.max_lr - base
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.cycle_size = up + down
        self.step_up_pct = up / self.cycle_size
        if scale_fn is not None:
            self.scale_fn, self.scale_mode = scale_fn, scale_mode
        elif mode == "triangular":
            self.scale_fn, self.scale_mode = _whole, "cycle"
        elif mode == "triangular2":
            self.scale_fn, self.scale_mode = _halved, "cycle"
        else:
            self.scale_fn, self.scale_mode = self._shrunk, "iterations"
        super().__init__(base, last_epoch, verbose)

    def _shrunk(self, x: float) -> float:
        return self.gamma**x

    def get_lr(self) -> float:
        n = self.last_epoch
        cycle = 1 + n // self.cycle_size
        share = 1.0 + n / self.cycle_size - cycle
        if share <= self.step_up_pct:
            height = share / self.step_up_pct
        else:
            height = (1 - share) / (1 - self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else n)
        return self.base_lr + self.amplitude * height * scale


def _whole(x: float) -> float:
    return 1.0


def _halved(x: float) -> float:
    return 1 / (2.0 ** (x - 1))
