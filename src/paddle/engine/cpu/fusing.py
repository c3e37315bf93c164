"""Element-wise kernels that read a product's result become part of the product: its sums are finished in registers.

What is read beside it, such as a bias, a factor per channel or a residual, may be broadcast; what is written may lie
otherwise in memory, as long as neighbours stay neighbours. A product's own result is written if somebody else reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from .. import types
from ..ir.graph import Graph, Value
from .affine import Product
from .arithmetic import SIZES
from .epilogue import Epilogue, program
from .expr import Operand, Var, compute_type
from .linear import offset_of
from .loops import Loops, Store, loads_in
from .split import cut_of
from .steps import AliasStep, Finish, LoopStep, ProductStep, Step, WinogradStep

_SUMS = (types.float32, types.float64, types.bfloat16, types.float16, types.int32, types.int64)
MOST_COST = 15  # instructions for a vector, about: longer ones run faster in loops of their own
MOST_OPERANDS = 12

Strides = dict[Var, int]


def fuse(graph: Graph, steps: list[Step], fixed: Collection[Value] = ()) -> list[Step]:
    """The steps, with element-wise kernels moved into the products that they follow.

    fixed: values that are computed beforehand; what is made of them, and of others, is not.
    """
    fusing = Fusing(graph, steps, fixed)
    for s in steps:
        if isinstance(s, WinogradStep) or (isinstance(s, ProductStep) and whole(s)):
            any(isinstance(x, LoopStep) and fusing.join(s, x) for x in fusing.readers(s.outputs[0]))
    return fusing.steps


def whole(s: ProductStep) -> bool:
    """Whether a product can have an epilogue: it is not cut for threads."""
    return s.product.out in _SUMS and cut_of(s.product) is None


class Fusing:
    """The steps as they stand.

    Attributes:
        place: of each step, by its id. made: the step that makes a value, by number. read: the steps that read it.
    """

    def __init__(self, graph: Graph, steps: list[Step], fixed: Collection[Value]):
        self.graph, self.fixed = graph, fixed
        self.root: dict[Value, Value] = {}
        for s in steps:
            if isinstance(s, AliasStep):
                self.root[s.outputs[0]] = self.root_of(s.inputs[0])
        self.outputs = {self.root_of(v) for v in graph.outputs}
        self.number(steps)

    def root_of(self, v: Value) -> Value:
        return self.root.get(v, v)

    def number(self, steps: list[Step]) -> None:
        self.steps = steps
        self.place = {id(s): i for i, s in enumerate(steps)}
        self.made: dict[Value, int] = {}
        self.read: dict[Value, list[Step]] = {}
        for i, s in enumerate(steps):
            if not isinstance(s, AliasStep):
                self.made.update(dict.fromkeys(map(self.root_of, s.outputs), i))
                for v in dict.fromkeys(map(self.root_of, s.inputs)):
                    self.read.setdefault(v, []).append(s)

    def readers(self, v: Value) -> list[Step]:
        return list(self.read.get(self.root_of(v), ()))

    def join(self, s: ProductStep | WinogradStep, reader: LoopStep) -> bool:
        """Moves what a kernel computes from a product into the product; False where that cannot be."""
        own = self.root_of(s.outputs[0])
        reads = lambda st: any(self.root_of(v) is own for v in loaded([st]))
        mine = [st for st in reader.loops.stores if st.kept and reads(st)]
        rest = [st for st in reader.loops.stores if st.kept and not reads(st)]
        others = [x for x in self.readers(own) if x is not reader]
        if not mine or self.in_place(mine) or (own in self.fixed and any(st.out.key not in self.fixed for st in mine)):
            return False
        inputs = [v for v in loaded(mine) if self.root_of(v) is not own]
        at, here = self.place[id(s)], self.place[id(reader)]
        late = any(self.made.get(self.root_of(v), -1) > at for v in inputs)
        if late and any(self.place[id(x)] < here for x in others):
            return False  # they read the product before all is there that an epilogue needs
        kept = bool(others) or own in self.outputs
        plain = s.product if isinstance(s, ProductStep) else result_of(s)
        found = finished(plain, own if kept else None, lambda v: self.root_of(v) is own, reader.loops, mine)
        if found is None:
            return False
        product, finish, written = found
        made: Step
        if isinstance(s, ProductStep):
            made = ProductStep(written, list(dict.fromkeys((*s.inputs, *inputs))), s.node, product, finish)
        else:
            by_channel = beside_tiles(product, finish, s.node.outputs[0].shape[2])
            if by_channel is None:
                return False
            made = WinogradStep(written, [*s.inputs, *inputs], s.node, s.tile, finish, by_channel)
        left: list[Step] = []
        if rest:
            loops = replace(reader.loops, stores=rest)
            left.append(replace(reader, outputs=[st.out.key for st in rest], inputs=loaded(rest), loops=loops))
        steps: list[Step] = []
        for x in self.steps:
            if x is s:
                steps += [] if late else [made]
            elif x is reader:
                steps += [made, *left] if late else left
            elif kept or not (isinstance(x, AliasStep) and self.root_of(x.inputs[0]) is own):
                steps.append(x)
        self.number(steps)
        return True

    def in_place(self, stores: list[Store]) -> bool:
        """Whether a result could take the place of an argument, as only kernels of loops do."""
        read = [v for v in loaded(stores) if v.node is None]
        outs = [st.out.key for st in stores if self.root_of(st.out.key) in self.outputs]
        return any(x.type == out.type for x in read for out in outs)


def loaded(stores: list[Store]) -> list[Value]:
    """The values that stores read."""
    return list(dict.fromkeys(x.attr.key for st in stores for x in loads_in(st.value)))


def finished(
    p: Product, kept: Value | None, is_own: Callable[[Value], bool], loops: Loops, stores: list[Store]
) -> tuple[Product, Finish, list[Value]] | None:
    """A product that stores what the stores of a kernel make of it, and the values that it writes; None if it cannot.

    kept: its own result, where it is written, too. is_own: whether a value is that.
    """
    own: Strides | None = None
    read: dict[Operand, Strides] = {}
    for x in (x for st in stores for x in loads_in(st.value)):
        form = offset_of(x.attr, x.args) if len(x.args) == len(x.attr.shape) else None
        if form is None or form[1]:
            return None
        if is_own(x.attr.key):
            if own is not None and form[0] != own:
                return None
            own = form[0]
        elif read.setdefault(x.attr, form[0]) != form[0]:
            return None
    written: dict[Operand, Strides] = {}
    for st in stores:
        form = offset_of(st.out, st.at)
        if form is None or form[1] or st.guard is not None:
            return None
        written[st.out] = form[0]
    operands = {**read, **written}
    if (
        own is None
        or 0 in (x.extent for x in loops.vars)
        or len(operands) > MOST_OPERANDS
        or any(x.dtype.name not in (*SIZES, "bool") for x in operands)
    ):
        return None
    number = {x: j for j, x in enumerate(read)}
    kinds = [st.out.dtype for st in stores]
    made = program([st.value for st in stores], kinds, lambda e: number.get(e.attr))
    axes = aligned(p, own, [v for v in loops.vars if v.extent != 1], list(operands.values()))
    if made is None or axes is None:
        return None
    code, places = made
    result = Operand("c", (), p.out, kept) if kept is not None else best(list(written), p)
    if result is None:
        return None
    others = [(x, n) for x, n in zip(written, places) if x is not result]
    beside = [*read, *(x for x, _ in others)]
    at = list(operands)
    strides = tuple(tuple(moves[at.index(x)] for x in beside) for *_, moves in axes)
    whole = tuple(
        (n, a, b, c if c is None or kept is not None else moves[at.index(result)]) for n, a, b, c, moves in axes
    )
    if any(c == 1 and (new != 1 or not {*e} <= {0, 1}) for (_, _, _, c, _), (*_, new), e in zip(axes, whole, strides)):
        return None  # neighbours would be far apart
    first = next(n for n, step in enumerate(code) if step[0] == "sum")
    epilogue = Epilogue(
        p.out.name, code, first if kept is not None else places[list(written).index(result)],
        tuple(x.dtype.name for x in beside), tuple((len(read) + j, n) for j, (_, n) in enumerate(others)),
    )  # fmt: skip
    by_channel = [sum(e[j] != 0 for e in strides) <= 1 for j in range(len(beside))]
    if epilogue.each(by_channel.__getitem__) > MOST_COST:
        return None
    finish = Finish(epilogue, tuple(beside), strides)
    return replace(p, axes=whole, out=result.dtype), finish, [result.key, *(x.key for x, _ in others)]


def result_of(s: WinogradStep) -> Product:
    """A product in name: what a convolution by tiles writes."""
    out = s.node.outputs[0]
    n, _, o, h, w = out.shape
    nothing = Operand("x", (), out.dtype, None)
    axes = ((n, 0, 0, h * w * o), (h, 0, 0, w * o), (w, 0, 0, o), (o, 0, 0, 1))
    return Product(nothing, nothing, axes, 0, 0, out.dtype, out.dtype)


def beside_tiles(p: Product, finish: Finish, channels: int) -> tuple[bool, ...] | None:
    """Which further tensors have channels alone; None if one is neither so nor lies as the result, channels last."""
    summed = {j for j, _ in finish.epilogue.sums}
    if p.out is not types.float32 or any(
        x.dtype is not types.float32 for j, x in enumerate(finish.beside) if j not in summed
    ):
        return None
    own: list[int] = []
    step = 1
    for n, _, _, c in reversed(p.axes):
        if c != step:
            return None
        own.insert(0, step)
        step *= n
    alone = [c if c < channels else 0 for c in own]
    found = []
    for j in range(len(finish.beside)):
        strides = [e[j] for e in finish.strides]
        if strides not in (own, alone):
            return None
        found.append(strides == alone)
    if any(found[j] for j, _ in finish.epilogue.stores) or not all(found[j] for j in summed):
        return None
    return tuple(found)


def best(written: list[Operand], p: Product) -> Operand | None:
    """Which result the sums of a product that is visited several times wait in: one that holds them as they are."""
    fitting = [x for x in written if x.dtype is compute_type(p.out)]
    return next((x for x in (*fitting, *written) if x.dtype.name in SIZES), None)


Aligned = tuple[int, int, int, "int | None", tuple[int, ...]]


def aligned(p: Product, own: Strides, variables: list[Var], operands: list[Strides]) -> list[Aligned] | None:
    """The axes of a product, cut so that each runs along (a part of) one loop variable; with strides in the operands.

    own: strides of the variables in the product's result, all of which they have to walk, once.
    """
    free: Axes = [(n, (a, b, c)) for n, a, b, c in p.axes if c is not None and n != 1]
    walked = along(free, 2, own, variables)
    if walked is None:
        return None
    found = [(n, a, b, c, tuple(x.get(v, 0) * done for x in operands)) for n, (a, b, c), v, done in walked]
    none = (0,) * len(operands)
    return [*found, *((n, a, b, None, none) for n, a, b, c in p.axes if c is None)]


Axes = list[tuple[int, tuple[int, ...]]]  # extent, and strides in whatever is read and written
Walked = tuple[int, tuple[int, ...], Var, int]


def along(axes: Axes, spot: int, own: Strides, variables: list[Var]) -> list[Walked] | None:
    """Axes (extent, strides), cut so that each runs along (a part of) one variable: with it, and the steps it takes.

    own: strides of the variables in what the axes have the strides numbered `spot` in; they walk all of it, once.
    """
    free = sorted(axes, key=lambda axis: axis[1][spot])
    found: list[Walked] = []
    todo = sorted(variables, key=lambda v: own.get(v, 0))
    gone, done = 1, 1  # of the axis and of the variable at hand
    while free and todo:
        (n, strides), v = free[0], todo[0]
        if strides[spot] * gone != own.get(v, 0) * done:
            return None
        assert isinstance(v.extent, int)
        rest, more = n // gone, v.extent // done
        both = min(rest, more)
        if rest % both or more % both:
            return None
        found.append((both, tuple(x * gone for x in strides), v, done))
        gone, done = gone * both, done * both
        if gone == n:
            free, gone = free[1:], 1
        if done == v.extent:
            todo, done = todo[1:], 1
    return None if free or todo else found[::-1]
