"""From indices to a batch of arrays, and from arrays to Tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.eager.trace import from_array
from ...tensor.tensor import Tensor
from .collate import default_collate_fn, default_convert_fn


class Fetcher:
    """Makes batches of a dataset.

    Args:
        dataset: By index, or iterable.
        iterable (bool): Which of both.
        collate: Joins samples; None joins by `default_collate_fn`, or not at all without batches.
        batch_size (int, optional): For an iterable dataset: samples of a batch. None: samples come one by one.
        drop_last (bool): For an iterable dataset: leave out a last batch that is not full.
    """

    def __init__(self, dataset: Any, iterable: bool, collate: Any, batch_size: int | None, drop_last: bool):
        self.dataset, self.iterable, self.batch_size, self.drop_last = dataset, iterable, batch_size, drop_last
        self.fresh = collate is None and batch_size is not None  # arrays that nobody else can hold
        self.collate = collate or (default_convert_fn if batch_size is None else default_collate_fn)

    def start(self) -> Callable[[Any], Any]:
        """Begins an epoch: a function from indices to a batch that raises StopIteration at the end."""
        if not self.iterable:
            return self._by_index
        stream = iter(self.dataset)
        return lambda _: self._from_stream(stream)

    def _by_index(self, indices: Any) -> Any:
        if self.batch_size is None:
            return self.collate(self.dataset[indices])
        return self.collate([self.dataset[i] for i in indices])

    def _from_stream(self, stream: Any) -> Any:
        if self.batch_size is None:
            return self.collate(next(stream))
        samples = [s for _, s in zip(range(self.batch_size), stream)]
        if not samples or (self.drop_last and len(samples) < self.batch_size):
            raise StopIteration
        return self.collate(samples)


def tensors_of(data: Any, fresh: bool) -> Any:
    """The structure with Tensors for arrays. `fresh`: the arrays are ours and need no copy."""
    if isinstance(data, np.ndarray):
        own = fresh and data.flags.c_contiguous and data.flags.owndata
        return from_array(data if own else np.array(data, order="C"))
    if isinstance(data, (list, tuple)):
        return [tensors_of(d, fresh) for d in data]
    if isinstance(data, dict):
        return {k: tensors_of(d, fresh) for k, d in data.items()}
    return from_array(np.array(data)) if isinstance(data, np.generic) else data


def arrays_of(data: Any) -> Any:
    """The structure with arrays for Tensors, fit to be sent to another process."""
    if isinstance(data, Tensor):
        return data.array()
    if isinstance(data, (list, tuple)):
        return [arrays_of(d) for d in data]
    return {k: arrays_of(d) for k, d in data.items()} if isinstance(data, dict) else data
