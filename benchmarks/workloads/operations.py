"""The cost of an operation: a chain of 1,000 adds and multiplies of small tensors, and the sum.

The rows of `operations` go through Python for each operation on both sides, and are held against eager PyTorch. Those
of `captured` call the chain as one program, and are held against the better of eager PyTorch and torch.compile.
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
    return x.sum()


def _captured():
    import paddle

    return paddle.jit.to_static(_chain, full_graph=True)


def paddle_without_gradient(chain=_chain) -> Step:
    import paddle

    xs = [paddle.to_tensor(x) for x in _data()]
    a, b = paddle.full([SIZE], 0.99), paddle.full([SIZE], 0.01)

    def step(i: int) -> float:
        return float(chain(xs[i % 8], a, b))

    return step


def torch_without_gradient(compile: bool) -> Step:
    import torch

    xs = [torch.from_numpy(x) for x in _data()]
    a, b = torch.full([SIZE], 0.99), torch.full([SIZE], 0.01)
    chain = torch.compile(_chain) if compile else _chain

    def step(i: int) -> float:
        return float(chain(xs[i % 8], a, b))

    return step


def paddle_with_gradient(chain=_chain) -> Step:
    import paddle

    xs = [paddle.to_tensor(x) for x in _data()]
    a = paddle.to_tensor(np.full(SIZE, 0.99, "float32"), stop_gradient=False)
    b = paddle.to_tensor(np.full(SIZE, 0.01, "float32"), stop_gradient=False)

    def step(i: int) -> float:
        loss = chain(xs[i % 8], a, b)
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
        loss = chain(xs[i % 8], a, b)
        loss.backward()
        value = float(loss)
        a.grad = b.grad = None
        return value

    return step


WORKLOADS = {
    "operations_gradient": Workload(paddle_with_gradient, torch_with_gradient, 60, 5, 30, bound=0.5, rivals=("torch",)),
    "operations": Workload(paddle_without_gradient, torch_without_gradient, 60, 5, 30, bound=0.7, rivals=("torch",)),
    "captured_gradient": Workload(
        lambda: paddle_with_gradient(_captured()), torch_with_gradient, 1000, 30, 30, bound=0.5
    ),
    "captured": Workload(lambda: paddle_without_gradient(_captured()), torch_without_gradient, 1000, 30, 30, bound=0.7),
}
