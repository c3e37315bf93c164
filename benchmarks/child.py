"""What a fresh process measures: `python child.py KIND WORKLOAD THREADS` prints one line of JSON.

KIND is paddle, torch or compiled (torch.compile). WORKLOAD is a name of workloads/, or import, first_step or peak.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

CLOCK = time.perf_counter


def limit_threads(kind: str, threads: int) -> None:
    if kind == "paddle":
        os.environ.setdefault("FLAGS_cpu_threads", str(threads))
        import paddle  # noqa: F401
    else:
        import torch

        torch.set_num_threads(threads)


def measure_import(kind: str) -> dict:
    start = CLOCK()
    __import__("paddle" if kind == "paddle" else "torch")
    return {"seconds": CLOCK() - start}


def build(kind: str, name: str):
    import workloads

    w = workloads.load()[name]
    return w, w.paddle_step() if kind == "paddle" else w.torch_step(kind == "compiled")


def measure_first_step(kind: str) -> dict:
    _, step = build(kind, "lenet")
    start = CLOCK()
    step(0)
    return {"seconds": CLOCK() - start}


def measure_steps(kind: str, name: str) -> dict:
    w, step = build(kind, name)
    losses = [step(i) for i in range(w.warmup)]
    times = []
    for c in range(w.chunks):
        first = w.warmup + c * w.chunk
        start = CLOCK()
        for i in range(first, first + w.chunk):
            loss = step(i)
        times.append((CLOCK() - start) / w.chunk)
    return {"seconds": statistics.median(times), "least": min(times), "first_loss": losses[0], "last_loss": loss}


def measure_peak(kind: str) -> dict:
    """Floating point operations a second of a large product, the best of several."""
    n, best = 1024, float("inf")
    if kind == "paddle":
        import paddle

        a = paddle.ones([n, n])
        product = lambda: float(paddle.matmul(a, a)[0, 0])
    else:
        import torch

        a = torch.ones(n, n)
        product = lambda: float(torch.matmul(a, a)[0, 0])
    for _ in range(30):
        start = CLOCK()
        product()
        best = min(best, CLOCK() - start)
    return {"flops": 2 * n**3 / best}


def main() -> None:
    kind, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if name == "import":
        result = measure_import(kind)
    else:
        limit_threads(kind, threads)
        special = {"first_step": measure_first_step, "peak": measure_peak}
        result = special[name](kind) if name in special else measure_steps(kind, name)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
