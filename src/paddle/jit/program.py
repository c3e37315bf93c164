"""A function captured as programs, one for each form of its arguments."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import materialize
from ..engine.eager import trace as tracing
from ..engine.eager.capture import Captured, capture
from ..nn.layer.layers import Layer
from ..static.input import InputSpec
from ..tensor.conversion import to_tensor
from ..tensor.tensor import Tensor
from .structure import put_back, taken_out

_local = tracing.local
_on = [True]


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Turns all functions of `to_static` into plain Python functions, and back.

    Args:
        enable_to_static_bool (bool): False: they run as they are written.

    Raises:
        AssertionError: not a bool.

    Examples:
        >>> @paddle.jit.to_static(full_graph=True)
        ... def f(x):
        ...     return x + 1
        >>> paddle.jit.enable_to_static(False)
        >>> float(f(paddle.to_tensor(1.0)))
        2.0
        >>> paddle.jit.enable_to_static(True)
    """
    if not isinstance(enable_to_static_bool, bool):
        raise errors.asserted(
            "enable_to_static: this is neither True nor False.",
            expected="a bool",
            received=f"enable_to_static_bool: {enable_to_static_bool!r}",
        )
    _on[0] = enable_to_static_bool


class Program:
    """One capture, ready to be called.

    Attributes:
        captured: the operations.
        structure, places: of the result; a place is a slot of the capture, or a Tensor of outside.
    """

    __slots__ = ("captured", "structure", "places", "slots", "run", "made", "settings", "constant", "used", "types",
                 "__weakref__")  # fmt: skip

    def __init__(self, captured: Captured):
        self.captured = captured
        found: list[Tensor] = []
        self.structure = taken_out(captured.result, found)
        captured.result = None
        self.places = [t if captured.slot(t) is None else captured.slot(t) for t in found]
        self.slots = tuple(
            [p for p in self.places if type(p) is int]
            + [s for _, s in captured.changes]
            + [s for _, s in captured.grads]
            + [s for _, s in captured.inputs_changed]
            + [s for _, _, s in captured.assigned]
        )
        self.run: Any = None
        after = (captured.changes, captured.grads, captured.keys, captured.inputs_changed, captured.assigned)
        self.constant = not any(after) and bool(self.slots)

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        captured = self.captured
        if self.constant and materialize.watcher is None:
            found = self.immediately(tensors)
            if found is not None:
                return found
        every = [*tensors, *(t for t, _ in captured.externals), *(make() for _, make in captured.keys)]
        if self.slots:
            found = _local.trace.macro(self, every, lambda: captured.replay(every, self.slots))
            made = iter(found)
        else:
            made = iter(())
        values = [next(made) if type(p) is int else p for p in self.places]
        for x, _ in captured.changes:
            tracing.rebind(x, next(made))
        for x, _ in captured.grads:
            x.leaf.grad, x.leaf.zero = next(made), False  # type: ignore[union-attr]
        for i, _ in captured.inputs_changed:
            tracing.rebind(tensors[i], next(made))
        for owner, name, _ in captured.assigned:
            setattr(owner, name, next(made))
        return put_back(self.structure, values, [0])

    def immediately(self, tensors: Sequence[Tensor]) -> Any:
        """The result, computed at once: where no gradient can follow and all that is read has values. Else None."""
        trace = _local.trace
        if trace.abstract:
            return None
        arrays = []
        for t in tensors:
            if t.buffer is None or (not t.sg and trace.grad):
                return None
            arrays.append(t.buffer)
        for t, _ in self.captured.externals:
            if t.buffer is None or (not t.sg and trace.grad):
                return None
            arrays.append(t.buffer)
        if self.run is None or self.settings != materialize.settings[0]:
            self.prepare(tensors)
        try:
            outputs = self.run([arrays[i] for i in self.used] if self.used is not None else arrays)
        except Exception:
            return None  # the running trace tells where it failed, after what came before has values
        if self.structure is None:
            t = tracing.make_tensor(self.types[0], 0, 0, True, outputs[0])
            t.made = self.made[0]
            return t
        values = []
        made = iter(zip(self.types, outputs, self.made))
        for p in self.places:
            if type(p) is int:
                type_, a, origin = next(made)
                t = tracing.make_tensor(type_, 0, 0, True, a)
                t.made = origin
                values.append(t)
            else:
                values.append(p)
        return put_back(self.structure, values, [0])

    def prepare(self, tensors: Sequence[Tensor]) -> None:
        """Makes what runs the program at once."""
        captured = self.captured
        graph, leaves = captured.graph(self.slots)
        every = [*tensors, *(t for t, _ in captured.externals)]
        slots = [*captured.inputs, *(s for _, s in captured.externals)]
        place = {s: i for i, s in enumerate(slots)}
        self.used = None if leaves == slots else [place[s] for s in leaves]
        self.types = [v.type for v in graph.outputs]
        origin = {s.slot + i: (s.op.name, s.line) for s in captured.steps if s.op for i in range(len(s.types))}
        self.made = [origin.get(s) for s in self.slots]
        lasting = tuple(materialize.is_lasting(every[place[s]]) for s in leaves)
        self.settings = materialize.settings[0]
        again = lambda: captured.graph(self.slots)[0]
        self.run = materialize.shared_run(graph, (False,) * len(leaves), lasting, again)


class StaticFunction:
    """A function whose calls are programs; what `paddle.jit.to_static` gives.

    Each form of arguments (types of Tensors, values of everything else, modes) is captured once; later calls run the
    program. With full_graph False the function runs as it is written: what it records is compiled all the same.

    Args:
        function (callable): what is captured; a method has its object as `instance`.
        input_spec (list, optional): InputSpecs of the Tensors among the arguments.
        full_graph (bool): whether calls are programs.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Any = None,
        full_graph: bool = False,
        instance: Any = None,
        **kwargs: Any,
    ):
        self._function, self._input_spec, self._full_graph = function, input_spec, full_graph
        self._instance = None if instance is None else weakref.ref(instance)
        self._programs: dict[Any, Program] = {}
        self._latest: Any = None  # structure and types of the arguments of the program that was captured last
        self._options = kwargs
        self._lock = threading.RLock()
        functools.update_wrapper(self, function)

    # -- binding --
    def __get__(self, instance: Any, owner: Any = None) -> "StaticFunction":
        if instance is None:
            return self
        name = f"_static_{self._function.__name__}"
        bound = instance.__dict__.get(name)
        if bound is None or bound._function is not self._function:
            bound = StaticFunction(self._function, self._input_spec, self._full_graph, instance, **self._options)
            instance.__dict__[name] = bound
        return bound

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        instance = self.instance
        return self._function if instance is None else functools.partial(self._function, instance)

    @property
    def instance(self) -> Any:
        """The object of a method, or None."""
        return None if self._instance is None else self._instance()

    @property
    def input_spec(self) -> Any:
        return self._input_spec

    def rollback(self) -> Any:
        """The function as it was written; that of a Layer is its `forward` again."""
        instance = self.instance
        if instance is not None and instance.__dict__.get("forward") is self:
            del instance.__dict__["forward"]
        return self.dygraph_function

    # -- calling --
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._full_graph or not _on[0]:
            return self.dygraph_function(*args, **kwargs)
        trace = _local.trace
        modes = self._modes() if self._instance is not None else None
        if not kwargs and self._input_spec is None:
            for a in args:
                if not isinstance(a, Tensor):
                    break
            else:
                key = (tuple([(t.type, t.sg) for t in args]), trace.grad, trace.amp, modes)
                program = self._programs.get(key)
                if program is None:
                    program = self._add(key, (tuple, (None,) * len(args)), False, args)
                return program(args)
        tensors: list[Tensor] = []
        if self._input_spec is not None and not kwargs:
            args = _as_described(args, self._input_spec)
        structure = taken_out((args, kwargs) if kwargs else args, tensors, lambda a: isinstance(a, np.ndarray))
        tensors = [to_tensor(t) if isinstance(t, np.ndarray) else t for t in tensors]
        forms = tuple([(t.type, t.sg) for t in tensors])
        key = (structure, bool(kwargs), forms, trace.grad, trace.amp, modes)
        program = self._programs.get(key)
        if program is None:
            program = self._add(key, structure, bool(kwargs), tensors)
        return program(tensors)

    def _add(self, key: Any, structure: Any, named: bool, tensors: Sequence[Tensor]) -> Program:
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                program = self._programs[key] = self._program(structure, named, tensors)
                self._latest = structure, named, [(t.type, t.sg) for t in tensors]
        return program

    def _modes(self) -> Any:
        instance = self.instance
        if not isinstance(instance, Layer):
            return None
        return tuple([layer.training for layer in instance.sublayers(include_self=True)])

    def _program(self, structure: Any, named: bool, tensors: Sequence[Tensor]) -> Program:
        function = self.converted()

        def run(*stands: Any) -> Any:
            given = put_back(structure, list(stands), [0])
            args, kwargs = given if named else (given, {})
            return function(*args, **kwargs)

        return Program(capture(run, tensors, differentiates=True))

    def converted(self) -> Callable[..., Any]:
        """The function with Python control flow on Tensors as operations."""
        from .dy2static import entry  # most programs are not captured

        return entry(self._function, self.instance)

    @property
    def concrete_programs(self) -> list[Any]:
        """The programs captured so far."""
        return list(self._programs.values())

    def __repr__(self) -> str:
        return f"<to_static of {getattr(self._function, '__qualname__', self._function)}>"


def _as_described(args: tuple[Any, ...], spec: Any) -> tuple[Any, ...]:
    """Arrays and numbers for which an InputSpec stands become Tensors."""
    specs = list(spec) if isinstance(spec, (list, tuple)) else [spec]
    return tuple(
        to_tensor(a, s.dtype) if isinstance(s, InputSpec) and not isinstance(a, Tensor) and hasattr(a, "dtype") else a
        for a, s in zip(args, [*specs, *[None] * (len(args) - len(specs))])
    )
