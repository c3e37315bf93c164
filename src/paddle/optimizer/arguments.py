"""What optimizers do with their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors, types
from ..tensor.tensor import Tensor


def given(who: str, kind: Any = errors.invalid_argument, **values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise kind(f"{who}: {name} is not set.", expected="a number", received=f"{name}: None")


def within(who: str, low: float, high: float, **values: Any) -> None:
    """ValueError unless low <= value < high."""
    for name, value in values.items():
        if not isinstance(value, Tensor) and not low <= value < high:
            raise errors.invalid_argument(
                f"{who}: {name} is out of range.", expected=f"{low} <= {name} < {high}", received=f"{name}: {value}"
            )


def numbers(*values: Any) -> tuple[float, ...]:
    return tuple(v.item() if isinstance(v, Tensor) else v for v in values)


def held(p: Tensor, *values: float) -> tuple[float, ...]:
    """Decay rates as numbers of p's type.

    1 - beta is then exactly what the bias correction, which multiplies rounded betas, makes up for. With 0.999 and
    its float32 neighbour in one formula all steps are 6e-6 too short.
    """
    return values if p.dtype is types.float64 else tuple(float(np.float32(v)) for v in values)
