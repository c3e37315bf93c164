import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

ROUTES = np.array([[-1, 0, -1, 2], [1, -1, -1, -1], [-1, -1, 1, -1]], "int32")
PROBABILITY = np.array([[0, 0.6, 0, 0.4], [1, 0, 0, 0], [0, 0, 1, 0]], "float32")


def test_there_and_back(gradients_hold):
    x = np.random.default_rng(0).normal(size=(3, 5))
    call = lambda t: F.moe_permute(t, None, paddle.to_tensor(ROUTES), paddle.to_tensor(PROBABILITY), 3,  # noqa: E731
                                   [1, 2, 1], 2)  # fmt: skip
    moved, rows, probability, scale = call(paddle.to_tensor(x))
    assert scale is None and rows.tolist() == [[0, -1, 4], [-1, 2, -1], [-1, 3, -1]]
    want = np.zeros((6, 5))
    want[[0, 2, 3, 4]] = x[[0, 1, 2, 0]]
    np.testing.assert_array_equal(moved.numpy(), want)
    np.testing.assert_allclose(probability.numpy().ravel(), [0.6, 0, 1, 1, 0.4, 0])
    back, p = F.moe_unpermute(moved, rows, paddle.to_tensor(ROUTES), probability, 3, 3)
    np.testing.assert_allclose(back.numpy(), x * [[2], [1], [1]])
    np.testing.assert_allclose(p.numpy(), PROBABILITY)
    mean, _ = F.moe_unpermute(moved, rows, paddle.to_tensor(ROUTES), probability, 3, 3, using_weighted_combine=True)
    np.testing.assert_allclose(mean.numpy(), x, rtol=1e-6)
    gradients_hold(lambda t: call(t)[0], x)


def test_rejects():
    routes, p = paddle.to_tensor(ROUTES), paddle.to_tensor(PROBABILITY)
    with pytest.raises(ValueError, match="routes do not fit"):
        F.moe_permute(paddle.ones([3, 5]), None, routes, p, 2, [1, 2], 2)
    with pytest.raises(ValueError, match="more tokens go to an expert"):
        F.moe_permute(paddle.ones([3, 5]), None, routes, p, 3, [1, 1, 1], 1)
