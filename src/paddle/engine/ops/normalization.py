"""Normalization: elements less their mean, over their standard deviation, along some axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import types
from ..types import DType, TensorType
from .elementwise import cast, divide, sqrt
from .reduction import mean_
from .registry import Operator, operator


def statistics_type(dtype: DType) -> DType:
    """The type that means and variances are kept in: float32 for the 16-bit floats."""
    return types.float32 if dtype.itemsize < 4 else dtype


@operator
class Standardize(Operator):
    """(x - mean) / sqrt(variance + epsilon) over `axes`; with the mean and the (biased) variance.

    One operator serves batch, layer, group and instance norm: they differ in axes and in what they multiply.

    Shapes: x [...] -> the same; mean and variance with 1 in place of each of `axes`.
    Dtypes: 16-bit floats are computed in float32, the statistics stay float32.
    """

    axes: tuple
    epsilon: float

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType, TensorType]:
        kept = tuple(1 if i in self.axes else n for i, n in enumerate(x.shape))
        statistics = TensorType(kept, statistics_type(x.dtype))
        return x, statistics, statistics

    def compose(self, x):
        wide = cast(x, statistics_type(x.dtype))
        mean = mean_(wide, self.axes, True)
        centred = wide - mean
        variance = mean_(centred * centred, self.axes, True)
        return cast(centred * rsqrt(variance, self.epsilon), x.dtype), mean, variance

    def vjp(self, g, out, x):
        # The three passes of the plain chain rule collapse into two means over the same axes. What x was computed
        # from is not kept for it where the result says the same, which a weight's gradient needs anyway.
        result, mean, variance = out
        gx, gm, gv = g
        wide = statistics_type(x.dtype)
        rounded = wide is not x.dtype
        centred = cast(x, wide) - mean if rounded or gm is not None or gv is not None else None
        n = 1
        for a in self.axes:
            n *= x.shape[a]
        dx: Any = None
        if gx is not None:
            gx = cast(gx, wide)
            scale = rsqrt(variance, self.epsilon)
            unit = centred * scale if rounded else result
            dx = scale * (gx - mean_(gx, self.axes, True) - unit * mean_(gx * unit, self.axes, True))
        if gm is not None:
            part = gm / float(n) + centred * 0.0
            dx = part if dx is None else dx + part
        if gv is not None:
            part = gv * (2.0 / n) * centred
            dx = part if dx is None else dx + part
        return (None if dx is None else cast(dx, x.dtype),)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32") * 2 + 1
        for axes in ((0, 2), (2,), (1, 2), (0, 1, 2)):
            yield cls(axes, 1e-5), (x,)
        yield cls((1,), 1e-3), (rng.normal(size=(3, 33)),)
        yield cls((1,), 1e-5), (rng.normal(size=(0, 4)),)
        yield cls((0,), 1e-5), (np.array([[1.0, np.inf], [2.0, 1.0]], "float32"),)


def rsqrt(variance: Any, epsilon: float) -> Any:
    return divide(1.0, sqrt(variance + epsilon))
