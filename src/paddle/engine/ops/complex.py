"""Complex numbers and their parts. The numpy form is enough: complex programs are not compiled."""

from __future__ import annotations

import numpy as np

from .. import types
from ..errors import invalid_argument
from ..types import TensorType
from .elementwise import Unary, broadcast, sum_to
from .registry import Operator, absent, operator


def part_of(dtype: types.DType) -> types.DType:
    """The floating type of the parts of a complex type."""
    return types.float64 if dtype is types.complex128 else types.float32


@operator
class ToComplex(Operator):
    """real + i * imag; the arguments broadcast."""

    loops = absent("complex programs are not compiled")

    def infer(self, real: TensorType, imag: TensorType) -> TensorType:
        if real.dtype is not imag.dtype or real.dtype not in (types.float32, types.float64):
            raise invalid_argument(
                "complex: the parts do not make a complex type.",
                expected="two tensors of float32, or two of float64",
                received=f"real: {real}, imag: {imag}",
            )
        dtype = types.complex128 if real.dtype is types.float64 else types.complex64
        return TensorType(broadcast("complex", real, imag), dtype)

    def numpy(self, real, imag):
        dtype = np.complex128 if real.dtype == np.float64 else np.complex64
        out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype)
        out.real, out.imag = real, imag
        return out

    def vjp(self, g, out, real, imag):
        return sum_to(Real()(g), tuple(real.shape)), sum_to(Imag()(g), tuple(imag.shape))

    def xla(self, jnp, real, imag):
        return jnp.lax.complex(*jnp.broadcast_arrays(real, imag))

    def spmd(self, *types):
        return "...,...->..."

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3)).astype("float32"), rng.normal(size=3).astype("float32"))
        yield cls(), (rng.normal(size=()), rng.normal(size=()))
        yield cls(), (np.zeros((0, 2)), np.zeros((0, 1)))


@operator
class Real(Unary):
    """The real part."""

    loops = absent("complex programs are not compiled")

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(part_of(x.dtype)) if x.dtype.is_complex else x

    def numpy(self, x):
        return np.array(np.real(x))

    def vjp(self, g, out, x):
        return (ToComplex()(g, zeros_like(g)) if x.dtype.is_complex else g,)

    def xla(self, jnp, x):
        return jnp.real(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=3) + 1j * rng.normal(size=3),)


@operator
class Imag(Unary):
    """The imaginary part."""

    loops = absent("complex programs are not compiled")

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(part_of(x.dtype))

    def numpy(self, x):
        return np.array(np.imag(x))

    def vjp(self, g, out, x):
        return (ToComplex()(zeros_like(g), g),)

    def xla(self, jnp, x):
        return jnp.imag(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)),)


def zeros_like(x):
    from .creation import Full

    return Full(tuple(x.shape), 0, x.dtype)()
