"""Nested structures of tuples, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..engine import errors

__all__ = [
    "assert_same_structure", "convert_to_list", "flatten", "is_sequence", "map_structure", "pack_sequence_as",
    "to_sequence",
]  # fmt: skip


def is_sequence(seq: Any) -> bool:
    """Whether something is a structure: a dictionary, or a sequence that is no string.

    Args:
        seq (Any): the something.

    Returns:
        bool: whether it is.

    Examples:
        >>> paddle.utils.is_sequence((1, 2)), paddle.utils.is_sequence("ab")
        (True, False)
    """
    return isinstance(seq, (dict, Sequence)) and not isinstance(seq, str)


def to_sequence(nest: Any) -> Any:
    """A structure as it is, a leaf as a list of one.

    Args:
        nest (Any): a structure, or a leaf.

    Returns:
        Any: the structure.

    Examples:
        >>> paddle.utils.to_sequence(3)
        [3]
    """
    return nest if is_sequence(nest) else [nest]


def _sorted_keys(structure: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise errors.invalid_type(
            "flatten: the keys of a dictionary cannot be sorted.",
            expected="keys of one type",
            received=", ".join(map(repr, list(structure)[:5])),
        ) from None


def _entries(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [structure[k] for k in _sorted_keys(structure)]
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
    if isinstance(structure, dict):
        made = {k: _rebuild(structure[k], values) for k in _sorted_keys(structure)}
        return type(structure)((k, made[k]) for k in structure)  # type: ignore[call-arg]
    entries = [_rebuild(entry, values) for entry in structure]
    return type(structure)(*entries) if hasattr(structure, "_fields") else type(structure)(entries)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Leaves put into the form of a structure.

    Args:
        structure (Any): the form.
        flat_sequence (list|dict): as many leaves as it has, in order; what they are does not matter.

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
        raise errors.invalid_type(
            "pack_sequence_as: flat_sequence is not a sequence.",
            expected="a list, a tuple or a dictionary",
            received=type(flat_sequence).__name__,
        )
    leaves = list(flat_sequence.values() if isinstance(flat_sequence, dict) else flat_sequence)
    count = len(flatten(structure))
    if len(leaves) != count:
        raise errors.invalid_argument(
            "pack_sequence_as: the number of leaves does not fit the structure.",
            expected=f"{count} leaves",
            received=f"{len(leaves)}",
        )
    return _rebuild(structure, iter(leaves))


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
        raise errors.invalid_argument(
            "map_structure: the structures differ in their number of leaves.",
            expected=f"{len(flats[0])} leaves in each",
            received=", ".join(str(len(f)) for f in flats),
        )
    return _rebuild(structure[0], iter([func(*leaves) for leaves in zip(*flats)]))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, skip_if: Callable[[Any], bool] | None = None
) -> None:
    """Raises unless two structures have the same form.

    Args:
        nest1 (Any), nest2 (Any): structures, or leaves.
        check_types (bool): kinds of sequences and keys of dictionaries have to agree, too. Default: True.
        skip_if (callable, optional): parts of which it is true in either structure are not compared.

    Raises:
        ValueError: they differ in form. TypeError: they differ in kinds of sequences.

    Examples:
        >>> paddle.utils.assert_same_structure([1, (2, 3)], [4, (5, 6)])
    """
    if skip_if is not None and (skip_if(nest1) or skip_if(nest2)):
        return
    shown = f"{nest1!r:.200} and {nest2!r:.200}"
    if is_sequence(nest1) != is_sequence(nest2):
        raise errors.invalid_argument(
            "assert_same_structure: one has a structure where the other has a leaf.", received=shown
        )
    if not is_sequence(nest1):
        return
    if check_types:
        if type(nest1) is not type(nest2):
            raise errors.invalid_type(
                "assert_same_structure: the sequences are of different types.",
                received=f"{type(nest1).__name__} and {type(nest2).__name__}: {shown}",
            )
        if isinstance(nest1, dict) and set(nest1) != set(nest2):
            raise errors.invalid_argument("assert_same_structure: the keys differ.", received=shown)
    first, second = _entries(nest1), _entries(nest2)
    if len(first) != len(second):
        raise errors.invalid_argument(
            "assert_same_structure: the numbers of entries differ.", received=f"{len(first)} and {len(second)}: {shown}"
        )
    for a, b in zip(first, second):
        assert_same_structure(a, b, check_types, skip_if)


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """n numbers: a number n times, or n numbers as a list.

    Args:
        value (Any): a number, or n of them.
        n (int): how many.
        name (str): of the argument, for errors.
        dtype (type): of the numbers. Default: int.

    Returns:
        list: of n.

    Raises:
        ValueError: something else, or another count. TypeError: a Tensor.

    Examples:
        >>> paddle.utils.convert_to_list(3, 2, "stride")
        [3, 3]
    """
    if isinstance(value, dtype):
        return [value] * n
    if hasattr(value, "stop_gradient"):
        raise errors.invalid_type(f"{name} is a Tensor.", expected=f"{dtype.__name__}, or {n} of them")
    try:
        found = list(value)
        for v in found:
            dtype(v)
    except (TypeError, ValueError):
        raise errors.invalid_argument(
            f"{name} does not consist of numbers.", expected=f"{dtype.__name__}, or {n} of them", received=repr(value)
        ) from None
    if len(found) != n:
        raise errors.invalid_argument(f"{name} has another length.", expected=f"{n} numbers", received=repr(value))
    return found
