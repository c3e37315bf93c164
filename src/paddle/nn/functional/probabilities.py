"""Softmax and its relatives: what makes classes out of logits."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops import elementwise as ew
from ...engine.ops.reduction import Max
from ...engine.ops.shape import reshape
from ...engine.ops.softmax import LogSoftmax, Softmax
from ...engine.types import dtype_of
from ...framework.random import next_key
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import axis_of, floating, inplace_of, number, tensor

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmax_"]


@public(also={"x": "input", "axis": "dim"})
def softmax(
    x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """exp(x) over its sum along an axis.

    Args:
        x (Tensor): any floating dtype.
        axis (int, optional): Default: -1.
        dtype (str|dtype, optional): x is cast to it first. Default: None.
        name (str, optional): shown in printed programs. Default: None.
        out (Tensor, optional): takes the result's value. Default: None.

    Returns:
        Tensor: shape of x.

    Raises:
        ValueError: there is no such axis. TypeError: axis is not an integer.

    Examples:
        >>> paddle.nn.functional.softmax(paddle.zeros([2])).tolist()
        [0.5, 0.5]
    """
    result = _over_axis(Softmax, "softmax", x, axis, dtype)
    if out is not None:
        from ...utils.public import replace

        return replace(out, result)
    return result


@public()
def log_softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """x less the log of the sum of exp(x) along an axis.

    Args:
        x (Tensor): any floating dtype.
        axis (int, optional): Default: -1.
        dtype (str|dtype, optional): x is cast to it first. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape of x.

    Raises:
        ValueError: there is no such axis.
    """
    return _over_axis(LogSoftmax, "log_softmax", x, axis, dtype)


def _over_axis(op: Any, name: str, x: Any, axis: Any, dtype: Any) -> Any:
    tensor(x, name)
    if dtype is not None:
        x = ew.cast(x, dtype_of(dtype))
    floating(x, name)
    axis = axis_of(axis, x.ndim, name)
    if not x.ndim:
        return reshape(op(0)(reshape(x, (1,))), ())
    return op(axis)(x)


@public(guarded=True)
def gumbel_softmax(
    x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Tensor:
    """softmax of x and Gumbel noise over temperature: a differentiable draw from the classes of x.

    Source: Jang, Gu and Poole 2017, arXiv:1611.01144, section 2.

    Args:
        x (Tensor): logits, any floating dtype.
        temperature (float, optional): above 0; the lower, the nearer to one-hot. Default: 1.0.
        hard (bool, optional): one-hot result with the gradient of the soft one. Default: False.
        axis (int, optional): of the classes. Default: -1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: temperature is not above 0, or there is no such axis.
    """
    floating(x, "gumbel_softmax")
    temperature = number(temperature, "gumbel_softmax", "temperature")
    if temperature <= 0:
        raise errors.invalid_argument(
            "gumbel_softmax: temperature is not above 0.", expected="temperature > 0", received=f"{temperature}"
        )
    axis = axis_of(axis, x.ndim, "gumbel_softmax")
    from ...engine.ops.random import uniform

    u = uniform(next_key(), tuple(x.shape), 1e-12, 1.0)
    noise = ew.cast(-ew.log(-ew.log(u)), x.dtype)
    soft = softmax((x + noise) / temperature, axis)
    if not hard:
        return soft
    top = Max((axis,), True)(soft)
    one_hot = ew.cast(ew.equal(soft, top), x.dtype)
    return one_hot - ew.Detach()(soft) + soft


@public()
def softmax_(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """In-place form of `softmax`: the tensor takes the result's value and is returned."""
    return _softmax_inplace(x, axis, dtype)


_softmax_inplace = inplace_of(softmax)
