"""Random numbers: functions of a key and the element's index, so every back end gives the same.

The generator is Philox4x32-10. Element i of a result takes the block whose counter is (i, offset) under the key
`seed`; `key` is an int64[2] tensor (seed, offset), an input of programs like any other.
Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", section 3.3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument, offending
from ..types import DType, TensorType
from .registry import Operator, absent, letters, operator

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_CHUNK = 1 << 14  # elements for which the ten rounds run in cache


def rounds(counter: Any, key: Any, word: Any) -> Any:
    """The ten rounds. Numbers are 32-bit words held in 64 bits; `word` makes one from an int."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    low, half = word(_LOW), word(32)
    for _ in range(10):
        p0, p1 = c0 * word(_MULTIPLIERS[0]), c2 * word(_MULTIPLIERS[1])
        c0, c1, c2, c3 = (p1 >> half) ^ c1 ^ k0, p1 & low, (p0 >> half) ^ c3 ^ k1, p0 & low
        k0, k1 = (k0 + word(_WEYL[0])) & low, (k1 + word(_WEYL[1])) & low
    return c0, c1, c2, c3


def words(key: Any, start: int, stop: int, xp: Any = np) -> Any:
    """The four words (uint64 arrays below 2**32) of the elements from start to stop."""
    word = xp.uint64
    index = xp.arange(start, stop, dtype=word)
    seed, offset = xp.asarray(key).astype(word)
    low, half = word(_LOW), word(32)
    counter = (index & low, index >> half, offset & low, offset >> half)
    return rounds(counter, (seed & low, seed >> half), word)


def loop_words(k: Any, key: Any) -> Any:
    """The four words of the output element, as uint64 expressions."""
    flat = k.scope.const(0, types.int64)
    for i, n in zip(k.at, k.shape):
        flat = flat * n + i
    word = lambda n: k.const(n, types.uint64)  # noqa: E731
    low, half = word(_LOW), word(32)
    seed, offset = (k.cast(k.load(key, [j]), types.uint64) for j in (0, 1))
    counter = (
        k.cast(flat, types.uint64) & low,
        k.cast(flat // (1 << 32), types.uint64),
        offset & low,
        offset >> half,
    )
    return rounds(counter, (seed & low, seed >> half), word)


class Random(Operator):
    """Base of what fills a shape with random numbers from a key."""

    shape_attributes = ("shape",)
    shape: tuple
    dtype: DType

    def infer(self, key: TensorType) -> TensorType:
        check_key(self.name, key)
        return TensorType(self.shape, self.dtype)

    def numpy(self, key):
        n = math.prod(self.shape)
        if n <= _CHUNK:
            return self.make(words(key, 0, n), np).reshape(self.shape).astype(self.dtype.np)
        out = np.empty(n, self.dtype.np)
        for i in range(0, n, _CHUNK):
            out[i : i + _CHUNK] = self.make(words(key, i, min(i + _CHUNK, n)), np)
        return out.reshape(self.shape)

    def xla(self, jnp, key):
        made = self.make(words(key, 0, math.prod(self.shape), jnp), jnp)
        return made.reshape(self.shape).astype(self.dtype.name)

    def make(self, w: Any, xp: Any) -> Any:
        """Elements from their words; each kind of random number has its own."""
        raise NotImplementedError(type(self).__name__)

    vjp = absent("random numbers do not depend on anything differentiable")

    def spmd(self, *types):
        n = len(self.shape)  # kept whole, since an element follows from its place in the whole
        return f"K->{letters(n, range(n))}"

    @classmethod
    def samples(cls, rng):
        for shape, dtype in (((3, 5), types.float32), ((), types.float32), ((0, 2), types.float32),
                             ((2, 1, 17), types.float64), ((9,), types.float16)):  # fmt: skip
            yield cls(shape, dtype), (rng.integers(0, 1 << 40, 2),)


def check_key(name: str, key: TensorType) -> None:
    if key.shape != (2,) or key.dtype is not types.int64:
        raise invalid_argument(
            f"{name}: the key is not one.", expected="key: int64[2], seed and offset", received=f"key: {key}"
        )


@operator
class RandomUniform(Random):
    """Uniform in [0, 1): multiples of 2**-24, of 2**-53 in float64."""

    shape: tuple
    dtype: DType

    def make(self, w, xp):
        return _unit(w[0], w[1], self.dtype, xp)

    def loops(self, k, key):
        w = loop_words(k, key)
        return _loop_unit(k, w[0], w[1])


@operator
class RandomNormal(Random):
    """Normal with mean 0 and deviation 1.

    Source: Box and Muller 1958, doi:10.1214/aoms/1177706645; the cosine branch.
    """

    shape: tuple
    dtype: DType

    def make(self, w, xp):
        u, v = _unit(w[0], w[1], self.dtype, xp), _unit(w[2], w[3], self.dtype, xp)
        turn = u.dtype.type(2 * math.pi) if xp is np else 2 * math.pi
        return xp.sqrt(-2 * xp.log(1 - u)) * xp.cos(v * turn)

    def loops(self, k, key):
        w = loop_words(k, key)
        u, v = _loop_unit(k, w[0], w[1]), _loop_unit(k, w[2], w[3])
        return k.sqrt(-2.0 * k.log(1.0 - u)) * k.cos(v * (2 * math.pi))


def _unit(a: Any, b: Any, dtype: DType, xp: Any) -> Any:
    if dtype is types.float64:
        high, low = (a >> xp.uint64(5)).astype("float64"), (b >> xp.uint64(6)).astype("float64")
        return (high * 67108864.0 + low) * 2.0**-53
    return (a >> xp.uint64(8)).astype("float32") * np.float32(2.0**-24)


def _loop_unit(k: Any, a: Any, b: Any) -> Any:
    # by int32: a vector unit converts these, and not unsigned or 64-bit integers
    part = lambda w, n: k.cast(k.cast(w >> k.const(n, types.uint64), types.int32), k.dtype)  # noqa: E731
    if k.dtype is types.float64:
        return (part(a, 5) * 67108864.0 + part(b, 6)) * 2.0**-53
    return part(a, 8) * 2.0**-24


@operator
class RandomInt(Random):
    """Integers in [low, high), each as likely up to 2**-32 (ranges below 2**32) or 2**-(64 - bits of the range)."""

    shape: tuple
    dtype: DType
    low: int
    high: int

    def infer(self, key):
        if self.low >= self.high:
            raise invalid_argument(
                "randint: the range is empty.", expected="low < high", received=f"low: {self.low}, high: {self.high}"
            )
        return Random.infer(self, key)

    def make(self, w, xp):
        span = xp.uint64(self.high - self.low)
        if self.high - self.low <= 1 << 32:
            drawn = (w[0] * span) >> xp.uint64(32)
        else:
            drawn = (w[0] | (w[1] << xp.uint64(32))) % span
        return drawn.astype("int64") + self.low

    def loops(self, k, key):
        w = loop_words(k, key)
        span = k.const(self.high - self.low, types.uint64)
        if self.high - self.low <= 1 << 32:
            drawn = (w[0] * span) >> k.const(32, types.uint64)
        else:
            drawn = (w[0] | (w[1] << k.const(32, types.uint64))) % span
        return k.cast(k.cast(drawn, types.int64) + self.low, self.dtype)

    @classmethod
    def samples(cls, rng):
        far = 1 << 40
        for shape, dtype, low, high in (((3, 5), types.int64, 0, 10), ((), types.int32, -5, 5),
                                        ((0,), types.int64, 0, 1), ((33,), types.int64, -far, far)):  # fmt: skip
            yield cls(shape, dtype, low, high), (rng.integers(0, 1 << 40, 2),)


@operator
class RandomPermutation(Operator):
    """The numbers 0 .. n-1 in random order: the order of n random 64-bit words."""

    n: int
    dtype: DType
    vjp = absent("positions have no gradient")
    loops = absent("a permutation is made as a whole")

    def infer(self, key: TensorType) -> TensorType:
        check_key(self.name, key)
        return TensorType((self.n,), self.dtype)

    def numpy(self, key):
        w = words(key, 0, self.n)
        return np.argsort(w[0] | (w[1] << np.uint64(32)), kind="stable").astype(self.dtype.np)

    def xla(self, jnp, key):
        w = words(key, 0, self.n, jnp)
        return jnp.argsort(w[0] | (w[1] << jnp.uint64(32))).astype(self.dtype.name)

    def spmd(self, *types):
        return "K->N"

    @classmethod
    def samples(cls, rng):
        for n in (0, 1, 40):
            yield cls(n, types.int64), (rng.integers(0, 1 << 40, 2),)


def uniform(key: Any, shape: Any, low: float = 0.0, high: float = 1.0, dtype: DType = types.float32) -> Any:
    """Uniform in [low, high) from a key tensor."""
    u = RandomUniform(tuple(shape), dtype)(key)
    if high - low != 1.0:
        u = u * float(high - low)
    return u + float(low) if low else u


def normal(key: Any, shape: Any, mean: float = 0.0, std: float = 1.0, dtype: DType = types.float32) -> Any:
    """Normal with the given mean and deviation from a key tensor."""
    z = RandomNormal(tuple(shape), dtype)(key)
    if std != 1.0:
        z = z * float(std)
    return z + float(mean) if mean else z


def keep_mask(key: Any, shape: Any, p: float, dtype: DType = types.bool_) -> Any:
    """True where dropout keeps an element, which it does with probability 1 - p."""
    from .elementwise import cast, greater_equal

    return cast(greater_equal(RandomUniform(tuple(shape), types.float32)(key), float(p)), dtype)


# ---- distributions with parameters, drawn on the host -----------------------------------------
def host_generator(key: np.ndarray) -> np.random.Generator:
    """numpy's generator for a key; for distributions that reject and draw again."""
    seed, offset = (int(v) & 0xFFFFFFFFFFFFFFFF for v in key)
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, offset, 0]))


@operator
class Poisson(Operator):
    """Poisson counts with the rates x, in the type of x."""

    loops = absent("the host draws: it rejects and draws again")
    spmd = absent("draws follow from those before them: arguments are gathered")
    xla = absent("the host draws: it rejects and draws again")

    def infer(self, x: TensorType, key: TensorType) -> TensorType:
        check_key(self.name, key)
        return x

    def numpy(self, x, key):
        return np.asarray(host_generator(key).poisson(x.astype("float64"))).astype(x.dtype)

    def vjp(self, g, out, x, key):
        return (g * 0.0, None)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.uniform(0, 9, (3, 4)).astype("float32"), rng.integers(0, 1 << 40, 2))
        yield cls(), (rng.uniform(0, 9, ()), rng.integers(0, 1 << 40, 2))


@operator
class StandardGamma(Operator):
    """Gamma with shape parameters x and scale 1, in the type of x."""

    vjp = absent("upstream defines none for draws")
    loops = absent("the host draws: it rejects and draws again")
    spmd = absent("draws follow from those before them: arguments are gathered")
    xla = absent("the host draws: it rejects and draws again")

    def infer(self, x: TensorType, key: TensorType) -> TensorType:
        check_key(self.name, key)
        return x

    def numpy(self, x, key):
        return np.asarray(host_generator(key).standard_gamma(x.astype("float64"))).astype(x.dtype)

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.uniform(0.5, 9, (3, 4)).astype("float32"), rng.integers(0, 1 << 40, 2))
        yield cls(), (rng.uniform(0.5, 9, ()), rng.integers(0, 1 << 40, 2))


@operator
class Binomial(Operator):
    """Binomial counts (int64) of `count` trials that succeed with probability `prob`."""

    vjp = absent("upstream defines none for draws")
    loops = absent("the host draws: it rejects and draws again")
    spmd = absent("draws follow from those before them: arguments are gathered")
    xla = absent("the host draws: it rejects and draws again")

    def infer(self, count: TensorType, prob: TensorType, key: TensorType) -> TensorType:
        from .elementwise import broadcast

        check_key(self.name, key)
        return TensorType(broadcast(self.name, count, prob), types.int64)

    def numpy(self, count, prob, key):
        drawn = host_generator(key).binomial(count.astype("int64"), prob.astype("float64"))
        return np.asarray(drawn, "int64")

    @classmethod
    def samples(cls, rng):
        yield cls(), (np.full((3, 4), 9.0), rng.uniform(0, 1, (3, 4)), rng.integers(0, 1 << 40, 2))


@operator
class Multinomial(Operator):
    """Indices along the last axis of x, drawn in proportion to its (non-negative) elements; int64 [..., num]."""

    num: int
    replacement: bool
    fault = "invalid_argument"
    vjp = absent("positions have no gradient")
    loops = absent("the host draws: it rejects and draws again")
    spmd = absent("draws follow from those before them: arguments are gathered")

    def infer(self, x: TensorType, key: TensorType) -> TensorType:
        check_key(self.name, key)
        return TensorType((*x.shape[:-1], self.num), types.int64)

    def numpy(self, x, key):
        rows = x.reshape(-1, x.shape[-1]).astype("float64")
        bad = ~(np.isfinite(rows) & (rows >= 0))
        if bad.any():
            bad, x = bad.reshape(x.shape), np.asarray(x)
            raise IndexError(offending("a probability is out of range", bad, x, "finite numbers, not negative", "x"))
        total = rows.sum(1)
        if (total == 0).any():
            raise IndexError(
                offending("all probabilities of a row are zero", total == 0, total, "a sum above 0", "sum")
            )
        if self.replacement:
            u = RandomUniform((len(rows), self.num), types.float64).numpy(key)
            edges = np.cumsum(rows, 1)
            last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, 1)  # rounding may leave u at the very end
            found = [np.minimum(np.searchsorted(e, v * e[-1], side="right"), n) for e, v, n in zip(edges, u, last)]
            drawn = np.array(found, "int64").reshape(len(rows), self.num)
        else:
            some = (rows > 0).sum(1)
            if (some < self.num).any():
                fact = "a row has fewer probabilities above 0 than samples are asked for"
                raise IndexError(offending(fact, some < self.num, some, f"at least {self.num} of them", "number"))
            # exponential race: the order of arrival is a draw without replacement
            u = RandomUniform(rows.shape, types.float64).numpy(key)
            time = np.where(rows > 0, -np.log1p(-u) / np.where(rows > 0, rows, 1), np.inf)
            drawn = np.argsort(time, 1, kind="stable")[:, : self.num]
        return drawn.reshape((*x.shape[:-1], self.num))

    def xla(self, jnp, x, key):
        rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]).astype("float64")
        if self.replacement:
            u = RandomUniform((len(rows), self.num), types.float64).xla(jnp, key)
            edges = jnp.cumsum(rows, 1)
            last = rows.shape[1] - 1 - jnp.argmax(rows[:, ::-1] > 0, 1)[:, None]
            behind = edges[:, None] <= (u * edges[:, -1:])[..., None]
            drawn = jnp.minimum(jnp.sum(behind, -1), last)
        else:
            u = RandomUniform(rows.shape, types.float64).xla(jnp, key)
            time = jnp.where(rows > 0, -jnp.log1p(-u) / jnp.where(rows > 0, rows, 1), np.inf)
            drawn = jnp.argsort(time, 1, stable=True)[:, : self.num]
        return drawn.astype("int64").reshape((*x.shape[:-1], self.num))

    @classmethod
    def samples(cls, rng):
        x = rng.uniform(0.1, 1, (3, 7)).astype("float32")
        yield cls(4, True), (x, rng.integers(0, 1 << 40, 2))
        yield cls(4, False), (x, rng.integers(0, 1 << 40, 2))
        yield cls(2, False), (x[0], rng.integers(0, 1 << 40, 2))
