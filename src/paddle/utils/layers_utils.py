"""Nested structures of tuples, lists and dictionaries: flatten, map_structure, pack_sequence_as."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["flatten", "map_structure", "pack_sequence_as"]


def is_sequence(seq: Any) -> bool:
    """Whether something is a structure: a dictionary, or a sequence that is no string."""
    if isinstance(seq, Mapping):
        return True
    return isinstance(seq, Sequence) and not isinstance(seq, (str, bytes))


def _entries(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[k] for k in sorted(structure)]
    return list(structure)


def flatten(nest: Any) -> list[Any]:
    """The leaves of a structure, in order; dictionaries by sorted key.

    Args:
        nest (Any): a structure, or a leaf.

    Returns:
        list: the leaves.

    Examples:
        >>> paddle.utils.flatten([1, (2, {"b": 4, "a": 3})])
        [1, 2, 3, 4]
    """
    if not is_sequence(nest):
        return [nest]
    return [leaf for entry in _entries(nest) for leaf in flatten(entry)]


def _rebuild(structure: Any, values: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(values)
    if isinstance(structure, Mapping):
        made = {k: _rebuild(structure[k], values) for k in sorted(structure)}
        return type(structure)((k, made[k]) for k in structure)
    entries = [_rebuild(entry, values) for entry in structure]
    return type(structure)(*entries) if hasattr(structure, "_fields") else type(structure)(entries)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Leaves put into the form of a structure.

    Args:
        structure (Any): the form.
        flat_sequence (list): as many leaves as it has.

    Returns:
        Any: the structure with these leaves.

    Raises:
        TypeError: flat_sequence is no sequence.
        ValueError: the number of leaves differs.

    Examples:
        >>> paddle.utils.pack_sequence_as([0, (0, 0)], [1, 2, 3])
        [1, (2, 3)]
    """
    if not is_sequence(flat_sequence):
        raise TypeError("(InvalidType) pack_sequence_as: flat_sequence is not a sequence.")
    flat = flatten(flat_sequence)
    count = len(flatten(structure))
    if len(flat) != count:
        raise ValueError(f"(InvalidArgument) pack_sequence_as: the structure has {count} leaves, not {len(flat)}.")
    return _rebuild(structure, iter(flat))


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """A function applied to corresponding leaves of structures of one form.

    Args:
        func (Callable): takes one leaf of each.
        *structure: the structures.

    Returns:
        Any: the results, in the same form.

    Examples:
        >>> paddle.utils.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
        [11, (22,)]
    """
    flats = [flatten(s) for s in structure]
    if len({len(f) for f in flats}) > 1:
        raise ValueError("(InvalidArgument) map_structure: the structures differ in their number of leaves.")
    return _rebuild(structure[0], iter([func(*leaves) for leaves in zip(*flats)]))
