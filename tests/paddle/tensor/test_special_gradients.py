"""Gradients at zeros, equals, infinities and NaN; those of complex functions against finite differences."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

INF, NAN = float("inf"), float("nan")


def gradients(f, *arrays, dtype="float32"):
    ts = [paddle.to_tensor(np.array(a, dtype), stop_gradient=False) for a in arrays]
    f(*ts).sum().backward()
    found = [t.grad.numpy().tolist() for t in ts]
    return found[0] if len(found) == 1 else found


# What PaddlePaddle 3.3.1 gives, except where it has NaN or infinity for the limit of the gradient.
CASES = [
    (F.silu, [0.0, INF, -INF, 1e30, -1e30, NAN], [0.5, 1.0, 0.0, 1.0, 0.0, NAN]),
    (F.swish, [0.0, INF, -INF, 1e30], [0.5, 1.0, 0.0, 1.0]),
    (lambda x: x**0.5, [0.0, 4.0, -1.0], [INF, 0.25, NAN]),
    (lambda x: x**2.0, [0.0, -0.0, -3.0], [0.0, 0.0, -6.0]),
    (lambda x: x**0.0, [0.0, 1.0, INF], [0.0, 0.0, 0.0]),
    (lambda x: 0.0**x, [-1.0, 0.0, 1.0], [-INF, 0.0, 0.0]),
    (paddle.logit, [0.0, -0.0, 1.0, 0.5], [INF, -INF, INF, 4.0]),
    (paddle.sinc, [0.0, 1e-30, 1e-40], [0.0, 0.0, 0.0]),
    (paddle.abs, [0.0, -0.0, INF, -INF], [0.0, 0.0, 1.0, -1.0]),
    (lambda x: paddle.norm(x, 2.0), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    (lambda x: paddle.norm(x, 1.0), [0.0, 3.0, -4.0], [0.0, 1.0, -1.0]),
    (lambda x: paddle.norm(x, 0.0), [INF, NAN, 0.0], [0.0, 0.0, 0.0]),
    (lambda x: paddle.norm(x, -1.0), [0.0, 3.0, -4.0], [0.0, 0.0, 0.0]),
    (lambda x: paddle.norm(x, INF), [2.0, -2.0, 1.0], [1.0, -1.0, 0.0]),
    (paddle.amax, [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
    (paddle.amin, [1.0, 2.0, 1.0], [0.5, 0.0, 0.5]),
    (lambda x: x.logcumsumexp(0), [-INF, 1.0, 0.0], [0.0, 1.7310585, 0.2689414]),
    (lambda x: x.logcumsumexp(0), [200.0, 0.0], [2.0, 0.0]),
    (paddle.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    (paddle.prod, [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
    (lambda x: x.cumprod(0), [2.0, 0.0, 3.0], [1.0, 8.0, 0.0]),
]


@pytest.mark.parametrize("at", range(len(CASES)))
def test_of_one(at):
    f, x, want = CASES[at]
    np.testing.assert_allclose(gradients(f, x), want, rtol=1e-5, atol=1e-6)


PAIRS = [
    (paddle.maximum, [1.0, NAN, 1.0, 2.0], [1.0, 1.0, NAN, 0.0], [0.5, 0, 0, 1.0], [0.5, 0, 0, 0]),
    (paddle.minimum, [1.0, NAN, 1.0, 2.0], [1.0, 1.0, NAN, 0.0], [0.5, 0, 0, 0], [0.5, 0, 0, 1.0]),
    (paddle.fmax, [1.0, NAN, 1.0, NAN], [1.0, 1.0, NAN, NAN], [1.0, 0, 1.0, 1.0], [0, 1.0, 0, 0]),
    (paddle.fmin, [1.0, NAN, 1.0, NAN], [1.0, 1.0, NAN, NAN], [1.0, 0, 1.0, 1.0], [0, 1.0, 0, 0]),
    (paddle.pow, [0.0, 0.0, -0.0, 0.0], [-1.0, 2.0, -1.0, INF], [-INF, 0, -INF, NAN], [-INF, 0, INF, 0]),
    (paddle.atan2, [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, -1.0]),
]


@pytest.mark.parametrize("at", range(len(PAIRS)))
def test_of_two(at):
    f, x, y, dx, dy = PAIRS[at]
    found = gradients(f, x, y)
    if f is not paddle.pow:
        np.testing.assert_allclose(found[0], dx, atol=1e-6)
    np.testing.assert_allclose(found[1], dy, atol=1e-6)


def test_the_angle_of_zero():
    assert gradients(lambda x: x.angle(), [0.0, 1.0], dtype="complex64") == [0j, 1j]


COMPLEX = {
    "prod": paddle.prod,
    "cumprod": lambda x: x.cumprod(0),
    "pow": lambda x: x**3.0,
    "pow of a fraction": lambda x: x**0.3,
    "pow of a negative": lambda x: x**-1.0,
    "pow of complex numbers": lambda x: paddle.pow(x, paddle.to_tensor([2 + 1j, 0.5 - 1j, 3], "complex128")),
    "exponents": lambda x: paddle.pow(paddle.to_tensor([2 + 1j, 0.5 - 1j, 3], "complex128"), x),
    "acosh": paddle.acosh,
    "asinh": paddle.asinh,
    "atan": paddle.atan,
    "log1p": paddle.log1p,
    "tanh": paddle.tanh,
    "abs": paddle.abs,
    "angle": paddle.angle,
    "divide": lambda x: x / paddle.to_tensor([2 + 1j, 0.5 - 1j, 3], "complex128"),
    "norm": lambda x: paddle.norm(x.abs()),
}


@pytest.mark.parametrize("name", list(COMPLEX))
def test_complex_gradients_are_those_of_finite_differences(name):
    """The gradient of a real loss is dL/d(re) + i dL/d(im)."""
    f, at, step = COMPLEX[name], np.array([1 + 2j, -1.2 - 0.7j, 0.4 + 0.5j]), 1e-6
    weights = np.array([1.0, -0.5, 2.0]), np.array([0.3, 2.0, -1.0])

    def loss(x):
        y = f(x).reshape([-1])
        n = y.shape[0]
        re, im = (paddle.to_tensor(w[:n]) for w in weights)
        return (paddle.real(y) * re).sum() + ((paddle.imag(y) * im).sum() if y.is_complex() else 0.0)

    x = paddle.to_tensor(at, stop_gradient=False)
    loss(x).backward()
    for i in range(3):
        parts = []
        for direction in (1.0, 1j):
            high, low = at.copy(), at.copy()
            high[i] += step * direction
            low[i] -= step * direction
            parts.append((loss(paddle.to_tensor(high)).item() - loss(paddle.to_tensor(low)).item()) / (2 * step))
        np.testing.assert_allclose(x.grad.numpy()[i], complex(*parts), rtol=1e-5, atol=1e-6)
