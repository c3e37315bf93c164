import numpy as np
import pytest

import paddle
from paddle.signal import frame, istft, overlap_add, stft

rng = np.random.default_rng(0)
X = rng.normal(size=(2, 20)).astype("float32")
WINDOW = (np.hanning(8) + 0.1).astype("float32")


def test_frames():
    got = frame(paddle.to_tensor(X), 4, 3).numpy()
    assert got.shape == (2, 4, 6)
    for t in range(6):
        np.testing.assert_array_equal(got[:, :, t], X[:, 3 * t : 3 * t + 4])
    first = frame(paddle.to_tensor(X.T.copy()), 4, 3, axis=0).numpy()
    np.testing.assert_array_equal(first, got.transpose(2, 1, 0))


@pytest.mark.parametrize("axis", [0, -1])
def test_overlap_add_is_the_transpose_of_frame(axis):
    x = paddle.to_tensor(X if axis else X.T.copy(), stop_gradient=False)
    y = frame(x, 4, 3, axis=axis)
    g = paddle.to_tensor(rng.normal(size=y.shape).astype("float32"))
    (dx,) = paddle.grad(y, x, g)
    want = overlap_add(g, 3, axis=axis)
    got = dx[:, :19] if axis else dx[:19]
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


def test_stft_by_hand():
    x, w = paddle.to_tensor(X[0]), paddle.to_tensor(WINDOW)
    got = x.stft(8, 2, window=w, center=False).numpy()
    want = np.stack([np.fft.rfft(X[0, 2 * t : 2 * t + 8] * WINDOW) for t in range(7)], axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    short = stft(x, 8, 2, win_length=4, window=w[:4], center=False).numpy()  # two zeros on either side
    padded = np.pad(WINDOW[:4], 2)
    np.testing.assert_allclose(short[:, 0], np.fft.rfft(X[0, :8] * padded), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
def test_istft_gives_the_signal_back(center, normalized, onesided):
    same = {"window": paddle.to_tensor(WINDOW), "center": center, "normalized": normalized, "onesided": onesided}
    s = stft(paddle.to_tensor(X), 8, 2, **same)
    assert s.shape == [2, 5 if onesided else 8, 11 if center else 7]
    np.testing.assert_allclose(istft(s, 8, 2, **same).numpy(), X, atol=1e-5)
    np.testing.assert_allclose(s.istft(8, 2, length=13, **same).numpy(), X[:, :13], atol=1e-5)


def test_complex_signals():
    x = paddle.to_tensor(X + 1j * X[:, ::-1])
    s = stft(x, 8, 2)
    assert s.shape == [2, 8, 11]
    np.testing.assert_allclose(istft(s, 8, 2, onesided=False, return_complex=True).numpy(), x.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind, call", [
    (AssertionError, lambda x: stft(x.reshape([2, 4, 5]), 4)),
    (AssertionError, lambda x: stft(x, 21)),
    (AssertionError, lambda x: stft(x, 8, 0)),
    (AssertionError, lambda x: stft(x, 8, win_length=9)),
    (AssertionError, lambda x: stft(x, 8, window=paddle.ones([3]))),
    (AssertionError, lambda x: stft(x, 8, pad_mode="x")),
    (AssertionError, lambda x: stft(x.astype("complex64"), 8, onesided=True)),
    (AssertionError, lambda x: istft(stft(x, 8), 10)),
    (AssertionError, lambda x: istft(stft(x, 8), 8, return_complex=True)),
    (ValueError, lambda x: istft(stft(x, 8), 8, window=paddle.zeros([8]))),
    (ValueError, lambda x: frame(x, 21, 1)),
    (ValueError, lambda x: frame(x, 2, 1, axis=1)),
    (ValueError, lambda x: overlap_add(x, 3)),
    (ValueError, lambda x: overlap_add(x[0], 1)),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call(paddle.to_tensor(X))
