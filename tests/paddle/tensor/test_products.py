"""Products of matrices, differences and distances against numpy."""

import numpy as np
import pytest

import paddle

RNG = np.random.default_rng(0)
SHAPES = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((2, 3), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 4)), ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((5, 2, 3), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul(shapes):
    x, y = (RNG.normal(size=s) for s in shapes)
    np.testing.assert_allclose(paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(y)).numpy(), x @ y, rtol=1e-10)


@pytest.mark.parametrize("tx", [False, True])
@pytest.mark.parametrize("ty", [False, True])
def test_transposed(tx, ty):
    x, y = RNG.normal(size=(5, 2, 3)), RNG.normal(size=(3, 4))
    a = x.swapaxes(1, 2) if tx else x
    b = y.T if ty else y
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    got = paddle.matmul(paddle.to_tensor(a), paddle.to_tensor(b), tx, ty).numpy()
    np.testing.assert_allclose(got, x @ y, rtol=1e-10)


def test_gradients_of_a_batch_times_one_matrix():
    x = paddle.to_tensor(RNG.normal(size=(5, 2, 3)), stop_gradient=False)
    y = paddle.to_tensor(RNG.normal(size=(3, 4)), stop_gradient=False)
    paddle.matmul(x, y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), np.tile(x.numpy().sum((0, 1))[:, None], (1, 4)))
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(y.numpy().sum(1), (5, 2, 3)))


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="inner sizes differ"):
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    with pytest.raises(ValueError, match="element types differ"):
        paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2], "float64"))
    with pytest.raises(ValueError, match="0-D"):
        paddle.matmul(paddle.ones([]), paddle.ones([2]))
    with pytest.raises(ValueError):
        paddle.bmm(paddle.ones([2, 3]), paddle.ones([3, 2]))


def test_small_products():
    x, y = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))
    t = paddle.to_tensor
    np.testing.assert_allclose(paddle.dot(t(x[0]), t(y[0])).numpy(), x[0] @ y[0])
    np.testing.assert_allclose(paddle.inner(t(x), t(y)).numpy(), np.inner(x, y))
    np.testing.assert_allclose(paddle.outer(t(x), t(y)).numpy(), np.outer(x, y))
    np.testing.assert_allclose(paddle.kron(t(x), t(y)).numpy(), np.kron(x, y))
    np.testing.assert_allclose(paddle.cross(t(x), t(y)).numpy(), np.cross(x, y))
    np.testing.assert_allclose(paddle.mv(t(x), t(y[0])).numpy(), x @ y[0])
    np.testing.assert_allclose(paddle.tensordot(t(x), t(y), [[0], [0]]).numpy(), np.tensordot(x, y, [[0], [0]]))
    np.testing.assert_allclose(paddle.addmm(t(np.eye(2)), t(x), t(y.T), 2.0, 0.5).numpy(), 2 * np.eye(2) + x @ y.T / 2)
    np.testing.assert_allclose(paddle.linalg.multi_dot([t(x), t(y.T.copy()), t(x)]).numpy(), x @ y.T @ x)
    np.testing.assert_allclose(paddle.einsum("ij,kj->ik", t(x), t(y)).numpy(), x @ y.T)


def test_differences_and_distances():
    x, y = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
    t = paddle.to_tensor
    np.testing.assert_allclose(paddle.diff(t(x), 2, 0).numpy(), np.diff(x, 2, 0))
    areas = (x[:, 1:] + x[:, :-1]) * 0.25
    np.testing.assert_allclose(paddle.trapezoid(t(x), dx=0.5).numpy(), areas.sum(1))
    np.testing.assert_allclose(paddle.cumulative_trapezoid(t(x), dx=0.5).numpy(), areas.cumsum(1))
    np.testing.assert_allclose(paddle.trace(t(x), 1).numpy(), np.trace(x, 1))
    want = np.sqrt(((x[:, None] - y) ** 2).sum(-1))
    np.testing.assert_allclose(paddle.cdist(t(x), t(y)).numpy(), want)
    fast = paddle.cdist(t(x), t(y), compute_mode="use_mm_for_euclid_dist")
    np.testing.assert_allclose(fast.numpy(), want, rtol=1e-7)
    np.testing.assert_allclose(paddle.dist(t(x), t(x + 1), 3).numpy(), 12 ** (1 / 3))
    np.testing.assert_allclose(paddle.vander(t(x[0])).numpy(), np.vander(x[0]))
