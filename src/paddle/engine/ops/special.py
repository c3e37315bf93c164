"""Special functions: error, gamma and Bessel functions and their relatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import types
from .activation import erf as erf_of
from .elementwise import Unary, binary, exp, float_samples, log, unary
from .math import sign
from .registry import Operator, absent, operator

ROOT_PI = math.sqrt(math.pi)


def wide(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, np.float64)


def in_float64(f: Any) -> Any:
    """A loop form computed in float64, as the meanings here are."""
    return lambda k, x, *constants: k.cast(f(k, k.cast(x, types.float64), *constants), x.dtype)


LONG = absent("a series of some hundred terms: runs its numpy form")


# ---- error function ---------------------------------------------------------------------------
def _lax(name: str) -> Any:
    return lambda jnp, x: getattr(jnp.lax, name)(x)


erf = unary(
    "erf",
    floating=True,
    numpy=erf_of,
    vjp=lambda g, out, x: g * exp(-(x * x)) * (2 / ROOT_PI),
    loops=lambda k, x: k.erf(x),
    xla=_lax("erf"),
)

# The two branches of a start for erfinv that is good to 3e-7: polynomials in w = -log(1 - y * y).
# Source: Giles 2012, "Approximating the erfinv function", GPU Computing Gems (Jade edition), table 10.1.
_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
         -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
        0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def _polynomial(coefficients: Any, w: Any) -> Any:
    out = coefficients[0]
    for c in coefficients[1:]:
        out = w * out + c
    return out


def _erfinv(y):
    y64 = wide(y)
    w = -np.log1p(-y64 * y64)
    x = np.where(w < 5, _polynomial(_NEAR, w - 2.5), _polynomial(_FAR, np.sqrt(np.maximum(w, 0)) - 3)) * y64
    for _ in range(2):  # Newton's steps
        x = x - (wide(erf_of(x)) - y64) * (ROOT_PI / 2) * np.exp(x * x)
    x = np.where(np.abs(y64) >= 1, np.copysign(np.inf, y64), x)  # infinite outside too, as upstream has it
    return x.astype(y.dtype)


def _loop_erfinv(k, y):
    w = -k.log1p(-y * y)
    x = k.where(w < 5, _polynomial(_NEAR, w - 2.5), _polynomial(_FAR, k.sqrt(k.max(w, 0)) - 3)) * y
    for _ in range(2):
        x = x - (k.erf(x) - y) * (ROOT_PI / 2) * k.exp(x * x)
    return k.where(y >= 1, math.inf, k.where(y <= -1, -math.inf, x))


erfinv = unary(
    "erfinv",
    floating=True,
    numpy=_erfinv,
    loops=in_float64(_loop_erfinv),
    vjp=lambda g, out, x: g * exp(out * out) * (ROOT_PI / 2),
    xla=lambda jnp, x: jnp.where(jnp.abs(x) >= 1, jnp.copysign(np.inf, x).astype(x.dtype), jnp.lax.erf_inv(x)),
    low=-0.95,
    high=0.95,
)


# ---- gamma function ---------------------------------------------------------------------------
def _lgamma_of(v: float) -> float:
    try:
        return math.lgamma(v)
    except (ValueError, OverflowError):  # a pole, or beyond the largest number
        return math.inf


_lgamma = np.frompyfunc(_lgamma_of, 1, 1)

lgamma = unary(
    "lgamma",
    floating=True,
    numpy=lambda x: np.asarray(_lgamma(x)).astype(x.dtype),
    vjp=lambda g, out, x: g * digamma(x),
    loops=lambda k, x: k.lgamma(x),
    xla=_lax("lgamma"),
    low=0.1,
    high=9.0,
    special=False,
)


def _digamma(x):
    """By reflection to x >= 1/2, recurrence to x >= 8, and the asymptotic series there."""
    v = wide(x)
    below = v < 0.5
    y = np.where(below, 1 - v, v)
    start = y
    total = np.zeros_like(y)
    for _ in range(8):
        total = total - 1 / y
        y = y + 1
    r = 1 / (y * y)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))))
    out = np.where(np.isinf(start), start, total + np.log(y) - 0.5 / y - series)
    pole = (v <= 0) & (v == np.floor(v))
    turned = out - np.pi / np.tan(np.pi * np.where(pole, 0.5, v))
    at_pole = np.where(v == 0, -np.copysign(np.inf, v), np.nan)
    return np.where(pole, at_pole, np.where(below, turned, out)).astype(x.dtype)


def _loop_digamma(k, v):
    below = v < 0.5
    start = y = k.where(below, 1 - v, v)
    total: Any = 0.0
    for _ in range(8):
        total = total - 1 / y
        y = y + 1
    r = 1 / (y * y)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))))
    out = k.where(k.isinf(start), start, total + k.log(y) - 0.5 / y - series)
    pole = (v <= 0) & v.eq(k.floor(v))
    turned = out - math.pi / k.tan(k.where(pole, 0.5, v) * math.pi)
    at_pole = k.where(v.eq(0), -1 / v, math.nan)
    return k.where(pole, at_pole, k.where(below, turned, out))


digamma: Operator = unary(
    "digamma",
    floating=True,
    numpy=_digamma,
    loops=in_float64(_loop_digamma),
    vjp=lambda g, out, x: g * Polygamma(1)(x),
    xla=_lax("digamma"),
    low=0.2,
    high=9.0,
    special=False,
)


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # the numbers B2, B4, ...


@operator
class Polygamma(Unary):
    """The n-th derivative of digamma (n >= 1), for x > 0: (-1)**(n+1) n! zeta(n + 1, x), zeta by Euler-Maclaurin."""

    n: int

    floating = True

    def numpy(self, x):
        s, a = self.n + 1, wide(x)
        total = np.zeros_like(a)
        for _ in range(12):
            total = total + a**-s
            a = a + 1
        total = total + a ** (1 - s) / (s - 1) + 0.5 * a**-s
        term = s * a ** (-s - 1)
        for i, bernoulli in enumerate(BERNOULLI):
            total = total + term * (bernoulli / math.factorial(2 * i + 2))
            term = term * (s + 2 * i + 1) * (s + 2 * i + 2) / (a * a)
        return (total * self.factor).astype(x.dtype)

    def vjp(self, g, out, x):
        return (g * Polygamma(self.n + 1)(x),)

    def loops(self, k, x):
        return in_float64(self.element)(k, k.load(x, k.at))

    def element(self, k: Any, a: Any) -> Any:
        s, total = self.n + 1, 0.0
        for _ in range(12):
            total = k.pow(a, -s) + total
            a = a + 1
        total = total + k.pow(a, 1 - s) / (s - 1) + k.pow(a, -s) * 0.5
        term = k.pow(a, -s - 1) * s
        for i, bernoulli in enumerate(BERNOULLI):
            total = total + term * (bernoulli / math.factorial(2 * i + 2))
            term = term * ((s + 2 * i + 1) * (s + 2 * i + 2)) / (a * a)
        return total * self.factor

    @property
    def factor(self) -> float:
        return float(math.factorial(self.n)) * (1 if self.n % 2 else -1)

    def xla(self, jnp, x):
        return jnp.special.polygamma(self.n, x)

    @classmethod
    def samples(cls, rng):
        for n in (1, 2, 3):
            for x in float_samples(rng, 0.3, 6.0):
                yield cls(n), (x,)


def _gamma_tail(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The regularized upper incomplete gamma function: the series for small x, else the continued fraction."""
    a, x = np.broadcast_arrays(wide(a), wide(x))
    front = np.exp(a * np.log(np.where(x > 0, x, 1)) - x - wide(_lgamma(a)))
    term = np.where(a != 0, 1 / np.where(a != 0, a, 1), 0)
    series, n = term, a
    for _ in range(400):
        n = n + 1
        term = term * x / n
        series = series + term
        if not (np.abs(term) > np.abs(series) * 1e-17).any():
            break
    tiny = 1e-300
    b = x + 1 - a
    c, d = np.full_like(b, 1 / tiny), 1 / np.where(b == 0, tiny, b)
    fraction = d
    for i in range(1, 400):
        step = -i * (i - a)
        b = b + 2
        d, c = step * d + b, b + step / c
        d = 1 / np.where(np.abs(d) < tiny, tiny, d)
        c = np.where(np.abs(c) < tiny, tiny, c)
        fraction = fraction * d * c
        if not (np.abs(d * c - 1) > 1e-16).any():
            break
    upper = np.where(x < a + 1, 1 - front * series, front * fraction)
    upper = np.where(x == 0, 1.0, np.where(np.isinf(x), 0.0, upper))
    return np.where((a < 0) | (x < 0) | np.isnan(a) | np.isnan(x), np.nan, upper)


def _gamma_samples(cls, rng):
    yield cls(), (rng.uniform(0.2, 8, (3, 4)), rng.uniform(0.1, 9, (3, 4)))
    yield cls(), (rng.uniform(0.2, 8, (3, 1)).astype("float32"), rng.uniform(0.1, 9, 4).astype("float32"))
    yield cls(), (np.array([1.0, 2.0]), np.array([0.0, np.inf]))


def _density(g, x, y):
    return g * exp((x - 1.0) * log(y) - y - lgamma(x))


gammaincc = binary(
    "gammaincc",
    numpy=lambda x, y: _gamma_tail(x, y).astype(x.dtype),
    vjp=lambda g, out, x, y: (None, -_density(g, x, y)),
    loops=LONG,
    xla=lambda jnp, x, y: jnp.special.gammaincc(x, y),
    samples=_gamma_samples,
)
gammainc = binary(
    "gammainc",
    numpy=lambda x, y: (1 - _gamma_tail(x, y)).astype(x.dtype),
    vjp=lambda g, out, x, y: (None, _density(g, x, y)),
    loops=LONG,
    xla=lambda jnp, x, y: jnp.special.gammainc(x, y),
    samples=_gamma_samples,
)


# ---- Bessel functions -------------------------------------------------------------------------
def _bessel(order: int, x: np.ndarray) -> np.ndarray:
    """exp(-|x|) I_order(x), order 0 or 1: the power series up to 20, behind it the asymptotic one."""
    v = np.abs(wide(x))
    near = np.minimum(v, 20.0)
    quarter = near * near / 4
    term = (near / 2) ** order
    total = term
    for n in range(1, 80):
        term = term * quarter / (n * (n + order))
        total = total + term
    far = np.maximum(v, 20.0)
    part, series = np.ones_like(far), np.ones_like(far)
    for n in range(1, 30):
        part = -part * (4 * order * order - (2 * n - 1) ** 2) / (8 * n * far)
        series = series + part
    out = np.where(v <= 20, total * np.exp(-near), series / np.sqrt(2 * np.pi * far))
    return np.where(np.isnan(v), np.nan, np.copysign(out, wide(x)) if order else out)


def _grown(order: int) -> Any:
    def f(x):
        v = np.abs(wide(x))
        half = np.exp(v / 2)  # in two steps, since exp(v) overflows before the product does
        scaled = _bessel(order, x)
        infinite = np.copysign(np.inf, wide(x)) if order else np.inf
        return np.where(np.isinf(v), infinite, scaled * half * half).astype(x.dtype)

    return f


def _ratio(x):
    """I1(x) / x, which is 1/2 at 0; as a composition."""
    from .elementwise import equal
    from .logic import select

    zero = equal(x, 0)
    return zero, select(zero, 1.0, x)


def _i1_slope(out, x):
    from .logic import select

    zero, safe = _ratio(x)
    return i0(x) - select(zero, 0.5, out / safe)


def _i1e_slope(out, x):
    from .logic import select

    zero, safe = _ratio(x)
    return i0e(x) - out * sign(x) - select(zero, 0.5, out / safe)


i0 = unary("i0", floating=True, loops=LONG, numpy=_grown(0), vjp=lambda g, out, x: g * i1(x),
           xla=lambda jnp, x: jnp.i0(x), special=False)  # fmt: skip
i0e = unary("i0e", floating=True, loops=LONG, numpy=lambda x: _bessel(0, x).astype(x.dtype),
            vjp=lambda g, out, x: g * (i1e(x) - sign(x) * out), xla=_lax("bessel_i0e"), special=False)  # fmt: skip
i1: Operator = unary("i1", floating=True, loops=LONG, numpy=_grown(1), vjp=lambda g, out, x: g * _i1_slope(out, x),
                     xla=lambda jnp, x: jnp.special.i1(x), special=False)  # fmt: skip
i1e: Operator = unary("i1e", floating=True, loops=LONG, numpy=lambda x: _bessel(1, x).astype(x.dtype),
            vjp=lambda g, out, x: g * _i1e_slope(out, x), xla=_lax("bessel_i1e"), special=False)  # fmt: skip
