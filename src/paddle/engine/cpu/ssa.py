"""LLVM text of one function of numbers, or of vectors of them, written with Python's operators.

    k = Kit("f32", Features(fma=True))
    x = k.argument("x")
    y = k.fma(x, x, 1.0)          # %3 = call float @llvm.fmuladd.f32(float %x, float %x, float 1.0)
    k.select(y < 2.0, y, -y)

Python numbers take the type of the value that they meet. No flag of fast mathematics is ever set.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Union

__all__ = ["F32", "F64", "INF", "NAN", "Features", "Function", "Functions", "Kit", "Number", "Real", "Value"]

INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Features:
    """What the target has, as far as the text depends on it.

    Attributes:
        fma: fused multiply-add as an instruction.
        rounding: floor, ceil, trunc and round to even as instructions.
        half: conversion between float16 and float32 as an instruction.
    """

    fma: bool = False
    rounding: bool = False
    half: bool = False

    @classmethod
    def of(cls, names: Collection[str]) -> Features:
        """From LLVM's names of features, such as {"sse4.1", "fma", "f16c"}."""
        found = set(names)
        full = bool(found & {"neon", "avx512f"})
        return cls(
            fma=full or "fma" in found,
            rounding=full or bool(found & {"sse4.1", "avx", "avx2", "simd128"}),
            half=full or "f16c" in found,
        )


@dataclass(frozen=True)
class Real:
    """A floating type: its names and the numbers of its format."""

    name: str
    llvm: str
    integer: str
    digits: int  # bits of the fraction
    bias: int

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.digits

    @property
    def fraction(self) -> int:
        return (1 << self.digits) - 1

    @property
    def sign(self) -> int:
        return 1 << (31 if self.name == "f32" else 63)

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def magic(self) -> float:
        """x + magic - magic is x rounded to an integer, which then stands in the low bits of x + magic."""
        return 1.5 * 2.0**self.digits

    def bits(self, x: float) -> int:
        form = "<fI" if self.name == "f32" else "<dQ"
        return int(struct.unpack("<" + form[2], struct.pack("<" + form[1], x))[0])


F32 = Real("f32", "float", "i32", 23, 127)
F64 = Real("f64", "double", "i64", 52, 1023)
_REALS = {"float": F32, "double": F64}
HALVED = 8  # coefficients, from which on a polynomial is computed in two halves
_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


class Value:
    """A number inside the function, of an LLVM type."""

    __slots__ = ("k", "name", "type")

    def __init__(self, k: Kit, type: str, name: str):
        self.k, self.type, self.name = k, type, name

    def _two(self, real: str, integer: str, other: Number, swap: bool = False) -> Value:
        o = self.k.lift(other, self.type)
        a, b = (o, self) if swap else (self, o)
        op = real if self.type in _REALS else integer
        return self.k.emit(f"{op} {self.k.spell(self.type)} {a.name}, {b.name}", self.type)

    def __add__(self, o: Number) -> Value:
        return self._two("fadd", "add", o)

    def __radd__(self, o: Number) -> Value:
        return self._two("fadd", "add", o, True)

    def __sub__(self, o: Number) -> Value:
        return self._two("fsub", "sub", o)

    def __rsub__(self, o: Number) -> Value:
        return self._two("fsub", "sub", o, True)

    def __mul__(self, o: Number) -> Value:
        return self._two("fmul", "mul", o)

    __rmul__ = __mul__

    def __truediv__(self, o: Number) -> Value:
        return self._two("fdiv", "", o)

    def __rtruediv__(self, o: Number) -> Value:
        return self._two("fdiv", "", o, True)

    def __neg__(self) -> Value:
        return self.k.emit(f"fneg {self.k.spell(self.type)} {self.name}", self.type)

    def __and__(self, o: Number) -> Value:
        return self._two("", "and", o)

    def __or__(self, o: Number) -> Value:
        return self._two("", "or", o)

    def __xor__(self, o: Number) -> Value:
        return self._two("", "xor", o)

    def __invert__(self) -> Value:
        return self._two("", "xor", -1)

    def __lshift__(self, o: int) -> Value:
        return self._two("", "shl", o)

    def __rshift__(self, o: int) -> Value:
        """Without sign: zeros come in."""
        return self._two("", "lshr", o)

    def _compare(self, real: str, integer: str, o: Number) -> Value:
        kind = f"fcmp {real}" if self.type in _REALS else f"icmp {integer}"
        return self.k.emit(f"{kind} {self.k.spell(self.type)} {self.name}, {self.k.lift(o, self.type).name}", "i1")

    def __lt__(self, o: Number) -> Value:
        return self._compare("olt", "ult", o)

    def __le__(self, o: Number) -> Value:
        return self._compare("ole", "ule", o)

    def __gt__(self, o: Number) -> Value:
        return self._compare("ogt", "ugt", o)

    def __ge__(self, o: Number) -> Value:
        return self._compare("oge", "uge", o)

    def eq(self, o: Number) -> Value:
        return self._compare("oeq", "eq", o)

    def ne(self, o: Number) -> Value:
        """True where a float is NaN."""
        return self._compare("une", "ne", o)


Number = Union[Value, float, int]  # noqa: UP007 (evaluated at import)


class Kit:
    """Writes one function, in one floating type.

    Attributes:
        real: the type in which it computes.
        has: what the target has.
        lanes: of the vectors that all values are, 0 for numbers; the types of values are those of one lane.
    """

    def __init__(
        self,
        real: str | Real,
        has: Features,
        lines: list[str] | None = None,
        declared: set[str] | None = None,
        lanes: int = 0,
    ):
        self.real = {"f32": F32, "f64": F64}[real] if isinstance(real, str) else real
        self.has = has
        self.lanes = lanes
        self.lines: list[str] = [] if lines is None else lines
        self.declared: set[str] = set() if declared is None else declared

    def wide(self) -> Kit:
        """The same function, computing in float64."""
        return Kit(F64, self.has, self.lines, self.declared, self.lanes)

    def spell(self, type: str) -> str:
        """The LLVM type of a value."""
        return f"<{self.lanes} x {type}>" if self.lanes else type

    def argument(self, name: str, type: str | None = None) -> Value:
        return Value(self, type or self.real.llvm, f"%{name}")

    def emit(self, text: str, type: str) -> Value:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return Value(self, type, name)

    def lift(self, x: Number, type: str | None = None) -> Value:
        """A Python number as a constant."""
        if isinstance(x, Value):
            assert type is None or x.type == type, (x.type, type)
            return x
        type = type or self.real.llvm
        if type in _REALS:
            if type == "float" and math.isfinite(x):
                x = struct.unpack("f", struct.pack("f", x))[0]
            return self._constant(type, f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}")
        n = int(x) & ((1 << _BITS[type]) - 1)
        return self._constant(type, str(n - (1 << _BITS[type]) if n >> (_BITS[type] - 1) and type != "i1" else n))

    def _constant(self, type: str, text: str) -> Value:
        return Value(self, type, f"<{', '.join([f'{type} {text}'] * self.lanes)}>" if self.lanes else text)

    def intrinsic(self, op: str, *args: Number) -> Value:
        type = next((a.type for a in args if isinstance(a, Value)), self.real.llvm)
        values = [self.lift(a, type) for a in args]
        t = self.spell(type)
        full = f"@llvm.{op}.{f'v{self.lanes}' if self.lanes else ''}{_REALS[type].name}"
        self.declared.add(f"declare {t} {full}({', '.join([t] * len(values))})")
        return self.emit(f"call {t} {full}({', '.join(f'{t} {v.name}' for v in values)})", type)

    # -- types --
    def bits(self, x: Value) -> Value:
        to = "i16" if x.type == "half" else _REALS[x.type].integer
        return self.convert(x, "bitcast", to)

    def number(self, n: Value) -> Value:
        """The float with these bits."""
        to = {"i32": "float", "i64": "double", "i16": "half"}[n.type]
        return self.convert(n, "bitcast", to)

    def convert(self, x: Value, how: str, to: str) -> Value:
        return self.emit(f"{how} {self.spell(x.type)} {x.name} to {self.spell(to)}", to)

    # -- arithmetic --
    def fma(self, a: Number, b: Number, c: Number) -> Value:
        """a * b + c, fused where that is fast: the result may have one rounding or two."""
        return self.intrinsic("fmuladd", a, b, c)

    def exact_product(self, a: Value, b: Value) -> tuple[Value, Value]:
        """a * b as a sum of two numbers, for |a| and |b| below 2^996 (2^115 in float32)."""
        p = a * b
        if self.has.fma:
            return p, self.intrinsic("fma", a, b, -p)
        (a1, a2), (b1, b2) = self._halves(a), self._halves(b)
        return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2

    def _halves(self, a: Value) -> tuple[Value, Value]:
        """Two numbers of half the digits (Dekker 1971, Numerische Mathematik 18:224-242)."""
        c = a * (2.0 ** ((_REALS[a.type].digits + 2) // 2) + 1)
        high = c - (c - a)
        return high, a - high

    def minus_product(self, c: Value, a: Value, b: Value) -> Value:
        """c - a * b, exact where the result is representable and a * b is close to c."""
        if self.has.fma:
            return self.intrinsic("fma", -a, b, c)
        p, e = self.exact_product(a, b)
        return (c - p) - e

    def polynomial(self, x: Value, coefficients: Sequence[float], halved: bool = True) -> Value:
        """The polynomial with these coefficients, from the constant term up.

        By Horner's rule, which takes the fewest instructions; long ones in two halves that run side by side, since the
        processor can overlap only so many elements. Not `halved` where signs alternate and x is near 1: the halves
        would cancel.
        """
        if not halved or len(coefficients) < HALVED:
            out: Number = coefficients[-1]
            for c in coefficients[-2::-1]:
                out = self.fma(out, x, c)
            return self.lift(out, x.type)
        z = x * x
        even, odd = coefficients[::2], coefficients[1::2]
        return self.fma(self.polynomial(z, odd), x, self.polynomial(z, even))

    def select(self, c: Value, a: Number, b: Number) -> Value:
        type = next((v.type for v in (a, b) if isinstance(v, Value)), self.real.llvm)
        x, y = self.lift(a, type), self.lift(b, type)
        t = self.spell(type)
        return self.emit(f"select {self.spell('i1')} {c.name}, {t} {x.name}, {t} {y.name}", type)

    def abs(self, x: Value) -> Value:
        return self.intrinsic("fabs", x)

    def copysign(self, x: Number, sign: Value) -> Value:
        return self.intrinsic("copysign", x, sign)

    def sqrt(self, x: Value) -> Value:
        return self.intrinsic("sqrt", x)

    def at_most(self, x: Value, limit: float) -> Value:
        """The smaller of both; NaN stays (one minps)."""
        return self.select(self.lift(limit, x.type) < x, limit, x)

    def at_least(self, x: Value, limit: float) -> Value:
        return self.select(self.lift(limit, x.type) > x, limit, x)

    # -- to integers --
    def round(self, x: Value) -> Value:
        """To the nearest integer, halves to the even one."""
        if self.has.rounding:
            return self.intrinsic("roundeven", x)
        big = 2.0 ** _REALS[x.type].digits
        a = self.abs(x)
        return self.copysign(self.select(a < big, (a + big) - big, a), x)

    def floor(self, x: Value) -> Value:
        if self.has.rounding:
            return self.intrinsic("floor", x)
        r = self.round(x)
        return self.copysign(r - self.select(r > x, 1.0, self.lift(0.0, x.type)), x)

    def ceil(self, x: Value) -> Value:
        return self.intrinsic("ceil", x) if self.has.rounding else -self.floor(-x)

    def trunc(self, x: Value) -> Value:
        if self.has.rounding:
            return self.intrinsic("trunc", x)
        return self.copysign(self.floor(self.abs(x)), x)


@dataclass(frozen=True)
class Function:
    """How a function is written.

    Attributes:
        build: from a kit and the arguments to the result.
        args: their number.
        wide: for float32 it computes in float64, and the result is rounded.
    """

    build: Callable[..., Value]
    args: int = 1
    wide: bool = False


class Functions(dict[str, Function]):
    """Functions by name."""

    def add(
        self, name: str, args: int = 1, wide: bool = False
    ) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """A decorator for the builder of a function."""

        def register(build: Callable[..., Value]) -> Callable[..., Value]:
            self[name] = Function(build, args, wide)
            return build

        return register
