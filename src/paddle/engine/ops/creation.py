"""Operators that make tensors from attributes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import types
from ..types import DType, TensorType
from .registry import Operator, absent, operator


@operator
class Full(Operator):
    """A tensor whose elements are all one number."""

    pointwise = True
    shape_attributes = ("shape",)
    shape: tuple
    value: Any
    dtype: DType
    vjp = absent("made of attributes alone")

    def infer(self) -> TensorType:
        return TensorType(self.shape, self.dtype)

    def numpy(self):
        return np.full(self.shape, self.value).astype(self.dtype.np)

    def loops(self, k):
        return k.const(self.value)

    def xla(self, jnp):
        return jnp.full(self.shape, self.value, self.dtype.name)

    def spmd(self, *types):
        return "->..."

    def sized(self, *shapes):
        return Full(shapes[0], self.value, self.dtype)

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3), 1.5, types.float32), ()
        yield cls((), -7, types.int64), ()
        yield cls((0, 2), True, types.bool_), ()


@operator
class Arange(Operator):
    """start, start + step, ...: `size` numbers."""

    shape_attributes = ("size",)
    start: Any
    step: Any
    size: int
    dtype: DType
    vjp = absent("made of attributes alone")

    def infer(self) -> TensorType:
        return TensorType((self.size,), self.dtype)

    def numpy(self):
        wide = self.dtype.np if self.dtype.kind in "iu" or self.dtype is types.float64 else np.dtype("float64")
        i = np.arange(self.size, dtype=wide)
        return (i * wide.type(self.step) + wide.type(self.start)).astype(self.dtype.np)

    def loops(self, k):
        dtype = types.int64 if self.dtype.kind in "iub" else types.float64
        i = k.cast(k.at[0], dtype)
        return k.cast(i * k.const(self.step, dtype) + k.const(self.start, dtype), self.dtype)

    def xla(self, jnp):
        return (jnp.arange(self.size) * self.step + self.start).astype(self.dtype.name)

    def spmd(self, *types):
        return "->N"

    @classmethod
    def samples(cls, rng):
        yield cls(0, 1, 5, types.int64), ()
        yield cls(7, -2, 4, types.int32), ()
        yield cls(0.5, 0.25, 9, types.float32), ()
        yield cls(0, 1, 0, types.float64), ()


@operator
class Linspace(Operator):
    """`size` numbers from start to stop, both included. Counted from the nearer end, so that both are exact."""

    start: Any
    stop: Any
    size: int
    dtype: DType
    vjp = absent("made of attributes alone")

    def infer(self) -> TensorType:
        return TensorType((self.size,), self.dtype)

    def numpy(self):
        if self.size == 1:
            return np.asarray([self.start]).astype(self.dtype.np)
        i = np.arange(self.size, dtype="float64")
        step = (self.stop - self.start) / max(self.size - 1, 1)
        low, high = self.start + step * i, self.stop - step * (self.size - 1 - i)
        return np.where(i < self.size // 2, low, high).astype(self.dtype.np)

    def xla(self, jnp):
        return jnp.linspace(self.start, self.stop, self.size).astype(self.dtype.name)

    def spmd(self, *types):
        return "->N"

    def loops(self, k):
        wide = lambda n: k.const(n, types.float64)  # noqa: E731
        if self.size == 1:
            return k.cast(wide(self.start), self.dtype)
        i = k.at[0]
        step = (self.stop - self.start) / max(self.size - 1, 1)
        low = k.cast(i, types.float64) * step + wide(self.start)
        high = wide(self.stop) - k.cast(self.size - 1 - i, types.float64) * step
        return k.cast(k.where(i < self.size // 2, low, high), self.dtype)

    @classmethod
    def samples(cls, rng):
        yield cls(0.0, 1.0, 5, types.float32), ()
        yield cls(5.0, -1.0, 4, types.float64), ()
        yield cls(0.0, 10.0, 4, types.int64), ()
        yield cls(3.0, 10.0, 1, types.float32), ()
        yield cls(3.0, 10.0, 0, types.float32), ()


@operator
class Eye(Operator):
    """Ones on a diagonal, zeros elsewhere. offset: columns to the right of the main diagonal."""

    rows: int
    columns: int
    dtype: DType
    offset: int = 0
    vjp = absent("made of attributes alone")

    def infer(self) -> TensorType:
        return TensorType((self.rows, self.columns), self.dtype)

    def numpy(self):
        return np.eye(self.rows, self.columns, self.offset).astype(self.dtype.np)

    def loops(self, k):
        return k.cast((k.at[1] - k.at[0]).eq(self.offset), self.dtype)

    def xla(self, jnp):
        return jnp.eye(self.rows, self.columns, self.offset, self.dtype.name)

    def spmd(self, *types):
        return "->MN"

    @classmethod
    def samples(cls, rng):
        yield cls(3, 4, types.float32), ()
        yield cls(3, 2, types.int64, -1), ()
        yield cls(0, 2, types.bool_, 1), ()


@operator
class Triangle(Operator):
    """x with zeros above a diagonal (lower) or below it, in each matrix of the last two axes."""

    diagonal: int
    lower: bool

    def infer(self, x: TensorType) -> TensorType:
        if x.ndim < 2:
            from ..errors import invalid_argument

            raise invalid_argument(
                f"{'tril' if self.lower else 'triu'}: x is not a matrix.",
                expected="at least 2 axes",
                received=f"x: {x}",
            )
        return x

    def numpy(self, x):
        keep = np.tri(x.shape[-2], x.shape[-1], self.diagonal if self.lower else self.diagonal - 1, dtype=bool)
        return np.where(keep if self.lower else ~keep, x, np.zeros((), x.dtype))

    def vjp(self, g, out, x):
        return (Triangle(self.diagonal, self.lower)(g),)

    def loops(self, k, x):
        j = k.at[-1] - k.at[-2]
        inside = j <= self.diagonal if self.lower else j >= self.diagonal
        return k.load(x, k.at, inside)

    def xla(self, jnp, x):
        return (jnp.tril if self.lower else jnp.triu)(x, self.diagonal)

    def spmd(self, *types):
        return "...MN->...MN"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(2, 4, 3)).astype("float32")
        for diagonal in (0, 1, -2):
            yield cls(diagonal, True), (x,)
            yield cls(diagonal, False), (x,)
        yield cls(0, True), (np.arange(6).reshape(2, 3),)
        yield cls(0, False), (np.zeros((0, 3)),)


def zeros_like(x):
    return Full(tuple(x.shape), 0, x.dtype)()
