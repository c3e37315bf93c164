"""`PyLayer`: an operation whose gradient the user writes in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..engine import errors
from ..engine.eager import capture, tape
from ..engine.eager import trace as tracing
from ..engine.ops.creation import Full
from ..engine.ops.elementwise import Detach
from ..engine.types import TensorType
from ..tensor.tensor import Tensor

__all__ = ["PyLayer", "PyLayerContext", "once_differentiable"]


class PyLayerContext:
    """What `forward` of a PyLayer hands to its `backward`. Any attribute may be set on it."""

    def __init__(self) -> None:
        self._saved: Any = ()
        self._not_inplace: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.grad_in_dtype_consistent = True

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keeps Tensors for `backward`. Called once, at most, in forward."""
        self._saved = tuple(tape.pack(t) for t in tensors)

    def saved_tensor(self) -> tuple[Any, ...]:
        """The Tensors that save_for_backward kept."""
        return tuple(tape.unpack(t) for t in self._saved)

    def mark_not_inplace(self, *args: Tensor) -> None:
        """Says that outputs which are inputs, unchanged, stand for new values."""
        self._not_inplace = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Outputs that take no gradient; `backward` gets zeros for them."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """False: `backward` gets None, instead of zeros, for an output that nothing used."""
        self.materialize_grads = value

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """False: gradients are handed to `backward` in whatever dtype they come."""
        self.grad_in_dtype_consistent = flag


class _PyLayerNode(tape.GradNode):
    """The gradient of one PyLayer call.

    Attributes:
        cls, ctx: the user's class and context. input_types: of the Tensor arguments, one per edge.
    """

    __slots__ = ("cls", "ctx", "input_types")

    def __init__(self, cls: Any, ctx: PyLayerContext, edges: tuple[Any, ...], input_types: tuple[TensorType, ...],
                 types: tuple[TensorType, ...]):  # fmt: skip
        super().__init__(None, (), (), edges, types, errors.user_frame())
        self.cls, self.ctx, self.input_types = cls, ctx, input_types

    def pull(self, grads: Sequence[Any], history: bool) -> Sequence[Any]:
        ctx = self.ctx
        given = []
        for g, type_ in zip(grads, self.types):
            if g is None and ctx.materialize_grads:
                g = Full(type_.shape, 0.0 if type_.dtype.kind in "fc" else 0, type_.dtype)()
            given.append(g)
        found = self.cls.backward(ctx, *given)
        found = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        name = self.cls.__name__
        if len(found) != len(self.edges):
            needing = [i for i, e in enumerate(self.edges) if e is not None]
            if len(found) != len(needing):
                raise errors.invalid_argument(
                    f"{name}.backward: the number of gradients is wrong.",
                    expected=f"{len(self.edges)}, one per Tensor argument of forward",
                    received=f"{len(found)}",
                )
            spread: list[Any] = [None] * len(self.edges)
            for i, g in zip(needing, found):
                spread[i] = g
            found = tuple(spread)
        for i, (g, edge, type_) in enumerate(zip(found, self.edges, self.input_types)):
            if g is None or edge is None:
                continue
            if not isinstance(g, Tensor):
                raise errors.invalid_type(
                    f"{name}.backward: gradient {i} is not a Tensor.",
                    expected="a Tensor or None",
                    received=type(g).__name__,
                )
            if g.type.shape != type_.shape:
                raise errors.invalid_argument(
                    f"{name}.backward: gradient {i} has another shape than its argument.",
                    expected=f"{type_}",
                    received=f"{g.type}",
                )
        return found

    def free(self) -> None:
        self.ctx._saved = ()
        self.freed = True


class PyLayer:
    """A differentiable operation in Python: subclass it, write `forward` and `backward`, call `apply`.

    Examples:
        >>> class Cube(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (x,) = ctx.saved_tensor()
        ...         return g * 3 * x * x
        >>> x = paddle.to_tensor(2.0, stop_gradient=False)
        >>> Cube.apply(x).backward()
        >>> x.grad.item()
        12.0
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """The operation, run without gradients. Tensors to be kept go to `ctx.save_for_backward`."""
        raise NotImplementedError("PyLayer: write forward(ctx, ...) in the subclass.")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """Takes one gradient per Tensor output; gives one, or None, per Tensor argument of forward."""
        raise NotImplementedError("PyLayer: write backward(ctx, ...) in the subclass.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls `forward` with a new context, and records `backward`.

        Returns:
            What forward returned. Its Tensors need gradients if a Tensor argument does.
        """
        trace = tracing.current()
        inputs = [t for a in (*args, *kwargs.values()) for t in _tensors_in(a)]
        before = trace.grad
        grad = before and any(not t.sg for t in inputs)
        if grad and trace.abstract:
            capture.refuse_python_gradients("PyLayer")
        edges = tuple(map(tape.edge_of, inputs)) if grad else ()
        places = {id(t): (t.epoch, t.slot) for t in inputs}
        ctx = PyLayerContext()
        trace.set_grad(False)
        try:
            result = cls.forward(ctx, *args, **kwargs)
        finally:
            trace.set_grad(before)
        if not grad:
            return result
        outs = list(result) if isinstance(result, (list, tuple)) else [result]
        at = [i for i, t in enumerate(outs) if isinstance(t, Tensor)]
        if not at:
            raise errors.invalid_argument(
                f"{cls.__name__}.forward: no output is a Tensor.",
                expected="at least one Tensor among the outputs",
                received=", ".join(type(o).__name__ for o in outs),
            )
        fixed = {id(t) for t in ctx._non_differentiable}
        node = _PyLayerNode(cls, ctx, edges, tuple(t.type for t in inputs), tuple(outs[i].type for i in at))
        trace.generic = True
        slots = []
        for k, i in enumerate(at):
            t = outs[i]
            if id(t) in fixed or not t.type.dtype.is_differentiable:
                continue
            unchanged = places.get(id(t)) == (t.epoch, t.slot)
            if unchanged or not t.sg or (t.epoch == trace.epoch and trace.values.get(t.slot) is not t):
                with_grad = trace.grad
                trace.set_grad(False)
                t = outs[i] = Detach()(t)
                trace.set_grad(with_grad)
            t.sg, t.gnode = False, (node, k)
            slots.append(t.slot if t.epoch == trace.epoch else -1)
        trace.mark(("pylayer", cls, tuple(slots)))
        return tuple(outs) if isinstance(result, (list, tuple)) else outs[0]


def _tensors_in(a: Any) -> list[Tensor]:
    if isinstance(a, Tensor):
        return [a]
    if isinstance(a, (list, tuple)):
        return [t for t in a if isinstance(t, Tensor)]
    return []


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Declares that a `backward` is not differentiable again: under create_graph its results are constants."""

    @functools.wraps(backward)
    def call(ctx: PyLayerContext, *args: Any) -> Any:
        trace = tracing.current()
        before = trace.grad
        trace.set_grad(False)
        try:
            return backward(ctx, *args)
        finally:
            trace.set_grad(before)

    return call
