"""Attention by blocks: the kernels of `ops.attention`, forwards and backwards.

A unit of the forward kernel takes a block of queries of one head past its keys, block by block, with the greatest score
and the sum of exponentials so far of each row. A unit of the backward kernel takes the keys of one head, or a part of
them, past the queries; what it gives to the queries lies apart for each part, and a second kernel adds the parts. So no
array of queries by keys is ever whole, and no sum depends on the number of threads.

All sizes but the widths of the heads are numbers in %dims: both tiers run the same kernels.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Sequence
from typing import Any

from ..ir.graph import Node
from ..ops.attention import Attention
from ..types import TensorType
from .attention_code import Form
from .attention_text import backward, forward, total
from .plan import ALIGN
from .steps import KernelStep, OwnKernel

TASK_WORK = 4e6  # multiply-adds in a task, some 30 microseconds
PARTS = 16  # units of the backward kernel that are worth having, and the most parts of the keys


SUPPORTED = ("float32", "float64", "bfloat16", "float16")


def form_of(op: Any, types: Sequence[TensorType], mask: TensorType | None) -> Form | None:
    """What the kernels of an operator are like; None where there are none for its arguments."""
    from . import jit
    from .compiler import instructions

    q, k, v = types[:3]
    if not all(n for t in (q, k, v) for n in t.shape) or q.dtype.name not in SUPPORTED:
        return None
    kind = "" if mask is None else "bool" if mask.dtype.is_bool else "added"
    form = Form(q.dtype.name, q.shape[3], v.shape[3], kind, op.causal, jit.vector_bytes(), instructions())
    return form if form.fits else None


def plan(op: Any, types: Sequence[TensorType]) -> tuple[list[OwnKernel], int] | None:
    """The kernels for arguments of these types and bytes of scratch memory; None where numpy has to do it."""
    forwards = isinstance(op, Attention)
    mask = types[3] if len(types) == (4 if forwards else 7) else None
    form = form_of(op, types, mask)
    if form is None:
        return None
    return _forward(op, types, mask, form) if forwards else _backward(op, types, mask, form)


def step_of(node: Node) -> KernelStep | None:
    """The step for a node, None where numpy has to do it."""
    found = plan(node.op, [v.type for v in node.inputs])
    if found is None:
        return None
    return KernelStep(
        list(node.outputs), list(dict.fromkeys(node.inputs)), node, *found, functools.partial(plan, node.op)
    )


def cut(n: int, most: int, even: int) -> int:
    """The size of blocks of at most `most`, a multiple of `even` unless there is one alone."""
    blocks = -(-n // most)
    size = -(-n // blocks)
    return size if blocks == 1 else min(most, -(-size // even) * even)


def _grain(units: int, work: float) -> int:
    return max(1, min(units, round(TASK_WORK * units / max(work, 1.0))))


def _rows(types: Sequence[TensorType]) -> list[int]:
    """Bytes from row to row and from batch to batch, for each of [B, S, H, K]."""
    found = []
    for t in types:
        row = t.shape[2] * t.shape[3] * t.dtype.itemsize
        found += [row, t.shape[1] * row]
    return found


def _mask(mask: TensorType | None) -> list[int]:
    """Bytes from batch to batch, head to head and query to query; 0 where all share it."""
    if mask is None:
        return [0, 0, 0]
    shape = (1,) * (4 - mask.ndim) + mask.shape
    strides, stride = [], mask.dtype.itemsize
    for n in reversed(shape):
        strides.append(stride if n != 1 else 0)
        stride *= n
    return strides[:0:-1]


def _number(x: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def _sizes(op: Any, q: TensorType, k: TensorType) -> dict[str, int]:
    s, h, t, g = q.shape[1], q.shape[2], k.shape[1], k.shape[2]
    return {"heads": h, "shared": h // g, "queries": s, "keys": t, "shift": op.shift, "scale": _number(op.scale)}


def _seen(op: Any, s: int, t: int) -> float:
    """Pairs of a query and a key that it sees, about."""
    if not op.causal:
        return float(s * t)
    return float(sum(min(max(i + op.shift + 1, 0), t) for i in range(0, s, max(1, s // 64)))) * max(1, s // 64)


def _forward(op: Any, types: Sequence[TensorType], mask: TensorType | None, form: Form) -> tuple[list[OwnKernel], int]:
    q, k, v = types[:3]
    b, s, h, _ = q.shape
    block, keys = cut(s, form.queries, form.step), cut(k.shape[1], form.keys, form.lanes)
    blocks = -(-s // block)
    dims = {
        **_sizes(op, q, k), "block": block, "blocks": blocks, "key_block": keys,
        **dict(zip(("q.row", "q.batch", "k.row", "k.batch", "v.row", "v.batch"), _rows((q, k, v)))),
        **dict(zip(("mask.batch", "mask.head", "mask.row"), _mask(mask))),
    }  # fmt: skip
    pairs = b * h * _seen(op, s, k.shape[1])
    units, work = b * h * blocks, pairs * (form.width + form.value_width + 16)
    kernel = OwnKernel(
        f"attention {form!r}", lambda: forward(form, list(dims)), units, _grain(units, work), list(dims.values()),
        [*range(len(types)), -1, -2], 2.0 * pairs * (form.width + form.value_width),
    )  # fmt: skip
    return [kernel], 0


def _backward(op: Any, types: Sequence[TensorType], mask: TensorType | None, form: Form) -> tuple[list[OwnKernel], int]:
    q, k, v = types[:3]
    b, s, h, _ = q.shape
    t, g = k.shape[1:3]
    block, keys = cut(s, form.back_queries, form.step), cut(t, form.back_keys, form.lanes)
    blocks, key_blocks = -(-s // block), -(-t // keys)
    parts = max(1, min(PARTS // (b * g), key_blocks))
    each = -(-key_blocks // parts)
    parts = -(-key_blocks // each)
    rows = blocks * form.padded(block)
    dims = {
        **_sizes(op, q, k), "groups": g, "block": block, "blocks": blocks, "key_block": keys, "key_blocks": key_blocks,
        "parts": parts, "each": each, "block_bytes": form.padded(block) * form.row(form.width),
        "head_bytes": rows * form.row(form.width), "part_bytes": b * h * rows * form.row(form.width),
        **dict(zip(("q.row", "q.batch", "k.row", "k.batch", "v.row", "v.batch"), _rows((q, k, v)))),
        **dict(zip(("mask.batch", "mask.head", "mask.row"), _mask(mask))),
    }  # fmt: skip
    pairs = b * h * _seen(op, s, t)
    units, work = b * g * parts, pairs * (3 * form.width + 2 * form.value_width + 16)
    main = OwnKernel(
        f"attention_grad {form!r}", lambda: backward(form, list(dims)), units, _grain(units, work), list(dims.values()),
        [*range(len(types)), -2, -3, None], 2.0 * pairs * (3 * form.width + 2 * form.value_width),
    )  # fmt: skip
    units, plain = b * h * blocks, form.plain()
    added = OwnKernel(
        f"attention_total {plain!r}", lambda: total(plain, list(dims)), units, _grain(units, math.prod(q.shape) * 16.0),
        list(dims.values()), [None, -1], float(parts * math.prod(q.shape)),
    )  # fmt: skip
    return [main, added], -(-parts * dims["part_bytes"] // ALIGN) * ALIGN
