"""Gradient clipping: by value, by norm, by the norm of all gradients together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors, types
from ..engine.eager import rows
from ..engine.eager import trace as tracing
from ..engine.ops.elementwise import cast, maximum, minimum, sqrt
from ..engine.ops.reduction import sum_
from ..engine.ops.rows import RowGrad
from ..tensor.tensor import Tensor
from ..utils.public import guard_class

__all__ = ["ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]


class ClipGradBase:
    """Base of clippers: called with (parameter, gradient) pairs, gives such pairs."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls)

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        trace = tracing.current()
        before = trace.grad
        trace.set_grad(False)
        try:
            at = [i for i, (p, g) in enumerate(params_grads) if g is not None and getattr(p, "need_clip", True)]
            out = [(p, g) for p, g in params_grads if g is not None]
            kept = [i for i, (_, g) in enumerate(params_grads) if g is not None]
            grads = [rows.from_tensor(params_grads[i][1]) for i in at]
            for i, g in zip(at, self.clip_all(grads)):
                k = kept.index(i)
                out[k] = (out[k][0], rows.to_tensor(g))
            return out
        finally:
            trace.set_grad(before)

    def clip_all(self, grads: list[Any]) -> list[Any]:
        """The clipped gradients, some of which may be by rows."""
        if not grads:
            return []
        merged = [g.once() if isinstance(g, RowGrad) else g for g in grads]
        clipped = self.clip([g.values if isinstance(g, RowGrad) else g for g in merged])
        return [g.with_values(c) if isinstance(g, RowGrad) else c for g, c in zip(merged, clipped)]

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        """The clipped gradients; of one by rows its values, each row's sum in one place."""
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no clip.",
            expected="a subclass with `def clip(self, grads)`, or with __call__(params_grads)",
            received="a call of ClipGradBase.clip",
        )

    def config(self) -> Any:
        """What the result depends on besides the gradients, or None if that is not known."""
        return None


def _positive_number(who: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        make = errors.invalid_argument
    except TypeError:
        make = errors.invalid_type
    raise make(f"{who}: {name} is not a number.", expected="a float", received=f"{name}: {value!r}")


def square_sum(g: Tensor) -> Tensor:
    """The sum of squares, in float32 at least."""
    kind = types.float32 if g.type.dtype.itemsize < 4 else g.type.dtype
    g = cast(g, kind)
    return sum_(g * g, tuple(range(g.ndim)))


def _squared_l2_norm(x: Tensor) -> Tensor:
    return square_sum(x)


class ClipGradByValue(ClipGradBase):
    """Keeps every element within [min, max].

    Args:
        max (float): the upper bound.
        min (float, optional): the lower bound; -max by default, then max must be positive.
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if isinstance(max, str):
            raise errors.invalid_type(
                "ClipGradByValue: max is not a number.", expected="a float", received=f"max: {max!r}"
            )
        self.max = _positive_number("ClipGradByValue", "max", max)
        if min is None:
            if self.max <= 0:
                raise errors.asserted(
                    "ClipGradByValue: max is not positive, and min is not given.",
                    expected="max > 0, or a min",
                    received=f"max: {max}",
                )
            min = -self.max
        self.min = _positive_number("ClipGradByValue", "min", min)

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        return [minimum(maximum(g, self.min), self.max) for g in grads]

    def config(self) -> Any:
        return ("value", self.min, self.max)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient so that its 2-norm is at most clip_norm.

    Args:
        clip_norm (float): the greatest norm.
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = _positive_number("ClipGradByNorm", "clip_norm", clip_norm)

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        c = self.clip_norm
        return [cast(g * cast(c / maximum(sqrt(square_sum(g)), c), g.type.dtype), g.type.dtype) for g in grads]

    def config(self) -> Any:
        return ("norm", self.clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that their common 2-norm is at most clip_norm.

    Source: Pascanu, Mikolov and Bengio 2012, arXiv:1211.5063.

    Args:
        clip_norm (float): the greatest norm.
        group_name (str): accepted. Default: "default_group".
        auto_skip_clip (bool): accepted; a factor of 1 is left to the compiler. Default: False.
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = _positive_number("ClipGradByGlobalNorm", "clip_norm", clip_norm)
        if not isinstance(auto_skip_clip, bool):
            raise errors.asserted(
                "ClipGradByGlobalNorm: auto_skip_clip is not a bool.",
                expected="True or False",
                received=f"auto_skip_clip: {auto_skip_clip!r}",
            )
        self.group_name, self.auto_skip_clip = group_name, auto_skip_clip

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        total: Any = None
        for g in grads:
            s = square_sum(g)
            total = s if total is None else total + s
        factor = self.clip_norm / maximum(sqrt(total), self.clip_norm)
        return [g * cast(factor, g.type.dtype) for g in grads]

    def config(self) -> Any:
        return ("global", self.clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"
