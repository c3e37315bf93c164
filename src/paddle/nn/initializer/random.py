"""Random values: Uniform, Normal, TruncatedNormal, Xavier, Kaiming, Orthogonal. The seed is paddle.seed's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.ops import random as ops
from .initializer import Valued, calculate_gain, fans, working

__all__ = [
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
]


def _uniform(shape: tuple[int, ...], low: float, high: float, dtype: Any) -> Any:
    from ...framework.random import next_key

    return ops.uniform(next_key(), shape, low, high, working(dtype))


def _normal(shape: tuple[int, ...], mean: float, std: float, dtype: Any) -> Any:
    from ...framework.random import next_key

    return ops.normal(next_key(), shape, mean, std, working(dtype))


def _host() -> np.random.Generator:
    from ...framework.random import next_key

    return ops.host_generator(next_key().array())


def _given(who: str, **values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise errors.asserted(f"{who}: there is no {name}.", expected="a number", received=f"{name}: None")


class Uniform(Valued):
    """Evenly spread over [low, high).

    Args:
        low (float): Default: -1.0.
        high (float): Default: 1.0.
        name (str, optional): not used.
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        if low is None or high is None or high < low:
            raise errors.asserted(
                "Uniform: the bounds are in the wrong order.",
                expected="low <= high",
                received=f"low: {low}, high: {high}",
            )
        self._low, self._high = low, high

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return _uniform(shape, self._low, self._high, dtype)


class Normal(Valued):
    """Normally distributed.

    Args:
        mean (float): Default: 0.0.
        std (float): standard deviation. Default: 1.0.
        name (str, optional): not used.
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        _given("Normal", mean=mean, std=std)
        self._mean, self._std_dev = mean, std

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return _normal(shape, self._mean, self._std_dev, dtype)


class TruncatedNormal(Valued):
    """Normally distributed, drawn again where it falls outside [a, b].

    Args:
        mean (float): Default: 0.0.
        std (float): standard deviation before truncation. Default: 1.0.
        a (float): least value. Default: -2.0.
        b (float): greatest value. Default: 2.0.
        name (str, optional): not used.
    """

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        _given("TruncatedNormal", mean=mean, std=std)
        self._mean, self._std_dev, self._a, self._b = mean, std, a, b

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        rng, n = _host(), math.prod(shape)
        low, high = (self._a - self._mean) / self._std_dev, (self._b - self._mean) / self._std_dev
        z = truncated(rng, n, low, high)
        return np.clip(z * self._std_dev + self._mean, self._a, self._b).reshape(shape)


def truncated(rng: np.random.Generator, n: int, low: float, high: float) -> np.ndarray:
    """n standard normal numbers within [low, high], by rejection."""
    cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    if cdf(high) - cdf(low) > 0.2:
        draw = lambda m: rng.standard_normal(m)
        keep = lambda z: (z >= low) & (z <= high)
    else:
        # the densest point of the interval bounds the density of an even proposal
        peak = min(max(0.0, low), high)
        draw = lambda m: rng.uniform(low, high, m)
        keep = lambda z: rng.random(z.size) <= np.exp((peak * peak - z * z) / 2)
    out = np.empty(0)
    while out.size < n:
        z = draw(max(2 * (n - out.size), 16))
        out = np.concatenate([out, z[keep(z)]])
    return out[:n]


class XavierUniform(Valued):
    r"""Evenly spread over :math:`\pm g \sqrt{6 / (fan_{in} + fan_{out})}`.

    Source: Glorot and Bengio 2010, PMLR 9:249-256.

    Args:
        fan_in (float, optional): of the shape by default.
        fan_out (float, optional): of the shape by default.
        gain (float): g. Default: 1.0.
        name (str, optional): not used.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        self._fan_in, self._fan_out, self._gain = fan_in, fan_out, gain

    def spread(self, shape: tuple[int, ...]) -> float:
        """The standard deviation."""
        found = fans(shape)
        fan_in = found[0] if self._fan_in is None else self._fan_in
        fan_out = found[1] if self._fan_out is None else self._fan_out
        return self._gain * math.sqrt(2.0 / (fan_in + fan_out)) if fan_in + fan_out else 0.0

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        limit = math.sqrt(3.0) * self.spread(shape)
        return _uniform(shape, -limit, limit, dtype)


class XavierNormal(XavierUniform):
    r"""Normally distributed with deviation :math:`g \sqrt{2 / (fan_{in} + fan_{out})}`; see XavierUniform."""

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return _normal(shape, 0.0, self.spread(shape), dtype)


class KaimingUniform(Valued):
    r"""Evenly spread over :math:`\pm g \sqrt{3 / fan}`, g the gain of the nonlinearity.

    Source: He, Zhang, Ren and Sun 2015, arXiv:1502.01852.

    Args:
        fan_in (float, optional): the fan; by default that of the shape that `mode` chooses.
        negative_slope (float): of leaky_relu. Default: 0.0.
        nonlinearity (str): see calculate_gain. Default: "relu".
        mode (str): "fan_in" or "fan_out". Default: "fan_in".
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise errors.invalid_argument(
                f"{type(self).__name__}: mode is not known.", expected="fan_in or fan_out", received=f"mode: {mode!r}"
            )
        self._fan_in, self._negative_slope, self._nonlinearity, self._mode = fan_in, negative_slope, nonlinearity, mode

    def spread(self, shape: tuple[int, ...]) -> float:
        """The standard deviation."""
        fan = fans(shape)[self._mode == "fan_out"] if self._fan_in is None else self._fan_in
        return calculate_gain(self._nonlinearity, self._negative_slope) / math.sqrt(fan) if fan else 0.0

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        limit = math.sqrt(3.0) * self.spread(shape)
        return _uniform(shape, -limit, limit, dtype)


class KaimingNormal(KaimingUniform):
    r"""Normally distributed with deviation :math:`g / \sqrt{fan}`; see KaimingUniform."""

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return _normal(shape, 0.0, self.spread(shape), dtype)


class Orthogonal(Valued):
    """Rows, or columns if they are fewer, of length `gain` at right angles. Axes after the first count as one.

    Source: Saxe, McClelland and Ganguli 2013, arXiv:1312.6120.

    Args:
        gain (float): Default: 1.0.
        name (str, optional): not used.
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        _given("Orthogonal", gain=gain)
        self._gain = gain

    def __call__(self, var: Any, block: Any = None) -> Any:
        return self.forward(var, block)

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) < 2:
            raise errors.asserted(
                "Orthogonal: the parameter has fewer than two axes.",
                expected="[M, ...]",
                received=f"shape: {list(shape)}",
            )
        rows, columns = shape[0], math.prod(shape[1:])
        a = _host().standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(a)
        q *= np.where(np.diag(r) < 0, -1.0, 1.0)
        return (self._gain * (q.T if rows < columns else q)).reshape(shape)
