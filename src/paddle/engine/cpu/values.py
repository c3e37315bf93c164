"""Values inside loops as LLVM instructions: arithmetic, conversions, memory."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from .. import types
from ..types import DType
from .expr import COMPARISONS, Expr, Operand, Var, lower_bound
from .loops import Loops

_LLVM = {
    "bool": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32",
    "int64": "i64", "uint64": "i64", "float32": "float", "float64": "double", "float16": "i16", "bfloat16": "i16",
}  # fmt: skip
_SHORT = {"float32": "f32", "float64": "f64"}
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_FCMP = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_ICMP = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne"}


def llvm_type(d: DType) -> str:
    return _LLVM[d.name]


def memory_type(d: DType) -> str:
    return "i8" if d is types.bool_ else _LLVM[d.name]


def supports(d: DType) -> bool:
    """Whether the compiler has this element type (complex and float8 run by their numpy meaning)."""
    return d.name in _LLVM


def constant(value: Any, d: DType) -> str:
    if d.kind == "f":
        if d.name == "float32":
            try:
                value = struct.unpack("f", struct.pack("f", value))[0]
            except OverflowError:
                value = math.copysign(math.inf, value)
        return "0x" + struct.pack(">d", value).hex().upper()
    if d.kind == "b":
        return "true" if value else "false"
    return str(int(value))


class Level:
    """One loop being written: its code so far and the values known in it."""

    __slots__ = ("code", "memo")

    def __init__(self) -> None:
        self.code: list[str] = []
        self.memo: dict[int, str] = {}


class Values:
    """Writes instructions into the innermost of the levels where what they need is known.

    shared: operands that lie in the buffer of an output (the kernel runs in place), with that output.
    """

    def __init__(self, loops: Loops, shared: dict[Operand, Operand] | None = None, vector_bytes: int = 32):
        self.loops = loops
        self.shared = shared or {}
        self.levels: list[Level] = [Level()]
        self.level_of: dict[Var, int] = {}
        self.slots: list[str] = []  # stack slots, in the entry block
        self.count = 0
        self.operands: list[Operand] = []
        self.params: list[str] = []
        self.messages: list[Any] = []
        self.functions: set[str] = set()
        self.intrinsics: set[str] = set()
        self.cost = 0
        self.replaced: dict[int, tuple[str, DType]] = {}
        self.indices: dict[int, bool] = {}
        self.loops_written = 0
        self.vector_bytes = vector_bytes

    # -- small things --
    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def label(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def slot(self, type_: str) -> str:
        n = self.name()
        self.slots.append(f"{n} = alloca {type_}")
        return n

    def put(self, line: str) -> None:
        self.levels[-1].code.append(line)

    def operand(self, x: Operand) -> str:
        x = self.shared.get(x, x)
        if x not in self.operands:
            self.operands.append(x)
        return f"%p{self.operands.index(x) + 1}"

    # -- values --
    def level_for(self, e: Expr) -> int:
        return max((self.level_of[v] for v in e.vars), default=0)

    def value(self, e: Expr) -> str:
        """The register that holds `e`, computed at the outermost level where that is possible."""
        if e.op == "const":
            return constant(e.attr, e.dtype)
        known = self.replaced.get(e.id)
        if known is not None:
            return self.reload(known[0], e, known[1])
        at = self.level_for(e)
        memo = self.levels[at].memo
        got = memo.get(e.id)
        if got is None:
            inner = self.levels[at + 1 :]
            del self.levels[at + 1 :]
            got = self.compute(e)
            self.levels.extend(inner)
            memo[e.id] = got
        return got

    def reload(self, slot: str, e: Expr, stored: DType) -> str:
        """The value of `e` from a stack slot in which it has the type `stored`."""
        n = self.name()
        self.put(f"{n} = load {llvm_type(stored)}, ptr {slot}")
        return n if stored is e.dtype else self.cast(n, stored, e.dtype)

    def compute(self, e: Expr) -> str:
        op = e.op
        if op == "var":
            raise AssertionError(f"loop variable {e!r} outside its loop")
        if op == "param":
            return self.param(e.attr)
        if op == "load":
            return self.load(e)
        if op == "reduce":
            return self.reduction(e)
        self.cost += 1
        args = [self.value(a) for a in e.args]
        if op == "check":
            return self.check(e, args)
        n = self.name()
        t = llvm_type(e.args[0].dtype)
        if op == "select":
            v = llvm_type(e.dtype)
            self.put(f"{n} = select i1 {args[0]}, {v} {args[1]}, {v} {args[2]}")
        elif op == "cast":
            return self.cast(args[0], e.args[0].dtype, e.dtype)
        elif len(args) == 2:
            return self.binary(op, e, args[0], args[1], t)
        else:
            return self.unary(op, e, args[0], t)
        return n

    def param(self, name: str) -> str:
        if name not in self.params:
            self.params.append(name)
        return f"%d{self.params.index(name)}"

    def binary(self, op: str, e: Expr, a: str, b: str, t: str) -> str:
        d = e.args[0].dtype
        n = self.name()
        if op in COMPARISONS:
            if d.kind == "f":
                self.put(f"{n} = fcmp {_FCMP[op]} {t} {a}, {b}")
            else:
                sign = "" if op in ("eq", "ne") else "s" if d.kind == "i" else "u"
                self.put(f"{n} = icmp {sign}{_ICMP[op]} {t} {a}, {b}")
            return n
        if d.kind == "f":
            if op in _FLOAT:
                self.put(f"{n} = {_FLOAT[op]} {t} {a}, {b}")
                return n
            if op in ("max", "min"):
                return self.intrinsic("maximum" if op == "max" else "minimum", d, [a, b])
            self.cost += 12
            return self.function(op, d, [a, b])
        if op in _INTEGER:
            if d is types.bool_ and op in ("add", "mul"):
                op = "or" if op == "add" else "and"
            flags = " nsw" if op in ("add", "sub", "mul") and d is types.int64 and self.is_index(e) else ""
            self.put(f"{n} = {_INTEGER[op]}{flags} {t} {a}, {b}")
            return n
        if op == "shr":
            self.put(f"{n} = {'ashr' if d.kind == 'i' else 'lshr'} {t} {a}, {b}")
            return n
        if op in ("max", "min"):
            return self.intrinsic(("s" if d.kind == "i" else "u") + op, d, [a, b])
        if op in ("floordiv", "mod"):
            return self.integer_division(op, e, a, b, t)
        if op == "div":
            divisor = self.divisor(b, t)
            self.put(f"{n} = {'sdiv' if d.kind == 'i' else 'udiv'} {t} {a}, {divisor}")
            return n
        if op == "pow":
            return self.integer_power(e, a, b, t)
        raise AssertionError(f"{op} of {d}")

    def is_index(self, e: Expr) -> bool:
        """Whether `e` is made of loop variables and sizes alone: unlike elements, such sums do not overflow."""
        got = self.indices.get(e.id)
        if got is None:
            plain = e.op in ("var", "param", "const") or (e.op in ("add", "mul", "sub") and e.dtype is types.int64)
            got = self.indices[e.id] = plain and all(map(self.is_index, e.args))
        return got

    def integer_division(self, op: str, e: Expr, a: str, b: str, t: str) -> str:
        signed = e.args[0].dtype.kind == "i"
        positive = e.args[1].op == "const" and e.args[1].attr > 0
        if (
            not signed
            or (positive and (lower_bound(e.args[0]) or -1) >= 0)
            or (positive and lower_bound(e.args[0]) == 0)
        ):
            n = self.name()
            d = b
            if not positive and e.args[1].op != "param":
                d = self.nonzero(b, t)
            self.put(f"{n} = {'udiv' if op == 'floordiv' else 'urem'} {t} {a}, {d}")
            return n if d is b else self.zero_where_zero(n, b, t)
        if e.args[1].op == "param" and lower_bound(e.args[0]) is not None:
            n = self.name()
            self.put(f"{n} = {'udiv' if op == 'floordiv' else 'urem'} {t} {a}, {b}")
            return n
        d = b if positive else self.divisor(b, t)
        q, r, s, c, z, adjust, n = (self.name() for _ in range(7))
        self.put(f"{q} = sdiv {t} {a}, {d}")
        self.put(f"{r} = srem {t} {a}, {d}")
        self.put(f"{s} = xor {t} {r}, {d}")
        self.put(f"{c} = icmp slt {t} {s}, 0")
        self.put(f"{z} = icmp ne {t} {r}, 0")
        self.put(f"{adjust} = and i1 {c}, {z}")
        fixed = self.name()
        if op == "floordiv":
            self.put(f"{fixed} = sub {t} {q}, 1")
            self.put(f"{n} = select i1 {adjust}, {t} {fixed}, {t} {q}")
        else:
            self.put(f"{fixed} = add {t} {r}, {d}")
            self.put(f"{n} = select i1 {adjust}, {t} {fixed}, {t} {r}")
        if d is b:
            return n
        minus, negated, out = self.name(), self.name(), self.name()
        self.put(f"{minus} = icmp eq {t} {b}, -1")
        self.put(f"{negated} = sub {t} 0, {a}")
        self.put(f"{out} = select i1 {minus}, {t} {negated if op == 'floordiv' else '0'}, {t} {n}")
        return self.zero_where_zero(out, b, t)

    def divisor(self, b: str, t: str) -> str:
        """b, or 1 where the processor would trap: by 0, and the smallest number by -1."""
        z, m, either, n = (self.name() for _ in range(4))
        self.put(f"{z} = icmp eq {t} {b}, 0")
        self.put(f"{m} = icmp eq {t} {b}, -1")
        self.put(f"{either} = or i1 {z}, {m}")
        self.put(f"{n} = select i1 {either}, {t} 1, {t} {b}")
        return n

    def nonzero(self, b: str, t: str) -> str:
        """b, or 1 where b is 0: the processor does not trap."""
        z, n = self.name(), self.name()
        self.put(f"{z} = icmp eq {t} {b}, 0")
        self.put(f"{n} = select i1 {z}, {t} 1, {t} {b}")
        return n

    def zero_where_zero(self, value: str, b: str, t: str) -> str:
        z, n = self.name(), self.name()
        self.put(f"{z} = icmp eq {t} {b}, 0")
        self.put(f"{n} = select i1 {z}, {t} 0, {t} {value}")
        return n

    def integer_power(self, e: Expr, a: str, b: str, t: str) -> str:
        self.functions.add(f"ipow.{t}")
        n = self.name()
        self.put(f"{n} = call {t} @pd.ipow.{t}({t} {a}, {t} {b})")
        return n

    def unary(self, op: str, e: Expr, a: str, t: str) -> str:
        d = e.args[0].dtype
        n = self.name()
        if op == "neg":
            self.put(f"{n} = fneg {t} {a}" if d.kind == "f" else f"{n} = sub {t} 0, {a}")
            return n
        if op == "not":
            self.put(f"{n} = xor {t} {a}, {'true' if d is types.bool_ else '-1'}")
            return n
        if d.kind != "f":
            if op == "abs":
                if d.kind != "i":
                    return a
                self.intrinsics.add(f"declare {t} @llvm.abs.{t}({t}, i1)")
                self.put(f"{n} = call {t} @llvm.abs.{t}({t} {a}, i1 false)")
                return n
            if op in ("floor", "ceil", "trunc", "round"):
                return a
            if op in ("isnan", "isinf", "isfinite"):
                return "true" if op == "isfinite" else "false"
            raise AssertionError(f"{op} of {d} in a loop form")
        if op.startswith("round_"):
            short = "f16" if op == "round_float16" else "bf16"
            self.functions |= {f"f32_to_{short}", f"{short}_to_f32"}
            self.put(f"{n} = call i16 @pd.f32_to_{short}(float {a})")
            m = self.name()
            self.put(f"{m} = call float @pd.{short}_to_f32(i16 {n})")
            return m
        if op == "isnan":
            self.put(f"{n} = fcmp uno {t} {a}, {a}")
            return n
        if op == "abs":
            return self.intrinsic("fabs", d, [a])
        if op == "sqrt":
            self.cost += 4
            return self.intrinsic("sqrt", d, [a])
        if op in ("isinf", "isfinite"):
            m = self.intrinsic("fabs", d, [a])
            n = self.name()
            self.put(f"{n} = fcmp {'oeq' if op == 'isinf' else 'one'} {t} {m}, {constant(math.inf, d)}")
            return n
        self.cost += 12
        return self.function(op, d, [a])

    def function(self, op: str, d: DType, args: Sequence[str]) -> str:
        f = f"{op}.{_SHORT[d.name]}"
        self.functions.add(f)
        n, t = self.name(), llvm_type(d)
        self.put(f"{n} = call {t} @pd.{f}({', '.join(f'{t} {a}' for a in args)})")
        return n

    def intrinsic(self, op: str, d: DType, args: Sequence[str]) -> str:
        t = llvm_type(d)
        full = f"@llvm.{op}.{_SHORT.get(d.name, t)}"
        self.intrinsics.add(f"declare {t} {full}({', '.join([t] * len(args))})")
        n = self.name()
        self.put(f"{n} = call {t} {full}({', '.join(f'{t} {a}' for a in args)})")
        return n

    def cast(self, a: str, src: DType, dst: DType) -> str:
        n = self.name()
        s, t = llvm_type(src), llvm_type(dst)
        if dst is types.bool_:
            self.put(
                f"{n} = fcmp une {s} {a}, {constant(0.0, src)}" if src.kind == "f" else f"{n} = icmp ne {s} {a}, 0"
            )
        elif src.kind == "f" and dst.kind == "f":
            self.put(f"{n} = {'fpext' if dst.itemsize > src.itemsize else 'fptrunc'} {s} {a} to {t}")
        elif src.kind == "f":
            wide = t if dst.itemsize >= 4 else "i32"
            if dst.name in ("uint32", "uint8", "uint16"):
                wide = "i64" if dst.name == "uint32" else "i32"
            f = self.name()
            self.put(f"{f} = {'fptoui' if dst.name == 'uint64' else 'fptosi'} {s} {a} to {wide}")
            z = self.name()
            self.put(f"{z} = freeze {wide} {f}")
            if wide == t:
                return z
            self.put(f"{n} = trunc {wide} {z} to {t}")
        elif dst.kind == "f":
            self.put(f"{n} = {'sitofp' if src.kind == 'i' else 'uitofp'} {s} {a} to {t}")
        elif s == t:
            return a
        elif dst.itemsize < src.itemsize:
            self.put(f"{n} = trunc {s} {a} to {t}")
        else:
            self.put(f"{n} = {'sext' if src.kind == 'i' else 'zext'} {s} {a} to {t}")
        return n

    def check(self, e: Expr, args: list[str]) -> str:
        """Leaves the kernel with the code of the message where the condition is false."""
        ok, value, offending = args
        if e.attr not in self.messages:
            self.messages.append(e.attr)
        code = self.messages.index(e.attr) + 1
        good, bad = self.label("good"), self.label("bad")
        self.put(f"br i1 {ok}, label %{good}, label %{bad}")
        self.put(f"{bad}:")
        self.put(f"call void @pd.fail(ptr %p0, i64 {code}, i64 {offending})")
        self.put("ret void")
        self.put(f"{good}:")
        self.functions.add("fail")
        return value

    # -- memory --
    def offset(self, x: Operand, at: Sequence[Expr]) -> Expr:
        """Position of an element, as an expression; parts that change least often come first."""
        scope = self.loops.scope
        stride: Expr = scope.const(1, types.int64)
        terms: list[Expr] = []
        for axis in reversed(x.order):
            terms.append(at[axis] * stride)
            stride = stride * scope.lift(x.shape[axis], types.int64)
        terms.sort(key=lambda t: max((self.level_of.get(v, 0) for v in t.vars), default=0))
        total = scope.const(0, types.int64)
        for t in terms:
            total = total + t
        return total

    def address(self, x: Operand, at: Sequence[Expr]) -> str:
        p = self.operand(x)
        where = self.value(self.offset(x, at))
        n = self.name()
        self.put(f"{n} = getelementptr inbounds {memory_type(x.dtype)}, ptr {p}, i64 {where}")
        return n

    def load(self, e: Expr) -> str:
        x: Operand = e.attr
        at = e.args[: len(x.shape)]
        guard = e.args[len(x.shape)] if len(e.args) > len(x.shape) else None
        self.cost += 1
        if guard is None:
            return self.read(x, at)
        g = self.value(guard)
        t = llvm_type(e.dtype)
        if self.unguarded(x, at, guard):
            return self.chosen(x, at, g, t)
        slot = self.slot(t)
        p = self.operand(x)
        where = self.value(self.offset(x, at))
        yes, end = self.label("in"), self.label("out")
        self.put(f"store {t} {'zeroinitializer'}, ptr {slot}")
        self.put(f"br i1 {g}, label %{yes}, label %{end}")
        self.put(f"{yes}:")
        n = self.name()
        self.put(f"{n} = getelementptr {memory_type(x.dtype)}, ptr {p}, i64 {where}")
        v = self.from_memory(x.dtype, n)
        self.put(f"store {t} {v}, ptr {slot}")
        self.put(f"br label %{end}")
        self.put(f"{end}:")
        n = self.name()
        self.put(f"{n} = load {t}, ptr {slot}")
        return n

    @staticmethod
    def unguarded(x: Operand, at: Sequence[Expr], guard: Expr) -> bool:
        """Whether elements side by side share one guard, and the first of a row can be read instead."""
        if not at or not all(isinstance(n, int) and n for n in x.shape):
            return False
        i = at[x.order[-1]]
        return i.op == "var" and i.attr not in guard.vars and i.attr.extent == x.shape[x.order[-1]] != 1

    def chosen(self, x: Operand, at: Sequence[Expr], guard: str, t: str) -> str:
        """A guarded read without a branch, so that the loop around it becomes vectors."""
        last = x.order[-1]
        zero = self.loops.scope.const(0, types.int64)
        row = self.value(self.offset(x, [zero if a == last else i for a, i in enumerate(at)]))
        p, safe, where, n, out = self.operand(x), self.name(), self.name(), self.name(), self.name()
        self.put(f"{safe} = select i1 {guard}, i64 {row}, i64 0")
        self.put(f"{where} = add i64 {safe}, {self.value(at[last])}")
        self.put(f"{n} = getelementptr {memory_type(x.dtype)}, ptr {p}, i64 {where}")
        v = self.from_memory(x.dtype, n)
        self.put(f"{out} = select i1 {guard}, {t} {v}, {t} zeroinitializer")
        return out

    def read(self, x: Operand, at: Sequence[Expr]) -> str:
        return self.from_memory(x.dtype, self.address(x, at))

    def from_memory(self, d: DType, address: str) -> str:
        n = self.name()
        m = memory_type(d)
        self.put(f"{n} = load {m}, ptr {address}, align {d.itemsize}")
        if d is types.bool_:
            b = self.name()
            self.put(f"{b} = icmp ne i8 {n}, 0")
            return b
        if d.kind == "f" and d.itemsize == 2:
            f = "f16_to_f32" if d is types.float16 else "bf16_to_f32"
            self.functions.add(f)
            c = self.name()
            self.put(f"{c} = call float @pd.{f}(i16 {n})")
            return c
        return n

    def write(self, d: DType, value: str, address: str) -> None:
        if d is types.bool_:
            n = self.name()
            self.put(f"{n} = zext i1 {value} to i8")
            value = n
        elif d.kind == "f" and d.itemsize == 2:
            f = "f32_to_f16" if d is types.float16 else "f32_to_bf16"
            self.functions.add(f)
            n = self.name()
            self.put(f"{n} = call i16 @pd.{f}(float {value})")
            value = n
        self.put(f"store {memory_type(d)} {value}, ptr {address}, align {d.itemsize}")

    def reduction(self, e: Expr) -> str:
        """A reduction as a loop; written by the class that writes loops."""
        raise NotImplementedError(e.op)
