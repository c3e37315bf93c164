"""Variables of static programs that no layer makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import in_program
from ..engine.types import TensorType, dtype_of
from ..framework.param import create_parameter
from ..tensor.tensor import Tensor
from ..utils import unique_name
from .backward import variable
from .program import default_main_program, default_startup_program

__all__ = ["Variable", "create_global_var", "create_parameter", "is_persistable"]


class _OfPrograms(type):
    def __instancecheck__(cls, t: Any) -> bool:
        if not isinstance(t, Tensor):
            return False
        owner = tracing.trace_of(t)
        return owner is not None and owner.abstract


class Variable(metaclass=_OfPrograms):
    """What Tensors of static programs are instances of: results, inputs and variables. It is not made itself.

    Examples:
        >>> paddle.enable_static()
        >>> isinstance(paddle.static.data("v", [None]), paddle.static.Variable)
        True
        >>> paddle.disable_static()
        >>> isinstance(paddle.ones([2]), paddle.static.Variable)
        False
    """


def is_persistable(var: Any) -> bool:
    """Whether a variable is saved with its program.

    Args:
        var (Tensor): a variable.
    """
    return bool(var.persistable)


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """A variable that keeps its value from run to run; the startup program sets it.

    Args:
        shape (list|tuple): its sizes.
        value (float): its first value, everywhere.
        dtype (str|dtype): its element type.
        persistable (bool): whether it is saved with the program. Default: False.
        force_cpu (bool): it is on the CPU in any case.
        name (str, optional): Default: a unique one.

    Raises:
        TypeError: shape is no list.
    """
    if not isinstance(shape, (list, tuple)):
        raise errors.invalid_type(
            "create_global_var: shape is no list.", expected="list or tuple of int", received=type(shape).__name__
        )
    kind = dtype_of(dtype)
    type_ = TensorType(tuple(int(n) for n in shape), kind)
    fill = lambda value_of: tracing.from_array(np.full(type_.shape, value, kind.np))
    name = name or unique_name.generate("global_var")
    if not in_program():
        t: Any = fill(None)
        t.name, t.persistable = name, persistable
        return t
    t = variable(default_main_program(), default_startup_program(), name, type_, fill)
    t.persistable = persistable
    return t
