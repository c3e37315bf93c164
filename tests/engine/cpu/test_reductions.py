"""Reductions over any axes of any element type, alone and among other operators, against their meaning."""

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_programs import TIERS, overlaps, problem

from paddle.engine import types
from paddle.engine.eager.materialize import Reference
from paddle.engine.ir.graph import Graph
from paddle.engine.ops import reduction
from paddle.engine.ops.elementwise import maximum
from paddle.engine.ops.registry import registry
from paddle.engine.ops.shape import Transpose
from paddle.engine.ops.softmax import LogSoftmax, Softmax
from paddle.engine.types import TensorType

DIMS = (1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 257)
MOST = 20_000
KINDS = {
    "sum": reduction.Sum, "max": reduction.Max, "min": reduction.Min, "prod": reduction.Prod, "any": reduction.Any_,
    "all": reduction.All, "logsumexp": reduction.Logsumexp, "argmax": reduction.Argmax, "argmin": reduction.Argmin,
    "softmax": Softmax, "log_softmax": LogSoftmax,
}  # fmt: skip
OF_FLOATS = ("logsumexp", "softmax", "log_softmax")
ROUNDED = {"float32": 2e-5, "float64": 1e-11, "float16": 5e-3, "bfloat16": 4e-2}


@st.composite
def cases(draw):
    dims = tuple(draw(st.lists(st.sampled_from(DIMS), min_size=1, max_size=5)))
    while math.prod(dims) > MOST:
        dims = tuple(1 + n // 3 if n == max(dims) else n for n in dims)
    if draw(st.integers(0, 9)) == 0:
        dims = (*dims[:-1], 0)
    dtype = draw(
        st.sampled_from(("float32",) * 4 + ("float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"))
    )
    kinds = [k for k in KINDS if dtype.startswith(("float", "bf")) or k not in OF_FLOATS]
    kinds = ["any", "all"] if dtype == "bool" else [k for k in kinds if k not in ("any", "all")]
    if dtype in ("float16", "bfloat16", "uint8"):
        kinds.remove("prod")
    reductions = []
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        axes = tuple(i for i in range(len(dims)) if draw(st.booleans()))
        reductions.append((draw(st.sampled_from(kinds)), axes, draw(st.booleans())))
    turned = draw(st.permutations(range(len(dims)))) if draw(st.booleans()) else None
    return dims, dtype, turned, draw(st.sampled_from(("", "", "neg", "square"))), reductions, draw(st.booleans())


def program(dims, dtype, turned, before, reductions, after):
    graph = Graph("reductions")
    v = graph.input(TensorType(dims, types.dtype_of(dtype)))
    if turned is not None:
        (v,) = graph.add(Transpose(tuple(turned)), (v,))
    if before and dtype.startswith("float"):
        (v,) = graph.add(registry[before](), (v,))
    for kind, axes, keep in reductions:
        row = axes[0] if axes else v.ndim - 1
        if kind in ("softmax", "log_softmax"):
            op = KINDS[kind](row)
        elif kind.startswith("arg"):
            op = KINDS[kind](row, keep) if v.shape[row] else reduction.Sum(axes, keep)
        elif kind in ("max", "min", "logsumexp") and not math.prod(v.shape[i] for i in axes):
            op = reduction.Sum(axes, keep)
        else:
            op = KINDS[kind](axes, keep)
        (out,) = graph.add(op, (v,))
        graph.outputs.append(out)
        if after and keep and out.dtype is v.dtype and dtype != "bool":
            graph.outputs += graph.add(maximum, (v, out))
    return graph


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(cases(), st.booleans())
def test_any_reduction(case, donated):
    graph = program(*case)
    rng, d = np.random.default_rng(math.prod(case[0])), types.dtype_of(case[1])
    low = 0 if d.kind in "ub" else -8
    x = (rng.integers(low, 9, case[0]) / (4 if d.kind == "f" else 1)).astype(d.np)
    if any(kind == "prod" for kind, _, _ in case[4]):
        x = np.where(x == 0, 1, np.sign(x)).astype(d.np)
    assert not overlaps(graph, (donated,))
    want = Reference(graph)([x])
    tolerance = [ROUNDED.get(a.dtype.name, 0) * max(1, np.abs(a).max(initial=0).astype(float)) for a in want]
    for tier in TIERS:
        wrong = problem(graph, [x], (donated,), tolerance, tier)
        assert not wrong, f"{tier}: {wrong}\n{graph}"
