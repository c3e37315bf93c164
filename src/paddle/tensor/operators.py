"""Python's operators on Tensors: arithmetic, comparisons, bits."""

from __future__ import annotations

import warnings
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
from .arguments import fill_out
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
            key = (op, self.slot, other.slot)  # before the epochs, see Trace.enter
            if self.epoch == epoch == other.epoch:
                node = trace.node.children.get(key)
        elif kind is float or kind is int:
            place = (op, self.slot, kind, other)
            if self.epoch == epoch and other:
                node = trace.node.children.get(place)
        else:
            other = operand(other)
            if other is NotImplemented:
                return NotImplemented
        if node is not None and not node.outs:
            t = _new(Tensor)
            t.type = node.type
            t.epoch = epoch
            t.sg = node.sg
            t.buffer = t.gnode = t.leaf = t.kin = None
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


def of_bits(op: Any, name: str) -> Callable[..., Any]:
    """An operator on bits: a number at the right is refused, as upstream does."""

    def method(x: Tensor, y: Any, out: Any = None, name: str | None = None) -> Any:
        if isinstance(y, np.ndarray):
            y = operand(y)
        elif not isinstance(y, tracing.Tensor):
            raise errors.invalid_argument(
                f"{label}: y is not a Tensor.", expected="a Tensor", received=f"y: {type(y).__name__}"
            )
        return fill_out(_local.trace.record(op, (x, y)), out)

    label = f"__{name}__"
    return method


def of_bits_reflected(op: Any) -> Callable[..., Any]:
    def method(x: Tensor, y: Any, out: Any = None, name: str | None = None) -> Any:
        y = operand(y)
        if y is NotImplemented:
            return y
        y = Number(y, x.dtype) if ew.is_number(y) else y
        return fill_out(_local.trace.record(op, (y, x)), out)

    return method


def rand(x: Tensor, y: Any) -> Any:
    y = operand(y)
    if y is NotImplemented:
        return y
    return _local.trace.record(logic.bitwise_and, (Number(y, x.dtype) if ew.is_number(y) else y, x))


def power(self: Tensor, other: Any) -> Any:
    other = operand(other)
    return other if other is NotImplemented else math.pow_(self, other)


def _product(x: Tensor, y: Tensor) -> Any:
    if x.dtype is not y.dtype:
        if x.dtype.is_complex or y.dtype.is_complex:
            dtype = ew.promote_pair(x.dtype, y.dtype, "matmul")
            x, y = ew.cast(x, dtype), ew.cast(y, dtype)
        else:
            warnings.warn(
                f"x @ y: the types differ; y of {y.dtype.name} is cast to {x.dtype.name}, the type of x", stacklevel=3
            )
            y = ew.cast(y, x.dtype)
    return matmul(x, y)


def _factor(other: Any) -> Any:
    other = operand(other)
    if ew.is_number(other):
        raise errors.invalid_argument("x @ y: one is a number.", expected="two Tensors", received=f"{other!r}",
                                      hint="use * for the product with a number.")  # fmt: skip
    return other


def product(self: Tensor, other: Any) -> Any:
    other = _factor(other)
    return _product(self, other) if isinstance(other, tracing.Tensor) else NotImplemented


def reflected_product(self: Tensor, other: Any) -> Any:
    other = _factor(other)
    return _product(other, self) if isinstance(other, tracing.Tensor) else NotImplemented


def shift(arithmetic: Any, logical: Any, reverse: bool = False) -> Callable[..., Any]:
    def method(x: Tensor, y: Any, is_arithmetic: bool = True) -> Any:
        y = operand(y)
        if y is NotImplemented:
            return y
        return _local.trace.record(arithmetic if is_arithmetic else logical, (y, x) if reverse else (x, y))

    return method


def absolute(var: Tensor) -> Any:
    return _local.trace.record(math.abs_, (var,))


def negated(var: Tensor) -> Any:
    return _local.trace.record(ew.negative, (var,))


def inverted(x: Tensor, out: Any = None, name: str | None = None) -> Any:
    return fill_out(_local.trace.record(logic.bitwise_not, (x,)), out)


def unchanged(x: Tensor, name: str | None = None) -> Tensor:
    return x


def _install() -> None:
    methods: dict[str, Any] = {}
    arithmetic = {"add": ew.add, "sub": ew.subtract, "mul": ew.multiply, "truediv": ew.divide,
                  "floordiv": math.floor_divide, "mod": math.remainder}  # fmt: skip
    for name, op in arithmetic.items():
        methods[name], methods["r" + name] = binary(op), reflected(op)
    for name, op in (("lt", ew.less_than), ("le", ew.less_equal), ("gt", ew.greater_than),
                     ("ge", ew.greater_equal), ("eq", ew.equal), ("ne", ew.not_equal)):  # fmt: skip
        methods[name] = binary(op)
    for name, op in (("and", logic.bitwise_and), ("or", logic.bitwise_or), ("xor", logic.bitwise_xor)):
        methods[name], methods["r" + name] = of_bits(op, name), of_bits_reflected(op)
    left, right = (logic.left_shift, logic.left_shift), (logic.right_shift, logic.right_shift_logical)
    methods |= {
        "div": methods["truediv"], "rdiv": methods["rtruediv"], "pow": power, "rpow": reflected(math.power),
        "matmul": product, "rmatmul": reflected_product, "rand": rand, "lshift": shift(*left),
        "rlshift": shift(*left, True), "rshift": shift(*right), "rrshift": shift(*right, True), "neg": negated,
        "pos": unchanged, "abs": absolute, "invert": inverted,
    }  # fmt: skip
    for name, method in methods.items():
        setattr(Tensor, f"__{name}__", method)


_install()
