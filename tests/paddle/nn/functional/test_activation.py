import math

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

X = np.array([-30.0, -3.0, -1.5, -0.3, 0.0, 0.4, 1.0, 2.5, 6.5, 30.0])


def softplus(x):
    return np.logaddexp(0, x)


MEANING = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "hardsigmoid": lambda x: np.clip(0.1666667 * x + 0.5, 0, 1),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "thresholded_relu": lambda x: np.where(x > 1, x, 0),
    "softplus": softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "log_sigmoid": lambda x: -softplus(-x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", MEANING)
def test_values(name):
    out = getattr(F, name)(paddle.to_tensor(X))
    np.testing.assert_allclose(out.numpy(), MEANING[name](X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", MEANING)
def test_gradients(name, gradients_hold):
    gradients_hold(getattr(F, name), np.random.default_rng(1).normal(size=(3, 5)) * 2)


@pytest.mark.parametrize("name", [n for n in MEANING if n not in ("sigmoid", "tanh")])
def test_other_shapes_and_types(name):
    f = getattr(F, name)
    assert f(paddle.zeros([0, 3])).shape == [0, 3]
    assert f(paddle.to_tensor(0.5)).shape == []
    for dtype in ("float16", "bfloat16"):
        out = f(paddle.ones([2]).astype(dtype) * 2)
        assert out.dtype is getattr(paddle, dtype)
        np.testing.assert_allclose(out.astype("float32").numpy(), MEANING[name](np.full(2, 2.0)), rtol=1e-2)
    assert np.isnan(f(paddle.to_tensor([float("nan")])).numpy()).all() or name in (
        "hardshrink",
        "thresholded_relu",
        "relu",
    )
    with pytest.raises(RuntimeError, match="no kernel"):
        f(paddle.to_tensor([1, 2]))
    with pytest.raises(ValueError, match="not a Tensor"):
        f([1.0])


def test_no_overflow_far_out():
    x = paddle.to_tensor([-1e4, 1e4])
    x.stop_gradient = False
    for name in ("softplus", "log_sigmoid", "mish", "elu", "selu", "hardswish"):
        out = getattr(F, name)(x)
        (g,) = paddle.grad(out, x, paddle.ones([2]))
        assert np.isfinite(out.numpy()).all() and np.isfinite(g.numpy()).all(), name


def test_gelu_tanh():
    want = 0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))
    np.testing.assert_allclose(F.gelu(paddle.to_tensor(X), approximate=True).numpy(), want, rtol=1e-7, atol=1e-9)


def test_slopes_at_the_corners_are_upstreams():
    x = paddle.to_tensor([0.0])
    x.stop_gradient = False
    for name, slope in (("relu", 0), ("relu6", 0), ("leaky_relu", 1), ("hardshrink", 0), ("elu", 1)):
        (g,) = paddle.grad(getattr(F, name)(x), x, paddle.ones([1]))
        assert g.item() == slope, name


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis, gradients_hold):
    x = np.random.default_rng(2).normal(size=(3, 4, 5)) * 3
    e = np.exp(x - x.max(axis, keepdims=True))
    want = e / e.sum(axis, keepdims=True)
    np.testing.assert_allclose(F.softmax(paddle.to_tensor(x), axis).numpy(), want, rtol=1e-10)
    np.testing.assert_allclose(F.log_softmax(paddle.to_tensor(x), axis).numpy(), np.log(want), rtol=1e-7)
    gradients_hold(lambda t: F.softmax(t, axis), x)
    gradients_hold(lambda t: F.log_softmax(t, axis), x)


def test_softmax_of_large_and_infinite_numbers():
    out = F.softmax(paddle.to_tensor([[1e30, -1e30], [0.0, -np.inf]])).numpy()
    np.testing.assert_array_equal(out, [[1, 0], [1, 0]])
    assert np.isnan(F.softmax(paddle.to_tensor([np.inf, 0.0])).numpy()).any()
    assert F.softmax(paddle.zeros([3, 0])).shape == [3, 0]
    assert F.softmax(paddle.to_tensor(4.0)).item() == 1.0
    assert F.softmax(paddle.ones([2]), dtype="float64").dtype is paddle.float64


def test_softmax_rejects_bad_axes():
    with pytest.raises(ValueError, match="no such axis"):
        F.softmax(paddle.ones([2, 3]), 2)
    with pytest.raises(TypeError, match="axis is not an integer"):
        F.softmax(paddle.ones([2, 3]), axis="a")


def test_in_place_forms():
    x = paddle.to_tensor([-1.0, 2.0])
    assert F.relu_(x) is x and x.tolist() == [0.0, 2.0]
    y = paddle.to_tensor([0.0, 0.0])
    assert F.softmax_(y) is y and y.tolist() == [0.5, 0.5]
    leaf = paddle.ones([2])
    leaf.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        F.relu_(leaf)


def test_prelu(gradients_hold):
    x = np.random.default_rng(4).normal(size=(2, 3, 4))
    w = np.array([0.1, 0.2, 0.3])
    want = np.where(x > 0, x, x * w[:, None])
    np.testing.assert_allclose(F.prelu(paddle.to_tensor(x), paddle.to_tensor(w)).numpy(), want)
    gradients_hold(lambda a, b: F.prelu(a, b), x, w)
    with pytest.raises(AssertionError, match=r"not as many weights as channels[^$]*weight of shape \[1\] or \[3\]"):
        F.prelu(paddle.ones([2, 3]), paddle.ones([2]))


def test_gated_and_grouped(gradients_hold):
    x = np.random.default_rng(5).normal(size=(2, 4, 2, 2))
    a, b = x[:, :2], x[:, 2:]
    np.testing.assert_allclose(F.glu(paddle.to_tensor(x), 1).numpy(), a / (1 + np.exp(-b)))
    np.testing.assert_allclose(F.maxout(paddle.to_tensor(x), 2).numpy(), np.maximum(x[:, ::2], x[:, 1::2]))
    gradients_hold(F.swiglu, x)
    with pytest.raises(ValueError, match="4 axes"):
        F.maxout(paddle.ones([2, 4]), 2)
    with pytest.raises(ValueError, match="halves"):
        F.glu(paddle.ones([2, 3]))


def test_random_slopes_and_draws():
    paddle.seed(7)
    out = F.rrelu(paddle.full([1000], -1.0), 0.1, 0.3).numpy()
    assert out.min() >= -0.3 and out.max() <= -0.1 and out.std() > 0.03
    hard = F.gumbel_softmax(paddle.zeros([50, 4]), hard=True)
    assert (hard.numpy().sum(1) == 1).all() and set(np.unique(hard.numpy())) == {0.0, 1.0}
    paddle.seed(7)
    np.testing.assert_array_equal(F.rrelu(paddle.full([1000], -1.0), 0.1, 0.3).numpy(), out)


def test_softmax_of_a_tensor_has_the_axis_that_upstream_chooses():
    for shape, axis in (([4], 0), ([2, 3], 1), ([2, 3, 4], 0), ([2, 3, 4, 5], 1)):
        x = paddle.rand(shape)
        np.testing.assert_array_equal(x.softmax().numpy(), F.softmax(x, axis).numpy())
    assert paddle.rand([2, 3]).softmax(dim=0, dtype="float64").dtype == paddle.float64
    with pytest.raises(TypeError):
        paddle.rand([2]).softmax(axis=0)
