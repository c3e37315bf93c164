"""First tier: one kernel per operator, element types and pattern of unit axes, for all sizes.

Kernels are compiled at first use and kept in memory and in the object cache. Where the loop form of an operator depends
on its sizes, there is one kernel per size.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import types
from ..ir.graph import Node, Value
from . import jit
from .cache import object_cache
from .emit import Emitter
from .expr import Expr, LoopBuilder, Operand, Scope, Var, compute_type
from .loops import Kernel, Loops, Store
from .plan import extent, split
from .steps import KernelStep, OwnKernel, ProductStep


@dataclass
class Ready:
    """A kernel in memory.

    Attributes:
        address: of its machine code.
        kernel: outer, inner, chunk, cost, params and messages; `operands` are positions: -1 the result, i argument i.
        code: keeps the machine code alive.
        data: the object that it was loaded from.
    """

    address: int
    kernel: Kernel
    code: Any
    data: bytes


_kernels: dict[str, Ready] = {}
_MOST = 4096  # kernels that stay in memory; programs keep theirs


def remember(key: str, ready: Ready) -> Ready:
    """Enters a kernel; of too many, those made first go."""
    if len(_kernels) >= _MOST:
        _launches.clear()
        for old in list(_kernels)[: _MOST // 2]:
            del _kernels[old]
    _kernels[key] = ready
    return ready


def launch(node: Node, index: int) -> dict[str, Any]:
    """A launch of the kernel for one result of a node, as `compiler.describe` wants it; "fn" is an address."""
    out = node.outputs[index]
    inputs = node.inputs
    twice = tuple(inputs.index(v) for v in inputs)
    key = (node.op, index, tuple(v.type for v in inputs), twice, out.type, jit.target())
    found = _launches.get(key)
    if found is None:
        if len(_launches) > 20_000:
            _launches.clear()
        found = _launches[key] = chosen(node, index, twice)
    ready, total, grain, dims = found
    values = [out if p < 0 else inputs[p] for p in ready.kernel.operands]
    return {"fn": ready.address, "total": total, "grain": grain, "dims": dims, "values": values,
            "messages": ready.kernel.messages, "code": ready}  # fmt: skip


_launches: dict[Any, tuple[Ready, int, int, list[int]]] = {}


def chosen(node: Node, index: int, twice: tuple[int, ...]) -> tuple[Ready, int, int, list[int]]:
    """The kernel for a result of a node, with units, units per task and sizes."""
    out = node.outputs[index]
    shapes, out_shape = patterns(node, out)
    op = node.op
    operands = tuple(f"{v.dtype.name}{pattern(s)}" for v, s in zip(node.inputs, shapes))
    attributes = {k: a for k, a in op.attributes().items() if k not in op.shape_attributes}
    numbers: dict[str, int] = {}
    for name in op.number_attributes:
        attributes[name] = tuple("n" if n > 0 else n for n in attributes[name])
        numbers.update((f"a_{name}_{i}", n) for i, n in enumerate(getattr(op, name)))
    key = f"{jit.target()}{op.name}{attributes}/{index}/{operands}{twice}->{out.dtype.name}{pattern(out_shape)}"
    ready = _kernels.get(key)
    if ready is None:
        if key not in _size_bound:
            ready = find(key, lambda: dynamic_kernel(node, index, shapes, out_shape))
            if ready is None:
                _size_bound.add(key)
        if ready is None:
            key = f"{key}/{op!r}/{[v.shape for v in node.inputs]}{out.shape}"
            ready = _kernels.get(key) or find(key, lambda: static_kernel(node, index))
    assert ready is not None, node
    sizes = sizes_of(shapes, out_shape) | numbers
    total, grain = split(ready.kernel, sizes)
    return ready, total, grain, [sizes[p] for p in ready.kernel.params]


def sizes_of(shapes: list[tuple[int, ...]], out_shape: tuple[int, ...]) -> dict[str, int]:
    """Sizes by the names that kernels know them by."""
    sizes = {f"s{k}_{j}": n for k, s in enumerate(shapes) for j, n in enumerate(s)}
    sizes.update((f"o_{j}", n) for j, n in enumerate(out_shape))
    return sizes


def work(node: Node, index: int) -> tuple[int, int]:
    """Steps of the outer loops of a launch, and of the inner ones in each."""
    kernel = launch(node, index)["code"].kernel
    shapes, out_shape = patterns(node, node.outputs[index])
    sizes = sizes_of(shapes, out_shape)
    for name in node.op.number_attributes:
        sizes.update((f"a_{name}_{i}", n) for i, n in enumerate(getattr(node.op, name)))
    return tuple(math.prod(extent(e, sizes) for e in loops) for loops in (kernel.outer, kernel.inner))  # type: ignore[return-value]


_size_bound: set[str] = set()


def patterns(node: Node, out: Value) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Shapes of the arguments and the result; of pointwise operators with like axes merged."""
    if not node.op.pointwise:
        return [v.shape for v in node.inputs], out.shape
    n = out.ndim
    padded = [(1,) * (n - v.ndim) + v.shape for v in node.inputs]
    merged: list[tuple[tuple[bool, ...], int]] = []
    for j, size in enumerate(out.shape):
        if size == 1:
            continue
        bits = tuple(p[j] != 1 for p in padded)
        if merged and merged[-1][0] == bits:
            merged[-1] = (bits, merged[-1][1] * size)
        else:
            merged.append((bits, size))
    shapes = [tuple(size if bits[i] else 1 for bits, size in merged) for i in range(len(padded))]
    return shapes, tuple(size for _, size in merged)


def pattern(shape: tuple[int, ...]) -> str:
    return "[" + "".join("1" if n == 1 else "n" for n in shape) + "]"


def find(key: str, make: Any) -> Ready | None:
    """The kernel from the object cache, or made and put there. None if it cannot be made for all sizes."""
    stored = object_cache().get(stored_key(key))
    if stored is not None:
        meta, code = decode(stored)
    else:
        kernel = make()
        if kernel is None:
            return None
        from .compiler import module_text

        code = jit.compile_object(module_text([kernel.text.replace("@KERNEL", "@k")], kernel.functions))
        meta = kernel
        object_cache().put(stored_key(key), encode(kernel, code))
    loaded = jit.load(code, ["k"])
    return remember(key, Ready(loaded.addresses["k"], meta, loaded, code))


def stored_key(key: str) -> str:
    from .compiler import source

    return f"kernel {source()} {key}"


def encode(k: Kernel, code: bytes) -> bytes:
    data = [k.operands, k.params, k.outer, k.chunk, k.inner, k.cost, k.messages]
    text = json.dumps(data, separators=(",", ":")).encode()
    return struct.pack("<q", len(text)) + text + code


def decode(stored: bytes) -> tuple[Kernel, bytes]:
    (n,) = struct.unpack_from("<q", stored)
    return Kernel("", *json.loads(stored[8 : 8 + n])), stored[8 + n :]


def dynamic_kernel(node: Node, index: int, shapes: list[tuple[int, ...]], out_shape: tuple[int, ...]) -> Kernel | None:
    scope = Scope()

    def symbols(shape: tuple[int, ...], name: str) -> tuple[Any, ...]:
        return tuple(1 if n == 1 else scope.make("param", types.int64, (), f"{name}_{j}") for j, n in enumerate(shape))

    out = symbols(out_shape, "o")
    if node.op.pointwise:
        arguments = [tuple(1 if n == 1 else out[j] for j, n in enumerate(s)) for s in shapes]
    else:
        arguments = [symbols(s, f"s{k}") for k, s in enumerate(shapes)]
    try:
        return build(node, index, scope, arguments, out, with_numbers(node.op, scope))
    except TypeError:
        return None  # the loop form asks for sizes


def with_numbers(op: Any, scope: Scope) -> Any:
    """The operator with the numbers of `number_attributes` known at run time only; its loop form is all it is for."""
    if not op.number_attributes:
        return op
    made = object.__new__(type(op))
    for name, value in op.attributes().items():
        if name in op.number_attributes:
            value = tuple(
                scope.make("param", types.int64, (), f"a_{name}_{i}") if n > 0 else n for i, n in enumerate(value)
            )
        object.__setattr__(made, name, value)
    return made


def static_kernel(node: Node, index: int) -> Kernel:
    return build(node, index, Scope(), [v.shape for v in node.inputs], node.outputs[index].shape)


def build(
    node: Node, index: int, scope: Scope, arguments: list[tuple[Any, ...]], shape: tuple[Any, ...], op: Any = None
) -> Kernel:
    out = node.outputs[index]
    operands = [Operand(f"t{i}", s, v.dtype, i) for i, (v, s) in enumerate(zip(node.inputs, arguments))]
    target = Operand("out", shape, out.dtype, -1)
    variables = [Var(n) for n in shape]
    at = tuple(scope.var(v) for v in variables)
    k = LoopBuilder(scope, at, out.dtype, shape, index)
    value = (op or node.op).loops(k, *operands)
    if not isinstance(value, Expr):
        value = scope.const(value, compute_type(out.dtype))
    kernel = Emitter(Loops(scope, variables, [Store(target, at, value)]), None, jit.vector_bytes()).kernel()
    kernel.operands = [o.key for o in kernel.operands]
    return kernel


def product_launch(step: ProductStep) -> dict[str, Any]:
    from .compiler import tile_spec

    ready, total, grain, dims = product_kernel(tile_spec(step, True))
    p = step.product
    return {"fn": ready.address, "total": total, "grain": grain, "dims": dims,
            "values": [p.a.key, p.b.key, step.outputs[0]], "messages": [], "code": ready}  # fmt: skip


def product_kernel(spec: Any) -> tuple[Ready, int, int, list[int]]:
    """The kernel for a contraction, with units, units per task and what it is told."""
    from . import tile
    from .compiler import instructions

    made = tile.plan(spec, jit.vector_bytes(), has=instructions())
    return product_code(made), made.total, made.grain, made.dims()


def product_code(made: Any) -> Ready:
    """The machine code of a planned contraction."""
    return written(f"product {jit.target()} {made.key}", lambda: made.text("k"))


def own_launch(s: KernelStep, x: OwnKernel) -> dict[str, Any]:
    from .compiler import module_text
    from .compiler import own_launch as launch

    text = lambda: module_text([x.text().replace("@KERNEL", "@k")], set())
    ready = written(f"own {jit.target()} {x.key}", text)
    return {**launch(s, x, ready.address), "code": ready}


def written(key: str, text: Callable[[], str]) -> Ready:
    """The kernel @k of a text that is compiled as it stands."""
    ready = _kernels.get(key)
    if ready is None:
        stored = object_cache().get(stored_key(key))
        if stored is None:
            stored = jit.compile_object(text(), optimize=False)
            object_cache().put(stored_key(key), stored)
        loaded = jit.load(stored, ["k"])
        ready = remember(key, Ready(loaded.addresses["k"], Kernel("", [], [], [], 0, [], 0, []), loaded, stored))
    return ready
