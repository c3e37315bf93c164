"""Graph to steps: what is computed inside what, which kernels there are, and in which order they run.

Pointwise operators and index maps are computed inside the kernels that read them, unless that would repeat
costly work. Products of two tensors with linear indices go to the register-tile generator. An operator without
a loop form runs its numpy form as a host step.
"""

from __future__ import annotations

import math
from typing import Any

from .. import types
from ..ir.graph import Graph, Node, Value
from ..ops.attention import Attention, AttentionGrad
from ..ops.elementwise import Cast, Detach
from ..ops.recurrence import Recurrence
from ..ops.shape import BroadcastTo, Reshape, Transpose
from ..ops.winograd import WinogradGrad
from ..types import TensorType
from . import attention
from .affine import Product, flatten, product_of, squares
from .constants import escapes
from .expr import Expr, LoopBuilder, Operand, Scope, Var, compute_type
from .fusing import fuse
from .grouping import grouped
from .layout import CHANNELS_LAST, by_tiles, orders
from .loops import Loops, Store, has_reduce, loads_in
from .recurrence import recurrence_step
from .split import split, total
from .steps import AliasStep, HostStep, LoopStep, ProductStep, Step, WinogradGradStep, WinogradStep
from .summing import add_up
from .values import supports
from .winograd_gradient import gradient_parts

COSTLY = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
          "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "lgamma", "pow", "atan2", "div", "sqrt", "rsqrt",
          "floordiv", "mod"}  # fmt: skip


class Lowering:
    """Turns a graph of primitives into steps.

    fuse: whether operators are computed inside one another (compiled tier) or each for itself (first tier).
    fixed: values that are made once for many runs (see constants.py).
    """

    def __init__(self, graph: Graph, fuse: bool, fixed: set[Value] | frozenset[Value] = frozenset()):
        self.graph = graph
        self.fuse = fuse
        self.fixed = fixed
        self.users = graph.users()
        self.outputs = set(graph.outputs)
        self.orders, self.kept = orders(graph) if fuse else ({}, set())
        self.operands: dict[Value, Operand] = {}
        self.kinds: dict[Node, str] = {}
        self.products: dict[Node, Product] = {}
        self.cost: dict[Value, int] = {}
        self.inside: set[Value] = set()
        self.weights: dict[Value, int] = {}
        self.depth: dict[Value, int] = {}
        self.steps: list[Step] = []
        self.made_by: dict[Value, int] = {}

    # -- classification --
    def kind(self, node: Node) -> str:
        """host, alias, tiles, product, reduce or map."""
        got = self.kinds.get(node)
        if got is None:
            got = self.kinds[node] = self.classify(node)
        return got

    def classify(self, node: Node) -> str:
        values = (*node.inputs, *node.outputs)
        if isinstance(node.op, (Reshape, Detach)):
            return "alias"
        if self.fuse and by_tiles(node):
            return "tiles"
        if not node.op.loops or not all(supports(v.dtype) for v in values):
            return "host"
        scope, variables, at = self.frame(node.outputs[0])
        value = self.own(node, 0, scope, at, None)
        self.cost[node.outputs[0]] = count(value)
        if has_reduce(value):
            found = product_of(value, self.operand(node.outputs[0]), at, variables) if len(node.outputs) == 1 else None
            if found is not None:
                self.products[node] = found
            return "product" if found is not None else "reduce"
        return "map"

    def frame(self, v: Value) -> tuple[Scope, list[Var], tuple[Expr, ...]]:
        scope = Scope()
        variables = [Var(n) for n in v.shape]
        return scope, variables, tuple(scope.var(x) for x in variables)

    def operand(self, v: Value) -> Operand:
        got = self.operands.get(v)
        if got is None:
            got = self.operands[v] = Operand(f"t{len(self.operands)}", v.shape, v.dtype, v, self.orders.get(v))
        return got

    # -- expressions --
    def own(
        self, node: Node, index: int, scope: Scope, at: tuple[Expr, ...], guard: Expr | None, loader: Any = None
    ) -> Expr:
        out = node.outputs[index]
        k = LoopBuilder(scope, at, out.dtype, out.shape, index, loader, guard, (node.op.name, node.line))
        value = node.op.loops(k, *(self.operand(v) for v in node.inputs))
        want = compute_type(out.dtype)
        if not isinstance(value, Expr):
            value = scope.const(value, want)
        assert value.dtype is want, f"{node.op!r}: the loop form gives {value.dtype}, not {want}"
        return value

    def loader(self, memo: dict[Any, Expr], local: dict[Value, Expr], own_at: tuple[Expr, ...]) -> Any:
        def load(k: LoopBuilder, x: Operand, at: tuple[Expr, ...]) -> Expr:
            v: Value = x.key
            if v in local and at == own_at and k.guard is None:
                return local[v]
            if v not in self.inside:
                return k.load_buffer(x, at)
            key = (v, at, k.guard)
            got = memo.get(key)
            if got is None:
                got = memo[key] = self.own(v.node, v.index, k.scope, at, k.guard, load)  # type: ignore[arg-type]
            return got

        return load

    # -- which values live inside other kernels --
    def choose_inside(self) -> None:
        if not self.fuse:
            return
        for node in self.graph.nodes:
            for v in node.outputs:
                if self.goes_inside(v):
                    self.inside.add(v)
                    self.weights[v] = self.weight(v)
                    self.depth[v] = 1 + max((self.depth.get(x, 0) for x in node.inputs), default=0)

    def goes_inside(self, v: Value) -> bool:
        node = v.node
        if node is None or v in self.outputs or v in self.kept or self.kind(node) != "map" or len(node.outputs) > 1:
            return False
        users = self.users.get(v, [])
        if not users or max((self.depth.get(x, 0) for x in node.inputs), default=0) > 40 or self.weight(v) > 400:
            return False
        free = isinstance(node.op, (Transpose, BroadcastTo))
        if v in self.fixed and not free and escapes(v, self.fixed, self.users):
            return False
        for user in users:
            kind = self.kind(user)
            if kind in ("host", "alias", "tiles"):
                return False
            if kind == "product" and not free and not (len(users) == 1 and self.rounds_a_weight(node, user)):
                return False
            if kind == "reduce" and not (reads_once(user) or self.light(v)):
                return False
            if (
                kind == "map"
                and not user.op.pointwise
                and not self.light(v)
                and v.type.size < user.outputs[0].type.size
            ):
                return False
        return len(users) == 1 or self.light(v)

    def rounds_a_weight(self, node: Node, user: Node) -> bool:
        """Whether a node rounds to bfloat16 what comes from outside, for a product that uses each element a few times.

        Such a product rounds it while it reads it.
        """
        if not isinstance(node.op, Cast) or node.op.dtype is not types.bfloat16:
            return False
        x = node.inputs[0]
        if x.dtype is not types.float32 or x.node is not None:
            return False
        return math.prod(axis[0] for axis in self.products[user].axes) <= 144 * x.type.size

    def light(self, v: Value) -> bool:
        """Whether v may be computed again for each reader."""
        return self.weight(v) <= 4

    def weight(self, v: Value) -> int:
        """Work for one element of v, with what is computed inside it."""
        inputs = v.node.inputs if v.node is not None else ()
        return self.cost.get(v, 99) + sum(self.weights.get(x, 0) for x in dict.fromkeys(inputs))

    # -- steps --
    def run(self) -> list[Step]:
        self.choose_inside()
        for node in self.graph.nodes:
            kind = self.kind(node)
            if kind == "host":
                self.host(node)
            elif kind == "alias":
                self.add(AliasStep(list(node.outputs), [node.inputs[0]], node))
            elif kind == "product":
                self.product(node)
            elif kind == "tiles":
                self.tiles(node)
            else:
                for v in node.outputs:
                    if v not in self.inside and (v in self.outputs or v in self.users):
                        self.loop(v, kind)
        return self.steps

    def host(self, node: Node) -> None:
        step: Step | None = None
        if isinstance(node.op, Recurrence):
            step = recurrence_step(node, steps_of if self.fuse else single_steps, self.fuse)
        elif isinstance(node.op, (Attention, AttentionGrad)):
            step = attention.step_of(node)
        self.add(step or HostStep(list(node.outputs), list(dict.fromkeys(node.inputs)), node))

    def add(self, step: Step) -> None:
        for v in step.outputs:
            self.made_by[v] = len(self.steps)
        self.steps.append(step)

    def product(self, node: Node) -> None:
        out = node.outputs[0]
        if not self.fuse:  # nothing is inside: the product is that of the node alone
            p = self.products[node]
            self.add(ProductStep([out], list(dict.fromkeys((p.a.key, p.b.key))), node, p))
            return
        scope, variables, at = self.frame(out)
        value = self.own(node, 0, scope, at, None, self.loader({}, {}, at))
        found = product_of(value, self.operand(out), at, variables)
        if found is None:  # an index map inside is not linear: run it as plain loops
            self.add_loops(out, scope, variables, [Store(self.operand(out), at, value)])
            return
        self.add(ProductStep([out], list(dict.fromkeys((found.a.key, found.b.key))), node, found))

    def tiles(self, node: Node) -> None:
        """A convolution by tiles, with copies of what does not lie with its channels last."""
        inputs, out = list(node.inputs), node.outputs[0]
        kernel = isinstance(node.op, WinogradGrad)
        for i in range(2 if kernel else 1):
            if not self.lies_so(inputs[i]):
                inputs[i] = self.copy(inputs[i], self.beside(node, inputs[i].type), CHANNELS_LAST)
        made = out if self.lies_so(out) else self.beside(node, out.type)
        if kernel:
            self.kernel_gradient(node, inputs, made)
        else:
            self.add(WinogradStep([made], inputs, node, node.op.tile))
        if made is not out:
            self.orders[made] = CHANNELS_LAST
            self.copy(made, out, self.orders.get(out))

    def kernel_gradient(self, node: Node, inputs: list[Value], out: Value) -> None:
        """By parts of the tiles, and these added up."""
        parts = gradient_parts(inputs[0].shape, out.shape[2])
        if parts == 1:
            self.add(WinogradGradStep([out], inputs, node))
            return
        partial = self.beside(node, TensorType((parts, *out.shape), out.dtype))
        self.add(WinogradGradStep([partial], inputs, node))
        self.add(total(partial, out, "sum", self.steps[-1]))

    def beside(self, node: Node, type: TensorType) -> Value:
        """A value that the graph does not have, made on behalf of a node."""
        return Value(self.graph, type, node, 0, "channels last")

    def lies_so(self, v: Value) -> bool:
        """Whether channels are last in memory, but for axes without extent."""
        order = self.orders.get(v) or tuple(range(v.ndim))
        return [a for a in order if v.shape[a] != 1] == [a for a in CHANNELS_LAST if v.shape[a] != 1]

    def copy(self, v: Value, to: Value, order: tuple[int, ...] | None) -> Value:
        """`to` with the elements of v, its axes in an order of its own."""
        if order is not None:
            self.orders[to] = order
        scope, variables, at = self.frame(to)
        value = LoopBuilder(scope, at, to.dtype, to.shape).load(self.operand(v), at)
        self.add_loops(to, scope, variables, [Store(self.operand(to), at, value)])
        return to

    def loop(self, v: Value, kind: str) -> None:
        if self.fuse and v.node is not None and v.node.op.blocks and self.by_blocks(v):
            return
        if kind == "map" and self.fuse and self.join(v):
            return
        scope, variables, at = self.frame(v)
        value = self.own(v.node, v.index, scope, at, None, self.loader({}, {}, at))  # type: ignore[arg-type]
        self.add_loops(v, scope, variables, [Store(self.operand(v), at, value)])

    def by_blocks(self, v: Value) -> bool:
        """Several elements at once, if the operator can."""
        assert v.node is not None
        if any(x in self.orders for x in (v, *v.node.inputs)):
            return False  # blocks are made of neighbours in the usual order
        scope = Scope()
        k = LoopBuilder(scope, (), v.dtype, v.shape, v.index, self.loader({}, {}, ()))
        found = v.node.op.blocks(k, *(self.operand(x) for x in v.node.inputs))
        if found is None:
            return False
        extents, body = found
        variables = [Var(n) for n in extents]
        k.at = tuple(scope.var(x) for x in variables)
        stores = [Store(self.operand(v), tuple(scope.lift(i, types.int64) for i in at), value) for at, value in body()]
        self.add_loops(v, scope, variables, stores)
        self.steps[-1].closed = True  # type: ignore[attr-defined]
        return True

    def add_loops(self, v: Value, scope: Scope, variables: list[Var], stores: list[Store]) -> None:
        """Loops over elements in the order in which they lie in memory."""
        assert v.node is not None
        order = self.orders.get(v)
        loops = Loops(scope, variables if order is None else [variables[a] for a in order], stores)
        self.add(LoopStep([v], reads(loops), v.node, loops, [v.node]))

    def join(self, v: Value) -> bool:
        """Adds v to an earlier kernel over the same elements, if what it reads is there by then."""
        node = v.node
        assert node is not None
        needed = self.needed(v)
        for i in range(len(self.steps) - 1, max(-1, len(self.steps) - 40), -1):
            step = self.steps[i]
            if (
                isinstance(step, LoopStep)
                and not step.closed
                and step.outputs[0].shape == v.shape
                and (step.outputs[0] in self.fixed) == (v in self.fixed)
                and self.operand(step.outputs[0]).order == self.operand(v).order
                and len(step.outputs) < 64
                and self.shares(step, needed, v)
            ):
                loops = step.loops
                at = loops.stores[0].at
                if not any(has_reduce(s.value) for s in loops.stores):
                    local = {o: s.value for o, s in zip(step.outputs, loops.stores)}
                    value = self.own(node, v.index, loops.scope, at, None, self.loader({}, local, at))
                    late = {j for x in loads_in(value) if (j := self.made_by.get(x.attr.key, -1)) >= i}
                    if all(self.can_precede(j, i) for j in late):
                        for j in sorted(late):
                            self.move(j, i)
                            i += 1
                        loops.stores.append(Store(self.operand(v), at, value))
                        step.outputs.append(v)
                        step.inputs = reads(loops)
                        step.fused.append(node)
                        self.made_by[v] = i
                        return True
            if any(x in step.outputs for x in needed):
                return False
        return False

    def can_precede(self, j: int, i: int) -> bool:
        """Whether step j, of single numbers, can run before step i, so that step i can use them."""
        s = self.steps[j]
        return (
            j > i
            and isinstance(s, LoopStep)
            and all(v.type.size == 1 for v in (*s.inputs, *s.outputs))
            and all(self.made_by.get(v, -1) < i for v in s.inputs)
        )

    def move(self, j: int, i: int) -> None:
        self.steps.insert(i, self.steps.pop(j))
        for k in range(i, j + 1):
            self.made_by.update((v, k) for v in self.steps[k].outputs)

    def shares(self, step: LoopStep, needed: set[Value], v: Value) -> bool:
        """Whether a kernel has at hand what v is computed from, so that it is read once for both; or v is a number."""
        if v.type.size == 1 or any(x in needed for x in step.outputs):
            return True
        return any(x in needed and x.type.size >= v.type.size for x in step.inputs)

    def needed(self, v: Value) -> set[Value]:
        """The stored values that computing v reads."""
        found: set[Value] = set()
        todo = list(v.node.inputs) if v.node is not None else []
        while todo:
            x = todo.pop()
            if x in self.inside and x.node is not None:
                todo.extend(x.node.inputs)
            else:
                found.add(x)
        return found


def overwriting(step: HostStep) -> Loops | None:
    """What a step of the host writes into the buffer of an argument, as loops; None if the host has to do it."""
    op = step.node.op
    if not op.written or not all(supports(v.dtype) for v in (*step.node.inputs, *step.node.outputs)):
        return None
    out, scope = step.node.outputs[0], Scope()
    args = [Operand(f"t{i}", v.shape, v.dtype, v) for i, v in enumerate(step.node.inputs)]
    variables = [Var(n) for n in op.written_shape(*(v.shape for v in step.node.inputs))]
    k = LoopBuilder(scope, tuple(map(scope.var, variables)), out.dtype, out.shape)
    at, value, guard = op.written(k, *args)
    places = tuple(scope.lift(i, types.int64) for i in at)
    return Loops(scope, variables, [Store(Operand("out", out.shape, out.dtype, out), places, value, guard=guard)])


def reads(loops: Loops) -> list[Value]:
    return list(dict.fromkeys(x.attr.key for s in loops.stores for x in loads_in(s.value)))


def count(e: Expr) -> int:
    """Work for one element of an expression, in simple operations."""
    total, todo, seen = 0, [e], set()
    while todo:
        x = todo.pop()
        if x.id in seen or x.dtype is types.int64 and x.op in ("add", "mul", "sub", "var", "const"):
            continue
        seen.add(x.id)
        total += 0 if x.op in ("const", "var", "load", "param") else 10 if x.op in COSTLY else 1
        if x.op != "load":
            todo.extend(x.args)
        else:
            todo.extend(a for a in x.args if a.op not in ("var", "const"))
    return total


def reads_once(node: Node) -> bool:
    """Whether a reduction reads each element of its argument once."""
    from ..ops.reduction import Reduction

    return isinstance(node.op, Reduction)


def steps_of(graph: Graph, fixed: set[Value] | frozenset[Value] = frozenset()) -> list[Step]:
    """Steps of the compiled tier."""
    steps = Lowering(graph, True, fixed).run()
    keep_inside_what_nobody_else_reads(graph, steps)
    steps = add_up(graph, fuse(graph, steps, fixed), fixed)
    for s in steps:
        if isinstance(s, LoopStep) and s.loops is not None:
            s.loops = squares(flatten(s.loops))
    steps = split(graph, steps)
    return steps if fixed else grouped(graph, steps)[0]  # what is made beforehand comes first, see compiler.py


_no_products: set[Any] = set()  # operators that were looked at, with their arguments' unit axes and types


def single_steps(graph: Graph) -> list[Step]:
    """Steps of the first tier: one for each result of each node. Loop forms are hardly looked at here."""
    lowering = Lowering(graph, False)
    for node in graph.nodes:
        op = node.op
        plain = op.pointwise and not isinstance(op, Detach) and all(supports(v.dtype) for v in node.inputs)
        if plain and supports(node.outputs[0].dtype) and op.loops:
            kind = "map"
        else:
            seen = (type(op), *((v.dtype, *(n == 1 for n in v.shape)) for v in (*node.inputs, *node.outputs)))
            kind = "map" if seen in _no_products else lowering.kind(node)
            if kind in ("map", "reduce"):
                if len(_no_products) > 10_000:
                    _no_products.clear()
                _no_products.add(seen)
        inputs = list(dict.fromkeys(node.inputs))
        if kind == "host":
            lowering.host(node)
        elif kind == "alias":
            lowering.add(AliasStep(list(node.outputs), inputs, node))
        elif kind == "product":
            lowering.product(node)
        else:
            for v in node.outputs:
                lowering.add(LoopStep([v], inputs, node, None))  # type: ignore[arg-type]  # kernels.py has its own
    return lowering.steps


def keep_inside_what_nobody_else_reads(graph: Graph, steps: list[Step]) -> None:
    """Results that only their own kernel reads are not written to memory."""
    needed = set(graph.outputs)
    for s in steps:
        needed.update(s.inputs)
    for s in steps:
        if isinstance(s, LoopStep):
            for store in s.loops.stores:
                store.kept = store.out.key in needed
            s.outputs = [v for v in s.outputs if v in needed]
