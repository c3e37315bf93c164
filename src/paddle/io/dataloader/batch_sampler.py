"""Batches of indices, in one process or shared out among several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...engine import errors
from .checks import is_positive_int, require
from .dataset import IterableDataset
from .sampler import RandomSampler, Sampler, SequenceSampler


class BatchSampler(Sampler[list]):
    """Lists of indices, one per batch.

    Args:
        dataset (Dataset, optional): Read in order, or shuffled.
        sampler (Sampler|Iterable, optional): Gives the order instead of dataset.
        shuffle (bool): Of dataset. Default: False.
        batch_size (int): Samples per batch. Default: 1.
        drop_last (bool): Leave out a last batch that is not full. Default: False.

    Raises:
        AssertionError: Both or neither of dataset and sampler, or an argument of the wrong type.

    Examples:
        >>> list(paddle.io.BatchSampler(range(5), batch_size=2))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any = None,
        sampler: Sampler | Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ):
        require(dataset is not None or sampler is not None, "BatchSampler: neither dataset nor sampler is given.")
        require(isinstance(shuffle, bool), "BatchSampler: shuffle is no boolean.", "bool", repr(shuffle))
        require(isinstance(drop_last, bool), "BatchSampler: drop_last is no boolean.", "bool", repr(drop_last))
        require(
            is_positive_int(batch_size), "BatchSampler: batch_size is not positive.", "a positive int", repr(batch_size)
        )
        if sampler is None:
            require(
                not isinstance(dataset, IterableDataset), "BatchSampler: an IterableDataset has no samples by index."
            )
            self.sampler: Any = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        else:
            require(dataset is None, "BatchSampler: both dataset and sampler are given.", "one of them")
            require(not shuffle, "BatchSampler: shuffle goes with dataset; a sampler has its own order.")
            require(isinstance(sampler, Iterable), "BatchSampler: sampler is not iterable.", "Sampler", sampler)
            self.sampler = sampler
        self.shuffle, self.batch_size, self.drop_last = shuffle, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return _batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return _count(len(self.sampler), self.batch_size, self.drop_last)

    def state_dict(self) -> dict[str, Any]:
        """What the next order depends on besides the random generators; see `DataLoader.state_dict` for the position.

        Returns:
            dict: the `epoch`, for a sampler that has one, and the state of the `sampler` inside.

        Examples:
            >>> sampler = paddle.io.DistributedBatchSampler(range(8), 2, num_replicas=2, rank=0, shuffle=True)
            >>> first = list(sampler)
            >>> sampler.state_dict()
            {'epoch': 1}
        """
        state: dict[str, Any] = {}
        if isinstance(getattr(self, "epoch", None), int):
            state["epoch"] = self.epoch  # type: ignore[has-type]
        inner = getattr(self, "sampler", None)  # subclasses may have none
        if hasattr(inner, "state_dict"):
            state["sampler"] = inner.state_dict()
        return state

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Sets what `state_dict` gave.

        Args:
            state (dict): What it gave.

        Examples:
            >>> sampler = paddle.io.DistributedBatchSampler(range(8), 2, num_replicas=2, rank=0, shuffle=True)
            >>> sampler.set_state_dict({"epoch": 3})
            >>> sampler.epoch
            3
        """
        if "epoch" in state:
            self.epoch = state["epoch"]
        if "sampler" in state:
            self.sampler.set_state_dict(state["sampler"])


def _batches(order: Iterable[int], size: int, drop_last: bool) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in order:
        batch.append(i)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def _count(samples: int, size: int, drop_last: bool) -> int:
    return samples // size if drop_last else -(-samples // size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one process out of several; together they cover the dataset.

    The dataset is padded with its first samples until every process has as many. Batch b of process r holds the
    samples from (b * num_replicas + r) * batch_size on.

    Args:
        dataset (Dataset): What is read.
        batch_size (int): Samples per batch and process.
        num_replicas (int, optional): Processes. Default: `paddle.distributed.get_world_size()`.
        rank (int, optional): This process. Default: `paddle.distributed.get_rank()`.
        shuffle (bool): A new order every epoch, the same in every process. Default: False.
        drop_last (bool): Leave out a last batch that is not full. Default: False.

    Raises:
        AssertionError: An argument of the wrong type, or not positive.

    Examples:
        >>> list(paddle.io.DistributedBatchSampler(range(7), 2, num_replicas=3, rank=2))
        [[4, 5], [1]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ):
        name = "DistributedBatchSampler"
        require(is_positive_int(batch_size), f"{name}: batch_size is not positive.", "a positive int", repr(batch_size))
        require(isinstance(shuffle, bool), f"{name}: shuffle is no boolean.", "bool", repr(shuffle))
        require(isinstance(drop_last, bool), f"{name}: drop_last is no boolean.", "bool", repr(drop_last))
        from ...distributed import get_rank, get_world_size

        if num_replicas is not None:
            require(is_positive_int(num_replicas), f"{name}: num_replicas is not positive.", "positive", num_replicas)
        if rank is not None:
            require(isinstance(rank, int) and rank >= 0, f"{name}: rank is no int of 0 or more.", "0 or more", rank)
        if not hasattr(dataset, "__len__"):
            raise errors.invalid_type(
                f"{name}: the dataset has no length.", expected="paddle.io.Dataset", received=repr(dataset)
            )
        self.dataset, self.batch_size, self.shuffle, self.drop_last = dataset, batch_size, shuffle, drop_last
        self.nranks = get_world_size() if num_replicas is None else num_replicas
        self.local_rank = get_rank() if rank is None else rank
        require(
            self.nranks == 1 or self.local_rank < self.nranks,
            f"{name}: there is no such process.",
            f"rank less than num_replicas={self.nranks}",
            self.local_rank,
        )
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        order = np.arange(len(self.dataset))
        order = np.resize(order, self.total_size) if len(order) else order  # repeats from the start
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return _batches(self._share(order).tolist(), self.batch_size, self.drop_last)

    def _share(self, order: np.ndarray) -> np.ndarray:
        """Whole batches in turn; the rest, which is not enough for a batch each, evenly."""
        if self.nranks == 1:
            return order
        stride = self.batch_size * self.nranks
        whole = len(order) // stride * stride
        mine = order[:whole].reshape(-1, self.nranks, self.batch_size)[:, self.local_rank].reshape(-1)
        left = (len(order) - whole) // self.nranks
        return np.concatenate([mine, order[whole + self.local_rank * left :][:left]])

    def __len__(self) -> int:
        return _count(self.num_samples, self.batch_size, self.drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Sets the number from which the order is shuffled, so that all processes agree.

        Args:
            epoch (int): Number of the epoch.
        """
        self.epoch = epoch
