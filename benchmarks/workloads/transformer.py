"""Transformer encoder: 4 layers of width 256, batch 8x128, vocabulary 8000, AdamW, loss at every position.

Once in float32, and once with products in bfloat16 (automatic mixed precision, level O1).
"""

from __future__ import annotations

import functools

import numpy as np

from . import Step, Workload

BATCH, LENGTH, WIDTH, HEADS, INNER, LAYERS, WORDS = 8, 128, 256, 4, 1024, 4, 8000


def _data() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [tuple(rng.integers(0, WORDS, (2, BATCH, LENGTH))) for _ in range(4)]


def paddle_step(bf16: bool = False) -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    batches = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in _data()]

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, LAYERS)
            self.out = nn.Linear(WIDTH, WORDS)

        def forward(self, x):
            return self.out(self.encoder(self.words(x) + self.places(paddle.arange(LENGTH))))

    model = Model()
    optimizer = paddle.optimizer.AdamW(3e-4, parameters=model.parameters(), weight_decay=0.01)

    def step(i: int) -> float:
        x, y = batches[i % 4]
        with paddle.amp.auto_cast(enable=bf16, level="O1", dtype="bfloat16"):
            loss = nn.functional.cross_entropy(model(x).reshape([-1, WORDS]), y.reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_step(compile: bool, bf16: bool = False) -> Step:
    import torch
    from torch import nn

    torch.manual_seed(0)
    batches = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in _data()]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, 0.0, "gelu", batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
            self.out = nn.Linear(WIDTH, WORDS)

        def forward(self, x):
            return self.out(self.encoder(self.words(x) + self.places(torch.arange(LENGTH))))

    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4, weight_decay=0.01)
    forward = torch.compile(model) if compile else model

    def step(i: int) -> float:
        x, y = batches[i % 4]
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = nn.functional.cross_entropy(forward(x).reshape([-1, WORDS]), y.reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    return step


_TOKENS = BATCH * LENGTH
_LAYER = _TOKENS * (4 * WIDTH**2 + 2 * WIDTH * INNER + 2 * LENGTH * WIDTH)
FLOPS = 3 * 2 * (LAYERS * _LAYER + _TOKENS * WIDTH * WORDS)
WORKLOADS = {
    "transformer": Workload(paddle_step, torch_step, 6, 1, 9, FLOPS, bound=0.6),
    "transformer_bf16": Workload(
        functools.partial(paddle_step, bf16=True),
        functools.partial(torch_step, bf16=True),
        6,
        1,
        9,
        FLOPS,
        bound=0.8,
        beside=("transformer", 0.75),
    ),  # fmt: skip
}
