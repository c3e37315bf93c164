"""Runs compiled kernels: the command driver and the fork-join thread pool, both native code made from LLVM text.

A kernel is `void kernel(ptr ptrs, ptr dims, i64 begin, i64 end)` and does the units begin <= u < end of its work.
A program is a sequence of launches in one int64 array:

    kernel address, total units, grain, number of pointers, number of dims,
    then (base index, byte offset) of each pointer, then the dims.

A pointer is `bases[index] + offset`; with index -1 the offset is the address itself. The first pointer of every launch is
the status buffer: a kernel that finds an error puts a code that is not 0 into its first int64, and the run ends after
that launch with this code and the number of the launch in the second int64.

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
from ..errors import invalid_argument
from . import cache, jit

__all__ = ["MAX_POINTERS", "Commands", "Program", "Runtime", "runtime"]

MAX_POINTERS = 8192
_MAX_TASKS = 1 << 30
_SPIN_S = 50e-6
_HAS_THREADS = os.name == "posix"

# Byte offsets in the state of a pool. What different threads write lies on lines of its own.
_TASKS, _PENDING, _SLEEPERS, _STOP, _OWNER = 0, 128, 256, 384, 512
_FN, _PTRS, _DIMS, _TOTAL, _GRAIN = 640, 648, 656, 664, 672
_WORKERS, _SPIN = 768, 776
_MUTEX, _COND = 896, 1024
_STATE_BYTES = 1152


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
        code = jit.load(cache.compiled(text(_HAS_THREADS)), names if _HAS_THREADS else names[:3]).keep()
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
        buffer = ctypes.create_string_buffer(_STATE_BYTES + 128)
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
            ctypes.c_int64.from_address(self._state + _SPIN).value = int(spin_s * self._spins_per_s()) + 1
            for i in range(1, count):
                thread = threading.Thread(target=self._worker, args=(self._state,), name=f"paddle-cpu-{i}", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    if not sys.is_finalizing():
                        warnings.warn(f"the CPU pool has {i} of {count} threads: {error}", RuntimeWarning, stacklevel=3)
                    break
                self._threads.append(thread)
            ctypes.c_int64.from_address(self._state + _WORKERS).value = len(self._threads)

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
    if count < 0:
        raise invalid_argument(
            "set_flags: FLAGS_cpu_threads is negative.", expected="0 for one per core, or a count", received=str(count)
        )
    if _instance is not None:
        _instance.restart()


def _forget_lock() -> None:
    global _making
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
flags.on_change("FLAGS_cpu_threads", _threads_changed)


def text(threads: bool) -> str:
    """The LLVM text of the driver, with or without the pool."""
    pause = "call void @llvm.x86.sse2.pause()" if jit.is_x86() else "call void @llvm.aarch64.hint(i32 1)"
    declare = "declare void @llvm.x86.sse2.pause()" if jit.is_x86() else "declare void @llvm.aarch64.hint(i32)"
    parts = [declare, _DRIVER, _POOL if threads else _NO_POOL]
    words = {k: str(v) for k, v in globals().items() if k.startswith("_") and isinstance(v, int)}
    out = "\n".join(parts).replace("$PAUSE", pause)
    for name in sorted(words, key=len, reverse=True):
        out = out.replace("$" + name[1:], words[name])
    return out


# `serial` and `parallel` give nothing; what a kernel found is in the status buffer.
_DRIVER = """
@state = internal global ptr null

define void @set_state(ptr %s) nounwind {
  store atomic ptr %s, ptr @state seq_cst, align 8
  ret void
}

define void @spin(i64 %n) nounwind {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  $PAUSE
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

define internal void @serial(ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain) nounwind {
  br label %loop
loop:
  %begin = phi i64 [ 0, %0 ], [ %end, %loop ]
  %end = add i64 %begin, %grain
  %last = icmp sge i64 %end, %total
  %stop = select i1 %last, i64 %total, i64 %end
  call void %fn(ptr %ptrs, ptr %dims, i64 %begin, i64 %stop)
  br i1 %last, label %done, label %loop
done:
  ret void
}

define i64 @run(ptr %program, i64 %count, ptr %bases) nounwind {
entry:
  %s = load atomic ptr, ptr @state acquire, align 8
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %launch, label %done
launch:
  %at = phi ptr [ %program, %entry ], [ %after, %next ]
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %stack = call ptr @llvm.stacksave.p0()
  %fn = load ptr, ptr %at
  %total.p = getelementptr i64, ptr %at, i64 1
  %total = load i64, ptr %total.p
  %grain.p = getelementptr i64, ptr %at, i64 2
  %grain = load i64, ptr %grain.p
  %nptrs.p = getelementptr i64, ptr %at, i64 3
  %nptrs = load i64, ptr %nptrs.p
  %ndims.p = getelementptr i64, ptr %at, i64 4
  %ndims = load i64, ptr %ndims.p
  %pairs = getelementptr i64, ptr %at, i64 5
  %twice = shl i64 %nptrs, 1
  %dims = getelementptr i64, ptr %pairs, i64 %twice
  %after = getelementptr i64, ptr %dims, i64 %ndims
  %i1 = add i64 %i, 1
  %work = icmp sgt i64 %total, 0
  br i1 %work, label %resolve, label %next
resolve:
  %ptrs = alloca ptr, i64 %nptrs
  br label %pointer
pointer:
  %j = phi i64 [ 0, %resolve ], [ %j1, %placed ]
  %two = shl i64 %j, 1
  %pair = getelementptr i64, ptr %pairs, i64 %two
  %index = load i64, ptr %pair
  %offset.p = getelementptr i64, ptr %pair, i64 1
  %offset = load i64, ptr %offset.p
  %based = icmp sge i64 %index, 0
  br i1 %based, label %relative, label %placed
relative:
  %base.p = getelementptr ptr, ptr %bases, i64 %index
  %base.r = load ptr, ptr %base.p
  br label %placed
placed:
  %base = phi ptr [ null, %pointer ], [ %base.r, %relative ]
  %address = getelementptr i8, ptr %base, i64 %offset
  %slot = getelementptr ptr, ptr %ptrs, i64 %j
  store ptr %address, ptr %slot
  %j1 = add i64 %j, 1
  %more.p = icmp slt i64 %j1, %nptrs
  br i1 %more.p, label %pointer, label %start
start:
  %one = icmp sle i64 %total, %grain
  br i1 %one, label %single, label %several
single:
  call void %fn(ptr %ptrs, ptr %dims, i64 0, i64 %total)
  br label %check
several:
  call void @several(ptr %s, ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain)
  br label %check
check:
  %status = load ptr, ptr %ptrs
  %code = load i64, ptr %status
  %bad = icmp ne i64 %code, 0
  br i1 %bad, label %failed, label %next
failed:
  %where = getelementptr i64, ptr %status, i64 1
  store i64 %i, ptr %where
  ret i64 %code
next:
  call void @llvm.stackrestore.p0(ptr %stack)
  %more = icmp slt i64 %i1, %count
  br i1 %more, label %launch, label %done
done:
  ret i64 0
}

declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
"""

_NO_POOL = """
define internal void @several(ptr %s, ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain) nounwind {
  call void @serial(ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain)
  ret void
}
"""

# The tasks not yet taken are front <= t < back, with back in the upper half of one word. A thread takes one by a
# compare-and-swap of that word, and only then reads the job's fields: they belong to the word as it is now, since
# the owner changes them only when every task taken has been counted off in `pending`. So it does no harm that the
# word may have come back to the value it had some launches ago.
_POOL = """
declare i32 @pthread_mutex_init(ptr, ptr) nounwind
declare i32 @pthread_mutex_lock(ptr) nounwind
declare i32 @pthread_mutex_unlock(ptr) nounwind
declare i32 @pthread_cond_init(ptr, ptr) nounwind
declare i32 @pthread_cond_wait(ptr, ptr) nounwind
declare i32 @pthread_cond_signal(ptr) nounwind
declare i32 @pthread_cond_broadcast(ptr) nounwind
declare i32 @sched_yield() nounwind

define void @start(ptr %s) nounwind {
  %mutex = getelementptr i8, ptr %s, i64 $MUTEX
  %cond = getelementptr i8, ptr %s, i64 $COND
  %a = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %b = call i32 @pthread_cond_init(ptr %cond, ptr null)
  ret void
}

define void @stop(ptr %s) nounwind {
  %stop = getelementptr i8, ptr %s, i64 $STOP
  store atomic i64 1, ptr %stop seq_cst, align 8
  call void @wake(ptr %s, i64 9223372036854775807)
  ret void
}

; Wakes `n` sleeping workers or more. With the mutex taken once, each sleeper either waits already or sees the work.
define internal void @wake(ptr %s, i64 %n) noinline nounwind {
  %mutex = getelementptr i8, ptr %s, i64 $MUTEX
  %cond = getelementptr i8, ptr %s, i64 $COND
  %sleepers.p = getelementptr i8, ptr %s, i64 $SLEEPERS
  %a = call i32 @pthread_mutex_lock(ptr %mutex)
  %sleepers = load atomic i64, ptr %sleepers.p seq_cst, align 8
  %b = call i32 @pthread_mutex_unlock(ptr %mutex)
  %all = icmp sge i64 %n, %sleepers
  br i1 %all, label %broadcast, label %some
broadcast:
  %c = call i32 @pthread_cond_broadcast(ptr %cond)
  ret void
some:
  %i = phi i64 [ 0, %0 ], [ %i1, %some ]
  %d = call i32 @pthread_cond_signal(ptr %cond)
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %some, label %done
done:
  ret void
}

; Takes a task: the first if `front`, else the last. Gives -1 if there is none.
define internal i64 @take(ptr %s, i1 %front) alwaysinline nounwind {
entry:
  %tasks = getelementptr i8, ptr %s, i64 $TASKS
  %w0 = load atomic i64, ptr %tasks acquire, align 8
  br label %try
try:
  %w = phi i64 [ %w0, %entry ], [ %seen, %swap ]
  %first = and i64 %w, 4294967295
  %back = lshr i64 %w, 32
  %any = icmp ult i64 %first, %back
  br i1 %any, label %swap, label %none
swap:
  %from.front = add i64 %w, 1
  %from.back = sub i64 %w, 4294967296
  %new = select i1 %front, i64 %from.front, i64 %from.back
  %got = cmpxchg ptr %tasks, i64 %w, i64 %new acq_rel acquire, align 8
  %seen = extractvalue { i64, i1 } %got, 0
  %ok = extractvalue { i64, i1 } %got, 1
  br i1 %ok, label %taken, label %try
taken:
  %last = sub i64 %back, 1
  %task = select i1 %front, i64 %first, i64 %last
  ret i64 %task
none:
  ret i64 -1
}

define internal void @do(ptr %s, i64 %task) alwaysinline nounwind {
  %fn.p = getelementptr i8, ptr %s, i64 $FN
  %fn = load ptr, ptr %fn.p
  %ptrs.p = getelementptr i8, ptr %s, i64 $PTRS
  %ptrs = load ptr, ptr %ptrs.p
  %dims.p = getelementptr i8, ptr %s, i64 $DIMS
  %dims = load ptr, ptr %dims.p
  %total.p = getelementptr i8, ptr %s, i64 $TOTAL
  %total = load i64, ptr %total.p
  %grain.p = getelementptr i8, ptr %s, i64 $GRAIN
  %grain = load i64, ptr %grain.p
  %begin = mul i64 %task, %grain
  %full = add i64 %begin, %grain
  %last = icmp sge i64 %full, %total
  %end = select i1 %last, i64 %total, i64 %full
  call void %fn(ptr %ptrs, ptr %dims, i64 %begin, i64 %end)
  ret void
}

define void @worker(ptr %s) nounwind {
entry:
  %tasks = getelementptr i8, ptr %s, i64 $TASKS
  %pending = getelementptr i8, ptr %s, i64 $PENDING
  %sleepers = getelementptr i8, ptr %s, i64 $SLEEPERS
  %stop.p = getelementptr i8, ptr %s, i64 $STOP
  %mutex = getelementptr i8, ptr %s, i64 $MUTEX
  %cond = getelementptr i8, ptr %s, i64 $COND
  %limit.p = getelementptr i8, ptr %s, i64 $SPIN
  %limit = load i64, ptr %limit.p
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ 0, %work ], [ 0, %awake ], [ %turn1, %pause ]
  %task = call i64 @take(ptr %s, i1 false)
  %got = icmp sge i64 %task, 0
  br i1 %got, label %work, label %idle
work:
  call void @do(ptr %s, i64 %task)
  %before = atomicrmw sub ptr %pending, i64 1 release, align 8
  br label %look
idle:
  %stop = load atomic i64, ptr %stop.p acquire, align 8
  %leave = icmp ne i64 %stop, 0
  br i1 %leave, label %done, label %count
count:
  %turn1 = add i64 %turn, 1
  %again = icmp slt i64 %turn1, %limit
  br i1 %again, label %pause, label %sleep
pause:
  $PAUSE
  br label %look
sleep:
  %a = call i32 @pthread_mutex_lock(ptr %mutex)
  %b = atomicrmw add ptr %sleepers, i64 1 seq_cst, align 8
  br label %watch
watch:
  %w = load atomic i64, ptr %tasks seq_cst, align 8
  %first = and i64 %w, 4294967295
  %back = lshr i64 %w, 32
  %any = icmp ult i64 %first, %back
  %stop1 = load atomic i64, ptr %stop.p seq_cst, align 8
  %leave1 = icmp ne i64 %stop1, 0
  %up = or i1 %any, %leave1
  br i1 %up, label %awake, label %wait
wait:
  %c = call i32 @pthread_cond_wait(ptr %cond, ptr %mutex)
  br label %watch
awake:
  %d = atomicrmw sub ptr %sleepers, i64 1 seq_cst, align 8
  %e = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %look
done:
  ret void
}

define internal void @several(ptr %s, ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain) nounwind {
entry:
  %workers.p = getelementptr i8, ptr %s, i64 $WORKERS
  %workers = load atomic i64, ptr %workers.p monotonic, align 8
  %alone = icmp eq i64 %workers, 0
  br i1 %alone, label %serial, label %try
try:
  %owner = getelementptr i8, ptr %s, i64 $OWNER
  %got = cmpxchg ptr %owner, i64 0, i64 1 acquire monotonic, align 8
  %mine = extractvalue { i64, i1 } %got, 1
  br i1 %mine, label %publish, label %serial
serial:
  call void @serial(ptr %fn, ptr %ptrs, ptr %dims, i64 %total, i64 %grain)
  ret void
publish:
  %fn.p = getelementptr i8, ptr %s, i64 $FN
  store ptr %fn, ptr %fn.p
  %ptrs.p = getelementptr i8, ptr %s, i64 $PTRS
  store ptr %ptrs, ptr %ptrs.p
  %dims.p = getelementptr i8, ptr %s, i64 $DIMS
  store ptr %dims, ptr %dims.p
  %total.p = getelementptr i8, ptr %s, i64 $TOTAL
  store i64 %total, ptr %total.p
  %grain.p = getelementptr i8, ptr %s, i64 $GRAIN
  store i64 %grain, ptr %grain.p
  %up = add i64 %total, %grain
  %up1 = sub i64 %up, 1
  %count = udiv i64 %up1, %grain
  %pending = getelementptr i8, ptr %s, i64 $PENDING
  store atomic i64 %count, ptr %pending monotonic, align 8
  %tasks = getelementptr i8, ptr %s, i64 $TASKS
  %w = shl i64 %count, 32
  store atomic i64 %w, ptr %tasks seq_cst, align 8
  %sleepers.p = getelementptr i8, ptr %s, i64 $SLEEPERS
  %sleepers = load atomic i64, ptr %sleepers.p seq_cst, align 8
  %asleep = icmp ne i64 %sleepers, 0
  br i1 %asleep, label %wake, label %help
wake:
  %others = sub i64 %count, 1
  call void @wake(ptr %s, i64 %others)
  br label %help
help:
  %done = phi i64 [ 0, %publish ], [ 0, %wake ], [ %done1, %work ]
  %task = call i64 @take(ptr %s, i1 true)
  %any = icmp sge i64 %task, 0
  br i1 %any, label %work, label %finish
work:
  call void @do(ptr %s, i64 %task)
  %done1 = add i64 %done, 1
  br label %help
finish:
  %before = atomicrmw sub ptr %pending, i64 %done acquire, align 8
  %left = sub i64 %before, %done
  %over = icmp eq i64 %left, 0
  br i1 %over, label %end, label %spin
spin:
  %limit.p = getelementptr i8, ptr %s, i64 $SPIN
  %limit = load i64, ptr %limit.p
  br label %wait
wait:
  %turn = phi i64 [ 0, %spin ], [ %turn1, %pause ], [ %turn1, %yield ]
  %now = load atomic i64, ptr %pending acquire, align 8
  %over1 = icmp eq i64 %now, 0
  br i1 %over1, label %end, label %count.turn
count.turn:
  %turn1 = add i64 %turn, 1
  %again = icmp slt i64 %turn1, %limit
  br i1 %again, label %pause, label %yield
pause:
  $PAUSE
  br label %wait
yield:
  %y = call i32 @sched_yield()
  br label %wait
end:
  store atomic i64 0, ptr %owner release, align 8
  ret void
}
"""
