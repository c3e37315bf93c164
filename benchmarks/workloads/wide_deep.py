"""Wide & deep: 26 sparse slots over 1,000,000 rows of width 16, 13 dense features, batch 512, Adam on rows in use."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH, SLOTS, ROWS, WIDTH, DENSE, HIDDEN = 512, 26, 1_000_000, 16, 13, 400


def _data() -> list[tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(0)
    return [
        (
            rng.integers(0, ROWS, (BATCH, SLOTS)),
            rng.standard_normal((BATCH, DENSE)).astype("float32"),
            rng.integers(0, 2, (BATCH, 1)).astype("float32"),
        )
        for _ in range(8)
    ]


def paddle_step() -> Step:
    import paddle
    from paddle import nn

    paddle.seed(0)
    batches = [tuple(paddle.to_tensor(a) for a in b) for b in _data()]

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.wide = nn.Embedding(ROWS, 1, sparse=True)
            self.deep = nn.Embedding(ROWS, WIDTH, sparse=True)
            self.wide_dense = nn.Linear(DENSE, 1)
            self.mlp = nn.Sequential(
                nn.Linear(SLOTS * WIDTH + DENSE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1),
            )  # fmt: skip

        def forward(self, ids, dense):
            wide = self.wide(ids).sum(axis=1) + self.wide_dense(dense)
            return wide + self.mlp(paddle.concat([self.deep(ids).flatten(1), dense], axis=1))

    model = Model()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), lazy_mode=True)

    def step(i: int) -> float:
        ids, dense, y = batches[i % 8]
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids, dense), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_step(compile: bool) -> Step:
    import torch
    from torch import nn

    torch.manual_seed(0)
    batches = [tuple(torch.from_numpy(a) for a in b) for b in _data()]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide = nn.Embedding(ROWS, 1, sparse=True)
            self.deep = nn.Embedding(ROWS, WIDTH, sparse=True)
            self.wide_dense = nn.Linear(DENSE, 1)
            self.mlp = nn.Sequential(
                nn.Linear(SLOTS * WIDTH + DENSE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1),
            )  # fmt: skip

        def forward(self, ids, dense):
            wide = self.wide(ids).sum(1) + self.wide_dense(dense)
            return wide + self.mlp(torch.cat([self.deep(ids).flatten(1), dense], 1))

    model = Model()
    tables = [model.wide.weight, model.deep.weight]
    others = [*model.wide_dense.parameters(), *model.mlp.parameters()]
    optimizers = [torch.optim.SparseAdam(tables, 1e-3), torch.optim.Adam(others, 1e-3)]
    forward = torch.compile(model) if compile else model

    def step(i: int) -> float:
        ids, dense, y = batches[i % 8]
        loss = nn.functional.binary_cross_entropy_with_logits(forward(ids, dense), y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return float(loss)

    return step


FLOPS = 3 * 2 * BATCH * ((SLOTS * WIDTH + DENSE) * HIDDEN + 2 * HIDDEN**2 + HIDDEN)
WORKLOADS = {"wide_deep": Workload(paddle_step, torch_step, 30, 5, 12, FLOPS, bound=0.35)}
