"""float16 and bfloat16, stored as i16, to and from float32: integer arithmetic that vectorizes, as LLVM text.

float32 to 16 bits rounds to nearest, ties to even; what is too large becomes infinity, NaN stays NaN (made quiet).
"""

from __future__ import annotations

from collections.abc import Callable

from .ssa import Kit, Value

__all__ = ["CONVERSIONS", "half_function"]


def _f16_to_f32(k: Kit, h: Value) -> Value:
    if k.has.half:
        return k.convert(k.number(h), "fpext", "float")
    n = k.convert(h, "zext", "i32")
    m = (n & 0x7FFF) << 13  # exponent and fraction where float32 has them
    normal = m + ((127 - 15) << 23)
    special = m + ((255 - 31) << 23)
    # A subnormal's fraction f * 2^-24 is (2^-14 + f * 2^-24) - 2^-14.
    small = k.bits(k.number(m + ((127 - 14) << 23)) - 2.0**-14)
    out = k.select(m < (1 << 23), small, k.select(m < (31 << 23), normal, special))
    quiet = k.select(m > (31 << 23), k.lift(1 << 22, "i32"), 0)
    return k.number(out | quiet | ((n & 0x8000) << 16))


def _f32_to_f16(k: Kit, x: Value) -> Value:
    if k.has.half:
        return k.bits(k.convert(x, "fptrunc", "half"))
    n = k.bits(x)
    m = n & 0x7FFFFFFF
    # Half an ulp of the result, less one where it is even; a carry moves into the exponent and up to infinity.
    normal = (m - ((127 - 15) << 23) + 0xFFF + ((m >> 13) & 1)) >> 13
    # Adding 0.5 leaves the fraction of a subnormal, rounded, in the low bits.
    small = k.bits(k.number(m) + 0.5) - k.real.bits(0.5)
    nan = ((m >> 13) & 0x3FF) | 0x7E00
    out = k.select(m < ((127 - 14) << 23), small, normal)
    out = k.select(m < ((127 + 16) << 23), out, 0x7C00)
    out = k.select(m > (255 << 23), nan, out)
    return k.convert(out | ((n >> 16) & 0x8000), "trunc", "i16")


def _bf16_to_f32(k: Kit, h: Value) -> Value:
    return k.number(k.convert(h, "zext", "i32") << 16)


def _f32_to_bf16(k: Kit, x: Value) -> Value:
    n = k.bits(x)
    rounded = n + 0x7FFF + ((n >> 16) & 1)
    return k.convert(k.select(x.ne(x), n | 0x400000, rounded) >> 16, "trunc", "i16")


CONVERSIONS: dict[str, Callable[[Kit, Value], Value]] = {
    "f16_to_f32": _f16_to_f32,
    "f32_to_f16": _f32_to_f16,
    "bf16_to_f32": _bf16_to_f32,
    "f32_to_bf16": _f32_to_bf16,
}


def half_function(name: str, k: Kit) -> tuple[list[Value], Value]:
    """The argument and the result of a conversion."""
    x = k.argument("x", "float" if name.startswith("f32") else "i16")
    return [x], CONVERSIONS[name](k, x)
