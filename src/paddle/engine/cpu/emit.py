"""Loop form to LLVM: a nest of loops over output elements, as the text of one function.

Loops are written as scalars with counters in stack slots; LLVM promotes the slots to registers and vectorizes the
innermost loops. A value is computed in the outermost loop in which everything it depends on is known, so that
a reduction over a row is done once per row.

Kernel interface: `void name(ptr %ptrs, ptr %dims, i64 %begin, i64 %end)` runs units [begin, end) of the outer loops.
ptrs[0] is the status buffer (code, node, value), then one pointer per operand; dims are sizes known at run time.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import types
from ..types import DType
from .expr import COMPARISONS, Expr, Operand, Scope, Var, lower_bound

CHUNK = 1024  # elements per unit of a one-dimensional kernel
UNROLL = 32  # steps up to which a reduction is written out
COLUMNS = 64  # output columns that a reduction over rows accumulates side by side


@dataclass
class Store:
    """An output: `out[at] = value`. Not kept: computed for later stores of the kernel, but not written."""

    out: Operand
    at: tuple[Expr, ...]
    value: Expr
    kept: bool = True


@dataclass
class Loops:
    """A nest of loops over `vars`, outermost first, that fills `stores`.

    Attributes:
        checks: message by code, for `check` expressions; code 1 is the first.
    """

    scope: Scope
    vars: list[Var]
    stores: list[Store]


@dataclass
class Kernel:
    """The text of a kernel and how to call it.

    Attributes:
        text: LLVM functions; the name is the placeholder `@KERNEL`.
        operands: what the pointers after the status buffer stand for; outputs first.
        params: names of the sizes in dims, in order.
        outer: extents (see `size`) whose product is the number of units (before chunking).
        chunk (int): elements per unit if the kernel is one-dimensional, else 0.
        inner: extents inside a unit.
        cost (int): operations per innermost element, roughly.
        messages: of checks, by code from 1: the text, and operator and line where the kernel serves one program.
        functions: names of the math functions it calls.
    """

    text: str
    operands: list[Any]
    params: list[str]
    outer: list[Any]
    chunk: int
    inner: list[Any]
    cost: int
    messages: list[Any]
    functions: set[str] = field(default_factory=set)


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


class _Level:
    """One loop being written: its code so far and the values known in it."""

    __slots__ = ("code", "memo")

    def __init__(self) -> None:
        self.code: list[str] = []
        self.memo: dict[int, str] = {}


class Emitter:
    """Writes one kernel.

    shared: operands that lie in the buffer of an output (the kernel runs in place), with that output.
    """

    def __init__(self, loops: Loops, shared: dict[Operand, Operand] | None = None, vector_bytes: int = 32):
        self.loops = loops
        self.shared = shared or {}
        self.levels: list[_Level] = [_Level()]
        self.level_of: dict[Var, int] = {}
        self.slots: list[str] = []  # stack slots, in the entry block
        self.count = 0
        self.operands: list[Operand] = []
        self.params: list[str] = []
        self.messages: list[Any] = []
        self.functions: set[str] = set()
        self.intrinsics: set[str] = set()
        self.cost = 0
        self.replaced: dict[int, str] = {}
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
            return self.reload(known, e)
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

    def reload(self, slot: str, e: Expr) -> str:
        n = self.name()
        self.put(f"{n} = load {llvm_type(e.dtype)}, ptr {slot}")
        return n

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
        for i, n in zip(reversed(at), reversed(x.shape)):
            terms.append(i * stride)
            stride = stride * scope.lift(n, types.int64)
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

    # -- loops --
    def loop(self, variables: Sequence[Var], body: Any, bounds: tuple[str, str] | None = None) -> None:
        """Writes nested loops over `variables` into the current level; `body()` writes the innermost."""
        if not variables:
            body()
            return
        v, rest = variables[0], variables[1:]
        if v.extent == 1 and bounds is None:
            self.loop(rest, body)
            return
        if bounds is not None:
            low, high = bounds
        else:
            low = "0"
            high = str(v.extent) if isinstance(v.extent, int) else self.value(v.extent)
        slot = self.slot("i64")
        outer = self.levels[-1]
        level = _Level()
        self.levels.append(level)
        self.level_of[v] = len(self.levels) - 1
        i = self.name()
        level.memo[self.loops.scope.var(v).id] = i
        head, start, stop, latch = (self.label(w) for w in ("head", "body", "done", "next"))
        self.loops_written += 1
        before = self.loops_written
        self.loop(rest, body)
        hint = self.hint(v, level) if self.loops_written == before else ""
        self.levels.pop()
        del self.level_of[v]
        more, after = self.name(), self.name()
        outer.code += [
            f"store i64 {low}, ptr {slot}",
            f"br label %{head}",
            f"{head}:",
            f"{i} = load i64, ptr {slot}",
            f"{more} = icmp slt i64 {i}, {high}",
            f"br i1 {more}, label %{start}, label %{stop}",
            f"{start}:",
            *level.code,
            f"br label %{latch}",
            f"{latch}:",
            f"{after} = add nsw i64 {i}, 1",
            f"store i64 {after}, ptr {slot}",
            f"br label %{head}{hint}",
            f"{stop}:",
        ]

    def hint(self, v: Var, level: _Level) -> str:
        """For an innermost loop: it is to be made of vectors, not unrolled; for short ones, of which width."""
        n = v.extent
        if not isinstance(n, int) or "ret void" in level.code:  # LLVM reports on stderr if a width cannot be had
            return ", !llvm.loop !LOOP0"
        if n < 4:
            return ""
        widths = [w for w in (16, 8, 4) if w <= n and w * 4 <= self.vector_bytes]
        best = min(widths, key=lambda w: n // w + n % w) if n < 64 and widths else 0
        return f", !llvm.loop !LOOP{best}"

    def reduction(self, e: Expr) -> str:
        kind, variables = e.attr
        body = e.args[0]
        t = llvm_type(e.dtype)
        acc = self.slot(t)
        before = self.cost
        sizes = [v.extent for v in variables]
        if all(isinstance(n, int) for n in sizes) and math.prod(sizes) <= UNROLL and not has_reduce(body):
            return self.unrolled(e, acc)
        if kind.startswith("arg"):
            self.arg_reduction(kind, variables, body, acc)
        else:
            self.put(f"store {t} {constant(identity(kind, body.dtype), body.dtype)}, ptr {acc}")
            self.loop(variables, lambda: self.accumulate(kind, body, acc))
        inside = self.cost - before
        times = math.prod(v.extent for v in variables if isinstance(v.extent, int))
        self.cost = before + inside * max(1, times)
        n = self.name()
        self.put(f"{n} = load {t}, ptr {acc}")
        return n

    def unrolled(self, e: Expr, acc: str) -> str:
        """A short reduction written out, so that the loop around it is the innermost one and becomes vectors."""
        kind, variables = e.attr
        body = e.args[0]
        t = llvm_type(e.dtype)
        step: Any = None
        if kind.startswith("arg"):
            step = self.arg_step(kind, body, acc)
        else:
            self.put(f"store {t} {constant(identity(kind, body.dtype), body.dtype)}, ptr {acc}")
        for setting in itertools.product(*(range(v.extent) for v in variables)):
            outer, level = self.levels[-1], _Level()
            self.levels.append(level)
            for v, i in zip(variables, setting):
                self.level_of[v] = len(self.levels) - 1
                level.memo[self.loops.scope.var(v).id] = str(i)
            if step is None:
                self.accumulate(kind, body, acc)
            else:
                step()
            self.levels.pop()
            outer.code += level.code
        for v in variables:
            self.level_of.pop(v, None)  # an empty reduction visits nothing
        n = self.name()
        self.put(f"{n} = load {t}, ptr {acc}")
        return n

    def accumulate(self, kind: str, body: Expr, acc: str) -> None:
        d = body.dtype
        t = llvm_type(d)
        x = self.value(body)
        old, new = self.name(), self.name()
        self.put(f"{old} = load {t}, ptr {acc}")
        if kind in ("sum", "prod"):
            if d.kind == "f":
                self.put(f"{new} = {'fadd' if kind == 'sum' else 'fmul'} reassoc contract {t} {old}, {x}")
            elif d is types.bool_:
                self.put(f"{new} = {'or' if kind == 'sum' else 'and'} i1 {old}, {x}")
            else:
                self.put(f"{new} = {'add' if kind == 'sum' else 'mul'} {t} {old}, {x}")
        elif kind in ("any", "all"):
            self.put(f"{new} = {'or' if kind == 'any' else 'and'} i1 {old}, {x}")
        elif d.kind == "f":
            new = self.intrinsic("maximum" if kind == "max" else "minimum", d, [old, x])
        elif d is types.bool_:
            self.put(f"{new} = {'or' if kind == 'max' else 'and'} i1 {old}, {x}")
        else:
            new = self.intrinsic(("s" if d.kind == "i" else "u") + kind, d, [old, x])
        self.put(f"store {t} {new}, ptr {acc}")

    def arg_reduction(self, kind: str, variables: Sequence[Var], body: Expr, acc: str) -> None:
        self.loop(variables, self.arg_step(kind, body, acc))

    def arg_step(self, kind: str, body: Expr, acc: str) -> Any:
        """Prepares the search for the greatest or least; gives what looks at one element."""
        d = body.dtype
        t = llvm_type(d)
        best, position = self.slot(t), self.slot("i64")
        self.put(f"store {t} {constant(identity('max' if kind == 'argmax' else 'min', d), d)}, ptr {best}")
        self.put("store i64 0, ptr " + position)
        self.put(f"store i64 -1, ptr {acc}")

        def step() -> None:
            x = self.value(body)
            old, at, found, none = self.name(), self.name(), self.name(), self.name()
            self.put(f"{old} = load {t}, ptr {best}")
            self.put(f"{at} = load i64, ptr {position}")
            self.put(f"{found} = load i64, ptr {acc}")
            self.put(f"{none} = icmp slt i64 {found}, 0")
            better = self.name()
            if d.kind == "f":
                self.put(f"{better} = fcmp {'ogt' if kind == 'argmax' else 'olt'} {t} {x}, {old}")
                nan, was, isnot, first = (self.name() for _ in range(4))
                self.put(f"{nan} = fcmp uno {t} {x}, {x}")
                self.put(f"{was} = fcmp uno {t} {old}, {old}")
                self.put(f"{isnot} = xor i1 {was}, true")
                self.put(f"{first} = and i1 {nan}, {isnot}")
                both = self.name()
                self.put(f"{both} = or i1 {better}, {first}")
                better = both
            else:
                sign = "s" if d.kind == "i" else "u"
                self.put(f"{better} = icmp {sign}{'gt' if kind == 'argmax' else 'lt'} {t} {x}, {old}")
            take, value, index, after = (self.name() for _ in range(4))
            self.put(f"{take} = or i1 {better}, {none}")
            self.put(f"{value} = select i1 {take}, {t} {x}, {t} {old}")
            self.put(f"{index} = select i1 {take}, i64 {at}, i64 {found}")
            self.put(f"store {t} {value}, ptr {best}")
            self.put(f"store i64 {index}, ptr {acc}")
            self.put(f"{after} = add i64 {at}, 1")
            self.put(f"store i64 {after}, ptr {position}")

        return step

    # -- the kernel --
    def kernel(self) -> Kernel:
        loops = self.loops
        for s in loops.stores:
            if s.kept:
                self.operand(s.out)
        variables = [v for v in loops.vars if v.extent != 1]
        chunk = 0
        column = column_reduction(loops, variables)
        if column is not None:
            outer, inner = variables[:-1], variables[-1:]
            blocks = self.column_blocks(inner[0])
            self.units([*outer, blocks], lambda: self.columns(inner[0], blocks, column))
            outer_extents = [*(v.extent for v in outer), blocks.extent]
        elif len(variables) <= 1 and not (variables and heavy(loops)):
            outer, inner = [], variables
            outer_extents = [v.extent for v in inner]
            if inner:
                chunk = CHUNK
                n = str(inner[0].extent) if isinstance(inner[0].extent, int) else self.value(inner[0].extent)
                low, high, over, end = (self.name() for _ in range(4))
                self.put(f"{low} = mul i64 %begin, {CHUNK}")
                self.put(f"{high} = mul i64 %end, {CHUNK}")
                self.put(f"{over} = icmp slt i64 {high}, {n}")
                self.put(f"{end} = select i1 {over}, i64 {high}, i64 {n}")
                self.loop(inner, self.stores, (low, end))
            else:
                self.stores()
        else:
            outer, inner = split_loops(variables, loops)
            outer_extents = [v.extent for v in outer]
            self.units(outer, lambda: self.loop(inner, self.stores))
        self.put("ret void")
        return Kernel(
            self.assemble(), self.operands, self.params, [size(e) for e in outer_extents], chunk,
            [size(v.extent) for v in inner], self.cost, self.messages, self.functions,
        )  # fmt: skip

    def stores(self) -> None:
        # all values first: a buffer that is written may be one that is read
        values = [self.value(s.value) for s in self.loops.stores]
        for s, value in zip(self.loops.stores, values):
            if s.kept:
                self.write(s.out.dtype, value, self.address(s.out, s.at))

    def units(self, outer: Sequence[Var], body: Any) -> None:
        """A loop over units [begin, end), each one setting of the outer variables."""
        scope = self.loops.scope
        unit = Var(scope.make("param", types.int64, (), "unit"))

        def inside() -> None:
            level = self.levels[-1]
            flat = level.memo[scope.var(unit).id]
            for v in reversed(outer):
                self.level_of[v] = len(self.levels) - 1
                if v is outer[0]:
                    level.memo[scope.var(v).id] = flat
                    break
                n = str(v.extent) if isinstance(v.extent, int) else self.value(v.extent)
                r, q = self.name(), self.name()
                self.put(f"{r} = urem i64 {flat}, {n}")
                self.put(f"{q} = udiv i64 {flat}, {n}")
                level.memo[scope.var(v).id] = r
                flat = q
            body()

        self.loop([unit], inside, ("%begin", "%end"))

    def column_blocks(self, v: Var) -> Var:
        if isinstance(v.extent, int):
            return Var(-(-v.extent // COLUMNS))
        return Var((v.extent + (COLUMNS - 1)) // COLUMNS)

    def columns(self, v: Var, blocks: Var, reduce: Expr) -> None:
        """A reduction over rows: a block of columns is accumulated side by side, row after row."""
        scope = self.loops.scope
        kind, rows = reduce.attr
        body = reduce.args[0]
        t = llvm_type(body.dtype)
        block = self.slot(f"[{COLUMNS} x {t}]")
        n = str(v.extent) if isinstance(v.extent, int) else self.value(v.extent)
        low, full, over, high = (self.name() for _ in range(4))
        index = self.value(scope.var(blocks)) if blocks.extent != 1 else "0"
        self.put(f"{low} = mul i64 {index}, {COLUMNS}")
        self.put(f"{full} = add i64 {low}, {COLUMNS}")
        self.put(f"{over} = icmp slt i64 {full}, {n}")
        self.put(f"{high} = select i1 {over}, i64 {full}, i64 {n}")

        def place() -> str:
            i, a = self.name(), self.name()
            self.put(f"{i} = sub i64 {self.value(scope.var(v))}, {low}")
            self.put(f"{a} = getelementptr inbounds {t}, ptr {block}, i64 {i}")
            return a

        start = constant(identity(kind, body.dtype), body.dtype)
        self.loop([v], lambda: self.put(f"store {t} {start}, ptr {place()}"), (low, high))
        self.loop(rows, lambda: self.loop([v], lambda: self.accumulate(kind, body, place()), (low, high)))

        def finish() -> None:
            self.replaced[reduce.id] = place()
            self.stores()
            del self.replaced[reduce.id]

        self.loop([v], finish, (low, high))
        self.cost *= max(1, math.prod(r.extent for r in rows if isinstance(r.extent, int)))

    def assemble(self) -> str:
        pointers = [f"%p{i}" for i in range(len(self.operands) + 1)]
        lines = ["define void @KERNEL(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) {"]
        for i, p in enumerate(pointers):
            lines += [f"%a{i} = getelementptr ptr, ptr %ptrs, i64 {i}", f"{p} = load ptr, ptr %a{i}"]
        for i in range(len(self.params)):
            lines += [f"%b{i} = getelementptr i64, ptr %dims, i64 {i}", f"%d{i} = load i64, ptr %b{i}"]
        arguments = [f"ptr {p}" for p in pointers] + [f"i64 %d{i}" for i in range(len(self.params))]
        arguments += ["i64 %begin", "i64 %end"]
        lines.append(f"call void @KERNEL.body({', '.join(arguments)})")
        lines += ["ret void", "}"]
        # separate, so that LLVM knows that the buffers do not overlap
        typed = [f"ptr noalias nocapture {p}" for p in pointers] + arguments[len(pointers) :]
        lines.append(f"define internal void @KERNEL.body({', '.join(typed)}) noinline nounwind {{")
        lines += ["entry:", *self.slots, *self.levels[0].code, "}"]
        return "\n".join(lines + sorted(self.intrinsics)) + "\n"


def size(e: Any) -> Any:
    """An extent as plain data: an int, the name of a size known at run time, or (operation, extent, extent)."""
    if isinstance(e, int):
        return e
    if e.op == "const":
        return e.attr
    return e.attr if e.op == "param" else (e.op, size(e.args[0]), size(e.args[1]))


def identity(kind: str, d: DType) -> Any:
    if kind in ("sum", "any"):
        return 0
    if kind in ("prod", "all"):
        return 1
    if d.kind == "f":
        return -math.inf if kind == "max" else math.inf
    if d.kind == "b":
        return kind == "min"
    bits = d.itemsize * 8
    if d.kind == "u":
        return 0 if kind == "max" else (1 << bits) - 1
    return -(1 << (bits - 1)) if kind == "max" else (1 << (bits - 1)) - 1


def heavy(loops: Loops) -> bool:
    """Whether one output element takes a loop."""
    return any(has_reduce(s.value) for s in loops.stores)


def has_reduce(e: Expr) -> bool:
    todo, seen = [e], set()
    while todo:
        x = todo.pop()
        if x.op == "reduce":
            return True
        if x.id not in seen:
            seen.add(x.id)
            todo.extend(x.args)
    return False


def find_reduces(e: Expr) -> list[Expr]:
    """Outermost reductions in an expression."""
    found, todo, seen = [], [e], set()
    while todo:
        x = todo.pop()
        if x.id in seen:
            continue
        seen.add(x.id)
        if x.op == "reduce":
            found.append(x)
        else:
            todo.extend(x.args)
    return found


def loads_in(e: Expr) -> list[Expr]:
    found, todo, seen = [], [e], set()
    while todo:
        x = todo.pop()
        if x.id in seen:
            continue
        seen.add(x.id)
        if x.op == "load":
            found.append(x)
        todo.extend(x.args)
    return found


def split_loops(variables: list[Var], loops: Loops) -> tuple[list[Var], list[Var]]:
    """Outer variables, whose settings are spread over threads, and those looped over inside."""
    if all(isinstance(v.extent, int) for v in variables):
        units: Any = 1  # a product of ints
        p = 0
        last = len(variables) if heavy(loops) and not row_loop(variables, loops) else len(variables) - 1
        while p < last and (units < 32 or p == 0):
            units *= variables[p].extent
            p += 1
        return variables[: max(p, 1)], variables[max(p, 1) :]
    if heavy(loops) and not row_loop(variables, loops):
        return variables, []
    p = max(1, len(variables) - 2) if len(variables) > 1 else 1
    return variables[:p], variables[p:]


def row_loop(variables: list[Var], loops: Loops) -> bool:
    """Whether reductions can be done once for many elements of the innermost variable."""
    return all(variables[-1] not in r.vars for s in loops.stores for r in find_reduces(s.value))


def column_reduction(loops: Loops, variables: list[Var]) -> Expr | None:
    """The reduction, if there is one and it runs down columns: neighbours in memory are different outputs."""
    if not variables:
        return None
    found = {r.id: r for s in loops.stores for r in find_reduces(s.value)}
    if len(found) != 1:
        return None
    (reduce,) = found.values()
    kind, rows = reduce.attr
    rows = [r for r in rows if r.extent != 1]
    if kind.startswith("arg") or not rows or variables[-1] not in reduce.vars or has_reduce(reduce.args[0]):
        return None
    if any(isinstance(r.extent, Expr) and r.extent.vars for r in rows):
        return None
    across = along = 0
    for x in loads_in(reduce.args[0]):
        if not x.attr.shape:
            continue
        last = x.args[len(x.attr.shape) - 1]
        across += variables[-1] in last.vars
        along += rows[-1] in last.vars
    return reduce if across > along else None
