"""What converted code calls: each construct looks at its predicate.

A Tensor of a program that is being recorded has no value: then both branches, or a loop, are recorded. All else is
Python as it was written.
"""

from __future__ import annotations

import builtins
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...engine import errors
from ...engine.eager import trace as tracing
from ...engine.eager.capture import capture, capturing
from ...engine.types import bool_
from ...static.nn.recording import Filled, Unset, record_cond, record_while
from ...tensor.creation import to_tensor
from ...tensor.tensor import Tensor

GO_ON = type("GO_ON", (), {"__repr__": lambda self: "the end of the block"})()
LONGEST = 128  # steps of a range that are recorded one after the other; a longer one becomes a loop where it has to
_UNSET = Unset()


class _Missing(threading.local):
    """Why variables have no value, by name: for the error where one is used."""

    def __init__(self) -> None:
        self.why: dict[str, str] = {}


missing = _Missing()


def is_unset(value: Any) -> bool:
    return isinstance(value, Unset)


def symbolic(value: Any) -> bool:
    """Whether a value is a Tensor of which a program decides when it runs."""
    if not isinstance(value, tracing.Tensor) or not capturing():
        return False
    trace: Any = tracing.local.trace
    while trace.abstract:
        if id(value) in trace.born and value.buffer is not None:
            return False  # a constant
        trace = trace.outer
    return True


class State:
    """The variables that a construct may change.

    Args:
        getters: per variable, what reads it.
        setter: gives all of them values.
        names: of the variables.
        live: those that matter behind the construct; None for all.
        boxes: lists and dicts that may change in place: what it is called, and what gives it.
        fields: attributes that may change: what it is called, what gives the object, the name.
        filled: variables that nobody reads where they have no value.
    """

    def __init__(
        self, getters: Sequence[Callable[[], Any]], setter: Callable[[Any], None], names: tuple[str, ...],
        live: tuple[str, ...] | None, boxes: Any, fields: Any, filled: tuple[str, ...],
    ):  # fmt: skip
        self.getters, self.setter, self.names, self.live, self.filled = getters, setter, names, live, filled
        self.boxes: list[tuple[str, Any]] = []
        self.fields: list[tuple[str, Any, str]] = []
        self._found = (boxes, fields)

    def look(self) -> None:
        """Finds the lists, dicts and objects that there are."""
        boxes, fields = self._found
        self.boxes = [(text, x) for text, get in boxes if type(x := _read(get)) in (list, dict)]
        found = [(text, _read(get), name) for text, get, name in fields]
        self.fields = [f for f in found if not is_unset(f[1]) and not isinstance(f[1], type)]

    @property
    def labels(self) -> list[str]:
        return [*self.names, *(text for text, _ in self.boxes), *(text for text, _, _ in self.fields)]

    def read(self) -> list[Any]:
        """The values now."""
        values = [_read(get) for get in self.getters]
        values += [x.copy() for _, x in self.boxes]
        return values + [getattr(x, name, _UNSET) for _, x, name in self.fields]

    def matters(self) -> list[bool]:
        live = self.live
        return [live is None or n in live for n in self.names] + [True] * (len(self.boxes) + len(self.fields))

    def write(self, values: Sequence[Any]) -> None:
        n, m = len(self.names), len(self.boxes)
        for name, v in zip(self.names, values):
            if isinstance(v, Unset) and v.why:
                missing.why[name] = v.why
        self.setter(values[:n])
        for (_, x), v in zip(self.boxes, values[n : n + m]):
            if isinstance(x, list):
                x[:] = v
            else:
                x.clear()
                x.update(v)
        for (_, x, name), v in zip(self.fields, values[n + m :]):
            if not isinstance(v, Unset):
                if getattr(x, name, _UNSET) is not v:
                    setattr(x, name, v)
            elif name in getattr(x, "__dict__", ()):
                delattr(x, name)


def _read(get: Callable[[], Any]) -> Any:
    try:
        return get()
    except (NameError, AttributeError):
        return _UNSET


# ---- statements -------------------------------------------------------------------------------
def if_(test: Any, then: Callable[[], Any], other: Callable[[], Any], state: State) -> Any:
    """`if test: then() else: other()`; gives what the function gave."""
    if not symbolic(test):
        return then() if test else other()
    state.look()
    before = state.read()
    matters = state.matters()

    def side(fn: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            state.write(before)
            value = fn()
            after = state.read()
            kept = [v if m else _UNSET for v, m in zip(after, matters)]
            names = [*state.names, *[""] * len(after)]
            return (*(Filled(v) if n in state.filled else v for n, v in zip(names, kept)), value)

        return run

    try:
        labels = [*state.labels, "the returned value"]
        found = record_cond(truth(test), side(then), side(other), labels, "if", len(state.names))
    except BaseException:
        state.write(before)
        raise
    state.write(found[:-1])
    return found[-1]


def while_(test: Callable[[], Any], body: Callable[[], None], state: State, out: Callable[[], Any] | None) -> None:
    """`while test(): body()`, until out() is true."""
    while True:
        verdict = _and(not_(out()), test) if out is not None else test()
        if symbolic(verdict):
            condition = (lambda: _and(not_(out()), test)) if out is not None else test
            return _record_loop(condition, body, state, "while")
        if not verdict:
            return None
        body()


def for_(items: Any, body: Callable[[Any], None], state: State, out: Callable[[], Any] | None) -> None:
    """`for item in items: body(item)`, until out() is true."""
    if isinstance(items, Range):
        return items.record(body, state, out)
    if isinstance(items, range) and len(items) > LONGEST and capturing():
        return _long_range(items, body, state, out)
    ended: Any = False
    for item in items:
        if symbolic(ended):
            if_(not_(ended), lambda: body(item), _nothing, state)  # noqa: B023  (called at once)
        else:
            body(item)
        ended = False if out is None else out()
        if not symbolic(ended) and ended:
            return None
    return None


def _long_range(items: range, body: Callable[[Any], None], state: State, out: Callable[[], Any] | None) -> None:
    for k, item in enumerate(items):
        body(item)
        ended = False if out is None else out()
        if symbolic(ended):
            rest = items[k + 1 :]
            return Range(rest.start, rest.stop, rest.step).record(body, state, out)
        if ended:
            return None
    return None


def _nothing() -> None:
    return None


def _record_loop(test: Callable[[], Any], body: Callable[[], Any], state: State, name: str) -> None:
    state.look()
    matters = state.matters()
    before = state.read()
    which = [i for i, m in enumerate(matters) if m]
    labels = state.labels

    def put(values: Sequence[Any]) -> None:
        now = list(before)
        for i, v in zip(which, values):
            now[i] = v
        state.write(now)

    def condition(*values: Any) -> Any:
        put(values)
        verdict = test()
        return truth(verdict) if isinstance(verdict, tracing.Tensor) else to_tensor(bool(verdict))

    def step(*values: Any) -> list[Any]:
        put(values)
        body()
        after = state.read()
        return [after[i] for i in which]

    start = [before[i] for i in which]
    names = [labels[i] for i in which]
    try:
        found = record_while(condition, step, start, names, name, [True] * len(which))
    except BaseException:
        state.write(before)
        raise
    now: list[Any] = [_UNSET if not m else v for m, v in zip(matters, before)]
    for i, v in zip(which, found):
        now[i] = v
    state.write(now)


class Range:
    """`range` of Tensors that have no values yet."""

    def __init__(self, start: Any, stop: Any = None, step: Any = 1):
        self.start, self.stop, self.step = (0, start, step) if stop is None else (start, stop, step)
        for x in (self.start, self.stop, self.step):
            if isinstance(x, tracing.Tensor) and (x.type.size != 1 or x.type.dtype.kind not in "iu"):
                raise errors.invalid_type(
                    "range: a bound is not one integer.", expected="an int, or an integer Tensor of one element",
                    received=f"{x.type}",
                )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        raise errors.unimplemented(
            "range: its length is known when the program runs only.",
            expected="a for statement over the range", received="another way to go through it",
        )  # fmt: skip

    def record(self, body: Callable[[Any], None], state: State, out: Callable[[], Any] | None) -> None:
        start, stop, step = (_integer(x) for x in (self.start, self.stop, self.step))
        count = (stop - start + step + (-1 if isinstance(step, int) and step > 0 else 1)) // step
        if not isinstance(step, int):
            count = -((start - stop) // step)
        number = _Cell(to_tensor(0, "int64"))
        base = state

        class Counted(State):
            """The state of the loop and the number of the step."""

            def __init__(self) -> None:
                self.__dict__.update(base.__dict__)
                self.names = (*base.names, "the number of the step")
                self.getters = (*base.getters, lambda: number.value)
                self.live = None if base.live is None else (*base.live, "the number of the step")
                self.setter = self.put

            def put(self, values: Sequence[Any]) -> None:
                base.setter(values[:-1])
                number.value = values[-1]

        def one() -> None:
            k = number.value
            body(start + k * step)
            number.value = k + 1

        def going_on() -> Any:
            there = number.value < count
            return there if out is None else _and(there, lambda: not_(out()))

        _record_loop(going_on, one, Counted(), "for")


class _Cell:
    def __init__(self, value: Any):
        self.value = value


def _integer(x: Any) -> Any:
    return x.reshape([]).astype("int64") if isinstance(x, tracing.Tensor) else operator.index(x)


def assert_(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert test, message()`."""
    if symbolic(test):
        raise errors.unimplemented(
            "assert: the value of a Tensor is not known while the function is recorded.",
            expected="an assertion about shapes, dtypes or Python values", received=f"{test.type}",
            hint="check the result of the function, or mark a function that checks with paddle.jit.not_to_static.",
        )  # fmt: skip
    if not test:
        raise AssertionError(*(() if message is None else (message(),)))


# ---- operators --------------------------------------------------------------------------------
def truth(value: Tensor) -> Tensor:
    """The predicate that a Tensor is: one bool."""
    if value.type.size != 1:
        raise errors.invalid_argument(
            "The truth value of a Tensor of several elements.", expected="one element", received=f"{value.type}",
            hint="use any() or all().",
        )  # fmt: skip
    value = value.reshape([]) if value.type.shape else value
    return value if value.type.dtype is bool_ else value.astype("bool")


def not_(value: Any) -> Any:
    return truth(value).logical_not() if symbolic(value) else not value


def and_(*values: Callable[[], Any]) -> Any:
    """`a and b and ...`."""
    found = values[0]()
    for get in values[1:]:
        found = _and(found, get)
        if not symbolic(found) and not found:
            return found
    return found


def or_(*values: Callable[[], Any]) -> Any:
    """`a or b or ...`."""
    found = values[0]()
    for get in values[1:]:
        if symbolic(found):
            a = truth(found)
            found = _joined(a, get, "or")
        elif found:
            return found
        else:
            found = get()
    return found


def _and(found: Any, get: Callable[[], Any]) -> Any:
    if symbolic(found):
        return _joined(truth(found), get, "and")
    return get() if found else found


def _joined(a: Tensor, get: Callable[[], Any], word: str) -> Any:
    """A Tensor and what `get` gives: without a branch where nothing in it can fail."""
    both = word == "and"
    if _harmless(get):
        b = get()
        if not isinstance(b, tracing.Tensor):
            if isinstance(b, bool):
                return a if b == both else to_tensor(b)
            return record_cond(a, *((lambda: b, lambda: a) if both else (lambda: a, lambda: b)), name=word)
        return a.logical_and(truth(b)) if both else a.logical_or(truth(b))

    def second() -> Any:
        b = get()
        return truth(b) if isinstance(b, tracing.Tensor) else b

    sides = (second, lambda: a) if both else (lambda: a, second)
    return record_cond(a, *sides, name=word)


def _harmless(get: Callable[[], Any]) -> bool:
    """Whether an expression is short, changes nothing, and cannot fail for its values."""
    found = capture(get, ())
    steps = [s for s in found.steps if s.op is not None]
    if found.changes or found.keys or found.grads or len(steps) > 16:
        return False
    types = {s.slot + i: t for s in found.steps for i, t in enumerate(s.types)}
    for s in steps:
        indexed = any(type(r) is int and types[r].dtype.is_integer for r in s.refs)
        if s.op.nested or (indexed and not s.op.pointwise):  # type: ignore[union-attr]
            return False
    return True


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
    "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not,
    "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b,
}  # fmt: skip


def chain(words: tuple[str, ...], *values: Callable[[], Any]) -> Any:
    """`a < b < c`: each value is computed once, and no more than are needed."""

    def go(i: int, left: Any) -> Any:
        right = values[i + 1]()
        found = _COMPARE[words[i]](left, right)
        return found if i + 1 == len(words) else _and(found, lambda: go(i + 1, right))

    return go(0, values[0]())


def choose(test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`then() if test else other()`."""
    if symbolic(test):
        return record_cond(truth(test), then, other, name="if")
    return then() if test else other()


# ---- calls ------------------------------------------------------------------------------------
def call(f: Any) -> Any:
    """What is called instead of `f`: the user's functions are converted, some of Python's know Tensors."""
    known = _BUILTINS.get(id(f))
    if known is not None:
        return known if capturing() else f
    from .convert import callable_

    return callable_(f)


def _range(*args: Any) -> Any:
    return Range(*args) if any(map(symbolic, args)) else range(*args)


def _number(kind: type, dtype: str) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and symbolic(args[0]) and args[0].type.size == 1:
            return args[0].reshape([]).astype(dtype)
        return kind(*args, **kwargs)

    return convert


def _print(*args: Any, **kwargs: Any) -> None:
    told = lambda x: f"<{x.type}, computed when the program runs>" if symbolic(x) and x.buffer is None else x
    builtins.print(*map(told, args), **kwargs)


_BUILTINS: dict[int, Any] = {
    id(range): _range,
    id(int): _number(int, "int64"),
    id(float): _number(float, "float32"),
    id(bool): _number(bool, "bool"),
    id(print): _print,
}
