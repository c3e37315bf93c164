"""Reductions and running forms against numpy."""

import numpy as np
import pytest

import paddle

AXES = [None, 0, -1, [0, 2], (1, 2), [0, 1, 2]]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "amax", "amin", "prod", "all", "any"])
def test_numpy_agrees(name, axis, keepdim):
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    got = getattr(paddle, name)(paddle.to_tensor(x), axis=axis, keepdim=keepdim).numpy()
    want = getattr(np, name)(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim)
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_element_types():
    i = paddle.to_tensor([1, 2], dtype="int32")
    assert paddle.sum(i).dtype == paddle.int64 and paddle.cumsum(i).dtype == paddle.int64
    assert paddle.prod(i).dtype == paddle.int32
    assert paddle.sum(paddle.to_tensor([True, True])).item() == 2
    assert paddle.sum(i, dtype="float32").dtype == paddle.float32
    assert paddle.mean(paddle.to_tensor([1, 2])).item() == 1


def test_empty():
    x = paddle.zeros([0, 2])
    assert paddle.sum(x).item() == 0 and paddle.prod(x).item() == 1 and np.isnan(paddle.mean(x).item())
    assert paddle.sum(x, axis=0).tolist() == [0.0, 0.0]
    assert bool(paddle.all(paddle.zeros([0], "bool"))) and not bool(paddle.any(paddle.zeros([0], "bool")))
    assert paddle.max(x, axis=1).shape == [0]
    with pytest.raises(ValueError, match="nothing to reduce"):
        paddle.max(x)


def test_zero_dimensional():
    x = paddle.to_tensor(3.0)
    for name in ("sum", "mean", "max", "min", "prod", "logsumexp"):
        assert getattr(paddle, name)(x).item() == 3.0
    assert paddle.sum(x, axis=-1).item() == 3.0


@pytest.mark.parametrize("axis, kind", [(5, ValueError), (-5, ValueError), ("a", TypeError), ([0, 0], ValueError)])
def test_bad_axes(axis, kind):
    with pytest.raises(kind):
        paddle.sum(paddle.ones([2, 3]), axis=axis)


def test_max_takes_no_foreign_names():
    with pytest.raises(TypeError):
        paddle.max(paddle.ones([2]), dim=0)


def test_nan_wins():
    x = paddle.to_tensor([1.0, float("nan"), 3.0])
    assert np.isnan(paddle.max(x).item()) and np.isnan(paddle.min(x).item())
    assert paddle.nansum(x).item() == 4.0 and paddle.nanmean(x).item() == 2.0


def test_equals_share_the_gradient():
    x = paddle.to_tensor([1.0, 3.0, 3.0], stop_gradient=False)
    paddle.max(x).backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("values", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 0.0, 4.0]])
def test_gradient_of_prod_with_zeros(values):
    x = paddle.to_tensor(values, stop_gradient=False)
    paddle.prod(x).backward()
    want = [np.prod([v for j, v in enumerate(values) if j != i]) for i in range(3)]
    assert x.grad.tolist() == want


@pytest.mark.parametrize("values", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 5.0, 0.0, 4.0]])
def test_gradient_of_cumprod_with_zeros(values):
    x = paddle.to_tensor(values, dtype="float64", stop_gradient=False)
    weights = np.arange(1.0, len(values) + 1)
    (paddle.cumprod(x, 0) * paddle.to_tensor(weights)).sum().backward()
    step = 1e-6
    for i in range(len(values)):
        up, down = np.array(values), np.array(values)
        up[i] += step
        down[i] -= step
        slope = ((np.cumprod(up) - np.cumprod(down)) * weights).sum() / (2 * step)
        assert abs(slope - x.grad.tolist()[i]) < 1e-6


def test_logsumexp_does_not_overflow():
    x = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 0.0]])
    got = paddle.logsumexp(paddle.to_tensor(x), axis=1).numpy()
    np.testing.assert_allclose(got, [1000 + np.log(2), -np.inf, np.inf])


def test_running_forms():
    x = paddle.to_tensor([[1, 3, 2], [4, 0, 4]])
    assert paddle.cumsum(x, axis=1).tolist() == [[1, 4, 6], [4, 4, 8]]
    assert paddle.cumsum(x).tolist() == [1, 4, 6, 10, 10, 14]
    assert paddle.cumprod(x, 0).tolist() == [[1, 3, 2], [4, 0, 8]]
    values, at = paddle.cummax(x, axis=1)
    assert values.tolist() == [[1, 3, 3], [4, 4, 4]] and at.tolist() == [[0, 1, 1], [0, 0, 2]]
    values, at = paddle.cummin(paddle.to_tensor([3.0, float("nan"), 1.0]))
    assert at.tolist() == [0, 1, 1]
    with pytest.raises(IndexError):
        paddle.cumsum(x, axis=5)
    np.testing.assert_allclose(paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0])).numpy(), [0, np.log(2)], rtol=1e-6)


def test_count_and_reduce_as():
    assert paddle.count_nonzero(paddle.to_tensor([[0, 1], [2, 0]]), axis=0).tolist() == [1, 1]
    assert paddle.reduce_as(paddle.ones([2, 3]), paddle.ones([3])).tolist() == [2.0, 2.0, 2.0]


def test_cumprod_in_place_takes_the_type_asked_for():
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    assert paddle.cumprod_(x, 0, "float64") is x and x.dtype == paddle.float64 and x.tolist() == [1.0, 2.0, 6.0]


@pytest.mark.parametrize(
    ("dtype", "total", "running"),
    [("uint8", "uint8", "int64"), ("int16", "int16", "int64"), ("int32", "int64", "int64"), ("bool", "int64", "int64")],
)
def test_types_of_sums(dtype, total, running):
    x = paddle.ones([2], dtype)
    assert paddle.sum(x).dtype == getattr(paddle, total)
    assert paddle.cumsum(x).dtype == getattr(paddle, running)


def test_running_sums_in_place_without_an_axis_make_a_vector():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    x.cumsum_()
    assert x.tolist() == [1.0, 3.0, 6.0, 10.0]
