"""The error function and the logarithm of the gamma function for `vector_math`."""

from __future__ import annotations

from .exponential import exp_within, log_ends, log_sum, split_log
from .ssa import F64, INF, Functions, Kit, Value

__all__ = ["FUNCTIONS"]

FUNCTIONS = Functions()


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


@FUNCTIONS.add("erf")
def erf(k: Kit, x: Value) -> Value:
    a = k.abs(x)
    small = k.fma(a, k.polynomial(a * a, _ERF[k.real.name]), a)
    if k.real is F64:
        b = k.at_most(a, 6.5)
        tail = 1.0 - exp_within(k, -(b * b)) * (k.polynomial(b, _ERFCX[0]) / k.polynomial(b, _ERFCX[1]))
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
    log = log_ends(k, argument, log_sum(k, *split_log(k, argument)))
    over = 1.0 / x
    series = over * k.polynomial(over * over, _STIRLING)
    far = (x - 0.5) * (log - 1.0) + (series + 0.4189385332046727)  # log(2 pi) / 2 - 1/2
    return k.select(great, far, k.select(low, near - log, near + log))


@FUNCTIONS.add("lgamma", wide=True)
def lgamma(k: Kit, x: Value) -> Value:
    """For x < 0 by reflection: log(pi / |x sin(pi x)|) - lgamma(|x|)."""
    a = k.abs(x)
    positive = k.select(a < INF, _lgamma_positive(k, a), a)
    f = a - k.round(a)
    s = k.abs(f) * k.polynomial(f * f, _SIN_PI)
    reflected = (1.1447298858494002 - log_sum(k, *split_log(k, a * s))) - positive  # log(pi)
    reflected = k.select(a < 2.0**-60, positive, reflected)  # there a * s would underflow
    reflected = k.select(s.eq(0.0) | a.eq(INF), INF, reflected)
    return k.select(x < 0.0, reflected, positive)
