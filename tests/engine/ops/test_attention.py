"""Attention by blocks: against its meaning around the borders of blocks, its bits, its memory, its gradients."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle
import paddle.nn.functional as F
from paddle.engine import flags, types
from paddle.engine.cpu import lower
from paddle.engine.cpu.compiler import compile_graph
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.steps import KernelStep
from paddle.engine.ir.graph import Graph
from paddle.engine.ops import attention as ops
from paddle.engine.ops.attention import FEW, Attention, AttentionGrad
from paddle.engine.types import TensorType, dtype_of

# the module: `paddle.nn.functional` has a function of its name
flash_attention = importlib.import_module("paddle.nn.functional.flash_attention")
TOLERANCE = {"float32": 3e-5, "float64": 1e-12, "float16": 8e-3, "bfloat16": 5e-2}
SIZES = st.sampled_from([1, 2, 5, 11, 12, 13, 31, 47, 48, 49, 95, 96, 97, 101, 191, 193])
# dtype, widths, heads of queries and keys, mask, causal
FORMS = {
    "plain": ("float32", 64, 64, 2, 2, None, False),
    "causal, shared heads": ("float32", 8, 20, 6, 2, None, True),
    "bool mask": ("float32", 17, 5, 2, 2, bool, False),
    "added mask": ("bfloat16", 16, 32, 2, 1, float, False),
    "both": ("float64", 3, 4, 1, 1, bool, True),
    "wide": ("float16", 160, 130, 1, 1, None, False),
}


@pytest.fixture(params=["never", "always"])
def tier(request):
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", request.param)
    yield request.param
    flags.set_("FLAGS_eager_compile", before)


def graph_of(op, arrays):
    graph = Graph(op.name)
    inputs = [graph.input(TensorType(a.shape, dtype_of(a.dtype))) for a in arrays]
    graph.outputs = list(graph.add(op, inputs))
    return graph


def run(op, arrays):
    return Executor(graph_of(op, arrays), (False,) * len(arrays))([a.copy() for a in arrays])


def draw(rng, dtype, b, s, t, h, g, k, v):
    return [rng.normal(size=n).astype(dtype) for n in ((b, s, h, k), (b, t, g, k), (b, t, g, v))]


def with_gradient(op, arrays, rng):
    """The arguments of the gradient of attention."""
    out, lse = op.compute(*arrays)
    g = rng.normal(size=out.shape).astype(out.dtype)
    delta = (g.astype(lse.dtype) * out.astype(lse.dtype)).sum(3)
    return [*arrays, g, np.ascontiguousarray(lse), np.ascontiguousarray(delta)]


def close(got, want):
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape
        tolerance = TOLERANCE[b.dtype.name]
        a, b = a.astype(np.float64), b.astype(np.float64)
        size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
        np.testing.assert_allclose(a, b, tolerance, tolerance * size)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(
    s=SIZES, t=SIZES, b=st.integers(1, 2), shift=st.integers(-3, 40), cuts=st.integers(0, 7), seed=st.integers(0, 99)
)
def test_blocks(form, s, t, b, shift, cuts, seed):
    dtype, k, v, h, g, kind, causal = FORMS[form]
    rng = np.random.default_rng(seed)
    arrays = draw(rng, dtype_of(dtype).np if isinstance(dtype, str) else dtype, b, s, t, h, g, k, v)
    if kind is not None:  # its first axes may be those of all
        shape = [n if not cuts >> i & 1 else 1 for i, n in enumerate((b, h, s))]
        random = rng.uniform(size=(*shape, t))
        added = np.where(random > 0.9, -np.inf, random)
        arrays.append(random > 0.1 if kind is bool else added.astype(arrays[0].dtype))
    where = {"causal": causal, "shift": shift} if causal else {}
    op, grad = Attention(0.3, **where), AttentionGrad(0.3, **where)
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", "never")  # one kernel for all sizes
    try:
        assert all(isinstance(x, KernelStep) for x in lower.single_steps(graph_of(op, arrays)))
        close(run(op, arrays), op.compute(*arrays))
        arrays = with_gradient(op, arrays, rng)
        close(run(grad, arrays), grad.compute(*arrays))
    finally:
        flags.set_("FLAGS_eager_compile", before)


def test_threads_and_tiers_give_the_same_bits():
    rng = np.random.default_rng(0)
    op, grad = Attention(0.2, True), AttentionGrad(0.2, True)
    arrays = draw(rng, "float32", 1, 300, 290, 2, 1, 16, 16)
    both = ((op, arrays), (grad, with_gradient(op, arrays, rng)))
    found = []
    before = {name: flags.get(name) for name in ("FLAGS_cpu_threads", "FLAGS_eager_compile")}
    try:
        for threads in (1, 2, 3):
            for mode in ("never", "always"):
                paddle.set_flags({"FLAGS_cpu_threads": threads, "FLAGS_eager_compile": mode})
                found.append([r.tobytes() for o, a in both for r in run(o, a)])
    finally:
        paddle.set_flags(before)
    assert all(f == found[0] for f in found)


def test_keys_in_parts():
    """One head alone: its keys are shared out, and what the queries get is added in order."""
    rng = np.random.default_rng(1)
    op, grad = Attention(0.2), AttentionGrad(0.2)
    arrays = with_gradient(op, draw(rng, "float32", 1, 40, 700, 1, 1, 16, 16), rng)
    (step,) = lower.steps_of(graph_of(grad, arrays))
    assert step.kernels[0].total > 1
    close(run(grad, arrays), grad.compute(*arrays))


def test_no_scores_in_memory(tier):
    s = 1024
    q, k, v = (TensorType((1, s, 2, 16), types.float32) for _ in range(3))
    graph = Graph()
    values = [graph.input(t) for t in (q, k, v)]
    out, lse = graph.add(Attention(0.25), values)
    row = graph.input(lse.type)
    graph.outputs = [out, *graph.add(AttentionGrad(0.25), [*values, out, lse, row])]
    if tier == "always":
        arena = compile_graph(graph, (False,) * 4)[0]["arena"]
    else:
        run = Executor(graph, (False,) * 4)
        run([np.zeros(v.shape, "float32") for v in graph.inputs])
        arena = run.first.arena
    assert arena < s * s  # bytes: a quarter of the scores of one head


def test_infer_rejects():
    t = lambda *shape: TensorType(shape, types.float32)  # noqa: E731
    q, k = t(1, 3, 4, 8), t(1, 5, 2, 8)
    for bad in ((q, k, t(1, 5, 3, 8)), (q, t(1, 5, 3, 8), t(1, 5, 3, 8)), (q, k, t(1, 6, 2, 8)), (t(3, 4, 8), k, k)):
        with pytest.raises(ValueError, match="do not fit"):
            Attention(1.0).infer(*bad)
    for mask in (t(3, 1), t(2, 5), t(1, 1, 1, 3, 5), TensorType((3, 5), types.float64)):
        with pytest.raises(ValueError, match="the mask does not fit"):
            Attention(1.0).infer(q, k, k, mask)
    with pytest.raises(ValueError, match="what attention gave does not fit"):
        AttentionGrad(1.0).infer(q, k, k, q, t(1, 3, 4), t(1, 4, 3))


# ---- functions that use it --------------------------------------------------------------------
def tensors(*shapes, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return [paddle.to_tensor(rng.normal(size=s).astype(dtype), stop_gradient=False) for s in shapes]


def composed(monkeypatch):
    """From here on attention is computed through its scores."""
    monkeypatch.setattr(flash_attention, "suits", lambda *types: False)


S, T = FEW + 5, FEW + 9
SHAPES = ((2, S, 4, 6), (2, T, 2, 6), (2, T, 2, 5))


def masks():
    rng = np.random.default_rng(7)
    seen = rng.uniform(size=(2, 1, S, T)) > 0.3
    seen[..., 0] = True
    return {
        "none": None, "bool": seen, "row": seen[:, :, :1], "added": rng.normal(size=(S, T)),
        "integers": rng.integers(-2, 2, (2, 4, S, T)), "other dtype": rng.normal(size=(T,)).astype("float32"),
        "one column": rng.normal(size=(S, 1)),
    }  # fmt: skip


@pytest.mark.parametrize("mask", masks())
@pytest.mark.parametrize("causal", [False, True])
def test_function(mask, causal, tier, monkeypatch):
    found = []
    mask = masks()[mask]
    used = []
    in_blocks = flash_attention.in_blocks
    monkeypatch.setattr(flash_attention, "in_blocks", lambda *a: used.append(in_blocks(*a)) or used[-1])
    for _ in range(2):
        q, k, v = tensors(*SHAPES)
        m = None if mask is None else paddle.to_tensor(mask)
        out = flash_attention.attend(q, k, v, m, 0.0, causal, True, None)[0]
        (out * out).sum().backward()
        found.append([out.numpy(), *(t.grad.numpy() for t in (q, k, v))])
        composed(monkeypatch)
    assert (used[0] is None) == (mask is not None and mask.shape[-1] == 1) and used[1] is None
    for got, want in zip(*found):
        np.testing.assert_allclose(got, want, 1e-9, 1e-11)


def test_causal_queries_beside_other_keys():
    """Query i sees keys up to i, as upstream's: values of Paddle 3.3.1."""

    def near(a, b):  # scores that single out the last key seen
        q = paddle.to_tensor(np.full((1, a, 1, 1), 50.0, "float32"))
        k = paddle.to_tensor(np.arange(b, dtype="float32").reshape(1, b, 1, 1))
        return F.scaled_dot_product_attention(q, k, k, is_causal=True).numpy().ravel()

    for a, b in ((3, 5), (5, 3), (20, 40), (40, 20)):
        np.testing.assert_array_equal(near(a, b), np.minimum(np.arange(a), b - 1))


def test_a_query_that_sees_no_key(tier):
    """0 / 0, also in the gradients, as upstream's."""
    seen = np.ones((S, T), bool)
    seen[3] = False
    for mask in (seen, np.where(seen, 0.0, -np.inf)):
        q, k, v = tensors(*SHAPES)
        out = F.scaled_dot_product_attention(q, k, v, paddle.to_tensor(mask))
        out.sum().backward()
        for got, nan in ((out, [3]), (q.grad, [3]), (k.grad, range(T)), (v.grad, range(T))):
            assert np.flatnonzero(np.isnan(got.numpy()).all((0, 2, 3))).tolist() == list(nan)
            assert np.isnan(got.numpy()).sum() == got.size // got.shape[1] * len(nan)


def test_a_mask_gets_its_gradient():
    q, k, v, mask = tensors(*SHAPES, (S, T))
    F.scaled_dot_product_attention(q, k, v, mask).sum().backward()
    assert np.abs(mask.grad.numpy()).sum() > 0


def test_second_order(monkeypatch):
    found = []
    for _ in range(2):
        q, k, v = tensors(*SHAPES, seed=2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        first = paddle.grad((out * out).sum(), [q, k, v], create_graph=True)
        total = sum(((g * g).sum() for g in first), paddle.zeros([], "float64"))
        found.append([g.numpy() for g in paddle.grad(total, [q, k, v])])
        composed(monkeypatch)
    for got, want in zip(*found):
        np.testing.assert_allclose(got, want, 1e-9, 1e-9)


@pytest.mark.parametrize("seen", [None, "bool", "int64", "float32"])
def test_layer(seen, monkeypatch):
    paddle.seed(1)
    layer = paddle.nn.MultiHeadAttention(12, 3)
    rng = np.random.default_rng(3)
    x = paddle.to_tensor(rng.normal(size=(2, S, 12)).astype("float32"))
    mask = None if seen is None else paddle.to_tensor((rng.uniform(size=(2, 1, S, S)) > 0.3).astype(seen))
    got = layer(x, x, x, mask).numpy()
    layer.need_weights = True
    want, weights = layer(x, x, x, mask)
    np.testing.assert_allclose(got, want.numpy(), 1e-4, 1e-5)
    assert weights.shape == [2, 3, S, S]


def test_mixed_precision():
    q, k, v = tensors(*SHAPES, dtype="float32")
    with paddle.amp.auto_cast(dtype="bfloat16"):
        out = ops.Attention(0.4)(q, k, v)[0]
    assert out.dtype == paddle.bfloat16
    out.astype("float32").sum().backward()
    assert q.grad.dtype == paddle.float32
