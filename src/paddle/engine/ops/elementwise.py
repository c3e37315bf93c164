"""Element by element: the families `unary`, `binary`, `comparison`, and what belongs to all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import types
from ..errors import cast_hint, invalid_argument, invalid_type, unavailable
from ..types import DType, TensorType, broadcast_shapes
from .number import Number
from .registry import Operator, absent, letters, operator

FLOATS = tuple(types.dtype_of(n) for n in ("float16", "bfloat16", "float32", "float64"))


# ---- promotion --------------------------------------------------------------------------------
def is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex, np.number, np.bool_)) and not isinstance(x, np.ndarray)


def number_type(x: Any) -> str:
    if isinstance(x, (bool, np.bool_)):
        return "b"
    if isinstance(x, (int, np.integer)):
        return "i"
    return "c" if isinstance(x, (complex, np.complexfloating)) else "f"


_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def beside(kind: str, dtype: DType) -> DType:
    """The type that a Python number of some kind and a tensor of type `dtype` are computed in."""
    if _RANK[kind] <= _RANK[dtype.kind]:
        return dtype
    if kind == "i":
        return types.int64
    if kind == "f":
        return types.float32  # whatever the default type is
    return types.complex128 if dtype is types.float64 else types.complex64


def promote_pair(x: DType, y: DType, name: str) -> DType:
    """Type of a result of two tensors; as Paddle, which mixes floats and complex, never integers."""
    if x is y:
        return x
    if x.kind in "fc" and y.kind in "fc":
        if x.kind == "f" == y.kind:
            if x.itemsize != y.itemsize:
                return x if x.itemsize > y.itemsize else y
            return types.float32
        double = types.float64 in (x, y) or types.complex128 in (x, y)
        return types.complex128 if double else types.complex64
    if "c" in (x.kind, y.kind):
        return x if x.kind == "c" else y
    raise invalid_type(
        f"{name}: the element types differ and are not promoted.",
        expected="equal dtypes, or two floating dtypes",
        received=f"x: {x.name}, y: {y.name}",
        hint=cast_hint(x=x, y=y),
    )


def cast(x: Any, dtype: DType) -> Any:
    if isinstance(x, Number):
        return Number(x.value, dtype)
    return x if x.dtype is dtype else Cast(dtype)(x)


def promoted(name: str, x: Any, y: Any, floating: bool = False, scalars: bool = True) -> tuple[Any, Any]:
    """Both arguments in one element type: numbers typed, tensors cast where they have to be.

    floating: integers are computed in float32 (true division). scalars: a 0-d tensor counts as a number.
    """
    x_number, y_number = is_number(x), is_number(y)
    if x_number and y_number:
        kind = number_type(x)
        x = Number(x, {"b": types.bool_, "i": types.int64, "f": types.default_dtype(), "c": types.complex64}[kind])
        x_number = False
    for a, label in ((x, "x"), (y, "y")):
        if not is_number(a) and not hasattr(a, "dtype"):
            raise invalid_type(
                f"{name}: {label} is not a Tensor.", expected="a Tensor or a number", received=f"{label}: {a!r}"
            )
    if y_number:
        dtype = type_with_number(y, x.dtype)
    elif x_number:
        dtype = type_with_number(x, y.dtype)
    elif x.dtype is y.dtype:
        dtype = x.dtype
    elif scalars and (len(x.shape) == 0) != (len(y.shape) == 0):
        wide, narrow = (y.dtype, x.dtype) if len(x.shape) == 0 else (x.dtype, y.dtype)
        dtype = wide
        if _RANK[narrow.kind] > _RANK[wide.kind]:
            dtype = promote_pair(wide, narrow, name) if narrow.kind == "c" else narrow
    elif scalars and len(x.shape) == 0 and _RANK[x.dtype.kind] < 3 > _RANK[y.dtype.kind]:
        dtype = max(x.dtype, y.dtype, key=lambda d: (_RANK[d.kind], d.itemsize))
    else:
        dtype = promote_pair(x.dtype, y.dtype, name)
    if floating and dtype.is_integer:
        dtype = types.float32
    x = Number(x, dtype) if x_number else cast(x, dtype)
    y = Number(y, dtype) if y_number else cast(y, dtype)
    return x, y


def wider(x: DType, y: DType, name: str) -> DType:
    """The type of two that has the higher kind, or is the larger."""
    if x.itemsize == y.itemsize and x.kind == y.kind == "f":
        return promote_pair(x, y, name)
    return max(x, y, key=lambda d: (_RANK[d.kind], d.itemsize))


def in_the_wider(name: str) -> Any:
    """`prepare` of operators for which a 0-d tensor is a tensor like others, not a number."""

    def prepare(x: Any, y: Any) -> tuple[Any, Any]:
        if not (is_number(x) or is_number(y)) and hasattr(x, "dtype") and hasattr(y, "dtype"):
            if x.dtype is not y.dtype and (len(x.shape) == 0) != (len(y.shape) == 0):
                dtype = wider(x.dtype, y.dtype, name)
                x, y = cast(x, dtype), cast(y, dtype)
        return promoted(name, x, y)

    return prepare


def type_with_number(number: Any, dtype: DType) -> DType:
    """The type that a number and a tensor of type `dtype` are computed in."""
    if isinstance(number, np.generic) and not isinstance(number, (int, float, complex)):
        kind = number_type(number)  # numpy's own scalars take the tensor's type, unless they are complex
        return dtype if kind != "c" else beside(kind, dtype)
    return beside(number_type(number), dtype)


NO_BITS = absent("loop forms do not see the bits of floats: runs its numpy form")


# ---- families ---------------------------------------------------------------------------------
def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of broadcasting: g summed over the axes that were stretched."""
    if tuple(g.shape) == tuple(shape):
        return g
    from .reduction import sum_
    from .shape import reshape

    skip = len(g.shape) - len(shape)
    axes = tuple(range(skip)) + tuple(i for i, n in enumerate(shape, skip) if n == 1 and g.shape[i] != 1)
    out = sum_(g, axes, keepdim=False) if axes else g
    return out if tuple(out.shape) == tuple(shape) else reshape(out, tuple(shape))


def conj(x: Any) -> Any:
    """x, conjugated where it is complex: gradients of complex functions need it."""
    if x.dtype.kind != "c":
        return x
    return Number(x.value.conjugate(), x.dtype) if isinstance(x, Number) else Conj()(x)


class Unary(Operator):
    """Base of element-wise operators of one argument."""

    pointwise = True

    floating = False

    def prepare(self, x: Any) -> tuple[Any]:
        return (cast(x, types.float32),) if self.floating and x.dtype.kind in "biu" else (x,)

    def infer(self, x: TensorType) -> TensorType:
        return x

    def spmd(self, *types):
        return "...->..."


class Binary(Operator):
    """Base of element-wise operators of two arguments that broadcast.

    floating: integers are computed in float32. scalars: a 0-d tensor takes the other's type, as a number does.
    bools: it is defined for bool.
    """

    floating = False
    scalars = True
    bools = True
    pointwise = True

    def prepare(self, x: Any, y: Any) -> tuple[Any, Any]:
        if type(x) is not Number and type(y) is not Number and getattr(x, "dtype", 0) is getattr(y, "dtype", 1):
            if not self.floating or x.dtype.kind not in "biu":
                return x, y
        if isinstance(x, Number) or isinstance(y, Number):
            return x, y
        return promoted(self.name, x, y, self.floating, self.scalars)

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        if x.dtype.is_bool and not self.bools:
            raise unavailable(
                f"{self.name}: it is not defined for bool.",
                expected="a number type",
                received=f"x: {x}, y: {y}",
                hint="cast the arguments first, as in x.astype('int64').",
            )
        return TensorType(broadcast(self.name, x, y), x.dtype)

    def spmd(self, *types):
        return "...,...->..."


def broadcast(name: str, *args: TensorType) -> tuple[int, ...]:
    try:
        return broadcast_shapes(*(a.shape for a in args))
    except ValueError:
        raise invalid_argument(
            f"{name}: the shapes do not broadcast.",
            expected="equal sizes, or 1, axis by axis from the right",
            received=", ".join(f"{n}: {a}" for n, a in zip("xyzw", args)),
        ) from None


def in_float32(f: Callable) -> Callable:
    """f computed in float32 on 16-bit floats, as loop forms do."""

    def call(x: Any, *rest: Any) -> np.ndarray:
        if x.dtype.itemsize < 4 and x.dtype.kind not in "biu":
            wide = [a.astype(np.float32) for a in (x, *rest)]
            out = np.asarray(f(*wide))
            return out.astype(x.dtype) if out.dtype == np.float32 else out
        return np.asarray(f(x, *rest))

    return call


def float_samples(rng: np.random.Generator, low: float = -3.0, high: float = 3.0) -> list[np.ndarray]:
    """Shapes and dtypes on which element-wise operators are tested."""

    def make(*shape: int, d: str = "float32") -> np.ndarray:
        return np.asarray(rng.uniform(low, high, shape)).astype(d)

    return [make(3, 5), make(), make(0, 4), make(17, d="float64"), make(2, 1, 33), make(1, 1, d="float16")]


def unary(
    name: str,
    *,
    numpy: Callable,
    vjp: Callable | None,
    loops: Callable | absent | None = None,
    xla: Callable | None = None,
    low: float = -3.0,
    high: float = 3.0,
    special: bool | tuple[float, ...] = True,
    result: DType | None = None,
    floating: bool = False,
) -> Operator:
    """Defines an element-wise operator of one argument and returns it.

    low, high: where samples lie. special: samples also hold infinities and NaN, or what is given. result: type of
    the result if it is not that of the argument. floating: integers are computed in float32.
    """
    body: dict[str, Any] = {"__doc__": f"{name} of each element.", "name": name, "floating": floating}
    meaning = in_float32(numpy)
    body["numpy"] = lambda self, x: meaning(x)
    if vjp is not None:
        call = vjp
        body["vjp"] = lambda self, g, out, x: (call(g, out, x),)
    else:
        body["vjp"] = absent("no continuous function of its argument")
    if isinstance(loops, absent):
        body["loops"] = loops
    elif loops is not None:
        body["loops"] = lambda self, k, x: loops(k, k.load(x, k.at))
    if xla is not None:
        body["xla"] = lambda self, jnp, x: xla(jnp, x)
    if result is not None:
        body["infer"] = lambda self, x: x.with_dtype(result)

    def samples(cls, rng):
        for x in float_samples(rng, low, high):
            yield cls(), (x,)
        if special:
            values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30] if special is True else special
            yield cls(), (np.array(values, "float32"),)

    body["samples"] = classmethod(samples)
    cls: Any = operator(type(name.title().replace("_", ""), (Unary,), body))
    cls.vjp_source = vjp
    return cls()


def binary(
    name: str,
    *,
    numpy: Callable,
    vjp: Callable | None,
    loops: Callable | absent | None = None,
    xla: Callable | None = None,
    floating: bool = False,
    scalars: bool = True,
    bools: bool = True,
    prepare: Callable | None = None,
    samples: Callable | None = None,
) -> Operator:
    """Defines an element-wise operator of two broadcasting arguments and returns it.

    vjp(g, out, x, y) gives both gradients in the result's shape; they are summed to the arguments' shapes here.
    """
    body: dict[str, Any] = {"__doc__": f"{name} of two tensors, element by element.", "name": name}
    body["floating"], body["scalars"], body["bools"] = floating, scalars, bools
    if prepare is not None:
        body["prepare"] = lambda self, x, y: prepare(x, y)
    meaning = in_float32(numpy)
    body["numpy"] = lambda self, x, y: meaning(x, y)
    if vjp is not None:
        call = vjp

        def rule(self, g, out, x, y):
            dx, dy = call(g, out, x, y)
            return (None if dx is None else sum_to(dx, x.shape), None if dy is None else sum_to(dy, y.shape))

        body["vjp"] = rule
    else:
        body["vjp"] = absent("no continuous function of its arguments")
    if isinstance(loops, absent):
        body["loops"] = loops
    elif loops is not None:
        body["loops"] = lambda self, k, x, y: loops(k, k.broadcast(x), k.broadcast(y))
    if xla is not None:
        body["xla"] = lambda self, jnp, x, y: xla(jnp, x, y)

    def default_samples(cls, rng):
        for x, y in (
            (rng.normal(size=(3, 5)), rng.normal(size=(3, 5))),
            (rng.normal(size=(3, 5)), rng.normal(size=5)),
            (rng.normal(size=(3, 1)), rng.normal(size=(1, 4))),
            (rng.normal(size=()), rng.normal(size=(2, 33))),
            (rng.normal(size=(0, 3)), rng.normal(size=(1, 3))),
        ):
            yield cls(), (x.astype("float32"), y.astype("float32"))
        yield cls(), (rng.normal(size=9), rng.normal(size=9))
        if not floating and samples is None:
            yield cls(), (rng.integers(1, 9, (4, 3)), rng.integers(1, 9, (4, 3)))
            yield cls(), (rng.integers(1, 9, (4, 3)).astype("int32"), rng.integers(1, 9, 3).astype("int32"))

    body["samples"] = classmethod(samples or default_samples)
    cls: Any = operator(type(name.title().replace("_", ""), (Binary,), body))
    cls.vjp_source = vjp  # sum_to reads shapes only
    return cls()


def comparison(name: str, *, numpy: Callable, loop: str, xla: Callable | None = None) -> Operator:
    """Defines a comparison of two broadcasting arguments, which gives bool."""
    body: dict[str, Any] = {"__doc__": f"{name} of two tensors, element by element, as bool.", "name": name}
    body["numpy"] = lambda self, x, y: np.asarray(numpy(x, y))
    body["infer"] = lambda self, x, y: TensorType(broadcast(self.name, x, y), types.bool_)
    body["vjp"] = absent("a bool has no gradient")
    body["loops"] = lambda self, k, x, y: k._two(loop, k.broadcast(x), k.broadcast(y))
    if xla is not None:
        body["xla"] = lambda self, jnp, x, y: xla(jnp, x, y)

    def samples(cls, rng):
        x = rng.integers(0, 3, (4, 5))
        yield cls(), (x.astype("float32"), rng.integers(0, 3, 5).astype("float32"))
        yield cls(), (x, rng.integers(0, 3, (4, 1)))
        yield cls(), (np.array([np.nan, np.inf, -np.inf, 0.0]), np.array([np.nan, np.inf, np.inf, -0.0]))
        yield cls(), (np.array([True, False]), np.array([True, True]))

    body["samples"] = classmethod(samples)
    return operator(type(name.title().replace("_", ""), (Binary,), body))()


@operator
class Cast(Operator):
    """Converts the element type: toward zero to integers, `!= 0` to bool, the real part of complex numbers."""

    pointwise = True
    dtype: DType

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(self.dtype)

    def numpy(self, x):
        x = np.asarray(x)
        return (x.real if x.dtype.kind == "c" and self.dtype.kind in "iuf" else x).astype(self.dtype.np)

    def vjp(self, g, out, x):
        return (cast(g, x.dtype) if x.dtype.is_differentiable and self.dtype.is_differentiable else None,)

    def loops(self, k, x):
        return k.cast(k.load(x, k.at), self.dtype)

    def xla(self, jnp, x):
        return x.astype(self.dtype.name)

    def spmd(self, *types):
        return "...->..."

    @classmethod
    def samples(cls, rng):
        x = rng.uniform(-4, 4, (3, 7)).astype("float32")
        for d in (types.float64, types.int32, types.int64, types.bool_, types.float16, types.int8):
            yield cls(d), (x,)
        yield cls(types.float32), (rng.integers(-9, 9, 11),)
        yield cls(types.float32), (np.array([True, False]),)
        yield cls(types.float32), (np.array([1 + 2j, 3j], "complex64"),)


@operator
class Conj(Unary):
    """Complex conjugate; the argument itself where it is real."""

    loops = absent("complex programs are not compiled")

    def numpy(self, x):
        return np.conj(x)

    def vjp(self, g, out, x):
        return (conj(g),)

    def xla(self, jnp, x):
        return jnp.conj(x)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=3) + 1j * rng.normal(size=3),)


@operator
class Detach(Unary):
    """x itself; gradients stop here."""

    vjp = absent("its purpose")

    def numpy(self, x):
        return x

    def loops(self, k, x):
        return k.load(x, k.at)

    def xla(self, jnp, x):
        return x

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3)).astype("float32"),)


@operator
class Copy(Unary):
    """x in a buffer of its own; the compiler puts it where another layout pays."""

    def numpy(self, x):
        return np.array(x)

    def vjp(self, g, out, x):
        return (g,)

    def loops(self, k, x):
        return k.load(x, k.at)

    def xla(self, jnp, x):
        return x

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3)).astype("float32"),)


@operator
class Tied(Operator):
    """x itself; y takes part, with a gradient of zeros."""

    pointwise = False

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        return x

    def numpy(self, x, y):
        return np.array(x)

    def vjp(self, g, out, x, y):
        from .creation import Full

        return g, Full(tuple(y.shape), 0.0, y.dtype)()

    def loops(self, k, x, y):
        return k.load(x, k.at)

    def xla(self, jnp, x, y):
        return x

    def spmd(self, *types):
        first = letters(types[0].ndim + types[1].ndim)
        x, y = first[: types[0].ndim], first[types[0].ndim :]
        return f"{x},{y.upper()}->{x}"

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=(2, 3)).astype("float32"), rng.normal(size=3).astype("float32"))


# ---- arithmetic -------------------------------------------------------------------------------
add = binary(
    "add", numpy=np.add, vjp=lambda g, out, x, y: (g, g), loops=lambda k, x, y: x + y, xla=lambda jnp, x, y: x + y
)
subtract = binary(
    "subtract",
    bools=False,
    numpy=np.subtract,
    vjp=lambda g, out, x, y: (g, -g),
    loops=lambda k, x, y: x - y,
    xla=lambda jnp, x, y: x - y,
)
multiply = binary(
    "multiply",
    numpy=np.multiply,
    vjp=lambda g, out, x, y: (g * conj(y), g * conj(x)),
    loops=lambda k, x, y: x * y,
    xla=lambda jnp, x, y: x * y,
)
divide = binary(
    "divide",
    numpy=np.divide,
    floating=True,
    bools=False,
    vjp=lambda g, out, x, y: (g / conj(y), -g * conj(x / (y * y))),
    loops=lambda k, x, y: x / y,
    xla=lambda jnp, x, y: x / y,
)


def _shares(g: Any, wins: Any, loses: Any, ties: Any) -> tuple[Any, Any]:
    """The gradient to the one that was taken; halved between equals, and to none where one is NaN."""
    half = cast(ties, g.dtype) * 0.5
    return g * (cast(wins, g.dtype) + half), g * (cast(loses, g.dtype) + half)


maximum = binary(
    "maximum",
    numpy=np.maximum,
    scalars=False,
    vjp=lambda g, out, x, y: _shares(g, greater_than(x, y), less_than(x, y), equal(x, y)),
    loops=lambda k, x, y: k.max(x, y),
    xla=lambda jnp, x, y: jnp.maximum(x, y),
)
minimum = binary(
    "minimum",
    numpy=np.minimum,
    scalars=False,
    vjp=lambda g, out, x, y: _shares(g, less_than(x, y), greater_than(x, y), equal(x, y)),
    loops=lambda k, x, y: k.min(x, y),
    xla=lambda jnp, x, y: jnp.minimum(x, y),
)

equal: Operator = comparison("equal", numpy=np.equal, loop="eq", xla=lambda jnp, x, y: x == y)
not_equal = comparison("not_equal", numpy=np.not_equal, loop="ne", xla=lambda jnp, x, y: x != y)
less_than: Operator = comparison("less_than", numpy=np.less, loop="lt", xla=lambda jnp, x, y: x < y)
less_equal: Operator = comparison("less_equal", numpy=np.less_equal, loop="le", xla=lambda jnp, x, y: x <= y)
greater_than: Operator = comparison("greater_than", numpy=np.greater, loop="gt", xla=lambda jnp, x, y: x > y)
greater_equal: Operator = comparison("greater_equal", numpy=np.greater_equal, loop="ge", xla=lambda jnp, x, y: x >= y)

negative = unary(
    "neg",
    numpy=lambda x: x if x.dtype == bool else np.negative(x),
    vjp=lambda g, out, x: -g,
    loops=lambda k, x: x if x.dtype is types.bool_ else -x,
    xla=lambda jnp, x: x if x.dtype == bool else -x,
)
exp = unary(
    "exp",
    floating=True,
    numpy=np.exp,
    vjp=lambda g, out, x: g * conj(out),
    loops=lambda k, x: k.exp(x),
    xla=lambda jnp, x: jnp.exp(x),
)
log = unary(
    "log",
    floating=True,
    numpy=np.log,
    vjp=lambda g, out, x: g / conj(x),
    loops=lambda k, x: k.log(x),
    xla=lambda jnp, x: jnp.log(x),
    low=0.1,
)
sqrt = unary(
    "sqrt",
    floating=True,
    numpy=np.sqrt,
    vjp=lambda g, out, x: g / (conj(out) * 2.0),
    loops=lambda k, x: k.sqrt(x),
    xla=lambda jnp, x: jnp.sqrt(x),
    low=0.1,
)
tanh = unary(
    "tanh",
    floating=True,
    numpy=np.tanh,
    vjp=lambda g, out, x: g * conj(1.0 - out * out),
    loops=lambda k, x: k.tanh(x),
    xla=lambda jnp, x: jnp.tanh(x),
)
sigmoid = unary(
    "sigmoid",
    floating=True,
    numpy=lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype),
    vjp=lambda g, out, x: g * conj(out * (1.0 - out)),
    loops=lambda k, x: 1 / (1 + k.exp(-x)),
    xla=lambda jnp, x: 1 / (1 + jnp.exp(-x)),
)
relu = unary(
    "relu",
    numpy=lambda x: np.where(x > 0, x, x.dtype.type(0)),  # 0 for NaN, as upstream
    vjp=lambda g, out, x: g * cast(greater_than(out, 0), g.dtype),
    loops=lambda k, x: k.where(x > 0, x, 0),
    xla=lambda jnp, x: jnp.where(x > 0, x, 0),
)


# ---- Python operators -------------------------------------------------------------------------
class Arithmetic:
    """Gives a class the Python operators, spelled with operators of the engine."""

    __slots__ = ()

    def __add__(self, o):
        return add(self, o)

    def __radd__(self, o):
        return add(o, self)

    def __sub__(self, o):
        return subtract(self, o)

    def __rsub__(self, o):
        return subtract(o, self)

    def __mul__(self, o):
        return multiply(self, o)

    def __rmul__(self, o):
        return multiply(o, self)

    def __truediv__(self, o):
        return divide(self, o)

    def __rtruediv__(self, o):
        return divide(o, self)

    def __neg__(self):
        return negative(self)

    def __pow__(self, o):
        from .math import pow_

        return pow_(self, o)

    def __abs__(self):
        from .math import abs_

        return abs_(self)

    def __matmul__(self, o):
        from .linalg import matmul

        return matmul(self, o)

    def __gt__(self, o):
        return greater_than(self, o)

    def __ge__(self, o):
        return greater_equal(self, o)

    def __lt__(self, o):
        return less_than(self, o)

    def __le__(self, o):
        return less_equal(self, o)


def _lend_operators() -> None:
    """Graph values and meaning arrays take part in compositions as Tensors do."""
    from ..ir.graph import Value
    from .registry import Array

    for cls in (Value, Array):
        for name, method in vars(Arithmetic).items():
            if callable(method):
                setattr(cls, name, method)


_lend_operators()
