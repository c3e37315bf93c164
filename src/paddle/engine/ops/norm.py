"""Norms of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..types import TensorType
from .complex import part_of
from .creation import Full
from .elementwise import cast, equal
from .logic import select
from .math import abs_, power, sign
from .reduction import Reduction, narrow
from .registry import operator


@operator
class PNorm(Reduction):
    """(sum |x|^p)^(1/p) over axes; the greatest or smallest |x| for p = inf, -inf; how many are not 0 for p = 0."""

    axes: tuple
    keepdim: bool = False
    p: float = 2.0

    @property
    def kind(self) -> str:  # type: ignore[override]  # what to reduce by follows from p
        return {math.inf: "max", -math.inf: "min"}.get(self.p, "sum")

    @property
    def adds(self) -> bool:  # type: ignore[override]
        return self.p in (0.0, 1.0)

    def infer(self, x: TensorType) -> TensorType:
        out = Reduction.infer(self, x)
        return out.with_dtype(part_of(x.dtype)) if x.dtype.is_complex else out

    def numpy(self, x):
        a = np.abs(x.astype(np.float32) if narrow(x) else x)
        axis, keep = self.axes, self.keepdim
        if self.p == math.inf:
            out = a.max(axis=axis, keepdims=keep, initial=0)
        elif self.p == -math.inf:
            out = a.min(axis=axis, keepdims=keep, initial=np.inf)
        elif self.p == 0:
            out = (a != 0).sum(axis=axis, keepdims=keep)
        elif self.p == 1:
            out = a.sum(axis=axis, keepdims=keep)
        elif self.p == 2:
            out = np.sqrt(np.square(a).sum(axis=axis, keepdims=keep))
        else:
            out = np.power(np.power(a, self.p).sum(axis=axis, keepdims=keep), 1 / self.p)
        return np.asarray(out).astype(x.real.dtype)

    def vjp(self, g, out, x):
        if self.p == 0:
            return (Full(tuple(x.shape), 0.0, x.dtype)(),)
        up = self.spread(g, x)
        if x.dtype.is_complex:
            up = cast(up, x.dtype)
        if self.p == 1:
            return (up * sign(x),)
        whole = self.spread(out, x)
        if math.isinf(self.p):
            return (select(equal(abs_(x), whole), up * sign(x), 0),)
        nothing = equal(whole, 0)
        safe = select(nothing, 1.0, whole)
        if self.p == 2:
            return (select(nothing, 0, up * x / safe),)
        size = abs_(x)
        zero = equal(size, 0)
        share = power(select(zero, 1.0, size) / safe, self.p - 1.0)
        if self.p < 1:  # an element of 0 may make the whole 0, and the others do not matter beside it
            zero = equal(size * whole, 0)
        return (select(zero, 0, up * sign(x) * share),)

    def element(self, k, e):
        a = k.abs(e)
        if math.isinf(self.p) or self.p == 1:
            return a
        if self.p == 0:
            return k.where(e.eq(0), e.scope.const(0, e.dtype), 1)
        return e * e if self.p == 2 else k.pow(a, self.p)

    def finish(self, k, e, x):
        if self.p in (0.0, 1.0) or math.isinf(self.p):
            return e if self.p != math.inf else k.max(e, 0)
        return k.sqrt(e) if self.p == 2 else k.pow(e, 1 / self.p)

    def xla(self, jnp, x):
        a = jnp.abs(x)
        if math.isinf(self.p):
            return (jnp.max if self.p > 0 else jnp.min)(a, axis=self.axes, keepdims=self.keepdim)
        if self.p == 0:
            return jnp.sum(a != 0, axis=self.axes, keepdims=self.keepdim).astype(a.dtype)
        return jnp.sum(a**self.p, axis=self.axes, keepdims=self.keepdim) ** (1 / self.p)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32")
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, math.inf, -math.inf):
            yield cls((1,), False, p), (x,)
            yield cls((0, 2), True, p), (x,)
        yield cls((0,), False, 2.0), (rng.normal(size=70),)
        yield cls((1,), False, 2.0), (np.zeros((2, 0), "float32"),)
        yield cls((0,), False, math.inf), (np.array([1.0, np.nan, np.inf]),)


def p_norm(x: Any, p: float, axes: Any, keepdim: bool) -> Any:
    """The p-norm over axes (all of them named)."""
    return PNorm(tuple(sorted(axes)), bool(keepdim), float(p))(x)
