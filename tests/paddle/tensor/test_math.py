"""Element-wise functions against numpy, their edges and their gradients."""

import math

import numpy as np
import pytest

import paddle

UNARY = {
    "abs": np.abs, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "cos": np.cos, "sin": np.sin, "tan": np.tan,
    "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh, "asinh": np.arcsinh, "atanh": np.arctanh, "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "square": np.square, "reciprocal": np.reciprocal, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.rint, "sign": np.sign, "neg": np.negative,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "frac": lambda x: x - np.trunc(x), "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg, "sinc": np.sinc, "erf": np.vectorize(math.erf), "lgamma": np.vectorize(math.lgamma),
    "i0": np.i0,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 2)])
def test_functions_of_one(name, shape):
    x = np.random.default_rng(0).uniform(0.1, 0.9, shape)
    got = getattr(paddle, name)(paddle.to_tensor(x))
    np.testing.assert_allclose(got.numpy(), UNARY[name](x) if x.size else x, rtol=1e-9)
    assert getattr(paddle.Tensor, name) is getattr(paddle, name)


@pytest.mark.parametrize("name", ["exp", "sin", "sqrt", "log", "sigmoid", "erf", "reciprocal", "lgamma"])
def test_integers_are_computed_in_float32(name):
    got = getattr(paddle, name)(paddle.to_tensor([1, 2, 3]))
    assert got.dtype == paddle.float32
    np.testing.assert_allclose(got.numpy(), UNARY[name](np.array([1.0, 2.0, 3.0])), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "round", "trunc", "sign", "square", "neg"])
def test_integers_that_stay(name):
    got = getattr(paddle, name)(paddle.to_tensor([-3, 0, 2]))
    assert got.dtype == paddle.int64
    np.testing.assert_array_equal(got.numpy(), UNARY[name](np.array([-3, 0, 2])))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "sigmoid", "abs", "floor", "log1p"])
def test_infinities_and_nan_pass(name):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    with np.errstate(all="ignore"):
        want = UNARY[name](x)
    np.testing.assert_allclose(getattr(paddle, name)(paddle.to_tensor(x)).numpy(), want)


@pytest.mark.parametrize("bad", [None, "a", [1.0], 1.0])
def test_what_is_no_tensor(bad):
    with pytest.raises(ValueError, match="not a Tensor"):
        paddle.exp(bad)


def test_unknown_keyword():
    with pytest.raises(ValueError, match="nope"):
        paddle.exp(paddle.ones([2]), nope=1)
    with pytest.raises(TypeError):
        paddle.square(paddle.ones([2]), nope=1)


def test_other_spellings():
    x = paddle.ones([2])
    assert paddle.exp(input=x).shape == [2]
    assert paddle.add(input=x, other=x).tolist() == [2.0, 2.0]
    assert paddle.pow(x, exponent=2).tolist() == [1.0, 1.0]


def test_out_takes_the_result():
    out = paddle.zeros([2])
    assert paddle.exp(paddle.zeros([2]), out=out) is out
    assert out.tolist() == [1.0, 1.0]


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "floor_divide": np.floor_divide, "remainder": np.mod,
    "atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp, "copysign": np.copysign,
    "nextafter": np.nextafter, "pow": np.power,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), (2,)), ((0, 2), (1, 2))])
def test_functions_of_two(name, shapes):
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 3, s) for s in shapes)
    x, y = np.asarray(x), np.asarray(y)
    got = getattr(paddle, name)(paddle.to_tensor(x), paddle.to_tensor(y))
    np.testing.assert_allclose(got.numpy(), BINARY[name](x, y), rtol=1e-9)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match="do not broadcast"):
        paddle.ones([2]) + paddle.ones([3])


def test_division_rounds_down():
    x = paddle.to_tensor([7, -7, 7, -7])
    y = paddle.to_tensor([2, 2, -2, -2])
    assert (x // y).tolist() == [3, -4, -4, 3]
    assert (x % y).tolist() == [1, 1, -1, -1]
    assert paddle.divide(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]


def test_an_integer_over_zero_is_an_error():
    x = paddle.to_tensor([1, 2])
    with pytest.raises(IndexError, match="divided by zero"):
        (x // paddle.to_tensor([1, 0])).numpy()
    assert (x + 1).tolist() == [2, 3]  # the engine goes on


def test_the_smallest_integer_over_minus_one():
    low = np.iinfo("int64").min
    x = paddle.to_tensor(np.array([low, 5]))
    assert (x // -1).tolist() == [low, -5]
    assert (x % -1).tolist() == [0, 0]


def test_powers():
    i = paddle.to_tensor([-2, 1, 3])
    assert (i**3).tolist() == [-8, 1, 27]
    assert (2 ** paddle.to_tensor([0, 5])).tolist() == [1, 32]
    assert (i ** paddle.to_tensor([-1, -1, 0])).tolist() == [0, 1, 1]
    np.testing.assert_allclose((paddle.to_tensor([4.0, 9.0]) ** 0.5).numpy(), [2, 3])


def test_gradient_of_power_at_zero():
    x = paddle.to_tensor([0.0, 0.0, 2.0], stop_gradient=False)
    y = paddle.to_tensor([0.0, 1.0, 3.0], stop_gradient=False)
    (x**y).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 12.0]
    np.testing.assert_allclose(y.grad.numpy(), [0, 0, 8 * math.log(2)], rtol=1e-6)


def test_equals_share_the_gradient_of_maximum():
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    paddle.maximum(x, paddle.to_tensor([2.0, 2.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 0.5, 1.0]


def test_clip_and_its_gradient():
    x = paddle.to_tensor([-1.0, 0.0, 0.5, 1.0, 2.0, float("nan")], stop_gradient=False)
    y = paddle.clip(x, 0.0, 1.0)
    np.testing.assert_array_equal(y.numpy(), [0, 0, 0.5, 1, 1, np.nan])
    y.sum().backward()
    assert x.grad.tolist()[:5] == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert paddle.clip(paddle.to_tensor([1, 5]), 2).tolist() == [2, 5]
    with pytest.raises(ValueError, match="wrong way"):
        paddle.clip(x, 2.0, 1.0)


def test_in_place_forms():
    x = paddle.to_tensor([1.0, 4.0])
    y = x
    assert x.sqrt_() is x and y.tolist() == [1.0, 2.0]
    assert x.add_(paddle.ones([2])).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="does not fit"):
        x.add_(paddle.ones([3, 2]))
    leaf = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ValueError, match="leaf"):
        leaf.exp_()


def test_numpy_arrays_beside_tensors():
    t = paddle.to_tensor([1.0, 2.0], dtype="float64")
    assert (np.array([1.0, 2.0]) + t).tolist() == [2.0, 4.0]
    assert (t * np.array([2.0, 3.0])).tolist() == [2.0, 6.0]
    with pytest.raises(TypeError):
        t + [1.0, 2.0]


def test_bool_has_no_subtraction():
    b = paddle.to_tensor([True])
    with pytest.raises(RuntimeError, match="not defined for bool"):
        b - b


def test_second_derivative():
    x = paddle.to_tensor([0.3, 1.2], dtype="float64", stop_gradient=False)
    (g,) = paddle.grad(paddle.sin(x).sum(), x, create_graph=True)
    (h,) = paddle.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), -np.sin([0.3, 1.2]))


def test_complex_gradient_follows_the_conjugate():
    x = paddle.to_tensor([1.0 + 2.0j], stop_gradient=False)
    paddle.abs(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (1 + 2j) / abs(1 + 2j), rtol=1e-6)


def test_a_floating_divisor_makes_whole_quotients_floating():
    assert paddle.floor_divide(paddle.to_tensor([7, -7]), 2.5).tolist() == [2.0, -3.0]
    assert paddle.floor_divide(paddle.to_tensor([7, -7]), 2).dtype == paddle.int64


def test_copysign_of_integers_stays_whole():
    out = paddle.copysign(paddle.to_tensor([7, -7]), paddle.to_tensor([1, 1]))
    assert (out.dtype, out.tolist()) == (paddle.int64, [7, 7])
    with pytest.raises(AttributeError, match="x is not a Tensor"):
        paddle.copysign(3, out)


def test_gradients_outside_of_the_domain():
    x = paddle.to_tensor([-2.0, 2.0], stop_gradient=False)
    paddle.acosh(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [3**-0.5, 3**-0.5], rtol=1e-6)
    y = paddle.to_tensor([-0.1, 0.5], stop_gradient=False)
    paddle.logit(y).sum().backward()
    assert np.isnan(y.grad.numpy()[0]) and y.grad.numpy()[1] == 4.0
    z = paddle.to_tensor([-0.1, 0.5], stop_gradient=False)
    paddle.logit(z, 0.1).sum().backward()
    assert z.grad.tolist() == [0.0, 4.0]


def test_sgn_of_complex_numbers_has_a_gradient():
    x = paddle.to_tensor([3.0 + 4.0j, 0.0j], stop_gradient=False)
    out = paddle.sgn(x)
    np.testing.assert_allclose(out.numpy(), [0.6 + 0.8j, 0.0], rtol=1e-6)
    paddle.real(out).sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[0], 0.128 - 0.096j, rtol=1e-5)  # the derivative of x / |x| along x and y


@pytest.mark.parametrize("name", ["add_", "multiply_", "floor_divide_", "equal_", "bitwise_and_"])
@pytest.mark.parametrize("y", [None, 3, "a", [1, 2]])
def test_in_place_forms_of_two_tensors_refuse_what_is_none(name, y):
    x = paddle.to_tensor([1, 2])
    with pytest.raises(AttributeError, match="y is not a Tensor"):
        getattr(x, name)(y)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize(
    "same",
    [
        lambda x: paddle.cast(x, x.dtype),
        paddle.conj,
        lambda x: paddle.flip(x, []),
        lambda x: paddle.nn.functional.dropout(x, 0.5, training=False),
        lambda x: paddle.nn.functional.alpha_dropout(x, 0.0),
    ],
)
def test_what_changes_nothing_is_a_tensor_of_its_own(same):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = same(x)
    assert y is not x and not y.is_leaf
    y[0] = 5.0
    assert x.tolist() == [1.0, 2.0] and y.tolist() == [5.0, 2.0]
