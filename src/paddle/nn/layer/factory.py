"""Makes layers that hold the arguments of one function: activations, losses, pools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...engine import errors
from .layers import Layer


def named(text: str, name: Any) -> str:
    """What is printed of a layer, with its `name` argument where there was one."""
    return f"{text}, name={name}" if name and text else f"name={name}" if name else text


def alias(of: str) -> property:
    """An attribute that is another one, by its other name."""

    def put(self: Any, value: Any) -> None:
        setattr(self, of, value)

    return property(lambda self: getattr(self, of), put)


def activation_named(name: Any, who: str) -> Callable[..., Any]:
    """The function of nn.functional that `name` names, or `name` itself where it is a function."""
    from .. import functional

    found = getattr(functional, name, None) if isinstance(name, str) else name
    if not callable(found):
        raise errors.no_attribute(
            f"{who}: there is no such activation.",
            expected="the name of a function of nn.functional",
            received=f"{name!r}",
        )
    return found


def layer_class(
    name: str,
    signature: dict[str, Any],
    call: Callable[..., Any],
    *,
    shown: Any = (),
    doc: str,
    module: str,
    check: Callable[[Any], None] | None = None,
    prefix: str = "_",
) -> type[Layer]:
    """A layer class.

    Args:
        name: of the class.
        signature: parameters with their defaults (`...` for none), in order.
        call: `forward`, a function of the layer and the inputs.
        shown: names that are printed, or a function of the layer that gives the text.
        doc, module: of the class.
        check: is called with the finished layer.
        prefix: before the names of the attributes; `name` has none.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    params = [inspect.Parameter("self", kind)]
    params += [inspect.Parameter(k, kind, default=empty if v is ... else v) for k, v in signature.items()]
    sig = inspect.Signature(params)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = sig.bind(self, *args, **kwargs)
        except TypeError as e:
            shown = ", ".join(str(p) for p in params[1:])
            from ...utils.explain import arguments

            given = arguments({**{f"argument {i}": a for i, a in enumerate(args, 1)}, **kwargs})
            raise errors.invalid_type(f"{name}: {e}.", expected=f"{name}({shown})", received=given) from None
        bound.apply_defaults()
        Layer.__init__(self)
        for k, v in list(bound.arguments.items())[1:]:
            setattr(self, k if k == "name" else prefix + k, v)
        if check is not None:
            check(self)

    def extra_repr(self: Any) -> str:
        if callable(shown):
            return named(shown(self), self.__dict__.get("name"))
        return named(", ".join(f"{k}={getattr(self, prefix + k)}" for k in shown), self.__dict__.get("name"))

    __init__.__signature__ = sig  # type: ignore[attr-defined]
    body = {"__init__": __init__, "forward": call, "extra_repr": extra_repr, "__doc__": doc, "__module__": module}
    body["_name"] = alias("name")
    return type(name, (Layer,), body)


def older_order(count: int, convert: Callable[[tuple[Any, ...]], dict[str, Any]]) -> Callable[[Any], Any]:
    """Lets an `__init__` whose last parameters are by keyword only take them by position too, in an older order.

    Args:
        count: parameters by position, without self.
        convert: from what is given beyond them to keyword arguments.
    """

    def declare(init: Any) -> Any:
        @functools.wraps(init)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if len(args) > count:
                kwargs = {**convert(args[count:]), **kwargs}
            init(self, *args[:count], **kwargs)

        return __init__

    return declare
