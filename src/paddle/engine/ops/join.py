"""Operators that put tensors side by side."""

from __future__ import annotations

import numpy as np

from ..errors import cast_hint, invalid_argument, invalid_type
from ..types import TensorType
from .registry import Operator, letters, operator
from .shape import reshape, slice_axis


@operator
class Concat(Operator):
    """Tensors one after another along an axis."""

    axis: int

    def infer(self, *xs: TensorType) -> TensorType:
        first = xs[0]
        a = self.axis
        for x in xs[1:]:
            if x.dtype is not first.dtype:
                raise invalid_type(
                    "concat: the element types differ.",
                    expected="tensors of one dtype",
                    received=", ".join(map(repr, xs)),
                    hint=cast_hint(**{"x[0]": first, f"x[{xs.index(x)}]": x}),
                )
            if x.ndim != first.ndim or x.shape[:a] + x.shape[a + 1 :] != first.shape[:a] + first.shape[a + 1 :]:
                raise invalid_argument(
                    "concat: the shapes do not fit together.",
                    expected=f"equal sizes on every axis but {a}",
                    received=", ".join(map(repr, xs)),
                )
        return first.with_shape(first.shape[:a] + (sum(x.shape[a] for x in xs),) + first.shape[a + 1 :])

    def numpy(self, *xs):
        return np.concatenate(xs, axis=self.axis)

    def vjp(self, g, out, *xs):
        grads, start = [], 0
        for x in xs:
            n = x.shape[self.axis]
            grads.append(slice_axis(g, self.axis, start, start + n))
            start = start + n
        return tuple(grads)

    def loops(self, k, *xs):
        i = k.at[self.axis]
        value, start = None, 0
        parts = []
        for x in xs:
            parts.append((x, start))
            start = x.shape[self.axis] + start
        for x, start in reversed(parts):
            at = list(k.at)
            at[self.axis] = i - start
            if value is None:
                value = k.load(x, at, at[self.axis] >= 0)
                continue
            inside = (at[self.axis] >= 0) & (at[self.axis] < x.shape[self.axis])
            value = k.where(at[self.axis] < x.shape[self.axis], k.load(x, at, inside), value)
        return value

    def xla(self, jnp, *xs):
        return jnp.concatenate(xs, self.axis)

    def spmd(self, *types):
        names = letters(types[0].ndim, (self.axis,))
        return f"{','.join([names] * len(types))}->{names}"

    @classmethod
    def samples(cls, rng):
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(0), (f(2, 3), f(1, 3), f(4, 3))
        yield cls(1), (f(2, 3), f(2, 0), f(2, 5))
        yield cls(2), (f(2, 3, 1), f(2, 3, 2))
        yield cls(0), (np.arange(3),)
        yield cls(0), (f(0), f(2), f(0))


# Sizes alone are read of the arguments.
Concat.vjp_uses = frozenset()


def concat(xs, axis):
    return xs[0] if len(xs) == 1 else Concat(axis)(*xs)


def stack(xs, axis):
    """Tensors of one shape along a new axis."""
    shape = tuple(xs[0].shape)
    return concat([reshape(x, shape[:axis] + (1,) + shape[axis:]) for x in xs], axis)
