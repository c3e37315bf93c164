"""How products of each element type are summed, and which recipes a target has.

A recipe takes `group` neighbours along a reduce axis at once: instructions for 16- and 8-bit elements multiply two or
four of them in each lane and add all to one accumulator. Elements that are stored in another type than the recipe's
are converted as they are read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

SIZES = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2, "int8": 1, "uint8": 1, "int32": 4, "int64": 8}
INSTRUCTIONS = ("sse2", "avx2", "avx512bw", "fma", "f16c", "avx512f", "neon", "avx512bf16", "avx512vnni", "avxvnni")


@dataclass(frozen=True)
class Recipe:
    """One way to sum products.

    Attributes:
        group: elements of a reduce axis that one step takes.
        part: LLVM type of an element; elem: of a group; sum: of an accumulator.
        size (int): bytes of a group.
        fewest: lanes below which there is no instruction.
    """

    name: str
    group: int
    part: str
    elem: str
    sum: str
    size: int
    fewest: int = 1

    def keeps(self, kind: str) -> bool:
        """Whether elements stored as `kind` are multiplied as they are."""
        return kind in _KEPT[self.name]


FLOAT32 = Recipe("float32", 1, "float", "float", "float", 4)
FLOAT64 = Recipe("float64", 1, "double", "double", "double", 8)
INT32 = Recipe("int32", 1, "i32", "i32", "i32", 4)
INT64 = Recipe("int64", 1, "i64", "i64", "i64", 8)
BFLOAT16_PAIRS = Recipe("bfloat16 pairs", 2, "i16", "i32", "float", 4, 4)  # vdpbf16ps
INT16_PAIRS = Recipe("int16 pairs", 2, "i16", "i32", "i32", 4, 4)  # pmaddwd
INT8_FOURS = Recipe("int8 fours", 4, "i8", "i32", "i32", 4, 4)  # vpdpbusd, whose first factor is unsigned

_KEPT = {r.name: (r.name,) for r in (FLOAT32, FLOAT64, INT32, INT64)} | {
    BFLOAT16_PAIRS.name: ("bfloat16",), INT16_PAIRS.name: (), INT8_FOURS.name: ("int8", "uint8")}  # fmt: skip

RESULT = {"int8": "int32", "uint8": "int32"}  # of the other types the result is as the elements


def recipes(dtype: str, a: str, b: str, vector_bytes: int, has: Collection[str]) -> list[Recipe]:
    """What is worth weighing for products of elements that count as `dtype`, stored as a and b.

    has: of INSTRUCTIONS, what the target has.
    """
    if dtype == "bfloat16":
        return [BFLOAT16_PAIRS, FLOAT32] if "avx512bf16" in has and vector_bytes == 64 else [FLOAT32]
    if dtype == "float16":
        return [FLOAT32]
    if dtype == "int8":
        found = [INT32]
        if {16: "sse2", 32: "avx2", 64: "avx512bw"}[vector_bytes] in has:
            found.insert(0, INT16_PAIRS)
            if (a, b) != ("uint8", "uint8") and ("avx512vnni" if vector_bytes == 64 else "avxvnni") in has:
                found.insert(0, INT8_FOURS)
        return found
    return [{"float32": FLOAT32, "float64": FLOAT64, "int32": INT32, "int64": INT64}[dtype]]
