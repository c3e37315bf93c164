"""One file per workload. Each holds what is measured twice, in Paddle and in PyTorch, side by side.

A file defines `WORKLOADS`: by name, a `Workload`. `paddle_step()` and `torch_step(compile)` build the model and give
the function of one step, which takes the number of the step and returns the loss as a float.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

FILES = ("operations", "mlp", "lenet", "resnet18", "transformer", "lstm", "wide_deep", "new_shapes", "decode")
Step = Callable[[int], float]


@dataclass(frozen=True)
class Workload:
    """What is measured, and how long.

    Attributes:
        paddle_step, torch_step: see above.
        warmup (int): steps before the clock starts; compilers work meanwhile.
        chunk (int), chunks (int): steps that are timed together, and how many times.
        flops (float): floating point operations of a step, 0 if they say nothing.
        bound (float): the ratio to PyTorch that is promised, None if it is only watched.
        rival: what the bound is compared with: "better" of PyTorch's two, or "torch" (eager) alone.
    """

    paddle_step: Callable[[], Step]
    torch_step: Callable[[bool], Step]
    warmup: int
    chunk: int
    chunks: int
    flops: float = 0.0
    bound: float | None = None
    rival: str = "better"


def load() -> dict[str, Workload]:
    """All workloads by name, in order."""
    found: dict[str, Workload] = {}
    for name in FILES:
        found.update(importlib.import_module(f"workloads.{name}").WORKLOADS)
    return found
