"""Convolutions and both their gradients, compiled for each target, among operators that read them in other orders."""

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_programs import fences, overlaps, setting
from test_targets import TARGETS

from paddle.engine import types
from paddle.engine.cpu import jit
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.layout import orders
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.elementwise import add
from paddle.engine.ops.reduction import Sum
from paddle.engine.ops.registry import registry
from paddle.engine.ops.shape import pad, reshape, slice_axis, transpose
from paddle.engine.types import TensorType

CHANNELS = (1, 2, 3, 5, 8, 16, 31, 32, 33, 40, 63, 64, 65, 96, 127, 128, 130)
MOST = 2_000_000  # products in a convolution


def runnable(level):
    try:
        jit._check_runnable(level)
    except RuntimeError:
        return False
    return True


@st.composite
def convolutions(draw):
    """Sizes (N, G, C, O), then per axis (size, kernel, stride, dilation, low, high); what is made of the result."""
    rank = draw(st.sampled_from((1, 2, 2, 3)))
    n, g = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from((1, 1, 1, 2, 5, 32)))
    c, o = (draw(st.sampled_from([m for m in CHANNELS if g * m <= 130])) for _ in range(2))
    axes = []
    for _ in range(rank):
        kernel, dilation = draw(st.sampled_from((1, 2, 3, 3, 4))), draw(st.sampled_from((1, 1, 2)))
        low, high = draw(st.sampled_from((0, 0, 1, 2))), draw(st.sampled_from((0, 1, 1, 3)))
        least = max(1, (kernel - 1) * dilation + 1 - low - high)
        axes.append((least + draw(st.integers(0, 9)), kernel, draw(st.sampled_from((1, 1, 2, 3))), dilation, low, high))
    while True:
        work = n * g * c * o * math.prod(a[1] * (a[0] + a[4] + a[5]) for a in axes)
        if work <= MOST:
            break
        i = max(range(rank), key=lambda i: axes[i][0])
        size, kernel, stride, dilation, low, high = axes[i]
        least = max(1, (kernel - 1) * dilation + 1 - low - high)
        if size > least:
            axes[i] = (least, *axes[i][1:])
        elif n > 1:
            n = 1
        else:
            c, o = max(1, c // 2), max(1, o // 2)
    return (n, g, c, o), tuple(axes), draw(st.sampled_from(("", "bias", "turned", "reshaped", "sliced", "sums")))


def program(sizes, axes, after, dtype):
    """y = conv(pad(x), w), something of y, and the gradients of x and w for a given one of y."""
    (n, g, c, o), graph, rank = sizes, Graph("conv"), len(axes)
    size, kernel, stride, dilation, low, high = zip(*axes)
    values = [(n, g * c, *size), (g, o, c, *kernel)]
    x, w = (graph.input(TensorType(s, dtype)) for s in values)
    padded = reshape(pad(x, (0, 0, *low), (0, 0, *high)), (n, g, c, *(a + b + e for a, b, e in zip(size, low, high))))
    op = Conv(stride, dilation)
    y = op(padded, w)
    up = graph.input(y.type)
    dx, dw = op.vjp(up, y, padded, w)
    for i, (a, b) in enumerate(zip(low, size), 3):
        dx = slice_axis(dx, i, a, a + b)
    flat = reshape(y, (n, g * o, *y.shape[3:]))
    if after == "bias":
        flat = registry["relu"]()(add(flat, graph.input(TensorType((g * o, *[1] * rank), dtype))))
    elif after == "turned":
        flat = transpose(add(flat, flat), (rank + 1, *range(rank + 1)))
    elif after == "reshaped":
        flat = reshape(add(flat, flat), (n, g * o * math.prod(y.shape[3:])))
    elif after == "sliced":
        flat = add(slice_axis(flat, 1, 0, g * o, 3), slice_axis(flat, 1, 0, g * o, 3))
    elif after == "sums":
        flat = Sum((0, *range(2, rank + 2)), False)(flat)
    graph.outputs = [flat, dx, dw]
    return graph


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(convolutions(), st.sampled_from(("float32", "float32", "float64", "bfloat16", "float16")), st.data())
def test_any_convolution(shapes, dtype, data):
    graph = program(*shapes, types.dtype_of(dtype))
    rng = np.random.default_rng(len(graph.nodes))
    arrays = [rng.integers(-3, 4, v.shape).astype(v.dtype.np) for v in graph.inputs]  # sums are exact
    want = Reference(graph)([a.copy() for a in arrays])
    level, at_end = data.draw(st.sampled_from([t for t in TARGETS if runnable(t)])), data.draw(st.booleans())
    exact = setting("FLAGS_winograd", False)  # tiles have tests of their own
    with exact, setting("FLAGS_cpu_features", level), setting("FLAGS_eager_compile", "always"), fences(at_end):
        got = Executor(graph, (False,) * len(arrays))(arrays)
        assert not overlaps(graph, (False,) * len(arrays))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_these_programs_have_channels_last():
    graph = program((2, 1, 8, 40), ((5, 3, 1, 1, 1, 1), (6, 3, 1, 1, 1, 1)), "bias", types.float32)
    assert orders(graph)[0]
