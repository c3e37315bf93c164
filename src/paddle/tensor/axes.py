"""Reading the `axis` of a reduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from .arguments import int_argument
from .tensor import Tensor


def axes_argument(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """The axes to reduce, sorted: all for None and for an empty list.

    Raises:
        TypeError: not integers. ValueError: no such axis, or one named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    if isinstance(axis, (list, tuple)):
        named = [int_argument(a, name) for a in axis]
    elif isinstance(axis, (Tensor, np.ndarray)) and axis.ndim:
        named = [int(a) for a in np.asarray(axis).reshape(-1)]
    else:
        named = [int_argument(axis, name)]
    if not named:
        return tuple(range(ndim))
    out = []
    for a in named:
        if not -ndim <= a < ndim and not (ndim == 0 and a in (0, -1)):
            raise errors.invalid_argument(
                f"{name}: x has no such axis.", expected=f"axis in [{-ndim}, {ndim})", received=f"axis: {axis}"
            )
        if ndim:
            out.append(a % ndim)
    if len(set(out)) != len(out):
        raise errors.invalid_argument(
            f"{name}: an axis is named twice.", received=f"axis: {axis}", expected="different axes"
        )
    return tuple(sorted(out))
