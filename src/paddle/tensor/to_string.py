"""How Tensors are printed, and the options of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing

__all__ = ["set_printoptions"]


@dataclass
class _Options:
    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


options = _Options()
INDENT = 7


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Sets how Tensors are printed; None leaves an option as it is.

    Args:
        precision (int, optional): digits after the point. Default at start: 8.
        threshold (int, optional): elements from which on a Tensor is abridged. Default at start: 1000.
        edgeitems (int, optional): elements kept at each end of an axis then. Default at start: 3.
        sci_mode (bool, optional): scientific notation. Default at start: False.
        linewidth (int, optional): characters in a line. Default at start: 80.

    Raises:
        TypeError: a value of another type.

    Examples:
        >>> paddle.set_printoptions(precision=3)
        >>> paddle.to_tensor([1.23456])
        Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
               [1.235])
        >>> paddle.set_printoptions(precision=8)
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise errors.invalid_type(
                f"set_printoptions: {name} is not an int.", received=type(value).__name__, expected="an int"
            )
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise errors.invalid_type(
            "set_printoptions: sci_mode is not a bool.", received=type(sci_mode).__name__, expected="True or False"
        )
    for name, value in (*given.items(), ("sci_mode", sci_mode)):
        if value is not None:
            setattr(options, name, value)


def describe(t: Any, prefix: str = "Tensor") -> str:
    """The text of a Tensor: its type, place and values."""
    type_ = t.type
    if t.buffer is None:
        owner = tracing.trace_of(t)
        if owner is not None and owner.abstract and getattr(owner, "declare", True) is not None:  # of a static program
            from ..static.program import described

            return described(t)
    values = text_of(t.array())
    return (
        f"{prefix}(shape={list(type_.shape)}, dtype={type_.dtype.name}, place={t.place}, stop_gradient={t.sg},\n"
        f"{' ' * INDENT}{values})"
    )


def text_of(a: np.ndarray) -> str:
    """Values in nested brackets, as columns of one width, abridged where there are many."""
    if a.dtype.kind not in "biufc":
        a = a.astype(np.float32)
    if a.ndim == 0:
        return item_text(a[()], 0, False)
    if 0 in a.shape:
        depth = a.shape.index(0)
        return _rows_of_nothing(a.shape[: depth + 1])
    abridged = a.size > options.threshold
    shown = _edges(a)  # upstream measures the edges, also where all is shown
    items = [item_text(v, 0, False) for v in shown.reshape(-1)]
    signed = a.dtype.kind in "ifc" and bool((shown < 0).any())
    return _nested(a, abridged, 0, max(map(len, items)), signed)


def _rows_of_nothing(shape: tuple[int, ...], depth: int = 0) -> str:
    if len(shape) == 1:
        return "[]"
    rows = [_rows_of_nothing(shape[1:], depth + 1)] * shape[0]
    return "[" + _between(len(shape), depth).join(rows) + "]"


def _between(ndim: int, depth: int) -> str:
    return "," + "\n" * (ndim - 1) + " " * (INDENT + depth + 1)


def _edges(a: np.ndarray) -> np.ndarray:
    e = options.edgeitems
    for axis, n in enumerate(a.shape):
        if n > 2 * e:
            a = np.take(a, [*range(e), *range(n - e, n)], axis=axis)
    return a


def _nested(a: np.ndarray, abridged: bool, depth: int, width: int, signed: bool) -> str:
    e = options.edgeitems
    cut = abridged and len(a) > 2 * e
    parts = [*range(e), None, *range(len(a) - e, len(a))] if cut else range(len(a))
    if a.ndim == 1:
        items = ["..." if i is None else item_text(a[i], width, signed) for i in parts]
        per_line = max(1, (options.linewidth - INDENT - depth) // (width + 2))
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (INDENT + depth + 1)).join(lines) + "]"
    rows = ["..." if i is None else _nested(a[i], abridged, depth + 1, width, signed) for i in parts]
    return "[" + _between(a.ndim, depth).join(rows) + "]"


def item_text(v: Any, width: int, signed: bool) -> str:
    """One element, padded on the right to a width; with `signed`, room for a sign on the left."""
    if isinstance(v, np.floating):
        if options.sci_mode:
            text = f"{float(v):.{options.precision}e}"
        elif v == np.floor(v) or not np.isfinite(v):
            text = "nan" if np.isnan(v) else f"{float(v):.0f}."
        else:
            text = f"{float(v):.{options.precision}f}"
    elif isinstance(v, np.complexfloating):
        kind = "e" if options.sci_mode else "f"
        text = f"({complex(v):.{options.precision}{kind}})"
    else:
        text = str(v)
    if width > len(text):
        if signed and not text.startswith("-") and not v < 0:
            return (" " + text).ljust(width)
        return text.ljust(width)
    return text
