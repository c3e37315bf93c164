"""What becomes of a sum of products before it is stored: an expression, applied to vectors of finished sums.

An `Epilogue` is plain data, so that it can stand in the description of a kernel. Whatever kernel has a vector of sums
in a register can apply one: `Applied.values` writes the instructions, with a function that reads what else is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import types
from ..types import DType, dtype_of
from .arithmetic import SIZES
from .expr import COMPARISONS, Expr
from .half_floats import CONVERSIONS
from .ssa import Features, Kit, Value
from .values import constant, llvm_type, memory_type
from .vector_math import FUNCTIONS

__all__ = ["Applied", "Epilogue", "bytes_of", "program"]

_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {"add", "sub", "mul", "and", "or", "xor", "not"}
_BOOLEAN = {"add", "and", "or", "xor", "not"}
_FCMP = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_PLAIN = {"neg", "not", "abs", "sqrt", "isnan", "isinf", "isfinite", "round_float16", "round_bfloat16"}
COSTLY = 16  # instructions, about, of a mathematical function
ADDED = 5  # those that add a vector to sums of float64

Step = tuple[str, str, tuple[int, ...], Any]


@dataclass(frozen=True)
class Epilogue:
    """An expression in a sum and in elements of further tensors.

    Attributes:
        kind: the type that the sum is rounded to before all else.
        code: (operation, type, places of the arguments in `code`, attribute), arguments first. Operations are those of
            `expr.py`; "sum" is the sum, "load" an element of the operand whose number is the attribute.
        result: place of what C gets.
        operands: how each further tensor is stored.
        stores: what the further tensors get that are written: (operand, place).
        sums: what is added up along all axes but that of the vectors: (operand, place). The operand is of float64 and
            has a row of sums for each part of the work.
    """

    kind: str
    code: tuple[Step, ...]
    result: int
    operands: tuple[str, ...] = ()
    stores: tuple[tuple[int, int], ...] = ()
    sums: tuple[tuple[int, int], ...] = ()

    def each(self, shared: Callable[[int], bool]) -> int:
        """Instructions for each vector of sums, about, where those share the elements of some operands."""
        needs: set[int] = set()
        for i, (op, _, args, attr) in enumerate(self.code):
            if op == "sum" or (op == "load" and not shared(attr)) or not needs.isdisjoint(args):
                needs.add(i)
        return sum(_cost(self.code[i]) for i in needs) + ADDED * len(self.sums)


def _cost(step: Step) -> int:
    op = step[0]
    if op in ("sum", "const", "load"):
        return 0
    return 1 if op in _FLOAT or op in _PLAIN else COSTLY if op in FUNCTIONS and op not in ("max", "min") else 3


def bytes_of(kind: str) -> int:
    """Bytes of an element as it is stored."""
    return 1 if kind == "bool" else SIZES[kind]


def program(
    values: Sequence[Expr], stored: Sequence[DType], load: Callable[[Expr], int | None], begun: Sequence[Step] = (),
    made: Callable[[Expr], int | None] = lambda e: None,
) -> Any:  # fmt: skip
    """Code for some expressions.

    Args:
        values: what is stored.
        stored: as which types.
        load: the number of the operand of a load; None where it is the sum.
        begun: code that comes first.
        made: the place in it of what is loaded, if it is there.

    Returns:
        tuple: code, and the place of each value; None where there is something that vectors cannot do.
    """
    code = list(begun)
    known = {(*step[:3], repr(step[3])): i for i, step in enumerate(code)}

    def place(step: Step) -> int:
        key = (*step[:3], repr(step[3]))
        if key not in known:
            known[key] = len(code)
            code.append(step)
        return known[key]

    memo: dict[int, int] = {}
    places = []
    for value, kind in zip(values, stored):
        if value.op == "round_" + kind.name:  # what is stored is rounded there
            value = value.args[0]
        todo = [value]
        while todo:
            e = todo[-1]
            if e.id in memo:
                todo.pop()
                continue
            step: Step
            there = made(e) if e.op == "load" else None
            if there is not None:
                memo[e.id] = there
                continue
            if e.op == "load":
                number = load(e)
                step = ("sum", e.dtype.name, (), None) if number is None else ("load", e.dtype.name, (), number)
            elif not _known(e):
                return None
            else:
                rest = [a for a in e.args if a.id not in memo]
                if rest:
                    todo += rest
                    continue
                attr = constant(e.attr, e.dtype) if e.op == "const" else None
                step = (e.op, e.dtype.name, tuple(memo[a.id] for a in e.args), attr)
            memo[e.id] = place(step)
        places.append(memo[value.id])
    return tuple(code), places


def _known(e: Expr) -> bool:
    """Whether vectors can do an operation."""
    if e.op in ("const", "select"):
        return True
    d = e.args[0].dtype if e.args else e.dtype
    if e.op == "cast":  # LLVM's conversions from float leave open what is too large, so they are left to loops
        return d.kind != "f" or e.dtype.kind in "fb"
    if d.kind == "f":
        return e.op in _FLOAT or e.op in COMPARISONS or e.op in _PLAIN or e.op in FUNCTIONS
    if d is types.bool_:
        return e.op in _BOOLEAN or e.op in COMPARISONS
    return e.op in _INTEGER or e.op in COMPARISONS


class Applied:
    """Writes an epilogue into a function, for vectors of `lanes` sums. Equal instructions are written once.

    Args:
        lines, intrinsics: of the function.
        known: instructions that are there already.
    """

    def __init__(self, e: Epilogue, features: Features, lines: list[str], intrinsics: set[str], lanes: int):
        self.e, self.features, self.lines, self.intrinsics, self.lanes = e, features, lines, intrinsics, lanes
        self.known: dict[Any, str] = {}

    def kit(self, d: DType | None = None) -> Kit:
        return Kit("f64" if d is types.float64 else "f32", self.features, self.lines, self.intrinsics, self.lanes)

    # -- the code --
    def values(self, sum: str, read: Callable[[int], str]) -> list[str]:
        """The value of each step of the code. read: a vector of an operand, by its number."""
        return self.steps(lambda i: True, sum, read)

    def beforehand(self, read: Callable[[int], str], shared: Callable[[int], bool]) -> None:
        """Writes what depends on nothing but the operands for which `shared` holds."""
        ready: set[int] = set()
        for i, (op, _, args, attr) in enumerate(self.e.code):
            if op != "sum" and (op != "load" or shared(attr)) and all(a in ready for a in args):
                ready.add(i)
        self.steps(lambda i: i in ready, "", read)

    def steps(self, wanted: Callable[[int], bool], sum: str, read: Callable[[int], str]) -> list[str]:
        found: list[str] = []
        for i, (op, kind, args, attr) in enumerate(self.e.code):
            if not wanted(i):
                found.append("")
            elif op == "load":
                found.append(read(attr))
            else:
                key = (op, kind, tuple(found[a] for a in args), sum if op == "sum" else attr)
                if key not in self.known:
                    self.known[key] = self.one(op, i, [found[a] for a in args], sum, attr)
                found.append(self.known[key])
        return found

    def one(self, op: str, i: int, args: list[str], sum: str, attr: Any) -> str:
        code = self.e.code
        d = dtype_of(code[i][1])
        if op == "sum":
            return self.narrowed(sum)
        k = self.kit(d)
        if op == "const":
            return k._constant(llvm_type(d), attr).name
        kinds = [dtype_of(code[a][1]) for a in code[i][2]]
        values = [Value(k, llvm_type(x), a) for x, a in zip(kinds, args)]
        if op == "select":
            return k.select(*values).name
        if op == "cast":
            return self.cast(k, values[0], kinds[0], d).name
        return self.operation(self.kit(kinds[0]), op, kinds[0], values).name

    def narrowed(self, sum: str) -> str:
        """A sum as its own type rounds it."""
        kind = self.e.kind
        if kind not in ("float16", "bfloat16"):
            return sum
        return self.half(self.kit(), "round_" + kind, Value(self.kit(), "float", sum)).name

    def half(self, k: Kit, op: str, x: Value) -> Value:
        short = "f16" if op == "round_float16" else "bf16"
        return CONVERSIONS[f"{short}_to_f32"](k, CONVERSIONS[f"f32_to_{short}"](k, x))

    def operation(self, k: Kit, op: str, d: DType, values: list[Value]) -> Value:
        t, names = k.spell(llvm_type(d)), ", ".join(v.name for v in values)
        if d.kind == "f":
            if op in _FLOAT:
                return k.emit(f"{_FLOAT[op]} {t} {names}", llvm_type(d))
            if op in COMPARISONS:
                return k.emit(f"fcmp {_FCMP[op]} {t} {names}", "i1")
            if op in ("max", "min"):
                return k.intrinsic("maximum" if op == "max" else "minimum", *values)
            if op.startswith("round_"):
                return self.half(k, op, values[0])
            if op in ("neg", "abs", "sqrt"):
                return -values[0] if op == "neg" else getattr(k, op)(values[0])
            f = FUNCTIONS[op]
            if not f.wide or d is types.float64:
                return f.build(k, *values)
            return k.convert(f.build(k.wide(), *(k.convert(v, "fpext", "double") for v in values)), "fptrunc", "float")
        if op in COMPARISONS:
            sign = "" if op in ("eq", "ne") else "s" if d.kind == "i" else "u"
            return k.emit(f"icmp {sign}{op} {t} {names}", "i1")
        if op == "not":
            return ~values[0]
        if d is types.bool_ and op == "add":
            op = "or"
        return k.emit(f"{op} {t} {names}", llvm_type(d))

    def cast(self, k: Kit, x: Value, src: DType, dst: DType) -> Value:
        to = llvm_type(dst)
        if dst is types.bool_:
            zero = k.lift(0, x.type)
            return x.ne(0.0) if src.kind == "f" else k.emit(f"icmp ne {k.spell(x.type)} {x.name}, {zero.name}", "i1")
        if src.kind == "f":
            return k.convert(x, "fpext" if dst.itemsize > src.itemsize else "fptrunc", to)
        if dst.kind == "f":
            return k.convert(x, "sitofp" if src.kind == "i" else "uitofp", to)
        if x.type == to:
            return x
        if dst.itemsize < src.itemsize and src is not types.bool_:
            return k.convert(x, "trunc", to)
        return k.convert(x, "sext" if src.kind == "i" else "zext", to)

    def total(self, place: int, values: Sequence[str]) -> str:
        """The sum, in float64, of the vectors of a tile that belong to a place of the code.

        Those of float32 are added in pairs: that costs no more than the rounding of each, and few are converted.
        """
        kind = dtype_of(self.e.code[place][1])
        k, found = self.kit(kind), list(values)
        while len(found) > 1:
            pairs = [
                k.emit(f"fadd {k.spell(llvm_type(kind))} {x}, {y}", "").name for x, y in zip(found[::2], found[1::2])
            ]
            found = [*pairs, *found[2 * len(pairs) :]]
        return found[0] if kind is types.float64 else k.convert(Value(k, "float", found[0]), "fpext", "double").name

    # -- memory --
    def from_memory(self, kind: str, x: str) -> str:
        """Stored elements as they are computed with."""
        d, k = dtype_of(kind), self.kit()
        v = Value(k, memory_type(d), x)
        if d is types.bool_:
            return k.emit(f"icmp ne {k.spell('i8')} {x}, {k.lift(0, 'i8').name}", "i1").name
        if kind in ("float16", "bfloat16"):
            return CONVERSIONS["f16_to_f32" if kind == "float16" else "bf16_to_f32"](k, v).name
        return x

    def to_memory(self, kind: str, x: str) -> str:
        """Values as they are stored."""
        d, k = dtype_of(kind), self.kit()
        if d is types.bool_:
            return k.convert(Value(k, "i1", x), "zext", "i8").name
        if kind in ("float16", "bfloat16"):
            return CONVERSIONS["f32_to_f16" if kind == "float16" else "f32_to_bf16"](k, Value(k, "float", x)).name
        return x
