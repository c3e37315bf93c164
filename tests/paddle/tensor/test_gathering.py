import numpy as np
import pytest

import paddle

X = np.arange(12, dtype="float32").reshape(3, 4)


def t(a=X, grad=False):
    return paddle.to_tensor(a, stop_gradient=not grad)


def test_gather():
    assert np.array_equal(paddle.gather(t(), t([2, 0, 2])).numpy(), X[[2, 0, 2]])
    assert np.array_equal(paddle.gather(t(), t([1, -1]), 1).numpy(), X[:, [1, -1]])
    assert paddle.gather(t(), t(1)).shape == [4] and paddle.gather(t(), t([[0], [1]])).shape == [2, 4]
    assert np.array_equal(paddle.index_select(t(), t([1]), 1).numpy(), X[:, [1]])
    assert np.array_equal(paddle.index_select(t(), 1, t([1])).numpy(), X[:, [1]])
    assert np.array_equal(paddle.index_sample(t(), t([[0], [1], [3]])).numpy(), X[[0, 1, 2], [0, 1, 3]][:, None])
    assert np.array_equal(paddle.gather_nd(t(), t([[0, 1], [2, 3]])).numpy(), X[[0, 2], [1, 3]])
    assert np.array_equal(paddle.gather_nd(t(), t([1])).numpy(), X[1])
    assert np.array_equal(paddle.take(t(), t([[0, -1]])).numpy(), X.ravel()[[[0, -1]]])


def test_bad_indices():
    for index, kind in (([0.5], ValueError), ([[0, 1]], ValueError)):
        with pytest.raises(kind):
            paddle.gather(t(), t(index))
    for f in (
        lambda i: paddle.gather(t(), i),
        lambda i: paddle.index_select(t(), i),
        lambda i: paddle.take(t(), i * 12),
    ):
        with pytest.raises(IndexError, match="out of range"):
            f(t([3])).numpy()
    with pytest.raises(ValueError, match="not a vector"):
        paddle.index_select(t(), t([[0, 1]]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_gradient_sums_over_equal_indices(dtype):
    index = np.random.default_rng(0).integers(0, 3, 50)
    x = t(X.astype("float64" if dtype == "int64" else dtype), grad=True)
    paddle.gather(x, t(index)).backward()
    assert np.array_equal(x.grad.numpy()[:, 0], np.bincount(index, minlength=3))


def test_scatter():
    x, i, u = np.ones((3, 2), "float32"), [2, 1, 0, 1], np.arange(8, dtype="float32").reshape(4, 2)
    want = x.copy()
    want[i] = u
    assert np.array_equal(paddle.scatter(t(x), t(i), t(u)).numpy(), want)
    want = np.zeros_like(x)
    np.add.at(want, i, u)
    assert np.array_equal(paddle.scatter(t(x), t(i), t(u), overwrite=False).numpy(), want)
    assert np.array_equal(paddle.scatter_nd(t(np.array(i)[:, None]), t(u), [3, 2]).numpy(), want)
    assert np.array_equal(paddle.scatter_nd_add(t(x), t(np.array(i)[:, None]), t(u)).numpy(), want + x)
    assert np.array_equal(paddle.index_add(t(x), t(i), 0, t(u)).numpy(), want + x)
    with pytest.raises(ValueError):
        paddle.scatter(t(x), t(i), t(u[:2]))
    with pytest.raises(IndexError):
        paddle.scatter(t(x), t([3]), t(u[:1])).numpy()


def test_scatter_in_place():
    x = paddle.zeros([3])
    assert x.scatter_(t([1]), t([5.0])) is x and x.tolist() == [0, 5, 0]
    x.index_add_(t([0]), 0, t([2.0]))
    x.index_fill_(t([2]), 0, 7.0)
    assert x.tolist() == [2, 5, 7]


def test_along_axis():
    i = np.array([[0, 2], [1, 1], [3, 0]])
    assert np.array_equal(paddle.take_along_axis(t(), t(i), 1).numpy(), np.take_along_axis(X, i, 1))
    assert np.array_equal(paddle.take_along_axis(t(), t([[1]]), 0).numpy(), X[[1]])
    want = X.copy()
    np.put_along_axis(want, i, 9.0, 1)
    assert np.array_equal(paddle.put_along_axis(t(), t(i), 9.0, 1).numpy(), want)
    with pytest.raises(ValueError, match="reduce"):
        paddle.put_along_axis(t(), t(i), 9.0, 1, "foo")
    with pytest.raises(ValueError, match="numbers of axes"):
        paddle.take_along_axis(t(), t([0]), 0)


@pytest.mark.parametrize(
    "reduce, f", [("add", np.add), ("multiply", np.multiply), ("amax", np.maximum), ("amin", np.minimum)]
)
def test_put_along_axis_combines(reduce, f):
    i, v = np.array([[0, 0, 3]] * 3), np.random.default_rng(1).normal(size=(3, 3)).astype("float32") * 9
    want = X.copy()
    f.at(want, (np.arange(3)[:, None], i), v)
    assert np.allclose(paddle.put_along_axis(t(), t(i), t(v), 1, reduce).numpy(), want)


def test_masks():
    m = X % 3 == 0
    assert np.array_equal(paddle.masked_select(t(), t(m)).numpy(), X[m])
    assert np.array_equal(paddle.masked_fill(t(), t(m), -1.0).numpy(), np.where(m, -1, X))
    want = X.copy()
    want[m] = np.arange(m.sum())
    assert np.array_equal(paddle.masked_scatter(t(), t(m), t(np.arange(9.0, dtype="float32"))).numpy(), want)
    assert paddle.masked_select(t(), t(X > 99)).shape == [0]
    with pytest.raises(ValueError, match="bool"):
        paddle.masked_fill(t(), t(m.astype("int64")), 0.0)
    x = t(grad=True)
    (paddle.masked_select(x, t(m)) * 2.0).backward()
    assert np.array_equal(x.grad.numpy(), m * 2.0)


def test_index_put():
    x = paddle.zeros([3, 2])
    i = (t([0, 0, 2]), t([1, 1, 0]))
    assert paddle.index_put(x, i, t(1.0), accumulate=True).tolist() == [[0, 2], [0, 0], [1, 0]]
    assert paddle.index_put(x, (t([True, False, True]),), t(3.0)).tolist() == [[3, 3], [0, 0], [3, 3]]
