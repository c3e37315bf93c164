"""Programs as plain data: steps compiled to kernels, placed in memory, listed as launches.

A description is JSON-ready: {"arena", "outputs", "steps", "taken", "forwarded"}; a native step names its function,
units, grain, pointers and dims, a host step its operator. The compiled tier makes one module for a program and can do
so in another process; the first tier takes kernels one by one from `kernels.py`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import struct
from typing import Any

from .. import flags
from ..ir import saved
from ..ir.graph import Graph, Value
from ..ops.registry import registry
from ..passes import recurrence as recurrences
from ..passes.channels import fold_channels
from ..passes.convolution import narrow_convolutions
from ..passes.simplify import decompose, simplify
from ..passes.sums import moments, share_sums
from ..passes.winograd import transform_convolutions
from . import grouping, jit, recurrence
from .blocks import in_blocks
from .constants import first_the_fixed, fixed_values, has_fixed_work
from .emit import Emitter
from .expr import Operand
from .layout import turn_weights
from .loops import Kernel, loads_in
from .lower import overwriting, steps_of
from .plan import MemoryPlan, Place, split
from .recompute import recomputed
from .recurrence import RecurrenceStep
from .steps import (
    AliasStep,
    GroupStep,
    HostStep,
    KernelStep,
    LoopStep,
    OwnKernel,
    ProductStep,
    Step,
    WinogradGradStep,
    WinogradStep,
)


@functools.cache
def source() -> str:
    """Names this state of the engine's code: what another state compiled is not taken from the object cache."""
    engine = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    digest = hashlib.sha256()
    for folder in ("", "cpu", "ir", "ops", "passes"):
        for file in sorted(os.scandir(os.path.join(engine, folder)), key=lambda f: f.name):
            if file.name.endswith(".py"):
                status = file.stat()
                digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


STATUS = "status"  # among the values of a launch: the status buffer

FAIL = """
define internal void @pd.fail(ptr %s, i64 %code, i64 %value) noinline cold nounwind {
  %was = cmpxchg ptr %s, i64 0, i64 %code seq_cst seq_cst
  %first = extractvalue { i64, i1 } %was, 1
  br i1 %first, label %tell, label %done
tell:
  %p = getelementptr i64, ptr %s, i64 2
  store i64 %value, ptr %p
  br label %done
done:
  ret void
}
"""

_IPOW = """
define internal {t} @pd.ipow.{t}({t} %a, {t} %b) alwaysinline nounwind {{
entry:
  br label %head
head:
  %r = phi {t} [ 1, %entry ], [ %r2, %next ]
  %x = phi {t} [ %a, %entry ], [ %x2, %next ]
  %n = phi {t} [ %b, %entry ], [ %n2, %next ]
  %more = icmp sgt {t} %n, 0
  br i1 %more, label %next, label %done
next:
  %odd = trunc {t} %n to i1
  %rx = mul {t} %r, %x
  %r2 = select i1 %odd, {t} %rx, {t} %r
  %x2 = mul {t} %x, %x
  %n2 = ashr {t} %n, 1
  br label %head
done:
  %negative = icmp slt {t} %b, 0
  %out = select i1 %negative, {t} 0, {t} %r
  ret {t} %out
}}
"""


def module_text(kernels: list[str], functions: set[str]) -> str:
    """One module: kernels, and the functions they call."""
    lines: dict[str, None] = {}
    parts = []
    for k in kernels:
        for line in k.splitlines():
            if line.startswith("declare "):
                lines[line] = None
        parts.append("\n".join(x for x in k.splitlines() if not x.startswith("declare ")))
    plain = {f for f in functions if f != "fail" and not f.startswith("ipow.")}
    library = ""
    if plain:
        from .vector_math import define

        library = define(plain)
    kept = []
    for line in library.splitlines():
        if line.startswith("declare "):
            lines[line] = None
        else:
            kept.append(line)
    extra = [_IPOW.format(t=f.split(".")[1]) for f in sorted(functions) if f.startswith("ipow.")]
    if "fail" in functions:
        extra.append(FAIL)
    return with_loop_hints("\n".join([*lines, *kept, *extra, *parts]) + "\n")


def with_loop_hints(text: str) -> str:
    """Numbers the hints on loops: each needs a node of its own."""
    nodes = ['!0 = !{!"llvm.loop.unroll.disable"}']
    widths = {"0": ""}
    for w in ("4", "8", "16"):
        widths[w] = f", !{len(nodes)}"
        nodes.append(f'!{len(nodes)} = !{{!"llvm.loop.vectorize.width", i32 {w}}}')

    def number(match: re.Match[str]) -> str:
        n = len(nodes)
        nodes.append(f"!{n} = distinct !{{!{n}, !0{widths[match[1]]}}}")
        return f"!{n}"

    text = re.sub(r"!LOOP(\d+)", number, text)
    return text + "\n".join(nodes) + "\n"


def prepare(graph: Graph, fuse: bool) -> Graph:
    """The graph in primitives, and simplified if the tier fuses."""
    each = lambda g: narrow_convolutions(moments(share_sums(simplify(decompose(g))))) if fuse else decompose(g)
    return recurrences.prepare(each(graph), each, numbers_inside=fuse)


# ---- the compiled tier ------------------------------------------------------------------------
def lowered(graph: Graph) -> tuple[Graph, list[Step]]:
    """The graph as it is compiled, and its steps."""
    graph, steps, _ = lowered_for(graph, ())
    return graph, steps


def lowered_for(graph: Graph, constant: tuple[bool, ...]) -> tuple[Graph, list[Step], int]:
    """The same for constant inputs; with the number of steps that run only when one of those has changed."""
    graph = prepare(graph, True)
    if any(constant):
        folded = fold_channels(graph, fixed_values(graph, constant))
        folded = turn_weights(transform_convolutions(folded, fixed_values(folded, constant)))
        fixed = fixed_values(folded, constant)
        steps, early = first_the_fixed(folded, steps_of(folded, fixed), fixed)
        if early:
            return folded, *grouping.grouped(folded, *in_blocks(folded, steps, early, tile_kernel))
    graph = recomputed(turn_weights(transform_convolutions(graph)))
    return graph, steps_of(graph), 0


def liftable(graph: Graph, constant: tuple[bool, ...]) -> bool:
    """Whether runs have less to do where some inputs are constant."""
    return has_fixed_work(turn_weights(transform_convolutions(prepare(graph, True))), constant)


def compile_graph(
    graph: Graph, donated: tuple[bool, ...], constant: tuple[bool, ...] = ()
) -> tuple[dict[str, Any], list[bytes]]:
    """The whole graph, fused: its description and the objects with its kernels. constant: inputs that mostly stay."""
    graph, steps, early = lowered_for(graph, constant)
    plan = MemoryPlan(graph, steps, donated, early=early)
    loops: list[str] = []
    products: list[str] = []
    functions: set[str] = set()
    names: dict[str, str] = {}

    def function(text: str, texts: list[str]) -> str:
        """The name of a kernel; equal ones are compiled once."""
        got = names.get(text)
        if got is None:
            got = names[text] = f"{'k' if texts is loops else 'p'}{len(texts)}"
            texts.append(text.replace("@KERNEL", f"@{got}"))
        return got

    def native(steps: list[Step], plan: MemoryPlan) -> dict[int, Any]:
        found: dict[int, Any] = {}

        def loop_launch(kernel: Kernel) -> dict[str, Any]:
            functions.update(kernel.functions)
            total, grain = split(kernel, {})
            return {
                "fn": function(kernel.text, loops), "total": total, "grain": grain, "dims": [],
                "values": [o.key for o in kernel.operands], "messages": kernel.messages,
            }  # fmt: skip

        def group_launch(s: GroupStep, plan: MemoryPlan, index: int) -> dict[str, Any]:
            kernels = []
            for member in s.members:
                member, sizes = grouping.sized(member)
                kernels.append((loop_kernel(member, plan, index), sizes))
                functions.update(kernels[-1][0].functions)
            names = [function(kernel.text, loops) for kernel, _ in kernels]
            dims, tasks = grouping.table(kernels, names)
            values = [v for kernel, _ in kernels for v in (STATUS, *(o.key for o in kernel.operands))]
            return {
                "fn": function(grouping.text(names), loops), "total": tasks, "grain": 1, "dims": dims,
                "values": values[1:], "messages": [],
            }  # fmt: skip

        for i, s in enumerate(steps):
            written = overwriting(s) if isinstance(s, HostStep) and i in plan.overwriting else None
            if written is not None:
                found[i] = loop_launch(Emitter(written, {}, jit.vector_bytes()).kernel())
            elif isinstance(s, LoopStep):
                found[i] = loop_launch(loop_kernel(s, plan, i))
            elif isinstance(s, GroupStep):
                found[i] = group_launch(s, plan, i)
            elif isinstance(s, ProductStep):
                found[i] = product_launch(s, lambda text: function(text, products))
            elif isinstance(s, (WinogradStep, WinogradGradStep)):
                found[i] = winograd_launch(s, lambda text: function(text, products))
            elif isinstance(s, KernelStep):
                found[i] = [own_launch(s, x, function(x.text(), products)) for x in s.kernels]
            elif isinstance(s, RecurrenceStep):
                found[i] = native(s.steps, s.plan)
        return found

    made = native(steps, plan)
    objects = [jit.compile_object(module_text(loops, functions))] if loops else []
    if products:  # written as they shall be: LLVM's passes take long over them and gain nothing
        objects.append(jit.compile_object(module_text(products, set()), optimize=False))
    description = describe(graph, steps, plan, made)
    if plan.kept:
        count = sum(not isinstance(s, AliasStep) for s in steps[:early])
        read = {plan.root_of(v) for s in steps[:early] for v in s.inputs}
        used = [i for i, v in enumerate(graph.inputs) if v in read]
        description["prepared"] = {"bytes": plan.kept, "steps": count, "inputs": used}
    return description, objects


def loop_kernel(s: LoopStep, plan: MemoryPlan, index: int) -> Kernel:
    """The kernel of a step; what it reads and writes in one buffer is one operand, under whatever shape it is read."""
    shared = plan.shared.get(index, {})
    outs = {st.out.key: st.out for st in s.loops.stores if st.kept}
    merged = {}
    if shared:
        for st in s.loops.stores:
            for e in loads_in(st.value):
                root = plan.root_of(e.attr.key)
                if root in shared:
                    merged[e.attr] = outs[shared[root]]
    return Emitter(s.loops, merged, jit.vector_bytes()).kernel()


def tile_kernel(s: ProductStep) -> Any:
    from . import tile

    return tile.plan(tile_spec(s, False), jit.vector_bytes(), has=instructions())


def product_launch(s: ProductStep, function: Any) -> dict[str, Any]:
    kernel = tile_kernel(s)
    beside = s.finish.beside if s.finish is not None else ()
    return {
        "fn": function(kernel.text("KERNEL")), "total": kernel.total, "grain": kernel.grain, "dims": kernel.dims(),
        "values": [s.product.a.key, s.product.b.key, s.outputs[0], *(x.key for x in beside)], "messages": [],
    }  # fmt: skip


def winograd_launch(s: WinogradStep | WinogradGradStep, function: Any) -> dict[str, Any]:
    from . import winograd, winograd_gradient

    x = s.inputs[0].shape
    beside: tuple[Operand, ...] = ()
    cut: Any
    if isinstance(s, WinogradStep):
        cut = winograd.plan(x, s.node.outputs[0].shape[2], s.tile, jit.vector_bytes())
        epilogue = None
        if s.finish is not None:
            epilogue, beside = s.finish.epilogue, s.finish.beside
        text = winograd.text(cut, "KERNEL", epilogue, s.by_channel, instructions())
    else:
        cut = winograd_gradient.plan(x, s.outputs[0].shape[-3], jit.vector_bytes())
        text = winograd_gradient.text(cut, "KERNEL")
    return {
        "fn": function(text), "total": cut.units, "grain": cut.grain, "dims": [],
        "values": [*s.inputs[:2], s.outputs[0], *(v.key for v in beside)], "messages": [],
    }  # fmt: skip


def own_launch(s: KernelStep, x: OwnKernel, fn: Any) -> dict[str, Any]:
    return {"fn": fn, "total": x.total, "grain": x.grain, "dims": x.dims, "values": s.values(x), "messages": []}


def instructions() -> tuple[str, ...]:
    """What products may use of the target."""
    from .arithmetic import INSTRUCTIONS

    return tuple(i for i in INSTRUCTIONS if jit.has(i))


def tile_spec(s: ProductStep, dynamic: bool) -> Any:
    from . import tile

    p, finish = s.product, s.finish
    strides = finish.strides if finish is not None else ((),) * len(p.axes)
    axes = tuple(tile.Axis(*a, e) for a, e in zip(p.axes, strides))
    stored = p.a.dtype.name, p.b.dtype.name, p.out.name
    epilogue = finish.epilogue if finish is not None else None
    return tile.Contraction(axes, p.dtype.name, p.a_offset, p.b_offset, False, dynamic, *stored, epilogue)


# ---- descriptions -----------------------------------------------------------------------------
def describe(graph: Graph, steps: list[Step], plan: MemoryPlan, native: dict[int, Any]) -> dict[str, Any]:
    """A program as plain data. native: by step, its launch; of a recurrence, those of its step."""
    out = launches(steps, plan, native)
    return {
        "arena": plan.arena,
        "inputs": len(graph.inputs),
        "outputs": [[list(v.shape), v.dtype.name] for v in graph.outputs],
        "steps": out,
        "taken": sorted(plan.taken.items()),
        "written": sorted({p.base[1] for v, p in plan.place.items() if p.base[0] == "input" and plan.made(v)}),
        "forwarded": [[j, kind, i] for j, (kind, i) in sorted(plan.forwarded.items())],
        "host_outputs": [
            [j, plan.place[plan.root_of(v)].base[1]]
            for j, v in enumerate(graph.outputs)
            if j not in plan.forwarded and plan.place[plan.root_of(v)].base[0] == "host"
        ],
    }


def launches(steps: list[Step], plan: MemoryPlan, native: dict[int, Any]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for i, s in enumerate(steps):
        if isinstance(s, AliasStep):
            continue
        line = list(s.node.line) if s.node.line else None
        if isinstance(s, HostStep) and i not in native:
            out.append({
                "host": s.node.op.name, "attrs": {k: saved.encode(a) for k, a in s.node.op.attributes().items()},
                "in": [spot(plan, v) for v in s.node.inputs], "out": [spot(plan, v) for v in s.node.outputs],
                "overwrites": i in plan.overwriting, "line": line,
            })  # fmt: skip
        elif isinstance(s, RecurrenceStep):
            within = launches(s.steps, s.plan, native[i])
            repeat = recurrence.describe(s, within, lambda v: place(plan, v), plan.scratch.get(i, 0))
            out.append({"repeat": repeat, "line": line})
        else:
            scratch = ["arena", 0, plan.scratch.get(i, 0)]
            for n in native[i] if isinstance(s, KernelStep) else [native[i]]:
                out.append({
                    "fn": n["fn"], "total": n["total"], "grain": n["grain"], "dims": n["dims"],
                    "ptrs": [
                        scratch if v is None else ["status", 0, 0] if v is STATUS else place(plan, v)
                        for v in n["values"]
                    ],
                    "messages": n["messages"], "op": s.node.op.name, "line": line,
                })  # fmt: skip
    return out


def place(plan: MemoryPlan, v: Value) -> list[Any]:
    p: Place = plan.place[plan.root_of(v)]
    return ["arena", 0, p.offset] if p.base == "arena" else [p.base[0], p.base[1], p.offset]


def spot(plan: MemoryPlan, v: Value) -> list[Any]:
    return [*place(plan, v), list(v.shape), v.dtype.name]


# ---- compiling elsewhere ----------------------------------------------------------------------
def payload(graph: Graph, donated: tuple[bool, ...], constant: tuple[bool, ...] = ()) -> bytes:
    """What another process needs to compile a graph; also what names the result in the object cache."""
    data: dict[str, Any] = {
        "graph": saved.to_dict(graph), "donated": list(donated),
        "features": flags.get("FLAGS_cpu_features"), "winograd": flags.get("FLAGS_winograd"),
        "recompute": flags.get("FLAGS_recompute"),
    }  # fmt: skip
    if any(constant):
        data["constant"] = list(constant)
    for n in data["graph"]["nodes"]:
        n.pop("line", None)
    return json.dumps(data, separators=(",", ":")).encode()


def compile_payload(data: bytes) -> bytes:
    """Description and object for a payload, as one byte string."""
    from ..ops import __path__  # noqa: F401  (all operators are defined)

    job = json.loads(data)
    flags.set_("FLAGS_cpu_features", job["features"])
    flags.set_("FLAGS_winograd", job["winograd"])
    flags.set_("FLAGS_recompute", job["recompute"])
    graph = saved.from_dict(job["graph"], registry)
    for i, n in enumerate(graph.nodes):
        n.line = ("", i)  # the asking process knows the lines
    description, objects = compile_graph(graph, tuple(job["donated"]), tuple(job.get("constant", ())))
    return pack(description, objects)


def pack(description: dict[str, Any], objects: list[bytes]) -> bytes:
    parts = [json.dumps(description, separators=(",", ":")).encode(), *objects]
    return b"".join(struct.pack("<q", len(p)) + p for p in parts)


def unpack(result: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Description and objects."""
    parts, at = [], 0
    while at < len(result):
        (n,) = struct.unpack_from("<q", result, at)
        parts.append(result[at + 8 : at + 8 + n])
        at += 8 + n
    return json.loads(parts[0]), parts[1:]


def cache_key(data: bytes) -> str:
    return f"program {source()} {hashlib.sha256(data).hexdigest()}"
