"""The text of the kernels of attention.

Blocks of the arguments are copied into scratch memory as products want them: converted, rows side by side, keys and
values transposed where vectors run along keys. Products of blocks are functions; between them scores are turned into
weights, row by row, in vectors along keys. Rows of scratch memory past those of a block count for nothing; what
columns past the last key hold is taken for "not seen".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .arithmetic import SIZES
from .attention_code import Code, Form, Product
from .exponential import exp_down
from .nest import Num, Values
from .ssa import Kit, Value
from .vector_math import FUNCTIONS


def forward(form: Form, numbers: Sequence[str]) -> str:
    """The kernel of `attention`: ptrs are query, key, value, the mask if there is one, result and log of sums."""
    code = Code(form)
    pointers = ["q", "k", "v", *(["mask"] if form.mask else []), "out", "lse"]
    code.arguments(pointers, numbers)
    q_row, v_row, row = form.row(form.width), form.row(form.value_width), form.row(form.keys)
    most = form.queries
    scores = Product(".scores", q_row, form.size, row, row, None, "set")
    sums = Product(".sums", row, form.size, v_row, v_row, form.vectors(form.value_width), "scaled")
    spaces = {
        "query": most * q_row, "turned": form.width * row, "value": form.keys * v_row, "score": most * row,
        "sum": most * v_row, "factor": most * form.size, "top": most * form.size, "total": most * form.size,
    }  # fmt: skip
    for name, count in spaces.items():
        code.room(name, count)
    n, k = code.n, code.k
    factor = code.scale()

    def unit(i: Num) -> None:
        rest, block = code.divmod(code.add(i, "%begin"), n["blocks"])
        batch, head = code.divmod(rest, n["heads"])
        group = code.divmod(head, n["shared"])[0]
        query, rows = code.mul(block, n["block"]), code.last(block, n["block"], n["queries"])
        q = code.gep("%p.q", code.mul(batch, n["q.batch"]), code.mul(query, n["q.row"]), _head(code, head, form.width))
        keys_at = code.gep("%p.k", code.mul(batch, n["k.batch"]), _head(code, group, form.width))
        values_at = code.gep("%p.v", code.mul(batch, n["v.batch"]), _head(code, group, form.value_width))
        mask = code.mask_at(batch, head, query) if form.mask else ""
        code.copy_whole(q, n["q.row"], "%query", rows, form.width, factor)
        code.clear("%sum", code.whole(rows), form.value_width)
        _fill(code, rows)
        end: Num = n["keys"]
        if form.causal:
            end = code.extreme("max", code.seen(code.sub(code.add(query, rows), 1), 0, end), 0)

        def keys(j: Num) -> None:
            key, count = code.mul(j, n["key_block"]), code.last(j, n["key_block"], end)
            vectors = code.in_vectors(count)
            code.turn(code.gep(keys_at, code.mul(key, n["k.row"])), n["k.row"], "%turned", count, row, form.width)
            code.copy(code.gep(values_at, code.mul(key, n["v.row"])), n["v.row"], "%value", count, form.value_width)
            code.call(".scores", "%query", "%turned", "%score", rows, form.width, _pointer(code, vectors))
            if form.mask:
                code.masked("%score", row, code.mask_key(mask, key), rows, count)
            code.each(rows, lambda r: _weights(code, r, row, code.seen(code.add(query, r), key, count), vectors))
            code.call(".sums", "%score", "%value", "%sum", rows, count, "%factor")

        code.each(code.divmod(code.sub(code.add(end, n["key_block"]), 1), n["key_block"])[0], keys)
        # [B, S, H, V] and [B, S, H]
        first = code.add(code.mul(code.add(code.mul(batch, n["queries"]), query), n["heads"]), head)

        def result(r: Num) -> None:
            total, at = code.number(_at(code, "%total", r)), code.add(first, code.mul(r, n["heads"]))
            whole = code.splat(total)
            got = [code.get(code.gep("%sum", code.mul(r, v_row), j * code.bytes))
                   for j in range(form.vectors(form.value_width))]  # fmt: skip
            size = SIZES[form.dtype]
            code.write(code.gep("%p.out", code.mul(at, form.value_width * size)), [x / whole for x in got],
                       form.value_width)  # fmt: skip
            log = FUNCTIONS["log"].build(code.one, Value(code.one, code.elem, total))
            top = _shift(code.one, Value(code.one, code.elem, code.number(_at(code, "%top", r))))
            code.put(code.gep("%p.lse", code.mul(at, form.size)), (log + top).name)

        code.each(rows, result)

    def _weights(code: Code, r: Num, row: int, seen: Num, vectors: Num) -> None:
        """Turns the scores of a row into exponentials relative to the greatest score so far."""
        at, limits = code.gep("%score", code.mul(r, row)), code.limits(seen)
        lowest = k.lift(-math.inf).name

        def greatest(j: Num, v: Values) -> Values:
            p = code.gep(at, code.mul(j, code.bytes))
            x = k.select(code.inside(j, limits), code.get(p), -math.inf)
            code.set(p, x)
            return [code.larger(x, code.value(v[0])).name]

        tops = code.loop(vectors, greatest, [lowest], [code.vec])[0]
        top = Value(code.one, code.elem, code.across(code.value(tops), code.larger))
        before = Value(code.one, code.elem, code.number(_at(code, "%top", r)))
        top = code.one.select(top > before, top, before)
        shift = _shift(code.one, top)
        shifts = code.splat(shift.name)

        def exponentials(j: Num, v: Values) -> Values:
            p = code.gep(at, code.mul(j, code.bytes))
            x = exp_down(k, code.get(p) - shifts)
            code.set(p, x)
            return [(x + code.value(v[0])).name]

        sums = code.loop(vectors, exponentials, ["zeroinitializer"], [code.vec])[0]
        factor = exp_down(code.one, before - shift)
        total = Value(code.one, code.elem, code.across(code.value(sums), lambda x, y: x + y))
        old = Value(code.one, code.elem, code.number(_at(code, "%total", r)))
        code.put(_at(code, "%top", r), top.name)
        code.put(_at(code, "%factor", r), factor.name)
        code.put(_at(code, "%total", r), code.one.fma(old, factor, total).name)

    code.each(code.op("sub i64 %end, %begin"), unit)
    kernel = code.function("", "ptr %ptrs, ptr %dims, i64 %begin, i64 %end", internal=False)
    return kernel + scores.text(form) + sums.text(form)


def _head(code: Code, head: Num, width: int) -> Num:
    return code.mul(head, width * SIZES[code.form.dtype])


def _pointer(code: Code, x: Num) -> Num:
    """A number in the place of a pointer."""
    return code.op(f"inttoptr i64 {x} to ptr")


def _at(code: Code, ptr: str, row: Num) -> str:
    return code.gep(ptr, code.mul(row, code.size))


def _fill(code: Code, rows: Num) -> None:
    """Before the first key: no greatest score, no sum."""

    def one(r: Num) -> None:
        code.put(_at(code, "%top", r), code.one.lift(-math.inf).name)
        code.put(_at(code, "%total", r), "0.0")
        code.put(_at(code, "%factor", r), "0.0")

    code.each(code.whole(rows), one)


def _shift(k: Kit, top: Value) -> Value:
    """What scores are relative to: the greatest, 0 where there is none (-inf - -inf would be nan)."""
    return k.select(top.eq(-math.inf), 0.0, top)


def backward(form: Form, numbers: Sequence[str]) -> str:
    """The kernel of `attention_grad`: ptrs are query, key, value, the mask if there is one, gradient of the result, log
    of sums, their products with it, gradients of key and value, and scratch memory for what the queries get."""
    code = Code(form)
    pointers = ["q", "k", "v", *(["mask"] if form.mask else []), "g", "lse", "delta", "dk", "dv", "parts"]
    code.arguments(pointers, numbers)
    q_row, v_row, row = form.row(form.width), form.row(form.value_width), form.row(form.back_keys)
    width, value_width = form.vectors(form.width), form.vectors(form.value_width)
    products = [
        Product(".scores", q_row, form.size, row, row, None, "set"),
        Product(".weights", v_row, form.size, row, row, None, "set"),
        Product(".values", form.size, row, v_row, v_row, value_width, "add"),
        Product(".keys", form.size, row, q_row, q_row, width, "add"),
        Product(".queries", row, form.size, q_row, q_row, width, "add"),
    ]
    queries, most = form.back_queries, form.back_keys
    spaces = {
        "query": queries * q_row, "grad": queries * v_row, "key": most * q_row, "turned": form.width * row,
        "value": form.value_width * row, "score": queries * row, "weight": queries * row, "dkey": most * q_row,
        "dvalue": most * v_row,
    }  # fmt: skip
    for name, count in spaces.items():
        code.room(name, count)
    n, k = code.n, code.k
    factor = code.scale()

    def unit(u: Num) -> None:
        rest, part = code.divmod(code.add(u, "%begin"), n["parts"])
        batch, group = code.divmod(rest, n["groups"])
        keys_at = code.gep("%p.k", code.mul(batch, n["k.batch"]), _head(code, group, form.width))
        values_at = code.gep("%p.v", code.mul(batch, n["v.batch"]), _head(code, group, form.value_width))
        first_head = code.mul(group, n["shared"])
        total = code.add(code.mul(batch, n["heads"]), first_head)
        parts = code.gep("%p.parts", code.mul(part, n["part_bytes"]), code.mul(total, n["head_bytes"]))
        vectors = code.divmod(code.mul(n["head_bytes"], n["shared"]), code.bytes)[0]
        code.each(vectors, lambda i: code.set(code.gep(parts, code.mul(i, code.bytes)), "zeroinitializer"))
        first = code.mul(part, n["each"])
        blocks = code.extreme("min", n["each"], code.sub(n["key_blocks"], first))

        def keys(j: Num) -> None:
            index = code.add(first, j)
            key, count = code.mul(index, n["key_block"]), code.last(index, n["key_block"], n["keys"])
            of_key, of_value = (
                code.gep(p, code.mul(key, n[f"{x}.row"])) for p, x in ((keys_at, "k"), (values_at, "v"))
            )
            code.turn(of_key, n["k.row"], "%turned", count, row, form.width)
            code.turn(of_value, n["v.row"], "%value", count, row, form.value_width)
            code.copy(of_key, n["k.row"], "%key", count, form.width)
            code.clear("%dkey", code.whole(count), form.width)
            code.clear("%dvalue", code.whole(count), form.value_width)
            begin = _first_block(code, key)

            def heads(r: Num) -> None:
                head = code.add(first_head, r)
                mine = code.gep(parts, code.mul(r, n["head_bytes"]))

                def block(i: Num) -> None:
                    at = code.add(begin, i)
                    to = code.gep(mine, code.mul(at, n["block_bytes"]))
                    pair(batch, head, at, key, count, to)

                code.each(code.sub(n["blocks"], begin), block)

            code.each(n["shared"], heads)
            # [B, T, G, K] and [B, T, G, V]
            place = code.add(code.mul(code.add(code.mul(batch, n["keys"]), key), n["groups"]), group)
            for name, of, stride, wide in (
                ("dk", "%dkey", q_row, form.width), ("dv", "%dvalue", v_row, form.value_width),
            ):  # fmt: skip

                def one(r: Num, name: str = name, of: str = of, stride: int = stride, wide: int = wide) -> None:
                    to = code.add(place, code.mul(r, n["groups"]))
                    got = [
                        code.get(code.gep(of, code.mul(r, stride), v * code.bytes)) for v in range(form.vectors(wide))
                    ]
                    code.write(code.gep(f"%p.{name}", code.mul(to, wide * SIZES[form.dtype])), got, wide)

                code.each(count, one)

        code.each(blocks, keys)

    def pair(batch: Num, head: Num, block: Num, key: Num, count: Num, to: str) -> None:
        """A block of queries of one head, and a block of keys."""
        query, rows = code.mul(block, n["block"]), code.last(block, n["block"], n["queries"])
        place = code.add(code.mul(code.add(code.mul(batch, n["queries"]), query), n["heads"]), head)
        size = SIZES[form.dtype]
        code.copy_whole(
            code.gep("%p.q", code.mul(place, form.width * size)), n["q.row"], "%query", rows, form.width, factor
        )
        stride = code.mul(n["heads"], form.value_width * size)
        code.copy_whole(
            code.gep("%p.g", code.mul(place, form.value_width * size)), stride, "%grad", rows, form.value_width
        )
        vectors = code.in_vectors(count)
        extra = _pointer(code, vectors)
        code.call(".scores", "%query", "%turned", "%score", rows, form.width, extra)
        if form.mask:
            code.masked("%score", row, code.mask_key(code.mask_at(batch, head, query), key), rows, count)
        code.call(".weights", "%grad", "%value", "%weight", rows, form.value_width, extra)

        def one(r: Num) -> None:
            limits = code.limits(code.seen(code.add(query, r), key, count))
            at = code.mul(code.add(place, code.mul(r, n["heads"])), form.size)
            log, delta = (code.splat(code.number(code.gep(p, at))) for p in ("%p.lse", "%p.delta"))
            none = log - log  # 0, but nan for a query that sees no key
            offset = code.mul(r, row)

            def some(j: Num) -> None:
                p = code.gep("%score", offset, code.mul(j, code.bytes))
                d = code.gep("%weight", offset, code.mul(j, code.bytes))
                weight = k.select(code.inside(j, limits), exp_down(k, code.get(p) - log), none)
                code.set(p, weight)
                # where a column is past the last key, what stands there times 0 need not be 0
                code.set(d, k.select(code.inside(j, limits), weight * (code.get(d) - delta), none))

            code.each(code.in_vectors(code.whole(count)), some)

        code.each(rows, one)
        code.call(".values", "%score", "%grad", "%dvalue", count, rows, extra)
        code.call(".keys", "%weight", "%query", "%dkey", count, rows, extra)
        code.call(".queries", "%weight", "%key", to, rows, count, extra)

    code.each(code.op("sub i64 %end, %begin"), unit)
    kernel = code.function("", "ptr %ptrs, ptr %dims, i64 %begin, i64 %end", internal=False)
    return kernel + "".join(p.text(form) for p in products)


def _first_block(code: Code, key: Num) -> Num:
    """The first block of queries that see a key. Where some see none at all, all do: their weights are nan."""
    if not code.form.causal:
        return 0
    query = code.extreme("max", code.sub(key, code.n["shift"]), 0)
    block = code.extreme("min", code.divmod(query, code.n["block"])[0], code.n["blocks"])
    blind = code.op(f"icmp slt i64 {code.n['shift']}, 0")
    return code.op(f"select i1 {blind}, i64 0, i64 {block}")


def total(form: Form, numbers: Sequence[str]) -> str:
    """The sum of the parts of the gradient of the queries, times the scale. Ptrs are the parts and the result."""
    code = Code(form)
    code.arguments(["parts", "dq"], numbers)
    n, row = code.n, form.row(form.width)
    factor = code.scale()

    def unit(i: Num) -> None:
        rest, block = code.divmod(code.add(i, "%begin"), n["blocks"])
        batch, head = code.divmod(rest, n["heads"])
        query, rows = code.mul(block, n["block"]), code.last(block, n["block"], n["queries"])
        src = code.gep("%p.parts", code.mul(rest, n["head_bytes"]), code.mul(block, n["block_bytes"]))
        place = code.add(code.mul(code.add(code.mul(batch, n["queries"]), query), n["heads"]), head)
        count = form.vectors(form.width)

        def one(r: Num) -> None:
            at = code.gep(src, code.mul(r, row))

            def part(p: Num, v: Values) -> Values:
                here = code.gep(at, code.mul(p, n["part_bytes"]))
                return [(code.value(x) + code.get(code.gep(here, j * code.bytes))).name for j, x in enumerate(v)]

            sums = code.loop(n["parts"], part, ["zeroinitializer"] * count, [code.vec] * count)
            to = code.add(place, code.mul(r, n["heads"]))
            row_at = code.gep("%p.dq", code.mul(to, form.width * SIZES[form.dtype]))
            code.write(row_at, [code.value(x) * factor for x in sums], form.width)

        code.each(rows, one)

    code.each(code.op("sub i64 %end, %begin"), unit)
    return code.function("", "ptr %ptrs, ptr %dims, i64 %begin, i64 %end", internal=False)
