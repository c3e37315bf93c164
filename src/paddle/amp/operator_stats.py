"""Counting operators by the type they compute in: what `collect_operator_stats` of `amp.debugging` prints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..engine import types
from ..engine.eager import materialize
from ..engine.eager import trace as tracing
from ..engine.ops.registry import registry
from . import mode
from .amp_lists import BLACK, WHITE
from .mode import FUNCTIONS, Mode

__all__ = ["collect_operator_stats", "disable_operator_stats_collection", "enable_operator_stats_collection"]

_COLUMNS = {types.float16: 0, types.bfloat16: 1, types.float32: 2}

# Functions that Paddle counts as one operator, beside those that auto_cast takes for one.
_WHOLE = frozenset(
    """
    argsort batch_norm clip dropout expand flatten gather index_select instance_norm interpolate mean meshgrid pad
    roll scale split squeeze stack tile transpose tril triu unbind unsqueeze unstack where
    """.split()
)
# What it calls them.
_NAMES = {
    "add": "elementwise_add", "argmax": "arg_max", "argmin": "arg_min", "cross_entropy": "softmax_with_cross_entropy",
    "divide": "elementwise_div", "embedding": "lookup_table_v2", "expand": "expand_v2",
    "flatten": "flatten_contiguous_range", "floor_divide": "elementwise_floordiv", "full": "fill_constant",
    "hardsigmoid": "hard_sigmoid", "hardswish": "hard_swish", "matmul": "matmul_v2", "max": "reduce_max",
    "maximum": "elementwise_max", "mean": "reduce_mean", "min": "reduce_min", "minimum": "elementwise_min",
    "multiply": "elementwise_mul", "prod": "reduce_prod", "random_normal": "gaussian_random",
    "random_uniform": "uniform_random", "remainder": "elementwise_mod", "select": "where", "squeeze": "squeeze2",
    "standardize": "batch_norm", "subtract": "elementwise_sub", "sum": "reduce_sum", "topk": "top_k_v2",
    "transpose": "transpose2", "unsqueeze": "unsqueeze2",
    **{f"{kind}_pool{n}d": f"pool{n}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for n in (2, 3)},
}  # fmt: skip


def known_as(name: str) -> str:
    """The name under which Paddle counts an operator or function of this name."""
    return _NAMES.get(name, name)


class Observer:
    """Stands where a `Mode` does, in front of it, and marks in what is recorded which functions are one operator.

    Attributes:
        inner: the mode of `auto_cast`, or None.
    """

    __slots__ = ("inner",)

    def __init__(self, inner: Mode | None) -> None:
        self.inner = inner

    def arguments(self, op: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return None if self.inner is None else self.inner.arguments(op, args)

    def call(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = f.__name__
        whole = name in registry or name in WHITE or name in BLACK or name in FUNCTIONS or name in _WHOLE
        trace = tracing.current()
        if whole:
            trace.mark(("operator", name))
        try:
            if self.inner is None:
                return f(*args, **kwargs)
            trace.set_amp(self.inner)
            return self.inner.call(f, args, kwargs)
        finally:
            trace.set_amp(self)
            if whole:
                trace.mark(("operator", None))


class Counts:
    """Counts of operators by name and type, made from what a thread records.

    Attributes:
        found: by name, calls in float16, bfloat16, float32 and other types.
        trace: of the thread. before: who watched the engine before.
        forward: whether what is recorded is no gradient. inside: the function that is one operator, or None.
    """

    active: Counts | None = None

    def __init__(self) -> None:
        self.found: dict[str, list[int]] = {}
        self.trace = tracing.current()
        self.forward, self.inside, self.dtype = True, None, None

    def start(self) -> None:
        self.trace.flush()
        self.before, materialize.watcher = materialize.watcher, self
        self.trace.set_amp(Observer(self.trace.amp))
        Counts.active = self
        mode.observer = self.over

    def stop(self) -> None:
        try:
            self.trace.flush()
        finally:
            Counts.active = mode.observer = None
            materialize.watcher = self.before
            if isinstance(self.trace.amp, Observer):
                self.trace.set_amp(self.trace.amp.inner)

    def over(self, inner: Mode | None) -> Any:
        return Observer(inner) if tracing.current() is self.trace else inner

    # -- a watcher of the engine --
    def begin(self) -> Any:
        if tracing.current() is self.trace:
            self.look(self.trace.flush_next or self.trace.node)
        return self.before.begin() if self.before is not None else None

    def made(self, program: Any) -> None:
        if self.before is not None:
            self.before.made(program)

    def run(self, program: Any, arrays: list[Any]) -> Any:
        return program.run(arrays) if self.before is None else self.before.run(program, arrays)

    def end(self, began: Any) -> None:
        if self.before is not None:
            self.before.end(began)

    def look(self, node: tracing.TrieNode) -> None:
        """Counts the steps that lead to a node."""
        path = [node]
        while path[-1].parent is not None:
            path.append(path[-1].parent)
        path.reverse()
        kinds: dict[int, Any] = {}
        begun = next((key for key, root in tracing.trie.roots.items() if root is path[0]), None)
        if begun is not None:
            self.turn(("amp", begun[1]))
        for at, step in enumerate(path):
            for i, t in enumerate(step.types):
                kinds[step.slot + i] = t.dtype
            if step.op is not None:
                if self.forward and step.op.name != "detach":
                    self.operator(step, [kinds[r] for r in step.refs if type(r) is int and r in kinds])
            elif at and not step.types:
                self.turn(next((k for k, n in path[at - 1].children.items() if n is step), None))

    def turn(self, key: Any) -> None:
        what, value = key if isinstance(key, tuple) and len(key) == 2 else (None, None)
        if what == "amp":
            # gradients are recorded without a mode, and so is what a function on a list of auto_cast consists of
            self.forward = value is not None or self.inside is not None
        elif what == "operator" and self.forward:
            if value is not None and self.inside is None:
                self.inside, self.dtype = value, None
            elif value is None and self.inside is not None:
                if self.dtype is not None:
                    self.add(self.inside, self.dtype)
                self.inside = None

    def operator(self, step: Any, inputs: list[Any]) -> None:
        floats = [d for d in inputs if d.is_floating]
        dtype = (floats or inputs or [step.types[0].dtype])[0]
        if self.inside is None or step.op.name == "cast":
            self.add(step.op.name, dtype)
        elif self.dtype is None or not self.dtype.is_floating:
            self.dtype = dtype

    def add(self, name: str, dtype: Any) -> None:
        self.found.setdefault(known_as(name), [0, 0, 0, 0])[_COLUMNS.get(dtype, 3)] += 1

    def table(self) -> str:
        titles = [f"{title:-^17}" for title in (" FP16 Calls ", " BF16 Calls ", " FP32 Calls", " Other Calls ")]
        lines = [f"<{' op list ':-^120}>", f"<{' Op Name ':-^40} | " + " | ".join(titles) + ">"]
        for name, counts in sorted(self.found.items()):
            lines.append(f"  {name:<40}|  " + "|  ".join(f"{n:<17}" for n in counts))
        lines.append(f"<{f' op count: {len(self.found)} ':-^120}>\n")
        return "\n".join(lines)


def enable_operator_stats_collection() -> None:
    """Begins to count the operators that this thread computes, by the types they compute in.

    Examples:
        >>> x = paddle.ones([2, 2])
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> y = (x @ x).exp()
        >>> paddle.amp.debugging.disable_operator_stats_collection()
        <--...- op list -...
          exp  ...|  0  ...|  0  ...|  1  ...|  0...
          matmul_v2  ...|  0  ...|  0  ...|  1  ...|  0...
        <--...- op count: 2 -...
        <BLANKLINE>
    """
    if Counts.active is None:
        Counts().start()


def disable_operator_stats_collection() -> None:
    """Ends counting, and prints a table: per operator the calls in float16, bfloat16, float32 and other types.

    Gradients are not counted; a function that auto_cast decides on as a whole counts as one operator.
    """
    counts = Counts.active
    if counts is not None:
        counts.stop()
        print(counts.table())


@contextlib.contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Counts the operators of a block, and prints the table of `disable_operator_stats_collection` at its end.

    Examples:
        >>> with paddle.amp.debugging.collect_operator_stats():
        ...     pass
        <--...- op list -...
        <--...- op count: 0 -...
        <BLANKLINE>
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()
