"""A worker: the process that makes batches for a DataLoader, and what runs in it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...engine import flags
from . import generators
from .fetcher import END, Fetcher
from .shared import Nameless, SharedFile
from .transfer import Sender

EVERY = 16  # batches between two records of a worker's generators
EARLY = {signal.SIGINT, signal.SIGTERM}  # are held back until a worker has settled what they mean to it
_LOOK_S = 1.0  # how often a worker looks whether the loop's process is still there


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself.

    Attributes:
        num_workers (int): how many there are.
        id (int): from 0 on.
        dataset: this worker's copy.
        seed (int): of this worker's generators.
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


# ---- messages ---------------------------------------------------------------------------------
class Task(NamedTuple):
    """What the loop wants of a worker.

    Attributes:
        epoch: which pass over the data; another one than before starts it.
        number: of the batch in its pass; None asks for the state of the generators.
        indices: what the sampler gave.
        used: places of the shared file that the loop has copied from.
        discard: the batch is made for what it does to the generators or the stream, and not sent.
    """

    epoch: int
    number: int | None
    indices: Any = None
    used: tuple[int, ...] = ()
    discard: bool = False


class Reply(NamedTuple):
    """What a worker answers.

    Attributes:
        epoch, number: those of the task; epoch None: the worker could not start.
        content: a Parcel, a Failure, or None where there are no more batches.
        before: (how many batches of the pass this worker had made, its generators then), every now and then.
    """

    epoch: int | None
    number: int | None
    content: Any = None
    before: tuple[int, Any] | None = None


@dataclass(frozen=True)
class Failure:
    """An exception in a worker.

    Attributes:
        type_name: its class. text: the traceback.
        error: itself, None if it cannot be pickled or would end the loop without a word.
    """

    type_name: str
    text: str
    error: Exception | None


def _failure(e: BaseException) -> Failure:
    kept = None
    if isinstance(e, Exception) and not isinstance(e, (StopIteration, StopAsyncIteration)):
        try:
            again = pickle.loads(pickle.dumps(e))
            kept = e if type(again) is type(e) else None
        except Exception:
            pass  # its text is enough
    return Failure(type(e).__name__, "".join(traceback.format_exception(type(e), e, e.__traceback__)), kept)


# ---- the process ------------------------------------------------------------------------------
@dataclass
class Setup:
    """What a worker is given at its start.

    Attributes:
        id, count: which worker of how many. seed: base of the seeds. parent: the loop's process id.
        fetcher: makes batches. init: the user's function, called with the id.
        tasks, results: ends of pipes.
        file: shared memory, or None. words: where a traceback goes when the process is killed or hangs, or None.
        made: batches of the first pass that count as made. generators: what they left, or None.
    """

    id: int
    count: int
    seed: int
    parent: int
    fetcher: Fetcher
    init: Any
    tasks: Any
    results: Any
    file: SharedFile | None
    words: Nameless | None
    made: int = 0
    generators: Any = None


def work(setup: Setup) -> None:
    """A worker's life: one task after the other, until the loop closes its end of the pipe."""
    _prepare(setup)
    outbox = _Outbox(setup.results, setup.file is None)
    try:
        _begin(setup)
    except BaseException as e:
        outbox.put(Reply(None, None, _failure(e)))
        outbox.finish()
        return
    try:
        _serve(setup, outbox)
    except (EOFError, OSError):
        pass  # the loop is over, or its process: nobody is there to be told
    outbox.finish()


def _prepare(setup: Setup) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the loop, which ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what the loop's process does then is not ours to do
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, EARLY)
    threading.Thread(target=_end_with, args=(setup.parent,), daemon=True).start()
    if setup.words is not None:
        import faulthandler

        faulthandler.enable(setup.words.descriptor)
        faulthandler.register(signal.SIGUSR1, setup.words.descriptor)
    setup.fetcher.at = ""
    flags.set_("FLAGS_cpu_threads", 1)  # the cores belong to the training loop


def _end_with(parent: int) -> None:
    """Ends this process when that of the loop is gone, whatever the dataset is doing."""
    if os.name == "posix":
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
    else:
        import multiprocessing

        multiprocessing.parent_process().join()  # type: ignore[union-attr]
    os._exit(1)


def _begin(setup: Setup) -> None:
    global _info
    generators.seed_worker(setup.seed, setup.id)
    _info = WorkerInfo(setup.count, setup.id, setup.fetcher.dataset, setup.seed + setup.id)
    if setup.init is not None:
        setup.init(setup.id)
    if setup.generators is not None:
        generators.put(setup.generators)


def _serve(setup: Setup, outbox: _Outbox) -> None:
    sender, fetch = Sender(setup.file), None
    epoch, made = None, setup.made
    while True:
        task: Task = pickle.loads(setup.tasks.recv_bytes())
        sender.give_back(task.used)
        if task.epoch != epoch:
            made = setup.made if epoch is None else 0
            epoch, fetch = task.epoch, None
        before = None
        if task.number is None or (made % EVERY == 0 and not setup.fetcher.iterable):
            before = made, generators.take()
        content: Any = None
        if task.number is not None:
            try:
                fetch = fetch or setup.fetcher.start(sender.empty)
                batch = fetch(task.indices)
                if batch is not END and not task.discard:
                    content = sender.pack(batch)
                del batch
            except BaseException as e:
                content = _failure(e)
            sender.drop()  # what was not sent
            made += 1
        if not task.discard or isinstance(content, Failure):
            outbox.put(Reply(epoch, task.number, content, before))


class _Outbox:
    """Sends replies. Large ones, as there are without shared memory, are sent by a thread: a pipe holds little."""

    def __init__(self, results: Any, aside: bool):
        self.results = results
        self.thread: threading.Thread | None = None
        if aside:
            import queue

            self.waiting: Any = queue.SimpleQueue()
            self.thread = threading.Thread(target=self._send_on, daemon=True)
            self.thread.start()

    def put(self, reply: Reply) -> None:
        data = pickle.dumps(reply, 5)
        if self.thread is None:
            self.results.send_bytes(data)
        else:
            self.waiting.put(data)

    def _send_on(self) -> None:
        try:
            while (data := self.waiting.get()) is not None:
                self.results.send_bytes(data)
        except OSError:
            pass  # the loop is over

    def finish(self) -> None:
        if self.thread is not None:
            self.waiting.put(None)
            self.thread.join()
