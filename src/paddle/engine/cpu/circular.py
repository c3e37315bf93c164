"""Trigonometric functions and their inverses for `vector_math`."""

from __future__ import annotations

import math

from .ssa import F64, INF, Functions, Kit, Value

__all__ = ["ANGLE_LIMIT", "FUNCTIONS"]

FUNCTIONS = Functions()

# Greater angles are taken for 0, so that the results stay bounded.
ANGLE_LIMIT = 2.0**48

_PI = {"f32": (3.1415927410125732, -8.742277657347586e-08), "f64": (3.141592653589793, 1.2246467991473532e-16)}
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)


# ---- circles ----------------------------------------------------------------------------------
# (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4
_SIN = {
    "f32": (-0.16666655242443085, 0.008332187309861183, -0.00019517805776558816),
    "f64": (-0.1666666666666663, 0.008333333333321796, -0.0001984126982929208, 2.7557313506423256e-06,
            -2.5050728130343058e-08, 1.589500733364557e-10),
}  # fmt: skip
_COS = {
    "f32": (0.04166664555668831, -0.001388730714097619, 2.4431876227026805e-05),
    "f64": (0.04166666666666659, -0.0013888888888872186, 2.480158728829542e-05, -2.7557314015140506e-07,
            2.0875678088273826e-09, -1.1357336938590902e-11),
}  # fmt: skip


def _reduce_angle(k: Kit, x: Value) -> tuple[Value, Value | None, Value]:
    """x = q pi/2 + r: r as one or two float64 numbers (float32, float64), and an integer with q in its low bits."""
    w = k.wide()
    x = x if k.real is F64 else k.convert(x, "fpext", "double")
    x = w.select(w.abs(x) <= ANGLE_LIMIT, x, x * 0.0)  # inf becomes nan
    t = w.fma(x, 2 / math.pi, w.real.magic)
    n = t - w.real.magic
    first, second, third = (w.lift(part) for part in _HALF_PI)
    x = w.minus_product(x, n, first)  # exact, since the result is short
    if k.real is not F64:
        return w.fma(-n, second, x), None, k.convert(w.bits(t), "trunc", "i32")
    p, p_low = w.exact_product(n, second)
    r = x - p
    return r, ((x - r) - p) - w.fma(n, third, p_low), w.bits(t)


def _sin_cos(k: Kit, r: Value, low: Value | None) -> tuple[Value, Value]:
    """Sine and cosine for |r| <= pi / 4."""
    r = r if k.real is F64 else k.convert(r, "fptrunc", "float")
    z = r * r
    s, c = k.polynomial(z, _SIN[k.real.name]), k.polynomial(z, _COS[k.real.name])
    if low is None:
        return k.fma(z * s, r, r), k.fma(z * z, c, k.fma(z, -0.5, 1.0))
    half = z * 0.5
    near = 1.0 - half
    return r + k.fma(z, k.fma(r, s, low * -0.5), low), near + (((1.0 - near) - half) + k.fma(z * z, c, -(r * low)))


@FUNCTIONS.add("sin")
def sin(k: Kit, x: Value) -> Value:
    r, low, q = _reduce_angle(k, k.abs(x))
    s, c = _sin_cos(k, r, low)
    flip = ((q << (_top(k) - 1)) ^ k.bits(x)) & k.real.sign
    return k.number(k.bits(k.select((q & 1).eq(0), s, c)) ^ flip)


@FUNCTIONS.add("cos")
def cos(k: Kit, x: Value) -> Value:
    r, low, q = _reduce_angle(k, k.abs(x))
    s, c = _sin_cos(k, r, low)
    flip = ((q + 1) << (_top(k) - 1)) & k.real.sign
    return k.number(k.bits(k.select((q & 1).eq(0), c, s)) ^ flip)


@FUNCTIONS.add("tan")
def tan(k: Kit, x: Value) -> Value:
    r, low, q = _reduce_angle(k, k.abs(x))
    if k.real is F64:
        s, c = _sin_cos(k, r, low)
    else:  # so that only the two roundings and the division are left
        z = r * r
        s = k.fma(z * k.polynomial(z, _SIN_TAN), r, r)
        c = k.fma(z, k.polynomial(z, _COS_TAN), 1.0)
        s, c = (k.convert(v, "fptrunc", "float") for v in (s, c))
    odd = (q & 1).ne(0)
    flip = ((q << _top(k)) ^ k.bits(x)) & k.real.sign
    return k.number(k.bits(k.select(odd, c, s) / k.select(odd, s, c)) ^ flip)


# as _SIN; (cos r - 1) / r^2: for float32, in float64
_SIN_TAN = (-0.16666654731987318, 0.0083321642963564, -0.0001951536759525212)
_COS_TAN = (-0.4999999968683482, 0.04166661949555314, -0.0013886654477579918, 2.4381015436442966e-05)


def _top(k: Kit) -> int:
    """Position of the sign bit."""
    return 63 if k.real is F64 else 31


# (asin x - x) / x^3 in x^2, for |x| <= 1/2
_ASIN = {
    "f32": (0.16666753590106964, 0.07495252043008804, 0.0454760380089283, 0.024152128025889397, 0.042211711406707764),
    "f64": (
        0.16666666666666763, 0.07499999999970128, 0.044642857175257025, 0.030381942676726014, 0.022372215863652525,
        0.017351596285842673, 0.013981008801970961, 0.011397375169744749, 0.010788847539378432, 0.0036740222620151,
        0.021786064297401958, -0.021110079663357127, 0.03269791627452556,
    ),
}  # fmt: skip
# (atan t - t) / t^3 in t^2, for |t| <= 1 in float32, tan(pi / 8) in float64
_ATAN = {
    "f32": (-0.33333298563957214, 0.1999852955341339, -0.14264047145843506, 0.10951392352581024, -0.08402257412672043,
            0.05796317011117935, -0.031214268878102303, 0.010952417738735676, -0.0018063465831801295),
    "f64": (
        -0.333333333333332, 0.1999999999995363, -0.14285714280190182, 0.11111110782764493, -0.09090897729231494,
        0.0769205958120008, -0.06663095580824188, 0.058478193746984534, -0.05038955264245602, 0.03805487548943535,
        -0.017895780334705794,
    ),
}  # fmt: skip


def _asin_half(k: Kit, x: Value) -> tuple[Value, Value, Value]:
    """Whether |x| > 1/2; where it is, u = sqrt((1 - |x|) / 2), else u = |x|; and asin(u) - u."""
    a = k.abs(x)
    big = a > 0.5
    z = k.select(big, k.fma(a, -0.5, 0.5), a * a)
    u = k.select(big, k.sqrt(z), a)
    return big, u, u * z * k.polynomial(z, _ASIN[k.real.name])


@FUNCTIONS.add("asin")
def asin(k: Kit, x: Value) -> Value:
    big, u, more = _asin_half(k, x)
    pi, pi_low = _PI[k.real.name]
    # pi/2 - 2 asin(u) = pi/4 - (2 u - pi/4) - ..., of which the difference is exact near 1/2
    top = pi / 2 - ((u + u) - k.fma(more, -2.0, pi_low / 2))
    return k.copysign(k.select(big, top, u + more), x)


@FUNCTIONS.add("acos")
def acos(k: Kit, x: Value) -> Value:
    big, u, more = _asin_half(k, x)
    pi, pi_low = _PI[k.real.name]
    negative = x < 0.0
    total = u + more
    outer = k.select(negative, pi - (total + total - pi_low), total + total)
    s = k.select(negative, -1.0, k.lift(1.0))
    inner = pi / 2 - (k.fma(s, u, k.fma(s, more, -pi_low / 2)))
    return k.select(big, outer, inner)


def _arctan(k: Kit, y: Value, x: Value) -> Value:
    """atan(y / x) for y, x >= 0, not both zero or infinite."""
    swap = y > x
    small, great = k.select(swap, x, y), k.select(swap, y, x)
    pi, pi_low = _PI[k.real.name]
    third = None
    if k.real is F64:
        third = small > great * math.tan(math.pi / 8)
        small, great = k.select(third, small - great, small), k.select(third, small + great, great)
    t = small / great
    z = t * t
    more = t * z * k.polynomial(z, _ATAN[k.real.name], halved=k.real is F64)
    if third is not None:
        t_high = k.select(third, pi / 4, t)
        more = k.select(third, more + t + pi_low / 4, more)
        t = t_high
    return k.select(swap, pi / 2 - (t - (pi_low / 2 - more)), t + more)


@FUNCTIONS.add("atan")
def atan(k: Kit, x: Value) -> Value:
    return k.copysign(_arctan(k, k.abs(x), k.lift(1.0)), x)


@FUNCTIONS.add("atan2", args=2)
def atan2(k: Kit, y: Value, x: Value) -> Value:
    a, b = k.abs(y), k.abs(x)
    if k.real is F64:  # the sum of both in _arctan must not overflow
        huge = (a > 2.0**1000) | (b > 2.0**1000)
        a, b = k.select(huge, a * 0.25, a), k.select(huge, b * 0.25, b)
    equal = a.eq(b) & (a.eq(0.0) | a.eq(INF))  # 0/0 is to be 0, inf/inf 1
    a, b = k.select(equal & (a > 0.0), 1.0, a), k.select(equal, 1.0, b)
    r = _arctan(k, a, b)
    pi, pi_low = _PI[k.real.name]
    return k.copysign(k.select((k.bits(x) & k.real.sign).ne(0), pi - (r - pi_low), r), y)
