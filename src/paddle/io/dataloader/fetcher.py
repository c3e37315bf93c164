"""From indices to a batch of arrays, and from arrays to Tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from .collate import Joiner, default_convert_fn

END = object()  # instead of a batch: an iterable dataset has no more


class Fetcher:
    """Makes batches of a dataset.

    Args:
        dataset: By index, or iterable.
        iterable (bool): Which of both.
        collate: Joins samples; None joins by `default_collate_fn`, or not at all without batches.
        batch_size (int, optional): For an iterable dataset: samples of a batch. None: samples come one by one.
        drop_last (bool): For an iterable dataset: leave out a last batch that is not full.

    Attributes:
        fresh (bool): Nobody else can hold the arrays of a batch.
        at: the user's line in errors, as in `errors.message`; a worker has none.
    """

    at: str | None = None

    def __init__(self, dataset: Any, iterable: bool, collate: Any, batch_size: int | None, drop_last: bool):
        self.dataset, self.iterable, self.batch_size, self.drop_last = dataset, iterable, batch_size, drop_last
        self.collate = collate
        self.fresh = collate is None and batch_size is not None

    def start(self, empty: Callable[..., np.ndarray] = np.empty) -> Callable[[Any], Any]:
        """Begins an epoch: a function from indices to a batch, or to END.

        Args:
            empty: Makes the arrays of a batch where it is this fetcher that joins them.
        """
        stream = iter(self.dataset) if self.iterable else None

        def fetch(indices: Any) -> Any:
            try:
                return self._fetch(stream, indices, empty)
            except StopIteration as e:  # to a loop it would mean that all is well
                raise errors.precondition(
                    "DataLoader: the dataset or collate_fn raised StopIteration.",
                    expected="an iterable dataset ends by return, one by index has an end by its length",
                    at=self.at,
                ) from e

        return fetch

    def _fetch(self, stream: Iterator[Any] | None, indices: Any, empty: Callable[..., np.ndarray]) -> Any:
        if self.batch_size is None:
            sample = self.dataset[indices] if stream is None else next(stream, END)
            return sample if sample is END else (self.collate or default_convert_fn)(sample)
        if stream is None:
            samples = [self.dataset[i] for i in indices]
        else:
            samples, indices = list(islice(stream, self.batch_size)), None
            if not samples or (self.drop_last and len(samples) < self.batch_size):
                return END
        return Joiner(indices, empty, self.at).join(samples) if self.collate is None else self.collate(samples)


def tensors_of(data: Any, fresh: bool) -> Any:
    """The structure with Tensors for arrays; numpy's scalars stay, as in upstream.

    fresh: the arrays are ours and need no copy.
    """
    if isinstance(data, np.ndarray):
        own = fresh and data.flags.c_contiguous and data.flags.aligned and data.dtype.isnative
        return from_array(data if own else _copy(data))
    if isinstance(data, (list, tuple)):
        return [tensors_of(d, fresh) for d in data]
    if isinstance(data, dict):
        return {k: tensors_of(d, fresh) for k, d in data.items()}
    return data


def _copy(a: np.ndarray) -> np.ndarray:
    return np.array(a, a.dtype if a.dtype.isnative else a.dtype.newbyteorder("="), order="C")
