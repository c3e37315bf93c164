"""Layers that make spectrograms, and what is computed of them."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...nn import Layer
from ...signal import stft
from ...tensor import matmul
from ...tensor.tensor import Tensor
from ..functional import compute_fbank_matrix, create_dct, get_window, power_to_db

__all__: list[str] = []


class Spectrogram(Layer):
    """The size of the Fourier transforms of frames, to a power.

    Args:
        n_fft (int): Samples of a frame. Default: 512.
        hop_length (int, optional): Samples between the starts of frames. Default: 512.
        win_length (int, optional): Samples of the window. Default: n_fft.
        window (str|tuple): As `paddle.audio.functional.get_window` takes it. Default: "hann".
        power (float): Positive. Default: 1.0.
        center (bool), pad_mode (str): as `paddle.signal.stft` takes them. Default: True, "reflect".
        dtype (str): of the window. Default: "float32".

    Raises:
        AssertionError: power is not positive.

    Examples:
        >>> paddle.audio.features.Spectrogram(n_fft=16, hop_length=8)(paddle.ones([1, 64])).shape
        paddle.Size([1, 9, 9])
    """

    def __init__(
        self, n_fft: int = 512, hop_length: int | None = 512, win_length: int | None = None, window: Any = "hann",
        power: float = 1.0, center: bool = True, pad_mode: str = "reflect", dtype: str = "float32",
    ):  # fmt: skip
        super().__init__()
        if power <= 0:
            raise errors.asserted("Spectrogram: power is not positive.", received=f"{power}")
        size = n_fft if win_length is None else win_length
        self.power = power
        self.register_buffer("fft_window", get_window(window, size, True, dtype))
        self._frames = {"n_fft": n_fft, "hop_length": hop_length, "win_length": size, "center": center,
                        "pad_mode": pad_mode}  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """The spectrogram.

        Args:
            x (Tensor): [N, L].

        Returns:
            Tensor: [N, n_fft // 2 + 1, frames].
        """
        sizes = stft(x, window=self.fft_window, **self._frames).abs()
        return sizes if self.power == 1.0 else sizes**self.power


class MelSpectrogram(Layer):
    """A spectrogram through a bank of filters on the mel scale.

    Args:
        sr (int): Samples in a second. Default: 22050.
        n_fft (int): Default: 2048. hop_length (int, optional): Default: 512. win_length, window, power, center,
            pad_mode: as `Spectrogram`; power is 2.0 by default.
        n_mels (int): Filters. Default: 64. f_min (float), f_max (float, optional): in hertz. Default: 50.0, sr / 2.
        htk (bool), norm (str|float): as `paddle.audio.functional.compute_fbank_matrix` takes them.
        dtype (str): Default: "float32".

    Examples:
        >>> layer = paddle.audio.features.MelSpectrogram(sr=800, n_fft=32, hop_length=8, n_mels=4)
        >>> layer(paddle.ones([1, 64])).shape
        paddle.Size([1, 4, 9])
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 2048, hop_length: int | None = 512, win_length: int | None = None,
        window: Any = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: Any = "slaney",
        dtype: str = "float32",
    ):  # fmt: skip
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels, self.f_min, self.f_max, self.htk, self.norm = n_mels, f_min, f_max, htk, norm
        self.register_buffer("fbank_matrix", compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The powers that pass the filters.

        Args:
            x (Tensor): [N, L].

        Returns:
            Tensor: [N, n_mels, frames].
        """
        return matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A mel spectrogram in decibels.

    Args:
        ref_value (float), amin (float), top_db (float, optional): as `paddle.audio.functional.power_to_db` takes them.
            Default: 1.0, 1e-10, None.
        The others as `MelSpectrogram`; n_fft is 512 and hop_length n_fft // 4 by default.

    Examples:
        >>> layer = paddle.audio.features.LogMelSpectrogram(sr=800, n_fft=32, hop_length=8, n_mels=4)
        >>> layer(paddle.ones([1, 64])).shape
        paddle.Size([1, 4, 9])
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: Any = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: Any = "slaney",
        ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ):  # fmt: skip
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Tensor) -> Tensor:
        """Decibels.

        Args:
            x (Tensor): [N, L].

        Returns:
            Tensor: [N, n_mels, frames].
        """
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """The cosine transform of a mel spectrogram in decibels.

    Args:
        n_mfcc (int): Rows of the result, at most n_mels. Default: 40.
        The others as `LogMelSpectrogram`.

    Raises:
        AssertionError: n_mfcc is greater than n_mels.

    Examples:
        >>> layer = paddle.audio.features.MFCC(sr=800, n_mfcc=3, n_fft=32, hop_length=8, n_mels=4)
        >>> layer(paddle.ones([1, 64])).shape
        paddle.Size([1, 3, 9])
    """

    def __init__(
        self, sr: int = 22050, n_mfcc: int = 40, n_fft: int = 512, hop_length: int | None = None,
        win_length: int | None = None, window: Any = "hann", power: float = 2.0, center: bool = True,
        pad_mode: str = "reflect", n_mels: int = 64, f_min: float = 50.0, f_max: float | None = None, htk: bool = False,
        norm: Any = "slaney", ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = None,
        dtype: str = "float32",
    ):  # fmt: skip
        super().__init__()
        if n_mfcc > n_mels:
            raise errors.asserted("MFCC: n_mfcc is too great.", expected=f"at most {n_mels}", received=f"{n_mfcc}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype,
        )  # fmt: skip
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The transform.

        Args:
            x (Tensor): [N, L].

        Returns:
            Tensor: [N, n_mfcc, frames].
        """
        return matmul(self._log_melspectrogram(x).transpose([0, 2, 1]), self.dct_matrix).transpose([0, 2, 1])
