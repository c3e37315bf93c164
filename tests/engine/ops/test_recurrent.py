import numpy as np
import pytest

import paddle
from paddle.engine.ops.recurrent import gru_step, lstm_step, network, rnn_step

RNG = np.random.default_rng(0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(f, *arrays, **more):
    out = f(*map(paddle.to_tensor, arrays), **more)
    return [o.numpy() for o in (out if isinstance(out, tuple) else (out,))]


def rnn(x, h, w):
    return np.tanh(x + h @ w.T)


def lstm(x, h, c, w):
    i, f, g, o = np.split(x + h @ w.T, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru(x, h, w, b):
    (xr, xz, xc), (hr, hz, hc) = np.split(x, 3, 1), np.split(h @ w.T + b, 3, 1)
    z = sigmoid(xz + hz)
    return z * h + (1 - z) * np.tanh(xc + sigmoid(xr + hr) * hc)


def test_steps():
    h, c = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))
    x, w = RNG.normal(size=(2, 4)), RNG.normal(size=(4, 4))
    np.testing.assert_allclose(run(rnn_step, x, h, w)[0], rnn(x, h, w))
    np.testing.assert_allclose(run(rnn_step, x, h, w, activation="relu")[0], np.maximum(x + h @ w.T, 0))
    x, w = RNG.normal(size=(2, 16)), RNG.normal(size=(16, 4))
    for got, want in zip(run(lstm_step, x, h, c, w), lstm(x, h, c, w)):
        np.testing.assert_allclose(got, want)
    x, w, b = RNG.normal(size=(2, 12)), RNG.normal(size=(12, 4)), RNG.normal(size=12)
    np.testing.assert_allclose(run(gru_step, x, h, w, b)[0], gru(x, h, w, b))


def by_hand(kind, x, states, weights, on, reverse, zeros):
    """The network in Python, and its last states."""
    outs = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        if kind == "lstm":
            new = lstm_step(x[t], *states, *weights)
        else:
            new = (gru_step(x[t], *states, *weights) if kind == "gru" else rnn_step(x[t], *states, *weights, kind),)
        if on is not None:
            new = tuple(paddle.where(on[t], a, b) for a, b in zip(new, states))
        outs[t] = new[0] if on is None or not zeros else paddle.where(on[t], new[0], paddle.zeros_like(new[0]))
        states = new
    return paddle.stack(outs), states


@pytest.mark.parametrize("tier", ["never", "always"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["tanh", "relu", "lstm", "gru"])
def test_networks_and_their_gradients_are_those_of_steps_one_by_one(kind, reverse, masked, tier):
    steps, batch, hidden = 5, 3, 4
    gates = {"lstm": 4, "gru": 3}.get(kind, 1)
    shapes = [(gates * hidden, hidden)] + [(gates * hidden,)] * (kind == "gru")
    arrays = [RNG.normal(size=(steps, batch, gates * hidden))]
    arrays += [RNG.normal(size=(batch, hidden)) for _ in range(2 if kind == "lstm" else 1)]
    many = len(arrays)
    arrays += [RNG.normal(size=s) for s in shapes]
    on = paddle.to_tensor(np.arange(steps)[:, None, None] < np.array([5, 2, 3])[:, None]) if masked else None
    weight = paddle.to_tensor(RNG.normal(size=(steps, batch, hidden)))
    found = []
    before = paddle.get_flags("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": tier})
    try:
        for run_it in (network, by_hand):
            x, *rest = (paddle.to_tensor(a, stop_gradient=False) for a in arrays)
            states, weights = rest[: many - 1], rest[many - 1 :]
            out, last = run_it(kind, x, states, weights, on, reverse, masked)
            loss = (out * weight).sum() + sum((s * s).sum() for s in last)
            loss.backward()
            found.append([out.numpy(), *(s.numpy() for s in last), *(t.grad.numpy() for t in (x, *rest))])
    finally:
        paddle.set_flags(before)
    for got, want in zip(*found):
        np.testing.assert_allclose(got, want, 1e-10, 1e-12)


def test_second_derivatives_go_through_a_network():
    x = paddle.to_tensor(RNG.normal(size=(3, 2, 8)), stop_gradient=False)
    w = paddle.to_tensor(RNG.normal(size=(8, 2)), stop_gradient=False)
    states = [paddle.zeros([2, 2], "float64"), paddle.zeros([2, 2], "float64")]

    def slope(run_it):
        out, _ = run_it("lstm", x, states, [w], None, False, False)
        (g,) = paddle.grad((out * out).sum(), [x], create_graph=True)
        return [t.numpy() for t in paddle.grad((g * g).sum(), [x, w])]

    for got, want in zip(slope(network), slope(by_hand)):
        np.testing.assert_allclose(got, want, 1e-9, 1e-12)
