"""Checks that functions of this package share, and small ways around shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine import errors
from ...engine.eager.trace import Tensor as EngineTensor
from ...engine.ir.graph import Value
from ...engine.ops.reduction import mean_, sum_
from ...utils.public import check_inplace, replace

no_kernel = errors._maker("NotFound", RuntimeError)


def tensor(x: Any, name: str, label: str = "x") -> Any:
    """x; ValueError where it is not a Tensor."""
    if not isinstance(x, (EngineTensor, Value)):
        raise errors.invalid_argument(
            f"{name}: {label} is not a Tensor.", expected="a Tensor", received=f"{label}: {type(x).__name__}"
        )
    return x


def floating(x: Any, name: str, label: str = "x") -> Any:
    """x; RuntimeError where its elements are not floating, as for a kernel that upstream does not have."""
    if not tensor(x, name, label).dtype.is_floating:
        raise no_kernel(
            f"{name}: there is no kernel for this element type.",
            expected="float16, bfloat16, float32 or float64",
            received=f"{label}: {x.type}",
            hint=f"cast it, as in {label}.astype('float32').",
        )
    return x


def axis_of(axis: Any, ndim: int, name: str) -> int:
    """A non-negative axis. TypeError if it is no integer, ValueError if there is no such axis."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise errors.invalid_type(f"{name}: axis is not an integer.", expected="an int", received=f"axis: {axis!r}")
    found = int(axis)
    if not -max(ndim, 1) <= found < max(ndim, 1):
        raise errors.invalid_argument(
            f"{name}: x has no such axis.",
            expected=f"an axis in [{-max(ndim, 1)}, {max(ndim, 1)})",
            received=f"axis: {found}",
        )
    return found % max(ndim, 1)


def choice(value: Any, among: Sequence[Any], name: str, label: str) -> Any:
    """value; ValueError where it is not one of `among`."""
    if value not in among:
        raise errors.invalid_argument(
            f"{name}: {label} is not known.", expected=f"one of {list(among)}", received=f"{label}: {value!r}"
        )
    return value


def reduced(x: Any, reduction: str) -> Any:
    """x, its sum or its mean, by the name of the reduction."""
    if reduction == "none":
        return x
    axes = tuple(range(len(x.shape)))
    return sum_(x, axes) if reduction == "sum" else mean_(x, axes)


def check_reduction(reduction: Any, name: str, among: Sequence[str] = ("none", "mean", "sum")) -> None:
    choice(reduction, among, name, "reduction")


def inplace_of(f: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form of a function of one tensor: the tensor takes the result's value and is returned."""
    import functools

    name = f.__name__ + "_"

    @functools.wraps(f)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, EngineTensor):
            check_inplace(name, x)
        return replace(x, f(x, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"In-place form of `{f.__name__}`: the tensor takes the result's value and is returned."
    return call


def numbers(value: Any, n: int, name: str, label: str) -> tuple[int, ...]:
    """n integers from an integer (repeated), a list of n or of one, or a Tensor of them."""
    if isinstance(value, EngineTensor):
        value = value.tolist() if value.ndim else value.item()
    if isinstance(value, (list, tuple)):
        found = tuple(int(v) for v in value)
        if len(found) == 1:
            found *= n
    elif hasattr(value, "__index__"):
        found = (int(value),) * n
    else:
        raise errors.invalid_argument(
            f"{name}: {label} is neither an integer nor a list of integers.",
            expected=f"an int, or {n} of them",
            received=f"{label}: {value!r}",
        )
    if len(found) != n:
        raise errors.invalid_argument(
            f"{name}: {label} has the wrong length.", expected=f"an int, or {n} of them", received=f"{label}: {value!r}"
        )
    return found
