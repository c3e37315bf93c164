"""Methods of Tensor from modules that few programs need: imported when they are first called."""

from __future__ import annotations

from typing import Any

from ..utils.public import public
from .tensor import Tensor


@public(method=True)
def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`paddle.signal.stft`."""
    from ..signal import stft

    return stft(x, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, name)


@public(method=True)
def istft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None,
    return_complex: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`paddle.signal.istft`."""
    from ..signal import istft

    return istft(x, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex, name)
