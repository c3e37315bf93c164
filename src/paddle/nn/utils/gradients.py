"""Clipping of the gradients that parameters hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine import errors
from ...engine.eager.rows import RowTensor, from_tensor, to_tensor
from ...engine.eager.tape import gradient
from ...engine.ops.elementwise import cast, greater_than, maximum, minimum, sqrt
from ...engine.ops.reduction import Max, sum_
from ...framework.grad_mode import no_grad
from ...tensor.tensor import Tensor
from ...utils.public import public

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _with_grad(parameters: Tensor | Iterable[Any]) -> list[Any]:
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    params = [p for p in params if gradient(p) is not None]
    for p in params:
        if isinstance(gradient(p), RowTensor):  # each row once, so that norms and bounds see its sum
            p.grad = to_tensor(from_tensor(gradient(p)).once())
    return params


def _number(who: str, label: str, value: Any) -> float:
    make = errors.invalid_argument
    if not isinstance(value, str):
        try:
            return float(value)
        except TypeError:
            make = errors.invalid_type
    raise make(f"{who}: {label} is not a number.", expected="a float", received=f"{label}: {value!r:.60}")


@public(guarded=True)
@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Any], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scales the gradients of parameters, in place, so that their norm together is at most max_norm.

    Args:
        parameters (Tensor|Iterable[Tensor]): whose gradients.
        max_norm (float): the greatest norm.
        norm_type (float): 2 for the root of the squares, inf for the greatest. Default: 2.0.
        error_if_nonfinite (bool): raises where the norm is infinite or NaN. Default: False.

    Returns:
        Tensor: the norm before.

    Raises:
        RuntimeError: the norm is not finite.
        ValueError: norm_type is not known.

    Examples:
        >>> x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
        >>> (x * x / 2).sum().backward()
        >>> paddle.nn.utils.clip_grad_norm_(x, 1.0).item()
        5.0
    """
    params = _with_grad(parameters)
    order, most = _number("clip_grad_norm_", "norm_type", norm_type), _number("clip_grad_norm_", "max_norm", max_norm)
    if not (order in (0.0, 1.0, 2.0) or abs(order) == float("inf")):
        raise errors.invalid_argument(
            "clip_grad_norm_: norm_type is not known.", expected="0, 1, 2, inf or -inf", received=f"{norm_type}"
        )
    if not params:
        from ...tensor import zeros

        return zeros([])
    sizes = [maximum(gradient(p), -gradient(p)) for p in params]
    every = [tuple(range(g.ndim)) for g in sizes]
    total: Any = None
    if order == float("inf"):
        for g, axes in zip(sizes, every):
            m = Max(axes)(g)
            total = m if total is None else maximum(total, m)
    elif order == -float("inf"):
        for g, axes in zip(sizes, every):
            m = -Max(axes)(-g)
            total = m if total is None else minimum(total, m)
    else:
        for g, axes in zip(sizes, every):
            term = {0.0: lambda g: cast(greater_than(g, 0.0), g.dtype), 1.0: lambda g: g, 2.0: lambda g: g * g}
            s = sum_(term[order](g), axes)
            total = s if total is None else total + s
        if order == 2.0:
            total = sqrt(total)
    if error_if_nonfinite and not abs(float(total.item())) < float("inf"):
        raise errors.precondition(
            "clip_grad_norm_: the norm of the gradients is not finite.",
            expected="a finite norm",
            received=f"{float(total.item())}",
            hint="pass error_if_nonfinite=False to scale all the same.",
        )
    factor = minimum(most / (total + 1e-6), 1.0)
    for p in params:
        p.grad = gradient(p) * cast(factor, gradient(p).dtype)
    return total


@public(guarded=True)
@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Any], clip_value: float) -> None:
    """Keeps every element of the gradients of parameters, in place, within [-clip_value, clip_value].

    Args:
        parameters (Tensor|Iterable[Tensor]): whose gradients.
        clip_value (float): the bound.
    """
    most = _number("clip_grad_value_", "clip_value", clip_value)
    if most < 0:
        raise errors.invalid_argument(
            "clip_grad_value_: clip_value is negative.", expected=">= 0", received=f"clip_value: {clip_value}"
        )
    for p in _with_grad(parameters):
        p.grad = minimum(maximum(gradient(p), -most), most)
