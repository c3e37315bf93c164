"""Optimizers that a user writes as Paddle's own are written: `_create_accumulators` and `_append_optimize_op`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.ops.elementwise import cast
from ..engine.types import dtype_of
from ..framework.grad_mode import no_grad
from ..tensor.tensor import Tensor
from .lr import LRScheduler
from .states import States, label


class Classic(States):
    """What such a class calls. It is used where a subclass has a method `_append_optimize_op`."""

    _param_groups: list[Any]

    def _create_accumulators(self, block: Any, parameters: list[Any]) -> None:
        """Makes the states of parameters, with _add_accumulator; a subclass may write it."""

    def _finish_update(self, block: Any, parameters_and_grads: Any) -> None:
        """Called after all parameters; a subclass may write it."""

    def _add_accumulator(
        self,
        name: str,
        param: Any,
        dtype: Any = None,
        fill_value: float = 0.0,
        shape: Any = None,
        type: Any = None,
        device: Any = None,
    ) -> Tensor:
        """A state of a parameter. One that is there already stays.

        Args:
            name (str): of the state. param (Parameter): whose.
            dtype (str|DType, optional), shape (list[int], optional): by default those of the parameter.
            fill_value (float): its first value. Default: 0.0.
            type, device (optional): not used.
        """
        state = self._states.setdefault(id(param), OrderedDict())
        if name not in state:
            kind = dtype_of(dtype) if dtype is not None else param.type.dtype
            extent = param.type.shape if shape is None else tuple(shape)
            value = self._take_given(param, name, extent, kind)
            if value is None:
                value = np.full(extent, fill_value, kind.np)
            state[name] = tracing.from_array(value)
            label(state[name], self._key(param, name))
        return state[name]

    def _get_accumulator(self, name: str, param: Any) -> Tensor:
        """The state of a parameter."""
        state = self._states.get(id(param), {})
        if name not in state:
            raise errors.precondition(
                f"{self.__class__.__name__}: {param.name} has no state {name!r}.",
                expected=f"one of {list(state)}",
                received=name,
                hint="make it in _create_accumulators with self._add_accumulator.",
            )
        return state[name]

    _get_accumulator_master = _get_accumulator

    def _global_learning_rate(self) -> Tensor:
        """The rate of this step, 0-d float32."""
        rate = self._learning_rate
        return tracing.from_array(np.array(rate() if isinstance(rate, LRScheduler) else rate, np.float32))

    def _create_param_lr(self, param_and_grad: tuple[Any, Any]) -> Tensor:
        """The rate of a parameter, with its own factor."""
        factor = (getattr(param_and_grad[0], "optimize_attr", None) or {}).get("learning_rate", 1.0)
        return self._global_learning_rate() if factor == 1.0 else self._global_learning_rate() * factor

    def _update_param_group(self, parameters: dict[str, Any]) -> Any:
        """The pair of a parameter and its gradient in the settings of a group; a subclass reads the others here."""
        return parameters["params"]

    def _apply_classic(self, found: list[Any]) -> None:
        """Clips, adds penalties, and calls the subclass's methods, for the pairs of each group."""
        write: Any = self._append_optimize_op  # type: ignore[attr-defined]
        with no_grad():
            for i, (_, pairs, clip, decay) in enumerate(found):
                if clip is not None:
                    pairs = clip(pairs)
                pairs = self.append_regularization_ops(pairs, decay)  # type: ignore[attr-defined]
                if not pairs:
                    continue
                self._create_accumulators(None, [p for p, _ in pairs])
                group = self._param_groups[i] if isinstance(self._param_groups[0], dict) else None
                for p, g in pairs:
                    if g.type.dtype is not p.type.dtype:
                        g = cast(g, p.type.dtype)
                    write(None, (p, g) if group is None else {**group, "params": (p, g)})
                self._finish_update(None, pairs)
        tracing.current().flush_before_next()
