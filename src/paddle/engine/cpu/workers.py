"""Compilation in the background, in worker processes.

LLVM takes one lock for the whole process and ends the process when it meets something it cannot do. So compilations run
in a few processes of low priority that take a payload and give back an object. An abort there costs a worker.

A worker is a fresh interpreter that speaks over its standard input and output; it is neither forked nor started through
`multiprocessing`, so it needs no `__main__` guard in the user's script. It ends when its input closes.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from typing import IO, Any

from .. import flags
from ..errors import message
from .runtime import cores

__all__ = ["CompileError", "Job", "WorkerPool", "submit"]

_COMPILER = "paddle.engine.cpu.compiler:compile_payload"
# Starts a worker without the package's __init__, which imports the whole public API.
_BOOT = """
import json, sys, types
sys.path[:], folder, entry = json.loads(sys.argv[1])
package = types.ModuleType("paddle")
package.__path__ = [folder]
sys.modules["paddle"] = package
from paddle.engine.cpu.worker_main import main
main(entry)
"""
_MAX_DEATHS = 3
_LAST_WORDS_S = 2.0
_CRASHES = frozenset(
    -getattr(signal, name) for name in ("SIGABRT", "SIGSEGV", "SIGILL", "SIGBUS", "SIGFPE") if hasattr(signal, name)
)


class CompileError(Exception):
    """A job gave no object.

    Attributes:
        crashed: the compiler ended its process over this payload, and would end any other.
    """

    def __init__(self, text: str, crashed: bool = False) -> None:
        super().__init__(text)
        self.crashed = crashed


class Job:
    """A compilation under way."""

    __slots__ = ("_error", "_event", "_pid", "_value", "payload")

    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self._event = threading.Event()
        self._value: bytes | None = None
        self._error: CompileError | None = None
        self._pid = os.getpid()

    def done(self) -> bool:
        """Whether `result` returns or raises at once."""
        return self._value is not None or self._error is not None or self._pid != os.getpid()

    def result(self, timeout: float | None = None) -> bytes:
        """Waits for the object.

        Args:
            timeout (float, optional): seconds. Default: None, no limit.

        Returns:
            bytes: what the compiler made of the payload.

        Raises:
            CompileError: the compiler failed, its process ended, or this process is a fork of the one that asked.
            TimeoutError: the time is over.
        """
        if not self.done() and not self._event.wait(timeout):
            raise TimeoutError(f"the compilation takes longer than {timeout} s")
        if self._value is not None:
            return self._value
        raise self._error or CompileError("the compilation belongs to the parent of this process")

    def _finish(self, value: bytes | None = None, error: CompileError | None = None) -> None:
        self._value, self._error, self.payload = value, error, b""
        self._event.set()


def _unavailable() -> CompileError:
    return CompileError("the compiler processes are not available")


class _Ended(Exception):
    """The worker process is gone."""


class _Worker:
    """One process, and the thread here that talks to it."""

    def __init__(self, entry: str) -> None:
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        # BLAS would start a thread per core when numpy is imported, for nothing.
        quiet = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        options: dict[str, Any] = {}
        if os.name == "posix":
            options["start_new_session"] = True  # Ctrl-C at the terminal is not for workers
        else:
            options["creationflags"] = 0x00000200 | 0x00004000 | 0x08000000  # new group, low priority, no window
        self.log: IO[bytes] = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, json.dumps([sys.path, package, entry])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                bufsize=0,
                env={**os.environ, **quiet},
                **options,
            )
        except BaseException:
            self.log.close()
            raise
        self.ready = False

    def compile(self, payload: bytes) -> tuple[bool, bytes]:
        """(Whether it worked, the object or the error's text)."""
        if not self.ready:
            self._receive()
            self.ready = True
        settings = json.dumps({k: flags.get(k) for k in flags.known() if k.startswith("FLAGS_cpu_")}).encode()
        self._send(settings)
        self._send(payload)
        reply = self._receive()
        return reply[:1] == b"\0", reply[1:]

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(len(data).to_bytes(8, "little") + data)
        try:
            while view:
                view = view[self.process.stdin.write(view) :]
        except (OSError, ValueError) as error:
            raise _Ended from error

    def _receive(self) -> bytes:
        return self._read(int.from_bytes(self._read(8), "little"))

    def _read(self, count: int) -> bytes:
        assert self.process.stdout is not None
        parts = []
        while count:
            try:
                part = self.process.stdout.read(min(count, 1 << 20))
            except (OSError, ValueError) as error:
                raise _Ended from error
            if not part:
                raise _Ended
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def bury(self) -> CompileError:
        """Collects what is left of a worker that ended, and tells of it."""
        try:
            self.process.wait(_LAST_WORDS_S)  # its pipe is closed, but it may still be writing why
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.close()
        code = self.process.returncode
        crashed = self.ready and (code in _CRASHES or (os.name == "nt" and (code == 3 or code >= 0xC0000000)))
        what = "while it compiled" if self.ready else "before it was ready"
        text = f"the compiler process ended {what} (exit code {code})"
        return CompileError(f"{text}\n{self.said}" if self.said else text, crashed)

    said = ""

    def close(self) -> None:
        """Ends the process, if it still runs."""
        self.process.kill()
        self.process.wait()
        self.forget()
        try:
            size = self.log.seek(0, os.SEEK_END)
            self.log.seek(max(0, size - 4000))
            self.said = self.log.read().decode(errors="replace").strip()
            self.log.close()
        except (OSError, ValueError):
            self.said = ""

    def forget(self) -> None:
        """Closes our ends of the pipes."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class WorkerPool:
    """A queue of jobs and the workers that take from it; workers start when there is something to do.

    Args:
        entry (str): "module:function" from bytes to bytes, run in the workers.
        size (int): workers; 0 for one per two cores.
    """

    def __init__(self, entry: str = _COMPILER, size: int = 0) -> None:
        self.entry = entry
        self.size = size or max(1, cores() // 2)
        self._condition = threading.Condition()
        self._queue: collections.deque[Job] = collections.deque()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._deaths = 0
        self._closed = False
        self._notice = ""
        self._workers: set[_Worker] = set()
        _pools.add(self)

    def submit(self, payload: bytes) -> Job:
        """Queues a compilation; returns at once. Jobs start in the order in which they are submitted.

        Args:
            payload (bytes): what the compiler function takes.

        Returns:
            Job: its `result` is the object.
        """
        job = Job(payload)
        with self._condition:
            if self._closed:
                job._finish(error=_unavailable())
            else:
                self._queue.append(job)
                if self._idle < len(self._queue) and len(self._threads) < self.size:
                    self._add_thread()
                self._condition.notify()
            notice, self._notice = self._notice, ""
        if notice:
            warnings.warn(notice, RuntimeWarning, stacklevel=3)
        return job

    def _add_thread(self) -> None:
        thread = threading.Thread(target=self._serve, name=f"paddle-compile-{len(self._threads) + 1}", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads, or the interpreter is ending
            while not self._threads and self._queue:
                self._queue.pop()._finish(error=CompileError(str(error)))
            return
        self._threads.append(thread)

    def _serve(self) -> None:
        """The life of the thread that talks to one worker at a time."""
        worker: _Worker | None = None
        while True:
            with self._condition:
                self._idle += 1
                while not self._queue and not self._closed:
                    self._condition.wait()
                self._idle -= 1
                job = self._queue.popleft() if not self._closed else None
            if job is None:
                if worker is not None:
                    worker.close()
                return
            try:
                if worker is not None and worker.process.poll() is not None:  # it ended while it had nothing to do
                    self._workers.discard(worker)
                    worker.close()
                    worker = None
                worker = worker or self._start()
                worked, data = worker.compile(job.payload)
            except (_Ended, OSError) as error:
                if worker is not None:
                    failure = worker.bury()
                    self._workers.discard(worker)
                    worker = None
                else:
                    failure = CompileError(f"no compiler process can be started: {error}")
                job._finish(error=failure)
                self._count_death(failure)
            else:
                self._deaths = 0
                job._finish(value=data) if worked else job._finish(error=CompileError(data.decode()))

    def _start(self) -> _Worker:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this program is not run by a Python interpreter on disk")
        worker = _Worker(self.entry)
        with self._condition:
            self._workers.add(worker)
            if self._closed:
                worker.process.kill()
        return worker

    def _count_death(self, failure: CompileError) -> None:
        """Gives up when worker after worker ends for no fault of its payload: here they cannot live."""
        with self._condition:
            self._deaths += not failure.crashed
            if self._closed or self._deaths < _MAX_DEATHS:
                return
            self._notice = message(
                "Unavailable",
                "the compiler processes keep ending; this run compiles in its own process.",
                received=str(failure),
                at="",
            )
        self.close()

    def close(self) -> None:
        """Ends the workers. Jobs not done fail, also those submitted later."""
        with self._condition:
            self._closed = True
            waiting, self._queue = list(self._queue), collections.deque()
            workers = list(self._workers)
            self._condition.notify_all()
        for job in waiting:
            job._finish(error=_unavailable())
        for worker in workers:
            worker.process.kill()  # the thread that talks to it meets the end of the pipe
        deadline = time.monotonic() + 1.0
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def forget(self) -> None:
        """In a forked child: lets go of the parent's workers without a word to them."""
        self._closed = True
        for worker in self._workers:
            worker.forget()
            worker.process.returncode = 0  # not our child: nothing to wait for


_pool: WorkerPool | None = None
_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()
_lock = threading.Lock()


def _forked() -> None:
    global _pool, _lock
    for pool in list(_pools):
        pool.forget()
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def submit(payload: bytes) -> Job:
    """Queues a compilation by `compiler.compile_payload` in the process's pool, made at the first call.

    Args:
        payload (bytes): what `compile_payload` takes.

    Returns:
        Job: its `result` is the object.
    """
    global _pool
    with _lock:
        if _pool is None:
            _pool = WorkerPool()
            atexit.register(_pool.close)
        return _pool.submit(payload)
