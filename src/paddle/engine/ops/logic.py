"""Tests, logic, bits, and choosing between two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument, need_equal_dtypes, unavailable
from ..types import TensorType
from .elementwise import NO_BITS, Binary, Unary, broadcast, cast, in_float32, is_number, promoted, sum_to, unary
from .number import Number
from .registry import Operator, absent, operator

# ---- tests of one tensor ----------------------------------------------------------------------


def _test(name: str, numpy: Callable, loops: Callable) -> Operator:
    return unary(
        name,
        numpy=numpy,
        vjp=None,
        loops=loops,
        xla=lambda jnp, x: getattr(jnp, name)(x),
        result=types.bool_,
    )


def _plain(x: Any) -> bool:
    return x.dtype.kind in "biu"


isnan = _test("isnan", np.isnan, lambda k, x: k.const(False, types.bool_) if _plain(x) else k.isnan(x))
isinf = _test("isinf", np.isinf, lambda k, x: k.const(False, types.bool_) if _plain(x) else k.isinf(x))
isfinite = _test("isfinite", np.isfinite, lambda k, x: k.const(True, types.bool_) if _plain(x) else k.isfinite(x))
signbit = unary(
    "signbit",
    numpy=lambda x: x < 0 if x.dtype.kind in "biu" else np.signbit(x),
    vjp=None,
    loops=NO_BITS,
    xla=lambda jnp, x: jnp.signbit(x),
    result=types.bool_,
)


# ---- logic ------------------------------------------------------------------------------------
def _truth(k: Any, x: Any) -> Any:
    return x if x.dtype is types.bool_ else x.ne(0)


@operator
class LogicalNot(Unary):
    """True where x is zero."""

    vjp = absent("a bool has no gradient")

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(types.bool_)

    def numpy(self, x):
        return np.logical_not(x)

    def loops(self, k, x):
        return ~_truth(k, k.load(x, k.at))

    def xla(self, jnp, x):
        return jnp.logical_not(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (np.array([True, False]),)
        yield cls(), (np.array([[0.0, 1.5, np.nan, -0.0]], "float32"),)
        yield cls(), (rng.integers(0, 2, (3, 0)),)


class Logical(Binary):
    """Base of logic on truth values; elements that are not zero are true."""

    scalars = False
    vjp = absent("a bool has no gradient")

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        return TensorType(broadcast(self.name, x, y), types.bool_)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.integers(0, 2, (3, 4)).astype(bool), rng.integers(0, 2, 4).astype(bool))
        yield cls(), (rng.integers(0, 2, (3, 1)), rng.integers(0, 2, (1, 5)))
        yield cls(), (np.array([0.0, np.nan, 1.0], "float32"), np.float32(0).reshape(()))
        yield cls(), (np.zeros((0, 2), bool), np.zeros((1, 2), bool))


def _logical(name: str, loop: Callable) -> Operator:
    f = getattr(np, name)
    body = {
        "__doc__": f"{name} of two tensors, element by element.",
        "name": name,
        "numpy": lambda self, x, y: f(x, y),
        "loops": lambda self, k, x, y: loop(_truth(k, k.broadcast(x)), _truth(k, k.broadcast(y))),
        "xla": lambda self, jnp, x, y: getattr(jnp, name)(x, y),
    }
    return operator(type(name.title().replace("_", ""), (Logical,), body))()


logical_not = LogicalNot()
logical_and = _logical("logical_and", lambda x, y: x & y)
logical_or = _logical("logical_or", lambda x, y: x | y)
logical_xor = _logical("logical_xor", lambda x, y: x ^ y)


# ---- bits -------------------------------------------------------------------------------------
def _need_bits(name: str, *args: TensorType) -> None:
    for a in args:
        if a.dtype.kind not in "biu":
            raise unavailable(
                f"{name}: it is not defined for {a.dtype.name}.", expected="an integer type or bool", received=f"{a}"
            )


@operator
class BitwiseNot(Unary):
    """All bits turned; of bool, the other truth value."""

    vjp = absent("integers have no gradient")

    def infer(self, x: TensorType) -> TensorType:
        _need_bits("bitwise_not", x)
        return x

    def numpy(self, x):
        return np.invert(x)

    def loops(self, k, x):
        return ~k.load(x, k.at)

    def xla(self, jnp, x):
        return jnp.invert(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (np.array([True, False]),)
        yield cls(), (rng.integers(-9, 9, (3, 4)),)
        yield cls(), (rng.integers(0, 255, 5).astype("uint8"),)


class Bitwise(Binary):
    """Base of operators on the bits of two tensors of one integer type (or bool)."""

    bool_too = True
    vjp = absent("integers have no gradient")

    def prepare(self, x: Any, y: Any) -> tuple[Any, Any]:
        if is_number(x) or is_number(y):
            return promoted(self.name, x, y)
        need_equal_dtypes(self.name, x=x, y=y)
        return x, y

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        _need_bits(self.name, x, y)
        return TensorType(broadcast(self.name, x, y), x.dtype)

    @classmethod
    def samples(cls, rng):
        high = 7 if "shift" in cls.name else 200
        for dtype, *shapes in (("int64", (3, 4), 4), ("int32", (2, 1), (1, 3)), ("uint8", 5, ()), ("int64", (0, 2), 2)):
            yield cls(), tuple(rng.integers(0, high, s).astype(dtype) for s in shapes)
        if cls.bool_too:
            yield cls(), (np.array([True, True, False]), np.array([True, False, False]))


def _bitwise(name: str, f: Callable, loop: Callable, bool_too: bool = True) -> Operator:
    body = {
        "__doc__": f"{name} of two tensors, element by element.",
        "name": name,
        "bool_too": bool_too,
        "numpy": lambda self, x, y: np.asarray(f(x, y)),
        "loops": lambda self, k, x, y: loop(k, k.broadcast(x), k.broadcast(y)),
    }
    body["xla"] = lambda self, jnp, x, y: getattr(jnp, name)(x, y) if bool_too else f(x, y, jnp)
    return operator(type(name.title().replace("_", ""), (Bitwise,), body))()


def _shift(left: bool, logical: bool) -> tuple[Callable, Callable]:
    """numpy and loop form of a shift. Bits shifted out beyond the width leave zeros or copies of the sign."""

    def numpy(x, y, xp=np):
        bits = x.dtype.itemsize * 8
        within = (y >= 0) & (y < bits)
        n = xp.where(within, y, 0).astype(x.dtype)
        if left:
            return xp.where(within, xp.left_shift(x, n), 0).astype(x.dtype)
        if logical:
            u = np.dtype(f"u{x.dtype.itemsize}")
            return xp.where(within, xp.right_shift(x.astype(u), n.astype(u)), 0).astype(x.dtype)
        return xp.where(within, xp.right_shift(x, n), xp.where(x < 0, -1, 0).astype(x.dtype)).astype(x.dtype)

    def loops(k, x, y):
        bits = x.dtype.itemsize * 8
        within = (y >= 0) & (y < bits) if y.dtype.kind == "i" else y < bits
        n = k.where(within, y, 0)
        if left:
            return k.where(within, x << n, 0)
        if logical and x.dtype.kind == "i":
            u = types.dtype_of(f"uint{bits}")
            return k.where(within, k.cast(k.cast(x, u) >> k.cast(n, u), x.dtype), 0)
        return k.where(within, x >> n, k.where(x < 0, -1, 0) if x.dtype.kind == "i" else 0)

    return numpy, loops


bitwise_not = BitwiseNot()
bitwise_and = _bitwise("bitwise_and", np.bitwise_and, lambda k, x, y: x & y)
bitwise_or = _bitwise("bitwise_or", np.bitwise_or, lambda k, x, y: x | y)
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor, lambda k, x, y: x ^ y)
left_shift = _bitwise("left_shift", *_shift(True, False), bool_too=False)
right_shift = _bitwise("right_shift", *_shift(False, False), bool_too=False)
right_shift_logical = _bitwise("right_shift_logical", *_shift(False, True), bool_too=False)


# ---- choosing ---------------------------------------------------------------------------------
@operator
class Select(Operator):
    """x where the condition holds, else y; all three broadcast."""

    def prepare(self, condition: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        if isinstance(x, Number) or isinstance(y, Number):
            return condition, x, y
        return (condition, *promoted("where", x, y, scalars=False))

    def infer(self, condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
        if condition.dtype is not types.bool_:
            raise invalid_argument(
                "where: the condition is not bool.", expected="condition: bool", received=f"condition: {condition}"
            )
        return TensorType(broadcast("where", condition, x, y), x.dtype)

    def numpy(self, condition, x, y):
        return np.where(condition, x, y)

    def vjp(self, g, out, condition, x, y):
        zero = cast(Number(0, g.dtype), g.dtype)
        dx, dy = Select()(condition, g, zero), Select()(condition, zero, g)
        return None, sum_to(dx, tuple(x.shape)), sum_to(dy, tuple(y.shape))

    def loops(self, k, condition, x, y):
        return k.where(k.broadcast(condition), k.broadcast(x), k.broadcast(y))

    def xla(self, jnp, condition, x, y):
        return jnp.where(condition, x, y)

    def spmd(self, *types):
        return "...,...,...->..."

    @classmethod
    def samples(cls, rng):
        c = rng.integers(0, 2, (3, 4)).astype(bool)
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(), (c, f(3, 4), f(3, 4))
        yield cls(), (c, f(4), f(3, 1))
        yield cls(), (c[0], f(2, 1), f())
        yield cls(), (np.array(True), np.array(1), np.array(2))
        yield cls(), (np.zeros((0, 2), bool), f(0, 2), f(2))


def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; numbers take the type of the tensor beside them."""
    return Select()(condition, x, y)


@operator
class IsClose(Operator):
    """|x - y| <= atol + rtol * |y|; NaN is close to NaN if asked for."""

    rtol: float
    atol: float
    equal_nan: bool
    vjp = absent("a bool has no gradient")

    def prepare(self, x: Any, y: Any) -> tuple[Any, Any]:
        return promoted("isclose", x, y, scalars=False)

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        return TensorType(broadcast("isclose", x, y), types.bool_)

    def numpy(self, x, y):
        return np.asarray(in_float32(lambda a, b: np.isclose(a, b, self.rtol, self.atol, self.equal_nan))(x, y))

    def loops(self, k, x, y):
        a, b = k.broadcast(x), k.broadcast(y)
        if a.dtype.kind != "f":
            a, b = k.cast(a, types.float64), k.cast(b, types.float64)
        same = a.eq(b)
        if self.equal_nan:
            same = same | (k.isnan(a) & k.isnan(b))
        return same | ((k.abs(a - b) <= k.abs(b) * self.rtol + self.atol) & k.isfinite(b))

    def xla(self, jnp, x, y):
        return jnp.isclose(x, y, self.rtol, self.atol, self.equal_nan)

    def spmd(self, *types):
        return "...,...->..."

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4)).astype("float32")
        yield cls(1e-5, 1e-8, False), (x, x * np.float32(1 + 2e-6))
        yield cls(1e-5, 1e-8, False), (x, (x + 1e-3).astype("float32"))
        special = np.array([np.nan, np.inf, -np.inf, 0.0])
        yield cls(1e-5, 1e-8, True), (special, special)
        yield cls(1e-5, 1e-8, False), (special, special[::-1].copy())
        yield cls(1e-5, 1e-8, False), (rng.integers(0, 3, 5), rng.integers(0, 3, 5))
