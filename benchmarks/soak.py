"""Whether memory stays flat: `python benchmarks/soak.py [fixed|varied|new] [--steps N]`.

Trains a small net on a new numpy batch every step. `varied` draws the batch size among 50 sizes, `new` among 5,000.
Prints the resident set as it goes on and the growth from the first quarter to the end; ends with status 1 if that is
over the bound.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

SIZES = {"fixed": range(32, 33), "varied": range(7, 57), "new": range(7, 5007)}


def resident_mib() -> float:
    """The resident set of this process in MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def trainer(sizes: Sequence[int]) -> Callable[[int], float]:
    """A step: draws a batch, trains on it, reads the loss."""
    import paddle
    from paddle import nn

    paddle.seed(0)
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=1000)
    clip = nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), grad_clip=clip)
    loss_of = nn.CrossEntropyLoss()

    def step(i: int) -> float:
        n = sizes[int(rng.integers(len(sizes)))]
        x, y = paddle.to_tensor(rng.random((n, 16), "float32")), paddle.to_tensor(rng.integers(0, 4, n))
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        return float(loss)

    return step


def census() -> str:
    """Sizes of what the engine keeps, for finding what grows."""
    from paddle.engine.cpu import executor, kernels
    from paddle.engine.eager import materialize, trace
    from paddle.engine.types import TensorType

    return (
        f"trie {trace.trie.size}, programs {len(materialize._programs)}, kernels {len(kernels._kernels)}, "
        f"types {len(TensorType._all)}, arenas {sum(a.nbytes for a in executor._arenas) / 2**20:.1f} MiB, "
        f"objects {len(gc.get_objects())}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=tuple(SIZES), nargs="?", default="fixed")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--bound", type=float, default=8.0, help="MiB that the last three quarters may add")
    options = parser.parse_args()
    step = trainer(SIZES[options.kind])
    every = max(options.steps // 10, 1)
    seen = []
    began = time.perf_counter()
    for i in range(1, options.steps + 1):
        loss = step(i)
        if i % every == 0:
            per_step = (time.perf_counter() - began) / every * 1e6
            seen.append(resident_mib())
            print(
                f"{i:>8} steps  {seen[-1]:8.1f} MiB  {per_step:7.0f} us/step  loss {loss:.4f}  {census()}", flush=True
            )
            began = time.perf_counter()
    growth = seen[-1] - seen[len(seen) // 4]
    print(f"{options.kind}: {growth:+.1f} MiB over the last three quarters, bound {options.bound} MiB")
    sys.exit(growth > options.bound)


if __name__ == "__main__":
    main()
