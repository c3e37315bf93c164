"""Every kernel against numpy's sum of products, with the operands between unreadable pages."""

import ctypes
import itertools
import mmap
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddle.engine.cpu import jit
from paddle.engine.cpu.tile import Axis, Contraction, plan

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
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
        kind = ctypes.c_float if dtype == "float32" else ctypes.c_double
        return np.ctypeslib.as_array((kind * count).from_address(self.address))


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


def check(spec, vector_bytes, cuts=(), at_end=True, seed=0):
    """Runs the kernel in pieces and compares the whole buffer of C, gaps included."""
    rng = np.random.default_rng(seed)
    empty = any(x.extent == 0 for x in spec.axes)
    size = np.dtype(spec.dtype).itemsize
    data = []
    for which, offset in (("a", spec.a_offset), ("b", spec.b_offset), ("c", 0)):
        low, high = (0, 0) if empty else reach(spec, which)
        assert offset + low >= 0
        fence = Fenced((high + offset + 1) * size, at_end)
        array = fence.array(high + offset + 1, spec.dtype)
        array[:] = rng.standard_normal(array.shape)
        data.append((fence, array))
    a, b, c = (x for _, x in data)
    if empty:
        c = np.zeros(1 + sum((x.extent - 1) * x.c for x in spec.axes if x.c and x.extent), spec.dtype)
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
    kernel = plan(spec, vector_bytes)
    run = function(kernel)
    pointers = (ctypes.c_void_p * 4)(None, a.ctypes.data, b.ctypes.data, c.ctypes.data)
    dims = kernel.dims()
    numbers = (ctypes.c_int64 * max(1, len(dims)))(*dims)
    total = kernel.total
    edges = sorted({0, total, *(x % (total + 1) for x in cuts)})
    for begin, end in reversed(list(itertools.pairwise(edges))):
        run(ctypes.addressof(pointers), ctypes.addressof(numbers), begin, end)
    assert total == 0 or 1 <= kernel.grain <= total
    scale = max(1.0, np.abs(want).max())
    assert np.abs(c - want).max() <= TOLERANCE[spec.dtype] * scale
    return c.copy()


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
    dtype = draw(st.sampled_from(["float32", "float64"]))
    return Contraction(axes, dtype, offsets["a"], offsets["b"], draw(st.booleans()), draw(st.booleans()))


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(contractions(), st.sampled_from([16, 32, 32, 64]), st.lists(st.integers(0, 10**6), max_size=3), st.booleans())
def test_any_contraction(spec, vector_bytes, cuts, at_end):
    """64 runs anywhere: LLVM splits vectors that the CPU lacks."""
    check(spec, vector_bytes, cuts, at_end)


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
    kernel = plan(product(3, 19, 4, transpose_b=True), 32)
    pointers = (ctypes.c_void_p * 4)(None, a.ctypes.data, b.ctypes.data, c.ctypes.data)
    function(kernel)(ctypes.addressof(pointers), None, 0, kernel.total)
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


def test_large_work_is_cut_into_tasks():
    for spec in (product(1024, 1024, 1024), convolution(64, 6, 14, 14, 16, 5, 5), product(64, 784, 128)):
        kernel = plan(spec, 32)
        assert kernel.total / kernel.grain >= 3
