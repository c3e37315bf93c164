"""Inverses, factors, eigenvalues and equations of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.ops import decomposition as ops
from ..engine.ops import linalg as products
from ..engine.ops.elementwise import cast, conj, greater_than, sqrt
from ..engine.ops.logic import select
from ..engine.ops.lu import Lu
from ..engine.ops.math import abs_
from ..engine.ops.reduction import Max, mean_, sum_
from ..engine.ops.shape import reshape
from ..utils.public import METHODS, public
from .arguments import fill_out, int_argument
from .creation import copy_of
from .eager import on_host
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = ["cholesky", "eigvalsh", "inverse", "matrix_transpose"]  # the others are in `paddle.linalg` alone


def _square(x: Tensor, name: str, kind: type[Exception] = ValueError) -> Tensor:
    if x.ndim < 2 or x.type.shape[-1] != x.type.shape[-2]:
        raise kind(
            errors.message("InvalidArgument", f"{name}: x is not made of square matrices.", "[..., N, N]", f"{x.type}")
        )
    return x


def _matrices(x: Tensor, name: str, floating: bool = False, kind: type[Exception] = ValueError) -> Tensor:
    if x.ndim < 2:
        raise kind(errors.message("InvalidArgument", f"{name}: x is not made of matrices.", "[..., M, N]", f"{x.type}"))
    if floating and x.dtype.kind not in "fc":
        raise errors.invalid_argument(
            f"{name}: not for {x.dtype.name}.",
            expected="float32, float64 or complex",
            received=f"x: {x.type}",
            hint="cast it, as in x.astype('float32').",
        )
    return x


@public(method=True)
def inverse(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse of each square matrix [..., N, N].

    Raises:
        ValueError: x is not made of square matrices; when the values are read, a matrix is singular.

    Examples:
        >>> paddle.inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return ops.Inverse()(need_tensor(x, "inverse"))


inv = inverse


def det(x: Tensor, name: str | None = None) -> Tensor:
    """The determinant of each square matrix [..., N, N].

    Examples:
        >>> round(paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item(), 4)
        8.0
    """
    return ops.Determinant()(need_tensor(x, "det"))


@public(method=True)
def slogdet(x: Tensor, name: str | None = None) -> Tensor:
    """Sign and log of the absolute value of the determinant of each matrix: [2, ...].

    Examples:
        >>> [round(v, 4) for v in paddle.linalg.slogdet(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()]
        [1.0, 2.0794]
    """
    from ..engine.ops.join import Concat

    sign, size = ops.Slogdet()(need_tensor(x, "slogdet"))
    one = lambda t: reshape(cast(t, sign.dtype), (1, *t.type.shape))  # noqa: E731
    return Concat(0)(one(sign), one(size))


@public(method=True)
def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The triangular factor L of each positive definite matrix L L^H, or U of U^H U. The gradient is symmetric.

    Raises:
        ValueError: when the values are read, a matrix is not positive definite. AssertionError: not square.

    Examples:
        >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
    """
    _square(no_method(x, "cholesky"), "cholesky", AssertionError)
    return ops.Cholesky(flag(upper, "upper"))(ops.Mirrored(flag(upper, "upper"))(x))


@public(method=True)
def cholesky_solve(x: Tensor, y: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The X with A X = x, from the Cholesky factor y of A.

    Examples:
        >>> paddle.linalg.cholesky_solve(paddle.to_tensor([[4.0]]), paddle.to_tensor([[2.0]])).tolist()
        [[1.0]]
    """
    need_tensor(x, "cholesky_solve", kind=TypeError)
    need_tensor(y, "cholesky_solve", "y", TypeError)
    if upper:
        half = ops.TriangularSolve(True, True)(conj(y), x)
        return ops.TriangularSolve(True, False)(y, half)
    half = ops.TriangularSolve(False, False)(y, x)
    return ops.TriangularSolve(False, True)(conj(y), half)


@public(method=True)
def cholesky_inverse(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The inverse of A, from its Cholesky factor x.

    Examples:
        >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0]])).tolist()
        [[0.25]]
    """
    _square(no_method(x, "cholesky_inverse"), "cholesky_inverse")
    return cholesky_solve(ops.eye(x.type.shape[-1], x.type.shape[-1], x.dtype), x, upper)


@public(method=True)
def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> Any:
    """Q with orthonormal columns and R upper triangular, x = Q R.

    Args:
        x (Tensor): [..., M, N]. mode (str): "reduced", "complete" (Q is square), or "r" (R alone).

    Raises:
        ValueError: no such mode, or x is no matrix.

    Examples:
        >>> q, r = paddle.linalg.qr(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> bool(paddle.allclose(q @ r, paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), atol=1e-5))
        True
    """
    need_tensor(x, "qr")
    if mode not in ("reduced", "complete", "r"):
        raise errors.invalid_argument("qr: no such mode.", expected="reduced, complete or r", received=repr(mode))
    q, r = ops.Qr("complete" if mode == "complete" else "reduced")(x)
    return r if mode == "r" else (q, r)


def svd(x: Tensor, full_matrices: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """U, the singular values in falling order, and V^H, x = U diag(S) V^H.

    Args:
        x (Tensor): [..., M, N]. full_matrices (bool): U and V are square.

    Examples:
        >>> [round(v, 4) for v in paddle.linalg.svd(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]]))[1].tolist()]
        [4.0, 3.0]
    """
    found = ops.Svd(flag(full_matrices, "full_matrices"))(need_tensor(x, "svd"))
    return found if out is None else tuple(fill_out(t, o) for t, o in zip(found, out))


def svdvals(x: Tensor, name: str | None = None) -> Tensor:
    """The singular values of matrices, in falling order.

    Examples:
        >>> [round(v, 4) for v in paddle.linalg.svdvals(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()]
        [4.0, 3.0]
    """
    return ops.Svd()(need_tensor(x, "svdvals"))[1]


def _triangle(UPLO: str, name: str) -> bool:
    if UPLO not in ("L", "U"):
        raise errors.invalid_argument(f"{name}: no such triangle.", expected="'L' or 'U'", received=repr(UPLO))
    return UPLO == "U"


def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues in rising order and eigenvectors (columns) of Hermitian matrices, of which one triangle is read.

    Examples:
        >>> paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
        [1.0, 2.0]
    """
    _square(no_method(x, "eigh"), "eigh")
    return ops.Eigh()(ops.Mirrored(_triangle(UPLO, "eigh"))(x))


@public(method=True)
def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """Eigenvalues of Hermitian matrices in rising order.

    Examples:
        >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [1.0, 2.0]
    """
    _square(no_method(x, "eigvalsh"), "eigvalsh")
    return ops.Eigh()(ops.Mirrored(_triangle(UPLO, "eigvalsh"))(x))[0]


@public(method=True)
def eig(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors (columns) of square matrices, complex.

    Examples:
        >>> paddle.linalg.eig(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
        [(2+0j), (1+0j)]
    """
    return ops.Eig()(need_tensor(x, "eig"))


@public(method=True)
def eigvals(x: Tensor, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex.

    Examples:
        >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [(2+0j), (1+0j)]
    """
    return ops.Eig()(_square(no_method(x, "eigvals"), "eigvals"))[0]


@public(also={"x": "A", "y": "B"}, method=True)
def solve(x: Tensor, y: Tensor, left: bool = True, name: str | None = None, *, out: Any = None) -> Tensor:
    """The X with x X = y, or X x = y unless `left`; leading axes broadcast.

    Args:
        x (Tensor): [..., N, N]. y (Tensor): [..., N, K], or a vector [..., N].

    Examples:
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([2.0, 4.0])).tolist()
        [1.0, 1.0]
    """
    need_tensor(x, "solve")
    need_tensor(y, "solve", "y")
    if y.ndim == 1 or (y.ndim == x.ndim - 1 and y.type.shape == x.type.shape[:-1]):
        t = ops.Solve()(x, reshape(y, (*y.type.shape, 1)))
        return fill_out(reshape(t, t.type.shape[:-1]), out)
    if not left:
        t = ops.transpose_last(ops.Solve()(ops.transpose_last(x), ops.transpose_last(y)))
        return fill_out(t, out)
    return fill_out(ops.Solve()(x, y), out)


def triangular_solve(x: Tensor, y: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False,
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The X with x X = y for triangular x; leading axes broadcast.

    Args:
        upper (bool): which triangle of x is read. transpose (bool): x is transposed then.
        unitriangular (bool): its diagonal counts as ones.

    Examples:
        >>> paddle.linalg.triangular_solve(paddle.to_tensor([[2.0]]), paddle.to_tensor([[4.0]])).tolist()
        [[2.0]]
    """
    need_tensor(x, "triangular_solve", kind=TypeError)
    need_tensor(y, "triangular_solve", "y", TypeError)
    form = flag(upper, "upper"), flag(transpose, "transpose"), flag(unitriangular, "unitriangular")
    return ops.TriangularSolve(*form)(x, y)


METHODS["triangular_solve"] = triangular_solve


@public(method=True)
def lstsq(x: Tensor, y: Tensor, rcond: float | None = None, driver: str | None = None,
          name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The X of least squares |x X - y|, by singular values.

    Args:
        x (Tensor): [..., M, N]. y (Tensor): [..., M, K].
        rcond (float, optional): singular values below rcond times the greatest count as 0.
        driver (str, optional): "gels", "gelsy" (default), "gelsd" or "gelss": which of the other results are
            filled, as upstream.

    Returns:
        tuple: X, the sums of squared residuals (M > N and full rank only), ranks, singular values.

    Examples:
        >>> best = paddle.linalg.lstsq(paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([[1.0], [3.0]]))[0]
        >>> round(best.item(), 4)
        2.0
    """
    need_tensor(x, "lstsq", kind=TypeError)
    need_tensor(y, "lstsq", "y", TypeError)
    _matrices(x, "lstsq", True)
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise errors.invalid_argument("lstsq: no such driver.", expected="gels, gelsy, gelsd, gelss", received=driver)
    m, n = x.type.shape[-2:]
    u, s, vh = ops.Svd()(x)
    if rcond is None:
        rcond = float(np.finfo(x.dtype.np).eps) * max(m, n)
    kept = greater_than(s, Max((s.ndim - 1,), True)(s) * float(rcond))
    inverse = select(kept, 1.0 / select(kept, s, 1.0), 0.0)
    solution = ops.mm(ops.adjoint(vh) * ops.row(inverse), ops.mm(ops.adjoint(u), y))
    rank = sum_(cast(kept, types.int32), (s.ndim - 1,))
    empty = lambda d: _zeros((0,), d)  # noqa: E731
    residuals = empty(x.dtype)
    if m > n and driver != "gelsy":
        d = ops.mm(x, solution) - y
        residuals = sum_(d * d, (d.ndim - 2,))
    values = s if driver in ("gelsd", "gelss") else empty(x.dtype)
    return solution, residuals, rank if driver != "gels" else empty(types.int64), values


def _zeros(shape: tuple[int, ...], dtype: Any) -> Tensor:
    from ..engine.ops.creation import Full

    return Full(shape, 0, dtype)()


@public(method=True)
def pinv(x: Tensor, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverse of matrices [..., M, N]: singular values below rcond times the greatest count as 0.

    Examples:
        >>> paddle.linalg.pinv(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    need_tensor(x, "pinv")
    _matrices(x, "pinv", True)
    floor = max(x.type.shape[-2:]) * float(np.finfo(x.dtype.np).eps)
    if hermitian:
        w, v = ops.Eigh()(_square(x, "pinv"))
        size, left, right = abs_(w), v, ops.adjoint(v)
    else:
        u, w, vh = ops.Svd()(x)
        size, left, right = w, ops.adjoint(vh), ops.adjoint(u)
    bound = Max((size.ndim - 1,), True)(size) * (max(float(rcond), floor) if not isinstance(rcond, Tensor) else rcond)
    kept = greater_than(size, bound)
    inverse = select(kept, 1.0 / select(kept, w, 1.0), 0.0)
    return ops.mm(left * cast(ops.row(inverse), left.dtype), right)


@public(method=True)
def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The n-th power of square matrices; of the inverse for a negative n.

    Examples:
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]]), 2).tolist()
        [[4.0, 0.0], [0.0, 9.0]]
    """
    _square(need_tensor(x, "matrix_power", kind=TypeError), "matrix_power")
    n = int_argument(n, "matrix_power", "n")
    if n == 0:
        return x * 0.0 + ops.eye(x.type.shape[-1], x.type.shape[-1], x.dtype)
    base, out, n = (ops.Inverse()(x) if n < 0 else x), None, abs(n)
    while n:
        if n & 1:
            out = base if out is None else ops.mm(out, base)
        n >>= 1
        if n:
            base = ops.mm(base, base)
    return copy_of(x) if out is x else out  # type: ignore[return-value]


def matrix_exp(x: Tensor, name: str | None = None) -> Tensor:
    """The exponential of square matrices, by scaling and squaring of a Padé quotient.

    Source: Higham 2005, doi:10.1137/04061101X, for the degree 13.

    Examples:
        >>> paddle.linalg.matrix_exp(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    _square(need_tensor(x, "matrix_exp", kind=TypeError), "matrix_exp")
    b = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0,
         1.0)  # fmt: skip
    n = x.type.shape[-1]
    if not x.type.size:
        return x * 1
    dtype = x.dtype
    a = cast(x, types.float64) if dtype is types.float32 else x  # the coefficients span sixteen orders of magnitude
    size = float(np.abs(x.array()).sum(-2).max()) if x.type.size else 0.0
    halvings = max(0, int(np.ceil(np.log2(size / 5.37)))) if np.isfinite(size) and size > 5.37 else 0
    a = a * (0.5**halvings)
    e = ops.eye(n, n, a.dtype)
    a2 = ops.mm(a, a)
    a4 = ops.mm(a2, a2)
    a6 = ops.mm(a4, a2)
    odd = ops.mm(a, ops.mm(a6, a6 * b[13] + a4 * b[11] + a2 * b[9]) + a6 * b[7] + a4 * b[5] + a2 * b[3] + e * b[1])
    even = ops.mm(a6, a6 * b[12] + a4 * b[10] + a2 * b[8]) + a6 * b[6] + a4 * b[4] + a2 * b[2] + e * b[0]
    out = ops.Solve()(even - odd, even + odd)
    for _ in range(halvings):
        out = ops.mm(out, out)
    return cast(out, dtype)


@public(method=True)
def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """x with its last two axes swapped.

    Examples:
        >>> paddle.matrix_transpose(paddle.ones([2, 3])).shape
        paddle.Size([3, 2])
    """
    if no_method(x, "matrix_transpose").ndim < 2:
        raise errors.invalid_argument(
            "matrix_transpose: x is no matrix.", received=f"x: {x.type}", expected="at least two axes"
        )
    return x.mT  # type: ignore[no-any-return, attr-defined]


# ---- LU ---------------------------------------------------------------------------------------
@public(method=True)
def lu(x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """L and U of P x = L U in one matrix, and the row swaps from 1 (int32); with `get_infos` also zeros.

    Examples:
        >>> paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]]))[1].tolist()
        [2, 2]
    """
    if not pivot:
        raise errors.invalid_argument("lu: only with pivots.", expected="pivot=True", received="False")
    factors, pivots = Lu()(need_tensor(x, "lu"))
    return (factors, pivots, _zeros(x.type.shape[:-2], types.int32)) if get_infos else (factors, pivots)


def _permutation(pivots: np.ndarray, m: int) -> np.ndarray:
    """Matrices P [..., m, m] with x = P L U, from row swaps."""
    out = np.zeros((*pivots.shape[:-1], m, m))
    for i in np.ndindex(pivots.shape[:-1]):
        rows = np.arange(m)
        for k, p in enumerate(pivots[i]):
            rows[[k, p - 1]] = rows[[p - 1, k]]
        out[i][rows, np.arange(m)] = 1
    return out


@public(method=True)
def lu_unpack(x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True,
              name: str | None = None) -> tuple[Any, Any, Any]:  # fmt: skip
    """P, L and U from what `lu` gives; None for what is not asked for.

    Examples:
        >>> a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(a))
        >>> bool(paddle.allclose(p @ l @ u, a))
        True
    """
    need_tensor(x, "lu_unpack", kind=TypeError)
    need_tensor(y, "lu_unpack", "y", TypeError)
    _matrices(x, "lu_unpack")
    _pivots(y, "lu_unpack")
    m, n = x.type.shape[-2:]
    k = min(m, n)
    p = low = up = None
    if unpack_ludata:
        low = ops.tril(ops._cut(x, -1, k), -1) + ops.eye(m, k, x.dtype)
        up = ops.Triangle(0, False)(ops._cut(x, -2, k))
    if unpack_pivots:
        p = on_host(lambda v: _permutation(v, m).astype(x.dtype.np), y)
    return p, low, up


def _pivots(y: Tensor, name: str) -> None:
    if y.dtype.name != "int32":
        raise errors.invalid_argument(
            f"{name}: the pivots are not those of lu.", expected="int32, from paddle.linalg.lu", received=f"{y.type}"
        )


def lu_solve(b: Tensor, lu: Tensor, pivots: Tensor, trans: str = "N", name: str | None = None) -> Tensor:
    """The X with A X = b ("N"), A^T X = b ("T") or A^H X = b ("C"), from what `lu` gives for A.

    Examples:
        >>> a = paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> paddle.linalg.lu_solve(paddle.to_tensor([[2.0], [4.0]]), *paddle.linalg.lu(a)).tolist()
        [[1.0], [1.0]]
    """
    for t, label in ((b, "b"), (lu, "lu"), (pivots, "pivots")):
        need_tensor(t, "lu_solve", label, TypeError)
    if trans not in ("N", "T", "C"):
        raise errors.invalid_argument("lu_solve: no such form.", expected="N, T or C", received=repr(trans))
    _square(lu, "lu_solve")
    _pivots(pivots, "lu_solve")
    p = on_host(lambda v: _permutation(v, lu.type.shape[-1]).astype(lu.dtype.np), pivots)
    if trans == "N":
        half = ops.TriangularSolve(False, False, True)(lu, ops.mm(ops.transpose_last(p), b))
        return ops.TriangularSolve(True)(lu, half)
    factors = conj(lu) if trans == "C" else lu
    half = ops.TriangularSolve(False, True, True)(factors, ops.TriangularSolve(True, True)(factors, b))
    return ops.mm(p, half)


# ---- reflections ------------------------------------------------------------------------------
def _reflections(x: Tensor, tau: Tensor) -> Tensor:
    """The product of I - tau v v^H, v the columns of x below the diagonal with 1 on it: [..., M, M]."""
    m = x.type.shape[-2]
    out = ops.eye(m, m, x.dtype)
    for i in range(tau.type.shape[-1]):
        column = ops.tril(x, -1)
        v = _column(column, i) + _column(ops.eye(m, m, x.dtype), i)
        t = reshape(
            _column(reshape(tau, (*tau.type.shape[:-1], 1, tau.type.shape[-1])), i), (*tau.type.shape[:-1], 1, 1)
        )
        out = ops.mm(out, ops.eye(m, m, x.dtype) - t * ops.mm(v, ops.adjoint(v)))
    return out


def _column(x: Any, i: int) -> Any:
    from ..engine.ops.shape import slice_axis

    return slice_axis(x, len(x.shape) - 1, i, i + 1)


@public(method=True)
def householder_product(x: Tensor, tau: Tensor, name: str | None = None) -> Tensor:
    """The first N columns of the product of Householder reflections, as a QR factorization stores them.

    Args:
        x (Tensor): [..., M, N], the vectors below the diagonal. tau (Tensor): [..., K], their factors.

    Examples:
        >>> paddle.linalg.householder_product(paddle.ones([2, 1]), paddle.zeros([1])).tolist()
        [[1.0], [0.0]]
    """
    need_tensor(x, "householder_product", kind=TypeError)
    need_tensor(tau, "householder_product", "tau", TypeError)
    _matrices(x, "householder_product", True, AssertionError)
    return ops._cut(_reflections(x, tau), -1, x.type.shape[-1])


@public(method=True)
def ormqr(x: Tensor, tau: Tensor, y: Tensor, left: bool = True, transpose: bool = False,
          name: str | None = None) -> Tensor:  # fmt: skip
    """Q y (or y Q unless `left`), Q or its transpose being the product of reflections; see `householder_product`.

    Examples:
        >>> paddle.linalg.ormqr(paddle.ones([2, 1]), paddle.zeros([1]), paddle.ones([2, 1])).tolist()
        [[1.0], [1.0]]
    """
    for t, label in ((x, "x"), (tau, "tau"), (y, "y")):
        need_tensor(t, "ormqr", label, TypeError)
    q = _reflections(x, tau)
    q = ops.adjoint(q) if transpose else q
    return ops.mm(q, y) if left else ops.mm(y, q)


# ---- statistics -------------------------------------------------------------------------------
@public(method=True)
def cov(x: Tensor, rowvar: bool = True, ddof: bool = True, fweights: Any = None, aweights: Any = None,
        name: str | None = None) -> Tensor:  # fmt: skip
    """The covariances of variables.

    Args:
        x (Tensor): [variables, observations], the other way round unless `rowvar`; or one vector.
        ddof (bool): the sum is divided by n - 1, else by n.
        fweights (Tensor, optional): how often each observation counts (integers). aweights: its importance.

    Returns:
        Tensor: [variables, variables].

    Examples:
        >>> paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    if no_method(x, "cov").ndim not in (1, 2):
        raise errors.invalid_argument("cov: x is no matrix.", expected="1 or 2 axes", received=f"x: {x.type}")
    m = reshape(x, (1, x.type.size)) if x.ndim == 1 else x if rowvar else ops.transpose_last(x)
    n = m.type.shape[1]
    w: Any = None
    for given in (fweights, aweights):
        if given is not None:
            t = cast(given, m.dtype)
            w = t if w is None else w * t
    if w is None:
        mean, total, norm = mean_(m, (1,), True), float(n), float(n - bool(ddof))
        centred = m - mean
        out = products.MatMul(False, True)(centred, conj(centred)) * (1.0 / norm if norm > 0 else float("inf"))
    else:
        total = sum_(w, (0,))
        mean = reshape(sum_(m * w, (1,)), (m.type.shape[0], 1)) / total
        norm = total
        if ddof:
            lost = 1.0 if aweights is None else sum_(w * cast(aweights, m.dtype), (0,)) / total
            norm = total - lost
        centred = m - mean
        out = products.MatMul(False, True)(centred * w, conj(centred)) / norm
    return reshape(out, ()) if x.ndim == 1 else out


@public(method=True)
def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """The correlations of variables, in [-1, 1]. Arguments as `cov`.

    Examples:
        >>> paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(no_method(x, "corrcoef"), rowvar)
    if not c.ndim:
        return c / c
    from .diagonal import diagonal

    d = sqrt(diagonal(c))
    out = c / ops.column(d) / ops.row(d)
    return out if out.dtype.is_complex else _within(out)


def _within(x: Tensor) -> Tensor:
    from ..engine.ops.math import clip

    return clip(x, -1.0, 1.0)


@public(method=True)
def svd_lowrank(x: Tensor, q: int | None = None, niter: int = 2, M: Any = None,
                name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """An approximation of rank q of matrices (less M), by a randomized range: U, S, V.

    Source: Halko, Martinsson and Tropp 2011, arXiv:0909.4061, algorithms 4.4 and 5.1.

    Examples:
        >>> [list(t.shape) for t in paddle.linalg.svd_lowrank(paddle.rand([4, 3]), q=2)]
        [[4, 2], [2], [3, 2]]
    """
    need_tensor(x, "svd_lowrank")
    _matrices(x, "svd_lowrank", True)
    a = x if M is None else x - M
    m, n = a.type.shape[-2:]
    k = min(6, m, n) if q is None else q
    if not 0 <= k <= min(m, n) or niter < 0:
        raise errors.invalid_argument("svd_lowrank: no such rank.", expected=f"q in [0, {min(m, n)}], niter >= 0",
                                      received=f"q: {q}, niter: {niter}")  # fmt: skip
    from .random import randn

    probe = cast(randn([n, k]), a.dtype)
    basis = ops.Qr()(ops.mm(a, probe))[0]
    for _ in range(niter):
        basis = ops.Qr()(ops.mm(ops.adjoint(a), basis))[0]
        basis = ops.Qr()(ops.mm(a, basis))[0]
    u, s, vh = ops.Svd()(ops.mm(ops.adjoint(basis), a))
    return ops.mm(basis, u), s, ops.adjoint(vh)


@public(method=True)
def pca_lowrank(x: Tensor, q: int | None = None, center: bool = True, niter: int = 2,
                name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Principal components of rows [..., M, N], by `svd_lowrank` of x (less the mean of its rows).

    Examples:
        >>> [list(t.shape) for t in paddle.linalg.pca_lowrank(paddle.rand([4, 3]), q=2)]
        [[4, 2], [2], [3, 2]]
    """
    need_tensor(x, "pca_lowrank")
    _matrices(x, "pca_lowrank", True)
    k = min(6, *x.type.shape[-2:]) if q is None else q
    return svd_lowrank(x - mean_(x, (x.ndim - 2,), True) if center else x, k, niter)
