"""Scopes: the values of a static program's variables, by name."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import ValueNeeded, outside
from ..tensor.tensor import Tensor

__all__ = ["Scope", "global_scope", "scope_guard"]

_NOWHERE = -1  # the epoch of variables of programs: their values are in scopes


class _Nowhere(tracing.Trace):
    """The trace that variables of static programs belong to: there are no values in it."""

    abstract = True

    def flush(self) -> None:
        raise ValueNeeded(
            errors.message(
                "PreconditionNotMet",
                "A variable of a static program has no value of its own.",
                expected="its value in a scope",
                received="numpy(), item() or an operation in dynamic mode",
                hint="fetch it with Executor.run, or read paddle.static.global_scope().find_var(name).get_tensor().",
            )
        )


_nowhere = _Nowhere()
tracing._traces[_NOWHERE] = _nowhere


def to_nowhere(t: Tensor) -> None:
    """Makes a Tensor without a value a variable of programs."""
    t.epoch, t.slot, t.buffer = _NOWHERE, 0, None


def is_variable(t: Tensor) -> bool:
    return "_variable" in t.__dict__


class _Held:
    """The array of a variable, to be read and set."""

    def __init__(self, variable: "Variable"):
        self._variable = variable

    def _value(self) -> Tensor:
        found = self._variable._scope._values.get(self._variable._name)
        if found is None:
            raise errors.precondition(
                f"get_tensor: the variable {self._variable._name} has no value yet.",
                expected="a variable that a startup program or `set` gave a value",
                received="none in this scope",
                hint="run the startup program: exe.run(paddle.static.default_startup_program()).",
            )
        return found

    def shape(self) -> list[int]:
        return list(self._value().type.shape)

    def set(self, array: Any, place: Any = None) -> None:
        """Puts a copy of an array in the place of the value."""
        a = array.numpy() if isinstance(array, Tensor) else np.asarray(array)
        self._variable._scope._put(self._variable._name, np.array(a, order="C"))

    def _is_initialized(self) -> bool:
        return self._variable._name in self._variable._scope._values

    def _dtype(self) -> Any:
        return self._value().dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._value().__array__(dtype, copy)


class Variable:
    """A variable of a scope."""

    def __init__(self, scope: "Scope", name: str):
        self._scope, self._name = scope, name

    def name(self) -> str:
        return self._name

    def get_tensor(self) -> _Held:
        """Its array, to be read by numpy.array and changed by `set`."""
        return _Held(self)


class Scope:
    """Values of variables by name; what a scope does not have is looked for in the one that it was made from.

    Examples:
        >>> scope = paddle.static.Scope()
        >>> scope.var("x").get_tensor().set([1.0, 2.0], paddle.CPUPlace())
        >>> scope.find_var("x").get_tensor().shape()
        [2]
    """

    def __init__(self, parent: "Scope | None" = None) -> None:
        self._parent = parent
        self._values: dict[str, Tensor] = {}
        self._named: set[str] = set()
        self._kids: list[Scope] = []

    def var(self, name: str) -> Variable:
        """The variable of this name, made where there is none."""
        found = self.find_var(name)
        if found is None:
            self._named.add(name)
            found = Variable(self, name)
        return found

    def find_var(self, name: str) -> Variable | None:
        """The variable of this name, None where there is none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values or name in scope._named:
                return Variable(scope, name)
            scope = scope._parent
        return None

    def local_var_names(self) -> list[str]:
        """Names of the variables of this scope."""
        return sorted(self._named.union(self._values))

    def erase(self, names: list[str]) -> None:
        """Takes variables away."""
        for name in names:
            self._values.pop(name, None)
            self._named.discard(name)

    def new_scope(self) -> "Scope":
        """A scope inside this one."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Takes away the scopes that `new_scope` made."""
        self._kids.clear()

    # -- for executors --
    def _get(self, name: str) -> Tensor | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope._values.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def _take(self, name: str, value: Tensor) -> None:
        self._values[name] = value

    def _put(self, name: str, a: np.ndarray) -> None:
        with outside():
            known = self._values.get(name)
            new: Any = tracing.from_array(a)
            if known is not None and known.type is new.type:
                tracing.rebind(known, new)
            else:
                self._values[name] = new


_global = Scope()


class _Current(threading.local):
    def __init__(self) -> None:
        self.scope = _global


_current = _Current()


def global_scope() -> Scope:
    """The scope that executors use where none is given.

    Examples:
        >>> isinstance(paddle.static.global_scope(), paddle.static.Scope)
        True
    """
    return _current.scope


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Within the block another scope takes the place of the global one.

    Args:
        scope (Scope): the other scope.

    Raises:
        TypeError: not a Scope.

    Examples:
        >>> scope = paddle.static.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     paddle.static.global_scope() is scope
        True
    """
    if not isinstance(scope, Scope):
        raise errors.invalid_type("scope_guard: this is no scope.", expected="a Scope", received=type(scope).__name__)
    before, _current.scope = _current.scope, scope
    try:
        yield
    finally:
        _current.scope = before
