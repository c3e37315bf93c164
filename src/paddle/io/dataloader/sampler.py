"""Samplers: the order in which samples are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from ...engine import errors
from .checks import is_positive_int, require
from .dataset import _permutation

T = TypeVar("T")


class Sampler(Generic[T]):
    """An order of indices. Subclasses define `__iter__`, and `__len__` where there is one.

    Args:
        data_source (Dataset, optional): What is sampled.
    """

    def __init__(self, data_source: Any = None):
        self.data_source = data_source

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} has no __iter__."))


class SequenceSampler(Sampler[int]):
    """0, 1, 2, ... to the end of the data.

    Examples:
        >>> list(paddle.io.SequenceSampler([5, 6, 7]))
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order, drawn from numpy's global generator as in upstream.

    Args:
        data_source (Dataset): What is sampled.
        replacement (bool): True draws each index anew. Default: False.
        num_samples (int, optional): How many. Default: as many as there are.
        generator (iterator of int, optional): Gives the indices instead.

    Raises:
        TypeError: replacement is no bool. ValueError: num_samples is not positive.

    Examples:
        >>> sorted(paddle.io.RandomSampler([5, 6, 7]))
        [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ):
        self.data_source, self.replacement, self._num_samples, self.generator = (
            data_source,
            replacement,
            num_samples,
            generator,
        )
        if not isinstance(replacement, bool):
            raise errors.invalid_type(
                "RandomSampler: replacement is no boolean.", expected="bool", received=repr(replacement)
            )
        self._drawn = self._skip = 0  # indices of `generator` that were used, and that are to be left out
        if num_samples is None and not hasattr(data_source, "__len__"):
            raise errors.invalid_type(
                "RandomSampler: the data source has no length.",
                expected="paddle.io.Dataset, or num_samples",
                received=f"{data_source!r} ({type(data_source).__name__})",
            )
        if num_samples is None and not len(data_source):
            raise errors.invalid_argument(
                "RandomSampler: the data source is empty.",
                expected="at least one sample",
                received=f"{type(data_source).__name__} of length 0",
            )
        if not is_positive_int(self.num_samples):
            raise errors.invalid_argument(
                "RandomSampler: num_samples is not positive.", expected="a positive int", received=repr(num_samples)
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return self._from_generator()
        n = len(self.data_source)
        if not self.replacement and self.num_samples > n:
            raise errors.invalid_argument(
                "RandomSampler: more samples are wanted than there are.",
                expected=f"num_samples of at most {n} without replacement",
                received=str(self.num_samples),
                hint="replacement=True draws an index more than once.",
            )
        if self.replacement:
            return iter(np.random.choice(np.arange(n), self.num_samples, replace=True).tolist())
        return iter(np.random.permutation(n)[: self.num_samples].tolist())

    def _from_generator(self) -> Iterator[int]:
        indices = iter(self.generator)
        skip, self._skip = self._skip, 0
        self._drawn += skip
        for i in islice(indices, skip, skip + self.num_samples):
            self._drawn += 1
            yield i

    def __len__(self) -> int:
        return self.num_samples

    def state_dict(self) -> dict[str, int]:
        """How many indices of `generator` were used; without one, orders depend on numpy's generator alone.

        Examples:
            >>> paddle.io.RandomSampler([5, 6, 7]).state_dict()
            {'drawn': 0}
        """
        return {"drawn": self._drawn + self._skip}

    def set_state_dict(self, state: dict[str, int]) -> None:
        """Goes on, with a `generator` at its beginning, where `state_dict` was called.

        Args:
            state (dict): What it gave.

        Raises:
            RuntimeError: more indices of the generator were used already.

        Examples:
            >>> sampler = paddle.io.RandomSampler([5, 6, 7], num_samples=1, generator=iter([2, 0, 1]))
            >>> sampler.set_state_dict({"drawn": 1})
            >>> list(sampler)
            [0]
        """
        if state["drawn"] < self._drawn:
            raise errors.precondition(
                "RandomSampler: its generator is further on, and cannot go back.",
                expected=f"a generator of which at most {state['drawn']} indices were used",
                received=f"{self._drawn} indices used",
                hint="make the sampler anew before its state is set.",
            )
        self._skip = state["drawn"] - self._drawn


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given weights, from numpy's global generator.

    Args:
        weights (array|list|Tensor): Of shape [N], or [M, N] for M draws. Not negative, not all zero.
        num_samples (int): How many.
        replacement (bool): False draws no index twice. Default: True.

    Raises:
        ValueError: num_samples is not positive or replacement is no bool. AssertionError: Weights as they may not be.
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True):
        if not is_positive_int(num_samples):
            raise errors.invalid_argument(
                "WeightedRandomSampler: num_samples is not positive.",
                expected="a positive int",
                received=repr(num_samples),
            )
        if not isinstance(replacement, bool):
            raise errors.invalid_argument(
                "WeightedRandomSampler: replacement is no boolean.", received=repr(replacement)
            )
        self.weights, self.num_samples, self.replacement = _weights(weights), num_samples, replacement

    def __iter__(self) -> Iterator[int]:
        rows = self.weights if self.weights.ndim == 2 else self.weights[None]
        drawn = [np.random.choice(len(w), self.num_samples, self.replacement, w / w.sum()).tolist() for w in rows]
        return iter(drawn if self.weights.ndim == 2 else drawn[0])

    def __len__(self) -> int:
        return self.num_samples


def _weights(weights: Any) -> np.ndarray:
    w = np.asarray(weights.numpy() if hasattr(weights, "numpy") else weights, "float64")
    require(w.ndim in (1, 2), "WeightedRandomSampler: weights have too many axes.", "[N] or [M, N]", list(w.shape))
    require((w >= 0).all(), "WeightedRandomSampler: a weight is negative.", "weights of 0 or more")
    require((w.sum(-1) > 0).all(), "WeightedRandomSampler: all weights are zero.", "a positive sum")
    return w


class SubsetRandomSampler(Sampler[int]):
    """Given indices in a random order from Paddle's generator.

    Args:
        indices (Sequence of int): Which; at least one.

    Raises:
        ValueError: There are none.
    """

    def __init__(self, indices: Sequence[int]):
        if len(indices) == 0:
            raise errors.invalid_argument("SubsetRandomSampler: there are no indices.", expected="at least one")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in _permutation(len(self.indices)))

    def __len__(self) -> int:
        return len(self.indices)
