"""Element types and tensor types: the words that every other part of the engine uses."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np


class DType:
    """An element type. One object exists per type, so `is` compares.

    Attributes:
        name: as in `paddle.float32`.
        kind: "b" bool, "i" signed, "u" unsigned, "f" floating, "c" complex.
        itemsize (int): bytes.
    """

    __slots__ = ("name", "kind", "itemsize", "_np")
    _by_name: dict[str, "DType"] = {}

    def __init__(self, name: str, kind: str, itemsize: int):
        self.name, self.kind, self.itemsize = name, kind, itemsize
        self._np: np.dtype | None = None
        DType._by_name[name] = self

    @property
    def np(self) -> np.dtype:
        """The numpy dtype. bfloat16 and float8 come from `ml_dtypes`, imported on first use."""
        if self._np is None:
            if self.name.startswith(("bfloat", "float8")):
                import ml_dtypes

                self._np = np.dtype(getattr(ml_dtypes, self.name))
            else:
                self._np = np.dtype(self.name)
        return self._np

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_differentiable(self) -> bool:
        return self.kind in "fc"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype_of, (self.name,))

    def __copy__(self) -> "DType":
        return self

    def __deepcopy__(self, memo: Any) -> "DType":
        return self


bool_ = DType("bool", "b", 1)
uint8 = DType("uint8", "u", 1)
uint16 = DType("uint16", "u", 2)
uint32 = DType("uint32", "u", 4)
uint64 = DType("uint64", "u", 8)
int8 = DType("int8", "i", 1)
int16 = DType("int16", "i", 2)
int32 = DType("int32", "i", 4)
int64 = DType("int64", "i", 8)
float16 = DType("float16", "f", 2)
bfloat16 = DType("bfloat16", "f", 2)
float32 = DType("float32", "f", 4)
float64 = DType("float64", "f", 8)
complex64 = DType("complex64", "c", 8)
complex128 = DType("complex128", "c", 16)
float8_e4m3fn = DType("float8_e4m3fn", "f", 1)
float8_e5m2 = DType("float8_e5m2", "f", 1)

_ALIASES = {
    "float": "float64",
    "double": "float64",
    "half": "float16",
    "int": "int64",
    "long": "int64",
    "short": "int16",
    "bool_": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}  # as numpy reads them
_NUMPY: dict[Any, DType] = {
    np.dtype(d.name): d for d in DType._by_name.values() if d.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2")
}


def dtype_of(d: Any) -> DType:
    """The DType that `d` names: a DType, a string, a numpy dtype or scalar type, or a Python type.

    Raises:
        TypeError: `d` names no element type. ValueError: one of numpy's that has no counterpart.
    """
    if type(d) is DType:
        return d
    if isinstance(d, str):
        name = d.removeprefix("paddle.")
        found = DType._by_name.get(_ALIASES.get(name, name))
        if found is not None:
            return found
    elif isinstance(d, type) and d in _PYTHON:
        return _PYTHON[d]
    else:
        n = _numpy_dtype(d)
        if n is not None:
            found = _NUMPY.get(n) or DType._by_name.get(n.name)
            if found is not None:
                return found
    raise _no_dtype(d)


def _numpy_dtype(d: Any) -> np.dtype | None:
    try:
        return np.dtype(d)
    except (TypeError, ValueError, AttributeError):
        return None


def _no_dtype(d: Any) -> Exception:
    """ValueError for a type that numpy has, as upstream, TypeError for what is none."""
    from . import errors

    names = ", ".join(DType._by_name)
    hint, known = "", isinstance(d, (str, type, np.dtype)) and _numpy_dtype(d) is not None
    if isinstance(d, str):
        import difflib

        near = difflib.get_close_matches(d, DType._by_name, 1)
        hint = f"{near[0]!r} is near." if near else ""
    make = errors.invalid_argument if known else errors.invalid_type
    shown = repr(d) if isinstance(d, (str, int, float, type, np.dtype)) or d is None else type(d).__name__
    return make("dtype: this is not an element type.", expected=f"one of {names}", received=shown, hint=hint)


class TensorType:
    """Shape and element type of a tensor. Interned: equal types are one object.

    Attributes:
        shape (tuple of int): sizes per axis.
        dtype (DType): element type.
        size (int): number of elements.
    """

    __slots__ = ("shape", "dtype", "size", "__weakref__")
    _all: "weakref.WeakValueDictionary[tuple[tuple[int, ...], DType], TensorType]" = weakref.WeakValueDictionary()
    shape: tuple[int, ...]
    dtype: DType
    size: int

    def __new__(cls, shape: Iterable[int], dtype: DType) -> "TensorType":
        shape = tuple(shape)
        found = cls._all.get((shape, dtype))
        if found is None:
            shape = tuple(int(n) for n in shape)
            found = object.__new__(cls)
            found.shape, found.dtype, found.size = shape, dtype, math.prod(shape)
            cls._all[(shape, dtype)] = found
        return found

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def with_dtype(self, dtype: DType) -> "TensorType":
        return TensorType(self.shape, dtype)

    def with_shape(self, shape: Iterable[int]) -> "TensorType":
        return TensorType(shape, self.dtype)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return (TensorType, (self.shape, self.dtype))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that `shapes` broadcast to by numpy's rule.

    Raises:
        ValueError: some axis has two different sizes, neither of them 1.
    """
    n = max((len(s) for s in shapes), default=0)
    out = [1] * n
    for s in shapes:
        for i, d in enumerate(s, n - len(s)):
            if d != 1:
                if out[i] not in (1, d):
                    raise ValueError(f"shapes {' and '.join(map(str, map(list, shapes)))} do not broadcast")
                out[i] = d
    return tuple(out)


_default = [float32]


def default_dtype() -> DType:
    """The floating type that numbers and new parameters take; see `paddle.set_default_dtype`."""
    return _default[0]


def set_default_dtype(dtype: DType) -> None:
    if dtype is not _default[0]:
        _default[0] = dtype
        for action in on_default_dtype:
            action()


on_default_dtype: list[Any] = []  # called when the default changes: what was inferred before may be different now
