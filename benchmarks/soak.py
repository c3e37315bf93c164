"""Whether memory stays flat: `python benchmarks/soak.py [fixed|varied|new|loader|kill] [--steps N]`.

Trains a small net on a new numpy batch every step. `varied` draws the batch size among 50 sizes, `new` among 5,000;
`loader` takes batches from a DataLoader with 2 workers, epoch after epoch. Prints the resident set as it goes on (with
workers also theirs, and the shared memory) and the growth from the first quarter to the end; ends with status 1 if that
is over the bound.

`kill` ends a worker of a training by SIGKILL at a random moment, 50 times. Ends with status 1 if one time the loop did
not get an error that names the worker, or something of the workers was left.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

SIZES = {"fixed": range(32, 33), "varied": range(7, 57), "new": range(7, 5007)}
PIXELS = 32 * 32  # of a sample of `loader`: a batch is large enough for shared memory
EPOCH = 2000  # batches of an epoch of `loader`


def resident_mib(process: int | str = "self", key: str = "VmRSS") -> float:
    """The resident set of a process in MiB; `RssShmem`: its part that is shared memory."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":")) / 2**10


def trainer(sizes: Sequence[int]) -> Callable[[int], float]:
    """A step: draws a batch, trains on it, reads the loss."""
    train = learner(16)
    rng = np.random.default_rng(0)

    def step(i: int) -> float:
        import paddle

        n = sizes[int(rng.integers(len(sizes)))]
        return train(paddle.to_tensor(rng.random((n, 16), "float32")), paddle.to_tensor(rng.integers(0, 4, n)))

    return step


def learner(width: int) -> Callable[[Any, Any], float]:
    """Trains on a batch, reads the loss."""
    import paddle
    from paddle import nn

    paddle.seed(0)
    model = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=1000)
    clip = nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), grad_clip=clip)
    loss_of = nn.CrossEntropyLoss()

    def train(x: Any, y: Any) -> float:
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        return float(loss)

    return train


def loader(epoch: int = EPOCH) -> Any:
    """Batches of random images, made by two workers."""
    import paddle

    class Images(paddle.io.Dataset):
        def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
            return np.random.random(PIXELS).astype("float32"), i % 4

        def __len__(self) -> int:
            return 32 * epoch

    return paddle.io.DataLoader(Images(), batch_size=32, shuffle=True, num_workers=2)


def loader_trainer() -> Callable[[int], float]:
    """A step: trains on the next batch of a loader."""
    train, batches = learner(PIXELS), loader()

    def endless() -> Iterator[Any]:
        while True:
            yield from batches

    stream = endless()
    return lambda i: train(*next(stream))


def workers() -> str:
    """Of the workers: resident sets, shared memory, and what there is in /dev/shm."""
    children = [p.pid for p in multiprocessing.active_children()]
    resident = "+".join(f"{resident_mib(p):.1f}" for p in children)
    shared = "+".join(f"{resident_mib(p, 'RssShmem'):.1f}" for p in children)
    return f"workers {resident} MiB, shared {shared} MiB, {len(os.listdir('/dev/shm'))} names in /dev/shm"


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


def soak(kind: str, steps: int, bound: float) -> bool:
    """Whether memory stays within the bound."""
    step = loader_trainer() if kind == "loader" else trainer(SIZES[kind])
    every = max(steps // 10, 1)
    seen: list[float] = []
    began = time.perf_counter()
    for i in range(1, steps + 1):
        loss = step(i)
        if i % every == 0:
            per_step = (time.perf_counter() - began) / every * 1e6
            seen.append(resident_mib())
            more = workers() if kind == "loader" else census()
            print(f"{i:>8} steps  {seen[-1]:8.1f} MiB  {per_step:7.0f} us/step  loss {loss:.4f}  {more}", flush=True)
            began = time.perf_counter()
    growth = seen[-1] - seen[len(seen) // 4]
    print(f"{kind}: {growth:+.1f} MiB over the last three quarters, bound {bound} MiB")
    return growth <= bound


def left_over() -> list[str]:
    """What this process still has of workers, and names of shared memory."""
    found = [str(p) for p in multiprocessing.active_children()] + os.listdir("/dev/shm")
    with open("/proc/self/maps") as maps:
        found += [line for line in maps if "paddle-loader" in line]
    for fd in os.listdir("/proc/self/fd"):
        try:
            found += [target for target in [os.readlink(f"/proc/self/fd/{fd}")] if "paddle-loader" in target]
        except OSError:
            pass  # that of listdir itself
    return found


def kill(times: int) -> bool:
    """Whether the loop always gets an error that names the killed worker, and nothing is left."""
    rng, train = np.random.default_rng(), learner(PIXELS)
    before, good, waits = left_over(), 0, []
    for i in range(times):
        iterator = iter(loader(20_000))
        victim = multiprocessing.active_children()[int(rng.integers(2))].pid
        killed: list[float] = []

        def strike(victim: Any = victim, killed: list[float] = killed) -> None:
            killed.append(time.perf_counter())
            os.kill(victim, signal.SIGKILL)

        threading.Timer(rng.uniform(0, 0.5), strike).start()
        try:
            for x, y in iterator:
                train(x, y)
        except RuntimeError as e:
            waits.append(time.perf_counter() - killed[0])
            named = f"(process {victim}) was killed by SIGKILL" in str(e)
            left = [found for found in left_over() if found not in before]
            good += named and not left
            if not named or left:
                print(f"{i}: {e}\nleft: {left}", flush=True)
    print(f"kill: {good} of {times} times an error that names the worker, and nothing left; {max(waits):.2f} s at most")
    return good == times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=(*SIZES, "loader", "kill"), nargs="?", default="fixed")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=50, help="of `kill`")
    parser.add_argument("--bound", type=float, default=8.0, help="MiB that the last three quarters may add")
    options = parser.parse_args()
    if options.kind == "kill":
        sys.exit(not kill(options.times))
    sys.exit(not soak(options.kind, options.steps, options.bound))


if __name__ == "__main__":
    main()
