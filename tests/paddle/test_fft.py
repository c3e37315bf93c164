import numpy as np
import pytest

import paddle

rng = np.random.default_rng(0)
REAL = rng.normal(size=(3, 4, 5)).astype("float32")
COMPLEX = (rng.normal(size=(3, 4, 5)) + 1j * rng.normal(size=(3, 4, 5))).astype("complex64")


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
@pytest.mark.parametrize("name, arguments", [
    ("fft", {}), ("fft", {"n": 3, "axis": 1}), ("ifft", {"n": 8}), ("rfft", {"axis": 0}), ("rfft", {"n": 7}),
    ("irfft", {}), ("irfft", {"n": 7, "axis": 1}), ("irfft", {"n": 1}), ("hfft", {"n": 6}), ("ihfft", {"axis": 1}),
    ("fft2", {}), ("ifft2", {"s": [2, 6]}), ("rfft2", {"axes": [0, 1]}), ("irfft2", {"s": [3, 4], "axes": [2, 0]}),
    ("fftn", {}), ("fftn", {"s": [2, 3, 4], "axes": [0, 1, 2]}), ("ifftn", {"axes": [1]}), ("rfftn", {}),
    ("irfftn", {"s": [3, 4, 8], "axes": [0, 1, 2]}),
])  # fmt: skip
def test_as_numpy(name, arguments, norm):
    x = REAL if name.startswith(("rfft", "ihfft")) else COMPLEX
    got = getattr(paddle.fft, name)(paddle.to_tensor(x), norm=norm, **arguments)
    want = getattr(np.fft, name)(x, norm=norm, **arguments)
    kind = paddle.float32 if name.startswith(("irfft", "hfft")) else paddle.complex64
    assert got.dtype == kind
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-4)


def test_hermitian_transforms_of_many_axes_are_each_others_inverse():
    x = paddle.to_tensor(REAL)
    for there, back, sizes in (("ihfftn", "hfftn", [3, 4, 5]), ("ihfft2", "hfft2", [4, 5])):
        y = getattr(paddle.fft, back)(getattr(paddle.fft, there)(x), s=sizes)
        np.testing.assert_allclose(y.numpy(), REAL, atol=1e-5)


def test_real_and_integer_input():
    x = paddle.to_tensor([1, 2, 3])
    assert paddle.fft.fft(x).dtype == paddle.complex64 and paddle.fft.rfft(x).dtype == paddle.complex64
    assert paddle.fft.fft(paddle.ones([2], "float64")).dtype == paddle.complex128
    assert paddle.fft.fft(paddle.zeros([3, 0])).shape == [3, 0]
    for bad in (paddle.ones([2], "bool"), paddle.ones([2], "complex64")):
        with pytest.raises(RuntimeError, match="rfft: not for"):
            paddle.fft.rfft(bad)


def test_gradients_go_through_real_signals():
    x = paddle.to_tensor(REAL, stop_gradient=False)
    paddle.fft.irfft(paddle.fft.rfft(x) * 2.0, n=5).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full(REAL.shape, 2.0), rtol=1e-5)
    x.clear_gradient(False)
    (paddle.fft.fft(x).abs() ** 2).sum().backward()  # Parseval: 5 times the sum of squares
    np.testing.assert_allclose(x.grad.numpy(), 10 * REAL, rtol=1e-4)


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda x: paddle.fft.fft(x, n=0)),
    (ValueError, lambda x: paddle.fft.fft(x, n=2.5)),
    (ValueError, lambda x: paddle.fft.fft(x, axis=3)),
    (ValueError, lambda x: paddle.fft.fft(x, norm="x")),
    (ValueError, lambda x: paddle.fft.fft2(x, s=[3])),
    (ValueError, lambda x: paddle.fft.fft2(x[0, 0])),
    (ValueError, lambda x: paddle.fft.fftn(x, s=[2, 2], axes=[0])),
    (ValueError, lambda x: paddle.fft.fftn(x, axes=[0, 0])),
    (ValueError, lambda x: paddle.fft.fftfreq(0)),
    (TypeError, lambda x: paddle.fft.fft(3)),
    (IndexError, lambda x: paddle.fft.fftshift(x, 5)),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call(paddle.to_tensor(REAL))


def test_frequencies_and_shifts():
    np.testing.assert_allclose(paddle.fft.fftfreq(5, 0.2).numpy(), np.fft.fftfreq(5, 0.2), rtol=1e-6)
    assert paddle.fft.rfftfreq(4, dtype="float64").dtype == paddle.float64
    x = paddle.to_tensor(REAL)
    np.testing.assert_array_equal(paddle.fft.fftshift(x).numpy(), np.fft.fftshift(REAL))
    np.testing.assert_array_equal(paddle.fft.ifftshift(x, [0, 2]).numpy(), np.fft.ifftshift(REAL, [0, 2]))
    np.testing.assert_array_equal(paddle.fft.ifftshift(paddle.fft.fftshift(x)).numpy(), REAL)
