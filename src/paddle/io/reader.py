"""`paddle.io.DataLoader`."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from ..engine import errors
from ..framework.place import current_place, place_of
from .dataloader import generators
from .dataloader.batch_sampler import BatchSampler
from .dataloader.checks import is_positive_int, require, whole
from .dataloader.dataloader_iter import (
    _DataLoaderIterBase,
    _DataLoaderIterMultiProcess,
    _DataLoaderIterSingleProcess,
)
from .dataloader.dataset import IterableDataset
from .dataloader.fetcher import Fetcher
from .dataloader.pool import WorkerPool
from .dataloader.position import Pass, from_plain, sampler_state, set_sampler_state
from .dataloader.sampler import RandomSampler, SequenceSampler

__all__ = ["DataLoader"]

# Told how long each batch was waited for: the loader, and when the wait began and ended, in ns of time.perf_counter_ns.
watchers: list[Callable[[Any, int, int], None]] = []


class DataLoader:
    """Batches of a dataset as Tensors.

    With workers, batches are made ahead in processes of their own, and come in the same order as without. Large arrays
    come through shared memory that has no name: nothing is left of it, however a process ends. An exception in a
    worker is raised in the loop, with the worker's traceback as its cause; a worker that dies is named, and so is one
    that hangs, if there is a `timeout`.

    Each worker has its own seed for numpy's, Python's and Paddle's generators, another one each time that workers
    start, which `paddle.seed` makes the same in every run. In a program that never calls `paddle.seed` it comes from
    numpy's generator, as in upstream.

    Args:
        dataset (Dataset): By index (`__getitem__` and `__len__`), or an IterableDataset.
        feed_list (list of Tensor, optional): For static programs.
        places (Place|str|list of them, optional): Devices. Default: the current one.
        return_list (bool): False is of use in static programs alone. Default: True.
        batch_sampler (BatchSampler|Iterable, optional): Lists of indices, instead of batch_size, shuffle, drop_last.
        batch_size (int|None): Samples of a batch; None gives samples as they are. Default: 1.
        shuffle (bool): A new random order each epoch. Default: False.
        drop_last (bool): Leave out a last batch that is not full. Default: False.
        collate_fn (callable, optional): Joins a list of samples to a batch. Default: stacks them field by field.
        num_workers (int): Processes that read ahead. Default: 0, the batch is made when it is asked for.
        use_buffer_reader (bool), reader_buffer_size (int): Hints of upstream to its reader; no effect here.
        prefetch_factor (int): Batches that each worker reads ahead. Default: 2.
        use_shared_memory (bool): False sends arrays through a pipe, which is slower. Default: True.
        timeout (float): Seconds to wait for a worker's batch; 0 waits for ever. Default: 0.
        worker_init_fn (callable, optional): Called with the number of each worker when it starts.
        persistent_workers (bool): Keep the workers from epoch to epoch. Default: False.

    Raises:
        AssertionError: Arguments that exclude each other or are out of range. ValueError: batch_sampler or shuffle
            for an IterableDataset, or its length asked for; a place that this build does not have. TypeError: an
            argument of another type.

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
        self._iterable = isinstance(dataset, IterableDataset)
        _check_dataset(dataset, self._iterable, batch_sampler)
        self.num_workers = whole(num_workers, "DataLoader: num_workers")
        require(self.num_workers >= 0, "DataLoader: num_workers is negative.", "0 or more", num_workers)
        self.prefetch_factor = whole(prefetch_factor, "DataLoader: prefetch_factor")
        require(prefetch_factor > 0, "DataLoader: prefetch_factor is not positive.", "1 or more", prefetch_factor)
        if not isinstance(timeout, numbers.Real):
            raise _wrong("timeout", "seconds, an int or float", timeout)
        require(timeout >= 0, "DataLoader: timeout is negative.", "seconds, 0 or more", timeout)
        for name, function in (("collate_fn", collate_fn), ("worker_init_fn", worker_init_fn)):
            if function is not None and not callable(function):
                raise _wrong(name, "a function, or None", function)
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise _wrong("feed_list", "a list of Tensors, or None", feed_list)
        if not return_list:
            warnings.warn("DataLoader: return_list=False has no effect outside static programs.", stacklevel=2)
        given = places if isinstance(places, (list, tuple)) else [current_place() if places is None else places]
        self.places = [place_of(p, "DataLoader") for p in given]
        self.dataset, self.feed_list, self.return_list = dataset, feed_list, return_list
        self.collate_fn, self.timeout, self.worker_init_fn = collate_fn, timeout, worker_init_fn
        self.use_buffer_reader, self.reader_buffer_size = use_buffer_reader, reader_buffer_size
        self.use_shared_memory = bool(use_shared_memory and self.num_workers)
        self.pin_memory = False
        self._persistent_workers = persistent_workers
        if self._iterable:
            _reject_order(shuffle, batch_sampler)
        self._set_batches(batch_sampler, batch_size, shuffle, drop_last)
        self.auto_collate_batch = batch_sampler is not None or batch_size is not None
        self._fetcher = Fetcher(
            dataset, self._iterable, collate_fn, self.batch_size if self._iterable else self._by_batch(), self.drop_last
        )
        self._pool: WorkerPool | None = None
        self._epoch = 0  # number of the next pass over the data
        self._pass: Pass | None = None  # the last that was begun
        self._resume: Pass | None = None  # what the next one goes on with

    def _set_batches(self, batch_sampler: Any, batch_size: int | None, shuffle: bool, drop_last: bool) -> None:
        """Sets batch_sampler (None for an iterable dataset, or without batches), batch_size and drop_last."""
        self.drop_last = drop_last
        self._samples: Any = None
        if batch_sampler is not None:
            if not isinstance(batch_sampler, Iterable):
                raise _wrong("batch_sampler", "paddle.io.BatchSampler, or lists of indices", batch_sampler)
            require(
                batch_size == 1 and not shuffle and not drop_last,
                "DataLoader: batch_sampler excludes batch_size, shuffle and drop_last.",
            )
            self.batch_sampler, self.batch_size = batch_sampler, None
            return
        if batch_size is not None and not isinstance(batch_size, numbers.Number):
            raise _wrong("batch_size", "a positive int, or None for no batches", batch_size)
        require(
            batch_size is None or is_positive_int(batch_size),
            "DataLoader: batch_size is no positive int.",
            "a positive int, or None for no batches",
            batch_size,
        )
        self.batch_size = batch_size
        self.batch_sampler = None
        if batch_size is None:
            if not self._iterable:
                self._samples = RandomSampler(self.dataset) if shuffle else SequenceSampler(self.dataset)
        elif not self._iterable:
            self.batch_sampler = BatchSampler(self.dataset, None, shuffle, batch_size, drop_last)

    def _by_batch(self) -> int | None:
        """For a dataset by index: None without batches, else any number (the sampler knows the size)."""
        return None if self.batch_sampler is None else 1

    def _order_source(self) -> Any:
        """What the order of a pass is drawn from. An iterable dataset has its own, and ends by itself."""
        if self._iterable:
            return repeat(None)
        return self._samples if self.batch_sampler is None else self.batch_sampler

    def __len__(self) -> int:
        if self._iterable:
            raise errors.invalid_argument("DataLoader: the length of an IterableDataset is not known.")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> _DataLoaderIterBase:
        return _DataLoaderIterMultiProcess(self) if self.num_workers else _DataLoaderIterSingleProcess(self)

    def __call__(self) -> _DataLoaderIterBase:
        return self.__iter__()

    def _watchers(self) -> list[Callable[[Any, int, int], None]]:
        return watchers

    # -- going on in another process --
    def _begin(self) -> tuple[Pass, Pass | None]:
        """A new pass, and what it goes on with."""
        resumed, self._resume = self._resume, None
        self._pass = Pass(self._epoch)
        self._epoch += 1
        return self._pass, resumed

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is in its data. A later process that sets it goes on there, bit for bit.

        Batches that were handed out count as used, those that workers have made ahead do not. Numpy's and Python's
        generators, from which orders and samples are drawn, are part of it; Paddle's is not, see
        `paddle.get_rng_state`.

        Returns:
            dict: numbers, strings, lists and dictionaries, for `paddle.save` or json. `epoch` counts the passes over
            the data before the present one, `batches` those that it has handed out.

        Examples:
            >>> data = paddle.io.TensorDataset([paddle.arange(6)])
            >>> loader = paddle.io.DataLoader(data, batch_size=2)
            >>> first = next(iter(loader))
            >>> later = paddle.io.DataLoader(data, batch_size=2)
            >>> later.set_state_dict(loader.state_dict())
            >>> [batch.tolist() for (batch,) in later]
            [[2, 3], [4, 5]]
        """
        here = self._resume or self._pass
        if here is None or here.done:
            here = self._between(here)
        now = generators.to_plain(generators.take())
        return {
            **here.to_plain(),
            "length": self._known_length(),
            "generators": {k: now[k] for k in ("numpy", "python")},
        }

    def _between(self, last: Pass | None) -> Pass:
        """The next pass, which has not begun."""
        found = Pass(self._epoch)
        found.sampler = None if self._iterable else sampler_state(self._order_source())
        if last is not None and last.turns is not None and self._pool is not None and not self._pool.closed:
            self._pool.ask()  # workers that stay know best how their generators go on
            found.seed, found.turns = self._pool.seed, last.turns.anew()
            found.points = [(0, state) for state in self._pool.answers()]
        return found

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on, with the next iteration, where `state_dict` was called.

        The dataset, the sampler, the batch size and, for random numbers that the dataset draws and for an
        IterableDataset, the number of workers must be the same. Numpy's and Python's generators are set at once, so
        this comes last before the loop.

        Args:
            state (dict): What `state_dict` gave.

        Raises:
            ValueError: It is something else, or of a loader with another number of batches.

        Examples:
            >>> loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.arange(6)]), batch_size=2)
            >>> state = loader.state_dict()
            >>> loader.set_state_dict(state)
            >>> len([batch for batch in loader])
            3
        """
        try:
            resumed, now = from_plain(state), {**state["generators"], "paddle": (0, 0, 0)}
            length = state["length"]
        except (KeyError, TypeError, ValueError) as e:
            raise errors.invalid_argument(
                "DataLoader.set_state_dict: this is no state of a DataLoader.",
                expected="what state_dict() gave",
                received=f"{type(state).__name__}: {type(e).__name__} {e}",
            ) from None
        if None not in (length, self._known_length()) and length != self._known_length():
            raise errors.invalid_argument(
                "DataLoader.set_state_dict: the state is of a loader with another number of batches.",
                expected=f"{length} batches in an epoch",
                received=f"{self._known_length()} batches",
                hint="the dataset, the batch size and drop_last must be those of the checkpoint.",
            )
        restored = generators.from_plain(now)
        generators.put({k: restored[k] for k in ("numpy", "python")})
        if not self._iterable:
            set_sampler_state(self._order_source(), resumed.sampler)
        if self._pool is not None:
            self._pool.close()  # workers start anew from their states
            self._pool = None
        self._resume, self._epoch, self._pass = resumed, resumed.epoch, None

    def _known_length(self) -> int | None:
        try:
            return None if self._iterable else len(self)
        except TypeError:  # a sampler without length
            return None


def _wrong(name: str, expected: str, received: Any) -> Exception:
    return errors.invalid_type(
        f"DataLoader: {name} is of another type.",
        expected=expected,
        received=f"{received!r} ({type(received).__name__})",
    )


def _check_dataset(dataset: Any, iterable: bool, batch_sampler: Any) -> None:
    require(dataset is not None, "DataLoader: there is no dataset.", "paddle.io.Dataset", "None")
    has_length = batch_sampler is not None or hasattr(dataset, "__len__")
    if iterable or (hasattr(dataset, "__getitem__") and has_length):
        return
    hint = "derive from paddle.io.Dataset and give samples by index."
    if hasattr(dataset, "__iter__"):
        hint = "derive from paddle.io.IterableDataset and yield samples in its __iter__."
    raise errors.invalid_type(
        "DataLoader: this is no dataset.",
        expected="a paddle.io.Dataset, or an object with __getitem__ and __len__",
        received=f"{dataset!r} ({type(dataset).__name__})",
        hint=hint,
    )


def _reject_order(shuffle: bool, batch_sampler: Any) -> None:
    if shuffle:
        raise errors.invalid_argument(
            "DataLoader: an IterableDataset cannot be shuffled.",
            expected="shuffle=False",
            received=f"shuffle={shuffle!r}",
            hint="shuffle inside its __iter__.",
        )
    if batch_sampler is not None:
        raise errors.invalid_argument(
            "DataLoader: an IterableDataset takes no batch_sampler.",
            expected="batch_sampler=None",
            received=type(batch_sampler).__name__,
        )
