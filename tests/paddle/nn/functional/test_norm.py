import numpy as np
import pytest

import paddle
import paddle.nn.functional as F


def standardized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize("shape, data_format", [((6, 3), "NCHW"), ((4, 3, 5), "NCL"), ((2, 3, 4, 5), "NCHW"),
                                                ((2, 4, 5, 3), "NHWC"), ((2, 3, 2, 3, 2), "NCDHW")])  # fmt: skip
def test_batch_norm_in_training(shape, data_format, gradients_hold):
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=shape) * 2 + 1, rng.normal(size=3), rng.normal(size=3)
    axis = len(shape) - 1 if data_format[-1] == "C" and len(data_format) > 2 else 1
    axes = tuple(i for i in range(len(shape)) if i != axis)
    view = tuple(3 if i == axis else 1 for i in range(len(shape)))
    mean, var = paddle.zeros([3], "float64"), paddle.ones([3], "float64")
    out = F.batch_norm(*map(paddle.to_tensor, (x,)), mean, var, paddle.to_tensor(w), paddle.to_tensor(b), True, 0.7,
                       1e-4, data_format)  # fmt: skip
    np.testing.assert_allclose(out.numpy(), standardized(x, axes, 1e-4) * w.reshape(view) + b.reshape(view))
    np.testing.assert_allclose(mean.numpy(), 0.3 * x.mean(axes))
    np.testing.assert_allclose(var.numpy(), 0.7 + 0.3 * x.var(axes))
    assert mean.stop_gradient and var.stop_gradient

    def f(x, w, b):
        m, v = paddle.zeros([3], "float64"), paddle.ones([3], "float64")
        return F.batch_norm(x, m, v, w, b, True, data_format=data_format)

    gradients_hold(f, x, w, b)


def test_batch_norm_in_use(gradients_hold):
    rng = np.random.default_rng(0)
    x, m, v = rng.normal(size=(2, 3, 4)), rng.normal(size=3), rng.uniform(0.5, 2, 3)
    want = (x - m[:, None]) / np.sqrt(v[:, None] + 1e-5)
    for training, use in ((False, None), (True, True)):
        mean, var = paddle.to_tensor(m), paddle.to_tensor(v)
        out = F.batch_norm(paddle.to_tensor(x), mean, var, training=training, use_global_stats=use)
        np.testing.assert_allclose(out.numpy(), want)
        np.testing.assert_array_equal(mean.numpy(), m)
    gradients_hold(lambda t: F.batch_norm(t, paddle.to_tensor(m), paddle.to_tensor(v)), x)


def test_batch_norm_of_a_large_mean():
    x = np.random.default_rng(0).normal(size=(64, 2)).astype("float32") + 1e4
    out = F.batch_norm(paddle.to_tensor(x), paddle.zeros([2]), paddle.ones([2]), training=True).numpy()
    np.testing.assert_allclose(out, standardized(x.astype("float64"), (0,), 1e-5), atol=1e-2)


def test_batch_norm_rejects():
    with pytest.raises(AssertionError, match="fewer than 2 axes"):
        F.batch_norm(paddle.ones([3]), paddle.zeros([3]), paddle.ones([3]))
    with pytest.raises(ValueError, match="running_mean does not fit"):
        F.batch_norm(paddle.ones([2, 3]), paddle.zeros([2]), paddle.ones([3]))
    with pytest.raises(ValueError, match="data_format"):
        F.batch_norm(paddle.ones([2, 3]), paddle.zeros([3]), paddle.ones([3]), data_format="ZZ")
    with pytest.raises(ValueError, match="not a Tensor"):
        F.batch_norm(paddle.ones([2, 3]), None, None)


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_layer_norm(shape, gradients_hold):
    rng = np.random.default_rng(0)
    n = int(np.prod(shape))
    x, w, b = rng.normal(size=(2, 3, 4)), rng.normal(size=n), rng.normal(size=n)
    axes = tuple(range(3 - len(shape), 3))
    want = standardized(x, axes, 1e-5) * w.reshape(shape) + b.reshape(shape)
    out = F.layer_norm(*map(paddle.to_tensor, (x,)), list(shape), *map(paddle.to_tensor, (w, b)))
    np.testing.assert_allclose(out.numpy(), want)
    gradients_hold(lambda x, w, b: F.layer_norm(x, list(shape), w, b), x, w, b)


def test_layer_norm_in_16_bit_keeps_its_statistics_wide():
    x = (np.random.default_rng(0).normal(size=(4, 512)) + 100).astype("float16")
    out = F.layer_norm(paddle.to_tensor(x), 512)
    assert out.dtype is paddle.float16
    np.testing.assert_allclose(out.numpy(), standardized(x.astype("float64"), (1,), 1e-5), atol=5e-3)


@pytest.mark.parametrize("change, text", [
    (dict(normalized_shape=[3]), "does not end in"),
    (dict(normalized_shape=[2, 4]), "covers every axis"),
    (dict(epsilon=0.1), "epsilon is out of range"),
    (dict(weight=paddle.ones([3])), "weight does not fit"),
    (dict(normalized_shape="a"), "not a shape"),
])  # fmt: skip
def test_layer_norm_rejects(change, text):
    with pytest.raises(ValueError, match=text):
        F.layer_norm(**(dict(x=paddle.ones([2, 4]), normalized_shape=[4]) | change))


def test_group_and_instance_norm(gradients_hold):
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=(2, 4, 3, 2)), rng.normal(size=4), rng.normal(size=4)
    view = (1, 4, 1, 1)
    grouped = standardized(x.reshape(2, 2, -1), (2,), 1e-3).reshape(x.shape) * w.reshape(view) + b.reshape(view)
    call = lambda x, w, b: F.group_norm(x, 2, 1e-3, w, b)  # noqa: E731
    np.testing.assert_allclose(call(*map(paddle.to_tensor, (x, w, b))).numpy(), grouped)
    gradients_hold(call, x, w, b)
    single = standardized(x, (2, 3), 1e-5) * w.reshape(view) + b.reshape(view)
    call = lambda x, w, b: F.instance_norm(x, weight=w, bias=b)  # noqa: E731
    np.testing.assert_allclose(call(*map(paddle.to_tensor, (x, w, b))).numpy(), single)
    gradients_hold(call, x, w, b)
    last = paddle.to_tensor(x.transpose(0, 2, 3, 1).copy())
    out = F.group_norm(last, 2, 1e-3, paddle.to_tensor(w), paddle.to_tensor(b), "NHWC")
    np.testing.assert_allclose(out.numpy().transpose(0, 3, 1, 2), grouped)
    with pytest.raises(ValueError, match="does not divide"):
        F.group_norm(paddle.ones([2, 3, 4]), 2)


def test_rms_norm(gradients_hold):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 5)), rng.normal(size=5)
    want = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w
    np.testing.assert_allclose(F.rms_norm(paddle.to_tensor(x), 5, paddle.to_tensor(w)).numpy(), want)
    gradients_hold(lambda x, w: F.rms_norm(x, 5, w), x, w)


def test_local_response_norm(gradients_hold):
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    square = np.pad(x * x, [(0, 0), (1, 1), (0, 0)])
    mean = (square[:, :-2] + square[:, 1:-1] + square[:, 2:]) / 3
    want = x / (2.0 + 0.1 * mean) ** 0.75
    call = lambda t: F.local_response_norm(t, 3, 0.1, 0.75, 2.0)  # noqa: E731
    np.testing.assert_allclose(call(paddle.to_tensor(x)).numpy(), want)
    gradients_hold(call, x)


@pytest.mark.parametrize("p", [1, 2, 3, float("inf")])
def test_normalize(p, gradients_hold):
    x = np.random.default_rng(0).normal(size=(3, 4))
    want = x / np.linalg.norm(x, ord=p, axis=1, keepdims=True)
    np.testing.assert_allclose(F.normalize(paddle.to_tensor(x), p).numpy(), want)
    gradients_hold(lambda t: F.normalize(t, p), x)


def test_norms_of_zero_have_no_nan():
    x = paddle.zeros([2, 3])
    x.stop_gradient = False
    F.normalize(x).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    with pytest.raises(ValueError, match="no such axis"):
        F.normalize(paddle.ones([3]))


def test_similarities(gradients_hold):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    cos = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(F.cosine_similarity(*map(paddle.to_tensor, (x, y))).numpy(), cos)
    gradients_hold(F.cosine_similarity, x, y)
    for p in (1.0, 2.0, 3.5, float("inf")):
        want = np.linalg.norm(x - y + 1e-6, ord=p, axis=1)
        np.testing.assert_allclose(F.pairwise_distance(*map(paddle.to_tensor, (x, y)), p).numpy(), want)
        gradients_hold(lambda a, b: F.pairwise_distance(a, b, p), x, y)  # noqa: B023
    rows = np.array([np.linalg.norm(x[0] - x[1])])
    np.testing.assert_allclose(F.pdist(paddle.to_tensor(x)).numpy(), rows)
    with pytest.raises(IndexError, match="no such axis"):
        F.cosine_similarity(paddle.ones([2]), paddle.ones([2]))


def test_batch_norm_of_one_element_or_none_per_channel():
    for shape in ([1, 3], [1, 3, 1, 1]):
        layer = paddle.nn.BatchNorm1D(3) if len(shape) == 2 else paddle.nn.BatchNorm2D(3)
        layer.weight.set_value(np.array([2, 3, 4], "float32"))
        x = paddle.to_tensor(np.arange(3, dtype="float32").reshape(shape), stop_gradient=False)
        y = layer(x)
        y.square().sum().backward()
        np.testing.assert_array_equal(y.numpy(), x.numpy())
        np.testing.assert_array_equal(x.grad.numpy(), 2 * x.numpy())
        np.testing.assert_array_equal(layer.weight.grad.numpy(), [0, 0, 0])
        np.testing.assert_array_equal(layer._mean.numpy(), [0, 0, 0])
        np.testing.assert_array_equal(layer._variance.numpy(), [1, 1, 1])
    layer = paddle.nn.BatchNorm1D(3)
    assert layer(paddle.zeros([0, 3])).shape == [0, 3]
    np.testing.assert_array_equal(layer._mean.numpy(), [0, 0, 0])
    np.testing.assert_array_equal(layer._variance.numpy(), [1, 1, 1])
