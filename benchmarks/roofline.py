"""A picture of a workload's kernels beside what the machine allows.

    python benchmarks/roofline.py resnet18_training --out resnet18.png [--steps 3]

Runs with the interpreter that has OpenPaddle. The compiled program is measured, launch by launch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import workloads  # noqa: E402


def main() -> None:
    known = workloads.load()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL", choices=[*known], help=f"one of {', '.join(known)}")
    parser.add_argument("--out", required=True, help="the PNG file to write")
    parser.add_argument("--steps", type=int, default=3, help="steps that are measured (3)")
    parser.add_argument("--summary", action="store_true", help="print the profiler's tables, too")
    args = parser.parse_args()

    import paddle
    from paddle.profiler import Profiler, roofline

    paddle.set_flags({"FLAGS_eager_compile": "always"})
    step = known[args.model].paddle_step()
    for i in range(4):
        step(i)
    prof = Profiler(on_trace_ready=lambda prof: None, profile_memory=True)
    with prof:
        for i in range(4, 4 + args.steps):
            step(i)
            prof.step()
    roofline.save(prof.profiler_result, args.out, args.model)
    if args.summary:
        prof.summary()


if __name__ == "__main__":
    main()
