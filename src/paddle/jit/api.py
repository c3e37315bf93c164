"""`to_static` and `not_to_static`."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..engine import errors
from ..nn.layer.layers import Layer
from .program import StaticFunction


def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> Any:
    """Makes the calls of a function, or of a Layer, one program.

    Args:
        function (callable|Layer, optional): what is captured; None for use as a decorator with arguments.
        input_spec (list, optional): InputSpecs of the Tensors among the arguments.
        build_strategy (BuildStrategy, optional): accepted; there is one compiler and it fuses by itself.
        backend (str, optional): accepted; "CINN" and None mean the compiler of this project.
        full_graph (bool): True: the whole function is one program, also its `if`, `while` and `for` on Tensors; what
            Python does beside Tensors happens when it is captured only. False: it runs as it is written, and what it
            records is compiled. Default: False.

    Returns:
        StaticFunction; for a Layer the Layer itself, its `forward` replaced.

    Raises:
        RuntimeError: with full_graph, where a value is asked for that is not known while the program is captured.

    Examples:
        >>> @paddle.jit.to_static(full_graph=True)
        ... def f(x):
        ...     return (x * x).sum()
        >>> float(f(paddle.to_tensor([1.0, 2.0])))
        5.0

    Source: https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/jit/to_static_en.html
    """
    full_graph = kwargs.pop("full_graph", False)
    kwargs.pop("property", None)
    if backend not in (None, "CINN"):
        raise errors.invalid_argument(
            "to_static: the backend is not known.", expected='"CINN" or None', received=f"backend: {backend!r}"
        )

    def decorated(target: Any) -> Any:
        if isinstance(target, StaticFunction):
            target = target._function
        if isinstance(target, Layer):
            forward = type(target).forward
            known = target.__dict__.get("forward", forward)
            inner = known._function if isinstance(known, StaticFunction) else known
            if known is not forward and not isinstance(known, StaticFunction):
                target.__dict__["forward"] = StaticFunction(inner, input_spec, full_graph)
            else:
                inner = inner._function if isinstance(inner, StaticFunction) else inner
                target.__dict__["forward"] = StaticFunction(inner, input_spec, full_graph, target)
            return target
        if not callable(target):
            raise errors.invalid_type(
                "to_static: nothing to call.", expected="a function or a Layer", received=f"{type(target).__name__}"
            )
        method = getattr(target, "__self__", None)
        if method is not None and not isinstance(method, type) and hasattr(target, "__func__"):
            return StaticFunction(target.__func__, input_spec, full_graph, method)
        return StaticFunction(target, input_spec, full_graph)

    return decorated if function is None else decorated(function)


def not_to_static(func: Any = None) -> Any:
    """Marks a function that runs as it is written: its control flow is Python's also where it is captured.

    Args:
        func (callable, optional): the function; None for use as a decorator.

    Returns:
        callable: the function itself, marked.

    Examples:
        >>> @paddle.jit.not_to_static
        ... def g(x):
        ...     return x + 1
        >>> float(g(paddle.to_tensor(1.0)))
        2.0
    """

    def marked(f: Callable[..., Any]) -> Callable[..., Any]:
        f.__dict__["_not_to_static"] = True
        return f

    return marked if func is None else marked(func)


def ignore_module(modules: list[ModuleType]) -> None:
    """Functions of these modules run as they are written: their control flow is Python's also where it is captured.

    Args:
        modules (list[ModuleType]): the modules; what lies in packages among them counts.

    Raises:
        TypeError: one of them is not a module.

    Examples:
        >>> import statistics
        >>> paddle.jit.ignore_module([statistics])
    """
    for m in modules:
        if not isinstance(m, ModuleType):
            raise errors.invalid_type(
                "ignore_module: this is not a module.", expected="modules", received=f"{type(m).__name__}"
            )
    from .dy2static import ignore

    ignore(modules)
