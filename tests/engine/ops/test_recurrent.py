import numpy as np

import paddle
from paddle.engine.ops.recurrent import gru_cell, lstm_cell, rnn_cell

RNG = np.random.default_rng(0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def weights(gates):
    return RNG.normal(size=(gates * 4, 3)), RNG.normal(size=(gates * 4, 4)), *RNG.normal(size=(2, gates * 4))


def run(f, *arrays):
    out = f(*map(paddle.to_tensor, arrays))
    return [o.numpy() for o in (out if isinstance(out, tuple) else (out,))]


def test_cells():
    x, h, c = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))
    wi, wh, bi, bh = weights(1)
    np.testing.assert_allclose(run(rnn_cell, x, h, wi, wh, bi, bh)[0], np.tanh(x @ wi.T + bi + h @ wh.T + bh))
    wi, wh, bi, bh = weights(4)
    i, f, g, o = np.split(x @ wi.T + bi + h @ wh.T + bh, 4, 1)
    next_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    got = run(lstm_cell, x, h, c, wi, wh, bi, bh)
    np.testing.assert_allclose(got[1], next_c)
    np.testing.assert_allclose(got[0], sigmoid(o) * np.tanh(next_c))
    wi, wh, bi, bh = weights(3)
    (xr, xz, xc), (hr, hz, hc) = np.split(x @ wi.T + bi, 3, 1), np.split(h @ wh.T + bh, 3, 1)
    z = sigmoid(xz + hz)
    want = z * h + (1 - z) * np.tanh(xc + sigmoid(xr + hr) * hc)
    np.testing.assert_allclose(run(gru_cell, x, h, wi, wh, bi, bh)[0], want)
