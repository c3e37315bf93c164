"""Every operator survives being saved in a graph and read again."""

import pytest

from paddle.engine.ir import saved
from paddle.engine.ir.verifier import verify
from paddle.engine.ops.registry import registry

from .cases import graph_of, operators, samples


@pytest.mark.parametrize("name", operators())
def test_round_trip(name):
    for op, arrays in samples(name):
        graph = graph_of(op, arrays)
        again = saved.loads(saved.dumps(graph), registry)
        verify(again)
        assert again.nodes[-1].op is graph.nodes[-1].op
        assert str(again) == str(graph)
