"""Worker processes that fetch batches ahead of the loop that reads them."""

from __future__ import annotations

import itertools
import queue
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine import errors, flags
from ...engine.eager import trace as tracing
from .fetcher import Fetcher, arrays_of

_POLL_S = 1.0  # how often a waiting loop looks whether its workers are alive


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself.

    Attributes:
        num_workers (int): how many there are.
        id (int): from 0 on.
        dataset: this worker's copy.
        seed (int): of this worker's numpy generator.
    """

    num_workers: int
    id: int
    dataset: Any
    seed: int


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader: its `id`, `num_workers`, `dataset` and `seed`. None elsewhere.

    Examples:
        >>> paddle.io.get_worker_info() is None
        True
    """
    return _info


@dataclass(frozen=True)
class _Failure:
    """An exception that a worker raised, with its traceback as text; some exceptions cannot be pickled."""

    type_name: str
    text: str
    error: BaseException | None


_END = "end"  # an iterable dataset has no more batches in this worker


def _work(worker: int, count: int, seed: int, fetcher: Fetcher, init: Any, tasks: Any, results: Any) -> None:
    """A worker's life: one task (epoch, number, indices) after the other, until None comes."""
    global _info
    info = WorkerInfo(count, worker, fetcher.dataset, seed + worker)
    np.random.seed(info.seed % 2**32)
    flags.set_("FLAGS_cpu_threads", 1)  # the cores belong to the training loop
    _info = info
    epoch = None
    try:
        if init is not None:
            init(worker)
        while (task := tasks.get()) is not None:
            if task[0] != epoch:
                epoch, fetch = task[0], fetcher.start()
            try:
                data: Any = arrays_of(fetch(task[2]))
            except StopIteration:
                data = _END
            except Exception as e:
                data = _failure(e)
            results.put((task[0], task[1], data))
    except KeyboardInterrupt:
        pass  # the parent has it too, and says so
    except Exception as e:
        results.put((None, None, _failure(e)))


def _failure(e: BaseException) -> _Failure:
    import pickle

    try:
        pickle.loads(pickle.dumps(e))
        kept: BaseException | None = e
    except Exception:
        kept = None
    return _Failure(type(e).__name__, traceback.format_exc(), kept)


class WorkerPool:
    """Workers of one DataLoader, for one epoch or, if persistent, for all.

    Args:
        fetcher: makes a batch; goes to every worker.
        num_workers (int): processes.
        ahead (int): batches per worker that are fetched before they are asked for.
        init: called with the worker's number at its start.
        timeout (float): seconds to wait for a batch; 0 for ever.
    """

    def __init__(
        self, fetcher: Fetcher, num_workers: int, ahead: int, init: Callable[[int], Any] | None, timeout: float
    ):
        tracing.current().flush()  # a child must not find half a program
        import multiprocessing  # 10 ms that only workers are worth

        method = "fork" if "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin" else "spawn"
        context = multiprocessing.get_context(method)
        self.fetcher, self.ahead, self.timeout = fetcher, ahead, timeout
        self.epoch = 0
        self.results = context.Queue()
        self.tasks = [context.SimpleQueue() for _ in range(num_workers)]
        seed = int(np.random.randint(0, 2**31 - num_workers))
        self.processes = [
            context.Process(target=_work, args=(i, num_workers, seed, fetcher, init, q, self.results), daemon=True)
            for i, q in enumerate(self.tasks)
        ]
        with warnings.catch_warnings():
            # Python 3.12 warns of forking a process with threads; our child runs Python code only
            warnings.simplefilter("ignore", DeprecationWarning)
            for p in self.processes:
                p.start()

    def batches(self, order: Iterator[Any]) -> Iterator[Any]:
        """The batches for `order`, in its order, whichever worker is done first."""
        self.epoch += 1
        live = list(range(len(self.tasks)))
        turn = itertools.count()
        numbers = enumerate(order)
        owner: dict[int, int] = {}
        arrived: dict[int, Any] = {}

        def send() -> None:
            if live:
                number, indices = next(numbers, (None, None))
                if number is not None:
                    worker = live[next(turn) % len(live)]
                    owner[number] = worker
                    self.tasks[worker].put((self.epoch, number, indices))

        for _ in range(self.ahead * len(self.tasks)):
            send()
        expected = 0
        while expected in owner:
            while expected not in arrived:
                number, data = self._receive()
                arrived[number] = data
                send()
            data = arrived.pop(expected)
            worker = owner.pop(expected)
            expected += 1
            if data == _END if isinstance(data, str) else False:
                if worker in live:
                    live.remove(worker)
                send()
            else:
                yield data

    def _receive(self) -> tuple[int, Any]:
        started = time.monotonic()
        while True:
            try:
                epoch, number, data = self.results.get(timeout=_POLL_S)
            except queue.Empty:
                self._check(time.monotonic() - started)
                continue
            if isinstance(data, _Failure) and epoch in (self.epoch, None):
                self.close()
                raise self._error(data)
            if epoch == self.epoch:  # else: left over from an epoch that was not read to its end
                return number, data

    def _check(self, waited_s: float) -> None:
        dead = [p for p in self.processes if not p.is_alive()]
        if dead:
            self.close()
            raise errors.unavailable(
                f"DataLoader: worker process {dead[0].pid} ended with exit code {dead[0].exitcode}.",
                hint="exit code -9 often means that memory ran out.",
            )
        if self.timeout and waited_s >= self.timeout:
            self.close()
            raise errors.unavailable(
                "DataLoader: no batch came in time.", expected=f"a batch within timeout={self.timeout} seconds"
            )

    @staticmethod
    def _error(failure: _Failure) -> BaseException:
        if failure.error is None:
            return errors.unavailable(f"DataLoader: a worker raised {failure.type_name}.\n{failure.text}")
        failure.error.__cause__ = RuntimeError(f"in a worker of the DataLoader:\n{failure.text}")
        return failure.error

    def close(self) -> None:
        """Ends the workers; what they still had in hand is lost."""
        for q, p in zip(self.tasks, self.processes):
            if p.is_alive():
                try:
                    q.put(None)
                except OSError:
                    pass  # the pipe broke: it is ended below
        for p in self.processes:
            p.join(timeout=0.05)
            if p.is_alive():
                p.terminate()
                p.join(timeout=5)
        self.results.cancel_join_thread()
        self.results.close()
        for q in self.tasks:
            q.close()
        self.processes, self.tasks = [], []

    def __del__(self) -> None:
        if getattr(self, "processes", None):
            self.close()
