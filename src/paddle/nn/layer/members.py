"""What a Layer keeps its parameters, buffers and sublayers in, and the handles of its hooks."""

from __future__ import annotations

import itertools
import re
import weakref
from typing import Any

_tokens = itertools.count()
_missing = object()


class Members(dict):
    """Members by name. Each is also in the owner's `__dict__`, where Python finds attributes soonest."""

    __slots__ = ("owner", "__weakref__")

    def own(self, layer: Any) -> Members:
        self.owner = weakref.ref(layer)
        for name, value in self.items():
            layer.__dict__[name] = value
        return self

    def _seen(self, name: str, value: Any) -> None:
        owner = getattr(self, "owner", None)
        layer = owner() if owner is not None else None
        if layer is not None:
            if value is _missing:
                layer.__dict__.pop(name, None)
            else:
                layer.__dict__[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._seen(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._seen(name, _missing)

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            value = self[name]
            del self[name]
            return value
        return super().pop(name, *default)

    def popitem(self, last: bool = True) -> Any:
        name = next(reversed(self) if last else iter(self))
        return name, self.pop(name)

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def move_to_end(self, name: str, last: bool = True) -> None:
        value = dict.pop(self, name)
        rest = [] if last else list(self.items())
        if not last:
            dict.clear(self)
        dict.__setitem__(self, name, value)
        dict.update(self, rest)

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Members, (), None, None, iter(self.items())


class HookRemoveHelper:
    """Takes a hook away again.

    Attributes:
        id: the hook's key.
    """

    def __init__(self, hooks: dict[int, Any], hook: Any, *also: dict[int, Any], first: bool = False) -> None:
        self.id = next(_tokens)
        self._hooks, self._also = hooks, also
        hooks[self.id] = hook
        if first:
            rest = [(k, v) for k, v in hooks.items() if k != self.id]
            hooks.clear()
            hooks[self.id] = hook
            hooks.update(rest)

    def remove(self) -> None:
        for hooks in (self._hooks, *self._also):
            hooks.pop(self.id, None)


_first = re.compile("(.)([A-Z][a-z]+)")
_all = re.compile("([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """LayerNorm -> layer_norm, Conv2D -> conv2d."""
    return _all.sub(r"\1_\2", _first.sub(r"\1_\2", name)).lower()


def indent(text: str, spaces: int) -> str:
    """All lines but the first moved to the right."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])
