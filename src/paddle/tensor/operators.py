"""Python's operators on Tensors: arithmetic, comparisons, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.trace import from_array
from ..engine.ops import elementwise as ew
from ..engine.ops import logic, math
from ..engine.ops.linalg import matmul
from ..engine.ops.number import Number
from .tensor import Tensor

_local = tracing.local
_new = object.__new__


def operand(other: Any) -> Any:
    """What stands beside a Tensor as an operator takes it: a Tensor or a number; NotImplemented for anything else."""
    if isinstance(other, (tracing.Tensor, Number)) or ew.is_number(other):
        return other
    if isinstance(other, np.ndarray):
        return from_array(np.array(other, order="C"))
    return NotImplemented


def binary(op: Any) -> Callable[[Any, Any], Any]:
    """A Python operator. The common case, both Tensors of the running trace, is written out for speed."""

    def method(self: Tensor, other: Any) -> Any:
        trace = _local.trace
        epoch = trace.epoch
        kind = other.__class__
        node = None
        if kind is Tensor or isinstance(other, tracing.Tensor):
            if self.epoch == epoch == other.epoch:
                node = trace.node.children.get((op, self.slot, other.slot))
        elif kind is float or kind is int:
            if self.epoch == epoch and other:
                node = trace.node.children.get((op, self.slot, kind, other))
        else:
            other = operand(other)
            if other is NotImplemented:
                return NotImplemented
        if node is not None and not node.outs:
            t = _new(Tensor)
            t.type = node.type
            t.epoch = epoch
            t.sg = node.sg
            t.data = t.gnode = t.leaf = None
            t.slot = slot = node.slot
            trace.values[slot] = t
            trace.node = node.end
            return t
        return trace.record(op, (self, other))

    return method


def reflected(op: Any) -> Callable[[Any, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        other = operand(other)
        return NotImplemented if other is NotImplemented else _local.trace.record(op, (other, self))

    return method


def of_tensors(op: Any, name: str) -> Callable[[Any, Any], Any]:
    """An operator on bits: a number at the right is refused, as upstream does."""

    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, tracing.Tensor):
            if isinstance(other, np.ndarray):
                other = operand(other)
            else:
                raise errors.invalid_argument(
                    f"{name}: y is not a Tensor.", expected="a Tensor", received=f"y: {type(other).__name__}"
                )
        return _local.trace.record(op, (self, other))

    return method


def power(self: Tensor, other: Any) -> Any:
    other = operand(other)
    return other if other is NotImplemented else math.pow_(self, other)


def product(self: Tensor, other: Any) -> Any:
    other = operand(other)
    return matmul(self, other) if isinstance(other, tracing.Tensor) else NotImplemented


def reflected_product(self: Tensor, other: Any) -> Any:
    other = operand(other)
    return matmul(other, self) if isinstance(other, tracing.Tensor) else NotImplemented


def right_shift(x: Tensor, y: Any, is_arithmetic: bool = True) -> Any:
    y = operand(y)
    op = logic.right_shift if is_arithmetic else logic.right_shift_logical
    return y if y is NotImplemented else op(x, y)


def _install() -> None:
    methods: dict[str, Any] = {}
    arithmetic = {"add": ew.add, "sub": ew.subtract, "mul": ew.multiply, "truediv": ew.divide,
                  "floordiv": math.floor_divide, "mod": math.remainder, "lshift": logic.left_shift}  # fmt: skip
    for name, op in arithmetic.items():
        methods[name], methods["r" + name] = binary(op), reflected(op)
    for name, op in (("lt", ew.less_than), ("le", ew.less_equal), ("gt", ew.greater_than),
                     ("ge", ew.greater_equal), ("eq", ew.equal), ("ne", ew.not_equal)):  # fmt: skip
        methods[name] = binary(op)
    for name, op in (("and", logic.bitwise_and), ("or", logic.bitwise_or), ("xor", logic.bitwise_xor)):
        methods[name], methods["r" + name] = of_tensors(op, f"__{name}__"), reflected(op)
    methods |= {
        "div": methods["truediv"], "rdiv": methods["rtruediv"], "pow": power, "rpow": reflected(math.power),
        "matmul": product, "rmatmul": reflected_product, "rshift": right_shift,
        "rrshift": reflected(logic.right_shift), "neg": lambda x: _local.trace.record(ew.negative, (x,)),
        "pos": lambda x: x, "abs": lambda x: _local.trace.record(math.abs_, (x,)),
        "invert": lambda x: _local.trace.record(logic.bitwise_not, (x,)),
    }  # fmt: skip
    for name, method in methods.items():
        setattr(Tensor, f"__{name}__", method)


_install()
