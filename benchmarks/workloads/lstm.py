"""Two LSTM layers of width 256, batch 32, 64 steps of time, Adam."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH, LENGTH, WIDTH = 32, 64, 256


def _data() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [
        (rng.standard_normal((BATCH, LENGTH, WIDTH)).astype("float32"), rng.integers(0, 10, BATCH)) for _ in range(4)
    ]


def paddle_step() -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    batches = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in _data()]
    lstm, head = nn.LSTM(WIDTH, WIDTH, num_layers=2), nn.Linear(WIDTH, 10)
    optimizer = paddle.optimizer.Adam(1e-3, parameters=lstm.parameters() + head.parameters())

    def step(i: int) -> float:
        x, y = batches[i % 4]
        loss = nn.functional.cross_entropy(head(lstm(x)[0][:, -1]), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_step(compile: bool) -> Step:
    import torch
    from torch import nn

    torch.manual_seed(0)
    batches = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in _data()]
    lstm, head = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True), nn.Linear(WIDTH, 10)
    optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], 1e-3)

    def forward(x):
        return head(lstm(x)[0][:, -1])

    forward = torch.compile(forward) if compile else forward

    def step(i: int) -> float:
        x, y = batches[i % 4]
        loss = nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    return step


FLOPS = 3 * 2 * BATCH * LENGTH * 2 * (2 * WIDTH * 4 * WIDTH)
WORKLOADS = {"lstm": Workload(paddle_step, torch_step, 8, 2, 10, FLOPS, bound=0.7)}
