"""Reductions over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import TensorType
from .registry import Operator, operator
from .shape import broadcast_to, reshape


class Reduction(Operator):
    """Base: reduces `axes` (sorted, non-negative) of one argument."""

    axes: tuple
    keepdim: bool
    kind = ""

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape(self.kept(x.shape))

    def kept(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.keepdim:
            return tuple(1 if i in self.axes else n for i, n in enumerate(shape))
        return tuple(n for i, n in enumerate(shape) if i not in self.axes)

    def loops(self, k, x):
        rest = iter(k.at)
        outer: list[Any] = []
        for i in range(len(x.shape)):
            if i in self.axes:
                outer.append(None)
                if self.keepdim:
                    next(rest)
            else:
                outer.append(next(rest))

        def body(*inner):
            it = iter(inner)
            return self.element(k, k.load(x, [next(it) if i is None else i for i in outer]))

        return self.finish(k, k.reduce(self.kind, [x.shape[i] for i in self.axes], body), x)

    def element(self, k: Any, e: Any) -> Any:
        return e

    def finish(self, k: Any, e: Any, x: Any) -> Any:
        return e

    def spread(self, g: Any, x: Any) -> Any:
        """g in the shape of x."""
        shape = tuple(x.shape)
        return broadcast_to(reshape(g, tuple(1 if i in self.axes else n for i, n in enumerate(shape))), shape)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32")
        for axes in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
            yield cls(axes, False), (x,)
        yield cls((1,), True), (x,)
        yield cls((), False), (x,)
        yield cls((0,), False), (rng.normal(size=1000),)
        yield cls((0,), False), (rng.normal(size=(70, 33)).astype("float32"),)


@operator
class Sum(Reduction):
    """Sum over axes, in the type of x."""

    axes: tuple
    keepdim: bool = False
    kind = "sum"

    def numpy(self, x):
        return np.sum(x, axis=self.axes, keepdims=self.keepdim, dtype=x.dtype)

    def vjp(self, g, out, x):
        return (self.spread(g, x),)

    def xla(self, jnp, x):
        return jnp.sum(x, axis=self.axes, keepdims=self.keepdim, dtype=x.dtype)


@operator
class Max(Reduction):
    """Greatest element over axes. The gradient is spread evenly over equals."""

    axes: tuple
    keepdim: bool = False
    kind = "max"

    def numpy(self, x):
        return np.max(x, axis=self.axes, keepdims=self.keepdim)

    def vjp(self, g, out, x):
        from .elementwise import cast, equal

        hit = cast(equal(x, self.spread(out, x)), g.dtype)
        count = Sum(self.axes, True)(hit)
        return (self.spread(g, x) * hit / broadcast_to(count, tuple(x.shape)),)

    def xla(self, jnp, x):
        return jnp.max(x, axis=self.axes, keepdims=self.keepdim)


def sum_(x, axes, keepdim=False):
    return Sum(tuple(sorted(axes)), keepdim)(x) if axes else x


def mean_(x, axes, keepdim=False):
    n = 1
    for a in axes:
        n *= x.shape[a]
    return sum_(x, axes, keepdim) / float(n) if n else sum_(x, axes, keepdim) / 0.0
