"""Products of 16- and 8-bit elements in programs: both tiers, rounded once, casts that products do themselves."""

import ml_dtypes
import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine.cpu.executor import Executor
from paddle.engine.cpu.lower import steps_of
from paddle.engine.cpu.steps import LoopStep, ProductStep
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import cast
from paddle.engine.ops.linalg import MatMul
from paddle.engine.types import TensorType, bfloat16, dtype_of, float32


@pytest.fixture(params=["never", "always"])
def tier(request):
    before = paddle.get_flags(["FLAGS_eager_compile", "FLAGS_reference"])
    paddle.set_flags({"FLAGS_eager_compile": request.param})
    yield request.param
    paddle.set_flags(before)


def matmul_graph(x, y, op=MatMul(), rounded=()):  # noqa: B008
    """A product of two arguments; those named in `rounded` are cast to bfloat16 first."""
    graph = Graph("product")
    values = [graph.input(TensorType(a.shape, dtype_of(a.dtype))) for a in (x, y)]
    values = [cast(v, bfloat16) if name in rounded else v for name, v in zip("xy", values)]
    graph.outputs = list(graph.add(op, values))
    return graph


def kinds(graph):
    return [type(s) for s in steps_of(graph)]


def numbers(rng, *shape):
    return rng.normal(size=shape).astype(ml_dtypes.bfloat16)


def test_a_long_sum_with_few_results_is_rounded_once(tier):
    x, y = np.ones((3, 60_000), ml_dtypes.bfloat16), np.ones((60_000, 4), ml_dtypes.bfloat16)
    (out,) = Executor(matmul_graph(x, y), (False, False))([x, y])
    assert (out == ml_dtypes.bfloat16(60_000)).all()


@pytest.mark.parametrize("rows", [1, 9, 100])
def test_a_weight_that_few_rows_meet_is_rounded_by_the_product(rows):
    rng = np.random.default_rng(0)
    x, w = numbers(rng, rows, 70), rng.normal(size=(70, 50)).astype("float32")
    graph = matmul_graph(x, w, rounded="y")
    assert kinds(graph) == [ProductStep]
    (out,) = Executor(graph, (False, False))([x, w])
    want = x.astype("float32") @ w.astype(ml_dtypes.bfloat16).astype("float32")
    np.testing.assert_allclose(out.astype("float32"), want, 2e-2, 2e-2)


def test_a_cast_that_others_read_or_many_rows_meet_is_a_step():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(70, 50)).astype("float32")
    assert kinds(matmul_graph(numbers(rng, 1000, 70), w, rounded="y")) == [LoopStep, ProductStep]
    graph = matmul_graph(numbers(rng, 8, 70), w, rounded="y")
    graph.outputs += [graph.nodes[0].outputs[0]]
    assert kinds(graph) == [LoopStep, ProductStep]


def test_rounding_by_the_product_gives_the_bits_of_the_cast():
    """Numbers half way between two of bfloat16, and such that rounding carries."""
    w = (1 + np.arange(64 * 48).reshape(64, 48) % 512 / 256 + 2**-8).astype("float32")
    x = np.eye(64, dtype=ml_dtypes.bfloat16)
    (out,) = Executor(matmul_graph(x, w, rounded="y"), (False, False))([x, w])
    np.testing.assert_array_equal(out.view("uint16"), w.astype(ml_dtypes.bfloat16).view("uint16"))


def test_int8_gives_int32(tier):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-128, 128, s, "int8") for s in ((7, 500), (500, 33)))
    out = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(y))
    assert out.dtype is paddle.int32
    np.testing.assert_array_equal(out.numpy(), x.astype("int64") @ y.astype("int64"))
    turned = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(np.ascontiguousarray(y.T)), transpose_y=True)
    np.testing.assert_array_equal(turned.numpy(), out.numpy())


def test_extremes_of_int8(tier):
    """All sums of a full row of -128: the bias and its correction are at their largest."""
    x, y = np.full((5, 1000), -128, "int8"), np.full((1000, 17), -128, "int8")
    out = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(y))
    np.testing.assert_array_equal(out.numpy(), np.full((5, 17), 16_384_000))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_integers_wrap_around(dtype, tier):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, s, dtype, endpoint=True) for s in ((6, 90), (90, 20)))
    out = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(y))
    np.testing.assert_array_equal(out.numpy(), np.matmul(x, y))


class Convolutions(nn.Layer):
    """Wide ones, whose channels come last, one that is spread out, and one with few channels."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2D(3, 40, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2D(40, 33, 3, padding=1), nn.ReLU(),
            nn.Conv2D(33, 48, 1), nn.Conv2D(48, 48, 3, groups=2), nn.Flatten(), nn.Linear(48 * 9, 10),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_convolutions_and_their_gradients_under_auto_cast(dtype, tier):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 3, 10, 10)).astype("float32")
    found = []
    for reference in (True, False):
        paddle.set_flags({"FLAGS_reference": reference})
        paddle.seed(1)
        net, at = Convolutions(), paddle.to_tensor(x, stop_gradient=False)
        with paddle.amp.auto_cast(dtype=dtype):
            out = net(at)
        (out.astype("float32") ** 2).mean().backward()
        found.append([out.astype("float32").numpy(), at.grad.numpy(), *(p.grad.numpy() for p in net.parameters())])
        paddle.set_flags({"FLAGS_reference": False})
    for want, got in zip(*found):
        np.testing.assert_allclose(got, want, 0, 3e-2 * np.abs(want).max())


def test_auto_cast_trains_like_float32(tier):
    losses = {}
    for amp in (False, True):
        paddle.seed(3)
        net = nn.Sequential(nn.Linear(33, 65), nn.GELU(), nn.LayerNorm(65), nn.Linear(65, 5))
        optimizer, rng = paddle.optimizer.Adam(1e-2, parameters=net.parameters()), np.random.default_rng(0)
        for _ in range(6):
            x, y = rng.normal(size=(47, 33)).astype("float32"), rng.integers(0, 5, 47)
            with paddle.amp.auto_cast(enable=amp, dtype="bfloat16"):
                loss = nn.functional.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.setdefault(amp, []).append(float(loss))
    assert losses[True] == pytest.approx(losses[False], abs=3e-2) and losses[True] != losses[False]


def test_a_cast_after_a_product_does_not_undo_its_rounding():
    rng = np.random.default_rng(0)
    x, y = numbers(rng, 20, 30), numbers(rng, 30, 40)
    graph = matmul_graph(x, y)
    graph.outputs = [cast(graph.outputs[0], float32)]
    (out,) = Executor(graph, (False, False))([x, y])
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, out.astype(ml_dtypes.bfloat16).astype("float32"))
