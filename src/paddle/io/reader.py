"""`paddle.io.DataLoader`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..engine import errors
from .dataloader.batch_sampler import BatchSampler
from .dataloader.checks import require
from .dataloader.dataset import IterableDataset
from .dataloader.fetcher import Fetcher, tensors_of
from .dataloader.sampler import RandomSampler, SequenceSampler
from .dataloader.worker import WorkerPool

__all__ = ["DataLoader"]

# Told how long each batch was waited for: the loader, and when the wait began and ended, in ns of time.perf_counter_ns.
watchers: list[Callable[[Any, int, int], None]] = []


class DataLoader:
    """Batches of a dataset as Tensors.

    Args:
        dataset (Dataset): By index, or an IterableDataset.
        feed_list (list, optional): Names of the fields, for static programs.
        places (list, optional): Devices. Default: the current one.
        return_list (bool): False is of use in static programs alone. Default: True.
        batch_sampler (BatchSampler|Iterable, optional): Lists of indices, instead of batch_size, shuffle, drop_last.
        batch_size (int|None): Samples of a batch; None gives samples as they are. Default: 1.
        shuffle (bool): A new random order each epoch. Default: False.
        drop_last (bool): Leave out a last batch that is not full. Default: False.
        collate_fn (callable, optional): Joins a list of samples to a batch. Default: stacks them field by field.
        num_workers (int): Processes that read ahead. Default: 0, the batch is made when it is asked for.
        use_buffer_reader (bool), reader_buffer_size (int), use_shared_memory (bool): Hints of upstream to its
            reader; results are the same without.
        prefetch_factor (int): Batches that each worker reads ahead. Default: 2.
        timeout (float): Seconds to wait for a worker's batch; 0 waits for ever. Default: 0.
        worker_init_fn (callable, optional): Called with the number of each worker when it starts.
        persistent_workers (bool): Keep the workers from epoch to epoch. Default: False.

    Raises:
        AssertionError: Arguments that exclude each other or are out of range. ValueError: batch_sampler or shuffle
            for an IterableDataset, or its length asked for.

    Examples:
        >>> loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.arange(5)]), batch_size=2)
        >>> [batch.tolist() for (batch,) in loader]
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: BatchSampler | Iterable[list[int]] | None = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ):
        require(num_workers >= 0, "DataLoader: num_workers is negative.", "0 or more", num_workers)
        require(timeout >= 0, "DataLoader: timeout is negative.", "seconds, 0 or more", timeout)
        require(prefetch_factor > 0, "DataLoader: prefetch_factor is not positive.", "1 or more", prefetch_factor)
        if not return_list:
            warnings.warn("DataLoader: return_list=False has no effect outside static programs.", stacklevel=2)
        self.dataset, self.feed_list, self.places, self.return_list = dataset, feed_list, places, return_list
        self.collate_fn, self.num_workers, self.timeout = collate_fn, num_workers, timeout
        self.use_buffer_reader, self.reader_buffer_size = use_buffer_reader, reader_buffer_size
        self.prefetch_factor, self.use_shared_memory = prefetch_factor, use_shared_memory
        self.worker_init_fn, self._persistent_workers = worker_init_fn, persistent_workers
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            self._reject_order(shuffle, batch_sampler)
        self._set_batches(batch_sampler, batch_size, shuffle, drop_last)
        self._fetcher = Fetcher(
            dataset, self._iterable, collate_fn, self.batch_size if self._iterable else self._by_batch(), self.drop_last
        )
        self._pool: WorkerPool | None = None

    @staticmethod
    def _reject_order(shuffle: bool, batch_sampler: Any) -> None:
        if shuffle:
            raise errors.invalid_argument(
                "DataLoader: an IterableDataset cannot be shuffled.", expected="shuffle=False"
            )
        if batch_sampler is not None:
            raise errors.invalid_argument("DataLoader: an IterableDataset takes no batch_sampler.")

    def _set_batches(self, batch_sampler: Any, batch_size: int | None, shuffle: bool, drop_last: bool) -> None:
        """Sets batch_sampler (None for an iterable dataset, or without batches), batch_size and drop_last."""
        self.drop_last = drop_last
        self._samples: Any = None
        if batch_sampler is not None:
            require(
                batch_size == 1 and not shuffle and not drop_last,
                "DataLoader: batch_sampler excludes batch_size, shuffle and drop_last.",
            )
            self.batch_sampler, self.batch_size = batch_sampler, None
            return
        require(
            batch_size is None or batch_size > 0,
            "DataLoader: batch_size is not positive.",
            "a positive int, or None for no batches",
            batch_size,
        )
        self.batch_size = batch_size
        self.batch_sampler = None
        if batch_size is None:
            self._samples = RandomSampler(self.dataset) if shuffle else SequenceSampler(self.dataset)
        elif not self._iterable:
            self.batch_sampler = BatchSampler(self.dataset, None, shuffle, batch_size, drop_last)

    def _by_batch(self) -> int | None:
        """For a dataset by index: None without batches, else any number (the sampler knows the size)."""
        return None if self.batch_sampler is None else 1

    def __len__(self) -> int:
        if self._iterable:
            raise errors.invalid_argument("DataLoader: the length of an IterableDataset is not known.")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        return _Batches(self, self._in_workers() if self.num_workers else self._in_process())

    def __call__(self) -> Iterator[Any]:
        return self.__iter__()

    def _order(self) -> Iterator[Any]:
        if self._iterable:
            return iter(int, 1)  # without end: the stream ends it
        return iter(self._samples if self.batch_sampler is None else self.batch_sampler)

    def _in_process(self) -> Iterator[Any]:
        fetch = self._fetcher.start()
        for indices in self._order():
            try:
                data = fetch(indices)
            except StopIteration:
                return
            yield tensors_of(data, self._fetcher.fresh)

    def _in_workers(self) -> Iterator[Any]:
        pool = self._pool
        if pool is None or not pool.processes:
            pool = WorkerPool(self._fetcher, self.num_workers, self.prefetch_factor, self.worker_init_fn, self.timeout)
        if self._persistent_workers:
            self._pool = pool
        try:
            for data in pool.batches(self._order()):
                yield tensors_of(data, fresh=True)  # arrays from another process are ours
        finally:
            if not self._persistent_workers:
                pool.close()


class _Batches:
    """Batches of a loader. It keeps none: what the user has let go of may be overwritten."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]):
        self.loader, self.batches = loader, batches

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not watchers:
            return next(self.batches)
        began = time.perf_counter_ns()
        batch = next(self.batches)
        ended = time.perf_counter_ns()
        for tell in tuple(watchers):
            tell(self.loader, began, ended)
        return batch
