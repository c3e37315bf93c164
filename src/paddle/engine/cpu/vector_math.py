"""Mathematical functions as LLVM text: scalar, without branches, so that loops around them vectorize.

`define` gives functions `@pd.<name>.<f32|f64>` that LLVM inlines; a loop over them becomes vectors of whatever width
the target has. They call nothing but intrinsics that are instructions, read no tables, and treat infinities, NaN,
subnormals and the sign of zero as C99 says. Their errors stand in `ULP` and, with how they were measured, in
docs/vector-math.md.

Coefficients are minimax fits (Remez exchange in 50 digits, weighted for the relative error of the function, then
rounded one after the other with a new fit of the rest), from the constant term up.
"""

from __future__ import annotations

from collections.abc import Collection

from . import circular, exponential, special
from .circular import ANGLE_LIMIT
from .half_floats import CONVERSIONS, half_function
from .ssa import F64, INF, NAN, Features, Functions, Kit, Value

__all__ = ["ANGLE_LIMIT", "ULP", "define", "names"]

# Greatest error in units in the last place, (float32, float64).
# sin, cos, tan: up to ANGLE_LIMIT; lgamma: for x > 0, below that the error is absolute.
ULP: dict[str, tuple[float, float]] = {
    "exp": (1.25, 1.25), "exp2": (1.25, 1.5), "expm1": (1.5, 2.25), "log": (1, 1), "log2": (2, 1),
    "log10": (2, 1), "log1p": (1.75, 1.5), "sqrt": (0.5, 0.5), "rsqrt": (1.5, 1.5), "pow": (0.75, 1.75),
    "sin": (1.75, 1.75), "cos": (1.75, 1.75), "tan": (2, 2.5), "asin": (2, 2), "acos": (1.5, 1.5), "atan": (1.5, 2.5),
    "atan2": (2, 2.5), "sinh": (2, 2), "cosh": (1.5, 1.5), "tanh": (1.75, 2), "asinh": (0.75, 2), "acosh": (0.75, 3),
    "atanh": (0.75, 2), "erf": (1.75, 2), "lgamma": (0.75, 8),
}  # fmt: skip

FUNCTIONS = Functions({**exponential.FUNCTIONS, **circular.FUNCTIONS, **special.FUNCTIONS})


# ---- rounding, choice, division ---------------------------------------------------------------
for _name, _build in {"floor": Kit.floor, "ceil": Kit.ceil, "trunc": Kit.trunc, "round": Kit.round}.items():
    FUNCTIONS.add(_name)(_build)


@FUNCTIONS.add("isnan")
def isnan(k: Kit, x: Value) -> Value:
    return x.ne(x)


@FUNCTIONS.add("isinf")
def isinf(k: Kit, x: Value) -> Value:
    return k.abs(x).eq(INF)


@FUNCTIONS.add("isfinite")
def isfinite(k: Kit, x: Value) -> Value:
    return k.abs(x) < INF


@FUNCTIONS.add("max", args=2)
def max_(k: Kit, x: Value, y: Value) -> Value:
    """NaN where either is NaN."""
    return k.select(x.ne(x), x, k.select(x > y, x, y))


@FUNCTIONS.add("min", args=2)
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
    r = w.select((a < INF) & (b > 0.0), r, NAN)
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


@FUNCTIONS.add("floordiv", args=2)
def floordiv(k: Kit, x: Value, y: Value) -> Value:
    return _divmod(k, x, y)[0]


@FUNCTIONS.add("mod", args=2)
def mod(k: Kit, x: Value, y: Value) -> Value:
    return _divmod(k, x, y)[1]


# ---- the text ---------------------------------------------------------------------------------
def names() -> list[str]:
    """All that `define` knows, such as "exp.f32" and "f16_to_f32"."""
    return sorted([*(f"{n}.{t}" for n in FUNCTIONS for t in ("f32", "f64")), *CONVERSIONS])


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
        f = FUNCTIONS[plain]
        k = Kit(type, has, declared=declared)
        arguments = [k.argument(n) for n in "xy"[: f.args]]
        if f.wide and k.real is not F64:
            result = f.build(k.wide(), *(k.convert(a, "fpext", "double") for a in arguments))
            result = k.convert(result, "fptrunc", k.real.llvm)
        else:
            result = f.build(k, *arguments)
    head = f"define internal {result.type} @pd.{name}({', '.join(f'{a.type} {a.name}' for a in arguments)})"
    body = "\n".join(k.lines)
    return f"{head} alwaysinline nounwind willreturn memory(none) {{\n{body}\n  ret {result.type} {result.name}\n}}"
