"""Mathematical functions, element by element. Special functions are in special.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument, offending
from ..types import TensorType
from .complex import ToComplex, part_of
from .elementwise import (
    NO_BITS,
    Unary,
    binary,
    cast,
    conj,
    equal,
    exp,
    greater_equal,
    in_the_wider,
    is_number,
    less_equal,
    log,
    not_equal,
    number_type,
    promoted,
    sqrt,
    unary,
)
from .logic import logical_and, logical_or, select
from .number import Number
from .registry import Operator, absent, operator

LOG2, LOG10 = math.log(2.0), math.log(10.0)


ANGLES = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-30, 1e4)  # not too large for compiled code

# ---- trigonometry -----------------------------------------------------------------------------

sin = unary(
    "sin",
    floating=True,
    numpy=np.sin,
    vjp=lambda g, out, x: g * conj(cos(x)),
    loops=lambda k, x: k.sin(x),
    xla=lambda jnp, x: jnp.sin(x),
    special=ANGLES,
)

cos: Operator = unary(
    "cos",
    floating=True,
    numpy=np.cos,
    vjp=lambda g, out, x: -(g * conj(sin(x))),
    loops=lambda k, x: k.cos(x),
    xla=lambda jnp, x: jnp.cos(x),
    special=ANGLES,
)

tan = unary(
    "tan",
    floating=True,
    numpy=np.tan,
    vjp=lambda g, out, x: g * conj(1.0 + out * out),
    loops=lambda k, x: k.tan(x),
    xla=lambda jnp, x: jnp.tan(x),
    low=-1.0,
    high=1.0,
    special=ANGLES,
)

asin = unary(
    "asin",
    floating=True,
    numpy=np.arcsin,
    vjp=lambda g, out, x: g / conj(sqrt(1.0 - x * x)),
    loops=lambda k, x: k.asin(x),
    xla=lambda jnp, x: jnp.arcsin(x),
    low=-0.9,
    high=0.9,
)

acos = unary(
    "acos",
    floating=True,
    numpy=np.arccos,
    vjp=lambda g, out, x: -g / conj(sqrt(1.0 - x * x)),
    loops=lambda k, x: k.acos(x),
    xla=lambda jnp, x: jnp.arccos(x),
    low=-0.9,
    high=0.9,
)

atan = unary(
    "atan",
    floating=True,
    numpy=np.arctan,
    vjp=lambda g, out, x: g / conj(1.0 + x * x),
    loops=lambda k, x: k.atan(x),
    xla=lambda jnp, x: jnp.arctan(x),
)

sinh = unary(
    "sinh",
    floating=True,
    numpy=np.sinh,
    vjp=lambda g, out, x: g * conj(cosh(x)),
    loops=lambda k, x: k.sinh(x),
    xla=lambda jnp, x: jnp.sinh(x),
)

cosh: Operator = unary(
    "cosh",
    floating=True,
    numpy=np.cosh,
    vjp=lambda g, out, x: g * conj(sinh(x)),
    loops=lambda k, x: k.cosh(x),
    xla=lambda jnp, x: jnp.cosh(x),
)

asinh = unary(
    "asinh",
    floating=True,
    numpy=np.arcsinh,
    vjp=lambda g, out, x: g / conj(sqrt(x * x + 1.0)),
    loops=lambda k, x: k.asinh(x),
    xla=lambda jnp, x: jnp.arcsinh(x),
)


def _acosh_vjp(g, out, x):
    if x.type.dtype.is_complex:
        return g / conj(sqrt(x - 1.0) * sqrt(x + 1.0))
    return g / sqrt((x - 1.0) * (x + 1.0))  # finite below -1 too, where the value is NaN, as upstream has it


acosh = unary(
    "acosh",
    floating=True,
    numpy=np.arccosh,
    vjp=_acosh_vjp,
    loops=lambda k, x: k.acosh(x),
    xla=lambda jnp, x: jnp.arccosh(x),
    low=1.1,
    high=4.0,
)

atanh = unary(
    "atanh",
    floating=True,
    numpy=np.arctanh,
    vjp=lambda g, out, x: g / conj(1.0 - x * x),
    loops=lambda k, x: k.atanh(x),
    xla=lambda jnp, x: jnp.arctanh(x),
    low=-0.9,
    high=0.9,
)

# ---- exponentials, logarithms, powers ---------------------------------------------------------

expm1 = unary(
    "expm1",
    floating=True,
    numpy=np.expm1,
    vjp=lambda g, out, x: g * conj(out + 1.0),
    loops=lambda k, x: k.expm1(x),
    xla=lambda jnp, x: jnp.expm1(x),
)

log2 = unary(
    "log2",
    floating=True,
    numpy=np.log2,
    vjp=lambda g, out, x: g / conj(x * LOG2),
    loops=lambda k, x: k.log2(x),
    xla=lambda jnp, x: jnp.log2(x),
    low=0.1,
)

log10 = unary(
    "log10",
    floating=True,
    numpy=np.log10,
    vjp=lambda g, out, x: g / conj(x * LOG10),
    loops=lambda k, x: k.log10(x),
    xla=lambda jnp, x: jnp.log10(x),
    low=0.1,
)

log1p = unary(
    "log1p",
    floating=True,
    numpy=np.log1p,
    vjp=lambda g, out, x: g / conj(x + 1.0),
    loops=lambda k, x: k.log1p(x),
    xla=lambda jnp, x: jnp.log1p(x),
    low=-0.9,
)


def _rsqrt(x):
    return (1 / np.sqrt(x)).astype(x.dtype)


rsqrt = unary(
    "rsqrt",
    floating=True,
    numpy=_rsqrt,
    vjp=lambda g, out, x: g * conj(out * out * out) * -0.5,
    loops=lambda k, x: k.rsqrt(x),
    xla=lambda jnp, x: 1 / jnp.sqrt(x),
    low=0.1,
)

reciprocal = unary(
    "reciprocal",
    floating=True,
    low=0.2,
    numpy=np.reciprocal,
    vjp=lambda g, out, x: -g * conj(out * out),
    loops=lambda k, x: 1 / x,
    xla=lambda jnp, x: 1 / x,
)
square = unary(
    "square",
    numpy=np.square,
    vjp=lambda g, out, x: g * conj(x) * 2.0,
    loops=lambda k, x: x * x,
    xla=lambda jnp, x: x * x,
)


def _int_power(x, y, xp):
    """x ** y for integers: for a negative y what is left of the fraction, 0 unless x is 1 or -1."""
    small = xp.where(x == 1, 1, xp.where(x == -1, xp.where(y % 2 == 0, 1, -1), 0)).astype(x.dtype)
    return xp.where(y < 0, small, xp.power(x, xp.maximum(y, y.dtype.type(0))))


def _power(x, y, xp=np):
    return _int_power(x, y, xp) if x.dtype.kind in "iu" else xp.power(x, y)


def _loop_power(k, x, y):
    if y.op == "const" and x.dtype.kind == "f" and y.attr in (0.5, 1.0, 2.0, 3.0, -1.0):
        return {0.5: lambda: k.sqrt(x), 1.0: lambda: x, 2.0: lambda: x * x, 3.0: lambda: x * x * x,
                -1.0: lambda: 1 / x}[y.attr]()  # fmt: skip
    if x.dtype.kind != "i":
        return k.pow(x, y)
    small = k.where(x.eq(1), 1, k.where(x.eq(-1), k.where((y & 1).eq(0), k.const(1, x.dtype), -1), 0))
    return k.where(y < 0, small, k.pow(x, k.max(y, 0)))


def _power_slopes(g, out, x, y):
    if isinstance(x, Number):  # then only the exponent varies
        if not x.value and not out.dtype.is_complex:
            return None, g * select(equal(out, math.inf), -math.inf, out * 0.0)
        return None, g * conj(out) * (math.log(x.value) if x.value else 0.0)
    if isinstance(y, Number):
        return (g * conj(power(x, y.value - 1) * y.value) if y.value else g * 0.0), None
    dx = select(equal(y, 0), 0, y * power(x, y - 1.0))
    at_zero: Any = 0
    if not out.dtype.is_complex:  # 0 ** y is 0 or infinite, and the log -inf
        at_zero = select(greater_equal(y, 0), 0, select(greater_equal(out, 0), -math.inf, math.inf))
    return g * conj(dx), g * conj(select(equal(x, 0), at_zero, out * log(select(equal(x, 0), 1, x))))


def _power_samples(cls, rng):
    x = rng.uniform(0.1, 3, (3, 5))
    yield cls(), (x.astype("float32"), rng.normal(size=(3, 5)).astype("float32"))
    yield cls(), (x, rng.normal(size=5))
    yield cls(), (x.astype("float32"), rng.normal(size=()).astype("float32"))
    yield cls(), (rng.normal(size=(0, 2)), rng.normal(size=2))
    yield cls(), (rng.integers(-4, 4, (4, 4)), rng.integers(0, 9, (4, 4)))
    yield cls(), (np.array([1, -1, 2, -3]), np.array([-1, -3, -2, 0]))
    special = np.array([0.0, 1.0, -2.0, np.inf, np.nan])
    yield cls(), (special[:, None].copy(), np.array([0.0, 1.0, 3.0, np.inf, -np.inf, np.nan]))


power = binary(
    "pow",
    bools=False,
    numpy=_power,
    vjp=_power_slopes,
    loops=_loop_power,
    xla=lambda jnp, x, y: _power(x, y, jnp),
    samples=_power_samples,
)


def pow_(x: Any, y: Any) -> Any:
    """x ** y; small constant exponents become products and roots, which are faster and have simpler gradients."""
    if is_number(y) and not is_number(x):
        if type(y) is int and y == 2 and x.dtype.kind != "b":
            return square(x)
        if x.dtype.kind == "f" and number_type(y) in "if":
            if y == 2:
                return square(x)
            if y == 0.5:
                return sqrt(x)
            if y == 3:
                return square(x) * x
            if y == -1:
                return reciprocal(x)
    return power(x, y)


# ---- rounding and sign ------------------------------------------------------------------------
def _keep_whole(f):
    return lambda x: x if x.dtype.kind in "biu" else f(x)


def _step(name, f):
    """A function that is flat between its steps: its gradient is zero."""
    g_zero = lambda g, out, x: g * 0.0  # noqa: E731
    return unary(
        name,
        numpy=_keep_whole(f),
        vjp=g_zero,
        loops=lambda k, x: x if x.dtype.kind in "biu" else getattr(k, name)(x),
        xla=lambda jnp, x: getattr(jnp, name)(x),
    )


floor = _step("floor", np.floor)
ceil = _step("ceil", np.ceil)
trunc = _step("trunc", np.trunc)
round_ = _step("round", np.rint)


def _sign(x):
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)
    return np.sign(x) if x.dtype.kind != "b" else x


sign = unary(
    "sign",
    numpy=_sign,
    vjp=lambda g, out, x: g * 0.0,
    loops=lambda k, x: k.where(x > 0, 1, k.where(x < 0, -1, x)) if x.dtype.kind in "if" else k.where(x.ne(0), 1, x),
    xla=lambda jnp, x: jnp.sign(x),
)


@operator
class Abs(Unary):
    """Absolute value; of a complex number its modulus, a real number."""

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(part_of(x.dtype)) if x.dtype.is_complex else x

    def numpy(self, x):
        return np.abs(x)

    def vjp(self, g, out, x):
        if x.dtype.is_complex:
            return (ToComplex()(g, g * 0.0) * sign(x),)
        return (g * sign(x),)

    def loops(self, k, x):
        e = k.load(x, k.at)
        return k.abs(e) if e.dtype.kind in "if" else e

    def xla(self, jnp, x):
        return jnp.abs(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(3, 5)).astype("float32"),)
        yield cls(), (rng.normal(size=()),)
        yield cls(), (np.array([0.0, -0.0, -np.inf, np.nan], "float32"),)
        yield cls(), (rng.integers(-9, 9, (2, 0)),)
        yield cls(), (rng.integers(-9, 9, 7),)
        yield cls(), (rng.normal(size=3) + 1j * rng.normal(size=3),)


abs_ = Abs()


@operator
class Angle(Unary):
    """The argument of a complex number; of a real one 0 or pi."""

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(part_of(x.dtype)) if x.dtype.is_complex else x

    def numpy(self, x):
        if x.dtype.kind == "c":
            return np.angle(x).astype(x.real.dtype)
        return np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0)).astype(x.dtype)

    def vjp(self, g, out, x):
        if not x.dtype.is_complex:
            return (g * 0.0,)
        turned = ToComplex()(g * 0.0, g)  # d angle = Im(dx / x)
        return (select(equal(x, 0), 0, turned / conj(x)),)

    def loops(self, k, x):
        e = k.load(x, k.at)
        return k.where(k.isnan(e), e, k.where(e < 0, math.pi, 0.0))

    def xla(self, jnp, x):
        return jnp.angle(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(3, 5)).astype("float32"),)
        yield cls(), (rng.normal(size=3) + 1j * rng.normal(size=3),)
        yield cls(), (np.array([np.nan, 1.0, -1.0]),)


angle = Angle()


# ---- bounds -----------------------------------------------------------------------------------
@operator
class Clip(Operator):
    """x, held between two bounds (0-d tensors or numbers). The gradient passes at the bounds too."""

    def prepare(self, x: Any, low: Any, high: Any) -> tuple[Any, ...]:
        return (x, *(Number(b, x.dtype) if is_number(b) else cast(b, x.dtype) for b in (low, high)))

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> TensorType:
        return x

    def numpy(self, x, low, high):
        return np.minimum(np.maximum(x, low), high)

    def vjp(self, g, out, x, low, high):
        within = logical_and(greater_equal(x, low), less_equal(x, high))
        return select(within, g, 0.0), None, None

    def loops(self, k, x, low, high):
        return k.min(k.max(k.load(x, k.at), k.load(low, [])), k.load(high, []))

    def xla(self, jnp, x, low, high):
        return jnp.minimum(jnp.maximum(x, low), high)

    def spmd(self, *types):
        return "...,,->..."

    @classmethod
    def samples(cls, rng):
        scalar = lambda v, d: np.asarray(v, d)  # noqa: E731
        x = rng.normal(size=(3, 5)).astype("float32")
        yield cls(), (x, scalar(-0.5, "float32"), scalar(0.7, "float32"))
        yield cls(), (rng.integers(-9, 9, 11), scalar(-2, "int64"), scalar(4, "int64"))
        yield cls(), (np.array([np.nan, np.inf, -np.inf]), scalar(-1, "float64"), scalar(1, "float64"))
        yield cls(), (np.zeros((0, 2)), scalar(-1, "float64"), scalar(1, "float64"))


def clip(x: Any, low: Any, high: Any) -> Any:
    return Clip()(x, low, high)


# ---- division with remainder ------------------------------------------------------------------
def _check_divisor(y):
    if y.dtype.kind in "iu" and not y.all():
        raise IndexError(offending("an integer is divided by zero", y == 0, y, "divisors other than 0", "y"))


def _quotient(x, y):
    _check_divisor(y)
    return np.floor_divide(x, y)


def _remainder(x, y):
    if x.dtype.kind == "c":  # as upstream has it, whose complex quotient is rounded up
        q = x / y
        return (x - y * (np.ceil(q.real) + 1j * np.ceil(q.imag))).astype(x.dtype)
    _check_divisor(y)
    return np.mod(x, y)


def _loop_division(of_floats, of_integers):
    def loops(k, x, y):
        if x.dtype.kind == "f":
            return of_floats(k, x, y)
        index = k.cast(y, types.int64)
        y = k.check(
            y.ne(0), y, index, "an integer is divided by zero.\n  expected: divisors other than 0\n  received: y: 0"
        )
        if x.dtype.kind == "u":
            return of_integers(k, x, y, None)
        return of_integers(k, x, y, y.eq(-1))  # the smallest number over -1 traps on x86

    return loops


def _divisor_samples(cls, rng):
    for x, y in (((3, 5), (3, 5)), ((3, 1), (1, 4)), ((), 4), ((0, 2), 2)):
        a, b = rng.normal(size=x) * 5, rng.uniform(0.5, 3, y) * rng.choice([-1, 1], y)
        yield cls(), (np.asarray(a, "float32"), np.asarray(b, "float32"))
    yield cls(), (rng.normal(size=9) * 5, np.array(0.75))
    signed = rng.integers(1, 5, (4, 4)) * rng.choice([-1, 1], (4, 4))
    yield cls(), (rng.integers(-9, 9, (4, 4)), signed)
    yield cls(), (rng.integers(-9, 9, 4).astype("int32"), np.array(-3, "int32"))
    yield cls(), (np.array([np.iinfo("int64").min, 7]), np.array([-1, -1]))
    yield cls(), (rng.integers(0, 200, 5).astype("uint8"), rng.integers(1, 9, 5).astype("uint8"))


floor_divide = binary(
    "floor_divide",
    bools=False,
    numpy=_quotient,
    prepare=in_the_wider("floor_divide"),
    vjp=lambda g, out, x, y: (g * 0.0, g * 0.0),
    loops=_loop_division(
        lambda k, x, y: x // y,
        lambda k, x, y, turned: x // y if turned is None else k.where(turned, -x, x // k.where(turned, 1, y)),
    ),
    xla=lambda jnp, x, y: jnp.floor_divide(x, y),
    samples=_divisor_samples,
)
remainder = binary(
    "remainder",
    bools=False,
    numpy=_remainder,
    vjp=lambda g, out, x, y: (g, -g * floor_divide(x, y)),
    loops=_loop_division(
        lambda k, x, y: x % y,
        lambda k, x, y, turned: x % y if turned is None else k.where(turned, 0, x % k.where(turned, 1, y)),
    ),
    xla=lambda jnp, x, y: jnp.mod(x, y),
    samples=_divisor_samples,
)


# ---- of two arguments -------------------------------------------------------------------------
def _in_float64(x, y):
    """Integers are computed in float64, as upstream has it."""
    x, y = promoted("atan2", x, y, scalars=False)
    return (cast(x, types.float64), cast(y, types.float64)) if x.dtype.is_integer else (x, y)


atan2 = binary(
    "atan2",
    floating=True,
    prepare=_in_float64,
    scalars=False,
    numpy=np.arctan2,
    vjp=lambda g, out, x, y: (g * y / (x * x + y * y), -(g * x) / (x * x + y * y)),
    loops=lambda k, x, y: k.atan2(x, y),
    xla=lambda jnp, x, y: jnp.arctan2(x, y),
)


def _ignoring_nan(k, x, y, best):
    if x.dtype.kind != "f":
        return best(x, y)
    return k.where(k.isnan(x), y, k.where(k.isnan(y), x, best(x, y)))


def _first_wins(condition, g):
    first = select(condition, g, 0.0)
    return first, g - first


fmax = binary(
    "fmax",
    scalars=False,
    numpy=np.fmax,
    vjp=lambda g, out, x, y: _first_wins(logical_or(greater_equal(x, y), not_equal(y, y)), g),
    loops=lambda k, x, y: _ignoring_nan(k, x, y, k.max),
    xla=lambda jnp, x, y: jnp.fmax(x, y),
)
fmin = binary(
    "fmin",
    scalars=False,
    numpy=np.fmin,
    vjp=lambda g, out, x, y: _first_wins(logical_or(less_equal(x, y), not_equal(y, y)), g),
    loops=lambda k, x, y: _ignoring_nan(k, x, y, k.min),
    xla=lambda jnp, x, y: jnp.fmin(x, y),
)


def _logaddexp_share(g, out, x, y):
    return g * exp(x - out), g * exp(y - out)


logaddexp = binary(
    "logaddexp",
    floating=True,
    numpy=np.logaddexp,
    vjp=_logaddexp_share,
    loops=lambda k, x, y: k.where(
        x.eq(y),
        x + LOG2,
        k.max(x, y) + k.log1p(k.exp(-k.abs(x - y))),  # inf - inf would be nan
    ),
    xla=lambda jnp, x, y: jnp.logaddexp(x, y),
)
hypot = binary(
    "hypot",
    floating=True,
    numpy=np.hypot,
    vjp=lambda g, out, x, y: (g * x / out, g * y / out),
    loops=lambda k, x, y: k.sqrt(x * x + y * y),
    xla=lambda jnp, x, y: jnp.hypot(x, y),
)


def _copysign(x, y, np=np):
    if x.dtype.kind in "bu":
        return np.where(y == y, x, x)
    return np.where((x < 0) == (y < 0), x, -x) if x.dtype.kind == "i" else np.copysign(x, y)


copysign = binary(
    "copysign",
    numpy=_copysign,
    vjp=lambda g, out, x, y: (g * sign(x) * sign(out), g * 0.0),
    loops=NO_BITS,
    xla=lambda jnp, x, y: _copysign(x, y, jnp),
)
nextafter = binary("nextafter", prepare=in_the_wider("nextafter"), numpy=np.nextafter, vjp=None, loops=NO_BITS,
                   xla=lambda jnp, x, y: jnp.nextafter(x, y), floating=True)  # fmt: skip


def _whole_samples(cls, rng):
    yield cls(), (rng.integers(-30, 30, (3, 4)), rng.integers(-30, 30, 4))
    yield cls(), (rng.integers(0, 30, 3).astype("int32"), np.array(12, "int32"))
    yield cls(), (np.array([0, 0, 5]), np.array([0, 4, 0]))


def _whole(name: str) -> Any:
    def prepare(x: Any, y: Any) -> tuple[Any, Any]:
        x, y = promoted(name, x, y)
        if x.dtype.kind not in "iu":
            raise invalid_argument(
                f"{name}: not for {x.dtype.name}.",
                expected="an integer type",
                received=f"x: {x.dtype.name}, y: {y.dtype.name}",
            )
        return x, y

    return prepare


EUCLID = absent("each element takes its own number of steps: runs its numpy form")
gcd = binary(
    "gcd", numpy=np.gcd, vjp=None, loops=EUCLID, xla=lambda jnp, x, y: jnp.gcd(x, y), prepare=_whole("gcd"),
    samples=_whole_samples,
)  # fmt: skip
lcm = binary(
    "lcm", numpy=np.lcm, vjp=None, loops=EUCLID, xla=lambda jnp, x, y: jnp.lcm(x, y), prepare=_whole("lcm"),
    samples=_whole_samples,
)  # fmt: skip
