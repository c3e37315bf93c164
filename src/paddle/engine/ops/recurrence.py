"""A graph run step after step: what recurrent networks are made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import invalid_argument
from ..ir.body import Body
from ..ir.graph import Graph, Node, Value
from ..types import DType, TensorType, dtype_of, float32
from .creation import Full
from .elementwise import add
from .join import concat
from .linalg import MatMul, matmul
from .registry import Operator, absent, applying, expand, operator, registry, run_numpy
from .shape import reshape, slice_axis, transpose

_MATMUL = MatMul.name


@operator
class Recurrence(Operator):
    """Runs `body` once per element of the first axis of its sequences, and carries states from step to step.

    Arguments: `constants` tensors that every step gets whole; `carries` states to begin with; then sequences [T, ...].
    Results: the last states; then per step result of the body, a sequence [T, ...].
    The body maps (constants, states, elements) to (states, results). With `reverse` time runs from T - 1 to 0.

    A gradient needs every state among the results of a step; `recurrence` adds them.
    """

    body: Body
    constants: int = 0
    carries: int = 0
    reverse: bool = False

    loops = absent("a program of its own: the CPU compiler runs the body's kernels step after step")
    spmd = absent("the body decides: arguments are gathered")

    def infer(self, *args: TensorType) -> Any:
        first = self.constants + self.carries
        if len(args) <= first:
            raise invalid_argument(
                "recurrence: no sequence to go along.", expected=f"more than {first} arguments", received=f"{len(args)}"
            )
        sequences = args[first:]
        if any(not s.shape or s.shape[0] != sequences[0].shape[0] for s in sequences):
            raise invalid_argument(
                "recurrence: the sequences differ in length.", expected="equal sizes of axis 0",
                received=", ".join(map(str, sequences)),
            )  # fmt: skip
        graph = self.graph(args)
        outs = [v.type for v in graph.outputs]
        states = tuple(outs[: self.carries])
        if states != args[self.constants : first]:
            raise invalid_argument(
                "recurrence: a step changes the type of a state.",
                expected=", ".join(map(str, args[self.constants : first])), received=", ".join(map(str, states)),
            )  # fmt: skip
        steps = sequences[0].shape[0]
        return (*states, *(TensorType((steps, *t.shape), t.dtype) for t in outs[self.carries :]))

    def graph(self, args: Sequence[TensorType]) -> Graph:
        """The body for arguments of these types."""
        first = self.constants + self.carries
        each = (TensorType(t.shape[1:], t.dtype) for t in args[first:])
        return self.body.graph((*args[:first], *each), registry)

    def numpy(self, *arrays):
        first = self.constants + self.carries
        graph = self.graph([TensorType(a.shape, dtype_of(a.dtype)) for a in arrays])
        states, sequences = list(arrays[self.constants : first]), arrays[first:]
        steps = len(sequences[0])
        results = [np.zeros((steps, *v.shape), v.dtype.np) for v in graph.outputs[self.carries :]]
        for t in reversed(range(steps)) if self.reverse else range(steps):
            env = dict(zip(graph.inputs, (*arrays[: self.constants], *states, *(s[t] for s in sequences))))
            for node in graph.nodes:
                env.update(zip(node.outputs, run_numpy(node.op, *(env[v] for v in node.inputs))))
            found = [env[v] for v in graph.outputs]
            states = found[: self.carries]
            for sequence, value in zip(results, found[self.carries :]):
                sequence[t] = value
        return (*(np.array(s) for s in states), *results)

    def vjp(self, g, out, *args):
        gs, outs = (g, out) if type(g) is tuple else ((g,), (out,))
        n, m = self.constants, self.carries
        given = tuple(x is not None for x in gs[m:])
        back = reversed_body(self, tuple(a.type for a in args), given)
        zeros = [Full(t.shape, 0.0, t.dtype)() for t in back.sums]
        states = [_or_zeros(gs[j], args[n + j].type) for j in back.states]
        sources = {
            "before": lambda j: self.before(args[n + j], outs[m + back.kept[j]]),
            "given": lambda j: args[n + m + j], "made": lambda i: outs[m + i], "grad": lambda i: gs[m + i],
        }  # fmt: skip
        sequences = [sources[kind](i) for kind, i in back.sequences]
        found: Any = ()
        if back.op is not None:
            found = back.op(*(args[i] for i in back.constants), *states, *zeros, *sequences)
            found = found if isinstance(found, tuple) else (found,)
        count = len(states) + len(zeros)
        at = lambda ref: sequences[ref[1]] if ref[0] == "in" else found[count + ref[1]]
        grads: list[Any] = [None] * len(args)
        for i, ref in back.elements.items():
            grads[n + m + i] = at(ref)
        for j, state in zip(back.states, found):
            grads[n + j] = state
        for c, tx, ty, p, q in back.products:
            grads[c] = _sum(grads[c], _over_time(tx, ty, at(p), at(q)))
        for c, total in zip(back.summed, found[len(states) :]):
            grads[c] = _sum(grads[c], total)
        return tuple(grads)

    def before(self, start, states):
        """The sequence of states that the steps began with."""
        steps = states.shape[0]
        if not steps:
            return states
        start = reshape(start, (1, *start.shape))
        if self.reverse:
            return concat([slice_axis(states, 0, 1, steps), start], 0)
        return concat([start, slice_axis(states, 0, 0, steps - 1)], 0)

    def xla(self, jnp, *args):
        first = self.constants + self.carries
        graph = self.graph([TensorType(tuple(a.shape), dtype_of(a.dtype)) for a in args])

        def step(states, elements):
            env = dict(zip(graph.inputs, (*args[: self.constants], *states, *elements)))
            for node in graph.nodes:
                out = node.op.xla(jnp, *(env[v] for v in node.inputs))
                env.update(zip(node.outputs, out if isinstance(out, tuple) else (out,)))
            found = tuple(env[v] for v in graph.outputs)
            return found[: self.carries], found[self.carries :]

        states, results = jnp.lax.scan(step, args[self.constants : first], args[first:], reverse=self.reverse)
        return (*states, *results)

    @classmethod
    def samples(cls, rng):
        def draw(*shape):
            return (0.5 * rng.normal(size=shape)).astype("float32")

        def decay(constants, states, elements):
            (w,), (s,), (x,) = constants, states, elements
            new = s * w + x
            return [new], [new * x]

        def pair(constants, states, elements):
            (w, b), (h, c), (x,) = constants, states, elements
            new = matmul(h, w, False, True) + x + b
            return [new * c, c + new], [new]

        small = typed((3,), (3,), (3,))
        for reverse in (False, True):
            yield build(decay, small[:1], small[1:2], small[2:], reverse), (draw(3), draw(3), draw(4, 3))
        for steps in (1, 5):
            types = typed((2, 2), (2,), (3, 2), (3, 2), (3, 2))
            op = build(pair, types[:2], types[2:4], types[4:], False)
            yield op, (draw(2, 2), draw(2), draw(3, 2), draw(3, 2), draw(steps, 3, 2))


def typed(*shapes: tuple[int, ...], dtype: DType = float32) -> list[TensorType]:
    """Types of one element type."""
    return [TensorType(s, dtype) for s in shapes]


Step = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]


def build(
    step: Step,
    constants: Sequence[TensorType],
    states: Sequence[TensorType],
    elements: Sequence[TensorType],
    reverse: bool,
) -> Recurrence:
    """The operator that runs `step`, written with operators, along sequences.

    Args:
        step: (constants, states, elements) -> (new states, results), each a list.
        constants, states, elements: types; those of elements are without the axis of time.
        reverse: from the end to the beginning.

    Returns:
        Recurrence: its results are the last states, those of `step`, and further ones that gradients read.
    """
    graph = Graph("step")
    values = [graph.input(t) for t in (*constants, *states, *elements)]
    n, m = len(constants), len(states)
    with writing(graph):
        after, results = step(values[:n], values[n : n + m], values[n + m :])
    graph.outputs = [*after, *results]
    return finish(graph, n, m, reverse)


def finish(graph: Graph, constants: int, carries: int, reverse: bool) -> Recurrence:
    """The operator of a body, with what gradients read added to its results: states, and what is costly to redo."""

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        return expand(node.op, *inputs) if node.op.compose and not node.op.vjp else None

    while any(n.op.compose and not n.op.vjp for n in graph.nodes):
        graph = graph.rebuild(visit)
    graph.drop_unused()
    results = graph.outputs[carries:]
    costly = (v for n in graph.nodes if n.op.name == _MATMUL or not n.op.loops for v in n.outputs)
    kept = [v for v in dict.fromkeys([*graph.outputs[:carries], *costly]) if v not in results]
    graph.outputs += kept
    return Recurrence(Body(graph), constants, carries, reverse)


def writing(graph: Graph) -> Any:
    """Within the block, operators without arguments are appended to `graph`."""
    return applying(lambda op: graph.add(op, ())[0])


def _or_zeros(g: Any, t: TensorType) -> Any:
    return Full(t.shape, 0.0, t.dtype)() if g is None else g


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else add(a, b)


def _over_time(transpose_x: bool, transpose_y: bool, x: Any, y: Any) -> Any:
    """The sum over time of the products of sequences of matrices, as one product."""
    if not transpose_x:
        x = transpose(x, (0, 2, 1))
    if transpose_y:
        y = transpose(y, (0, 2, 1))
    x, y = (reshape(a, (a.shape[0] * a.shape[1], a.shape[2])) for a in (x, y))
    return matmul(x, y, True, False)


class Reversed:
    """How gradients pass through a recurrence.

    Attributes:
        op: the recurrence that makes them, against the order of time; None if they are sequences that there are.
        constants: which arguments it gets as constants.
        states: which states have gradients; the first states of `op` are theirs.
        sums, summed: types of the further states of `op`: sums over time, for these arguments.
        sequences: what `op` goes along: ("before", state), ("given", sequence), ("made", result), ("grad", result).
        kept: which result is the sequence of each state.
        elements: where the gradient of each sequence is: ("in", sequence of op) or ("out", result of op).
        products: (argument, transpose_x, transpose_y, x, y): its gradient is the sum over time of the products x y.
    """

    def __init__(self) -> None:
        self.op: Any = None
        self.constants: list[int] = []
        self.states: list[int] = []
        self.sums: list[TensorType] = []
        self.summed: list[int] = []
        self.sequences: list[tuple[str, int]] = []
        self.kept: list[int] = []
        self.elements: dict[int, tuple[str, int]] = {}
        self.products: list[tuple[int, bool, bool, tuple[str, int], tuple[str, int]]] = []


@functools.lru_cache(maxsize=1024)
def reversed_body(op: Recurrence, types: tuple[TensorType, ...], given: tuple[bool, ...]) -> Reversed:
    """The gradient of `op` for arguments of `types` where these results have gradients."""
    forward = op.graph(types)
    n, m = op.constants, op.carries
    constants, states, elements = forward.inputs[:n], forward.inputs[n : n + m], forward.inputs[n + m :]
    after, results = forward.outputs[:m], forward.outputs[m:]
    back, graph = Reversed(), Graph("step")
    roles: dict[Value, tuple[str, int]] = {}

    def take(role: tuple[str, int], t: TensorType) -> Value:
        v = graph.input(t)
        roles[v] = role
        return v

    env: dict[Value, Value] = {}
    for i, v in enumerate(constants):
        env[v] = take(("constant", i), v.type)
    for j, v in enumerate(states):
        env[v] = take(("before", j), v.type)
        assert after[j] in results, "a state is not among the results of a step"
    back.kept = [results.index(v) for v in after]
    for j, v in enumerate(elements):
        env[v] = take(("given", j), v.type)
    for i, v in enumerate(results):
        if v not in env:
            env[v] = take(("made", i), v.type)

    def value(v: Value) -> Value:
        if v not in env:
            assert v.node is not None
            env.update(zip(v.node.outputs, graph.add(v.node.op, [value(x) for x in v.node.inputs])))
        return env[v]

    grads: dict[Value, Value] = {}
    parts: dict[Value, list[Value]] = {v: [] for v in constants}

    def send(v: Value, g: Any) -> None:
        if g is None or not v.dtype.is_differentiable:
            return
        if v in parts:
            parts[v].append(g)
        else:
            grads[v] = _sum(grads.get(v), g)

    back.states = [j for j, v in enumerate(states) if v.dtype.is_differentiable]
    with writing(graph):
        for j in back.states:
            send(after[j], take(("state", j), states[j].type))
        for i, v in enumerate(results):
            if given[i]:
                send(v, take(("grad", i), v.type))
        for node in reversed(forward.nodes):
            gs = tuple(grads.pop(v, None) for v in node.outputs)
            if not node.op.vjp or all(g is None for g in gs):
                continue
            outs, ins = tuple(map(value, node.outputs)), tuple(map(value, node.inputs))
            found = node.op.vjp(gs, outs, *ins) if len(gs) > 1 else node.op.vjp(gs[0], outs[0], *ins)
            for v, g in zip(node.inputs, found):
                send(v, g)
        outputs = [_or_zeros(grads.get(states[j]), states[j].type) for j in back.states]
        sums: list[Value] = []
        sequences: list[Value] = []
        for i, v in enumerate(constants):
            for g in parts[v]:
                made = g.node
                if made is not None and made.op.name == _MATMUL and all(x.ndim == 2 for x in made.inputs):
                    back.products.append((i, made.op.transpose_x, made.op.transpose_y, *made.inputs))
                    sequences += made.inputs
                else:
                    start = take(("sum", len(sums)), g.type)
                    sums.append(add(start, g))
                    back.sums.append(g.type)
                    back.summed.append(i)
    sequences += [grads[v] for v in elements if v in grads]
    along = ("before", "given", "made", "grad")
    emitted = list(dict.fromkeys(v for v in sequences if roles.get(v, ("",))[0] not in along))
    graph.outputs = [*outputs, *sums, *emitted]
    graph.drop_unused()
    read = {v for node in graph.nodes for v in node.inputs} | set(graph.outputs) | set(sequences)
    order = {"constant": 0, "state": 1, "sum": 2, **dict.fromkeys(along, 3)}
    graph.inputs = sorted(
        (v for v in graph.inputs if v in read or roles[v][0] == "state"), key=lambda v: order[roles[v][0]]
    )
    for i, v in enumerate(graph.inputs):
        v.index = i
    back.constants = [roles[v][1] for v in graph.inputs if roles[v][0] == "constant"]
    inputs = [v for v in graph.inputs if roles[v][0] in along]
    if not inputs:  # nothing of the steps is read: time still has a length
        inputs = [graph.input(elements[0].type)]
        roles[inputs[0]] = ("given", 0)
    back.sequences = [roles[v] for v in inputs]
    where = lambda v: ("in", inputs.index(v)) if v in inputs else ("out", emitted.index(v))
    back.elements = {i: where(grads[v]) for i, v in enumerate(elements) if v in grads}
    back.products = [(i, tx, ty, where(p), where(q)) for i, tx, ty, p, q in back.products]
    if graph.outputs:
        back.op = finish(graph, len(back.constants), len(outputs) + len(sums), not op.reverse)
    return back
