"""What the kernels of attention are written with: numbers by name, rows of scratch memory, products of blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..ops.attention import WIDEST
from .arithmetic import SIZES
from .elements import MEMORY
from .half_floats import CONVERSIONS
from .nest import Nest, Num, Values
from .ssa import F32, F64, Features, Kit, Value


@dataclass(frozen=True)
class Form:
    """What the text of the kernels depends on.

    Attributes:
        dtype: of queries, keys, values and results; sums are float64 for float64, float32 for all others.
        width, value_width: of a head of queries and keys, and of values.
        mask: "": none; "bool": true where a key is seen; "added": added to scores, of the same dtype.
        causal: whether a query sees keys up to its own place only.
        has: what the target has.
    """

    dtype: str
    width: int
    value_width: int
    mask: str
    causal: bool
    vector_bytes: int
    has: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of a number in scratch memory."""
        return 8 if self.dtype == "float64" else 4

    @property
    def lanes(self) -> int:
        return self.vector_bytes // self.size

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and vectors of a tile."""
        return (6, 4) if self.vector_bytes == 64 else (6, 2)

    @property
    def step(self) -> int:
        """Rows that tiles of each kind fill."""
        return 2 * self.tile[0]

    @property
    def widest(self) -> int:
        return max(self.width, self.value_width) * self.size

    @property
    def fits(self) -> bool:
        """Whether blocks have room on the stack."""
        return self.widest <= WIDEST

    # most rows of a block, forwards and backwards
    @property
    def queries(self) -> int:
        return 192 if self.widest <= 512 else 96

    @property
    def keys(self) -> int:
        return 96

    @property
    def back_queries(self) -> int:
        return 96 if self.widest <= 256 else 48

    @property
    def back_keys(self) -> int:
        return 96 if self.widest <= 512 else 48

    def padded(self, rows: int) -> int:
        """Rows of scratch memory for a block of so many."""
        return -(-rows // self.step) * self.step

    def vectors(self, n: int) -> int:
        return -(-n // self.lanes)

    def row(self, n: int) -> int:
        """Bytes of a row of n numbers in scratch memory. Multiples of 512 would crowd a few cache sets."""
        found = self.vectors(n) * self.vector_bytes
        return found if found % 512 else found + 64

    def plain(self) -> Form:
        """What the kernel that adds parts depends on."""
        return replace(self, value_width=1, mask="", causal=False)


class Code(Nest):
    """The lines of a function; `n` are numbers by name."""

    def __init__(self, form: Form):
        super().__init__()
        self.form, self.size, self.lanes, self.bytes = form, form.size, form.lanes, form.vector_bytes
        real = F64 if form.size == 8 else F32
        self.elem, self.vec = real.llvm, f"<{form.lanes} x {real.llvm}>"
        self.declared: set[str] = set()
        features = Features.of(form.has)
        self.k = Kit(real, features, self.lines, self.declared, form.lanes)
        self.one = Kit(real, features, self.lines, self.declared)
        self.n: dict[str, str] = {}

    def function(self, name: str, arguments: str, internal: bool = True) -> str:
        wide = '"min-legal-vector-width"="512" "prefer-vector-width"="512" ' if self.bytes == 64 else ""
        kind = "internal " if internal else ""
        head = f"define {kind}void @KERNEL{name}({arguments}) noinline nounwind {wide}{{\nentry:"
        return "\n".join([head, *self.lines, "  ret void", "}", *sorted(self.declared)]) + "\n"

    def arguments(self, pointers: Sequence[str], numbers: Sequence[str]) -> None:
        """Loads what a kernel is called with: pointers p.<name> and numbers."""
        for i, name in enumerate(pointers, 1):
            self.lines.append(f"  %a.{name} = getelementptr ptr, ptr %ptrs, i64 {i}")
            self.lines.append(f"  %p.{name} = load ptr, ptr %a.{name}")
        for i, name in enumerate(numbers):
            self.lines.append(f"  %d.{name} = getelementptr i64, ptr %dims, i64 {i}")
            self.lines.append(f"  %n.{name} = load i64, ptr %d.{name}")
            self.n[name] = f"%n.{name}"

    def room(self, name: str, count: int) -> str:
        """Scratch memory."""
        self.lines.append(f"  %{name} = alloca i8, i64 {count}, align 64")
        return f"%{name}"

    def each(self, count: Num, body: Callable[[Num], None]) -> None:
        """Runs body(i) for i in [0, count)."""

        def one(i: Num, _: Values) -> Values:
            body(i)
            return []

        self.loop(count, one)

    def scale(self) -> Value:
        x = self.op(f"bitcast i64 {self.n['scale']} to double")
        return self.splat(x if self.size == 8 else self.op(f"fptrunc double {x} to float"))

    # -- vectors and numbers of scratch memory --
    def value(self, name: str) -> Value:
        return Value(self.k, self.elem, name)

    def get(self, ptr: str) -> Value:
        return self.value(self.op(f"load {self.vec}, ptr {ptr}, align {self.size}"))

    def set(self, ptr: str, x: Value | str) -> None:
        name = x if isinstance(x, str) else x.name
        self.do(f"store {self.vec} {name}, ptr {ptr}, align {self.size}")

    def number(self, ptr: str) -> str:
        return self.op(f"load {self.elem}, ptr {ptr}")

    def put(self, ptr: str, x: str) -> None:
        self.do(f"store {self.elem} {x}, ptr {ptr}")

    def spread(self, x: str, kind: str) -> str:
        """A vector of one number."""
        vec = f"<{self.lanes} x {kind}>"
        first = self.op(f"insertelement {vec} poison, {kind} {x}, i32 0")
        return self.op(f"shufflevector {vec} {first}, {vec} poison, <{self.lanes} x i32> zeroinitializer")

    def splat(self, x: str) -> Value:
        return self.value(self.spread(x, self.elem))

    def across(self, x: Value, join: Callable[[Value, Value], Value]) -> str:
        """All lanes joined, in pairs."""
        d = self.lanes // 2
        while d:
            order = ", ".join(f"i32 {i + d if i < d else 'poison'}" for i in range(self.lanes))
            other = self.op(f"shufflevector {self.vec} {x.name}, {self.vec} poison, <{self.lanes} x i32> <{order}>")
            x = join(x, self.value(other))
            d //= 2
        return self.op(f"extractelement {self.vec} {x.name}, i32 0")

    def larger(self, x: Value, y: Value) -> Value:
        return self.k.select(x > y, x, y)

    # -- rows of arguments and results --
    def widened(self, x: str, count: int) -> str:
        """Elements as they are stored, as numbers of scratch memory; one of them where count is 0."""
        how = {"bfloat16": "bf16_to_f32", "float16": "f16_to_f32"}.get(self.form.dtype)
        return x if how is None else self.converted(how, x, count)

    def rounded(self, x: str, count: int) -> str:
        how = {"bfloat16": "f32_to_bf16", "float16": "f32_to_f16"}.get(self.form.dtype)
        return x if how is None else self.converted(how, x, count)

    def converted(self, how: str, x: str, count: int) -> str:
        k = Kit("f32", self.k.has, self.lines, self.declared, count)
        return CONVERSIONS[how](k, Value(k, "float" if how.startswith("f32") else "i16", x)).name

    def read(self, ptr: str, width: int) -> list[Value]:
        """A row of an argument, as vectors; lanes past its end are 0."""
        kind, size, found = MEMORY[self.form.dtype], SIZES[self.form.dtype], []
        for at in range(0, width, self.lanes):
            vec = f"<{self.lanes} x {kind}>"
            if at + self.lanes <= width:
                x = self.op(f"load {vec}, ptr {self.gep(ptr, at * size)}, align {size}")
            else:
                x = "zeroinitializer"
                for j in range(width - at):
                    e = self.op(f"load {kind}, ptr {self.gep(ptr, (at + j) * size)}")
                    x = self.op(f"insertelement {vec} {x}, {kind} {e}, i32 {j}")
            found.append(self.value(self.widened(x, self.lanes)))
        return found

    def write(self, ptr: str, row: Sequence[Value], width: int) -> None:
        """A row of a result."""
        kind, size = MEMORY[self.form.dtype], SIZES[self.form.dtype]
        for at, x in zip(range(0, width, self.lanes), row):
            vec, y = f"<{self.lanes} x {kind}>", self.rounded(x.name, self.lanes)
            if at + self.lanes <= width:
                self.do(f"store {vec} {y}, ptr {self.gep(ptr, at * size)}, align {size}")
                continue
            for j in range(width - at):
                e = self.op(f"extractelement {vec} {y}, i32 {j}")
                self.do(f"store {kind} {e}, ptr {self.gep(ptr, (at + j) * size)}")

    def copy(self, src: str, stride: Num, dst: str, rows: Num, width: int, factor: Value | None = None) -> None:
        """Rows of an argument into scratch memory."""
        to = self.form.row(width)

        def one(i: Num) -> None:
            at = self.gep(dst, self.mul(i, to))
            for j, x in enumerate(self.read(self.gep(src, self.mul(i, stride)), width)):
                self.set(self.gep(at, j * self.bytes), x if factor is None else x * factor)

        self.each(rows, one)

    def whole(self, rows: Num) -> Num:
        """Rows that tiles fill. What products read there past `rows` is set: subnormal numbers would be slow."""
        step = self.form.step
        return self.mul(self.divmod(self.add(rows, step - 1), step)[0], step)

    def copy_whole(self, src: str, stride: Num, dst: str, rows: Num, width: int, factor: Value | None = None) -> None:
        """Rows of an argument, and rows of 0 up to whole tiles."""
        self.copy(src, stride, dst, rows, width, factor)
        past = self.gep(dst, self.mul(rows, self.form.row(width)))
        self.clear(past, self.sub(self.whole(rows), rows), width)

    def clear(self, dst: str, rows: Num, width: int) -> None:
        def one(i: Num) -> None:
            at = self.gep(dst, self.mul(i, self.form.row(width)))
            for j in range(self.form.vectors(width)):
                self.set(self.gep(at, j * self.bytes), "zeroinitializer")

        self.each(rows, one)

    def turn(self, src: str, stride: Num, dst: str, rows: Num, row: int, width: int) -> None:
        """Rows of an argument transposed: `width` rows of vectors along them. The last one stands for those past it."""
        lanes, last = self.lanes, self.sub(rows, 1)

        def some(i: Num) -> None:
            first = self.mul(i, lanes)
            at = [self.gep(src, self.mul(self.extreme("min", self.add(first, j), last), stride)) for j in range(lanes)]
            to = self.gep(dst, self.mul(i, self.bytes))
            for begin in range(0, width, lanes):
                part = min(lanes, width - begin)
                square = [self.read(self.gep(p, begin * SIZES[self.form.dtype]), part)[0].name for p in at]
                for j, x in enumerate(self.transposed(square, self.vec, lanes, self.size)[:part]):
                    self.set(self.gep(to, (begin + j) * row), x)

        self.each(self.in_vectors(rows), some)

    def in_vectors(self, n: Num) -> Num:
        return self.divmod(self.add(n, self.lanes - 1), self.lanes)[0]

    # -- scores --
    def last(self, index: Num, size: Num, whole: Num) -> Num:
        """How much of `whole` is in the block of an index."""
        return self.extreme("min", size, self.sub(whole, self.mul(index, size)))

    def seen(self, query: Num, key: Num, keys: Num) -> Num:
        """How many of a block of keys, from `key` on, a query sees, but for the mask."""
        if not self.form.causal:
            return keys
        return self.extreme("min", keys, self.sub(self.add(self.add(query, self.n["shift"]), 1), key))

    def limits(self, seen: Num) -> str:
        return self.spread(self.op(f"trunc i64 {seen} to i32") if isinstance(seen, str) else str(seen), "i32")

    def inside(self, vector: Num, limits: str) -> Value:
        """Which lanes of a vector of a row are keys that are seen."""
        ints = f"<{self.lanes} x i32>"
        first = self.mul(vector, self.lanes)
        base = self.spread(self.op(f"trunc i64 {first} to i32") if isinstance(first, str) else str(first), "i32")
        iota = ", ".join(f"i32 {i}" for i in range(self.lanes))
        at = self.op(f"or {ints} {base}, <{iota}>")
        return Value(self.k, "i1", self.op(f"icmp slt {ints} {at}, {limits}"))

    def masked(self, scores: str, row: int, mask: str, rows: Num, keys: Num) -> None:
        """Applies the mask of a block to its scores."""
        form = self.form
        kind, size = ("i8", 1) if form.mask == "bool" else (MEMORY[form.dtype], SIZES[form.dtype])
        whole, rest = self.divmod(keys, self.lanes)

        def apply(at: str, of: str, count: int) -> None:
            t = f"<{count} x {kind}>" if count else kind
            m = self.op(f"load {t}, ptr {of}, align {size}")
            k = self.k if count else self.one
            vec = self.vec if count else self.elem
            x = Value(k, self.elem, self.op(f"load {vec}, ptr {at}, align {self.size}"))
            if form.mask == "bool":
                yes = self.op(f"icmp ne {t} {m}, {'zeroinitializer' if count else '0'}")
                x = k.select(Value(k, "i1", yes), x, -math.inf)
            else:
                x = x + Value(k, self.elem, self.widened(m, count))
            self.do(f"store {vec} {x.name}, ptr {at}, align {self.size}")

        def one(i: Num) -> None:
            at, of = self.gep(scores, self.mul(i, row)), self.gep(mask, self.mul(i, self.n["mask.row"]))
            width = self.lanes * size
            vector = lambda j: apply(
                self.gep(at, self.mul(j, self.bytes)), self.gep(of, self.mul(j, width)), self.lanes
            )
            self.each(whole, vector)
            at, of = self.gep(at, self.mul(whole, self.bytes)), self.gep(of, self.mul(whole, width))
            self.each(rest, lambda j: apply(self.gep(at, self.mul(j, self.size)), self.gep(of, self.mul(j, size)), 0))

        self.each(rows, one)

    def mask_at(self, batch: Num, head: Num, query: Num) -> str:
        """The mask of a head, from a query on."""
        n = self.n
        return self.gep(
            "%p.mask", self.mul(batch, n["mask.batch"]), self.mul(head, n["mask.head"]), self.mul(query, n["mask.row"])
        )

    def mask_key(self, mask: str, key: Num) -> str:
        return self.gep(mask, self.mul(key, 1 if self.form.mask == "bool" else SIZES[self.form.dtype]))

    def call(self, name: str, *arguments: Num) -> None:
        kinds = ["ptr", "ptr", "ptr", "i64", "i64", "ptr"]
        self.do(f"call void @KERNEL{name}({', '.join(f'{t} {a}' for t, a in zip(kinds, arguments))})")


@dataclass(frozen=True)
class Product:
    """C = A B of blocks in scratch memory, as a function of A, B, C, the rows of C, the steps and factors of rows.

    Attributes:
        a, step: bytes from row to row and from step to step of A.
        b, c: bytes of a row of B and of C.
        vectors: of a row of C; None: as many as the keys, which are the argument in the place of factors, have.
        how: "set": C is written; "add": added to; "scaled": its rows are multiplied by their factors, then added to.
    """

    name: str
    a: int
    step: int
    b: int
    c: int
    vectors: int | None
    how: str

    def text(self, form: Form) -> str:
        code = Code(form)
        rows, most = form.tile
        vectors: Num = self.vectors or code.op("ptrtoint ptr %extra to i64")
        whole, rest = code.divmod(vectors, most)
        self.columns(code, rows, most, whole, "%b", "%c")
        at = code.mul(whole, most * form.vector_bytes)
        if rest != 0:
            self.columns(code, 2 * rows, 1, rest, code.gep("%b", at), code.gep("%c", at))
        return code.function(self.name, "ptr %a, ptr %b, ptr %c, i64 %rows, i64 %steps, ptr %extra")

    def columns(self, code: Code, m: int, nv: int, count: Num, b: str, c: str) -> None:
        tiles, _ = code.divmod(code.add("%rows", m - 1), m)

        def column(i: Num) -> None:
            across = code.mul(i, nv * code.bytes)
            pb, pc = code.gep(b, across), code.gep(c, across)

            def row(_: Num, v: Values) -> Values:
                self.tile(code, m, nv, v[0], pb, v[1], v[2])
                return [code.gep(v[0], m * self.a), code.gep(v[1], m * self.c), code.gep(v[2], m * code.size)]

            code.loop(tiles, row, ["%a", pc, "%extra"], ["ptr"] * 3)

        code.each(count, column)

    def tile(self, code: Code, m: int, nv: int, a: str, b: str, c: str, factors: str) -> None:
        def step(_: Num, v: Values) -> Values:
            y = [code.get(code.gep(v[1], j * code.bytes)) for j in range(nv)]
            sums = [code.value(s) for s in v[2:]]
            for i in range(m):
                x = code.splat(code.number(code.gep(v[0], i * self.a)))
                for j in range(nv):
                    sums[i * nv + j] = code.k.fma(x, y[j], sums[i * nv + j])
            return [code.gep(v[0], self.step), code.gep(v[1], self.b), *(s.name for s in sums)]

        sums = code.loop(
            "%steps", step, [a, b, *["zeroinitializer"] * (m * nv)], ["ptr", "ptr", *[code.vec] * (m * nv)]
        )
        for i in range(m):
            factor = code.splat(code.number(code.gep(factors, i * code.size))) if self.how == "scaled" else None
            for j in range(nv):
                at, x = code.gep(c, i * self.c + j * code.bytes), code.value(sums[2 + i * nv + j])
                if factor is not None:
                    x = code.k.fma(code.get(at), factor, x)
                elif self.how == "add":
                    x = code.get(at) + x
                code.set(at, x)
