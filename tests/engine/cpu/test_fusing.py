"""Programs in which element-wise work follows products: what becomes part of them, and that results stay the same."""

import ml_dtypes
import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.engine.cpu import compiler, jit, lower
from paddle.engine.cpu.executor import Plan
from paddle.engine.cpu.lower import steps_of
from paddle.engine.cpu.steps import LoopStep, ProductStep, WinogradStep
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add, cast, multiply, relu
from paddle.engine.ops.linalg import MatMul
from paddle.engine.ops.math import exp
from paddle.engine.ops.reduction import sum_
from paddle.engine.ops.shape import reshape, transpose
from paddle.engine.ops.winograd import WinogradConv, WinogradWeights
from paddle.engine.types import TensorType, bfloat16, dtype_of


def program(make, *shapes, dtype="float32"):
    """A graph of the arguments x [M, K], w [K, N] and further ones; and numbers for them."""
    graph = Graph("g")
    values = [graph.input(TensorType(s, dtype_of(dtype))) for s in shapes]
    (product,) = graph.add(MatMul(), values[:2])
    graph.outputs = make(product, *values[2:])
    rng = np.random.default_rng(0)
    return graph, [rng.normal(size=s).astype(getattr(ml_dtypes, dtype, dtype)) for s in shapes]


def kinds(graph):
    """p: a product; P: one with an epilogue; l: loops."""
    letter = lambda s: "l" if isinstance(s, LoopStep) else "P" if s.finish else "p"
    return "".join(letter(s) for s in steps_of(graph) if isinstance(s, (LoopStep, ProductStep)))


def run(graph, arrays, fused=True):
    with pytest.MonkeyPatch.context() as patch:
        if not fused:
            patch.setattr(lower, "fuse", lambda graph, steps, fixed: steps)
        description, objects = compiler.compile_graph(graph, (False,) * len(arrays))
    loaded = [jit.load(code, names) for code, names in zip(objects, functions(description))]
    addresses = {name: address for part in loaded for name, address in part.addresses.items()}
    return Plan(description, addresses, loaded, [n.line for n in graph.nodes])([a.copy() for a in arrays])


def functions(description):
    """The names in each object: kernels of loops, then products."""
    names = sorted({s["fn"] for s in description["steps"]})
    return [found for kind in "kp" if (found := [n for n in names if n[0] == kind])]


M, K, N = 70, 33, 50
PROGRAMS = {
    "bias": ("P", lambda p, b: [add(p, b)], (N,)),
    "bias and relu": ("P", lambda p, b: [relu(add(p, b))], (N,)),
    "a factor per row": ("P", lambda p, b: [multiply(p, b)], (M, 1)),
    "a number": ("P", lambda p, b: [multiply(p, b)], ()),
    "a residual that may be overwritten": ("pl", lambda p, b, r: [relu(add(add(p, b), r))], (N,), (M, N)),
    "under another shape": ("P", lambda p, b: [add(reshape(p, (7, 10, N)), b)], (10, N)),
    "axes of one": ("P", lambda p, b: [add(reshape(p, (M, 1, N)), b)], (1, 1, N)),
    "others read the product": ("Pl", lambda p, b: [relu(add(p, b)), sum_(p, (1,))], (N,)),
    "the product is a result": ("P", lambda p, b: [relu(add(p, b)), p], (N,)),
    "two results": ("P", lambda p, b: [add(p, b), multiply(p, b)], (N,)),
    "what follows is read by sums": ("Pl", lambda p, b: [(y := relu(add(p, b))), sum_(y, (0,))], (N,)),
    "heads apart": ("P", lambda p: [transpose(reshape(p, (7, 10, 5, 10)), (0, 2, 1, 3))],),
    "costly": ("pl", lambda p: [exp(multiply(exp(p), p))],),
    "turned": ("pl", lambda p, b: [add(transpose(p, (1, 0)), b)], (M,)),
    "broadcast": ("pl", lambda p, b: [add(reshape(p, (M, 1, N)), b)], (3, 1)),
    "a sum of it comes before": ("Pll", lambda p: [multiply(p, sum_(p, (0,), True))],),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_becomes_part_of_a_product(name):
    want, make, *shapes = PROGRAMS[name]
    graph, arrays = program(make, (M, K), (K, N), *shapes)
    assert kinds(graph) == want
    for got, plain in zip(run(graph, arrays), run(graph, arrays, fused=False)):
        np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize("m", [1, 9, 300])
def test_other_types_give_the_bits_of_separate_steps(m, dtype):
    make = lambda p, b: [relu(add(p, b))]
    graph, arrays = program(make, (m, 700), (700, N), (N,), dtype=dtype)
    assert kinds(graph) == "P"
    (got,), (want,) = run(graph, arrays), run(graph, arrays, fused=False)
    tolerance = {"float64": 0, "bfloat16": 2**-7, "float16": 2**-10}[dtype]  # blocks of sums may be cut otherwise
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), tolerance, tolerance)


def test_a_cast_is_done_by_the_product():
    graph, arrays = program(lambda p, b: [cast(add(p, b), bfloat16)], (M, 900), (900, N), (N,))
    assert kinds(graph) == "P"
    (got,), (want,) = run(graph, arrays), run(graph, arrays, fused=False)
    np.testing.assert_allclose(got.astype("float32"), want.astype("float32"), 2**-7, 2**-7)


def test_a_residual_of_two_products_goes_to_the_later_one():
    graph = Graph("g")
    x, w, v = (graph.input(TensorType(s, dtype_of("float32"))) for s in ((M, K), (K, N), (K, N)))
    (p,), (q,) = graph.add(MatMul(), (x, w)), graph.add(MatMul(), (x, v))
    graph.outputs = [relu(add(p, q))]
    assert kinds(graph) == "pP"
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=y.shape).astype("float32") for y in (x, w, v)]
    np.testing.assert_array_equal(run(graph, arrays)[0], run(graph, arrays, fused=False)[0])


def test_what_takes_the_place_of_an_argument_stays_in_loops():
    """A result that may be written over an argument, as an optimizer's is, needs no memory of its own."""
    graph, _ = program(lambda p, m: [add(multiply(m, 0.9), p)], (300, K), (K, N), (300, N))
    assert kinds(graph) == "pl"


def test_a_long_sum_is_cut_first():
    graph, _ = program(lambda p, b: [add(p, b)], (4, 60_000), (60_000, 8), (8,))
    assert kinds(graph).startswith("pl") and "P" not in kinds(graph)


@pytest.fixture
def flags():
    before = paddle.get_flags(["FLAGS_eager_compile", "FLAGS_reference", "FLAGS_cpu_features"])
    yield
    paddle.set_flags(before)


class Block(nn.Layer):
    """Convolutions with normalization, a residual and a projection; odd sizes."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2D(3, 37, 3, padding=1), nn.BatchNorm2D(37)
        self.second, self.after = nn.Conv2D(37, 37, 3, padding=1), nn.BatchNorm2D(37)
        self.shortcut = nn.Conv2D(37, 37, 1)
        self.head = nn.Linear(37 * 7, 21)

    def forward(self, x):
        h = F.relu(self.norm(self.first(x)))
        h = F.relu(self.after(self.second(h)) + self.shortcut(h))
        return F.leaky_relu(self.head(h.mean(2).flatten(1)))


@pytest.mark.parametrize("features", ["", "sse2", "avx2"] if jit.is_x86() else [""])
@pytest.mark.parametrize("training", [False, True])
def test_networks(training, features, flags):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 3, 5, 7)).astype("float32")
    found = []
    for reference in (True, False):
        paddle.set_flags(
            {"FLAGS_reference": reference, "FLAGS_eager_compile": "always", "FLAGS_cpu_features": features}
        )
        paddle.seed(1)
        net = Block()
        net.train() if training else net.eval()
        out = net(paddle.to_tensor(x))
        if training:
            (out**2).mean().backward()
        found.append([out.numpy(), *(p.grad.numpy() for p in net.parameters() if not p.stop_gradient and training)])
    for want, got in zip(*found):
        np.testing.assert_allclose(got, want, 2e-4, 2e-5 * max(1.0, np.abs(want).max()))


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize(("channels", "size"), [(16, (6, 8)), (37, (5, 7)), (90, (3, 4))])
def test_a_convolution_by_tiles_finishes_its_results(channels, size, tile):
    """Factors, relu, a residual, two results; tiles past the edges, odd channels."""
    graph, n = Graph("g"), 2
    x, u, v, bias = (graph.input(TensorType(s, dtype_of("float32"))) for s in (
        (n, 1, 9, size[0] + 2, size[1] + 2), (1, channels, 9, 3, 3), (1, channels, 9, 3, 3), (1, 1, channels, 1, 1),
    ))  # fmt: skip
    convolved = lambda w: graph.add(WinogradConv(tile, channels), (x, *graph.add(WinogradWeights(tile), (w,))))[0]
    q, p = convolved(v), convolved(u)
    y = relu(add(multiply(add(p, bias), bias), bias))
    z = relu(add(multiply(add(p, bias), bias), q))
    more = add(multiply(multiply(y, y), multiply(y, bias)), y)
    graph.outputs = [sum_(value, axes) for value in (y, z, more) for axes in ((3, 4), (0,))]
    finished = [s.finish for s in steps_of(graph) if isinstance(s, WinogradStep)]
    assert None not in finished and max(len(f.epilogue.stores) for f in finished) == 1
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=value.shape).astype("float32") for value in graph.inputs]
    for got, want in zip(run(graph, arrays), run(graph, arrays, fused=False)):
        np.testing.assert_array_equal(got, want)
