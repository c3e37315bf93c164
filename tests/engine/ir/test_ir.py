"""Graphs: building, printing, verifying, saving."""

import json

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir import saved
from paddle.engine.ir.graph import Graph
from paddle.engine.ir.verifier import Malformed, verify
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.creation import Full
from paddle.engine.ops.reduction import Sum
from paddle.engine.ops.registry import registry

F32 = types.float32


def small():
    graph = Graph("small")
    x = graph.input(types.TensorType((2, 3), F32), "x")
    y = graph.input(types.TensorType((3,), F32), "y")
    z = ew.tanh(x * y + 1.0)
    graph.outputs = [Sum((0,))(z)]
    return graph


def test_operators_on_values_build_a_graph_that_verifies_and_runs():
    graph = small()
    verify(graph)
    x, y = np.ones((2, 3), "float32"), np.arange(3, dtype="float32")
    (got,) = Reference(graph)([x, y])
    np.testing.assert_allclose(got, np.tanh(x * y + 1).sum(0), rtol=1e-6)


def test_printed_form():
    assert str(small()) == (
        "graph small(%x: float32[2, 3], %y: float32[3]) {\n"
        "  %2 = multiply(%x, %y) : float32[2, 3]\n"
        "  %3 = constant(value=1.0, dtype=paddle.float32) : float32[]\n"
        "  %4 = add(%2, %3) : float32[2, 3]\n"
        "  %5 = tanh(%4) : float32[2, 3]\n"
        "  %6 = sum(%5, axes=(0,), keepdim=False) : float32[3]\n"
        "  return %6\n"
        "}"
    )


def test_verifier_sees_a_value_of_another_graph():
    graph, other = small(), small()
    graph.outputs = [other.outputs[0]]
    with pytest.raises(Malformed, match="does not make"):
        verify(graph)
    graph = small()
    graph.nodes.reverse()
    with pytest.raises(Malformed, match="before it is made"):
        verify(graph)


def test_verifier_sees_a_wrong_type():
    graph = small()
    graph.nodes[0].outputs[0].type = types.TensorType((2, 4), F32)
    with pytest.raises((Malformed, ValueError)):
        verify(graph)


def test_saved_form_round_trip():
    graph = small()
    graph.add(Full((2,), float("inf"), types.float64), ())
    graph.outputs.append(graph.nodes[-1].outputs[0])
    again = saved.loads(saved.dumps(graph), registry)
    verify(again)
    assert str(again) == str(graph)


def test_nested_graphs_are_saved_and_verified():
    graph = small()
    graph.nodes[-1].graphs = (small(),)
    verify(graph)
    assert str(saved.loads(saved.dumps(graph), registry)) == str(graph)


def broken(change):
    data = saved.to_dict(small())
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="pickle"), "not a saved graph"),
        (lambda d: d.update(version=99), "version is not known"),
        (lambda d: d["nodes"][0].update(op="__import__"), "operator is not known"),
        (lambda d: d["nodes"][0].update({"in": [0, 99]}), "before it is made"),
        (lambda d: d["nodes"][0].update({"in": [0, -1]}), "before it is made"),
        (lambda d: d["nodes"][0]["out"][0].update(shape=[2, 4]), "do not agree"),
        (lambda d: d["nodes"][0].update(attrs={"evil": 1}), "do not fit"),
        (lambda d: d["nodes"][-1].update(attrs={"axes": {"x": []}}), "no known form"),
        (lambda d: d["inputs"][0].update(shape=[-1]), "malformed"),
        (lambda d: d["inputs"][0].update(dtype="object"), "not an element type"),
        (lambda d: d.update(outputs="all"), "not a list"),
    ],
)
def test_reading_refuses_what_does_not_fit(change, words):
    with pytest.raises((ValueError, TypeError), match=words):
        saved.loads(broken(change), registry)


def test_reading_refuses_what_is_not_json():
    for text in ("", "{", "[" * 100_000, b"\x80\x04K\x01."):
        with pytest.raises(ValueError):
            saved.loads(text, registry)
