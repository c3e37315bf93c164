"""Layers made of saved programs."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.trace import from_array
from ..engine.ir.graph import Graph
from ..engine.ops.number import Constant, Number
from ..engine.types import TensorType, dtype_of
from ..framework.param import EagerParamBase
from ..framework.random import next_key
from ..nn.layer.layers import Layer
from ..static.input import InputSpec
from ..tensor.creation import to_tensor
from ..tensor.tensor import Tensor
from .files import Method, SavedProgram, Weight, settled, types_for

__all__ = ["TranslatedLayer"]

_local = tracing.local
MOST_INSTANCES = 64  # sets of sizes whose graphs are kept


class TranslatedLayer(Layer):
    """A Layer that runs a saved program; `paddle.jit.load` makes it.

    It is called with the inputs in order, and gives the Tensor, or a list of the Tensors, that the program results in.
    Its parameters and buffers have the names that they had in the Layer that was saved, so `state_dict` fits there.
    Gradients flow through it, and an optimizer may go on training its parameters.

    Examples:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "fc")
        >>> fc = paddle.nn.Linear(3, 2)
        >>> paddle.jit.save(fc, path, [paddle.static.InputSpec([None, 3])])
        >>> loaded = paddle.jit.load(path)
        >>> bool(paddle.allclose(loaded(paddle.ones([5, 3])), fc(paddle.ones([5, 3]))))
        True
        >>> list(loaded.state_dict())
        ['weight', 'bias']

    Source: https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/jit/TranslatedLayer_en.html
    """

    def __init__(self, programs: SavedProgram, persistable_vars: dict[str, Weight] | None = None):
        super().__init__()
        self.__dict__["training"] = False
        weights = programs.weights if persistable_vars is None else persistable_vars
        tensors: dict[str, Tensor] = {}
        for name, w in weights.items():
            tensors[name] = t = _tensor(name, w)
            if w.parameter:
                self._parameters[name] = t
            elif w.persistable:
                self._buffers[name] = t
        self.__dict__["_constants"] = {n: t for n, t in tensors.items() if not weights[n].persistable}
        self.__dict__["_saved"] = SavedProgram(programs.methods, {}, programs.training)  # the weights are Tensors now
        self.__dict__["_runners"] = {
            name: Runner(method, name, self._tensor_named) for name, method in programs.methods.items()
        }
        for name in programs.methods:
            if name != "forward" and not hasattr(type(self), name):
                self.__dict__[name] = self._method(name)

    def _tensor_named(self, name: str) -> Tensor:
        found = self._parameters.get(name)
        if found is None:
            found = self._buffers.get(name)
        return self._constants[name] if found is None else found

    def _method(self, name: str) -> Callable[..., Any]:
        def method(*inputs: Any) -> Any:
            return self._runner(name)(inputs)

        method.__name__ = name
        return method

    def _runner(self, name: str) -> "Runner":
        found = self._runners.get(name)
        if found is None:
            raise errors.invalid_argument(
                "TranslatedLayer: there is no such method.", expected=", ".join(self._runners), received=repr(name)
            )
        return found

    def forward(self, *inputs: Any) -> Any:
        """Runs the program of `forward`."""
        return self._runner("forward")(inputs)

    def program(self, method_name: str = "forward") -> Any:
        """The program of a method. It prints readably.

        Args:
            method_name (str): Default: "forward".

        Raises:
            ValueError: there is no such method.
        """
        return self._runner(method_name).method.program

    def _input_spec(self, method_name: str = "forward") -> list[InputSpec]:
        method = self._runner(method_name).method
        program = method.program
        return [InputSpec(program.shape(i), program.inputs[i][1], program.names[i]) for i in method.feeds]

    def _output_spec(self, method_name: str = "forward") -> list[InputSpec]:
        method = self._runner(method_name).method
        return [InputSpec(s, d, name) for (_, s, d), name in zip(method.program.outputs, method.outputs)]


class PirTranslatedLayer(TranslatedLayer):
    """The TranslatedLayer that `paddle.jit.load` gives."""


def _tensor(name: str, w: Weight) -> Tensor:
    t = from_array(w.array)
    if w.parameter:
        t = EagerParamBase(t, w.trainable)
    else:
        t.stop_gradient = True
        if w.persistable:
            t.__dict__["_persistable"] = True
    t.name = name
    return t


class Instance:
    """A program at certain sizes, ready to be recorded."""

    __slots__ = ("graph", "tables", "last", "__weakref__")

    def __init__(self, graph: Graph):
        self.graph, arrays = settled(graph)
        graph = self.graph
        self.tables = [from_array(a) for a in arrays]
        wanted = set(graph.outputs)
        self.last: dict[int, list[Any]] = {}
        at = {v: i for i, n in enumerate(graph.nodes) for v in n.inputs}
        for v, i in at.items():
            if v not in wanted:
                self.last.setdefault(i, []).append(v)

    def replay(self, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Records the operations on these Tensors."""
        graph, trace = self.graph, _local.trace
        env: dict[Any, Any] = dict(zip(graph.inputs, tensors))
        amp = trace.set_amp(None)  # casts have been recorded as such
        try:
            for i, node in enumerate(graph.nodes):
                op = node.op
                if type(op) is Constant:
                    env[node.outputs[0]] = Number(op.value, op.dtype)
                    continue
                args = tuple(env[v] for v in node.inputs)
                out = trace.record(op, args) if args else op()
                if len(node.outputs) == 1:
                    env[node.outputs[0]] = out
                else:
                    env.update(zip(node.outputs, out))
                for v in self.last.get(i, ()):
                    env.pop(v, None)
        finally:
            trace.set_amp(amp)
        return tuple(to_tensor(v.value, v.dtype) if isinstance(v, Number) else v for v in map(env.get, graph.outputs))


class Runner:
    """Runs a saved program on Tensors, as operations of the running trace.

    Args:
        name: of the method, for messages.
        weight: gives the Tensor of a weight.
    """

    def __init__(self, method: Method, name: str, weight: Callable[[str], Tensor]):
        self.method, self.name, self.weight = method, name, weight
        self.instances: OrderedDict[Any, Instance] = OrderedDict()  # by the types of the inputs
        self.lock = threading.Lock()

    def __call__(self, inputs: Sequence[Any]) -> Any:
        method = self.method
        tensors = [self.fed(x, i) for x, i in zip(inputs, method.feeds)]
        if len(inputs) != len(method.feeds):
            raise errors.invalid_argument(
                f"TranslatedLayer.{self.name}: the number of inputs is another.",
                expected=f"{len(method.feeds)}: {', '.join(method.names)}", received=str(len(inputs)),
            )  # fmt: skip
        given = iter(tensors)
        every = []
        for role in method.roles:
            every.append(next(given) if role == "feed" else next_key() if role == "key" else self.weight(role[1]))
        instance = self.instance(tuple([t.type for t in tensors]))
        every += instance.tables
        found = _local.trace.macro(instance, every, lambda: instance.replay(every))
        for name, new in zip(method.updates, found[len(method.outputs) :]):
            tracing.rebind(self.weight(name), new)
        results = list(found[: len(method.outputs)])
        return results[0] if len(results) == 1 else results

    def fed(self, x: Any, i: int) -> Tensor:
        if isinstance(x, Tensor):
            return x
        dtype = self.method.program.inputs[i][1]
        if isinstance(x, np.ndarray) and dtype_of(x.dtype) is not dtype:
            return to_tensor(x)  # its type is refused with the others
        return to_tensor(x, dtype)

    def instance(self, types: tuple[TensorType, ...]) -> Instance:
        """The program for inputs of these types."""
        with self.lock:
            found = self.instances.get(types)
            if found is None:
                program = self.method.program
                sizes = program.sizes_of(types_for(self.method, types))
                found = self.instances[types] = Instance(program.graph(sizes))
                if len(self.instances) > MOST_INSTANCES:
                    self.instances.popitem(last=False)
            else:
                self.instances.move_to_end(types)
            return found


def check_example(programs: SavedProgram, run: Callable[[str, list[np.ndarray]], list[np.ndarray]]) -> list[str]:
    """Runs the recorded inputs of all programs, and compares.

    Args:
        run: gives the results of a method.

    Returns:
        The methods that were checked; those without an example are left out.

    Raises:
        ValueError: a result is beyond the tolerance.
    """
    checked = []
    for name, method in programs.methods.items():
        example = method.example
        if example is None:
            continue
        types_for(method, [from_array(a).type for a in example.inputs])
        for label, a, b in zip(method.outputs, run(name, example.inputs), example.outputs):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise _off(name, label, f"{b.dtype}{list(b.shape)}", f"{a.dtype}{list(a.shape)}")
            wide = complex if b.dtype.kind == "c" else float
            x, y = a.astype(wide), b.astype(wide)
            near = np.isclose(x, y, example.rtol, example.atol, equal_nan=True)
            if not near.all():
                worst = float(np.abs(x - y)[~near].max())
                raise _off(
                    name, label, f"within {example.rtol} of the recorded values, relatively", f"off by {worst:.3g}"
                )
        checked.append(name)
    return checked


def _off(name: str, label: str, expected: str, received: str) -> Exception:
    return errors.damaged(
        f"load: {name} does not give what was recorded when it was saved, in {label}.",
        expected=expected, received=received,
    )  # fmt: skip
