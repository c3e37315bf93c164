"""Breaks the compiler on purpose, one line at a time, and looks whether the checks below notice.

`python tests/engine/cpu/mutations.py [NAME ...]` prints a line for each; `test_mutations.py` reads them. Each broken
compiler is a process of its own, forked from this one, that imports the engine with one line changed.
"""

from __future__ import annotations

import dataclasses
import importlib.abc
import importlib.machinery
import os
import signal
import sys
from typing import Any, NamedTuple

import hypothesis.strategies  # noqa: F401  (here once for all processes)
import llvmlite.binding  # noqa: F401
import ml_dtypes  # noqa: F401
import numpy as np
import pytest  # noqa: F401

LIMIT_S = 20  # of the processor, for one that does not end


class Mutation(NamedTuple):
    """In `module` of the engine, `old` becomes `new`; `checks` are to fail. `old` is a line's part that occurs once."""

    module: str
    old: str
    new: str
    checks: str


MUTATIONS = {
    # ---- products: tiles, and the last ones of an axis ----
    "the last vector of a row does not overlap": Mutation(
        "cpu.storing", "last = full + n % s.lanes - s.lanes", "last = full", "products"
    ),
    "smaller tiles begin where they would if all were as small": Mutation(
        "cpu.packing", "m), begins * s1)", "m), begins * m)", "products"
    ),
    "the last block of a sum is as long as the others": Mutation(
        "cpu.contraction", "steps = s.k_block if exact else", "steps = s.k_block if True else", "products"
    ),
    "a block of a sum replaces the one before": Mutation(
        "cpu.contraction", "first = self.op(f\"icmp sgt i64 {i}, 0\") if isinstance(i, str) else i > 0",
        "first = False", "products",
    ),
    "what reduces around the tiles replaces": Mutation(
        "cpu.contraction", "before = i if gone == 0 else", "before = gone if gone == 0 else", "channels"
    ),
    "lanes that are done are added again": Mutation(
        "cpu.contraction", "[j >= lanes - rest for j in range(lanes)]", "[True for j in range(lanes)]", "products"
    ),
    "a packed square forgets the overlap": Mutation(
        "cpu.packing", "column = self.extreme(\"min\", self.mul(j, s.lanes), at[-1])",
        "column = self.mul(j, s.lanes)", "products",
    ),
    "axes merge without a look at the result": Mutation(
        "cpu.schedule", " and outer.c == n * inner.c", "", "products"
    ),
    "exchanged operands keep their offsets": Mutation(
        "cpu.tile", "a, b, a_type, b_type = b, a, b_type, a_type", "a_type, b_type = b_type, a_type", "products"
    ),
    "parts of a reduce axis lie one element apart": Mutation(
        "cpu.candidates", "Dim(d.extent // fits, d.a * fits, d.b * fits)", "Dim(d.extent // fits, d.a, d.b)", "channels"
    ),
    "sums of bfloat16 are rounded at each visit": Mutation(
        "cpu.units", "scratch=s.rounds and bool(block or s.k_outer)", "scratch=False", "halves"
    ),
    "packed tiles lie side by side": Mutation("cpu.schedule", "else self.itemsize)", "else 0)", "halves"),
    "a vector takes rows that are not there": Mutation("cpu.packing", "m - taken)", "0)", "halves"),
    "the rest of a row is not packed": Mutation(
        "cpu.packing", "self.loop(n, step, [src, dst], kinds)", "self.loop(0, step, [src, dst], kinds)", "halves"
    ),
    # ---- index maps ----
    "axes of loops merge where one access does not": Mutation(
        "cpu.affine", "if all(f.get(before, 0)", "if any(f.get(before, 0)", "loops"
    ),
    "squares are done for what does not fill them": Mutation(
        "cpu.affine", "v.extent % LINE == 0 and v.extent > LINE", "v.extent > LINE", "loops"
    ),
    "an index map loses its offset": Mutation(
        "cpu.linear", "constant += form[1] * stride", "constant += form[1] * 0", "loops"
    ),
    "division rounds to zero": Mutation(
        "cpu.values", "self.put(f\"{fixed} = sub {t} {q}, 1\")", "self.put(f\"{fixed} = sub {t} {q}, 0\")", "loops"
    ),
    "the second half of an odd shape is a reshape": Mutation(
        "cpu.layout", "if out in fixed or not same_but_for_units(v.shape, out.shape):", "if out in fixed:", "channels"
    ),
    # ---- tails of loops, columns, cut sums ----
    "the last chunk is as long as the others": Mutation(
        "cpu.emit", "self.put(f\"{end} = select i1 {over}, i64 {high}, i64 {n}\")",
        "self.put(f\"{end} = select i1 {over}, i64 {high}, i64 {high}\")", "loops",
    ),
    "the last block of columns is as wide as the others": Mutation(
        "cpu.emit", "self.put(f\"{high} = select i1 {over}, i64 {full}, i64 {n}\")",
        "self.put(f\"{high} = select i1 {over}, i64 {full}, i64 {full}\")", "loops",
    ),
    "all parts of a sum read the first": Mutation(
        "cpu.split", "index = scope.var(outer) * inner.extent + scope.var(inner)", "index = scope.var(inner)", "loops"
    ),
    "all parts of a product read the first": Mutation(
        "cpu.split", "(n, a * each, b * each, result.type.size)", "(n, 0, b * each, result.type.size)", "loops"
    ),
    # ---- memory ----
    "what is read elsewhere is overwritten": Mutation(
        "cpu.plan", "if len(e.args) > len(y.shape) or offset_of(y, e.args) != want:", "if len(e.args) > len(y.shape):",
        "loops",
    ),
    "memory is free one step too soon": Mutation(
        "cpu.plan", "if self.last[v] == i and self", "if self.last[v] <= i + 1 and self", "loops"
    ),
    "one buffer under two shapes is two operands": Mutation(
        "cpu.compiler", "root = plan.root_of(e.attr.key)", "root = e.attr.key", "loops"
    ),
    # ---- recurrences ----
    "a reversed state comes from the past": Mutation(
        "cpu.recurrence", "before = t + 1 if r[\"reverse\"] else t - 1", "before = t - 1", "recurrences"
    ),
    "a state has one buffer": Mutation("cpu.recurrence", "shifted(p, turn % 2 * size)", "shifted(p, 0)", "recurrences"),
    "the last state is the first of a reversed sequence": Mutation(
        "passes.recurrence", "at = 0 if op.reverse else steps - 1", "at = steps - 1", "recurrences"
    ),
    # ---- numbers ----
    "halves round up": Mutation("cpu.half_floats", "0x7FFF + ((n >> 16) & 1)", "0x8000", "numbers"),
    "a polynomial loses a half": Mutation(
        "cpu.ssa", "self.fma(self.polynomial(z, odd), x, self.polynomial(z, even))", "self.polynomial(z, even)",
        "numbers",
    ),
    "sums of float32 stay in float32": Mutation(
        "cpu.loops", "types.float64 if kind == \"sum\" and d is types.float32 else d", "d", "numbers"
    ),
    # ---- convolutions by tiles ----
    "results past an edge come last": Mutation(
        "cpu.winograd", "for i in reversed(range(s.m)):", "for i in range(s.m):", "tiles"
    ),
    "rows past the edge are read": Mutation(
        "cpu.transforms", "self.extreme(\"min\", self.add(first, i), n - 1)", "self.add(first, i)", "tiles"
    ),
    "the last vector of channels does not overlap": Mutation(
        "cpu.transforms", "at = self.extreme(\"min\", at, self.sub(valid, lanes))", "pass", "tiles"
    ),
    "the last unit takes as many tiles as the others": Mutation(
        "cpu.winograd", "count = self.extreme(\"min\", s.rows, self.sub(s.tiles, first))", "count: Num = s.rows",
        "tiles",
    ),
    "what is left of the channels is forgotten": Mutation(
        "cpu.winograd", "whole, rest = divmod(self.s.c, most)", "whole, rest = self.s.c // most, 0", "tiles"
    ),
    "a block of channels replaces the one before": Mutation(
        "cpu.transforms", "if add is not False:", "if False:", "tiles"
    ),
    "elements past an edge count": Mutation(
        "cpu.winograd_gradient", "for i, j in factors:", "for i, j in ():", "tiles"
    ),
    "rows of the tiles before stay": Mutation("cpu.winograd_gradient", "self.clear(count)", "pass", "tiles"),
    "the last part has as many blocks as the others": Mutation(
        "cpu.winograd_gradient", "self.loop(self.extreme(\"min\", s.each, self.sub(blocks, first)), block)",
        "self.loop(s.each, block)", "tiles",
    ),
    "an input is taken for one with channels last": Mutation(
        "cpu.lower", "if not self.lies_so(inputs[i]):", "if False:", "tiles"
    ),
}  # fmt: skip


# ---- the checks -------------------------------------------------------------------------------
def products() -> None:
    """Kernels of products between unreadable pages."""
    from test_contraction import WORK, check, product

    from paddle.engine.cpu.tile import Axis, Contraction

    specs = [product(7, 3, 21), product(13, 19, 4, transpose_b=True), product(9, 40, 33, transpose_a=True)]
    specs += [
        product(14, 1003, 37),
        product(40, 70, 45, transpose_b=True, batch=2),
        product(2, 301, 5, transpose_b=True),
    ]
    gaps = (Axis(3, 44, 0, 100), Axis(4, 11, 0, 20), Axis(16, 0, 1, 1), Axis(11, 1, 16, None))
    specs.append(Contraction(gaps, "float32"))
    specs += [WORK[name] for name in ("few columns", "convolution, one channel", "input gradient", "depthwise")]
    for spec in specs:
        check(spec, 32, (3,))


def halves() -> None:
    """Products of bfloat16 without instructions for them: packed, converted."""
    from test_contraction import WORK, check, plan, product, run

    specs = [product(29, 1003, 37, transpose_a=True), product(40, 70, 45), WORK["weight gradient"]]
    for spec in specs:
        for at_end in (True, False):
            check(dataclasses.replace(spec, dtype="bfloat16"), 16, (3,), at_end)
    ones = dataclasses.replace(product(40, 4000, 33), dtype="bfloat16")
    a, b, c = (np.ones(n, ml_dtypes.bfloat16) for n in (40 * 4000, 4000 * 33, 40 * 33))
    run(plan(ones, 16), a, b, c)
    assert (c == ml_dtypes.bfloat16(4000)).all()


def graph(build: Any, *arrays: np.ndarray, tolerance: float = 0.0) -> None:
    """A program, compiled, against its meaning."""
    from test_programs import graph_of, overlaps, problem

    made = graph_of(build, *arrays)
    assert not overlaps(made, (False,) * len(arrays))
    wrong = problem(made, list(arrays), (False,) * len(arrays), [tolerance] * len(made.outputs), "always")
    assert not wrong, wrong


def whole(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Small whole numbers, whose sums and products are exact."""
    return np.random.default_rng(0).integers(-4, 5, shape).astype(dtype)


def loops() -> None:
    def sums(add, x, y):
        return add("sum", x, axes=(1,), keepdim=False), add("max", add("neg", y), axes=(0,), keepdim=True)

    def moves(add, x, y):
        part = add("slice", x, starts=(3, 37), stops=(40, 10), steps=(2, -1))
        return (
            part,
            add("pad", part, low=(1, 2), high=(0, 3), value=1.0),
            add("add", x, add("transpose", y, perm=(1, 0))),
        )

    def division(add, x, y):
        return add("floor_divide", x, y), add("remainder", x, y)

    def places(add, x):
        a = add("tanh", x)
        b = add("sigmoid", add("add", a, add("transpose", a, perm=(1, 0))))
        c = add("tanh", add("add", b, add("transpose", b, perm=(1, 0))))
        return tuple(add("sum", c, axes=(i,), keepdim=False) for i in (0, 1))

    def shapes(add, x, y, z):
        row = lambda i: add("reshape", add("slice", x, starts=(i, 0), stops=(i + 1, 6), steps=(1, 1)), shape=(6,))
        a, b = add("add", add("tanh", y), row(0)), add("add", add("tanh", z), row(1))
        c, d = add("add", add("tanh", a), row(2)), add("add", add("tanh", b), row(3))
        return c, d, add("add", a, b)

    graph(sums, whole(3, 37, 70), whole(30, 130))
    graph(moves, whole(50, 40), whole(40, 50))
    graph(lambda add, x, y: add("add", x, y), whole(3, 4, 5, 6), whole(4, 1, 1))
    graph(lambda add, x: add("neg", x), whole(2500))
    graph(lambda add, x: add("sum", x, axes=(0,), keepdim=False), whole(70_000))
    graph(lambda add, x, y: add("matmul", x, y), whole(3, 60_000), whole(60_000, 4))
    graph(division, whole(200, dtype="int64"), np.tile(np.array([1, -1, 2, -3, 5]), 40))
    graph(places, whole(33, 33, dtype="float64"), tolerance=1e-9)
    graph(shapes, whole(4, 6, dtype="float64"), whole(6, dtype="float64"), whole(6, dtype="float64"), tolerance=1e-12)


def channels() -> None:
    """Convolutions whose channels come last."""
    one = {"strides": (1, 1), "dilations": (1, 1)}

    def build(add, x, w, v):
        y = add("relu", add("conv", x, w, **one))
        z = add("conv", add("pad", y, low=(0, 0, 0, 1, 0), high=(0, 0, 0, 1, 0), value=0.0), v, **one)
        mixed = add("reshape", add("add", y, y), shape=(2, 8, 210))
        return add("sum", z, axes=(3, 4), keepdim=False), add("max", mixed, axes=(1,), keepdim=False)

    graph(build, whole(2, 1, 3, 8, 9), whole(1, 40, 3, 3, 3), whole(1, 33, 40, 3, 3))
    graph(
        lambda add, x, w: add("max", add("conv", x, w, **one), axes=(3,), keepdim=False),
        whole(2, 1, 400, 3, 5),
        whole(1, 33, 400, 1, 2),
    )


def tiles() -> None:
    """Convolutions by tiles of 2, whose numbers are exact: edges, channels that fill no vector, several units."""
    for n, c, o, h, w in (
        (1, 3, 5, 5, 4),
        (2, 33, 70, 9, 8),
        (1, 16, 16, 16, 28),
        (1, 130, 33, 4, 5),
        (1, 600, 16, 4, 4),
    ):
        graph(
            lambda add, x, w, o=o: add("winograd_conv", x, add("winograd_weights", w, tile=2), tile=2, channels=o),
            whole(n, 1, c, h, w), whole(1, o, c, 3, 3),
        )  # fmt: skip
    for n, c, o, h, w in ((2, 16, 33, 7, 9), (1, 33, 70, 36, 36), (9, 3, 16, 18, 18)):
        graph(
            lambda add, x, g: add("winograd_grad", x, g),
            whole(n, 1, c, h, w), whole(n, 1, o, h - 2, w - 2), tolerance=0.05,
        )  # fmt: skip


def recurrences() -> None:
    from paddle.engine.ops.elementwise import add
    from paddle.engine.ops.recurrence import build, typed
    from paddle.engine.ops.registry import registry
    from paddle.engine.ops.shape import transpose
    from paddle.engine.types import float64

    def step(constants, states, elements):
        turned = add(transpose(states[1], (1, 0)), elements[0])
        new = registry["tanh"]()(add(states[0], elements[0]))
        return [new, turned], [new, add(new, turned)]

    for reverse in (False, True):
        op = build(step, [], typed((3, 3), (3, 3), dtype=float64), typed((3, 3), dtype=float64), reverse)
        given = (whole(3, 3, dtype="float64"), whole(3, 3, dtype="float64"), whole(6, 3, 3, dtype="float64"))

        def last(add, *values, of=op):
            state, _, new, result, *_ = values[0].graph.add(of, values)
            return state, new, result

        graph(last, *given, tolerance=1e-12)


def numbers() -> None:
    from paddle.engine.types import bfloat16

    ties = (1 + np.arange(1, 64, 2) / 256).astype("float32")  # between two numbers of bfloat16
    graph(lambda add, x: add("cast", x, dtype=bfloat16), ties)
    for name in ("exp", "tanh", "log1p", "sin", "erf"):
        graph(lambda add, x, name=name: add(name, x), np.linspace(-0.9, 3, 50), tolerance=1e-13)
    graph(lambda add, x: add("sum", x, axes=(0,), keepdim=False), np.full(5000, 0.1, "float32"), tolerance=1e-4)


# ---- one process per mutation -----------------------------------------------------------------
class Mutated(importlib.abc.MetaPathFinder):
    """Finds one module and changes its text."""

    def __init__(self, mutation: Mutation):
        self.mutation = mutation

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != f"paddle.engine.{self.mutation.module}":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None and spec.origin is not None
        spec.loader = Loader(name, spec.origin, self.mutation)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, mutation: Mutation):
        super().__init__(name, path)
        self.mutation = mutation

    def get_code(self, name: str) -> Any:
        text, m = self.get_data(self.path).decode(), self.mutation
        if text.count(m.old) != 1:
            print(f"{m.module} has this {text.count(m.old)} times, choose another line: {m.old}", flush=True)
            os._exit(STALE)
        return compile(text.replace(m.old, m.new), self.path, "exec")


NOTICED, STALE, BROKEN = 3, 4, 5


def child(mutation: Mutation | None, checks: list[Any]) -> None:
    """Runs the checks in this process, and ends it with what came of them."""
    import resource  # not on every system

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    if mutation is not None:
        sys.meta_path.insert(0, Mutated(mutation))
    try:
        for check in checks:
            check()
    except AssertionError:
        os._exit(NOTICED)
    except BaseException as e:  # noqa: BLE001
        print(f"{type(e).__name__}: {e}", flush=True)
        os._exit(BROKEN)
    os._exit(0)


def outcome(mutation: Mutation | None, checks: list[Any]) -> str:
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        child(mutation, checks)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:  # it read or wrote where nothing is, or did not end
        return f"noticed, {signal.Signals(-code).name}"
    return {0: "not noticed", NOTICED: "noticed", STALE: "stale"}.get(code, "broken otherwise")


def main(names: list[str]) -> None:
    os.environ.update(FLAGS_cache_bytes="0", FLAGS_cpu_threads="1")
    print(f"{outcome(None, [products, halves, loops, channels, tiles, recurrences, numbers])}: nothing changed")
    for name, mutation in MUTATIONS.items():
        if not names or name in names:
            print(f"{outcome(mutation, [globals()[mutation.checks]])}: {name}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    main(sys.argv[1:])
