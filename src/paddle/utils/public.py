"""`public`: what makes a function part of the API, with its other spellings and as a method of Tensor."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..engine import errors

F = TypeVar("F", bound=Callable[..., Any])
METHODS: dict[str, Callable[..., Any]] = {}


def public(
    *,
    also: dict[str, str] | None = None,
    method: bool | str | tuple[str, ...] = False,
    kind: type[Exception] = TypeError,
    composed: bool = False,
    guarded: bool = False,
) -> Callable[[F], F]:
    """Declares a public function.

    Args:
        also: other keyword names by parameter name, as in `{"x": "input", "axis": "dim"}`.
        method: True makes it a Tensor method of the same name; names give others.
        kind: exception type for an unknown keyword or a missing argument (upstream raises ValueError in some).
        composed: its result depends on its arguments alone and it does nothing else, so that what it records is one
            step of the trie when it is called again at the same place.
        guarded: what Python or numpy raise inside is told in the project's form, at the price of a call more; where
            one of the others is given, that comes with it.

    Returns:
        The function, accepting the other spellings.
    """
    renamed = {theirs: ours for ours, theirs in (also or {}).items()}

    def declare(f: F) -> F:
        if composed:
            f = one_step(f)
        if renamed or kind is not TypeError or guarded:

            @functools.wraps(f)
            def call(*args: Any, **kwargs: Any) -> Any:
                if kwargs and renamed:
                    kwargs = {renamed.get(k, k) if renamed.get(k, k) not in kwargs else k: v for k, v in kwargs.items()}
                try:
                    return f(*args, **kwargs)
                except Exception as e:
                    refuse(e, kind)

            made: Any = call
        else:
            made = f
        for name in (f.__name__,) if method is True else (method,) if isinstance(method, str) else method or ():
            METHODS[name] = made
        return made

    return declare


def refuse(e: Exception, unbound: type[Exception] = TypeError) -> NoReturn:
    """Raises e again, in the project's form where it is Python's or numpy's; called where it was caught."""
    from .explain import explained

    found = explained(e, unbound)
    if found is None:
        raise e
    raise found from found.__cause__


def check_flag(function: str, name: str, value: Any) -> None:
    """TypeError where an argument that is True or False is neither, nor a number."""
    if not isinstance(value, (bool, int, np.bool_)) and value is not None:
        from .explain import describe

        raise errors.invalid_type(
            f"{function}: {name} is not True or False.", expected="a bool", received=f"{name}: {describe(value)}"
        )


def guard(f: F) -> F:
    """A method whose mistakes, as Python or numpy tell them, reach the user in the project's form."""

    @functools.wraps(f)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return f(self, *args, **kwargs)
        except Exception as e:
            refuse(e)

    return call  # type: ignore[return-value]


def guard_class(cls: type, *methods: str) -> None:
    """Guards the constructor and methods of a class of the package; called from `__init_subclass__`.

    Classes of users stay as they are. Methods that run in every step are better left alone: a guard is a call.
    """
    if cls.__module__.startswith("paddle."):
        for name in ("__init__", *methods):
            f = cls.__dict__.get(name)
            if inspect.isfunction(f):
                setattr(cls, name, guard(f))


def one_step(f: F) -> F:
    """f, recorded as a single step from its second visit at a place on."""
    from ..engine.eager import trace as tracing

    local, Tensor = tracing.local, tracing.Tensor
    code = f.__code__  # type: ignore[attr-defined]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    flags = [(i, n) for i, n in enumerate(names) if f.__annotations__.get(n) == "bool"]

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = local.trace
        if trace.node is tracing.STUCK:
            trace.ready()
        epoch = trace.epoch
        key: list[Any] = [f]
        for a in args if not kwargs else (*args, *kwargs, *kwargs.values()):
            if isinstance(a, Tensor):
                slot = a.slot  # before the epoch, see Trace.enter
                key.append(slot if a.epoch == epoch else trace.enter(a))
            elif a.__class__ is list or a.__class__ is tuple:
                key.append(len(a))
                for b in a:
                    key.append(b.__class__)
                    key.append(trace.ref(b))
            else:
                key.append(a.__class__)
                key.append(a)
        place = tuple(key)
        try:
            node = trace.node.children.get(place) if trace.epoch == epoch else None
        except TypeError:  # an argument without a hash
            place, node = (), None
        if node is not None:
            trace.node = node.end
            return trace.take(node)
        start, reads = trace.node, trace.reads
        for i, name in flags:
            check_flag(f.__name__, name, args[i] if i < len(args) else kwargs.get(name, False))
        try:
            out = f(*args, **kwargs) if trace.amp is None else trace.amp.call(f, args, kwargs)
        except Exception as e:
            refuse(e)
        if not place or trace.reads != reads:  # what it recorded depends on values
            return out
        return trace.shortcut(start, place, out)

    return call  # type: ignore[return-value]


# Upstream compares the shapes of the two arguments of these functions in place before it asks what they are.
_OF_TWO = frozenset(
    """
    add subtract multiply divide floor_divide remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or
    logical_xor gcd lcm
    """.split()
)


def inplace(
    f: Callable[..., Any], *, name: str = "", reshapes: bool = False, retypes: bool = False, paired: bool = False
) -> Callable[..., Any]:
    """The in-place form of a public function: its first argument takes the result's value and is returned.

    Args:
        f: computes the new value.
        name: of the new function; `f.__name__ + "_"` by default.
        reshapes: the shape may change. retypes: the element type may change; else it only goes up, to a
            larger floating or a complex one, and any other result is cast back.
        paired: the second argument has to be a Tensor; anything else is an AttributeError, as upstream has it.

    Returns:
        The function, registered as a Tensor method too. It raises ValueError for a leaf that needs gradients while
        they are recorded, and where the result does not fit the tensor.
    """
    from ..engine.eager import trace as tracing
    from ..engine.ops.elementwise import cast

    name = name or f.__name__ + "_"

    @functools.wraps(f)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, tracing.Tensor):
            check_inplace(name, x)
        if paired and (args or "y" in kwargs):
            y = args[0] if args else kwargs["y"]
            if not isinstance(y, tracing.Tensor):
                raise errors.no_attribute(
                    f"{name}: y is not a Tensor.", expected="a Tensor", received=f"y: {type(y).__name__}"
                )
        try:
            new = f(x, *args, **kwargs)
        except ValueError as refused:
            try:
                shown.bind(x, *args, **kwargs)
            except TypeError as e:  # for which f may raise another kind
                from .explain import arguments, parameters

                given = {**{f"argument {i}": a for i, a in enumerate((x, *args), 1)}, **kwargs}
                expected = f"{name}({parameters(shown.parameters)})"
                raise errors.invalid_type(f"{name}: {e}.", expected=expected, received=arguments(given)) from None
            if f.__name__ in _OF_TWO and not all(hasattr(t, "shape") for t in (x, *args)):
                raise AttributeError(str(refused)) from None
            raise
        if new.type is not x.type:
            if not reshapes and new.type.shape != x.type.shape:
                raise errors.invalid_argument(
                    f"{name}: the result does not fit the tensor that it is to replace.",
                    expected=f"a result of shape {list(x.type.shape)}",
                    received=f"{new.type}",
                )
            if not (retypes or _goes_up(x.type.dtype, new.type.dtype)):
                new = cast(new, x.type.dtype)
        return replace(x, new)

    seen = inspect.signature(f)
    shown = seen.replace(parameters=[p for p in seen.parameters.values() if p.name != "out"])
    call.__signature__ = shown  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"In-place form of `{f.__name__}`: the tensor takes the result's value and is returned."
    METHODS[name] = call
    return call


def _goes_up(old: Any, new: Any) -> bool:
    """Whether a tensor takes another type in place: a larger floating one, or a complex one."""
    return new.is_complex or (old.is_floating and new.is_floating and new.itemsize > old.itemsize)


def check_inplace(name: str, x: Any) -> None:
    """Refuses to overwrite a leaf that needs gradients while gradients are recorded."""
    from ..engine.eager import trace as tracing

    if not x.sg and tracing.local.trace.grad and x.is_leaf:
        raise errors.invalid_argument(
            f"{name}: a leaf that needs gradients cannot be changed in place.",
            expected="stop_gradient True, a Tensor that is not a leaf, or a `paddle.no_grad()` block",
            received=f"a leaf {x.type} with stop_gradient False",
        )


def replace(x: Any, new: Any) -> Any:
    """x takes the value of `new` and counts as changed. Tensors that share its memory change too. Returns x."""
    from ..engine.eager import trace as tracing

    if new is not x:
        tracing.rebind(x, new)
        state = x.__dict__
        state["_inplace_version"] = state.get("_inplace_version", 0) + 1
    return x
