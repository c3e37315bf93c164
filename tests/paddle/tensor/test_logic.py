"""Comparisons, logic, bits, closeness."""

import numpy as np
import pytest

import paddle


@pytest.mark.parametrize("name, f", [("equal", np.equal), ("not_equal", np.not_equal), ("less_than", np.less),
                                     ("less_equal", np.less_equal), ("greater_than", np.greater),
                                     ("greater_equal", np.greater_equal)])  # fmt: skip
def test_comparisons(name, f):
    x = np.array([1.0, 2.0, np.nan, np.inf, -0.0])
    y = np.array([1.0, 3.0, np.nan, np.inf, 0.0])
    got = getattr(paddle, name)(paddle.to_tensor(x), paddle.to_tensor(y))
    assert got.dtype == paddle.bool
    np.testing.assert_array_equal(got.numpy(), f(x, y))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_takes_any_type(name):
    x, y = np.array([0.0, 2.0, np.nan, 0.0], "float32"), np.array([1.0, 0.0, 0.0, 0.0], "float32")
    got = getattr(paddle, name)(paddle.to_tensor(x), paddle.to_tensor(y))
    np.testing.assert_array_equal(got.numpy(), getattr(np, name)(x, y))
    assert paddle.logical_not(paddle.to_tensor([0, 3])).tolist() == [True, False]


def test_bits():
    x, y = paddle.to_tensor([6, -1]), paddle.to_tensor([3, 5])
    assert (x & y).tolist() == [2, 5] and (x | y).tolist() == [7, -1] and (x ^ y).tolist() == [5, -6]
    assert (~x).tolist() == [-7, 0] and (~paddle.to_tensor([True])).tolist() == [False]
    with pytest.raises(ValueError, match="differ"):
        paddle.bitwise_and(x, paddle.to_tensor([1, 1], dtype="int32"))
    with pytest.raises(RuntimeError, match="not defined"):
        paddle.bitwise_and(paddle.ones([2]), paddle.ones([2]))


def test_shifts_beyond_the_width():
    x = paddle.to_tensor([1, -8], dtype="int32")
    n = lambda k: paddle.to_tensor([k, k], dtype="int32")  # noqa: E731
    assert (x << n(2)).tolist() == [4, -32] and (x << n(32)).tolist() == [0, 0]
    assert (x >> n(1)).tolist() == [0, -4] and (x >> n(40)).tolist() == [0, -1]
    assert paddle.bitwise_right_shift(x, n(28), is_arithmetic=False).tolist() == [0, 15]


def test_closeness():
    x = paddle.to_tensor([1.0, float("nan"), float("inf")])
    assert paddle.isclose(x, x).tolist() == [True, False, True]
    assert paddle.isclose(x, x, equal_nan=True).tolist() == [True, True, True]
    assert not bool(paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.1])))
    assert bool(paddle.equal_all(x[:1], x[:1])) and not bool(paddle.equal_all(x[:1], x))


def test_tests_of_one():
    x = paddle.to_tensor([1.0, float("nan"), float("inf"), float("-inf")])
    assert paddle.isnan(x).tolist() == [False, True, False, False]
    assert paddle.isinf(x).tolist() == [False, False, True, True]
    assert paddle.isfinite(x).tolist() == [True, False, False, False]
    assert paddle.isposinf(x).tolist() == [False, False, True, False]
    assert paddle.isneginf(x).tolist() == [False, False, False, True]
    assert paddle.isnan(paddle.to_tensor([1])).tolist() == [False]


def test_isin():
    x = paddle.to_tensor([[1, 2], [3, 4]])
    assert paddle.isin(x, paddle.to_tensor([2, 9])).tolist() == [[False, True], [False, False]]
    assert paddle.isin(x, paddle.to_tensor([2]), invert=True).tolist() == [[True, False], [True, True]]


def test_in_place_comparison_gives_bool():
    x = paddle.to_tensor([1.0, 2.0])
    assert x.less_than_(paddle.to_tensor([2.0, 2.0])).tolist() == [True, False]
    assert x.dtype == paddle.bool
