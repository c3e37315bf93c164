"""`Mode`: in which type an operator computes inside `auto_cast`.

The tracer asks it when an operator is recorded for the first time at a place; what it answers is part of the
recorded program. A function that is one step of the program is asked for by its own name first, and what it consists
of then follows that answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.ops.elementwise import Binary, cast
from ..engine.ops.registry import registry
from ..engine.types import DType
from .amp_lists import ALIASES, BLACK, WHITE

_FLOATS = frozenset({types.float16, types.bfloat16, types.float32})
_KEEP = frozenset({"cast", "detach", "slice_set"})  # the type of the result is what these are called for
_modes: dict[Any, Mode] = {}
_warned: set[str] = set()


class Mode:
    """What `auto_cast` decides by. Two with equal settings are one object, so that programs are found again.

    Args:
        level: "O1", "O2" or "OD". low: the 16-bit type.
        white, black: names of what computes in `low`, and in float32.
        promote: float32 wins where both types meet in an operator on no list.
    """

    __slots__ = ("level", "low", "white", "black", "promote")

    def __init__(self, level: str, low: DType, white: frozenset[str], black: frozenset[str], promote: bool) -> None:
        self.level, self.low, self.white, self.black, self.promote = level, low, white, black, promote

    @staticmethod
    def of(level: str, low: DType, white: Iterable[str], black: Iterable[str], promote: bool) -> Mode:
        """The mode of a level with the user's lists.

        Raises:
            ValueError: a name is on both lists.
        """
        more, less = _known(white), _known(black)
        both = sorted(set(white) & set(black))
        if both:
            raise errors.invalid_argument(
                "auto_cast: a name is on both custom lists.", expected="two lists with no name in common",
                received=f"{both}",
            )  # fmt: skip
        key = (level, low, more, less, promote)
        mode = _modes.get(key)
        if mode is None:
            fixed = BLACK if level == "O1" else frozenset()
            made = Mode(level, low, (WHITE - less) | more, (fixed - more) | less, promote)
            mode = _modes.setdefault(key, made)
        return mode

    def type_of(self, name: str) -> DType | None:
        """The type that the lists name, if any."""
        if name in self.white:
            return self.low
        if name in self.black or self.level == "OD":
            return types.float32
        return None

    def arguments(self, op: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The arguments of an operator in the types that it computes in; None where they are that already."""
        if op.name in _KEEP:
            return None
        found = {a.type.dtype for a in args if isinstance(a, tracing.Tensor)} & _FLOATS
        if not found:
            return None
        to = self.type_of(op.name)
        if to is None and len(found) > 1:
            if not self.promote:
                to = self.low
            elif not isinstance(op, Binary):  # those promote by themselves
                to = types.float32
        return None if to is None or found == {to} else tuple(converted(a, to) for a in args)

    def call(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """f(*args, **kwargs), as one operator if its name is on a list."""
        name = f.__name__
        to = self.low if name in self.white else types.float32 if name in self.black else None
        if to is None:
            return f(*args, **kwargs)
        trace = tracing.current()
        trace.set_amp(None)
        try:
            return f(*(converted(a, to) for a in args), **{k: converted(v, to) for k, v in kwargs.items()})
        finally:
            trace.set_amp(self)


# What sets a mode in force, if not the trace itself: takes the mode, gives what stands in its place.
observer: Callable[[Mode | None], Any] | None = None


def observed(mode: Mode | None) -> Any:
    """What the trace is given for a mode: while operators are counted, an object in front of it."""
    return mode if observer is None else observer(mode)


def in_force() -> Mode | None:
    """The mode of this thread."""
    mode = tracing.current().amp
    return getattr(mode, "inner", mode)


def converted(a: Any, to: DType) -> Any:
    """A Tensor of one of the floating types up to float32 in the type `to`; anything else as it is."""
    return cast(a, to) if isinstance(a, tracing.Tensor) and a.type.dtype in _FLOATS else a


def _known(names: Iterable[str]) -> frozenset[str]:
    """The names that the engine uses for those of a user's list."""
    found: set[str] = set()
    for name in names:
        mine = ALIASES.get(name, (name,))
        found.update(mine)
        if not any(n in registry or n in WHITE or n in BLACK or n in FUNCTIONS for n in mine) and name not in _warned:
            _warned.add(name)
            errors.warn(f"auto_cast: {name!r} is no operator here; on a list it has no effect.")
    return frozenset(found)


FUNCTIONS = frozenset(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d binary_cross_entropy conv1d_transpose conv2d_transpose conv3d
    conv3d_transpose embedding kl_div l1_loss local_response_norm max_pool1d max_pool2d max_pool3d mse_loss rms_norm
    """.split()
)  # functions that are one step of the program, beside those on the lists
