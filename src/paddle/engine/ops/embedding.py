"""One-hot vectors of labels. (Looking up rows is `indexing.Gather`.)"""

from __future__ import annotations

import numpy as np

from ..errors import offending
from ..types import DType, TensorType
from .registry import Operator, absent, operator


@operator
class OneHot(Operator):
    """1 at the label and 0 elsewhere, along a new last axis; a label outside [0, size) is a ValueError.

    Shapes: label [...] -> [..., size].
    """

    size: int
    dtype: DType
    fault = "bad_index"
    vjp = absent("labels have no gradient")

    def infer(self, label: TensorType) -> TensorType:
        return TensorType((*label.shape, self.size), self.dtype)

    def numpy(self, label):
        bad = (label < 0) | (label >= self.size)
        if bad.any():
            raise IndexError(offending("a number is out of range", bad, label, f"numbers in [0, {self.size})", "x"))
        return (label[..., None] == np.arange(self.size)).astype(self.dtype.np)

    def loops(self, k, label):
        i = k.index(k.load(label, k.at[:-1]))
        i = k.check((i >= 0) & (i < self.size), i, i, "a number is out of range.\n  received: x: {value}")
        return k.where(i.eq(k.at[-1]), k.const(1), 0)

    def xla(self, jnp, label):
        return (label[..., None] == jnp.arange(self.size)).astype(self.dtype.name)

    def spmd(self, *types):
        return "...->...C"

    @classmethod
    def samples(cls, rng):
        from .. import types

        yield cls(5, types.float32), (rng.integers(0, 5, (3, 4)),)
        yield cls(3, types.float64), (np.asarray(2, "int32"),)
        yield cls(3, types.float32), (np.zeros(0, "int64"),)
