"""Gradients by rows as users see them: a Tensor of the values that knows its rows."""

from __future__ import annotations

from typing import Any

from ..ops.rows import RowGrad, add_grads
from ..types import TensorType
from .trace import TENSOR, Tensor, Trace, local, make_tensor, rebind

_new = object.__new__


class RowTensor(Tensor):
    """The values [n, ...] of a RowGrad.

    Attributes:
        row_numbers: Tensor int64 [n]. height: rows of the table.
    """

    __slots__ = ()
    row_numbers: Tensor
    height: int


CLASS: list[type[Tensor]] = [RowTensor]  # paddle.Tensor's own subclass takes its place


def handle(t: Tensor, cls: type[Tensor]) -> Tensor:
    """Another Tensor, of the given class, of the value of t."""
    if not t.sg and t.buffer is None:
        from .tape import edge_of

        edge_of(t)  # at a flush, records are kept for Tensors that the trace counts, which the new one is not
    made = _new(cls)
    made.type, made.epoch, made.slot, made.sg = t.type, t.epoch, t.slot, t.sg
    made.buffer, made.gnode, made.leaf, made.kin = t.buffer, t.gnode, t.leaf, None
    if made.buffer is None and made.epoch == local.trace.epoch:
        local.trace.shadows.append(made)
    return made


def to_tensor(g: Any) -> Any:
    """A gradient as a Tensor: one by rows as a RowTensor."""
    if type(g) is not RowGrad:
        return g
    made: Any = handle(g.values, CLASS[0])
    made.row_numbers, made.height = handle(g.rows, TENSOR[0]), g.height
    return made


def from_tensor(g: Any) -> Any:
    """A gradient for computing: a RowTensor as a RowGrad."""
    return RowGrad(g, g.row_numbers, g.height) if isinstance(g, RowTensor) else g


def alike(g: Any, changed: Any) -> Any:
    """`changed` with the rows of g, if it was made of the values of g one by one."""
    if isinstance(g, RowTensor) and not isinstance(changed, RowTensor) and changed.type.shape == g.type.shape:
        return to_tensor(RowGrad(changed, g.row_numbers, g.height))
    return changed


def added(total: Any, g: Any) -> Any:
    """The sum of two gradients, one of them by rows."""
    out = add_grads(from_tensor(total), from_tensor(g))
    if isinstance(out, RowGrad):
        rebind(total, out.values)
        total.row_numbers = out.rows
        return total
    return to_tensor(out)


Recorded = tuple[TensorType, int, int]  # type and slot of the row numbers, and the height


def recorded(trace: Trace, g: Any) -> tuple[TensorType, int, Recorded | None] | None:
    """How a gradient that this trace makes is found again: type and slot, and the same of its rows."""
    if type(g) is not RowGrad:
        return (g.type, g.slot, None) if g.epoch == trace.epoch else None
    values, rows = g.values, g.rows
    if values.epoch != trace.epoch or rows.epoch != trace.epoch:
        return None
    return values.type, values.slot, (rows.type, rows.slot, g.height)


def recall(trace: Trace, values: Tensor, by: Recorded) -> RowGrad:
    """The RowGrad that `recorded` told of, at a later visit."""
    type_, slot, height = by
    rows = trace.values.get(slot)
    if rows is None:
        rows = trace.values[slot] = make_tensor(type_, trace.epoch, slot, True)
    return RowGrad(values, rows, height)


def flattened(grads: list[Any]) -> tuple[list[Tensor], tuple[int, ...]]:
    """Tensors of gradients, and the height of each or 0; one by rows gives two Tensors."""
    out: list[Tensor] = []
    for g in grads:
        out += [g.values, g.rows] if type(g) is RowGrad else [g]
    return out, tuple(g.height if type(g) is RowGrad else 0 for g in grads)


def gathered(tensors: Any, heights: tuple[int, ...]) -> list[Any]:
    """Undoes `flattened`."""
    rest = iter(tensors)
    return [RowGrad(next(rest), next(rest), h) if h else next(rest) for h in heights]
