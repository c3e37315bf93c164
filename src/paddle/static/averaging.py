"""Averages of parameters over training."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import in_program
from ..tensor.tensor import Tensor
from ..utils import unique_name
from .backward import variable
from .executor import value_of
from .program import default_main_program, default_startup_program, left
from .scope import global_scope

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    r"""Averages of parameters in which newer values count more.

    .. math:: m \leftarrow d\, m + (1 - d)\, p, \quad \hat m = m / (1 - d^t)

    Args:
        decay (float): d. Default: 0.999.
        thres_steps (Tensor, optional): number of steps s; the decay is then at most (1 + s) / (10 + s).
        name (str, optional): what the names of the averages begin with.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1).mean()
        ...     _ = paddle.optimizer.SGD(0.1).minimize(loss)
        ...     ema = paddle.static.ExponentialMovingAverage(0.9)
        ...     ema.update()
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> _ = exe.run(main, feed={"x": [[1.0, 2.0]]})
        >>> with ema.apply(exe):  # parameters are their averages here
        ...     _ = exe.run(main.clone(for_test=True), feed={"x": [[1.0, 2.0]]}, fetch_list=[loss])
        >>> paddle.disable_static()
    """

    def __init__(self, decay: float = 0.999, thres_steps: Any = None, name: str | None = None) -> None:
        if not in_program():
            raise errors.precondition(
                "ExponentialMovingAverage: it belongs to a static program.",
                expected="static mode",
                received="dynamic mode",
                hint="call paddle.enable_static() first.",
            )
        self._decay, self._steps, self._name = decay, thres_steps, name or "ema"
        self._averages: list[tuple[Any, Tensor]] = []
        self._left_over: Any = None  # product of the decays so far
        self._kept: dict[str, np.ndarray] = {}

    def update(self) -> None:
        """Adds the update of the averages to the program. Called once, after `minimize`."""
        program, startup = default_main_program(), default_startup_program()
        filled = lambda type_, value: lambda value_of: tracing.from_array(np.full(type_.shape, value, type_.dtype.np))
        trace = tracing.current()
        before = trace.grad
        trace.set_grad(False)
        try:
            d: Any = self._decay
            if self._steps is not None:
                import paddle

                s = self._steps.astype("float32")
                d = paddle.minimum((s + 1.0) / (s + 10.0), paddle.full([], self._decay, "float32"))
            for p in program.all_parameters():
                if p.stop_gradient:
                    continue
                name = unique_name.generate(f"{p.name}_{self._name}")
                m = variable(program, startup, name, p.type, filled(p.type, 0.0))
                new = m * d + p * (1.0 - d)
                if self._left_over is None:
                    one = new.sum().astype("float32")
                    label = unique_name.generate(f"{self._name}_decays")
                    self._left_over = variable(program, startup, label, one.type, filled(one.type, 1.0))
                    tracing.rebind(self._left_over, self._left_over * d)
                tracing.rebind(m, new)
                self._averages.append((p, m))
        finally:
            trace.set_grad(before)

    @contextlib.contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """Within the block parameters are their averages.

        Args:
            executor (Executor): not needed; values are those of the global scope.
            need_restore (bool): they are what they were afterwards. Default: True.
        """
        scope = global_scope()
        with left():
            self._kept = {p.name: np.array(value_of(p, scope).numpy()) for p, _ in self._averages}
            rest = float(value_of(self._left_over, scope).numpy()) if self._averages else 0.0
            for p, m in self._averages:
                a = value_of(m, scope).numpy()
                scope._put(p.name, np.asarray(a / (1.0 - rest) if rest < 1.0 else a, a.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Parameters are what they were before `apply`.

        Args:
            executor (Executor): not needed.
        """
        with left():
            for name, a in self._kept.items():
                global_scope()._put(name, a)
        self._kept = {}
