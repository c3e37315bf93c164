"""Sorting, searching, counting."""

import numpy as np
import pytest

import paddle


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable(axis, descending):
    x = np.random.default_rng(0).integers(0, 4, (5, 6)).astype("float32")
    at = paddle.argsort(paddle.to_tensor(x), axis, descending).numpy()
    want = np.argsort(-x if descending else x, axis, kind="stable")
    np.testing.assert_array_equal(at, want)
    got = paddle.sort(paddle.to_tensor(x), axis, descending).numpy()
    np.testing.assert_array_equal(got, np.take_along_axis(x, want, axis))


def test_nan_counts_as_the_greatest():
    x = paddle.to_tensor([1.0, float("nan"), 3.0])
    assert paddle.argsort(x).tolist() == [0, 2, 1] and paddle.argsort(x, descending=True).tolist() == [1, 2, 0]
    assert paddle.topk(x, 1)[1].tolist() == [1]


def test_argmax_passes_nan_over():
    x = paddle.to_tensor([[float("nan"), 1.0, 3.0], [float("nan")] * 3, [float("nan"), float("-inf"), -1.0]])
    assert paddle.argmax(x, 1).tolist() == [2, 0, 2] and paddle.argmin(x, 1).tolist() == [1, 0, 1]


@pytest.mark.parametrize("n, k", [(6, 2), (200, 3), (5, 5)])
@pytest.mark.parametrize("largest", [True, False])
def test_topk(n, k, largest):
    x = np.random.default_rng(0).permutation(3 * n).reshape(3, n).astype("float32")
    values, at = paddle.topk(paddle.to_tensor(x), k, largest=largest)
    want = np.sort(x, 1)[:, ::-1][:, :k] if largest else np.sort(x, 1)[:, :k]
    np.testing.assert_array_equal(values.numpy(), want)
    np.testing.assert_array_equal(np.take_along_axis(x, at.numpy(), 1), want)


def test_gradient_of_sorting_goes_back_where_it_came_from():
    x = paddle.to_tensor([3.0, 1.0, 2.0], stop_gradient=False)
    (paddle.sort(x) * paddle.to_tensor([10.0, 20.0, 30.0])).sum().backward()
    assert x.grad.tolist() == [30.0, 10.0, 20.0]
    x.clear_grad()
    paddle.topk(x, 1)[0].sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("k", [0, 4, -1])
def test_topk_of_too_many(k):
    with pytest.raises(ValueError, match="not that many"):
        paddle.topk(paddle.ones([3]), k)


def test_argmax():
    x = paddle.to_tensor([[1, 3, 3], [4, 0, 4]])
    assert paddle.argmax(x, 1).tolist() == [1, 0] and paddle.argmin(x, 0).tolist() == [0, 1, 0]
    assert paddle.argmax(x).item() == 3 and paddle.argmax(x, 1, keepdim=True, dtype="int32").shape == [2, 1]
    with pytest.raises(ValueError):
        paddle.argmax(paddle.zeros([0]))


def test_where():
    c = paddle.to_tensor([True, False])
    x = paddle.to_tensor([1.0, float("nan")], stop_gradient=False)
    y = paddle.where(c, x, paddle.zeros([2]))
    assert y.tolist() == [1.0, 0.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]
    assert paddle.where(c)[0].tolist() == [0]
    assert paddle.where(c, x.detach(), 2.5).tolist() == [1.0, 2.5]
    with pytest.raises(ValueError, match="missing"):
        paddle.where(c, x)


def test_nonzero():
    x = paddle.to_tensor([[0, 1], [2, 0]])
    assert paddle.nonzero(x).tolist() == [[0, 1], [1, 0]]
    assert [t.tolist() for t in paddle.nonzero(x, as_tuple=True)] == [[0, 1], [1, 0]]
    assert paddle.nonzero(paddle.zeros([3])).shape == [0, 1]


def test_a_flush_in_between_keeps_what_was_recorded():
    x = paddle.to_tensor([1.0, -2.0, 3.0], stop_gradient=False)
    y = x * 2
    at = paddle.nonzero(y > 0)
    y.sum().backward()
    assert at.tolist() == [[0], [2]] and x.grad.tolist() == [2.0, 2.0, 2.0]


def test_searchsorted():
    rows = paddle.to_tensor([[1, 3, 5], [2, 4, 6]])
    assert paddle.searchsorted(rows, paddle.to_tensor([[3], [3]])).tolist() == [[1], [1]]
    assert paddle.searchsorted(rows, paddle.to_tensor([[3], [4]]), right=True).tolist() == [[2], [2]]
    assert paddle.bucketize(paddle.to_tensor([0, 9]), paddle.to_tensor([1, 3])).tolist() == [0, 2]
    assert paddle.searchsorted(rows[0], paddle.to_tensor([3]), out_int32=True).dtype == paddle.int32


def test_unique():
    x = np.array([3, 1, 2, 1, 3])
    got = paddle.unique(paddle.to_tensor(x), True, True, True)
    for g, w in zip(got, np.unique(x, True, True, True)):
        np.testing.assert_array_equal(g.numpy(), w)
    rows = paddle.to_tensor([[1, 2], [0, 1], [1, 2]])
    assert paddle.unique(rows, axis=0).tolist() == [[0, 1], [1, 2]]
    found, inverse, counts = paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1]), True, True)
    assert (found.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 2], [2, 1, 1])


def test_counting():
    assert paddle.bincount(paddle.to_tensor([1, 2, 2]), minlength=5).tolist() == [0, 1, 2, 0, 0]
    with pytest.raises(ValueError, match="negative"):
        paddle.bincount(paddle.to_tensor([-1]))
    with pytest.raises(TypeError):
        paddle.bincount(paddle.to_tensor([1.0]))
    assert paddle.histogram(paddle.to_tensor([0.0, 1.0, 1.0]), 2).tolist() == [1, 2]


def test_kth_and_mode():
    x = paddle.to_tensor([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
    values, at = paddle.kthvalue(x, 2, 1)
    assert values.tolist() == [2.0, 5.0] and at.tolist() == [2, 0]
    values, at = paddle.mode(x, 1)
    assert values.tolist()[1] == 5.0 and at.tolist()[1] == 1


def test_mode_takes_the_smallest_of_what_comes_as_often_at_its_last_place():
    values, places = paddle.mode(paddle.to_tensor([[3, 1, 2, 2, 1], [7, 7, 3, 3, 9]]))
    assert (values.tolist(), places.tolist()) == ([1, 3], [4, 3])
