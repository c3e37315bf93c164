"""Control flow in a graph: one of two graphs, a graph run as long as another says so, and their gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import invalid_argument, placed
from ..ir.body import Body
from ..ir.graph import Graph, Node, Value
from ..types import TensorType, bool_, dtype_of, float64, int64
from .creation import Full
from .elementwise import add, greater_than, less_than
from .recurrence import typed, writing
from .registry import Operator, absent, expand, operator, registry, run_numpy

Run = Callable[[Graph], Callable[[list[np.ndarray]], Sequence[np.ndarray]]]

_HOST = absent("the graphs inside are programs of their own: the host decides which runs")
_INSIDE = absent("the graphs inside decide: arguments are gathered")


@operator
class Cond(Operator):
    """The results of `then` where pred is true, else those of `other`; only one of the two runs.

    Arguments: pred, bool of one element; then the arguments of both graphs.
    """

    then: Body
    other: Body

    loops = _HOST
    spmd = _INSIDE

    def infer(self, pred: TensorType, *args: TensorType) -> Any:
        need_one("cond", "pred", pred)
        results = [tuple(v.type for v in graph_of(b, args).outputs) for b in (self.then, self.other)]
        if results[0] != results[1]:
            raise invalid_argument(
                "cond: the two branches differ in their results.", expected="equal shapes and dtypes of both",
                received=f"true: {_shown(results[0])}; false: {_shown(results[1])}",
            )  # fmt: skip
        return results[0]

    def numpy(self, pred, *arrays):
        return self.nested(interpreted, pred, *arrays)

    def nested(self, run: Run, pred: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        body = self.then if pred.item() else self.other
        return tuple(run(graph_of(body, types_of(arrays)))(list(arrays)))

    def vjp(self, g, out, pred, *args):
        gs = g if type(g) is tuple else (g,)
        which, back = gradient_of_cond(self, tuple(a.type for a in args), tuple(x is not None for x in gs))
        grads: list[Any] = [None] * len(args)
        if back is not None:
            for i, d in zip(which, as_tuple(back(pred, *args, *(x for x in gs if x is not None)))):
                grads[i] = d
        return (None, *grads)

    def xla(self, jnp, pred, *args):
        kinds = [TensorType(tuple(a.shape), dtype_of(a.dtype)) for a in args]
        branches = [traced(jnp, graph_of(b, kinds)) for b in (self.then, self.other)]
        found = jnp.lax.cond(pred.reshape(()), *branches, *args)
        return found if len(found) > 1 else found[0]

    @classmethod
    def samples(cls, rng):
        x, y = (rng.normal(size=(2, 3)).astype("float32") for _ in range(2))
        kinds = typed((2, 3), (2, 3))
        then = body_of(kinds, lambda x, y: (x * y, x + y))
        other = body_of(kinds, lambda x, y: (x - y, x * x))
        for pred in (True, False):
            yield cls(then, other), (np.array(pred), x, y)
            yield (
                cls(body_of(kinds, lambda x, y: (x * x,)), body_of(kinds, lambda x, y: (y,))),
                (np.array([pred]), x, y),
            )
        vector = typed((3,), dtype=float64)
        scaled = [body_of(vector, lambda x, c=c: (x * c,)) for c in (2.0, 3.0)]
        kinds = [TensorType((), bool_), *vector]
        inner, outer = body_of(kinds, lambda p, x: (cls(*scaled)(p, x) * x,)), body_of(kinds, lambda p, x: (x,))
        for p in (True, False):
            yield cls(inner, outer), (np.array(True), np.array(p), rng.normal(size=3))
        empty = typed((0,))
        yield (
            cls(body_of(empty, lambda x: (x * x,)), body_of(empty, lambda x: (x,))),
            (np.array(True), np.zeros(0, "f")),
        )


@operator
class While(Operator):
    """Runs `body` on the carried values as long as `condition` is true of them.

    Arguments: `carried` values to begin with; then constants, which both graphs get whole in every step.
    Results: the carried values after the last step.
    """

    condition: Body
    body: Body
    carried: int

    loops = _HOST
    spmd = _INSIDE

    def infer(self, *args: TensorType) -> Any:
        tests = [v.type for v in graph_of(self.condition, args).outputs]
        if len(tests) != 1:
            raise invalid_argument(
                "while_loop: the condition gives no single value.", expected="one bool", received=_shown(tests)
            )
        need_one("while_loop", "the condition", tests[0])
        after = tuple(v.type for v in graph_of(self.body, args).outputs)
        if after != args[: self.carried]:
            raise invalid_argument(
                "while_loop: a step changes the type of a loop variable.", expected=_shown(args[: self.carried]),
                received=_shown(after), hint="reshape or cast it back in the step, or begin with that type.",
            )  # fmt: skip
        return after

    def numpy(self, *arrays):
        return self.nested(interpreted, *arrays)

    def nested(self, run: Run, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        kinds = types_of(arrays)
        (goes_on,) = run(graph_of(self.condition, kinds))(list(arrays))
        if not goes_on.item():
            return tuple(np.array(a) for a in arrays[: self.carried])
        step = run(step_and_test(self, kinds))
        repeat = getattr(step, "repeat", None)
        if repeat is not None:
            return tuple(np.array(a) for a in repeat(arrays, self.carried))
        *_, last = states(self, run, arrays)
        return tuple(np.array(a) for a in last)

    def vjp(self, g, out, *args):
        gs = g if type(g) is tuple else (g,)
        carry, sums, back = gradient_of_while(self, tuple(a.type for a in args))
        grads: list[Any] = [None] * len(args)
        if back is not None:
            starts = [Full(args[j].shape, 0.0, args[j].dtype)() if gs[j] is None else gs[j] for j in carry]
            for i, d in zip((*carry, *sums), as_tuple(back(*args, *starts))):
                grads[i] = d
        return tuple(grads)

    def xla(self, jnp, *args):
        kinds = [TensorType(tuple(a.shape), dtype_of(a.dtype)) for a in args]
        constants = args[self.carried :]
        test, step = (traced(jnp, graph_of(b, kinds)) for b in (self.condition, self.body))
        found = jnp.lax.while_loop(
            lambda s: test(*s, *constants)[0].reshape(()), lambda s: step(*s, *constants), args[: self.carried]
        )
        return found if len(found) > 1 else found[0]

    @classmethod
    def samples(cls, rng):
        yield from _loops(rng)


@operator
class WhileGradient(Operator):
    """Gradients of a While: its steps once more, each carried state kept, then back through them.

    Arguments: those of the While; then gradients of the carried values that have some, in order.
    Results: gradients of these as they were before the first step; then, summed over the steps, those of constants.
    `back` maps the arguments of a step and such gradients to the ones before it, then to those of constants.
    """

    condition: Body
    body: Body
    back: Body
    carried: int
    through: int

    loops = _HOST
    spmd = _INSIDE
    xla = absent("XLA keeps no states of a loop of unknown length")

    def infer(self, *args: TensorType) -> Any:
        return tuple(v.type for v in graph_of(self.back, args).outputs)

    def numpy(self, *arrays):
        return self.nested(interpreted, *arrays)

    def nested(self, run: Run, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        first = len(arrays) - self.through
        kinds = types_of(arrays)
        given, constants = arrays[:first], arrays[self.carried : first]
        sums = [np.zeros(v.shape, v.dtype.np) for v in graph_of(self.back, kinds).outputs[self.through :]]
        values: Sequence[np.ndarray] = [*arrays[first:], *sums]
        forward = While(self.condition, self.body, self.carried)
        (goes_on,) = run(graph_of(self.condition, kinds[:first]))(list(given))
        if goes_on.item():
            step, back = run(step_and_test(forward, kinds[:first])), run(back_and_sums(self, kinds))
            history = getattr(step, "history", None)
            if history is not None:
                values = back.rewind(history(given, self.carried), constants, values)  # type: ignore[attr-defined]
            else:
                *kept, _ = states(forward, run, given)
                for state in reversed(kept):
                    values = back([*state, *constants, *values])
        return tuple(np.array(a) for a in values)

    def vjp(self, g, out, *args):
        gs = g if type(g) is tuple else (g,)
        given = tuple(x is not None for x in gs)
        graph, which = gradient_again(self, tuple(a.type for a in args), given)
        found = replayed(graph, [*args, *(x for x in gs if x is not None)])
        grads: list[Any] = [None] * len(args)
        for i, d in zip(which, found):
            grads[i] = d
        return tuple(grads)

    @classmethod
    def samples(cls, rng):
        for op, arrays in _loops(rng):
            carry, _, back = gradient_of_while(op, types_of(arrays))
            if back is not None:
                yield back, (*arrays, *(rng.normal(size=arrays[j].shape).astype(arrays[j].dtype) for j in carry))


def states(loop: While, run: Run, arrays: Sequence[np.ndarray]) -> Any:
    """The carried values before each step, and after the last."""
    kinds, constants = types_of(arrays), arrays[loop.carried :]
    carried: Sequence[np.ndarray] = arrays[: loop.carried]
    yield carried
    (goes_on,) = run(graph_of(loop.condition, kinds))(list(arrays))
    if not goes_on.item():
        return
    step = run(step_and_test(loop, kinds))
    while goes_on.item():
        *carried, goes_on = step([*carried, *constants])
        yield carried


@functools.lru_cache(maxsize=1024)
def step_and_test(loop: While, kinds: tuple[TensorType, ...]) -> Graph:
    """The graph of a step that gives the carried values, and whether there is another step: one program, not two."""
    graph = Graph("step")
    env: dict[Value, Value] = {}

    def write(part: Graph, inputs: Sequence[Value]) -> list[Value]:
        env.update(zip(part.inputs, inputs))
        for node in part.nodes:
            env.update(zip(node.outputs, graph.add(node.op, [env[v] for v in node.inputs], node.line)))
        return [env[v] for v in part.outputs]

    values = [graph.input(t) for t in kinds]
    after = write(graph_of(loop.body, kinds), values)
    graph.outputs = [*after, *write(graph_of(loop.condition, kinds), [*after, *values[loop.carried :]])]
    return graph


@functools.lru_cache(maxsize=1024)
def back_and_sums(op: WhileGradient, kinds: tuple[TensorType, ...]) -> Graph:
    """The graph of `back` that also takes the sums of the gradients of constants, and adds to them."""
    inner = graph_of(op.back, kinds)
    graph = Graph("back")
    env: dict[Value, Value] = {v: graph.input(v.type) for v in inner.inputs}
    for node in inner.nodes:
        env.update(zip(node.outputs, graph.add(node.op, [env[v] for v in node.inputs], node.line)))
    found = [env[v] for v in inner.outputs]
    totals = [graph.add(add, (graph.input(v.type), v))[0] for v in found[op.through :]]
    graph.outputs = [*found[: op.through], *totals]
    return graph


def _loops(rng: Any) -> Any:
    """Sample loops: a counter, a power by constants, a search that ends by its values, a loop in a loop."""

    def draw(*shape: int) -> np.ndarray:
        return (0.5 * rng.normal(size=shape)).astype("float32")

    count = TensorType((), int64)
    kinds = [count, *typed((2, 2), (2, 2))]
    below = lambda n: lambda i, *rest: (less_than(i, n),)
    power = While(body_of(kinds, below(3)), body_of(kinds, lambda i, x, w: (i + 1, x * w + x)), 2)
    for start in (0, 2, 5):
        yield power, (np.array(start), draw(2, 2), draw(2, 2))
    yield While(body_of([count], below(4)), body_of([count], lambda i: (i + 1,)), 1), (np.array(0),)
    halves = typed((1,), (1,), dtype=float64)
    search = While(body_of(halves, lambda x, c: (greater_than(x, 1.0),)), body_of(halves, lambda x, c: (x * c,)), 1)
    yield search, (np.array([20.3]), np.array([0.5]))
    inner = While(body_of(kinds, below(2)), body_of(kinds, lambda i, x, w: (i + 1, x * x + w)), 2)
    nest = lambda i, x, w: (i + 1, inner(i, x, w)[1] * w)
    yield While(body_of(kinds, below(3)), body_of(kinds, nest), 2), (np.array(0), draw(2, 2), draw(2, 2))


# ---- graphs inside ----------------------------------------------------------------------------
def body_of(kinds: Sequence[TensorType], fn: Callable[..., Sequence[Any]]) -> Body:
    """The graph of `fn`, written with operators, for arguments of these types."""
    graph = Graph("body")
    values = [graph.input(t) for t in kinds]
    with writing(graph):
        graph.outputs = list(fn(*values))
    return Body(graph)


def graph_of(body: Body, kinds: Sequence[TensorType]) -> Graph:
    return body.graph(tuple(kinds), registry)


def types_of(arrays: Sequence[np.ndarray]) -> tuple[TensorType, ...]:
    return tuple(TensorType(a.shape, dtype_of(a.dtype)) for a in arrays)


def as_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def need_one(name: str, what: str, t: TensorType) -> None:
    if t.dtype.kind != "b" or t.size != 1:
        raise invalid_argument(f"{name}: {what} is not one bool.", expected="bool[] or bool[1]", received=f"{t}")


def _shown(found: Sequence[TensorType]) -> str:
    return ", ".join(map(str, found)) or "nothing"


def interpreted(graph: Graph) -> Callable[[list[np.ndarray]], Sequence[np.ndarray]]:
    """Runs a graph by the meaning of its operators."""

    def run(arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        env: dict[Value, Any] = dict(zip(graph.inputs, arrays))
        for node in graph.nodes:
            try:
                out = run_numpy(node.op, *(env[v] for v in node.inputs))
            except (IndexError, np.linalg.LinAlgError) as e:
                raise placed(node.op, node.line, e) from None
            env.update(zip(node.outputs, map(np.asarray, out)))
        return [env[v] for v in graph.outputs]

    return run


def traced(jnp: Any, graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """The graph as a function of XLA values."""

    def fn(*args: Any) -> tuple[Any, ...]:
        env = dict(zip(graph.inputs, args))
        for node in graph.nodes:
            env.update(zip(node.outputs, as_tuple(node.op.xla(jnp, *(env[v] for v in node.inputs)))))
        return tuple(env[v] for v in graph.outputs)

    return fn


def replayed(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """The operators of a graph applied to Tensors, or to values of another graph."""
    env: dict[Value, Any] = dict(zip(graph.inputs, args))
    for node in graph.nodes:
        env.update(zip(node.outputs, as_tuple(node.op(*(env[v] for v in node.inputs)))))
    return [env[v] for v in graph.outputs]


# ---- gradients --------------------------------------------------------------------------------
def primitive(graph: Graph) -> Graph:
    """The graph with compositions written out where they have no gradient rule of their own."""

    def visit(new: Graph, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...] | None:
        return expand(node.op, *inputs) if node.op.compose and not node.op.vjp else None

    while any(n.op.compose and not n.op.vjp for n in graph.nodes):
        graph = graph.rebuild(visit)
    return graph


def gradient(graph: Graph, given: Sequence[bool]) -> tuple[Graph, list[Value | None]]:
    """A graph that goes back through `graph`, which it computes anew.

    Args:
        given: which outputs have gradients.

    Returns:
        A graph of the inputs of `graph` and then of the gradients that are given, still without outputs; and per
        input of `graph` the value that is its gradient, None where there is none.
    """
    graph = primitive(graph)
    back = Graph("gradient")
    env: dict[Value, Value] = {v: back.input(v.type, v.name) for v in graph.inputs}
    for node in graph.nodes:
        env.update(zip(node.outputs, back.add(node.op, [env[v] for v in node.inputs], node.line)))
    grads: dict[Value, Any] = {}

    def send(v: Value, g: Any) -> None:
        if g is not None and v.dtype.is_differentiable:
            before = grads.get(v)
            grads[v] = g if before is None else add(before, g)

    with writing(back):
        for v, there in zip(graph.outputs, given):
            if there:
                send(v, back.input(v.type))
        for node in reversed(graph.nodes):
            gs = tuple(grads.pop(v, None) for v in node.outputs)
            if not node.op.vjp or all(g is None for g in gs):
                continue
            first = len(back.nodes)
            outs, ins = tuple(env[v] for v in node.outputs), tuple(env[v] for v in node.inputs)
            found = node.op.vjp(gs, outs, *ins) if len(gs) > 1 else node.op.vjp(gs[0], outs[0], *ins)
            for v, g in zip(node.inputs, found):
                send(v, g)
            for made in back.nodes[first:]:
                made.line = node.line
    return back, [grads.get(v) for v in graph.inputs]


def finish(graph: Graph, found: Sequence[Value | None], which: Sequence[int]) -> Body:
    """The body that gives the gradients of these inputs, zeros where there are none."""
    with writing(graph):
        outputs = [found[i] for i in which]
        kinds = [graph.inputs[i].type for i in which]
        graph.outputs = [Full(t.shape, 0.0, t.dtype)() if v is None else v for v, t in zip(outputs, kinds)]
    graph.drop_unused()
    return Body(graph)


@functools.lru_cache(maxsize=1024)
def gradient_of_cond(op: Cond, kinds: tuple[TensorType, ...], given: tuple[bool, ...]) -> tuple[list[int], Any]:
    """Which arguments behind pred have gradients, and the Cond that makes them (None if none has)."""
    sides = [gradient(graph_of(b, kinds), given) for b in (op.then, op.other)]
    which = [i for i in range(len(kinds)) if any(found[i] is not None for _, found in sides)]
    return which, Cond(*(finish(graph, found, which) for graph, found in sides)) if which else None


@functools.lru_cache(maxsize=1024)
def gradient_of_while(op: While, kinds: tuple[TensorType, ...]) -> tuple[list[int], list[int], Any]:
    """Which carried values and which constants have gradients, and the WhileGradient that makes them, or None."""
    n = op.carried
    given = [t.is_differentiable for t in (t.dtype for t in kinds[:n])]
    graph, found = gradient(graph_of(op.body, kinds), given)
    carry = [j for j in range(n) if given[j]]
    sums = [i for i in range(n, len(kinds)) if found[i] is not None]
    if not carry:
        return carry, sums, None
    return carry, sums, WhileGradient(op.condition, op.body, finish(graph, found, [*carry, *sums]), n, len(carry))


@functools.lru_cache(maxsize=256)
def gradient_again(
    op: WhileGradient, kinds: tuple[TensorType, ...], given: tuple[bool, ...]
) -> tuple[Graph, list[int]]:
    """The gradient of a gradient of a loop: a graph of its arguments and of the gradients of its results, and which
    arguments it gives gradients of.

    It is the gradient of the same written as loops: one that counts the steps, and one that goes back through them
    and finds each state by going forward from the first. So no states are kept, and time is quadratic in the steps.
    """
    n, first = op.carried, len(kinds) - op.through
    count = TensorType((), int64)
    carried, constants, grads = kinds[:n], kinds[n:first], kinds[first:]
    sums = [v.type for v in graph_of(op.back, kinds).outputs[op.through :]]
    loops = [count, *carried, *constants]
    counting = While(
        body_of(loops, lambda i, *rest: replayed(graph_of(op.condition, kinds[:first]), rest)),
        body_of(loops, lambda i, *rest: (i + 1, *replayed(graph_of(op.body, kinds[:first]), rest))),
        1 + n,
    )
    some = [count, *carried, *constants, count]
    forward = While(
        body_of(some, lambda i, *rest: (less_than(i, rest[-1]),)),
        body_of(some, lambda i, *rest: (i + 1, *replayed(graph_of(op.body, kinds[:first]), rest[:-1]))),
        1 + n,
    )

    def step(left: Any, *rest: Any) -> Sequence[Any]:
        gs, totals, given = (
            rest[: op.through],
            rest[op.through : op.through + len(sums)],
            rest[op.through + len(sums) :],
        )
        left = left - 1
        state = forward(left * 0, *given, left)[1:]
        found = replayed(graph_of(op.back, kinds), [*state, *given[n:], *gs])
        return (left, *found[: op.through], *(add(a, b) for a, b in zip(totals, found[op.through :])))

    backward = [count, *grads, *sums, *carried, *constants]
    going_back = While(
        body_of(backward, lambda left, *rest: (greater_than(left, 0),)),
        body_of(backward, step),
        1 + len(grads) + len(sums),
    )
    graph = Graph("loops")
    values = [graph.input(t) for t in kinds]
    with writing(graph):
        zero = Full((), 0, count.dtype)()
        steps = as_tuple(counting(zero, *values[:first]))[0]
        zeros = [Full(t.shape, 0.0, t.dtype)() for t in sums]
        graph.outputs = list(going_back(steps, *values[first:], *zeros, *values[:first])[1:])
    back, found = gradient(graph, given)
    which = [i for i, v in enumerate(found) if v is not None]
    back.outputs = [v for v in found if v is not None]
    back.drop_unused()
    return back, which
