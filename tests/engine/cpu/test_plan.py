"""The memory plan: whose buffer a result takes over, and what the work area has to hold."""

import pytest

from paddle.engine import types
from paddle.engine.cpu import compiler
from paddle.engine.cpu.plan import MemoryPlan
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import multiply
from paddle.engine.ops.reduction import Sum
from paddle.engine.types import TensorType


def planned(graph, donated):
    graph, steps = compiler.lowered(graph)
    return MemoryPlan(graph, steps, donated)


@pytest.mark.parametrize("shape, taken", [((2, 8), {}), ((4, 4), {1: 0})])
def test_a_result_takes_over_only_a_buffer_of_its_own_shape(shape, taken):
    """Under another shape it would be a view, which cannot be written over at the next run: that is another program."""
    g = Graph()
    x, y = g.input(TensorType(shape, types.float32)), g.input(TensorType((4, 4), types.float32))
    early = g.add(Sum((0, 1), False), (x,))[0]
    late = g.add(multiply, (y, y))[0]
    g.outputs = [early, late]
    assert planned(g, (True, False)).taken == taken
