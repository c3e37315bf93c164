"""Frames of signals, and their Fourier transforms over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .engine import errors
from .engine.eager.trace import from_array
from .engine.ops.complex import ToComplex, zeros_like
from .engine.ops.elementwise import conj
from .engine.ops.fourier import Fft, Irfft, Rfft
from .engine.ops.indexing import Gather, ScatterAdd
from .engine.ops.shape import PadFrom, pad, reshape, slice_axis, transpose
from .fft import _input
from .tensor.families import need_tensor, no_method
from .tensor.tensor import Tensor

__all__ = ["stft", "istft"]

# Shape letters: N signals, L samples, F elements of a frame, T frames, K frequencies.


def _positive(v: Any, fn: str, label: str) -> int:
    if not isinstance(v, (int, np.integer)) or v <= 0:
        raise errors.invalid_argument(f"{fn}: {label} is not a positive integer.", received=f"{label}: {v!r}")
    return int(v)


def _end(axis: Any, fn: str) -> bool:
    """Whether the axis is the last one."""
    if axis not in (0, -1):
        raise errors.invalid_argument(
            f"{fn}: time is neither the first nor the last axis.", expected="axis: 0 or -1", received=f"axis: {axis!r}"
        )
    return axis == -1


def _places(frames: int, hop: int, size: int) -> np.ndarray:
    """Which sample is element f of frame t: [F, T]."""
    return np.arange(size)[:, None] + hop * np.arange(frames)[None, :]


def frame(x: Tensor, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """Pieces of a signal, which may overlap, along an axis of their own.

    Args:
        x (Tensor): [..., L], or [L, ...] if `axis` is 0; any type.
        frame_length (int): Samples of a frame, at most L.
        hop_length (int): Samples from the start of a frame to that of the next.
        axis (int): -1, the samples are on the last axis, or 0. Default: -1.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [..., frame_length, T], or [T, frame_length, ...], with T = 1 + (L - frame_length) // hop_length.

    Raises:
        ValueError: a length that is not positive, a frame longer than the signal, another axis.

    Examples:
        >>> paddle.signal.frame(paddle.arange(5), 3, 2).tolist()
        [[0, 2], [1, 3], [2, 4]]
    """
    last = _end(axis, "frame")
    size, hop = _positive(frame_length, "frame", "frame_length"), _positive(hop_length, "frame", "hop_length")
    shape = no_method(x, "frame").type.shape
    n = shape[-1 if last else 0]
    if size > n:
        raise errors.invalid_argument(
            "frame: a frame is longer than the signal.", expected=f"frame_length at most {n}", received=f"{size}"
        )
    places = _places(1 + (n - size) // hop, hop, size)
    return Gather(len(shape) - 1 if last else 0, False)(x, from_array(places if last else places.T.copy()))


def overlap_add(x: Tensor, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """The signal that is the sum of its frames, the reverse of `frame`.

    Args:
        x (Tensor): [..., F, T], or [T, F, ...] if `axis` is 0.
        hop_length (int): Samples from the start of a frame to that of the next, at most F.
        axis (int): -1 or 0. Default: -1.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [..., L], or [L, ...], with L = (T - 1) * hop_length + F.

    Raises:
        ValueError: fewer than two axes, hop_length is not positive or longer than a frame, another axis.

    Examples:
        >>> paddle.signal.overlap_add(paddle.ones([2, 3]), 1).tolist()
        [1.0, 2.0, 2.0, 1.0]
    """
    last = _end(axis, "overlap_add")
    hop = _positive(hop_length, "overlap_add", "hop_length")
    shape = need_tensor(x, "overlap_add").type.shape
    if len(shape) < 2:
        raise errors.invalid_argument(
            "overlap_add: x has no axis of frames.", expected="at least two axes", received=f"x: {x.type}"
        )
    size, frames = shape[-2:] if last else shape[1::-1]
    if hop > size:
        raise errors.invalid_argument(
            "overlap_add: frames do not touch.", expected=f"hop_length at most {size}", received=f"{hop}"
        )
    places = _places(frames, hop, size)
    length = (frames - 1) * hop + size
    at = from_array(places if last else places.T.copy())
    return ScatterAdd(len(shape) - 2 if last else 0, (length,), False)(x, at)


# ---- transforms -------------------------------------------------------------------------------
def _refuse(fn: str, fact: str, expected: str, received: str) -> None:
    raise errors.asserted(f"{fn}: {fact}", expected=expected, received=received)


def _within(fn: str, label: str, v: Any, most: int, of: str) -> None:
    if not 0 < v <= most:
        _refuse(fn, f"{label} is out of range.", f"{label} in [1, {of} = {most}]", f"{label}: {v}")


def _window(window: Any, like: Tensor, size: int, n_fft: int, fn: str) -> Any:
    """The window with zeros around it to the length n_fft; None stands for ones."""
    if window is None:
        from .tensor import ones

        window = ones([size], like.dtype)
    elif tuple(need_tensor(window, fn, "window").type.shape) != (size,):
        _refuse(fn, "window has another length.", f"[win_length = {size}]", f"window: {window.type}")
    left = (n_fft - size) // 2
    return pad(window, (left,), (n_fft - size - left,))


def _as_complex(x: Any) -> Any:
    return x if x.dtype.is_complex else ToComplex()(x, zeros_like(x))


def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of the frames of signals.

    Args:
        x (Tensor): [N, L] or [L], floating, integer or complex.
        n_fft (int): Samples of a frame, at most L.
        hop_length (int, optional): Samples between the starts of frames. Default: n_fft // 4.
        win_length (int, optional): The length of the window, at most n_fft; zeros are put around it. Default: n_fft.
        window (Tensor, optional): [win_length], multiplies each frame. Default: ones.
        center (bool): n_fft // 2 samples are put before and after the signal, so that frame t is centered at sample
            t * hop_length. Default: True.
        pad_mode (str): "reflect" mirrors the signal there, "constant" puts zeros. Default: "reflect".
        normalized (bool): Divides by the root of n_fft. Default: False.
        onesided (bool, optional): Only the n_fft // 2 + 1 frequencies that say all of a real signal. Default: True
            for a real signal.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: complex, [N, K, T] or [K, T], with K = n_fft or n_fft // 2 + 1 frequencies.

    Raises:
        AssertionError: a length out of range, another number of axes, onesided with complex numbers, an unknown
            pad_mode.

    Examples:
        >>> paddle.signal.stft(paddle.ones([8]), n_fft=4).shape
        paddle.Size([3, 9])
    """
    x = no_method(x, "stft")
    if x.ndim not in (1, 2):
        _refuse("stft", "x is no signal.", "[L] or [N, L]", f"x: {x.type}")
    x = _input(x, "stft")
    single = x.ndim == 1
    if single:
        x = reshape(x, (1, *x.shape))
    hop = n_fft // 4 if hop_length is None else hop_length
    if not hop > 0:
        _refuse("stft", "hop_length is not positive.", "at least 1", f"hop_length: {hop}")
    _within("stft", "n_fft", n_fft, x.shape[-1], "L")
    size = n_fft if win_length is None else win_length
    _within("stft", "win_length", size, n_fft, "n_fft")
    w = _window(window, x, size, n_fft, "stft")
    mixed = x.dtype.is_complex or w.dtype.is_complex
    if onesided is None:
        onesided = not mixed
    if onesided and mixed:
        _refuse("stft", "complex numbers have no half spectrum.", "onesided False", f"x: {x.type}, window: {w.type}")
    if pad_mode not in ("reflect", "constant"):
        _refuse("stft", "there is no such pad_mode.", "'reflect' or 'constant'", f"{pad_mode!r}")
    if center:
        around = (0, n_fft // 2)
        x = PadFrom(around, around, "reflect")(x) if pad_mode == "reflect" else pad(x, around, around)
    frames_NTF = transpose(frame(x, n_fft, hop), (0, 2, 1)) * w
    scale = "root" if normalized else "one"
    if onesided:
        out_NTK = Rfft((2,), False, scale)(frames_NTF)
    else:
        out_NTK = Fft((2,), False, scale)(_as_complex(frames_NTF))
    out = transpose(out_NTK, (0, 2, 1))
    return reshape(out, tuple(out.shape)[1:]) if single else out


def istft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None,
    return_complex: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signals whose `stft` is x, or comes closest to it.

    Args:
        x (Tensor): complex, [N, K, T] or [K, T].
        n_fft, hop_length, win_length, window, center, normalized: as given to `stft`.
        onesided (bool): x holds n_fft // 2 + 1 frequencies. Default: True.
        length (int, optional): Samples of the result; as many as the frames give by default.
        return_complex (bool): The result is complex; needs onesided False. Default: False.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [N, L] or [L].

    Raises:
        AssertionError: a length out of range, another number of axes or frequencies. ValueError: some samples are
            multiplied by zeros of the window alone.

    Examples:
        >>> x = paddle.arange(8).astype("float32")
        >>> [round(v, 3) for v in paddle.signal.istft(paddle.signal.stft(x, 4), 4).tolist()]
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    fn = "istft"
    x = no_method(x, fn)
    if x.ndim not in (2, 3):
        _refuse(fn, "x is no transformed signal.", "[K, T] or [N, K, T]", f"x: {x.type}")
    single = x.ndim == 2
    x = _as_complex(reshape(x, (1, *x.shape)) if single else x)
    size = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    _within(fn, "hop_length", hop, size, "win_length")
    _within(fn, "win_length", size, n_fft, "n_fft")
    frames, count = x.shape[-1], x.shape[-2]
    if count != (n_fft // 2 + 1 if onesided else n_fft):
        _refuse(fn, "x has another number of frequencies.", f"{n_fft // 2 + 1 if onesided else n_fft}", f"x: {x.type}")
    if return_complex and onesided:
        _refuse(fn, "a half spectrum has no complex signal.", "onesided False", "return_complex True")
    if not return_complex and window is not None and window.dtype.is_complex:
        _refuse(fn, "the window is complex, the result is not.", "return_complex True", f"window: {window.type}")
    scale = "root" if normalized else "mean"
    in_NTK = transpose(x, (0, 2, 1))
    if return_complex:
        frames_NTF = Fft((2,), True, scale)(in_NTK)
    else:
        half_NTK = in_NTK if onesided else slice_axis(in_NTK, 2, 0, n_fft // 2 + 1)
        frames_NTF = Irfft((2,), True, scale, n_fft)(half_NTK)
    w = _window(window, frames_NTF, size, n_fft, fn)
    added = overlap_add(transpose(frames_NTF * w, (0, 2, 1)), hop)
    power = w * conj(w) if w.dtype.is_complex else w * w
    energy = overlap_add(power.unsqueeze(-1).expand([n_fft, frames]), hop)
    start = n_fft // 2 if center else 0
    stop = added.shape[-1] - start if length is None else min(start + length, added.shape[-1])
    added, energy = slice_axis(added, 1, start, stop), slice_axis(energy, 0, start, stop)
    if not energy.size or float(np.abs(energy.array()).min()) < 1e-11:
        raise errors.invalid_argument(
            f"{fn}: some samples lie where every window over them is 0.",
            expected="windows that overlap without gaps",
            received=f"win_length: {size}, hop_length: {hop}",
        )
    out = added / energy
    return reshape(out, tuple(out.shape)[1:]) if single else out
