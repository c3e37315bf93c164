"""Inverses, factors and eigenvalues of matrices: by LAPACK through numpy, with gradients in closed form.

Source of the gradients: Giles 2008, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation"; of QR, SVD and eigenvectors: Walter and Lehmann 2010, arXiv:1001.1654.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import types
from ..errors import invalid_argument
from ..types import TensorType
from .complex import part_of
from .creation import Eye, Triangle
from .elementwise import cast, conj, equal, sum_to
from .linalg import MatMul
from .logic import select
from .registry import Operator, absent, operator
from .shape import Slice, reshape, transpose


def need_matrices(name: str, x: TensorType, square: bool = True) -> None:
    """Refuses what is no stack of (square) floating matrices."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square matrices" if square else "matrices"
        raise invalid_argument(f"{name}: x is not made of {what}.", expected="[..., N, N]" if square else "[..., M, N]",
                               received=f"x: {x}")  # fmt: skip
    if x.dtype not in (types.float32, types.float64, types.complex64, types.complex128):
        raise invalid_argument(
            f"{name}: not for {x.dtype.name}.", expected="float32, float64 or complex", received=f"x: {x}"
        )


def adjoint(x: Any) -> Any:
    n = len(x.shape)
    return conj(transpose(x, (*range(n - 2), n - 1, n - 2)))


def mm(x: Any, y: Any) -> Any:
    return MatMul(False, False)(x, y)


def row(v: Any) -> Any:
    """A stack of vectors as rows of one: [..., N] -> [..., 1, N]."""
    return reshape(v, (*v.shape[:-1], 1, v.shape[-1]))


def column(v: Any) -> Any:
    return reshape(v, (*v.shape, 1))


def scalar(v: Any) -> Any:
    """A stack of numbers as 1 x 1 matrices."""
    return reshape(v, (*v.shape, 1, 1))


def tril(x: Any, diagonal: int = 0) -> Any:
    return Triangle(diagonal, True)(x)


def eye(n: int, m: int, dtype: Any) -> Any:
    return Eye(n, m, dtype)()


def diagonal_matrix(v: Any) -> Any:
    n = v.shape[-1]
    return column(v) * eye(n, n, v.dtype)


def positive(rng: np.random.Generator, *shape: int) -> np.ndarray:
    x = rng.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])


class Decomposition(Operator):
    """Base: stacks of matrices, of which each is needed whole."""

    rule: ClassVar[str] = "...AB->...AB"
    loops = absent("a factorization: runs on the host")

    def spmd(self, *types):
        return self.rule


def solvable(compute: Any, x: np.ndarray, fact: str = "a matrix is singular", kind: str = "invertible") -> np.ndarray:
    """compute(x); IndexError, which says of which matrix, where it has no result."""
    try:
        return compute(x)
    except np.linalg.LinAlgError:
        sound = np.linalg.cholesky if kind != "invertible" else np.linalg.inv
        for at in np.ndindex(x.shape[:-2]):
            try:
                sound(x[at])
            except np.linalg.LinAlgError:
                where = f", the matrix at {list(at)}" if at else ""
                raise IndexError(
                    f"{fact}.\n  expected: {kind} matrices\n  received: x: {x.dtype}{list(x.shape)}{where}"
                ) from None
        raise


@operator
class Inverse(Decomposition):
    """The inverse of each matrix."""

    fault = "invalid_argument"

    def infer(self, x: TensorType) -> TensorType:
        need_matrices("inverse", x)
        return x

    def numpy(self, x):
        return solvable(np.linalg.inv, x)

    def vjp(self, g, out, x):
        h = adjoint(out)
        return (-mm(mm(h, g), h),)

    def xla(self, jnp, x):
        return jnp.linalg.inv(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 3, 3),)
        yield cls(), (positive(rng, 2, 4, 4).astype("float32"),)


@operator
class Determinant(Decomposition):
    """The determinant of each matrix."""

    name = "det"
    rule = "...AB->..."

    def infer(self, x: TensorType) -> TensorType:
        need_matrices("det", x)
        return x.with_shape(x.shape[:-2])

    def numpy(self, x):
        return np.asarray(np.linalg.det(x))

    def vjp(self, g, out, x):
        return (scalar(g * conj(out)) * adjoint(Inverse()(x)),)

    def xla(self, jnp, x):
        return jnp.linalg.det(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 3, 3),)
        yield cls(), (positive(rng, 2, 2, 2).astype("float32"),)


@operator
class Slogdet(Decomposition):
    """Sign and log of the absolute value of the determinant of each matrix."""

    rule = "...AB->...,..."

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        need_matrices("slogdet", x)
        return x.with_shape(x.shape[:-2]), TensorType(x.shape[:-2], part_of(x.dtype) if x.dtype.is_complex else x.dtype)

    def numpy(self, x):
        return tuple(np.asarray(a) for a in np.linalg.slogdet(x))

    def vjp(self, g, out, x):
        return (None if g[1] is None else scalar(cast(g[1], x.dtype)) * adjoint(Inverse()(x)),)

    def xla(self, jnp, x):
        return tuple(jnp.linalg.slogdet(x))

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 2, 3, 3),)


@operator
class Mirrored(Decomposition):
    """The Hermitian matrices of which one triangle is given. The gradient is Hermitian.

    That is upstream's convention for functions of symmetric matrices, not the derivative in each element given; so
    the samples are matrices of one element, in which the two agree.
    """

    upper: bool = False

    def infer(self, x: TensorType) -> TensorType:
        need_matrices("mirrored", x)
        return x

    def numpy(self, x):
        return self.xla(np, x)

    def xla(self, jnp, x):
        turned = jnp.conj(jnp.swapaxes(x, -1, -2))
        return jnp.triu(x) + jnp.tril(turned, -1) if self.upper else jnp.tril(x) + jnp.triu(turned, 1)

    def vjp(self, g, out, x):
        return ((g + adjoint(g)) * 0.5,)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(3, 1, 1)).astype("float32"),)
        yield cls(True), (rng.normal(size=(1, 1)),)


def hermitian(x: np.ndarray) -> np.ndarray:
    """x, made exactly Hermitian."""
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2


@operator
class Cholesky(Decomposition):
    """The triangular factor L of each positive definite matrix L L^H (or U of U^H U), which is made Hermitian first."""

    fault = "invalid_argument"
    upper: bool = False

    def infer(self, x: TensorType) -> TensorType:
        need_matrices("cholesky", x)
        return x

    def numpy(self, x):
        lower = solvable(np.linalg.cholesky, hermitian(x), "a matrix is not positive definite", "positive definite")
        return np.conj(np.swapaxes(lower, -1, -2)) if self.upper else lower

    def vjp(self, g, out, x):
        low, gl = (adjoint(out), adjoint(g)) if self.upper else (out, g)
        inner = tril(mm(adjoint(low), gl))
        inner = inner - inner * eye(x.shape[-1], x.shape[-1], g.dtype) * 0.5
        inverse = Inverse()(low)
        s = mm(mm(adjoint(inverse), inner), inverse)
        return ((s + adjoint(s)) * 0.5,)

    def xla(self, jnp, x):
        low = jnp.linalg.cholesky((x + jnp.conj(jnp.swapaxes(x, -1, -2))) / 2)
        return jnp.conj(jnp.swapaxes(low, -1, -2)) if self.upper else low

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 2, 3, 3).astype("float32"),)
        yield cls(True), (positive(rng, 4, 4).astype("float32"),)


@operator
class Qr(Decomposition):
    """Q with orthonormal columns and R upper triangular, x = Q R; "reduced" or "complete"."""

    mode: str = "reduced"
    rule = "...AB->...CD,...EF"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        need_matrices("qr", x, False)
        m, n = x.shape[-2:]
        k = m if self.mode == "complete" else min(m, n)
        return x.with_shape((*x.shape[:-2], m, k)), x.with_shape((*x.shape[:-2], k, n))

    def numpy(self, x):
        q, r = np.linalg.qr(x, self.mode)
        return np.asarray(q), np.asarray(r)

    def vjp(self, g, out, x):
        (q, r), (gq, gr) = out, g
        m, n = x.shape[-2:]
        if m < n or q.shape[-1] != n:
            from ..errors import unimplemented

            raise unimplemented(
                "qr: this form has no gradient.",
                expected="mode='reduced' and no more columns than rows",
                received=f"mode={self.mode!r}",
            )
        inner = 0.0
        if gr is not None:
            inner = mm(r, adjoint(gr))
        if gq is not None:
            inner = inner - mm(adjoint(gq), q)
        low = tril(inner)
        whole = low + adjoint(tril(inner, -1))
        right = mm(q, whole) if gq is None else gq + mm(q, whole)
        return (mm(right, adjoint(Inverse()(r))),)

    def xla(self, jnp, x):
        return tuple(jnp.linalg.qr(x, self.mode))

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 4, 3)),)
        yield cls("complete"), (rng.normal(size=(3, 3)).astype("float32"),)


@operator
class Svd(Decomposition):
    """U, the singular values in falling order, and V^H, x = U diag(S) V^H."""

    full: bool = False
    rule = "...AB->...CD,...E,...FG"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType, TensorType]:
        need_matrices("svd", x, False)
        outer, (m, n) = x.shape[:-2], x.shape[-2:]
        k = min(m, n)
        values = TensorType((*outer, k), part_of(x.dtype) if x.dtype.is_complex else x.dtype)
        return (
            x.with_shape((*outer, m, m if self.full else k)),
            values,
            x.with_shape((*outer, n if self.full else k, n)),
        )

    def numpy(self, x):
        u, s, vh = np.linalg.svd(x, full_matrices=self.full)
        return u, s, vh

    def vjp(self, g, out, x):
        (u, s, vh), (gu, gs, gvh) = out, g
        m, n = x.shape[-2:]
        k = min(m, n)
        if self.full and (gu is not None or gvh is not None):
            u, gu = _cut(u, -1, k), None if gu is None else _cut(gu, -1, k)
            vh, gvh = _cut(vh, -2, k), None if gvh is None else _cut(gvh, -2, k)
        elif self.full:
            u, vh = _cut(u, -1, k), _cut(vh, -2, k)
        v, uh = adjoint(vh), adjoint(u)
        t = cast(s, x.dtype)
        dx: Any = None
        inner: Any = None
        if gs is not None:
            inner = diagonal_matrix(cast(gs, x.dtype))
        if gu is not None or gvh is not None:
            squares = row(t * t) - column(t * t)
            apart = equal(squares, 0)
            f = select(apart, 0, 1.0 / select(apart, 1, squares))
            if gu is not None:
                a = mm(uh, gu)
                part = f * (a - adjoint(a)) * row(t)
                inner = part if inner is None else inner + part
            if gvh is not None:
                b = mm(vh, adjoint(gvh))
                part = f * (b - adjoint(b)) * column(t)
                inner = part if inner is None else inner + part
        if inner is not None:
            dx = mm(mm(u, inner), vh)
        safe = select(equal(t, 0), 1, t)
        if gu is not None and m > k:
            rest = (gu - mm(u, mm(uh, gu))) / row(safe)
            dx = dx + mm(rest, vh)
        if gvh is not None and n > k:
            gv = adjoint(gvh)
            rest = (gv - mm(v, mm(vh, gv))) / row(safe)
            dx = dx + mm(u, adjoint(rest))
        return (dx,)

    def xla(self, jnp, x):
        return tuple(jnp.linalg.svd(x, full_matrices=self.full))

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3, 4)),)
        yield cls(), (rng.normal(size=(4, 2)).astype("float32"),)
        yield cls(True), (rng.normal(size=(3, 3)).astype("float32"),)


def _cut(x: Any, axis: int, k: int) -> Any:
    stops = list(x.shape)
    stops[axis] = k
    n = len(stops)
    return Slice((0,) * n, tuple(stops), (1,) * n)(x)


@operator
class Eigh(Decomposition):
    """Eigenvalues in rising order and eigenvectors of matrices that are made Hermitian first."""

    rule = "...AB->...A,...AB"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        need_matrices("eigh", x)
        return TensorType(x.shape[:-1], part_of(x.dtype) if x.dtype.is_complex else x.dtype), x

    def numpy(self, x):
        w, v = np.linalg.eigh(hermitian(x))
        return w, v

    def vjp(self, g, out, x):
        (w, v), (gw, gv) = out, g
        vh, t = adjoint(v), cast(w, x.dtype)
        inner: Any = None
        if gw is not None:
            inner = diagonal_matrix(cast(gw, x.dtype))
        if gv is not None:
            gaps = row(t) - column(t)
            same = equal(gaps, 0)
            part = mm(vh, gv) * select(same, 0, 1.0 / select(same, 1, gaps))
            inner = part if inner is None else inner + part
        s = mm(mm(v, inner), vh)
        return ((s + adjoint(s)) * 0.5,)

    def xla(self, jnp, x):
        return tuple(jnp.linalg.eigh((x + jnp.conj(jnp.swapaxes(x, -1, -2))) / 2, symmetrize_input=False))

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 2, 3, 3).astype("float32"),)
        yield cls(), (positive(rng, 4, 4),)


@operator
class Eig(Decomposition):
    """Eigenvalues and eigenvectors of any square matrices, complex."""

    rule = "...AB->...A,...AB"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        need_matrices("eig", x)
        dtype = types.complex128 if x.dtype in (types.float64, types.complex128) else types.complex64
        return TensorType(x.shape[:-1], dtype), TensorType(x.shape, dtype)

    def numpy(self, x):
        w, v = np.linalg.eig(x)
        dtype = np.complex128 if x.dtype in (np.float64, np.complex128) else np.complex64
        return w.astype(dtype), v.astype(dtype)

    def vjp(self, g, out, x):
        (w, v), (gw, gv) = out, g
        vh = adjoint(v)
        inner: Any = None
        if gw is not None:
            inner = diagonal_matrix(gw)
        if gv is not None:
            from .complex import Real

            gaps = conj(row(w) - column(w))
            same = equal(gaps, 0)
            a = mm(vh, gv)
            n = x.shape[-1]
            lengths = cast(Real()(_sum_rows(a * eye(n, n, a.dtype))), a.dtype)  # vectors have length 1
            part = (a - mm(vh, v * row(lengths))) * select(same, 0, 1.0 / select(same, 1, gaps))
            inner = part if inner is None else inner + part
        dx = Solve()(vh, mm(inner, vh))
        if not x.dtype.is_complex:
            from .complex import Real

            dx = Real()(dx)
        return (dx,)

    def xla(self, jnp, x):
        return tuple(jnp.linalg.eig(x))

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 2, 3, 3),)


def _sum_rows(x: Any) -> Any:
    from .reduction import sum_

    return sum_(x, (len(x.shape) - 2,))


@operator
class Solve(Decomposition):
    """The X with A X = B; leading axes broadcast."""

    fault = "invalid_argument"
    rule = "...AB,...Ac->...Ac"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        from .elementwise import broadcast

        need_matrices("solve", a)
        if b.ndim < 2 or b.shape[-2] != a.shape[-1] or a.dtype is not b.dtype:
            raise invalid_argument(
                "solve: the sides do not fit.", expected="A [..., N, N], B [..., N, K] of one type",
                received=f"A: {a}, B: {b}",
            )  # fmt: skip
        outer = broadcast("solve", a.with_shape(a.shape[:-2]), b.with_shape(b.shape[:-2]))
        return b.with_shape((*outer, *b.shape[-2:]))

    def numpy(self, a, b):
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return solvable(lambda a: np.linalg.solve(a, np.broadcast_to(b, (*outer, *b.shape[-2:]))), a)

    def vjp(self, g, out, a, b):
        db = Solve()(adjoint(a), g)
        return sum_to(-mm(db, adjoint(out)), tuple(a.shape)), sum_to(db, tuple(b.shape))

    def xla(self, jnp, a, b):
        return jnp.linalg.solve(a, b)

    @classmethod
    def samples(cls, rng):
        yield cls(), (positive(rng, 2, 3, 3), rng.normal(size=(2, 3, 2)))
        yield cls(), (positive(rng, 3, 3).astype("float32"), rng.normal(size=(4, 3, 1)).astype("float32"))


@operator
class TriangularSolve(Decomposition):
    """The X with A X = B for triangular A (the other triangle is not read); leading axes broadcast."""

    upper: bool = True
    transposed: bool = False
    unit: bool = False
    rule = "...AB,...Ac->...Ac"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return Solve().infer(a, b)

    def triangle(self, a: np.ndarray) -> np.ndarray:
        t = np.triu(a) if self.upper else np.tril(a)
        if self.unit:
            n = a.shape[-1]
            t = t * (1 - np.eye(n, dtype=a.dtype)) + np.eye(n, dtype=a.dtype)
        return np.swapaxes(t, -1, -2) if self.transposed else t

    def numpy(self, a, b):
        return Solve().numpy(self.triangle(a), b)

    def vjp(self, g, out, a, b):
        complex_ = a.dtype.is_complex
        db = TriangularSolve(self.upper, not self.transposed, self.unit)(conj(a) if complex_ else a, g)
        da = -(mm(conj(out), transpose_last(db)) if self.transposed else mm(db, adjoint(out)))
        da = Triangle(1 if self.unit else 0, False)(da) if self.upper else tril(da, -1 if self.unit else 0)
        return sum_to(da, tuple(a.shape)), sum_to(db, tuple(b.shape))

    def xla(self, jnp, a, b):
        outer = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return jnp.lax.linalg.triangular_solve(
            jnp.broadcast_to(a, (*outer, *a.shape[-2:])),
            jnp.broadcast_to(b, (*outer, *b.shape[-2:])),
            left_side=True,
            lower=not self.upper,
            transpose_a=self.transposed,
            unit_diagonal=self.unit,
        )

    @classmethod
    def samples(cls, rng):
        a = positive(rng, 2, 3, 3)
        b = rng.normal(size=(2, 3, 2))
        for upper in (True, False):
            yield cls(upper), (a, b)
            yield cls(upper, True), (a, b)
            yield cls(upper, False, True), (a, b)


def transpose_last(x: Any) -> Any:
    n = len(x.shape)
    return transpose(x, (*range(n - 2), n - 1, n - 2))
