"""Convolutions by tiles, compiled for each target, against products in order; where the pass puts them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_convolutions import runnable
from test_programs import fences, overlaps, setting
from test_targets import TARGETS

import paddle
from paddle.engine import types
from paddle.engine.cpu import compiler, winograd, winograd_gradient
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.steps import WinogradGradStep, WinogradStep
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.elementwise import add
from paddle.engine.ops.registry import registry
from paddle.engine.ops.shape import pad, reshape, slice_axis, transpose
from paddle.engine.ops.winograd import PAIRS, WinogradConv, WinogradGrad, WinogradWeights, block_of, matrices
from paddle.engine.passes.winograd import transform_convolutions
from paddle.engine.types import TensorType

ERROR = {2: 4e-6, 4: 2e-5}  # by tile, relative to the root mean square of the results
CHANNELS = (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 47, 64, 65, 96, 127, 131, 260)


def value(graph, *shape, dtype=types.float32):
    return graph.input(TensorType(shape, dtype))


def direct(x, w):
    """The convolution in float64. Shapes: x [N, 1, C, H, W], w [1, O, C, 3, 3]."""
    return Conv((1, 1), (1, 1)).numpy(x.astype("float64"), w.astype("float64"))


def near(got, want, tile):
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0) <= ERROR[tile] * max(np.sqrt(np.mean(want**2)), 1e-30)


@st.composite
def shapes(draw):
    """(N, C, O), then per axis (size, low, high)."""
    n, c, o = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from(CHANNELS)), draw(st.sampled_from(CHANNELS))
    axes = []
    for _ in range(2):
        low, high = draw(st.sampled_from((0, 1, 2))), draw(st.sampled_from((0, 1, 1, 2)))
        axes.append((draw(st.integers(max(1, 3 - low - high), 11)), low, high))
    while n * c * o * (axes[0][0] + 4) * (axes[1][0] + 4) > 1_000_000:
        c, o = (max(c // 2, 1), o) if c > o else (c, o // 2)
    return (n, c, o), tuple(axes)


def program(sizes, axes, tile, after):
    (n, c, o), graph = sizes, Graph("winograd")
    (h, top, bottom), (w, left, right) = axes
    x, weight = value(graph, n, 1, c, h, w), value(graph, 1, o, c, 3, 3)
    padded = pad(x, (0, 0, 0, top, left), (0, 0, 0, bottom, right)) if top + bottom + left + right else x
    y = WinogradConv(tile, o)(padded, WinogradWeights(tile)(weight))
    if after == "turned":
        y = transpose(add(y, y), (4, 0, 1, 2, 3))
    elif after == "reshaped":
        y = reshape(add(y, y), (n, -1) if y.shape[3] == 0 else (n, y.type.size // n))
    elif after == "again":
        y = WinogradConv(tile, o)(pad(y, (0, 0, 0, 1, 2), (0, 0, 0, 2, 1)), value(
            graph, *WinogradWeights(tile).infer(TensorType((1, o, o, 3, 3), types.float32)).shape))  # fmt: skip
    graph.outputs = [y]
    return graph


@settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(shapes(), st.sampled_from(tuple(PAIRS)), st.sampled_from(("", "turned", "reshaped", "again")), st.data())
def test_any_sizes(sizes, tile, after, data):
    graph = program(*sizes, tile, after)
    rng = np.random.default_rng(len(graph.nodes))
    arrays = [rng.integers(-3, 4, v.shape).astype("float32") for v in graph.inputs]
    want = Reference(graph)([a.copy() for a in arrays])[0].astype("float64")
    level, at_end = data.draw(st.sampled_from([t for t in TARGETS if runnable(t)])), data.draw(st.booleans())
    with setting("FLAGS_cpu_features", level), setting("FLAGS_eager_compile", "always"), fences(at_end):
        got = Executor(graph, (False,) * len(arrays))(arrays)[0]
    assert not overlaps(graph, (False,) * len(arrays))
    if tile == 2:  # all numbers on the way are multiples of a quarter
        np.testing.assert_array_equal(got, want)
    else:
        near(got, want, tile)


def kernel_gradient(sizes, axes):
    (n, c, o), graph = sizes, Graph("winograd")
    (h, top, bottom), (w, left, right) = axes
    x = value(graph, n, 1, c, h, w)
    padded = pad(x, (0, 0, 0, top, left), (0, 0, 0, bottom, right)) if top + bottom + left + right else x
    g = graph.input(TensorType((n, 1, o, h + top + bottom - 2, w + left + right - 2), types.float32))
    graph.outputs = [WinogradGrad()(padded, g)]
    return graph


@settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(shapes(), st.data())
def test_any_gradient_of_a_kernel(sizes, data):
    graph = kernel_gradient(*sizes)
    rng = np.random.default_rng(sizes[0][1])
    arrays = [rng.integers(-3, 4, v.shape).astype("float32") for v in graph.inputs]
    want = Reference(graph)([a.copy() for a in arrays])[0].astype("float64")
    level, at_end = data.draw(st.sampled_from([t for t in TARGETS if runnable(t)])), data.draw(st.booleans())
    with setting("FLAGS_cpu_features", level), setting("FLAGS_eager_compile", "always"), fences(at_end):
        got = Executor(graph, (False,) * len(arrays))(arrays)[0]
    assert not overlaps(graph, (False,) * len(arrays))
    near(got, want, 4)


@pytest.mark.parametrize("tile", PAIRS)
@pytest.mark.parametrize("c", [64, 512])
def test_errors_are_as_stated(tile, c):
    rng = np.random.default_rng(c)
    x, w = rng.normal(size=(1, 1, c, 18, 18)).astype("float32"), rng.normal(size=(1, 32, c, 3, 3)).astype("float32")
    graph = program((1, c, 32), ((18, 0, 0), (18, 0, 0)), tile, "")
    with setting("FLAGS_eager_compile", "always"):
        got = Executor(graph, (False, False))([x.copy(), w.copy()])[0]
    want = direct(x, w)
    scale = np.sqrt(np.mean(want**2))
    most, mean = {(2, 64): (2e-6, 3e-7), (2, 512): (3e-6, 4e-7), (4, 64): (1e-5, 9e-7), (4, 512): (1e-5, 1.2e-6)}[
        tile, c
    ]
    assert np.abs(got - want).max() < most * scale and np.sqrt(np.mean((got - want) ** 2)) < mean * scale


@pytest.mark.parametrize("tile", PAIRS)
def test_the_matrices_give_a_correlation(tile):
    weights, data, sums = matrices(tile)
    rng = np.random.default_rng(0)
    d, g = rng.normal(size=tile + 2), rng.normal(size=3)
    np.testing.assert_allclose(sums @ ((weights @ g) * (data @ d)), np.correlate(d, g, "valid"), rtol=1e-12)


def test_blocks_of_channels_leave_little_over():
    assert [block_of(n) for n in (1, 16, 64, 96, 128, 512)] == [16, 16, 64, 48, 64, 64]
    for n in range(1, 600):
        assert -(-n // block_of(n)) * block_of(n) <= n + 47


def test_units_cover_all_and_fit_a_small_stack():
    for tile in PAIRS:
        for c in CHANNELS + (512, 2048):
            for side in (3, 9, 58, 226):
                s = winograd.plan((8, 1, c, side, side), 512, tile, 64)
                assert s.rows * s.tile_blocks >= s.tiles > s.rows * (s.tile_blocks - 1)
                stack = s.positions * (s.rows * (s.channels + s.block) * 4 + 2 * winograd.FAR)
                assert stack <= max(winograd.CACHE, 0) and s.units * s.group >= s.tile_blocks * s.blocks


def test_units_of_gradients_cover_all_and_fit_a_small_stack():
    for c in (*CHANNELS, 512):
        for n, side in ((1, 3), (8, 9), (8, 58), (32, 226)):
            s = winograd_gradient.plan((n, 1, c, side, side), 512, 64)
            assert s.parts * s.each >= s.blocks[0] > (s.parts - 1) * s.each and s.blocks[0] * s.rows >= s.tiles
            kept = winograd_gradient._Kernel(s)
            assert 36 * (kept.v_position + kept.w_position + kept.m_position) <= winograd.CACHE
            assert s.parts == winograd_gradient.gradient_parts((n, 1, c, side, side), 512)


# ---- the pass ----------------------------------------------------------------------------------
def convolution(c=64, o=64, size=30, groups=1, kernel=3, stride=1, dilation=1, dtype=types.float32):
    graph = Graph("conv")
    x, w = (value(graph, *s, dtype=dtype) for s in
            ((8, groups, c // groups, size, size), (groups, o // groups, c // groups, kernel, kernel)))  # fmt: skip
    graph.outputs = [Conv((stride,) * 2, (dilation,) * 2)(x, w)]
    return graph


def transformed(graph):
    return [n.op.tile for n in transform_convolutions(graph).nodes if isinstance(n.op, WinogradConv)]


def test_large_tiles_where_they_pay():
    assert transformed(convolution()) == [4]
    assert transformed(convolution(size=4)) in ([], [2])  # one large tile would compute what nobody needs


@pytest.mark.parametrize("other", [
    {"stride": 2}, {"dilation": 2}, {"groups": 2}, {"kernel": 5}, {"kernel": 1}, {"c": 3}, {"o": 8}, {"size": 3},
    {"dtype": types.float64}, {"dtype": types.bfloat16}, {"c": 512, "o": 512, "size": 4},
])  # fmt: skip
def test_other_convolutions_stay_as_they_are(other):
    assert not transformed(convolution(**other))


def test_the_flag_switches_it_off():
    with setting("FLAGS_winograd", False):
        assert not transformed(convolution())


def test_a_changed_flag_changes_programs():
    x, w = (np.random.default_rng(0).normal(size=s).astype("float32") for s in ((2, 32, 20, 20), (32, 32, 3, 3)))
    found = []
    for on in (True, False, True):
        with setting("FLAGS_winograd", on), setting("FLAGS_eager_compile", "always"):
            found.append(paddle.nn.functional.conv2d(paddle.to_tensor(x), paddle.to_tensor(w)).numpy())
    np.testing.assert_array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])
    for y in found:
        near(y[:, None], direct(x[:, None], w[None]), 4)


def gradients(dtype):
    """relu(y) of y = conv(pad(x), w), and the gradients of x and w for a given one of y."""
    graph, op = Graph("conv"), Conv((1, 1), (1, 1))
    x, w = (value(graph, *s, dtype=dtype) for s in ((2, 1, 35, 21, 18), (1, 40, 35, 3, 3)))
    padded = pad(x, (0, 0, 0, 1, 1), (0, 0, 0, 1, 1))
    y = op(padded, w)
    up = graph.input(y.type)
    dx, dw = op.vjp(up, y, padded, w)
    for axis, n in ((3, 21), (4, 18)):
        dx = slice_axis(dx, axis, 1, n + 1)
    graph.outputs = [registry["relu"]()(y), dx, dw]
    return graph


def test_gradients():
    """Both are computed by tiles, too."""
    graph = gradients(types.float32)
    steps = compiler.lowered(graph)[1]
    assert [sum(isinstance(s, kind) for s in steps) for kind in (WinogradStep, WinogradGradStep)] == [2, 1]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype("float32") for v in graph.inputs]
    want = Reference(gradients(types.float64))([a.astype("float64") for a in arrays])
    with setting("FLAGS_eager_compile", "always"):
        got = Executor(graph, (False,) * 3)(arrays)
    for a, b in zip(got, want, strict=True):
        near(a, b, 4)


@pytest.mark.parametrize("tile", PAIRS)
@pytest.mark.parametrize("c", [64, 300])
def test_threads_do_not_matter(tile, c):
    graph = program((3, c, 70), ((23, 1, 1), (22, 1, 1)), tile, "")
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype("float32") for v in graph.inputs]
    found = []
    for threads in (1, 2, 3, 3):
        with setting("FLAGS_cpu_threads", threads), setting("FLAGS_eager_compile", "always"):
            found.append(Executor(graph, (False, False))([a.copy() for a in arrays])[0])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_threads_do_not_matter_to_gradients():
    graph = kernel_gradient((5, 40, 33), ((26, 1, 1), (22, 1, 1)))
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype("float32") for v in graph.inputs]
    found = []
    for threads in (1, 2, 3):
        with setting("FLAGS_cpu_threads", threads), setting("FLAGS_eager_compile", "always"):
            found.append(Executor(graph, (False, False))([a.copy() for a in arrays])[0])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_one_odd_element_stays_where_it_is_read():
    x, w = np.ones((1, 1, 16, 24, 24), "float32"), np.ones((1, 32, 16, 3, 3), "float32")
    x[0, 0, 3, 9, 9] = np.nan
    graph = program((1, 16, 32), ((24, 0, 0), (24, 0, 0)), 4, "")
    with setting("FLAGS_eager_compile", "always"):
        odd = np.isnan(Executor(graph, (False, False))([x, w])[0])
    assert odd[..., 7:10, 7:10].all()
    assert not odd[..., :4, :].any() and not odd[..., 12:, :].any() and not odd[..., :, :4].any()


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="no weight of 3 x 3"):
        WinogradWeights(2).infer(TensorType((1, 4, 4, 5, 5), types.float32))
    u = WinogradWeights(2).infer(TensorType((1, 4, 6, 3, 3), types.float32))
    for shape, dtype in (
        ((1, 1, 5, 8, 8), types.float32),
        ((1, 1, 6, 2, 8), types.float32),
        ((1, 1, 6, 8, 8), types.float64),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            WinogradConv(2, 4).infer(TensorType(shape, dtype), u)
    x = TensorType((1, 1, 6, 8, 8), types.float32)
    for shape in ((1, 1, 5, 8, 8), (2, 1, 5, 6, 6), (1, 5, 1, 6, 6)):
        with pytest.raises(ValueError, match="do not fit"):
            WinogradGrad().infer(x, TensorType(shape, types.float32))
