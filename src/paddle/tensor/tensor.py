"""`paddle.Tensor`: the class, its attributes, Python operators and what reads its values.

Functions of tensors are defined in the other modules of this package and become methods in `methods.py`.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..engine import errors, types
from ..engine.eager import tape
from ..engine.eager import trace as tracing
from ..engine.ops import elementwise as ew
from ..engine.ops.elementwise import Detach
from ..engine.types import DType

_local = tracing.local
_new = object.__new__


class Size(list):
    """The shape of a Tensor: a list of int."""

    def numel(self) -> int:
        return int(np.prod(self)) if self else 1


class Tensor(tracing.Tensor):
    """An array with a gradient, recorded lazily and computed when its values are read."""

    __slots__ = ()

    # -- description --
    @property
    def shape(self) -> Size:
        return Size(self.type.shape)

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    @property
    def size(self) -> int:
        return self.type.size

    # -- gradients --
    @property
    def stop_gradient(self) -> bool:
        return self.sg

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        value = bool(value)
        if value == self.sg:
            return
        trace = _local.trace
        if self.data is None and self.epoch == trace.epoch:
            # a value of the running trace: from here on, a leaf of its own
            trace.flush() if not value else None
        if self.epoch == trace.epoch and trace.values.get(self.slot) is self:
            trace.values[self.slot] = tracing.shadow(self)
            if self.data is None:
                tracing.rebind(self, Detach()(self))
            else:
                self.epoch = 0
        self.sg, self.gnode = value, None

    @property
    def grad(self) -> Any:
        leaf = self.leaf
        if leaf is None:
            return None
        if leaf.zero:
            from ..engine.ops.creation import Full

            leaf.grad = Full(self.type.shape, 0.0, self.type.dtype)()
            leaf.zero = False
        return leaf.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        state = tape.leaf_state(self)
        state.grad, state.zero = value, False

    @property
    def is_leaf(self) -> bool:
        return self.sg or isinstance(tape.edge_of(self), tape.LeafState)

    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        if self.sg:
            raise errors.precondition(
                "backward: the Tensor takes no part in differentiation.",
                expected="stop_gradient False",
                received=f"a Tensor {self.type} with stop_gradient True",
                hint="nothing that it was computed from has stop_gradient=False, or no_grad was active.",
            )
        tape.backward([self], [grad_tensor], retain_graph)

    def detach(self) -> "Tensor":
        """The same value without its history."""
        if self.data is not None:
            return tracing.make_tensor(self.type, 0, 0, True, self.data)  # type: ignore[return-value]
        return Detach()(self)

    # -- values --
    def array(self) -> np.ndarray:
        """The values, computed if need be. Belongs to the Tensor: not to be written to."""
        if self.data is None:
            tracing.materialize_elsewhere(self)
        return self.data  # type: ignore[return-value]

    def numpy(self) -> np.ndarray:
        a = self.array()
        return a.view(np.uint16).copy() if self.type.dtype is types.bfloat16 else a.copy()

    def item(self, *args: int) -> Any:
        a = self.array()
        if args:
            return a.item(*args)
        if a.size != 1:
            raise errors.invalid_argument(
                "item: the Tensor has more than one element.",
                expected="one element, or the indices of one",
                received=f"{self.type}",
            )
        return a.item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        return int(self.item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        a = self.numpy()
        return a if dtype is None else a.astype(dtype)

    def __len__(self) -> int:
        if not self.type.shape:
            raise TypeError("len() of a 0-D tensor")
        return self.type.shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        a = self.array()
        values = np.array2string(a, separator=", ", prefix="       ")
        return (
            f"Tensor(shape={list(self.type.shape)}, dtype={self.type.dtype.name}, place=Place(cpu), "
            f"stop_gradient={self.sg},\n       {values})"
        )


def _binary(op: Any, reverse: bool = False) -> Callable[[Any, Any], Any]:
    """A Python operator. The common case, both Tensors of the running trace, is written out for speed."""
    if reverse:
        return lambda self, other: _local.trace.record(op, (other, self))

    def method(self: Tensor, other: Any) -> Any:
        trace = _local.trace
        epoch = trace.epoch
        if self.epoch == epoch:
            kind = other.__class__
            if kind is Tensor or isinstance(other, tracing.Tensor):
                node = trace.node.children.get((op, self.slot, other.slot)) if other.epoch == epoch else None
            elif (kind is float or kind is int) and other:
                node = trace.node.children.get((op, self.slot, kind, other))
            else:
                node = None
            if node is not None and not node.outs:
                t = _new(Tensor)
                t.type = node.type
                t.epoch = epoch
                t.sg = node.sg
                t.data = t.gnode = t.leaf = None
                t.slot = slot = node.slot
                trace.values[slot] = t
                trace.node = node.end
                return t
        return trace.record(op, (self, other))

    return method


for _name, _op in (("add", ew.add), ("sub", ew.subtract), ("mul", ew.multiply), ("truediv", ew.divide)):
    setattr(Tensor, f"__{_name}__", _binary(_op))
    setattr(Tensor, f"__r{_name}__", _binary(_op, True))
for _name, _op in (("lt", ew.less_than), ("le", ew.less_equal), ("gt", ew.greater_than), ("ge", ew.greater_equal),
                   ("eq", ew.equal), ("ne", ew.not_equal)):  # fmt: skip
    setattr(Tensor, f"__{_name}__", _binary(_op))
Tensor.__neg__ = lambda self: _local.trace.record(ew.negative, (self,))  # type: ignore[attr-defined]

tracing.TENSOR[0] = Tensor
