"""Decompositions and norms against numpy."""

import numpy as np
import pytest

import paddle

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 3))
S = RNG.normal(size=(2, 3, 3))
S0 = paddle.ones([2, 2])
P = S @ S.swapaxes(1, 2) + 3 * np.eye(3)


def t(x, grad=False):
    return paddle.to_tensor(np.ascontiguousarray(x), stop_gradient=not grad)


def same(got, want, **more):
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-8, atol=1e-10, **more)


def test_inverse_and_determinant():
    same(paddle.linalg.inv(t(P)), np.linalg.inv(P))
    same(paddle.linalg.det(t(P)), np.linalg.det(P))
    sign, size = paddle.linalg.slogdet(t(P)).numpy()
    np.testing.assert_allclose(sign * np.exp(size), np.linalg.det(P))
    same(paddle.linalg.matrix_power(t(P), -2), np.linalg.matrix_power(P, -2))


def test_factors_multiply_to_the_matrix():
    low = paddle.linalg.cholesky(t(P))
    same(low @ paddle.matrix_transpose(low), P)
    up = paddle.linalg.cholesky(t(P), upper=True)
    same(paddle.matrix_transpose(up) @ up, P)
    q, r = paddle.linalg.qr(t(A))
    same(q @ r, A)
    u, s, vh = paddle.linalg.svd(t(A))
    same((u * s.unsqueeze(-2)) @ vh, A)
    w, v = paddle.linalg.eigh(t(P))
    same((v * w.unsqueeze(-2)) @ paddle.matrix_transpose(v), P)
    p, low, up = paddle.linalg.lu_unpack(*paddle.linalg.lu(t(A)))
    same(p @ low @ up, A)


def test_only_the_named_triangle_is_read():
    x = np.tril(P[0])
    same(paddle.linalg.cholesky(t(x)), np.linalg.cholesky(P[0]))
    same(paddle.linalg.eigvalsh(t(x), "L"), np.linalg.eigvalsh(P[0]))
    same(paddle.linalg.eigvalsh(t(x.T), "U"), np.linalg.eigvalsh(P[0]))


def test_equations():
    b = RNG.normal(size=(2, 3, 2))
    same(paddle.linalg.solve(t(P), t(b)), np.linalg.solve(P, b))
    same(paddle.linalg.solve(t(P[0]), t(b[0, :, 0])), np.linalg.solve(P[0], b[0, :, 0]))
    same(paddle.linalg.triangular_solve(t(P), t(b)), np.linalg.solve(np.triu(P), b))
    low = paddle.linalg.cholesky(t(P))
    same(paddle.linalg.cholesky_solve(t(b), low), np.linalg.solve(P, b))
    same(paddle.linalg.cholesky_inverse(low[0]), np.linalg.inv(P[0]))
    same(paddle.linalg.lu_solve(t(b), *paddle.linalg.lu(t(S))), np.linalg.solve(S, b))
    c = RNG.normal(size=(4, 2))
    same(paddle.linalg.lstsq(t(A[0]), t(c))[0], np.linalg.lstsq(A[0], c, rcond=None)[0])
    same(paddle.linalg.pinv(t(A)), np.linalg.pinv(A))


def test_exponential():
    x = np.array([[0.0, 1.0], [-1.0, 0.0]]) * 7
    same(paddle.linalg.matrix_exp(t(x)), [[np.cos(7), np.sin(7)], [-np.sin(7), np.cos(7)]])


@pytest.mark.parametrize("f", [
    lambda x: paddle.linalg.cholesky(x).sum(), lambda x: paddle.linalg.inv(x).sum(),
    lambda x: paddle.linalg.det(x).sum(),
    lambda x: paddle.linalg.eigh(x)[0][..., 0].sum(), lambda x: paddle.linalg.slogdet(x)[1].sum(),
])  # fmt: skip
def test_gradients_for_symmetric_changes(f):
    x = t(P, True)
    (g,) = paddle.grad(f(x), x)
    d = RNG.normal(size=(2, 3, 3))
    d = d + d.swapaxes(1, 2)
    step = 1e-6
    slope = (f(t(P + step * d)).item() - f(t(P - step * d)).item()) / (2 * step)
    assert abs(slope - float((g.numpy() * d).sum())) < 1e-5 * max(1.0, abs(slope))


@pytest.mark.parametrize("p", [1, 2, np.inf, -np.inf, "fro", "nuc", -1, -2])
def test_matrix_norms(p):
    same(paddle.linalg.matrix_norm(t(S), p), np.linalg.norm(S, p, (1, 2)))


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, np.inf, -np.inf])
def test_vector_norms(p):
    same(paddle.norm(t(A), p, axis=1), np.linalg.norm(A, p, 1))


def test_norms_by_default():
    same(paddle.norm(t(A)), np.sqrt((A**2).sum()))
    same(paddle.norm(t(A[0]), axis=[0, 1]), np.linalg.norm(A[0], 2))
    same(paddle.linalg.cond(t(S)), np.linalg.cond(S))
    assert paddle.linalg.matrix_rank(t(np.ones((3, 3)))).item() == 1
    same(paddle.linalg.cov(t(A[0])), np.cov(A[0]))
    same(paddle.linalg.corrcoef(t(A[0])), np.corrcoef(A[0]))


def test_gradient_of_a_norm_at_zero_is_zero():
    x = paddle.zeros([3])
    x.stop_gradient = False
    paddle.norm(x).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_bad_input():
    with pytest.raises(ValueError):
        paddle.linalg.inv(paddle.ones([2, 3]))
    with pytest.raises(AssertionError):
        paddle.linalg.cholesky(paddle.ones([2, 3]))
    with pytest.raises(ValueError):
        paddle.linalg.qr(paddle.ones([2, 2]), "zz")
    with pytest.raises(ValueError):
        paddle.linalg.inv(paddle.zeros([2, 2])).numpy()
    with pytest.raises(ValueError, match="no such norm"):
        paddle.norm(paddle.ones([2, 2]), 3, axis=[0, 1])
    with pytest.raises(TypeError):
        paddle.norm([1.0])


@pytest.mark.parametrize("call", [
    lambda v, i: paddle.linalg.lstsq(v, v), lambda v, i: paddle.linalg.lu_unpack(v, i[0]),
    lambda v, i: paddle.linalg.lu_unpack(S0, S0), lambda v, i: paddle.linalg.lu_solve(S0, S0, S0),
    lambda v, i: paddle.linalg.svd_lowrank(v), lambda v, i: paddle.linalg.pca_lowrank(v),
    lambda v, i: paddle.linalg.pinv(v), lambda v, i: paddle.linalg.pinv(i), lambda v, i: paddle.linalg.lstsq(i, i),
    lambda v, i: paddle.gcd(v, v), lambda v, i: paddle.lcm(v, v),
])  # fmt: skip
def test_what_is_no_matrix_or_of_another_type_is_refused_at_the_call(call):
    with pytest.raises(ValueError, match=r"(?s)^\(InvalidArgument\).*expected:.*received:"):
        call(paddle.ones([4]), paddle.ones([2, 2], "int64"))


def test_householder_product_needs_matrices():
    with pytest.raises(AssertionError, match="not made of matrices"):
        paddle.linalg.householder_product(paddle.ones([3]), paddle.ones([3]))
