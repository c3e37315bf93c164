"""Speed beside PyTorch: each workload in fresh processes by turns, medians, ratios, share of the measured peak.

    python benchmarks/run.py --ours .venv/bin/python --torch OTHER/bin/python [--workloads mlp,lenet] [--rounds 5]

Both interpreters are arguments; neither package is needed by the one that runs this file.
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

STARTUP = ("import", "first_step_warm", "first_step_cold")
# what each is compared with, and the ratio that is promised
STARTUP_BOUNDS = {"import": ("torch", 0.4), "first_step_warm": ("torch", 2.0), "first_step_cold": ("compiled", 0.15)}


class Runner:
    """Runs children; knows the interpreters and where caches lie."""

    def __init__(self, ours: str, torch: str, threads: int, scratch: Path, limit_s: float):
        self.python = {"paddle": ours, "torch": torch, "compiled": torch}
        self.threads, self.scratch, self.limit_s = threads, scratch, limit_s

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

    def once(self, kind: str, name: str) -> float | None:
        """Seconds of one measurement in a fresh process."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as fresh:
            if name == "first_step_cold":
                found = self.child(kind, "first_step", Path(fresh))
            elif name == "first_step_warm":
                self.child(kind, "first_step", self.scratch)
                found = self.child(kind, "first_step", self.scratch)
            else:
                found = self.child(kind, name, self.scratch)
        return None if found is None else found["seconds"]


def rows(runner: Runner, names: list[str], kinds: list[str], rounds: int) -> list[dict]:
    """Medians by workload. Rounds go by turns over the kinds, so that a busy machine meets all alike."""
    known = workloads.load()
    found = []
    for name in names:
        mine = [k for k in kinds if k != "compiled" or name != "import"]
        times: dict[str, list[float]] = {k: [] for k in mine}
        for _ in range(rounds):
            for kind in mine:
                seconds = runner.once(kind, name)
                if seconds is not None:
                    times[kind].append(seconds)
        row = {"workload": name, **{k: statistics.median(t) for k, t in times.items() if t}, "times": times}
        w = known.get(name)
        row["rival"], row["bound"] = (w.rival, w.bound) if w else STARTUP_BOUNDS[name]
        row["flops"] = w.flops if w else 0.0
        row["ratio"] = ratio(row)
        found.append(row)
        print(line(row, 0.0), flush=True)
    return found


def ratio(row: dict) -> float | None:
    """Our time over the rival's: the better of eager and compiled, or the one that the bound names."""
    rivals = ["torch", "compiled"] if row["rival"] == "better" else [row["rival"]]
    times = [row[k] for k in rivals if k in row]
    return row["paddle"] / min(times) if times and "paddle" in row else None


def line(row: dict, peak: float) -> str:
    def ms(kind: str) -> str:
        return f"{row[kind] * 1e3:10.3f}" if kind in row else f"{'-':>10}"

    shares = ""
    if peak and row["flops"]:
        shares = "".join(
            f"{row['flops'] / row[k] / peak:8.0%}" if k in row else f"{'-':>8}" for k in ("paddle", "torch", "compiled")
        )
    ratio_text = f"{row['ratio']:7.2f}" if row["ratio"] is not None else f"{'-':>7}"
    bound = f"{row['bound']:6.2f}" if row["bound"] is not None else f"{'-':>6}"
    missed = row["ratio"] is not None and row["bound"] is not None and row["ratio"] > row["bound"]
    return f"{row['workload']:20}{ms('paddle')}{ms('torch')}{ms('compiled')}{ratio_text}{bound}{shares}" + (
        "  missed" if missed else ""
    )


HEAD = (
    f"{'workload, ms':20}{'ours':>10}{'torch':>10}{'compiled':>10}{'ratio':>7}{'bound':>6}"
    f"{'% peak':>8}{'torch':>8}{'compil.':>8}"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", help="interpreter with OpenPaddle")
    parser.add_argument("--torch", help="interpreter with PyTorch")
    parser.add_argument("--workloads", default="", help="names, comma separated; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes per workload and side (3)")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides (2)")
    parser.add_argument("--limit", type=float, default=600, help="seconds per process (600)")
    parser.add_argument("--json", help="file that receives all times")
    args = parser.parse_args()
    names = args.workloads.split(",") if args.workloads else [*workloads.load(), *STARTUP]
    unknown = set(names) - {*workloads.load(), *STARTUP}
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join([*workloads.load(), *STARTUP])}")
    kinds = [k for k, p in (("paddle", args.ours), ("torch", args.torch), ("compiled", args.torch)) if p]
    if not kinds:
        parser.error("give --ours, --torch or both")
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(args.ours, args.torch, args.threads, Path(scratch), args.limit)
        print(HEAD, flush=True)
        found = rows(runner, names, kinds, args.rounds)
        peaks = [runner.child(k, "peak", Path(scratch)) for k in kinds if k != "compiled"]
    peak = max((p["flops"] for p in peaks if p), default=0.0)
    print(f"\n{HEAD}")
    for row in found:
        print(line(row, peak))
    print(f"\npeak {peak / 1e9:.0f} GFLOP/s, {args.threads} threads, {args.rounds} rounds, {platform.platform()}")
    if args.json:
        Path(args.json).write_text(json.dumps({"peak_flops": peak, "rows": found}, indent=1) + "\n")
    return 1 if any(r["ratio"] is not None and r["bound"] is not None and r["ratio"] > r["bound"] for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
