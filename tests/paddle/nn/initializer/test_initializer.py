"""Initializers: moments and ranges of the random ones, values of the fixed ones, seeds."""

import math

import numpy as np
import pytest

import paddle
from paddle.nn import initializer as I


def make(start, shape=(200, 300), dtype="float32"):
    return paddle.create_parameter(list(shape), dtype, default_initializer=start).astype("float64").numpy()


@pytest.mark.parametrize(
    "start, shape, std, limit",
    [
        (I.Uniform(-2.0, 2.0), (200, 300), 4 / math.sqrt(12), 2.0),
        (I.Normal(0.0, 0.5), (200, 300), 0.5, None),
        (I.TruncatedNormal(0.0, 1.0), (200, 300), 0.8796, 2.0),
        (I.TruncatedNormal(0.0, 10.0), (200, 300), 4 / math.sqrt(12), 2.0),
        (I.XavierUniform(), (200, 300), math.sqrt(2 / 500), math.sqrt(6 / 500)),
        (I.XavierNormal(gain=2.0), (200, 300), 2 * math.sqrt(2 / 500), None),
        (I.XavierUniform(), (40, 30, 5, 5), math.sqrt(2 / (70 * 25)), math.sqrt(6 / (70 * 25))),
        (I.XavierUniform(fan_in=8, fan_out=0), (200, 300), 0.5, math.sqrt(3) / 2),
        (I.KaimingUniform(), (200, 300), math.sqrt(2 / 200), math.sqrt(6 / 200)),
        (I.KaimingNormal(mode="fan_out"), (200, 300), math.sqrt(2 / 300), None),
        (I.KaimingNormal(negative_slope=1.0, nonlinearity="leaky_relu"), (200, 300), math.sqrt(1 / 200), None),
        (I.Orthogonal(3.0), (100, 300), 3 / math.sqrt(300), None),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_moments(start, shape, std, limit, dtype):
    paddle.seed(5)
    a = make(start, shape, dtype)
    assert abs(a.mean()) < 6 * std / math.sqrt(a.size)
    assert abs(a.std() / std - 1) < 0.03
    if limit is not None:
        assert np.abs(a).max() <= limit * 1.01


def test_seeds():
    def run():
        paddle.seed(11)
        return [make(s, (4, 5)) for s in (I.Uniform(), I.Normal(), I.TruncatedNormal(), I.Orthogonal())]

    for a, b in zip(run(), run()):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(make(I.Normal(), (4, 5)), make(I.Normal(), (4, 5)))


def test_truncation_far_from_the_mean():
    a = make(I.TruncatedNormal(0.0, 1.0, 3.0, 4.0))
    assert a.min() >= 3.0 and a.max() <= 4.0 and a.mean() < 3.4


@pytest.mark.parametrize("shape", [(30, 40), (40, 30), (10, 4, 5)])
def test_orthogonal(shape):
    q = make(I.Orthogonal(2.0), shape, "float64").reshape(shape[0], -1)
    small = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-9)


def test_fixed_values():
    np.testing.assert_array_equal(make(I.Constant(3.0), (2,)), [3.0, 3.0])
    np.testing.assert_array_equal(make(I.Assign([[1, 2], [3, 4]]), (2, 2)), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(make(I.Assign(paddle.ones([2])), (2,)), [1, 1])
    dirac = make(I.Dirac(2), (4, 2, 3))
    x = np.arange(4)
    assert (dirac[x, x % 2, 1] == 1).all() and dirac.sum() == 4
    bilinear = make(I.Bilinear(), (2, 1, 4, 4))
    np.testing.assert_allclose(bilinear[0, 0, 2], [0.1875, 0.46875, 0.375, 0.09375])


def test_global_initializers():
    I.set_global_initializer(I.Constant(7.0), I.Constant(8.0))
    try:
        fc = paddle.nn.Linear(2, 2)
        assert (fc.weight.numpy() == 7.0).all() and (fc.bias.numpy() == 8.0).all()
        assert (paddle.nn.Linear(2, 2, weight_attr=I.Constant(1.0)).weight.numpy() == 1.0).all()
    finally:
        I.set_global_initializer(None)
    assert not paddle.nn.Linear(2, 2).bias.numpy().any()


def test_an_initializer_of_ones_own():
    class Count(I.Initializer):
        def forward(self, var, block=None):
            var.set_value(np.arange(var.size, dtype="float32").reshape(var.shape))
            return var

    np.testing.assert_array_equal(make(Count(), (2, 2)), [[0, 1], [2, 3]])


def test_functions_change_tensors_in_place():
    p = paddle.create_parameter([30, 40], "float32")
    for f in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
              "kaiming_normal_", "orthogonal_"):  # fmt: skip
        before = p.numpy()
        getattr(paddle.nn.init, f)(p)
        assert not np.array_equal(before, p.numpy()), f
    paddle.nn.init.eye_(p)
    np.testing.assert_array_equal(p.numpy(), np.eye(30, 40))
    paddle.nn.init.constant_(p, 2.0)
    assert (p.numpy() == 2.0).all() and not p.stop_gradient and p.is_leaf


def test_gains():
    assert I.calculate_gain("tanh") == 5 / 3 and I.calculate_gain("relu") == math.sqrt(2)
    with pytest.raises(ValueError):
        I.calculate_gain("nope")


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: I.Assign(3), AssertionError),
        (lambda: make(I.Assign([1.0, 2.0]), (3,)), ValueError),
        (lambda: make(I.Orthogonal(), (3,)), AssertionError),
        (lambda: make(I.Bilinear(), (2, 2)), ValueError),
        (lambda: I.Dirac(0), AssertionError),
        (lambda: I.KaimingNormal(mode="x"), ValueError),
        (lambda: I.set_global_initializer(3), TypeError),
    ],
)
def test_bad_arguments(call, kind):
    with pytest.raises(kind):
        call()
