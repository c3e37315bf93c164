"""How parameters get their first values."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from . import lazy_init
from .constant import Assign, Bilinear, Constant, Dirac
from .initializer import Initializer, calculate_gain
from .random import (
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]

_global: dict[bool, Initializer | None] = {False: None, True: None}


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Sets the initializers of parameters whose ParamAttr names none; None puts the defaults back.

    Args:
        weight_init (Initializer|None): for weights.
        bias_init (Initializer, optional): for biases. Default: None.

    Raises:
        TypeError: not an Initializer.
    """
    for given in (weight_init, bias_init):
        if given is not None and not isinstance(given, Initializer):
            raise errors.invalid_type(
                "set_global_initializer: not an initializer.",
                expected="an Initializer or None",
                received=type(given).__name__,
            )
    _global[False], _global[True] = weight_init, bias_init


def global_initializer(is_bias: bool) -> Any:
    return _global[is_bias]
