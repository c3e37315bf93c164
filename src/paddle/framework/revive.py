"""What a pickle of `paddle.save` means: Tensors and arrays in the place of the stand-ins that `pickled` makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import types
from ..engine.eager.trace import from_array
from ..engine.types import dtype_of
from . import pickled
from .source import Broken

__all__: list[str] = []

NAMES = "StructuredToParameterName@@"  # in a state dictionary: the names of its Tensors
BIG = "UnpackBigParamInfor@@"  # how arrays were cut that were too long for the protocol
_DEPTH = 200  # of containers in containers


def _is_pair(obj: Any) -> bool:
    """Whether this is what a Tensor in a nested object is stored as."""
    return type(obj) is tuple and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], pickled.Array)


def _holds_pair(obj: Any) -> bool:
    seen, parts = set(), [obj]
    while parts:
        part = parts.pop()
        if _is_pair(part):
            return True
        if isinstance(part, (dict, list, tuple)) and id(part) not in seen:
            seen.add(id(part))
            parts.extend(part.values() if isinstance(part, dict) else part)
    return False


class _Reviver:
    """Puts Tensors or arrays in the place of what stands for them. What is shared in the file stays shared.

    Args:
        as_numpy (bool): arrays rather than Tensors.
        pairs (bool): Tensors are stored as (name, array), so that a mere array was an array when it was saved.
    """

    def __init__(self, as_numpy: bool, pairs: bool):
        self.as_numpy, self.pairs = as_numpy, pairs
        self.done: dict[int, tuple[Any, Any]] = {}  # by id: the part, kept so that its id stays its own, and the result
        self.arrays: dict[int, tuple[Any, np.ndarray]] = {}

    def __call__(self, obj: Any, depth: int = 0) -> Any:
        if isinstance(obj, (str, int, float, type(None))):
            return obj
        if isinstance(obj, pickled.Array):
            return obj.value if self.pairs else self.tensor(obj)
        if id(obj) in self.done:
            return self.done[id(obj)][1]
        if self.pairs and _is_pair(obj):
            return self.tensor(obj[1], obj[0])
        if depth > _DEPTH:
            raise Broken(f"containers in containers, more than {_DEPTH} deep")
        if isinstance(obj, list):
            self.done[id(obj)] = obj, obj
            obj[:] = [self(v, depth + 1) for v in obj]
            return obj
        if isinstance(obj, dict):
            self.done[id(obj)] = obj, obj
            for key, value in obj.items():
                obj[key] = self(value, depth + 1)
            return obj
        if isinstance(obj, tuple):
            self.done[id(obj)] = obj, tuple(self(v, depth + 1) for v in obj)
            return self.done[id(obj)][1]
        if isinstance(obj, pickled.Raw):
            self.done[id(obj)] = obj, obj.memory.tobytes()
            return self.done[id(obj)][1]
        return _plain_value(obj)

    def tensor(self, stored: Any, name: str | None = None) -> Any:
        """A Tensor of its own; those from one array share its memory, which nobody writes to while it is shared."""
        if not isinstance(stored, pickled.Array):
            return self(stored)
        if self.as_numpy or stored.value.dtype.kind not in "biufc":
            return stored.value
        if id(stored) not in self.arrays:
            self.arrays[id(stored)] = stored, _native(stored.value)
        t: Any = from_array(self.arrays[id(stored)][1])
        if name is not None:
            t.name = name
        return t


def _plain_value(obj: Any) -> Any:
    if isinstance(obj, pickled.Kind):
        return obj.np
    if isinstance(obj, pickled.Code):
        return obj.dtype
    if isinstance(obj, pickled.Named):
        raise pickled.Refused(obj.name)
    return obj


def _native(a: np.ndarray) -> np.ndarray:
    """The array as Tensors have it: in C order and native byte order; uint16 holds bfloat16, as upstream stores it."""
    kind = dtype_of(a.dtype.newbyteorder("="))
    a = np.require(a, kind.np, ["C", "A", "W"])
    return a.view(types.bfloat16.np) if kind is types.uint16 else a


def revive(obj: Any, as_numpy: bool, keep_names: bool) -> Any:
    """The object that was saved.

    Args:
        obj: from `pickled.read`; its lists and dictionaries are used again.
        as_numpy (bool): arrays rather than Tensors.
        keep_names (bool): keeps the names of a state dictionary's Tensors under NAMES.

    Raises:
        Broken: it does not fit together.
    """
    if not isinstance(obj, dict) or (NAMES not in obj and BIG not in obj):
        return _Reviver(as_numpy, _holds_pair(obj))(obj)
    _join_big(obj)
    if NAMES not in obj:
        return _Reviver(as_numpy, _holds_pair(obj))(obj)
    names = obj.pop(NAMES)
    if not isinstance(names, dict):
        raise Broken("the names of its Tensors are no dictionary")
    for key, name in names.items():
        if key not in obj or not isinstance(name, str):
            raise Broken(f"{key!r:.80} is named and not there")
    plain, tensors = _Reviver(as_numpy, True), _Reviver(as_numpy, False)
    for key in obj:
        obj[key] = tensors.tensor(obj[key], names[key]) if key in names else plain(obj[key])
    if keep_names:
        obj[NAMES] = plain(names)
    return obj


def _join_big(obj: dict[Any, Any]) -> None:
    """Arrays that were cut because of their length become whole again."""
    info = obj.pop(BIG, {})
    try:
        for key, given in info.items():
            names, shape = given["slices"], given["OriginShape"]
            if not all(isinstance(n, str) for n in names):
                raise Broken("pieces of an array without names")
            whole = pickled.Array()
            whole.value = np.concatenate([obj.pop(n).value for n in names]).reshape(shape)
            obj[key] = whole
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise Broken(f"the pieces of a long array do not fit together ({type(e).__name__})") from None
