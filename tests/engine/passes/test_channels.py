"""Scales and shifts by constants, and the kernels that they become part of."""

import numpy as np
import pytest

import paddle
from paddle.engine.cpu.constants import fixed_values
from paddle.engine.cpu.executor import Executor
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.shape import Reshape
from paddle.engine.passes.channels import fold_channels
from paddle.engine.types import TensorType, float32, float64

CONV = Conv((1, 1), (1, 1))


def graph_of(build, *shapes, dtype=float32):
    graph = Graph()
    values = [graph.input(TensorType(s, dtype)) for s in shapes]
    out = build(lambda op, *inputs: graph.add(op, inputs)[0], *values)
    graph.outputs = list(out) if isinstance(out, tuple) else [out]
    return graph


def folded(graph):
    """With all inputs but the first constant; held to what the graph gives."""
    constant = tuple(i > 0 for i in range(len(graph.inputs)))
    new = fold_channels(graph, fixed_values(graph, constant))
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype(v.dtype.np) for v in graph.inputs]
    before = {n: paddle.get_flags(n)[n] for n in ("FLAGS_eager_compile", "FLAGS_eager_constants")}
    paddle.set_flags({"FLAGS_eager_compile": "always", "FLAGS_eager_constants": "always"})
    try:
        got = Executor(graph, (False,) * len(arrays), lasting=constant)(list(arrays))
    finally:
        paddle.set_flags(before)
    for a, b, c in zip(Reference(new)(list(arrays)), Reference(graph)(list(arrays)), got):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(c, b, rtol=1e-5, atol=1e-5)
    return new


def work(graph):
    """The operators that are left to do in each run."""
    fixed = fixed_values(graph, tuple(i > 0 for i in range(len(graph.inputs))))
    return [n.op.name for n in graph.nodes if n.outputs[0] not in fixed]


def norm(add, y, mean, factor, bias):
    return add(ew.add, add(ew.multiply, add(ew.subtract, y, mean), factor), bias)


VECTOR = (1, 8, 1, 1)
KERNEL = (1, 8, 3, 3, 3)
IMAGE = (2, 1, 3, 6, 6)


def conv(add, x, w):
    return add(Reshape((2, 8, 4, 4)), add(CONV, x, w))


def test_a_norm_after_a_convolution_is_a_shift():
    build = lambda add, x, w, m, f, b: norm(add, conv(add, x, w), m, f, b)  # noqa: E731
    assert work(folded(graph_of(build, IMAGE, KERNEL, VECTOR, VECTOR, VECTOR))) == ["conv", "reshape", "add"]


def test_groups_have_their_own_factors():
    build = lambda add, x, w, m, f, b: norm(add, conv(add, x, w), m, f, b)  # noqa: E731
    shapes = (2, 2, 3, 6, 6), (2, 4, 3, 3, 3), VECTOR, VECTOR, VECTOR
    assert work(folded(graph_of(build, *shapes))) == ["conv", "reshape", "add"]


def test_other_values_are_scaled_and_shifted_at_once():
    shapes = (5, 7), (7,), (1, 7), (7,)
    assert work(folded(graph_of(norm, *shapes))) == ["multiply", "add"]
    assert work(folded(graph_of(norm, *shapes, dtype=float64))) == ["multiply", "add"]


def test_a_factor_of_one_number_goes_into_the_kernel():
    build = lambda add, x, w, f: add(ew.multiply, f, conv(add, x, w))  # noqa: E731
    assert work(folded(graph_of(build, IMAGE, KERNEL, ()))) == ["conv", "reshape"]


@pytest.mark.parametrize("shape", [(2, 8, 4, 4), (1, 1, 4, 4), (4,), (2, 1, 1, 1)])
def test_factors_that_are_not_of_channels_stay(shape):
    build = lambda add, x, w, f: add(ew.multiply, conv(add, x, w), f)  # noqa: E731
    assert work(folded(graph_of(build, IMAGE, KERNEL, shape))) == ["conv", "reshape", "multiply"]


def test_a_result_that_others_read_is_left_alone():
    def build(add, x, w, f):
        y = conv(add, x, w)
        return add(ew.multiply, y, f), add(ew.negative, y)

    assert sorted(work(folded(graph_of(build, IMAGE, KERNEL, VECTOR)))) == ["conv", "multiply", "neg", "reshape"]

    def inner(add, x, w, f):
        y = add(CONV, x, w)
        return add(ew.multiply, add(Reshape((2, 8, 4, 4)), y), f), add(ew.negative, y)

    assert "multiply" in work(folded(graph_of(inner, IMAGE, KERNEL, VECTOR)))


def test_values_within_a_chain_may_be_results():
    def build(add, x, m, f, b):
        y = add(ew.subtract, x, m)
        return add(ew.add, add(ew.multiply, y, f), b), y

    folded(graph_of(build, (5, 7), (7,), (7,), (7,)))

    def twice(add, x, m):
        y = add(ew.subtract, x, m)
        return add(ew.multiply, y, y)

    folded(graph_of(twice, (5, 7), (7,)))


def test_constants_do_not_grow():
    build = lambda add, x, f, g: add(ew.multiply, add(ew.multiply, x, f), g)  # noqa: E731
    new = folded(graph_of(build, (50, 70), (50, 1), (1, 70)))
    assert work(new) == ["multiply", "multiply"]


def test_a_value_taken_off_a_constant_is_no_chain():
    build = lambda add, x, f, g: add(ew.multiply, add(ew.subtract, f, x), g)  # noqa: E731
    assert work(folded(graph_of(build, (5, 7), (7,), (7,)))) == ["subtract", "multiply"]
