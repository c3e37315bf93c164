"""Discrete Fourier transforms over axes, by numpy on the host; gradients are transforms of the other direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument, unavailable
from ..types import TensorType
from .complex import part_of
from .creation import Full
from .join import Concat
from .registry import Operator, absent, letters, operator
from .shape import reshape

# What the sums are multiplied by, with n elements: 1, n**-0.5 or 1/n; and the name that numpy has for it.
_FORWARD = {"one": "backward", "root": "ortho", "mean": "forward"}
_INVERSE = {"one": "forward", "root": "ortho", "mean": "backward"}


def complex_of(dtype: types.DType) -> types.DType:
    """The complex type with parts of a floating type."""
    return types.complex128 if dtype is types.float64 else types.complex64


def half(n: int) -> int:
    """How many of n frequencies a real signal has that do not follow from the others."""
    return n // 2 + 1


def weighted(x: Any, axis: int, n: int, weight: float) -> Any:
    """x, half a spectrum of n frequencies along an axis, times `weight` where the other half has a partner."""
    pairs = max((n - 1) // 2, 0)
    rest = half(n) - 1 - pairs
    parts = [Full((count,), w, x.dtype)() for count, w in ((1, 1.0), (pairs, weight), (rest, 1.0)) if count]
    w = parts[0] if len(parts) == 1 else Concat(0)(*parts)
    return x * reshape(w, tuple(half(n) if i == axis else 1 for i in range(len(x.shape))))


class Transform(Operator):
    """Base: `axes` (distinct, non-negative; the halved one last) are transformed together."""

    axes: tuple
    inverse: bool
    scale: str
    loops = absent("complex programs are not compiled")

    def spmd(self, *types):
        names = letters(types[0].ndim, self.axes)
        return f"{names}->{names}"

    def need(self, x: TensorType, accepted: tuple[types.DType, ...]) -> None:
        if x.dtype not in accepted:
            raise unavailable(
                f"{self.name}: not for {x.dtype.name}.",
                expected=" or ".join(d.name for d in accepted),
                received=f"x: {x}",
            )


@operator
class Fft(Transform):
    """Complex to complex: sums of x * exp(-2 pi i j k / n); of the conjugate of the exponential if `inverse`."""

    axes: tuple
    inverse: bool = False
    scale: str = "one"

    def infer(self, x: TensorType) -> TensorType:
        self.need(x, (types.complex64, types.complex128))
        return x

    def numpy(self, x):
        if not x.size or not self.axes:
            return np.array(x)
        if self.inverse:
            return np.fft.ifftn(x, axes=self.axes, norm=_INVERSE[self.scale]).astype(x.dtype)
        return np.fft.fftn(x, axes=self.axes, norm=_FORWARD[self.scale]).astype(x.dtype)

    def vjp(self, g, out, x):
        return (Fft(self.axes, not self.inverse, self.scale)(g),)

    def xla(self, jnp, x):
        if not x.size or not self.axes:
            return x
        if self.inverse:
            return jnp.fft.ifftn(x, axes=self.axes, norm=_INVERSE[self.scale])
        return jnp.fft.fftn(x, axes=self.axes, norm=_FORWARD[self.scale])

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)) + 1j * rng.normal(size=(3, 4, 5))
        for scale in _FORWARD:
            yield cls((2,), False, scale), (x,)
            yield cls((0, 2), True, scale), (x,)
        yield cls((1,), True, "one"), (x.astype("complex64"),)
        yield cls((0,), False, "one"), (np.zeros((0, 2), "complex64"),)


@operator
class Rfft(Transform):
    """Real to complex: as Fft, of which the last of the axes keeps n // 2 + 1 frequencies."""

    axes: tuple
    inverse: bool = False
    scale: str = "one"

    def infer(self, x: TensorType) -> TensorType:
        self.need(x, (types.float32, types.float64))
        shape = list(x.shape)
        shape[self.axes[-1]] = half(shape[self.axes[-1]])
        return TensorType(tuple(shape), complex_of(x.dtype))

    def numpy(self, x):
        shape = list(x.shape)
        shape[self.axes[-1]] = half(shape[self.axes[-1]])
        dtype = np.complex128 if x.dtype == np.float64 else np.complex64
        if not x.size:
            return np.zeros(shape, dtype)
        out = np.fft.rfftn(x, axes=self.axes, norm=_FORWARD[self.scale]).astype(dtype)
        return np.conj(out) if self.inverse else out

    def vjp(self, g, out, x):
        n = tuple(x.shape)[self.axes[-1]]
        return (Irfft(self.axes, not self.inverse, self.scale, n)(weighted(g, self.axes[-1], n, 0.5)),)

    def xla(self, jnp, x):
        out = jnp.fft.rfftn(x, axes=self.axes, norm=_FORWARD[self.scale])
        return jnp.conj(out) if self.inverse else out

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5))
        for scale in _FORWARD:
            yield cls((2,), False, scale), (x,)
            yield cls((0, 1), True, scale), (x,)
        yield cls((0,), False, "one"), (rng.normal(size=1),)
        yield cls((0, 1), False, "one"), (rng.normal(size=(2, 2)).astype("float32"),)


@operator
class Irfft(Transform):
    """Complex to real: the transform of a spectrum whose other half on the last of the axes is the conjugate.

    The imaginary parts of what has no partner, the first frequency and for even `size` the last, count as 0.
    """

    axes: tuple
    inverse: bool
    scale: str
    size: int  # of the result on the last of the axes

    def infer(self, x: TensorType) -> TensorType:
        self.need(x, (types.complex64, types.complex128))
        last = self.axes[-1]
        if x.shape[last] != half(self.size):
            raise invalid_argument(
                f"{self.name}: the spectrum does not fit the result.",
                expected=f"{half(self.size)} frequencies on axis {last} for {self.size} elements",
                received=f"x: {x}",
            )
        return TensorType((*x.shape[:last], self.size, *x.shape[last + 1 :]), part_of(x.dtype))

    def numpy(self, x):
        shape = [x.shape[a] for a in self.axes[:-1]] + [self.size]
        dtype = np.float64 if x.dtype == np.complex128 else np.float32
        if not x.size or not math.prod(shape):
            whole = list(x.shape)
            whole[self.axes[-1]] = self.size
            return np.zeros(whole, dtype)
        x = x if self.inverse else np.conj(x)
        return np.fft.irfftn(x, shape, self.axes, norm=_INVERSE[self.scale]).astype(dtype)

    def vjp(self, g, out, x):
        dx = Rfft(self.axes, not self.inverse, self.scale)(g)
        return (weighted(dx, self.axes[-1], self.size, 2.0),)

    def xla(self, jnp, x):
        shape = [x.shape[a] for a in self.axes[:-1]] + [self.size]
        x = x if self.inverse else jnp.conj(x)
        return jnp.fft.irfftn(x, shape, self.axes, norm=_INVERSE[self.scale])

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 3)) + 1j * rng.normal(size=(3, 4, 3))
        for scale in _FORWARD:
            yield cls((2,), True, scale, 5), (x,)
            yield cls((2,), False, scale, 4), (x,)
            yield cls((0, 2), True, scale, 4), (x,)
        yield cls((1, 0), False, "one", 4), (x[:, :, 0].astype("complex64"),)
        yield cls((0,), True, "mean", 1), (np.array([2 + 1j]),)
