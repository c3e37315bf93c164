"""Open sizes of static programs: what stands for them while operations are recorded, and what takes their place.

Nothing is computed while a program is recorded, so a size that is not known yet can be any number. A large prime, one
for each position of an axis, is recognised in whatever follows from it: in shapes, in attributes of operators, in
numbers. For real sizes the types are inferred anew, step by step, and what came from a prime is computed again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import TrieNode
from ..engine.ir.body import Body
from ..engine.ir.graph import Graph
from ..engine.ir.saved import from_dict
from ..engine.ops.number import Constant, Number
from ..engine.ops.pooling import Windows
from ..engine.ops.registry import Operator, registry
from ..engine.sizes import Unexplained
from ..engine.types import TensorType
from ..tensor.tensor import open_sizes

# Far from one another, from simple fractions of one another, and from numbers that people choose.
PRIMES = (1118101, 1378103, 1726103, 2310107, 2748113, 3211123, 3802129, 4421113)
_MOST_AXES = 6
_LEAST = 4096  # smaller numbers are never taken for something that follows from a prime
_OFFSET = 64  # greatest b of p + b


def stand_in(axis: int) -> int:
    """The size that stands for an open one at this position of a shape."""
    p = PRIMES[axis % len(PRIMES)]
    if p not in open_sizes:
        open_sizes.append(p)
    return p


class Sizes:
    """From sizes while recording to real ones, as far as they are known.

    Attributes:
        known: recorded size to real size; None where one recorded size has become two.
        counts: the same for products of sizes of one value, which numbers of elements are.
    """

    def __init__(self, known: dict[int, int | None] | None = None):
        self.known: dict[int, int | None] = dict(known or {})
        self.counts: dict[int, int] = {}

    def learn(self, before: TensorType, after: TensorType) -> None:
        """What the types of one value, recorded and real, tell."""
        for a, b in zip(before.shape, after.shape):
            if a >= _LEAST and (a != b or a in PRIMES):
                if self.known.setdefault(a, b) != b:
                    self.known[a] = None
        axes = list(zip(before.shape, after.shape))
        if before is not after and len(axes) <= _MOST_AXES:
            products = [(1, 1)]
            for a, b in axes:
                products += [(a * m, b * n) for m, n in products]
            self.counts.update((m, n) for m, n in products if m >= _LEAST and m != n)

    def put_in(self, x: Any, near: "Sizes") -> Any:
        """A thing with what follows from recorded sizes made to follow from real ones.

        Args:
            x: a number, a shape, an operator, or what is in one.
            near: what the arguments of the step tell, which goes before what the program tells.
        """
        kind = type(x)
        if kind is int:
            return self._whole(x, near)
        if kind is float:
            return self._fraction(x, near)
        if kind is tuple or kind is list:
            return kind([self.put_in(v, near) for v in x])
        if kind is TensorType:
            return TensorType(self.put_in(x.shape, near), x.dtype)
        if kind is Number:
            return self._number(x, near)
        if isinstance(x, Constant):
            number = self._number(Number(x.value, x.dtype), near)
            return Constant(number.value, x.dtype)
        if isinstance(x, Operator):
            fields = x.attributes()
            new = {k: self.put_in(v, near) for k, v in fields.items()}
            return x if all(new[k] is v for k, v in fields.items()) else kind(**new)
        if kind is slice:
            return slice(self.put_in(x.start, near), self.put_in(x.stop, near), self.put_in(x.step, near))
        if kind is Body:
            return self._body(x, near)
        if kind is np.ndarray and any(self._whole(n, near) != n for n in x.shape):
            raise open_constant(x.shape)
        return x

    def _body(self, body: Body, near: "Sizes") -> Body:
        graph = next(iter(body.graphs.values()), None) or from_dict(body.data, registry)
        every = Sizes({**self.known, **near.known})
        every.counts = {**self.counts, **near.counts}
        new = Graph(graph.name)
        env = {v: new.input(every.put_in(v.type, near), v.name) for v in graph.inputs}
        for v, w in env.items():
            every.learn(v.type, w.type)
        for node in graph.nodes:
            about = Sizes()
            for v in node.inputs:
                about.learn(v.type, env[v].type)
            made = new.add(every.put_in(node.op, about), [env[v] for v in node.inputs], node.line)
            for v, w in zip(node.outputs, made):
                every.learn(v.type, w.type)
                env[v] = w
        new.outputs = [env[v] for v in graph.outputs]
        return Body(new)

    def _whole(self, n: int, near: "Sizes", offset: int = _OFFSET) -> int:
        size = abs(n)
        if size < _LEAST:
            return n
        found = near._explained(size, offset)
        if found is None:
            found = self._explained(size, offset)
        if found is None and offset == _OFFSET and _OPEN._explained(size) is not None:
            raise Unexplained  # such as half of a size, of which it is not known how it was rounded
        return n if found is None else found if n > 0 else -found

    def _explained(self, n: int, offset: int = _OFFSET) -> int | None:
        """The number that takes the place of n, None where n does not follow from known sizes."""
        if self.known.get(n) is not None:
            return self.known[n]
        for d in (0, 1, -1):
            if offset and n + d in self.counts:
                return self.counts[n + d] - d
        known = [(p, real) for p, real in self.known.items() if real is not None]
        for p, real in known:
            if n > p and n % p == 0:
                rest = n // p
                factor = self._explained(rest, 0) if rest >= _LEAST else rest
                return real * (rest if factor is None else factor)
        for p, real in known:
            a = max(round(n / p), 1)
            if a <= 64 and abs(n - a * p) <= offset:
                return a * real + n - a * p
        return None

    def _fraction(self, x: float, near: "Sizes") -> float:
        found = self._real(x, near, lambda v: v)
        return x if found is None else found

    def _real(self, x: float, near: "Sizes", rounded: Any) -> float | None:
        """What a float becomes that was made from a number of elements in one of the usual ways; None for others."""
        if not math.isfinite(x) or x == 0.0:
            return None
        size = abs(x)
        for way, back in _WAYS:
            about = back(size)
            if not _LEAST <= about < 2.0**80:
                continue
            for counts in (near.counts, self.counts):
                for m, n in counts.items():
                    if abs(m - about) <= 2 + about * 1e-3 and rounded(way(m)) == size:
                        try:
                            return math.copysign(way(n), x)
                        except ZeroDivisionError:
                            return math.copysign(math.inf, x)
        return None

    def _number(self, x: Number, near: "Sizes", given: Any = None) -> Number:
        """A number of a step. `given` is the one that was rounded to it, if that is known."""
        if given is None or type(given) is bool:
            given, rounded = x.value, lambda v: Number(v, x.type.dtype).value
        else:
            rounded = lambda v: v
        if type(given) is float:
            found = self._real(given, near, rounded)
            return x if found is None else Number(found, x.type.dtype)
        new = self.put_in(given, near)
        return x if new is given or new == given else Number(new, x.type.dtype)


# How floats are made from numbers of elements, and about which number gave a float.
_WAYS = (
    (float, lambda x: x),
    (lambda n: 1.0 / n, lambda x: 1.0 / x),
    (lambda n: float(n - 1), lambda x: x + 1.0),
    (lambda n: 1.0 / (n - 1), lambda x: 1.0 / x + 1.0),
    (lambda n: n / (n - 1), lambda x: x / (x - 1.0) if x > 1.0 else 0.0),
    (lambda n: (n - 1) / n, lambda x: 1.0 / (1.0 - x) if x < 1.0 else 0.0),
    (math.sqrt, lambda x: x * x),
    (lambda n: n**-0.5, lambda x: x**-2.0),
)  # fmt: skip


def open_constant(shape: Sequence[int]) -> Exception:
    return errors.precondition(
        "Executor.run: a constant of the program was made for a size that is open.",
        expected="constants of fixed sizes, or operators that make them, such as paddle.arange",
        received=f"an array of shape {[show(n) for n in shape]}",
        hint="give static.data a size in place of None.",
    )


def show(n: int) -> int:
    """A size as it is printed: -1 where it is open."""
    return -1 if n >= _LEAST and _OPEN._explained(n) is not None else n


class _AllOpen(Sizes):
    def _explained(self, n: int, offset: int = _OFFSET) -> int | None:
        for p in open_sizes:
            c = max(round(p / n), 1)
            if n % p == 0 or abs(n - max(round(n / p), 1) * p) <= offset or (c <= 64 and abs(n * c - p) <= c):
                return 0
        return None


_OPEN = _AllOpen()


class OpenSize(int):
    """A size of a static variable that is open: it is -1, but computes as what stands for it."""

    stand_in: int

    def __new__(cls, n: int) -> "OpenSize":
        made = int.__new__(cls, -1)
        made.stand_in = n
        return made

    def __hash__(self) -> int:
        return hash(-1)

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other)  # type: ignore[arg-type]


def _computes(name: str) -> Any:
    operation = getattr(int, name)
    return lambda self, *others: operation(
        self.stand_in, *(o.stand_in if isinstance(o, OpenSize) else o for o in others)
    )


for _name in (
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "truediv",
    "rtruediv",
):
    setattr(OpenSize, f"__{_name}__", _computes(f"__{_name}__"))


def shown(shape: Iterable[int]) -> list[int]:
    """A shape as users see it."""
    return [OpenSize(n) if show(n) == -1 else n for n in shape]


def resized(
    steps: Sequence[TrieNode],
    leaves: dict[int, TensorType],
    numbers: dict[int, tuple[Any, ...]],
    rules: dict[int, Any],
    sizes: Sizes,
) -> list[TrieNode]:
    """Steps of a capture for other types of its leaves.

    Args:
        steps: those that are needed, leaves included, in order.
        leaves: by slot, the types that leaves have now; the others keep theirs.
        numbers: by the slot of a step, its numbers before they were rounded.
        rules: by the slot of a step, what gives its operator from the types of its arguments.
        sizes: what is known of sizes so far; what the steps tell is added.
    """
    types: dict[int, tuple[TensorType, TensorType]] = {}
    for step in steps:
        if step.op is None and step.types:
            before, after = step.types[0], leaves.get(step.slot, step.types[0])
            sizes.learn(before, after)
            types[step.slot] = before, after
    out: list[TrieNode] = []
    for step in steps:
        if step.op is None:
            before, after = types[step.slot]
            out.append(step if before is after else leaf_of(step.slot, after, step.refs))
            continue
        near = Sizes()
        for r in step.refs:
            if type(r) is int:
                near.learn(*types[r])
        new = TrieNode(None, step.grad)
        new.slot, new.next_slot, new.line, new.sg, new.sgs = step.slot, step.next_slot, step.line, step.sg, step.sgs
        given = numbers.get(step.slot, ())
        if len(given) != len(step.refs):
            given = (None,) * len(step.refs)
        now = [types[r][1] if type(r) is int else r.type for r in step.refs]
        try:
            if step.slot in rules:
                new.op = rules[step.slot](*now)
            else:
                new.op = sizes.put_in(step.op, near)
                if isinstance(new.op, Windows):
                    new.op = _whether_exact(new.op, now[0])
            new.refs = tuple(r if type(r) is int else sizes._number(r, near, g) for r, g in zip(step.refs, given))
            new.types = new.op.infer_types(*now)
        except Unexplained:
            raise errors.invalid_argument(
                f"Executor.run: it is not known what {step.op.name} does at other sizes than it was recorded for.",
                expected="attributes that follow from sizes by sums and products",
                received=re.sub(r"\d{4,}", lambda m: str(show(int(m[0]))), repr(step.op)),
                hint="give static.data a size in place of None.",
                at=errors.describe_line(*step.line) if step.line else None,
            ) from None
        except Exception as e:
            raise errors.invalid_argument(
                f"Executor.run: {step.op.name} does not take the sizes that were fed.",
                expected="sizes that all operations of the program take",
                received=", ".join(map(str, now)),
                hint=f"it said: {str(e).strip().splitlines()[0]} If other sizes have to do, give static.data a size in"
                " place of None: what is done may depend on whether a size is even, or 1.",
                at=errors.describe_line(*step.line) if step.line else None,
            ) from e
        new.type = new.types[0]
        for i, (before, after) in enumerate(zip(step.types, new.types)):
            sizes.learn(before, after)
            types[step.slot + i] = before, after
        out.append(new)
    return out


def _whether_exact(op: Windows, x: TensorType) -> Windows:
    """A pooling, or a gradient of one, told whether its windows stay within x at these sizes."""
    source = getattr(op, "source", x.shape[-op.rank :])
    fits = all((z - 1) * s + k <= n for z, s, k, n in zip(op.sizes, op.strides, op.kernel, source))
    exact = fits and not any(op.low)
    return op if op.exact is exact else type(op)(**{**op.attributes(), "exact": exact})


def leaf_of(slot: int, type_: TensorType, refs: tuple[Any, ...] = (0,)) -> TrieNode:
    """A step for an input."""
    new = TrieNode(None, True)
    new.slot, new.next_slot, new.type, new.types, new.refs = slot, slot + 1, type_, (type_,), refs
    new.sg = refs[0] == 0
    new.sgs = (new.sg,)
    return new
