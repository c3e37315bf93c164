"""What this machine can do at most, measured: multiply-adds, bytes from memory and from caches, launches.

What it can keep up, that is: a moment's best clock, or an array that half lies in a cache, would be no bound of
programs. Why the figures are taken as they are: docs/decisions/products.md.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import statistics
import string
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import empty
from . import cache, jit
from .runtime import Commands, runtime, thread_count

__all__ = ["CACHED_BYTES", "Peak", "measured_peak"]

CACHED_BYTES = 256 << 10  # per thread: what is smaller lies in the second-level cache
_LARGEST_BYTES = 512 << 20  # of the array that is read from memory
_PATIENCE_S = 0.04  # for each figure: other processes may have a core just now
_STEPS = 20_000
_UNITS = 80  # of so many steps for each thread: some milliseconds, as a large product takes
_KEPT = 15  # measurements of as many processes


@dataclass(frozen=True)
class Peak:
    """Bounds of the machine, over all threads of the CPU back end.

    Attributes:
        gflops (float): 1e9 floating-point operations per second, float32, a multiply-add counting two.
        gbytes (float): 1e9 bytes per second read from memory, no cache helping.
        cache_gbytes (float): 1e9 bytes per second read from the cores' own caches.
        launch_s (float): seconds that a launch loses by being spread over the threads.
        threads (int): what all this was measured with.
    """

    gflops: float
    gbytes: float
    cache_gbytes: float
    launch_s: float
    threads: int


def measured_peak() -> Peak:
    """The bounds with as many threads as are set now. The first call in a process measures, for a quarter of a second.

    Each figure is the median of the better half of many runs. What the last processes found is kept in the cache
    folder, and the same of those is given: others may be busy now.
    """
    return _typical(thread_count(), jit.target())


@functools.lru_cache(maxsize=8)
def _typical(threads: int, target: tuple[str, str, str]) -> Peak:
    key = f"sustained peak of {platform.node()}, {threads} threads"
    stored = cache.object_cache().get(key)
    before: list[list[float]] = json.loads(stored) if stored is not None else []
    found = [*before, list(_measure(threads))][-_KEPT:]
    cache.object_cache().put(key, json.dumps(found).encode())
    gflops, gbytes, cache_gbytes = (good(x) for x in list(zip(*found))[:3])
    return Peak(gflops, gbytes, max(cache_gbytes, gbytes), min(x[3] for x in found), threads)


def good(rates: Sequence[float]) -> float:
    """The median of the better half: slow runs met another process, and a single fast one is luck."""
    return statistics.median(sorted(rates)[len(rates) // 2 :])


def _measure(threads: int) -> tuple[float, float, float, float]:
    lanes = jit.vector_bytes() // 4
    sums = 24 if lanes == 16 or not jit.is_x86() else 12  # fewer than registers, enough to hide the latency
    code = jit.load(cache.compiled(_text(lanes, sums), optimize=False), ["multiply", "read"])
    multiply, read = code.addresses["multiply"], code.addresses["read"]
    words = empty((memory_bytes() // 4,), np.float32)
    words.fill(1)  # pages never written to would all be the same one
    turns = CACHED_BYTES // 2 // (lanes * 32)  # of the loop that reads: half of what fits
    piece = turns * lanes * 32  # bytes
    pieces = words.nbytes // piece
    made = _Launches(words, threads)
    # several short units per thread, so that the threads share the work to the end
    flops = 2.0 * lanes * sums * _STEPS * _UNITS * threads * made.rate(multiply, _UNITS * threads, [_STEPS, 0, 0])
    memory = pieces * piece * made.rate(read, pieces, [1, turns, piece])
    cached = threads * 64 * piece * made.rate(read, threads, [64, turns, piece])
    alone, shared = (1 / made.rate(read, n, [8, turns, piece], launches=100) for n in (1, threads))
    return flops / 1e9, memory / 1e9, max(cached, memory) / 1e9, max(shared - alone, 0.0) / 100 + 1e-8


def memory_bytes() -> int:
    """Bytes to read where memory is measured: eight times the last-level cache, which keeps up to its size of them.

    At most an eighth of all memory.
    """
    wanted = 8 * (last_level_bytes() or 32 << 20)
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    except (AttributeError, ValueError, OSError):  # not on this system
        room = 128 << 20
    return max(8 << 20, min(wanted, _LARGEST_BYTES, room))


def last_level_bytes(folder: str = "/sys/devices/system/cpu/cpu0/cache") -> int:
    """Size of the largest cache that a core can use; 0 where the system does not tell."""
    found = [0]
    for path in Path(folder).glob("index*/size"):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text().strip()
            found.append(int(text.rstrip("KMG")) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1))
    return max(found)


class _Launches:
    """Runs a kernel over an array and takes the time."""

    def __init__(self, words: np.ndarray, threads: int) -> None:
        self.status, self.words = np.zeros(8, np.int64), words
        self.out = np.zeros(max(64 * threads, 1 << 16), np.float32)
        self.bases = np.array([a.ctypes.data for a in (self.status, words, self.out)], np.int64)

    def rate(self, kernel: int, units: int, dims: list[int], launches: int = 1) -> float:
        """Runs per second: of good ones among many. The first, which starts the threads, does not count."""
        commands = Commands()
        for _ in range(launches):
            commands.add(kernel, units, 1, [(0, 0), (1, 0), (2, 0)], dims)
        program = commands.finish()
        found: list[float] = []
        end = time.perf_counter() + _PATIENCE_S
        while len(found) < 4 or time.perf_counter() < end:
            began = time.perf_counter()
            runtime().run(program, self.bases.ctypes.data)
            found.append(1 / (time.perf_counter() - began))
        return good(found[1:])


def _text(lanes: int, sums: int) -> str:
    """Two kernels that store sums, as what nobody reads need not be computed.

    multiply: per unit, dims[0] times a multiply-add of each register. read: unit u reads, dims[0] times, the dims[1]
    blocks (of 8 vectors) that begin at byte u * dims[2].
    """
    vector = f"<{lanes} x float>"
    one = "<" + ", ".join(["float 1.0"] * lanes) + ">"
    half = "<" + ", ".join(["float 0.5"] * lanes) + ">"
    words = {
        "V": vector, "HALF": half, "BYTES": str(lanes * 4), "BLOCK": str(lanes * 32),
        "PHIS": "\n".join(f"  %s{i} = phi {vector} [ {one}, %unit ], [ %n{i}, %step ]" for i in range(sums)),
        "FMAS": "\n".join(
            f"  %n{i} = call {vector} @llvm.fmuladd.v{lanes}f32({vector} %s{i}, {vector} {half}, {vector} {half})"
            for i in range(sums)
        ),
        "ADDS": "\n".join(
            f"  %t{i + 1} = fadd {vector} %{'n' if i == 0 else 't'}{i}, %n{i + 1}" for i in range(sums - 1)
        ),
        "LAST": f"t{sums - 1}",
        "DECLARE": f"declare {vector} @llvm.fmuladd.v{lanes}f32({vector}, {vector}, {vector})",
        "READ_PHIS": "\n".join(
            f"  %r{i} = phi {vector} [ zeroinitializer, %again ], [ %m{i}, %block ]" for i in range(8)
        ),
        "READS": "\n".join(
            f"  %p{i} = getelementptr i8, ptr %at, i64 {i * lanes * 4}\n  %x{i} = load {vector}, ptr %p{i}, align 4\n"
            f"  %m{i} = fadd {vector} %r{i}, %x{i}" for i in range(8)
        ),
        "READ_ADDS": "\n".join(
            f"  %q{i + 1} = fadd {vector} %{'m' if i == 0 else 'q'}{i}, %m{i + 1}" for i in range(7)
        ),
    }  # fmt: skip
    return string.Template(_KERNELS).substitute(words)


_KERNELS = """
define void @multiply(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
entry:
  %out.p = getelementptr ptr, ptr %ptrs, i64 2
  %out = load ptr, ptr %out.p
  %steps = load i64, ptr %dims
  br label %unit
unit:
  %u = phi i64 [ %begin, %entry ], [ %u1, %store ]
  br label %step
step:
  %i = phi i64 [ 0, %unit ], [ %i1, %step ]
$PHIS
$FMAS
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %steps
  br i1 %more, label %step, label %store
store:
$ADDS
  %slot = urem i64 %u, 64
  %where = mul i64 %slot, $BYTES
  %place = getelementptr i8, ptr %out, i64 %where
  store $V %$LAST, ptr %place, align 4
  %u1 = add i64 %u, 1
  %units = icmp slt i64 %u1, %end
  br i1 %units, label %unit, label %done
done:
  ret void
}

define void @read(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
entry:
  %in.p = getelementptr ptr, ptr %ptrs, i64 1
  %in = load ptr, ptr %in.p
  %out.p = getelementptr ptr, ptr %ptrs, i64 2
  %out = load ptr, ptr %out.p
  %times = load i64, ptr %dims
  %blocks.p = getelementptr i64, ptr %dims, i64 1
  %blocks = load i64, ptr %blocks.p
  %stride.p = getelementptr i64, ptr %dims, i64 2
  %stride = load i64, ptr %stride.p
  br label %unit
unit:
  %u = phi i64 [ %begin, %entry ], [ %u1, %next ]
  %first = mul i64 %u, %stride
  %start = getelementptr i8, ptr %in, i64 %first
  br label %again
again:
  %t = phi i64 [ 0, %unit ], [ %t.1, %store ]
  br label %block
block:
  %j = phi i64 [ 0, %again ], [ %j1, %block ]
  %at = phi ptr [ %start, %again ], [ %after, %block ]
$READ_PHIS
$READS
  %after = getelementptr i8, ptr %at, i64 $BLOCK
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, %blocks
  br i1 %more, label %block, label %store
store:
$READ_ADDS
  %slot = urem i64 %u, 64
  %where = mul i64 %slot, $BYTES
  %place = getelementptr i8, ptr %out, i64 %where
  store $V %q7, ptr %place, align 4
  %t.1 = add i64 %t, 1
  %repeat = icmp slt i64 %t.1, %times
  br i1 %repeat, label %again, label %next
next:
  %u1 = add i64 %u, 1
  %units = icmp slt i64 %u1, %end
  br i1 %units, label %unit, label %done
done:
  ret void
}
$DECLARE
"""
