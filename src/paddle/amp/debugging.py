"""Finding where numbers overflow: `check_numerics` for a Tensor, `check_layer_numerics` for a layer."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..tensor.tensor import Tensor

__all__ = ["DebugMode", "check_layer_numerics", "check_numerics"]


class DebugMode(enum.Enum):
    """What `check_numerics` does about what it finds."""

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3


def check_numerics(
    tensor: Tensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Counts NaN, infinities and zeros.

    Args:
        tensor (Tensor): any floating type.
        op_type (str): of the operator that made it, for the report. var_name (str): its name, for the report.
        debug_mode (DebugMode, optional): CHECK_NAN_INF_AND_ABORT raises where there are NaN or infinities;
            CHECK_NAN_INF prints a line; CHECK_ALL_FOR_OVERFLOW also prints where values are beyond float16; CHECK_ALL
            always prints. Default: CHECK_NAN_INF_AND_ABORT.

    Returns:
        tuple: the counts of NaN, infinities and zeros, int64 [3]; the largest, the least and the mean, float32 [3].

    Raises:
        ValueError: not a Tensor. RuntimeError: NaN or infinities were found.

    Examples:
        >>> counts, values = paddle.amp.debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 3.0]), "relu", "h")
        >>> counts.tolist(), [round(v, 3) for v in values.tolist()]
        ([0, 0, 1], [3.0, 0.0, 1.333])
    """
    if not isinstance(tensor, Tensor):
        raise errors.invalid_argument(
            "check_numerics: tensor is not a Tensor.", expected="a Tensor", received=type(tensor).__name__
        )
    a = tensor.array()
    wide = a.astype(np.float32) if a.dtype.itemsize < 4 else a
    counts = np.array([np.isnan(wide).sum(), np.isinf(wide).sum(), (wide == 0).sum()], np.int64)
    with np.errstate(all="ignore"):
        values = np.array([wide.max(), wide.min(), wide.mean()] if wide.size else [0, 0, 0], np.float32)
    found = f"num_nan={counts[0]}, num_inf={counts[1]}, num_zero={counts[2]}"
    where = f"op={op_type}, tensor={var_name}, dtype={tensor.type.dtype.name}"
    line = f"[{where}], numel={a.size}, {found}, max={values[0]:e}, min={values[1]:e}, mean={values[2]:e}"
    bad = bool(counts[0] or counts[1])
    if bad and debug_mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
        raise errors.precondition(
            f"{op_type}: there are NaN or infinities ({found}).", received=line, expected="finite numbers"
        )
    beyond = bool(wide.size) and float(np.abs(values[:2]).max()) > float(np.finfo(np.float16).max)
    if bad:
        print(f"[PRECISION] [ERROR] in {line}")
    elif debug_mode is DebugMode.CHECK_ALL or (debug_mode is DebugMode.CHECK_ALL_FOR_OVERFLOW and beyond):
        print(f"[PRECISION] in {line}")
    return tracing.from_array(counts), tracing.from_array(values)


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `forward` of a Layer: NaN or infinities in its first input or in its outputs raise RuntimeError.

    Examples:
        >>> class Root(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return x.sqrt()
        >>> Root()(paddle.ones([1])).tolist()
        [1.0]
    """

    @functools.wraps(func)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], Tensor):
            raise errors.precondition(
                "check_layer_numerics: the first input is not a Tensor.",
                expected="a Tensor",
                received=type(args[0]).__name__ if args else "nothing",
            )
        name = type(self).__name__
        check_numerics(args[0], name, "input")
        out = func(self, *args, **kwargs)
        for i, t in enumerate(out if isinstance(out, (list, tuple)) else [out]):
            if isinstance(t, Tensor) and t.type.dtype.is_floating:
                check_numerics(t, name, f"output {i}")
        return out

    return forward
