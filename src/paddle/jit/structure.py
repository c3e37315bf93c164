"""Nested arguments and results: their Tensors taken out, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor.tensor import Tensor

Place = tuple[str, Any]


class Opaque:
    """An object that is part of a call by its identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def taken_out(value: Any, tensors: list[Tensor], is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The structure of a value, which compares and hashes; its Tensors are appended to `tensors`."""
    kind = type(value)
    if isinstance(value, Tensor) or (is_leaf is not None and is_leaf(value)):
        tensors.append(value)
        return None
    if kind is list or kind is tuple:
        return kind, tuple(taken_out(v, tensors, is_leaf) for v in value)
    if kind is dict:
        return dict, tuple((k, taken_out(v, tensors, is_leaf)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, tuple(taken_out(v, tensors, is_leaf) for v in value)
    if isinstance(value, dict):
        return Opaque(value) if kind.__init__ is not dict.__init__ and not hasattr(value, "move_to_end") else (
            kind, tuple((k, taken_out(v, tensors, is_leaf)) for k, v in value.items()))  # fmt: skip
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return "value", kind, value if kind is not float or value else repr(value), value
    return Opaque(value)


def put_back(structure: Any, tensors: list[Any], at: list[int]) -> Any:
    """The value of a structure with other Tensors. at: one number, how many of them have been used."""
    if structure is None:
        at[0] += 1
        return tensors[at[0] - 1]
    if isinstance(structure, Opaque):
        return structure.value
    kind = structure[0]
    if kind == "value":
        return structure[3]
    if isinstance(kind, type) and issubclass(kind, dict):
        return kind((k, put_back(v, tensors, at)) for k, v in structure[1])
    parts = [put_back(v, tensors, at) for v in structure[1]]
    return parts if kind is list else tuple(parts) if kind is tuple else kind(*parts)
