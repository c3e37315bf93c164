"""Linear algebra: factors, equations, eigenvalues, norms."""

from .tensor.diagonal import diagonal
from .tensor.linalg import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    corrcoef,
    cov,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    lstsq,
    lu,
    lu_solve,
    lu_unpack,
    matrix_exp,
    matrix_power,
    matrix_transpose,
    ormqr,
    pca_lowrank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svd_lowrank,
    svdvals,
    triangular_solve,
)
from .tensor.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from .tensor.products import cross, matmul, multi_dot, vecdot

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "corrcoef", "cov", "cross", "det", "diagonal",
    "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "inv", "lstsq", "lu", "lu_solve", "lu_unpack",
    "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "ormqr", "pca_lowrank", "pinv", "qr", "slogdet", "solve", "svd", "svd_lowrank", "svdvals",
    "triangular_solve", "vecdot", "vector_norm",
]  # fmt: skip
