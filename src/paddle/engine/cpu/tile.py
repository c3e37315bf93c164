"""Register tiles for contractions: sums of products with affine accesses, and how each is cut.

A matrix product in any transposition, a batched product, a convolution and both its gradients, an einsum: all are
`C[...] = sum over reduce axes of A[...] * B[...]`. `plan` simplifies the axes, weighs the possible tiles with a small
model of the core (two multiply-adds and two loads a cycle) and gives a `Kernel`, whose text `contraction.py` writes.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from .arithmetic import INSTRUCTIONS, RESULT, SIZES
from .candidates import Candidate, Way, candidates, way_of
from .epilogue import Epilogue
from .schedule import Schedule
from .units import block_reduce, spread


@dataclass(frozen=True)
class Axis:
    """One loop of a contraction.

    Attributes:
        extent: number of steps.
        a, b: element strides in A and B; 0 where the operand is not indexed by this axis.
        c: element stride in C; None for a reduce axis.
        e: element strides in the further tensors of the epilogue.
    """

    extent: int
    a: int
    b: int
    c: int | None
    e: tuple[int, ...] = ()


@dataclass(frozen=True)
class Contraction:
    """C[...] = sum of A[...] * B[...] over the axes whose `c` is None.

    Attributes:
        axes: all loops, in any order.
        dtype: what elements count as: "float32", "float64", "bfloat16", "float16", "int8", "int32" or "int64".
        a_offset, b_offset: first element read at index 0 of all axes.
        accumulate: C += instead of C =.
        dynamic: extents, strides other than 0 and 1, and offsets are read from %dims.
        a_type, b_type: how A and B are stored, if otherwise: "float32" for "bfloat16" (it is rounded as it is read),
            "uint8" for "int8".
        c_type: how C is stored. Default: as the elements; int32 for int8. Sums of 16-bit floats are float32 and are
            rounded once, at the end.
        epilogue: what each sum goes through before it is stored; not with `accumulate` or `dynamic`. `c_type` is then
            the type of its result.
    """

    axes: tuple[Axis, ...]
    dtype: str
    a_offset: int = 0
    b_offset: int = 0
    accumulate: bool = False
    dynamic: bool = False
    a_type: str = ""
    b_type: str = ""
    c_type: str = ""
    epilogue: Epilogue | None = None

    @property
    def types(self) -> tuple[str, str, str]:
        """How A, B and C are stored."""
        return self.a_type or self.dtype, self.b_type or self.dtype, self.c_type or RESULT.get(self.dtype, self.dtype)


@dataclass(frozen=True)
class Kernel:
    """A planned contraction.

    The function is `void name(ptr ptrs, ptr dims, i64 begin, i64 end)`, with ptrs[1..3] = A, B, C, then the further
    tensors of the epilogue; it computes the units [begin, end) of [0, total). Units are independent, so the result does
    not depend on how they are shared out.
    """

    spec: Contraction
    schedule: Schedule | None  # None: nothing to compute
    cycles: float = 0.0
    way: Way = ()  # what tells the choice from the others there were

    @property
    def total(self) -> int:
        return self.schedule.total if self.schedule else 0

    @property
    def grain(self) -> int:
        """Units in a task of about 20 microseconds; two tasks at least where a second thread is worth it."""
        tasks = max(round(self.cycles / TASK_CYCLES), 2 if self.cycles > TASK_CYCLES / 3 else 1)
        return max(1, -(-self.total // tasks))

    @cached_property
    def key(self) -> str:
        """Equal keys mean equal code (the name apart)."""
        s = self.schedule
        if s is None:
            return "nothing"
        if not s.dynamic:
            return repr(s)
        kinds = ",".join(str(v) if unit and s.literal(v) else "*" for v, unit in self.numbers)
        fixed = (s.kind, s.dtype, s.vector_bytes, s.lanes, s.swap, s.accumulate, s.k_block, s.panel is None)
        stored = (s.recipe.name, s.a_type, s.b_type, s.c_type, s.has, s.left, s.pair_at, s.scratch)
        sizes = (s.v_cut.s1, s.r1_cut.s1, s.r2_cut.s1, *map(len, (s.units, s.loops, s.k, s.panel or ())))
        return repr((*fixed, *stored, *sizes, kinds))

    @cached_property
    def numbers(self) -> list[tuple[int, int]]:
        return list(self.schedule.numbers().values()) if self.schedule else []

    def dims(self) -> list[int]:
        """What %dims holds: int64; empty for a static kernel."""
        s = self.schedule
        if s is None or not s.dynamic:
            return []
        return [v * unit if unit else v for v, unit in self.numbers]

    def text(self, name: str) -> str:
        """The LLVM text of the function."""
        if self.schedule is None:
            return f"define void @{name}(ptr %ptrs, ptr %dims, i64 %begin, i64 %end) nounwind {{\n  ret void\n}}\n"
        from .contraction import emit  # kernels that are in the cache need no text

        return emit(self.schedule, name)


TASK_CYCLES = 90_000.0


def structure(spec: Contraction) -> Any:
    """What the choice for a dynamic contraction goes by: strides, and sizes about."""
    about = lambda n: n if n <= 16 else 16 + n.bit_length()
    kind = lambda stride: -1 if stride is None else min(abs(stride), 2)
    rest = lambda x: x.extent % 4 if x.c is None and spec.dtype in ("bfloat16", "int8") else 0
    return spec.dtype, spec.types, tuple((about(x.extent), kind(x.a), kind(x.b), kind(x.c), rest(x)) for x in spec.axes)


FETCH_CYCLES = 0.08  # to bring a byte from memory to one core


def fetched(spec: Contraction) -> float:
    """Bytes that have to come from memory: all operands, once, where they are larger than a core's own cache."""
    a, b, _ = spec.types
    sizes = [math.prod(x.extent for x in spec.axes if stride(x)) for stride in (lambda x: x.a, lambda x: x.b)]
    total = sizes[0] * SIZES[a] + sizes[1] * SIZES[b]
    return total if total > 1 << 20 else 0.0


_ways: dict[Any, Way] = {}  # what was chosen last, by structure


@lru_cache(maxsize=4096)
def plan(spec: Contraction, vector_bytes: int, registers: int = 0, has: Collection[str] = ()) -> Kernel:
    """Chooses the tile for a contraction.

    Args:
        spec: what to compute.
        vector_bytes: 16 (SSE, NEON), 32 (AVX2) or 64 (AVX-512).
        registers: vector registers of the target. Default: 32 with AVX-512, else 16.
        has: what of `arithmetic.INSTRUCTIONS` the target has (hashable); elements of less than 32 bits need some to be
            fast.

    Returns:
        Kernel: text, number of units, and what %dims holds.
    """
    if any(x.extent == 0 for x in spec.axes if x.c is not None):
        return Kernel(spec, None)
    registers = registers or (32 if vector_bytes == 64 else 16)
    matters = matters_of(spec, has)
    known = (vector_bytes, registers, matters, structure(spec)) if spec.dynamic else None
    found = list(candidates(spec, vector_bytes, registers, matters, _ways[known])) if known in _ways else []
    best = min(found or candidates(spec, vector_bytes, registers, matters), key=lambda c: c[0])
    made = scheduled(spec, vector_bytes, matters, best)
    if known is not None:
        _ways[known] = made.way
    return made


def alike(spec: Contraction, other: Kernel, vector_bytes: int, has: Collection[str] = ()) -> Kernel | None:
    """The kernel for a contraction that is cut in the way of another one, if it can be."""
    matters = matters_of(spec, has)
    found = list(candidates(spec, vector_bytes, 32 if vector_bytes == 64 else 16, matters, other.way))
    return scheduled(spec, vector_bytes, matters, min(found, key=lambda c: c[0])) if found else None


def matters_of(spec: Contraction, has: Collection[str]) -> tuple[str, ...]:
    """The instructions of the target that matter for the elements of a contraction."""
    plain = spec.dtype in ("float32", "float64", "int32", "int64")
    return () if plain and spec.epilogue is None else tuple(i for i in INSTRUCTIONS if i in has)


def scheduled(spec: Contraction, vector_bytes: int, matters: tuple[str, ...], candidate: Candidate) -> Kernel:
    """The kernel for a candidate: its units, and how its reduce axes are cut."""
    cycles, parts, packed = candidate
    cycles = max(cycles, fetched(spec) * FETCH_CYCLES)
    (a, b), (a_type, b_type, c_type) = (spec.a_offset, spec.b_offset), spec.types
    if parts["swap"]:
        a, b, a_type, b_type = b, a, b_type, a_type
    s = Schedule(
        dtype=spec.dtype, accumulate=spec.accumulate, dynamic=spec.dynamic, vector_bytes=vector_bytes,
        a_offset=a, b_offset=b, a_type=a_type, b_type=b_type, c_type=c_type, has=matters, epilogue=spec.epilogue,
        **parts,
    )  # fmt: skip
    return Kernel(spec, spread(block_reduce(s, packed), cycles), cycles, way_of(parts, packed))
