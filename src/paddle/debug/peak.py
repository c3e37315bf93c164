"""`peak_memory`: what the program that is recorded will hold while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine import errors
from ..engine.cpu.footprint import Footprint, footprint
from ..engine.cpu.stages import size_text
from ..engine.eager import materialize
from ..engine.eager import trace as tracing
from ..engine.ir.drawing import place_of
from ..tensor.tensor import Tensor

__all__ = ["PeakMemory", "peak_memory"]


@dataclass
class PeakMemory:
    """What `peak_memory` found. `print` shows it, with the values that fill the work area at its fullest.

    Attributes:
        compiled (Footprint): of the program compiled whole. first (Footprint): run operator by operator, as on its
            first visits. Both have `peak`, `inputs`, `outputs`, `work`, `host` in bytes.
    """

    compiled: Footprint
    first: Footprint

    @property
    def nbytes(self) -> int:
        """The greatest of both."""
        return max(self.compiled.peak, self.first.peak)

    def text(self, most: int = 12) -> str:
        """The table.

        Args:
            most (int): kinds of values that are shown per tier. Default: 12.
        """
        return "\n".join(
            line
            for name, found in (("compiled", self.compiled), ("operator by operator", self.first))
            for line in told(name, found, most)
        )

    def __str__(self) -> str:
        return self.text()


def told(name: str, found: Footprint, most: int) -> list[str]:
    parts = [
        f"{size_text(found.inputs)} of inputs",
        f"{size_text(found.outputs)} of results that take new memory",
        f"a work area of {size_text(found.work)}",
        *([f"{size_text(found.host)} from steps on the host"] if found.host else []),
    ]
    lines = [f"{name}: {size_text(found.peak)} at most: {', '.join(parts)}"]
    groups: dict[Any, list[Any]] = {}
    for v in found.alive:
        groups.setdefault((v.node.op.name, v.type, v.node.line), []).append(v)
    if groups:
        lines.append(f"  the work area is fullest at kernel {found.fullest} of {found.launches}, when it holds")
    ordered = sorted(groups.items(), key=lambda g: -sum(v.type.nbytes for v in g[1]))
    for (operator, kind, line), values in ordered[:most]:
        count = f"{len(values):,} × " if len(values) > 1 else ""
        at = f"  # {place_of(line)}" if line else ""
        lines.append(f"{size_text(sum(v.type.nbytes for v in values)):>12}  {count}{operator} : {kind}{at}")
    if len(ordered) > most:
        rest = [v for _, values in ordered[most:] for v in values]
        lines.append(f"{size_text(sum(v.type.nbytes for v in rest)):>12}  in {len(rest):,} more")
    return lines


def peak_memory(*tensors: Tensor) -> PeakMemory:
    """The memory that the recorded program will hold while it runs. Nothing runs, and nothing is allocated.

    In a training step ask after `optimizer.step()`, when forward, backward and update are recorded. What is saved for
    a backward that has not been called yet is not counted, nor what is made of lasting weights once and kept.

    Args:
        *tensors (Tensor): values of this thread that have not been computed yet. Default: none, all that is recorded
            and still held, which is what a read would compute.

    Returns:
        PeakMemory: `print` it; `.compiled.peak` and `.first.peak` in bytes.

    Raises:
        TypeError: an argument is not a Tensor.
        RuntimeError: nothing is recorded, or a Tensor has its value.

    Examples:
        >>> x = paddle.ones([256, 256]).tanh()
        >>> y = paddle.matmul(x, x).exp().sum()
        >>> print(paddle.debug.peak_memory(y))  # doctest: +ELLIPSIS
        compiled: 512 KiB at most: ...
    """
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise errors.invalid_type(
                f"debug.peak_memory: argument {i} is not a Tensor.", expected="Tensors", received=type(t).__name__
            )
    trace = tracing.current()
    for i, t in enumerate(tensors):
        if t.buffer is not None or t.epoch != trace.epoch:
            raise errors.precondition(
                f"debug.peak_memory: argument {i} has its value, or is recorded by another thread.",
                expected="a Tensor that is not computed yet",
                received=str(t.type),
                hint="ask before the value is read.",
            )
    with trace.lock:
        graph, donated = _recorded(trace, tuple(t.slot for t in tensors))
    return PeakMemory(footprint(graph, donated), footprint(graph, donated, compiled=False))


def _recorded(trace: Any, wanted: tuple[int, ...]) -> tuple[Any, tuple[bool, ...]]:
    """The graph of slots, or of all that a flush would compute, and which inputs may be written over."""
    slots, spare = materialize.pending(trace)
    slots = wanted or slots
    if not slots:
        raise errors.precondition(
            "debug.peak_memory: nothing is recorded.",
            expected="operations that have not run yet",
            hint="ask before values are read; reading the loss runs the step.",
        )
    node = trace.flush_next or trace.node
    graph, leaves = materialize.graph_of(materialize.path_to(node), slots)
    return graph, tuple(s in spare for s in leaves)
