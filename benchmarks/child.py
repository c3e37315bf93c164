"""What a fresh process measures: `python child.py KIND WORKLOAD THREADS` prints one line of JSON.

KIND is one of workloads.KINDS; "compiled" is torch.compile. WORKLOAD is a name of workloads/, or peak.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

import workloads

CLOCK = time.perf_counter


def limit_threads(kind: str, threads: int) -> None:
    """Loads what is measured and sets its threads; numpy and ONNX Runtime go by variables that run.py sets."""
    if kind == "paddle":
        os.environ.setdefault("FLAGS_cpu_threads", str(threads))
        import paddle  # noqa: F401
    elif kind in ("torch", "compiled"):
        import torch

        torch.set_num_threads(threads)


def measure_import(kind: str, w: workloads.Workload) -> dict:
    start = CLOCK()
    __import__(kind)
    return {"value": CLOCK() - start}


def measure_first_step(kind: str, w: workloads.Workload) -> dict:
    step = w.step(kind)
    start = CLOCK()
    step(0)
    return {"value": CLOCK() - start}


def measure_compiled_tier(kind: str, w: workloads.Workload) -> dict:
    """Seconds from the first step to the end of that in which the compiled program has run; of others, the first."""
    if kind != "paddle":
        return measure_first_step(kind, w)
    from paddle.engine.eager.materialize import statistics as counted

    step = w.step(kind)
    before = counted()["compiled"]["runs"]
    start = CLOCK()
    for i in range(64):
        step(i)
        if counted()["compiled"]["runs"] > before:
            return {"value": CLOCK() - start, "steps": i + 1}
    raise RuntimeError("the compiled program has not run within 64 steps")


def measure_memory(kind: str, w: workloads.Workload) -> dict:
    """The greatest resident set of this process, in bytes."""
    import resource

    step = w.step(kind)
    for i in range(w.warmup):
        step(i)
    unit = 1 if sys.platform == "darwin" else 1024
    return {"value": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}


def measure_steps(kind: str, w: workloads.Workload) -> dict:
    step = w.step(kind)
    losses = [step(i) for i in range(w.warmup)]
    times = []
    for c in range(w.chunks):
        first = w.warmup + c * w.chunk
        start = CLOCK()
        for i in range(first, first + w.chunk):
            loss = step(i)
        times.append((CLOCK() - start) / w.chunk)
    return {"value": statistics.median(times), "least": min(times), "first_loss": losses[0], "last_loss": loss}


def measure_peak(kind: str) -> dict:
    """Floating point operations a second: of multiply-adds in registers, as sustained, or else of a large product."""
    if kind == "paddle":
        from paddle.engine.cpu.peak import measured_peak

        return {"flops": measured_peak().gflops * 1e9}
    import torch

    n, best = 1024, float("inf")
    a = torch.ones(n, n)
    for _ in range(30):
        start = CLOCK()
        float(torch.matmul(a, a)[0, 0])
        best = min(best, CLOCK() - start)
    return {"flops": 2 * n**3 / best}


def main() -> None:
    kind, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if name == "peak":
        limit_threads(kind, threads)
        print(json.dumps(measure_peak(kind)))
        return
    w = workloads.load()[name]
    if w.measure != "import":
        limit_threads(kind, threads)
    print(json.dumps(globals()[f"measure_{w.measure}"](kind, w)))


if __name__ == "__main__":
    main()
