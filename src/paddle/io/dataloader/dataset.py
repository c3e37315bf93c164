"""Datasets: sources of samples, by index or one after the other."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...engine import errors
from ...tensor.tensor import Tensor
from .checks import require

T = TypeVar("T")


class Dataset(Generic[T]):
    """Samples by index. Subclasses define `__getitem__` and `__len__`.

    Examples:
        >>> class Squares(paddle.io.Dataset):
        ...     def __getitem__(self, i):
        ...         return i * i
        ...     def __len__(self):
        ...         return 4
        >>> Squares()[3]
        9
    """

    def __getitem__(self, idx: int) -> T:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} has no __getitem__."))

    def __len__(self) -> int:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} has no __len__."))


class IterableDataset(Dataset[T]):
    """Samples one after the other. Subclasses define `__iter__`.

    With several workers every worker iterates the whole dataset; `get_worker_info` tells which share is its own.

    Examples:
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         yield from range(3)
        >>> [float(b) for b in paddle.io.DataLoader(Count(), batch_size=None)]
        [0.0, 1.0, 2.0]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(errors.message("Unimplemented", f"{type(self).__name__} has no __iter__."))

    def __getitem__(self, idx: int) -> T:
        raise errors.precondition(f"{type(self).__name__}: an IterableDataset has no __getitem__.")

    def __len__(self) -> int:
        raise errors.precondition(f"{type(self).__name__}: an IterableDataset has no length.")


class TensorDataset(Dataset[Any]):
    """Samples are the rows of Tensors.

    Args:
        tensors (list|tuple of Tensor): Of one size along the first axis.

    Raises:
        AssertionError: The first axes differ in size.

    Examples:
        >>> data = paddle.io.TensorDataset([paddle.arange(4), paddle.ones([4, 2])])
        >>> len(data), int(data[2][0])
        (4, 2)
    """

    def __init__(self, tensors: Sequence[Tensor]):
        require(len(tensors), "TensorDataset: there are no tensors.", "at least one Tensor")
        sizes = [tuple(t.shape)[:1] for t in tensors]
        require(
            all(n == sizes[0] for n in sizes),
            "TensorDataset: the tensors differ in size along the first axis.",
            received=", ".join(str(list(t.shape)) for t in tensors),
        )
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


def to_list(value: Any) -> list[Any]:
    """A list or tuple as a list, None as None, anything else as its only element."""
    if value is None:
        return value
    return list(value) if isinstance(value, (list, tuple)) else [value]


class ComposeDataset(Dataset[Any]):
    """Joins datasets of one length side by side: a sample holds the fields of all.

    Args:
        datasets (list of Dataset): Of equal length.

    Raises:
        AssertionError: None given, lengths differ, or one is an IterableDataset.

    Examples:
        >>> paddle.io.ComposeDataset([paddle.io.Subset([1, 2], [0, 1]), paddle.io.Subset([3, 4], [0, 1])])[1]
        (2, 4)
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]):
        self.datasets = list(datasets)
        require(self.datasets, "ComposeDataset: there are no datasets.")
        for d in self.datasets:
            require(isinstance(d, Dataset), "ComposeDataset: not a Dataset.", "paddle.io.Dataset", d)
            require(not isinstance(d, IterableDataset), "ComposeDataset: an IterableDataset has no samples by index.")
        lengths = [len(d) for d in self.datasets]
        require(len(set(lengths)) == 1, "ComposeDataset: the lengths differ.", "equal lengths", lengths)

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for d in self.datasets:
            fields.extend(to_list(d[idx]))
        return tuple(fields)


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other.

    Args:
        datasets (list of IterableDataset): In order.

    Raises:
        AssertionError: None given, or one is no IterableDataset.
    """

    def __init__(self, datasets: Iterable[IterableDataset[Any]]):
        self.datasets = list(datasets)
        require(self.datasets, "ChainDataset: there are no datasets.")
        for d in self.datasets:
            require(isinstance(d, IterableDataset), "ChainDataset: not an IterableDataset.", received=type(d).__name__)

    def __iter__(self) -> Iterator[Any]:
        for d in self.datasets:
            yield from d


class Subset(Dataset[T]):
    """The samples of a dataset at given indices.

    Args:
        dataset (Dataset): Where they come from.
        indices (Sequence of int): Which, in order.
    """

    def __init__(self, dataset: Any, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> T:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[T]):
    """Datasets one after the other, by index.

    Args:
        datasets (Iterable of Dataset): In order.

    Raises:
        AssertionError: None given, or one is an IterableDataset. ValueError: An index below -len.

    Examples:
        >>> data = paddle.io.ConcatDataset([paddle.io.Subset([1, 2], [0, 1]), paddle.io.Subset([3], [0])])
        >>> data[2], data[-2], data.cumulative_sizes
        (3, 2, [2, 3])
    """

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Running sums of the lengths."""
        sums, total = [], 0
        for d in sequence:
            total += len(d)
            sums.append(total)
        return sums

    def __init__(self, datasets: Iterable[Dataset[T]]):
        self.datasets = list(datasets)
        require(self.datasets, "ConcatDataset: there are no datasets.")
        for d in self.datasets:
            require(not isinstance(d, IterableDataset), "ConcatDataset: an IterableDataset has no samples by index.")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T:
        if idx < 0:
            if -idx > len(self):
                raise errors.invalid_argument(
                    "ConcatDataset: the index is out of range.", expected=f"-{len(self)} or more", received=str(idx)
                )
            idx += len(self)
        elif idx >= len(self):
            raise errors.out_of_range(
                "ConcatDataset: the index is out of range.", expected=f"less than {len(self)}", received=str(idx)
            )
        at = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[at][idx - (self.cumulative_sizes[at - 1] if at else 0)]


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = None) -> list[Subset[Any]]:
    """Splits a dataset at random into parts that share no sample.

    Args:
        dataset (Dataset): What to split.
        lengths (list of int|float): Sizes of the parts, or fractions that sum to 1; samples left over by rounding
            go to the first parts, one each.
        generator (Generator, optional): Default: the global one, see `paddle.seed`.

    Returns:
        list of Subset: the parts.

    Raises:
        ValueError: The lengths do not sum to the length of the dataset, or a fraction is outside [0, 1].

    Examples:
        >>> train, test = paddle.io.random_split(range(10), [0.7, 0.3])
        >>> len(train), len(test)
        (7, 3)
    """
    sizes = _sizes_of_fractions(len(dataset), lengths) if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 else None
    if sizes is None:
        sizes = [int(n) for n in lengths]
        if sum(lengths) != len(dataset) or min(sizes, default=0) < 0:
            raise errors.invalid_argument(
                "random_split: the lengths do not sum to the length of the dataset.",
                expected=f"lengths that sum to {len(dataset)}, or fractions that sum to 1",
                received=str(list(lengths)),
            )
    order = _permutation(len(dataset), generator)
    ends = ConcatDataset.cumsum([range(n) for n in sizes])
    return [Subset(dataset, order[end - n : end]) for n, end in zip(sizes, ends)]


def _sizes_of_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    for i, f in enumerate(fractions):
        if not 0 <= f <= 1:
            raise errors.invalid_argument(f"random_split: the fraction at {i} is outside [0, 1].", received=str(f))
    sizes = [math.floor(total * f) for f in fractions]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, n in enumerate(sizes):
        if n == 0:
            warnings.warn(f"random_split: part {i} is empty.", stacklevel=3)
    return sizes


def _permutation(n: int, generator: Any = None) -> list[int]:
    """A random order of 0..n-1 from Paddle's generator."""
    import paddle

    if generator is not None and hasattr(generator, "permutation"):
        return generator.permutation(n).tolist()
    return paddle.randperm(n).tolist() if n else []
