"""Speed beside PyTorch: each workload in fresh processes by turns, medians, ratios, share of the measured peak.

    python benchmarks/run.py --ours .venv/bin/python --torch OTHER/bin/python [--workloads mlp,lenet] [--rounds 5]

The interpreters are arguments; none of the packages is needed by the one that runs this file. With --onnxruntime (an
environment with onnx and onnxruntime) inference is measured there, too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import workloads  # noqa: E402

COLUMNS = {"paddle": "ours", "torch": "torch", "compiled": "compiled", "numpy": "numpy", "onnxruntime": "onnx"}


class Runner:
    """Runs children; knows the interpreters and where caches lie."""

    def __init__(self, python: dict[str, str], threads: int, scratch: Path, limit_s: float):
        self.python, self.threads, self.scratch, self.limit_s = python, threads, scratch, limit_s
        self.known = workloads.load()
        self.found: dict[tuple, float | None] = {}

    def child(self, kind: str, name: str, cache: Path) -> dict | None:
        """The child's result, or None if it failed; then its last words are shown."""
        env = dict(os.environ, FLAGS_cache_dir=str(cache), TORCHINDUCTOR_CACHE_DIR=str(cache / "inductor"))
        for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            env[variable] = str(self.threads)
        command = [self.python[kind], str(HERE / "child.py"), kind, name, str(self.threads)]
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=self.limit_s, cwd=HERE)
        except subprocess.TimeoutExpired:
            print(f"  {name} {kind}: no result within {self.limit_s} s", file=sys.stderr)
            return None
        if done.returncode:
            print(f"  {name} {kind}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        return json.loads(done.stdout.strip().splitlines()[-1])

    def once(self, kind: str, name: str, round_: int) -> float | None:
        """One measurement in a fresh process: seconds, or bytes. Rows that ask a rival for the same share it."""
        w = self.known[name]
        asked = "first_step" if w.measure == "compiled_tier" and kind != "paddle" else w.measure
        key = (kind, w.step_of(kind), asked, w.cache, w.warmup, w.chunk, w.chunks, round_)
        if key not in self.found:
            with tempfile.TemporaryDirectory(dir=self.scratch) as fresh:
                cache = self.scratch if w.cache == "kept" else Path(fresh)
                if w.cache == "warm":
                    self.child(kind, name, cache)
                result = self.child(kind, name, cache)
            self.found[key] = None if result is None else result["value"]
        return self.found[key]


def rows(runner: Runner, names: list[str], rounds: int) -> list[dict]:
    """Medians by workload. Rounds go by turns over the kinds, so that a busy machine meets all alike."""
    found = []
    for name in names:
        w = runner.known[name]
        times: dict[str, list[float]] = {k: [] for k in w.kinds() if k in runner.python}
        for i in range(rounds):
            for kind in times:
                value = runner.once(kind, name, i)
                if value is not None:
                    times[kind].append(value)
        row = {"workload": name, **{k: statistics.median(t) for k, t in times.items() if t}, "times": times}
        row |= {"rivals": w.rivals, "bound": w.bound, "flops": w.flops, "goal": w.goal}
        row["unit"] = "MiB" if w.measure == "memory" else "ms"
        rivals = [row[k] for k in w.rivals if k in row]
        row["ratio"] = row["paddle"] / min(rivals) if rivals and "paddle" in row else None
        row["missed"] = row["ratio"] is not None and w.bound is not None and row["ratio"] > w.bound
        found.append(row)
        print(line(row, 0.0), flush=True)
    by_name = {row["workload"]: row for row in found}
    for row in found:
        other, bound = runner.known[row["workload"]].beside or ("", 0.0)
        if "paddle" in row and "paddle" in by_name.get(other, {}):
            own = row["paddle"] / by_name[other]["paddle"]
            row["beside"] = {"workload": other, "ratio": own, "bound": bound}
            row["missed"] |= own > bound
    return found


def line(row: dict, peak: float) -> str:
    """A row of the table; peak: operations a second, 0 where shares are not to be shown."""
    scale = 2**-20 if row["unit"] == "MiB" else 1e3
    values = "".join(f"{row[k] * scale:10.3f}" if k in row else f"{'-':>10}" for k in COLUMNS)
    shares = said = ""
    if peak and row["flops"]:
        shares = "".join(f"{row['flops'] / row[k] / peak:8.0%}" if k in row else f"{'-':>8}" for k in COLUMNS)
        if row["goal"] and "paddle" in row:
            reached = row["flops"] / row["paddle"] / peak >= row["goal"]
            said = f"  {'reaches' if reached else 'below'} the goal of {row['goal']:.0%} of peak"
    if "beside" in row:
        own = row["beside"]
        said += f"  {own['ratio']:.2f} of our {own['workload']}, bound {own['bound']:.2f}"
    ratio = f"{row['ratio']:7.2f}" if row["ratio"] is not None else f"{'-':>7}"
    bound = f"{row['bound']:6.2f}" if row["bound"] is not None else f"{'-':>6}"
    name = row["workload"] + (", MiB" if row["unit"] == "MiB" else "")
    return f"{name:26}{values}{ratio}{bound}{shares}{'  missed' if row['missed'] else ''}{said}"


HEAD = (
    f"{'workload, ms':26}{''.join(f'{c:>10}' for c in COLUMNS.values())}{'ratio':>7}{'bound':>6}"
    f"{'% peak':>8}{''.join(f'{c[:7]:>8}' for k, c in COLUMNS.items() if k != 'paddle')}"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", help="interpreter with OpenPaddle")
    parser.add_argument("--torch", help="interpreter with PyTorch")
    parser.add_argument("--onnxruntime", help="interpreter with ONNX Runtime and onnx")
    parser.add_argument("--workloads", default="", help="names, comma separated; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes per workload and side (3)")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides (2)")
    parser.add_argument("--limit", type=float, default=600, help="seconds per process (600)")
    parser.add_argument("--json", help="file that receives all times")
    args = parser.parse_args()
    known = workloads.load()
    names = args.workloads.split(",") if args.workloads else [*known]
    unknown = set(names) - {*known}
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    names = list(dict.fromkeys(n for x in names for n in ([known[x].beside[0]] if known[x].beside else []) + [x]))
    of = {"paddle": args.ours, "torch": args.torch, "compiled": args.torch, "numpy": args.ours or args.torch,
          "onnxruntime": args.onnxruntime}  # fmt: skip
    python = {k: os.path.abspath(p) for k, p in of.items() if p}
    if not python:
        parser.error("give --ours, --torch or both")
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(python, args.threads, Path(scratch), args.limit)
        print(HEAD, flush=True)
        found = rows(runner, names, args.rounds)
        peaks = [runner.child(k, "peak", Path(scratch)) for k in ("paddle", "torch") if k in python]
    peak = max((p["flops"] for p in peaks if p), default=0.0)
    print(f"\n{HEAD}")
    for row in found:
        print(line(row, peak))
    print(f"\npeak {peak / 1e9:.0f} GFLOP/s, {args.threads} threads, {args.rounds} rounds, {platform.platform()}")
    if args.json:
        Path(args.json).write_text(json.dumps({"peak_flops": peak, "rows": found}, indent=1) + "\n")
    return 1 if any(row["missed"] for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
