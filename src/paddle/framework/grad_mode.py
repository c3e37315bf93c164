"""Whether operations are recorded for gradients: `no_grad`, `enable_grad`, `set_grad_enabled`, `is_grad_enabled`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..engine.eager.trace import local

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class _Mode:
    """Base: a context that is also a decorator, of functions and of generator functions."""

    on: bool

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        trace = local.trace
        self._before.append(trace.grad)
        trace.set_grad(self.on)

    def __exit__(self, *exc: Any) -> None:
        local.trace.set_grad(self._before.pop())

    def _again(self) -> "_Mode":
        return type(self)()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(func):

            @functools.wraps(func)
            def generate(*args: Any, **kwargs: Any) -> Any:
                steps = func(*args, **kwargs)
                send: Callable[[], Any] = lambda: next(steps)
                while True:
                    try:
                        with self._again():
                            value = send()
                    except StopIteration as e:
                        return e.value
                    try:
                        got = yield value
                        send = functools.partial(steps.send, got)
                    except GeneratorExit:
                        steps.close()
                        raise
                    except BaseException as e:
                        send = functools.partial(steps.throw, e)

            return generate

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return func(*args, **kwargs)

        return call


class no_grad(_Mode):
    """Inside, results do not need gradients. A context and, called, a decorator: `@paddle.no_grad()`.

    Examples:
        >>> x = paddle.ones([2])
        >>> x.stop_gradient = False
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    on = False


class enable_grad(_Mode):
    """Inside, results need gradients again although a `no_grad` is around.

    Examples:
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     paddle.is_grad_enabled()
        True
    """

    on = True


class set_grad_enabled(_Mode):
    """Switches gradients on or off, at once; as a context it puts the old state back.

    Args:
        mode (bool): True records operations for gradients.

    Examples:
        >>> with paddle.set_grad_enabled(False):
        ...     paddle.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        self.on = bool(mode)
        self._before = [local.trace.grad]
        local.trace.set_grad(self.on)

    def __enter__(self) -> None:
        local.trace.set_grad(self.on)

    def __exit__(self, *exc: Any) -> None:
        local.trace.set_grad(self._before[-1])

    def _again(self) -> "_Mode":
        return set_grad_enabled(self.on)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        local.trace.set_grad(self._before[-1])  # a decorator acts when the function is called, not before
        return super().__call__(func)


def is_grad_enabled() -> bool:
    """Whether operations are recorded for gradients.

    Examples:
        >>> paddle.is_grad_enabled()
        True
    """
    return local.trace.grad
