"""What becomes of sums as they are stored: kernels with an epilogue against the plain kernel and numpy."""

import ctypes
import itertools
from dataclasses import replace

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest
from test_contraction import HERE, SIGNATURE, WIDTHS, WORK, function, product, reach, view

from paddle.engine.cpu import jit
from paddle.engine.cpu.compiler import module_text
from paddle.engine.cpu.emit import Emitter
from paddle.engine.cpu.epilogue import Epilogue, program
from paddle.engine.cpu.expr import LoopBuilder, Operand, Scope, Var
from paddle.engine.cpu.loops import Loops, Store
from paddle.engine.cpu.plan import split
from paddle.engine.cpu.tile import Axis, Contraction, plan
from paddle.engine.cpu.vector_math import FUNCTIONS
from paddle.engine.types import bfloat16, dtype_of, float32, int32

NUMPY = {"bfloat16": ml_dtypes.bfloat16}


def expression(kind, operands, make):
    """make(k, sum, *elements) -> values to store; as code."""
    scope = Scope()
    at = (scope.var(Var(7)),)
    k = LoopBuilder(scope, at, dtype_of(kind))
    sum_, *others = (k.load(Operand(f"t{i}", (7,), dtype_of(d), i), at) for i, d in enumerate((kind, *operands)))
    return k, lambda stored: program(
        make(k, sum_, *others), [dtype_of(d) for d in stored], lambda e: e.attr.key - 1 if e.attr.key else None
    )


def epilogue(kind, reads, make, stored, result=0):
    """An epilogue that reads `reads` and stores values as `stored`; C gets the one numbered `result`."""
    made = expression(kind, reads, make)[1](stored)
    assert made is not None
    code, places = made
    written = [(i, p) for i, p in enumerate(places) if i != result]
    operands = (*reads, *(stored[i] for i, _ in written))
    stores = tuple((len(reads) + n, p) for n, (_, p) in enumerate(written))
    return Epilogue(kind, code, places[result], operands, stores)


def dense(axes, order):
    """Strides of a tensor over the axes named in `order`, outermost first; 0 along the others."""
    strides, step = [0] * len(axes), 1
    for i in reversed(order):
        strides[i], step = step, step * axes[i].extent
    return strides, step


def with_strides(spec, orders, e, c_type):
    """The spec with an epilogue whose further tensors have the axes in `orders`; and their sizes."""
    free = [i for i, x in enumerate(spec.axes) if x.c is not None]
    axes = [spec.axes[i] for i in free]
    found = [dense(axes, order) for order in orders]
    new = list(spec.axes)
    for n, i in enumerate(free):
        new[i] = replace(spec.axes[i], e=tuple(strides[n] for strides, _ in found))
    return replace(spec, axes=tuple(new), epilogue=e, c_type=c_type), [size for _, size in found]


def run(kernel, arrays, cuts=(1, 2, 5)):
    pointers = (ctypes.c_void_p * (1 + len(arrays)))(None, *(x.ctypes.data for x in arrays))
    edges = sorted({0, kernel.total, *(x % (kernel.total + 1) for x in cuts)})
    for begin, end in reversed(list(itertools.pairwise(edges))):
        function(kernel)(ctypes.addressof(pointers), None, begin, end)


def filled(rng, size, kind):
    d = np.dtype(NUMPY.get(kind, kind))
    return rng.integers(0, 2, size).astype(d) if d.kind in "biu" else rng.standard_normal(size).astype(d)


def check(spec, orders, e, c_type, make, vector_bytes, has=HERE, seed=0):
    """Compares with numpy on what the plain kernel gives: the same bits where there are only the four operations."""
    rng = np.random.default_rng(seed)
    spec, sizes = with_strides(spec, orders, e, c_type)
    plain = replace(spec, epilogue=None, c_type="")  # the axes are those of the epilogue: it is cut the same way
    size = lambda which, offset: reach(spec, which)[1] + offset + 1
    a, b = filled(rng, size("a", spec.a_offset), spec.types[0]), filled(rng, size("b", spec.b_offset), spec.types[1])
    c = np.zeros(size("c", 0), NUMPY.get(plain.types[2], plain.types[2]))
    run(plan(plain, vector_bytes, has=has), [a, b, c])
    written = {j for j, _ in e.stores}
    others = [np.zeros(n, NUMPY.get(k, k)) if j in written else filled(rng, n, k)
              for j, (n, k) in enumerate(zip(sizes, e.operands))]  # fmt: skip
    got = np.zeros(size("c", 0), NUMPY.get(c_type, c_type))
    run(plan(spec, vector_bytes, has=has), [a, b, got, *others])
    free = [x for x in spec.axes if x.c is not None]
    seen = lambda data, strides: np.lib.stride_tricks.as_strided(
        data, [x.extent for x in free], [s * data.itemsize for s in strides])  # fmt: skip
    beside = [seen(x, [f.e[j] for f in free]) for j, x in enumerate(others)]
    wide = lambda x: x.astype(np.float32) if x.dtype.itemsize == 2 else x
    want = make(Numpy, wide(view(c, spec, "c", 0)), *(wide(x) for j, x in enumerate(beside) if j not in written))
    results = [view(got, spec, "c", 0), *(beside[j] for j, _ in e.stores)]
    return list(zip(results, want))


class Numpy:
    """The `k` of an expression with numpy."""

    max, min, exp, sqrt, abs = np.maximum, np.minimum, np.exp, np.sqrt, np.abs
    where = np.where
    floor = np.floor

    @staticmethod
    def cast(x, d):
        x = x.astype(NUMPY.get(d.name, d.name))
        return x.astype(np.float32) if d.name in ("float16", "bfloat16") else x


ZERO = lambda x: x * 0 if isinstance(x, np.ndarray) else 0.0
EXPRESSIONS = {
    "bias and relu": (("float32",), "v", lambda k, s, b: [k.max(s + b, ZERO(s))]),
    "residual": (("float32", "float32"), "fv", lambda k, s, r, b: [k.max(s + b + r, ZERO(s))]),
    "scale and shift": (("float32",) * 4, "vvvv", lambda k, s, m, v, w, b: [(s - m) / k.sqrt(k.abs(v) + 1.0) * w + b]),
    "by rows": (("float32",), "r", lambda k, s, b: [s * b]),
    "a number, turned": (("float32", "float32"), "nt", lambda k, s, n, t: [s * n - t]),
    "mask": (("bool",), "f", lambda k, s, m: [k.where(m, s + s, ZERO(s))]),
    "two results": (("float32",), "v", lambda k, s, b: [s + b, (s + b) * (s - b)]),
    "long": (("float32", "float32"), "fv", lambda k, s, r, b: [
        ((s + b) * (s - b) + r * s) * (s + r) - b * (s + s) * (b + r) + (b + b) * (b - r)]),
}  # fmt: skip


def orders_of(spec, letters):
    """Axes of further tensors: all, turned, those of columns or rows, none."""
    free = [x for x in spec.axes if x.c is not None]
    n = list(range(len(free)))
    column = min(n, key=lambda i: free[i].c)
    whole = sorted(n, key=lambda i: -free[i].c)
    named = {"f": whole, "t": whole[::-1], "v": [column], "r": [i for i in whole if i != column], "n": []}
    return [named[x] for x in letters]


def count_of(make, reads):
    return len(make(Numpy, *[np.ones(1, "float32")] * (1 + len(reads))))


@pytest.mark.parametrize("vector_bytes", WIDTHS)
def test_every_kind_of_work_with_some_epilogue(vector_bytes):
    """The bits are those of numpy on what the kernel without an epilogue gives."""
    names = list(EXPRESSIONS)
    for i, (work, spec) in enumerate((w, s) for w, s in WORK.items() if s.dtype == "float32"):
        name = names[(i + WIDTHS.index(vector_bytes)) % len(names)]
        reads, letters, make = EXPRESSIONS[name]
        count = count_of(make, reads)
        e = epilogue("float32", reads, make, ("float32",) * count)
        for got, want in check(spec, orders_of(spec, letters + "t" * (count - 1)), e, "float32", make, vector_bytes):
            np.testing.assert_array_equal(got, want, f"{work}, {name}")


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_epilogue_where_sums_are_visited_often_and_columns_overlap(name):
    reads, letters, make = EXPRESSIONS[name]
    count = count_of(make, reads)
    e = epilogue("float32", reads, make, ("float32",) * count)
    for spec in (WORK["long reduce axis"], CHANNELS_LAST, WORK["one row NT"]):
        for got, want in check(spec, orders_of(spec, letters + "t" * (count - 1)), e, "float32", make, WIDTHS[-1]):
            np.testing.assert_array_equal(got, want)


CHANNELS_LAST = Contraction((  # 3 x 3, 40 to 37 channels, with padding
    Axis(2, 8 * 9 * 40, 0, 6 * 7 * 37), Axis(6, 9 * 40, 0, 7 * 37), Axis(7, 40, 0, 37), Axis(37, 0, 1, 1),
    Axis(3, 9 * 40, 3 * 40 * 37, None), Axis(3, 40, 40 * 37, None), Axis(40, 1, 37, None)), "float32")  # fmt: skip


@pytest.mark.parametrize("name", [f for f, how in FUNCTIONS.items() if how.args == 1 and f not in ("lgamma", "tan")])
def test_functions_of_vectors(name):
    """Each is the function of numbers that loops call, applied to all lanes."""
    spec = product(9, 5, 33)
    d = "bool" if name.startswith("is") else "float32"
    make = lambda k, s: [getattr(k, name)(s)]
    e = epilogue("float32", (), lambda k, s: [s, *make(k, s)], ("float32", d))
    ((plain, _), (got, _)) = check(spec, orders_of(spec, "f"), e, "float32", lambda k, s: [s, s], WIDTHS[-1])
    scope = Scope()
    x, y = Operand("x", plain.shape, float32), Operand("y", plain.shape, dtype_of(d))
    variables = [Var(n) for n in plain.shape]
    k = LoopBuilder(scope, [scope.var(v) for v in variables], float32)
    loops = Loops(scope, variables, [Store(y, k.at, make(k, k.load(x, k.at))[0])])
    kernel = Emitter(loops, {}, WIDTHS[-1]).kernel()
    loaded = jit.load(jit.compile_object(module_text([kernel.text.replace("@KERNEL", "@k")], kernel.functions)), ["k"])
    want, source = np.zeros(plain.shape, d), np.ascontiguousarray(plain)
    ordered = [{"x": source, "y": want}[o.name].ctypes.data for o in kernel.operands]
    pointers = (ctypes.c_void_p * 3)(None, *ordered)
    SIGNATURE(loaded.addresses["k"])(ctypes.addressof(pointers), None, 0, split(kernel, {})[0])
    np.testing.assert_array_equal(got, want)


TYPES = {  # what elements count as, how C and what is read are stored, the expression, and the tolerance
    "bfloat16": ("bfloat16", "bfloat16", ("bfloat16",) * 2, lambda k, s, r, b: [k.max(s + b + r, ZERO(s))], 2**-7),
    "bfloat16 to float32": ("bfloat16", "float32", ("float32",), lambda k, s, b: [s + b], 2**-7),
    "float16": ("float16", "float16", ("float16",), lambda k, s, b: [s * b + s], 2**-9),
    "float32 to bfloat16": ("float32", "bfloat16", ("float32",), lambda k, s, b: [k.cast(s + b, bfloat16)], 2**-7),
    "float64": ("float64", "float64", ("float64",), lambda k, s, b: [k.max(s + b, ZERO(s))], 1e-12),
    "int8 to float32": ("int8", "float32", ("float32",), lambda k, s, b: [k.cast(s, float32) * b], 1e-6),
    "int32": ("int32", "int32", ("int32",), lambda k, s, b: [k.where(s < b, s * b - s, s)], 0),
}  # fmt: skip


@pytest.mark.parametrize("vector_bytes", WIDTHS[:: max(1, len(WIDTHS) - 1)])
@pytest.mark.parametrize("name", TYPES)
def test_other_types(name, vector_bytes):
    dtype, c_type, reads, make, tolerance = TYPES[name]
    kind = {"int8": "int32"}.get(dtype, dtype)
    e = epilogue(kind, reads, make, (c_type,))
    for work in ("product", "long reduce axis", "long reduce axis NT", "one row NT", "convolution"):
        spec = replace(WORK[work], dtype=dtype)
        ((got, want),) = check(spec, orders_of(spec, "vf"[-len(reads) :]), e, c_type, make, vector_bytes)
        got, want = (x.astype(np.float64) for x in (got, want))
        assert np.abs(got - want).max() <= tolerance * max(1.0, np.abs(want).max()), work


def test_what_is_no_number_passes():
    a, b = np.ones((3, 5), np.float32), np.ones((5, 40), np.float32)
    a[0, 1], b[2, 3], b[1, 39] = np.nan, np.inf, -np.inf
    reads, letters, make = EXPRESSIONS["bias and relu"]
    e = epilogue("float32", reads, make, ("float32",))
    spec, _ = with_strides(product(3, 5, 40), [[1]], e, "float32")
    c, bias = np.zeros((3, 40), np.float32), np.ones(40, np.float32)
    run(plan(spec, WIDTHS[-1], has=HERE), [a, b, c, bias])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(c, np.maximum(a @ b + bias, 0))


def test_text_is_llvm_for_every_width():
    for name, (reads, letters, make) in EXPRESSIONS.items():
        count = count_of(make, reads)
        e = epilogue("float32", reads, make, ("float32",) * count)
        for spec in (CHANNELS_LAST, WORK["few columns NT"]):
            made = with_strides(spec, orders_of(spec, letters + "t" * (count - 1)), e, "float32")[0]
            for vector_bytes in (16, 32, 64):
                text = plan(made, vector_bytes).text("f")
                assert text == plan.__wrapped__(made, vector_bytes).text("f"), name
                llvm.parse_assembly(text).verify()


@pytest.mark.parametrize(
    "make", [lambda k, s: [k.reduce("sum", [3], lambda j: s)], lambda k, s: [k.cast(s, int32)], lambda k, s: [k.at[0]]]
)
def test_what_vectors_cannot_do_is_left_to_loops(make):
    assert expression("float32", (), make)[1](("int32",)) is None
