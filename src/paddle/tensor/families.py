"""Makers of the public functions that differ in one operator only, so that a line tells what is special."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.eager import trace as tracing
from ..utils.public import public
from .arguments import fill_out, not_a_tensor
from .tensor import Tensor

_local = tracing.local


def need_tensor(x: Any, function: str, label: str = "x", kind: type[Exception] = ValueError) -> Any:
    """x, which has to be a Tensor; `kind` is what upstream raises for anything else."""
    if not isinstance(x, tracing.Tensor):
        raise not_a_tensor(x, function, label, kind)
    return x


def no_method(x: Any, function: str) -> Any:
    """x, which has to be a Tensor; AttributeError otherwise, as in upstream's functions written in Python."""
    return need_tensor(x, function, kind=AttributeError)


_UNARY = """{does}

    Args:
        x (Tensor): {takes}
        name (str, optional): For printed programs. Default: None.{out}

    Returns:
        Tensor: the shape of x.

    Raises:
        {kind}: x is not a Tensor.

    Examples:
        >>> [round(v, 4) for v in paddle.{name}(paddle.to_tensor({x})).tolist()]
        {result}
    """
_OUT = "\n        out (Tensor, optional): Takes the result and is returned."


def of_one(
    name: str,
    op: Any,
    does: str,
    x: list[Any],
    result: list[Any],
    *,
    takes: str = "Any numeric type; integers are computed in float32.",
    out: bool = False,
    alias: bool = True,
    strict: bool | None = None,
    kind: type[Exception] = ValueError,
    first: str = "x",
    method: Any = True,
) -> Callable[..., Tensor]:
    """A function of one Tensor.

    Args:
        x, result: the example. out: it takes `out`. alias: x may be called `input`. first: its name otherwise.
        strict: an unknown keyword is a ValueError (by default where there is `out`, as upstream), else a TypeError.
        kind: what is raised for what is no Tensor.
    """
    if out:

        def f(x: Any, name: str | None = None, *, out: Any = None) -> Any:
            if not isinstance(x, tracing.Tensor):
                need_tensor(x, f.__name__, kind=kind)
            t = _local.trace.record(op, (x,))
            return t if out is None else fill_out(t, out)

    elif first == "input":

        def f(input: Any, name: str | None = None) -> Any:  # type: ignore[misc]
            return _local.trace.record(op, (need_tensor(input, f.__name__, "input", kind),))

    else:

        def f(x: Any, name: str | None = None) -> Any:  # type: ignore[misc]
            return _local.trace.record(op, (need_tensor(x, f.__name__, kind=kind),))

    f.__name__ = f.__qualname__ = name
    f.__module__ = "paddle.tensor.math"
    f.__doc__ = _UNARY.format(does=does, takes=takes, out=_OUT if out else "", name=name, x=x, result=result,
                              kind=kind.__name__)  # fmt: skip
    also = {"x": "input"} if alias and first == "x" else {}
    strict = out if strict is None else strict
    return public(also=also, method=method, kind=ValueError if strict else TypeError)(f)


_BINARY = """{does}

    Args:
        x (Tensor): {takes}
        y (Tensor): The same type; the two shapes broadcast.{number}
        name (str, optional): For printed programs. Default: None.{out}

    Returns:
        Tensor: the broadcast shape.

    Raises:
        ValueError: an argument is not a Tensor, or the shapes do not broadcast. TypeError: the types do not mix.

    Examples:
        >>> paddle.{name}(paddle.to_tensor({x}), paddle.to_tensor({y})).tolist()
        {result}
    """


def of_two(
    name: str,
    op: Any,
    does: str,
    x: list[Any],
    y: list[Any],
    result: list[Any],
    *,
    takes: str = "Any numeric type.",
    out: bool = False,
    number: bool = False,
    strict: bool = False,
    aliases: bool = True,
    method: Any = True,
) -> Callable[..., Tensor]:
    """A function of two Tensors that broadcast.

    Args:
        x, y, result: the example. out: it takes `out`. number: y may be a number, which takes the type of x.
        strict: an unknown or missing argument is a ValueError, as upstream has it for some, else a TypeError.
    """

    def check(x: Any, y: Any) -> Any:
        need_tensor(x, name, "x")
        if number and not isinstance(y, tracing.Tensor):
            from ..engine.ops.elementwise import is_number
            from ..engine.ops.number import Number

            if is_number(y):
                return Number(y, x.type.dtype)
        return need_tensor(y, name, "y")

    if out:

        def f(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
            if not (isinstance(x, tracing.Tensor) and isinstance(y, tracing.Tensor)):
                y = check(x, y)
            t = _local.trace.record(op, (x, y))
            return t if out is None else fill_out(t, out)

    else:

        def f(x: Any, y: Any, name: str | None = None) -> Any:  # type: ignore[misc]
            return _local.trace.record(op, (x, check(x, y)))

    f.__name__ = f.__qualname__ = name
    f.__module__ = "paddle.tensor.math"
    f.__doc__ = _BINARY.format(
        does=does, takes=takes, name=name, x=x, y=y, result=result, out=_OUT if out else "",
        number=" Or a number." if number else "",
    )  # fmt: skip
    also = {"x": "input", "y": "other"} if aliases else {}
    return public(also=also, method=method, kind=ValueError if strict else TypeError)(f)
