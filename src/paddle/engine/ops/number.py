"""Python numbers as arguments of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import types
from ..types import DType, TensorType
from .registry import Operator, absent, operator


def wrapped(value: int, dtype: DType) -> int:
    """An integer as a small integer type holds it: modulo 2 to its width, as upstream has it."""
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


class Number:
    """A Python number with the element type it takes beside a tensor. Interned."""

    __slots__ = ("value", "type")
    _all: dict[Any, "Number"] = {}
    value: Any
    type: TensorType

    def __new__(cls, value: Any, dtype: DType) -> "Number":
        if dtype.kind == "c":
            value = complex(value)
        elif dtype.kind in "iu" and dtype.itemsize <= 2 and isinstance(value, int):
            value = wrapped(value, dtype)
        else:
            value = dtype.np.type(value).item()
        key = (repr(value), dtype)
        found = cls._all.get(key)
        if found is None:
            found = object.__new__(cls)
            found.value, found.type = value, TensorType((), dtype)
            if len(cls._all) > 100_000:
                cls._all.clear()
            cls._all[key] = found
        return found

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def array(self) -> np.ndarray:
        return np.asarray(self.value).astype(self.dtype.np)

    # Gradient rules compute with their arguments, numbers included.
    def _with(self, other: Any, compute: Any) -> Any:
        if isinstance(other, Number):
            other = other.value
        if not isinstance(other, (int, float, complex)):
            return NotImplemented
        with np.errstate(all="ignore"):
            return Number(compute(self.array(), other), self.dtype)

    def __add__(self, other: Any) -> Any:
        return self._with(other, np.add)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._with(other, np.multiply)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, np.subtract)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: np.subtract(y, x))

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, np.divide)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: np.divide(y, x))

    def __neg__(self) -> Any:
        return Number(-self.array(), self.dtype)

    def __repr__(self) -> str:
        return f"{self.value!r}"


@operator
class Constant(Operator):
    """A 0-d tensor that holds one number."""

    pointwise = True
    value: Any
    dtype: DType
    vjp = absent("made of attributes alone")

    def infer(self) -> TensorType:
        return TensorType((), self.dtype)

    def numpy(self):
        return np.asarray(self.value).astype(self.dtype.np)

    def loops(self, k):
        return k.const(self.value)

    def xla(self, jnp):
        return jnp.asarray(self.value, self.dtype.name)

    def spmd(self, *types):
        return "->"

    @classmethod
    def samples(cls, rng):
        yield cls(1.5, types.float32), ()
        yield cls(-3, types.int64), ()
        yield cls(True, types.bool_), ()
