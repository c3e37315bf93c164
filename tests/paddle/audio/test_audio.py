import math
import wave

import numpy as np
import pytest

import paddle
from paddle.audio import features
from paddle.audio import functional as A

T = paddle.to_tensor
NAMES = ["hamming", "hann", "triang", "bohman", "blackman", "cosine", "tukey", "taylor", "bartlett", "nuttall",
         ("gaussian", 2.0), ("general_gaussian", 1.5, 2.0), ("exponential", None, 1.5), ("kaiser", 14.0),
         ("general_cosine", [1.0, 0.5]), ("general_hamming", 0.6)]  # fmt: skip


@pytest.mark.parametrize("window", NAMES, ids=str)
@pytest.mark.parametrize("n", [5, 8])
def test_windows_are_even_and_periodic_ones_are_cut(window, n):
    w = A.get_window(window, n, fftbins=False).numpy()
    np.testing.assert_allclose(w, w[::-1], atol=1e-12)
    assert w.shape == (n,) and w.max() == pytest.approx(w[n // 2])
    longer = A.get_window(window, n + 1, fftbins=False).numpy()
    np.testing.assert_allclose(A.get_window(window, n).numpy(), longer[:n])
    assert (
        A.get_window(window, 1).tolist() == [1.0] and A.get_window(window, n, dtype="float32").dtype == paddle.float32
    )


def test_windows_by_value():
    hann = [0.5 - 0.5 * math.cos(2 * math.pi * k / 8) for k in range(8)]
    np.testing.assert_allclose(A.get_window("hann", 8).numpy(), hann, atol=1e-15)
    np.testing.assert_allclose(A.get_window("triang", 5, False).numpy(), [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3])
    np.testing.assert_allclose(A.get_window("taylor", 5).numpy(), [0.30635, 0.66206, 0.957, 0.957, 0.66206], atol=1e-5)
    np.testing.assert_allclose(A.get_window(("tukey", 0.0), 4).numpy(), 1)


def test_scales_of_hearing():
    f = [60.0, 440.0, 999.0, 1001.0, 8000.0]
    for htk in (False, True):
        mels = A.hz_to_mel(T(f), htk)
        np.testing.assert_allclose(mels.numpy(), [A.hz_to_mel(v, htk) for v in f], rtol=1e-5)
        np.testing.assert_allclose(A.mel_to_hz(mels, htk).numpy(), f, rtol=1e-4)
        assert A.mel_to_hz(A.hz_to_mel(2000.0, htk), htk) == pytest.approx(2000.0)
    assert A.mel_frequencies(8, 100.0, 4000.0, dtype="float64").numpy()[[0, -1]] == pytest.approx([100.0, 4000.0])
    assert A.fft_frequencies(16000, 16).tolist() == [1000.0 * k for k in range(9)]


def test_banks_of_filters():
    bank = A.compute_fbank_matrix(8000, 512, n_mels=4)
    np.testing.assert_allclose(bank.numpy().sum(1) * 8000 / 512, 1, rtol=0.01)  # the area in hertz
    np.testing.assert_allclose(A.compute_fbank_matrix(8000, 64, n_mels=4, norm=1).numpy().sum(1), 1, rtol=1e-5)
    dct = A.create_dct(5, 5, dtype="float64").numpy()
    np.testing.assert_allclose(dct.T @ dct, np.eye(5), atol=1e-12)
    s = T([[1e-12, 1.0, 100.0]])
    assert A.power_to_db(s, top_db=None).tolist()[0] == pytest.approx([-100.0, 0.0, 20.0])
    assert A.power_to_db(s, top_db=10.0).tolist()[0] == pytest.approx([10.0, 10.0, 20.0])


def test_features():
    x = T(np.sin(np.arange(128) * 0.3).reshape(2, 64).astype("float32"))
    plain = features.Spectrogram(n_fft=16, hop_length=8)(x)
    power = features.Spectrogram(n_fft=16, hop_length=8, power=2.0)(x)
    np.testing.assert_allclose(power.numpy(), plain.numpy() ** 2, rtol=1e-4, atol=1e-5)
    same = {"sr": 800, "n_fft": 32, "hop_length": 8, "n_mels": 4, "f_min": 10.0}
    mel = features.MelSpectrogram(**same)
    sizes = features.Spectrogram(n_fft=32, hop_length=8, power=2.0)(x)
    np.testing.assert_allclose(mel(x).numpy(), mel.fbank_matrix.numpy() @ sizes.numpy(), rtol=1e-4, atol=1e-6)
    log = features.LogMelSpectrogram(**same)(x)
    np.testing.assert_allclose(log.numpy(), 10 * np.log10(np.maximum(mel(x).numpy(), 1e-10)), rtol=1e-3, atol=1e-3)
    mfcc = features.MFCC(n_mfcc=3, **same)
    want = np.einsum("bmt,mk->bkt", log.numpy(), mfcc.dct_matrix.numpy())
    np.testing.assert_allclose(mfcc(x).numpy(), want, rtol=1e-3, atol=1e-3)
    x.stop_gradient = False
    mfcc(x).sum().backward()
    assert x.grad.shape == [2, 64] and paddle.isfinite(x.grad).all()


def test_files(tmp_path):
    a = T(np.array([[0.0, 0.5, -0.5, 1.0, -1.0], [0.1, 0.2, 0.3, 0.4, 0.5]], "float32"))
    name = tmp_path / "a.wav"
    paddle.audio.save(name, a, 8000)
    found = paddle.audio.info(name)
    assert (found.sample_rate, found.num_samples, found.num_channels, found.bits_per_sample) == (8000, 5, 2, 16)
    b, rate = paddle.audio.load(str(name))
    assert rate == 8000
    np.testing.assert_allclose(b.numpy(), a.numpy(), atol=1 / 16384)
    assert paddle.audio.load(name, 1, 2, normalize=False, channels_first=False)[0].tolist() == [
        [16384, 6553],
        [-16384, 9830],
    ]
    with open(name, "rb") as f:
        assert paddle.audio.load(f, 3)[0].shape == [2, 2]
    paddle.audio.save(name, a.t().astype("float64"), 8000, channels_first=False)
    np.testing.assert_array_equal(paddle.audio.load(name)[0].numpy(), b.numpy())
    with wave.open(str(name), "wb") as w:
        w.setparams((1, 1, 8000, 0, "NONE", ""))
        w.writeframes(b"abc")
    with pytest.raises(ValueError, match="16 bits"):
        paddle.audio.load(name)


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: A.get_window("zz", 8)),
    (ValueError, lambda: A.get_window("gaussian", 8)),
    (ValueError, lambda: A.get_window("hann", 8.5)),
    (ValueError, lambda: A.get_window(("exponential", 2.0, 1.0), 8, False)),
    (TypeError, lambda: A.get_window("general_hamming", 8)),
    (TypeError, lambda: A.get_window("hann", 8, dtype="int32")),
    (ValueError, lambda: A.power_to_db(T([1.0]), amin=0.0)),
    (AssertionError, lambda: A.create_dct(3, 5, norm="x")),
    (AssertionError, lambda: features.Spectrogram(power=0.0)),
    (AssertionError, lambda: features.MFCC(n_mfcc=9, n_mels=4)),
    (AssertionError, lambda: paddle.audio.save("x.wav", T([1.0]), 8000)),
    (NotImplementedError, lambda: paddle.audio.backends.set_backend("soundfile")),
    (FileNotFoundError, lambda: paddle.audio.load("there is no such file.wav")),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call()
