"""Operators that rearrange elements without changing them: reshape, transpose, broadcast_to, ..."""

from __future__ import annotations

import math

import numpy as np

from ..errors import invalid_argument
from ..types import TensorType
from .registry import Operator, operator


@operator
class Reshape(Operator):
    """The same elements in row-major order under another shape (fully known sizes)."""

    shape: tuple

    def infer(self, x: TensorType) -> TensorType:
        if math.prod(self.shape) != x.size:
            raise invalid_argument(
                "reshape: the number of elements changes.",
                expected=f"a shape of {x.size} elements",
                received=f"x: {x}, shape: {list(self.shape)}",
            )
        return x.with_shape(self.shape)

    def numpy(self, x):
        return np.reshape(x, self.shape)

    def vjp(self, g, out, x):
        return (reshape(g, tuple(x.shape)),)

    def loops(self, k, x):
        flat = k.scope.const(0, k.at[0].dtype) if k.at else None
        for i, n in zip(k.at, k.shape):
            flat = flat * n + i
        at = []
        for n in reversed(x.shape):
            if flat is None:
                at.append(0)
                continue
            at.append(flat % n)
            flat = flat // n
        return k.load(x, at[::-1])

    def xla(self, jnp, x):
        return jnp.reshape(x, self.shape)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(4, 6)).astype("float32")
        for shape in ((24,), (2, 2, 6), (6, 4), (1, 24, 1)):
            yield cls(shape), (x,)
        yield cls((1, 1)), (np.float32(3).reshape(()),)
        yield cls((3, 0)), (np.zeros((0, 7)),)


def reshape(x, shape):
    return x if tuple(x.shape) == tuple(shape) else Reshape(tuple(int(n) for n in shape))(x)


@operator
class Transpose(Operator):
    """Axes in another order: axis i of the result is axis perm[i] of x."""

    perm: tuple

    def infer(self, x: TensorType) -> TensorType:
        if sorted(self.perm) != list(range(x.ndim)):
            raise invalid_argument(
                "transpose: perm is not a permutation of the axes of x.",
                expected=f"each of 0..{x.ndim - 1} once",
                received=f"x: {x}, perm: {list(self.perm)}",
            )
        return x.with_shape(tuple(x.shape[p] for p in self.perm))

    def numpy(self, x):
        return np.transpose(x, self.perm)

    def vjp(self, g, out, x):
        inverse = [0] * len(self.perm)
        for i, p in enumerate(self.perm):
            inverse[p] = i
        return (Transpose(tuple(inverse))(g),)

    def loops(self, k, x):
        at = [None] * len(self.perm)
        for i, p in enumerate(self.perm):
            at[p] = k.at[i]
        return k.load(x, at)

    def xla(self, jnp, x):
        return jnp.transpose(x, self.perm)

    def spmd(self):
        names = "abcdefghijkl"[: len(self.perm)]
        return f"{names}->{''.join(names[p] for p in self.perm)}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32")
        for perm in ((2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
            yield cls(perm), (x,)
        yield cls((1, 0)), (np.zeros((0, 4)),)
        yield cls(()), (np.float64(2).reshape(()),)


@operator
class BroadcastTo(Operator):
    """x repeated along new axes and axes of size 1."""

    shape: tuple

    def infer(self, x: TensorType) -> TensorType:
        skip = len(self.shape) - x.ndim
        if skip < 0 or any(n not in (1, m) for n, m in zip(x.shape, self.shape[skip:])):
            raise invalid_argument(
                "broadcast_to: x does not broadcast to the shape.",
                expected="sizes of x equal to those of shape, or 1, axis by axis from the right",
                received=f"x: {x}, shape: {list(self.shape)}",
            )
        return x.with_shape(self.shape)

    def numpy(self, x):
        return np.broadcast_to(x, self.shape)

    def vjp(self, g, out, x):
        from .elementwise import sum_to

        return (sum_to(g, tuple(x.shape)),)

    def loops(self, k, x):
        return k.broadcast(x)

    def xla(self, jnp, x):
        return jnp.broadcast_to(x, self.shape)

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3, 4)), (rng.normal(size=(3, 1)).astype("float32"),)
        yield cls((5,)), (rng.normal(size=()).astype("float64"),)
        yield cls((0, 3)), (rng.normal(size=3).astype("float32"),)


def broadcast_to(x, shape):
    return x if tuple(x.shape) == tuple(shape) else BroadcastTo(tuple(int(n) for n in shape))(x)
