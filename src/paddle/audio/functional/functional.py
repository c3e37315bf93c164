"""Scales of hearing, and banks of filters on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.types import dtype_of
from ...tensor import exp, log, log10, maximum, where
from ...tensor.tensor import Tensor

__all__: list[str] = []

# Slaney's scale: 15 mels to 1000 hertz, then equal steps of a factor: 27 to 6400 hertz.
_STEP, _KNEE, _KNEE_MEL, _LOG_STEP = 200.0 / 3, 1000.0, 1000.0 * 3 / 200, math.log(6.4) / 27


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Frequencies in mels.

    Args:
        freq (float|Tensor): in hertz.
        htk (bool): The scale of HTK, 2595 * log10(1 + f / 700), instead of Slaney's. Default: False.

    Returns:
        float|Tensor: in mels.

    Examples:
        >>> paddle.audio.functional.hz_to_mel(200.0)
        3.0
    """
    if isinstance(freq, Tensor):
        if htk:
            return 2595.0 * log10(1.0 + freq / 700.0)
        above = _KNEE_MEL + log(maximum(freq, freq * 0 + _KNEE * 0.5) / _KNEE) / _LOG_STEP
        return where(freq > _KNEE, above, freq / _STEP)
    if htk:
        return 2595.0 * math.log10(1.0 + freq / 700.0)
    if freq >= _KNEE:
        return _KNEE_MEL + math.log(freq / _KNEE + 1e-10) / _LOG_STEP  # the 1e-10 is upstream's
    return freq / _STEP


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """Mels in hertz; the inverse of `hz_to_mel`.

    Args:
        mel (float|Tensor): in mels.
        htk (bool): The scale of HTK instead of Slaney's. Default: False.

    Returns:
        float|Tensor: in hertz.

    Examples:
        >>> paddle.audio.functional.mel_to_hz(3.0)
        200.0
    """
    if isinstance(mel, Tensor):
        if htk:
            return 700.0 * (exp(mel * (math.log(10) / 2595.0)) - 1.0)
        return where(mel > _KNEE_MEL, _KNEE * exp(_LOG_STEP * (mel - _KNEE_MEL)), mel * _STEP)
    if htk:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return _KNEE * math.exp(_LOG_STEP * (mel - _KNEE_MEL)) if mel >= _KNEE_MEL else mel * _STEP


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: Any = "float32"
) -> Tensor:
    """Frequencies at equal distances in mels.

    Args:
        n_mels (int): How many. Default: 64.
        f_min, f_max (float): The first and the last, in hertz. Default: 0.0, 11025.0.
        htk (bool): The scale of HTK. Default: False.
        dtype (str|dtype): Default: "float32".

    Returns:
        Tensor: [n_mels], in hertz.

    Examples:
        >>> [round(f) for f in paddle.audio.functional.mel_frequencies(3, 0.0, 1000.0).tolist()]
        [0, 500, 1000]
    """
    kind = dtype_of(dtype)
    mels = np.linspace(hz_to_mel(f_min, htk), hz_to_mel(f_max, htk), n_mels).astype(kind.np)
    return mel_to_hz(from_array(mels), htk)


def fft_frequencies(sr: int, n_fft: int, dtype: Any = "float32") -> Tensor:
    """The frequencies of a half spectrum.

    Args:
        sr (int): Samples in a second. n_fft (int): Samples of a frame. dtype (str|dtype): Default: "float32".

    Returns:
        Tensor: [n_fft // 2 + 1], in hertz.

    Examples:
        >>> paddle.audio.functional.fft_frequencies(8, 4).tolist()
        [0.0, 2.0, 4.0]
    """
    return from_array(np.linspace(0, float(sr) / 2, n_fft // 2 + 1).astype(dtype_of(dtype).np))


def compute_fbank_matrix(
    sr: int, n_fft: int, n_mels: int = 64, f_min: float = 0.0, f_max: float | None = None, htk: bool = False,
    norm: Any = "slaney", dtype: Any = "float32",
) -> Tensor:  # fmt: skip
    """Triangles over the frequencies of a half spectrum, each from one mel frequency over the next to the one after.

    Args:
        sr (int): Samples in a second. n_fft (int): Samples of a frame.
        n_mels (int): Triangles. Default: 64.
        f_min (float), f_max (float, optional): Where they begin and end, in hertz. Default: 0.0, sr / 2.
        htk (bool): The scale of HTK. Default: False.
        norm (str|float, optional): "slaney": each has the area 1 in hertz; a number p: the p-norm 1; None. Default:
            "slaney".
        dtype (str|dtype): Default: "float32".

    Returns:
        Tensor: [n_mels, n_fft // 2 + 1].

    Examples:
        >>> paddle.audio.functional.compute_fbank_matrix(8000, 16, n_mels=4).shape
        paddle.Size([4, 9])
    """
    kind = dtype_of(dtype)
    high = sr / 2 if f_max is None else f_max
    grid = fft_frequencies(sr, n_fft, dtype).numpy()
    points = mel_frequencies(n_mels + 2, f_min, high, htk, dtype).numpy()
    gaps = np.diff(points)
    slopes = points[:, None] - grid[None, :]
    w = np.maximum(0, np.minimum(-slopes[:-2] / gaps[:-1, None], slopes[2:] / gaps[1:, None])).astype(kind.np)
    if norm == "slaney":
        w = w * (2.0 / (points[2:] - points[:-2]))[:, None].astype(kind.np)
    elif isinstance(norm, (int, float)):
        sizes = (np.abs(w) ** norm).sum(-1, keepdims=True) ** (1 / norm)
        w = w / np.maximum(sizes, 1e-12).astype(kind.np)
    return from_array(np.ascontiguousarray(w.astype(kind.np)))


def power_to_db(spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Tensor:
    """10 * log10(spect / ref_value).

    Args:
        spect (Tensor): powers, floating.
        ref_value (float): What is 0 decibels; positive. Default: 1.0.
        amin (float): What is smaller counts as this; positive. Default: 1e-10.
        top_db (float, optional): What is further below the greatest counts as so far below; not negative. Default:
            80.0.

    Returns:
        Tensor: decibels, the shape of spect.

    Raises:
        ValueError: a parameter out of range.

    Examples:
        >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 100.0])).tolist()
        [0.0, 20.0]
    """
    if amin <= 0 or ref_value <= 0 or (top_db is not None and top_db < 0):
        raise errors.invalid_argument(
            "power_to_db: a parameter is out of range.", expected="amin > 0, ref_value > 0, top_db >= 0",
            received=f"amin: {amin}, ref_value: {ref_value}, top_db: {top_db}",
        )  # fmt: skip
    out = 10.0 * log10(maximum(spect, spect * 0 + amin)) - 10.0 * math.log10(max(ref_value, amin))
    return out if top_db is None else maximum(out, out.max() - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: Any = "float32") -> Tensor:
    """The matrix of a discrete cosine transform.

    Args:
        n_mfcc (int): Rows of the result of the transform. n_mels (int): Rows of what is transformed.
        norm (str, optional): "ortho": the columns are orthonormal. Default: "ortho".
        dtype (str|dtype): Default: "float32".

    Returns:
        Tensor: [n_mels, n_mfcc].

    Raises:
        AssertionError: no such norm.

    Examples:
        >>> paddle.audio.functional.create_dct(2, 4).shape
        paddle.Size([4, 2])
    """
    m = np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc)[None, :])
    if norm is None:
        m = m * 2
    elif norm == "ortho":
        m[:, 0] *= 1 / math.sqrt(2)
        m = m * math.sqrt(2.0 / n_mels)
    else:
        raise errors.asserted("create_dct: there is no such norm.", expected="'ortho' or None", received=f"{norm!r}")
    return from_array(m.astype(dtype_of(dtype).np))
