"""`capture` and `graph`: what a function, or a Tensor, has recorded, as text and pictures."""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..engine import errors
from ..engine.cpu import stages as cpu
from ..engine.eager import materialize, tape
from ..engine.eager import trace as tracing
from ..engine.ir import drawing
from ..engine.ir.graph import Graph, Value
from ..engine.ops.number import Constant, Number
from ..tensor.tensor import Tensor
from ..utils.layers_utils import flatten

__all__ = ["Recorded", "Recording", "capture", "graph"]

# Stage: what the step before it did.
STAGES = {
    "recorded": "What your program asked for: one box for each operation, in the order in which it was called.",
    "written out": "Operations that consist of others are written out.",
    "simplified": "Constants are computed, equal results made once, and what changes nothing or is not used is gone.",
    "laid out": "Weights that their kernels want in another order in memory are copied.",
    "kernels": "Operations are computed inside one another: a box is one kernel, which reads and writes memory once.",
    "memory": "Where every value lies that is written to memory, and from which kernel to which.",
}


class Recording:
    """One recorded program: what ran at one flush.

    Attributes:
        graph: the recorded graph; `print(recording.graph)` shows it.
        outputs (list[str]): what the results are, as far as known: names of parameters, "returned", "saved for
            backward".
    """

    def __init__(self, graph: Graph, donated: tuple[bool, ...], outputs: Sequence[str] = (), title: str = ""):
        self.graph, self.donated, self.outputs, self.title = graph, donated, list(outputs), title or graph.name

    @functools.cached_property
    def stages(self) -> cpu.Stages:
        """The graph after each pass, the kernels, and the memory plan, as the compiled tier has them."""
        return cpu.Stages(self.graph, self.donated)

    def stage_graph(self, stage: str) -> Graph:
        """The graph at one of the first four stages."""
        if stage == "recorded":
            return self.graph
        made = self.stages
        return {"written out": made.written_out, "simplified": made.simplified, "laid out": made.compiled}[stage]

    def text(self, stage: str = "recorded") -> str:
        """A stage as text: a graph, a line for each kernel, or a line for each place in memory."""
        check_stage(stage)
        if stage == "kernels":
            return cpu.kernels_text(self.stages)
        return cpu.memory_text(self.stages) if stage == "memory" else str(self.stage_graph(stage))

    def drawn(self, stage: str, limit: int | None, alone: bool) -> str:
        """A stage as SVG. alone: as a file of its own."""
        check_stage(stage)
        title = f"{self.title}: {stage}"
        if stage == "memory":
            return cpu.memory_svg(self.stages, title, alone)
        if stage == "kernels":
            return drawing.svg(cpu.kernels_picture(self.stages, title, self.outputs, limit), alone)
        found = self.stage_graph(stage)
        kinds = cpu.kinds(found)
        return drawing.svg(drawing.picture(found, title, kinds.__getitem__, self.outputs, limit), alone)

    def __str__(self) -> str:
        return self.text()


def check_stage(stage: str) -> None:
    if stage not in STAGES:
        raise errors.invalid_argument(
            "debug: there is no such stage.", expected=f"one of {', '.join(map(repr, STAGES))}", received=repr(stage)
        )


class Recorded:
    """What `capture` and `graph` found: one program, or several where values were read in between.

    Attributes:
        programs (list[Recording]): in the order in which they ran.
        result: what the captured function returned.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> g = paddle.debug.graph(paddle.tanh(x) * 2)
        >>> print(g.text("kernels"))
        0: loop tanh, multiply: float32[1, 2] -> float32[1, 2]  # ...
    """

    def __init__(self, programs: list[Recording], result: Any = None):
        self.programs, self.result = programs, result

    def text(self, stage: str = "recorded") -> str:
        """A stage as text.

        Args:
            stage (str): "recorded", "written out", "simplified", "laid out", "kernels" or "memory". Default:
                "recorded".

        Returns:
            str: that of all programs, one below the other.
        """
        return "\n\n".join(p.text(stage) for p in self.programs)

    def svg(self, path: str | os.PathLike[str] | None = None, stage: str = "recorded", limit: int | None = 120) -> str:
        """A stage as a picture.

        Args:
            path (str, optional): the file to write. With several programs, of the one with the most operations.
            stage (str): as for `text`. Default: "recorded".
            limit (int, optional): boxes for operations; more are folded by your lines. None draws each. Default: 120.

        Returns:
            str: the SVG.
        """
        main = max(self.programs, key=lambda p: len(p.graph.nodes))
        return written(main.drawn(stage, limit, True), path)

    def html(self, path: str | os.PathLike[str] | None = None, limit: int | None = 120) -> str:
        """A page that shows every program before and after each pass, with your lines. It needs no other file.

        Args:
            path (str, optional): the file to write.
            limit (int, optional): as for `svg`. Default: 120.

        Returns:
            str: the page.
        """
        from .page import page

        return written(page(self.programs, limit), path)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return self.svg()


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


def capture(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Recorded:
    """Calls a function and shows what it recorded: the programs that ran for it.

    The function runs as always, with all its effects. The first call of a training step also makes the optimizer's
    states: call it once or twice before to see what every further step does.

    Args:
        fn (callable): a layer, or any function of Tensors. What it computes and nobody holds afterwards is not part
            of the picture, as it is not computed.
        *args, **kwargs: its arguments.

    Returns:
        Recorded: `print` it, `.svg(path)`, `.html(path)`; `.result` is what fn returned.

    Raises:
        RuntimeError: nothing was recorded.

    Examples:
        >>> fc = paddle.nn.Linear(4, 2)
        >>> print(paddle.debug.capture(fc, paddle.ones([3, 4])))
        graph eager(%input: float32[3, 4], %linear_...w_0: float32[4, 2], %linear_...b_0: float32[2]) {
          ...
        }
    """
    trace = tracing.current()
    trace.flush()
    known = argument_names(fn, args, kwargs)
    seen = _Watcher(trace, known, materialize.watcher)
    materialize.watcher = seen
    try:
        result = fn(*args, **kwargs)
        trace.flush()
    finally:
        materialize.watcher = seen.before
    programs = seen.programs
    if not programs:
        raise errors.precondition(
            "debug.capture: nothing was recorded.",
            received=f"{name_of(fn)} computed no value that is still held",
            hint="let the function return what it computes.",
        )
    returned = {id(t) for t in flatten(result) if isinstance(t, Tensor)}
    for i, (program, held) in enumerate(zip(programs, seen.held)):
        program.outputs = output_names([(ref(), saved) for ref, saved in held], returned)
        program.title = name_of(fn) if len(programs) == 1 else f"{name_of(fn)}, program {i + 1} of {len(programs)}"
    return Recorded(programs, result)


class _Watcher:
    """Sees the flushes of one thread.

    Attributes:
        programs: what ran. held: per program and result, a weak reference to its Tensor, and whether it is saved for
            a backward.
        before: who else watches.
    """

    def __init__(self, trace: tracing.Trace, known: dict[int, str], before: Any):
        self.trace, self.known, self.before = trace, known, before
        self.programs: list[Recording] = []
        self.held: list[list[Any]] = []

    def begin(self) -> Any:
        return self.before.begin() if self.before is not None else None

    def made(self, program: Any) -> None:
        if self.before is not None:
            self.before.made(program)

    def end(self, began: Any) -> None:
        if self.before is not None:
            self.before.end(began)

    def run(self, program: Any, arrays: list[Any]) -> list[Any]:
        if tracing.current() is self.trace:
            node, (slots, donated) = program.home
            values = self.trace.values
            graph, leaves = materialize.graph_of(materialize.path_to(node), slots)
            now = renewed(self.trace)
            label_inputs(graph, [values.get(now.get(s, s), values[s]) for s in leaves], self.known)
            self.programs.append(Recording(graph, tuple(s in donated for s in leaves)))
            saved = {t.slot for t in self.trace.shadows}
            self.held.append([(weakref.ref(values[s]) if s in values else lambda: None, s in saved) for s in slots])
        return program.run(arrays) if self.before is None else self.before.run(program, arrays)


def name_of(fn: Any) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__


def argument_names(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, str]:
    """Names of Tensors among the arguments, by id."""
    try:
        bound = inspect.signature(getattr(fn, "forward", fn)).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a callable without signature; it says itself what it misses
        bound = dict(enumerate(args)) | kwargs  # type: ignore[arg-type]
    names: dict[int, str] = {}
    for name, value in bound.items():
        if isinstance(value, Tensor):
            names[id(value)] = str(name)
        elif isinstance(value, (tuple, list)):
            names.update((id(t), f"{name}[{i}]") for i, t in enumerate(value) if isinstance(t, Tensor))
    return names


def renewed(trace: tracing.Trace) -> dict[int, int]:
    """By the slot that a Tensor had before it was changed in place, the one that it has now."""
    found: dict[int, int] = {}
    for change in trace.changes:
        if isinstance(change, tracing.TrieNode):  # a step of an optimizer
            found.update(zip(change.refs, change.outs[1]))
        elif isinstance(change[1], int):
            found[change[1]] = change[0]
    return found


def label_inputs(graph: Graph, tensors: list[Any], known: dict[int, str]) -> None:
    seen: set[str] = set()
    for v, t in zip(graph.inputs, tensors):
        name = t.__dict__.get("_name") or known.get(id(t), "")
        v.name = name if name not in seen else ""
        seen.add(name)


def output_names(results: list[tuple[Any, bool]], returned: set[int]) -> list[str]:
    grads = {id(t.leaf.grad): t for t, _ in results if t is not None and t.leaf is not None}
    names = []
    for t, saved in results:
        if t is None:
            names.append("saved for backward" if saved else "")
        elif id(t) in returned:
            names.append("returned")
        elif id(t) in grads:
            names.append(f"{grads[id(t)].__dict__.get('_name', 'leaf')}.grad")
        else:
            names.append(t.__dict__.get("_name", ""))
    return names


def graph(*tensors: Tensor) -> Recorded:
    """The operations behind Tensors, as far as they are recorded: nothing runs.

    Args:
        *tensors (Tensor): values that have not been computed yet (they are when they are read, or at the end of a
            training step); or computed ones whose gradient record still exists, whose graph is then that of the record.

    Returns:
        Recorded: one program; `print` it, `.svg(path)`, `.html(path)`.

    Raises:
        RuntimeError: a Tensor has its value, and no record of how it was made.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> print(paddle.debug.graph(x.exp().sum()))
        graph eager(%0: float32[1, 2]) {
          %1 = exp(%0) : float32[1, 2]  # ...
          %2 = sum(%1, axes=(0, 1), keepdim=False) : float32[]  # ...
          return %2
        }
    """
    if not tensors:
        raise errors.invalid_argument("debug.graph: no Tensor is given.", expected="one Tensor or more")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise errors.invalid_type(
                f"debug.graph: argument {i} is not a Tensor.",
                expected="Tensors",
                received=type(t).__name__,
                hint="debug.capture(fn, *args) shows what a function records.",
            )
    traces = {t.epoch: tracing.trace_of(t) for t in tensors}
    trace = next(iter(traces.values()))
    if len(traces) == 1 and trace is not None and all(t.buffer is None for t in tensors):
        with trace.lock:
            node = trace.flush_next or trace.node
            found, leaves = materialize.graph_of(materialize.path_to(node), tuple(t.slot for t in tensors))
            label_inputs(found, [trace.values[s] for s in leaves], {})
    else:
        for i, t in enumerate(tensors):
            if not isinstance(tape.edge_of(t), tuple):
                raise errors.precondition(
                    f"debug.graph: argument {i} has its value, and no record of how it was made.",
                    expected="a Tensor that is not computed yet, or one with gradients",
                    received=f"{t.type}, a leaf or with stop_gradient True",
                    hint="debug.capture(fn, *args) shows what a function records.",
                )
        found = graph_of_record([tape.edge_of(t) for t in tensors])
    names = ["" if "_name" not in t.__dict__ else t.name for t in tensors]
    return Recorded([Recording(found, (False,) * len(found.inputs), names, "graph")])


def graph_of_record(edges: Sequence[Any]) -> Graph:
    """The graph of the operations that gradients pass through."""
    made = Graph("record")
    env: dict[Any, Value] = {}
    nodes: dict[Any, None] = {}
    todo = [e[0] for e in edges]
    while todo:
        node = todo.pop()
        if node not in nodes:
            nodes[node] = None
            todo += [e[0] for e in node.edges if isinstance(e, tuple)]
    for node in sorted(nodes, key=lambda n: n.order):
        if node.freed or node.op is None:  # a graph that a backward has freed ends here; so does a function in Python
            name = "freed" if node.freed else node.cls.__name__
            for i, type_ in enumerate(node.types):
                env[(node, i)] = made.input(type_, name)
            continue
        args = []
        for a, e in zip(node.args, node.edges):
            if isinstance(a, Number):
                args.append(made.add(Constant(a.value, a.dtype), ())[0])
            elif isinstance(e, tuple):
                args.append(env[e])
            else:
                array = getattr(a, "buffer", None)
                key: Any = e if e is not None else id(a if array is None else array)
                if key not in env:
                    leaf = e.tensor() if e is not None and e.tensor is not None else None
                    env[key] = made.input(a.type, "" if leaf is None else leaf.__dict__.get("_name", ""))
                args.append(env[key])
        for i, v in enumerate(made.add(node.op, args, node.line, node.types)):
            env[(node, i)] = v
    made.outputs = [env[e] for e in edges]
    return made
