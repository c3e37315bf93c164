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
from collections.abc import Sequence
from typing import Any

from .. import types
from ..types import DType
from .expr import Expr, Var
from .loops import (
    CHUNK,
    COLUMNS,
    UNROLL,
    Kernel,
    Store,
    accumulator,
    column_reduction,
    has_reduce,
    heavy,
    identity,
    size,
    split_loops,
)
from .values import Level, Values, constant, llvm_type


class Emitter(Values):
    """Writes one kernel."""

    # -- loops --
    def loop(
        self, variables: Sequence[Var], body: Any, bounds: tuple[str, str] | None = None, vectors: bool = True
    ) -> None:
        """Writes nested loops over `variables` into the current level; `body()` writes the innermost.

        vectors: whether LLVM can do several steps at once.
        """
        if not variables:
            body()
            return
        v, rest = variables[0], variables[1:]
        if v.extent == 1 and bounds is None:
            self.loop(rest, body, vectors=vectors)
            return
        if bounds is not None:
            low, high = bounds
        else:
            low = "0"
            high = str(v.extent) if isinstance(v.extent, int) else self.value(v.extent)
        slot = self.slot("i64")
        outer = self.levels[-1]
        level = Level()
        self.levels.append(level)
        self.level_of[v] = len(self.levels) - 1
        i = self.name()
        level.memo[self.loops.scope.var(v).id] = i
        head, start, stop, latch = (self.label(w) for w in ("head", "body", "done", "next"))
        self.loops_written += 1
        before = self.loops_written
        self.loop(rest, body, vectors=vectors)
        plain = vectors and "ret void" not in level.code
        hint = self.hint(v, plain) if self.loops_written == before else ""
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

    def hint(self, v: Var, plain: bool) -> str:
        """For an innermost loop: it is to be made of vectors, not unrolled; for short ones, of which width.

        plain: as far as can be told here, that is possible.
        """
        n = v.extent
        if not isinstance(n, int) or (n >= 4 and not plain):
            return ", !llvm.loop !LOOP0"
        if n < 4:
            return ""
        widths = [w for w in (16, 8, 4) if w <= n and w * 4 <= self.vector_bytes]
        best = min(widths, key=lambda w: n // w + n % w) if n < 64 and widths else 0
        return f", !llvm.loop !LOOP{best}"

    def reduction(self, e: Expr) -> str:
        kind, variables = e.attr
        body = e.args[0]
        before = self.cost
        sizes = [v.extent for v in variables]
        if all(isinstance(n, int) for n in sizes) and math.prod(sizes) <= UNROLL and not has_reduce(body):
            return self.unrolled(e, self.slot(llvm_type(e.dtype)))
        wide = accumulator(kind, e.dtype)
        acc = self.slot(llvm_type(wide))
        if kind.startswith("arg"):
            self.arg_reduction(kind, variables, body, acc)
        else:
            self.put(f"store {llvm_type(wide)} {constant(identity(kind, body.dtype), body.dtype)}, ptr {acc}")
            self.loop(variables, lambda: self.accumulate(kind, body, acc, wide))
        inside = self.cost - before
        times = math.prod(v.extent for v in variables if isinstance(v.extent, int))
        self.cost = before + inside * max(1, times)
        return self.reload(acc, e, wide)

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
            outer, level = self.levels[-1], Level()
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

    def accumulate(self, kind: str, body: Expr, acc: str, wide: DType | None = None) -> None:
        """Adds an element to an accumulator, whose type is `wide` if it is not that of the element."""
        d = wide or body.dtype
        t = llvm_type(d)
        x = self.cast(self.value(body), body.dtype, d) if d is not body.dtype else self.value(body)
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
        self.loop(variables, self.arg_step(kind, body, acc), vectors=False)

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
            inner = [Var(min(COLUMNS, inner[0].extent) if isinstance(inner[0].extent, int) else COLUMNS)]
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
            if s.guard is not None:
                self.written(s, value, s.guard)
            elif s.kept:
                self.write(s.out.dtype, value, self.address(s.out, s.at))

    def written(self, s: Store, value: str, guard: Expr) -> None:
        yes, end = self.label("write"), self.label("written")
        self.put(f"br i1 {self.value(guard)}, label %{yes}, label %{end}")
        self.put(f"{yes}:")
        self.write(s.out.dtype, value, self.address(s.out, s.at))
        self.put(f"br label %{end}")
        self.put(f"{end}:")

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
        wide = accumulator(kind, body.dtype)
        t = llvm_type(wide)
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
        self.loop(rows, lambda: self.loop([v], lambda: self.accumulate(kind, body, place(), wide), (low, high)))

        def finish() -> None:
            self.replaced[reduce.id] = (place(), wide)
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
