"""Loop form: one output element of an operator as an expression in its indices.

`LoopBuilder` is the `k` that an operator's `loops` rule is given. The expressions that it makes are
emitted as LLVM loops by `emit.py`; `evaluate` here computes them with numpy, slowly, for tests.
float16 and bfloat16 are loaded as float32 and rounded when stored, so rules never meet them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import types
from ..types import DType

_ids = itertools.count()

COMMUTATIVE = {"add", "mul", "max", "min", "and", "or", "xor", "eq", "ne"}
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}


class Var:
    """A loop variable running over [0, extent)."""

    __slots__ = ("extent", "id")

    def __init__(self, extent: "Expr | int"):
        self.extent, self.id = extent, next(_ids)

    def __repr__(self) -> str:
        return f"i{self.id}"


class Expr:
    """A value inside a loop. Equal expressions are one object within one `Scope`.

    Attributes:
        op: "const", "var", "param", "load", "reduce", "check", "select", "cast" or the name of an operation.
        dtype: element type; int64 for indices.
        args: expressions.
        attr: the constant, the variable, the operand of a load, the kind and variables of a reduction, ...
    """

    __slots__ = ("scope", "op", "dtype", "args", "attr", "id", "vars")

    def __init__(self, scope: "Scope", op: str, dtype: DType, args: tuple["Expr", ...], attr: Any, id: int):
        self.scope, self.op, self.dtype, self.args, self.attr, self.id = scope, op, dtype, args, attr, id
        if op == "var":
            self.vars: frozenset[Var] = frozenset((attr,))
        else:
            self.vars = frozenset().union(*(a.vars for a in args))
            if op == "reduce":
                for v in attr[1]:
                    if isinstance(v.extent, Expr):
                        self.vars |= v.extent.vars
                self.vars -= frozenset(attr[1])

    def _b(self, op: str, other: Any, swap: bool = False) -> "Expr":
        other = self.scope.lift(other, self.dtype)
        return self.scope.binary(op, other, self) if swap else self.scope.binary(op, self, other)

    def __add__(self, o: Any) -> "Expr":
        return self._b("add", o)

    def __radd__(self, o: Any) -> "Expr":
        return self._b("add", o, True)

    def __sub__(self, o: Any) -> "Expr":
        return self._b("sub", o)

    def __rsub__(self, o: Any) -> "Expr":
        return self._b("sub", o, True)

    def __mul__(self, o: Any) -> "Expr":
        return self._b("mul", o)

    def __rmul__(self, o: Any) -> "Expr":
        return self._b("mul", o, True)

    def __truediv__(self, o: Any) -> "Expr":
        return self._b("div", o)

    def __rtruediv__(self, o: Any) -> "Expr":
        return self._b("div", o, True)

    def __floordiv__(self, o: Any) -> "Expr":
        return self._b("floordiv", o)

    def __mod__(self, o: Any) -> "Expr":
        return self._b("mod", o)

    def __and__(self, o: Any) -> "Expr":
        return self._b("and", o)

    def __or__(self, o: Any) -> "Expr":
        return self._b("or", o)

    def __xor__(self, o: Any) -> "Expr":
        return self._b("xor", o)

    def __lshift__(self, o: Any) -> "Expr":
        return self._b("shl", o)

    def __rshift__(self, o: Any) -> "Expr":
        return self._b("shr", o)

    def __lt__(self, o: Any) -> "Expr":
        return self._b("lt", o)

    def __le__(self, o: Any) -> "Expr":
        return self._b("le", o)

    def __gt__(self, o: Any) -> "Expr":
        return self._b("gt", o)

    def __ge__(self, o: Any) -> "Expr":
        return self._b("ge", o)

    def eq(self, o: Any) -> "Expr":
        return self._b("eq", o)

    def ne(self, o: Any) -> "Expr":
        return self._b("ne", o)

    def __neg__(self) -> "Expr":
        return self.scope.unary("neg", self)

    def __invert__(self) -> "Expr":
        return self.scope.unary("not", self)

    def __bool__(self) -> bool:
        raise TypeError("a size or index known at run time only was asked for its truth value")

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.attr)
        if self.op in ("var", "param"):
            return str(self.attr)
        if self.op == "load":
            return f"{self.attr.name}[{', '.join(map(repr, self.args))}]"
        if self.op == "reduce":
            return f"{self.attr[0]}({', '.join(map(repr, self.attr[1]))}: {self.args[0]!r})"
        if self.op == "cast":
            return f"{self.dtype.name}({self.args[0]!r})"
        return f"{self.op}({', '.join(map(repr, self.args))})"


class Scope:
    """Makes expressions, folds constants, and keeps equal ones as one object."""

    def __init__(self) -> None:
        self._all: dict[Any, Expr] = {}

    def make(self, op: str, dtype: DType, args: tuple[Expr, ...] = (), attr: Any = None) -> Expr:
        key = (op, dtype, tuple(a.id for a in args), repr(attr) if op == "const" else attr)
        found = self._all.get(key)
        if found is None:
            found = self._all[key] = Expr(self, op, dtype, args, attr, len(self._all))
        return found

    def const(self, value: Any, dtype: DType) -> Expr:
        if dtype.kind == "f":
            value = float(value)
        elif dtype.kind == "b":
            value = bool(value)
        else:
            value = int(value)
        return self.make("const", dtype, (), value)

    def lift(self, x: Any, dtype: DType) -> Expr:
        return x if isinstance(x, Expr) else self.const(x, dtype)

    def var(self, v: Var) -> Expr:
        if v.extent == 1:
            return self.const(0, types.int64)
        return self.make("var", types.int64, (), v)

    def binary(self, op: str, a: Expr, b: Expr) -> Expr:
        if a.dtype is not b.dtype:
            raise AssertionError(f"{op}: {a.dtype} with {b.dtype} in a loop form: {a!r}, {b!r}")
        dtype = types.bool_ if op in COMPARISONS else a.dtype
        if a.dtype is types.int64:  # index arithmetic
            if a.op == b.op == "const":
                folded = _INT[op](a.attr, b.attr)
                if folded is not None:
                    return self.const(folded, dtype)
            if b.op == "const":
                if (b.attr == 0 and op in ("add", "sub")) or (b.attr == 1 and op in ("mul", "floordiv")):
                    return a
                if (b.attr == 0 and op == "mul") or (b.attr == 1 and op == "mod"):
                    return self.const(0, dtype)
                if op in ("floordiv", "mod") and b.attr > 0:
                    bound = upper_bound(a)
                    if bound is not None and bound < b.attr and lower_bound(a) == 0:
                        return a if op == "mod" else self.const(0, dtype)
            if a.op == "const":
                if a.attr == 0 and op == "add":
                    return b
                if a.attr == 1 and op == "mul":
                    return b
                if a.attr == 0 and op in ("mul", "floordiv", "mod"):
                    return self.const(0, dtype)
            if op in ("ge", "lt") and b.op == "const":
                lo, hi = lower_bound(a), upper_bound(a)
                if op == "ge" and lo is not None and lo >= b.attr:
                    return self.const(True, dtype)
                if op == "lt" and hi is not None and hi < b.attr:
                    return self.const(True, dtype)
        if dtype is types.bool_ and op in ("and", "or"):
            for x, y in ((a, b), (b, a)):
                if x.op == "const":
                    return y if x.attr == (op == "and") else x
        return self.make(op, dtype, (a, b))

    def unary(self, op: str, a: Expr) -> Expr:
        if op == "neg" and a.op == "const":
            return self.const(-a.attr, a.dtype)
        return self.make(op, types.bool_ if op in ("isnan", "isinf", "isfinite") else a.dtype, (a,))

    def select(self, c: Expr, a: Expr, b: Expr) -> Expr:
        if c.op == "const":
            return a if c.attr else b
        return a if a is b else self.make("select", a.dtype, (c, a, b))

    def cast(self, a: Expr, dtype: DType) -> Expr:
        if a.dtype is dtype:
            return a
        if a.op == "const" and dtype.kind in "fiu":
            return self.const(a.attr, dtype)
        return self.make("cast", dtype, (a,))


_INT: dict[str, Callable[[int, int], Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else None, "mod": lambda a, b: a % b if b else None,
    "max": max, "min": min, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: None, "shr": lambda a, b: None, "div": lambda a, b: None, "pow": lambda a, b: None,
}  # fmt: skip


def upper_bound(e: Expr) -> int | None:
    """The largest value that an index expression takes, where that is plain."""
    if e.op == "const":
        return e.attr
    if e.op == "var":
        return e.attr.extent - 1 if isinstance(e.attr.extent, int) else None
    if e.op in ("add", "mul") and len(e.args) == 2:
        a, b = upper_bound(e.args[0]), upper_bound(e.args[1])
        la, lb = lower_bound(e.args[0]), lower_bound(e.args[1])
        if a is None or b is None or la is None or lb is None:
            return None
        if e.op == "add":
            return a + b
        return a * b if la >= 0 and lb >= 0 else None
    if e.op == "sub":
        a, lb = upper_bound(e.args[0]), lower_bound(e.args[1])
        return None if a is None or lb is None else a - lb
    if e.op == "mod" and e.args[1].op == "const":
        return e.args[1].attr - 1
    if e.op == "floordiv" and e.args[1].op == "const" and e.args[1].attr > 0:
        a = upper_bound(e.args[0])
        return None if a is None else a // e.args[1].attr
    return None


def lower_bound(e: Expr) -> int | None:
    """The smallest value that an index expression takes, where that is plain."""
    if e.op == "const":
        return e.attr
    if e.op == "var":
        return 0
    if e.op in ("add", "mul"):
        a, b = lower_bound(e.args[0]), lower_bound(e.args[1])
        if a is None or b is None:
            return None
        if e.op == "add":
            return a + b
        return a * b if a >= 0 and b >= 0 else None
    if e.op == "sub":
        a, b = lower_bound(e.args[0]), upper_bound(e.args[1])
        return None if a is None or b is None else a - b
    if e.op == "mod" and e.args[1].op == "const":
        return 0
    if e.op == "floordiv" and e.args[1].op == "const" and e.args[1].attr > 0:
        a = lower_bound(e.args[0])
        return None if a is None else a // e.args[1].attr
    return None


class Operand:
    """A tensor that a loop form reads.

    Attributes:
        shape: sizes; int, or Expr where they are only known at run time.
        dtype: as stored.
        key: what the tensor is (a graph value).
        order: its axes as they lie in memory, outermost first.
    """

    __slots__ = ("name", "shape", "dtype", "key", "order")

    def __init__(
        self, name: str, shape: Sequence[Any], dtype: DType, key: Any = None, order: tuple[int, ...] | None = None
    ):
        self.name, self.shape, self.dtype, self.key = name, tuple(shape), dtype, key
        self.order = tuple(range(len(self.shape))) if order is None else order

    @property
    def ndim(self) -> int:
        return len(self.shape)


def compute_type(dtype: DType) -> DType:
    """The type in which a loop computes: float32 for the 16-bit floats."""
    return types.float32 if dtype.kind == "f" and dtype.itemsize < 4 else dtype


class LoopBuilder:
    """The `k` of an operator's `loops` rule.

    Attributes:
        at: index expressions (int64) of the output element.
        out: which output, for operators with several.
        dtype: the type in which the result is computed.
        shape: sizes of the output.
        origin: operator and line that messages of checks name; empty where they are known otherwise.
    """

    def __init__(
        self,
        scope: Scope,
        at: Sequence[Expr],
        dtype: DType,
        shape: Sequence[Any] = (),
        out: int = 0,
        loader: Callable[["LoopBuilder", Operand, tuple[Expr, ...]], Expr] | None = None,
        guard: Expr | None = None,
        origin: tuple[Any, ...] = (),
    ):
        self.scope, self.at, self.dtype, self.out = scope, tuple(at), compute_type(dtype), out
        self.shape = tuple(shape)
        self.loader = loader or LoopBuilder.load_buffer
        self.guard = guard
        self.origin = origin

    # -- reading --
    def load(self, x: Operand, at: Sequence[Any], inside: Expr | None = None, other: Any = 0) -> Expr:
        """The element of x at some indices. Where `inside` is false: `other`, and nothing is read."""
        at = tuple(self.scope.lift(i, types.int64) for i in at)
        assert len(at) == len(x.shape), f"{x.name}: {len(at)} indices for shape {x.shape}"
        if inside is None or (inside.op == "const" and inside.attr):
            return self.loader(self, x, at)
        before = self.guard
        self.guard = inside if before is None else self.scope.binary("and", before, inside)
        try:
            value = self.loader(self, x, at)
        finally:
            self.guard = before
        return self.scope.select(inside, value, self.scope.lift(other, value.dtype))

    def load_buffer(self, x: Operand, at: tuple[Expr, ...]) -> Expr:
        args = at if self.guard is None else (*at, self.guard)
        return self.scope.make("load", compute_type(x.dtype), args, x)

    def broadcast(self, x: Operand, at: Sequence[Expr] | None = None) -> Expr:
        """The element of x that numpy's broadcasting pairs with the output element."""
        at = self.at if at is None else at
        skip = len(at) - len(x.shape)
        return self.load(x, [0 if n == 1 else i for n, i in zip(x.shape, at[skip:])])

    # -- making --
    def const(self, value: Any, dtype: DType | None = None) -> Expr:
        return self.scope.const(value, compute_type(dtype or self.dtype))

    def cast(self, x: Expr, dtype: DType) -> Expr:
        """Conversion as numpy's astype: toward zero to integers, `!= 0` to bool."""
        x = self.scope.cast(x, compute_type(dtype))
        if dtype is types.float16 or dtype is types.bfloat16:  # rounded here, whether or not it is stored
            return self.scope.unary("round_" + dtype.name, x)
        return x

    def index(self, x: Expr) -> Expr:
        """An integer element as an index."""
        return self.scope.cast(x, types.int64)

    def where(self, c: Expr, a: Any, b: Any) -> Expr:
        dtype = a.dtype if isinstance(a, Expr) else b.dtype if isinstance(b, Expr) else self.dtype
        return self.scope.select(c, self.scope.lift(a, dtype), self.scope.lift(b, dtype))

    def check(self, ok: Expr, value: Expr, offending: Expr, message: str) -> Expr:
        """`value`; where `ok` is false the run ends with an IndexError that shows `offending` (int64).

        `{value}` in the message stands for the offending number.
        """
        return self.scope.make("check", value.dtype, (ok, value, offending), (message, *self.origin))

    def max(self, a: Any, b: Any) -> Expr:
        """The greater; NaN where either is NaN."""
        return self._two("max", a, b)

    def min(self, a: Any, b: Any) -> Expr:
        return self._two("min", a, b)

    def pow(self, a: Any, b: Any) -> Expr:
        return self._two("pow", a, b)

    def atan2(self, a: Any, b: Any) -> Expr:
        return self._two("atan2", a, b)

    def _two(self, op: str, a: Any, b: Any) -> Expr:
        dtype = a.dtype if isinstance(a, Expr) else b.dtype
        return self.scope.binary(op, self.scope.lift(a, dtype), self.scope.lift(b, dtype))

    def __getattr__(self, name: str) -> Callable[[Expr], Expr]:
        if name in UNARY:
            return lambda a: self.scope.unary(name, a)
        raise AttributeError(name)

    # -- reductions --
    def reduce(self, kind: str, extents: Sequence[Any], body: Callable[..., Expr]) -> Expr:
        """Reduces `body(i, j, ...)` over indices that run to `extents`.

        kind: sum, prod, max, min (NaN wins), any, all, argmax, argmin (position in row-major order, first of
        equals, NaN wins; int64).
        """
        variables = tuple(Var(n) for n in extents)
        inner = body(*(self.scope.var(v) for v in variables))
        dtype = types.int64 if kind.startswith("arg") else inner.dtype
        return self.scope.make("reduce", dtype, (inner,), (kind, variables))

    def sum(self, extents: Sequence[Any], body: Callable[..., Expr]) -> Expr:
        return self.reduce("sum", extents, body)


UNARY = {
    "abs", "neg", "not", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "lgamma",
    "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite", "round_float16", "round_bfloat16",
}  # fmt: skip


# ---- the meaning of expressions, with numpy ---------------------------------------------------
def evaluate(e: Expr, buffers: dict[Any, np.ndarray], at: Sequence[Var], shape: Sequence[int]) -> np.ndarray:
    """Values of `e` for all indices in `shape`; `buffers` maps Operand.key to arrays."""
    env = {
        v: np.arange(n).reshape([-1 if i == j else 1 for j in range(len(shape))])
        for i, (v, n) in enumerate(zip(at, shape))
    }
    with np.errstate(all="ignore"):
        return np.broadcast_to(_Evaluator(buffers).value(e, env, len(shape)), tuple(shape))


class IndexFault(Exception):
    """A check failed in `evaluate`."""


class _Evaluator:
    def __init__(self, buffers: dict[Any, np.ndarray]):
        self.buffers = buffers

    def value(self, e: Expr, env: dict[Var, np.ndarray], ndim: int) -> Any:
        npd = e.dtype.np
        if e.op == "const":
            return npd.type(e.attr)
        if e.op == "var":
            return env[e.attr]
        if e.op == "reduce":
            return self.reduction(e, env, ndim)
        a = [self.value(x, env, ndim) for x in e.args]
        if e.op == "load":
            data = self.buffers[e.attr.key]
            index = np.broadcast_arrays(*a) if a else []
            if len(a) > data.ndim:
                guard, index = index[-1], index[:-1]
                index = [np.where(guard, i, 0) for i in index]
                if data.size == 0:
                    return np.zeros(guard.shape, npd)
            for i, n in zip(index, data.shape):
                if ((i < 0) | (i >= n)).any():
                    raise AssertionError(f"load of {e.attr.name} out of bounds: {e!r}")
            return data[tuple(index)].astype(npd)
        if e.op == "select":
            return np.where(*a)
        if e.op == "cast":
            return np.asarray(a[0]).astype(npd)
        if e.op == "check":
            if not np.all(a[0]):
                raise IndexFault(
                    e.attr[0].format(value=np.broadcast_to(a[2], np.shape(a[0]))[~np.asarray(a[0])].flat[0])
                )
            return a[1]
        if e.op in _NUMPY2:
            return np.asarray(_NUMPY2[e.op](*a)).astype(npd)
        return np.asarray(_numpy1(e.op)(a[0])).astype(npd)

    def reduction(self, e: Expr, env: dict[Var, np.ndarray], ndim: int) -> Any:
        kind, variables = e.attr
        m = len(variables)
        env = {v: x.reshape(x.shape + (1,) * m) for v, x in env.items()}
        sizes = []
        for i, v in enumerate(variables):
            n = int(v.extent) if isinstance(v.extent, int) else int(np.max(self.value(v.extent, env, ndim)))
            sizes.append(n)
            env[v] = np.arange(n).reshape([1] * (ndim + i) + [-1] + [1] * (m - i - 1))
        body = np.asarray(self.value(e.args[0], env, ndim + m))
        body = np.broadcast_to(body, np.broadcast_shapes(body.shape, (1,) * ndim + tuple(sizes)))
        axes = tuple(range(ndim, ndim + m))
        f: Any = {"sum": np.add.reduce, "prod": np.multiply.reduce, "any": np.any, "all": np.all}.get(kind)
        if f is not None:
            return f(body, axis=axes).astype(e.dtype.np)
        if kind in ("max", "min"):
            start = _identity(kind, e.dtype)
            return (np.maximum if kind == "max" else np.minimum).reduce(body, axis=axes, initial=start)
        flat = body.reshape(body.shape[:ndim] + (math.prod(sizes),))
        return (np.argmax if kind == "argmax" else np.argmin)(flat, axis=-1)


def _identity(kind: str, dtype: DType) -> Any:
    if dtype.kind == "f":
        return -np.inf if kind == "max" else np.inf
    if dtype.kind == "b":
        return kind == "min"
    info = np.iinfo(dtype.np)
    return info.min if kind == "max" else info.max


def _numpy1(op: str) -> Any:
    if op.startswith("round_"):
        half = types.dtype_of(op.removeprefix("round_")).np
        return lambda x: x.astype(half).astype(x.dtype)
    if op in ("erf", "lgamma"):
        return np.vectorize(getattr(math, op), otypes=[np.float64])
    names = {
        "neg": "negative",
        "not": "invert",
        "round": "rint",
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
    }
    return (lambda x: 1 / np.sqrt(x)) if op == "rsqrt" else getattr(np, names.get(op, op))


_NUMPY2: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floordiv": np.floor_divide,
    "mod": np.mod, "max": np.maximum, "min": np.minimum, "pow": np.power, "atan2": np.arctan2, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
