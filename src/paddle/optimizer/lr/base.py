"""`LRScheduler`: what all schedules share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from ...utils.public import guard, guard_class

__all__ = ["LRScheduler"]

_COMMON = """
        last_epoch (int): where to go on from; -1 for the start. Default: -1.
        verbose (bool): prints every change. Default: False.
"""


def documented(cls: type) -> type:
    """Adds the arguments that all schedules have to the docstring."""
    cls.__doc__ = (cls.__doc__ or "").rstrip() + _COMMON
    return cls


def require(ok: bool, kind: type[Exception], who: object, expected: str, **given: Any) -> None:
    """Raises where an argument of a schedule is not ok. given: the argument."""
    if not ok:
        from ...utils.explain import describe

        [(name, value)] = given.items()
        word, fact = ("InvalidType", "of the wrong type") if kind is TypeError else ("InvalidArgument", "out of place")
        text = f"{type(who).__name__}: {name} is {fact}."
        raise kind(errors.message(word, text, expected, f"{name}: {describe(value)}"))


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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls, "step", "set_state_dict")

    @guard
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

    @guard
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
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no get_lr.",
            expected="a subclass with `def get_lr(self)`",
            received="a call of LRScheduler.get_lr",
        )

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

    @guard
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
            errors.warn("There are some unused values in state_dict. Maybe the optimizer have different "
                          "'LearningRateDecay' when invoking state_dict and set_dict")  # fmt: skip

    set_dict = set_state_dict
