"""What follows from constant inputs alone: it is computed once, before the program, and kept with it.

Which inputs are constant is found by looking on (see executor.py): weights at inference. Steps that read nothing else
come first; their results lie in memory of their own, and only when an input has changed they run again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Graph, Node, Value
from ..ops.creation import Full
from ..ops.elementwise import Detach
from ..ops.number import Constant
from ..ops.shape import BroadcastTo, Reshape, Transpose
from .plan import may_fail
from .steps import AliasStep, LoopStep, ProductStep, Step

LEAST_BYTES = 65536  # results up to this are kept, however small what they are made of

FREE = (Transpose, BroadcastTo, Reshape, Detach)  # no work: they only say where elements lie


def fixed_values(graph: Graph, constant: Sequence[bool]) -> set[Value]:
    """Values that follow from constant inputs and take at most four times their memory."""
    made_of: dict[Value, int] = {v: 1 << i for i, (v, c) in enumerate(zip(graph.inputs, constant)) if c}
    if not made_of:
        return set()
    numbers: set[Value] = set()
    for node in graph.nodes:
        if isinstance(node.op, (Constant, Full)) or (node.inputs and all(v in numbers for v in node.inputs)):
            numbers.update(node.outputs)
            continue
        bits = 0
        for v in node.inputs:
            if v not in made_of and v not in numbers:
                break
            bits |= made_of.get(v, 0)
        else:
            sources = sum(v.type.nbytes for i, v in enumerate(graph.inputs) if bits >> i & 1)
            most = max(LEAST_BYTES, 4 * sources)
            if bits and not node.op.effect and sum(v.type.nbytes for v in node.outputs) <= most:
                made_of.update((v, bits) for v in node.outputs)
    return set(made_of)


def has_fixed_work(graph: Graph, constant: Sequence[bool]) -> bool:
    """Whether constant inputs leave less to do in a run."""
    fixed = fixed_values(graph, constant)
    return any(n.outputs[0] in fixed and not isinstance(n.op, FREE) for n in graph.nodes)


def escapes(v: Value, fixed: set[Value] | frozenset[Value], users: dict[Value, list[Node]]) -> bool:
    """Whether something that is not fixed reads v, be it in another order or shape."""
    for user in users.get(v, ()):
        out = user.outputs[0]
        if out not in fixed or (isinstance(user.op, FREE) and escapes(out, fixed, users)):
            return True
    return False


def first_the_fixed(graph: Graph, steps: list[Step], fixed: set[Value]) -> tuple[list[Step], int]:
    """The steps with those that follow from constant inputs in front, and how many these are."""
    ready = {v for v in graph.inputs if v in fixed}
    own = set(graph.values())
    root: dict[Value, Value] = {}
    for s in steps:
        if isinstance(s, AliasStep):
            root[s.outputs[0]] = root.get(s.inputs[0], s.inputs[0])
    results = {root.get(v, v) for v in graph.outputs}
    early: list[Step] = []
    late: list[Step] = []
    for s in steps:
        movable = (
            isinstance(s, (AliasStep, LoopStep, ProductStep))
            and s.inputs
            and all(v in ready for v in s.inputs)
            and all(v in fixed or v not in own for v in s.outputs)  # parts of a sum are not of the graph
            and not any(v in results for v in s.outputs)
            and not may_fail(s)
        )
        (early if movable else late).append(s)
        if movable:
            ready.update(s.outputs)
    if all(isinstance(s, AliasStep) for s in early):
        return steps, 0
    return early + late, len(early)
