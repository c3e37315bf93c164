"""The command driver and the fork-join pool as LLVM text; `runtime` compiles and owns them.

`run` walks a program (see `runtime`), `worker` is the loop of a pool's thread, and both meet in the state of the pool,
a block of memory that this module lays out.
"""

from __future__ import annotations

import string

from . import jit

# Byte offsets in the state of a pool. What different threads write lies on lines of its own.
TASKS, PENDING, SLEEPERS, STOP, OWNER = 0, 128, 256, 384, 512
FN, PTRS, DIMS, TOTAL, GRAIN = 640, 648, 656, 664, 672
WORKERS, SPIN = 768, 776
MUTEX, COND = 896, 1024
STATE_BYTES = 1152


def text(threads: bool) -> str:
    """The LLVM text of the driver, with or without the pool."""
    pause = "call void @llvm.x86.sse2.pause()" if jit.is_x86() else "call void @llvm.aarch64.hint(i32 1)"
    declare = "declare void @llvm.x86.sse2.pause()" if jit.is_x86() else "declare void @llvm.aarch64.hint(i32)"
    parts = [declare, _DRIVER, _POOL if threads else _NO_POOL]
    words = {k: str(v) for k, v in globals().items() if k.isupper() and isinstance(v, int)}
    return string.Template("\n".join(parts)).substitute(words, PAUSE=pause)


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
