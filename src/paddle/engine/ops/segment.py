"""The greatest and the smallest of rows that go to the same place."""

from __future__ import annotations

import numpy as np

from ..errors import invalid_argument
from ..types import TensorType
from .elementwise import cast, equal
from .indexing import Gather, checked, index_shape
from .registry import Operator, absent, letters, operator


@operator
class RowExtreme(Operator):
    """out[k, ...] = the greatest (or smallest) of x[j, ...] over the j with at[j] = k; 0 where there is none.

    Shapes: x [N, ...], at [N] -> [count, ...]. The gradient goes to all of equals, as upstream has it.
    """

    count: int
    greatest: bool = True
    loops = absent("rows go where their numbers say: runs on the host")

    def infer(self, x: TensorType, at: TensorType) -> TensorType:
        shape = index_shape("segment", at)
        if len(shape) != 1 or not x.shape or shape[0] != x.shape[0]:
            raise invalid_argument(
                "segment: there is not one number for each row.", expected="x: [N, ...], numbers: [N]",
                received=f"x: {x}, numbers: {at}",
            )  # fmt: skip
        return x.with_shape((self.count, *x.shape[1:]))

    def numpy(self, x, at):
        i = checked(at, self.count, False)
        out = np.zeros((self.count, *x.shape[1:]), x.dtype)
        if x.size:
            order = np.argsort(i, kind="stable")
            ordered = i[order]
            first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
            out[ordered[first]] = (np.maximum if self.greatest else np.minimum).reduceat(x[order], first, axis=0)
        return out

    def vjp(self, g, out, x, at):
        there = cast(equal(x, Gather(0, False)(out, at)), g.dtype)
        return Gather(0, False)(g, at) * there, None

    def xla(self, jnp, x, at):
        worst = jnp.array(-np.inf if self.greatest else np.inf, jnp.float64)
        if x.dtype.kind in "iu":
            worst = jnp.iinfo(x.dtype).min if self.greatest else jnp.iinfo(x.dtype).max
        start = jnp.full((self.count, *x.shape[1:]), worst, x.dtype).at[at]
        found = start.max(x) if self.greatest else start.min(x)
        there = jnp.zeros(self.count, "int32").at[at].add(1) > 0
        return jnp.where(there.reshape((self.count,) + (1,) * (x.ndim - 1)), found, 0)

    def spmd(self, *types):
        rest = letters(types[0].ndim + 1)[2:]
        return f"N{rest},N->K{rest}"

    @classmethod
    def samples(cls, rng):
        x = rng.permutation(24).reshape(6, 4).astype("float32")
        yield cls(5), (x, np.array([0, 2, 2, 0, 4, 0]))
        yield cls(5, False), (x, np.array([0, 2, 2, 0, 4, 0], "int32"))
        yield cls(2), (rng.permutation(4), np.array([1, 1, 1, 1]))
        yield cls(3), (np.zeros((0, 2)), np.zeros(0, "int64"))
