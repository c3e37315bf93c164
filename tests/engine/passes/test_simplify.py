"""Simplification keeps results and removes what is needless."""

import numpy as np

from paddle.engine import types
from paddle.engine.cpu.lower import steps_of
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ir.verifier import verify
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.creation import Full
from paddle.engine.ops.linalg import MatMul
from paddle.engine.ops.shape import BroadcastTo, Reshape, Transpose
from paddle.engine.passes.simplify import decompose, simplify

F32 = types.float32
matmul_op = MatMul(False, False)


def one_input(shape=(2, 3)):
    graph = Graph()
    return graph, graph.input(types.TensorType(shape, F32))


def same(graph, simpler, *arrays):
    verify(simpler)
    for a, b in zip(Reference(graph)(list(arrays)), Reference(simpler)(list(arrays))):
        np.testing.assert_array_equal(a, b)


def names(graph):
    return [n.op.name for n in graph.nodes]


def test_equal_nodes_become_one_and_unused_ones_go():
    graph, x = one_input()
    a, b = ew.exp(x), ew.exp(x)
    ew.tanh(x)
    graph.outputs = [a + b]
    out = simplify(graph)
    assert names(out) == ["exp", "add"]
    same(graph, out, np.ones((2, 3), "float32"))


def test_transposes_and_reshapes_merge():
    graph, x = one_input()
    graph.outputs = [Transpose((1, 0))(Transpose((1, 0))(x)), Reshape((3, 2))(Reshape((6,))(x))]
    out = simplify(graph)
    assert names(out) == ["reshape"]
    same(graph, out, np.arange(6, dtype="float32").reshape(2, 3))


def test_multiplying_by_one_and_constants():
    graph, x = one_input()
    (ones,) = graph.add(Full((2, 3), 1.0, F32), ())
    (two,) = graph.add(Full((), 2.0, F32), ())
    graph.outputs = [x * ones * (two * two)]
    out = simplify(graph)
    assert names(out) == ["full", "multiply"]
    assert out.nodes[0].op.value == 4.0
    same(graph, out, np.arange(6, dtype="float32").reshape(2, 3))


def test_multiplying_by_one_that_broadcasts_stays():
    graph, x = one_input((3,))
    (ones,) = graph.add(Full((2, 3), 1.0, F32), ())
    graph.outputs = [x * ones]
    same(graph, simplify(graph), np.arange(3, dtype="float32"))


def test_casts_and_broadcasts_to_the_same_go():
    graph, x = one_input()
    graph.outputs = [BroadcastTo((2, 3))(ew.Cast(F32)(x))]
    assert names(simplify(graph)) == []


def test_compositions_are_written_out_with_the_line():
    from paddle.engine.ops.registry import registry

    name = next(n for n, c in sorted(registry.items()) if c.compose and not c.loops and c.samples)
    op, arrays = next(iter(registry[name].samples(np.random.default_rng(0))))
    graph = Graph()
    inputs = [graph.input(types.TensorType(np.shape(a), types.dtype_of(np.asarray(a).dtype))) for a in arrays]
    graph.outputs = list(graph.add(op, inputs, ("user.py", 7)))
    out = decompose(graph)
    assert not any(n.op.compose and not n.op.loops for n in out.nodes)
    assert all(n.line == ("user.py", 7) for n in out.nodes)


def test_a_number_that_fills_a_tensor_stays_one_when_its_axes_change():
    graph, x = one_input()
    filled = graph.add(Transpose((1, 0)), graph.add(Full((2, 3), 0.5, F32), ()))[0]
    graph.outputs = [graph.add(matmul_op, (x, filled))[0]]
    simpler = simplify(graph)
    assert names(simpler) == ["full", "matmul"] and simpler.nodes[0].outputs[0].shape == (3, 2)
    same(graph, simpler, np.ones((2, 3), "float32"))


def test_a_product_with_a_constant_is_still_a_product():
    graph, x = one_input((40, 30))
    (filled,) = graph.add(Full((30, 20), 0.5, F32), ())
    graph.outputs = [graph.add(matmul_op, (x, filled))[0]]
    assert [type(s).__name__ for s in steps_of(graph)] == ["LoopStep", "ProductStep"]
