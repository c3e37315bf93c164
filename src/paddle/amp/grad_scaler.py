"""`GradScaler`: keeps small gradients from vanishing in 16 bits."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.eager.rows import alike
from ..engine.eager.tape import gradient
from ..engine.ops.elementwise import cast, divide, multiply
from ..optimizer import Optimizer
from ..tensor.logic import isfinite, logical_and
from ..tensor.tensor import Tensor
from ..utils.public import guard

__all__ = ["AmpScaler", "GradScaler", "OptimizerState"]


class OptimizerState(enum.Enum):
    """How far an optimizer has come since the last `update`."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


class AmpScaler:
    """Multiplies a loss by a factor before backward, and divides the gradients by it before they are used.

    Where a gradient has overflowed the step is left out and the factor shrinks; after many good steps it grows.

    Args:
        enable (bool, optional): False passes everything through as it is. Default: True.
        init_loss_scaling (float, optional): the factor at the start. Default: 65536.0.
        incr_ratio (float, optional): the factor grows by this. Default: 2.0.
        decr_ratio (float, optional): the factor shrinks by this. Default: 0.5.
        incr_every_n_steps (int, optional): good steps in a row before it grows. Default: 2000.
        decr_every_n_nan_or_inf (int, optional): bad steps before it shrinks. Default: 1.
        use_dynamic_loss_scaling (bool, optional): False leaves the factor as it is. Default: True.

    Raises:
        AssertionError: incr_ratio is not above 1, or decr_ratio not below 1.
    """

    @guard
    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = self._enable and bool(use_dynamic_loss_scaling)
        self._init_loss_scaling = float(init_loss_scaling)
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_count = self._decr_count = 0
        self._found_inf = False
        self._states: dict[int, OptimizerState] = {}
        if self._enable:
            if not incr_ratio > 1.0:
                raise _ratio("incr_ratio", "above", incr_ratio)
            if not decr_ratio < 1.0:
                raise _ratio("decr_ratio", "below", decr_ratio)
        self._set_scale(self._init_loss_scaling)

    def _set_scale(self, value: float) -> None:
        self._factor = value
        self._scale = tracing.from_array(np.array(value, np.float32))

    @guard
    def scale(self, var: Tensor) -> Tensor:
        """The loss times the factor, in the loss's type.

        Args:
            var (Tensor): a loss.

        Raises:
            TypeError: not a Tensor.
        """
        if not isinstance(var, Tensor):
            raise errors.invalid_type(
                "GradScaler.scale: var is not a Tensor.", expected="a Tensor", received=type(var).__name__
            )
        return multiply(var, self._scale) if self._enable else var

    def _state(self, optimizer: Any) -> OptimizerState:
        return self._states.get(id(optimizer), OptimizerState.INIT)

    @guard
    def _unscale(self, optimizer: Any) -> None:
        """Divides the gradients of the optimizer's parameters by the factor, and finds out whether all are finite."""
        if not self._enable:
            return
        state = self._state(optimizer)
        if state is not OptimizerState.INIT:
            done = "unscale_" if state is OptimizerState.UNSCALED else "step"
            raise errors.precondition(
                f"GradScaler.unscale_: {done} was called since the last update.",
                expected="one call per step",
                received="another",
                hint="call update once per step.",
            )
        params = [p for p in optimizer._parameters() if not p.sg and gradient(p) is not None]
        grads = [gradient(p) for p in params]
        trace = tracing.current()
        grad, amp = trace.grad, trace.set_amp(None)
        trace.set_grad(False)
        try:
            *new, finite = trace.macro("unscale", [*grads, self._scale], lambda: _unscaled(grads, self._scale))
        finally:
            trace.set_grad(grad)
            trace.set_amp(amp)
        for p, g in zip(params, new):
            p.leaf.grad = alike(p.leaf.grad, g)
        self._found_inf = not finite.array().item() or self._found_inf
        self._states[id(optimizer)] = OptimizerState.UNSCALED

    @guard
    def step(self, optimizer: Optimizer) -> None:
        """`optimizer.step()` with the gradients divided by the factor; left out where one is not finite.

        Raises:
            RuntimeError: it was called since the last `update`.
        """
        if not self._enable:
            optimizer.step()
            return
        if self._state(optimizer) is OptimizerState.STEPPED:
            raise errors.precondition(
                "GradScaler.step: it was called since the last update.",
                hint="call update once per step.",
                expected="one call per step",
                received="another",
            )
        if self._state(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        if not self._found_inf:
            optimizer.step()
        self._states[id(optimizer)] = OptimizerState.STEPPED

    @guard
    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`step` and `update`, with the arguments of `optimizer.minimize`. Returns what that does, or (None, None)."""
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._state(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        out = (None, None) if self._found_inf else optimizer.minimize(*args, **kwargs)
        self.update()
        return out

    def update(self) -> None:
        """Ends a step: shrinks the factor after overflow, lets it grow after enough good steps."""
        if not self._enable:
            return
        bad, self._found_inf = self._found_inf, False
        self._states.clear()
        if not self._use_dynamic_loss_scaling:
            return
        if bad:
            self._incr_count = 0
            self._decr_count += 1
            if self._decr_count >= self._decr_every_n_nan_or_inf:
                self._set_scale(self._factor * self._decr_ratio)
                self._decr_count = 0
        else:
            self._decr_count = 0
            self._incr_count += 1
            if self._incr_count >= self._incr_every_n_steps:
                self._set_scale(self._factor * self._incr_ratio)
                self._incr_count = 0

    # -- settings --
    def is_enable(self) -> bool:
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        return self._init_loss_scaling

    @guard
    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Sets the factor, at the start and now."""
        self._init_loss_scaling = float(new_init_loss_scaling)
        self._set_scale(self._init_loss_scaling)

    def get_incr_ratio(self) -> float:
        return self._incr_ratio

    @guard
    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Sets the growth; above 1."""
        if not new_incr_ratio > 1.0:
            raise _ratio("incr_ratio", "above", new_incr_ratio)
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        return self._decr_ratio

    @guard
    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Sets the shrinkage; below 1."""
        if not new_decr_ratio < 1.0:
            raise _ratio("decr_ratio", "below", new_decr_ratio)
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    # -- state --
    def state_dict(self) -> dict[str, Any]:
        """The factor (an array of one float32), the settings and the counts; empty if not enabled."""
        if not self._enable:
            return {}
        return {
            "scale": np.array([self._factor], np.float32),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    @guard
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` gave.

        Raises:
            RuntimeError: state_dict is empty: it comes from a scaler that was not enabled.
        """
        if not self._enable:
            return
        if not state_dict:
            raise errors.precondition(
                "GradScaler.load_state_dict: state_dict is empty.",
                expected="what state_dict() gave",
                received="{}",
                hint="it was saved from a scaler with enable=False.",
            )
        scale = state_dict["scale"]
        value = float(np.asarray(scale.array() if isinstance(scale, Tensor) else scale).ravel()[0])
        self._init_loss_scaling = value
        self._set_scale(value)
        for name in ("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_count",
                     "decr_count", "use_dynamic_loss_scaling"):  # fmt: skip
            setattr(self, "_" + name, state_dict[name])


def _ratio(name: str, side: str, value: Any) -> Exception:
    return errors.asserted(
        f"GradScaler: {name} is not {side} 1.", expected=f"a number {side} 1", received=f"{name}: {value!r}"
    )


class GradScaler(AmpScaler):
    __doc__ = (
        (AmpScaler.__doc__ or "")
        + """
    Examples:
        >>> fc = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=fc.parameters())
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
        >>> with paddle.amp.auto_cast(dtype="float16"):
        ...     loss = fc(paddle.ones([1, 2])).mean()
        >>> scaler.scale(loss).backward()
        >>> scaler.step(opt)
        >>> scaler.update()
    """
    )

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of the optimizer's parameters by the factor, to look at or clip them before `step`.

        Raises:
            RuntimeError: it was called since the last `update`, or `step` was.
        """
        self._unscale(optimizer)


def _unscaled(grads: list[Tensor], scale: Tensor) -> tuple[Tensor, ...]:
    """The gradients over the factor, and whether all of them are finite."""
    inverse = divide(1.0, scale)
    new = [cast(multiply(cast(g, types.float32) if g.type.dtype.itemsize < 4 else g, inverse), g.type.dtype)
           for g in grads]  # fmt: skip
    finite: Any = isfinite(inverse)
    for g in new:
        finite = logical_and(finite, isfinite(g).all())
    return (*new, finite)
