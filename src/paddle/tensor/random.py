"""Tensors of random numbers, with keys from the default generator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.ops import elementwise as ew
from ..engine.ops import math as mathops
from ..engine.ops import random as ops
from ..engine.ops.complex import ToComplex
from ..engine.ops.elementwise import cast
from ..engine.types import DType, default_dtype, dtype_of
from ..framework.random import next_key
from ..utils.public import METHODS, check_inplace, public, replace
from .arguments import fill_out, finish, int_argument, ints_argument
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = [
    "rand", "randn", "standard_normal", "normal", "uniform", "log_normal", "randint", "randperm",
    "rand_like", "randn_like", "randint_like", "bernoulli", "binomial", "poisson", "multinomial", "standard_gamma",
    "bernoulli_", "normal_", "log_normal_", "cauchy_", "geometric_",
]  # fmt: skip


def _shape(shape: Any, name: str) -> tuple[int, ...]:
    """A shape of non-negative sizes. What is no list is refused as upstream refuses it: AttributeError."""
    if shape is None or isinstance(shape, str):
        raise AttributeError(errors.message("InvalidType", f"{name}: no shape.", "a list of int", f"{shape!r}"))
    sizes = tuple(ints_argument(shape, name, "shape"))
    if any(n < 0 for n in sizes):
        raise errors.invalid_argument(
            f"{name}: a size is negative.", received=f"shape: {list(sizes)}", expected="sizes of 0 or more"
        )
    return sizes


def _floating(dtype: Any, name: str) -> DType:
    d = default_dtype() if dtype is None else dtype_of(dtype)
    if not d.is_floating:
        raise errors.invalid_type(f"{name}: not for this type.", expected="a floating type", received=f"{d.name}")
    return d


def _sizes(f: Any) -> Any:
    """Lets a function of a shape take the sizes one by one: rand(2, 3)."""
    import functools

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (int, np.integer)):
            sizes = [a for a in args if isinstance(a, (int, np.integer))]
            args = (list(sizes), *args[len(sizes) :])
        return f(*args, **kwargs)

    return call


@_sizes
@public(also={"shape": "size"})
def rand(shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Uniform in [0, 1).

    Args:
        shape (list|tuple|Tensor|int): sizes; may be given one by one.
        dtype (str|dtype, optional): floating. Default: the default type.
        out (Tensor, optional): Takes the result and is returned.
        requires_grad (bool): a leaf that gradients are computed for.

    Returns:
        Tensor: of that shape.

    Examples:
        >>> _ = paddle.seed(1)
        >>> x = paddle.rand([2, 3])
        >>> bool((x >= 0).all()) and bool((x < 1).all())
        True
    """
    t = ops.uniform(next_key(), _shape(shape, "rand"), dtype=_floating(dtype, "rand"))
    return finish(t, out, requires_grad, device, "rand")


def _standard(size: tuple[int, ...], dtype: Any, name: str) -> Any:
    """Normal numbers of variance 1; complex ones have half of it in either part."""
    d = default_dtype() if dtype is None else dtype_of(dtype)
    if not d.is_complex:
        return ops.normal(next_key(), size, dtype=_floating(d, name))
    part = types.float32 if d is types.complex64 else types.float64
    real, imaginary = (ops.normal(next_key(), size, 0.0, math.sqrt(0.5), part) for _ in range(2))
    return ToComplex()(real, imaginary)


@_sizes
@public(also={"shape": "size"})
def randn(shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Normal with mean 0 and deviation 1. Arguments as `rand`.

    Examples:
        >>> paddle.randn([2, 3]).shape
        paddle.Size([2, 3])
    """
    t = _standard(_shape(shape, "randn"), dtype, "randn")
    return finish(t, out, requires_grad, device, "randn")


@_sizes
def standard_normal(shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
                    requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Normal with mean 0 and deviation 1; `randn`.

    Examples:
        >>> paddle.standard_normal([2, 3]).shape
        paddle.Size([2, 3])
    """
    return randn(shape, dtype, out=out, device=device, requires_grad=requires_grad)


def gaussian(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None,
             name: str | None = None) -> Tensor:  # fmt: skip
    """Normal with a mean and a deviation.

    Examples:
        >>> paddle.tensor.random.gaussian([2, 3]).shape
        paddle.Size([2, 3])
    """
    d = _floating(dtype, "gaussian")
    return ops.normal(_key(seed), _shape(shape, "gaussian"), float(mean), float(std), d)


def _key(seed: int) -> Tensor:
    """A fresh key, or the first of a sequence of its own for a seed that is not 0."""
    if not seed:
        return next_key()
    return tracing.from_array(np.array([int(seed), 0], np.int64))  # type: ignore[return-value]


@public(also={"shape": "size"})
def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None, *,
           out: Any = None) -> Tensor:  # fmt: skip
    """Normal with a mean and a deviation.

    Args:
        mean, std (float|Tensor): a Tensor gives each element its own, and the shape.
        shape (list|tuple|Tensor, optional): sizes where both are numbers. Default: [1].
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: of that shape.

    Examples:
        >>> paddle.normal(2.0, 0.5, [3]).shape
        paddle.Size([3])
    """
    for v, label in ((mean, "mean"), (std, "std")):
        if not isinstance(v, Tensor) and not ew.is_number(v):
            raise AttributeError(
                errors.message("InvalidType", f"normal: {label} is no number.", "a float or a Tensor", f"{v!r}")
            )
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    if given:
        like = given[0] if given[0].dtype.is_floating else cast(given[0], default_dtype())
        size = ew.broadcast("normal", *(t.type for t in given))
        return fill_out(ops.normal(next_key(), size, dtype=like.dtype) * std + mean, out)
    size = _shape([1] if shape is None else shape, "normal")
    return fill_out(ops.normal(next_key(), size, float(mean), float(std), default_dtype()), out)


@public(also={"shape": "size"})
def uniform(shape: Any, dtype: Any = None, min: float = 0, max: float = 1.0, seed: int = 0,
            name: str | None = None, *, out: Any = None, device: Any = None,
            requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Uniform in [min, max).

    Args:
        shape (list|tuple|Tensor): sizes. dtype (str|dtype, optional): floating. Default: the default type.
        seed (int): not 0: numbers of this seed alone, the same each time.

    Returns:
        Tensor: of that shape.

    Examples:
        >>> bool((paddle.uniform([9], min=-2.0, max=3.0) < 3.0).all())
        True
    """
    size = _shape(shape, "uniform")
    t = ops.uniform(_key(seed), size, float(min), float(max), _floating(dtype, "uniform"))
    return finish(t, out, requires_grad, device, "uniform")


def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> Tensor:
    """exp of `normal` numbers.

    Examples:
        >>> bool((paddle.log_normal(0.0, 1.0, [3]) > 0).all())
        True
    """
    return ew.exp(normal(mean, std, shape))


def randint(low: int = 0, high: int | None = None, shape: Any = [1], dtype: Any = None,  # noqa: B006
            name: str | None = None) -> Tensor:  # fmt: skip
    """Integers in [low, high), each as likely; in [0, low) if high is None.

    Args:
        low, high (int). shape (list|tuple|Tensor): sizes.
        dtype (str|dtype, optional): int32 or int64, the default.

    Raises:
        ValueError: the range is empty. TypeError: dtype is not an integer type.

    Examples:
        >>> x = paddle.randint(0, 10, [100])
        >>> bool((x >= 0).all()) and bool((x < 10).all())
        True
    """
    d = types.int64 if dtype is None else dtype_of(dtype)
    if not d.is_integer:
        raise errors.invalid_type("randint: not for this type.", expected="int32 or int64", received=f"{d.name}")
    return _integers(low, high, _shape(shape, "randint"), d, "randint")


def _integers(low: Any, high: Any, size: tuple[int, ...], dtype: DType, name: str) -> Tensor:
    low = int_argument(low, name, "low")
    if high is None:
        low, high = 0, low
    else:
        high = int_argument(high, name, "high")
    if low >= high:
        raise errors.invalid_argument(
            f"{name}: the range is empty.", expected="low < high", received=f"low: {low}, high: {high}"
        )
    return ops.RandomInt(size, dtype, low, high)(next_key())


def randperm(n: int, dtype: Any = "int64", name: str | None = None, *, out: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """The numbers 0 .. n-1 in random order.

    Raises:
        ValueError: n is below 1.

    Examples:
        >>> sorted(paddle.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    n = int_argument(n, "randperm", "n")
    if n < 0:
        raise errors.invalid_argument("randperm: n is negative.", expected="n >= 0", received=f"n: {n}")
    t = ops.RandomPermutation(n, dtype_of(dtype))(next_key())
    return finish(t, out, requires_grad, device, "randperm")


# ---- like another Tensor ----------------------------------------------------------------------
@public(method=True)
def rand_like(input: Tensor, name: str | None = None, *, dtype: Any = None, device: Any = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Uniform in [0, 1), in shape and type of another Tensor.

    Examples:
        >>> paddle.rand_like(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    no_method(input, "rand_like")
    d = _floating(input.dtype if dtype is None else dtype, "rand_like")
    t = ops.uniform(next_key(), input.type.shape, dtype=d)
    return finish(t, None, requires_grad, device, "rand_like")


@public(also={"x": "input"}, method=True)
def randn_like(x: Tensor, dtype: Any = None, name: str | None = None, *, device: Any = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Normal with mean 0 and deviation 1, in shape and type of another Tensor.

    Examples:
        >>> paddle.randn_like(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    no_method(x, "randn_like")
    t = _standard(x.type.shape, x.dtype if dtype is None else dtype, "randn_like")
    return finish(t, None, requires_grad, device, "randn_like")


@public(method=True)
def randint_like(x: Tensor, low: int = 0, high: int | None = None, dtype: Any = None,
                 name: str | None = None) -> Tensor:  # fmt: skip
    """Integers in [low, high), in shape and type of another Tensor.

    Examples:
        >>> paddle.randint_like(paddle.ones([2, 3]), 5).shape
        paddle.Size([2, 3])
    """
    need_tensor(x, "randint_like")
    d = x.dtype if dtype is None else dtype_of(dtype)
    return cast(_integers(low, high, x.type.shape, types.int64, "randint_like"), d)


# ---- with a Tensor of parameters --------------------------------------------------------------
def _coin(p: Any, shape: tuple[int, ...], dtype: DType) -> Tensor:
    u = ops.RandomUniform(shape, types.float64 if dtype is types.float64 else types.float32)(next_key())
    return cast(ew.less_than(u, cast(p, u.dtype) if isinstance(p, Tensor) else p), dtype)


def bernoulli(x: Tensor, p: float | None = None, name: str | None = None) -> Tensor:
    """1 with the probability that an element of x (or p) gives, else 0.

    Args:
        x (Tensor): floating, in [0, 1]. p (float, optional): one probability instead, in shape and type of x.

    Examples:
        >>> paddle.bernoulli(paddle.ones([3])).tolist()
        [1.0, 1.0, 1.0]
    """
    need_tensor(x, "bernoulli")
    if p is None and not x.dtype.is_floating:
        raise errors.unavailable("bernoulli: x is not floating.", expected="a floating type", received=f"x: {x.type}")
    return _coin(x if p is None else float(p), x.type.shape, x.dtype)


METHODS["bernoulli"] = bernoulli


def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """How many of `count` trials succeed that each do so with probability `prob`, int64.

    Examples:
        >>> paddle.binomial(paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).tolist()
        [3]
    """
    need_tensor(count, "binomial", "count", TypeError)
    need_tensor(prob, "binomial", "prob", TypeError)
    return ops.Binomial()(count, prob, next_key())


METHODS["binomial"] = binomial


def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Poisson counts with the rates x, in the type of x.

    Examples:
        >>> paddle.poisson(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    return ops.Poisson()(need_tensor(x, "poisson"), next_key())


def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Gamma with shape parameters x and scale 1, in the type of x.

    Examples:
        >>> bool((paddle.standard_gamma(paddle.ones([3])) > 0).all())
        True
    """
    return ops.StandardGamma()(need_tensor(x, "standard_gamma"), next_key())


@public(also={"x": "input"}, method=True)
def multinomial(x: Tensor, num_samples: int = 1, replacement: bool = False, name: str | None = None, *,
                out: Any = None) -> Tensor:  # fmt: skip
    """Indices along the last axis of x, drawn in proportion to its elements.

    Args:
        x (Tensor): non-negative; one or two axes.
        num_samples (int): how many. replacement (bool): an index may come again.

    Returns:
        Tensor: int64, x with num_samples in place of the last axis.

    Examples:
        >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0]), 2, True).tolist()
        [1, 1]
    """
    need_tensor(x, "multinomial")
    n = int_argument(num_samples, "multinomial", "num_samples")
    if not 1 <= x.ndim <= 2:
        raise errors.invalid_argument(
            "multinomial: x is no vector or matrix.", received=f"x: {x.type}", expected="one axis or two"
        )
    if n < 1 or (not replacement and n > x.type.shape[-1]):
        raise errors.invalid_argument(
            "multinomial: not that many samples.",
            expected=f"num_samples in [1, {x.type.shape[-1]}] without replacement",
            received=f"num_samples: {n}",
        )
    return fill_out(ops.Multinomial(n, flag(replacement, "replacement"))(x, next_key()), out)


# ---- in place ---------------------------------------------------------------------------------
def _refill(x: Any, name: str, make: Any) -> Tensor:
    need_tensor(x, name)
    check_inplace(name, x)
    d = x.dtype if x.dtype.is_floating else default_dtype()
    return replace(x, cast(make(x.type.shape, d), x.dtype))


def uniform_(x: Tensor, min: float = 0, max: float = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
    """Fills x with numbers uniform in [min, max). Returns x."""
    return _refill(x, "uniform_", lambda s, d: ops.uniform(_key(seed), s, float(min), float(max), d))


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
    """Fills x with normal numbers. Returns x."""
    return _refill(x, "normal_", lambda s, d: ops.normal(next_key(), s, float(mean), float(std), d))


def log_normal_(x: Tensor, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    """Fills x with exp of normal numbers. Returns x."""
    return _refill(x, "log_normal_", lambda s, d: ew.exp(ops.normal(next_key(), s, float(mean), float(std), d)))


def exponential_(x: Tensor, lam: float = 1.0, name: str | None = None) -> Tensor:
    """Fills x with exponentially distributed numbers of rate lam. Returns x."""
    return _refill(x, "exponential_", lambda s, d: mathops.log1p(-ops.uniform(next_key(), s, dtype=d)) * (-1.0 / lam))


def cauchy_(x: Tensor, loc: float = 0, scale: float = 1, name: str | None = None) -> Tensor:
    """Fills x with Cauchy distributed numbers. Returns x."""

    def make(s: tuple[int, ...], d: DType) -> Tensor:
        turn = (ops.uniform(next_key(), s, dtype=d) - 0.5) * math.pi
        return mathops.tan(turn) * float(scale) + float(loc)

    return _refill(x, "cauchy_", make)


def geometric_(x: Tensor, probs: Any, name: str | None = None) -> Tensor:
    """Fills x with log(1 - u) / log(1 - probs), u uniform in [0, 1): its ceiling is geometric. Returns x."""

    def make(s: tuple[int, ...], d: DType) -> Tensor:
        u = ops.uniform(next_key(), s, dtype=d)
        if isinstance(probs, Tensor):
            return mathops.log1p(-u) / mathops.log1p(-cast(probs, d))
        return mathops.log1p(-u) * (1.0 / math.log1p(-float(probs)))

    return _refill(x, "geometric_", make)


def bernoulli_(x: Tensor, p: Any = 0.5, name: str | None = None) -> Tensor:
    """Fills x with 1 (of probability p) and 0. Returns x."""
    return _refill(x, "bernoulli_", lambda s, d: _coin(p, s, d))


def random_(x: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fills x with integers in [from_, to); up to the greatest that its type holds exactly for None. Returns x."""
    need_tensor(x, "random_")
    if to is None:
        bits = {types.float16: 11, types.bfloat16: 8, types.float32: 24, types.float64: 53}
        limit = (1 << bits[x.dtype]) + 1 if x.dtype in bits else int(np.iinfo(x.dtype.np).max)
    else:
        limit = int(to)
    check_inplace("random_", x)
    key = next_key(generator)
    drawn = ops.RandomInt(x.type.shape, types.int64, int(from_), limit)(key)
    return replace(x, cast(drawn, x.dtype))


for _f in (uniform_, normal_, log_normal_, exponential_, cauchy_, geometric_, bernoulli_, random_):
    METHODS[_f.__name__] = _f
METHODS["multinomial"] = multinomial
