"""Loop nests as LLVM text. Numbers are Python ints, folded as they are written, or names of i64 values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Num = int | str
Values = list[str]


class Nest:
    """The lines of one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"

    def op(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def place(self, label: str) -> None:
        self.lines.append(label + ":")
        self.block = label

    def add(self, a: Num, b: Num) -> Num:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        return a if b == 0 else self.op(f"add i64 {a}, {b}")

    def sub(self, a: Num, b: Num) -> Num:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.op(f"sub i64 {a}, {b}")

    def mul(self, a: Num, b: Num) -> Num:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        return a if b == 1 else self.op(f"mul i64 {a}, {b}")

    def extreme(self, which: str, a: Num, b: Num) -> Num:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b) if which == "min" else max(a, b)
        c = self.op(f"icmp {'slt' if which == 'min' else 'sgt'} i64 {a}, {b}")
        return self.op(f"select i1 {c}, i64 {a}, i64 {b}")

    def divmod(self, a: Num, b: Num) -> tuple[Num, Num]:
        if isinstance(a, int) and isinstance(b, int):
            return a // b, a % b
        if b == 1:
            return a, 0
        q = self.op(f"udiv i64 {a}, {b}")
        return q, self.sub(a, self.mul(q, b))

    def gep(self, ptr: str, *offsets: Num) -> str:
        """A pointer moved by bytes."""
        fixed = 0
        for o in offsets:
            if isinstance(o, int):
                fixed += o
            else:
                ptr = self.op(f"getelementptr i8, ptr {ptr}, i64 {o}")
        return self.op(f"getelementptr i8, ptr {ptr}, i64 {fixed}") if fixed else ptr

    def loop(
        self,
        count: Num,
        body: Callable[[Num, Values], Values],
        values: Sequence[str] = (),
        kinds: Sequence[str] = (),
    ) -> Values:
        """Runs body(i, values) -> values for i in [0, count); kinds are the LLVM types of the values."""
        values = list(values)
        if isinstance(count, int) and count <= 1:
            return body(0, values) if count == 1 else values
        head, done, before = self.label(), self.label(), self.block
        if isinstance(count, str):
            some = self.op(f"icmp sgt i64 {count}, 0")
            self.do(f"br i1 {some}, label %{head}, label %{done}")
        else:
            self.do(f"br label %{head}")
        self.place(head)
        i = f"%i{head}"
        at = len(self.lines)
        self.lines.append("")
        inner = [f"%c{head}.{j}" for j in range(len(values))]
        after = body(i, list(inner))
        last = self.block
        following = self.op(f"add i64 {i}, 1")
        more = self.op(f"icmp slt i64 {following}, {count}")
        self.do(f"br i1 {more}, label %{head}, label %{done}")
        phis = [f"  {i} = phi i64 [ 0, %{before} ], [ {following}, %{last} ]"]
        phis += [
            f"  {n} = phi {t} [ {v}, %{before} ], [ {w}, %{last} ]" for n, t, v, w in zip(inner, kinds, values, after)
        ]
        self.lines[at] = "\n".join(phis)
        self.place(done)
        if isinstance(count, int):
            return after
        return [self.op(f"phi {t} [ {v}, %{before} ], [ {w}, %{last} ]") for t, v, w in zip(kinds, values, after)]

    def transposed(self, rows: Values, vec: str, lanes: int, size: int) -> Values:
        """A square of vectors, of `lanes` elements of `size` bytes, with rows and columns exchanged."""
        rows = list(rows)
        inside = 4 if size == 4 and lanes >= 4 else 1  # in fours, unpacking is one instruction cheaper

        def pick(x: str, y: str, order: list[int]) -> str:
            mask = ", ".join(f"i32 {o}" for o in order)
            return self.op(f"shufflevector {vec} {x}, {vec} {y}, <{lanes} x i32> <{mask}>")

        d = lanes // 2
        while d >= inside:
            for i in (i for i in range(lanes) if not i & d):
                x, y = rows[i], rows[i + d]
                rows[i] = pick(x, y, [lanes + e - d if e & d else e for e in range(lanes)])
                rows[i + d] = pick(x, y, [lanes + e if e & d else e + d for e in range(lanes)])
            d //= 2
        if inside == 4:
            fours = range(0, lanes, 4)
            low = [o for f in fours for o in (f, lanes + f, f + 1, lanes + f + 1)]
            first = [o for f in fours for o in (f, f + 1, lanes + f, lanes + f + 1)]
            for i in fours:
                a, b, c, d4 = rows[i : i + 4]
                ab, cd = pick(a, b, low), pick(c, d4, low)
                ab2, cd2 = pick(a, b, [o + 2 for o in low]), pick(c, d4, [o + 2 for o in low])
                second = [o + 2 for o in first]
                rows[i : i + 4] = (
                    pick(ab, cd, first),
                    pick(ab, cd, second),
                    pick(ab2, cd2, first),
                    pick(ab2, cd2, second),
                )
        return rows
