"""784-128-10 perceptron, batch 64, Adam."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH = 64


def _data() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [(rng.random((BATCH, 784), "float32"), rng.integers(0, 10, BATCH)) for _ in range(8)]


def paddle_step() -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    batches = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in _data()]
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    loss_of = nn.CrossEntropyLoss()

    def step(i: int) -> float:
        x, y = batches[i % 8]
        loss = loss_of(model(x), y)
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
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    forward = torch.compile(model) if compile else model
    loss_of = nn.CrossEntropyLoss()

    def step(i: int) -> float:
        x, y = batches[i % 8]
        loss = loss_of(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    return step


# both products forward, their two gradients backward, less the gradient of the input
FLOPS = 2 * BATCH * (784 * 128 * 2 + 128 * 10 * 3)
WORKLOADS = {"mlp": Workload(paddle_step, torch_step, 100, 20, 30, FLOPS, bound=0.4)}
