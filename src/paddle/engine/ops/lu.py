"""LU factors with row swaps."""

from __future__ import annotations

import numpy as np

from .. import types
from ..types import TensorType
from .along import TakeAlong
from .creation import Triangle
from .decomposition import Decomposition, TriangularSolve, adjoint, column, eye, mm, need_matrices, tril
from .join import concat
from .registry import Operator, absent, operator
from .search import Argsort
from .shape import broadcast_to, slice_axis


@operator
class Lu(Decomposition):
    """L (below the diagonal, ones on it) and U of P x = L U in one matrix, and the row swaps, from 1, int32."""

    rule = "...AB->...AB,...C"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        need_matrices("lu", x, False)
        return x, TensorType((*x.shape[:-2], min(x.shape[-2:])), types.int32)

    def numpy(self, x):
        lu = np.array(x)
        m, n = x.shape[-2:]
        pivots = np.zeros((*x.shape[:-2], min(m, n)), "int32")
        for i in np.ndindex(x.shape[:-2]):
            a = lu[i]
            for k in range(min(m, n)):
                p = k + int(np.argmax(np.abs(a[k:, k])))
                pivots[i][k] = p + 1
                if p != k:
                    a[[k, p]] = a[[p, k]]
                if a[k, k] != 0:
                    a[k + 1 :, k] /= a[k, k]
                    a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        return lu, pivots

    def xla(self, jnp, x):
        lu, pivots, _ = jnp.lax.linalg.lu(x)
        return lu, pivots.astype("int32") + 1

    def vjp(self, g, out, x):
        # Of equations that hold block by block: L1 U1 = A1; below it L2 U1 = A2, or beside it L1 U2 = A2 (A = P x).
        (lu, pivots), g = out, g[0]
        if g is None:
            return (None,)
        m, n = x.shape[-2:]
        k, rows, columns = min(m, n), len(x.shape) - 2, len(x.shape) - 1
        upper = Triangle(0, False)
        square, gs = (slice_axis(slice_axis(t, rows, 0, k), columns, 0, k) for t in (lu, g))
        low, up = tril(square, -1) + eye(k, k, x.dtype), upper(square)
        g_low, g_up, rest = tril(gs, -1), upper(gs), None
        if m > n:
            rest = adjoint(TriangularSolve(True)(up, adjoint(slice_axis(g, rows, k, m))))
            g_up = g_up - upper(mm(adjoint(slice_axis(lu, rows, k, m)), rest))
        elif n > m:
            rest = TriangularSolve(True)(adjoint(low), slice_axis(g, columns, k, n))
            g_low = g_low - tril(mm(rest, adjoint(slice_axis(lu, columns, k, n))), -1)
        inner = tril(mm(adjoint(low), g_low), -1) + upper(mm(g_up, adjoint(up)))
        inner = TriangularSolve(True)(adjoint(low), inner)
        dx = adjoint(TriangularSolve(True)(up, adjoint(inner)))
        if rest is not None:
            dx = concat([dx, rest], rows if m > n else columns)
        back = Argsort(rows)(PivotOrder(m)(pivots))
        return (TakeAlong(rows)(dx, broadcast_to(column(back), tuple(x.shape))),)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3, 3)),)
        yield cls(), (rng.normal(size=(4, 3)).astype("float32"),)
        yield cls(), (rng.normal(size=(2, 4)),)


@operator
class PivotOrder(Operator):
    """The order of rows that swaps lead to: swap j puts row pivots[j] - 1 in the place of row j and that one in its.

    Shapes: pivots [..., K] -> int64 [..., size].
    """

    size: int
    vjp = absent("positions have no gradient")
    loops = absent("a swap needs those before it: runs on the host")

    def infer(self, pivots: TensorType) -> TensorType:
        return TensorType((*pivots.shape[:-1], self.size), types.int64)

    def numpy(self, pivots):
        order = np.broadcast_to(np.arange(self.size), (*pivots.shape[:-1], self.size)).copy()
        for at in np.ndindex(pivots.shape[:-1]):
            row = order[at]
            for j, p in enumerate(pivots[at]):
                row[[j, p - 1]] = row[[p - 1, j]]
        return order

    def xla(self, jnp, pivots):
        return jnp.lax.linalg.lu_pivots_to_permutation(pivots - 1, self.size).astype("int64")

    def spmd(self, *types):
        return "...K->...M"

    @classmethod
    def samples(cls, rng):
        yield cls(4), (np.array([[3, 2, 4], [1, 4, 3]], "int32"),)
        yield cls(2), (np.array([2, 2], "int32"),)
