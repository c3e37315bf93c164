"""Settings of the engine: `FLAGS_*`, from the environment at start and from `paddle.set_flags` later."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .errors import invalid_argument, not_found


@dataclass
class Flag:
    """One setting.

    Attributes:
        default: also gives the type.
        help: one line.
        choices: the values that are accepted, or empty for any.
        on_change: what is called with a new value, in order.
    """

    default: Any
    help: str
    choices: tuple[Any, ...] = ()
    on_change: list[Callable[[Any], None]] = field(default_factory=list)


_flags: dict[str, Flag] = {}
_values: dict[str, Any] = {}


def define(name: str, default: Any, help: str, choices: tuple[Any, ...] = ()) -> None:
    """Adds a setting; the environment variable of the same name overrides the default."""
    _flags[name] = Flag(default, help, choices)
    _values[name] = _convert(name, os.environ[name]) if name in os.environ else default


def _convert(name: str, value: Any) -> Any:
    flag = _flags[name]
    kind = type(flag.default)
    if kind is bool:
        value = value.lower() in ("1", "true", "on", "yes") if isinstance(value, str) else bool(value)
    elif kind is not type(None):
        try:
            value = kind(value)
        except (TypeError, ValueError):
            raise _refused(name, f"a value of type {kind.__name__}", value) from None
    if flag.choices and value not in flag.choices:
        raise _refused(name, f"one of {flag.choices}", value)
    if kind is int and value < 0:
        raise _refused(name, "a number that is not negative", value)
    return value


def _refused(name: str, expected: str, value: Any) -> Exception:
    text = f"set_flags: {name} does not take this value."
    hint = f"it comes from the environment variable {name}." if os.environ.get(name) == value else ""
    return invalid_argument(text, expected=expected, received=repr(value), hint=hint)


def get(name: str) -> Any:
    return _values[name]


def set_(name: str, value: Any) -> None:
    if name not in _flags:
        raise not_found(f"set_flags: there is no flag {name}.", expected=f"one of {', '.join(sorted(_flags))}")
    value = _convert(name, value)
    changed = value != _values[name]
    _values[name] = value
    for action in _flags[name].on_change if changed else ():
        action(value)


def on_change(name: str, action: Callable[[Any], None]) -> None:
    """Calls `action` with the value, now and whenever the flag changes."""
    _flags[name].on_change.append(action)
    action(_values[name])


def known() -> dict[str, Flag]:
    return dict(_flags)


define(
    "FLAGS_eager_compile",
    "auto",
    "when an eager program is compiled whole: auto, always (at the first visit), never",
    ("auto", "always", "never"),
)
define(
    "FLAGS_eager_constants",
    "auto",
    "whether what follows from weights alone is kept: auto, where they stay from run to run; always, never",
    ("auto", "always", "never"),
)
define("FLAGS_eager_sync", False, "run every eager operation at once, for debugging")
define("FLAGS_eager_max_trace", 8192, "operations that are recorded before a flush is forced")
define("FLAGS_eager_trie_nodes", 50_000, "operations that the trie of programs may hold")
define("FLAGS_eager_programs", 256, "programs that stay in memory, the least recently used go first")
define("FLAGS_check_nan_inf", False, "raise at the operation that first gives NaN or infinity")
define("FLAGS_reference", False, "run every operator by its numpy meaning, no compiled code")
define("FLAGS_cpu_threads", 0, "threads of the CPU back end, 0 for one per core")
define("FLAGS_cpu_features", "", "code generation target: empty for this CPU, or avx512, avx2, sse2, generic")
define("FLAGS_cache_dir", "", "folder of the object cache; empty for the user's cache folder")
define("FLAGS_cache_bytes", 1 << 30, "size bound of the object cache in bytes; 0 switches it off")
define("FLAGS_cpu_verify", False, "check LLVM text before it is compiled, for tests and debugging")
define(
    "FLAGS_recompute",
    "auto",
    "whether a training computes activations again instead of keeping them: auto, where it takes less memory; never",
    ("auto", "never"),
)
define(
    "FLAGS_winograd",
    True,
    "3 x 3 float32 convolutions by tiles where that is faster; their sums differ in the last bits",
)
