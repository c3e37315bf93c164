"""Recurrent cells and layers against numpy loops."""

import numpy as np
import pytest

import paddle
from paddle import nn

RNG = np.random.default_rng(1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def weights(cell):
    return [p.numpy().astype("float64") for p in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]


def simple_step(cell, x, h):
    a, b, c, d = weights(cell)
    h = np.tanh(x @ a.T + c + h @ b.T + d)
    return h, h


def lstm_step(cell, x, state):
    a, b, c, d = weights(cell)
    h, memory = state
    i, f, g, o = np.split(x @ a.T + c + h @ b.T + d, 4, axis=-1)
    memory = sigmoid(f) * memory + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(memory)
    return h, (h, memory)


def gru_step(cell, x, h):
    a, b, c, d = weights(cell)
    xr, xz, xc = np.split(x @ a.T + c, 3, axis=-1)
    hr, hz, hc = np.split(h @ b.T + d, 3, axis=-1)
    z = sigmoid(xz + hz)
    h = z * h + (1 - z) * np.tanh(xc + sigmoid(xr + hr) * hc)
    return h, h


KINDS = {
    "SimpleRNN": (nn.SimpleRNN, nn.SimpleRNNCell, simple_step, 1),
    "LSTM": (nn.LSTM, nn.LSTMCell, lstm_step, 2),
    "GRU": (nn.GRU, nn.GRUCell, gru_step, 1),
}


def zeros(parts, *shape):
    return np.zeros(shape) if parts == 1 else (np.zeros(shape), np.zeros(shape))


def scan(cell, step, x, state, lengths, reverse):
    """[B, T, I] -> [B, T, H], and the last state; what is past the end is zero."""
    steps = x.shape[1]
    outs = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        out, new = step(cell, x[:, t], state)
        on = (t < lengths)[:, None]
        keep = lambda a, b: np.where(on, a, b)  # noqa: B023
        state = tuple(map(keep, new, state)) if isinstance(new, tuple) else keep(new, state)
        outs[t] = np.where(on, out, 0)
    return np.stack(outs, 1), state


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_one_step(kind):
    _, cell_class, step, parts = KINDS[kind]
    cell = cell_class(3, 4)
    x = RNG.normal(size=(2, 3)).astype("float32")
    out, state = cell(paddle.to_tensor(x))
    expected, last = step(cell, x, zeros(parts, 2, 4))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)
    again, _ = cell(paddle.to_tensor(x), state)
    np.testing.assert_allclose(again.numpy(), step(cell, x, last)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", ["forward", "bidirect"])
@pytest.mark.parametrize("lengths", [None, [5, 2]])
@pytest.mark.parametrize("time_major", [False, True])
def test_layers_over_sequences(kind, direction, lengths, time_major):
    net_class, _, step, parts = KINDS[kind]
    net = net_class(3, 4, num_layers=2, direction=direction, time_major=time_major)
    x = RNG.normal(size=(2, 5, 3)).astype("float32")
    given = paddle.to_tensor(x.transpose(1, 0, 2) if time_major else x)
    out, last = net(given, None, None if lengths is None else paddle.to_tensor(lengths))
    expected, states = x, []
    ends = np.array([5, 5] if lengths is None else lengths)
    for i in range(2):
        outs = []
        for k, cell in enumerate(net._cells(i)):
            o, s = scan(cell, step, expected, zeros(parts, 2, 4), ends, k == 1)
            outs.append(o)
            states.append(s)
        expected = np.concatenate(outs, -1)
    out = out.numpy().transpose(1, 0, 2) if time_major else out.numpy()
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-6)
    if parts == 1:
        np.testing.assert_allclose(last.numpy(), np.stack(states), rtol=1e-4, atol=1e-6)
    else:
        for k in range(2):
            np.testing.assert_allclose(last[k].numpy(), np.stack([s[k] for s in states]), rtol=1e-4, atol=1e-6)


def test_gradients_reach_every_parameter():
    net = nn.LSTM(3, 4, num_layers=2, direction="bidirect")
    net(paddle.ones([2, 3, 3]))[0].sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum().item() > 0 for p in net.parameters())
    assert len(net.parameters()) == 16 and net.weight_ih_l0 is net[0].cell_fw.weight_ih


def test_projection():
    net = nn.LSTM(3, 4, proj_size=2)
    out, (h, c) = net(paddle.ones([2, 5, 3]))
    assert (out.shape, h.shape, c.shape) == ([2, 5, 2], [1, 2, 2], [1, 2, 4])
    with pytest.raises(ValueError):
        nn.LSTM(3, 4, proj_size=4)


def test_a_cell_of_ones_own():
    class Sum(nn.RNNCellBase if hasattr(nn, "RNNCellBase") else nn.layer.rnn.RNNCellBase):
        state_shape = (2,)

        def forward(self, inputs, states, scale=1.0):
            new = states + inputs * scale
            return new * 2.0, new

    x = paddle.ones([1, 3, 2])
    out, last = nn.RNN(Sum())(x, scale=10.0)
    np.testing.assert_array_equal(out.numpy()[0, :, 0], [20.0, 40.0, 60.0])
    np.testing.assert_array_equal(last.numpy(), [[30.0, 30.0]])
    back, _ = nn.RNN(Sum(), is_reverse=True)(x)
    np.testing.assert_array_equal(back.numpy()[0, :, 0], [6.0, 4.0, 2.0])


def test_two_cells():
    net = nn.BiRNN(nn.GRUCell(3, 4), nn.GRUCell(3, 5))
    out, (a, b) = net(paddle.ones([2, 6, 3]))
    assert (out.shape, a.shape, b.shape) == ([2, 6, 9], [2, 4], [2, 5])
    with pytest.raises(ValueError, match="different sizes"):
        nn.BiRNN(nn.GRUCell(3, 4), nn.GRUCell(2, 4))


def test_dropout_between_layers_only_while_training():
    net = nn.GRU(3, 4, num_layers=2, dropout=0.5)
    x = paddle.ones([2, 5, 3])
    net.eval()
    np.testing.assert_array_equal(net(x)[0].numpy(), net(x)[0].numpy())
    net.train()
    assert not np.array_equal(net(x)[0].numpy(), net(x)[0].numpy())


def test_a_new_length_at_every_call():
    net = nn.GRU(2, 3)
    for n in (1, 4, 2):
        assert net(paddle.ones([2, n, 2]))[0].shape == [2, n, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.LSTM(3, 4, direction="x"),
        lambda: nn.SimpleRNNCell(3, 4, activation="x"),
        lambda: nn.GRUCell(3, 0),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(ValueError):
        call()


def test_beam_search():
    paddle.seed(2)
    cell, table, head = nn.GRUCell(4, 4), nn.Embedding(6, 4), nn.Linear(4, 6)
    decoder = nn.BeamSearchDecoder(cell, 0, 5, 2, table, head)
    start = cell.get_initial_states(paddle.zeros([3, 4]))
    ids, states, lengths = nn.dynamic_decode(decoder, start, max_step_num=4, return_length=True)
    assert ids.shape[0] == 3 and ids.shape[2] == 2 and lengths.shape == [3, 2]
    scores = states.log_probs.numpy()
    assert (scores[:, 0] >= scores[:, 1]).all()
    # a beam of one is the greedy choice
    one = nn.BeamSearchDecoder(cell, 0, 5, 1, table, head)
    found = nn.dynamic_decode(one, start, max_step_num=3)[0].numpy()[0, :, 0]
    token, state, greedy = paddle.to_tensor([0]), start[:1], []
    for _ in range(4):
        out, state = cell(table(token), state)
        token = head(out).argmax(-1)
        greedy.append(int(token.item()))
        if greedy[-1] == 5:
            break
    assert list(found[: len(greedy)]) == greedy


def test_sequences_without_steps_are_refused():
    for layer in (paddle.nn.GRU(3, 4), paddle.nn.RNN(paddle.nn.LSTMCell(3, 4))):
        with pytest.raises(ValueError, match="the sequences have no steps"):
            layer(paddle.zeros([2, 0, 3]))


X = np.ones((2, 5, 3), "float32")


def zero(*shape):
    return paddle.zeros(shape)


@pytest.mark.parametrize("call, words", [
    (lambda x: nn.LSTM(3, 4)(x, zero(1, 2, 4)), r"LSTM: the states .*tuple \(h, c\).*\[1, 2, 4\] and \[1, 2, 4\]"),
    (lambda x: nn.LSTM(3, 4)(x, (zero(1, 2, 4),)), r"received: states: \(float32\[1, 2, 4\],\)"),
    (lambda x: nn.LSTM(3, 4)(x, [zero(1, 2, 4)] * 3), "LSTM: the states do not fit"),
    (lambda x: nn.LSTM(3, 4, 2)(x, [zero(1, 2, 4)] * 2), r"\[2, 2, 4\] and \[2, 2, 4\]"),
    (lambda x: nn.LSTM(3, 4, proj_size=2)(x, [zero(1, 2, 4)] * 2), r"\[1, 2, 2\] and \[1, 2, 4\]"),
    (lambda x: nn.GRU(3, 4)(x, (zero(1, 2, 4), zero(1, 2, 4))), r"GRU: the states .*a Tensor \[1, 2, 4\]"),
    (lambda x: nn.GRU(3, 4)(x, zero(1, 3, 4)), r"received: states: float32\[1, 3, 4\]"),
    (lambda x: nn.SimpleRNN(3, 4, direction="bidirect")(x, zero(1, 2, 4)), r"a Tensor \[2, 2, 4\]"),
    (lambda x: nn.GRU(5, 4)(x), r"GRU: inputs .*\[batch, steps, 5\].*float32\[2, 5, 3\]"),
    (lambda x: nn.GRU(3, 4, time_major=True)(x[0]), r"\[steps, batch, 3\].*float32\[5, 3\]"),
    (lambda x: nn.LSTM(3, 4)(X), "LSTM: inputs is not a Tensor"),
    (lambda x: nn.GRU(3, 4)(x, None, paddle.to_tensor([3])), r"int64\[2\] or int32\[2\].*sequence_length: int64\[1\]"),
    (lambda x: nn.GRU(3, 4)(x, None, paddle.to_tensor([3.0, 1.0])), r"sequence_length: float32\[2\]"),
    (lambda x: nn.RNN(nn.GRUCell(3, 4))(x, None, paddle.to_tensor([1, 2, 3])), r"sequence_length: int64\[3\]"),
    (lambda x: nn.RNN(nn.LSTMCell(3, 4))(x, zero(2, 4)), "LSTMCell: the states do not fit"),
    (lambda x: nn.RNN(nn.GRUCell(5, 4))(x), "GRUCell: inputs are not of input_size"),
    (lambda x: nn.LSTMCell(3, 4)(x[:, 0], zero(2, 4)), r"tuple \(h, c\) of Tensors \[batch, 4\] and \[batch, 4\]"),
    (lambda x: nn.LSTMCell(3, 4)(x[:, 0], (zero(2, 4), zero(2, 5))), "LSTMCell: the states do not fit"),
    (lambda x: nn.GRUCell(3, 4)(x[:, 0], (zero(2, 4), zero(2, 4))), r"a Tensor \[batch, 4\]"),
    (lambda x: nn.GRUCell(3, 4)(x[:, 0, :2]), r"inputs: \[batch, 3\].*float32\[2, 2\]"),
])  # fmt: skip
def test_inputs_states_and_lengths_that_do_not_fit(call, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        call(paddle.to_tensor(X))


def test_other_ways_to_give_states_and_lengths():
    x, lengths = paddle.to_tensor(X), paddle.to_tensor([4, 2])
    gru, lstm, cell = nn.GRU(3, 4), nn.LSTM(3, 4), nn.LSTMCell(3, 4)
    want = gru(x, None, lengths)[0].tolist()
    assert gru(x, [zero(1, 2, 4)], lengths.astype("int32"))[0].tolist() == want
    assert gru(x, zero(1, 2, 4), lengths.unsqueeze(1))[0].tolist() == want
    assert lstm(x, [zero(1, 2, 4), zero(1, 2, 4)])[0].tolist() == lstm(x)[0].tolist()
    want = cell(x[:, 0])[0].tolist()
    assert cell(x[:, 0], zero(2, 2, 4))[0].tolist() == cell(x[:, 0], [zero(1, 4)] * 2)[0].tolist() == want
    assert nn.RNN(cell)(x, zero(2, 2, 4))[0].tolist() == nn.RNN(cell)(x)[0].tolist()
