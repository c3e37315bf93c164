"""Every kernel against numpy's sum of products, with the operands between unreadable pages."""

import ctypes
import itertools
import mmap
import sys
from dataclasses import replace

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddle.engine.cpu import jit
from paddle.engine.cpu.arithmetic import INSTRUCTIONS
from paddle.engine.cpu.tile import Axis, Contraction, plan

# Of the greatest sum; sums of 16-bit floats are float32. Integers are exact.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "bfloat16": 2**-8, "float16": 2**-11}
HERE = tuple(i for i in INSTRUCTIONS if jit.has(i))  # what products may use of this CPU
WIDTHS = (16, 32, 64) if jit.vector_bytes() == 64 else (16, 32) if jit.vector_bytes() == 32 else (16,)
_compiled: dict[str, ctypes.CFUNCTYPE] = {}
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def function(kernel):
    """The kernel as a function of C; equal keys share one."""
    if kernel.key not in _compiled:
        loaded = jit.load(jit.compile_object(kernel.text("k"), optimize=False), ["k"])
        _compiled[kernel.key] = (SIGNATURE(loaded.addresses["k"]), loaded)
    return _compiled[kernel.key][0]


class Fenced:
    """`size` bytes whose end (or start) touches a page that cannot be read."""

    def __init__(self, size, at_end):
        page = mmap.PAGESIZE
        inner = -(-max(size, 1) // page) * page
        self.map = mmap.mmap(-1, inner + 2 * page)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        if sys.platform == "linux":
            libc = ctypes.CDLL(None)
            for at in (base, base + page + inner):
                assert libc.mprotect(ctypes.c_void_p(at), page, 0) == 0
        self.address = base + page + (inner - size if at_end else 0)

    def array(self, count, dtype):
        data = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(self.address)
        return np.frombuffer(data, dtype)


def reach(spec, which):
    """Lowest and highest element, relative to the pointer plus offset."""
    low = high = 0
    for x in spec.axes:
        stride = getattr(x, which)
        if stride is not None:
            low, high = low + min(0, (x.extent - 1) * stride), high + max(0, (x.extent - 1) * stride)
    return low, high


def view(data, spec, which, offset):
    axes = [x for x in spec.axes if which != "c" or x.c is not None]
    strides = [getattr(x, which) * data.itemsize for x in axes]
    return np.lib.stride_tricks.as_strided(data[offset:], [x.extent for x in axes], strides)


def check(spec, vector_bytes, cuts=(), at_end=True, seed=0, has=()):
    """Runs the kernel in pieces and compares the whole buffer of C, gaps included."""
    rng = np.random.default_rng(seed)
    empty = any(x.extent == 0 for x in spec.axes)
    types = [np.dtype(getattr(ml_dtypes, t, t)) for t in spec.types]
    data = []
    for which, offset, kind in zip("abc", (spec.a_offset, spec.b_offset, 0), types):
        low, high = (0, 0) if empty else reach(spec, which)
        assert offset + low >= 0
        fence = Fenced((high + offset + 1) * kind.itemsize, at_end)
        array = fence.array(high + offset + 1, kind)
        if kind.kind in "iu":
            limits = np.iinfo(kind) if which != "c" and kind.itemsize < 4 else np.iinfo("int8")
            array[:] = rng.integers(limits.min, limits.max + 1, array.shape)
        else:
            array[:] = rng.standard_normal(array.shape)
        data.append((fence, array))
    a, b, c = (x for _, x in data)
    if empty:
        c = np.zeros(1 + sum((x.extent - 1) * x.c for x in spec.axes if x.c and x.extent), types[2])
    if spec.dtype == "bfloat16":  # float32 is rounded as it is read
        a, b = (x.astype(ml_dtypes.bfloat16) for x in (a, b))
    want = c.astype(np.float64)
    target = view(want, spec, "c", 0)
    if target.size:
        if empty:
            result = np.zeros(target.shape)
        else:
            product = view(a.astype(np.float64), spec, "a", spec.a_offset) * view(
                b.astype(np.float64), spec, "b", spec.b_offset
            )
            result = product.sum(axis=tuple(i for i, x in enumerate(spec.axes) if x.c is None))
        target[...] = result + (target if spec.accumulate else 0)
    kernel = plan(spec, vector_bytes, has=has)
    run(kernel, data[0][1], data[1][1], c, cuts)
    total = kernel.total
    assert total == 0 or 1 <= kernel.grain <= total
    if types[2].kind in "iu":
        want = want.astype(np.int64).astype(types[2]).astype(np.float64)
    scale = max(1.0, np.abs(want).max())
    tolerance = TOLERANCE.get(types[2].name, 0) if types[2].kind not in "iu" else 0
    assert np.abs(c.astype(np.float64) - want).max() <= tolerance * scale
    return c.copy()


def run(kernel, a, b, c, cuts=()):
    """The kernel, its units in several pieces, the last first."""
    pointers = (ctypes.c_void_p * 4)(None, a.ctypes.data, b.ctypes.data, c.ctypes.data)
    dims = kernel.dims()
    numbers = (ctypes.c_int64 * max(1, len(dims)))(*dims)
    edges = sorted({0, kernel.total, *(x % (kernel.total + 1) for x in cuts)})
    for begin, end in reversed(list(itertools.pairwise(edges))):
        function(kernel)(ctypes.addressof(pointers), ctypes.addressof(numbers), begin, end)


SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 20, 24, 31, 33, 47]


@st.composite
def contractions(draw):
    """Up to five axes of any roles; operands dense, gapped, overlapping (as windows do) or reversed."""
    count = draw(st.integers(0, 5))
    extents = [draw(st.sampled_from(SIZES[1:] if draw(st.integers(0, 9)) else SIZES)) for _ in range(count)]
    while np.prod(extents, dtype=float) > 50000:
        extents[int(np.argmax(extents))] = 3
    roles = [draw(st.sampled_from("bmmnnkk")) for _ in range(count)]
    strides, offsets = {}, {}
    for which, without in (("a", "n"), ("b", "m"), ("c", "k")):
        mine = [0] * count
        step, low = draw(st.sampled_from([1, 1, 1, 2])), 0
        for i in draw(st.permutations([i for i in range(count) if roles[i] not in without])):
            mine[i] = step
            kind = draw(st.sampled_from("ddddgo")) if which != "c" else draw(st.sampled_from("dddg"))
            if kind != "o":
                step *= max(1, extents[i])
            if kind == "g":
                step += draw(st.integers(1, 5))
            if which != "c" and draw(st.integers(0, 7)) == 0:
                mine[i] = -mine[i]
                low += max(0, extents[i] - 1) * -mine[i]
        strides[which], offsets[which] = mine, low + draw(st.sampled_from([0, 0, 3]))
    axes = tuple(
        Axis(extents[i], strides["a"][i], strides["b"][i], None if roles[i] == "k" else strides["c"][i])
        for i in range(count)
    )
    dtype, *types = draw(st.sampled_from(TYPES)).split()
    return Contraction(axes, dtype, offsets["a"], offsets["b"], draw(st.booleans()), draw(st.booleans()), *types)


# What elements count as, and how A, B and C are stored where that is something else.
TYPES = ["float32", "float32", "float32", "float64", "int32", "int64", "float16", "float16 float16 float16 float32",
         "bfloat16", "bfloat16", "bfloat16 float32 bfloat16 float32", "bfloat16 bfloat16 float32", "int8",
         "int8 uint8 int8", "int8 int8 uint8", "int8 uint8 uint8 uint8"]  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    contractions(), st.sampled_from([16, 32, 32, 64]), st.lists(st.integers(0, 10**6), max_size=3), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_any_contraction(spec, vector_bytes, cuts, at_end, instructions):
    """64 runs anywhere: LLVM splits vectors that the CPU lacks."""
    check(spec, vector_bytes, cuts, at_end, has=HERE if instructions else ())


def product(m, k, n, transpose_a=False, transpose_b=False, batch=1, dtype="float32", **more):
    am, ak = (1, m) if transpose_a else (k, 1)
    bk, bn = (1, k) if transpose_b else (n, 1)
    axes = [Axis(batch, m * k, k * n, m * n), Axis(m, am, 0, n), Axis(n, 0, bn, 1), Axis(k, ak, bk, None)]
    return Contraction(tuple(axes), dtype, **more)


def convolution(n, ci, h, w, co, kh, kw, stride=1, dtype="float32", **more):
    oh, ow = (h - kh) // stride + 1, (w - kw) // stride + 1
    axes = (
        Axis(n, ci * h * w, 0, co * oh * ow), Axis(co, 0, ci * kh * kw, oh * ow), Axis(oh, w * stride, 0, ow),
        Axis(ow, stride, 0, 1), Axis(ci, h * w, kh * kw, None), Axis(kh, w, kw, None), Axis(kw, 1, 1, None),
    )  # fmt: skip
    return Contraction(axes, dtype, **more)


def convolution_input_gradient(n, co, gh, gw, ci, kh, kw, **more):
    """g[n, co, gh, gw], already padded, with the flipped w[co, ci, kh, kw]."""
    oh, ow = gh - kh + 1, gw - kw + 1
    axes = (
        Axis(n, co * gh * gw, 0, ci * oh * ow), Axis(ci, 0, kh * kw, oh * ow), Axis(oh, gw, 0, ow), Axis(ow, 1, 0, 1),
        Axis(co, gh * gw, ci * kh * kw, None), Axis(kh, gw, -kw, None), Axis(kw, 1, -1, None),
    )  # fmt: skip
    return Contraction(axes, "float32", b_offset=kh * kw - 1, **more)


def convolution_weight_gradient(n, ci, h, w, co, kh, kw, **more):
    oh, ow = h - kh + 1, w - kw + 1
    axes = (
        Axis(n, ci * h * w, co * oh * ow, co * ci * kh * kw), Axis(co, 0, oh * ow, ci * kh * kw),
        Axis(ci, h * w, 0, kh * kw), Axis(kh, w, 0, kw), Axis(kw, 1, 0, 1), Axis(oh, w, ow, None), Axis(ow, 1, 1, None),
    )  # fmt: skip
    return Contraction(axes, "float32", **more)


def depthwise(n, c, h, w, kh, kw, channels_last, **more):
    oh, ow = h - kh + 1, w - kw + 1
    if channels_last:
        axes = (Axis(n, h * w * c, 0, oh * ow * c), Axis(oh, w * c, 0, ow * c), Axis(ow, c, 0, c), Axis(c, 1, 1, 1),
                Axis(kh, w * c, kw * c, None), Axis(kw, c, c, None))  # fmt: skip
    else:
        axes = (Axis(n, c * h * w, 0, c * oh * ow), Axis(c, h * w, kh * kw, oh * ow), Axis(oh, w, 0, ow),
                Axis(ow, 1, 0, 1), Axis(kh, w, kw, None), Axis(kw, 1, 1, None))  # fmt: skip
    return Contraction(axes, "float32", **more)


WORK = {
    "product": product(70, 90, 50),
    "product TN": product(70, 90, 50, transpose_a=True),
    "product NT": product(70, 90, 50, transpose_b=True),
    "product TT": product(70, 90, 50, True, True),
    "long reduce axis": product(40, 1003, 37),
    "long reduce axis NT": product(40, 1003, 37, transpose_b=True),
    "power of two": product(64, 512, 64),
    "batched NT": product(33, 24, 40, transpose_b=True, batch=3),
    "batched, float64": product(13, 24, 40, batch=3, dtype="float64"),
    "few columns": product(64, 128, 10),
    "few columns NT": product(64, 10, 128, transpose_b=True),
    "one row": product(1, 300, 70),
    "one row NT": product(1, 300, 70, transpose_b=True),
    "one column": product(70, 300, 1),
    "one number": product(1, 300, 1),
    "outer product": product(30, 1, 41),
    "convolution": convolution(3, 6, 14, 14, 16, 5, 5),
    "convolution, one channel": convolution(3, 1, 20, 30, 6, 3, 3),
    "convolution, stride 2": convolution(2, 5, 17, 19, 7, 3, 3, stride=2),
    "convolution 1x1": convolution(2, 24, 7, 7, 20, 1, 1),
    "convolution, many channels": convolution(1, 150, 6, 9, 13, 3, 3),
    "input gradient": convolution_input_gradient(3, 16, 14, 14, 6, 5, 5),
    "weight gradient": convolution_weight_gradient(4, 6, 14, 14, 16, 5, 5),
    "weight gradient, one channel": convolution_weight_gradient(4, 1, 30, 30, 6, 3, 3),
    "depthwise": depthwise(2, 5, 9, 12, 3, 3, False),
    "depthwise, channels last": depthwise(2, 19, 9, 12, 3, 3, True),
}


@pytest.mark.parametrize("vector_bytes", [16, 32])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", WORK)
def test_real_work(name, dynamic, vector_bytes):
    spec = WORK[name]
    for accumulate in (False, True):
        spec = Contraction(spec.axes, spec.dtype, spec.a_offset, spec.b_offset, accumulate, dynamic)
        whole = check(spec, vector_bytes)
        cut = check(spec, vector_bytes, cuts=(1, 2, 5, 11))
        assert np.array_equal(whole, cut)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "int32"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", WORK)
def test_real_work_with_small_elements(name, dynamic, dtype):
    """With the instructions of this CPU, and without those that others lack."""
    spec = replace(WORK[name], dtype=dtype, dynamic=dynamic)
    whole = check(spec, WIDTHS[-1], has=HERE)
    assert np.array_equal(whole, check(spec, WIDTHS[-1], cuts=(1, 2, 5, 11), has=HERE))
    plain = check(spec, WIDTHS[0])
    if dtype in ("int8", "int32"):
        assert np.array_equal(whole, plain)


def test_a_long_sum_of_bfloat16_is_rounded_once():
    """C is visited several times; a sum rounded each time would stay at 256."""
    for spec in (product(7, 4000, 33), product(33, 4000, 33, True), product(7, 4001, 33, transpose_b=True)):
        for dynamic, has in itertools.product((False, True), ((), HERE)):
            spec = replace(spec, dtype="bfloat16", dynamic=dynamic)
            ones = np.ones(33 * 4001, ml_dtypes.bfloat16)
            c = np.zeros(33 * 33, ml_dtypes.bfloat16)
            run(plan(spec, WIDTHS[-1], has=has), ones, ones, c)
            assert (c[: 7 * 33] == ml_dtypes.bfloat16(4000)).all()


def test_an_odd_sum_reads_nothing_beside_it():
    """What is side by side with the last element of an odd row is multiplied by 0: it must not be infinite."""
    a, b = np.ones((5, 19), ml_dtypes.bfloat16), np.ones((19, 33), ml_dtypes.bfloat16)
    a[1, 0], b[3, 7] = np.inf, np.nan
    want = (a.astype("float32") @ b.astype("float32")).astype(ml_dtypes.bfloat16)
    for dynamic in (False, True):
        c = np.empty((5, 33), ml_dtypes.bfloat16)
        run(plan(replace(product(5, 19, 33), dtype="bfloat16", dynamic=dynamic), WIDTHS[-1], has=HERE), a, b, c)
        np.testing.assert_array_equal(c.astype("float32"), want.astype("float32"))


@pytest.mark.skipif(not jit.is_x86(), reason="about x86")
@pytest.mark.parametrize(
    ("dtype", "instruction", "needs"),
    [("bfloat16", "vdpbf16ps", "avx512bf16"), ("int8", "vpdpbusd", "avx512vnni"), ("int8", "pmaddwd", "")],
)
def test_instructions_for_small_elements_are_used_where_they_are(dtype, instruction, needs):
    machine = ("x86_64-unknown-linux-gnu", "x86-64-v4" if needs else "x86-64", f"+{needs}" if needs else "")
    has = ("sse2", "avx2", "avx512bw", "avx512f", needs) if needs else ("sse2",)
    width = 64 if needs else 16
    for dynamic in (False, True):
        spec = replace(product(64, 256, 96), dtype=dtype, dynamic=dynamic)
        found = instruction in jit.assembly(plan(spec, width, has=has).text("k"), False, machine)
        without = instruction in jit.assembly(plan(spec, width).text("k"), False, machine)
        assert (found, without) == (True, False)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("make", [product, lambda *a, **more: convolution(2, 0, 6, 7, 3, 3, 3, **more)])
def test_an_empty_sum_is_zero(make, dynamic):
    out = check(make(5, 0, 9, dynamic=dynamic), 32)
    assert not out.any()


@pytest.mark.parametrize("spec", [product(0, 4, 5), product(3, 4, 0), product(3, 4, 5, batch=0)])
def test_no_elements_no_units(spec):
    assert plan(spec, 32).total == 0
    check(spec, 32)


def test_infinity_beside_a_vector_tail_stays_out():
    """The lanes that a tail repeats are zeroed in both operands: inf * 0 would be NaN."""
    a, b = np.ones((3, 19), np.float32), np.ones((4, 19), np.float32)
    a[1, 14], b[2, 3] = np.inf, np.nan
    c = np.empty((3, 4), np.float32)
    run(plan(product(3, 19, 4, transpose_b=True), 32), a, b, c)
    np.testing.assert_array_equal(c, a @ b.T)


def test_dynamic_kernels_share_code_between_shapes():
    keys = {plan(product(m, k, n, dynamic=True), 32).key for m, k, n in [(100, 700, 90), (128, 900, 77), (64, 801, 50)]}
    assert len(keys) == 1
    assert plan(product(100, 700, 90), 32).key != plan(product(100, 701, 90), 32).key


def test_text_is_deterministic_and_every_width_is_legal():
    for name, spec in WORK.items():
        for vector_bytes in (16, 32, 64):
            text = plan(spec, vector_bytes).text("f")
            assert text == plan.__wrapped__(spec, vector_bytes).text("f"), name
            llvm.parse_assembly(text).verify()
        text = plan(replace(spec, dtype="bfloat16"), 64, has=INSTRUCTIONS).text("f")
        assert text == plan.__wrapped__(replace(spec, dtype="bfloat16"), 64, has=INSTRUCTIONS).text("f"), name
        llvm.parse_assembly(text).verify()


def test_large_work_is_cut_into_tasks():
    for spec in (product(1024, 1024, 1024), convolution(64, 6, 14, 14, 16, 5, 5), product(64, 784, 128)):
        kernel = plan(spec, 32)
        assert kernel.total / kernel.grain >= 3
