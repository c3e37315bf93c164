"""Random programs: graphs of 20 to 40 operators, with a bound on how far each value may be off.

Inputs are small multiples of 1/4, so that sums and products stay exact as long as the bounds are small. Each value
carries `size`, a bound of its magnitude, and `error`, one of the distance between any two ways to compute it;
operators that jump (comparisons, floor, positions of extremes) are applied to exact values only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle.engine import types
from paddle.engine.ir.graph import Graph, Value
from paddle.engine.ops import creation, elementwise, indexing, linalg, logic, reduction, shape, softmax
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.join import Concat
from paddle.engine.ops.number import Constant
from paddle.engine.ops.recurrence import build
from paddle.engine.ops.registry import registry
from paddle.engine.types import TensorType

Pick = Callable[[int], int]  # a number from range(n)

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
DIMS = (1, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 31, 0)
MOST = 3000  # elements of a value


@dataclass
class Bounds:
    """size: no finite element is greater. error: the distance from the true value is at most that."""

    size: float
    error: float


class Maker:
    """Makes one program, asking `pick` for every choice.

    Attributes:
        graph: the program.
        bounds: by value.
        arrays: the inputs.
        donated: which of them may be overwritten.
    """

    def __init__(self, pick: Pick):
        self.pick = pick
        self.graph = Graph("program")
        self.bounds: dict[Value, Bounds] = {}
        self.arrays: list[np.ndarray] = []
        self.rng = np.random.default_rng(pick(1 << 16))
        self.special = pick(6) == 0
        for _ in range(2 + pick(4)):
            self.new_input()
        steps = 20 + pick(21)
        while len(self.graph.nodes) < steps:
            self.step()
        self.choose_outputs()
        self.donated = tuple(bool(pick(2)) for _ in self.graph.inputs)

    # -- choices --
    def one_of(self, options: Any) -> Any:
        return options[self.pick(len(options))]

    def some_shape(self) -> tuple[int, ...]:
        if self.pick(40) == 0:  # enough work for several tasks, and for reductions that are cut into parts
            return self.one_of([(70_000,), (257, 280), (3, 160, 150)])
        return tuple(self.one_of(DIMS) for _ in range(self.one_of((0, 1, 1, 2, 2, 2, 3, 3, 4))))

    def new_input(self, kind: str = "", dims: tuple[int, ...] | None = None) -> Value:
        kind = kind or self.one_of(("float32",) * 6 + ("float64", "float64", "int64", "int64", "bool", "int32", "uint8",
                                                      "bfloat16", "float16"))  # fmt: skip
        dims = self.some_shape() if dims is None else dims
        while math.prod(dims) > 80_000:
            dims = dims[1:]
        d = types.dtype_of(kind)
        top = 4.0
        if kind == "bool":
            a = self.rng.random(dims) < 0.5
        elif d.kind == "u":
            a = self.rng.integers(0, 5, dims)
        elif d.kind == "i":
            a = self.rng.integers(-4, 5, dims)
            if self.pick(8) == 0:
                top = math.inf
                a = self.rng.choice(np.array([np.iinfo(d.np).min, np.iinfo(d.np).max, -1, 0, 1, 7]), dims)
        else:
            a = self.rng.integers(-16, 17, dims) / 4
            if self.special:
                a = np.where(self.rng.random(dims) < 0.05, self.rng.choice([np.inf, -np.inf, np.nan, -0.0], dims), a)
        self.arrays.append(np.ascontiguousarray(np.asarray(a).astype(d.np)).reshape(dims))
        v = self.graph.input(TensorType(dims, d))
        self.bounds[v] = Bounds(top, 0.0)
        return v

    def value(self, kinds: str = "", test: Callable[[Value], bool] = lambda v: True) -> Value:
        """Some value, more often a late one; a new input where none fits."""
        found = [v for v in self.bounds if (not kinds or v.dtype.kind in kinds) and test(v)]
        if not found:
            kind = {"f": "float32", "i": "int64", "b": "bool", "u": "uint8"}[kinds[0]] if kinds else "float32"
            v = self.new_input(kind, (3, 5))
            return v if test(v) else self.value(kinds)
        return found[max(self.pick(len(found)), self.pick(len(found)))]

    def add(self, op: Any, *inputs: Value, size: float = 4.0, error: float = 0.0) -> Value:
        """Appends a node; `size` and `error` bound its results before they are rounded."""
        for v in (outs := self.graph.add(op, inputs)):
            if v.dtype.kind == "f":
                epsilon = EPSILON[v.dtype.name]
                exact = error == 0.0 and size * 16 < 1 / epsilon  # multiples of 1/16
                self.bounds[v] = Bounds(size, 0.0 if exact else error + 2 * epsilon * size)
            else:
                self.bounds[v] = Bounds(size, 0.0)
        return outs[0]

    def b(self, v: Value) -> Bounds:
        return self.bounds[v]

    def exact(self, v: Value) -> bool:
        return self.b(v).error == 0.0

    def tame(self, v: Value) -> bool:
        """Fit for operators that enlarge it."""
        b = self.b(v)
        return b.size <= 64 and b.error < 1e-2

    # -- steps --
    def step(self) -> None:
        steps = (
            self.unary, self.unary, self.unary, self.binary, self.binary, self.binary, self.compare, self.choose,
            self.reduce, self.reduce, self.rows, self.transpose, self.reshape, self.broadcast, self.slice, self.pad,
            self.product, self.concat, self.gather, self.create, self.integers, self.cast, self.host, self.norm,
            self.position, self.windows, self.convolution, self.labels, self.recurrence,
        )  # fmt: skip
        self.one_of(steps)()

    def unary(self) -> None:
        v = self.value("f")
        b = self.b(v)
        names = ["neg", "abs", "relu", "tanh", "sigmoid", "sin", "erf"]
        if self.tame(v):
            names += ["square", "gelu", "silu", "softplus"]
        if b.size <= 8 and b.error < 1e-2:
            names.append("exp")
        if self.exact(v):
            names += ["floor", "sign", "isnan", "ceil"]
        name = self.one_of(names)
        size = {"tanh": 1.0, "sigmoid": 1.0, "sin": 1.0, "erf": 1.0, "sign": 1.0, "floor": b.size + 1,
                "ceil": b.size + 1, "square": b.size**2, "softplus": b.size + 1,
                "exp": math.exp(min(b.size, 8.0))}.get(name, b.size)  # fmt: skip
        slope = {"exp": size, "square": 2 * b.size, "erf": 1.2, "gelu": 1.2, "silu": 1.2}.get(name, 1.0)
        inexact = name in ("tanh", "sigmoid", "sin", "erf", "gelu", "silu", "softplus", "exp")
        square = b.size**2 * EPSILON[v.dtype.name] if name == "square" and b.size > 8 else 0.0
        error = slope * b.error + square + (8 * EPSILON[v.dtype.name] * max(1.0, size) if inexact else 0.0)
        self.add(self.operator(name), v, size=size, error=error)

    def operator(self, name: str, **attributes: Any) -> Any:
        return registry[name](**attributes)

    def partner(self, v: Value) -> Value:
        """A value that broadcasts with v, made if there is none."""

        def fits(w: Value) -> bool:
            if w.dtype is not v.dtype:
                return False
            try:
                return math.prod(types.broadcast_shapes(v.shape, w.shape)) <= max(MOST, v.type.size)
            except ValueError:
                return False

        found = [w for w in self.bounds if fits(w)]
        other = [w for w in found if w is not v]
        if other and self.pick(4):
            return self.one_of(other)
        if self.pick(3) == 0 and found:
            return self.one_of(found)
        dims = tuple(1 if self.pick(3) == 0 else n for n in v.shape[self.pick(v.ndim + 1) :])
        return self.new_input(v.dtype.name, dims)

    def binary(self) -> None:
        v = self.value("f")
        w = self.partner(v)
        if self.pick(2):
            v, w = w, v
        a, b = self.b(v), self.b(w)
        names = ["maximum", "minimum"]
        if a.size + b.size < 1e4:
            names += ["add", "subtract", "add"]
        if self.tame(v) and self.tame(w):
            names += ["multiply", "multiply"]
            if a.size <= 8:
                names.append("divide")
        name = self.one_of(names)
        size, error = max(a.size, b.size), max(a.error, b.error)
        e = EPSILON[v.dtype.name]
        if name in ("add", "subtract"):
            size, error = a.size + b.size, a.error + b.error
        elif name == "multiply":
            size, error = a.size * b.size, a.size * b.error + b.size * a.error
            if size > 64:
                error += e * size
        elif name == "divide":  # by 1 + |w|
            one = self.add(Constant(1.0, w.dtype), size=1)
            w = self.add(elementwise.add, self.add(self.operator("abs"), w, size=b.size, error=b.error), one,
                         size=b.size + 1, error=b.error)  # fmt: skip
            size, error = a.size, a.error + a.size * self.b(w).error + e * a.size
        self.add(self.operator(name), v, w, size=size, error=error)

    def compare(self) -> None:
        v = self.value("fiu", self.exact)
        w = self.partner(v)
        if not self.exact(w):
            w = v
        name = self.one_of(("less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal"))
        self.add(self.operator(name), v, w, size=1)

    def choose(self) -> None:
        c = self.value("b")
        if self.pick(3) == 0:
            op = self.one_of(("logical_and", "logical_or", "logical_xor"))
            self.add(self.operator(op), c, self.partner(c), size=1)
            return
        fits = [v for v in self.bounds if v.dtype.kind in "fi" and self.broadcasts(c, v)]
        if not fits:
            self.add(self.operator("logical_not"), c, size=1)
            return
        v = self.one_of(fits)
        w = self.one_of([w for w in fits if w.dtype is v.dtype and self.broadcasts(c, v, w)])
        a, b = self.b(v), self.b(w)
        self.add(logic.Select(), c, v, w, size=max(a.size, b.size), error=max(a.error, b.error))

    def broadcasts(self, *values: Value) -> bool:
        try:
            most = max(MOST, *(v.type.size for v in values))
            return math.prod(types.broadcast_shapes(*(v.shape for v in values))) <= most
        except ValueError:
            return False

    def axes(self, v: Value) -> tuple[int, ...]:
        return tuple(i for i in range(v.ndim) if self.pick(2))

    def reduce(self) -> None:
        v = self.value("", lambda v: v.dtype.kind != "u")
        axes = self.axes(v)
        n = math.prod(v.shape[i] for i in axes)
        keep = bool(self.pick(2))
        b = self.b(v)
        if v.dtype is types.bool_:
            self.add(self.one_of((reduction.All, reduction.Any_))(axes, keep), v, size=1)
            return
        names = [reduction.Max, reduction.Min] if n else []
        float_ = v.dtype.kind == "f"
        small = float_ and v.dtype.itemsize < 4
        if v.dtype.kind == "i" or b.size * n < (1e4 if small else 1e6):
            names += [reduction.Sum] * 3
        if v.dtype.kind == "i" or (b.size <= 4 and n <= 4 and b.error < 1e-3):
            names.append(reduction.Prod)
        if float_ and n and b.size < 20:
            names.append(reduction.Logsumexp)
        if not names:
            return
        kind = self.one_of(names)
        e = EPSILON.get(v.dtype.name, 0.0)
        size, error = b.size, b.error
        if kind is reduction.Sum:
            size, error = b.size * max(n, 1), b.error * n
            if error or size * 16 >= 1 / e if float_ else False:
                error += n * e * size
        elif kind is reduction.Prod:
            size = max(1.0, b.size) ** max(n, 1) if n <= 4 else math.inf
            error = n * size * (b.error + 8 * e)
        elif kind is reduction.Logsumexp:
            size, error = b.size + math.log(max(n, 1)) + 1, b.error + 8 * e * (n + 8)
        self.add(kind(axes, keep), v, size=size, error=error)

    def rows(self) -> None:
        v = self.value("f", lambda v: v.ndim > 0 and self.b(v).size < 50 and self.b(v).error < 1e-2)
        axis = self.pick(v.ndim)
        b, e = self.b(v), EPSILON[v.dtype.name]
        if self.pick(2):
            self.add(softmax.Softmax(axis), v, size=1, error=2 * b.error + (16 + v.shape[axis] + b.size) * e)
        else:
            error = 2 * b.error + (16 + v.shape[axis] + 2 * b.size) * e
            self.add(softmax.LogSoftmax(axis), v, size=2 * b.size + 10, error=error)

    def same(self, op: Any, *values: Value) -> Value:
        size = max([self.b(v).size for v in values], default=1.0)
        return self.add(op, *values, size=size, error=max([self.b(v).error for v in values], default=0.0))

    def transpose(self) -> None:
        v = self.value("", lambda v: v.ndim > 1)
        perm = list(range(v.ndim))
        for i in range(v.ndim - 1):
            j = i + self.pick(v.ndim - i)
            perm[i], perm[j] = perm[j], perm[i]
        self.same(shape.Transpose(tuple(perm)), v)

    def reshape(self) -> None:
        v = self.value()
        n, dims = v.type.size, []
        for _ in range(self.pick(4)):
            divisors = [d for d in (1, 2, 3, 4, 5, 7, 8, 13, 16) if n % d == 0] if n else [0, 1, 3]
            dims.append(self.one_of(divisors))
            n = n // dims[-1] if n else 0
        if not v.type.size:
            dims.insert(self.pick(len(dims) + 1), 0)
        elif n > 1 or self.pick(2):
            dims.insert(self.pick(len(dims) + 1), n)
        self.same(shape.Reshape(tuple(dims)), v)

    def broadcast(self) -> None:
        v = self.value("", lambda v: v.type.size <= 100)
        dims = [self.one_of(DIMS) if n == 1 else n for n in v.shape]
        if self.pick(2) and v.type.size <= 50:
            dims.insert(0, self.one_of(DIMS))
        if math.prod(dims) <= MOST:
            self.same(shape.BroadcastTo(tuple(dims)), v)

    def slice(self) -> None:
        v = self.value("", lambda v: v.ndim > 0)
        starts, stops, steps = [], [], []
        for n in v.shape:
            s = self.one_of((1, 1, 1, 2, 3, -1, -2))
            a = self.pick(max(n, 1))
            most = len(range(a, n if s > 0 else -1, s)) if n else 0
            m = self.pick(most + 1)
            if self.pick(2):
                a, m = (0, n) if s == 1 else (a, most)
            starts.append(a)
            stops.append(a + m * s if m else a)
            steps.append(s)
            if s > 0:
                stops[-1] = min(stops[-1], n)
            else:
                stops[-1] = max(stops[-1], -1)
        bounds = (tuple(starts), tuple(stops), tuple(steps))
        if self.pick(3) == 0:
            sizes = shape.Slice(*bounds).infer(v.type).shape
            w = [w for w in self.bounds if w.dtype is v.dtype and self.fits_into(w.shape, sizes)]
            if w:
                self.same(indexing.SliceSet(*bounds), v, self.one_of(w))
                return
        self.same(shape.Slice(*bounds), v)

    @staticmethod
    def fits_into(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
        skip = len(large) - len(small)
        return skip >= 0 and all(n in (1, m) for n, m in zip(small, large[skip:]))

    def pad(self) -> None:
        v = self.value("", lambda v: 0 < v.ndim and v.type.size <= MOST)
        low = tuple(self.one_of((0, 0, 1, 2, -1)) for _ in v.shape)
        high = tuple(self.one_of((0, 0, 1, 3, -1)) for _ in v.shape)
        kind = self.pick(4)
        if kind == 0 and all(v.shape):
            low, high = (tuple(min(abs(a), n - 1) for a, n in zip(amounts, v.shape)) for amounts in (low, high))
            self.same(shape.PadFrom(low, high, self.one_of(("reflect", "replicate", "circular"))), v)
        elif kind == 1:
            self.same(shape.Dilate(tuple(self.one_of((1, 1, 2, 3)) for _ in v.shape)), v)
        elif all(n + a + b >= 0 for n, a, b in zip(v.shape, low, high)):
            value = self.one_of((0.0, 0.0, 1.0, 2.0) if v.dtype.kind != "b" else (0.0, 1.0))
            self.same(shape.Pad(low, high, value), v)

    def product(self) -> None:
        fits = lambda v: v.ndim >= 2 and self.tame(v) and v.shape[-1] <= 300 and v.dtype.name in ("float32", "float64")
        v = self.value("f", fits)
        tx, ty = bool(self.pick(2)), bool(self.pick(2))
        m, inner = v.shape[-2:][:: -1 if tx else 1]
        found = [w for w in self.bounds if w.dtype is v.dtype and w.ndim >= 2 and self.tame(w)
                 and w.shape[-1 if ty else -2] == inner and self.broadcasting_batches(v, w)]  # fmt: skip
        if found and self.pick(3):
            w = self.one_of(found)
        else:
            n = self.one_of((*DIMS, 64))
            batch = v.shape[:-2] if self.pick(2) else ()
            w = self.new_input(v.dtype.name, (*batch, *((n, inner) if ty else (inner, n))))
            if w.ndim < 2:  # it was too large
                return
        n = w.shape[-2 if ty else -1]
        batch = types.broadcast_shapes(v.shape[:-2], w.shape[:-2])
        if math.prod(batch) * m * n > MOST:
            return
        a, b, e = self.b(v), self.b(w), EPSILON[v.dtype.name]
        size = a.size * b.size * max(inner, 1)
        error = (a.error * b.size + b.error * a.size) * inner
        if error or size * 16 > 1 / e:
            error += inner * e * size
        self.add(linalg.MatMul(tx, ty), v, w, size=size, error=error)

    @staticmethod
    def broadcasting_batches(v: Value, w: Value) -> bool:
        try:
            types.broadcast_shapes(v.shape[:-2], w.shape[:-2])
            return True
        except ValueError:
            return False

    def concat(self) -> None:
        v = self.value("", lambda v: 0 < v.ndim and v.type.size <= MOST)
        axis = self.pick(v.ndim)
        rest = lambda w: (w.dtype, w.ndim, w.shape[:axis], w.shape[axis + 1 :])
        found = [w for w in self.bounds if rest(w) == rest(v) and w.type.size <= MOST]
        self.same(Concat(axis), v, *(self.one_of(found) for _ in range(self.pick(3) + 1)))

    def gather(self) -> None:
        v = self.value("", lambda v: v.ndim > 0 and all(v.shape) and v.type.size <= 80_000)
        axis = self.pick(v.ndim)
        n = v.shape[axis]
        dims = tuple(self.one_of((1, 2, 3, 5, 0)) for _ in range(self.pick(3)))
        if self.pick(3) == 0:  # from what is computed: x mod n
            i = self.value("i", lambda i: i.dtype is types.int64 and i.type.size <= 30)
            i = self.add(self.operator("remainder"), i, self.add(Constant(n, types.int64), size=n), size=n)
        else:
            i = self.new_input("int64", dims)
            self.arrays[i.index] = self.rng.integers(-n, n, dims)
            self.bounds[i] = Bounds(n, 0.0)
        if v.type.size // n * i.type.size > MOST:
            return
        kind = self.pick(4)
        if kind == 0 and axis == 0 and self.tame(v) and v.dtype.kind == "f" and i.ndim == 1:
            rows = self.add(indexing.Gather(0, True), v, i, size=self.b(v).size, error=self.b(v).error)
            b = self.b(rows)
            times = max(i.type.size, 1)
            e = EPSILON[v.dtype.name]
            size, error = b.size * times, b.error * times
            error += times * e * size if error or size * 16 > 1 / e else 0.0
            self.add(indexing.ScatterAdd(0, (n,), True), rows, i, size=size, error=error)
        else:
            self.add(indexing.Gather(axis, True), v, i, size=self.b(v).size, error=self.b(v).error)

    def create(self) -> None:
        dims = self.some_shape()
        if math.prod(dims) > MOST:
            return
        d = self.one_of((types.float32, types.float32, types.int64, types.float64))
        kind = self.pick(4)
        if kind == 0:
            self.add(creation.Full(dims, self.one_of((0, 1, 2)), d), size=2)
        elif kind == 1:
            n = self.one_of(DIMS)
            self.add(creation.Arange(0, 1, n, d), size=31)
        elif kind == 2:
            self.add(creation.Eye(self.one_of(DIMS), self.one_of(DIMS), d), size=1)
        else:
            v = self.value("fi", lambda v: v.ndim >= 2)
            self.same(creation.Triangle(self.one_of((-1, 0, 1)), bool(self.pick(2))), v)

    def integers(self) -> None:
        v = self.value("i")
        w = self.partner(v)
        names = ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder",
                 "bitwise_and", "bitwise_or", "bitwise_xor")  # fmt: skip
        if self.pick(3) == 0:
            w = self.add(Constant(self.one_of((1, 2, 3, 7, -1, -3, 10**9)), v.dtype))
        name = self.one_of(names)
        if name in ("floor_divide", "remainder"):  # by an odd number
            w = self.add(self.operator("bitwise_or"), w, self.add(Constant(1, v.dtype)), size=math.inf)
        self.add(self.operator(name), v, w, size=math.inf)

    def cast(self) -> None:
        v = self.value()
        options = ["float32", "float64"] if v.dtype.kind == "f" and not self.exact(v) else []
        if self.exact(v) and self.b(v).size <= 100:
            options = ["float32", "float64", "bfloat16", "float16"]
            if not (self.special and v.dtype.kind == "f"):
                options += ["int64", "int32", "bool"]
        if not options:
            return
        d = types.dtype_of(self.one_of(options))
        b = self.b(v)
        self.add(elementwise.Cast(d), v, size=1 if d is types.bool_ else b.size, error=b.error)

    def host(self) -> None:
        """Operators that run as host steps in the middle of a program."""
        v = self.value("fi", lambda v: v.ndim > 0 and v.type.size <= MOST and self.exact(v) and all(v.shape))
        axis = self.pick(v.ndim)
        if self.pick(2):
            self.add(self.operator("argsort", axis=axis, descending=False), v, size=v.shape[axis])
        elif self.b(v).size * v.shape[axis] < 1e5 and (v.dtype.kind == "i" or v.dtype.itemsize >= 4):
            self.add(self.operator("cumsum", axis=axis), v, size=self.b(v).size * v.shape[axis])

    def position(self) -> None:
        v = self.value("fi", lambda v: v.ndim > 0 and self.exact(v) and all(v.shape))
        axis = self.pick(v.ndim)
        kind = self.one_of((reduction.Argmax, reduction.Argmin))
        self.add(kind(axis, bool(self.pick(2))), v, size=v.shape[axis])

    def norm(self) -> None:
        """(x - mean) / (1 + |spread|): the pattern of normalizations, with values that several kernels read."""
        v = self.value("f", lambda v: v.ndim > 0 and all(v.shape) and self.tame(v) and v.dtype.itemsize >= 4)
        axis = v.ndim - 1 if self.pick(2) else self.pick(v.ndim)
        b, e, n = self.b(v), EPSILON[v.dtype.name], v.shape[axis]
        count = self.add(Constant(1.0 / n, v.dtype), size=1, error=e)
        total = self.add(reduction.Sum((axis,), True), v, size=b.size * n, error=n * b.error + n * n * e * b.size)
        mean = self.add(elementwise.multiply, total, count, size=b.size, error=self.b(total).error / n + 2 * b.size * e)
        error = b.error + self.b(mean).error + 2 * b.size * e
        centred = self.add(elementwise.subtract, v, mean, size=2 * b.size, error=error)
        spread = self.add(reduction.Max((axis,), True), self.add(self.operator("abs"), centred, size=2 * b.size,
                          error=error), size=2 * b.size, error=error)  # fmt: skip
        one = self.add(Constant(1.0, v.dtype), size=1)
        below = self.add(elementwise.add, spread, one, size=2 * b.size + 1, error=error)
        error += 2 * b.size * self.b(below).error + 4 * b.size * e
        self.add(elementwise.divide, centred, below, size=2 * b.size, error=error)

    def windows(self) -> None:
        v = self.value("f", lambda v: v.ndim >= 2 and min(v.shape[-2:]) > 2)
        kernel = (1 + self.pick(3), 1 + self.pick(3))
        strides = (1 + self.pick(3), 1 + self.pick(3))
        sizes = tuple((n - k) // s + 1 for n, k, s in zip(v.shape[-2:], kernel, strides))
        self.same(self.operator("max_pool", kernel=kernel, strides=strides, low=(0, 0), sizes=sizes, exact=True), v)

    def convolution(self) -> None:
        fits = lambda v: v.ndim in (3, 4) and all(v.shape) and self.tame(v) and v.dtype.itemsize >= 4
        v = self.value("f", lambda v: fits(v) and v.type.size <= MOST)
        if not fits(v):
            return
        n, c, *s = v.shape if v.ndim == 4 else (1, *v.shape)
        g = 2 if c % 2 == 0 and self.pick(2) else 1
        kernel = tuple(1 + self.pick(min(3, m)) for m in s)
        strides = (1 + self.pick(2), 1 + self.pick(2))
        x = self.same(shape.Reshape((n, g, c // g, *s)), v)
        few = self.pick(3) or v.type.size > 200
        w = self.new_input(v.dtype.name, (g, 1 + self.pick(5) if few else 32 + self.pick(5), c // g, *kernel))
        a, b, e = self.b(x), self.b(w), EPSILON[v.dtype.name]
        times = c // g * math.prod(kernel)
        size, error = a.size * b.size * times, (a.error * b.size + b.error * a.size) * times
        if error or size * 16 > 1 / e:
            error += times * e * size
        self.add(Conv(strides, (1, 1)), x, w, size=size, error=error)

    def recurrence(self) -> None:
        """state = tanh(state / 2 + element), with the states and their products with the elements."""
        v = self.value("f", lambda v: v.ndim > 0 and self.tame(v) and v.type.size <= MOST and v.dtype.itemsize >= 4)
        if not v.ndim:
            return
        each = TensorType(v.shape[1:], v.dtype)

        def step(constants: Any, states: Any, elements: Any) -> Any:
            half = elementwise.multiply(states[0], Constant(0.5, v.dtype)())
            new = registry["tanh"]()(elementwise.add(half, elements[0]))
            return [new], [elementwise.multiply(new, elements[0])] * self.pick(2)

        op = build(step, [], [each], [each], bool(self.pick(2)))
        start = self.new_input(v.dtype.name, each.shape)
        b, size = self.b(v), max(4.0, self.b(v).size)
        error = 2 * (b.error + 8 * EPSILON[v.dtype.name])
        self.add(op, start, v, size=size, error=b.error + size * error)

    def labels(self) -> None:
        v = self.value("f", lambda v: v.ndim > 0 and all(v.shape) and self.b(v).size < 50 and self.b(v).error < 1e-2)
        axis = self.pick(v.ndim)
        label = self.new_input("int64", v.shape[:axis] + v.shape[axis + 1 :])
        self.arrays[label.index] = self.rng.integers(0, v.shape[axis], label.shape)
        self.bounds[label] = Bounds(v.shape[axis], 0.0)
        b, e = self.b(v), EPSILON[v.dtype.name]
        error = 2 * b.error + (16 + v.shape[axis] + 2 * b.size) * e
        self.add(softmax.SoftmaxCrossEntropy(axis), v, label, size=2 * b.size + 10, error=error)

    # -- outputs --
    def choose_outputs(self) -> None:
        values = list(self.bounds)
        outputs = [values[-1]]
        for _ in range(2 + self.pick(8)):
            outputs.append(values[max(self.pick(len(values)), self.pick(len(values)))])
        if self.pick(3) == 0:
            outputs.append(self.one_of(self.graph.inputs))
        if self.pick(3) == 0:
            v = self.one_of(outputs)
            outputs.append(self.same(shape.Reshape((v.type.size,)), v))
        self.graph.outputs = outputs
        self.graph.drop_unused()


def tolerances(maker: Maker) -> list[float]:
    """How far each output may be from the reference, which is itself off by as much."""
    return [2 * maker.bounds[v].error for v in maker.graph.outputs]
