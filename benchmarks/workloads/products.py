"""Square products in float32, beside the better of PyTorch's library (MKL) and numpy's (OpenBLAS)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import Step, Workload


def _data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, n)).astype("float32"), rng.standard_normal((n, n)).astype("float32")


def _step(product: Callable[[], Any]) -> Step:
    kept: list[Any] = [None]  # the result as a whole is wanted, though one element is read

    def step(i: int) -> float:
        kept[0] = product()
        return float(kept[0][0, 0])

    return step


def paddle_step(n: int) -> Step:
    import paddle

    a, b = map(paddle.to_tensor, _data(n))
    return _step(lambda: paddle.matmul(a, b))


def torch_step(n: int, compile: bool) -> Step:
    import torch

    a, b = map(torch.from_numpy, _data(n))
    matmul = torch.compile(torch.matmul) if compile else torch.matmul
    return _step(lambda: matmul(a, b))


def numpy_step(n: int) -> Step:
    a, b = _data(n)
    return _step(lambda: a @ b)


def _workload(n: int, chunk: int) -> Workload:
    paddle, torch, numpy = (functools.partial(f, n) for f in (paddle_step, torch_step, numpy_step))
    return Workload(
        paddle, torch, 70, chunk, 20, 2.0 * n**3, bound=0.95, rivals=("torch", "compiled", "numpy"), goal=0.9,
        numpy_step=numpy,
    )  # fmt: skip


WORKLOADS = {"product_1024": _workload(1024, 10), "product_2048": _workload(2048, 2)}
