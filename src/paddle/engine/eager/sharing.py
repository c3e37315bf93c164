"""Tensors that stand for the same memory, as upstream's views do.

Values are never overwritten, so a view is a value of its own. A view and its source are a family: when one takes
another value in place, the others that somebody still holds take theirs from it. Gradients stay with the operations
that were called, as upstream: a change that comes by way of a relative leaves the history of a Tensor as it was.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.complex import Imag, Real, ToComplex
from ..ops.creation import Full
from ..ops.elementwise import Detach
from ..ops.indexing import Index, SliceSet
from ..ops.shape import Reshape, Slice, Transpose, reshape
from ..types import TensorType
from . import trace as tracing
from .trace import Tensor, Trace

_ref = weakref.ref
_new = object.__new__
_local = tracing.local
DETACH = Detach()


class Family(dict[int, Any]):
    """Weak references to the Tensors of one memory by their ids; `limit`: where the dead are swept out next."""

    __slots__ = ("limit",)
    limit: int


class Kin:
    """How a Tensor lies in the memory of its family.

    Attributes:
        family: all that lie there.
        parent: of which this is a part; None for the whole.
        op: makes the value of this from the parent's: an operator or a `View`.
        type: of the Tensor; one of another type has left the family.
        flat: whether the elements are neighbours in row-major order.
    """

    __slots__ = ("family", "parent", "op", "type", "flat")
    family: Family
    parent: Kin | None
    op: Any
    type: TensorType
    flat: bool


def _kin(family: Family, parent: Kin | None, op: Any, type: TensorType, flat: bool) -> Kin:
    made = _new(Kin)
    made.family, made.parent, made.op, made.type, made.flat = family, parent, op, type, flat
    return made


class View:
    """A view that is no single operator.

    Attributes:
        forward: the view of a Tensor. back: (source, view) to a source that has this view.
        layout: the view of an array as numpy's view, where that is needed to tell which reshapes copy.
    """

    __slots__ = ("forward", "back", "layout")

    def __init__(
        self,
        forward: Callable[[Any], Any],
        back: Callable[[Any, Any], Any],
        layout: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        self.forward, self.back, self.layout = forward, back, layout

    def __call__(self, x: Any) -> Any:
        return self.forward(x)


def view(op: Any, x: Tensor, flat: bool = False) -> Any:
    """op(x), which shares memory with x. flat: it is a run of the elements of x."""
    return share(x, op(x), op, flat)


def share(x: Tensor, out: Any, op: Any, flat: bool = False) -> Any:
    """Tells that `out`, which `op` has made of x, shares memory with x. Returns out."""
    if out is x:
        return x
    kin = x.kin
    if kin is None or kin.type is not x.type:
        family = Family()
        family.limit = 16
        family[id(x)] = _ref(x)
        kin = x.kin = _kin(family, None, None, x.type, True)
    else:
        family = kin.family
    if op is DETACH:
        out.kin = kin
    else:
        made = out.kin = _new(Kin)  # written out, as every view passes here
        made.family, made.parent, made.op, made.type, made.flat = family, kin, op, out.type, flat and kin.flat
    family[id(out)] = _ref(out)
    if len(family) > family.limit:
        for key, ref in list(family.items()):
            if ref() is None:
                family.pop(key, None)
        family.limit = 2 * len(family) + 16
    return out


def shape_view(op: Reshape, x: Tensor) -> Any:
    """x in another shape: a view where its elements lie so that it needs no copy, as upstream."""
    out = op(x)
    kin = x.kin
    if kin is None or kin.flat:
        return share(x, out, op, True)
    if kin.type is x.type and not reshapes(kin, op.shape):
        return out
    if type(kin.op) is Reshape:  # one after another in place: the chain does not grow
        x.kin.family[id(out)] = _ref(out)
        out.kin = _kin(kin.family, kin.parent, op, out.type, False)
        return out
    return share(x, out, op)


def reshapes(kin: Kin, shape: tuple[int, ...]) -> bool:
    """Whether what lies there can be seen in another shape without a copy."""
    if kin.flat:
        return True
    key = None
    if kin.parent is not None and kin.parent.flat and type(kin.op) is not View:
        key = (kin.parent.type, kin.op, shape)
        known = _reshapes.get(key)
        if known is not None:
            return known
    lies = layout(kin)
    found = lies is not None and bool(np.may_share_memory(lies, lies.reshape(shape)))
    if key is not None:
        if len(_reshapes) > 10_000:
            _reshapes.clear()
        _reshapes[key] = found
    return found


_reshapes: dict[Any, bool] = {}


def layout(kin: Kin) -> np.ndarray | None:
    """A stand-in of bytes that lies as the Tensor does; None where that is not known."""
    steps = []
    at: Kin = kin
    while at.parent is not None and not at.flat:
        steps.append(at.op)
        at = at.parent
    if _local.trace.abstract and at.type.size > 1 << 20:
        return None  # stand-ins for open sizes can be greater than memory
    a: np.ndarray | None = np.empty(at.type.shape, np.int8)
    for op in reversed(steps):
        assert a is not None
        kind = type(op)
        if kind is Transpose:
            a = a.transpose(op.perm)
        elif kind is Reshape:
            a = a.reshape(op.shape)
        elif kind is Slice:
            a = op.numpy(a)
        elif kind is Index:
            a = Slice(op.starts, op.stops, op.steps).numpy(a).reshape(op.shape)
        elif kind is View and op.layout is not None:
            a = op.layout(a)
        else:
            return None
    return a


def strides(t: Tensor) -> list[int]:
    """How many elements lie between neighbours along each axis, upstream's way: views lie in their source."""
    kin = t.kin
    if kin is not None and not kin.flat and kin.type is t.type:
        lies = layout(kin)
        if lies is not None:
            return list(lies.strides)
    return row_major(t.type.shape)


def row_major(shape: tuple[int, ...]) -> list[int]:
    """The strides of elements in row-major order."""
    out, n = [], 1
    for m in reversed(shape):
        out.append(n)
        n *= m
    return out[::-1]


# ---- changes ----------------------------------------------------------------------------------
_BACK: dict[type, Callable[[Any, Callable[[], Any], Any, TensorType], Any]] = {
    Reshape: lambda op, source, part, type_: reshape(part, type_.shape),
    Transpose: lambda op, source, part, type_: Transpose(tuple(int(i) for i in np.argsort(op.perm)))(part),
    Slice: lambda op, source, part, type_: SliceSet(op.starts, op.stops, op.steps)(source(), part),
    Index: lambda op, source, part, type_: SliceSet(op.starts, op.stops, op.steps)(
        source(), reshape(part, Slice(op.starts, op.stops, op.steps).sizes())
    ),
    Real: lambda op, source, part, type_: ToComplex()(part, Imag()(source())),
    Imag: lambda op, source, part, type_: ToComplex()(Real()(source()), part),
    View: lambda op, source, part, type_: op.back(source(), part),
}


def _path(kin: Kin) -> list[Kin]:
    """The ways to a part, from the whole on."""
    found = []
    at: Kin | None = kin
    while at is not None and at.parent is not None:
        found.append(at)
        at = at.parent
    return found[::-1]


def _follow(whole: Any, kin: Kin) -> Any:
    for step in _path(kin):
        whole = step.op(whole)
    return whole


def _put(whole: Callable[[], Any], kin: Kin, part: Any) -> Any:
    """The whole with another value of a part of it."""
    path = _path(kin)
    made: list[Any] = []

    def source(i: int) -> Any:
        if not made:
            made.append(whole())
        while len(made) <= i:
            made.append(path[len(made) - 1].op(made[-1]))
        return made[i]

    for i in range(len(path) - 1, -1, -1):
        step = path[i]
        assert step.parent is not None
        part = _BACK[type(step.op)](step.op, lambda i=i: source(i), part, step.parent.type)  # type: ignore[misc]
    return part


def _look(ref: Any) -> tuple[Any, int]:
    t = ref()
    return t, sys.getrefcount(t)


def _count_of_dead() -> int:
    values = {0: tracing.make_tensor(None, 0, 0, True)}  # type: ignore[arg-type]
    return _look(_ref(values[0]))[1]


_DEAD = _count_of_dead()  # references to a Tensor that only its trace holds


def _relatives(x: Any, family: Family, trace: Trace) -> list[Any]:
    """The others of a family that somebody holds; those that nobody can see any more leave it."""
    found = []
    for key, ref in list(family.items()):
        t, count = _look(ref)
        if t is x:
            continue
        if t is None or t.kin is None or t.kin.family is not family or t.kin.type is not t.type:
            family.pop(key, None)
        elif count <= _DEAD and t.epoch == trace.epoch and id(trace.values.get(t.slot)) == id(t):
            t.kin = None
            family.pop(key, None)
        else:
            found.append(t)
        del t
    return found


def changed(x: Any) -> None:
    """x has taken another value in place: its relatives take theirs from it."""
    kin: Kin = x.kin
    family = kin.family
    if kin.type is not x.type:  # another type or shape does not fit there
        x.kin = None
        family.pop(id(x), None)
        return
    if len(family) < 2:
        return
    trace = _local.trace
    others = _relatives(x, family, trace)
    if not others:
        return
    grad, amp = trace.grad, trace.set_amp(None)
    trace.set_grad(False)
    try:
        if kin.parent is None:
            whole = x
        else:
            whole = _put(lambda: _whole(others), kin, x)
        for t in others:
            tracing.take_value(t, _follow(whole, t.kin) if t.kin.parent is not None else DETACH(whole))
            state = t.__dict__
            state["_inplace_version"] = state.get("_inplace_version", 0) + 1
    finally:
        trace.set_grad(grad)
        trace.set_amp(amp)


def _whole(others: list[Any]) -> Any:
    """The value of the whole memory, as far as somebody can see it."""
    for t in others:
        if t.kin.parent is None:
            return t
    root: Kin = others[0].kin
    while root.parent is not None:
        root = root.parent
    whole: Any = Full(root.type.shape, 0, root.type.dtype)()
    for t in others:
        whole = _put(lambda whole=whole: whole, t.kin, t)  # type: ignore[misc]
    return whole


def adopt(x: Any, made: Any) -> bool:
    """Whether the new value of x is a view of the old one: then only the way that x lies in memory is another."""
    if made.kin is None or made.kin.family is not x.kin.family:
        return False
    family = x.kin.family
    x.kin = made.kin
    family.pop(id(made), None)
    made.kin = None
    family[id(x)] = _ref(x)
    return True
