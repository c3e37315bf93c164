"""Operators that make tensors from attributes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import types
from ..types import DType, TensorType
from .registry import Operator, operator


@operator
class Full(Operator):
    """A tensor whose elements are all one number."""

    shape: tuple
    value: Any
    dtype: DType

    def infer(self) -> TensorType:
        return TensorType(self.shape, self.dtype)

    def numpy(self):
        return np.full(self.shape, self.value).astype(self.dtype.np)

    def loops(self, k):
        return k.const(self.value)

    def xla(self, jnp):
        return jnp.full(self.shape, self.value, self.dtype.name)

    def spmd(self):
        return "->..."

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3), 1.5, types.float32), ()
        yield cls((), -7, types.int64), ()
        yield cls((0, 2), True, types.bool_), ()
