"""Results whose shape depends on values.

Such a function cannot be deferred: how many elements are not zero is known only when they are. It computes what has
been recorded so far (a flush), works on the arrays with numpy, and gives Tensors with data. Gradients, where there are
any, pass through gathers at the positions found: write the function as `positions = on_host(f, x)` and gather with
operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.eager.trace import from_array
from .tensor import Tensor


def on_host(f: Callable[..., Any], *tensors: Tensor) -> Any:
    """f of the arrays of Tensors; every array it gives becomes a Tensor that stops gradients."""
    with np.errstate(all="ignore"):
        found = f(*(t.array() for t in tensors))
    if isinstance(found, tuple):
        return tuple(_owned(a) for a in found)
    return _owned(found)


def _owned(a: Any) -> Any:
    return from_array(np.array(a, order="C"))
