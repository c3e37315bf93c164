"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import invalid_argument, need_equal_dtypes
from ..types import TensorType, bfloat16, broadcast_shapes, int8, int32
from .elementwise import conj, sum_to
from .registry import Operator, operator
from .shape import reshape


@operator
class MatMul(Operator):
    """out[..., i, j] = sum over k of x[..., i, k] * y[..., k, j]; the last two axes of x, y swapped where asked.

    Shapes: x [..., M, K], y [..., K, N] -> out [..., M, N]; the leading axes broadcast.
    Dtypes: of the arguments; int8 gives int32. Sums of 16-bit floats are float32 and rounded once.
    """

    transpose_x: bool = False
    transpose_y: bool = False
    name = "matmul"

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        assert x.ndim >= 2 and y.ndim >= 2, (x, y)
        m, inner = x.shape[-2:][:: -1 if self.transpose_x else 1]
        other, n = y.shape[-2:][:: -1 if self.transpose_y else 1]
        if inner != other:
            raise invalid_argument(
                "matmul: the inner sizes differ.",
                expected=f"x.shape[{-2 if self.transpose_x else -1}] == y.shape[{-1 if self.transpose_y else -2}]",
                received=f"x: {x}, y: {y}",
                hint=self.hint(x, y),
            )
        need_equal_dtypes("matmul", x=x, y=y)
        try:
            batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
        except ValueError:
            raise invalid_argument(
                "matmul: the leading axes do not broadcast.",
                expected="equal sizes, or 1, in all but the last two axes",
                received=f"x: {x}, y: {y}",
            ) from None
        return TensorType((*batch, m, n), int32 if x.dtype is int8 else x.dtype)

    def hint(self, x: TensorType, y: TensorType) -> str:
        if not self.transpose_y and x.shape[-1] == y.shape[-1]:
            return "pass transpose_y=True if y is stored as [out, in]."
        return ""

    def numpy(self, x, y):
        x = np.swapaxes(x, -1, -2) if self.transpose_x else x
        y = np.swapaxes(y, -1, -2) if self.transpose_y else y
        if x.dtype.itemsize < 4 and x.dtype.kind not in "iub":
            return np.matmul(x.astype("float32"), y.astype("float32")).astype(x.dtype)
        return np.matmul(x, y, dtype="int32" if x.dtype == "int8" else None)

    def vjp(self, g, out, x, y):
        tx, ty = self.transpose_x, self.transpose_y
        xc, yc = conj(x), conj(y)
        dx = MatMul(ty, True)(yc, g) if tx else MatMul(False, not ty)(g, yc)
        dy = MatMul(True, tx)(g, xc) if ty else MatMul(not tx, False)(xc, g)
        return sum_to(dx, tuple(x.shape)), sum_to(dy, tuple(y.shape))

    def loops(self, k, x, y):
        *batch, i, j = k.at
        lead = lambda t: [0 if n == 1 else b for n, b in zip(t.shape[:-2], batch[len(batch) - len(t.shape) + 2 :])]  # noqa: E731
        bx, by = lead(x), lead(y)

        def term(q):
            a = k.load(x, [*bx, q, i] if self.transpose_x else [*bx, i, q])
            b = k.load(y, [*by, j, q] if self.transpose_y else [*by, q, j])
            return k.cast(a, int32) * k.cast(b, int32) if x.dtype is int8 else a * b

        return k.sum([x.shape[-2 if self.transpose_x else -1]], term)

    def xla(self, jnp, x, y):
        x = jnp.swapaxes(x, -1, -2) if self.transpose_x else x
        y = jnp.swapaxes(y, -1, -2) if self.transpose_y else y
        return jnp.matmul(x, y, preferred_element_type="int32" if x.dtype == "int8" else None)

    def spmd(self, *types):
        left = "...km" if self.transpose_x else "...mk"
        right = "...nk" if self.transpose_y else "...kn"
        return f"{left},{right}->...mn"

    @classmethod
    def samples(cls, rng):
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(), (f(3, 5), f(5, 4))
        yield cls(True, False), (f(5, 3), f(5, 4))
        yield cls(False, True), (f(3, 5), f(4, 5))
        yield cls(True, True), (f(5, 3), f(4, 5))
        yield cls(), (f(2, 3, 5), f(2, 5, 4))
        yield cls(False, True), (f(2, 1, 3, 5), f(3, 4, 5))
        yield cls(), (f(17, 33), f(33, 9))
        yield cls(), (f(0, 5), f(5, 4))
        yield cls(), (f(3, 0), f(0, 4))
        yield cls(), (rng.normal(size=(7, 3)), rng.normal(size=(3, 2)))
        yield cls(), (rng.integers(-5, 5, (4, 3)), rng.integers(-5, 5, (3, 2)))
        for dtype in ("float16", bfloat16.np):
            yield cls(False, True), (f(5, 33).astype(dtype), f(18, 33).astype(dtype))
            yield cls(True, False), (f(2, 34, 5).astype(dtype), f(34, 7).astype(dtype))
        yield cls(), (rng.integers(-128, 128, (5, 30), "int8"), rng.integers(-128, 128, (30, 17), "int8"))


_PLAIN = {(tx, ty): MatMul(tx, ty) for tx in (False, True) for ty in (False, True)}


def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """The product as `paddle.matmul` means it: vectors lose their axis, a batch times one matrix is one product."""
    xs, ys = tuple(x.shape), tuple(y.shape)
    if len(xs) == 0 or len(ys) == 0:
        raise invalid_argument(
            "matmul: an argument is 0-D.", expected="at least one axis", received=f"x: {x.type}, y: {y.type}"
        )
    if len(xs) == 2 == len(ys):
        return _PLAIN[transpose_x, transpose_y](x, y)
    if len(xs) == 1 or len(ys) == 1:
        a = reshape(x, (1, *xs)) if len(xs) == 1 else x
        b = reshape(y, (*ys, 1)) if len(ys) == 1 else y
        out = MatMul(transpose_x and len(xs) > 1, transpose_y and len(ys) > 1)(a, b)
        shape = tuple(out.shape)
        shape = shape[:-2] + (() if len(xs) == 1 else shape[-2:-1]) + (() if len(ys) == 1 else shape[-1:])
        return reshape(out, shape)
    if len(ys) == 2 and not transpose_x:
        rows = 1
        for n in xs[:-1]:
            rows *= n
        out = MatMul(False, transpose_y)(reshape(x, (rows, xs[-1])), y)
        return reshape(out, (*xs[:-1], out.shape[-1]))
    return MatMul(transpose_x, transpose_y)(x, y)
