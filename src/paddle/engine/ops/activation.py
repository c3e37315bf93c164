"""Activations: element-wise operators of one argument, some with constants as attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import need_equal_dtypes
from ..types import TensorType
from .elementwise import (
    Unary,
    broadcast,
    cast,
    exp,
    float_samples,
    greater_equal,
    greater_than,
    less_than,
    maximum,
    minimum,
    sigmoid,
    sum_to,
    tanh,
    unary,
)
from .registry import Operator, operator

_erf = np.frompyfunc(math.erf, 1, 1)
SQRT_HALF = math.sqrt(0.5)
NORMAL = 1 / math.sqrt(2 * math.pi)  # density of the normal distribution at 0


def erf(x: np.ndarray) -> np.ndarray:
    return np.asarray(_erf(x)).astype(x.dtype)


def activation(
    name: str, *, numpy: Callable, vjp: Callable, loops: Callable, xla: Callable, **defaults: float
) -> type[Operator]:
    """Defines an element-wise operator with constants and returns its class.

    The rules get the argument and then the constants, in order. 16-bit floats are computed in float32 by the
    meaning as well.
    """
    names = tuple(defaults)

    def values(self: Any) -> tuple[float, ...]:
        return tuple(getattr(self, n) for n in names)

    def meaning(self, x):
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        return np.asarray(numpy(wide, *values(self))).astype(x.dtype)

    def samples(cls, rng):
        for x in float_samples(rng):
            yield cls(), (x,)
        yield cls(), (np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 30.0, -30.0], "float32"),)
        if names:
            yield cls(**{n: v * 0.75 for n, v in defaults.items()}), (rng.normal(size=(4, 5)) * 3,)

    body: dict[str, Any] = {
        "__doc__": f"{name} of each element.",
        "name": name,
        "__annotations__": dict.fromkeys(names, "float"),
        **defaults,
        "numpy": meaning,
        "vjp": lambda self, g, out, x: (vjp(g, out, x, *values(self)),),
        "loops": lambda self, k, x: loops(k, k.load(x, k.at), *values(self)),
        "xla": lambda self, jnp, x: xla(jnp, x, *values(self)),
        "samples": classmethod(samples),
    }
    cls: Any = operator(type(name.title().replace("_", ""), (Unary,), body))
    cls.vjp_source = vjp
    return cls


def mask(condition: Any, like: Any) -> Any:
    """1 where the condition holds, else 0, in the element type of `like`."""
    return cast(condition, like.dtype)


def density(x: Any) -> Any:
    return exp(x * x * -0.5) * NORMAL


normal_cdf = unary(
    "normal_cdf",
    numpy=lambda x: (0.5 * (1 + erf(x * SQRT_HALF))).astype(x.dtype),
    vjp=lambda g, out, x: g * density(x),
    loops=lambda k, x: (k.erf(x * SQRT_HALF) + 1) * 0.5,
    xla=lambda jnp, x: 0.5 * (1 + jnp.lax.erf(x * SQRT_HALF)),
)


Gelu = activation(
    "gelu",
    numpy=lambda x: x * 0.5 * (1 + erf(x * SQRT_HALF)),
    vjp=lambda g, out, x: g * (normal_cdf(x) + x * density(x)),
    loops=lambda k, x: x * ((k.erf(x * SQRT_HALF) + 1) * 0.5),
    xla=lambda jnp, x: x * 0.5 * (1 + jnp.lax.erf(x * SQRT_HALF)),
)

ROOT = math.sqrt(2 / math.pi)
CUBE = 0.044715


def _gelu_tanh_slope(g: Any, x: Any) -> Any:
    t = tanh((x + x * x * x * CUBE) * ROOT)
    return g * ((t + 1.0) * 0.5 + x * (1.0 - t * t) * (x * x * (3 * CUBE * ROOT) + ROOT) * 0.5)


# Source: Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2.
GeluTanh = activation(
    "gelu_tanh",
    numpy=lambda x: 0.5 * x * (1 + np.tanh(ROOT * (x + CUBE * x * x * x))),
    vjp=lambda g, out, x: _gelu_tanh_slope(g, x),
    loops=lambda k, x: x * 0.5 * (k.tanh((x + x * x * x * CUBE) * ROOT) + 1),
    xla=lambda jnp, x: 0.5 * x * (1 + jnp.tanh(ROOT * (x + CUBE * x * x * x))),
)


def _silu_slope(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    far = maximum(minimum(x, 1e4), -1e4)  # beyond, 1 - s or s is 0, and infinity times 0 would be NaN
    return g * (s * (far * (1.0 - s) + 1.0))


Silu = activation(
    "silu",
    numpy=lambda x: x / (1 + np.exp(-x)),
    vjp=lambda g, out, x: _silu_slope(g, x),
    loops=lambda k, x: x / (k.exp(-x) + 1),
    xla=lambda jnp, x: x / (1 + jnp.exp(-x)),
)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _mish_slope(g: Any, x: Any) -> Any:
    t = tanh(Softplus(1.0, 20.0)(x))
    return g * (t + x * (1.0 - t * t) * sigmoid(x))


Softplus = activation(
    "softplus",
    numpy=lambda x, beta, threshold: np.where(x * beta > threshold, x, _softplus(x * beta) / beta),
    vjp=lambda g, out, x, beta, threshold: g * maximum(
        mask(greater_than(x * beta, threshold), x), sigmoid(x * beta)
    ),
    loops=lambda k, x, beta, threshold: k.where(
        x * beta > threshold, x, (k.max(x * beta, 0) + k.log1p(k.exp(-k.abs(x * beta)))) / beta
    ),
    xla=lambda jnp, x, beta, threshold: jnp.where(
        x * beta > threshold, x, (jnp.maximum(x * beta, 0) + jnp.log1p(jnp.exp(-jnp.abs(x * beta)))) / beta
    ),
    beta=1.0,
    threshold=20.0,
)  # fmt: skip

# Source: Misra 2019, arXiv:1908.08681.
Mish = activation(
    "mish",
    numpy=lambda x: x * np.tanh(_softplus(x)),
    vjp=lambda g, out, x: _mish_slope(g, x),
    loops=lambda k, x: x * k.tanh(k.max(x, 0) + k.log1p(k.exp(-k.abs(x)))),
    xla=lambda jnp, x: x * jnp.tanh(jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))),
)

LogSigmoid = activation(
    "log_sigmoid",
    numpy=lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    vjp=lambda g, out, x: g * sigmoid(-x),
    loops=lambda k, x: k.min(x, 0) - k.log1p(k.exp(-k.abs(x))),
    xla=lambda jnp, x: jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x))),
)

# The slope at 0 is 1: upstream takes the branch x >= 0 there.
LeakyRelu = activation(
    "leaky_relu",
    numpy=lambda x, slope: np.where(x > 0, x, x * slope),
    vjp=lambda g, out, x, slope: g * (mask(greater_equal(x, 0.0), x) * (1.0 - slope) + slope),
    loops=lambda k, x, slope: k.where(x > 0, x, x * slope),
    xla=lambda jnp, x, slope: jnp.where(x > 0, x, x * slope),
    slope=0.01,
)


def _below(x: Any, scale: float, alpha: float) -> Any:
    """Slope of the exponential family: `scale` above 0, scale * alpha * exp(x) below."""
    above = mask(greater_than(x, 0.0), x)
    return above * scale + (1.0 - above) * (exp(minimum(x, 0.0)) * (scale * alpha))


Elu = activation(
    "elu",
    numpy=lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    vjp=lambda g, out, x, alpha: g * _below(x, 1.0, alpha),
    loops=lambda k, x, alpha: k.where(x > 0, x, k.expm1(k.min(x, 0)) * alpha),
    xla=lambda jnp, x, alpha: jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0))),
    alpha=1.0,
)

Selu = activation(
    "selu",
    numpy=lambda x, scale, alpha: np.where(x > 0, x * scale, scale * alpha * np.expm1(np.minimum(x, 0))),
    vjp=lambda g, out, x, scale, alpha: g * _below(x, scale, alpha),
    loops=lambda k, x, scale, alpha: k.where(x > 0, x * scale, k.expm1(k.min(x, 0)) * (scale * alpha)),
    xla=lambda jnp, x, scale, alpha: jnp.where(x > 0, x * scale, scale * alpha * jnp.expm1(jnp.minimum(x, 0))),
    scale=1.0507009873554805,
    alpha=1.6732632423543772,
)

Celu = activation(
    "celu",
    numpy=lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)),
    vjp=lambda g, out, x, alpha: g * exp(minimum(x, 0.0) / alpha),
    loops=lambda k, x, alpha: k.where(x > 0, x, k.expm1(k.min(x, 0) / alpha) * alpha),
    xla=lambda jnp, x, alpha: jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0) / alpha)),
    alpha=1.0,
)


def _between(x: Any, low: float, high: float) -> Any:
    return mask(greater_than(x, low), x) * mask(less_than(x, high), x)


Hardtanh = activation(
    "hardtanh",
    numpy=lambda x, low, high: np.minimum(np.maximum(x, low), high),
    vjp=lambda g, out, x, low, high: g * _between(x, low, high),
    loops=lambda k, x, low, high: k.min(k.max(x, low), high),
    xla=lambda jnp, x, low, high: jnp.minimum(jnp.maximum(x, low), high),
    low=-1.0,
    high=1.0,
)

Relu6 = activation(
    "relu6",
    numpy=lambda x: np.minimum(np.maximum(x, 0), 6),
    vjp=lambda g, out, x: g * _between(out, 0.0, 6.0),
    loops=lambda k, x: k.min(k.max(x, 0), 6),
    xla=lambda jnp, x: jnp.minimum(jnp.maximum(x, 0), 6),
)

Hardsigmoid = activation(
    "hardsigmoid",
    numpy=lambda x, slope, offset: np.minimum(np.maximum(x * slope + offset, 0), 1),
    vjp=lambda g, out, x, slope, offset: g * (_between(out, 0.0, 1.0) * slope),
    loops=lambda k, x, slope, offset: k.min(k.max(x * slope + offset, 0), 1),
    xla=lambda jnp, x, slope, offset: jnp.minimum(jnp.maximum(x * slope + offset, 0), 1),
    slope=0.1666667,
    offset=0.5,
)

Hardswish = activation(
    "hardswish",
    numpy=lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
    # the middle piece is clipped so that an infinite x meets no 0 * inf
    vjp=lambda g, out, x: g * (
        mask(greater_equal(x, 3.0), x) + _between(x, -3.0, 3.0) * (maximum(minimum(x, 3.0), -3.0) / 3.0 + 0.5)
    ),
    loops=lambda k, x: x * k.min(k.max(x + 3, 0), 6) / 6,
    xla=lambda jnp, x: x * jnp.minimum(jnp.maximum(x + 3, 0), 6) / 6,
)  # fmt: skip

Hardshrink = activation(
    "hardshrink",
    numpy=lambda x, threshold: np.where((x > -threshold) & (x < threshold), 0, x),
    vjp=lambda g, out, x, threshold: g * mask(greater_equal(maximum(x, -x), threshold), x),
    loops=lambda k, x, threshold: k.where((x > -threshold) & (x < threshold), 0, x),
    xla=lambda jnp, x, threshold: jnp.where((x > -threshold) & (x < threshold), 0, x),
    threshold=0.5,
)

Softshrink = activation(
    "softshrink",
    numpy=lambda x, threshold: np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, x * 0)),
    vjp=lambda g, out, x, threshold: g * mask(greater_than(maximum(x, -x), threshold), x),
    loops=lambda k, x, threshold: k.where(
        x > threshold, x - threshold, k.where(x < -threshold, x + threshold, x * 0)
    ),
    xla=lambda jnp, x, threshold: jnp.where(
        x > threshold, x - threshold, jnp.where(x < -threshold, x + threshold, x * 0)
    ),
    threshold=0.5,
)  # fmt: skip

ThresholdedRelu = activation(
    "thresholded_relu",
    numpy=lambda x, threshold, value: np.where(x > threshold, x, x.dtype.type(value)),
    vjp=lambda g, out, x, threshold, value: g * mask(greater_than(x, threshold), x),
    loops=lambda k, x, threshold, value: k.where(x > threshold, x, value),
    xla=lambda jnp, x, threshold, value: jnp.where(x > threshold, x, value),
    threshold=1.0,
    value=0.0,
)


def _softsign_slope(g: Any, x: Any) -> Any:
    d = maximum(x, -x) + 1.0
    return g / (d * d)


Softsign = activation(
    "softsign",
    numpy=lambda x: x / (1 + np.abs(x)),
    vjp=lambda g, out, x: _softsign_slope(g, x),
    loops=lambda k, x: x / (k.abs(x) + 1),
    xla=lambda jnp, x: x / (1 + jnp.abs(x)),
)


def _tanhshrink_slope(g: Any, x: Any) -> Any:
    t = tanh(x)
    return g * (t * t)


Tanhshrink = activation(
    "tanhshrink",
    numpy=lambda x: x - np.tanh(x),
    vjp=lambda g, out, x: _tanhshrink_slope(g, x),
    loops=lambda k, x: x - k.tanh(x),
    xla=lambda jnp, x: x - jnp.tanh(x),
)


@operator
class Prelu(Operator):
    """x above 0, else x times a slope that broadcasts to x."""

    def infer(self, x: TensorType, slope: TensorType) -> TensorType:
        need_equal_dtypes(self.name, x=x, weight=slope)
        return TensorType(broadcast(self.name, x, slope), x.dtype)

    def numpy(self, x, slope):
        return np.where(x > 0, x, x * slope).astype(x.dtype)

    def vjp(self, g, out, x, slope):
        above = cast(greater_than(x, 0.0), x.dtype)
        dx = g * (above + (1.0 - above) * slope)
        return sum_to(dx, x.shape), sum_to(g * minimum(x, 0.0), slope.shape)

    def loops(self, k, x, slope):
        e = k.broadcast(x)
        return k.where(e > 0, e, e * k.broadcast(slope))

    def xla(self, jnp, x, slope):
        return jnp.where(x > 0, x, x * slope)

    def spmd(self, *types):
        return "...,...->..."

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3, 4)).astype("float32"), rng.normal(size=(1, 3, 1)).astype("float32"))
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=1))
        yield cls(), (np.zeros((0, 3)), rng.normal(size=1))
