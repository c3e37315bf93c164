"""Discrete Fourier transforms.

The families: `fft` of complex (or real) numbers, `rfft` of real numbers, which gives the half of the spectrum that says
all, `irfft` back from such a half, and `hfft` and `ihfft`, the same two with the directions exchanged. Each comes for
one axis, for two and for many. Transforms run on the host, by numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .engine import errors, types
from .engine.eager.trace import from_array
from .engine.ops.complex import ToComplex, zeros_like
from .engine.ops.elementwise import cast
from .engine.ops.fourier import Fft, Irfft, Rfft, half
from .engine.ops.shape import pad, slice_axis
from .engine.types import default_dtype
from .tensor.arguments import dtype_argument, fill_out, finish
from .tensor.manipulation import roll
from .tensor.tensor import Tensor

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn",
    "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
]  # fmt: skip

_NORMS = {"backward": ("one", "mean"), "forward": ("mean", "one"), "ortho": ("root", "root")}


# ---- arguments --------------------------------------------------------------------------------
def _input(x: Any, fn: str) -> Tensor:
    """x with elements that transforms are defined for: integers become numbers of the default type."""
    if not isinstance(x, Tensor):
        raise errors.invalid_type(f"{fn}: x is not a Tensor.", expected="a Tensor", received=type(x).__name__)
    return cast(x, default_dtype()) if x.dtype.is_integer else x


def _scale(norm: Any, inverse: bool, fn: str) -> str:
    if norm not in _NORMS:
        raise errors.invalid_argument(
            f"{fn}: there is no such norm.", expected="'backward', 'forward' or 'ortho'", received=f"norm: {norm!r}"
        )
    return _NORMS[norm][inverse]


def _size(n: Any, fn: str, label: str) -> int:
    if not isinstance(n, (int, np.integer)) or n <= 0:
        raise errors.invalid_argument(
            f"{fn}: a size is not a positive integer.", expected="at least 1", received=f"{label}: {n!r}"
        )
    return int(n)


def _axis(axis: Any, ndim: int, fn: str, label: str) -> int:
    if not isinstance(axis, (int, np.integer)) or not -ndim <= axis < ndim:
        raise errors.invalid_argument(
            f"{fn}: x has no such axis.", expected=f"an integer in [{-ndim}, {ndim})", received=f"{label}: {axis!r}"
        )
    return int(axis) % ndim


def _together(x: Tensor, s: Any, axes: Any, fn: str) -> tuple[list[int] | None, list[int]]:
    """Sizes, if given, and axes of a transform of many."""
    n = x.ndim
    for label, v in (("s", s), ("axes", axes)):
        if v is not None and not isinstance(v, (list, tuple)):
            raise errors.invalid_argument(f"{fn}: {label} is not a list.", expected="a list of int",
                                          received=f"{label}: {v!r}")  # fmt: skip
    sizes = None if s is None else [_size(v, fn, "s") for v in s]
    if axes is None:
        if sizes is not None and len(sizes) > n:
            raise errors.invalid_argument(
                f"{fn}: s is longer than x has axes.", expected=f"at most {n}", received=f"{len(sizes)}"
            )
        found = list(range(n)) if sizes is None else list(range(n - len(sizes), n))
    else:
        found = [_axis(a, n, fn, "axes") for a in axes]
    if len(set(found)) != len(found):
        raise errors.invalid_argument(f"{fn}: an axis is named twice.", received=f"axes: {list(axes)}")
    if sizes is not None and len(sizes) != len(found):
        raise errors.invalid_argument(
            f"{fn}: s and axes differ in length.", received=f"s: {len(sizes)}, axes: {len(found)}"
        )
    return sizes, found


def _pair(x: Any, s: Any, axes: Any, fn: str) -> None:
    for label, v in (("s", s), ("axes", axes)):
        if (v is not None or label == "axes") and (not isinstance(v, (list, tuple)) or len(v) != 2):
            raise errors.invalid_argument(
                f"{fn}: {label} is not a pair.", expected="two integers", received=f"{label}: {v!r}"
            )
    if isinstance(x, Tensor) and x.ndim < 2:
        raise errors.invalid_argument(f"{fn}: x is not a matrix.", expected="at least two axes",
                                      received=f"x: {x.type}")  # fmt: skip


def _fitted(x: Any, axes: list[int], sizes: list[int]) -> Any:
    """x cut, or followed by zeros, to sizes on axes."""
    for a, n in zip(axes, sizes):
        have = x.shape[a]
        if n < have:
            x = slice_axis(x, a, 0, n)
        elif n > have:
            x = pad(x, (0,) * x.ndim, tuple(n - have if i == a else 0 for i in range(x.ndim)))
    return x


# ---- the three kinds --------------------------------------------------------------------------
def _complex(x: Any, sizes: list[int] | None, axes: list[int], norm: Any, inverse: bool, fn: str) -> Any:
    scale = _scale(norm, inverse, fn)
    if sizes is not None:
        x = _fitted(x, axes, sizes)
    if x.dtype in (types.float32, types.float64):
        x = ToComplex()(x, zeros_like(x))
    return Fft(tuple(axes), inverse, scale)(x)


def _halved(x: Any, sizes: list[int] | None, axes: list[int], norm: Any, inverse: bool, fn: str) -> Any:
    scale = _scale(norm, inverse, fn)
    if sizes is not None:
        x = _fitted(x, axes, sizes)
    return Rfft(tuple(axes), inverse, scale)(x)


def _completed(x: Any, sizes: list[int] | None, axes: list[int], norm: Any, inverse: bool, fn: str) -> Any:
    scale = _scale(norm, inverse, fn)
    last = 2 * (x.shape[axes[-1]] - 1) if sizes is None else sizes[-1]
    if sizes is not None:
        x = _fitted(x, axes, [*sizes[:-1], half(last)])
    if x.dtype in (types.float32, types.float64):
        x = ToComplex()(x, zeros_like(x))
    return Irfft(tuple(axes), inverse, scale, last)(x)


# ---- the functions ----------------------------------------------------------------------------
_ARGS = {
    "one": """
        n (int, optional): The size of the axis {where}; x is cut, or followed by zeros. Default: {size}.
        axis (int, optional): Default: -1.""",
    "two": """
        s (list[int], optional): The sizes of the two axes {where}; x is cut, or followed by zeros. Default: {size}.
        axes (list[int], optional): Two of them. Default: (-2, -1).""",
    "many": """
        s (list[int], optional): The sizes of the axes {where}; x is cut, or followed by zeros. Default: {size}.
        axes (list[int], optional): Default: the last len(s), or all.""",
}
_DOC = """{does}

    Args:
        x (Tensor): {takes}{sizes}
        norm (str, optional): Which direction divides by the number of elements: "backward", "forward", or "ortho",
            where both divide by its root. Default: "backward".
        name (str, optional): Shown in printed programs. Default: None.
        out (Tensor, optional): Takes the result. Default: None.

    Returns:
        Tensor: {gives}

    Raises:
        ValueError: no such norm or axis, or a size that is not positive. RuntimeError: not for this dtype.

    Examples:
        {example}
    """


def _document(f: Any, fn: str, kind: str, does: str, compute: Any, example: str) -> Any:
    takes, gives = {
        _complex: ("Complex, floating or integer.", "complex."),
        _halved: ("Floating or integer.", "complex, n // 2 + 1 elements on the last of the axes."),
        _completed: ("Complex or floating: n // 2 + 1 frequencies on the last of the axes.", "floating."),
    }[compute]
    where, size = (
        ("in the result", "2 * (m - 1) on the last axis, of m") if compute is _completed else ("of x", "as it is")
    )
    f.__name__ = f.__qualname__ = fn
    f.__doc__ = _DOC.format(
        does=does, takes=takes, gives=gives, example=example, sizes=_ARGS[kind].format(where=where, size=size)
    )
    return f


def _one(fn: str, does: str, compute: Callable[..., Any], inverse: bool, example: str) -> Callable[..., Tensor]:
    def transform(
        x: Tensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None, *,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = _input(x, fn)
        _scale(norm, inverse, fn)
        sizes = None if n is None else [_size(n, fn, "n")]
        return fill_out(compute(x, sizes, [_axis(axis, x.ndim, fn, "axis")], norm, inverse, fn), out)

    return _document(transform, fn, "one", does, compute, example)


def _two(fn: str, does: str, compute: Callable[..., Any], inverse: bool, example: str) -> Callable[..., Tensor]:
    def transform(
        x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None, *,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = _input(x, fn)
        _scale(norm, inverse, fn)
        _pair(x, s, axes, fn)
        return fill_out(compute(x, *_together(x, s, axes, fn), norm, inverse, fn), out)

    return _document(transform, fn, "two", does, compute, example)


def _many(fn: str, does: str, compute: Callable[..., Any], inverse: bool, example: str) -> Callable[..., Tensor]:
    def transform(
        x: Tensor, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None, *,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = _input(x, fn)
        _scale(norm, inverse, fn)
        return fill_out(compute(x, *_together(x, s, axes, fn), norm, inverse, fn), out)

    return _document(transform, fn, "many", does, compute, example)


fft = _one(
    "fft", "X[k] = sum over j of x[j] * exp(-2 pi i j k / n), along an axis.", _complex, False,
    ">>> paddle.fft.fft(paddle.to_tensor([1.0, 0.0])).tolist()\n        [(1+0j), (1+0j)]",
)  # fmt: skip
ifft = _one(
    "ifft", "The inverse of `fft`.", _complex, True,
    ">>> paddle.fft.ifft(paddle.to_tensor([2.0, 0.0])).tolist()\n        [(1+0j), (1+0j)]",
)  # fmt: skip
rfft = _one(
    "rfft", "The first n // 2 + 1 elements of `fft` of real numbers; the others are conjugates of these.", _halved,
    False, ">>> paddle.fft.rfft(paddle.to_tensor([1.0, 0.0, 0.0])).tolist()\n        [(1+0j), (1+0j)]",
)  # fmt: skip
irfft = _one(
    "irfft", "The inverse of `rfft`.", _completed, True,
    ">>> x = paddle.to_tensor([3.0, 0.0])\n        >>> paddle.fft.irfft(x, 3).tolist()\n        [1.0, 1.0, 1.0]",
)  # fmt: skip
hfft = _one(
    "hfft", "`fft` of numbers of which the other half are conjugates of these, so that the result is real.", _completed,
    False, ">>> paddle.fft.hfft(paddle.to_tensor([1.0, 2.0])).tolist()\n        [3.0, -1.0]",
)  # fmt: skip
ihfft = _one(
    "ihfft", "The inverse of `hfft`.", _halved, True,
    ">>> paddle.fft.ihfft(paddle.to_tensor([3.0, -1.0])).tolist()\n        [(1-0j), (2-0j)]",
)  # fmt: skip

_ONES = ">>> paddle.fft.{}(paddle.ones([2, 2])).tolist()\n        {}"
fft2 = _two("fft2", "`fft` over two axes.", _complex, False, _ONES.format("fft2", "[[(4+0j), 0j], [0j, 0j]]"))
ifft2 = _two("ifft2", "The inverse of `fft2`.", _complex, True, _ONES.format("ifft2", "[[(1+0j), 0j], [0j, 0j]]"))
rfft2 = _two(
    "rfft2", "`rfft` along the last of two axes and `fft` along the other.", _halved, False,
    _ONES.format("rfft2", "[[(4+0j), 0j], [0j, 0j]]"),
)  # fmt: skip
irfft2 = _two("irfft2", "The inverse of `rfft2`.", _completed, True, _ONES.format("irfft2", "[[1.0, 0.0], [0.0, 0.0]]"))
hfft2 = _two(
    "hfft2", "`hfft` along the last of two axes and `fft` along the other.", _completed, False,
    _ONES.format("hfft2", "[[4.0, 0.0], [0.0, 0.0]]"),
)  # fmt: skip
ihfft2 = _two("ihfft2", "The inverse of `hfft2`.", _halved, True, _ONES.format("ihfft2", "[[(1-0j), -0j], [-0j, -0j]]"))
fftn = _many("fftn", "`fft` over many axes.", _complex, False, _ONES.format("fftn", "[[(4+0j), 0j], [0j, 0j]]"))
ifftn = _many("ifftn", "The inverse of `fftn`.", _complex, True, _ONES.format("ifftn", "[[(1+0j), 0j], [0j, 0j]]"))
rfftn = _many(
    "rfftn", "`rfft` along the last of many axes and `fft` along the others.", _halved, False,
    _ONES.format("rfftn", "[[(4+0j), 0j], [0j, 0j]]"),
)  # fmt: skip
irfftn = _many(
    "irfftn", "The inverse of `rfftn`.", _completed, True, _ONES.format("irfftn", "[[1.0, 0.0], [0.0, 0.0]]")
)
hfftn = _many(
    "hfftn", "`hfft` along the last of many axes and `fft` along the others.", _completed, False,
    _ONES.format("hfftn", "[[4.0, 0.0], [0.0, 0.0]]"),
)  # fmt: skip
ihfftn = _many(
    "ihfftn", "The inverse of `hfftn`.", _halved, True, _ONES.format("ihfftn", "[[(1-0j), -0j], [-0j, -0j]]")
)


# ---- frequencies ------------------------------------------------------------------------------
def _frequencies(n: Any, d: Any, dtype: Any, fn: str, whole: bool) -> Tensor:
    if not isinstance(n, (int, np.integer)):
        raise errors.invalid_type(f"{fn}: n is not an integer.", received=f"n: {n!r}")
    if n * d == 0:
        raise errors.invalid_argument(f"{fn}: n and d are not 0.", received=f"n: {n}, d: {d}")
    kind = dtype_argument(dtype, default_dtype())
    found = np.fft.fftfreq(n, d) if whole else np.fft.rfftfreq(n, d)
    return from_array(found.astype(kind.np))


def fftfreq(
    n: int, d: float = 1.0, dtype: Any = None, name: str | None = None, *, out: Tensor | None = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of what `fft` gives: [0, 1, ..., -2, -1] / (n * d).

    Args:
        n (int): How many.
        d (float): The distance of two samples. Default: 1.0.
        dtype (str|dtype, optional): Default: the default dtype.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [n].

    Raises:
        ValueError: n or d is 0. TypeError: n is no integer.

    Examples:
        >>> paddle.fft.fftfreq(4, 0.5).tolist()
        [0.0, 0.5, -1.0, -0.5]
    """
    return finish(_frequencies(n, d, dtype, "fftfreq", True), out, requires_grad, device, "fftfreq")


def rfftfreq(
    n: int, d: float = 1.0, dtype: Any = None, name: str | None = None, *, out: Tensor | None = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of what `rfft` gives: [0, 1, ..., n // 2] / (n * d). Arguments as `fftfreq`.

    Examples:
        >>> paddle.fft.rfftfreq(4, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    return finish(_frequencies(n, d, dtype, "rfftfreq", False), out, requires_grad, device, "rfftfreq")


def _shifted(x: Tensor, axes: Any, back: bool, fn: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise errors.invalid_type(f"{fn}: x is not a Tensor.", expected="a Tensor", received=type(x).__name__)
    if axes is None:
        found = list(range(x.ndim))
    else:
        found = [axes] if isinstance(axes, (int, np.integer)) else list(axes)
    for a in found:
        if not -x.ndim <= a < x.ndim:
            raise errors.out_of_range(
                f"{fn}: x has no such axis.", expected=f"[{-x.ndim}, {x.ndim})", received=f"axes: {axes}"
            )
    steps = [-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in found]
    return roll(x, steps, found)


def fftshift(x: Tensor, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves the frequency 0 to the middle of the axes.

    Args:
        x (Tensor): Any type.
        axes (int|list[int], optional): Default: all.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: the shape of x.

    Raises:
        IndexError: no such axis.

    Examples:
        >>> paddle.fft.fftshift(paddle.fft.fftfreq(4)).tolist()
        [-0.5, -0.25, 0.0, 0.25]
    """
    return _shifted(x, axes, False, "fftshift")


def ifftshift(x: Tensor, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`; arguments as there.

    Examples:
        >>> paddle.fft.ifftshift(paddle.to_tensor([-1, 0, 1])).tolist()
        [0, 1, -1]
    """
    return _shifted(x, axes, True, "ifftshift")
