"""One file per workload. Each holds what is measured twice, in Paddle and in PyTorch, side by side.

A file defines `WORKLOADS`: by name, a `Workload`. `paddle_step()` and `torch_step(compile)` build the model and give
the function of one step, which takes the number of the step and returns the loss as a float.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

FILES = ("operations", "mlp", "lenet", "resnet18", "resnet50", "transformer", "lstm", "wide_deep", "new_shapes",
         "decode", "products")  # fmt: skip
# who is measured, in the order of the columns; "compiled" is torch.compile
KINDS = ("paddle", "torch", "compiled", "numpy", "onnxruntime")
Step = Callable[[int], float]


@dataclass(frozen=True)
class Workload:
    """What is measured, and how long.

    Attributes:
        paddle_step, torch_step: see above. numpy_step, onnxruntime_step: like paddle_step, where there are such rivals.
        warmup (int): steps before the clock starts; compilers work meanwhile.
        chunk (int), chunks (int): steps that are timed together, and how many times.
        flops (float): floating point operations of a step, 0 if they say nothing.
        bound (float): the ratio to the best of the rivals that is promised, None if it is only watched.
        rivals: whom the bound is held against; those that are not measured do not count.
        measure: "steps", their time; "first_step", its time; "compiled_tier", the time until our compiled program has
            run, beside torch.compile's first step; "memory", the greatest resident set of `warmup` steps; "import".
        cache: where compilers keep what they made: "kept" from run to run, "cold" (empty), or "warm" (as the same
            measurement has left it).
        goal (float): share of the machine's peak that is aimed at.
        beside: another workload and the ratio to our own time in it that is promised.
    """

    paddle_step: Callable[[], Step]
    torch_step: Callable[[bool], Step]
    warmup: int
    chunk: int = 1
    chunks: int = 1
    flops: float = 0.0
    bound: float | None = None
    rivals: tuple[str, ...] = ("torch", "compiled")
    measure: str = "steps"
    cache: str = "kept"
    goal: float | None = None
    beside: tuple[str, float] | None = None
    numpy_step: Callable[[], Step] | None = None
    onnxruntime_step: Callable[[], Step] | None = None

    def step_of(self, kind: str) -> Callable[..., Step]:
        """What builds the model of a kind."""
        return getattr(self, "torch_step" if kind == "compiled" else f"{kind}_step")

    def step(self, kind: str) -> Step:
        """The function of one step of a kind."""
        build = self.step_of(kind)
        return build(kind == "compiled") if kind in ("torch", "compiled") else build()

    def kinds(self) -> list[str]:
        """Those that can be measured: for steps all that there are, else ours and the rivals."""
        if self.measure != "steps":
            return ["paddle", *self.rivals]
        return [k for k in KINDS if self.step_of(k) is not None]


def load() -> dict[str, Workload]:
    """All workloads by name, in order."""
    found: dict[str, Workload] = {}
    for name in FILES:
        found.update(importlib.import_module(f"workloads.{name}").WORKLOADS)
    return found
