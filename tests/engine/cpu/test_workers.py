import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from paddle.engine import flags
from paddle.engine.cpu.workers import CompileError, WorkerPool

WAIT_S = 200  # workers have a low priority, and machines that test are busy

# The function that the workers run here instead of the compiler; a payload says what to do.
FUNCTION = """
import atexit, os, sys, time
from paddle.engine import flags

def function(payload):
    word, _, rest = payload.partition(b" ")
    if word == b"fail":
        raise ValueError("this cannot be compiled")
    if word == b"abort":
        os.write(2, b"LLVM ERROR: cannot select")
        os.abort()
    if word == b"exit":
        os._exit(3)
    if word == b"wait":  # until the file is there
        open(rest + b".begun", "w").close()
        while not os.path.exists(rest):
            time.sleep(0.01)
    if word == b"trace":  # leave a file when this process ends
        atexit.register(lambda: open(rest, "w").close())
    if word == b"print":
        print("to be kept out of the messages", flush=True)
    if word == b"pid":
        return str(os.getpid()).encode()
    if word == b"nice":
        return str(os.nice(0)).encode()
    if word == b"features":
        return flags.get("FLAGS_cpu_features").encode()
    if word == b"public":
        return str(hasattr(sys.modules["paddle"], "Tensor")).encode()
    return payload
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("workers")
    (path / "worker_function.py").write_text(FUNCTION)
    sys.path.insert(0, str(path))
    yield path
    sys.path.remove(str(path))


@pytest.fixture
def pool(folder):
    pool = WorkerPool("worker_function:function", size=1)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def shared(folder):
    """For the tests that leave the worker as it was."""
    pool = WorkerPool("worker_function:function", size=1)
    yield pool
    pool.close()


def test_jobs_come_back_in_whatever_size(shared):
    payloads = [b"", b"x", bytes(range(256)) * 20_000]
    jobs = [shared.submit(p) for p in payloads]
    assert [job.result(WAIT_S) for job in jobs] == payloads
    assert all(job.done() for job in jobs)


def test_a_job_is_done_when_it_is(shared, tmp_path):
    job = shared.submit(b"wait " + str(tmp_path / "go").encode())
    assert not job.done()
    with pytest.raises(TimeoutError):
        job.result(0.01)
    (tmp_path / "go").touch()
    assert job.result(WAIT_S).startswith(b"wait")
    assert job.done()


def test_an_exception_is_an_error_with_its_text_and_the_worker_goes_on(shared):
    before = shared.submit(b"pid").result(WAIT_S)
    with pytest.raises(CompileError, match="ValueError: this cannot be compiled") as caught:
        shared.submit(b"fail").result(WAIT_S)
    assert not caught.value.crashed
    assert shared.submit(b"pid").result(WAIT_S) == before


def test_what_a_job_prints_is_no_message(shared):
    assert shared.submit(b"print").result(WAIT_S) == b"print"


def test_workers_are_light_and_of_low_priority(shared):
    assert shared.submit(b"public").result(WAIT_S) == b"False"
    if hasattr(os, "nice"):
        assert int(shared.submit(b"nice").result(WAIT_S)) == min(os.nice(0) + 5, 19)


def test_settings_of_the_target_reach_the_workers(shared):
    try:
        flags.set_("FLAGS_cpu_features", "generic")
        assert shared.submit(b"features").result(WAIT_S) == b"generic"
    finally:
        flags.set_("FLAGS_cpu_features", "")
    assert shared.submit(b"features").result(WAIT_S) == b""


def test_an_abort_costs_the_worker_and_the_job_alone(pool):
    jobs = [pool.submit(p) for p in (b"pid", b"abort", b"pid")]
    with pytest.raises(CompileError, match="(?s)while it compiled.*LLVM ERROR: cannot select") as caught:
        jobs[1].result(WAIT_S)
    assert caught.value.crashed
    assert jobs[0].result(WAIT_S) != jobs[2].result(WAIT_S)


def test_a_killed_worker_is_replaced(pool, tmp_path):
    pid = int(pool.submit(b"pid").result(WAIT_S))
    job = pool.submit(b"wait " + str(tmp_path / "never").encode())
    assert appears(tmp_path / "never.begun")
    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    with pytest.raises(CompileError, match="the compiler process ended") as caught:
        job.result(WAIT_S)
    assert not caught.value.crashed
    assert int(pool.submit(b"pid").result(WAIT_S)) != pid


def test_a_worker_killed_between_jobs_is_replaced(pool):
    pid = int(pool.submit(b"pid").result(WAIT_S))
    (worker,) = pool._workers
    worker.process.kill()
    worker.process.wait()
    assert int(pool.submit(b"pid").result(WAIT_S)) != pid


def test_when_workers_cannot_live_the_pool_gives_up_and_says_so_once(pool):
    for _ in range(3):
        with pytest.raises(CompileError):
            pool.submit(b"exit").result(WAIT_S)
    while not pool._notice:
        time.sleep(0.01)
    with pytest.warns(RuntimeWarning, match=r"(?s)\(Unavailable\) the compiler processes keep ending.*exit code 3"):
        job = pool.submit(b"x")
    with pytest.raises(CompileError, match="not available"):
        job.result(WAIT_S)
    with pytest.raises(CompileError, match="not available"):
        pool.submit(b"x").result(WAIT_S)


def test_a_function_that_is_not_there_is_an_error(folder):
    pool = WorkerPool("no_such_module:function", size=1)
    with pytest.raises(CompileError, match="(?s)before it was ready.*No module named 'no_such_module'"):
        pool.submit(b"x").result(WAIT_S)
    pool.close()


def test_no_interpreter_no_workers(pool, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(CompileError, match="no compiler process can be started"):
        pool.submit(b"x").result(WAIT_S)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(CompileError, match="no compiler process can be started"):
        pool.submit(b"x").result(WAIT_S)


def test_closing_ends_jobs_and_workers(pool, tmp_path):
    busy = pool.submit(b"wait " + str(tmp_path / "never").encode())
    waiting = pool.submit(b"x")
    pool.close()
    for job in (busy, waiting, pool.submit(b"y")):
        with pytest.raises(CompileError):
            job.result(WAIT_S)


def test_many_threads_submit(folder):
    pool = WorkerPool("worker_function:function", size=2)
    wrong = []

    def work(i):
        payloads = [f"{i} {j}".encode() for j in range(20)]
        results = [job.result(WAIT_S) for job in [pool.submit(p) for p in payloads]]
        if results != payloads:
            wrong.append(results)

    users = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    pool.close()
    assert not wrong


def run_script(folder, text, check=True):
    head = f"""
        import os, signal, sys, time
        WAIT_S = {WAIT_S}
        sys.path.insert(0, {str(folder)!r})
        from paddle.engine.cpu import workers
        from paddle.engine.cpu.workers import CompileError, WorkerPool
        pool = WorkerPool("worker_function:function", size=1)
        """
    script = textwrap.dedent(head) + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-Werror", "-Wignore::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
        timeout=2 * WAIT_S,
    )
    assert not check or (done.returncode, done.stderr) == (0, ""), done
    return done


def appears(path):
    for _ in range(WAIT_S * 50):
        if path.exists():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_workers_of_its_own(folder, tmp_path):
    go = tmp_path / "go"
    done = run_script(
        folder,
        f"""
        ready = pool.submit(b"x")
        assert ready.result(WAIT_S) == b"x"
        job = pool.submit(b"wait {go}")
        child = os.fork()
        if child == 0:
            assert ready.result() == b"x"
            assert job.done()
            try:
                job.result()
            except CompileError as error:
                print(error)
            try:
                pool.submit(b"y").result(WAIT_S)
            except CompileError as error:
                print(error)
            mine = WorkerPool("worker_function:function", size=1)
            print(mine.submit(b"z").result(WAIT_S), flush=True)
            mine.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        open({str(go)!r}, "w").close()
        assert job.result(WAIT_S).startswith(b"wait")
        pool.close()
        """,
    )
    expected = ["the compilation belongs to the parent of this process", "the compiler processes are not available"]
    assert done.stdout.splitlines() == [*expected, "b'z'"]


def test_the_interpreter_ends_with_jobs_under_way(folder, tmp_path):
    run_script(
        folder, f'workers._pool = pool; workers.atexit.register(pool.close); pool.submit(b"wait {tmp_path}/never")'
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill")
def test_a_worker_ends_when_its_parent_is_killed(folder, tmp_path):
    gone = tmp_path / "gone"
    text = f"""
        assert pool.submit(b"trace {gone}").result(WAIT_S)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    assert run_script(folder, text, check=False).returncode == -signal.SIGKILL
    assert appears(gone)


def test_the_compiler_itself_runs_in_the_workers(folder):
    done = run_script(
        folder,
        """
        try:
            workers.submit(b"{}").result(WAIT_S)
        except CompileError as error:
            print(error)
        """,
    )
    assert "compile_payload" in done.stdout
    assert "KeyError" in done.stdout
