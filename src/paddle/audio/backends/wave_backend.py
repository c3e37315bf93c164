"""WAV files of 16 bits per sample, by Python's `wave`."""

from __future__ import annotations

import wave
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...tensor.tensor import Tensor
from .backend import AudioInfo

__all__: list[str] = []


def info(filepath: Any) -> AudioInfo:
    """What is known of a file.

    Args:
        filepath (str|Path|file): Its name, or the file, open to read bytes.

    Returns:
        AudioInfo: sample_rate, num_samples, num_channels, bits_per_sample, encoding.

    Raises:
        FileNotFoundError: there is none. EOFError, wave.Error: it is no WAV file.
    """
    with _opened(filepath, "rb") as f:
        return AudioInfo(f.getframerate(), f.getnframes(), f.getnchannels(), f.getsampwidth() * 8, "PCM_S")


def _opened(filepath: Any, mode: str) -> Any:
    return wave.open(filepath if hasattr(filepath, "read") or hasattr(filepath, "write") else str(filepath), mode)


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """The samples of a file.

    Args:
        filepath (str|Path|file): Its name, or the file, open to read bytes.
        frame_offset (int): The first sample. Default: 0.
        num_frames (int): How many samples; -1 for all. Default: -1.
        normalize (bool): Numbers in [-1, 1) instead of those of the file. Default: True.
        channels_first (bool): [channels, samples] instead of [samples, channels]. Default: True.

    Returns:
        tuple: the samples, a Tensor of float32; the number of samples of a channel in a second.

    Raises:
        FileNotFoundError: there is none. EOFError, wave.Error: it is no WAV file. ValueError: it has not 16 bits per
            sample.
    """
    with _opened(filepath, "rb") as f:
        if f.getsampwidth() != 2:
            raise errors.invalid_argument(
                "audio.load: samples of another width.", expected="16 bits", received=f"{f.getsampwidth() * 8} bits"
            )
        rate, channels = f.getframerate(), f.getnchannels()
        data = np.frombuffer(f.readframes(f.getnframes()), "<i2").reshape(-1, channels)
    start = max(frame_offset, 0)
    data = data[start:] if num_frames == -1 else data[start : start + num_frames]
    samples = data.astype(np.float32)
    if normalize:
        samples = samples / np.float32(32768)
    return from_array(np.ascontiguousarray(samples.T if channels_first else samples)), rate


def save(
    filepath: Any, src: Tensor, sample_rate: int, channels_first: bool = True, encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:  # fmt: skip
    """Writes samples to a WAV file.

    Args:
        filepath (str|Path|file): Its name, or the file, open to write bytes.
        src (Tensor): [channels, samples]; floating numbers in [-1, 1], or int16.
        sample_rate (int): Samples of a channel in a second.
        channels_first (bool): False for [samples, channels]. Default: True.
        encoding (str, optional): not looked at: samples are written as "PCM_S".
        bits_per_sample (int, optional): 16.

    Raises:
        AssertionError: src has not two axes. ValueError: another number of bits.
    """
    if src.ndim != 2:
        raise errors.asserted(
            "audio.save: src has not two axes.", expected="[channels, samples]", received=f"{src.type}"
        )
    if bits_per_sample not in (None, 16):
        raise errors.invalid_argument("audio.save: samples of another width.", expected="16 bits",
                                      received=f"{bits_per_sample} bits")  # fmt: skip
    a = src.array()
    a = a.T if channels_first else a
    if src.dtype.is_floating:
        a = np.clip(a.astype(np.float64) * 32768, -32768, 32767).astype("<i2")
    with _opened(filepath, "wb") as f:
        f.setnchannels(a.shape[1])
        f.setsampwidth(2)
        f.setframerate(sample_rate)
        f.writeframes(np.ascontiguousarray(a, "<i2").tobytes())
