"""LeNet on 28x28 images, batch 64, Adam."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH = 64


def _data() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [(rng.random((BATCH, 1, 28, 28), "float32"), rng.integers(0, 10, BATCH)) for _ in range(8)]


def paddle_step() -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    batches = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in _data()]
    model = nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2),
        nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
    )  # fmt: skip
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
    model = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
    )  # fmt: skip
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


_CONV1, _CONV2 = 28 * 28 * 6 * 9, 10 * 10 * 16 * 6 * 25
_LINEAR = 400 * 120 + 120 * 84 + 84 * 10
FLOPS = 2 * BATCH * (2 * _CONV1 + 3 * _CONV2 + 3 * _LINEAR)
WORKLOADS = {
    "lenet": Workload(paddle_step, torch_step, 60, 10, 30, FLOPS, bound=0.6),
    "import": Workload(paddle_step, torch_step, 0, bound=0.4, rivals=("torch",), measure="import"),
    "first_step_warm": Workload(
        paddle_step, torch_step, 0, bound=2.0, rivals=("torch",), measure="first_step", cache="warm"
    ),
    "first_step_cold": Workload(
        paddle_step, torch_step, 0, bound=0.15, rivals=("compiled",), measure="first_step", cache="cold"
    ),
}
