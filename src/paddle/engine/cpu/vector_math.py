"""Mathematical functions as LLVM text: scalar, without branches, so that loops around them vectorize.

`define` gives functions `@pd.<name>.<f32|f64>` that LLVM inlines; a loop over them becomes vectors of whatever width
the target has. They call nothing but intrinsics that are instructions, read no tables, and treat infinities, NaN,
subnormals and the sign of zero as C99 says. Their errors stand in `ULP` and, with how they were measured, in
docs/vector-math.md.

Coefficients are minimax fits (Remez exchange in 50 digits, weighted for the relative error of the function, then
rounded one after the other with a new fit of the rest), from the constant term up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from .half_floats import CONVERSIONS, half_function
from .ssa import F64, Features, Kit, Value

__all__ = ["ANGLE_LIMIT", "ULP", "define", "names"]

# Greatest error in units in the last place, (float32, float64).
# sin, cos, tan: up to ANGLE_LIMIT; lgamma: for x > 0, below that the error is absolute.
ULP: dict[str, tuple[float, float]] = {
    "exp": (1.25, 1.25), "exp2": (1.25, 1.5), "expm1": (1.5, 2.25), "log": (1, 1), "log2": (1.75, 1), "log10": (1.75, 1),
    "log1p": (1.75, 1.5), "sqrt": (0.5, 0.5), "rsqrt": (1.5, 1.5), "sin": (1.75, 1.75), "cos": (1.75, 2.5),
    "tan": (2, 4), "asin": (2, 2), "acos": (1.5, 1.5), "atan": (1.5, 2.5), "atan2": (2, 2.5), "sinh": (2, 2),
    "cosh": (1.5, 1.5), "tanh": (1.75, 2), "asinh": (0.75, 2), "acosh": (0.75, 3), "atanh": (0.75, 2),
    "erf": (1.75, 2), "lgamma": (0.75, 5), "pow": (0.75, 1.5),
}  # fmt: skip

# Greater angles are taken for 0, so that the results stay bounded.
ANGLE_LIMIT = 2.0**48

_INF = math.inf
_NAN = math.nan
_LOG2E = 1.4426950408889634
_LN2 = {"f32": (0.693115234375, 3.194618329871446e-05), "f64": (0.6931471805598903, 5.497923018708371e-14)}
_SQRT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}
_PI = {"f32": (3.1415927410125732, -8.742277657347586e-08), "f64": (3.141592653589793, 1.2246467991473532e-16)}
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_builders: dict[str, tuple[Callable[..., Value], int, bool]] = {}


def _function(name: str, args: int = 1, wide: bool = False) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Registers the builder of a function. `wide`: for float32 it computes in float64, and the result is rounded."""

    def register(build: Callable[..., Value]) -> Callable[..., Value]:
        _builders[name] = (build, args, wide)
        return build

    return register


# ---- exponentials -----------------------------------------------------------------------------
# e^r = 1 + r + r^2 P(r) for |r| <= ln(2)/2
_EXP = {
    "f32": (0.4999999403953552, 0.1666651964187622, 0.04166824743151665, 0.00836884044110775, 0.001382266404107213),
    "f64": (
        0.5000000000000011, 0.16666666666666408, 0.0416666666665285, 0.008333333333496987, 0.001388888894416297,
        0.00019841269502451783, 2.4801492465559094e-05, 2.7557588771334083e-06, 2.7630499011986326e-07,
        2.4999727032457923e-08,
    ),
}  # fmt: skip
# the same, fitted for e^r - 1
_EXPM1 = {
    "f32": (0.5, 0.1666666567325592, 0.04166647791862488, 0.008333566598594189, 0.001393372775055468,
            0.00019743561279028654),
    "f64": (
        0.5, 0.16666666666666677, 0.041666666666666505, 0.008333333333321511, 0.0013888888888963441,
        0.00019841269886481638, 2.4801587171196256e-05, 2.7557243800085483e-06, 2.7557403146038415e-07,
        2.5109196490151242e-08, 2.0875368676426725e-09,
    ),
}  # fmt: skip
# (2^r - 1) / r for |r| <= 1/2
_EXP2 = {
    "f32": (0.6931471824645996, 0.24022644758224487, 0.05550358444452286, 0.009618831798434258, 0.0013391519896686077,
            0.0001524255785625428),
    "f64": (
        0.6931471805599453, 0.24022650695910133, 0.05550410866482006, 0.00961812910759357, 0.0013333558146780148,
        0.0001540353045787577, 1.5252733489392934e-05, 1.3215434871156916e-06, 1.0178200484707664e-07,
        7.073858508789448e-09, 4.434727119134114e-10,
    ),
}  # fmt: skip
# Arguments beyond which exp is 0 and infinity.
_EXP_RANGE = {"f32": (-104.0, 89.0), "f64": (-746.0, 710.0)}


def _split_exp(k: Kit, x: Value) -> tuple[Value, Value, Value]:
    """x = n ln 2 + r: the sum whose low bits are n, n, r."""
    t = k.fma(x, _LOG2E, k.real.magic)
    n = t - k.real.magic
    high, low = _LN2[k.real.name]
    return t, n, k.fma(n, -low, k.fma(n, -high, x))  # n * high is exact


def _scale(k: Kit, p: Value, n: Value, bits: Value) -> Value:
    """p 2^n for the n in the low bits of `bits`: in two steps, so that only the result under- or overflows."""
    half = k.bits(k.fma(n, 0.5, k.real.magic)) << k.real.digits
    rest = (bits << k.real.digits) - half
    return p * k.number(half + k.real.one) * k.number(rest + k.real.one)


def _exp(k: Kit, x: Value, halvings: int = 0) -> Value:
    """e^x / 2^halvings for x in `_EXP_RANGE`."""
    t, n, r = _split_exp(k, x)
    p = k.fma(r * r, k.polynomial(r, _EXP[k.real.name]), r) + 1.0
    return _scale(k, p, n, k.bits(t) - halvings if halvings else k.bits(t))


@_function("exp")
def exp(k: Kit, x: Value) -> Value:
    low, high = _EXP_RANGE[k.real.name]
    return _exp(k, k.at_most(k.at_least(x, low), high))


@_function("exp2")
def exp2(k: Kit, x: Value) -> Value:
    low, high = (-151.0, 129.0) if k.real.name == "f32" else (-1076.0, 1025.0)
    x = k.at_most(k.at_least(x, low), high)
    t = x + k.real.magic
    n = t - k.real.magic
    r = x - n
    return _scale(k, k.fma(r, k.polynomial(r, _EXP2[k.real.name]), 1.0), n, k.bits(t))


@_function("expm1")
def expm1(k: Kit, x: Value) -> Value:
    """2^n (e^r - 1) + (2^n - 1), with 2^(n-1) in place of 2^n, which overflows too early."""
    t, _, r = _split_exp(k, k.at_most(k.at_least(x, -44.0), _EXP_RANGE[k.real.name][1]))
    s = k.number((k.bits(t) << k.real.digits) + (k.real.one - (1 << k.real.digits)))
    y = k.fma(k.fma(r * r, k.polynomial(r, _EXPM1[k.real.name]), r), s, s - 0.5)
    return k.copysign(y + y, x)


# (tanh x - x) / x^3 in x^2, for |x| <= 0.55
_TANH = {
    "f32": (-0.3333331346511841, 0.1333245038986206, -0.05383799597620964, 0.02101188153028488, -0.0061881812289357185),
    "f64": (
        -0.3333333333333332, 0.1333333333332821, -0.053968253964096775, 0.021869488384680856, -0.008863232457878898,
        0.0035920896431613555, -0.0014555227718171596, 0.0005883463284578757, -0.00023309914959504107,
        8.287231858573249e-05, -1.919979196337855e-05,
    ),
}  # fmt: skip


@_function("tanh")
def tanh(k: Kit, x: Value) -> Value:
    a = k.at_most(k.abs(x), 10.0 if k.real.name == "f32" else 20.0)
    t, _, r = _split_exp(k, a + a)
    e = k.polynomial(r, (1.0, 1.0, *_EXP[k.real.name])) * k.number((k.bits(t) << k.real.digits) + k.real.one)
    z = a * a
    small = k.fma(a * z, k.polynomial(z, _TANH[k.real.name]), a)
    return k.copysign(k.select(a < 0.55, small, 1.0 - 2.0 / (e + 1.0)), x)


# (sinh x - x) / x^3 in x^2, for |x| <= 1
_SINH = {
    "f32": (0.1666666716337204, 0.008333312347531319, 0.00019842320762109011, 2.786330014714622e-06),
    "f64": (
        0.16666666666666669, 0.008333333333332915, 0.00019841269841588954, 2.75573191087094e-06,
        2.5052130615574163e-08, 1.605669380235407e-10, 7.77542482976726e-13,
    ),
}  # fmt: skip


@_function("sinh")
def sinh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    h = _exp(k, k.at_most(a, _EXP_RANGE[k.real.name][1] + 1), halvings=1)
    z = a * a
    small = k.fma(a * z, k.polynomial(z, _SINH[k.real.name]), a)
    return k.copysign(k.select(a < 1.0, small, h - 0.25 / h), x)


@_function("cosh")
def cosh(k: Kit, x: Value) -> Value:
    h = _exp(k, k.at_most(k.abs(x), _EXP_RANGE[k.real.name][1] + 1), halvings=1)
    return h + 0.25 / h


# ---- logarithms -------------------------------------------------------------------------------
# (log_b(1 + f) - f / ln b) / f^2 for 1 + f between the roots of 1/2 and 2, by base
_LOG_F32 = {
    0: (-0.49999988079071045, 0.33333325386047363, -0.2500160336494446, 0.20002007484436035, -0.16608664393424988,
        0.14180944859981537, -0.13245369493961334, 0.12910878658294678, -0.07624094933271408),
    2: (-0.7213473320007324, 0.4808982014656067, -0.3606978952884674, 0.2885702848434448, -0.23959529399871826,
        0.20453880727291107, -0.1911611407995224, 0.18657317757606506, -0.11021073907613754),
    10: (-0.21714718639850616, 0.14476479589939117, -0.10858075320720673, 0.086867555975914, -0.0721273124217987,
         0.061586301773786545, -0.057545389980077744, 0.05608344078063965, -0.033079590648412704),
}  # fmt: skip
# (2 atanh(s) - 2 s) / s^3 in s^2, for s = f / (2 + f)
_LOG_F64 = (0.666666666666674, 0.39999999999376606, 0.28571428751631506, 0.22222197551389897, 0.18183620965360836,
            0.1531251670619154, 0.14812096421846932)  # fmt: skip
# 1 / ln b and log_b 2, each in two parts of which the first has trailing zeros (1 / ln b in float32: has not)
_BASE = {
    ("f32", 2): ((1.4426950216293335, 1.925963033500011e-08), (1.0, 0.0)),
    ("f64", 2): ((1.4426950407214463, 1.6751713164886512e-10), (1.0, 0.0)),
    ("f32", 10): ((0.4342944920063019, -1.0103049952192578e-08), (0.301025390625, 4.605039066518657e-06)),
    ("f64", 10): ((0.4342944818781689, 2.5082946711645275e-11), (0.30102999566395283, 2.8363394551044964e-14)),
}  # fmt: skip


def _split_log(k: Kit, x: Value) -> tuple[Value, Value]:
    """x = 2^e (1 + f), 1 + f between the roots of 1/2 and 2, for x > 0: f and e."""
    r = k.real
    small = x < r.tiny
    n = k.bits(k.select(small, x * 2.0 ** (r.digits + 1), x)) + (r.one - _SQRT_HALF[r.name])
    # The biased exponent, put into the fraction of 2^digits, is a float without a conversion.
    e = k.number((n >> r.digits) | r.bits(2.0**r.digits))
    bias = 2.0**r.digits + r.bias
    e = e - k.select(small, bias + r.digits + 1, bias)
    return k.number((n & r.fraction) + _SQRT_HALF[r.name]) - 1.0, e


def _log_ends(k: Kit, x: Value, y: Value) -> Value:
    """y, with what a logarithm is for infinity, NaN, zero and below."""
    y = k.select(x < _INF, y, x)
    return k.select(x <= 0.0, k.select(x < 0.0, _NAN, -_INF), y)


def _log_terms(k: Kit, f: Value) -> tuple[Value, Value]:
    """log(1 + f) = f + second: f^2 / 2 and second."""
    half = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    return half, s * (half + z * k.polynomial(z, _LOG_F64)) - half


def _log_sum(k: Kit, f: Value, e: Value) -> Value:
    """log(1 + f) + e ln 2"""
    high, low = _LN2[k.real.name]
    if k.real is F64:
        _, second = _log_terms(k, f)
    else:
        second = f * f * k.polynomial(f, _LOG_F32[0])
    return k.fma(e, high, f + k.fma(e, low, second))


@_function("log")
def log(k: Kit, x: Value) -> Value:
    return _log_ends(k, x, _log_sum(k, *_split_log(k, x)))


def _log_to(k: Kit, x: Value, base: int) -> Value:
    (by, by_low), (two, two_low) = _BASE[k.real.name, base]
    f, e = _split_log(k, x)
    if k.real is F64:
        half, second = _log_terms(k, f)
        high = k.number(k.bits(f - half) & ~0xFFFFFFFF)  # so short that its products below are exact
        low = (f - high) + second
        first, rest = high * by, k.fma(low, by + by_low, high * by_low)
        whole = e * two
        total = whole + first
        return _log_ends(k, x, total + (k.fma(e, two_low, rest) + ((whole - total) + first)))
    y = k.fma(f, by, k.fma(f, by_low, f * f * k.polynomial(f, _LOG_F32[base])))
    return _log_ends(k, x, k.fma(e, two, k.fma(e, two_low, y)) if two_low else e + y)


@_function("log2")
def log2(k: Kit, x: Value) -> Value:
    return _log_to(k, x, 2)


@_function("log10")
def log10(k: Kit, x: Value) -> Value:
    return _log_to(k, x, 10)


def _log1p(k: Kit, x: Value) -> Value:
    """e from 1 + x as rounded, and 1 + f = (1 + x) / 2^e without that rounding."""
    r = k.real
    u = x + 1.0
    n = k.bits(u) + (r.one - _SQRT_HALF[r.name])
    e = k.number((n >> r.digits) | r.bits(2.0**r.digits)) - (2.0**r.digits + r.bias)
    s = k.number((2 * r.bias << r.digits) - (n & ~r.fraction))
    plain = k.number((n & r.fraction) + _SQRT_HALF[r.name]) - 1.0
    f = k.select(x < 2.0 ** (r.digits + 8), k.fma(x, s, s - 1.0), plain)  # s vanishes for the greatest x
    return _log_ends(k, u, _log_sum(k, f, e))


@_function("log1p")
def log1p(k: Kit, x: Value) -> Value:
    return k.copysign(_log1p(k, x), x)


@_function("asinh", wide=True)
def asinh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    big = a > 2.0**54
    z = a * a
    y = _log1p(k, k.select(big, a, a + z / (k.sqrt(z + 1.0) + 1.0)))
    return k.copysign(k.select(big, y + math.log(2), y), x)


@_function("acosh", wide=True)
def acosh(k: Kit, x: Value) -> Value:
    big = x > 2.0**28
    t = x - 1.0
    y = _log1p(k, k.select(big, t, t + k.sqrt(t * (t + 2.0))))
    return k.select(x < 1.0, _NAN, k.select(big, y + math.log(2), y))


@_function("atanh", wide=True)
def atanh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    return k.copysign(_log1p(k, (a + a) / (1.0 - a)) * 0.5, x)


# ---- powers -----------------------------------------------------------------------------------
@_function("sqrt")
def sqrt(k: Kit, x: Value) -> Value:
    return k.sqrt(x)


@_function("rsqrt")
def rsqrt(k: Kit, x: Value) -> Value:
    return 1.0 / k.sqrt(x)


# log2(1 + f) / f to 2^-36, and 2^r to 2^-29: enough for float32 results computed in float64
_LOG2_POW = (
    1.4426950408685855, -0.7213475208718838, 0.48089836147542, -0.36067367434546627, 0.28853728563531594,
    -0.24045318300471522, 0.2061756299684819, -0.18030049080452495, 0.1587659439884092, -0.1431538509619732,
    0.14476806128784325, -0.14286602713153354, 0.0773676932551017,
)  # fmt: skip
_EXP2_POW = (1.0000000005631373, 0.6931472060362519, 0.24022646844074738, 0.05550328125060941, 0.00961849192484846,
             0.0013400195169349755, 0.00015345558383835014)  # fmt: skip
# (2 atanh(s) - 2 s - 2/3 s^3) / s^5 in s^2
_LOG_TAIL = (0.4000000000000003, 0.28571428571331964, 0.22222222273999867, 0.1818180778401763, 0.1538560798472984,
             0.13284871043828198, 0.1292686317082993)  # fmt: skip


def _pow_f32(k: Kit, a: Value, y: Value) -> Value:
    """a^y for a >= 0, by 2^(y log2 a) in float64."""
    w = k.wide()
    f, e = (k.convert(v, "fpext", "double") for v in _split_log(k, a))
    log = k.fma(f, k.polynomial(f, _LOG2_POW), e)
    log = w.select(k.convert(a, "fpext", "double") < _INF, log, k.convert(a, "fpext", "double"))
    v = k.convert(y, "fpext", "double") * w.select(a.eq(0.0), -_INF, log)
    v = w.at_most(w.at_least(w.select(a.eq(1.0), 0.0, v), -200.0), 200.0)
    t = v + w.real.magic
    p = w.polynomial(v - (t - w.real.magic), _EXP2_POW)
    return k.convert(p * w.number((w.bits(t) << 52) + F64.one), "fptrunc", "float")


def _log_double(k: Kit, f: Value, e: Value) -> tuple[Value, Value]:
    """log(1 + f) + e ln 2 as a sum of two numbers, to about 2^-66 of itself."""
    d = f + 2.0
    s = f / d
    s_low = (k.minus_product(f, s, d) - s * (f - (d - 2.0))) / d
    z, z_low = k.exact_product(s, s)
    z_low = k.fma(s + s, s_low, z_low)
    tail = z * k.polynomial(z, _LOG_TAIL)
    c = tail + 2 / 3
    c_low = (2 / 3 - c) + tail + 3.700743415417188e-17
    zc, zc_low = k.exact_product(z, c)
    zc_low = k.fma(z, c_low, k.fma(z_low, c, zc_low))
    u, u_low = k.exact_product(zc, s)
    u_low = k.fma(zc, s_low, k.fma(zc_low, s, u_low))
    twice = s + s
    high = twice + u
    low = ((twice - high) + u) + k.fma(s_low, 2.0, u_low)
    whole = e * _LN2["f64"][0]
    total = whole + high
    return total, ((whole - total) + high) + k.fma(e, _LN2["f64"][1], low)


def _pow_f64(k: Kit, a: Value, y: Value) -> Value:
    """a^y for a >= 0, by e^(y log a) with the logarithm and the product as sums of two numbers."""
    log, log_low = _log_double(k, *_split_log(k, a))
    log = k.select(a < _INF, log, a)
    log = k.select(a.eq(0.0), -_INF, log)
    v, v_low = k.exact_product(log, y)
    v_low = k.fma(y, log_low, v_low)
    v_low = k.select(k.abs(v) < 800.0, v_low, 0.0)
    v = k.at_most(k.at_least(k.select(a.eq(1.0), 0.0, v), -746.0), 710.0)
    t, n, _ = _split_exp(k, v)
    high, low = _LN2["f64"]
    r = k.fma(n, -low, k.fma(n, -high, v)) + k.select(a.eq(1.0), 0.0, v_low)
    p = k.fma(r * r, k.polynomial(r, _EXP["f64"]), r) + 1.0
    return _scale(k, p, n, k.bits(t))


@_function("pow", args=2)
def pow_(k: Kit, x: Value, y: Value) -> Value:
    a = k.abs(x)
    out = (_pow_f64 if k.real is F64 else _pow_f32)(k, a, y)
    half = y * 0.5
    whole = k.trunc(y).eq(y)
    odd = whole & k.trunc(half).ne(half)
    flip = k.select(odd, k.bits(x) & k.real.sign, 0)
    out = k.number(k.bits(out) ^ flip)
    out = k.select((x < 0.0) & (x > -_INF) & ~whole, _NAN, out)
    return k.select(y.eq(0.0) | x.eq(1.0), 1.0, out)


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


@_function("sin")
def sin(k: Kit, x: Value) -> Value:
    r, low, q = _reduce_angle(k, k.abs(x))
    s, c = _sin_cos(k, r, low)
    flip = ((q << (_top(k) - 1)) ^ k.bits(x)) & k.real.sign
    return k.number(k.bits(k.select((q & 1).eq(0), s, c)) ^ flip)


@_function("cos")
def cos(k: Kit, x: Value) -> Value:
    r, low, q = _reduce_angle(k, k.abs(x))
    s, c = _sin_cos(k, r, low)
    flip = ((q + 1) << (_top(k) - 1)) & k.real.sign
    return k.number(k.bits(k.select((q & 1).eq(0), c, s)) ^ flip)


@_function("tan")
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


@_function("asin")
def asin(k: Kit, x: Value) -> Value:
    big, u, more = _asin_half(k, x)
    pi, pi_low = _PI[k.real.name]
    # pi/2 - 2 asin(u) = pi/4 - (2 u - pi/4) - ..., of which the difference is exact near 1/2
    top = pi / 2 - ((u + u) - k.fma(more, -2.0, pi_low / 2))
    return k.copysign(k.select(big, top, u + more), x)


@_function("acos")
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


@_function("atan")
def atan(k: Kit, x: Value) -> Value:
    return k.copysign(_arctan(k, k.abs(x), k.lift(1.0)), x)


@_function("atan2", args=2)
def atan2(k: Kit, y: Value, x: Value) -> Value:
    a, b = k.abs(y), k.abs(x)
    if k.real is F64:  # the sum of both in _arctan must not overflow
        huge = (a > 2.0**1000) | (b > 2.0**1000)
        a, b = k.select(huge, a * 0.25, a), k.select(huge, b * 0.25, b)
    equal = a.eq(b) & (a.eq(0.0) | a.eq(_INF))  # 0/0 is to be 0, inf/inf 1
    a, b = k.select(equal & (a > 0.0), 1.0, a), k.select(equal, 1.0, b)
    r = _arctan(k, a, b)
    pi, pi_low = _PI[k.real.name]
    return k.copysign(k.select((k.bits(x) & k.real.sign).ne(0), pi - (r - pi_low), r), y)


# ---- error and gamma functions ----------------------------------------------------------------
# erf(x) / x - 1 in x^2, for |x| <= 1
_ERF = {
    "f32": (0.12837916612625122, -0.3761262595653534, 0.1128358319401741, -0.026853691786527634, 0.005188074428588152,
            -0.0008007889264263213, 7.846172957215458e-05),
    "f64": (
        0.12837916709551256, -0.3761263890318352, 0.11283791670944185, -0.02686617064311144, 0.005223977606118201,
        -0.0008548325929299106, 0.00012055293576377275, -1.4924712290816286e-05, 1.6447131419811136e-06,
        -1.6206312501557555e-07, 1.3710974567312202e-08, -7.779456921831154e-10,
    ),
}  # fmt: skip
# 1 - erf(x) in x - 2.5, for 1 <= x <= 3.92; beyond, erf is 1 in float32
_ERFC_F32 = (
    0.00040693164919503033, -0.0021780801471322775, 0.005446652416139841, -0.008353237062692642, 0.00861531775444746,
    -0.006103243678808212, 0.0028181772213429213, -0.0005703738424926996, -0.0002865102142095566,
    0.00027890224009752274, -6.188567203935236e-05, -2.104098348354455e-05, 9.124307325691916e-06,
)  # fmt: skip
# (1 - erf(x)) e^(x^2) as a quotient, for 1 <= x <= 6
_ERFCX = (
    (0.9999999923438452, 1.845175363035747, 1.6790005443212481, 0.9460071040062901, 0.3530718584110343,
     0.08731852481693902, 0.013378072338425475, 0.0010078697024301579),
    (1.0, 2.9735544465602497, 4.034297873170679, 3.27692162475695, 1.7532523161795446, 0.6376590101100985,
     0.15566128765315043, 0.02371201478619152, 0.0017864025521911245),
)  # fmt: skip


@_function("erf")
def erf(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    small = k.fma(a, k.polynomial(a * a, _ERF[k.real.name]), a)
    if k.real is F64:
        b = k.at_most(a, 6.5)
        tail = 1.0 - _exp(k, -(b * b)) * (k.polynomial(b, _ERFCX[0]) / k.polynomial(b, _ERFCX[1]))
    else:
        tail = k.select(a > 3.92, 1.0, 1.0 - k.polynomial(a - 2.5, _ERFC_F32))
    return k.copysign(k.select(a < 1.0, small, tail), x)


# lgamma(2 + z) / z for |z| <= 1/2
_LGAMMA = (
    0.42278433509846713, 0.3224670334241133, -0.06735230105319576, 0.020580808427765978, -0.0073855510289261945,
    0.002890510331841671, -0.0011927539012940606, 0.0005096694951021972, -0.00022315497286529333,
    9.945794438863337e-05, -4.4923766407076986e-05, 2.050354230085621e-05, -9.456106625023795e-06,
    4.393527725601338e-06, -1.974754339145406e-06, 8.998881113916845e-07, -5.806880935742341e-07,
    2.977158858573253e-07,
)  # fmt: skip
# (lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) x in 1 / x^2, for x >= 8
_STIRLING = (0.08333333333333333, -0.0027777777777740994, 0.0007936507898352744, -0.0005952366070732767,
             0.0008414728651364523, -0.0018905408926090902, 0.00506926968010596)  # fmt: skip
# sin(pi f) / f in f^2, for |f| <= 1/2
_SIN_PI = (
    3.141592653589793, -5.167712780049969, 2.550164039877294, -0.5992645293187332, 0.08214588656980903,
    -0.007370430478007297, 0.0004662996850033915, -2.1903175646964005e-05, 7.694624628576092e-07,
)  # fmt: skip


def _lgamma_positive(k: Kit, x: Value) -> Value:
    """Stirling's series from 8 on; below, lgamma near 2 and the logarithm of the product of the steps there."""
    great = x >= 8.0
    y, product = x, k.lift(1.0)
    for _ in range(6):
        more = y >= 2.5
        y = k.select(more, y - 1.0, y)
        product = k.select(more, product * y, product)
    low, lower = x < 1.5, x < 0.5
    product = k.select(low, k.select(lower, x * (x + 1.0), x), product)
    z = k.select(lower, x, k.select(low, x - 1.0, y - 2.0))
    near = z * k.polynomial(z, _LGAMMA)
    argument = k.select(great, x, product)
    log = _log_ends(k, argument, _log_sum(k, *_split_log(k, argument)))
    over = 1.0 / x
    series = over * k.polynomial(over * over, _STIRLING)
    far = (x - 0.5) * (log - 1.0) + (series + 0.4189385332046727)  # log(2 pi) / 2 - 1/2
    return k.select(great, far, k.select(low, near - log, near + log))


@_function("lgamma", wide=True)
def lgamma(k: Kit, x: Value) -> Value:
    """For x < 0 by reflection: log(pi / |x sin(pi x)|) - lgamma(|x|)."""
    a = k.abs(x)
    positive = k.select(a < _INF, _lgamma_positive(k, a), a)
    f = a - k.round(a)
    s = k.abs(f) * k.polynomial(f * f, _SIN_PI)
    reflected = (1.1447298858494002 - _log_sum(k, *_split_log(k, a * s))) - positive  # log(pi)
    reflected = k.select(a < 2.0**-60, positive, reflected)  # there a * s would underflow
    reflected = k.select(s.eq(0.0) | a.eq(_INF), _INF, reflected)
    return k.select(x < 0.0, reflected, positive)


# ---- rounding, choice, division ---------------------------------------------------------------
_builders["floor"] = (Kit.floor, 1, False)
_builders["ceil"] = (Kit.ceil, 1, False)
_builders["trunc"] = (Kit.trunc, 1, False)
_builders["round"] = (Kit.round, 1, False)


@_function("isnan")
def isnan(k: Kit, x: Value) -> Value:
    return x.ne(x)


@_function("isinf")
def isinf(k: Kit, x: Value) -> Value:
    return k.abs(x).eq(_INF)


@_function("isfinite")
def isfinite(k: Kit, x: Value) -> Value:
    return k.abs(x) < _INF


@_function("max", args=2)
def max_(k: Kit, x: Value, y: Value) -> Value:
    """NaN where either is NaN."""
    return k.select(x.ne(x), x, k.select(x > y, x, y))


@_function("min", args=2)
def min_(k: Kit, x: Value, y: Value) -> Value:
    """NaN where either is NaN."""
    return k.select(x.ne(x), x, k.select(x < y, x, y))


def _fmod(k: Kit, x: Value, y: Value) -> Value:
    """x - y trunc(x / y), exact for quotients below 2^100; beyond, 0.

    Each step takes the leading digits of the quotient away, with an exact remainder.
    """
    w, a, b = k.wide(), k.abs(x), k.abs(y)
    if k.real is not F64:
        a, b = (k.convert(v, "fpext", "double") for v in (a, b))
    c, d, huge = a, b, None
    if k.real is F64 and not k.has.fma:  # room for the halves of an exact product
        huge = b > 2.0**900
        c, d = k.select(huge, a * 2.0**-200, a), k.select(huge, b * 2.0**-200, b)
    r = c
    for _ in range(2 if k.real is F64 else 3):
        q = w.trunc(w.at_most(r / d, 2.0**960))
        r = w.minus_product(r, q, d)
    r = w.select(r < 0.0, r + d, r)
    r = w.select(r >= d, r - d, r)
    r = w.select((r >= 0.0) & (r < d), r, 0.0)
    r = r if huge is None else w.select(huge, r * 2.0**200, r)
    r = w.select(a < b, a, r)
    r = w.select((a < _INF) & (b > 0.0), r, _NAN)
    return k.copysign(r if k.real is F64 else k.convert(r, "fptrunc", "float"), x)


def _divmod(k: Kit, x: Value, y: Value) -> tuple[Value, Value]:
    """Quotient and remainder as numpy's: the remainder has the sign of y."""
    r = _fmod(k, x, y)
    wrong = r.ne(0.0) & ((r < 0.0) ^ (y < 0.0))
    q = (x - r) / y
    q = k.select(wrong, q - 1.0, q)
    whole = k.floor(q)
    whole = k.select(q - whole > 0.5, whole + 1.0, whole)
    whole = k.select(q.eq(0.0), k.copysign(0.0, x / y), whole)
    r = k.select(r.eq(0.0), k.copysign(0.0, y), k.select(wrong, r + y, r))
    return k.select(y.eq(0.0), x / y, whole), r


@_function("floordiv", args=2)
def floordiv(k: Kit, x: Value, y: Value) -> Value:
    return _divmod(k, x, y)[0]


@_function("mod", args=2)
def mod(k: Kit, x: Value, y: Value) -> Value:
    return _divmod(k, x, y)[1]


# ---- the text ---------------------------------------------------------------------------------
def names() -> list[str]:
    """All that `define` knows, such as "exp.f32" and "f16_to_f32"."""
    return sorted([*(f"{n}.{t}" for n in _builders for t in ("f32", "f64")), *CONVERSIONS])


def define(wanted: Collection[str], features: Collection[str] | None = None) -> str:
    """LLVM text of functions and of the intrinsics that they use.

    Args:
        wanted (Collection[str]): such as {"exp.f32", "f32_to_bf16"}; see `names`.
        features (Collection[str], optional): what the target has, in LLVM's words, of sse4.1, fma, f16c, avx512f, neon,
            simd128; others do not matter. Default: those of the target of code generation.

    Returns:
        str: `declare` lines, then one `define internal ... alwaysinline` for each name, in order.

    Examples:
        >>> from paddle.engine.cpu.vector_math import define
        >>> print(define({"isinf.f32"}))
        declare float @llvm.fabs.f32(float)
        define internal i1 @pd.isinf.f32(float %x) alwaysinline nounwind willreturn memory(none) {
          %v0 = call float @llvm.fabs.f32(float %x)
          %v1 = fcmp oeq float %v0, 0x7FF0000000000000
          ret i1 %v1
        }
        <BLANKLINE>
    """
    if features is None:
        from .jit import has as present

        features = [f for f in ("sse4.1", "fma", "f16c", "avx512f", "neon") if present(f)]
    has = Features.of(features)
    declared: set[str] = set()
    texts = [_text(name, has, declared) for name in sorted(wanted)]
    return "\n".join([*sorted(declared), *texts]) + "\n"


def _text(name: str, has: Features, declared: set[str]) -> str:
    if name in CONVERSIONS:
        k = Kit("f32", has, declared=declared)
        arguments, result = half_function(name, k)
    else:
        plain, type = name.rsplit(".", 1)
        build, count, wide = _builders[plain]
        k = Kit(type, has, declared=declared)
        arguments = [k.argument(n) for n in "xy"[:count]]
        if wide and k.real is not F64:
            result = build(k.wide(), *(k.convert(a, "fpext", "double") for a in arguments))
            result = k.convert(result, "fptrunc", k.real.llvm)
        else:
            result = build(k, *arguments)
    head = f"define internal {result.type} @pd.{name}({', '.join(f'{a.type} {a.name}' for a in arguments)})"
    body = "\n".join(k.lines)
    return f"{head} alwaysinline nounwind willreturn memory(none) {{\n{body}\n  ret {result.type} {result.name}\n}}"
