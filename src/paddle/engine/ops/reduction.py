"""Reductions over axes."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from .. import types
from ..errors import invalid_argument, unavailable
from ..types import TensorType
from .registry import Operator, absent, letters, operator
from .shape import broadcast_to, reshape


class Reduction(Operator):
    """Base: reduces `axes` (sorted, non-negative) of one argument."""

    axes: tuple
    keepdim: bool
    kind = ""
    adds = False  # the results of parts are added

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape(self.kept(x.shape))

    def spmd(self, *types):
        names = letters(types[0].ndim, self.axes)
        right = names if self.keepdim else "".join(c for c in names if c.islower())
        return f"{names.lower() if self.adds else names}->{right}"

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

    def need_elements(self, x: TensorType) -> None:
        """Refuses to reduce no elements to one, where that has no answer."""
        if x.size == 0 and math.prod(self.kept(x.shape)) > 0:
            raise invalid_argument(
                f"{self.name}: there is nothing to reduce.",
                expected="at least one element along the axes",
                received=f"x: {x}, axes: {list(self.axes)}",
            )

    def need_numbers(self, x: TensorType) -> None:
        if x.dtype.kind in "bc":
            raise unavailable(
                f"{self.name}: it is not defined for {x.dtype.name}.", expected="a real number type", received=f"x: {x}"
            )

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
    adds = True

    def numpy(self, x):
        wide = np.float32 if narrow(x) else x.dtype
        return np.sum(x, axis=self.axes, keepdims=self.keepdim, dtype=wide).astype(x.dtype)

    def vjp(self, g, out, x):
        return (self.spread(g, x),)

    def xla(self, jnp, x):
        return jnp.sum(x, axis=self.axes, keepdims=self.keepdim, dtype=x.dtype)


def narrow(x: np.ndarray) -> bool:
    """Whether x is of a 16-bit (or smaller) float, which is summed in float32."""
    return x.dtype.itemsize < 4 and x.dtype.kind not in "biu"


class Extreme(Reduction):
    """Base of max and min. The gradient is spread evenly over equals."""

    def infer(self, x: TensorType) -> TensorType:
        self.need_elements(x)
        self.need_numbers(x)
        return Reduction.infer(self, x)

    def vjp(self, g, out, x):
        from .elementwise import cast, equal

        hit = cast(equal(x, self.spread(out, x)), g.dtype)
        count = Sum(self.axes, True)(hit)
        return (self.spread(g, x) * hit / broadcast_to(count, tuple(x.shape)),)


@operator
class Max(Extreme):
    """Greatest element over axes; NaN where one is NaN."""

    axes: tuple
    keepdim: bool = False
    kind = "max"

    def numpy(self, x):
        return np.max(x, axis=self.axes, keepdims=self.keepdim)

    def xla(self, jnp, x):
        return jnp.max(x, axis=self.axes, keepdims=self.keepdim)


@operator
class Min(Extreme):
    """Smallest element over axes; NaN where one is NaN."""

    axes: tuple
    keepdim: bool = False
    kind = "min"

    def numpy(self, x):
        return np.min(x, axis=self.axes, keepdims=self.keepdim)

    def xla(self, jnp, x):
        return jnp.min(x, axis=self.axes, keepdims=self.keepdim)


@operator
class Prod(Reduction):
    """Product over axes, in the type of x."""

    axes: tuple
    keepdim: bool = False
    kind = "prod"

    def numpy(self, x):
        wide = np.float32 if narrow(x) else x.dtype
        return np.prod(x, axis=self.axes, keepdims=self.keepdim, dtype=wide).astype(x.dtype)

    def vjp(self, g, out, x):
        from .elementwise import cast, conj, equal
        from .logic import select

        # the product of the others: out / x, except where a zero takes part
        zero = equal(x, 0)
        safe = select(zero, 1, x)
        zeros = self.spread(Sum(self.axes, self.keepdim)(cast(zero, types.int64)), x)
        rest = self.spread(Prod(self.axes, self.keepdim)(safe), x) / safe
        alone = select(equal(zeros, cast(zero, types.int64)), rest, 0)
        return (self.spread(g, x) * conj(alone),)

    def xla(self, jnp, x):
        return jnp.prod(x, axis=self.axes, keepdims=self.keepdim, dtype=x.dtype)


class Truth(Reduction):
    """Base of any and all: elements that are not zero are true."""

    vjp = absent("a bool has no gradient")

    def infer(self, x: TensorType) -> TensorType:
        return TensorType(self.kept(x.shape), types.bool_)

    def element(self, k, e):
        return e if e.dtype is types.bool_ else e.ne(0)

    @classmethod
    def samples(cls, rng):
        x = rng.integers(0, 4, (3, 4, 5))
        for axes in ((0,), (2,), (0, 2), (0, 1, 2)):
            yield cls(axes, False), (x.astype(bool),)
        yield cls((1,), True), (x,)
        yield cls((0,), False), (np.array([0.0, np.nan], "float32"),)
        yield cls((0,), False), (np.zeros((0, 3), bool),)


@operator
class All(Truth):
    """Whether all elements over axes are true."""

    axes: tuple
    keepdim: bool = False
    kind = "all"

    def numpy(self, x):
        return np.all(x, axis=self.axes, keepdims=self.keepdim)

    def xla(self, jnp, x):
        return jnp.all(x, axis=self.axes, keepdims=self.keepdim)


@operator
class Any_(Truth):
    """Whether some element over axes is true."""

    axes: tuple
    keepdim: bool = False
    kind = "any"
    name = "any"

    def numpy(self, x):
        return np.any(x, axis=self.axes, keepdims=self.keepdim)

    def xla(self, jnp, x):
        return jnp.any(x, axis=self.axes, keepdims=self.keepdim)


class Position(Operator):
    """Base of argmax and argmin: where along an axis the element is, int64; the first of equals.

    NaN is passed over, as upstream does; where there is nothing else the position is 0.
    """

    axis: int
    keepdim: bool
    kind = ""
    least: ClassVar[float]
    vjp = absent("positions have no gradient")

    def infer(self, x: TensorType) -> TensorType:
        if x.dtype.kind in "bc":
            raise unavailable(
                f"{self.name}: it is not defined for {x.dtype.name}.", expected="a real number type", received=f"x: {x}"
            )
        if x.shape[self.axis] == 0:
            raise invalid_argument(
                f"{self.name}: there is no element to find.",
                expected=f"elements along axis {self.axis}",
                received=f"x: {x}",
            )
        kept = (1,) if self.keepdim else ()
        return TensorType((*x.shape[: self.axis], *kept, *x.shape[self.axis + 1 :]), types.int64)

    def comparable(self, x, np=np):
        return x if x.dtype.kind in "iu" else np.where(np.isnan(x), x.dtype.type(self.least), x)

    def loops(self, k, x):
        before, after = k.at[: self.axis], k.at[self.axis + self.keepdim :]

        def element(j):
            e = k.load(x, [*before, j, *after])
            return k.where(k.isnan(e), self.least, e) if x.dtype.kind == "f" else e

        return k.reduce(self.kind, [x.shape[self.axis]], element)

    def spmd(self, *types):
        names = letters(types[0].ndim, (self.axis,))
        return f"{names}->{names if self.keepdim else names.replace(names[self.axis], '')}"

    @classmethod
    def samples(cls, rng):
        x = rng.integers(0, 5, (3, 4, 6)).astype("float32")
        for axis in range(3):
            yield cls(axis, False), (x,)
        yield cls(1, True), (x,)
        yield cls(0, False), (rng.integers(0, 50, 300),)
        yield cls(0, False), (np.array([1.0, np.nan, 3.0, np.nan]),)
        yield cls(1, False), (np.array([[np.nan, np.nan, -np.inf], [np.nan, np.inf, 1.0], [np.nan] * 3], "float32"),)
        yield cls(1, False), (np.zeros((0, 3), "float32"),)


@operator
class Argmax(Position):
    """Position of the greatest element along an axis."""

    axis: int
    keepdim: bool = False
    kind = "argmax"
    least = -np.inf

    def numpy(self, x):
        return np.argmax(self.comparable(x), axis=self.axis, keepdims=self.keepdim).astype("int64")

    def xla(self, jnp, x):
        return jnp.argmax(self.comparable(x, jnp), axis=self.axis, keepdims=self.keepdim).astype("int64")


@operator
class Argmin(Position):
    """Position of the smallest element along an axis."""

    axis: int
    keepdim: bool = False
    kind = "argmin"
    least = np.inf

    def numpy(self, x):
        return np.argmin(self.comparable(x), axis=self.axis, keepdims=self.keepdim).astype("int64")

    def xla(self, jnp, x):
        return jnp.argmin(self.comparable(x, jnp), axis=self.axis, keepdims=self.keepdim).astype("int64")


@operator
class Logsumexp(Reduction):
    """log(sum(exp(x))) over axes, without overflow; -inf where there is nothing to sum."""

    axes: tuple
    keepdim: bool = False
    kind = "sum"

    def numpy(self, x):
        wide = x.astype(np.float32) if narrow(x) else x
        if not x.size:
            return np.full(self.kept(x.shape), -np.inf, x.dtype)
        top = np.max(wide, axis=self.axes, keepdims=True)
        shift = np.where(np.isfinite(top), top, 0).astype(top.dtype)  # inf - inf would be nan
        out = np.log(np.sum(np.exp(wide - shift), axis=self.axes, keepdims=True)) + shift
        return out.reshape(self.kept(x.shape)).astype(x.dtype)

    def vjp(self, g, out, x):
        from .elementwise import exp

        return (self.spread(g, x) * exp(x - self.spread(out, x)),)

    def loops(self, k, x):
        rest = [i for i in k.at] if not self.keepdim else [i for a, i in enumerate(k.at) if a not in self.axes]
        extents = [x.shape[i] for i in self.axes]

        def element(*inner):
            outer, within = iter(rest), iter(inner)
            return k.load(x, [next(within) if a in self.axes else next(outer) for a in range(len(x.shape))])

        top = k.reduce("max", extents, element)
        shift = k.where(k.isfinite(top), top, 0)
        return k.log(k.sum(extents, lambda *i: k.exp(element(*i) - shift))) + shift

    def xla(self, jnp, x):
        return jnp.special.logsumexp(x, axis=self.axes, keepdims=self.keepdim)

    @classmethod
    def samples(cls, rng):
        yield from super().samples(rng)
        yield cls((1,), False), (np.array([[np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 0.0], [1e4, 1e4]]),)
        yield cls((1,), False), (np.zeros((2, 0), "float32"),)


@functools.lru_cache(4096)
def _sum(axes: tuple[int, ...], keepdim: bool) -> Sum:
    return Sum(axes, keepdim)


def sum_(x: Any, axes: Any, keepdim: bool = False) -> Any:
    return _sum(tuple(sorted(axes)), keepdim)(x) if axes else x


def mean_(x: Any, axes: Any, keepdim: bool = False) -> Any:
    n = 1
    for a in axes:
        n *= x.shape[a]
    return sum_(x, axes, keepdim) / float(n) if n else sum_(x, axes, keepdim) / 0.0


def var_(x: Any, axes: Any, correction: float = 1.0, keepdim: bool = False) -> Any:
    """Sum of squared differences from the mean over (n - correction), which may be 0: NaN or infinity then."""
    n = 1
    for a in axes:
        n *= x.shape[a]
    d = x - mean_(x, axes, True)
    return sum_(d * d, axes, keepdim) / float(max(n - correction, 0.0))
