"""Convolutions are narrowed to what is used of them, and to no less."""

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ir.verifier import verify
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.shape import Pad, pad, reshape
from paddle.engine.passes.convolution import narrow_convolutions


def program(low, high, before=2, step=1, flat=False, also=False, padded=True, kernel=3):
    """A convolution of x [2, 1, 3, 6, 7] with `before` around it, whose result is cut by low and high."""
    graph = Graph()
    x = graph.input(types.TensorType((2, 1, 3, 6, 7), types.float64))
    w = graph.input(types.TensorType((1, 4, 3, kernel, kernel), types.float64))
    y = Conv((1, step), (1, 1))(pad(x, (0, 0, 0, before, before), (0, 0, 0, before, before)) if padded else x, w)
    z = reshape(y, (2, 4, *y.shape[3:])) if flat else y
    lead = (0,) * (z.ndim - 2)
    graph.outputs = [pad(z, (*lead, *low), (*lead, *high)), *([y] if also else [])]
    return graph


def pads(graph):
    return [n.op for n in graph.nodes if isinstance(n.op, Pad)]


def same(graph, narrow):
    verify(narrow)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-4, 5, v.shape).astype("float64") for v in graph.inputs]
    for a, b in zip(Reference(graph)(arrays), Reference(narrow)(arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(
    "low, high", [((-1, -1), (-1, -1)), ((-2, 0), (0, -3)), ((-3, -1), (-1, -4)), ((0, -5), (-6, 0))]
)
def test_the_padding_takes_a_cut_in(low, high, flat):
    graph = program(low, high, flat=flat)
    narrow = narrow_convolutions(graph)
    assert len(pads(narrow)) == 1 and pads(narrow)[0].low == (0, 0, 0, 2 + low[0], 2 + low[1])
    same(graph, narrow)


def test_a_cut_across_no_step_is_taken_in():
    graph = program((-1, 0), (-2, 0), step=2)
    narrow = narrow_convolutions(graph)
    assert len(pads(narrow)) == 1
    same(graph, narrow)


@pytest.mark.parametrize("other", [
    {"low": (1, -1)}, {"step": 2}, {"also": True}, {"padded": False}, {"low": (-5, 0), "high": (-3, 0)},
])  # fmt: skip
def test_others_stay(other):
    given = {"low": (-1, -1), "high": (-1, -1), **other}
    graph = program(**given)
    narrow = narrow_convolutions(graph)
    assert len(narrow.nodes) == len(graph.nodes) and narrow.outputs[0].shape == graph.outputs[0].shape
    same(graph, narrow)


def test_padding_that_vanishes_goes():
    """The gradient of an input with as much padding as keeps its size reads just as much around it."""
    graph = program((-2, -2), (-2, -2))
    assert not pads(narrow_convolutions(graph))
    same(graph, narrow_convolutions(graph))
