"""Sums that products add up while they store their results: which do, and how close they are."""

import numpy as np
import pytest
from test_fusing import run

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.engine.cpu import compiler, lower
from paddle.engine.cpu.steps import ProductStep, WinogradStep
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.elementwise import add, cast, multiply, relu
from paddle.engine.ops.linalg import MatMul
from paddle.engine.ops.normalization import Standardize
from paddle.engine.ops.reduction import sum_
from paddle.engine.ops.shape import reshape
from paddle.engine.types import TensorType, dtype_of, float64


def graph_of(op, make, *shapes, dtype="float32"):
    """A graph of the arguments of a product and further ones, and numbers for them."""
    graph = Graph("g")
    values = [graph.input(TensorType(s, dtype_of(dtype))) for s in shapes]
    (product,) = graph.add(op, values[:2])
    graph.outputs = make(product, *values[2:])
    rng = np.random.default_rng(0)
    return graph, [rng.normal(1, 2, size=s).astype(dtype_of(dtype).np) for s in shapes]


def prepared(graph):
    return compiler.lowered(graph)[1]


def summing(steps):
    """How many sums products add up."""
    ends = [s.finish for s in steps if isinstance(s, (ProductStep, WinogradStep)) and s.finish is not None]
    return sum(len(f.epilogue.sums) for f in ends)


def check(graph, arrays, sums, tolerance=1e-6):
    """Against separate steps."""
    assert summing(prepared(graph)) == sums
    got = run(graph, arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower, "add_up", lambda graph, steps, fixed: steps)
        assert summing(prepared(graph)) == 0
        want = run(graph, arrays, fused=False)
    for a, b in zip(got, want):
        b = b.astype("float64")
        np.testing.assert_allclose(a.astype("float64"), b, rtol=tolerance, atol=tolerance * np.abs(b).max())


ROWS = {
    "of the result": (1, lambda p: [p, sum_(p, (0,))]),
    "the result is not needed": (1, lambda p: [sum_(p, (0,))]),
    "under another shape": (1, lambda p: [(y := reshape(p, (10, 7, p.shape[1]))), sum_(y, (0, 1), True)]),
    "of what is made of it": (2, lambda p: [(y := relu(p)), sum_(y, (0,)), sum_(multiply(y, y), (0,))]),
    "of both": (1, lambda p: [(y := relu(p)), sum_(multiply(y, p), (0,)), p]),
    "in float64": (1, lambda p: [p, sum_(cast(p, float64), (0,))]),
    "of columns": (0, lambda p: [p, sum_(p, (1,))]),
    "of all": (0, lambda p: [p, sum_(p, (0, 1))]),
    "of some rows": (0, lambda p: [p, sum_(reshape(p, (10, 7, p.shape[1])), (0,))]),
}  # fmt: skip


@pytest.mark.parametrize("n", [16, 50, 67, 160])
@pytest.mark.parametrize("name", ROWS)
def test_sums_over_rows(name, n):
    sums, make = ROWS[name]
    check(*graph_of(MatMul(), make, (70, 33), (33, n)), sums)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_other_types(dtype):
    make = lambda p, b: [(y := relu(add(p, b))), sum_(multiply(y, y), (0,))]
    graph, arrays = graph_of(MatMul(), make, (300, 700), (700, 48), (48,), dtype=dtype)
    check(graph, arrays, 1, {"float64": 1e-12, "bfloat16": 2**-7, "float16": 2**-10}[dtype])


@pytest.mark.parametrize("m", [1, 5, 1000, 5000])
def test_rows_in_one_part_and_in_many(m):
    make = lambda p, x: [p, sum_(p, (0,)), sum_(multiply(p, x), (0,))]
    check(*graph_of(MatMul(), make, (m, 200), (200, 96), (m, 96)), 2 if m > 5 else 0)


def test_what_comes_later_is_not_waited_for():
    make = lambda p, b: [p, sum_(multiply(p, sum_(p, (0,), True)), (0,))]
    check(*graph_of(MatMul(), make, (70, 33), (33, 32), (32,)), 1)


CONVOLUTIONS = {  # x, w, strides
    "by tiles": ((2, 1, 32, 18, 18), (1, 64, 32, 3, 3), 1),
    "past the edge": ((2, 1, 32, 17, 15), (1, 48, 32, 3, 3), 1),
    "small tiles": ((3, 1, 64, 9, 9), (1, 128, 64, 3, 3), 1),
    "strides": ((2, 1, 24, 17, 18), (1, 40, 24, 3, 3), 2),
    "one element": ((2, 1, 48, 7, 9), (1, 72, 48, 1, 1), 1),
    "odd channels": ((2, 1, 33, 12, 12), (1, 37, 33, 3, 3), 1),
    "few inputs": ((2, 1, 3, 30, 30), (1, 64, 3, 7, 7), 2),
}  # fmt: skip


AXES = (0, 3, 4)


def statistics(y, bias):
    out = relu(add(y, bias))
    unit, mean, variance = Standardize(AXES, 1e-5)(y)
    return [unit, mean, variance, sum_(out, AXES), sum_(multiply(out, y), AXES)]


@pytest.mark.parametrize("features", ["", "avx2", "sse2"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_statistics_of_a_convolution(name, features):
    x, w, stride = CONVOLUTIONS[name]
    graph, arrays = graph_of(Conv((stride, stride), (1, 1)), statistics, x, w, (1, w[1], 1, 1))
    before = paddle.get_flags("FLAGS_cpu_features")
    paddle.set_flags({"FLAGS_cpu_features": features})
    try:
        by_tiles = any(isinstance(s, WinogradStep) for s in prepared(graph))
        check(graph, arrays, 0 if by_tiles and name == "odd channels" else 4, 2e-6)
    finally:
        paddle.set_flags(before)


@pytest.mark.parametrize("name", ["past the edge", "strides"])
def test_any_number_of_threads_gives_the_same_bits(name):
    x, w, stride = CONVOLUTIONS[name]
    graph, arrays = graph_of(Conv((stride, stride), (1, 1)), statistics, x, w, (1, w[1], 1, 1))
    before = paddle.get_flags("FLAGS_cpu_threads")
    found = []
    try:
        for threads in (1, 2, 3):
            paddle.set_flags({"FLAGS_cpu_threads": threads})
            found.append(run(graph, arrays))
    finally:
        paddle.set_flags(before)
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("offset", [0, 1000, 100_000])
def test_the_variance_is_close_where_the_mean_is_far(offset):
    """All sums of products are exact here, so that the errors are those of the statistics."""

    def make(y, shift):
        _, mean, variance = Standardize(AXES, 1e-5)(add(y, shift))
        return [mean, variance]

    graph, arrays = graph_of(Conv((1, 1), (1, 1)), make, (4, 1, 48, 15, 17), (1, 72, 48, 1, 1), (1, 72, 1, 1))
    x, w, shift = (np.round(a) for a in arrays)
    shift += offset
    assert summing(prepared(graph)) == 2
    mean, variance = run(graph, [x, w, shift])
    y = np.einsum("ngchw,goc->ngohw", x.astype("float64"), w[..., 0, 0].astype("float64")) + shift
    np.testing.assert_allclose(mean, y.mean(AXES, keepdims=True), rtol=2e-7)
    np.testing.assert_allclose(variance, y.var(AXES, keepdims=True), rtol=2e-7)


def test_equal_elements_have_no_variance():
    graph, arrays = graph_of(Conv((1, 1), (1, 1)), statistics, (2, 1, 32, 6, 6), (1, 64, 32, 1, 1), (1, 64, 1, 1))
    arrays[0] = np.full_like(arrays[0], 0.1)
    unit, _, variance, *_ = run(graph, arrays)
    assert (variance >= 0).all() and variance.max() < 1e-9
    assert np.isfinite(unit).all()


def test_training_with_batch_norms_is_that_of_the_reference():
    def losses(**flags):
        before = paddle.get_flags(list(flags))
        paddle.set_flags(flags)
        try:
            paddle.seed(0)
            net = nn.Sequential(
                nn.Conv2D(3, 32, 3, stride=2), nn.BatchNorm2D(32), nn.ReLU(), nn.Conv2D(32, 48, 3, padding=1),
                nn.BatchNorm2D(48), nn.ReLU(), nn.Conv2D(48, 48, 3, padding=1), nn.BatchNorm2D(48), nn.Flatten(1),
                nn.Linear(48 * 49, 32), nn.BatchNorm1D(32), nn.ReLU(), nn.Linear(32, 5),
            )  # fmt: skip
            optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters())
            rng = np.random.default_rng(0)
            x = paddle.to_tensor(rng.normal(size=(12, 3, 16, 16)).astype("float32"))
            y = paddle.to_tensor(rng.integers(0, 5, 12))
            found = []
            for _ in range(3):
                loss = F.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                found.append(float(loss))
            return found
        finally:
            paddle.set_flags(before)

    want = losses(FLAGS_reference=True)
    np.testing.assert_allclose(losses(FLAGS_eager_compile="always"), want, rtol=1e-4)
