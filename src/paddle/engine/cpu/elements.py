"""Elements of a contraction as LLVM text: read, converted to what is multiplied, multiplied, rounded, written."""

from __future__ import annotations

from .arithmetic import BFLOAT16_PAIRS, INT8_FOURS, INT16_PAIRS, SIZES
from .half_floats import CONVERSIONS
from .nest import Nest, Num
from .schedule import Schedule
from .ssa import Features, Kit, Value

MEMORY = {"float32": "float", "float64": "double", "bfloat16": "i16", "float16": "i16", "int8": "i8", "uint8": "i8",
          "int32": "i32", "int64": "i64"}  # fmt: skip
_PMADD = {4: "sse2.pmadd.wd", 8: "avx2.pmadd.wd", 16: "avx512.pmaddw.d.512"}


class Elements(Nest):
    """The lines of a function on elements of a schedule's types.

    Attributes:
        elem, sum: LLVM types of a group of elements and of an accumulator; vec, sums: of `lanes` of them.
        size: bytes of a group.
    """

    def __init__(self, s: Schedule):
        super().__init__()
        self.s, self.recipe = s, s.recipe
        self.elem, self.sum, self.size, self.group = s.recipe.elem, s.recipe.sum, s.recipe.size, s.recipe.group
        self.vec, self.sums = f"<{s.lanes} x {self.elem}>", f"<{s.lanes} x {self.sum}>"
        letter = "f" if self.sum in ("float", "double") else "i"
        self.suffix = f"v{s.lanes}{letter}{8 * self.size}"
        self.intrinsics: set[str] = set()
        self.features = Features.of(s.has)
        self.values = s.numbers()
        self.index = {name: i for i, name in enumerate(self.values)}
        self.local: dict[str, Num] = {}
        self.place_copies()

    # -- numbers --
    def n(self, name: str) -> Num:
        """A number by name: strides in bytes."""
        value, unit = self.values[name]
        if unit and (not self.s.dynamic or self.s.literal(value)):
            return value * unit
        if not self.s.dynamic:
            return value
        return f"%n.{name}"

    def dims(self, name: str, *what: str) -> list[Num]:
        """Strides of an axis inside a unit, where A may be packed and sums kept apart."""
        return [self.local.get(key, self.n(key)) for key in (f"{name}.{w}" for w in what)]

    def place_copies(self) -> None:
        """Strides in packed A and in sums kept apart."""
        s = self.s
        for which, used, row in (("a", bool(s.left), "left_row"), ("c", s.scratch, "scratch_row")):
            if not used:
                continue
            self.local[f"r1.{which}"] = self.n(row)
            stride = s.rows * self.values[row][0]
            for i, d in reversed(list(enumerate(s.inner))):
                self.local[f"w{i}.{which}"] = stride
                stride *= d.extent
        if s.scratch:
            self.local["v.c"] = self.size
        if s.window is not None:
            self.local["v.b"] = self.size

    # -- reading --
    def raw(
        self, kind: str, ptr: str, lane: Num, count: int, size: int, align: int, keep: str | list[bool] | None = None
    ) -> str:
        """`count` values of an LLVM type, `lane` bytes apart; where `keep` is false, 0."""
        vec = f"<{count} x {kind}>"
        if lane == size:
            x = self.op(f"load {vec}, ptr {ptr}, align {align}")
        elif lane == 0:
            x = self.op(f"load {kind}, ptr {ptr}" + ("" if align == size else f", align {align}"))
            x = self.op(f"insertelement {vec} poison, {kind} {x}, i32 0")
            x = self.op(f"shufflevector {vec} {x}, {vec} poison, <{count} x i32> zeroinitializer")
        else:
            x = "poison"
            for j in range(count):
                e = self.op(f"load {kind}, ptr {self.gep(ptr, self.mul(j, lane))}")
                x = self.op(f"insertelement {vec} {x}, {kind} {e}, i32 {j}")
        if keep is None:
            return x
        if isinstance(keep, str):
            return self.op(f"select <{count} x i1> {keep}, {vec} {x}, {vec} zeroinitializer")
        order = ", ".join(f"i32 {j if ok else count + j}" for j, ok in enumerate(keep))
        return self.op(f"shufflevector {vec} {x}, {vec} zeroinitializer, <{count} x i32> <{order}>")

    def load(self, ptr: str, lane: Num, lanes: int = 0) -> str:
        """Groups as a panel holds them."""
        return self.raw(self.elem, ptr, lane, lanes or self.s.lanes, self.size, self.size)

    def direct(self, which: str, ptr: str, lane: Num) -> str:
        """Groups of an operand whose elements lie side by side in memory and are multiplied as they are."""
        size = SIZES[self.s.stored(which)]
        return self.raw(self.elem, ptr, lane, self.s.lanes, self.size, size)

    def parts(
        self, which: str, ptr: str, lane: Num, count: int, keep: str | list[bool] | None = None, some: bool | str = True
    ) -> str:
        """Elements of an operand, converted for multiplying; all 0 where `some` is false."""
        kind = self.s.stored(which)
        if some is False:
            return "zeroinitializer"
        x = self.raw(MEMORY[kind], ptr, lane, count, SIZES[kind], SIZES[kind], keep)
        x = self.converted(which, x, count)
        if some is True:
            return x
        t = f"<{count} x {self.recipe.part}>"
        return self.op(f"select i1 {some}, {t} {x}, {t} zeroinitializer")

    def side_by_side(self, x: str, lanes: int) -> str:
        """Neighbouring elements as groups."""
        if self.group == 1:
            return x
        return self.op(f"bitcast <{lanes * self.group} x {self.recipe.part}> {x} to <{lanes} x {self.elem}>")

    def interleaved(self, parts: list[str], lanes: int) -> str:
        """Groups out of their first elements, their second ones, ..."""
        bits = 8 * self.size // self.group
        while len(parts) > 1:
            order = ", ".join(f"i32 {j + k * lanes}" for j in range(lanes) for k in range(2))
            t, joined = f"<{lanes} x i{bits}>", []
            for x, y in zip(parts[::2], parts[1::2]):
                z = self.op(f"shufflevector {t} {x}, {t} {y}, <{2 * lanes} x i32> <{order}>")
                joined.append(self.op(f"bitcast <{2 * lanes} x i{bits}> {z} to <{lanes} x i{2 * bits}>"))
            parts, bits = joined, 2 * bits
        return parts[0]

    # -- types --
    def converted(self, which: str, x: str, count: int) -> str:
        """Stored elements as they are multiplied."""
        kind, part = self.s.stored(which), self.recipe.part
        if kind in ("int8", "uint8"):
            if part == "i8":
                return self.op(f"xor <{count} x i8> {x}, {self.constant('i8', -128, count)}") if (
                    self.s.biased and which == "a") else x  # fmt: skip
            return self.op(f"{'sext' if kind == 'int8' else 'zext'} <{count} x i8> {x} to <{count} x {part}>")
        if kind == "float32" and self.s.dtype == "bfloat16":
            y = self.to_bfloat16(x, count)
            return y if part == "i16" else self.convert("bf16_to_f32", y, count)
        if kind == "bfloat16":
            return x if part == "i16" else self.convert("bf16_to_f32", x, count)
        return self.convert("f16_to_f32", x, count) if kind == "float16" else x

    def convert(self, name: str, x: str, count: int) -> str:
        """A conversion of `half_floats`, of vectors, or of one number where count is 0."""
        k = Kit("f32", self.features, self.lines, self.intrinsics, count)
        return CONVERSIONS[name](k, Value(k, "float" if name.startswith("f32") else "i16", x)).name

    def to_bfloat16(self, x: str, count: int) -> str:
        """Rounded to the nearest. The instruction takes numbers below 2^-126 for 0, as that for products does."""
        if not count or "avx512bf16" not in self.s.has:
            return self.convert("f32_to_bf16", x, count)
        t = f"<{count} x bfloat>"
        return self.op(f"bitcast {t} {self.op(f'fptrunc <{count} x float> {x} to {t}')} to <{count} x i16>")

    def constant(self, kind: str, value: int, count: int) -> str:
        return f"<{', '.join([f'{kind} {value}'] * count)}>"

    def rounded(self, x: str, count: int) -> str:
        """Accumulators as C is stored; one of them alone where count is 0."""
        kind = self.s.c_type
        many = lambda t: f"<{count} x {t}>" if count else t
        if kind == "bfloat16":
            return self.to_bfloat16(x, count)
        if kind == "float16":
            return self.convert("f32_to_f16", x, count)
        if kind in ("int8", "uint8"):
            return self.op(f"trunc {many('i32')} {x} to {many('i8')}")
        return x

    def widened(self, x: str, count: int) -> str:
        """Stored elements of C as accumulators."""
        kind = self.s.c_type
        if kind in ("bfloat16", "float16"):
            return self.convert("bf16_to_f32" if kind == "bfloat16" else "f16_to_f32", x, count)
        if kind in ("int8", "uint8"):
            many = lambda t: f"<{count} x {t}>" if count else t
            return self.op(f"zext {many('i8')} {x} to {many('i32')}")
        return x

    # -- arithmetic --
    def multiply_add(self, a: str, b: str, sum: str) -> str:
        """One step of an accumulator. What is broadcast comes last: an instruction can fetch that itself."""
        lanes, recipe = self.s.lanes, self.recipe
        if recipe is BFLOAT16_PAIRS:
            t, pairs = self.sums, f"<{2 * lanes} x bfloat>"
            name = f"llvm.x86.avx512bf16.dpbf16ps.{32 * lanes}"
            self.intrinsics.add(f"declare {t} @{name}({t}, {pairs}, {pairs})")
            x, y = (self.op(f"bitcast {self.vec} {v} to {pairs}") for v in (a, b))
            return self.op(f"call {t} @{name}({t} {sum}, {pairs} {y}, {pairs} {x})")
        if recipe is INT16_PAIRS:
            t, pairs, name = self.sums, f"<{2 * lanes} x i16>", f"llvm.x86.{_PMADD[lanes]}"
            self.intrinsics.add(f"declare {t} @{name}({pairs}, {pairs})")
            x, y = (self.op(f"bitcast {self.vec} {v} to {pairs}") for v in (a, b))
            z = self.op(f"call {t} @{name}({pairs} {x}, {pairs} {y})")
            return self.op(f"add {t} {sum}, {z}")
        if recipe is INT8_FOURS:
            return self.dot_bytes(sum, *((b, a) if self.s.stored("b") == "uint8" else (a, b)))
        if recipe.sum in ("i32", "i64"):
            return self.op(f"add {self.vec} {sum}, {self.op(f'mul {self.vec} {a}, {b}')}")
        name = f"llvm.fmuladd.{self.suffix}"
        self.intrinsics.add(f"declare {self.vec} @{name}({self.vec}, {self.vec}, {self.vec})")
        return self.op(f"call {self.vec} @{name}({self.vec} {a}, {self.vec} {b}, {self.vec} {sum})")

    def dot_bytes(self, sum: str, unsigned: str, signed: str) -> str:
        name, t = f"llvm.x86.avx512.vpdpbusd.{32 * self.s.lanes}", self.sums
        self.intrinsics.add(f"declare {t} @{name}({t}, {t}, {t})")
        return self.op(f"call {t} @{name}({t} {sum}, {t} {unsigned}, {t} {signed})")
