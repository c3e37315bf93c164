"""Sums that differ by a factor: what is taken once, and what stays."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine.cpu.executor import Executor
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add, multiply
from paddle.engine.ops.reduction import Sum
from paddle.engine.passes.sums import share_sums
from paddle.engine.types import TensorType, bfloat16, float32, float64

SHAPE = (4, 6, 5, 3)
CHANNELS = (1, 6, 1, 1)
AXES = (0, 2, 3)


def graph_of(build, *shapes, dtype=float32):
    graph = Graph()
    values = [graph.input(TensorType(s, dtype)) for s in shapes]
    graph.outputs = list(build(lambda op, *inputs: graph.add(op, inputs)[0], *values))
    return graph


def sums(graph):
    """How many sums are left; the results are held to those of the graph as it was."""
    new = share_sums(graph)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype(v.dtype.np) for v in graph.inputs]
    before = paddle.get_flags("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": "always"})
    try:
        compiled = Executor(graph, (False,) * len(arrays))(list(arrays))
    finally:
        paddle.set_flags(before)
    for a, b, c in zip(Reference(new)(list(arrays)), Reference(graph)(list(arrays)), compiled):
        assert a.shape == b.shape == c.shape
        np.testing.assert_allclose(a.astype("float64"), b.astype("float64"), rtol=1e-5, atol=2e-5)
        np.testing.assert_allclose(c.astype("float64"), b.astype("float64"), rtol=1e-5, atol=2e-5)
    return sum(isinstance(n.op, Sum) for n in new.nodes)


@pytest.mark.parametrize("dtype, left", [(float32, 1), (float64, 1), (bfloat16, 2)])
def test_a_factor_per_channel_is_taken_out(dtype, left):
    build = lambda op, x, f: (op(Sum(AXES), x), op(Sum(AXES, True), op(multiply, x, f)))  # noqa: E731
    graph = graph_of(build, SHAPE, CHANNELS, dtype=dtype)
    if dtype is bfloat16:  # products are rounded there before they are added
        assert share_sums(graph) is graph
    else:
        assert sums(graph) == left


def test_products_are_known_in_any_order():
    build = lambda op, g, u, f, e: (  # noqa: E731
        op(Sum(AXES), op(multiply, op(multiply, u, e), g)),
        op(Sum(AXES, True), op(multiply, op(multiply, f, g), op(multiply, e, u))),
        op(Sum(AXES), op(multiply, op(multiply, op(multiply, g, f), op(multiply, u, f)), e)),
    )
    assert sums(graph_of(build, SHAPE, SHAPE, CHANNELS, (6, 1, 1))) == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda op, x, f: (op(Sum(AXES), op(multiply, x, f)),),  # alone
        lambda op, x, f: (op(Sum((1, 2, 3)), x), op(Sum((1, 2, 3)), op(multiply, x, f))),  # f varies
        lambda op, x, f: (op(Sum(AXES), x), op(Sum((0, 2)), op(multiply, x, f))),  # other axes
        lambda op, x, f: (op(Sum(AXES), x), op(Sum(AXES), op(add, x, f))),  # no factor
        lambda op, x, f: (op(Sum(AXES), op(multiply, x, x)), op(Sum(AXES), op(multiply, x, f))),  # another sum
        lambda op, x, f: (op(Sum(AXES), op(multiply, x, f)), op(Sum(AXES), x)),  # the sum without it comes later
    ],
)
def test_what_stays(build):
    graph = graph_of(build, SHAPE, CHANNELS)
    assert sums(graph) == sum(isinstance(n.op, Sum) for n in graph.nodes)


def test_the_gradients_of_a_scaled_batch_norm_are_those_of_the_reference():
    paddle.seed(0)
    norm = nn.BatchNorm2D(6)
    x = paddle.randn(SHAPE)
    x.stop_gradient = False

    def gradients():
        loss = (norm(x) * paddle.arange(3, dtype="float32")).sum()
        return paddle.grad(loss, [x, norm.weight, norm.bias])

    before = paddle.get_flags(["FLAGS_eager_compile", "FLAGS_reference"])
    try:
        paddle.set_flags({"FLAGS_reference": True})
        want = [g.numpy() for g in gradients()]
        paddle.set_flags({"FLAGS_reference": False, "FLAGS_eager_compile": "always"})
        got = [g.numpy() for g in gradients()]
    finally:
        paddle.set_flags(before)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
