"""Functions of Tensors, element by element."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.ops import creation, logic, special
from ..engine.ops import elementwise as ew
from ..engine.ops import math as ops
from ..engine.ops.complex import ToComplex
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.number import Number
from ..utils.public import METHODS, public
from .arguments import fill_out
from .creation import copy_of
from .families import need_tensor, no_method, of_one, of_two
from .tensor import Tensor

__all__ = [
    "conj", "abs", "acos", "asin", "atan", "acosh", "asinh", "atanh", "cos", "sin", "tan", "cosh", "sinh",
    "tanh", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sigmoid",
    "erf", "erfinv", "floor", "ceil", "sign", "trunc", "neg", "digamma", "lgamma", "gammaln", "i0", "i0e", "i1",
    "i1e", "angle", "multiply", "maximum", "minimum", "floor_divide", "remainder", "fmax", "fmin", "logaddexp",
    "hypot", "nextafter", "gcd", "lcm", "gammainc", "gammaincc", "atan2", "copysign", "heaviside", "ldexp",
    "frexp", "stanh", "logit", "deg2rad", "rad2deg", "sinc", "sgn", "nan_to_num", "polygamma", "multigammaln",
    "mod", "floor_mod", "mul",
]  # fmt: skip

_INF = float("inf")

# ---- of one Tensor ----------------------------------------------------------------------------
abs = of_one(
    "abs",
    ops.abs_,
    "The absolute value of each element; of complex numbers the modulus.",
    [-1.5, 2.0],
    [1.5, 2.0],
    out=True,
    takes="Any numeric type.",
)
acos = of_one(
    "acos",
    ops.acos,
    "The angle in [0, pi] (radians) whose cosine each element is.",
    [1.0, 0.5],
    [0.0, 1.0472],
    out=True,
)
asin = of_one(
    "asin",
    ops.asin,
    "The angle in [-pi/2, pi/2] (radians) whose sine each element is.",
    [0.0, 0.5],
    [0.0, 0.5236],
    strict=True,
)
atan = of_one(
    "atan",
    ops.atan,
    "The angle in [-pi/2, pi/2] (radians) whose tangent each element is.",
    [0.0, 1.0],
    [0.0, 0.7854],
    alias=False,
)
acosh = of_one(
    "acosh",
    ops.acosh,
    "The non-negative number whose hyperbolic cosine each element is.",
    [1.0, 2.0],
    [0.0, 1.317],
    out=True,
)
asinh = of_one(
    "asinh", ops.asinh, "The number whose hyperbolic sine each element is.", [0.0, 1.0], [0.0, 0.8814], alias=False
)
atanh = of_one(
    "atanh", ops.atanh, "The number whose hyperbolic tangent each element is.", [0.0, 0.5], [0.0, 0.5493], out=True
)
cos = of_one("cos", ops.cos, "The cosine of each element, an angle in radians.", [0.0, 1.0], [1.0, 0.5403], out=True)
sin = of_one("sin", ops.sin, "The sine of each element, an angle in radians.", [0.0, 1.0], [0.0, 0.8415], out=True)
tan = of_one(
    "tan", ops.tan, "The tangent of each element, an angle in radians.", [0.0, 1.0], [0.0, 1.5574], alias=False
)
cosh = of_one("cosh", ops.cosh, "The hyperbolic cosine of each element.", [0.0, 1.0], [1.0, 1.5431], out=True)
sinh = of_one("sinh", ops.sinh, "The hyperbolic sine of each element.", [0.0, 1.0], [0.0, 1.1752], out=True)
tanh = of_one("tanh", ew.tanh, "The hyperbolic tangent of each element.", [0.0, 1.0], [0.0, 0.7616], out=True)
exp = of_one("exp", ew.exp, "e to the power of each element.", [0.0, 1.0], [1.0, 2.7183], out=True)
expm1 = of_one(
    "expm1", ops.expm1, "e to the power of each element, less 1; exact near 0.", [0.0, 1.0], [0.0, 1.7183], out=True
)
log = of_one("log", ew.log, "The natural logarithm of each element; NaN below 0.", [1.0, 2.0], [0.0, 0.6931], out=True)
log2 = of_one("log2", ops.log2, "The logarithm to base 2 of each element.", [1.0, 8.0], [0.0, 3.0], out=True)
log10 = of_one("log10", ops.log10, "The logarithm to base 10 of each element.", [1.0, 100.0], [0.0, 2.0], out=True)
log1p = of_one(
    "log1p",
    ops.log1p,
    "The natural logarithm of 1 plus each element; exact near 0.",
    [0.0, 1.0],
    [0.0, 0.6931],
    out=True,
)
sqrt = of_one("sqrt", ew.sqrt, "The square root of each element; NaN below 0.", [4.0, 2.0], [2.0, 1.4142], out=True)
rsqrt = of_one("rsqrt", ops.rsqrt, "1 over the square root of each element.", [4.0, 2.0], [0.5, 0.7071], out=True)
square = of_one(
    "square", ops.square, "Each element times itself.", [3.0, -2.0], [9.0, 4.0], alias=False, takes="Any numeric type."
)
reciprocal = of_one("reciprocal", ops.reciprocal, "1 over each element.", [4.0, -2.0], [0.25, -0.5], alias=False)
sigmoid = of_one("sigmoid", ew.sigmoid, "1 / (1 + exp(-x)) of each element.", [0.0, 1.0], [0.5, 0.7311], out=True)
erf = of_one("erf", special.erf, "The error function of each element.", [0.0, 0.5], [0.0, 0.5205], alias=False)
erfinv = of_one(
    "erfinv",
    special.erfinv,
    "The number whose error function each element is; infinite at -1 and 1.",
    [0.0, 0.5],
    [0.0, 0.4769],
    alias=False,
)
floor = of_one(
    "floor",
    ops.floor,
    "The greatest whole number that is not above each element.",
    [1.7, -1.2],
    [1.0, -2.0],
    out=True,
    takes="Any real type; integers stay.",
)
ceil = of_one(
    "ceil",
    ops.ceil,
    "The smallest whole number that is not below each element.",
    [1.2, -1.7],
    [2.0, -1.0],
    out=True,
    takes="Any real type; integers stay.",
)
sign = of_one(
    "sign",
    ops.sign,
    "-1, 0 or 1 by the sign of each element.",
    [-1.5, 0.0],
    [-1.0, 0.0],
    out=True,
    takes="Any numeric type.",
)
trunc = of_one(
    "trunc",
    ops.trunc,
    "Each element without its fraction.",
    [1.7, -1.7],
    [1.0, -1.0],
    alias=False,
    first="input",
    takes="Any real type; integers stay.",
)
neg = of_one(
    "neg",
    ew.negative,
    "Each element with the other sign.",
    [1.5, -2.0],
    [-1.5, 2.0],
    alias=False,
    takes="Any numeric type.",
)
digamma = of_one(
    "digamma",
    special.digamma,
    "The derivative of the log of the gamma function at each element.",
    [1.0, 2.0],
    [-0.5772, 0.4228],
    alias=False,
)
lgamma = of_one(
    "lgamma",
    special.lgamma,
    "The log of the absolute value of the gamma function at each element.",
    [3.0, 4.0],
    [0.6931, 1.7918],
    alias=False,
)
gammaln = of_one(
    "gammaln",
    special.lgamma,
    "The log of the absolute value of the gamma function at each element; `lgamma`.",
    [3.0, 4.0],
    [0.6931, 1.7918],
    alias=False,
)
i0 = of_one(
    "i0", special.i0, "The modified Bessel function of the first kind, order 0.", [0.0, 1.0], [1.0, 1.2661], alias=False
)
i0e = of_one(
    "i0e",
    special.i0e,
    "exp(-|x|) times the modified Bessel function of order 0.",
    [0.0, 1.0],
    [1.0, 0.4658],
    alias=False,
)
i1 = of_one(
    "i1", special.i1, "The modified Bessel function of the first kind, order 1.", [0.0, 1.0], [0.0, 0.5652], alias=False
)
i1e = of_one(
    "i1e",
    special.i1e,
    "exp(-|x|) times the modified Bessel function of order 1.",
    [0.0, 1.0],
    [0.0, 0.2079],
    alias=False,
)
angle = of_one(
    "angle",
    ops.angle,
    "The argument of each complex number, in radians; of real ones 0 or pi.",
    [2.0, -1.0],
    [0.0, 3.1416],
    alias=False,
)

# ---- of two Tensors ---------------------------------------------------------------------------
multiply = of_two(
    "multiply",
    ew.multiply,
    "The product of two Tensors, element by element.",
    [1.0, 2.0],
    [3.0, 4.0],
    [3.0, 8.0],
    out=True,
    strict=True,
)
maximum = of_two(
    "maximum",
    ew.maximum,
    "The greater of two elements; NaN where either is NaN.",
    [1.0, 5.0],
    [3.0, 4.0],
    [3.0, 5.0],
    out=True,
    strict=True,
)
minimum = of_two(
    "minimum",
    ew.minimum,
    "The smaller of two elements; NaN where either is NaN.",
    [1.0, 5.0],
    [3.0, 4.0],
    [1.0, 4.0],
    out=True,
    strict=True,
)


@public(also={"x": "input", "y": "other"}, method=True)
def floor_divide(x: Tensor, y: Any, name: str | None = None, *, out: Any = None) -> Tensor:
    """The quotient, rounded toward minus infinity.

    Args:
        x (Tensor): Any real type; the shapes broadcast.
        y (Tensor|number): an integer counts as int64, a float as float32: x is divided in the larger of both types.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: the broadcast shape.

    Examples:
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    need_tensor(x, "floor_divide", "x")
    if is_number(y) and ew.number_type(y) != "c":
        given = types.float32 if isinstance(y, float) else from_array(np.asarray(y)).dtype
        dtype = ew.wider(x.dtype, given, "floor_divide")
        x, y = cast(x, dtype), Number(y, dtype)
    elif not isinstance(y, Number):
        need_tensor(y, "floor_divide", "y")
    return fill_out(ops.floor_divide(x, y), out)


remainder = of_two(
    "remainder",
    ops.remainder,
    "What remains of x over y, rounded down: it has the sign of y.",
    [7, -7],
    [4, 4],
    [3, 1],
    out=True,
    number=True,
)
fmax = of_two(
    "fmax",
    ops.fmax,
    "The greater of two elements; the number where one of them is NaN.",
    [1.0, 5.0],
    [3.0, 4.0],
    [3.0, 5.0],
    aliases=False,
)
fmin = of_two(
    "fmin",
    ops.fmin,
    "The smaller of two elements; the number where one of them is NaN.",
    [1.0, 5.0],
    [3.0, 4.0],
    [1.0, 4.0],
    aliases=False,
)
logaddexp = of_two(
    "logaddexp",
    ops.logaddexp,
    "The log of the sum of two exponentials, without overflow.",
    [1000.0],
    [-1000.0],
    [1000.0],
    aliases=False,
)
hypot = of_two(
    "hypot",
    ops.hypot,
    "The length of the hypotenuse: sqrt(x*x + y*y), without overflow.",
    [3.0],
    [4.0],
    [5.0],
    aliases=False,
)
nextafter = of_two(
    "nextafter", ops.nextafter, "The next number after x on the way to y.", [0.0], [0.0], [0.0], aliases=False
)
gcd = of_two("gcd", ops.gcd, "The greatest common divisor.", [4, 6], [6, 9], [2, 3], takes="An integer type.")
lcm = of_two("lcm", ops.lcm, "The least common multiple.", [4, 6], [6, 9], [12, 18], takes="An integer type.")
gammainc = of_two(
    "gammainc",
    special.gammainc,
    "The regularized lower incomplete gamma function of parameter x at y.",
    [1.0],
    [0.0],
    [0.0],
    aliases=False,
)
gammaincc = of_two(
    "gammaincc",
    special.gammaincc,
    "The regularized upper incomplete gamma function of parameter x at y.",
    [1.0],
    [0.0],
    [1.0],
    aliases=False,
)
atan2 = of_two(
    "atan2",
    ops.atan2,
    "The angle in [-pi, pi] (radians) of the point with the coordinates y and x.",
    [0.0],
    [1.0],
    [0.0],
    aliases=False,
)
mod = floor_mod = remainder
mul = multiply
METHODS |= {"mod": remainder, "floor_mod": remainder, "mul": multiply}


@public(method=True)
def copysign(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """The size of x with the sign of y, a Tensor or a number.

    Examples:
        >>> paddle.copysign(paddle.to_tensor([1.0, -2.0]), -3.0).tolist()
        [-1.0, -2.0]
    """
    no_method(x, "copysign")
    return ops.copysign(x, Number(y, x.dtype) if is_number(y) and not x.dtype.is_floating else y)


@public(method=True)
def heaviside(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """0 where x is negative, y where it is zero, 1 where it is positive; NaN where it is NaN.

    Examples:
        >>> paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).tolist()
        [0.0, 0.5, 1.0]
    """
    x, y = ew.promoted("heaviside", need_tensor(x, "heaviside"), need_tensor(y, "heaviside", "y"), scalars=False)
    step = logic.select(ew.greater_than(x, 0), 1, logic.select(ew.equal(x, x), 0, x)) if x.dtype.is_floating else (
        logic.select(ew.greater_than(x, 0), cast(Number(1, x.dtype), x.dtype), 0 * x))  # fmt: skip
    return logic.select(ew.equal(x, 0), y, step)


@public(method=True)
def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """x times 2 to the power of y, in floating point.

    Examples:
        >>> paddle.ldexp(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([2, 3])).tolist()
        [4.0, 16.0]
    """
    for a, label in ((x, "x"), (y, "y")):
        need_tensor(a, "ldexp", label, TypeError)
    dtype = types.float64 if types.float64 in (x.dtype, y.dtype) else types.float32
    two = creation.Full((), 2.0, dtype)()
    return cast(x, dtype) * ops.power(two, cast(y, dtype))


def frexp(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mantissa (of size in [0.5, 1), or 0) and exponent with x = mantissa * 2**exponent, both in the type of x.

    Examples:
        >>> [t.tolist() for t in paddle.frexp(paddle.to_tensor([3.0, 0.0]))]
        [[0.75, 0.0], [2.0, 0.0]]
    """
    no_method(x, "frexp")
    size = ops.abs_(x)
    zero = ew.equal(x, 0)
    exponent = ops.floor(ops.log2(logic.select(zero, 1.0, size))) + 1.0
    two = creation.Full((), 2.0, x.dtype)()
    mantissa = x / ops.power(two, exponent)
    over = cast(ew.greater_equal(ops.abs_(mantissa), 1.0), x.dtype)  # the logarithm may be rounded to a whole number
    under = cast(ew.less_than(ops.abs_(mantissa), 0.5), x.dtype)
    exponent = exponent + over - under
    mantissa = x / ops.power(two, exponent)
    return logic.select(zero, 0.0, mantissa), logic.select(zero, 0.0, exponent)


METHODS["frexp"] = frexp


# ---- with constants ---------------------------------------------------------------------------


@public(method=True)
def conj(x: Tensor, name: str | None = None) -> Tensor:
    """The complex conjugate; a copy of x where it is real.

    Examples:
        >>> paddle.conj(paddle.to_tensor([1.0 + 2.0j])).tolist()
        [(1-2j)]
    """
    need_tensor(x, "conj")
    return ew.conj(x) if x.dtype.is_complex else copy_of(x)


@public(method=True)
def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Tensor:
    """scale_b * tanh(scale_a * x).

    Examples:
        >>> [round(v, 4) for v in paddle.stanh(paddle.to_tensor([0.0, 1.0])).tolist()]
        [0.0, 1.0038]
    """
    return ew.tanh(need_tensor(x, "stanh") * scale_a) * scale_b


@public(method=True)
def logit(x: Tensor, eps: float | None = None, name: str | None = None) -> Tensor:
    """log(x / (1 - x)).

    Args:
        x (Tensor): Floating, in [0, 1]; outside the result is NaN.
        eps (float, optional): x is held in [eps, 1 - eps] first; its gradient is 0 outside.

    Returns:
        Tensor: shape and type of x.

    Examples:
        >>> paddle.logit(paddle.to_tensor([0.5])).tolist()
        [0.0]
    """
    need_tensor(x, "logit")
    if x.dtype.kind in "biu":
        x = cast(x, types.float32)
    if eps:
        return ew.log((held := ops.Clip()(x, float(eps), 1.0 - float(eps))) / (1.0 - held))
    outside = logic.logical_or(ew.less_than(x, 0.0), ew.greater_than(x, 1.0))
    x = x * logic.select(outside, float("nan"), 1.0)  # the gradient is NaN there too
    return ew.log(x) - ops.log1p(-x)


def _degrees(x: Tensor, factor: float, name: str) -> Tensor:
    no_method(x, name)
    return (cast(x, types.float32) if x.dtype.is_integer else x) * factor


@public(method=True)
def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Degrees in radians.

    Examples:
        >>> [round(v, 4) for v in paddle.deg2rad(paddle.to_tensor([180.0])).tolist()]
        [3.1416]
    """
    return _degrees(x, _math.pi / 180, "deg2rad")


@public(method=True)
def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Radians in degrees.

    Examples:
        >>> [round(v, 2) for v in paddle.rad2deg(paddle.to_tensor([3.14159265])).tolist()]
        [180.0]
    """
    return _degrees(x, 180 / _math.pi, "rad2deg")


@public(method=True)
def sinc(x: Tensor, name: str | None = None) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0.

    Examples:
        >>> [round(v, 4) for v in paddle.sinc(paddle.to_tensor([0.0, 0.5])).tolist()]
        [1.0, 0.6366]
    """
    need_tensor(x, "sinc", kind=TypeError)
    turned = (cast(x, types.float32) if x.dtype.is_integer else x) * _math.pi
    small = ew.less_than(ops.abs_(turned), 1e-2)  # where the quotient and its gradient lose digits
    safe, near = logic.select(small, 1.0, turned), logic.select(small, turned, 0.0)
    square = near * near
    return logic.select(small, 1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0)), ops.sin(safe) / safe)


@public(method=True)
def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """The sign of each element; of a complex number x / |x|.

    Examples:
        >>> paddle.sgn(paddle.to_tensor([-2.0, 0.0])).tolist()
        [-1.0, 0.0]
    """
    if no_method(x, "sgn").dtype.kind not in "fc":
        raise errors.invalid_type("sgn: not for this type.", expected="floating or complex", received=f"x: {x.type}")
    if not x.dtype.is_complex:
        return ops.sign(x)
    size = ops.abs_(x)
    size = logic.select(ew.equal(size, 0.0), 1.0, size)
    return x / ToComplex()(size, size * 0.0)


@public(method=True)
def nan_to_num(x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None,
               name: str | None = None) -> Tensor:  # fmt: skip
    """NaN and infinities replaced by numbers: the largest and smallest of the type unless given.

    Examples:
        >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), 1.0]), nan=5.0).tolist()
        [5.0, 1.0]
    """
    no_method(x, "nan_to_num")
    if not x.dtype.is_floating:
        return x
    if x.dtype.itemsize >= 4 or x.dtype is types.float16:
        top = float(np.finfo(x.dtype.np).max)
    else:
        import ml_dtypes

        top = float(ml_dtypes.finfo(x.dtype.np).max)
    high, low = (top if posinf is None else posinf), (-top if neginf is None else neginf)
    x = logic.select(logic.isnan(x), float(nan), x)
    x = logic.select(ew.equal(x, _INF), float(high), x)
    return logic.select(ew.equal(x, -_INF), float(low), x)


@public(method=True)
def polygamma(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The n-th derivative of `digamma`, for x > 0 where n > 0.

    Raises:
        TypeError: n is not an integer. ValueError: n is negative.

    Examples:
        >>> [round(v, 4) for v in paddle.polygamma(paddle.to_tensor([1.0]), 1).tolist()]
        [1.6449]
    """
    need_tensor(x, "polygamma")
    if not isinstance(n, int):
        raise errors.invalid_type("polygamma: n is not an integer.", expected="int", received=type(n).__name__)
    if n < 0:
        raise errors.invalid_argument("polygamma: n is negative.", expected="n >= 0", received=f"n: {n}")
    return special.Polygamma(n)(x) if n else special.digamma(x)


@public(method=True)
def multigammaln(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """The log of the multivariate gamma function of dimension p.

    Examples:
        >>> [round(v, 4) for v in paddle.multigammaln(paddle.to_tensor([3.0]), 2).tolist()]
        [1.5502]
    """
    need_tensor(x, "multigammaln", kind=TypeError)
    if p < 1:
        raise errors.invalid_argument("multigammaln: p is too small.", expected="p >= 1", received=f"p: {p}")
    t = special.lgamma(x)
    for i in range(1, p):
        t = t + special.lgamma(x - 0.5 * i)
    return t + 0.25 * p * (p - 1) * _math.log(_math.pi)
