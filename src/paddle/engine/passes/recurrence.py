"""Prepares recurrences: results that nobody reads go, and what is equal in all steps is made before the first."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.body import Body
from ..ir.graph import Graph, Node, Value
from ..ops.linalg import MatMul
from ..ops.number import Constant
from ..ops.recurrence import Recurrence
from ..ops.registry import apply_to_values
from ..ops.shape import Reshape, slice_axis, transpose


def prepare(graph: Graph, each: Callable[[Graph], Graph], numbers_inside: bool) -> Graph:
    """The graph with its recurrences in a form that is quick to run.

    Args:
        each: applied to the graph of a step.
        numbers_inside: numbers stay in the step, and its kernels depend on them; else they become arguments.
    """
    if not any(isinstance(n.op, Recurrence) for n in graph.nodes):
        return graph
    users = graph.users()
    outputs = set(graph.outputs)

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if not isinstance(node.op, Recurrence):
            return None
        used = [v in users or v in outputs for v in node.outputs]
        before = len(new.nodes)
        out = rewritten(new, node, inputs, used, each, numbers_inside)
        for made in new.nodes[before:]:
            made.line = node.line
        return out

    return graph.rebuild(visit)


def rewritten(
    new: Graph, node: Node, inputs: tuple[Value, ...], used: list[bool], each: Callable[[Graph], Graph], numbers: bool
) -> tuple[Value, ...]:
    op = node.op
    n, m = op.constants, op.carries
    step = prepare(each(op.graph([v.type for v in inputs])), each, numbers)
    states, results = step.outputs[:m], step.outputs[m:]
    # a last state that is also the last result of a sequence is read from there
    last = {j: results.index(v) for j, v in enumerate(states) if used[j] and v in results}
    steps = inputs[n + m].shape[0]
    if not steps:
        last = {}
    wanted = [i for i in range(len(results)) if used[m + i] or i in last.values()]
    first_of = {v: i for i, v in reversed([(i, results[i]) for i in wanted])}
    kept = [i for i in wanted if first_of[results[i]] == i]
    arguments = list(inputs[:n])
    body = hoisted(step, [*states, *(results[i] for i in kept)], n, arguments, new, numbers)
    made = Recurrence(Body(body), len(arguments), m, op.reverse)
    found = new.add(made, [*arguments, *inputs[n:]])
    sequence = {results[i]: v for i, v in zip(kept, found[m:])}
    out = list(found[:m]) + [sequence.get(v, found[0]) for v in results]  # what nobody reads is never looked at
    for j, i in last.items():
        whole = sequence[results[i]]
        at = 0 if op.reverse else steps - 1
        out[j] = apply_to_values(Reshape(whole.shape[1:]), (slice_axis(whole, 0, at, at + 1),))
    return tuple(out)


def hoisted(
    step: Graph, outputs: list[Value], constants: int, arguments: list[Value], outside: Graph, numbers: bool
) -> Graph:
    """The graph of a step, with what does not change from step to step among its constants; see `arguments` grow."""
    new = Graph(step.name)
    fixed: dict[Value, Value] = dict(zip(step.inputs[:constants], arguments))  # where it is made outside
    extra: list[tuple[Value, Value]] = []
    swapped: dict[Value, Value] = {}
    env: dict[Value, Value] = {}
    head = [new.input(v.type) for v in step.inputs[:constants]]
    tail = [new.input(v.type) for v in step.inputs[constants:]]
    env.update(zip(step.inputs, head + tail))

    def bring(v: Value) -> Value:
        """A value made outside, as a constant of the step."""
        for inner, outer in extra:
            if outer is v:
                return inner
        extra.append((Value(new, v.type, None, 0), v))
        return extra[-1][0]

    def read(v: Value) -> Value:
        if v not in env:
            env[v] = bring(fixed[v])
        return env[v]

    for node in step.nodes:
        number = isinstance(node.op, Constant)
        if all(v in fixed for v in node.inputs) and not node.op.effect and not (number and numbers):
            if node.inputs or number:
                types = tuple(v.type for v in node.outputs)
                fixed.update(zip(node.outputs, outside.add(node.op, [fixed[v] for v in node.inputs], None, types)))
                continue
        op, ins = node.op, list(node.inputs)
        if isinstance(op, MatMul) and op.transpose_y and ins[1] in fixed and ins[1].ndim == 2:
            # a weight that all steps read is turned once, so that its rows lie as the product reads them
            if ins[1] not in swapped:
                swapped[ins[1]] = bring(transpose(fixed[ins[1]], (1, 0)))
            made = new.add(MatMul(op.transpose_x, False), [read(ins[0]), swapped[ins[1]]])
        else:
            made = new.add(op, [read(v) for v in ins], None, tuple(v.type for v in node.outputs))
        env.update(zip(node.outputs, made))
    new.outputs = [read(v) for v in outputs]
    new.drop_unused()
    used = {v for n in new.nodes for v in n.inputs} | set(new.outputs)
    kept = [(v, a) for v, a in [*zip(head, arguments), *extra] if v in used]
    arguments[:] = [a for _, a in kept]
    new.inputs = [v for v, _ in kept] + tail
    for i, v in enumerate(new.inputs):
        v.index = i
    return new
