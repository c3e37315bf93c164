"""Models whose calls are programs train and infer bit for bit as in eager mode."""

import copy

import numpy as np
import pytest

import paddle
from paddle import nn


class Tagger(nn.Layer):
    """Embedding, a body, and a linear layer; `body` is called with the embedded tokens."""

    def __init__(self, body, width, sparse=False):
        super().__init__()
        self.embedding = nn.Embedding(50, 16, sparse=sparse)
        self.body, self.out = body, nn.Linear(width, 5)

    def forward(self, tokens):
        x = self.body(self.embedding(tokens)) if self.body is not None else self.embedding(tokens)
        return self.out(x[0] if isinstance(x, tuple) else x)


def encoder():
    return Tagger(nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), 16)


MODELS = {
    "convolutions": lambda: paddle.vision.models.mobilenet_v2(scale=0.25, num_classes=7),
    "transformer": encoder,
    "lstm": lambda: Tagger(nn.LSTM(16, 12, 2, direction="bidirect"), 24),
    "gru": lambda: Tagger(nn.GRU(16, 12), 12),
    "sparse": lambda: Tagger(None, 16, sparse=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_bit_for_bit(name):
    paddle.seed(0)
    model = MODELS[name]()
    static = paddle.jit.to_static(copy.deepcopy(model), full_graph=True)
    x = paddle.randn([2, 3, 32, 32]) if name == "convolutions" else paddle.randint(0, 50, [2, 7])
    found = []
    for net in (model, static):
        paddle.seed(5)
        optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
        losses = []
        for _ in range(3):
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        net.eval()
        with paddle.no_grad():
            found.append((losses, net(x).numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
