"""What types results have, and how numbers fit into them."""

import warnings

import numpy as np
import pytest

import paddle


def tensor(values, dtype):
    return paddle.to_tensor(np.asarray(values).astype(dtype))


def typed(t):
    return str(t.dtype).removeprefix("paddle."), t.tolist()


@pytest.mark.parametrize(
    "x, y, expected",
    [
        ("int32", 2, ("int64", [3, -4])),
        ("int8", -1, ("int64", [-7, 7])),
        ("int32", 2.0, ("float32", [3, -4])),
        ("float64", 2.0, ("float64", [3, -4])),
        ("int32", True, ("int32", [7, -7])),
    ],
)
def test_floor_divide_by_a_number(x, y, expected):
    assert typed(paddle.floor_divide(tensor([7, -7], x), y)) == expected


def test_floor_divide_by_a_tensor_without_axes():
    x = tensor([7, -7], "int32")
    assert typed(x // paddle.to_tensor(2)) == ("int64", [3, -4])
    assert typed(x // 2) == ("int32", [3, -4])  # beside an operator a number takes the Tensor's type
    assert typed(paddle.divide(x, paddle.to_tensor(2), rounding_mode="trunc")) == ("int32", [3, -3])


def test_copysign_of_integers():
    x = tensor([1, -2, 0], "int32")
    assert typed(paddle.copysign(x, -3)) == ("int32", [-1, -2, 0])
    assert typed(paddle.copysign(x, tensor([1, 1, -1], "int32"))) == ("int32", [1, 2, 0])
    assert typed(paddle.copysign(tensor([1, 2], "uint8"), -1)) == ("uint8", [1, 2])


def test_a_number_wraps_in_small_integers():
    x = tensor([0, 100], "uint8")
    assert typed(x - 1) == ("uint8", [255, 99])
    assert typed(x + 300) == ("uint8", [44, 144])
    assert typed(255 - x) == ("uint8", [255, 155])
    assert typed(tensor([1], "int8") + 200) == ("int8", [-55])
    with pytest.raises(OverflowError):
        tensor([1], "int32") + 2**40


def test_bounds_of_clip_do_not_wrap():
    assert typed(paddle.clip(tensor([0, 100], "uint8"), -5, 300)) == ("uint8", [0, 100])
    assert typed(paddle.clip(tensor([1, 5], "int32"), paddle.to_tensor(2.5))) == ("float32", [2.5, 5.0])


def test_full_like_refuses_what_does_not_fit():
    x = tensor([0, 0], "int8")
    assert typed(paddle.full_like(x, -128)) == ("int8", [-128, -128])
    with pytest.raises(ValueError, match="does not fit"):
        paddle.full_like(x, 128)
    assert paddle.full_like(x, float("inf"), dtype="float16").tolist() == [float("inf")] * 2


def test_in_place_a_type_goes_up():
    x = tensor([1, 2], "float32")
    assert x.add_(tensor([1, 1], "float64")) is x
    assert typed(x) == ("float64", [2.0, 3.0])
    x = tensor([1, 2], "float64")
    assert typed(x.multiply_(tensor([2, 2], "float32"))) == ("float64", [2.0, 4.0])
    x = tensor([1, 2], "float32")
    assert x.add_(tensor([1j, 1], "complex64")).dtype is paddle.complex64

    x = tensor([1, 2], "float32")
    x.stop_gradient = False
    y = x * 2
    y.add_(tensor([1, 1], "float64"))
    y.sum().backward()
    assert y.dtype is paddle.float64
    assert typed(x.grad) == ("float32", [2.0, 2.0])


def test_the_matrix_operator_takes_the_left_type():
    x, y = tensor([[1, 2]], "int32"), tensor([[1.5], [2]], "float32")
    with pytest.warns(UserWarning, match="cast to int32"):
        assert typed(x @ y) == ("int32", [[5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (y.T @ tensor([[1], [2j]], "complex64")).dtype is paddle.complex64
    assert typed(paddle.matmul(y.T, tensor([[1], [2]], "int64"))) == ("float32", [[5.5]])
    with pytest.raises(ValueError):
        paddle.matmul(x, y)


def test_bits_beside_a_number_at_the_left():
    assert typed(2 & paddle.to_tensor([True, False])) == ("bool", [True, False])
    assert typed(3 | tensor([4, 8], "uint8")) == ("uint8", [7, 11])


def test_sums_of_integers():
    x = tensor([[1, 2], [3, 4]], "int32")
    assert typed(paddle.trace(x)) == ("int32", 5)
    assert typed(paddle.vecdot(x, x)) == ("int64", [5, 25])
    assert typed(paddle.vecdot(x, 2)) == ("int64", [6, 14])
    assert typed(paddle.reduce_as(x, tensor([0, 0], "int32"))) == ("int64", [4, 6])
    assert typed(paddle.reduce_as(x, x)) == ("int32", [[1, 2], [3, 4]])
    assert typed(paddle.nanmedian(tensor([1, 4], "int32"))) == ("int32", 2)
    assert typed(paddle.nanmean(tensor([1, 4], "int64"))) == ("float32", 2.5)
    assert typed(paddle.nanmean(tensor([1, 2j], "complex64"))) == ("complex64", 0.5 + 1j)


def test_equal_of_bool_and_a_number():
    assert paddle.equal(paddle.to_tensor([True, False]), 2).tolist() == [True, False]


def test_integers_in_a_loss():
    loss = paddle.nn.functional.soft_margin_loss(tensor([1, 2], "int32"), tensor([1, -1], "int32"))
    np.testing.assert_allclose(loss.numpy(), np.mean(np.log1p(np.exp([-1.0, 2.0]))), rtol=1e-6)


@pytest.mark.parametrize("name", ["silu", "softplus", "softsign", "log_sigmoid"])
def test_activations_of_complex_numbers(name):
    f = getattr(paddle.nn.functional, name)
    x = paddle.to_tensor(np.array([1 + 1j, -2 + 0.5j], "complex128"), stop_gradient=False)
    v = x.numpy()
    expected = {
        "silu": v / (1 + np.exp(-v)),
        "softplus": np.log(1 + np.exp(v)),
        "softsign": v / (1 + abs(v)),
        "log_sigmoid": -np.log(1 + np.exp(-v)),
    }[name]
    out = f(x)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-9)
    paddle.real(out).sum().backward()
    h = 1e-5  # the real part of the gradient is the slope along the real axis
    ahead, behind = (f(paddle.to_tensor(v + d)).numpy().real for d in (h, -h))
    np.testing.assert_allclose(x.grad.numpy().real, (ahead - behind) / (2 * h), rtol=1e-6)


def test_normal_complex_numbers():
    paddle.seed(1)
    x = paddle.randn([20000], dtype="complex64").numpy()
    assert x.dtype == "complex64"
    np.testing.assert_allclose([x.real.std(), x.imag.std(), abs(x.mean())], [0.5**0.5, 0.5**0.5, 0], atol=0.02)
    like = paddle.randn_like(paddle.to_tensor(np.ones(3, "complex128")))
    assert like.dtype is paddle.complex128 and like.shape == [3]
