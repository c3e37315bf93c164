"""Branches and loops as operators of the program that is being recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager import capture as capturing
from ...engine.eager import trace as tracing
from ...engine.eager.capture import Captured, capture
from ...engine.ir.body import Body
from ...engine.ir.graph import Graph, Value
from ...engine.ops.control import Cond, While
from ...engine.ops.creation import Full
from ...engine.ops.elementwise import Cast, Detach, add
from ...engine.ops.number import Constant, Number
from ...engine.types import TensorType, bool_, default_dtype, int64
from ...tensor.tensor import Tensor
from .selecting import bare, constant, is_light, selected

_NUMBERS = (bool, int, float)
_NEXT_KEY = np.array([0, 1 << 32], np.int64)  # offsets of keys count up from 0: the upper half is free for steps


class Unset:
    """Stands for a variable that has no value.

    Attributes:
        why: what the error says where it is used all the same.
    """

    __slots__ = ("why",)

    def __init__(self, why: str = ""):
        self.why = why


class Zeros:
    """Stands for a Tensor of zeros of this type."""

    __slots__ = ("type", "sg")

    def __init__(self, type_: TensorType):
        self.type, self.sg = type_, True


class Filled:
    """A result for which zeros may stand where a branch gives none: nobody looks at it then."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


_TYPED = (tracing.Tensor, Zeros)


# ---- nested values ----------------------------------------------------------------------------
def parts(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """The leaves of nested lists, tuples and dicts, each with where it is."""
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in parts(v, f"{path}[{k!r}]")]
    if isinstance(value, (list, tuple)):
        return [x for i, v in enumerate(value) for x in parts(v, f"{path}[{i}]")]
    return [(path, value)]


def rebuilt(value: Any, leaves: Any) -> Any:
    """A value of the same structure with other leaves. leaves: an iterator."""
    if isinstance(value, dict):
        made = {k: rebuilt(v, leaves) for k, v in value.items()}
        return made if type(value) is dict else type(value)(made)
    if isinstance(value, (list, tuple)):
        found = [rebuilt(v, leaves) for v in value]
        if isinstance(value, list):
            return found
        return type(value)(*found) if hasattr(value, "_fields") else tuple(found)
    return next(leaves)


def same_structure(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same_structure(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return isinstance(a, list) == isinstance(b, list) and len(a) == len(b) and all(map(same_structure, a, b))
    return not isinstance(a, (dict, list, tuple)) and not isinstance(b, (dict, list, tuple))


def number_type(value: Any) -> TensorType:
    """The type of the Tensor that a Python number becomes."""
    return TensorType((), bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else default_dtype())


def same_value(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except Exception:
        return False


def shown(value: Any) -> str:
    return str(value.type) if isinstance(value, tracing.Tensor) else repr(value)[:80]


def held(result: Any) -> Any:
    """The result with handles of what its Tensors are now: those of outside are put back after a capture."""
    epoch = tracing.local.trace.epoch
    mine = lambda x: isinstance(x, tracing.Tensor) and x.epoch == epoch
    return rebuilt(result, iter([tracing.shadow(x) if mine(x) else x for _, x in parts(result)]))


# ---- one captured graph -----------------------------------------------------------------------
class Recorded:
    """What a function does, captured, as a part of an operator.

    Attributes:
        captured: its operations. result: what it returned. where: its place in the user's code.
    """

    def __init__(self, name: str, what: str, fn: Callable[..., Any], args: Sequence[Tensor]):
        self.captured: Captured = capture(lambda *stands: held(fn(*stands)), args)
        self.result = self.captured.result
        self.captured.result = None
        if self.captured.grads:
            raise errors.unimplemented(
                f"{name}: {what} calls backward().",
                expected="operations whose results are returned",
                received="a gradient that is stored in a leaf",
                hint="call backward() after it: gradients pass through branches and loops.",
            )

    def outer(self) -> list[Tensor]:
        """Tensors of outside that it reads or changes."""
        return [t for t, _ in self.captured.externals] + [t for t, _ in self.captured.changes]

    def after(self, x: Tensor) -> Any:
        """What a Tensor of outside has become: its slot, or itself where it is not changed."""
        return next((slot for t, slot in self.captured.changes if t is x), x)

    def reference(self, x: Any) -> Any:
        """A leaf of the result as what `graph` takes: a slot, a Tensor of outside, Zeros."""
        slot = self.captured.slot(x) if isinstance(x, tracing.Tensor) else None
        return x if slot is None else slot

    def graph(self, outputs: Sequence[Any], order: Sequence[Tensor], keys: int = 0, of_keys: int = 0) -> Graph:
        """The graph with these outputs.

        Args:
            outputs: slots, Tensors of outside, Numbers, Zeros; or pairs of such and a DType that it is cast to.
            order: Tensors of outside that are inputs, behind the arguments and the keys.
            keys, of_keys: how many inputs there are for keys, and the first that is for this graph.
        """
        captured = self.captured
        slots = list(dict.fromkeys(x for x in map(bare, outputs) if type(x) is int))
        graph, leaves = captured.graph(slots, stops=True)
        made = dict(zip(slots, graph.outputs))
        known = dict(zip(leaves, graph.inputs))
        slot_of = {id(t): slot for t, slot in captured.externals}
        key_slots = [s for s, _ in captured.keys]
        types = {s.slot: s.types[0] for s in captured.steps if s.op is None}
        graph.inputs = []

        def take(slot: int | None, type_: TensorType) -> Value:
            v = None if slot is None else known.get(slot)
            if v is None:
                return graph.input(type_)
            v.index = len(graph.inputs)
            graph.inputs.append(v)
            return v

        for slot in captured.inputs:
            take(slot, types[slot])
        for i in range(keys):
            mine = 0 <= i - of_keys < len(key_slots)
            take(key_slots[i - of_keys] if mine else None, KEY)
        places = {id(t): take(slot_of.get(id(t)), t.type) for t in order}

        def output(x: Any) -> Value:
            if isinstance(x, tuple):
                return graph.add(Cast(x[1]), (output(x[0]),))[0]
            if type(x) is int:
                return made[x]
            if isinstance(x, Number):
                return graph.add(Constant(x.value, x.dtype), ())[0]
            if isinstance(x, Zeros):
                return graph.add(constant(x.type, 0), ())[0]
            return places[id(x)]

        graph.outputs = list(map(output, outputs))
        return graph


KEY = TensorType((2,), int64)


def common(a: TensorType, b: TensorType) -> TensorType | None:
    """The type that Tensors of two types have on both sides of a branch; None where there is none.

    Under automatic mixed precision the sides may have computed in different precision: then it is the higher one.
    """
    if a is b:
        return a
    if tracing.local.trace.amp is None or a.shape != b.shape or not (a.dtype.is_floating and b.dtype.is_floating):
        return None
    return a if a.dtype.itemsize > b.dtype.itemsize else b if b.dtype.itemsize > a.dtype.itemsize else None


def union(*lists: Sequence[Tensor]) -> list[Tensor]:
    """Each Tensor once."""
    return list({id(t): t for found in lists for t in found}.values())


def new_key(make: Callable[[], Tensor]) -> Tensor:
    """A random key for one run of the program."""
    found = capturing.random_key(make)
    return make() if found is None else found


# ---- branches ---------------------------------------------------------------------------------
def record_cond(
    pred: Tensor,
    then: Callable[[], Any],
    other: Callable[[], Any],
    names: Sequence[str] | None = None,
    name: str = "cond",
    variables: int | None = None,
) -> Any:
    """The result of one of two functions, chosen when the program runs.

    Args:
        names: of the items of the result, for errors.
        variables: how many items of the results, which are tuples, are variables: one that has no value on one side
            (Unset), or that differs, is Unset afterwards; where it is Filled, zeros stand for no value.
    """
    sides = [Recorded(name, f"the {word} branch", fn, ()) for word, fn in (("true", then), ("false", other))]
    results = [s.result for s in sides]
    pairs = merge(name, results if variables is None else filled(name, results, names or (), variables), names)
    structure, leaves = pairs
    outputs: list[tuple[Any, Any]] = []
    made: list[Any] = []  # per leaf a number of an output, or a value of Python's
    detached: list[bool] = []
    for path, a, b in leaves:
        types = [x.type if isinstance(x, _TYPED) else None for x in (a, b)]
        if a is b and all(s.captured.slot(a) is None for s in sides if isinstance(a, tracing.Tensor)):
            made.append((None, a))
            continue
        if types == [None, None]:
            if same_value(a, b):
                made.append((None, a))
                continue
            if not (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)):
                raise _differ(name, path, a, b)
            wide = max(number_type(a), number_type(b), key=lambda t: "bif".index(t.dtype.kind))
            types = [wide, wide]
        first, second = types[0] or types[1], types[1] or types[0]
        assert first is not None and second is not None
        t = common(first, second)
        if t is None:
            raise _differ(name, path, a, b)
        pair: list[Any] = []
        for side, x, own in zip(sides, (a, b), types):
            if isinstance(x, _TYPED):
                pair.append(side.reference(x) if own is t else (side.reference(x), t.dtype))
            elif isinstance(x, _NUMBERS) and t.shape == () and number_fits(x, t):
                pair.append(Number(x, t.dtype))
            else:
                raise _differ(name, path, a, b)
        made.append((len(outputs), None))
        outputs.append((pair[0], pair[1]))
        detached.append(all(not isinstance(x, _TYPED) or x.sg for x in (a, b)))
    changed = union(*([x for x, _ in s.captured.changes] for s in sides))
    for x in changed:
        outputs.append((sides[0].after(x), sides[1].after(x)))
    values: tuple[Any, ...] = ()
    if outputs and not changed and all(is_light(s.captured) for s in sides):
        values = selected(scalar(pred), [s.captured for s in sides], outputs)
    elif outputs:
        order = union(
            sides[0].outer(),
            sides[1].outer(),
            [x for pair in outputs for x in map(bare, pair) if isinstance(x, tracing.Tensor)],
        )
        makers = [make for s in sides for _, make in s.captured.keys]
        first = len(sides[0].captured.keys)
        bodies = [
            Body(s.graph([pair[i] for pair in outputs], order, len(makers), 0 if i == 0 else first))
            for i, s in enumerate(sides)
        ]
        found = Cond(*bodies)(scalar(pred), *map(new_key, makers), *order)
        values = found if isinstance(found, tuple) else (found,)
    for x, new in zip(changed, values[len(detached) :]):
        tracing.rebind(x, new)
    results = [Detach()(v) if d and not v.sg else v for v, d in zip(values, detached)]
    return rebuilt(structure, iter([value if at is None else results[at] for at, value in made]))


def number_fits(x: Any, t: TensorType) -> bool:
    """Whether a Python number keeps its value as an element of this type."""
    kind = t.dtype.kind
    if isinstance(x, bool):
        return kind == "b"
    return kind in "fc" or t.dtype.name == "bfloat16" or (isinstance(x, int) and kind in "iu")


def scalar(pred: Tensor) -> Tensor:
    """A predicate as the operators want it."""
    return pred if pred.type.dtype is bool_ else pred.astype("bool")


def merge(name: str, results: Sequence[Any], names: Sequence[str] | None) -> tuple[Any, list[tuple[str, Any, Any]]]:
    """The structure of two results and their leaves side by side."""
    a, b = results
    if not same_structure(a, b):
        raise errors.invalid_argument(
            f"{name}: the two branches return different structures.",
            expected="equal nesting and lengths",
            received=f"true: {outline(a)}; false: {outline(b)}",
        )
    found = []
    for (path, x), (_, y) in zip(parts(a), parts(b)):
        found.append((label(path, names), x, y))
    return a, found


def filled(name: str, results: Sequence[Any], names: Sequence[str], variables: int) -> list[tuple[Any, ...]]:
    """The items of two results, the first of which are variables, where one side has no value or they differ."""
    columns: list[list[Any]] = [[], []]
    for i, pair in enumerate(zip(*results)):
        values = [x.value if isinstance(x, Filled) else x for x in pair]
        unset = [isinstance(v, Unset) for v in values]
        why = ""
        if all(unset):
            values[1] = values[0]
        elif any(unset):
            at = unset.index(True)
            if any(isinstance(x, Filled) for x in pair):
                values[at] = zeros_like(values[1 - at])
            else:
                why = f"has no value where the condition of {name} is {('true', 'false')[at]}"
        elif i < variables and not any(isinstance(x, Filled) for x in pair) and not agree(*values):
            why = f"is {outline(values[0])} where the condition of {name} is true, else {outline(values[1])}"
        if why:
            values = [Unset(f"{why} ({errors.user_line()})")] * 2
        for column, v in zip(columns, values):
            column.append(v)
    return [tuple(c) for c in columns]


def agree(a: Any, b: Any) -> bool:
    """Whether two values can be one in a program."""
    if not same_structure(a, b):
        return False
    for (_, x), (_, y) in zip(parts(a), parts(b)):
        types = [v.type if isinstance(v, _TYPED) else None for v in (x, y)]
        numeric = [isinstance(v, _NUMBERS) for v in (x, y)]
        if types == [None, None]:
            if not (same_value(x, y) or all(numeric)):
                return False
        elif None in types:
            number, t = (x, types[1]) if types[0] is None else (y, types[0])
            assert t is not None
            if not (isinstance(number, _NUMBERS) and t.shape == () and number_fits(number, t)):
                return False
        elif common(types[0], types[1]) is None:  # type: ignore[arg-type]
            return False
    return True


def zeros_like(value: Any) -> Any:
    """A value of the same structure, of zeros; numbers and other objects are the same."""
    return rebuilt(value, iter([Zeros(x.type) if isinstance(x, _TYPED) else x for _, x in parts(value)]))


def label(path: str, names: Sequence[str] | None) -> str:
    """What an error calls a leaf."""
    if names is None:
        return f"result{path}"
    at = path.find("]")
    i = path[1:at]
    return f"{names[int(i)]}{path[at + 1 :]}" if i.isdigit() and int(i) < len(names) else f"result{path}"


def outline(value: Any) -> str:
    """A nested value as a message shows it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {outline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(outline, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return shown(value)


def _differ(name: str, path: str, a: Any, b: Any) -> Exception:
    both = all(isinstance(x, tracing.Tensor) for x in (a, b))
    return errors.invalid_argument(
        f"{name}: {path} differs between the two branches.",
        expected="equal shapes and dtypes" if both else "a Tensor, or an equal value, on both sides",
        received=f"true: {shown(a)}; false: {shown(b)}",
    )


# ---- loops ------------------------------------------------------------------------------------
def record_while(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    variables: Sequence[Any],
    names: Sequence[str] | None = None,
    name: str = "while_loop",
    may_fill: Sequence[bool] = (),
) -> list[Any]:
    """Loop variables after the last step of a loop whose number of steps the program finds when it runs.

    Python numbers that a step changes become Tensors; others stay what they are.

    Args:
        condition, body: called with the variables; body returns them anew, a list or tuple.
        names: of the variables, for errors.
        may_fill: which variables without a value (Unset) begin as zeros, if a step gives them one; the others stay
            without one.
    """
    variables = list(variables)
    types: dict[int, TensorType] = {}  # of numbers that are Tensors in the loop, by leaf
    for _ in range(4 * len(parts(variables)) + 8):
        loop = _Loop(name, condition, body, variables, types, names, may_fill)
        if loop.settled():
            return loop.record()
    raise errors.invalid_argument(
        f"{name}: the types of the loop variables do not settle.", expected="types that are equal after each step",
        received=", ".join(shown(x) for _, x in parts(variables)),
    )  # fmt: skip


class _Loop:
    """One attempt at a loop, with these leaves as Tensors."""

    def __init__(
        self, name: str, condition: Any, body: Any, variables: list[Any], types: dict[int, TensorType], names: Any,
        may_fill: Sequence[bool],
    ):  # fmt: skip
        self.name, self.variables, self.types, self.names, self.may_fill = name, variables, types, names, may_fill
        self.leaves = [x for _, x in parts(variables)]
        self.paths = [label(path, names) for path, _ in parts(variables)]
        self.carried = [i for i, x in enumerate(self.leaves) if isinstance(x, tracing.Tensor) or i in types]
        self.starts = [self.start(i) for i in self.carried]

        def with_stands(fn: Any) -> Any:
            def run(*stands: Tensor) -> Any:
                leaves = list(self.leaves)
                for i, t in zip(self.carried, stands):
                    leaves[i] = t
                return fn(*rebuilt(self.variables, iter(leaves)))

            return run

        self.step = Recorded(name, "the body", with_stands(body), self.starts)
        self.test = Recorded(name, "the condition", with_stands(condition), self.starts)

    def start(self, i: int) -> Any:
        """The value that a carried leaf begins with, as a Tensor."""
        x = self.leaves[i]
        if isinstance(x, tracing.Tensor):
            return x
        t = self.types[i]
        return Full(t.shape, 0 if isinstance(x, Unset) else x, t.dtype)()

    def settled(self) -> bool:
        """Whether a step gives back what it gets; else what else has to be a Tensor is noted, for another attempt."""
        result = self.step.result
        if isinstance(result, tuple):
            result = list(result)
        if not isinstance(result, list) or len(result) != len(self.variables):
            raise self.arity(self.variables, result)
        again = False
        at = 0
        for k, (before, after) in enumerate(zip(list(self.variables), result)):
            if isinstance(before, Unset) and not isinstance(after, Unset) and at not in self.types:
                if k < len(self.may_fill) and self.may_fill[k]:
                    self.begin(k, at, after)
                    return False
                result[k] = before
            elif not same_structure(before, after):
                raise self.arity(before, after, k)
            at += len(parts(before))
        self.result = [x for _, x in parts(result)]
        for i, (before, after) in enumerate(zip(self.leaves, self.result)):
            known = self.types.get(i)
            if isinstance(before, tracing.Tensor) or same_value(before, after):
                continue
            if isinstance(after, _TYPED):
                wanted = after.type
            elif isinstance(after, _NUMBERS) and isinstance(before, _NUMBERS):
                kinds = [number_type(before), number_type(after)] + ([known] if known else [])
                wanted = max(kinds, key=lambda t: "bif".index(t.dtype.kind) if t.dtype.kind in "bif" else 3)
            else:
                raise self.differs(i, before, after)
            if isinstance(before, _NUMBERS) and (wanted.shape or not number_fits(before, wanted)):
                raise self.differs(i, before, after)
            if known is not wanted:
                self.types[i] = wanted
                again = True
        return not again

    def begin(self, k: int, at: int, after: Any) -> None:
        """Variable k, whose only leaf is `at`, begins as zeros of what a step makes it."""
        found = [x for _, x in parts(after)]
        self.variables[k] = rebuilt(after, iter([Unset() if isinstance(x, _TYPED) else x for x in found]))
        moved = {i + len(found) - 1 if i > at else i: t for i, t in self.types.items()}
        self.types.clear()
        self.types.update(moved)
        self.types.update({at + j: x.type for j, x in enumerate(found) if isinstance(x, _TYPED)})

    def arity(self, before: Any, after: Any, k: int | None = None) -> Exception:
        what = "the body returns" if k is None else f"a step makes {self.names[k] if self.names else f'variable {k}'}"
        return errors.invalid_argument(
            f"{self.name}: {what} another structure than the loop variables have.",
            expected=outline(before), received=outline(after),
            hint="a list cannot grow in a loop whose number of steps only the program finds: write into a Tensor"
            " of the greatest length, or go through a range of known length.",
        )  # fmt: skip

    def differs(self, i: int, before: Any, after: Any) -> Exception:
        return errors.invalid_argument(
            f"{self.name}: {self.paths[i]} changes its type in a step.",
            expected="equal shapes and dtypes before and after a step",
            received=f"before: {shown(before)}; after: {shown(after)}",
            hint="begin with a Tensor of the shape and dtype that the steps give.",
        )

    def record(self) -> list[Any]:
        step, test = self.step, self.test
        outputs: list[Any] = []
        for i, start in zip(self.carried, self.starts):
            after = self.result[i]
            if isinstance(after, _TYPED):
                if after.type is not start.type and common(after.type, start.type) is None:
                    raise self.differs(i, start, after)
                same = after.type is start.type
                outputs.append(step.reference(after) if same else (step.reference(after), start.type.dtype))
            elif isinstance(after, _NUMBERS) and not start.type.shape and number_fits(after, start.type):
                outputs.append(Number(after, start.type.dtype))
            else:
                raise self.differs(i, start, after)
        if test.captured.changes or test.captured.keys:
            raise errors.unimplemented(
                f"{self.name}: the condition changes a Tensor or draws random numbers.",
                expected="operations whose result is the condition", hint="do that in the body.",
            )  # fmt: skip
        verdict = test.result
        if isinstance(verdict, (list, tuple)) and len(verdict) == 1:
            verdict = verdict[0]
        if not isinstance(verdict, tracing.Tensor):
            raise errors.invalid_type(
                f"{self.name}: the condition gives no Tensor.", expected="a bool Tensor of one element",
                received=shown(verdict),
            )  # fmt: skip
        if verdict.type.size != 1 or verdict.type.dtype is not bool_:
            raise errors.invalid_type(
                f"{self.name}: the condition is not one bool.", expected="bool[] or bool[1]", received=shown(verdict)
            )
        changed = union([x for x, _ in step.captured.changes])
        makers = [make for _, make in step.captured.keys]
        inside = [x for x in [*map(bare, outputs), test.reference(verdict)] if isinstance(x, tracing.Tensor)]
        constants = [x for x in union(step.outer(), test.outer(), inside) if all(x is not y for y in changed)]
        stride = tracing.from_array(_NEXT_KEY.copy()) if makers else None
        order = [*changed, *constants]
        graph = step.graph([*outputs, *(step.after(x) for x in changed)], order, len(makers))
        n = len(self.carried)
        if stride is not None:
            by = graph.input(KEY)
            keys = [graph.add(add, (k, by))[0] for k in graph.inputs[n : n + len(makers)]]
            graph.outputs = [*graph.outputs[:n], *keys, *graph.outputs[n:]]
        tests = test.graph([test.reference(verdict)], order, len(makers), len(makers))
        if stride is not None:
            tests.input(KEY)
        carried = n + len(makers) + len(changed)
        if not carried:
            raise errors.invalid_argument(
                f"{self.name}: a step changes nothing, so the loop would never end.",
                expected="a loop variable, or a Tensor changed in place", received=outline(self.variables),
            )  # fmt: skip
        args = [*self.starts, *map(new_key, makers), *order, *([] if stride is None else [stride])]
        found = While(Body(tests), Body(graph), carried)(*args)
        values = found if isinstance(found, tuple) else (found,)
        for x, new in zip(changed, values[n + len(makers) :]):
            tracing.rebind(x, new)
        leaves = list(self.leaves)
        for i, v in zip(self.carried, values):
            leaves[i] = v
        return rebuilt(self.variables, iter(leaves))
