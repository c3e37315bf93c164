"""Samples to batches: numpy arrays and Tensors are stacked, structures kept."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor

_SHOWN = 4  # samples that an error shows


class MissingField(KeyError):
    """A sample lacks a field that the others have. A KeyError, as in upstream, that shows its text as it is."""

    __str__ = Exception.__str__


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Joins samples into a batch, field by field.

    Args:
        batch (list): Samples of one structure. Leaves are Tensors, arrays or numbers (stacked along a new first
            axis) or strings (kept as a list). Structures are dicts, lists and tuples.

    Returns:
        The structure of a sample (lists for tuples) with numpy arrays, or Tensors where the samples had Tensors.

    Raises:
        TypeError: A leaf of another type. RuntimeError: Samples with different numbers of fields.
        ValueError: Arrays of different shapes, or no samples. KeyError: A sample lacks a key.

    Examples:
        >>> [v.shape for v in paddle.io.dataloader.default_collate_fn([(np.ones(3), 1), (np.zeros(3), 2)])]
        [(2, 3), (2,)]
    """
    return Joiner().join(batch)


class Joiner:
    """Joins samples into a batch, and tells of those that do not fit together.

    Args:
        indices (Sequence, optional): Of the samples in their dataset; errors name them.
        empty: Makes the arrays that samples are stacked into.
        at: The user's line in errors, as in `errors.message`.
    """

    def __init__(
        self,
        indices: Sequence[Any] | None = None,
        empty: Callable[..., np.ndarray] = np.empty,
        at: str | None = None,
    ):
        self.indices, self.empty, self.at = indices, empty, at

    def join(self, batch: Sequence[Any], field: str = "") -> Any:
        if not len(batch):
            raise errors.invalid_argument(
                "DataLoader: a batch has no samples.",
                expected="at least one sample",
                hint="the batch_sampler gave an empty list.",
                at=self.at,
            )
        sample = batch[0]
        if isinstance(sample, np.ndarray):
            return self.arrays(batch, field)
        if isinstance(sample, Tensor):
            return self.tensors(batch, field)
        if isinstance(sample, numbers.Number):
            return self.numbers(batch, field)
        if isinstance(sample, (str, bytes)):
            return batch
        if isinstance(sample, Mapping):
            return {key: self.join(self.values(batch, key, field), f"{field}[{key!r}]") for key in sample}
        if isinstance(sample, Sequence):
            return [self.join(part, f"{field}[{i}]") for i, part in enumerate(self.fields(batch, field))]
        raise errors.invalid_type(
            f"DataLoader: a sample cannot be put into a batch{_in(field)}.",
            expected="Tensor, numpy.ndarray, number, str, bytes, or dict, list and tuple of these",
            received=self.of_sample(0, type(sample).__name__),
            hint="collate_fn tells how to join samples of other types.",
            at=self.at,
        )

    def arrays(self, batch: Sequence[Any], field: str) -> np.ndarray:
        first = batch[0]
        if not all(type(a) is np.ndarray and a.shape == first.shape and a.dtype == first.dtype for a in batch):
            self.check(batch, field, (np.ndarray, numbers.Number), "a numpy.ndarray")
            self.check_shapes(batch, field, np.shape)
            return np.stack(batch, axis=0)
        out = self.empty((len(batch), *first.shape), first.dtype)
        for i, a in enumerate(batch):
            out[i] = a
        return out

    def tensors(self, batch: Sequence[Any], field: str) -> Tensor:
        import paddle

        self.check(batch, field, Tensor, "a Tensor")
        self.check_shapes(batch, field, lambda t: tuple(t.shape))
        return paddle.stack(list(batch), axis=0)

    def numbers(self, batch: Sequence[Any], field: str) -> np.ndarray:
        self.check(batch, field, (numbers.Number, np.ndarray), "a number")
        self.check_shapes(batch, field, np.shape)
        return np.array(batch)

    def fields(self, batch: Sequence[Any], field: str) -> Iterable[Any]:
        self.check(batch, field, Sequence, "a list or tuple")
        if any(len(s) != len(batch[0]) for s in batch):
            raise errors.precondition(
                f"DataLoader: the samples of a batch differ in their number of fields{_in(field)}.",
                received=self.differing(batch, lambda s: f"{len(s)} fields"),
                at=self.at,
            )
        return zip(*batch)

    def values(self, batch: Sequence[Any], key: Any, field: str) -> list[Any]:
        self.check(batch, field, Mapping, "a dict")
        for i, s in enumerate(batch):
            if key not in s:
                raise MissingField(
                    errors.message(
                        "NotFound",
                        f"DataLoader: a sample lacks the key {key!r}{_in(field)}, which the first of its batch has.",
                        expected=_keys(batch[0]),
                        received=self.of_sample(i, _keys(s)),
                        at=self.at,
                    )
                )
        return [s[key] for s in batch]

    def check(self, batch: Sequence[Any], field: str, kind: Any, name: str) -> None:
        if not all(isinstance(s, kind) for s in batch):
            raise errors.invalid_type(
                f"DataLoader: the samples of a batch differ in their types{_in(field)}.",
                expected=f"{name} in each sample",
                received=self.differing(batch, lambda s: type(s).__name__),
                at=self.at,
            )

    def check_shapes(self, batch: Sequence[Any], field: str, shape: Callable[[Any], tuple[int, ...]]) -> None:
        if any(shape(s) != shape(batch[0]) for s in batch):
            raise errors.invalid_argument(
                f"DataLoader: the samples of a batch differ in shape{_in(field)}.",
                expected="one shape in all samples of a batch",
                received=self.differing(batch, lambda s: str(list(shape(s)))),
                hint="pad, crop or resize the samples, or join them in a collate_fn of your own.",
                at=self.at,
            )

    def differing(self, batch: Sequence[Any], tell: Callable[[Any], str]) -> str:
        """The first sample, and those that differ from it."""
        told = [tell(s) for s in batch]
        others = [i for i in range(1, len(batch)) if told[i] != told[0]]
        text = "; ".join(self.of_sample(i, told[i]) for i in [0, *others[: _SHOWN - 1]])
        more = len(others) - (_SHOWN - 1)
        return text + (f"; and {more} more" if more > 0 else "")

    def of_sample(self, i: int, text: str) -> str:
        if self.indices is None:
            return f"sample {i} of the batch has {text}"
        return f"index {self.indices[i]} has {text}"


def _in(field: str) -> str:
    return f" (field {field})" if field else ""


def _keys(sample: Mapping[Any, Any]) -> str:
    return ", ".join(repr(k) for k in sample) or "no keys"


def default_convert_fn(sample: Any) -> Any:
    """The structure of a sample that is not put into a batch: lists for tuples, leaves as they are."""
    if isinstance(sample, (Tensor, np.ndarray, str, bytes)):
        return sample
    if isinstance(sample, Mapping):
        return {key: default_convert_fn(v) for key, v in sample.items()}
    if isinstance(sample, Sequence):
        return [default_convert_fn(v) for v in sample]
    return sample
