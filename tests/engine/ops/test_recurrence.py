"""Recurrences with odd bodies: what the operator gives, in every tier, is what its steps give one by one."""

import numpy as np
import pytest

import paddle
from paddle.engine.cpu.compiler import compile_graph
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.elementwise import add, multiply
from paddle.engine.ops.linalg import matmul
from paddle.engine.ops.recurrence import build, typed
from paddle.engine.ops.registry import registry
from paddle.engine.ops.shape import reshape, slice_axis
from paddle.engine.types import TensorType, float64, int64

RNG = np.random.default_rng(3)


def tanh(x):
    return registry["tanh"]()(x)


def first_row(x):
    return reshape(slice_axis(x, 0, 0, 1), tuple(x.shape)[1:])


inner = build(
    lambda c, s, e: ([add(tanh(multiply(s[0], c[0])), e[0])], [multiply(s[0], e[0])]),
    *[typed((3,), dtype=float64)] * 3, True,
)  # fmt: skip


def nested(c, s, e):
    last, along = inner(first_row(c[0]), first_row(s[0]), e[0])[:2]
    return [add(tanh(along), last)], [last, along]


# Constants are w [3, 3] and b [2, 3], states and elements [2, 3]: (states, body).
BODIES = {
    "a state that stays": (1, lambda c, s, e: ([s[0]], [multiply(e[0], s[0])])),
    "a state that stays, among others": (2, lambda c, s, e: ([s[0], add(tanh(s[1]), e[0])], [])),
    "equal states": (2, lambda c, s, e: ([x := add(tanh(multiply(s[0], s[1])), e[0]), x], [multiply(x, e[0])])),
    "states that change places": (2, lambda c, s, e: ([s[1], add(tanh(s[0]), e[0])], [s[0]])),
    "results that are states": (1, lambda c, s, e: ([x := add(tanh(s[0]), e[0])], [x, x, s[0]])),
    "results that are given": (1, lambda c, s, e: ([add(tanh(s[0]), e[0])], [e[0], c[1]])),
    "no results": (1, lambda c, s, e: ([tanh(add(matmul(s[0], c[0]), e[0]))], [])),
    "no states": (0, lambda c, s, e: ([], [tanh(add(matmul(e[0], c[0]), c[1]))])),
    "nothing computed": (0, lambda c, s, e: ([], [e[0]])),
    "constants alone": (1, lambda c, s, e: ([tanh(matmul(c[1], c[0]))], [add(c[1], c[1])])),
    "the last element": (1, lambda c, s, e: ([e[0]], [s[0]])),
    "work of the host": (1, lambda c, s, e: ([add(tanh(s[0]), e[0])], [registry["cumsum"](axis=1)(s[0])])),
    "a recurrence": (1, nested),
}


def one_by_one(body, states, steps, reverse):
    """The recurrence as a loop over Tensors; the arguments are constants, states and one sequence."""

    def run(given):
        constants, now, xs = given[:2], given[2 : 2 + states], given[-1]
        results = [[]] * steps
        for t in reversed(range(steps)) if reverse else range(steps):
            now, results[t] = body(constants, now, [xs[t]])
        return [*now, *(paddle.stack(list(r)) for r in zip(*results))]

    return run


def at_once(op, many):
    """The first `many` results; further ones are for gradients."""

    def run(given):
        out = op(*given)
        return list(out if isinstance(out, tuple) else [out])[:many]

    return run


def values(run, arrays):
    """The results, and the gradients of a sum of them."""
    given = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    out, rng = run(given), np.random.default_rng(1)
    total = sum((x * paddle.to_tensor(rng.normal(size=x.shape)) + x * x).sum() for x in out)
    grads = paddle.grad(total, given, allow_unused=True)
    return [x.numpy() for x in out], [np.zeros(a.shape) if g is None else g.numpy() for a, g in zip(arrays, grads)]


@pytest.fixture(params=["reference", "never", "always"])
def tier(request):
    before = paddle.get_flags(["FLAGS_reference", "FLAGS_eager_compile"])
    reference = request.param == "reference"
    paddle.set_flags({"FLAGS_reference": reference, "FLAGS_eager_compile": "never" if reference else request.param})
    yield request.param
    paddle.set_flags(before)


def case(kind, steps, reverse):
    states, body = BODIES[kind]
    shapes = [(3, 3), (2, 3), *[(2, 3)] * states]
    types = typed(*shapes, dtype=float64)
    op = build(body, types[:2], types[2:], typed((2, 3), dtype=float64), reverse)
    return op, [RNG.normal(size=s) for s in (*shapes, (steps, 2, 3))]


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("kind", BODIES)
def test_odd_bodies(kind, steps, tier):
    reverse = len(kind) % 2 == 0  # some this way, some that
    op, arrays = case(kind, steps, reverse)
    states, body = BODIES[kind]
    want, slopes = values(one_by_one(body, states, steps, reverse), arrays)
    got, found = values(at_once(op, len(want)), arrays)
    for a, b in zip([*got, *found], [*want, *slopes], strict=True):
        np.testing.assert_allclose(a, b, 1e-9, 1e-12)


@pytest.mark.parametrize("kind", BODIES)
def test_no_steps(kind, tier):
    op, arrays = case(kind, 0, False)
    states = BODIES[kind][0]
    out, grads = values(at_once(op, None), arrays)
    for got, start in zip(out[:states], arrays[2:]):
        np.testing.assert_array_equal(got, start)
    assert all(len(sequence) == 0 for sequence in out[states:])
    assert not any(g.any() for g in grads[:2]) and grads[-1].shape == (0, 2, 3)


def test_states_may_be_integers(tier):
    def count(constants, states, elements):
        (n, total), (x,) = states, elements
        return [add(n, n), add(total, x)], [n]

    types = [TensorType((2,), int64), TensorType((2,), float64)]
    op = build(count, [], types, types[1:], False)
    x = paddle.to_tensor(RNG.normal(size=(5, 2)), stop_gradient=False)
    n, total, seen = op(paddle.to_tensor([1, 3]), paddle.zeros([2], "float64"), x)[:3]
    (slope,) = paddle.grad((total * total).sum(), [x])
    np.testing.assert_array_equal(n.numpy(), [32, 96])
    np.testing.assert_array_equal(seen.numpy(), np.outer(2 ** np.arange(5), [1, 3]))
    np.testing.assert_allclose(slope.numpy(), np.tile(2 * total.numpy(), (5, 1)))


def test_a_recurrence_inside_another_is_compiled():
    op, arrays = case("a recurrence", 4, False)
    graph = Graph("nested")
    graph.outputs = list(graph.add(op, [graph.input(TensorType(a.shape, float64)) for a in arrays]))
    steps = compile_graph(graph, (False,) * len(arrays))[0]["steps"]
    (outer,) = (s["repeat"] for s in steps if "repeat" in s)
    assert any("repeat" in s for s in outer["launches"]) and not any("host" in s for s in steps)
