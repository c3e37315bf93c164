"""Means, spreads and quantiles against numpy."""

import numpy as np
import pytest

import paddle

X = np.random.default_rng(0).normal(size=(4, 5))


@pytest.mark.parametrize("axis", [None, 0, 1, [0, 1]])
@pytest.mark.parametrize("unbiased", [True, False])
def test_spread(axis, unbiased):
    a = tuple(axis) if isinstance(axis, list) else axis
    x = paddle.to_tensor(X)
    np.testing.assert_allclose(paddle.var(x, axis, unbiased).numpy(), X.var(axis=a, ddof=int(unbiased)))
    np.testing.assert_allclose(paddle.std(x, axis, unbiased).numpy(), X.std(axis=a, ddof=int(unbiased)))


def test_spread_of_one_element_is_nan():
    assert np.isnan(paddle.var(paddle.to_tensor([1.0])).item())
    assert paddle.var(paddle.to_tensor([1.0]), correction=0).item() == 0.0


def test_spread_of_integers_stays_integer():
    assert paddle.var(paddle.to_tensor([-3, 2, -1, 1, 0, -2])).dtype == paddle.int64


@pytest.mark.parametrize("mode", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0, [0.2, 0.8]])
@pytest.mark.parametrize("axis", [None, 0, [0, 1]])
def test_quantile(mode, q, axis):
    got = paddle.quantile(paddle.to_tensor(X), q, axis, interpolation=mode).numpy()
    want = np.quantile(X, q, tuple(axis) if isinstance(axis, list) else axis, method=mode)
    np.testing.assert_allclose(got, want)


def test_quantile_and_nan():
    x = X.copy()
    x[0, 0] = np.nan
    got = paddle.quantile(paddle.to_tensor(x), 0.5, axis=1).numpy()
    assert np.isnan(got[0]) and np.isfinite(got[1:]).all()
    np.testing.assert_allclose(paddle.nanquantile(paddle.to_tensor(x), 0.5, axis=1).numpy(), np.nanquantile(x, 0.5, 1))
    with pytest.raises(ValueError, match="out of range"):
        paddle.quantile(paddle.to_tensor(X), 1.5)
    with pytest.raises(ValueError, match="interpolation"):
        paddle.quantile(paddle.to_tensor(X), 0.5, interpolation="x")


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_median(axis):
    x = paddle.to_tensor(X)
    np.testing.assert_allclose(paddle.median(x, axis).numpy(), np.median(X, axis))
    if axis is not None:
        values, at = paddle.median(x, axis, mode="min")
        picked = np.take_along_axis(X, np.expand_dims(at.numpy(), axis), axis).squeeze(axis)
        np.testing.assert_array_equal(values.numpy(), picked)
    y = X.copy()
    y[1, 1] = np.nan
    np.testing.assert_allclose(paddle.nanmedian(paddle.to_tensor(y), axis).numpy(), np.nanmedian(y, axis))
    assert np.isnan(paddle.median(paddle.to_tensor(y)).item())


def test_gradient_of_quantile_goes_to_its_neighbours():
    x = paddle.to_tensor([3.0, 1.0, 2.0, 4.0], stop_gradient=False)
    paddle.quantile(x, 0.5).backward()
    assert x.grad.tolist() == [0.5, 0.0, 0.5, 0.0]


def test_the_middle_of_nothing_is_nan():
    x = paddle.zeros([0, 3])
    assert np.isnan(paddle.median(x).numpy())
    assert np.isnan(paddle.nanmedian(x, axis=0).numpy()).all()
    values, places = paddle.median(x, axis=0, mode="min")
    assert values.shape == [3] and places.dtype == paddle.int64


def test_nanmedian_and_nanmean_of_integers():
    x = paddle.to_tensor([1, 2, 4, 5])
    assert (paddle.nanmedian(x).dtype, paddle.nanmedian(x).item()) == (paddle.int64, 3)
    assert (paddle.nanmean(x).dtype, paddle.nanmean(x).item()) == (paddle.float32, 3.0)


def test_median_by_its_other_names_takes_the_smaller_of_two():
    x = paddle.to_tensor([[1.0, 2.0, 3.0, 4.0]])
    assert paddle.median(x).item() == 2.5
    assert paddle.median(input=x).item() == 2.0
    assert x.median(dim=1)[1].tolist() == [1]
    assert paddle.median(input=x, mode="avg").item() == 2.5
