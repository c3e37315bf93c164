"""Vector math against numpy in a wider type, over the whole range of each type, for this CPU and for plain SSE2."""

import ctypes
import itertools
import re

import ml_dtypes
import numpy as np
import pytest

from paddle.engine.cpu import jit, vector_math
from paddle.engine.cpu.half_floats import CONVERSIONS

NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "pow": "power", "atan2": "arctan2", "round": "rint", "max": "maximum", "min": "minimum", "floordiv": "floor_divide",
}  # fmt: skip
LLVM_TYPES = {"f32": "float", "f64": "double"}
NUMPY_TYPES = {"float": np.float32, "double": np.float64, "i16": np.uint16, "i8": np.uint8}
TWO = {"pow", "atan2", "max", "min", "floordiv", "mod"}
SPECIALS = [
    0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, np.inf, np.nan, 1e-45, 1e-40, 1.17549435e-38, 0.49999997, 0.9999999, 1.0000001,
    8388609.0, 1e10, 88.9, 104.2, 5e-324, 1e-310, 710.0, 746.0, 3.4e38, 1e308,
]  # fmt: skip
V3 = ("x86_64-unknown-linux-gnu", "x86-64-v3", "")
V3_FEATURES = {"sse4.1", "avx2", "fma", "f16c"}
SSE2 = ("x86_64-unknown-linux-gnu", "x86-64", "")


def loop(name: str) -> tuple[str, list[str], str]:
    """A loop over arrays as LLVM text, the types of the arguments, and that of the result in memory."""
    plain, _, short = name.partition(".")
    if short:
        args = [LLVM_TYPES[short]] * (2 if plain in TWO else 1)
        out = "i1" if plain.startswith("is") else args[0]
    else:
        args, out = (["float"], "i16") if plain.startswith("f32") else (["i16"], "float")
    stored = "i8" if out == "i1" else out
    loads = "\n".join(
        f"  %q{i} = getelementptr {t}, ptr %p{i}, i64 %i\n  %a{i} = load {t}, ptr %q{i}" for i, t in enumerate(args)
    )
    pointers = ", ".join(f"ptr noalias %p{i}" for i in range(len(args)))
    text = f"""
define void @loop_{name.replace(".", "_")}(ptr noalias %o, {pointers}, i64 %n) {{
entry:
  br label %body
body:
  %i = phi i64 [0, %entry], [%j, %body]
{loads}
  %r = call {out} @pd.{name}({", ".join(f"{t} %a{i}" for i, t in enumerate(args))})
  %s = {"zext i1 %r to i8" if out == "i1" else f"bitcast {out} %r to {out}"}
  %qo = getelementptr {stored}, ptr %o, i64 %i
  store {stored} %s, ptr %qo
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %n
  br i1 %more, label %body, label %end
end:
  ret void
}}
"""
    return text, args, stored


class Library:
    """All functions, compiled for one target."""

    def __init__(self, target, features):
        loops = {n: loop(n) for n in vector_math.names()}
        text = vector_math.define(loops.keys(), features) + "".join(t for t, _, _ in loops.values())
        symbols = {n: f"loop_{n.replace('.', '_')}" for n in loops}
        self.types = {n: (args, out) for n, (_, args, out) in loops.items()}
        self.loaded = jit.load(jit.compile_object(text, for_target=target), symbols.values())
        self.symbols = symbols

    def __call__(self, name, *xs):
        args, out = self.types[name]
        xs = [np.ascontiguousarray(x, NUMPY_TYPES[t]) for x, t in zip(xs, args)]
        result = np.empty(xs[0].shape, NUMPY_TYPES[out])
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + len(xs)), ctypes.c_int64)
        address = self.loaded.addresses[self.symbols[name]]
        call(address)(result.ctypes.data, *[x.ctypes.data for x in xs], result.size)
        return result


@pytest.fixture(scope="module", params=["this CPU", "sse2"])
def library(request):
    if request.param == "this CPU":
        yield Library(None, None)
    elif jit.is_x86():
        yield Library(SSE2, set())
    else:
        pytest.skip("SSE2 is of x86")


def errors(got, want, dtype):
    """Differences in units in the last place; infinite where one is NaN or infinite and the other is not."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.abs(want))[1] - 1.0, info.minexp)
        greatest = want.dtype.type(info.max) * (1 + want.dtype.type(info.eps) / 4)
        want = np.where(np.abs(want) >= greatest, np.copysign(np.inf, want), want)
        off = np.abs(got.astype(want.dtype) - want) / np.exp2(exponent - info.nmant).astype(want.dtype)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        return np.where(same, 0, np.where(np.isfinite(off), off, np.inf)).astype(np.float64)


def erf_series(x):
    """erf = 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 3 ... (2n+1)), whose terms are positive."""
    a = np.minimum(np.abs(x), 7)
    term, total = a.copy(), a.copy()
    for n in range(1, 250):
        term = term * (2 * a * a) / (2 * n + 1)
        total = total + term
    root = np.sqrt(np.arctan(x.dtype.type(1)) * 4)
    return np.copysign(2 / root * np.exp(-a * a) * total, x)


def lgamma_stirling(x):
    """For x > 0: Stirling's series at x + 30, less the logarithm of the product of the steps."""
    x = np.asarray(x)
    steps = np.where(x < 30, np.prod([x + i for i in range(30)], axis=0), 1)
    y = np.where(x < 30, x + 30, x)
    z = 1 / (y * y)
    series = (((1 / x.dtype.type(1188) * z - 1 / x.dtype.type(1680)) * z + 1 / x.dtype.type(1260)) * z
              - 1 / x.dtype.type(360)) * z + 1 / x.dtype.type(12)  # fmt: skip
    half_log = np.log(np.arctan(x.dtype.type(1)) * 8) / 2
    value = (y - 0.5) * np.log(y) - y + half_log + series / y - np.log(steps)
    return np.where(np.isinf(x), x, value)


def reference(name, *xs):
    if name == "erf":
        return erf_series(*xs)
    if name == "lgamma":
        return lgamma_stirling(*xs)
    if name == "rsqrt":
        return 1 / np.sqrt(*xs)
    return getattr(np, NUMPY_NAMES.get(name, name))(*xs)


def spread(rng, dtype, n):
    """Numbers of all magnitudes, and more of them where functions are interesting."""
    bits = np.uint32 if dtype == np.float32 else np.uint64
    anything = rng.integers(0, np.iinfo(bits).max, n, bits, endpoint=True).view(dtype)
    middle = rng.uniform(-1, 1, n) * np.exp2(rng.uniform(-30, 12, n))
    near_one = 1 + rng.uniform(-1, 1, n) * np.exp2(rng.uniform(-25, 0, n))
    plain = rng.uniform(-20, 20, n)
    with np.errstate(invalid="ignore"):
        return np.concatenate([anything, *(x.astype(dtype) for x in (middle, near_one, plain))])


def inputs(name, dtype, rng):
    n = 4000 if name in ("erf", "lgamma") else 10000
    x = spread(rng, dtype, n)
    with np.errstate(all="ignore"):
        if name in ("sin", "cos", "tan"):
            x = x[np.abs(x) <= vector_math.ANGLE_LIMIT]
            return [np.concatenate([x, (np.arange(-3000, 3000) * (np.pi / 2)).astype(dtype)])]
        if name == "lgamma":
            x = np.abs(x)
            return [x[(np.abs(x - 1) > 0.2) & (np.abs(x - 2) > 0.2)]]  # not where the reference cancels
        if name == "pow":
            within = np.log(float(np.finfo(dtype).max)) * rng.uniform(-1, 1, x.size) / np.log(np.abs(x))
            y = rng.uniform(-1, 1, x.size) * np.exp2(rng.uniform(-5, 8, x.size))
            return [np.concatenate([np.abs(x), np.abs(x), x]), np.concatenate([within, y, np.rint(y)]).astype(dtype)]
        if name == "atan2":
            similar = x * np.exp2(rng.uniform(-5, 5, x.size)).astype(dtype)
            return [np.concatenate([x, x]), np.concatenate([similar, spread(rng, dtype, n)])]
    return [x]


@pytest.mark.parametrize("short", ["f32", "f64"])
@pytest.mark.parametrize("name", vector_math.ULP)
def test_error_is_below_the_documented_bound(library, name, short):
    dtype, wide = (np.float32, np.float64) if short == "f32" else (np.float64, np.longdouble)
    if np.finfo(wide).nmant <= np.finfo(dtype).nmant:
        pytest.skip("this platform has no wider type for a reference")
    xs = inputs(name, dtype, np.random.default_rng(7))
    with np.errstate(all="ignore"):
        want = reference(name, *(x.astype(np.longdouble if name in ("erf", "lgamma") else wide) for x in xs))
    got = library(f"{name}.{short}", *xs)
    off = errors(got, want, dtype)
    worst = int(np.argmax(off))
    assert off[worst] <= vector_math.ULP[name][short == "f64"], ([x[worst] for x in xs], got[worst], want[worst])
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))


@pytest.mark.parametrize("short", ["f32", "f64"])
@pytest.mark.parametrize("name", sorted({n.split(".")[0] for n in vector_math.names() if "." in n} - {"erf", "lgamma"}))
def test_special_values_are_as_in_numpy(library, name, short):
    dtype = np.float32 if short == "f32" else np.float64
    with np.errstate(all="ignore"):
        values = np.unique(np.array([*SPECIALS, *(-x for x in SPECIALS)]).astype(dtype).view(f"u{dtype().nbytes}"))
    values = values.view(dtype)
    if name in ("sin", "cos", "tan"):
        values = values[~(np.abs(values) > vector_math.ANGLE_LIMIT) | np.isinf(values)]
    if name in TWO:
        xs = np.array(list(itertools.product(values, values)), dtype).T
        if name in ("mod", "floordiv"):
            with np.errstate(all="ignore"):
                quotient = np.abs(xs[0].astype(np.longdouble) / xs[1])
            xs = xs[:, ~((quotient > 2.0**100) & np.isfinite(xs[0]) & (xs[1] != 0))]
    else:
        xs = [np.tile(values, 3)]
    got = library(f"{name}.{short}", *xs)
    exact = name not in vector_math.ULP
    with np.errstate(all="ignore"):
        want = reference(name, *(x if exact or name == "rsqrt" else x.astype(np.longdouble) for x in xs))
    if exact:
        np.testing.assert_array_equal(got, want)
    else:
        assert errors(got, want, dtype).max() <= vector_math.ULP[name][short == "f64"]
    if want.dtype.kind == "f" and name not in ("max", "min"):
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))


@pytest.mark.parametrize("short", ["f32", "f64"])
def test_angles_beyond_the_limit_stay_bounded(library, short):
    x = np.float32([2.0**49, -1e20, 3e38])
    np.testing.assert_array_equal(library(f"sin.{short}", x), [0, 0, 0])
    np.testing.assert_array_equal(library(f"cos.{short}", x), [1, 1, 1])
    np.testing.assert_array_equal(library(f"tan.{short}", x), [0, 0, 0])


@pytest.mark.parametrize("short", ["f32", "f64"])
def test_erf_and_lgamma_at_their_ends(library, short):
    tiny = 1e-40 if short == "f32" else 1e-310
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 10.0, -10.0], "f4" if short == "f32" else "f8")
    got = library(f"erf.{short}", x)
    np.testing.assert_array_equal(got, [0, 0, 1, -1, np.nan, 1, -1])
    assert np.signbit(got[1])
    x = np.array([1, 2, 0, -0.0, -1, -2, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(library(f"lgamma.{short}", x), [0, 0, *[np.inf] * 6, np.nan])
    np.testing.assert_allclose(library(f"lgamma.{short}", np.array([tiny, -tiny])), -np.log(tiny), rtol=1e-6)


def test_lgamma_keeps_its_digits_at_its_zeros(library):
    """lgamma(1 + d) = -g d + z(2)/2 d^2 - z(3)/3 d^3 + ..., lgamma(2 + d) = that + log(1 + d)."""
    d = np.array([1e-4, -1e-4, 2.0**-20, -(2.0**-30), 2.0**-40])
    for start in (1.0, 2.0):
        x = start + d
        e = x - start
        want = e * (
            -0.5772156649015329 + e * (0.8224670334241132 + e * (-0.40068563438653143 + e * 0.27058080842778454))
        )
        want = want + np.log1p(e) if start == 2 else want
        np.testing.assert_allclose(library("lgamma.f64", x), want, rtol=3e-15)


def test_lgamma_below_zero(library):
    """By lgamma(x) = lgamma(x + 1) - log|x|, to an absolute error."""
    x = np.random.default_rng(3).uniform(-30, 0, 3000)
    want = lgamma_stirling(np.float64(1) + x % 1)
    for i in range(31):
        want = want - np.where(x + i < x % 1 + 1 - 1e-9, np.log(np.abs(x + i)), 0)
    np.testing.assert_allclose(library("lgamma.f64", x), want, rtol=2e-13, atol=2e-13)


@pytest.mark.parametrize("short", ["f32", "f64"])
@pytest.mark.parametrize("name", ["mod", "floordiv"])
def test_division_is_as_in_numpy(library, name, short):
    rng = np.random.default_rng(5)
    dtype = np.float32 if short == "f32" else np.float64
    x = (rng.normal(size=20000) * np.exp2(rng.uniform(-10, 40, 20000))).astype(dtype)
    y = (rng.normal(size=20000) * np.exp2(rng.uniform(-10, 10, 20000))).astype(dtype)
    x[::3] = y[::3] * np.rint(rng.normal(size=x[::3].shape) * 1000).astype(dtype)  # whole quotients
    x[::5] = np.rint(x[::5])
    y[::5] = np.rint(y[::5]) + dtype(0.5)
    np.testing.assert_array_equal(library(f"{name}.{short}", x, y), reference(name, x, y))


@pytest.mark.parametrize("short", ["f32", "f64"])
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_rounding_is_as_in_numpy(library, name, short):
    x = spread(np.random.default_rng(6), np.float32 if short == "f32" else np.float64, 20000)
    x = x[~np.isnan(x)]
    x[::2] = np.rint(x[::2]) + x.dtype.type(0.5)
    got, want = library(f"{name}.{short}", x), reference(name, x)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_half_floats_widen_exactly(library):
    h = np.arange(65536).astype(np.uint16)
    for name, dtype in (("f16_to_f32", np.float16), ("bf16_to_f32", ml_dtypes.bfloat16)):
        got, want = library(name, h), h.view(dtype).astype(np.float32)
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("name, dtype", [("f32_to_f16", np.float16), ("f32_to_bf16", ml_dtypes.bfloat16)])
def test_half_floats_round_to_even(library, name, dtype):
    with np.errstate(invalid="ignore"):
        h = np.arange(65536).astype(np.uint16).view(dtype).astype(np.float64)
    h = np.sort(h[np.isfinite(h)])
    ties = ((h[1:] + h[:-1]) / 2).astype(np.float32)  # exact
    beside = np.concatenate([np.nextafter(ties, np.float32(s)) for s in (np.inf, -np.inf)])
    any_bits = np.arange(0, 2**32, 8191, dtype=np.uint32).view(np.float32)
    x = np.concatenate([ties, beside, any_bits, np.float32([65519.996, 65520, -65520, 3.4e38, np.inf, -np.inf])])
    with np.errstate(all="ignore"):
        want = x.astype(dtype)
    got = library(name, x).view(dtype)
    nan = np.isnan(x)
    np.testing.assert_array_equal(got[~nan].view(np.uint16), want[~nan].view(np.uint16))
    assert np.isnan(got[nan].astype(np.float32)).all()


@pytest.mark.parametrize("target, features", [(V3, V3_FEATURES), (SSE2, set())], ids=["avx2", "sse2"])
def test_loops_become_vectors_without_calls(target, features):
    names = vector_math.names()
    if target is SSE2:
        names = ["exp.f32", "floor.f64", "ceil.f32", "mod.f64", "pow.f32", "sin.f64", "f16_to_f32", "f32_to_f16"]
    text = vector_math.define(names, features) + "".join(loop(n)[0] for n in names)
    assembly = jit.assembly(text, for_target=target)
    assert not re.search(r"^\s+call", assembly, re.M)
    for name in names:
        symbol = f"loop_{name.replace('.', '_')}"
        body = assembly[assembly.index(f"\n{symbol}:") : assembly.index(f".size\t{symbol}")]
        register = "ymm" if target is V3 else r"p[sd]\s.*xmm|pand.*xmm|ps[lr]l.*xmm|mov[dqu]+\s.*xmm"
        assert re.search(register, body), name


def test_exp_of_float32_is_computed_eight_at_a_time():
    text = vector_math.define({"exp.f32"}, V3_FEATURES) + loop("exp.f32")[0]
    assembly = jit.assembly(text, for_target=V3)
    assert re.search(r"vfmadd\w+ps\s.*%ymm", assembly)


def test_names_are_unique_and_defined_once():
    text = vector_math.define({"exp.f32", "expm1.f32", "f32_to_f16"}, set())
    assert text.count("define ") == 3
    lines = [line for line in text.splitlines() if line.startswith("declare")]
    assert len(lines) == len(set(lines))
    assert set(CONVERSIONS) < set(vector_math.names())
    with pytest.raises(KeyError):
        vector_math.define({"gamma.f32"})
