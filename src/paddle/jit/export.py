"""Layers and functions made saved programs."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import capture as capturing
from ..engine.eager.capture import Captured, capture
from ..engine.eager.trace import from_array, local
from ..engine.ir import saved
from ..engine.ir.graph import Graph, Value
from ..engine.ops.elementwise import Detach
from ..engine.ops.number import Constant, Number
from ..engine.ops.tables import Table
from ..engine.types import TensorType
from ..framework.param import EagerParamBase
from ..nn.layer.layers import Layer
from ..static.input import InputSpec
from ..tensor.tensor import Tensor
from .files import Example, Method, SavedProgram, Weight
from .program import StaticFunction
from .samples import drawn, opened
from .structure import Opaque, put_back, taken_out

__all__: list[str] = []

MOST_EXAMPLE_BYTES = 1 << 20
RTOL, ATOL = 1e-4, 1e-5  # of recorded results: programs sum in other orders on other machines


class Exporter:
    """Collects programs and the weights that they read.

    Args:
        named: Tensors whose names are known, by name: parameters and buffers of a Layer.
        hidden: names of those that are not part of its state.
    """

    def __init__(self, named: dict[str, Tensor], hidden: Sequence[str] = ()):
        self.names: dict[int, str] = {}
        for name, t in named.items():
            self.names.setdefault(id(t), name)
        self.hidden = set(hidden)
        self.known: dict[str, Tensor] = {}
        self.constants: dict[tuple[Any, bytes], str] = {}
        self.weights: dict[str, Weight] = {}
        self.methods: dict[str, Method] = {}
        self.avoid = {n for t in named.values() for n in t.type.shape}

    def add(self, name: str, called: Callable[..., Any], args: Any) -> None:
        """Captures a function, control flow on Tensors as operations.

        Args:
            called: the function, a StaticFunction or not.
            args: arguments: InputSpecs and Tensors, which stand for inputs, lists and tables of these, other values.
        """
        inputs: list[Any] = []
        structure = taken_out(tuple(args), inputs, lambda x: isinstance(x, InputSpec))
        specs = [_spec_of(x) for x in inputs]
        names = input_names(called, args, specs)
        function = plain(called)

        def run(*stands: Any) -> Any:
            return function(*put_back(structure, list(stands), [0]))

        def make(types: list[TensorType]) -> tuple[Graph, Any]:
            return self.graph(run, types, [s.stop_gradient for s in specs])

        described = [(s.shape, s.dtype) for s in specs]
        with grad_on():
            program, sizes, told = opened(make, described, names, self.avoid)
        roles, results, updates, shown = told
        self._take_weights([r[1] for r in roles if type(r) is tuple])
        method = Method(
            program, list(roles), [f"fetch_name_{i}" for i in range(results)], sizes, list(updates), shown.form
        )
        if "key" not in roles and not updates:
            method.example = self._example(run, method)
        self.methods[name] = method

    def graph(self, run: Callable[..., Any], types: list[TensorType], sgs: list[bool]) -> tuple[Graph, Any]:
        """The graph at some types: inputs, weights, keys. With it roles, number of results, updates and structure."""
        captured = capture(run, types, sgs)
        if captured.grads:
            raise errors.unimplemented(
                "jit.save: the program sets gradients of parameters.", expected="a function without backward()",
                received="backward within the function", hint="call backward on what the loaded program gives.",
            )  # fmt: skip
        found: list[Tensor] = []
        structure = taken_out(captured.result, found)
        order = _in_order(structure)
        found = [found[i] for i in order]
        if not found:
            raise errors.invalid_argument(
                "jit.save: the function gives no Tensor.", expected="one Tensor at least", received=f"{structure}"[:80]
            )
        outside = {id(t): s for t, s in captured.externals}
        extra: list[Tensor] = []
        wanted: list[int | Tensor] = []
        for t in found:
            slot = captured.slot(t)
            if slot is None and id(t) in outside:
                slot = outside[id(t)]
            wanted.append(t if slot is None else slot)
            if slot is None and all(t is not x for x in extra):
                extra.append(t)
        wanted += [s for _, s in captured.changes]
        graph, roles = self._graph_of(captured, wanted, extra)
        updates = tuple(self._name(t) for t, _ in captured.changes)
        return graph, (roles, len(found), updates, _Told(_shown(structure)))

    def _graph_of(self, captured: Captured, wanted: list[int | Tensor], extra: list[Tensor]) -> tuple[Graph, Any]:
        slots = {s for s in wanted if type(s) is int}
        for step in reversed(captured.steps):
            made = range(step.slot, step.slot + len(step.types))
            if step.op is not None and (step.op.effect or any(s in slots for s in made)):
                slots.update(r for r in step.refs if type(r) is int)
        graph = Graph("program")
        env: dict[Any, Value] = {}
        by_slot = {s.slot: s for s in captured.steps if s.op is None}
        roles: list[Any] = []
        for s in captured.inputs:
            env[s] = graph.input(by_slot[s].types[0])
            roles.append("feed")
        for t, s in captured.externals:
            if s in slots and "_recipe" in t.__dict__:
                env[s] = graph.add(Table(*t.__dict__["_recipe"]), ())[0]
            elif s in slots:
                name = self._name(t)
                env[s] = graph.input(by_slot[s].types[0], name)
                roles.append(("weight", name))
        for t in extra:
            if "_recipe" in t.__dict__:
                env[id(t), "outside"] = graph.add(Table(*t.__dict__["_recipe"]), ())[0]
                continue
            name = self._name(t)
            env[id(t), "outside"] = graph.input(t.type, name)
            roles.append(("weight", name))
        for s, _ in captured.keys:
            if s in slots:
                env[s] = graph.input(by_slot[s].types[0], "key")
                roles.append("key")
        for step in captured.steps:
            made = range(step.slot, step.slot + len(step.types))
            if step.op is None or not (step.op.effect or any(s in slots for s in made)):
                continue
            args = []
            for r in step.refs:
                args.append(graph.add(Constant(r.value, r.dtype), ())[0] if isinstance(r, Number) else env[r])
            for s, v in zip(made, graph.add(step.op, args, step.line, step.types)):
                differs = not step.grad and v.dtype.is_differentiable and step.op.vjp
                env[s] = graph.add(Detach(), [v], step.line)[0] if differs else v
        graph.outputs = [env[s] if type(s) is int else env[id(s), "outside"] for s in wanted]
        return graph, tuple(roles)

    def _name(self, t: Tensor) -> str:
        """The name of a Tensor of outside. Constants are named by what they hold."""
        name = self.names.get(id(t))
        if name is None and t.__dict__.get("_persistable") or isinstance(t, EagerParamBase):
            name = self.names.setdefault(id(t), name or f"outside.{t.name}")
        if name is not None:
            self.known[name] = t
            return name
        with capturing.outside():
            a = t.array()
        key = (t.type, np.ascontiguousarray(a).tobytes())
        if key not in self.constants:
            self.constants[key] = name = f"constant_{len(self.constants)}"
            self.weights[name] = Weight(np.array(a), t.type.dtype, False, False, False)
        return self.constants[key]

    def _take_weights(self, names: list[str]) -> None:
        for name in names:
            if name in self.weights:
                continue
            t = self.known[name]
            parameter = isinstance(t, EagerParamBase)
            kept = parameter or name not in self.hidden
            self.weights[name] = Weight(t.array(), t.type.dtype, parameter, not t.stop_gradient, kept)

    def _example(self, run: Callable[..., Any], method: Method) -> Example | None:
        """Recorded arrays of the function itself; None where it refuses them, or where they are many."""
        rng = np.random.default_rng(0)
        types = _small(method)
        if sum(t.size * t.dtype.itemsize for t in types) > MOST_EXAMPLE_BYTES:
            return None
        arrays = [drawn(rng, t.shape, t.dtype) for t in types]
        from .. import no_grad

        try:
            with no_grad():
                found: list[Tensor] = []
                structure = taken_out(run(*(from_array(a) for a in arrays)), found)
                outputs = [np.array(found[i].array()) for i in _in_order(structure)]
        except Exception:  # such as an index beyond a table: the inputs were drawn, not chosen
            return None
        if sum(a.nbytes for a in outputs) > MOST_EXAMPLE_BYTES or len(outputs) != len(method.outputs):
            return None
        return Example(arrays, outputs, RTOL, ATOL)

    def program(self, training: bool) -> SavedProgram:
        used = {r[1] for m in self.methods.values() for r in m.roles if type(r) is tuple}
        used.update(u for m in self.methods.values() for u in m.updates)
        return SavedProgram(self.methods, {n: w for n, w in self.weights.items() if n in used}, training)


class _Told:
    """The structure of a result, equal to that at another size where only plain numbers in it differ."""

    def __init__(self, form: Any):
        self.form = form

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Told) and _blank(other.form) == _blank(self.form)

    __hash__ = None  # type: ignore[assignment]


def _blank(form: Any) -> Any:
    if isinstance(form, dict):
        return {k: None if k == "value" else _blank(v) for k, v in form.items()}
    return [_blank(x) for x in form] if isinstance(form, list) else form


def _shown(structure: Any) -> Any:
    """The form in JSON of a result's structure; null for a Tensor."""
    if structure is None:
        return None
    if isinstance(structure, Opaque):
        return {"object": type(structure.value).__name__}
    kind = structure[0]
    if kind == "value":
        plain = isinstance(structure[3], (bool, int, float, str, type(None), complex))
        return {"value": saved.encode(structure[3]) if plain else repr(structure[3])}
    if isinstance(kind, type) and issubclass(kind, dict):
        return {"dict": [[str(k), _shown(v)] for k, v in structure[1]]}
    return {"list" if kind is list else "tuple": [_shown(v) for v in structure[1]]}


def _in_order(structure: Any) -> list[int]:
    """Tensors of a result as loaded programs give them: those of a table by the order of its keys."""
    count = 0

    def number(s: Any) -> Any:
        nonlocal count
        if s is None:
            count += 1
            return count - 1
        if isinstance(s, Opaque) or s[0] == "value":
            return []
        if isinstance(s[0], type) and issubclass(s[0], dict):
            parts = [(k, number(v)) for k, v in s[1]]
            with contextlib.suppress(TypeError):
                parts.sort(key=lambda p: p[0])
            return [v for _, v in parts]
        return [number(v) for v in s[1]]

    def flat(x: Any) -> Iterator[int]:
        if isinstance(x, int):
            yield x
        else:
            for y in x:
                yield from flat(y)

    return list(flat(number(structure)))


def _spec_of(x: Any) -> InputSpec:
    return x if isinstance(x, InputSpec) else InputSpec(x.shape, x.dtype, None, x.stop_gradient)


def input_names(function: Callable[..., Any], args: Sequence[Any], specs: Sequence[InputSpec]) -> list[str]:
    """Names of the inputs: of the InputSpecs, else of the parameters that they stand for, each once."""
    if isinstance(function, StaticFunction):
        function = function.dygraph_function  # bound, as it is called
    try:
        parameters = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    found: list[str] = []
    for i, a in enumerate(args):
        inside: list[Any] = []
        taken_out(a, inside, lambda x: isinstance(x, InputSpec))
        base = parameters[i] if i < len(parameters) else f"input_{i}"
        found += [base if len(inside) == 1 and inside[0] is a else f"{base}_{k}" for k in range(len(inside))]
    names: list[str] = []
    for base, spec in zip(found, specs):
        name, k = spec.name or base, 1
        while name in names:
            name, k = f"{spec.name or base}_{k}", k + 1
        names.append(name)
    return names


def _small(method: Method) -> list[TensorType]:
    """Types of the feeds at small sizes that the program takes."""
    program = method.program
    for n in (2, 4, 8, 16, 32):
        sizes = tuple(range(n, n + program.count)) if n < 16 else (n,) * program.count
        with contextlib.suppress(ValueError):
            program.graph(sizes)
            break
    else:
        sizes = method.sizes
    types = program.types(sizes)
    return [types[i] for i in method.feeds]


@contextlib.contextmanager
def grad_on() -> Iterator[None]:
    """Programs are captured as they are with gradients: no_grad inside them is kept, no_grad around them is not."""
    trace = local.trace
    grad = trace.grad
    trace.set_grad(True)
    try:
        yield
    finally:
        trace.set_grad(grad)


@contextlib.contextmanager
def evaluating(layer: Layer | None) -> Iterator[None]:
    """The Layer as for inference: dropout off, batch norm by its statistics."""
    layers = [] if layer is None else list(layer.sublayers(include_self=True))
    modes = [m.training for m in layers]
    try:
        for m in layers:
            m.training = False
        yield
    finally:
        for m, mode in zip(layers, modes):
            m.training = mode


def plain(function: Any) -> Callable[..., Any]:
    """What is captured of a function: control flow on Tensors as operations."""
    if isinstance(function, StaticFunction):
        return function.converted()
    return StaticFunction(function, None, True).converted()
