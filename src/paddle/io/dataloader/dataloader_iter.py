"""One pass over the data of a DataLoader, in this process or with workers."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from ...engine import errors
from . import generators
from .fetcher import END, tensors_of
from .memory import Memory
from .pool import WorkerPool
from .position import Pass, Turns, beyond, sampler_state, set_sampler_state
from .worker import Failure, Reply


class _DataLoaderIterBase:
    """An iterator of batches. It keeps none: what the user has let go of may be overwritten.

    Args:
        loader (DataLoader): What it reads.
    """

    def __init__(self, loader: Any):
        self._loader, self._memory = loader, Memory()
        self._lock = threading.Lock()  # several threads may share an iterator: each batch goes to one of them
        self._pass, self._resumed = loader._begin()
        self._finished = False
        if self._resumed is not None:
            here = self._pass
            here.start, here.sampler, here.batches = self._resumed.start, self._resumed.sampler, self._resumed.batches

    def __iter__(self) -> _DataLoaderIterBase:
        return self

    def __len__(self) -> int:
        if self._loader._iterable:
            raise errors.invalid_type("DataLoader: the length of an IterableDataset is not known.")
        return len(self._loader)

    def __next__(self) -> Any:
        watchers = self._loader._watchers()
        if not watchers:
            return self._batch()
        began = time.perf_counter_ns()
        batch = self._batch()
        ended = time.perf_counter_ns()
        for tell in tuple(watchers):
            tell(self._loader, began, ended)
        return batch

    def _batch(self) -> Any:
        with self._lock:
            return self._locked_batch()

    def _locked_batch(self) -> Any:
        if self._finished:
            raise StopIteration
        self._memory.next_batch()
        try:
            batch = self._advance()
        except BaseException:
            self._finished = True
            self._give_up()
            raise
        if batch is END:
            self._finished = self._pass.done = True
            self._end()
            raise StopIteration
        self._pass.batches += 1
        return batch

    def _advance(self) -> Any:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} gives no batches."))

    def _end(self) -> None:
        """After the last batch."""

    def _give_up(self) -> None:
        """After an exception."""

    def _order(self) -> Iterator[Any]:
        """What the sampler gives; for an iterable dataset None without end."""
        here, source = self._pass, self._loader._order_source()
        if here.start is None:
            here.start, here.sampler = generators.take(), sampler_state(source)
        return iter(source)

    def _again(self) -> Any:
        """Sets all that the order depends on as it was before the pass that is gone on with; gives what it is now."""
        now = generators.take()
        set_sampler_state(self._loader._order_source(), self._pass.sampler)
        generators.put(self._pass.start)
        return now


class _DataLoaderIterSingleProcess(_DataLoaderIterBase):
    """Makes each batch when it is asked for."""

    def __init__(self, loader: Any):
        super().__init__(loader)
        self._indices: Iterator[Any] | None = None
        self._fetch: Any = None

    def _advance(self) -> Any:
        if self._indices is None:
            self._start()
        indices = next(self._indices, END)  # type: ignore[call-overload]
        batch = END if indices is END else self._fetch(indices)
        return batch if batch is END else tensors_of(batch, self._loader._fetcher.fresh)

    def _start(self) -> None:
        fetcher, resumed = self._loader._fetcher, self._resumed
        if resumed is None or resumed.start is None:
            self._indices, self._fetch = self._order(), fetcher.start(self._memory.empty)
            return
        now = self._again()
        try:
            self._indices, self._fetch = self._order(), fetcher.start(self._memory.empty)
            for i in range(resumed.batches):
                indices = next(self._indices, END)  # type: ignore[call-overload]
                if indices is END or (fetcher.iterable and self._fetch(indices) is END):
                    raise beyond(resumed.batches, i)
        finally:
            generators.put(now)


class _DataLoaderIterMultiProcess(_DataLoaderIterBase):
    """Has workers make batches ahead. They come in the order of the sampler, whichever worker is first."""

    def __init__(self, loader: Any):
        super().__init__(loader)
        self._early: dict[int, Reply] = {}  # replies that came before their turn
        self._told: dict[int, Any] = {}  # indices of the batches that were asked for
        self._no_more = False  # the order is at its end
        self._broken: BaseException | None = None  # what the sampler raised; it is told when its batch is due
        self._pool: Any = None
        try:
            self._start()
        except BaseException:
            self._finished = True
            self._give_up()
            raise

    def _start(self) -> None:
        loader, here = self._loader, self._pass
        resumed = self._fitting()
        here.turns = Turns(loader.num_workers, loader.prefetch_factor)
        here.points = [(0, None)] * loader.num_workers
        if resumed is not None and resumed.turns is not None:
            here.points, here.turns.ahead = list(resumed.points), resumed.turns.ahead
        self._pool = self._take_pool(resumed)
        here.seed = self._pool.seed
        if self._resumed is None or self._resumed.start is None:
            self._indices = self._order()
            self._ask()
        else:
            self._go_on(self._resumed, again=resumed is not None)

    def _fitting(self) -> Pass | None:
        """The pass that is gone on with, if it had as many workers."""
        resumed, count = self._resumed, self._loader.num_workers
        if resumed is None or (resumed.turns is not None and resumed.turns.workers == count):
            return resumed
        if resumed.start is None:
            return None
        before = 0 if resumed.turns is None else resumed.turns.workers
        if self._loader._iterable:
            raise errors.invalid_argument(
                "DataLoader: a position in an IterableDataset belongs to the number of workers it was taken with.",
                expected=f"num_workers={before}",
                received=f"num_workers={count}",
            )
        warnings.warn(
            f"DataLoader: the position was taken with {before} workers, now there are {count}. The order goes on, but"
            " random numbers that the dataset draws are not those it would have drawn.",
            stacklevel=5,
        )
        return None

    def _take_pool(self, resumed: Pass | None) -> WorkerPool:
        loader = self._loader
        kept: WorkerPool | None = loader._pool
        idle = kept is None or kept.closed or kept.user is None or kept.user() is None or kept.user()._finished
        if loader._persistent_workers and idle and kept is not None and not kept.closed:
            kept.epoch += 1
            kept.user = weakref.ref(self)
            kept.ask()
            self._pass.pool = kept
            return kept
        known = resumed is not None and resumed.seed is not None
        pool = WorkerPool(
            loader._fetcher,
            loader.num_workers,
            loader.worker_init_fn,
            loader.timeout,
            loader.use_shared_memory,
            resumed.seed if known else generators.base_seed(),  # type: ignore[union-attr, arg-type]
            resumed.points if known else None,  # type: ignore[union-attr]
        )
        pool.user = weakref.ref(self)
        if loader._persistent_workers and idle:
            loader._pool = pool
        return pool

    def _go_on(self, resumed: Pass, again: bool) -> None:
        """Asks as the pass before did, for what its loop had not got.

        again: workers make the batches again that come after what is known of their generators.
        """
        turns = self._pass.turns
        assert turns is not None
        ended = set(resumed.turns.ended) if resumed.turns is not None and self._loader._iterable else set()
        given = resumed.turns.next if self._loader._iterable else resumed.batches  # type: ignore[union-attr]
        made = [0] * turns.workers
        now = self._again()
        try:
            self._indices = self._order()
            self._ask(send=False)
            while turns.next < given:
                number = turns.next
                if number not in turns.owner:
                    raise beyond(resumed.batches, number)
                worker = turns.owner[number]
                if number not in ended:
                    if again and made[worker] >= self._pass.points[worker][0]:
                        self._pool.send(worker, number, self._told[number], discard=True)
                    made[worker] += 1
                del self._told[number]
                turns.took(number in ended)
                self._ask(send=False)
        finally:
            generators.put(now)
        for number, worker in sorted(turns.owner.items()):
            self._pool.send(worker, number, self._told[number])

    def _ask(self, send: bool = True) -> None:
        """Asks for as many batches as workers should be ahead."""
        turns = self._pass.turns
        assert turns is not None
        while not self._no_more and turns.room():
            try:
                indices = next(self._indices)
            except StopIteration:
                self._no_more = True
                return
            except Exception as e:
                self._no_more, self._broken = True, e
                return
            number, worker = turns.ask()
            self._told[number] = indices
            if send:
                self._pool.send(worker, number, indices)

    def _advance(self) -> Any:
        turns, began = self._pass.turns, time.monotonic()
        while turns.next in turns.owner:
            number, worker = turns.next, turns.owner[turns.next]
            reply = self._reply(number, worker, began)
            indices = self._told.pop(number, None)
            if isinstance(reply.content, Failure):
                raise self._pool.failed(worker, number, reply.content, indices)
            if reply.before is not None:
                self._pass.points[worker] = reply.before
            batch = END if reply.content is None else self._pool.open(worker, reply.content, self._memory)
            turns.took(batch is END)
            self._ask()
            if batch is not END:
                return tensors_of(batch, fresh=True)  # arrays from another process are ours
        if self._broken is not None:
            raise self._broken
        return END

    def _reply(self, number: int, worker: int, began: float) -> Reply:
        reply = self._early.pop(number, None)
        while reply is None:
            sender, found = self._pool.receive(worker, began)
            if found.number < number:  # a batch that was to be made again
                raise self._pool.failed(sender, found.number, found.content)
            if found.number == number:
                reply = found
            else:
                self._early[found.number] = found
        return reply

    def _end(self) -> None:
        if self._pool is not self._loader._pool:
            self._pool.close()

    def _give_up(self) -> None:
        if self._pool is not None:
            self._pool.close()
