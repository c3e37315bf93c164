"""After a program has failed: what it would have made before the failure, and what stands as it was.

Values come late, and so do errors: when an index turns out to be out of range, the steps recorded after it, an
optimizer's among them, have rebound parameters to values that will never be. Had every operation run at once, they
would not have happened. So the recorded steps run again one by one up to the one that fails; Tensors changed in place
after it go back to what they were, and all others that do not depend on it get their values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..ir.graph import Graph
from ..ops.number import Constant, Number
from ..ops.registry import run_numpy
from ..types import TensorType, dtype_of
from .rows import RowTensor
from .trace import Tensor, Trace, TrieNode


def recover(trace: Trace, path: list[TrieNode], live: list[int], backend: Any) -> Exception | None:
    """Gives values to the Tensors of a trace whose program has failed, as far as there are any.

    Returns:
        What the meaning of the step that fails says of its arguments, more than a kernel can; None if it says nothing.

    Args:
        trace: before it starts anew.
        path: its steps.
        live: slots of the Tensors in use.
        backend: what runs a graph.
    """
    before = predecessors(trace)
    wanted = set(live)
    for slot in live:
        at = before.get(slot)
        while type(at) is int:
            wanted.add(at)
            at = before.get(at)
    env, failed, told = run_steps(trace, path, wanted, backend)
    for slot in live:
        t = trace.values.get(slot)
        if t is not None and t.buffer is None:
            restore(trace, t, slot, before, env, failed)
    for s in trace.shadows:
        if s.buffer is None:
            s.buffer = env.get(s.slot)
    for t in list(trace.values.values()):
        leaf = t.leaf
        if leaf is not None and leaf.grad is not None:
            g = leaf.grad
            numbers = g.row_numbers if isinstance(g, RowTensor) else g
            if g.epoch == trace.epoch and (g.buffer is None or numbers.buffer is None):
                leaf.grad = None  # that backward did not happen
    return told


def predecessors(trace: Trace) -> dict[int, Any]:
    """By slot of a Tensor changed in place: the slot of what it was before, or the Tensor that it was."""
    found: dict[int, Any] = {}
    for change in trace.changes:
        if type(change) is tuple:
            new, old = change
            found[new] = old
        else:
            found.update((new, old) for new, old in zip(change.outs[1], change.refs) if new != old)
    return found


def restore(
    trace: Trace, t: Tensor, slot: int, before: dict[int, Any], env: dict[int, np.ndarray], failed: float
) -> None:
    """The value of t when the failing step was reached, or the first that it had after it."""
    chain: list[Any] = [slot]
    while type(chain[-1]) is int and chain[-1] in before:
        chain.append(before[chain[-1]])
    at = next((a for a in chain if isinstance(a, Tensor) or a < failed), chain[-1])
    was = at if isinstance(at, Tensor) else trace.values.get(at)
    data = was.buffer if was is not None and was.buffer is not None else env.get(at) if type(at) is int else None
    if data is None:
        return
    t.buffer = data
    if was is not None and was is not t:
        t.type, t.sg, t.gnode, t.leaf = was.type, was.sg, was.gnode, was.leaf


def run_steps(
    trace: Trace, path: list[TrieNode], wanted: set[int], backend: Any
) -> tuple[dict[int, np.ndarray], float, Exception | None]:
    """Values by slot, the first slot of the step that fails, and why. What depends on it is left out."""
    needed = set(wanted)
    for step in reversed(path):
        if step.op is not None and (step.op.effect or any(step.slot + i in needed for i in range(len(step.types)))):
            needed.update(r for r in step.refs if type(r) is int)
    last: dict[int, int] = {}
    for i, step in enumerate(path):
        for r in step.refs if step.op is not None else ():
            if type(r) is int:
                last[r] = i
    env: dict[int, np.ndarray] = {}
    failed, told = float("inf"), None
    for i, step in enumerate(path):
        slots = range(step.slot, step.slot + len(step.types))
        if not any(s in needed for s in slots):
            continue
        if step.op is None:
            data = trace.values[step.slot].buffer
            if data is not None:
                env[step.slot] = data
            continue
        args = [r for r in step.refs if type(r) is int]
        if all(a in env for a in args):
            try:
                env.update(zip(slots, run_step(step, [env[a] for a in args], backend)))
            except Exception:
                if step.slot < failed:
                    failed, told = step.slot, explain(step, [env[a] for a in args])
        for a in args:
            if last[a] == i and a not in wanted:
                env.pop(a, None)
    return env, failed, told


def explain(step: TrieNode, arrays: list[np.ndarray]) -> Exception | None:
    """The error that the meaning of a step makes of its arguments."""
    assert step.op is not None
    given = iter(arrays)
    try:
        run_numpy(step.op, *(r.array() if isinstance(r, Number) else next(given) for r in step.refs))
    except IndexError as e:
        return errors.placed(step.op, step.line, e)
    except Exception:
        return None  # what the program raised stays
    return None


def run_step(step: TrieNode, arrays: list[np.ndarray], backend: Any) -> list[np.ndarray]:
    """The results of one operation."""
    graph = Graph("recovery")
    args = []
    given = iter(arrays)
    for r in step.refs:
        if isinstance(r, Number):
            args.append(graph.add(Constant(r.value, r.dtype), ())[0])
        else:
            a = next(given)
            args.append(graph.input(TensorType(a.shape, dtype_of(a.dtype))))
    assert step.op is not None
    graph.outputs = list(graph.add(step.op, args, step.line, step.types))
    return backend(graph, tuple(False for _ in arrays))(arrays)
