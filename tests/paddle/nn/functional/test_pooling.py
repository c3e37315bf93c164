import itertools

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F


def windows(x, kernel, stride, padding, ceil):
    """Yields the output place and the elements of each window of [H, W] that lie in x, with their positions."""
    sizes = []
    for n, k, s, p in zip(x.shape[-2:], kernel, stride, padding):
        room = n + 2 * p - k
        sizes.append((-(-room // s) if ceil else room // s) + 1)
    for z in itertools.product(*map(range, sizes)):
        box = [
            (max(i * s - p, 0), min(i * s - p + k, n))
            for i, k, s, p, n in zip(z, kernel, stride, padding, x.shape[-2:])
        ]
        yield sizes, z, box


GEOMETRY = [
    ((6, 5), (2, 2), (2, 2), (0, 0), False),
    ((6, 5), (3, 3), (2, 2), (1, 1), False),
    ((6, 5), (3, 3), (2, 2), (1, 1), True),
    ((5, 7), (2, 3), (1, 1), (0, 1), False),
    ((5, 7), (2, 2), (3, 3), (0, 0), False),
    ((7, 4), (3, 2), (3, 2), (0, 0), True),
]


@pytest.mark.parametrize("sizes, kernel, stride, padding, ceil", GEOMETRY)
def test_max_pool(sizes, kernel, stride, padding, ceil, gradients_hold):
    x = np.random.default_rng(0).permutation(2 * 3 * sizes[0] * sizes[1]).reshape(2, 3, *sizes) / 7.0
    t = paddle.to_tensor(x)
    out, mask = F.max_pool2d(t, list(kernel), list(stride), list(padding), return_mask=True, ceil_mode=ceil)
    assert mask.dtype is paddle.int32
    flat = x.reshape(2, 3, -1)
    for shape, z, ((a, b), (c, d)) in windows(x, kernel, stride, padding, ceil):
        assert out.shape[2:] == shape
        part = x[:, :, a:b, c:d].reshape(2, 3, -1)
        np.testing.assert_array_equal(out.numpy()[(slice(None), slice(None), *z)], part.max(-1))
        at = mask.numpy()[(slice(None), slice(None), *z)]
        np.testing.assert_array_equal(np.take_along_axis(flat, at[..., None].astype(int), 2)[..., 0], part.max(-1))
    gradients_hold(lambda v: F.max_pool2d(v, list(kernel), list(stride), list(padding), ceil_mode=ceil), x)


def test_max_pool_gives_the_gradient_to_the_first_of_equals():
    x = paddle.ones([1, 1, 4])
    x.stop_gradient = False
    F.max_pool1d(x, 2).sum().backward()
    assert x.grad.flatten().tolist() == [1.0, 0.0, 1.0, 0.0]
    y = paddle.ones([1, 1, 4])
    y.stop_gradient = False
    F.max_pool1d(y, 3, 1).sum().backward()
    assert y.grad.flatten().tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("sizes, kernel, stride, padding, ceil", GEOMETRY)
@pytest.mark.parametrize("exclusive", [True, False])
def test_avg_pool(sizes, kernel, stride, padding, ceil, exclusive, gradients_hold):
    x = np.random.default_rng(0).normal(size=(2, 3, *sizes))
    f = lambda t: F.avg_pool2d(t, list(kernel), list(stride), list(padding), ceil, exclusive)  # noqa: E731
    out = f(paddle.to_tensor(x)).numpy()
    for _, z, ((a, b), (c, d)) in windows(x, kernel, stride, padding, ceil):
        count = (b - a) * (d - c)
        if not exclusive:
            count = 1
            for i, k, s, p, n in zip(z, kernel, stride, padding, sizes):
                count *= min(i * s - p + k, n + p) - (i * s - p)
        np.testing.assert_allclose(out[(slice(None), slice(None), *z)], x[:, :, a:b, c:d].sum((2, 3)) / count)
    gradients_hold(f, x)


def test_divisor():
    x = paddle.ones([1, 1, 4, 4])
    assert F.avg_pool2d(x, 2, divisor_override=2).flatten().tolist() == [2.0] * 4


@pytest.mark.parametrize("bins", [(1, 1), (2, 3), (3, 3), (5, 4), (None, 2)])
def test_adaptive(bins, gradients_hold):
    x = np.random.default_rng(0).permutation(2 * 2 * 7 * 6).reshape(2, 2, 7, 6) / 7.0
    t = paddle.to_tensor(x)
    size = list(bins)
    mean = F.adaptive_avg_pool2d(t, size).numpy()
    top, mask = F.adaptive_max_pool2d(t, size, return_mask=True)
    rows, columns = (n if b is None else b for b, n in zip(bins, (7, 6)))
    assert mean.shape == (2, 2, rows, columns) == tuple(top.shape)
    for i, j in itertools.product(range(rows), range(columns)):
        box = x[:, :, i * 7 // rows : -(-(i + 1) * 7 // rows), j * 6 // columns : -(-(j + 1) * 6 // columns)]
        np.testing.assert_allclose(mean[:, :, i, j], box.mean((2, 3)))
        np.testing.assert_array_equal(top.numpy()[:, :, i, j], box.max((2, 3)))
        flat = x.reshape(2, 2, -1)
        at = mask.numpy()[:, :, i, j, None].astype(int)
        np.testing.assert_array_equal(np.take_along_axis(flat, at, 2)[..., 0], box.max((2, 3)))
    gradients_hold(lambda v: F.adaptive_avg_pool2d(v, size), x)
    gradients_hold(lambda v: F.adaptive_max_pool2d(v, size), x)


def test_other_ranks_and_formats():
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 6, 5))
    want = F.max_pool3d(paddle.to_tensor(x), 2).numpy()
    np.testing.assert_array_equal(want, x[:, :, :4, :6, :4].reshape(2, 3, 2, 2, 3, 2, 2, 2).max((3, 5, 7)))
    last = paddle.to_tensor(np.moveaxis(x, 1, -1).copy())
    np.testing.assert_array_equal(np.moveaxis(F.max_pool3d(last, 2, data_format="NDHWC").numpy(), -1, 1), want)
    np.testing.assert_allclose(F.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 5.0, 9.0]]]), 2).numpy(), [[[2, 7]]])
    assert F.max_pool2d(paddle.ones([1, 1, 5, 5]), 2, padding="SAME").shape == [1, 1, 3, 3]


def test_unpooling_undoes_pooling(gradients_hold):
    x = np.random.default_rng(0).permutation(32).reshape(1, 2, 4, 4) / 3.0
    y, at = F.max_pool2d(paddle.to_tensor(x), 2, return_mask=True)
    back = F.max_unpool2d(y, at, 2).numpy()
    assert back.shape == (1, 2, 4, 4) and (back != 0).sum() == 8
    np.testing.assert_array_equal(back[back != 0], x[back != 0])
    gradients_hold(lambda v: F.max_unpool2d(v, at, 2), y.numpy())
    with pytest.raises(IndexError, match="outside the plane"):
        F.max_unpool2d(y, at + 100, 2).numpy()
    with pytest.raises(ValueError, match="cannot be reached"):
        F.max_unpool2d(y, at, 2, output_size=[9, 9])


def test_powers(gradients_hold):
    x = np.random.default_rng(0).uniform(0.5, 2, (1, 2, 6))
    want = np.sqrt((x.reshape(1, 2, 3, 2) ** 2).sum(-1))
    np.testing.assert_allclose(F.lp_pool1d(paddle.to_tensor(x), 2.0, 2).numpy(), want)
    gradients_hold(lambda v: F.lp_pool1d(v, 3.0, 2), x)


def test_fractional_bins_are_in_order():
    x = np.arange(35.0).reshape(1, 1, 5, 7)
    out, at = F.fractional_max_pool2d(paddle.to_tensor(x), [3, 4], random_u=0.4, return_mask=True)
    np.testing.assert_array_equal(np.diff(out.numpy()[0, 0], axis=1) > 0, True)
    np.testing.assert_array_equal(x.ravel()[at.numpy()], out.numpy())
    with pytest.raises(ValueError, match="random_u"):
        F.fractional_max_pool2d(paddle.to_tensor(x), 2, random_u=1.5)
    for size, kernel in ((9, None), (6, 3)):
        with pytest.raises(ValueError, match="more bins than fit"):
            F.fractional_max_pool2d(paddle.ones([1, 1, 7, 8]), size, kernel)


def test_nan_and_infinity():
    x = paddle.to_tensor([[[np.nan, 1.0, -np.inf, -np.inf]]])
    out = F.max_pool1d(x, 2).numpy().ravel()
    assert np.isnan(out[0]) and out[1] == -np.inf
    assert F.max_pool2d(paddle.zeros([0, 2, 4, 4]), 2).shape == [0, 2, 2, 2]


@pytest.mark.parametrize("f, change, text", [
    (F.max_pool2d, dict(x=paddle.ones([1, 2, 3])), "number of axes"),
    (F.max_pool2d, dict(stride=0), "stride is not positive"),
    (F.max_pool2d, dict(kernel_size=0), "kernel_size is not positive"),
    (F.max_pool2d, dict(padding="zz"), "padding is not known"),
    (F.max_pool2d, dict(padding="VALID", ceil_mode=True), "ceil_mode"),
    (F.max_pool2d, dict(data_format="NHWC", return_mask=True), "return_mask"),
    (F.avg_pool2d, dict(divisor_override=0), "divisor_override is 0"),
    (F.avg_pool2d, dict(kernel_size=[2, 2, 2]), "wrong length"),
    (F.avg_pool2d, dict(x=3.0), "not a Tensor"),
])  # fmt: skip
def test_bad_arguments(f, change, text):
    with pytest.raises(ValueError, match=text):
        f(**(dict(x=paddle.ones([1, 2, 5, 5]), kernel_size=2) | change))


def test_bad_adaptive_arguments():
    with pytest.raises(ValueError, match="number of axes"):
        F.adaptive_avg_pool2d(paddle.ones([1, 1, 2]), 1)
    with pytest.raises(ValueError, match="wrong length"):
        F.adaptive_avg_pool2d(paddle.ones([1, 1, 2, 2]), [1, 1, 1])
    with pytest.raises(RuntimeError, match="no kernel"):
        F.max_pool2d(paddle.ones([1, 1, 4, 4], "int32"), 2)


@pytest.mark.parametrize("shape", [(2, 3, 0, 4), (2, 3, 4, 0), (2, 3, 0, 0)])
def test_bins_of_nothing(shape):
    x = paddle.zeros(shape)
    x.stop_gradient = False
    for f in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        out = f(x, [2, 3])
        assert out.shape == [2, 3, 2, 3] and np.isnan(out.numpy()).all()
        out.sum().backward()
        assert x.grad.shape == list(shape)
        x.clear_gradient()
    out, where = F.adaptive_max_pool2d(x, 2, return_mask=True)
    assert where.dtype == paddle.int32 and not where.numpy().any()
    with pytest.raises(
        ValueError, match=r"interpolate: there is nothing to interpolate between(?s:.)*x: float32\[2, 3"
    ):
        F.interpolate(x, size=[4, 4])
