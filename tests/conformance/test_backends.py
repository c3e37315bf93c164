"""Every operator on every back end against its numpy meaning."""

import numpy as np
import pytest

from paddle.engine import flags, types
from paddle.engine.cpu import expr, lower
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.values import supports
from paddle.engine.eager.materialize import Reference
from paddle.engine.ops.registry import registry
from paddle.engine.passes.simplify import decompose

from .cases import check, describe, graph_of, meaning, operators, samples


@pytest.fixture
def flag():
    """Sets flags for one test."""
    before = {}

    def set_(name, value):
        before.setdefault(name, flags.get(name))
        flags.set_(name, value)

    yield set_
    for name, value in before.items():
        flags.set_(name, value)


@pytest.mark.parametrize("name", operators())
def test_infer_tells_what_comes_out(name):
    for op, arrays in samples(name):
        got = (
            op.infer_types(*(types.TensorType(a.shape, types.dtype_of(a.dtype)) for a in arrays)) if op.infer else None
        )
        for i, r in enumerate(meaning(op, arrays)):
            if got is not None:
                assert got[i] is types.TensorType(r.shape, types.dtype_of(r.dtype)), describe(op, arrays)


@pytest.mark.parametrize("tier", ["never", "always"])
@pytest.mark.parametrize("name", operators())
def test_cpu(name, tier, flag):
    flag("FLAGS_eager_compile", tier)
    for op, arrays in samples(name):
        run = Executor(graph_of(op, arrays), tuple(False for _ in arrays))
        copies = [a.copy() for a in arrays]
        for got, want in zip(run([np.array(a) for a in arrays]), meaning(op, arrays)):
            check(got, want, describe(op, arrays))
        for a, b in zip(arrays, copies):
            np.testing.assert_array_equal(a, b, err_msg=f"{describe(op, arrays)} wrote to its arguments")


@pytest.mark.parametrize("name", [n for n in operators() if registry[n].loops])
def test_loop_form(name):
    """The loop form, evaluated by numpy, apart from code generation."""
    for op, arrays in samples(name):
        graph = decompose(graph_of(op, arrays))
        if len(graph.nodes) != 1 or not all(supports(v.dtype) for v in graph.values()):
            continue
        node = graph.nodes[0]
        made = lower.Lowering(graph, False)
        for i, want in enumerate(meaning(op, arrays)):
            scope, variables, at = made.frame(node.outputs[i])
            value = made.own(node, i, scope, at, None)
            buffers = dict(zip(node.inputs, arrays))
            got = expr.evaluate(value, buffers, variables, want.shape)
            check(np.asarray(got).astype(want.dtype), want, describe(op, arrays))


@pytest.mark.parametrize("name", operators())
def test_reference(name):
    for op, arrays in samples(name):
        for got, want in zip(Reference(graph_of(op, arrays))(list(arrays)), meaning(op, arrays)):
            np.testing.assert_array_equal(got, want)
