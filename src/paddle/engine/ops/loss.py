"""Losses that need more than a composition: those whose arguments have to be checked element by element."""

from __future__ import annotations

import numpy as np

from ..types import TensorType
from .elementwise import broadcast, log, maximum, sum_to
from .registry import Operator, operator

FLOOR = -100.0  # logarithms are cut off here


@operator
class BinaryCrossEntropy(Operator):
    """-(y * log(x) + (1 - y) * log(1 - x)) with logarithms of at least -100; x outside [0, 1] ends the run."""

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        return TensorType(broadcast(self.name, x, y), x.dtype)

    def numpy(self, x, y):
        bad = ~((x >= 0) & (x <= 1))
        if bad.any():
            raise IndexError("x holds an element outside [0, 1]")
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        hit, miss = np.maximum(np.log(wide), FLOOR), np.maximum(np.log1p(-wide), FLOOR)
        return np.asarray(-(y * hit + (1 - y) * miss)).astype(x.dtype)

    def vjp(self, g, out, x, y):
        dx = g * (x - y) / maximum((1.0 - x) * x, 1e-12)
        dy = g * (maximum(log(1.0 - x), FLOOR) - maximum(log(x), FLOOR))
        return sum_to(dx, tuple(x.shape)), sum_to(dy, tuple(y.shape))

    def loops(self, k, x, y):
        e, t = k.broadcast(x), k.broadcast(y)
        e = k.check((e >= 0) & (e <= 1), e, k.index(e), "x holds an element outside [0, 1]")
        hit, miss = k.max(k.log(e), FLOOR), k.max(k.log1p(-e), FLOOR)
        return -(t * hit + (1 - t) * miss)

    def xla(self, jnp, x, y):
        return -(y * jnp.maximum(jnp.log(x), FLOOR) + (1 - y) * jnp.maximum(jnp.log1p(-x), FLOOR))

    def spmd(self):
        return "...,...->..."

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.uniform(0.05, 0.95, (3, 4)).astype("float32"), rng.uniform(size=(3, 4)).astype("float32"))
        yield cls(), (rng.uniform(0.05, 0.95, (2, 3)), rng.uniform(size=3))
        yield cls(), (np.zeros((0, 3)), np.zeros((0, 3)))
