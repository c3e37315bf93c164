"""Parameters averaged over the last steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...engine import errors
from ...framework.grad_mode import no_grad
from ...tensor.tensor import Tensor

__all__: list[str] = []


class ModelAverage:
    """The mean of parameters over a window of the last steps, to be put in their place for a while.

    The window is `average_window_rate` times the number of steps, within its bounds; when it is full the sum of it is
    kept, and a new one begins beside it.

    Args:
        average_window_rate (float): The window as a part of all steps.
        parameters (list[Tensor]): Of which.
        min_average_window (int): Steps, at least. Default: 10000.
        max_average_window (int): Steps, at most. Default: 10000.
        name (str, optional): Default: None.

    Examples:
        >>> net = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        >>> average = paddle.incubate.ModelAverage(0.15, net.parameters(), 2, 10)
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> optimizer.step()
        >>> average.step()
        >>> with average.apply():
        ...     out = net(paddle.ones([1, 2]))
    """

    def __init__(
        self, average_window_rate: float, parameters: Any = None, min_average_window: int = 10000,
        max_average_window: int = 10000, name: str | None = None,
    ):  # fmt: skip
        if not parameters:
            raise errors.invalid_argument("ModelAverage: parameters is missing.", expected="a list of parameters")
        self._list = list(parameters)
        self._rate, self._least, self._most = average_window_rate, min_average_window, max_average_window
        self._sums: list[Any] = [0.0] * len(self._list)
        self._old: list[Any] = [0.0] * len(self._list)
        self._updates = self._count = self._old_count = 0
        self._saved: list[Tensor] | None = None

    @no_grad()
    def step(self) -> None:
        """Takes the parameters as they are now into the mean."""
        self._updates += 1
        self._count += 1
        self._sums = [s + p.detach() for s, p in zip(self._sums, self._list)]
        if self._count >= self._least and self._count >= min(self._most, self._updates * self._rate):
            self._old, self._old_count = self._sums, self._count
            self._sums, self._count = [0.0] * len(self._list), 0

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """`step`; the loss is not looked at."""
        self.step()
        return [], []

    def clear_grad(self) -> None:
        """Clears the gradients of the parameters."""
        for p in self._list:
            p.clear_gradient(False)

    @contextlib.contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """A `with` block in which the means are in the place of the parameters.

        Args:
            executor (optional): Not looked at.
            need_restore (bool): At its end the parameters come back; else `restore` brings them. Default: True.
        """
        total = self._count + self._old_count
        if self._saved is None:
            self._saved = [p.detach().clone() for p in self._list]
        if total:
            with no_grad():
                for p, s, old in zip(self._list, self._sums, self._old):
                    p.data = ((s + old) / float(total)).astype(p.dtype)
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Puts the parameters back."""
        if self._saved is not None:
            for p, value in zip(self._list, self._saved):
                p.data = value
            self._saved = None
