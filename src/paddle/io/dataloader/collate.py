"""Samples to batches: numpy arrays and Tensors are stacked, structures kept."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Joins samples into a batch, field by field.

    Args:
        batch (list): Samples of one structure. Leaves are Tensors, arrays or numbers (stacked along a new first
            axis) or strings (kept as a list). Structures are dicts, lists and tuples.

    Returns:
        The structure of a sample (lists for tuples) with numpy arrays, or Tensors where the samples had Tensors.

    Raises:
        TypeError: A leaf of another type. RuntimeError: Samples with different numbers of fields.
        ValueError: Arrays of different shapes.

    Examples:
        >>> [v.shape for v in paddle.io.dataloader.default_collate_fn([(np.ones(3), 1), (np.zeros(3), 2)])]
        [(2, 3), (2,)]
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(sample, Tensor):
        import paddle

        return paddle.stack(list(batch), axis=0)
    if isinstance(sample, numbers.Number):
        return np.array(batch)
    if isinstance(sample, (str, bytes)):
        return batch
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([d[key] for d in batch]) for key in sample}
    if isinstance(sample, Sequence):
        if not all(len(s) == len(sample) for s in batch):
            raise errors.precondition(
                "DataLoader: the samples of a batch differ in their number of fields.",
                received=str([len(s) for s in batch]),
            )
        return [default_collate_fn(fields) for fields in zip(*batch)]
    raise errors.invalid_type(
        "DataLoader: a sample cannot be put into a batch.",
        expected="Tensor, numpy.ndarray, number, str, bytes, or dict, list and tuple of these",
        received=type(sample).__name__,
        hint="collate_fn tells how to join samples of other types.",
    )


def default_convert_fn(sample: Any) -> Any:
    """The structure of a sample that is not put into a batch: lists for tuples, leaves as they are."""
    if isinstance(sample, (Tensor, np.ndarray, str, bytes)):
        return sample
    if isinstance(sample, Mapping):
        return {key: default_convert_fn(v) for key, v in sample.items()}
    if isinstance(sample, Sequence):
        return [default_convert_fn(v) for v in sample]
    return sample
