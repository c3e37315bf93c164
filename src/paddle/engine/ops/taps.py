"""Separable maps along one axis, with few terms per element: interpolation, adaptive averages."""

from __future__ import annotations

import numpy as np

from ..types import TensorType
from .registry import Operator, operator


@operator
class Taps(Operator):
    """out[..., z, ...] = sum over t of weight[t, z] * x[..., index[t, z], ...] along `axis`.

    A linear map along one axis with few terms per element: interpolation, adaptive averages. The transposed map is
    given too (T' terms per element of x), so that the gradient has the same form.

    Shapes: x [..., N, ...], index (int32) and weight [T, Z], index_t and weight_t [T', N] -> [..., Z, ...].
    The weights are constants: they take no gradient.
    """

    axis: int

    def infer(self, x, index, weight, index_t, weight_t) -> TensorType:
        return x.with_shape((*x.shape[: self.axis], index.shape[1], *x.shape[self.axis + 1 :]))

    def numpy(self, x, index, weight, index_t, weight_t):
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        out = np.zeros((*x.shape[: self.axis], index.shape[1], *x.shape[self.axis + 1 :]), wide.dtype)
        tail = [-1] + [1] * (x.ndim - self.axis - 1)
        for i, w in zip(index, weight):
            out += np.take(wide, i, self.axis) * w.astype(wide.dtype).reshape(tail)
        return out.astype(x.dtype)

    def vjp(self, g, out, x, index, weight, index_t, weight_t):
        return Taps(self.axis)(g, index_t, weight_t, index, weight), None, None, None, None

    def loops(self, k, x, index, weight, index_t, weight_t):
        z = k.at[self.axis]

        def term(t):
            at = list(k.at)
            at[self.axis] = k.index(k.load(index, [t, z]))
            return k.cast(k.load(weight, [t, z]), k.dtype) * k.load(x, at)

        return k.sum([index.shape[0]], term)

    def xla(self, jnp, x, index, weight, index_t, weight_t):
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        w = weight.astype(wide.dtype).reshape(*weight.shape, *[1] * (x.ndim - self.axis - 1))
        return jnp.sum(jnp.take(wide, index, self.axis) * w, self.axis).astype(x.dtype)

    def spmd(self, *types):
        a = "abcdefgh"[: self.axis]
        return f"{a}N...,tz,tz,UN,UN->{a}z..."

    @classmethod
    def samples(cls, rng):
        # whole weights, since the tests would ask floating ones for gradients
        index, weight, index_t, weight_t = tap_tables(rng.integers(-2, 3, (4, 6)) * 1.0)
        for axis, shape in ((0, (4, 3)), (1, (2, 4, 3)), (1, (3, 4))):
            x = rng.normal(size=shape).astype("float32")
            yield cls(axis), (x, index, weight.astype("int32"), index_t, weight_t.astype("int32"))


def tap_tables(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tables of Taps for the map out = x @ matrix, matrix [N, Z]: index, weight and those of the transpose."""

    def one_way(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = m.shape
        terms = max(int((m != 0).sum(0).max(initial=0)), 1)
        order = np.argsort(m == 0, axis=0, kind="stable")[:terms]
        weight = np.take_along_axis(m, order, 0) if rows else np.zeros((terms, columns))
        return np.ascontiguousarray(order, np.int32), np.ascontiguousarray(weight, np.float64)

    return (*one_way(matrix), *one_way(matrix.T))
