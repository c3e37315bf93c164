"""Runs compiled kernels: programs of launches, on the calling thread and a pool of workers.

A kernel is `void kernel(ptr ptrs, ptr dims, i64 begin, i64 end)` and does the units begin <= u < end of its work.
A program is a sequence of launches in one int64 array:

    kernel address, total units, grain, number of pointers, number of dims,
    then (base index, byte offset) of each pointer, then the dims.

A pointer is `bases[index] + offset`; with index -1 the offset is the address itself. The first pointer of every launch
is the status buffer: a kernel that finds an error puts a code that is not 0 into its first int64. The run ends after
that launch with this code, and with the number of the launch in the second int64.

A launch is cut into tasks of `grain` units, the last one shorter. Each call of the kernel is one task, whatever the
number of threads, so results have the same bits for any number. The calling thread takes tasks from the front, workers
take them from the back: from launch to launch a core meets the same part of the data.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import flags
from . import cache, driver, jit

__all__ = ["MAX_POINTERS", "Commands", "Program", "Runtime", "runtime"]

MAX_POINTERS = 8192
_MAX_TASKS = 1 << 30
_SPIN_S = 50e-6
_HAS_THREADS = os.name == "posix"


class Program:
    """Launches, ready to run.

    Attributes:
        words: the int64 array. Dims and offsets may be changed between runs.
        address: of the words.
        count: number of launches.
        parallel: whether any launch has more than one task.
    """

    __slots__ = ("address", "count", "parallel", "words")

    def __init__(self, words: np.ndarray, count: int, parallel: bool) -> None:
        self.words, self.count, self.parallel = words, count, parallel
        self.address = words.ctypes.data


class Commands:
    """Builds a `Program`, launch by launch."""

    def __init__(self) -> None:
        self._words: list[int] = []
        self._count = 0
        self._parallel = False

    def add(
        self, fn: int, total: int, grain: int, pointers: Sequence[tuple[int, int]], dims: Sequence[int] = ()
    ) -> int:
        """Adds a launch.

        Args:
            fn (int): address of the kernel.
            total (int): units of work; none are fine.
            grain (int): units in a task.
            pointers (Sequence[tuple[int, int]]): base index and byte offset of each; the first is the status buffer.
            dims (Sequence[int]): values for the kernel.

        Returns:
            int: where the launch begins in `Program.words`.
        """
        assert 1 <= len(pointers) <= MAX_POINTERS, len(pointers)
        grain = max(1, grain, -(-total // _MAX_TASKS))
        self._parallel |= total > grain
        self._count += 1
        start = len(self._words)
        self._words += (fn, total, grain, len(pointers), len(dims))
        for pointer in pointers:
            self._words += pointer
        self._words += dims
        return start

    def finish(self) -> Program:
        return Program(np.array(self._words, np.int64), self._count, self._parallel)


class Runtime:
    """The driver and its pool. There is one per process: `runtime()`."""

    def __init__(self) -> None:
        names = ["run", "set_state", "spin", "start", "worker", "stop"]
        code = jit.load(
            cache.compiled(driver.text(_HAS_THREADS), optimize=False), names if _HAS_THREADS else names[:3]
        ).keep()
        word, number = ctypes.c_void_p, ctypes.c_int64
        bind = lambda name, result, *types: ctypes.CFUNCTYPE(result, *types)(code.addresses[name])
        self._run = bind("run", number, word, number, word)
        self._set_state = bind("set_state", None, word)
        self._spin = bind("spin", None, number)
        if _HAS_THREADS:
            self._start_state = bind("start", None, word)
            self._worker = bind("worker", None, word)
            self._stop_state = bind("stop", None, word)
        self._threads: list[threading.Thread] = []
        self._retired: list[Any] = []
        self._closed = False
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)
        atexit.register(self._close)

    def run(self, program: Program, bases: int) -> int:
        """Runs every launch of a program, in order, on the calling thread and the pool.

        Any thread may call at any time. While one has the pool, the others run their launches alone.

        Args:
            program (Program): from `Commands.finish`.
            bases (int): address of an array of pointers.

        Returns:
            int: 0, or the code that a kernel put into the status buffer.
        """
        if self._cold and program.parallel:
            self._start()
        return self._run(program.address, program.count, bases)

    @property
    def threads(self) -> int:
        """Threads that a launch is spread over, the calling one included."""
        return thread_count() if _HAS_THREADS and not self._closed else 1

    def _reset(self) -> None:
        """A pool without workers, as at the start and in a forked child, which has none of its parent's threads."""
        self._lock = threading.Lock()
        self._threads = []
        self._cold = not self._closed
        self._new_state()

    def _new_state(self) -> int:
        buffer = ctypes.create_string_buffer(driver.STATE_BYTES + 128)
        self._state = (ctypes.addressof(buffer) + 127) & ~127
        # Never freed: a thread may still be inside. There is one more only after a fork or a change of the setting.
        self._retired.append(buffer)
        if _HAS_THREADS:
            self._start_state(self._state)
        self._set_state(self._state)
        return self._state

    def _start(self) -> None:
        """Starts the workers, before the first launch that can use them."""
        with self._lock:
            if not self._cold or self._closed:
                return
            self._cold = False
            count = self.threads
            if count == 1:
                return
            # With more threads than cores a spinning one is in the way of one that works.
            spin_s = _SPIN_S if count <= cores() else 0.0
            ctypes.c_int64.from_address(self._state + driver.SPIN).value = int(spin_s * self._spins_per_s()) + 1
            for i in range(1, count):
                thread = threading.Thread(target=self._worker, args=(self._state,), name=f"paddle-cpu-{i}", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    if not sys.is_finalizing():
                        warnings.warn(f"the CPU pool has {i} of {count} threads: {error}", RuntimeWarning, stacklevel=3)
                    break
                self._threads.append(thread)
            ctypes.c_int64.from_address(self._state + driver.WORKERS).value = len(self._threads)

    @functools.cache
    def _spins_per_s(self) -> float:
        """Turns of the waiting loop per second; the processor's pause takes from 10 to 150 cycles."""
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            self._spin(500)
            best = min(best, time.perf_counter() - start)
        return 500 / best

    def restart(self) -> None:
        """Lets the workers go; the next launch that can use a pool starts one by the settings of then."""
        with self._lock:
            threads, self._threads, old = self._threads, [], self._state
            self._new_state()
            self._cold = not self._closed
        if threads:
            # A run under way keeps its old state: it finishes with the workers that have not yet left.
            self._stop_state(old)

    def _close(self) -> None:
        """At exit. What still runs later runs on the calling thread."""
        threads = self._threads
        self._closed = True
        self.restart()
        deadline = time.monotonic() + 1.0
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def cores() -> int:
    """Cores that this process may use: its affinity, and the quota of its control group where there is one."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # no affinity on this system
        count = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        if quota != "max":
            count = min(count, max(1, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # no control groups, or the older kind
        return count
    return count


def thread_count() -> int:
    asked = flags.get("FLAGS_cpu_threads")
    return asked if asked > 0 else cores()


_instance: Runtime | None = None
_making = threading.Lock()


def runtime() -> Runtime:
    """The process's runtime, made at the first call."""
    global _instance
    if _instance is None:
        with _making:
            if _instance is None:
                _instance = Runtime()
    return _instance


def _threads_changed(count: int) -> None:
    if _instance is not None:
        _instance.restart()


def _forget_lock() -> None:
    global _making
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
flags.on_change("FLAGS_cpu_threads", _threads_changed)
