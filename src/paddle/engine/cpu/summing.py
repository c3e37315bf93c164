"""Sums along the rows of a product's result are added up while that is stored, not by another pass over memory.

The statistics of a normalization after a convolution, and the gradients of biases and factors, are such sums. Each part
of the work adds up its own rows, in float64 and in an order of its own; a kernel of loops adds up the parts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from .. import types
from ..ir.graph import Graph, Value
from ..types import DType, TensorType
from .affine import Product
from .candidates import power_below
from .epilogue import Epilogue, program
from .epilogue import Step as CodeStep
from .expr import Expr, Operand
from .fusing import MOST_OPERANDS, Axes, Fusing, Strides, Walked, along, beside_tiles, result_of, whole
from .linear import offset_of
from .loops import has_reduce, loads_in
from .split import total
from .steps import Finish, LoopStep, ProductStep, Step, WinogradStep

MOST_COST = 15  # instructions for a vector, about, that a sum may add: longer ones stay in loops of their own
MOST_IN_ALL = 40
MOST_PARTS = 0.25  # of the bytes of the result


def add_up(graph: Graph, steps: list[Step], fixed: Collection[Value] = ()) -> list[Step]:
    """The steps, with sums of what products write moved into the products. fixed: as in `fuse`."""
    fusing = Fusing(graph, steps, fixed)
    for s in steps:
        if isinstance(s, WinogradStep) or (isinstance(s, ProductStep) and whole(s)):
            readers = {id(x): x for v in s.outputs for x in fusing.readers(v)}
            for x in readers.values():
                s = _moved(fusing, s, x) or s if isinstance(x, LoopStep) else s
    return fusing.steps


def _moved(fusing: Fusing, s: ProductStep | WinogradStep, reader: LoopStep) -> ProductStep | WinogradStep | None:
    """The product with the sums of a kernel, whose place a kernel takes that adds up the parts; None if it cannot."""
    stores = reader.loops.stores
    if len(stores) != 1 or len(reader.outputs) != 1:
        return None
    result = reader.outputs[0]
    own = {fusing.root_of(v): i for i, v in enumerate(s.outputs)}
    if (
        stores[0].guard is not None
        or stores[0].value.op != "reduce"
        or stores[0].value.attr[0] != "sum"
        or stores[0].value.dtype not in (types.float32, types.float64)
        or has_reduce(stores[0].value.args[0])
        or any((v in fusing.fixed) is not (result in fusing.fixed) for v in own)
    ):
        return None
    at = fusing.place[id(s)]
    if any(fusing.made.get(fusing.root_of(v), -1) >= at for v in reader.inputs if fusing.root_of(v) not in own):
        return None
    partial = Value(fusing.graph, TensorType((1, *result.shape), types.float64), reader.node, 0, "partial")
    summed = _summed(fusing, s, reader, own, partial)
    if summed is None:
        return None
    axes, finish, inputs = summed
    made: ProductStep | WinogradStep
    if isinstance(s, ProductStep):
        product = replace(s.product, axes=axes)
        made = ProductStep([*s.outputs, partial], inputs, s.node, product, finish)
    else:
        by_channel = beside_tiles(replace(result_of(s), axes=axes), finish, s.node.outputs[0].shape[2])
        if by_channel is None or by_channel.count(False) > s.by_channel.count(False):
            return None  # tiles would wait for the memory of a further tensor, which loops stream
        made = WinogradStep([*s.outputs, partial], inputs, s.node, s.tile, finish, by_channel)
    parts = _parts(made)
    if not parts or parts * partial.type.nbytes > MOST_PARTS * s.outputs[0].type.nbytes:
        return None
    partial.type = TensorType((parts, *result.shape), types.float64)
    fusing.number(
        [made if x is s else total(partial, result, "sum", reader) if x is reader else x for x in fusing.steps]
    )
    return made


def _parts(s: ProductStep | WinogradStep) -> int:
    """Parts of the work that have sums of their own; 0 where they cannot."""
    from . import compiler, jit, winograd

    if isinstance(s, ProductStep):
        schedule = compiler.tile_kernel(s).schedule
        return schedule.parts if schedule is not None else 0
    channels = s.node.outputs[0].shape[2]
    cut = winograd.plan(s.inputs[0].shape, channels, s.tile, jit.vector_bytes())
    lanes = power_below(channels - (cut.blocks - 1) * cut.block, jit.vector_bytes() // winograd.SIZE)
    return 0 if channels % lanes else cut.tile_blocks  # vectors that overlap would be added twice


def _summed(
    fusing: Fusing, s: ProductStep | WinogradStep, reader: LoopStep, own: dict[Value, int], partial: Value
) -> tuple[tuple[Any, ...], Finish, list[Value]] | None:
    """The axes of a product that adds up what a kernel does, how it ends, and what it reads."""
    product = s.product if isinstance(s, ProductStep) else result_of(s)
    finish = s.finish
    if finish is None:
        finish = Finish(Epilogue(product.out.name, (("sum", _computed(product.out), (), None),), 0), (), ())
    spots = [0, *(1 + next(j for j, x in enumerate(finish.beside) if x.key is v) for v in s.outputs[1:])]
    reads = _reads(fusing, reader, own)
    walked = None if reads is None else _walked(reader, _axes(s, product, finish), reads, spots)
    if reads is None or walked is None:
        return None
    moves = lambda form: tuple(form.get(v, 0) * done for _, _, v, done in walked)
    beside = list(finish.beside)
    moved = [tuple(strides[3 + j] for _, strides, *_ in walked) for j in range(len(beside))]
    number: dict[int, int] = {}
    for x, strides_of, i in reads:
        if i is None:
            to = moves(strides_of)
            same = (j for j, y in enumerate(beside) if y.key is x.attr.key and moved[j] == to)
            number[x.id] = next(same, len(beside))
            if number[x.id] == len(beside):
                beside.append(x.attr)
                moved.append(to)
    e = finish.epilogue
    kept = {0: e.result, **{1 + j: place for j, place in e.stores}}
    code = list(e.code)
    own_places = {i: _stored(code, e, kept[spots[i]], s.outputs[i]) for _, _, i in reads if i is not None}
    places = {x.id: own_places[i] for x, _, i in reads if i is not None}
    body = reader.loops.stores[0].value.args[0]
    made = program([body], [body.dtype], lambda x: number.get(x.id), code, lambda x: places.get(x.id))
    if made is None:
        return None
    sums = (*e.sums, (len(beside), made[1][0]))
    beside.append(Operand("partial", partial.shape, types.float64, partial))
    moved.append(moves(_form(reader)))
    epilogue = replace(e, code=made[0], operands=tuple(x.dtype.name for x in beside), sums=sums)
    before, after = (x.each(lambda j: not any(moved[j][:-1])) for x in (e, epilogue))
    if len(beside) > MOST_OPERANDS or after - before > MOST_COST or after > MOST_IN_ALL:
        return None
    summed = [(n, a, b, None) for n, a, b, c in product.axes if c is None]
    axes = (*((n, *strides[:3]) for n, strides, *_ in walked), *summed)
    columns = (*zip(*moved), *([(0,) * len(beside)] * len(summed)))
    inputs = list(dict.fromkeys((*s.inputs, *(x.attr.key for x, _, i in reads if i is None))))
    return axes, Finish(epilogue, tuple(beside), columns), inputs


Reads = list[tuple[Expr, Strides, "int | None"]]


def _reads(fusing: Fusing, reader: LoopStep, own: dict[Value, int]) -> Reads | None:
    """What a kernel loads, with strides, and the number of the product's results that it is; None where that varies."""
    found: Reads = []
    for x in loads_in(reader.loops.stores[0].value):
        form = offset_of(x.attr, x.args) if len(x.args) == len(x.attr.shape) else None
        if form is None or form[1] or x.attr.dtype.kind != "f":
            return None
        found.append((x, form[0], own.get(fusing.root_of(x.attr.key))))
    return found


def _form(reader: LoopStep) -> Strides:
    """The strides in what a kernel writes."""
    store = reader.loops.stores[0]
    form = offset_of(store.out, store.at)
    return form[0] if form is not None and not form[1] else {}


def _walked(reader: LoopStep, axes: Axes, reads: Reads, spots: list[int]) -> list[Walked] | None:
    """The axes of a product's result along the variables of a kernel that sums over all of them but the last in memory.

    spots: where the axes have the strides in each of the product's results, counted from those in the first.
    """
    variables = [*reader.loops.vars, *reader.loops.stores[0].value.attr[1]]
    mine = [(form, spots[i]) for _, form, i in reads if i is not None]
    if not mine or not all(isinstance(v.extent, int) and v.extent for v in variables):
        return None
    walked = along(axes, 2 + mine[0][1], mine[0][0], [v for v in variables if v.extent != 1])
    if walked is None or any(
        strides[2 + spot] != form.get(v, 0) * done for form, spot in mine for _, strides, v, done in walked
    ):
        return None
    out = _form(reader)
    left = [(n, strides[2], out[v] * done) for n, strides, v, done in walked if out.get(v)]
    return walked if left == [(reader.outputs[0].type.size, 1, 1)] else None


def _axes(s: ProductStep | WinogradStep, product: Product, finish: Finish) -> Axes:
    """The axes of a product's result, with strides in a, in b, in the result and in what is beside it."""
    if isinstance(s, ProductStep):
        beside = finish.strides or ((),) * len(product.axes)
        return [(n, (a, b, c, *e)) for (n, a, b, c), e in zip(product.axes, beside) if c is not None and n != 1]
    each = [(n, c) for n, _, _, c in product.axes if n != 1 and c is not None]
    return [(n, (0, 0, c, *(c if c == 1 or not alone else 0 for alone in s.by_channel))) for n, c in each]


def _computed(dtype: DType) -> str:
    return "float64" if dtype is types.float64 else "float32"


def _stored(code: list[CodeStep], e: Epilogue, place: int, v: Value) -> int:
    """The place of a value as it is read back, which is rounded if its type is narrow."""
    if v.dtype.itemsize >= 4 or (code[place][0] == "sum" and e.kind == v.dtype.name):
        return place
    code.append(("round_" + v.dtype.name, "float32", (place,), None))
    return len(code) - 1
