"""Branches so light that a program computes both and selects: then they are part of its kernels, and it never stops.

Only operations count whose gradients are those of the side that is taken, whatever the other side holds: a product
would turn an infinite factor there into NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...engine.eager.capture import Captured
from ...engine.ops.creation import Full
from ...engine.ops.elementwise import Cast
from ...engine.ops.logic import Select
from ...engine.ops.number import Number
from ...engine.types import TensorType
from ...tensor.tensor import Tensor

_STEPS = 24  # operations of one side
_ELEMENTS = 4096  # of a value; more are worth a branch
_LIGHT = frozenset(
    "add subtract neg minimum maximum select cast copy detach constant full broadcast_to reshape transpose slice "
    "concat equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_not "
    "logical_xor isfinite isnan isinf sum any all".split()
)


def is_light(captured: Captured) -> bool:
    """Whether a side of a branch may be computed in vain."""
    if captured.changes or captured.keys or captured.grads or len(captured.steps) > _STEPS:
        return False
    types = {s.slot + i: t for s in captured.steps for i, t in enumerate(s.types)}
    return all(t.size <= _ELEMENTS for t in types.values()) and all(
        s.op is None or s.op.name in _LIGHT or _is_light_product(s, types) for s in captured.steps
    )


def _is_light_product(step: Any, types: dict[int, TensorType]) -> bool:
    """Whether a step is a product by a finite number, a quotient by one, or a product of integers."""
    if step.op.name == "divide":
        by = step.refs[1]
        return isinstance(by, Number) and math.isfinite(by.value.real) and by.value != 0
    if step.op.name != "multiply":
        return False
    if any(isinstance(r, Number) and math.isfinite(r.value.real) for r in step.refs):
        return True
    return not step.types[0].dtype.is_differentiable


def selected(pred: Tensor, sides: Sequence[Captured], outputs: Sequence[tuple[Any, Any]]) -> tuple[Tensor, ...]:
    """Both sides' operations recorded anew, and per pair of outputs (as `Recorded.graph` takes them) what is chosen."""
    columns = []
    for i, captured in enumerate(sides):
        slots = [x for x in (bare(pair[i]) for pair in outputs) if type(x) is int]
        made = dict(zip(slots, captured.replay([t for t, _ in captured.externals], slots)))
        columns.append([_value(pair[i], made) for pair in outputs])
    test = pred.reshape([]) if pred.type.shape else pred
    return tuple(Select()(test, a, b) for a, b in zip(*columns))


def _value(x: Any, made: dict[int, Tensor]) -> Any:
    if isinstance(x, tuple):
        return Cast(x[1])(_value(x[0], made))
    if type(x) is int:
        return made[x]
    if isinstance(x, Number):
        return constant(x.type, x.value)()
    return x if isinstance(x, Tensor) else constant(x.type, 0)()


def constant(t: TensorType, value: Any) -> Any:
    """The operator that gives a Tensor of equal elements."""
    return Full(t.shape, bool(value) if t.dtype.kind == "b" else value, t.dtype)


def bare(x: Any) -> Any:
    """An output without the type that it is cast to."""
    return x[0] if isinstance(x, tuple) else x
