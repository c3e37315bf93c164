"""The cost of an operation: a chain of 1,000 adds and multiplies of small tensors.

The bound is held against eager PyTorch: both sides go through Python for each operation. torch.compile, shown beside
it, traces the chain once and calls the result.
"""

from __future__ import annotations

import numpy as np

from . import Step, Workload

PAIRS, SIZE = 500, 16


def _data() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(SIZE).astype("float32") for _ in range(8)]


def _chain(x, a, b):
    for _ in range(PAIRS):
        x = x * a + b
    return x


def paddle_without_gradient() -> Step:
    import paddle

    xs = [paddle.to_tensor(x) for x in _data()]
    a, b = paddle.full([SIZE], 0.99), paddle.full([SIZE], 0.01)

    def step(i: int) -> float:
        return float(_chain(xs[i % 8], a, b).sum())

    return step


def torch_without_gradient(compile: bool) -> Step:
    import torch

    xs = [torch.from_numpy(x) for x in _data()]
    a, b = torch.full([SIZE], 0.99), torch.full([SIZE], 0.01)
    chain = torch.compile(_chain) if compile else _chain

    def step(i: int) -> float:
        return float(chain(xs[i % 8], a, b).sum())

    return step


def paddle_with_gradient() -> Step:
    import paddle

    xs = [paddle.to_tensor(x) for x in _data()]
    a = paddle.to_tensor(np.full(SIZE, 0.99, "float32"), stop_gradient=False)
    b = paddle.to_tensor(np.full(SIZE, 0.01, "float32"), stop_gradient=False)

    def step(i: int) -> float:
        loss = _chain(xs[i % 8], a, b).sum()
        loss.backward()
        value = float(loss)
        a.clear_gradient()
        b.clear_gradient()
        return value

    return step


def torch_with_gradient(compile: bool) -> Step:
    import torch

    xs = [torch.from_numpy(x) for x in _data()]
    a = torch.full([SIZE], 0.99, requires_grad=True)
    b = torch.full([SIZE], 0.01, requires_grad=True)
    chain = torch.compile(_chain) if compile else _chain

    def step(i: int) -> float:
        loss = chain(xs[i % 8], a, b).sum()
        loss.backward()
        value = float(loss)
        a.grad = b.grad = None
        return value

    return step


WORKLOADS = {
    "operations_gradient": Workload(paddle_with_gradient, torch_with_gradient, 60, 5, 30, bound=0.5, rivals=("torch",)),
    "operations": Workload(paddle_without_gradient, torch_without_gradient, 60, 5, 30, bound=0.7, rivals=("torch",)),
}
