"""`x[key]` and `x[key] = value`.

A key is read in two parts. Integers, slices, None and the ellipsis are one slice with a reshape; what remains,
integer tensors, lists and masks, is one gather. Integers count to the first part even beside lists, so
`x[0, :, [0, 1]]` differs from numpy's, as upstream's does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.sharing import View, share
from ..engine.eager.trace import TensorType, from_array
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.indexing import Gather, Index, ScatterSet, SliceSet
from ..engine.ops.logic import select
from ..engine.ops.shape import Reshape, broadcast_to, reshape, transpose
from ..framework.tables import rows_of
from ..utils.public import check_inplace, replace
from .arguments import int_argument
from .tensor import Tensor

_local = tracing.local


class Plan:
    """Basic indexing of one shape by one key.

    Attributes:
        op: Index, or None where the result is x in another shape.
        type, shape: of the result. sliced: of the elements read, before axes come and go.
        rows: (start, stop) if the result is a run of whole rows of x, else None.
        cut: starts, stops and steps.
    """

    __slots__ = ("op", "type", "shape", "sliced", "rows", "cut", "whole")

    def __init__(self, type_: TensorType, parts: list[Any], shape: tuple[int, ...]):
        x = type_.shape
        starts = tuple(p.start for p in parts)
        stops = tuple(p.stop for p in parts)
        steps = tuple(p.step for p in parts)
        self.cut = (starts, stops, steps)
        self.type, self.shape = type_.with_shape(shape), shape
        self.sliced = tuple(map(len, parts))
        full = [p.step == 1 and len(p) == n for p, n in zip(parts, x)]
        self.whole = all(full)
        self.rows = (starts[0], stops[0]) if x and steps[0] == 1 and all(full[1:]) else None
        self.op = Reshape(shape) if self.whole else Index(starts, stops, steps, shape)


_plans: dict[Any, Plan] = {}


# ---- reading ----------------------------------------------------------------------------------
def getitem(self: Tensor, item: Any) -> Tensor:
    """x[key]."""
    x, key = self, item
    kind = type(key)
    if kind is int:
        plan = _plans.get((x.type, key))
    elif kind is slice and _plain(key):
        plan = _plans.get((x.type, key.start, key.stop, key.step))
    elif kind is tuple:
        cached = _hashable(key)
        plan = None if cached is None else _plans.get((x.type, cached))
    else:
        plan = None
    if plan is None:
        plan, rest = plan_of(x.type, key)
        if rest:
            read = lambda v: gather(apply(v, plan), rest)  # noqa: E731
            out = read(x)
            if all(isinstance(k, tracing.Tensor) and not k.type.shape and not is_mask(k) for _, k in rest):
                share(x, out, View(read, lambda v, part: assigned(v, key, part)))  # these count as integers
            return out
    return share(x, apply(x, plan), plan.op, plan.rows is not None or plan.whole)


def apply(x: Tensor, plan: Plan) -> Tensor:
    """The result of basic indexing."""
    data, trace = x.buffer, _local.trace
    known = not trace.abstract or id(x) in trace.born  # type: ignore[attr-defined]
    if data is not None and x.sg and plan.rows is not None and x.epoch != trace.epoch and known:
        # rows of values that are there: a view of them, so that no program depends on which rows
        start, stop = plan.rows
        view = data[start:stop].reshape(plan.shape)
        if trace.abstract:
            return rows_of(x, view, start)
        return tracing.make_tensor(plan.type, 0, 0, True, view)  # type: ignore[return-value]
    return trace.record(plan.op, (x,))


def _plain(s: slice) -> bool:
    for v in (s.start, s.stop, s.step):
        if v is not None and type(v) is not int:
            return False
    return True


def _hashable(key: tuple[Any, ...]) -> Any:
    """The key as a dictionary key, or None where it holds more than integers, slices, None and the ellipsis."""
    out: list[Any] = []
    for k in key:
        kind = type(k)
        if kind is int or k is None or k is Ellipsis:
            out.append(k)
        elif kind is slice and _plain(k):
            out.append((k.start, k.stop, k.step))
        else:
            return None
    return tuple(out)


def plan_of(type_: TensorType, key: Any) -> tuple[Plan, list[tuple[int, Any]]]:
    """The plan of a key's basic part, and the rest: (axis of the basic result, index) pairs."""
    shape = type_.shape
    items = [as_item(k) for k in (key if isinstance(key, tuple) else (key,))]
    used = sum(axes_of(k) for k in items)
    dots = sum(1 for k in items if k is Ellipsis)
    if dots > 1:
        raise errors.invalid_argument("Indexing: there are two ellipses.", expected="at most one", received=f"{key}")
    if used > len(shape):
        raise errors.out_of_range(
            "Indexing: there are more indices than axes.", expected=f"at most {len(shape)}", received=f"{used}"
        )
    if not dots:
        items.append(Ellipsis)
    at = next(i for i, k in enumerate(items) if k is Ellipsis)
    items[at : at + 1] = [slice(None)] * (len(shape) - used)
    parts: list[range] = []
    result: list[int] = []
    rest: list[tuple[int, Any]] = []
    for k in items:
        axis = len(parts)
        if k is None:
            result.append(1)
        elif isinstance(k, bool):
            rest.append((len(result), np.array(k)))
        elif isinstance(k, int):
            n = shape[axis]
            if not -n <= k < n:
                raise errors.out_of_range(
                    "Indexing: an index is out of range.",
                    expected=f"an index in [{-n}, {n}) for axis {axis}",
                    received=f"{k}, x: {type_}",
                )
            i = k + n if k < 0 else k
            parts.append(range(i, i + 1))
        elif isinstance(k, slice):
            n = shape[axis]
            step = 1 if k.step is None else int_argument(k.step, "Indexing", "step")
            if step == 0:
                raise errors.invalid_argument(
                    "Indexing: the step of a slice is 0.", received=f"{k}", expected="a step other than 0"
                )
            bounds = [None if v is None else int_argument(v, "Indexing", "a bound") for v in (k.start, k.stop)]
            start, stop, step = slice(*bounds, step).indices(n)
            r = range(start, stop, step)
            parts.append(r if len(r) else range(0, 0))
            result.append(len(r))
        else:
            if is_mask(k):
                check_mask(k, shape[axis : axis + k.ndim], axis, type_)
            rest.append((len(result), k))
            for n in shape[axis : axis + axes_of(k)]:
                parts.append(range(n))
                result.append(n)
    plan = Plan(type_, parts, tuple(result))
    if not rest:
        if len(_plans) > 10_000:
            _plans.clear()
        if type(key) is int:
            _plans[(type_, key)] = plan
        elif type(key) is slice and _plain(key):
            _plans[(type_, key.start, key.stop, key.step)] = plan
        elif type(key) is tuple:
            cached = _hashable(key)
            if cached is not None:
                _plans[(type_, cached)] = plan
    return plan, rest


def as_item(k: Any) -> Any:
    """One part of a key: None, Ellipsis, int, bool, slice, a Tensor or an array."""
    if k is None or k is Ellipsis or isinstance(k, (slice, bool, int)):
        return k
    if isinstance(k, tracing.Tensor):
        if k.type.dtype.kind not in "iub":
            _not_index(k.type)
        return k
    if isinstance(k, np.bool_):
        return bool(k)
    if isinstance(k, np.integer):
        return int(k)
    if isinstance(k, (list, tuple, range, np.ndarray)):
        if not isinstance(k, np.ndarray):
            k = [e.array() if isinstance(e, tracing.Tensor) else e for e in k]  # type: ignore[attr-defined]
        a = np.asarray(k)
        if a.size == 0 and a.dtype.kind == "f":
            a = a.astype(np.int64)
        if a.dtype.kind not in "iub":
            _not_index(f"elements of type {a.dtype}")
        return a
    return _not_index(type(k).__name__)


def _not_index(received: Any) -> Any:
    raise errors.invalid_argument(
        "Indexing: this is no index.",
        expected="int, slice, None, Ellipsis, bool, or a list, array or Tensor of integers or bool",
        received=f"{received}",
    )


def is_mask(k: Any) -> bool:
    return k.dtype.kind == "b"


def axes_of(k: Any) -> int:
    """How many axes of x one part of a key takes."""
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    if isinstance(k, (int, slice)):
        return 1
    return k.ndim if is_mask(k) else 1


def check_mask(k: Any, shape: tuple[int, ...], axis: int, type_: TensorType) -> None:
    if tuple(k.shape) != shape:
        raise errors.out_of_range(
            "Indexing: the mask does not fit.",
            expected=f"a mask of shape {list(shape)} for the axes of x from {axis} on",
            received=f"a mask of shape {list(k.shape)}, x: {type_}",
        )


def advanced(x: Tensor, rest: list[tuple[int, Any]]) -> tuple[Tensor, list[Any], int, list[int] | None]:
    """x arranged so that its indexed axes are neighbours.

    Returns:
        x; the index Tensors; the first indexed axis; the order of axes that x was brought into, or None.
    """
    shape = list(x.type.shape)
    taken: list[int] = []
    index: list[Any] = []
    shift = 0
    for axis, k in rest:
        axis += shift
        if is_mask(k):
            mask = k.array() if isinstance(k, tracing.Tensor) else k
            if mask.ndim == 0:  # a new axis of size 1 or 0
                shape.insert(axis, 1)
            else:  # the axes of the mask as one
                shape[axis : axis + mask.ndim] = [int(np.prod(mask.shape))]
            shift += 1 - mask.ndim
            k = np.flatnonzero(mask)
        if not isinstance(k, tracing.Tensor):
            k = np.asarray(k)
            n = shape[axis]
            bad = k[(k < -n) | (k >= n)]
            if bad.size:
                raise errors.out_of_range(
                    "Indexing: an index is out of range.",
                    expected=f"indices in [{-n}, {n}) for axis {axis}",
                    received=f"{bad.flat[0]}, x: {x.type}",
                )
            k = from_array(np.array(k, dtype=np.int64, order="C"))
        taken.append(axis)
        index.append(k)
    x = reshape(x, tuple(shape))
    first = taken[0]
    if taken == list(range(first, first + len(taken))):
        return x, index, first, None
    order = taken + [a for a in range(len(shape)) if a not in taken]
    return transpose(x, order), index, 0, order


def gather(x: Tensor, rest: list[tuple[int, Any]]) -> Tensor:
    x, index, axis, _ = advanced(x, rest)
    return Gather(axis)(x, *index)


# ---- writing ----------------------------------------------------------------------------------
def setitem(self: Tensor, item: Any, value: Any) -> None:
    """x[key] = value: x stands for a new value from then on."""
    check_inplace("Assignment to elements", self)
    replace(self, assigned(self, item, value))


def assigned(x: Tensor, key: Any, value: Any) -> Tensor:
    """x with the elements that x[key] reads replaced by those of `value`, which broadcasts."""
    mask = key if not isinstance(key, tuple) else key[0] if len(key) == 1 else None
    if isinstance(mask, tracing.Tensor) and mask.type.dtype.kind == "b" and mask.type.shape == x.type.shape:
        if is_number(value) or (isinstance(value, tracing.Tensor) and value.type.size == 1):
            return masked(x, mask, value)
    value = value_of(value, x.type.dtype)
    plan, rest = plan_of(x.type, key)
    if not rest:
        if not is_number(value):
            value = fit(value, plan.shape)
            value = broadcast_to(value, plan.shape) if len(value.type.shape) > 0 else value
            value = value if value.type.shape == () else reshape(value, plan.sliced)
        return SliceSet(*plan.cut)(x, value)
    part = apply(x, plan) if not plan.whole or plan.shape != x.type.shape else x
    placed, index, axis, order = advanced(part, rest)
    found = np.broadcast_shapes(*(i.type.shape for i in index))
    shape = placed.type.shape
    region = shape[:axis] + found + shape[axis + len(index) :]
    if is_number(value):
        value = value_of(np.asarray(value), x.type.dtype)
    value = broadcast_to(fit(value, region), region)
    done = ScatterSet(axis)(placed, value, *index)
    if order is not None:
        back = [0] * len(order)
        for i, p in enumerate(order):
            back[p] = i
        done = transpose(done, back)
    if plan.whole:
        return reshape(done, x.type.shape)
    return SliceSet(*plan.cut)(x, reshape(done, plan.sliced))


def masked(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """x with one number where the mask is true."""
    if not is_number(value):
        value = cast(reshape(value, ()), x.type.dtype)
    return select(mask, value, x)


def value_of(value: Any, dtype: Any) -> Any:
    """What is assigned: a number of the kind of x, or a Tensor of its type."""
    if is_number(value):
        if isinstance(value, np.generic):
            value = value.item()
        return value
    if not isinstance(value, tracing.Tensor):
        from .conversion import array_of

        if not isinstance(value, (list, tuple, np.ndarray)):
            raise errors.invalid_argument(
                "Assignment to elements: this is no value.",
                expected="a number, a Tensor, an array or a list",
                received=type(value).__name__,
            )
        value = from_array(array_of(value, dtype))
    return cast(value, dtype)


def fit(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`value` without leading axes of size 1 that the shape has no room for."""
    own = value.type.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    skip = len(shape) - len(own)
    if skip < 0 or any(n not in (1, m) for n, m in zip(own, shape[skip:])):
        raise errors.invalid_argument(
            "Assignment to elements: the value does not fit.",
            expected=f"a value that broadcasts to {list(shape)}",
            received=f"{value.type}",
        )
    return reshape(value, own)


Tensor.__getitem__ = getitem  # type: ignore[attr-defined]
Tensor.__setitem__ = setitem  # type: ignore[attr-defined]
