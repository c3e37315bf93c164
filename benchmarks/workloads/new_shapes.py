"""An encoder layer of width 256, batch 2, whose sequence length is new at every step; plain gradient descent."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH, WIDTH, HEADS, INNER = 2, 256, 4, 1024
LENGTHS = np.random.default_rng(1).permutation(np.arange(17, 177)).tolist()  # each comes up once


def _data() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((BATCH, n, WIDTH)).astype("float32") for n in LENGTHS]


def paddle_step() -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    xs = [paddle.to_tensor(x) for x in _data()]
    model = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout=0.0, activation="gelu")
    optimizer = paddle.optimizer.SGD(1e-3, parameters=model.parameters())

    def step(i: int) -> float:
        loss = model(xs[i]).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_step(compile: bool) -> Step:
    import torch
    from torch import nn

    torch.manual_seed(0)
    xs = [torch.from_numpy(x) for x in _data()]
    model = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, 0.0, "gelu", batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    forward = torch.compile(model, dynamic=True) if compile else model

    def step(i: int) -> float:
        loss = forward(xs[i]).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    return step


_TOKENS = BATCH * float(np.mean(LENGTHS))
FLOPS = 3 * 2 * _TOKENS * (4 * WIDTH**2 + 2 * WIDTH * INNER + 2 * float(np.mean(LENGTHS)) * WIDTH)
WORKLOADS = {"new_shapes": Workload(paddle_step, torch_step, 60, 10, 10, FLOPS, bound=1.0)}
