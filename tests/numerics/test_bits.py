"""The same run gives the same bits, whatever the number of threads, the cache and the moment."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("bits.py")


def run(cache: Path, threads: int) -> dict:
    environment = {**os.environ, "FLAGS_cache_dir": str(cache), "FLAGS_cpu_threads": str(threads)}
    environment |= {"FLAGS_eager_compile": "auto", "FLAGS_reference": "0", "FLAGS_eager_sync": "0"}
    done = subprocess.run([sys.executable, SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


def test_same_bits(tmp_path):
    first = run(tmp_path, 2)  # nothing is in the cache
    assert all(first["runs"]), "both tiers were to run"
    for threads in (1, 3):
        assert run(tmp_path, threads) == first
