"""The loop's side of the workers: starts them, hands out tasks, notices when one dies or hangs, ends them."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ...engine import errors
from ...engine.eager import trace as tracing
from .fetcher import Fetcher
from .memory import Memory
from .shared import Nameless, SharedFile, available
from .transfer import Parcel, Receiver
from .worker import EARLY, Failure, Reply, Setup, Task, get_worker_info, work

_LOOK_S = 1.0  # how often a waiting loop looks whether its workers are alive
_GRACE_S = 0.1  # for workers that are done to end by themselves
_LAST_WORDS_S = 1.0  # for a worker that hangs to tell where


class Worker:
    """One worker, as the loop sees it.

    Attributes:
        tasks, results: our ends of its pipes.
        open: tasks that it has not answered.
        used: places of its shared file that we have copied from since the last task.
    """

    def __init__(self, setup: Setup, context: Any):
        self.id = setup.id
        self.file, self.words = setup.file, setup.words
        self.receiver = Receiver(setup.file)
        self.open: deque[Task] = deque()
        self.used: list[int] = []
        setup.tasks, self.tasks = context.Pipe(duplex=False)
        self.results, setup.results = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(setup,), daemon=True)

    def start(self, setup: Setup) -> None:
        block = getattr(signal, "pthread_sigmask", lambda how, signals: ())
        before = block(getattr(signal, "SIG_BLOCK", 0), EARLY)
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of forking a process with threads; our child runs Python code only
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process.start()
        finally:
            block(getattr(signal, "SIG_SETMASK", 0), before)
            setup.tasks.close()  # so that a pipe ends when the worker does
            setup.results.close()

    def release(self, files: bool = True) -> None:
        """Closes what this process has of the worker."""
        for end in (self.tasks, self.results, *((self.file, self.words) if files else ())):
            if end is not None:
                end.close()

    def __str__(self) -> str:
        return f"worker {self.id} (process {self.process.pid})"

    def busy_with(self) -> str:
        task = next((t for t in self.open if t.number is not None), None)
        if task is None:
            return "it had no batch to make"
        indices = "" if task.indices is None else f", indices {_short(task.indices)}"
        return f"it was to make batch {task.number}{indices}"

    def words_of(self) -> str:
        """What the worker wrote of itself when it crashed or was asked: where in the dataset it was."""
        text = "" if self.words is None or self.words.descriptor < 0 else self.words.read().strip()
        reason, _, frames = text.rpartition("Current thread")
        lines = frames.splitlines()[1:]
        ours = next((i for i, line in enumerate(lines) if line.endswith("in _serve")), len(lines))
        told = [line for line in reason.splitlines()[:1] if line.startswith("Fatal")] + lines[:ours]
        return "; where it was, innermost first:\n" + "\n".join(told) if lines else ""


def _short(indices: Any, limit: int = 100) -> str:
    text = repr(indices)
    return text if len(text) <= limit else text[:limit] + "..."


def _method() -> str:
    import multiprocessing

    return "fork" if "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin" else "spawn"


class WorkerPool:
    """Workers of one DataLoader, for one pass over the data or, if persistent, for all.

    Args:
        fetcher: makes a batch; goes to every worker.
        count (int): processes.
        init: called with the worker's number at its start.
        timeout (float): seconds to wait for a batch; 0 for ever.
        share (bool): whether arrays go through shared memory.
        seed (int): base of the workers' seeds.
        points: per worker the batches made in the pass that is gone on with, and the generators then; None: no such.

    Raises:
        RuntimeError: this process is a worker itself. TypeError: something cannot be sent to a worker.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        count: int,
        init: Callable[[int], Any] | None,
        timeout: float,
        share: bool,
        seed: int,
        points: Sequence[tuple[int, Any]] | None = None,
    ):
        import multiprocessing  # 10 ms that only workers are worth

        if multiprocessing.current_process().daemon:
            raise errors.precondition(
                "DataLoader: this process may not start workers.",
                expected="the process of the training loop",
                received="a worker of a DataLoader" if get_worker_info() else "a daemonic process",
                hint="num_workers=0 for a loader that is used inside a dataset.",
            )
        tracing.current().flush()  # a child must not find half a program
        context: Any = multiprocessing.get_context(_method())
        self.forked = context.get_start_method() == "fork"
        self.timeout, self.seed, self.epoch = timeout, seed, 0
        self.user: Any = None  # weak, the iterator that is at work with these workers
        self.workers: list[Worker] = []
        self.starting: Worker | None = None
        # the states of generators that workers were asked for: those of a pass before its first batch
        self.reports: dict[int, Any] = {}
        self.end = weakref.finalize(self, _end, self.workers)
        _pools.add(self)
        try:
            for i in range(count):
                made, state = points[i] if points is not None else (0, None)
                setup = Setup(i, count, seed, os.getpid(), fetcher, init, None, None,
                              SharedFile() if share and available() else None, Nameless() if available() else None,
                              made, state)  # fmt: skip
                worker = self.starting = Worker(setup, context)
                self.workers.append(worker)
                try:
                    worker.start(setup)
                except Exception as e:
                    self.workers.pop().release()
                    unfit = _not_sent(fetcher, init)
                    if unfit is None:
                        raise
                    raise unfit from e
                self.starting = None
        except BaseException:
            self.close()
            raise

    # -- tasks and replies --
    def send(self, worker: int, number: int | None, indices: Any = None, discard: bool = False) -> None:
        """Gives a worker a task."""
        w = self.workers[worker]
        used, w.used = tuple(w.used), []
        task = Task(self.epoch, number, indices, used, discard)
        if not discard:
            w.open.append(task)
        try:
            w.tasks.send_bytes(pickle.dumps(task, 5))
        except OSError:
            pass  # it is dead, which is told where its replies are waited for

    def receive(self, worker: int, began: float) -> tuple[int, Reply]:
        """The next reply of some worker, and who that is; `worker` is waited for, since `began` (time.monotonic).

        Raises:
            RuntimeError: A worker is dead, or the time is over.
        """
        from multiprocessing.connection import wait

        expected = self.workers[worker].results
        ready: Sequence[Any] = [expected] if expected.poll(0) else []
        while True:
            for end in ready:
                w = next(w for w in self.workers if w.results is end)
                reply = self._read(w)
                if reply is not None:
                    return w.id, reply
            limit = _LOOK_S
            if self.timeout:
                limit = min(limit, began + self.timeout - time.monotonic())
                if limit <= 0:
                    raise self._hangs(self.workers[worker])
            ready = wait([w.results for w in self.workers], limit)
            if not ready:
                for w in self.workers:
                    if not w.process.is_alive() and not w.results.poll(0):
                        raise self._died(w)

    def _read(self, w: Worker) -> Reply | None:
        """A reply; None if it belongs to a pass that was not read to its end."""
        try:
            reply: Reply = pickle.loads(w.results.recv_bytes())
        except (EOFError, OSError):
            raise self._died(w) from None
        if reply.epoch is None:
            raise self.failed(w.id, None, reply.content)
        w.open.popleft()
        if reply.epoch == self.epoch and reply.number is None:
            self.reports[w.id] = reply.before[1]  # type: ignore[index]
            return None
        if reply.epoch != self.epoch:
            if isinstance(reply.content, Parcel):
                w.used.extend(reply.content.starts)
            return None
        return reply

    def open(self, worker: int, parcel: Parcel, memory: Memory) -> Any:
        """The batch of a reply."""
        w = self.workers[worker]
        try:
            return w.receiver.open(parcel, memory)
        finally:
            w.used.extend(parcel.starts)

    # -- generators of workers that go on from pass to pass --
    def ask(self) -> None:
        """Asks every worker for its generators as they are after all tasks so far."""
        self.reports = {}
        for w in self.workers:
            self.send(w.id, None)

    def answers(self) -> list[Any]:
        """What `ask` asked for. Batches come after it, as they were asked for later."""
        for w in self.workers:
            while w.id not in self.reports:
                if w.results.poll(_LOOK_S):
                    self._read(w)
                elif not w.process.is_alive():
                    raise self._died(w)
        return [self.reports[w.id] for w in self.workers]

    # -- what can go wrong --
    def failed(self, worker: int, number: int | None, failure: Failure, indices: Any = None) -> Exception:
        """The exception for the loop, when a worker raised one. Ends the workers."""
        w = self.workers[worker]
        what = "at its start" if number is None else f"batch {number}"
        if indices is not None:
            what += f", indices {_short(indices)}"
        where = f"in a worker of the DataLoader ({w}, {what}):\n{failure.text.strip()}"
        self.close()
        if failure.error is None:
            return errors.unavailable(f"DataLoader: {failure.type_name} was raised {where}")
        failure.error.__cause__ = RuntimeError(where)
        return failure.error

    def _died(self, w: Worker) -> Exception:
        w.process.join(5)
        code = w.process.exitcode
        if code is None:
            how, hint = "closed its pipe and lives on", ""
        elif code < 0:
            name = _signal_name(-code)
            how, hint = f"was killed by {name} (exit code {code})", _SIGNAL_HINTS.get(name, "")
        else:
            how, hint = f"ended with exit code {code}", "" if self.forked else _MAIN_HINT
        received = w.busy_with() + w.words_of()
        self.close()
        return errors.unavailable(
            f"DataLoader: {w} {how}.", expected="a worker lives until the loop ends",
            received=received, hint=hint,
        )  # fmt: skip

    def _hangs(self, w: Worker) -> Exception:
        text = ""
        if w.words is not None and w.process.is_alive():
            try:
                os.kill(w.process.pid, signal.SIGUSR1)
            except OSError:
                pass  # it has just ended
            until, before = time.monotonic() + _LAST_WORDS_S, None
            while time.monotonic() < until and not (text and text == before):
                time.sleep(0.02)
                before, text = text, w.words_of()
        received = w.busy_with() + text
        self.close()
        return errors.unavailable(
            f"DataLoader: no batch came in time from {w}.",
            expected=f"a batch within timeout={self.timeout} seconds",
            received=received,
            hint="a larger timeout, if batches take that long.",
        )

    # -- the end --
    def close(self) -> None:
        """Ends the workers; what they still had in hand is lost."""
        self.end()

    def forget(self) -> None:
        """In a forked child: lets go of the parent's workers without a word to them."""
        self.end.detach()
        for w in self.workers:
            w.release(files=w is not self.starting)  # this may be the very worker, which needs its files
        self.workers.clear()

    @property
    def closed(self) -> bool:
        return not self.workers


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _forked() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _end(workers: list[Worker]) -> None:
    for w in workers:
        w.tasks.close()  # one that has nothing to do ends now
    until = time.monotonic() + _GRACE_S
    for w in workers:
        w.process.join(max(0.0, until - time.monotonic()))
    # A busy machine may take long to end a process that is killed; it is waited for, so that nothing is left.
    for stop, wait_s in ((lambda p: p.terminate(), 2), (lambda p: p.kill(), 60)):
        for w in workers:
            if w.process.is_alive():
                stop(w.process)
        for w in workers:
            w.process.join(wait_s)
    for w in workers:
        w.release()
    workers.clear()


_MAIN_HINT = (
    "on this system workers import the script: guard what it does by `if __name__ == '__main__':`, and look above for"
    " what the worker printed."
)
_SIGNAL_HINTS = {
    "SIGKILL": "the kernel does that where memory runs out: try fewer workers, a smaller prefetch_factor or batch.",
}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _not_sent(fetcher: Fetcher, init: Any) -> Exception | None:
    """The error that names what cannot be sent to a worker; None if all can."""
    for name, part in (("dataset", fetcher.dataset), ("collate_fn", fetcher.collate), ("worker_init_fn", init)):
        try:
            pickle.dumps(part)
        except Exception as why:
            return errors.invalid_type(
                f"DataLoader: the {name} cannot be sent to a worker.",
                expected="on this system: what pickle can write, such as classes and functions of a module",
                received=f"{type(part).__name__}: {why}",
                hint="move it to the top level of a module, or use num_workers=0.",
            )
    return None
