"""Exponentials, logarithms, hyperbolic functions and powers for `vector_math`."""

from __future__ import annotations

import math

from .ssa import F64, INF, NAN, Functions, Kit, Value

__all__ = ["FUNCTIONS", "exp_down", "exp_within", "log_ends", "log_sum", "split_log"]

FUNCTIONS = Functions()
_LOG2E = 1.4426950408889634
_LN2 = {"f32": (0.693115234375, 3.194618329871446e-05), "f64": (0.6931471805598903, 5.497923018708371e-14)}
_SQRT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


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


def exp_within(k: Kit, x: Value, halvings: int = 0) -> Value:
    """e^x / 2^halvings for x in `_EXP_RANGE`."""
    t, n, r = _split_exp(k, x)
    p = k.fma(r * r, k.polynomial(r, _EXP[k.real.name]), r) + 1.0
    return _scale(k, p, n, k.bits(t) - halvings if halvings else k.bits(t))


@FUNCTIONS.add("exp")
def exp(k: Kit, x: Value) -> Value:
    low, high = _EXP_RANGE[k.real.name]
    return exp_within(k, k.at_most(k.at_least(x, low), high))


def exp_down(k: Kit, x: Value) -> Value:
    """e^x for x <= 0, or a little more; 0 where that is no normal number."""
    t, _, r = _split_exp(k, x)
    p = k.fma(r * r, k.polynomial(r, _EXP[k.real.name]), r) + 1.0
    return k.select(x < math.log(k.real.tiny) + 1, 0.0, p * k.number((k.bits(t) << k.real.digits) + k.real.one))


@FUNCTIONS.add("exp2")
def exp2(k: Kit, x: Value) -> Value:
    low, high = (-151.0, 129.0) if k.real.name == "f32" else (-1076.0, 1025.0)
    x = k.at_most(k.at_least(x, low), high)
    t = x + k.real.magic
    n = t - k.real.magic
    r = x - n
    return _scale(k, k.fma(r, k.polynomial(r, _EXP2[k.real.name]), 1.0), n, k.bits(t))


@FUNCTIONS.add("expm1")
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


@FUNCTIONS.add("tanh")
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


@FUNCTIONS.add("sinh")
def sinh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    h = exp_within(k, k.at_most(a, _EXP_RANGE[k.real.name][1] + 1), halvings=1)
    z = a * a
    small = k.fma(a * z, k.polynomial(z, _SINH[k.real.name]), a)
    return k.copysign(k.select(a < 1.0, small, h - 0.25 / h), x)


@FUNCTIONS.add("cosh")
def cosh(k: Kit, x: Value) -> Value:
    h = exp_within(k, k.at_most(k.abs(x), _EXP_RANGE[k.real.name][1] + 1), halvings=1)
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


def split_log(k: Kit, x: Value) -> tuple[Value, Value]:
    """x = 2^e (1 + f), 1 + f between the roots of 1/2 and 2, for x > 0: f and e."""
    r = k.real
    small = x < r.tiny
    n = k.bits(k.select(small, x * 2.0 ** (r.digits + 1), x)) + (r.one - _SQRT_HALF[r.name])
    # The biased exponent, put into the fraction of 2^digits, is a float without a conversion.
    e = k.number((n >> r.digits) | r.bits(2.0**r.digits))
    bias = 2.0**r.digits + r.bias
    e = e - k.select(small, bias + r.digits + 1, bias)
    return k.number((n & r.fraction) + _SQRT_HALF[r.name]) - 1.0, e


def log_ends(k: Kit, x: Value, y: Value) -> Value:
    """y, with what a logarithm is for infinity, NaN, zero and below."""
    y = k.select(x < INF, y, x)
    return k.select(x <= 0.0, k.select(x < 0.0, NAN, -INF), y)


def _log_terms(k: Kit, f: Value) -> tuple[Value, Value]:
    """log(1 + f) = f + second: f^2 / 2 and second."""
    half = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    return half, s * (half + z * k.polynomial(z, _LOG_F64)) - half


def log_sum(k: Kit, f: Value, e: Value) -> Value:
    """log(1 + f) + e ln 2"""
    high, low = _LN2[k.real.name]
    if k.real is F64:
        _, second = _log_terms(k, f)
    else:
        second = f * f * k.polynomial(f, _LOG_F32[0])
    return k.fma(e, high, f + k.fma(e, low, second))


@FUNCTIONS.add("log")
def log(k: Kit, x: Value) -> Value:
    return log_ends(k, x, log_sum(k, *split_log(k, x)))


def _log_to(k: Kit, x: Value, base: int) -> Value:
    (by, by_low), (two, two_low) = _BASE[k.real.name, base]
    f, e = split_log(k, x)
    if k.real is F64:
        half, second = _log_terms(k, f)
        high = k.number(k.bits(f - half) & ~0xFFFFFFFF)  # so short that its products below are exact
        low = (f - high) + second
        first, rest = high * by, k.fma(low, by + by_low, high * by_low)
        whole = e * two
        total = whole + first
        return log_ends(k, x, total + (k.fma(e, two_low, rest) + ((whole - total) + first)))
    y = k.fma(f, by, k.fma(f, by_low, f * f * k.polynomial(f, _LOG_F32[base])))
    return log_ends(k, x, k.fma(e, two, k.fma(e, two_low, y)) if two_low else e + y)


@FUNCTIONS.add("log2")
def log2(k: Kit, x: Value) -> Value:
    return _log_to(k, x, 2)


@FUNCTIONS.add("log10")
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
    return log_ends(k, u, log_sum(k, f, e))


@FUNCTIONS.add("log1p")
def log1p(k: Kit, x: Value) -> Value:
    return k.copysign(_log1p(k, x), x)


@FUNCTIONS.add("asinh", wide=True)
def asinh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    big = a > 2.0**54
    z = a * a
    y = _log1p(k, k.select(big, a, a + z / (k.sqrt(z + 1.0) + 1.0)))
    return k.copysign(k.select(big, y + math.log(2), y), x)


@FUNCTIONS.add("acosh", wide=True)
def acosh(k: Kit, x: Value) -> Value:
    big = x > 2.0**28
    t = x - 1.0
    y = _log1p(k, k.select(big, t, t + k.sqrt(t * (t + 2.0))))
    return k.select(x < 1.0, NAN, k.select(big, y + math.log(2), y))


@FUNCTIONS.add("atanh", wide=True)
def atanh(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    return k.copysign(_log1p(k, (a + a) / (1.0 - a)) * 0.5, x)


# ---- powers -----------------------------------------------------------------------------------
@FUNCTIONS.add("sqrt")
def sqrt(k: Kit, x: Value) -> Value:
    return k.sqrt(x)


@FUNCTIONS.add("rsqrt")
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


def _pow_parts(k: Kit, a: Value, y: Value) -> tuple[Value, Value, Value]:
    """f and e of a, with e such that infinity, NaN and zero have their logarithms; y such that 0 * y is 0."""
    f, e = split_log(k, a)
    e = k.select(a.eq(0.0), -INF, k.select(a < INF, e, a))
    return f, e, k.at_most(k.at_least(y, -(2.0**100)), 2.0**100)  # beyond, every power but 1 is 0 or infinity


def _pow_f32(k: Kit, a: Value, y: Value) -> Value:
    """a^y for a >= 0, by 2^(y log2 a) in float64."""
    w = k.wide()
    f, e, y = (k.convert(v, "fpext", "double") for v in _pow_parts(k, a, y))
    v = y * k.fma(f, k.polynomial(f, _LOG2_POW), e)
    v = w.at_most(w.at_least(v, -200.0), 200.0)
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
    f, e, y = _pow_parts(k, a, y)
    log, log_low = _log_double(k, f, e)
    v, v_low = k.exact_product(log, y)
    v_low = k.select(k.abs(v) < 800.0, k.fma(y, log_low, v_low), 0.0)
    t, n, r = _split_exp(k, k.at_most(k.at_least(v, -746.0), 710.0))
    r = r + v_low
    p = k.fma(r * r, k.polynomial(r, _EXP["f64"]), r) + 1.0
    return _scale(k, p, n, k.bits(t))


@FUNCTIONS.add("pow", args=2)
def pow_(k: Kit, x: Value, y: Value) -> Value:
    a = k.abs(x)
    out = (_pow_f64 if k.real is F64 else _pow_f32)(k, a, y)
    half = y * 0.5
    whole = k.trunc(y).eq(y)
    odd = whole & k.trunc(half).ne(half)
    flip = k.select(odd, k.bits(x) & k.real.sign, 0)
    out = k.number(k.bits(out) ^ flip)
    out = k.select((x < 0.0) & (x > -INF) & ~whole, NAN, out)
    return k.select(y.eq(0.0) | x.eq(1.0), 1.0, out)
