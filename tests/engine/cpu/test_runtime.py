import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from paddle.engine import flags
from paddle.engine.cpu import jit, runtime
from paddle.engine.cpu.runtime import MAX_POINTERS, Commands

# mark: y[u] = begin of the task that did u. add: y[u] += dims[0]. fail: status = dims[0] where x[u] is 7.
KERNELS = """
define void @mark(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
  %p = getelementptr ptr, ptr %ptrs, i64 1
  %y = load ptr, ptr %p
  br label %loop
loop:
  %u = phi i64 [ %begin, %0 ], [ %v, %loop ]
  %q = getelementptr i64, ptr %y, i64 %u
  store i64 %begin, ptr %q
  %v = add i64 %u, 1
  %c = icmp slt i64 %v, %end
  br i1 %c, label %loop, label %done
done:
  ret void
}
define void @add(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
  %p = getelementptr ptr, ptr %ptrs, i64 1
  %y = load ptr, ptr %p
  %d = load i64, ptr %dims
  br label %loop
loop:
  %u = phi i64 [ %begin, %0 ], [ %v, %loop ]
  %q = getelementptr i64, ptr %y, i64 %u
  %o = load i64, ptr %q
  %n = add i64 %o, %d
  store i64 %n, ptr %q
  %v = add i64 %u, 1
  %c = icmp slt i64 %v, %end
  br i1 %c, label %loop, label %done
done:
  ret void
}
define void @fail(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
  %s = load ptr, ptr %ptrs
  %p = getelementptr ptr, ptr %ptrs, i64 1
  %x = load ptr, ptr %p
  %d = load i64, ptr %dims
  br label %loop
loop:
  %u = phi i64 [ %begin, %0 ], [ %v, %next ]
  %q = getelementptr i64, ptr %x, i64 %u
  %o = load i64, ptr %q
  %bad = icmp eq i64 %o, 7
  br i1 %bad, label %tell, label %next
tell:
  store i64 %d, ptr %s
  br label %next
next:
  %v = add i64 %u, 1
  %c = icmp slt i64 %v, %end
  br i1 %c, label %loop, label %done
done:
  ret void
}
define void @last(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {
  %p = getelementptr ptr, ptr %ptrs, i64 1
  %y = load ptr, ptr %p
  %n = load i64, ptr %dims
  %l = getelementptr ptr, ptr %ptrs, i64 %n
  %x = load ptr, ptr %l
  %v = load i64, ptr %x
  store i64 %v, ptr %y
  ret void
}
"""


@pytest.fixture(scope="module")
def kernels():
    return jit.load(jit.compile_object(KERNELS), ["mark", "add", "fail", "last"]).keep().addresses


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    flags.set_("FLAGS_cpu_threads", request.param)
    yield request.param
    flags.set_("FLAGS_cpu_threads", 0)


class Buffers:
    """A status buffer and an array, as bases."""

    def __init__(self, size):
        self.status, self.y = np.zeros(8, np.int64), np.zeros(size, np.int64)
        self.bases = np.array([self.status.ctypes.data, self.y.ctypes.data], np.int64)

    def run(self, *launches):
        commands = Commands()
        for launch in launches:
            commands.add(*launch)
        return runtime.runtime().run(commands.finish(), self.bases.ctypes.data)


BOTH = [(0, 0), (1, 0)]


@pytest.mark.parametrize("total, grain", [(0, 4), (1, 1), (1, 100), (7, 7), (8, 7), (100_003, 1000), (64, 1), (5, 0)])
def test_tasks_depend_on_size_and_grain_only(kernels, threads, total, grain):
    b = Buffers(max(total, 1))
    b.y[:] = -1
    assert b.run((kernels["mark"], total, grain, BOTH)) == 0
    expected = np.arange(total) // max(grain, 1) * max(grain, 1)
    np.testing.assert_array_equal(b.y[:total], expected)
    if total == 0:
        assert b.y[0] == -1


def test_every_unit_is_done_once_in_every_launch(kernels, threads):
    b = Buffers(10_007)
    for _ in range(20):
        assert b.run(*[(kernels["add"], b.y.size, 100, BOTH, (i,)) for i in range(50)]) == 0
    assert (b.y == 20 * sum(range(50))).all()


def test_pointers_are_bases_with_offsets_or_addresses(kernels, threads):
    b = Buffers(30)
    b.run(
        (kernels["add"], 10, 3, [(0, 0), (1, 80)], (1,)), (kernels["add"], 10, 3, [(0, 0), (-1, b.y.ctypes.data)], (2,))
    )
    np.testing.assert_array_equal(b.y, [2] * 10 + [1] * 10 + [0] * 10)


def test_a_launch_may_have_very_many_pointers(kernels):
    b = Buffers(3)
    b.y[2] = 5
    many = [(0, 0), (1, 0)] + [(1, 8)] * (MAX_POINTERS - 3) + [(1, 16)]
    assert b.run(*[(kernels["last"], 1, 1, many, (MAX_POINTERS - 1,))] * 3) == 0
    assert b.y[0] == 5
    with pytest.raises(AssertionError):
        b.run((kernels["last"], 1, 1, [*many, (1, 0)], (0,)))


def test_a_program_without_launches_runs(threads):
    assert Buffers(1).run() == 0


def test_the_first_error_ends_the_run(kernels, threads):
    b = Buffers(1000)
    b.y[777] = 6
    code = b.run(
        (kernels["add"], 1000, 10, BOTH, (1,)),
        (kernels["fail"], 1000, 10, BOTH, (42,)),
        (kernels["add"], 1000, 10, BOTH, (1,)),
    )
    assert code == b.status[0] == 42
    assert b.status[1] == 1  # the number of the launch
    assert b.y[0] == 1
    b.status[:] = 0
    assert b.run((kernels["add"], 1000, 10, BOTH, (1,))) == 0


def test_words_may_be_changed_between_runs(kernels, threads):
    b = Buffers(10)
    commands = Commands()
    commands.add(kernels["add"], 4, 2, BOTH, [1])
    at = commands.add(kernels["add"], 5, 2, BOTH, [3])
    program = commands.finish()
    assert program.parallel
    runtime.runtime().run(program, b.bases.ctypes.data)
    program.words[at + 5 + 2 * 2] = 10
    runtime.runtime().run(program, b.bases.ctypes.data)
    assert b.y.tolist() == [15, 15, 15, 15, 13, 0, 0, 0, 0, 0]


def test_threads_run_at_once_while_the_count_changes(kernels):
    failures = []

    def work():
        b = Buffers(5000)
        for _ in range(100):
            b.run(*[(kernels["add"], b.y.size, 64, BOTH, (1,))] * 10)
        if not (b.y == 1000).all():
            failures.append(b.y)

    users = [threading.Thread(target=work) for _ in range(4)]
    for user in users:
        user.start()
    for count in (3, 1, 2, 4) * 10:
        flags.set_("FLAGS_cpu_threads", count)
        Buffers(10).run((kernels["mark"], 10, 1, BOTH))
    for user in users:
        user.join()
    flags.set_("FLAGS_cpu_threads", 0)
    assert not failures


def test_the_pool_has_the_threads_asked_for(kernels, threads):
    if os.name != "posix":
        pytest.skip("the pool is of POSIX threads")
    assert runtime.runtime().threads == threads
    Buffers(10).run((kernels["mark"], 10, 1, BOTH))
    alive = [t for t in threading.enumerate() if t.name.startswith("paddle-cpu-")]
    assert len([t for t in alive if t in runtime.runtime()._threads]) == threads - 1


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match=r"FLAGS_cpu_threads does not take this value(?s:.*)received: -1"):
        flags.set_("FLAGS_cpu_threads", -1)
    flags.set_("FLAGS_cpu_threads", 0)


def test_cores_are_those_of_the_affinity_and_the_quota():
    assert 1 <= runtime.cores() <= (os.cpu_count() or 1)


def run_script(text, *options):
    """Runs a script that has `b`, kernels `k` and `go(n)`, which adds 1 to b.y in n parallel launches."""
    head = f"""
        import os, sys, threading, time
        sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
        from test_runtime import BOTH, KERNELS, Buffers, flags, jit, runtime
        flags.set_("FLAGS_cpu_threads", 3)
        k = jit.load(jit.compile_object(KERNELS), ["mark", "add"]).keep().addresses
        b = Buffers(4000)
        def go(n, b=b):
            assert b.run(*[(k["add"], b.y.size, 16, BOTH, (1,))] * n) == 0
    """
    script = textwrap.dedent(head) + textwrap.dedent(text)
    done = subprocess.run([sys.executable, *options, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_a_forked_child_has_a_pool_of_its_own():
    out = run_script(
        """
        go(5)
        sys.stdout.flush()
        child = os.fork()
        go(5)
        assert (b.y == 10).all()
        if child == 0:
            print("child", len(runtime.runtime()._threads), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        go(1)
        print("parent")
        """,
        "-Wignore::DeprecationWarning",
    )
    assert out == "child 2\nparent\n"


@needs_fork
def test_a_fork_while_other_threads_run_programs_leaves_a_usable_child():
    run_script(
        """
        stop = False
        def busy():
            mine = Buffers(4000)
            n = 0
            while not stop:
                go(100, mine)
                n += 100
            assert (mine.y == n).all()
        def compile():
            while not stop:
                jit.compile_object("define void @f() { ret void }")
        users = [threading.Thread(target=f) for f in (busy, busy, compile)]
        for user in users:
            user.start()
        for _ in range(15):
            child = os.fork()
            if child == 0:
                mine = Buffers(4000)
                go(20, mine)
                jit.compile_object("define void @g() { ret void }")
                flags.set_("FLAGS_cpu_threads", 2)
                go(20, mine)
                os._exit(0 if (mine.y == 40).all() else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop = True
        for user in users:
            user.join()
        """,
        "-Wignore::DeprecationWarning",
    )


def test_the_interpreter_ends_with_workers_asleep_or_spinning():
    run_script("go(1)")
    run_script("go(1); time.sleep(0.05)")


def test_the_interpreter_ends_while_a_daemon_thread_runs_programs():
    run_script(
        """
        def forever():
            mine = Buffers(4000)
            while True:
                go(50, mine)
        threading.Thread(target=forever, daemon=True).start()
        go(50)
        """
    )


def test_programs_run_after_the_pool_has_ended():
    out = run_script(
        """
        import atexit
        atexit.unregister(runtime.runtime()._close)
        def late():
            go(3)
            print(int(b.y[0]), int(b.y[-1]), runtime.runtime().threads)
        atexit.register(late)
        atexit.register(runtime.runtime()._close)
        go(1)
        """
    )
    assert out == "4 4 1\n"


def test_a_second_process_starts_without_llvm(tmp_path):
    script = "import sys, paddle.engine.cpu.runtime as r; r.runtime(); print('llvmlite.binding' in sys.modules)"
    environment = {**os.environ, "FLAGS_cache_dir": str(tmp_path)}
    found = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in "ab"
    ]
    assert found == ["True\n", "False\n" if os.path.exists("/proc/cpuinfo") else "True\n"]
