"""Code for every target this CPU can run, and text that other architectures accept."""

import random

import numpy as np
import pytest
from programs import Maker
from test_programs import check

import paddle
from paddle import nn
from paddle.engine import flags, types
from paddle.engine.cpu import compiler, jit, kernels
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.runtime import runtime
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.registry import all_samples, registry, run_numpy
from paddle.engine.types import TensorType, dtype_of

FAMILIES = {
    "arithmetic": "add multiply divide remainder floor_divide maximum floor round cast select less_than left_shift",
    "functions": "pow exp tanh erf gelu sin cos log sigmoid",
    "reductions": "sum max prod argmax any logsumexp softmax softmax_cross_entropy",
    "products": "matmul conv winograd_weights winograd_conv winograd_grad attention attention_grad",
    "windows": "max_pool max_pool_grad avg_pool pad pad_from",
    "moves": "transpose slice concat gather take_along broadcast_to random_uniform random_normal",
}
TARGETS = ("sse2", "avx2", "avx512") if jit.is_x86() else ("generic",)
AARCH64 = ("aarch64-unknown-linux-gnu", "generic", "+neon")
TOLERANCE = {"float32": (2e-5, 2e-6), "float64": (1e-10, 1e-12), "float16": (4e-3, 1e-3), "bfloat16": (2e-2, 1e-2)}


@pytest.fixture(params=TARGETS)
def target(request):
    try:
        jit._check_runnable(request.param)
    except RuntimeError:
        pytest.skip(f"this CPU cannot run code for {request.param}")
    with settings(FLAGS_cpu_features=request.param):
        yield request.param


@pytest.fixture(params=["never", "always"])
def tier(request):
    with settings(FLAGS_eager_compile=request.param):
        yield request.param


class settings:
    """Flags for the length of a block."""

    def __init__(self, **values):
        self.values = values

    def __enter__(self):
        self.before = {name: flags.get(name) for name in self.values}
        paddle.set_flags(self.values)

    def __exit__(self, *exception):
        paddle.set_flags(self.before)


@pytest.mark.parametrize("family", FAMILIES)
def test_operators(family, target):
    check_operators(family)


def check_operators(family):
    """All samples of some operators as one program."""
    cases = [(op, [np.asarray(a) for a in arrays]) for name in FAMILIES[family].split()
             for op, arrays in all_samples(registry[name])]  # fmt: skip
    graph, given, want = Graph(family), [], []
    for op, arrays in cases:
        inputs = [graph.input(TensorType(a.shape, dtype_of(a.dtype))) for a in arrays]
        graph.outputs += graph.add(op, inputs)
        given += [a.copy() for a in arrays]
        want += [(np.asarray(r), f"{op!r} of {[a.shape for a in arrays]}") for r in run_numpy(op, *arrays)]
    with settings(FLAGS_eager_compile="always"):
        got = Executor(graph, (False,) * len(given))(given)
    for a, (b, what) in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        relative, absolute = TOLERANCE.get(b.dtype.name, (0, 0))
        if b.dtype.name in TOLERANCE:
            a, b = a.astype(np.float64), b.astype(np.float64)
            absolute *= max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0.0))
        np.testing.assert_allclose(a, b, relative, absolute, err_msg=what)


def test_generic_is_what_every_cpu_has():
    with settings(FLAGS_cpu_features="generic"):
        generic = jit.target()
    with settings(FLAGS_cpu_features=TARGETS[0]):
        assert jit.target() == generic


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed, target):
    check(Maker(random.Random(100 + seed).randrange))


def network():
    paddle.seed(0)
    return nn.Sequential(
        nn.Conv2D(2, 6, 3, padding=1), nn.BatchNorm2D(6), nn.ReLU(), nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 9, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(9 * 4, 17), nn.LayerNorm(17), nn.Tanh(),
        nn.Linear(17, 5),
    )  # fmt: skip


def train(steps=3):
    """Losses of a small convolutional net."""
    model, state, losses = network(), np.random.RandomState(0), []
    optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(steps):
        x = paddle.to_tensor(state.rand(7, 2, 11, 11).astype("float32"))
        loss = nn.functional.cross_entropy(model(x), paddle.to_tensor(state.randint(0, 5, 7)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def test_a_net_learns_alike(target, tier, monkeypatch):
    """And by code made for this target: programs and kernels that another target left are not used."""
    with settings(FLAGS_cpu_features="", FLAGS_eager_compile="never"):
        want = train()
    loaded = []
    load = jit.load
    monkeypatch.setattr(jit, "load", lambda *a: loaded.append(jit.target()) or load(*a))
    monkeypatch.setattr(kernels, "_kernels", {})
    monkeypatch.setattr(kernels, "_launches", {})
    assert train() == pytest.approx(want, abs=2e-5)
    assert len(loaded) > (20 if tier == "never" else 1) and set(loaded) == {jit.target()}


# ---- other architectures ----------------------------------------------------------------------
def texts_of(monkeypatch, tier):
    """The LLVM text of all kernels of a training step of the net, as a target without x86 gets it."""
    found = []

    def take(text, *options, **more):
        found.append(text)
        return real(text, *options, **more)

    runtime()  # its code is for this CPU
    real = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", take)
    monkeypatch.setattr(kernels, "_kernels", {})
    monkeypatch.setattr(kernels, "_launches", {})
    with settings(FLAGS_cpu_features="generic", FLAGS_eager_compile=tier, FLAGS_cache_bytes=0):
        train(2)
    return list(found)


@pytest.mark.parametrize("which", ["never", "always"])
def test_kernels_compile_for_aarch64(which, monkeypatch):
    texts = texts_of(monkeypatch, which)
    assert len(texts) >= (20 if which == "never" else 1)
    for text in texts:
        foreign = "llvm.x86" in text or "asm " in text  # apart, as pytest takes long to show long texts
        assert not foreign
        code = jit.compile_object(text, for_target=AARCH64)
        assert code[:4] == b"\x7fELF" and code[18:20] == b"\xb7\x00"


@pytest.mark.skipif(not jit.is_x86(), reason="about x86")
def test_instructions_that_a_target_lacks_are_not_used(monkeypatch):
    graph = Graph()
    values = [graph.input(TensorType(s, types.float32)) for s in ((33, 40), (40, 50))]
    graph.outputs = list(graph.add(registry["exp"](), graph.add(registry["matmul"](), values)))
    taken = []
    monkeypatch.setattr(jit, "compile_object", lambda text, *a, **k: taken.append(text) or b"")
    for level, vectors in (("sse2", False), ("avx2", True)):
        with settings(FLAGS_cpu_features=level):
            compiler.compile_graph(graph, (False, False))
            text = jit.assembly(taken[-1])
        found = "ymm" in text and "vfmadd" in text
        assert found == vectors
